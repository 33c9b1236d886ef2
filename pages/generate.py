"""Generate: answers of known quality from questions and references; watch a run, inspect it, send it on."""

import streamlit as st

from core.schema import GENERATION_KINDS
from core.store import Store
from core.store.runs import get_run, list_runs
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
        chosen = run_choice.choose(list_runs(store, GENERATION_KINDS))
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
    run = get_run(store, run_id)
    # Only the open one is computed: items and files of a large run take their time.
    progress, items, levels, results = st.tabs(
        ["Progress", "Items", "Levels", "Results"], key="generate_part", on_change="rerun"
    )
    if progress.open:
        with progress:
            run_panel.render(store, run)
    if items.open:
        with items:
            generated_item.of_run(store, run)
    if levels.open:
        with levels:
            generated_levels.render(store, run)
    if results.open:
        with results:
            run_results.render(store, run)
