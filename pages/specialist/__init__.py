"""Specialist: judges that people's ratings stand behind; who marked what, how far they agree, what was copied."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.schema.runs import Run
from core.store import Store
from core.store.runs import get_run, item_counts
from pages.specialist import agreement, chosen_run, texts
from pages.tabs import downloads, judged, new_run
from pages.widgets import (
    blind_pair,
    chosen_judge,
    chosen_scores,
    level_diff,
    messages,
    parts,
    result_table,
    run_panel,
    visitor,
)
from pages.widgets.chosen_scores import RUN
from pages.widgets.parts import explained, nothing, tabs
from pages.widgets.run_panel import PREVIEW_WORD

_PREFIX = "specialist"
"""Of the keys of the form of a new run."""


def render() -> None:
    """Choose a judge's run or make one, then look at it beside what people said."""
    with visitor.admin_store() as store:
        parts.page(
            "Specialist",
            "Does a judge that sees human ratings find the errors that people mark?",
            "judges-that-stand-on-ratings",
        )
        blind_pair.style()
        parts.style()
        level_diff.style()
        result_table.style()
        messages.news()
        chosen = chosen_run.choose(store)
        if chosen == chosen_run.NEW:
            explained(
                "A specialist judges the texts of one test set. It sees people's ratings of other systems' texts of the "
                "same source. Ratings from a study on the page Studies can be its examples. Preview "
                f"{PREVIEW_WORD} items first to see what all of them will cost.",
                "judges-that-stand-on-ratings",
            )
            started = new_run.form(store, _PREFIX, chosen_judge.judges_of("rated texts"))
            if started is not None:
                chosen_run.remember(started)
                st.rerun()
            return
        _run(store, get_run(store, chosen))


def _run(store: Store, run: Run) -> None:
    def looked_at(look: Callable[[Store, Run], None]) -> Callable[[], None]:
        return partial(_look, store, run, look)

    by_errors = chosen_run.marks_errors(run)
    of_kind: dict[str, Callable[[], None]] = (
        {
            "Spans": looked_at(texts.render_spans),
            "Agreement": looked_at(agreement.agreement),
            "Raters": looked_at(agreement.raters),
            "Copying": looked_at(agreement.copying),
            "Examples": looked_at(agreement.examples),
        }
        if by_errors
        else {"Texts": looked_at(texts.render_said)}
    )
    bodies: dict[str, Callable[[], None]] = {
        "Progress": partial(_progress, store, run),
        "Scores": partial(chosen_scores.live, store, (RUN, run.run_id), judged.render_scores),
        **of_kind,
        "Accuracy": looked_at(agreement.accuracy),
        "Cost": partial(judged.render_costs, store, run),
        "Files": partial(downloads.judge_to_take, store, run),
    }
    tabs(bodies, f"specialist_part_{'errors' if by_errors else 'scores'}")


def _look(store: Store, run: Run, look: Callable[[Store, Run], None]) -> None:
    """Show what people and the judge said, which is read once for all that show it."""
    if not any(item_counts(store, run.run_id)[0].values()):
        nothing("no item is finished yet")
        return
    with st.spinner("Reading what people and the judge said ..."):
        chosen_run.people_of(store, run)
        chosen_judge.output_of(store, run)
    look(store, run)


def _progress(store: Store, run: Run) -> None:
    run_panel.render(store, run)
    new_run.again_button(store, run, _PREFIX, lambda: chosen_run.remember(chosen_run.NEW))
