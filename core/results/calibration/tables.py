"""A calibration as tables and as the documented JSON (docs/formats.md). Undefined is empty, with a reason."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.results.calibration.advice import RULES, Advice, verdict_of
from core.results.calibration.cells import STATISTICS, Cell
from core.results.calibration.repeats import Sensitivity
from core.results.calibration.results import MAJORITIES, Calibration, Summary, Sweep, macro_averaged
from core.results.decimals import ends
from core.stats.calibration import CalibrationMap
from core.stats.resampling import Estimate
from core.tables.writer import csv_bytes

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


_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "agreement": {
        "raters": "raters_agreement",
        "evaluator": "agreement",
        "raters_pairwise": "raters_pairwise",
        "evaluator_pairwise": "pairwise",
        "gap": "gap",
    },
    "weighted_f1": {"raters": "raters_f1", "evaluator": "f1"},
    "kappas": {
        "raters_fleiss": "raters_kappa",
        "evaluator_fleiss": "kappa",
        "raters_krippendorff": "raters_alpha",
        "evaluator_krippendorff": "alpha",
        "raters_ac1": "raters_ac1",
        "evaluator_ac1": "ac1",
    },
    "bias": {
        "all": "bias",
        "raters_agree": "bias_agreed",
        "raters_disagree": "bias_disagreed",
        "top_class_majority": "top_majority",
        "top_class_evaluator": "top_evaluator",
    },
    "numbers": {
        "pearson": "pearson",
        "spearman": "spearman",
        "kendall": "kendall",
        "shift": "shift",
        "mean_absolute_error": "error",
    },
}
"""Section of the JSON -> its keys -> names of STATISTICS."""
_WORDS = ("classes", "numbers")


def calibration_json(
    found: Calibration, judged: Advice, maps: Mapping[str, CalibrationMap] | None, averaged: str
) -> Row:
    """averaged: `macro` (004: each cell counts once) or `pooled` (each text counts once): what stands at the top."""
    overall = macro_averaged(found)
    top = _macro(overall[0]) if averaged == "macro" else _cell_sections(found.pooled)
    return {
        "evaluator": found.evaluator,
        "ratings": found.ratings,
        "averaged": averaged,
        "majority": found.options.majority,
        "majority_of_split_raters": MAJORITIES[found.options.majority],
        "undefined_kappa_as_zero": found.options.paper_kappa,
        "n_texts": sum(cell.n for cell in found.cells),
        "n_groups": len(found.cells),
        **top,
        "by_group": [_cell(cell) for cell in found.cells],
        "by_dimension": [_cell(cell) for cell in found.by_dimension],
        "pooled": _cell(found.pooled),
        "macro": [
            {"group": dict(one.group), "n_groups": one.n_cells, "n": one.n, **_macro(one)} for one in overall
        ],
        "not_to_use": {
            "sentence": judged.sentence,
            "constants": list(judged.constants),
            "rules": list(RULES),
            "groups": [
                {
                    "group": dict(one.group),
                    "n": one.n,
                    "verdict": one.verdict,
                    "reasons": list(one.reasons),
                }
                for one in judged.warned
            ],
        },
        "maps": None if maps is None else {dimension: _map(one) for dimension, one in maps.items()},
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
    }


def _cell(cell: Cell) -> Row:
    verdict = verdict_of(cell)
    return {
        "group": dict(cell.group),
        "scale": _WORDS[not cell.classes],
        "why_numbers": cell.why_numbers,
        "classes": list(cell.classes),
        "n": cell.n,
        "n_items": cell.n_items,
        "n_raters": cell.n_raters,
        "n_off_scale": cell.n_off_scale,
        "left_out": dict(cell.left_out),
        "verdict": {"value": verdict.value, "reasons": list(verdict.reasons)},
        "constant": None if cell.constant is None else asdict(cell.constant),
        **_cell_sections(cell),
        "distributions": [
            {
                "raters_agree": one.kind,
                "majority": list(one.majority),
                "evaluator": list(one.evaluator),
                "n_no_majority": one.n_no_majority,
            }
            for one in cell.distributions
        ],
    }


def _cell_sections(cell: Cell) -> Row:
    return {
        section: {key: _estimate(cell.get(name), cell.why_numbers) for key, name in keys.items()}
        for section, keys in _SECTIONS.items()
    }


def _estimate(found: Estimate | None, why_none: str | None = None) -> Row:
    if found is None:
        return {**ends(None, why_none or NOT_APPLICABLE), "n": 0}
    return {**ends(found), "n": found.n}


def _macro(one: Summary) -> Row:
    return {
        section: {key: _mean(one, name) for key, name in keys.items()} for section, keys in _SECTIONS.items()
    }


def _mean(one: Summary, name: str) -> Row:
    found = one.statistics.get(name)
    if found is None:
        return {"estimate": None, "sd": None, "n_groups": 0, "n_undefined": 0, "reason": NOT_APPLICABLE}
    return {
        "estimate": found.mean,
        "sd": found.sd,
        "n_groups": found.n_cells,
        "n_undefined": found.n_undefined,
        "reason": None if found.mean is not None else "undefined in every group",
    }


def _map(one: CalibrationMap) -> Row:
    return {
        "method": one.method,
        "fallback": one.fallback,
        "reason": one.reason,
        "n": one.n,
        "n_left_out": one.n_left_out,
        "n_items": one.n_clusters,
        "n_folds": one.n_folds,
        **{name: _estimate(found) for name, found in map_estimates(one).items()},
        "knots": [list(knot) for knot in one.knots],
        "bins_before": [_bin(each) for each in one.before],
        "bins_after": [_bin(each) for each in one.after],
        "notes": list(one.notes),
    }


def _bin(one: Any) -> Row:
    return {"low": one.low, "high": one.high, "mean_score": one.mean_score, "human": _estimate(one.human)}
