"""What is checked: labels from a file, an unblinded study or a run, further judges, the columns, the use and its limits."""

import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import InputError
from core.formats.registry import read_ratings
from core.installation import COMMAND
from core.results.check.verdict import (
    DEFAULT_OPTIONS,
    Check,
    CheckOptions,
    Use,
    check_panel,
    default_use,
)
from core.results.choices import dimensions_of
from core.results.joining import check_join
from core.results.panel import Panel, found_roles, judge_scores, panel_of, read_panel
from core.runs.asked import asked_of
from core.runs.texts import texts_of_study
from core.schema.runs import Run
from core.schema.scores import ScoreTable
from core.schema.study import Study
from core.store import Store
from core.store.kept import get_file
from core.store.runs import run_data
from core.store.studies import list_studies
from core.study.analysis_set import released_record
from core.study.ratings import rating_set_of
from core.tables.mapping import ASIDE, with_columns, with_names
from core.tables.reading import sha256_of
from core.tables.roles import Roles
from pages.check import example
from pages.widgets import address, chosen_judge, chosen_scores, menus
from pages.widgets.chosen_scores import Chosen, Key
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, places

Found = TypeVar("Found")
_FILE = "file"
_FROM = "check_from"
_MAIN, _FURTHER, _ROUND = "check_file", "check_further", "check_round"
"""Where the session stores the uploaded file, further judges' files, and the number of uploads so far."""
_NONE = "(none)"
_MOST_MB = 100
_USES: dict[Use, tuple[str, str]] = {
    "replace": ("Replace a rater", "The judge takes the place of one of the raters."),
    "gate": ("Gate answers", "The judge decides about each answer, such as pass or fail."),
    "rank": ("Rank systems", "The judge decides which system is better on average."),
    "monitor": ("Monitor a mean", "The judge's mean score is followed over time."),
}
_MARGINS, _TOLERANCES, _ACCURACIES = (0.02, 0.05, 0.1), (0.02, 0.05, 0.1), (0.7, 0.8, 0.9)
_EPSILONS, _CEILINGS = (0.1, 0.15, 0.2, 0.3), (None, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True)
class Given:
    """What is checked, before it is read."""

    key: Key
    """Changes with anything that the panel depends on."""
    read: Callable[[], Panel]
    command: tuple[str, ...]
    """Words of the command that reads the same, behind `check`."""
    texts: Callable[[], tuple[bytes, str]]
    """A file with the texts, and its name."""
    run: Run | None = None
    study: Study | None = None


def given(store: Store) -> Given | None:
    """Choose what is checked; None, with the form on the page, while something is missing."""
    studies = {
        f"study:{study.name}": study
        for study in list_studies(store)
        if study.kind == "ratings" and study.state == "unblinded"
    }
    runs = {
        f"run:{number}": run
        for number, run in chosen_judge.with_results(store, *chosen_judge.judges_of("rated texts")).items()
    }
    judges = chosen_scores.named(store)
    source, tables, names = _FILE, list[tuple[Chosen, ScoreTable, Key]](), list[str]()
    head = st.container()
    asked = {name for name in ("study", "run") if name in st.query_params}
    if studies or runs or judges or asked:
        left, right = head.columns(2)
        with left:
            source = _source(studies, runs)
        with right:
            tables, names = _stored_judges(store, judges, _rated(store, studies.get(source)), source)
    if source in studies:
        return _of_study(store, studies[source], tables, names)
    if source in runs:
        return _of_run(store, runs[source], tables, names)
    return _of_file(tables, names)


def _source(studies: dict[str, Study], runs: dict[str, Run]) -> str:
    """Choose where the labels come from: `file`, `study:NAME` or `run:N`, as a command names them."""
    by_name = {"study": [*studies], "run": [*runs]}
    # The one in the address is read last: the other one's absence must not undo it.
    for name in sorted(by_name, key=lambda one: one in st.query_params):
        address.one(
            name,
            _FROM,
            by_name[name],
            _FILE,
            partial(_code, f"{name}:"),
            gone=f"This link leads to a {name} that is not here"
            + (", or that is not unblinded yet." if name == "study" else "."),
        )
    return menus.menu(
        "Labels from",
        [_FILE, *studies, *runs],
        _FROM,
        lambda one: (
            "A file"
            if one == _FILE
            else f"Study {studies[one].name}"
            if one in studies
            else menus.name_of(runs[one])
        ),
    )


