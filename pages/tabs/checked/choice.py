"""What is checked, once it is chosen: the panel, the use and its limits, the check, and the command that gives the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.check import ANALYSIS as CHECK
from core.analyses.check import AllOptions
from core.errors import InputError
from core.formats.panel.beside import read_texts_of
from core.results.check.dossier import Dossier, Texts
from core.results.check.facts import facts_of_tables, stated_facts
from core.results.check.verdict import Check, JudgeFacts, check_panel, default_use
from core.schema.panel import Panel, TextBeside, only_judges
from core.schema.runs import Run
from core.schema.settings import Settings, fields_of
from core.schema.study import Study
from core.schema.uses import CheckOptions, Use
from core.sources.judges import facts_of
from core.sources.named import Source
from core.sources.reading import SourceReader
from core.stats.resampling import Floats
from pages.widgets import address, analysis
from pages.widgets.chosen_scores import Key

Found = TypeVar("Found")
Option = TypeVar("Option")
_USES: dict[Use, tuple[str, str]] = {
    "replace": ("Replace a rater", "It takes the place of a rater."),
    "gate": ("Gate answers", "It decides about single answers."),
    "rank": ("Rank systems", "It decides which system is better."),
    "monitor": ("Monitor a mean", "Its mean is followed over time."),
    "certify": (
        "Certify a system",
        "With people's labels, it shows how many of a system's answers are good.",
    ),
}
_STEPS_OF_SCORES = 11
"""Scores from which an answer may be good, evenly spaced: tenths of the scale."""


@dataclass(frozen=True)
class Given:
    """What is checked, before it is read."""

    place: str
    """Begins the keys of the widgets: a short word that says what is checked, without a name of it."""
    key: Key
    """Changes with anything that the panel depends on."""
    read: Callable[[], Panel]
    command: tuple[str, ...]
    """Words of the command that reads the same, behind `check`."""
    texts: Callable[[], tuple[bytes, str]]
    """A file with the texts, and its name."""
    beside: Callable[[], Sequence[TextBeside]]
    """What is known about the texts beside labels, such as the judge's reasons."""
    facts: Callable[[Panel], Mapping[str, JudgeFacts]]
    """Consistency, price, time and model of the judges."""
    study: Study | None = None
    """The study whose ratings or votes are the labels."""
    of_pairs: tuple[Run, ...] = ()
    """Runs of judges that compared the study's pairs."""
    runs: tuple[Run, ...] = ()
    """Runs of the judges; the table of run 3 is named `run:3`."""
    use: Use | None = None
    """The use to begin with, where an example asks about it; None: the usual one for such labels."""
    may_be_judges: tuple[str, ...] = ()
    """Columns that may be a judge's, where no judge was found."""
    margins: Callable[[], Floats] | None = None
    """Of a study of pairs: how far each judge's scores of the answers of a pair are apart, shape (pairs, judges)."""
    alone: str | None = None
    """The judge whose verdict is shown, of several that are checked together; None: all are shown."""


def facts_beside(
    reading: SourceReader, sources: Sequence[Source], dimension: str | None, panel: Panel
) -> Mapping[str, JudgeFacts]:
    """Consistency, price, time and model of the judges, from columns of the panel and from the runs among them."""
    return facts_of_tables(panel, facts_of(sources, reading, dimension))


def dimension_menu(place: DeltaGenerator, dimensions: Sequence[str], key: str) -> str | None:
    """Choose one of several dimensions; None for the only one. The address holds its place among them."""
    if len(dimensions) < 2:
        return None
    return place.selectbox(
        "Dimension",
        dimensions,
        key=address.one("dimension", key, dimensions, dimensions[0], address.place_among(dimensions)),
    )


def panel(source: Given) -> Panel:
    """Return raters and judges side by side, read once."""
    with st.spinner("Reading ..."):
        return once(("panel", *source.key), source.read)


def dossier(source: Given, read_panel: Panel) -> Dossier:
    """The panel, or a part of it, with all that is known about its judges and texts."""

    def texts(panel: Panel) -> Texts:
        try:
            return Texts(read_texts_of(*source.texts(), panel))
        except InputError as problem:
            return Texts([None] * len(panel.rows), problem)

    return Dossier(read_panel, source.facts, lambda _: source.beside(), texts)


