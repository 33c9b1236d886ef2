"""Tab Agreement: raters with each other and with the evaluator, group by group and averaged."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.analysis.calibration import MAJORITIES
from core.analysis.calibration_advice import called
from core.analysis.calibration_cells import KAPPAS, STATISTICS, Cell
from core.analysis.calibration_summary import MacroMean, Summary, macro_averaged
from core.analysis.calibration_tables import cell_rows, macro_rows
from core.plots import calibration as figures
from pages.components import metrics_figure, metrics_kept
from pages.components.calibration_choice import How, Judged
from pages.components.judges_numbers import ends, value
from pages.components.metrics_heat import reasons_below
from pages.components.numbers import UNDEFINED, left_out, number
from pages.components.parts import nothing, part, table

_RATERS = ("raters_agreement", "raters_f1", "raters_kappa", "raters_alpha", "raters_ac1")
_EVALUATOR = ("agreement", "f1", "kappa", "alpha", "ac1", "gap")
_NUMBERS = ("raters_alpha", "alpha", "pearson", "spearman", "kendall", "error")
_MOST_ROWS = 30
"""Groups that a figure shows one by one; of more it shows means."""
_NAMES = {
    "raters_agreement": "All raters equal",
    "raters_f1": "Weighted F1",
    "raters_kappa": "Fleiss' kappa",
    "raters_alpha": "Krippendorff's alpha",
    "raters_ac1": "Gwet's AC1",
    "agreement": "Equal",
    "f1": "Weighted F1",
    "kappa": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
    "gap": "Among the raters",
}


def render(one: Judged, how: How) -> None:
    """Cells, then the whole."""
    found = one.found
    part(
        "Agreement",
        "How often are all raters of a text equal, and how often is the evaluator equal to their majority? Kappa, alpha and "
        "AC1 take off what chance alone would give, each in its own way.",
        "agreement-with-people",
    )
    cells = [cell for cell in found.cells if cell.classes]
    if cells:
        _figure(cells, one)
        _table("Raters with each other", cells, _RATERS)
        _table("Their majority and the evaluator", cells, _EVALUATOR)
        _reasons(cells)
    numbers = [cell for cell in found.cells if not cell.classes and cell.statistics]
    if numbers:
        part(
            "As numbers",
            "Ratings that are no classes are compared by their mean: correlations, and the mean absolute error where both "
            "are on one scale.",
            "agreement-with-people",
        )
        _table("Ratings and scores", numbers, _NUMBERS)
        _reasons(numbers)
    if not cells and not numbers:
        nothing("no group holds texts that can be compared: make a group for each dimension")
    for cell in found.cells:
        if cell.why_numbers:
            metrics_kept.read_notes((f"{called(cell.group)}: no classes: {cell.why_numbers}",))
    _whole(one, how)
    metrics_kept.read_notes(found.notes, found.left_out)


def _figure(cells: Sequence[Cell], one: Judged) -> None:
    rows = cell_rows(cells, one.evaluator.name)
    if len(cells) <= _MOST_ROWS:
        figure = figures.calibration_agreement(cells)
        metrics_figure.show(
            figure,
            f"Agreement of raters and of {one.evaluator.name} in {len(cells)} groups",
            "calibration",
            rows,
        )
        return
    summaries = macro_averaged(one.found)
    metrics_figure.show(
        figures.calibration_means(summaries),
        f"Mean agreement of raters and of {one.evaluator.name} over {len(cells)} groups",
        "calibration",
        rows,
    )


def _table(title: str, cells: Sequence[Cell], names: Sequence[str]) -> None:
    st.markdown(f"**{title}**")
    table(
        pd.DataFrame(
            [
                {
                    "Group": called(cell.group),
                    "Texts": f"{cell.n:,}",
                    "Raters": cell.n_raters,
                    **{_NAMES.get(name, STATISTICS[name]): _cell(cell, name) for name in names},
                }
                for cell in cells
            ]
        )
    )


def _cell(cell: Cell, name: str) -> str:
    """The number with its interval; why there is none stands below."""
    found = cell.get(name)
    if found is None or found.estimate is None:
        return UNDEFINED
    return f"{value(found)} {ends(found)}".strip()


def _reasons(cells: Sequence[Cell]) -> None:
    reasons: dict[str, list[str]] = {}
    for cell in cells:
        for name, found in cell.statistics.items():
            if found.estimate is None:
                reasons.setdefault(f"{STATISTICS[name]} is undefined: {found.reason}", []).append(
                    called(cell.group)
                )
        if cell.left_out:
            reasons.setdefault(f"Left out: {left_out(cell.left_out)}", []).append(called(cell.group))
    reasons_below(reasons, len(cells))


def _whole(one: Judged, how: How) -> None:
    found = one.found
    if how.averaged == "pooled":
        part("All texts", "Every text counts once, whatever its group.", "agreement-with-people")
        cells = [cell for cell in (*found.by_dimension, found.pooled) if cell.classes]
        if not cells:
            nothing("the dimensions have different classes, or none")
            return
        _table("Raters with each other", cells, _RATERS)
        _table("Their majority and the evaluator", cells, _EVALUATOR)
        metrics_figure.downloads("calibration-pooled", cell_rows(cells, one.evaluator.name))
        return
    if len(found.cells) < 2:
        return
    summaries = macro_averaged(found)
    part(
        "Means over groups",
        "Every group counts once, whatever its size, as in Tables 2 and 3 of the multilingual-evaluator paper; behind ± the standard deviation over "
        "groups.",
        "agreement-with-people",
    )
    names = [name for name in (*_RATERS, *_EVALUATOR, "bias") if name in summaries[0].statistics]
    table(pd.DataFrame([_mean_row(each, names) for each in summaries]))
    split = MAJORITIES[found.options.majority]
    zero = "as 0" if found.options.paper_kappa else "left out of the mean and counted behind +"
    st.markdown(f":small[Split raters: {split}. Undefined kappas: {zero}.]")
    metrics_figure.downloads("calibration-means", macro_rows(summaries, one.evaluator.name))


def _mean_row(each: Summary, names: Sequence[str]) -> dict[str, object]:
    return {
        "Group": called(each.group) if each.group else "all groups",
        "Groups": each.n_cells,
        **{STATISTICS[name]: _mean(each.statistics.get(name), name) for name in names},
    }


def _mean(found: MacroMean | None, name: str) -> str:
    if found is None or found.mean is None:
        return UNDEFINED
    sd = "" if found.sd is None else f" ± {number(found.sd)}"
    lost = f" +{found.n_undefined}" if found.n_undefined and not found.as_zero else ""
    zero = " (with 0)" if found.as_zero and name in KAPPAS else ""
    return f"{number(found.mean)}{sd}{lost}{zero}"
