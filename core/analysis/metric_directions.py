"""Which end of a metric is better, where the scores came from elsewhere and their file does not say it."""

from dataclasses import replace

import numpy as np

from core.datasets.reading import shown
from core.datasets.score_columns import direction_is_stated
from core.schema.scores import Direction, ScoreTable
from core.scoring.metrics.registry import all_metrics, canonical_name
from core.stats.resampling import Floats

LOWER = "↓"
"""Behind a metric's name where space is short: its lower end is better, and its scores are turned."""


def marked(metric: str, direction: Direction | None) -> str:
    """A metric's name, with a sign where its lower end is better."""
    return f"{metric} {LOWER}" if direction == "lower" else metric


def directions(table: ScoreTable) -> Floats:
    """+1 for each metric whose higher end is better, else -1; a metric that is not said about is as the registry has it."""
    found = with_directions(table)[0]
    return np.array([-1.0 if metric.direction == "lower" else 1.0 for metric in found.metrics])


def with_directions(table: ScoreTable) -> tuple[ScoreTable, tuple[str, ...]]:
    """The table with the registry's directions where its file states none, and what was assumed.

    Scores of an error rate that are below 0 were turned already: they stay as they are.
    """
    metrics, notes = [], []
    for metric, scores in zip(table.metrics, table.values.T, strict=True):
        if not (
            not direction_is_stated(metric) and metric.direction == "higher" and lower_is_better(metric.name)
        ):
            metrics.append(metric)
        elif np.nanmin(scores, initial=0.0) < 0:
            metrics.append(metric)
            notes.append(
                f"{shown(metric.name)} counts errors and its file does not say which end is better; some scores are "
                "below 0, so they are taken as turned already"
            )
        else:
            metrics.append(replace(metric, direction="lower"))
            notes.append(
                f"{shown(metric.name)} is taken as lower is better, as it counts errors and its file does not say so"
            )
    return (replace(table, metrics=tuple(metrics)) if notes else table), tuple(notes)


def lower_is_better(written: str) -> bool:
    """Whether the registry knows a metric by this name whose lower end is better."""
    name = canonical_name(written)
    return any(spec.metric.name == name and spec.metric.direction == "lower" for spec in all_metrics())
