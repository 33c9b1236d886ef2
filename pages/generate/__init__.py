"""The page Generate: make answers of known quality, inspect them, and send them to scoring or a study."""

import streamlit as st

from core.runs.path import runs_that, saved_run
from core.store import Store
from pages.generate import checked, form, made, one_item
from pages.widgets import blind_pair, menus, messages, parts, run_panel, visitor
from pages.widgets.parts import tabs


def render() -> None:
    """Show the chosen run, the form of a new one, or a published report."""
    with visitor.admin_store() as store:
        parts.page("Generate", "Make answers of known quality from questions and references.", "generation")
        blind_pair.style()
        parts.style()
        messages.news()
        chosen = menus.choose_run(runs_that(store, "generation"))
        if chosen == menus.NEW_RUN:
            started = form.form(store)
            if started is not None:
                menus.remember_run(started)
                st.rerun()
        elif chosen == menus.REPORT:
            one_item.report()
        else:
            _run(store, chosen)


def _run(store: Store, run_id: int) -> None:
    run = saved_run(store, run_id)
    tabs(
        {
            "Progress": lambda: run_panel.render(store, run.run, form.open_form),
            "Items": lambda: one_item.choose_item(run),
            "Levels": lambda: one_item.levels_kept(run),
            "Are the levels right?": lambda: checked.render(run),
            "Results": lambda: made.render(run),
        },
        "generate_part",
    )
