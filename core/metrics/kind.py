"""Scoring with metrics as a kind of run."""

import os
from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import field_validator

from core.errors import InputError
from core.installation import COMMAND
from core.llm.weights import absolute_place
from core.metrics.registry import find_metrics
from core.metrics.scorer import Group, MetricSpec
from core.schema.runs import Engine, Kind, KindSettings, Work, address_setting, engine_setting
from core.schema.settings import Remark, Settings, setting

MOST_WORKERS = 256
TEXTS_PER_WORKER = 1_000
"""Texts that justify one more process; fewer are scored before it has started."""


def cores() -> int:
    """Processors that this process may use."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(there, MOST_WORKERS)


class ScoringSettings(KindSettings):
    """Settings that determine the scores of a run."""

    MODEL_FREE: ClassVar[bool] = True
    metrics: tuple[str, ...] = setting(
        (),
        "Metrics",
        f"metrics or groups of metrics; `{COMMAND} score --list` lists them",
        metavar="lexical|neural|all|NAME,...",
        words={"": "lexical"},
    )
    models: dict[str, str] = setting(
        {},
        "Models",
        "model of a neural metric: a local path or a name on the model hub; may be repeated",
        option="model",
        metavar="NAME=PATH",
    )
    synonyms: Literal["auto", "none"] = setting(
        "auto",
        "Synonyms of METEOR",
        "synonyms for METEOR: auto uses WordNet if nltk has its data",
        words={"auto": "WordNet if its data is installed"},
    )
    device: str = setting("auto", "Device of neural metrics", "device of neural metrics: auto, cpu, cuda")

    @field_validator("metrics", mode="after")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Names, aliases and groups as metrics, in the order of the columns."""
        try:
            return tuple(dict.fromkeys(spec.metric.name for spec in find_metrics(names)))
        except InputError as unknown:  # pydantic collects ValueErrors with the other problems
            raise ValueError("; ".join(unknown.problems)) from unknown

    def problems(self, backend: str) -> Iterator[Remark]:
        """Report a missing metric, and models for metrics that are not chosen or use none."""
        if not self.metrics:
            yield Remark("metrics", "choose at least one, such as lexical")
        groups = {spec.metric.name: spec.group for spec in self.specs()} if self.metrics else {}
        for name in self.models:
            if name not in groups:
                yield Remark("models", "{metric} is not in {metrics}", {"metric": name})
            elif groups[name] != "neural":
                yield Remark("models", "{metric} uses no model", {"metric": name})

    def idle(self, backend: str) -> frozenset[str]:
        """Settings that none of the metrics uses."""
        specs = self.specs()
        neural = () if any(spec.group == "neural" for spec in specs) else ("models", "device")
        meteor = () if any(spec.metric.family == "METEOR" for spec in specs) else ("synonyms",)
        return frozenset({*neural, *meteor})

    def settled(self) -> Self:
        """The settings with absolute local paths: the run's process may have another working folder."""
        return self.model_copy(
            update={"models": {name: absolute_place(model) for name, model in self.models.items()}}
        )

    @property
    def needs(self) -> Literal["base", "neural"]:
        """See KindSettings."""
        return "neural" if self.specs("neural") else "base"

    def specs(self, group: Group | None = None) -> tuple[MetricSpec, ...]:
        """The chosen configurations, all or those of one group, in the order of the columns."""
        return tuple(spec for spec in find_metrics(self.metrics) if group in (None, spec.group))


class ScoringRunning(Settings):
    """Settings for the work of a scoring run; none of them changes a score."""

    batch_size: int = setting(
        32,
        "Texts per batch",
        "texts in a batch of a neural metric",
        within=(1, 100_000),
        scored=False,
    )
    workers: int = setting(
        cores(),
        "Processes for lexical metrics",
        f"most processes for lexical metrics: one for each {TEXTS_PER_WORKER:,} texts, about 75 MB each",
        within=(1, MOST_WORKERS),
        scored=False,
    )
    engine: Engine = engine_setting()
    address: str = address_setting()

    def idle(self, backend: str) -> frozenset[str]:
        """Only a run on Ray has a cluster, and a cluster that is already there has its own number of processes."""
        if self.engine != "ray":
            return frozenset({"address"})
        return frozenset({"workers"} if self.address else ())

    def processes(self, n_texts: int) -> int:
        """The number of processes for so many texts; 1 means a thread of the run's own process."""
        return max(1, min(self.workers, n_texts // TEXTS_PER_WORKER))


class Metrics(Kind):
    """Metrics of the texts of a file."""

    name = "scores"
    title = "Metrics"
    summary = "score texts with metrics"
    work: Work = "scores"
    reads = "texts"
    Settings = ScoringSettings
    Running = ScoringRunning
    section = "metrics"


class BigTableMetrics(Metrics):
    """Metrics of the texts of a table too big for memory."""

    name = "big_table"
    title = "Metrics of a big table"
    summary = "score the texts of a big table with metrics, in chunks"
    work = "tables"


KIND = Metrics()
TABLE_KIND = BigTableMetrics()
