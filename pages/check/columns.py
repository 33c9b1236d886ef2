"""The columns of a file: what was found, shown as menus, and what the visitor chose instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import InputError
from core.formats.panel.columns import found_roles
from core.formats.registry import read_ratings
from core.joining.choices import dimensions_of
from core.schema.analysis import REFUSE, PanelChoice, RepeatedRatings
from core.schema.roles import Roles
from core.schema.scale import KINDS, NOT_DECLARED, STANDARD, DeclaredScale, declared_scale
from core.schema.settings import fields_of
from core.schema.unit import ROW
from core.tables.mapping import ASIDE, rename_columns, rename_keys
from core.tables.reading import sha256_of
from core.tables.roles import roles_said
from pages.tabs.checked.choice import dimension_menu
from pages.widgets import address, chosen_scores
from pages.widgets.messages import plain, show_mistake
from pages.widgets.parts import nothing, places

_NONE, _ROWS = "(none)", "each row"
_GUESSED = ""
_SCALES: Mapping[str, str] = {
    _GUESSED: "Guessed from the ratings",
    **{kind: name.capitalize() for kind, name in KINDS.items()},
    **{f"{low}-{high}": f"{low} to {high}" for low, high in (*STANDARD, (0, 100))},
}
"""What a visitor may declare, as `--scale` writes it -> its name."""


@dataclass(frozen=True)
class Columns:
    """The columns of a file as they are to be read. Empty: as found."""

    human: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    dimension: str | None = None
    named: tuple[tuple[str, str | None], ...] = ()
    """Assay's name -> the file's column, where the visitor changed it; None: no column."""
    item: str | None = None
    """What an item is, as the visitor chose: a column or ROW."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Assay's name -> the column found, for those that are set aside."""
    people_alone: bool = False
    """Whether there is no judge, so that people are compared with each other."""
    candidates: tuple[str, ...] = ()
    """Columns that may be a judge's, where there is none."""

    def applied(self, data: bytes, file_name: str) -> bytes:
        """Return the file with the columns under the names that were chosen."""
        found = dict(self.renamed)
        aside = {found[ours]: ASIDE.format(column=found[ours]) for ours, theirs in self.named if not theirs}
        if aside:
            data = rename_keys(data, file_name, aside)
        return rename_columns(data, file_name, {ours: theirs for ours, theirs in self.named if theirs})

    def words(self) -> tuple[str, ...]:
        """Return the options of the command that read the file this way."""
        pairs = [f"{ours}={theirs}" for ours, theirs in self.named if theirs]
        return (
            *(("--human", ",".join(self.human)) if self.human else ()),
            *(("--judge", ",".join(self.judges)) if self.judges else ()),
            *(("--dimension", self.dimension) if self.dimension else ()),
            *(("--columns", ",".join(pairs)) if pairs else ()),
            *(("--item", self.item) if self.item else ()),
        )


def begin_with(data: bytes, start: Columns) -> None:
    """Choose raters, judges and item of this file before its menus are shown. Empty: as found."""
    st.session_state[f"{_place(data, alone=True)}_start"] = start


def _place(data: bytes, *, alone: bool) -> str:
    """The beginning of the keys of a file's menus."""
    return f"check_{sha256_of(data)[:12]}_{'alone' if alone else 'further'}"


def choose(data: bytes, file_name: str, others: Sequence[str]) -> Columns | None:
    """Show what was found in the file as menus, and return what the visitor chose instead; None without raters.

    others: judges in other files.
    """
    key = (sha256_of(data), file_name)
    own = _place(data, alone=not others)
    found: Roles | None = chosen_scores.once(
        ("roles", *key, bool(others)), lambda: found_roles(data, file_name, judged_elsewhere=bool(others))
    )
    if found is None or found.dimension:
        dimension = dimension_menu(st.container(), dimensions_in(data, file_name), f"{own}_dimension")
    else:
        dimension = None
    if found is None:
        return Columns(dimension=dimension)
    judges_found = [*found.judges, *others]
    if others:
        alone: Roles | None = chosen_scores.once(("roles", *key, False), lambda: found_roles(data, file_name))
        judges_found = [*(() if alone is None or alone.problems else alone.judges), *others]
    start: Columns = st.session_state.get(f"{own}_start", Columns())
    begun = replace(
        found,
        human=start.human or found.human,
        judges=start.judges or found.judges,
        item=start.item or found.item,
    )
    undecided = bool(found.problems) and not found.lacks_judge_alone
    with st.expander(f"Columns: {plain(roles_said(begun))}", expanded=undecided, key="check_columns"):
        offered = [
            *dict.fromkeys([*found.human, *found.judges, *found.candidates, *found.groups, *found.others])
        ]
        if undecided:
            st.markdown("The names do not tell people from judges. Choose the columns:")
        left, right = st.columns(2)
        human = left.multiselect(
            "Raters (people)", offered, [*begun.human], key=f"{own}_human", help=_why(found, begun.human)
        )
        judges = right.multiselect(
            "Judges",
            [*dict.fromkeys([*offered, *others])],
            [*(start.judges or judges_found)],
            key=f"{own}_judge",
            help=_why(found, start.judges or judges_found),
        )
        names = [found.item, found.system, found.language, *found.texts]
        item, named = _named(found, [*offered, *filter(None, names)], own, start.item)
    alone_now = len(human) > 1 and not judges and (not undecided or bool(found.human))
    if not undecided and not (human and judges) and not alone_now:
        nothing("choose the columns of raters and of a judge")
        return None
    if alone_now:
        chosen = () if tuple(human) == found.human else tuple(human)
        read_as = tuple((ours, theirs) for theirs, ours in found.read_as.items())
        return Columns(
            chosen, (), dimension, named, item, read_as, people_alone=True, candidates=found.candidates
        )
    return Columns(
        () if tuple(human) == found.human and not undecided else tuple(human),
        () if tuple(judges) == (found.judges or tuple(others)) and not undecided else tuple(judges),
        dimension,
        named,
        item,
        tuple((ours, theirs) for theirs, ours in found.read_as.items()),
    )


