"""Which generation run is on the screen: one of those kept, one that is still to be made, or a published report."""

from collections.abc import Sequence

import streamlit as st

from core.runs.kinds import maker_of, seed_of
from core.runs.progress import is_worked_on
from core.runs.settings import settings_of
from core.schema import GENERATION_KINDS, Run
from pages.components.menu import menu
from pages.components.messages import moment

NEW, REPORT = 0, -1
"""Stand for a run that is still to be made, and for a report that was published."""
_CHOSEN = "run_choice"
_LONGEST = 28
"""Letters of a file's or a model's name in a menu."""


def choose(runs: Sequence[Run]) -> int:
    """The number of the run chosen, NEW or REPORT."""
    names = {NEW: "Make new answers ...", REPORT: "Inspect a published report ..."}
    names |= {run.run_id: name_of(run) for run in runs}
    return menu(
        "Run",
        list(names),
        _CHOSEN,
        names.__getitem__,
        help_text="Newest first; runs that were started by command are here too.",
    )


def remember(run_id: int) -> None:
    """Make this the run that the page shows."""
    st.session_state[_CHOSEN] = run_id


def name_of(run: Run) -> str:
    """A run in one line: what tells it from others of the same file and model comes before what may be cut off."""
    part = "" if run.n_wanted == run.n_items else f", first {run.n_wanted} of {run.n_items}"
    state = "interrupted" if run.state == "running" and not is_worked_on(run) else run.state
    return f"Run {run.run_id} ({state}), {moment(run.created_utc)} UTC: {_what(run)}, {_short(run.data_file)}{part}"


def _what(run: Run) -> str:
    if run.kind not in GENERATION_KINDS:
        return maker_of(run)
    settings = settings_of(run)
    by = "rules" if settings.backend == "rules" else _short(settings.model.rstrip("/").split("/")[-1])
    return f"{run.kind} by {by}, seed {seed_of(run)}"


def _short(name: str) -> str:
    """A long name without its middle: how it begins and how it ends both tell it from others."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 10]}…{name[-9:]}"
