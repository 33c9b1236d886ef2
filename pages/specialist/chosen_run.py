"""Which run of a judge that stands on ratings is looked at, with the ratings that it stands on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from core.formats.rated import outputs_of, ratings_of
from core.judges.kind import JudgeKind
from core.judges.rated import ExamplePool, ExampleSettings, task_of
from core.runs.asked import asked_of
from core.runs.judging import bench_of
from core.runs.path import at_hand
from core.schema.runs import Run
from core.schema.scores import OutputSet, RatedSet, RatingSet
from core.store import Store
from core.store.runs import list_runs
from pages.widgets import chosen_judge, menus
from pages.widgets.chosen_scores import Key

NEW = 0
"""Stands for a judge that is still to be asked."""
_CHOSEN = chosen_judge.CHOSEN_SPECIALIST


@dataclass(frozen=True)
class People:
    """The texts of a run's file, and what people said of them."""

    rated: RatedSet
    ratings: RatingSet
    texts: OutputSet
    key: Key

    @property
    def marked(self) -> bool:
        """Whether somebody marked errors, or said of a text that it has none."""
        return any(one.spans is not None for one in self.ratings.ratings)


def judges() -> tuple[JudgeKind, ...]:
    """Those that people's ratings may stand behind."""
    return chosen_judge.judges_of("rated texts")


def marking() -> tuple[JudgeKind, ...]:
    """Those of them that mark errors."""
    return tuple(kind for kind in judges() if kind.marks_errors)


def remember(run_id: int) -> None:
    """Make this what the page shows."""
    st.session_state[_CHOSEN] = run_id


def choose(store: Store) -> int:
    """Return the number of the chosen run, or NEW; without any run yet, NEW."""
    names = {run.run_id: menus.name_of(run) for run in list_runs(store, tuple(one.name for one in judges()))}
    return menus.run_or_new("Judge", names, _CHOSEN, NEW)


def marks_errors(run: Run) -> bool:
    """Whether the run's judge marks errors; else it gives scores."""
    return any(run.kind == kind.name for kind in marking())


def people_of(store: Store, run: Run) -> People:
    """The ratings that the run's file holds, read once for all who look at them."""
    return _people((run.data_sha256, run.data_file), store, run)


# Resources: thousands of texts would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=4)
def _people(key: Key, _store: Store, _run: Run) -> People:
    rated = at_hand(_store, _run).contents
    return People(rated, ratings_of(rated), outputs_of(rated), key)


def pool(store: Store, run: Run) -> ExamplePool | None:
    """The rated texts that the run's examples were drawn from; None: its judge is shown other examples."""
    return _pool(menus.identity(run), store, run)


@st.cache_resource(show_spinner=False, max_entries=4)
def _pool(key: Key, _store: Store, _run: Run) -> ExamplePool | None:
    asked = asked_of(_run)
    if not isinstance(asked.chosen, ExampleSettings):
        return None
    bench = bench_of(asked, people_of(_store, _run).rated, _run.data_sha256)
    return asked.chosen.pool(bench.texts, task_of(bench))


def beside(
    store: Store,
    run: Run,
    slot: str,
    said: str,
    *kinds: JudgeKind,
    at_first: Callable[[Run], bool] | None = None,
) -> list[Run]:
    """The run and those chosen to stand beside it, of the same texts and ratings.

    slot: tells apart the places that ask; at_first: whether one is chosen until somebody chooses; None: none is.
    """
    there = {
        number: one
        for number, one in chosen_judge.with_results(store, *kinds).items()
        if number != run.run_id and one.data_sha256 == run.data_sha256
    }
    if not there:
        st.markdown(f":small[{said}: no other judge has worked on these texts and ratings yet.]")
        return [run]
    first = [number for number, one in there.items() if at_first is not None and at_first(one)]
    key = f"specialist_beside_{slot}_{run.run_id}"
    return [run, *menus.several(said, there, key, first, placeholder="No other judge")]


def keys_of(store: Store, runs: Sequence[Run]) -> Key:
    """Names what several runs have made so far in a cache."""
    return tuple(menus.key_of(store, run) for run in runs)
