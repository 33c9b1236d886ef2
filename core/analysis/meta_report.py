"""Meta-correlations as the documented JSON (docs/formats.md)."""

from dataclasses import asdict
from typing import Any

from core.analysis.estimate_json import ends
from core.analysis.meta_correlation import Matrix, MatrixCell, MetaCorrelation
from core.stats.resampling import Estimate


def meta_json(found: MetaCorrelation) -> dict[str, Any]:
    """The estimate with its interval over metrics, the one over items, p values, points, and what was dropped."""
    return {
        "cautions": list(found.cautions),
        **ends(found.over_metrics),
        "p_one_sided": found.p_one_sided,
        "p_two_sided": found.p_two_sided,
        "p_reason": found.p_reason,
        "n_metrics": found.n_metrics,
        "n_families": found.n_families,
        "dropped": dict(found.dropped),
        "over_items": _over_items(found.over_items),
        "without_family": {
            family: {**ends(estimate), "n_metrics": estimate.n}
            for family, estimate in found.without_family.items()
        },
        "method": found.method,
        "first_order": found.first_order or found.method,
        "confidence_level": found.over_metrics.confidence_level,
        "n_resamples": found.over_metrics.n_resamples,
        "human": found.human,
        "synthetic": found.synthetic,
        "notes": list(found.notes),
        "points": [asdict(point) for point in found.points],
    }


def _over_items(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {
        "low": estimate.low,
        "high": estimate.high,
        "interval_reason": estimate.interval_reason,
        "n_items": estimate.n_clusters,
        "n_undefined": estimate.n_undefined,
    }


def matrix_json(matrix: Matrix) -> dict[str, Any]:
    """`cells`, one a combination of columns, and `summaries`: mean and SD over the variants."""
    return {
        "cells": [_cell(cell) for cell in matrix.cells],
        "summaries": [
            {
                "by": dict(one.by),
                "mean": one.mean,
                "sd": one.sd,
                "n": one.n,
                "n_left_out": one.left_out,
            }
            for one in matrix.summaries
        ],
        "notes": list(matrix.notes),
    }


def _cell(cell: MatrixCell) -> dict[str, Any]:
    found = _undefined(cell.reason or "") if cell.result is None else meta_json(cell.result)
    return {"by": dict(cell.by), **found, "reason": cell.reason}


def _undefined(reason: str) -> dict[str, Any]:
    """The keys of `meta_json` where nothing was computed, so that a reader finds them in every cell."""
    return {
        "cautions": [],
        **ends(None, reason),
        "p_one_sided": None,
        "p_two_sided": None,
        "p_reason": reason,
        "n_metrics": 0,
        "n_families": 0,
        "dropped": {},
        "over_items": None,
        "without_family": {},
        "method": None,
        "first_order": None,
        "confidence_level": None,
        "n_resamples": None,
        "human": None,
        "synthetic": None,
        "notes": [],
        "points": [],
    }
