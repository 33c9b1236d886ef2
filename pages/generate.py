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
from pages.components.parts import tabs


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
    tabs(
        {
            "Progress": lambda: run_panel.render(store, run.run),
            "Items": lambda: generated_item.of_run(run),
            "Levels": lambda: generated_levels.render(run),
            "Results": lambda: run_results.render(run),
        },
        "generate_part",
    )
