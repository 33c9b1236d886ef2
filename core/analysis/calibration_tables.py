"""Tables of a calibration, row by row: what a page's CSV files hold. Undefined is empty, with a reason beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.analysis.calibration_advice import Advice, verdict_of
from core.analysis.calibration_cells import STATISTICS, Cell
from core.analysis.calibration_summary import Summary
from core.analysis.quality_repeats import Sensitivity
from core.analysis.temperature_sweep import Sweep
from core.datasets.spreadsheet import csv_bytes
from core.stats.calibration_map import CalibrationMap
from core.stats.resampling import Estimate

Row = dict[str, Any]
NOT_APPLICABLE = "it does not apply to these ratings"


def map_estimates(one: CalibrationMap) -> Mapping[str, Estimate]:
    """What a map is worth, by name."""
    return {
        "error_before": one.error_before,
        "error_after": one.error_after,
        "error_of_mean": one.error_of_mean,
        "gain": one.gain,
        "calibration_error_before": one.calibration_error_before,
        "calibration_error_after": one.calibration_error_after,
    }


def cell_rows(cells: Sequence[Cell], evaluator: str) -> list[Row]:
    """A row a cell, all statistics with their ends, n and reason."""
    return [
        {
            "evaluator": evaluator,
            **cell.group,
            "n_texts": cell.n,
            "n_items": cell.n_items,
            "n_raters": cell.n_raters,
            "verdict": verdict_of(cell).value,
            "n_off_scale": cell.n_off_scale,
            "classes": " ".join(f"{value:g}" for value in cell.classes),
            "left_out": "; ".join(f"{n} {reason}" for reason, n in cell.left_out.items()),
            **{key: value for name in STATISTICS for key, value in columns(name, cell.get(name)).items()},
        }
        for cell in cells
    ]


def columns(name: str, found: Estimate | None) -> Row:
    """An estimate as five columns."""
    return {
        name: None if found is None else found.estimate,
        f"{name}_low": None if found is None else found.low,
        f"{name}_high": None if found is None else found.high,
        f"{name}_n": None if found is None else found.n,
        f"{name}_reason": NOT_APPLICABLE if found is None else found.reason or found.interval_reason or "",
    }


def macro_rows(summaries: Sequence[Summary], evaluator: str) -> list[Row]:
    """A row a group and statistic: mean and SD over cells."""
    return [
        {
            "evaluator": evaluator,
            "column": next(iter(one.group), "all"),
            "value": next(iter(one.group.values()), "all"),
            "statistic": name,
            "mean": found.mean,
            "sd": found.sd,
            "n_cells": found.n_cells,
            "n_undefined": found.n_undefined,
            "undefined_as_zero": found.as_zero,
        }
        for one in summaries
        for name, found in one.statistics.items()
    ]


def distribution_rows(cells: Sequence[Cell], evaluator: str) -> list[Row]:
    """A row a cell, kind of agreement and class: texts by majority and by evaluator."""
    return [
        {
            "evaluator": evaluator,
            **cell.group,
            "raters_agree": one.kind,
            "class": value,
            "majority": majority,
            "texts_by_evaluator": given,
        }
        for cell in cells
        for one in cell.distributions
        for value, majority, given in zip(one.classes, one.majority, one.evaluator, strict=True)
    ]


def bin_rows(maps: Mapping[str, CalibrationMap], evaluator: str) -> list[Row]:
    """A row a bin of a reliability diagram, before and after."""
    return [
        {
            "evaluator": evaluator,
            "dimension": dimension,
            "scores": which,
            "low": one.low,
            "high": one.high,
            "mean_score": one.mean_score,
            **columns("human", one.human),
        }
        for dimension, found in maps.items()
        for which, bins in (("as given", found.before), ("mapped", found.after))
        for one in bins
    ]


def map_rows(maps: Mapping[str, CalibrationMap], evaluator: str) -> list[Row]:
    """A row a dimension: what the map is worth, and its knots."""
    return [
        {
            "evaluator": evaluator,
            "dimension": dimension,
            "method": found.method,
            "n": found.n,
            **{
                key: value
                for name, one in map_estimates(found).items()
                for key, value in columns(name, one).items()
            },
            "knots": " ".join(f"{x:g}:{y:g}" for x, y in found.knots),
            "notes": "; ".join([*found.notes, *([found.reason] if found.reason else [])]),
        }
        for dimension, found in maps.items()
    ]


def warned_rows(judged: Advice, evaluator: str) -> list[Row]:
    """A row a cell that fails a rule."""
    return [
        {
            "evaluator": evaluator,
            **one.group,
            "n_texts": one.n,
            "verdict": one.verdict,
            "reasons": "; ".join(one.reasons),
        }
        for one in judged.warned
    ]


def sweep_rows(found: Sweep) -> list[Row]:
    """A row a run and dimension."""
    return [
        {
            "temperature": one.temperature,
            "evaluator": one.evaluator,
            "dimension": one.dimension,
            "repeats": one.n_repeats,
            **columns("agreement", one.agreement),
            **columns("kappa", one.kappa),
            **columns("repeats_equal", one.repeats_equal),
        }
        for one in found.points
    ]


def sensitivity_rows(found: Sequence[Sensitivity]) -> list[Row]:
    """A row a dimension and language."""
    return [
        {
            **one.group,
            **columns("drops", one.drops),
            **columns("stays", one.stays),
            **columns("rises", one.rises),
            "n": one.drops.n,
            "left_out": "; ".join(f"{n} {reason}" for reason, n in one.left_out.items()),
        }
        for one in found
    ]


def table_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """CSV in UTF-8 that is safe to open in a spreadsheet; a table without rows says so."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_bytes(names or ["nothing"], rows)