def _code(prefix: str, one: str) -> str:
    return one.removeprefix(prefix) if one.startswith(prefix) else ""


def _rated(store: Store, study: Study | None) -> set[str]:
    """Items that people rated in the study."""
    if study is None:
        return set()
    return {one.item_id for one in rating_set_of(released_record(store, study)).ratings}


def _stored_judges(
    store: Store, judges: dict[Chosen, str], rated: set[str], source: str
) -> tuple[list[tuple[Chosen, ScoreTable, Key]], list[str]]:
    """Choose runs and stored tables of scores as judges; with a study, at first the newest run on its texts."""
    place = f"check_judges_{source}"
    default = _newest_on(store, judges, rated) if rated and place not in st.session_state else []
    address.several("judge", place, [*judges], default, chosen_scores.code)
    chosen: list[Chosen] = st.multiselect(
        "Judges" if rated else "Further judges",
        [*judges],
        format_func=judges.__getitem__,
        key=place,
        placeholder="Runs of judges and stored scores",
        help="Runs of the pages Judges, Specialist and Metrics, and tables of scores that were uploaded there.",
    )
    opened = [(one, chosen_scores.open_scores(store, one)) for one in chosen if one in judges]
    words = [
        f"run:{number}" if kind == chosen_scores.RUN else get_file(store, number).file_name
        for (kind, number), _ in opened
    ]
    return [(one, scores.table, scores.key) for one, scores in opened], words


def _newest_on(store: Store, judges: dict[Chosen, str], rated: set[str]) -> list[Chosen]:
    newest = chosen_scores.newest_on(store, [one for one in judges if one[0] == chosen_scores.RUN], rated)
    return [] if newest is None else [newest]


# --- sources -----------------------------------------------------------------------------------


def _of_study(
    store: Store, study: Study, tables: Sequence[tuple[Chosen, ScoreTable, Key]], names: Sequence[str]
) -> Given | None:
    ratings = rating_set_of(released_record(store, study))
    with _row():
        further = _further_files()
    if not tables and not further:
        nothing("choose a judge above, or add a file with its scores")
        return None
    everyone = list(dict.fromkeys(one.rater or "" for one in ratings.ratings))
    with st.expander("Raters and dimension"):
        left, right = st.columns(2)
        place = f"check_raters_{study.study_id}"
        people = left.multiselect(
            "Raters", everyone, key=address.several("human", place, everyone, everyone, str)
        )
        dimension = _dimension(right, list(dimensions_of(ratings)), f"check_dimension_{study.study_id}")
    keys = (tuple(key for _, _, key in tables), tuple(sha for _, _, sha in further))
    marked = hashlib.sha256(repr(ratings.ratings).encode()).hexdigest()

    def read() -> Panel:
        own = [*(table for _, table, _ in tables), *(judge_scores(one, name) for one, name, _ in further)]
        for table in own:
            check_join(ratings, table)
        return panel_of(ratings, own, raters=None if people == everyone else people, dimension=dimension)

    return Given(
        ("study", study.study_id, marked, tuple(people), dimension, keys),
        read,
        lambda: texts_of_study(store, study),
        (
            f"study:{study.name}",
            *names,
            *(name for _, name, _ in further),
            *(() if people == everyone else ("--human", ",".join(people))),
            *(() if dimension is None else ("--dimension", dimension)),
        ),
        study=study,
    )


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center")


def _dimension(place: DeltaGenerator, known: Sequence[str], key: str) -> str | None:
    """Choose one of several dimensions; None for the only one."""
    if len(known) < 2:
        return None
    return place.selectbox("Dimension", known, key=address.one("dimension", key, known, known[0]))


