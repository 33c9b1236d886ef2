"""May a judge be trusted on these votes or ratings? The verdict of `check` for this study, and what stands behind it."""

import hashlib
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.joining.choices import dimensions_of
from core.runs.kinds import KINDS
from core.schema.analysis import PanelChoice
from core.schema.study import Study, StudyRecord
from core.sources.named import StudySource
from core.sources.panel import margins_of, panel_of_source, texts_beside_panel
from core.sources.reading import reading_in
from core.sources.texts import texts_file
from core.store import Store
from core.study.analysis_set import released_record
from core.study.ratings import rating_set_of
from core.tables.reading import sha256_of
from pages.tabs import checked, study_scores
from pages.tabs.checked.choice import Given, dimension_menu, facts_beside
from pages.tabs.checked.judges import Judges, added, stored
from pages.widgets import address
from pages.widgets.messages import mistakes_shown
from pages.widgets.parts import nothing

_MOST_TOGETHER = 3
"""Judges whose verdicts the first screen has room for."""


def render(store: Store, study: Study) -> None:
    """Choose judges, raters and use; show the verdict first."""
    if study.state != "unblinded":
        nothing("votes and ratings are closed until you unblind the study")
        return
    checked.style()
    with mistakes_shown():
        given = _given(store, study, released_record(store, study))
        if given is not None:
            checked.render(store, given)


def _rated(record: StudyRecord) -> set[str]:
    """Items that people rated in the study."""
    if record.study.kind == "pairs":
        return {item.item_id for item in record.items}
    return {one.item_id for one in rating_set_of(record).ratings}


def _given(store: Store, study: Study, record: StudyRecord) -> Given | None:
    """Choose what is checked; None, with a sentence on the page, while something is missing."""
    ratings = rating_set_of(record) if study.kind == "ratings" else None
    own = f"study_{study.study_id}"
    left, middle, right = st.columns([4, 2, 3], vertical_alignment="bottom")
    with left:
        chosen = stored(store, own, study_scores.fitting(store, study), _rated(record))
    row = right.container(horizontal=True, vertical_alignment="bottom")
    judges = added(row, own, lambda: chosen)
    if ratings is None and not judges.tables and not judges.files:
        nothing("choose a judge above, or add a file with its scores")
        return None
    named = (
        (one.rater_id for one in record.raters)
        if ratings is None
        else (one.rater or "" for one in ratings.ratings)
    )
    everyone = list(dict.fromkeys(named))
    known = [] if ratings is None else list(dimensions_of(ratings))
    place = f"check_raters_{study.study_id}"
    address.several("human", place, everyone, everyone, address.place_among(everyone))
    with row.popover("Raters and dimension" if len(known) > 1 else "Raters", icon=":material/group:"):
        people = st.multiselect("Raters", everyone, key=place)
        dimension = dimension_menu(st.container(), known, f"check_dimension_{study.study_id}")
    if not people:
        nothing("choose raters")
        return None
    judge = _judge(judges, study, middle)
    marked = (record.answers, record.raters) if ratings is None else ratings.ratings
    of_pairs = tuple(run for run in judges.runs if ratings is None and "pairs" in KINDS[run.kind].reports)
    source, reading = StudySource(study.name), reading_in(store)
    who = PanelChoice(human=None if people == everyone else tuple(people), dimension=dimension)
    return Given(
        place=own,
        key=(
            *("study", study.study_id, hashlib.sha256(repr(marked).encode()).hexdigest()),
            *(tuple(people), dimension, judges.key),
        ),
        read=lambda: panel_of_source(source, judges.scores, who, reading, find=True),
        command=(
            source.written,
            *judges.all_words,
            *(() if people == everyone else ("--human", ",".join(people))),
            *(() if dimension is None else ("--dimension", dimension)),
        ),
        texts=lambda: texts_file(source, reading)[0],
        beside=lambda: texts_beside_panel(source, judges.sources, reading),
        facts=partial(facts_beside, reading, judges.sources, dimension),
        study=study,
        of_pairs=of_pairs,
        runs=judges.runs,
        margins=(lambda: margins_of(source, judges.scores, who, reading)) if ratings is None else None,
        alone=judge,
    )


def _judge(judges: Judges, study: Study, column: DeltaGenerator) -> str | None:
    """Choose whose verdict is shown: all are checked together. None: all; where there are many, the first one to begin with."""
    names = judges.names
    if len(names) < 2 or len(set(names)) < len(names):
        return None
    options = [None, *names]
    usual = names[0] if len(names) > _MOST_TOGETHER else None

    def code(one: str | None) -> str:
        return "all" if one is None else str(names.index(one) + 1)

    # Other runs have other names, so their menu is another.
    place = f"study_checked_judge_{study.study_id}_{sha256_of(repr(judges.all_words).encode())[:12]}"
    address.one("checked", place, options, usual, code)
    return column.selectbox(
        "Verdict on",
        options,
        format_func=lambda one: f"All {len(names)} together" if one is None else one,
        key=place,
    )
