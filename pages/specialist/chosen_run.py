"""The chosen run of a judge that uses ratings, and those ratings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from core.formats.rated import outputs_of, ratings_of
from core.judges.kind import JudgeKind
from core.judges.rated import ExamplePool, ExampleSettings, task_of
from core.runs.asked import asked_of
from core.runs.judging import bench_of
from core.runs.path import saved_run
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
    """The texts of a run's file and people's ratings of them."""

    rated: RatedSet
    ratings: RatingSet
    texts: OutputSet
    key: Key

    @property
    def marked(self) -> bool:
        """Whether somebody marked errors, or marked a text as free of errors."""
        return any(one.spans is not None for one in self.ratings.ratings)


def judges() -> tuple[JudgeKind, ...]:
    """The judges that can use people's ratings."""
    return chosen_judge.judges_of("rated texts")


def marking() -> tuple[JudgeKind, ...]:
    """The judges among them that mark errors."""
    return tuple(kind for kind in judges() if kind.marks_errors)


def remember(run_id: int) -> None:
    """Make this what the page shows."""
    st.session_state[_CHOSEN] = run_id


def choose(store: Store) -> int:
    """Return the number of the chosen run, or NEW; without any run yet, NEW."""
    names = {run.run_id: menus.name_of(run) for run in list_runs(store, tuple(one.name for one in judges()))}
    return menus.run_or_new("Judge", names, _CHOSEN, NEW)


def marks_errors(run: Run) -> bool:
    """Whether the run's judge marks errors rather than giving scores."""
    return any(run.kind == kind.name for kind in marking())


def people_of(store: Store, run: Run) -> People:
    """The ratings in the run's file, read once for all tabs."""
    return _people((run.data_sha256, run.data_file), store, run)


# Cached as resources: cached data would be copied at every rerun. The objects are frozen.
@st.cache_resource(show_spinner=False, max_entries=4)
def _people(key: Key, _store: Store, _run: Run) -> People:
    rated = saved_run(_store, _run).contents
    return People(rated, ratings_of(rated), outputs_of(rated), key)


def pool(store: Store, run: Run) -> ExamplePool | None:
    """The rated texts that the run's examples were drawn from; None if its examples come from elsewhere."""
    return _pool(menus.identity(run), store, run)


@st.cache_resource(show_spinner=False, max_entries=4)
def _pool(key: Key, _store: Store, _run: Run) -> ExamplePool | None:
    asked = asked_of(_run)
    if not isinstance(asked.settings, ExampleSettings):
        return None
    bench = bench_of(asked, people_of(_store, _run).rated, _run.data_sha256)
    return asked.settings.pool(bench.texts, task_of(bench))


def runs_to_compare(
    store: Store,
    run: Run,
    slot: str,
    label: str,
    *kinds: JudgeKind,
    at_first: Callable[[Run], bool] | None = None,
) -> list[Run]:
    """The run, and the runs of the same texts and ratings chosen to compare it with.

    slot: unique among the places that ask; at_first: whether a run is preselected; None: no run is.
    """
    there = {
        number: one
        for number, one in chosen_judge.finished_runs(store, *kinds).items()
        if number != run.run_id and one.data_sha256 == run.data_sha256
    }
    if not there:
        st.markdown(
            f":small[{label}: no other judge has judged these texts and ratings yet. Start one with New run.]"
        )
        return [run]
    first = [number for number, one in there.items() if at_first is not None and at_first(one)]
    key = f"specialist_beside_{slot}_{run.run_id}"
    return [run, *menus.several(label, there, key, first, placeholder="No other judge")]


def keys_of(store: Store, runs: Sequence[Run]) -> Key:
    """Cache key of what several runs have made so far."""
    return tuple(menus.key_of(store, run) for run in runs)
