"""Tab Raters: people against people, and specialists made from one person's ratings against each of them."""

import pandas as pd
import streamlit as st

from core.judges.rated import MERGED
from core.plots import judges as figures
from core.results.spans.agreement import SpanOptions
from core.results.spans.examples import RaterMatrix, mean_f1, rater_matrix, raters_of
from core.results.spans.segments import ratings_of_judge
from core.runs.asked import asked_of
from core.schema.runs import Run
from core.stats.span_f1 import Measure
from core.store import Store
from pages.specialist import chosen_run
from pages.widgets import chosen_judge, chosen_scores, results_shown
from pages.widgets.parts import nothing, number, part, table

_MEASURES: dict[Measure, str] = {"f1": "F1", "precision": "precision", "recall": "recall"}
_OPTIONS = SpanOptions(n_resamples=200)
"""A cell of many: its interval is shown on hover."""


def render(store: Store, run: Run) -> None:
    """Two matrices, as heat maps."""
    part(
        "People and people",
        "How far does each person mark what another one would have marked? What people reach among themselves is as far as "
        "a judge can be expected to get.",
        "rater-by-rater",
    )
    people = chosen_run.people_of(store, run)
    names = raters_of(people.ratings)
    if not names:
        nothing("the ratings name no raters, or nobody marked errors")
        return
    measure: Measure = st.radio(
        "Measure",
        list(_MEASURES),
        format_func=_MEASURES.__getitem__,
        horizontal=True,
        key="specialist_measure",
    )
    if len(names) > 1:
        with st.spinner("Computing ..."):
            found = chosen_scores.once(
                ("raters", people.key, _OPTIONS),
                lambda: rater_matrix(people.ratings, texts=people.texts, options=_OPTIONS),
            )
        _matrix(found, measure, "raters-people")
    else:
        nothing("one rater marked all of these texts: there is nobody to compare with")
    part(
        "Specialists and people",
        "A specialist whose examples are one person's ratings against each person: does it mark as that person does? Make "
        "one for each rater, and choose them here.",
        "rater-by-rater",
    )
    _specialists(store, run, measure)


def _specialists(store: Store, run: Run, measure: Measure) -> None:
    runs = chosen_run.beside(
        store, run, "raters", "Together with", *chosen_run.marking(), at_first=_of_one_rater
    )
    people = chosen_run.people_of(store, run)
    raters = {chosen_judge.short_name(one): asked_of(one).chosen.rater for one in runs}
    with st.spinner("Computing ..."):
        found = chosen_scores.once(
            ("specialists by rater", *chosen_run.keys_of(store, runs), _OPTIONS),
            lambda: rater_matrix(
                people.ratings,
                {
                    chosen_judge.short_name(one): ratings_of_judge(chosen_judge.output_of(store, one), 0)
                    for one in runs
                },
                raters=raters,
                texts=people.texts,
                options=_OPTIONS,
            ),
        )
    own, other = mean_f1(found, same=True), mean_f1(found, same=False)
    _matrix(found, measure, "raters-specialists")
    if own is not None:
        st.markdown(
            f"Mean F1 of a specialist with its own rater: {number(own)}; with others: {number(other)}."
        )
    else:
        st.markdown(":small[No run here has one rater's ratings alone as its examples.]")


def _of_one_rater(run: Run) -> bool:
    rater: str = asked_of(run).chosen.rater
    return rater != MERGED


def _matrix(found: RaterMatrix, measure: Measure, name: str) -> None:
    rows = [
        {
            "predicts": row,
            "gold": column,
            "texts": cell.n_segments,
            **{
                key: each
                for one in _MEASURES
                for key, each in results_shown.estimate(
                    one, getattr(cell.agreement, one) if cell.agreement else None
                ).items()
            },
            "reason": cell.reason or "",
        }
        for row, line in zip(found.rows, found.cells, strict=True)
        for column, cell in zip(found.columns, line, strict=True)
    ]
    results_shown.show(
        figures.rater_heat(found, measure),
        f"{_MEASURES[measure]} of {len(found.rows)} who predict against {len(found.columns)} raters",
        name,
        rows,
        least_width=results_shown.width_for(len(found.columns)),
    )
    table(
        pd.DataFrame(
            [
                {
                    "Who predicts": row,
                    **{
                        column: "-"
                        if cell.agreement is None
                        else f"{number(getattr(cell.agreement, measure).estimate)} ({cell.n_segments:,})"
                        for column, cell in zip(found.columns, line, strict=True)
                    },
                }
                for row, line in zip(found.rows, found.cells, strict=True)
            ]
        )
    )
    reasons = dict.fromkeys(cell.reason for line in found.cells for cell in line if cell.reason)
    said = f" -: {'; '.join(str(one) for one in reasons)}." if reasons else ""
    st.markdown(f":small[In brackets: texts that both marked.{said}]")
    chosen_scores.read_notes(found.notes)
