"""Redundancy: which metrics say the same of the same texts?"""

from dataclasses import dataclass, field

import numpy as np

from core.analysis.joining import directions
from core.schema.scores import Method, ScoreTable
from core.stats.redundancy import redundancy as matrix_of


@dataclass(frozen=True)
class Redundancy:
    """How alike metrics score the same texts."""

    method: Method
    metrics: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    """Square, symmetric."""
    n: tuple[tuple[int, ...], ...] = field(default=())
    """Texts that both metrics scored."""


def redundancy(table: ScoreTable, *, method: Method = "spearman") -> Redundancy:
    """Correlation between every two metrics over the texts that both scored, each turned so that higher is better.

    Misleads where texts of all levels are pooled: any two metrics that see the damage at all agree then.
    """
    turned = table.values * directions(table)
    found = matrix_of(turned, method)
    return Redundancy(
        method=method,
        metrics=tuple(metric.name for metric in table.metrics),
        values=tuple(
            tuple(None if np.isnan(value) else float(value) for value in row) for row in found.values
        ),
        n=tuple(tuple(int(count) for count in row) for row in found.n),
    )
