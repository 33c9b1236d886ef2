"""Per-metric correlations: which metric follows human ratings, or the damage that was done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.choosing import check_names
from core.analysis.correlation_options import DEFAULT_OPTIONS as DEFAULT_OPTIONS
from core.analysis.correlation_options import CorrelationOptions as CorrelationOptions
from core.analysis.correlation_options import Raters as Raters
from core.analysis.correlation_options import joined_with
from core.analysis.joining import Joined, group_columns, items_of, left_out, names_of, rows_by
from core.analysis.metric_ranking import Comparison as Comparison
from core.analysis.metric_ranking import Ranking as Ranking
from core.analysis.metric_ranking import rank_metrics as rank_metrics
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import Against, Method, Metric, RatingSet, ScoreTable
from core.stats import correlation
from core.stats.constant import Constant, constant, constants_said
from core.stats.resampling import Estimate, Floats

MOST_OF_PARTIAL = 1_000
"""Resamples of a partial correlation, which take as long as all the others together."""
_TOGETHER = 4  # metrics that share the ranks of their target in every resample


@dataclass(frozen=True)
class Pooled:
    """One coefficient over all rows, with three intervals."""

    over_rows: Estimate
    """Percentile bootstrap over rows, as 003 has it: too narrow where an item has several rows."""
    over_items: Estimate
    """The same over whole items: the sounder one."""
    fisher: tuple[float, float] | None
    """By Fisher's z, for independent rows; None where it does not apply (Kendall, fewer than four rows)."""


@dataclass(frozen=True)
class MetricCorrelation:
    """One metric in one group of rows."""

    group: Mapping[str, str]
    """Column -> value; holds `metric`."""
    metric: Metric
    against: Against
    n: int
    """Rows used."""
    left_out: Mapping[str, int]
    """Reason -> rows."""
    pooled: Mapping[Method, Pooled]
    per_item: Mapping[Method, Estimate]
    """Within each item, then averaged over items; `n_clusters`: items used, `n_left_out`: items without a value."""
    per_system: Mapping[Method, Estimate]
    """Between systems' means; empty where levels are the target. `n`: systems."""
    system_accuracy: Estimate | None
    """Share of pairs of systems that the metric orders as people do; None: no human ratings."""
    partial: Mapping[Method, Estimate]
    """Controlling for system; empty where there is only one."""
    constant: Constant | None = None
    """The score that covers all or nearly all texts used, on the metric's own scale; None: scores vary."""

    @property
    def n_left_out(self) -> int:
        """Rows left out, whatever the reason."""
        return sum(self.left_out.values())


@dataclass(frozen=True)
class CorrelationReport:
    """All metrics in all groups."""

    rows: tuple[MetricCorrelation, ...]
    against: Against
    options: CorrelationOptions
    notes: tuple[str, ...] = ()
    """Such as how many ratings met no score."""

    @property
    def constants(self) -> tuple[str, ...]:
        """A sentence for each metric, in each group, that says nearly the same of everything."""
        return constants_said((_name_of(row), row.constant) for row in self.rows)


def _name_of(row: MetricCorrelation) -> str:
    """The metric, and the group that it is looked at in."""
    group = ", ".join(f"{name} {value}" for name, value in row.group.items() if name != "metric")
    return shown(f"{row.metric.name} ({group})" if group else row.metric.name)


def correlate_scores(
    table: ScoreTable,
    ratings: RatingSet | None = None,
    *,
    group: Sequence[str] = (),
    options: CorrelationOptions = DEFAULT_OPTIONS,
    tell: Callable[[str], None] | None = None,
) -> CorrelationReport:
    """Correlate every metric with the ratings, or with the level where none are given.

    group: columns of the table (`dataset`, `language`, `system`, `level` or a label) besides the metric. Scores of
    a metric whose lower end is better are turned, so that a good metric is positive (with raw_level negative).
    tell: told what is being done, as this can take a minute. Raises InputError, with suggestions, for unknown columns and
    dimensions, and where nothing can be joined.
    """
    group = [name for name in dict.fromkeys(group) if name != "metric"]
    check_names("column to group by", group, group_columns(table))
    if not table.metrics:
        raise InputError("There is no metric: the table holds no column of scores.")
    joined = joined_with(table, ratings, options)
    rows: list[MetricCorrelation] = []
    groups = rows_by(table.rows, group)
    for number, (values, indices) in enumerate(groups.items(), start=1):
        within = np.isin(np.arange(len(table.rows)), indices)
        told = _telling(tell, f"group {number} of {len(groups)}, " if len(groups) > 1 else "")
        rows += _of_group(joined, within, dict(zip(group, values, strict=True)), options, told)
    return CorrelationReport(tuple(rows), joined.against, options, (*table.notes, *joined.notes))


