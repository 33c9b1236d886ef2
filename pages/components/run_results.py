"""What a run made, to take away as files."""

import streamlit as st

from core.runs.generation import count_verbatim, spans_found_by, spans_warning
from core.runs.jobs import RunAtHand
from core.runs.path import written
from core.store.runs import item_states
from pages.components import file_buttons, run_choice, send_to_scoring, send_to_study
from pages.components.generated_item import with_materials
from pages.components.kept_once import once
from pages.components.messages import capital, mistakes_shown, plain
from pages.components.parts import nothing, part

_MADE = "run_results_made"


def render(run: RunAtHand) -> None:
    """Downloads, and the ways to metrics and to a study."""
    states = item_states(run.store, run.run.run_id)
    done = sum(state == "done" for state in states.values())
    if not states:
        nothing("the run has not finished an item yet")
        return
    with mistakes_shown():
        _downloads(run, done, len(states))
    send_to_scoring.button(run.run)
    send_to_study.form(run)


def _downloads(run: RunAtHand, done: int, n_items: int) -> None:
    rest = " Reports and tables also hold what came of the others." if done < n_items else ""
    part("Downloads", f"{done:,} of {run.run.n_items:,} items are complete.{rest}")
    files, verbatim, found_by = once(
        _MADE,
        run_choice.key_of(run.store, run.run),
        lambda: (written(with_materials(run)), count_verbatim(run), spans_found_by(run)),
        "Making the files ...",
    )
    if (warning := spans_warning(found_by)) is not None:
        st.warning(plain(warning.replace("`", "")))
    if verbatim:
        first = run.asked.chosen.first_level
        st.warning(
            f"{capital(first)} is the reference word for word in {verbatim:,} of {n_items:,} items (`verbatim` in the records): "
            "every metric calls such a text perfect, and raters of a study see the reference beside it."
        )
    file_buttons.render(files, f"assay-run-{run.run.run_id}.zip", "run")
