"""A calibration as the documented JSON (docs/formats.md)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from core.analysis.calibration import MAJORITIES, Calibration
from core.analysis.calibration_advice import RULES, Advice, verdict_of
from core.analysis.calibration_cells import Cell
from core.analysis.calibration_summary import Summary, macro_averaged
from core.analysis.calibration_tables import NOT_APPLICABLE, map_estimates
from core.analysis.estimate_json import ends
from core.stats.calibration_map import CalibrationMap
from core.stats.resampling import Estimate

Row = dict[str, Any]
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
