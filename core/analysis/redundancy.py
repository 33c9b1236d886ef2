"""Redundancy: which metrics say the same of the same texts?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from core.analysis.metric_directions import directions, with_directions
from core.analysis.table_choice import left_out_of
from core.schema.scores import Direction, Method, ScoreTable
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
    directions: tuple[Direction, ...] = field(default=())
    """Of each metric; scores of `lower` are turned."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> texts that the user left out."""


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
        directions=tuple(metric.direction for metric in with_directions(table)[0].metrics),
        left_out=left_out_of(table),
    )
