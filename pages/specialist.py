"""Specialist: judges that people's ratings stand behind; who marked what, how far they agree, what was copied."""

from collections.abc import Callable

import streamlit as st

from core.schema import Run
from core.store import Store
from core.store.runs import get_run, item_counts
from pages.components import (
    blind_pair,
    generate_style,
    generated_level_diff,
    judges_again,
    judges_cost,
    judges_files,
    judges_form,
    judges_runs,
    judges_scores,
    messages,
    metrics_heat,
    metrics_scores,
    run_panel,
    specialist_accuracy,
    specialist_agreement,
    specialist_copying,
    specialist_raters,
    specialist_runs,
    specialist_said,
    specialist_spans,
    visitor,
)
from pages.components.metrics_scores import RUN
from pages.components.parts import explained, nothing
from pages.components.run_words import PREVIEW_WORD

_PREFIX = "specialist"
"""Of the keys of the form of a new run."""
_PROGRESS, _SCORES, _SPANS, _TEXTS, _AGREEMENT, _RATERS, _COPYING, _EXAMPLES, _ACCURACY, _COST, _FILES = (
    "Progress",
    "Scores",
    "Spans",
    "Texts",
    "Agreement",
    "Raters",
    "Copying",
    "Examples",
    "Accuracy",
    "Cost",
    "Files",
)
_OF_ERRORS = (_PROGRESS, _SCORES, _SPANS, _AGREEMENT, _RATERS, _COPYING, _EXAMPLES, _ACCURACY, _COST, _FILES)
_OF_SCORES = (_PROGRESS, _SCORES, _TEXTS, _ACCURACY, _COST, _FILES)
_OF_ANY = (_PROGRESS, _SCORES, _COST, _FILES)
"""Parts that have something to show, or say themselves why not, before an item is finished."""


def render() -> None:
    """Choose a judge's run or make one, then look at it beside what people said."""
    with visitor.admin_store() as store:
        st.title("Specialist")
        blind_pair.style()
        generate_style.style()
        generated_level_diff.style()
        metrics_heat.style()
        messages.news()
        chosen = specialist_runs.choose(store)
        if chosen == specialist_runs.NEW:
            explained(
                "A specialist judges the texts of one test set. It is shown what people said of other systems' texts of "
                "the same source. Ratings given here, on the page Studies, can be its examples. A preview of "
                f"{PREVIEW_WORD} items comes first, and says what all will cost.",
                "judges-that-stand-on-ratings",
            )
            started = judges_form.form(store, _PREFIX, judges_runs.judges_of("rated texts"))
            if started is not None:
                specialist_runs.remember(started)
                st.rerun()
            return
        run = get_run(store, chosen)
        by_errors = specialist_runs.marks_errors(run)
        names = _OF_ERRORS if by_errors else _OF_SCORES
        slot = "errors" if by_errors else "scores"
        for name, tab in zip(
            names, st.tabs(names, key=f"specialist_part_{slot}", on_change="rerun"), strict=True
        ):
            if tab.open:  # only the open one is computed
                with tab, messages.mistakes_shown():
                    _body(store, run, name)


def _body(store: Store, run: Run, name: str) -> None:
    if name not in _OF_ANY and not any(item_counts(store, run.run_id)[0].values()):
        nothing("no item is finished yet")
        return
    if name not in _OF_ANY:
        with st.spinner("Reading what people and the judge said ..."):  # once for all these parts
            specialist_runs.people_of(store, run)
            judges_runs.output_of(store, run)
    _BODIES[name](store, run)


def _progress(store: Store, run: Run) -> None:
    run_panel.render(store, run)
    judges_again.button(store, run, _PREFIX, lambda: specialist_runs.remember(specialist_runs.NEW))


_BODIES: dict[str, Callable[[Store, Run], None]] = {
    _PROGRESS: _progress,
    _SCORES: lambda store, run: metrics_scores.live(store, (RUN, run.run_id), judges_scores.render),
    _SPANS: specialist_spans.render,
    _TEXTS: specialist_said.render,
    _AGREEMENT: specialist_agreement.render,
    _RATERS: specialist_raters.render,
    _COPYING: specialist_copying.copying,
    _EXAMPLES: specialist_copying.examples,
    _ACCURACY: specialist_accuracy.render,
    _COST: judges_cost.render,
    _FILES: judges_files.render,
}
