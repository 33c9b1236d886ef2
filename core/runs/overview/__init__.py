"""Runs and studies in progress, and those that wait for their owner."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.runs.progress import AT_WORK, ShownState, state_of
from core.schema.runs import Run
from core.schema.study import Study
from core.store import Store
from core.store.runs import list_runs, n_finished_since
from core.store.studies import list_studies
from core.study.raters import list_progress

_WAITING = ("waiting", "awaiting", "stopped", "interrupted")


@dataclass(frozen=True)
class OpenRun:
    """A run that is not over."""

    run: Run
    state: ShownState
    n_finished: int
    """Of `run.n_wanted` items."""

    @property
    def share(self) -> float:
        """Share of the wanted items that are finished, at most 1."""
        return min(1.0, self.n_finished / self.run.n_wanted) if self.run.n_wanted else 0.0


@dataclass(frozen=True)
class OpenStudy:
    """A study with the votes of all its raters' lists; previews are left out."""

    study: Study
    n_raters: int
    done: int
    n_asked: int

    @property
    def share(self) -> float:
        """Share of the requested votes that have been given."""
        return self.done / self.n_asked if self.n_asked else 0.0


@dataclass(frozen=True)
class Overview:
    """Everything in progress or waiting, newest first."""

    running: tuple[OpenRun, ...]
    waiting: tuple[OpenRun, ...]
    """Unfinished runs without a process, except cancelled ones."""
    open_studies: tuple[OpenStudy, ...]
    drafts: tuple[Study, ...]
    closed: tuple[Study, ...]
    unblinded: tuple[Study, ...]
    """Their results can be read."""


def overview(store: Store) -> Overview:
    """Read all runs and studies that are in progress or waiting."""
    runs = [OpenRun(run, state_of(run), n_finished_since(store, run.run_id)) for run in _not_over(store)]
    studies = list_studies(store)
    return Overview(
        running=tuple(run for run in runs if run.state in AT_WORK),
        waiting=tuple(run for run in runs if run.state in _WAITING),
        open_studies=tuple(so_far(store, study) for study in studies if study.state == "open"),
        drafts=_studies_in(studies, "draft"),
        closed=_studies_in(studies, "closed"),
        unblinded=_studies_in(studies, "unblinded"),
    )


def is_moving(store: Store) -> bool:
    """Whether a run is in progress now."""
    return any(state_of(run) in AT_WORK for run in _not_over(store))


def _not_over(store: Store) -> list[Run]:
    return [run for run in list_runs(store) if run.state not in ("done", "cancelled")]


def so_far(store: Store, study: Study) -> OpenStudy:
    """Count the votes or ratings of a study in any state. Previews and excluded raters are left out."""
    lines = [line for line in list_progress(store, study) if line.kind != "dry run" and line.excluded is None]
    return OpenStudy(study, len(lines), sum(line.done for line in lines), sum(line.total for line in lines))


def _studies_in(studies: Sequence[Study], state: str) -> tuple[Study, ...]:
    return tuple(study for study in studies if study.state == state)
