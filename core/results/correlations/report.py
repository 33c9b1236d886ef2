"""Correlations as the documented JSON (docs/formats.md) and as a table."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from core.results.correlations.levels import MetricByLevel
from core.results.correlations.ranking import Ranking, Redundancy
from core.results.correlations.table import CorrelationReport, MetricCorrelation, Pooled
from core.results.decimals import ends
from core.results.joining import SystemScores
from core.schema.scores import METHODS
from core.stats.degeneracy import Constant
from core.stats.resampling import Estimate
from core.tables.writer import csv_bytes

NOT_ASKED = "not asked for"
NO_RATINGS = "needs human ratings"
ONE_SYSTEM = "there is only one system"


def correlation_rows(report: CorrelationReport, *, resampled: str = "rows") -> list[dict[str, Any]]:
    """One dictionary a metric and group. resampled: `rows` or `items`, whose interval is `low` and `high`."""
    return [_row(row, resampled, report.options.system_scores) for row in report.rows]


def _row(row: MetricCorrelation, resampled: str, system_scores: SystemScores) -> dict[str, Any]:
    human = row.against == "human"
    pooled: dict[str, Any] = {method: _pooled(row.pooled.get(method), resampled) for method in METHODS}
    return {
        "group": dict(row.group),
        "family": row.metric.family,
        "signature": row.metric.signature,
        "direction": row.metric.direction,
        "against": row.against,
        "n": row.n,
        "n_left_out": row.n_left_out,
        "left_out": dict(row.left_out),
        "constant": _constant(row.constant),
        **pooled,
        **{f"{method}_per_item": _counted(row.per_item.get(method), "items") for method in METHODS},
        **{
            f"{method}_per_system": _counted(
                row.per_system.get(method), "systems", NOT_ASKED if human else NO_RATINGS
            )
            for method in METHODS
        },
        "system_accuracy": _counted(row.system_accuracy, "pairs", NO_RATINGS),
        "system_scores": system_scores if human else None,
        **{
            f"{method}_given_system": _counted(
                row.partial.get(method), "rows", NOT_ASKED if row.partial else ONE_SYSTEM
            )
            for method in METHODS
        },
    }


def _constant(found: Constant | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def _pooled(pooled: Pooled | None, resampled: str) -> dict[str, Any]:
    if pooled is None:
        return {**_ends(None, NOT_ASKED), "resampled": resampled, "over_items": None, "fisher": None}
    shown = pooled.over_items if resampled == "items" else pooled.over_rows
    fisher = None if pooled.fisher is None else dict(zip(("low", "high"), pooled.fisher, strict=True))
    return {
        **_ends(shown),
        "resampled": resampled,
        "over_rows": _interval(pooled.over_rows),
        "over_items": _interval(pooled.over_items),
        "fisher": fisher,
    }


def _interval(estimate: Estimate) -> dict[str, Any]:
    return {
        "low": estimate.low,
        "high": estimate.high,
        "reason": estimate.interval_reason,
        "n_resamples": estimate.n_resamples,
        "monte_carlo_error": estimate.monte_carlo_error,
    }


def _counted(estimate: Estimate | None, what: str, why_none: str = NOT_ASKED) -> dict[str, Any]:
    """An estimate with how many items, systems or pairs are behind it, and how many are not."""
    n = n_left_out = 0
    if estimate is not None:
        n = estimate.n_clusters if what == "items" else estimate.n
        n_left_out = estimate.n_left_out
    lacking = "systems" if what == "pairs" else what  # a pair is missing where a system is
    return {**_ends(estimate, why_none), f"n_{what}": n, f"n_{lacking}_left_out": n_left_out}


def _ends(estimate: Estimate | None, why_none: str = "") -> dict[str, Any]:
    if estimate is None:
        return ends(None, why_none)
    return {
        **ends(estimate),
        "confidence_level": estimate.confidence_level,
        "n_resamples": estimate.n_resamples,
        "n_undefined": estimate.n_undefined,
        "monte_carlo_error": estimate.monte_carlo_error,
    }


def correlations_csv(report: CorrelationReport, *, resampled: str = "rows") -> bytes:
    """The same flat: one row a metric and group, `pearson`, `pearson_low` ... as columns, reasons in words."""
    rows = [_flat(row) for row in correlation_rows(report, resampled=resampled)]
    return csv_bytes(list(rows[0]), rows)


def _flat(row: Mapping[str, Any]) -> dict[str, object]:
    cells: dict[str, object] = dict(row["group"])
    for key, value in row.items():
        if key == "left_out":
            cells[key] = "; ".join(f"{n} {reason}" for reason, n in value.items())
        elif key == "constant":
            cells |= {f"constant_{name}": value[name] if value else None for name in ("value", "share")}
        elif isinstance(value, Mapping) and key != "group":
            cells.update(_flat_estimate(key, value))
        elif key != "group":
            cells[key] = value
    return cells


def _flat_estimate(key: str, value: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield key, value["estimate"]
    for end in ("low", "high"):
        yield f"{key}_{end}", value[end]
    yield from ((f"{key}_{name}", count) for name, count in value.items() if name in _COUNTS)
    yield f"{key}_reason", value["reason"] or value["interval_reason"]


_COUNTS = ("n_items", "n_items_left_out", "n_systems", "n_pairs")


def ranking_json(ranking: Ranking) -> dict[str, Any]:
    """Metrics in order with their cluster, all comparisons, and what is not ranked."""
    return {
        "method": ranking.method,
        "alpha": ranking.alpha,
        "n": ranking.n,
        "n_rows": ranking.n_rows,
        "left_out": dict(ranking.left_out),
        "order": [
            {
                "metric": name,
                "direction": ranking.directions.get(name),
                "cluster": ranking.cluster[name],
                "coefficient": ranking.coefficients.get(name),
            }
            for name in ranking.order
        ],
        "comparisons": [asdict(comparison) for comparison in ranking.comparisons],
        "dropped": dict(ranking.dropped),
        "notes": list(ranking.notes),
    }


def levels_json(levels: tuple[MetricByLevel, ...]) -> list[dict[str, Any]]:
    """Scores by level, monotonic shares, preferences for the damaged text and where they are largest."""
    return [
        {
            "metric": one.metric,
            "family": one.family,
            "levels": [{"level": level.level, **_with_n(level.mean)} for level in one.levels],
            "monotonic": _with_n(one.monotonic),
            "strictly_monotonic": _with_n(one.strictly_monotonic),
            "prefers_damaged": {level: _with_n(share) for level, share in one.prefers_damaged.items()},
            "constant": _constant(one.constant),
            "left_out": dict(one.left_out),
            "worst": [asdict(preference) for preference in one.worst],
        }
        for one in levels
    ]


def _with_n(estimate: Estimate) -> dict[str, Any]:
    return {**_ends(estimate), "n": estimate.n, "n_left_out": estimate.n_left_out}


def redundancy_json(found: Redundancy) -> dict[str, Any]:
    """The square matrix of coefficients with how many texts are behind each."""
    return {
        "method": found.method,
        "metrics": list(found.metrics),
        "directions": list(found.directions),
        "left_out": dict(found.left_out),
        "values": [list(row) for row in found.values],
        "n": [list(row) for row in found.n],
    }
