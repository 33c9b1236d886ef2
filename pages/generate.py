"""Generate: answers of known quality from questions and references; watch a run, inspect it, send it on."""

import streamlit as st

from core.runs.path import at_hand, runs_that
from core.store import Store
from pages.components import (
    blind_pair,
    generate_form,
    generate_style,
    generated_item,
    generated_levels,
    messages,
    report_replay,
    run_choice,
    run_panel,
    run_results,
    visitor,
)


def render() -> None:
    """Choose a run or make one, then look at it."""
    with visitor.admin_store() as store:
        st.title("Generate")
        blind_pair.style()
        generate_style.style()
        messages.news()
        chosen = run_choice.choose(runs_that(store, "generation"))
        if chosen == run_choice.NEW:
            started = generate_form.form(store)
            if started is not None:
                run_choice.remember(started)
                st.rerun()
        elif chosen == run_choice.REPORT:
            report_replay.render()
        else:
            _run(store, chosen)


def _run(store: Store, run_id: int) -> None:
    run = at_hand(store, run_id)
    # Only the open one is computed: items and files of a large run take their time.
    progress, items, levels, results = st.tabs(
        ["Progress", "Items", "Levels", "Results"], key="generate_part", on_change="rerun"
    )
    if progress.open:
        with progress:
            run_panel.render(store, run.run)
    if items.open:
        with items:
            generated_item.of_run(run)
    if levels.open:
        with levels:
            generated_levels.render(run)
    if results.open:
        with results:
            run_results.render(run)
