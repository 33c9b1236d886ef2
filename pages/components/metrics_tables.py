"""Results of scores as rows: what tables show and what their CSV files hold. Undefined is None, with a reason."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.results.correlations.levels import ALL_LEVELS, MetricByLevel
from core.results.correlations.ranking import Ranking, Redundancy
from core.results.correlations.table import CorrelationReport, MetricCorrelation
from core.results.correlations.votes import MetricVotes
from core.results.joining import SystemScores
from core.results.meta_correlation import Matrix, MetaCorrelation
from core.schema.scores import METHODS
from core.stats.degeneracy import Constant
from core.stats.resampling import Estimate
from core.stats.shares import Share
from pages.components.numbers import left_out

Row = dict[str, Any]


def correlations(report: CorrelationReport) -> list[Row]:
    """Everything that was computed, a row a metric and group: the CSV file."""
    return [_correlation(row, report.options.system_scores) for row in report.rows]


def _correlation(row: MetricCorrelation, system_scores: SystemScores) -> Row:
    found: Row = {
        **row.group,
        "family": row.metric.family,
        "signature": row.metric.signature,
        "direction": row.metric.direction,
        "against": row.against,
        "n": row.n,
        "n_left_out": row.n_left_out,
        "left_out": left_out(row.left_out),
        **constant(row.constant),
    }
    for method in METHODS:
        pooled = row.pooled.get(method)
        found |= estimate(method, pooled.over_items if pooled else None)
        found |= {
            f"{method}_rows_low": pooled.over_rows.low if pooled else None,
            f"{method}_rows_high": pooled.over_rows.high if pooled else None,
            f"{method}_fisher_low": pooled.fisher[0] if pooled and pooled.fisher else None,
            f"{method}_fisher_high": pooled.fisher[1] if pooled and pooled.fisher else None,
        }
        for part, by_method in {
            "per_item": row.per_item,
            "per_system": row.per_system,
            "partial": row.partial,
        }.items():
            found |= estimate(f"{method}_{part}", by_method.get(method))
    found |= estimate("system_accuracy", row.system_accuracy)
    return {**found, "system_scores": system_scores if row.against == "human" else None}


def estimate(name: str, found: Estimate | None) -> Row:
    """An estimate as five cells."""
    return {
        name: None if found is None else found.estimate,
        f"{name}_low": None if found is None else found.low,
        f"{name}_high": None if found is None else found.high,
        f"{name}_n": None if found is None else found.n,
        f"{name}_reason": (found.reason or found.interval_reason or "") if found else "not computed",
    }


def constant(found: Constant | None) -> Row:
    """The score that covers nearly all texts as two cells."""
    return {
        "constant_value": None if found is None else found.value,
        "constant_share": None if found is None else found.share,
    }


def share(name: str, found: Share) -> Row:
    """A share of a count as six cells."""
    return {
        name: found.share,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
        f"{name}_count": found.count,
        f"{name}_n": found.n,
        f"{name}_reason": found.reason or "",
    }


def ranking(found: Ranking) -> list[Row]:
    """Every comparison of two metrics, with the clusters they are in."""
    return [
        {
            "first": one.first,
            "second": one.second,
            "first_cluster": found.cluster.get(one.first),
            "second_cluster": found.cluster.get(one.second),
            "first_direction": found.directions.get(one.first),
            "second_direction": found.directions.get(one.second),
            "method": found.method,
            "difference": one.difference,
            "p_two_sided": one.p,
            "test": one.test,
            "n": one.n,
            "left_out": left_out(found.left_out),
            "reason": one.reason or "",
        }
        for one in found.comparisons
    ]


def redundancy(found: Redundancy) -> list[Row]:
    """A row a pair of metrics."""
    return [
        {
            "first": first,
            "second": second,
            "method": found.method,
            "correlation": found.values[i][j],
            "n": found.n[i][j] if found.n else None,
            "left_out": left_out(found.left_out),
        }
        for i, first in enumerate(found.metrics)
        for j, second in enumerate(found.metrics)
        if i < j
    ]


def level_means(found: Sequence[MetricByLevel]) -> list[Row]:
    """A row a metric and level."""
    return [
        {
            "metric": one.metric,
            "family": one.family,
            "level": level.level,
            **estimate("mean", level.mean),
            **estimate("prefers_damaged", one.prefers_damaged.get(level.level)),
        }
        for one in found
        for level in one.levels
    ]


def order_of_levels(found: Sequence[MetricByLevel]) -> list[Row]:
    """A row a metric."""
    return [
        {
            "metric": one.metric,
            "family": one.family,
            **estimate("monotonic", one.monotonic),
            **estimate("strictly_monotonic", one.strictly_monotonic),
            **estimate("prefers_damaged", one.prefers_damaged[ALL_LEVELS]),
            **constant(one.constant),
            "left_out": left_out(one.left_out),
        }
        for one in found
    ]


def points(found: MetaCorrelation) -> list[Row]:
    """A row a point of the scatter, then the metrics that were dropped."""
    drawn = [
        {
            "metric": one.metric,
            "family": one.family,
            "human": one.human,
            "synthetic": one.synthetic,
            "dropped_because": "",
        }
        for one in found.points
    ]
    return drawn + [
        {"metric": name, "family": "", "human": None, "synthetic": None, "dropped_because": reason}
        for name, reason in found.dropped.items()
    ]


def matrix(found: Matrix) -> list[Row]:
    """A row a cell."""
    return [
        {
            **cell.by,
            **estimate("meta_correlation", cell.result.over_metrics if cell.result else None),
            "dropped": _named(cell.result.dropped) if cell.result else "",
            "reason": cell.reason or "",
        }
        for cell in found.cells
    ]


def summaries(found: Matrix) -> list[Row]:
    """A row for the variants of each combination of the other columns."""
    return [
        {**one.by, "mean": one.mean, "sd": one.sd, "n": one.n, "left_out": one.left_out}
        for one in found.summaries
    ]


def votes(found: Sequence[MetricVotes]) -> list[Row]:
    """A row a metric."""
    levels = list(dict.fromkeys(level for one in found for level in one.by_level))
    rows = []
    for one in found:
        row = {"metric": one.metric, "family": one.family, **estimate("agreement", one.agreement)}
        row |= estimate("tau", one.tau)
        for level in levels:
            row |= estimate(f"agreement_{level}", one.by_level.get(level))
        rows.append(row | {"left_out": left_out(one.left_out)})
    return rows


def _named(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