def options(source: Given, read_panel: Panel, priced: Mapping[str, Any], place: DeltaGenerator) -> AllOptions:
    """Choose the use and its limits. priced: what is stated about prices."""
    usual = source.use or default_use(read_panel)
    # Without systems there is nothing to rank, such as in votes on pairs.
    uses = [
        use
        for use in _USES
        if use != "rank" or len(set(read_panel.systems.tolist())) > 1 or use == source.use
    ]
    with place:
        use: Use | None = st.segmented_control(
            "Use of the judge",
            uses,
            format_func=lambda one: _USES[one][0],
            required=True,
            key=address.one("use", f"check_use_{usual}", uses, usual),
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":small[{_USES[use or usual][1]}]", width="content")
            with st.popover("Limits", type="tertiary"):
                return _limits(read_panel, {**priced, "use": use or usual})


def _limits(read_panel: Panel, chosen: Mapping[str, Any]) -> AllOptions:
    """The limits of the use. For a certificate no rating passes by itself: the best one does until another is chosen."""
    ratings = _ratings_that_pass(read_panel) if chosen["use"] == "certify" else ()
    return analysis.form(
        CHECK,
        {"passes_from": ratings} if ratings else {},
        {**defaults_without(CheckOptions), **chosen},
        folds=False,
        columns=1,
        begins={"passes_from": ratings[-1]} if ratings else {},
        in_address=True,
    )


def defaults_without(settings: type[Settings]) -> Mapping[str, Any]:
    """The options of a check apart from those that are asked, as they are by themselves."""
    fields = fields_of(AllOptions)
    return {name: one.default for name, one in fields.items() if name not in fields_of(settings)}


def _ratings_that_pass(read_panel: Panel) -> tuple[str, ...]:
    """Ratings that may be the lowest of a good answer, lowest first; none for two classes, which say it themselves."""
    scale = read_panel.scale
    if scale.kind == "two":
        return ()
    if scale.classes:  # if the lowest passed, all would
        return tuple(scale.name(value) for value in (scale.classes[1:] if scale.ordered else scale.classes))
    low, high = scale.ends or (float(np.nanmin(read_panel.ratings)), float(np.nanmax(read_panel.ratings)))
    return tuple(dict.fromkeys(f"{value:g}" for value in np.linspace(low, high, _STEPS_OF_SCORES)[1:]))


def checked(source: Given, read_panel: Panel, settings: AllOptions) -> Check:
    """Return the check, computed once."""

    def compute() -> Check:
        facts = stated_facts(
            source.facts(read_panel), read_panel, settings.price, settings.seconds, settings.currency
        )
        return check_panel(read_panel, settings, facts=facts, texts=source.beside())

    with st.spinner("Checking ..."):
        return once(("check", *source.key, settings.model_dump_json()), compute)


def alone(source: Given, check: Check) -> tuple[Given, Check]:
    """What is shown of a check: the one judge that was chosen, or everything.

    The verdict stays that of all judges together, whose number divides the level: to look at one of them asks no other question.
    """
    name = source.alone
    if name is None or name not in check.panel.judges:
        return source, check
    at, margins = check.panel.judges.index(name), source.margins
    given = replace(
        source,
        key=(*source.key, "alone", name),
        command=(*source.command, "--judge", name),
        margins=None if margins is None else lambda: margins()[:, [at]],
    )
    judges = tuple(judge for judge in check.judges if judge.name == name)
    return given, replace(check, panel=only_judges(check.panel, [name]), judges=judges)


# A resource, not data: a large panel would be copied at every press of a widget. Nobody changes it: it is frozen.
@st.cache_resource(show_spinner=False, max_entries=24)
def _kept(question: Key, _compute: Callable[[], object]) -> object:
    return _compute()


def once(question: Key, compute: Callable[[], Found]) -> Found:
    """Return the answer to a question that says all that it depends on, computed once."""
    return cast("Found", _kept(question, compute))


def arguments(source: Given, check: Check) -> list[str]:
    """Return the words of the command that gives the same result."""
    return [CHECK.name, *source.command, *check.options.option_words]
