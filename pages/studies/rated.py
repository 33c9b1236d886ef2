"""An unblinded rating study: the system that is rated highest, means by system and level, and its raters."""

from collections.abc import Callable

import streamlit as st

from core.analyses.agreement import ANALYSIS as AGREEMENT_OF_RATERS
from core.analyses.study_results.rating_agreement import raters_of
from core.analyses.study_results.rating_rows import answer_of
from core.errors import counted
from core.joining.choices import dimensions_of as dimensions_rated
from core.results.study.results import reasons
from core.results.study.tables import best_rated, rated_highest
from core.schema.study import StudyRecord
from core.study.as_seen import translated_notes
from core.study.ratings import counted as counted_ratings
from core.study.ratings import rating_set_of
from pages.studies.analysed import fingerprint, means_of
from pages.widgets import address, analysis, verdict_card
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import explained, nothing, number, part
from pages.widgets.result_table import together
from pages.widgets.verdict_card import Number, Tone

_NOTHING_RATED = "no text is rated yet"
_MOST_MEANS = 2
"""Means of systems among the numbers beside the card."""


def result(record: StudyRecord) -> None:
    """Show the highest rated system, its numbers and the figure of all means, then the means as tables."""
    means, found = means_of(record), counted_ratings(record)
    rated = {(answer.item_id, answer.level, answer.source) for answer in found.answers}
    raters = {answer.rater_id for answer in found.answers}
    highest = rated_highest(means)
    left, right = st.columns([11, 9], gap="medium")
    with left:
        explained(
            "Mean over texts of the mean over raters. Higher is better; marked errors count minus their MQM weights."
        )
        tone: Tone = "good" if highest.separated else "open"
        verdict_card.card(tone, highest.word, [highest.why], signed=False)
        shown = [
            Number(
                f"{verdict_card.name(one.system)}, {dimension}",
                number(one.mean.estimate, 2),
                ()
                if one.mean.low is None or one.mean.high is None
                else (f"{number(one.mean.low, 2)} to {number(one.mean.high, 2)} (95 %)",),
                "Mean with its 95 % interval from resampled sources",
            )
            for dimension in highest.dimensions[:1]
            for one in best_rated(means)[dimension][:_MOST_MEANS]
        ]
        verdict_card.numbers(
            [
                *shown,
                Number("Texts rated", f"{len(rated):,} of {len(record.outputs):,}"),
                Number("Raters", f"{len(raters)}", (counted(len(found.answers), "rating"),)),
            ]
        )
        left_out = f" Ratings left out: {plain(reasons(found.left_out))}." if found.left_out else ""
        translated = translated_notes(found.n_translated, len(found.answers), "ratings")
        said = "".join(f" {plain(one)}" for one in translated)
        st.markdown(f":small[Compare only systems with texts on the same sources.{left_out}{said}]")
    if not rated:
        nothing(_NOTHING_RATED)
        return
    answer = answer_of(record, means)
    with together("means"):
        with right:
            analysis.show_tables(answer, ("totals",))
        with left:
            for name in ("means-by-system", "means-by-level"):
                analysis.show_tables(answer, (name,), headed=True)


def bodies(record: StudyRecord) -> dict[str, Callable[[], None]]:
    """Title -> what draws that part of the raters."""
    return {"Agreement": lambda: _agreement(record), "Each rater": lambda: _each(record)}


def _each(record: StudyRecord) -> None:
    """Show how many texts each rater has rated, how strictly, and how often the same."""
    analysis.show_tables(answer_of(record, means_of(record)), ("raters", "repeats"), headed=True)


def _agreement(record: StudyRecord) -> None:
    """Show how far the raters agree with each other, in one dimension at a time."""
    raters = {answer.rater_id for answer in counted_ratings(record).answers}
    if len(raters) < 2:
        part(AGREEMENT_OF_RATERS.title, AGREEMENT_OF_RATERS.question, AGREEMENT_OF_RATERS.section)
        nothing("agreement needs two raters" if raters else _NOTHING_RATED)
        return

    def data() -> list[analysis.Data]:
        rated = list(dimensions_rated(rating_set_of(record)))
        numbers = {dimension: str(at) for at, dimension in enumerate(rated, 1)}
        key = address.one("dimension", "results_dimension", rated, rated[0], numbers.__getitem__)
        if st.session_state[key] not in rated:  # of another study
            st.session_state[key] = rated[0]
        dimension = rated[0] if len(rated) == 1 else st.selectbox("Dimension", rated, key=key)
        about = ("study", record.study.study_id, fingerprint(record), dimension)
        return [analysis.Data(about, lambda: raters_of(record, dimension))]

    with mistakes_shown():
        analysis.render(AGREEMENT_OF_RATERS, data)