def _of_run(
    store: Store, run: Run, tables: Sequence[tuple[Chosen, ScoreTable, Key]], names: Sequence[str]
) -> Given:
    scores = chosen_scores.open_scores(store, (chosen_scores.RUN, run.run_id))
    with _row():
        further = _further_files()
    data, name = run_data(store, run.run_id), Path(run.data_file).name
    said = asked_of(run).chosen
    dimension = getattr(said, "dimension_scored", None)
    own = [scores.table, *(table for _, table, _ in tables)]
    beside = [(one, name) for one, name, _ in further]
    return Given(
        ("run", scores.key, tuple(key for _, _, key in tables), tuple(sha for _, _, sha in further)),
        lambda: read_panel(data, name, own, dimension=dimension, find=True, beside=beside),
        lambda: (data, name),
        (f"run:{run.run_id}", *names, *(name for _, name, _ in further)),
        run=run,
    )


def _of_file(tables: Sequence[tuple[Chosen, ScoreTable, Key]], names: Sequence[str]) -> Given | None:
    kept: tuple[bytes, str] | None = st.session_state.get(_MAIN)
    if kept is None:
        _upload_main()
        example.render(_take)
        return None
    data, file_name = kept
    with _row():
        st.markdown(f"**{plain(file_name)}**", width="content")
        if st.button("Another file", key="check_another", icon=":material/upload_file:"):
            _forget()
            st.rerun()
        further = _further_files()
    own, beside = [table for _, table, _ in tables], [(one, name) for one, name, _ in further]
    keys = (tuple(key for _, _, key in tables), tuple(sha for _, _, sha in further))
    others = [metric.name for table in own for metric in table.metrics]
    for one, name, sha in further:
        others += chosen_scores.once(("judges in", sha, name), partial(_judges_in, one, name))
    columns = _columns(data, file_name, others)
    if columns is None:
        return None
    return Given(
        ("file", sha256_of(data), file_name, *keys, columns),
        lambda: read_panel(
            columns.applied(data, file_name),
            file_name,
            own,
            human=columns.human or None,
            judges=columns.judges or None,
            dimension=columns.dimension,
            find=True,
            beside=beside,
        ),
        lambda: (columns.applied(data, file_name), file_name),
        (file_name, *names, *(name for _, name, _ in further), *columns.words()),
    )


def _judges_in(data: bytes, file_name: str) -> list[str]:
    return [metric.name for metric in judge_scores(data, file_name).metrics]


def _upload_main() -> None:
    upload = st.file_uploader(
        "Labels, with the judge's scores if they are in the same file",
        None,
        key=f"check_upload_{st.session_state.get(_ROUND, 0)}",
        max_upload_size=_MOST_MB,
    )
    if upload is not None:
        _take(upload.getvalue(), upload.name)


def _take(data: bytes, file_name: str) -> None:
    """Check this file from now on. It is kept in the visitor's session alone."""
    st.session_state[_MAIN] = (data, file_name)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.rerun()


def _forget() -> None:
    for place in (_MAIN, _FURTHER):
        st.session_state.pop(place, None)


def _further_files() -> list[tuple[bytes, str, str]]:
    """Upload further judges' scores: contents, name and hash of each file."""
    kept: list[tuple[bytes, str, str]] = st.session_state.setdefault(_FURTHER, [])
    with st.popover("Add a judge's file", icon=":material/add:"):
        uploads = st.file_uploader(
            "Scores of further judges for the same items",
            None,
            accept_multiple_files=True,
            key=f"check_more_{st.session_state.get(_ROUND, 0)}",
            max_upload_size=_MOST_MB,
        )
    if kept:
        st.markdown(", ".join(plain(name) for _, name, _ in kept), width="content")
        if st.button("Remove", key="check_remove", type="tertiary"):
            st.session_state[_FURTHER] = []
            st.rerun()
    if uploads:
        new = [(data, one.name, sha256_of(data)) for one in uploads if (data := one.getvalue())]
        st.session_state[_FURTHER] = [*kept, *(one for one in new if one not in kept)]
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
        st.rerun()
    return kept


