"""Tab Files: what a judge's run made, to take away; and scores of a judge that were made elsewhere."""

import streamlit as st

from core.runs.path import at_hand, written
from core.schema.runs import Run
from core.store import Store
from core.store.runs import item_states
from pages.components import file_buttons, judges_runs, metrics_kept, run_choice
from pages.components.kept_once import once
from pages.components.messages import mistakes_shown
from pages.components.metrics_scores import FILE
from pages.components.parts import nothing, part

_MADE = "judges_files_made"


def render(store: Store, run: Run) -> None:
    """A button a file, and one for all."""
    states = item_states(store, run.run_id)
    done = sum(state == "done" for state in states.values())
    if not states:
        nothing("no item is finished yet")
        return
    part(
        "Downloads",
        f"{done:,} of {run.n_items:,} items are complete. The records hold everything the judge said; "
        "commands can read them again.",
    )
    files = once(
        _MADE,
        run_choice.key_of(store, run),
        lambda: written(at_hand(store, run)),
        "Making the files ...",
    )
    file_buttons.render(files, f"assay-judge-{run.run_id}.zip", "judges")


def upload(store: Store) -> None:
    """Give scores of a judge that was asked elsewhere, and look at them."""
    part(
        "A judge's output",
        "Scores that a judge gave elsewhere, such as results of the factual-perturbation study, answers of the "
        "Cross-Examination Framework over REST, RAGAS rows or a long CSV: are they to be believed? They are kept, and stand beside all other scores.",
        "importing",
    )
    with mistakes_shown():
        given = metrics_kept.choose_new(store, "scores", "judges")
        if given is not None:
            judges_runs.remember((FILE, given.file_id))
            st.rerun()
