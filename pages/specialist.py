"""Specialist: judges that people's ratings stand behind; who marked what, how far they agree, what was copied."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.schema.runs import Run
from core.store import Store
from core.store.runs import get_run, item_counts
from pages.components import (
    blind_pair,
    generate_style,
    generated_level_diff,
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
from pages.components.parts import explained, nothing, tabs
from pages.components.run_words import PREVIEW_WORD

_PREFIX = "specialist"
"""Of the keys of the form of a new run."""


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
                "A specialist judges the texts of one test set. It sees people's ratings of other systems' texts of the "
                "same source. Ratings from a study on the page Studies can be its examples. Preview "
                f"{PREVIEW_WORD} items first to see what all of them will cost.",
                "judges-that-stand-on-ratings",
            )
            started = judges_form.form(store, _PREFIX, judges_runs.judges_of("rated texts"))
            if started is not None:
                specialist_runs.remember(started)
                st.rerun()
            return
        _run(store, get_run(store, chosen))


def _run(store: Store, run: Run) -> None:
    def looked_at(look: Callable[[Store, Run], None]) -> Callable[[], None]:
        return partial(_look, store, run, look)

    by_errors = specialist_runs.marks_errors(run)
    of_kind: dict[str, Callable[[], None]] = (
        {
            "Spans": looked_at(specialist_spans.render),
            "Agreement": looked_at(specialist_agreement.render),
            "Raters": looked_at(specialist_raters.render),
            "Copying": looked_at(specialist_copying.copying),
            "Examples": looked_at(specialist_copying.examples),
        }
        if by_errors
        else {"Texts": looked_at(specialist_said.render)}
    )
    bodies: dict[str, Callable[[], None]] = {
        "Progress": partial(_progress, store, run),
        "Scores": partial(metrics_scores.live, store, (RUN, run.run_id), judges_scores.render),
        **of_kind,
        "Accuracy": looked_at(specialist_accuracy.render),
        "Cost": partial(judges_cost.render, store, run),
        "Files": partial(judges_files.render, store, run),
    }
    tabs(bodies, f"specialist_part_{'errors' if by_errors else 'scores'}")


def _look(store: Store, run: Run, look: Callable[[Store, Run], None]) -> None:
    """Show what people and the judge said, which is read once for all that show it."""
    if not any(item_counts(store, run.run_id)[0].values()):
        nothing("no item is finished yet")
        return
    with st.spinner("Reading what people and the judge said ..."):
        specialist_runs.people_of(store, run)
        judges_runs.output_of(store, run)
    look(store, run)


def _progress(store: Store, run: Run) -> None:
    run_panel.render(store, run)
    judges_form.again_button(store, run, _PREFIX, lambda: specialist_runs.remember(specialist_runs.NEW))