# --- columns -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """The columns of a file as they are to be read. Empty: as found."""

    human: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    dimension: str | None = None
    named: tuple[tuple[str, str | None], ...] = ()
    """Assay's name -> the file's column, where the visitor changed it; None: no column."""
    found: tuple[tuple[str, str], ...] = ()
    """Assay's name -> the column found, for those that are set aside."""

    def applied(self, data: bytes, file_name: str) -> bytes:
        """Return the file with the columns under the names that were chosen."""
        found = dict(self.found)
        aside = {found[ours]: ASIDE.format(column=found[ours]) for ours, theirs in self.named if not theirs}
        if aside:
            data = with_names(data, file_name, aside)
        return with_columns(data, file_name, {ours: theirs for ours, theirs in self.named if theirs})

    def words(self) -> tuple[str, ...]:
        """Return the options of the command that read the file this way."""
        pairs = [f"{ours}={theirs}" for ours, theirs in self.named if theirs]
        return (
            *(("--human", ",".join(self.human)) if self.human else ()),
            *(("--judge", ",".join(self.judges)) if self.judges else ()),
            *(("--dimension", self.dimension) if self.dimension else ()),
            *(("--columns", ",".join(pairs)) if pairs else ()),
        )


def _columns(data: bytes, file_name: str, others: Sequence[str]) -> Columns | None:
    """Show what was found in the file as menus, and return what the visitor chose instead; None without raters.

    others: judges in other files.
    """
    key = (sha256_of(data), file_name)
    own = f"check_{key[0][:12]}_{'further' if others else 'alone'}"
    found: Roles | None = chosen_scores.once(
        ("roles", *key, bool(others)), lambda: found_roles(data, file_name, judged_elsewhere=bool(others))
    )
    if found is None or found.dimension:
        dimensions: tuple[str, ...] = chosen_scores.once(
            ("dimensions", *key), lambda: _dimensions(data, file_name)
        )
        dimension = _dimension(st.container(), dimensions, f"{own}_dimension")
    else:
        dimension = None
    if found is None:
        return Columns(dimension=dimension)
    judges_found = [*found.judges, *others]
    if others:
        alone: Roles | None = chosen_scores.once(("roles", *key, False), lambda: found_roles(data, file_name))
        judges_found = [*(() if alone is None or alone.problems else alone.judges), *others]
    undecided = bool(found.problems)
    with st.expander(f"Columns: {plain(found.said)}", expanded=undecided):
        offered = [
            *dict.fromkeys([*found.human, *found.judges, *found.candidates, *found.groups, *found.others])
        ]
        left, right = st.columns(2)
        human = left.multiselect(
            "Raters (people)", offered, [*found.human], key=f"{own}_human", help=_why(found, found.human)
        )
        judges = right.multiselect(
            "Judges",
            [*dict.fromkeys([*offered, *others])],
            judges_found,
            key=f"{own}_judge",
            help=_why(found, judges_found),
        )
        named = _named(found, offered, own)
    if not undecided and not (human and judges):
        nothing("choose the columns of raters and of a judge")
        return None
    return Columns(
        () if tuple(human) == found.human and not undecided else tuple(human),
        () if tuple(judges) == (found.judges or tuple(others)) and not undecided else tuple(judges),
        dimension,
        named,
        tuple((ours, theirs) for theirs, ours in found.read_as.items()),
    )


def _dimensions(data: bytes, file_name: str) -> tuple[str, ...]:
    """Dimensions that are rated in a file with a row for each rating; none where only the check can read it."""
    try:
        return tuple(dimensions_of(read_ratings(data, file_name)))
    except InputError:
        return ()


def _why(found: Roles, names: Sequence[str]) -> str | None:
    """Why columns were taken, as the help of their menu."""
    said = [f"{plain(name)}: {plain(found.why[name])}" for name in names if name in found.why]
    return "; ".join(said) or None


