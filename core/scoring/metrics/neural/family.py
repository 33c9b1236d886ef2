"""A family of metrics that run a model: its configurations, its library, and how a model of it is loaded."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.scoring.metrics.neural.hub import Kind
from core.scoring.metrics.neural.model import Model
from core.scoring.metrics.neural.model_files import ModelFiles
from core.scoring.metrics.scorer import MetricSpec

Needs = frozenset[Literal["reference", "source"]]
REFERENCE: Needs = frozenset({"reference"})
BOTH: Needs = frozenset({"reference", "source"})
SOURCE: Needs = frozenset({"source"})


@dataclass(frozen=True)
class Opened:
    """A metric whose model lies on this machine."""

    spec: MetricSpec
    files: ModelFiles
    layer: int | None = None
    """The one that is compared, where a family compares layers."""

    @property
    def place(self) -> Path:
        """Of its files."""
        return self.files.place

    @property
    def name(self) -> str:
        """Of the metric."""
        return self.spec.metric.name


@dataclass(frozen=True, kw_only=True)
class NeuralFamily:
    """One family of metrics that run a model; its file exports it."""

    name: str
    specs: tuple[MetricSpec, ...]
    """In the order of Meta-Judge's tables; what is beyond the paper comes last."""
    module: str
    """Of its library."""
    distribution: str
    """Under which the library is installed."""
    load: Callable[[Opened, str, int], Model]
    """Loads the model, for (metric, device, batch size)."""
    fit: Callable[[MetricSpec, ModelFiles], Opened] = Opened
    """A metric and its model, if they go together. Raises InputError."""
    form: Kind = "model"
    """In which its models lie on the hub."""
    empty_reason: str | None = None
    """Why an empty text has no score; None: the model reads it together with the reference or the source."""