def _telling(tell: Callable[[str], None] | None, begin: str) -> Callable[[str], None]:
    """Tells which group, before what is said of it."""

    def told(what: str) -> None:
        if tell is not None:
            tell(begin + what)

    return told


@dataclass(frozen=True)
class _Rows:
    """The joined rows of one group."""

    scores: Floats
    target: Floats
    items: NDArray[np.int64]
    systems: NDArray[np.str_]
    human: bool
    names: tuple[str, str]
    methods: tuple[Method, ...]
    resampling: dict[str, Any]


def _of_group(
    joined: Joined,
    within: NDArray[np.bool_],
    group: Mapping[str, str],
    options: CorrelationOptions,
    tell: Callable[[str], None],
) -> list[MetricCorrelation]:
    entries = within[joined.rows]
    rows = [joined.table.rows[index] for index in joined.rows[entries].tolist()]
    part = _Rows(
        scores=joined.scores()[entries],
        target=joined.target[entries],
        items=items_of(rows),
        systems=names_of(rows, "system"),
        human=joined.against == "human",
        names=joined.names,
        methods=options.methods,
        resampling={
            "n_resamples": options.n_resamples,
            "confidence_level": options.confidence_level,
            "rng": options.rng,
        },
    )
    pooled = _pooled(part, tell)
    as_given = joined.table.values[np.unique(joined.rows[entries])]
    found = []
    for index, metric in enumerate(joined.table.metrics):
        tell(f"within items and between systems: metric {index + 1} of {len(pooled)}")
        found.append(
            MetricCorrelation(
                group={**group, "metric": metric.name},
                metric=metric,
                against=joined.against,
                n=int((~np.isnan(part.scores[:, index])).sum()),
                left_out=left_out(joined, within, index),
                pooled=pooled[index],
                **_within_and_between(part, part.scores[:, index]),
                constant=constant(as_given[:, index]),
            )
        )
    return found


def _pooled(part: _Rows, tell: Callable[[str], None]) -> list[dict[Method, Pooled]]:
    """A dictionary a metric. Metric by metric, so that there is something to tell: all draw the same resamples."""
    options = {"names": part.names, **part.resampling}
    n_metrics = part.scores.shape[1]
    found: list[dict[Method, Pooled]] = []
    for start in range(0, n_metrics, _TOGETHER):
        scores = part.scores[:, start : start + _TOGETHER]
        tell(f"metric {start + 1} of {n_metrics}")
        over_rows = correlation.correlate_columns(scores, part.target, part.methods, **options)
        over_items = correlation.correlate_columns(
            scores, part.target, part.methods, clusters=part.items, **options
        )
        found += [
            {
                method: Pooled(rows[method], items[method], _fisher(rows[method], method))
                for method in part.methods
            }
            for rows, items in zip(over_rows, over_items, strict=True)
        ]
    return found


def _fisher(estimate: Estimate, method: Method) -> tuple[float, float] | None:
    if estimate.estimate is None:
        return None
    return correlation.fisher_interval(estimate.estimate, estimate.n, estimate.confidence_level, method)


def _within_and_between(part: _Rows, scores: Floats) -> dict[str, Any]:
    """What needs to know whose text a row is: per item, per system, accuracy and partial correlation."""
    x, y, options = scores, part.target, part.resampling
    several = len(set(part.systems.tolist())) > 1
    fewer = {**options, "n_resamples": min(options["n_resamples"], MOST_OF_PARTIAL), "names": part.names}
    return {
        "per_item": {m: correlation.mean_within(x, y, part.items, m, **options) for m in part.methods},
        "per_system": {
            m: correlation.between_systems(x, y, part.systems, m, items=part.items, **options)
            for m in part.methods
        }
        if part.human
        else {},
        "system_accuracy": correlation.system_accuracy(x, y, part.systems, part.items, **options)
        if part.human
        else None,
        "partial": {
            m: correlation.partial(x, y, part.systems, m, items=part.items, **fewer) for m in part.methods
        }
        if several
        else {},
    }