def _named(found: Roles, offered: Sequence[str], own: str) -> tuple[tuple[str, str | None], ...]:
    """Choose the columns of item, system and language; return those that differ from what was found."""
    changed: list[tuple[str, str | None]] = []
    roles = {
        "item_id": ("Item", found.item),
        "system": ("System", found.system),
        "language": ("Language", found.language),
    }
    for (ours, (label, theirs)), place in zip(roles.items(), places(3), strict=False):
        options = [_NONE, *dict.fromkeys([*([theirs] if theirs else []), *offered])]
        chosen = place.selectbox(label, options, options.index(theirs or _NONE), key=f"{own}_{ours}")
        if chosen != (theirs or _NONE):
            changed.append((ours, None if chosen == _NONE else chosen))
    return tuple(changed)


# --- use and limits ----------------------------------------------------------------------------


def panel(one: Given) -> Panel:
    """Return raters and judges side by side, read once."""
    with st.spinner("Reading ..."):
        return _once(("panel", *one.key), one.read)


def options(found: Panel, place: DeltaGenerator) -> CheckOptions:
    """Choose the use and its limits."""
    usual = default_use(found)
    with place:
        use: Use | None = st.segmented_control(
            "Use of the judge",
            list(_USES),
            format_func=lambda one: _USES[one][0],
            required=True,
            key=address.one("use", f"check_use_{usual}", list(_USES), usual),
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":small[{_USES[use or usual][1]}]", width="content")
            with st.popover("Limits", type="tertiary"):
                return _limits(CheckOptions(use=use or usual), found)


def _limits(chosen: CheckOptions, found: Panel) -> CheckOptions:
    def limit(name: str, label: str, values: Sequence[float | None], said: str) -> CheckOptions:
        default = getattr(DEFAULT_OPTIONS, name)
        place = address.one(name, f"check_{name}", values, default, lambda one: f"{one:g}")
        value = st.selectbox(
            label,
            values,
            format_func=lambda one: "by convention" if one is None else f"{one:g}",
            key=place,
            help=said,
            persist_state="session",
        )
        changed: dict[str, Any] = {name: value}
        return replace(chosen, **changed)

    if chosen.use in {"replace", "gate"}:
        chosen = limit("margin", "Margin", _MARGINS, "How far below the human ceiling the judge may be")
    if chosen.use == "replace":
        chosen = limit("epsilon", "Epsilon", _EPSILONS, "The price of a rater in the Alt-test")
    if chosen.use == "gate" and found.ratings.shape[1] < 2:
        chosen = limit("ceiling", "Human ceiling", _CEILINGS, "Supposed, because no text has two raters")
    if chosen.use == "rank":
        chosen = limit(
            "accuracy", "Accuracy", _ACCURACIES, "Smallest share of pairs of systems in the right order"
        )
    if chosen.use == "monitor":
        chosen = limit("tolerance", "Tolerance", _TOLERANCES, "Largest bias, as a share of the scale")
    return chosen


def checked(one: Given, found: Panel, chosen: CheckOptions) -> Check:
    """Return the check, computed once."""
    with st.spinner("Checking ..."):
        return _once(("check", *one.key, chosen), lambda: check_panel(found, chosen))


# A resource, not data: a large panel would be copied at every press of a widget. Nobody changes it: it is frozen.
@st.cache_resource(show_spinner=False, max_entries=24)
def _kept(question: Key, _compute: Callable[[], object]) -> object:
    return _compute()


def _once(question: Key, compute: Callable[[], Found]) -> Found:
    return cast("Found", _kept(question, compute))


def command(one: Given, found: Check) -> str:
    """Return the command that gives the same result."""
    limits = {
        "replace": ("margin", "epsilon"),
        "gate": ("margin", "ceiling"),
        "rank": ("accuracy",),
        "monitor": ("tolerance",),
    }[found.use]
    words = [*one.command, "--use", found.use]
    for name in limits:
        value = getattr(found.options, name)
        if value != getattr(DEFAULT_OPTIONS, name):
            words += [f"--{name}", f"{value:g}"]
    return f"{COMMAND} check {shlex.join(words)}"
