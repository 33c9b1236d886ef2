"""What a scoring run was asked for, checked before it costs anything, and how it is kept with the run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import TypeAdapter

from core.errors import InputError
from core.schema import Run
from core.scoring.metrics.registry import find_metrics
from core.scoring.metrics.scorer import Group, MetricSpec

Synonyms = Literal["auto", "none"]
MOST_WORKERS = 256
TEXTS_PER_WORKER = 1_000
"""Fewer are scored sooner than a further process has started."""


def cores() -> int:
    """Processors that this process may use."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(there, MOST_WORKERS)


@dataclass(frozen=True)
class ScoringSettings:
    """What determines the scores of a run."""

    metrics: tuple[str, ...]
    """Names as the registry has them, in the order of the columns."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Metric -> local path or other name of its model; what is not here uses the metric's own."""
    synonyms: Synonyms = "auto"
    """METEOR: `auto` uses WordNet where its data is there, and the signature says which it was."""
    device: str = "auto"
    """Of neural metrics: auto, cpu, cuda."""


@dataclass(frozen=True)
class ScoringRunning:
    """How a scoring run is worked on: none of it changes a score."""

    batch_size: int = 32
    """Texts that a neural metric's model sees at once."""
    workers: int = field(default_factory=cores)
    """Processes for lexical metrics, at most; see `processes`."""

    def processes(self, n_texts: int) -> int:
        """Processes that are worth starting for so many texts; 1: a thread of the run's own process."""
        return max(1, min(self.workers, n_texts // TEXTS_PER_WORKER))


_SETTINGS = TypeAdapter(ScoringSettings)
_RUNNING = TypeAdapter(ScoringRunning)


def scoring_of(run: Run) -> ScoringSettings:
    """What the run was asked for."""
    return _SETTINGS.validate_python(run.settings)


def scoring_running_of(run: Run) -> ScoringRunning:
    """How the run is worked on."""
    return _RUNNING.validate_python(run.running)


def settings_kept(settings: ScoringSettings) -> dict[str, Any]:
    """As the store keeps it: JSON values only, so that equal settings are equal texts."""
    kept: dict[str, Any] = _SETTINGS.dump_python(settings, mode="json")
    return kept


def running_kept(running: ScoringRunning) -> dict[str, Any]:
    """As the store keeps it."""
    kept: dict[str, Any] = _RUNNING.dump_python(running, mode="json")
    return kept


def choose_metrics(names: Sequence[str], **settings: Any) -> ScoringSettings:
    """Settings with names, aliases and groups turned into metrics. Raises InputError for unknown ones."""
    return ScoringSettings(tuple(dict.fromkeys(spec.metric.name for spec in find_metrics(names))), **settings)


def specs_of(settings: ScoringSettings, group: Group | None = None) -> tuple[MetricSpec, ...]:
    """The configurations asked for, all or those of one group, in the order of the columns."""
    return tuple(spec for spec in find_metrics(settings.metrics) if group in (None, spec.group))


def checked(settings: ScoringSettings, running: ScoringRunning) -> ScoringSettings:
    """The settings as they are kept. Raises InputError with everything that is wrong, each named as its option."""
    problems = [] if settings.metrics else ["--metrics: name at least one, such as lexical"]
    groups = {spec.metric.name: spec.group for spec in specs_of(settings)} if settings.metrics else {}
    for name in settings.models:
        if name not in groups:
            problems.append(f"--model: {name} is not among the metrics asked for")
        elif groups[name] != "neural":
            problems.append(f"--model: {name} is computed without a model")
    if settings.synonyms not in get_args(Synonyms):
        problems.append(f"--synonyms: {settings.synonyms!r} is neither auto nor none")
    if running.batch_size < 1:
        problems.append(f"--batch-size: {running.batch_size} is no number of texts; at least 1")
    if not 1 <= running.workers <= MOST_WORKERS:
        problems.append(f"--workers: {running.workers} is no number of processes; 1 to {MOST_WORKERS}")
    if problems:
        raise InputError("The run cannot start", problems)
    return replace(settings, models={name: settled(model) for name, model in settings.models.items()})


def settled(model: str) -> str:
    """A local path whole: the run's process may have another folder to work in."""
    path = Path(model).expanduser()
    return str(path.resolve()) if path.exists() else model
