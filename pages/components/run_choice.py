"""What runs are called in menus, and which generation run is on the screen."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import streamlit as st

from core.plots.dressing import shortened
from core.runs.asked import Asked, asked_of
from core.runs.progress import state_of
from core.schema.runs import Run
from core.store import Store
from core.store.runs import item_counts
from pages.components.menu import menu
from pages.components.messages import moment

Option = TypeVar("Option")
NEW, REPORT = 0, -1
"""Stand for a run that is still to be made, and for a report that was published."""
_CHOSEN = "run_choice"
_LONGEST = 28
"""Letters of a file's or a model's name in a menu."""


def choose(runs: Sequence[Run]) -> int:
    """The number of the run chosen, NEW or REPORT."""
    names = {NEW: "Make new answers ...", REPORT: "Inspect a published report ..."}
    names |= {run.run_id: name_of(run) for run in runs}
    return one_of("Run", names, _CHOSEN)


def one_of(label: str, names: Mapping[Option, str], place: str, also: str = "") -> Option:
    """What is chosen of runs and what stands beside them. names: of each; also: what else is there, for the help."""
    text = f"Newest first; runs that were started by command are here too{also}."
    return menu(label, list(names), place, names.__getitem__, help_text=text)


def several(
    label: str,
    runs: Mapping[int, Run],
    key: str,
    default: Sequence[int] = (),
    *,
    place: "st.delta_generator.DeltaGenerator | None" = None,
    placeholder: str | None = None,
    help_text: str | None = None,
) -> list[Run]:
    """Some of the runs, by their numbers."""
    chosen = (st if place is None else place).multiselect(
        label,
        list(runs),
        default=list(default),
        format_func=lambda number: name_of(runs[number]),
        key=key,
        placeholder=placeholder,
        help=help_text,
    )
    return [runs[number] for number in chosen if number in runs]


def remember(run_id: int) -> None:
    """Make this the run that the page shows."""
    st.session_state[_CHOSEN] = run_id


def identity(run: Run) -> tuple[int, str, str]:
    """Names a run in a cache, which outlives a database: in another one its number is another run's."""
    return run.run_id, run.data_sha256, run.created_utc


def key_of(store: Store, run: Run) -> tuple[object, ...]:
    """Names what a run has made so far in a cache: another one as soon as it has more or other items.

    A run that was resumed may end with other results and the same counts, so that its last end is part of it.
    """
    states, _ = item_counts(store, run.run_id)
    return (*identity(run), *sorted(states.items()), run.finished_utc)


def name_of(run: Run) -> str:
    """A run in a menu: what tells it from others comes before what may be cut off."""
    part = "" if run.n_wanted == run.n_items else f", first {run.n_wanted:,} of {run.n_items:,}"
    file = shortened(run.data_file, _LONGEST)
    return f"Run {run.run_id} ({state_of(run)}), {moment(run.created_utc)} UTC: {_what(asked_of(run))}, {file}{part}"


def _what(asked: Asked) -> str:
    if asked.kind.work == "scores":
        metrics = asked.chosen.metrics
        return str(metrics[0]) if len(metrics) == 1 else f"{len(metrics)} metrics"
    who = shortened(asked.name or asked.model.short_name, _LONGEST)
    return f"{', '.join([asked.kind.title, *asked.unusual])} by {who}"