def dimensions_in(data: bytes, file_name: str) -> tuple[str, ...]:
    """Return the dimensions that are rated in a file with a row for each rating; none where only the check can read it."""
    key = ("dimensions", sha256_of(data), file_name)
    found: tuple[str, ...] = chosen_scores.once(key, lambda: _dimensions(data, file_name))
    return found


def _dimensions(data: bytes, file_name: str) -> tuple[str, ...]:
    try:
        return tuple(dimensions_of(read_ratings(data, file_name)))
    except InputError:
        return ()


def _why(found: Roles, names: Sequence[str]) -> str | None:
    """Why columns were taken, as the help of their menu."""
    said = [f"{plain(name)}: {plain(found.why[name])}" for name in names if name in found.why]
    return "; ".join(said) or None


def _named(
    found: Roles, offered: Sequence[str], own: str, start: str | None
) -> tuple[str | None, tuple[tuple[str, str | None], ...]]:
    """Choose what an item is, and the columns of system and language; return those that differ from what was found.

    start: the item to begin with.
    """
    changed: list[tuple[str, str | None]] = []
    roles = {"system": ("System", found.system), "language": ("Language", found.language)}
    menus = iter(places(3))
    items = [None, ROW, *dict.fromkeys(offered)]
    item: str | None = next(menus).selectbox(
        "Item",
        items,
        items.index(start),
        format_func=lambda one: (
            f"{found.item or _ROWS} (found)" if one is None else _ROWS if one == ROW else one
        ),
        key=f"{own}_item",
        help="Rows with the same value belong together: intervals count them as one item.",
    )
    for (ours, (label, theirs)), place in zip(roles.items(), menus, strict=False):
        options = [_NONE, *dict.fromkeys([*([theirs] if theirs else []), *offered])]
        chosen = place.selectbox(label, options, options.index(theirs or _NONE), key=f"{own}_{ours}")
        if chosen != (theirs or _NONE):
            changed.append((ours, None if chosen == _NONE else chosen))
    return item, tuple(changed)


@dataclass(frozen=True)
class ScaleChoice:
    """What the visitor declares about the scale of the ratings."""

    declared: DeclaredScale = NOT_DECLARED
    repeated: RepeatedRatings = REFUSE
    """Which of several ratings of a text by one rater counts."""
    words: tuple[str, ...] = ()
    """The options of the command that declares the same."""


def choose_scale(place: DeltaGenerator, prefix: str) -> ScaleChoice:
    """Offer to declare the scale of the ratings; wrong declarations are shown and count for nothing.

    prefix: begins the keys of the widgets.
    """
    with place.popover("Scale of the ratings"):
        scale = st.selectbox(
            "Scale",
            [*_SCALES],
            format_func=_SCALES.__getitem__,
            key=address.one("scale", f"{prefix}_scale", [*_SCALES], _GUESSED),
        )
        classes = st.text_input(
            "All classes, from worst to best",
            key=address.text("classes", f"{prefix}_classes"),
            placeholder="fail, partial, pass",
            help="With commas. Of classes without an order in any order.",
        )
        missing = st.text_input(
            "Cells that are no rating",
            key=address.text("missing", f"{prefix}_missing"),
            placeholder="unsure, #N/A",
            help="With commas. Empty cells are never ratings.",
        )
        field = fields_of(PanelChoice)["repeated"]
        policies: tuple[RepeatedRatings, ...] = get_args(RepeatedRatings)
        repeated = st.selectbox(
            field.about.label,
            policies,
            format_func=str.capitalize,
            key=address.one("repeated", f"{prefix}_repeated", policies, REFUSE),
            help=f"{field.about.help[:1].upper()}{field.about.help[1:]}.",
        )
        named, left_out = (
            [one.strip() for one in cells.split(",") if one.strip()] for cells in (classes, missing)
        )
        try:
            declared = declared_scale(scale or None, named, left_out)
        except InputError as problem:
            show_mistake(problem.what, problem.problems)
            return ScaleChoice()
    return ScaleChoice(
        declared,
        repeated,
        (
            *(() if repeated == REFUSE else (field.option, repeated)),
            *(("--scale", scale) if scale else ()),
            *(("--classes", ",".join(named)) if named else ()),
            *(("--missing", ",".join(left_out)) if left_out else ()),
        ),
    )
