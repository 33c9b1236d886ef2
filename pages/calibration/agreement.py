"""Tab Agreement: raters with each other and with the evaluator, group by group and averaged."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.plots import calibration as figures
from core.results.calibration.advice import called
from core.results.calibration.cells import KAPPAS, STATISTICS, Cell
from core.results.calibration.results import MAJORITIES, MacroMean, Summary, macro_averaged
from core.results.calibration.tables import cell_rows, macro_rows
from pages.calibration import advice
from pages.calibration.choice import How, Judged
from pages.widgets import chosen_scores, results_shown
from pages.widgets.chosen_judge import ends, value
from pages.widgets.messages import plain
from pages.widgets.parts import UNDEFINED, counted_as, nothing, number, part, table
from pages.widgets.results_shown import reasons_below

_RATERS = ("raters_agreement", "raters_f1", "raters_kappa", "raters_alpha", "raters_ac1")
_BOTH = ("raters_pairwise", "pairwise", "gap", "spearman", "kendall", "shift")
_EVALUATOR = ("agreement", "f1", "kappa", "alpha", "ac1", "bias")
_NUMBERS = ("raters_alpha", "alpha", "pearson", "spearman", "kendall", "shift", "error")
_OF_CLASSES = {
    "People and evaluator, one measure": _BOTH,
    "Raters with each other": _RATERS,
    "Evaluator and majority": _EVALUATOR,
}
"""Tables of a group's classes."""
_MOST_ROWS = 30
"""Groups that a figure shows one by one; of more it shows means."""
_NAMES = {
    "gap": "Difference",
    "spearman": "Spearman",
    "kendall": "Kendall's tau-b",
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
}


def render(one: Judged, how: How) -> None:
    """Cells, then the whole."""
    found = one.found
    part(
        "Agreement",
        "How often do two raters give a text the same class, and how often do the evaluator and a rater? Spearman and Kendall "
        "compare the evaluator's order of the texts with the mean rating.",
        "agreement-with-people",
    )
    advice.verdict(found)
    cells = [cell for cell in found.cells if cell.classes]
    if cells:
        _figure(cells, one)
        _tables(cells)
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
            chosen_scores.read_notes((f"{called(cell.group)}: no classes: {cell.why_numbers}",))
    _whole(one, how)
    chosen_scores.read_notes(found.notes, found.left_out)


def _figure(cells: Sequence[Cell], one: Judged) -> None:
    rows = cell_rows(cells, one.evaluator.name)
    if len(cells) <= _MOST_ROWS:
        figure = figures.calibration_agreement(cells)
        results_shown.show(
            figure,
            f"How often two raters, and {one.evaluator.name} and a rater, are equal in {len(cells)} groups",
            "calibration",
            rows,
        )
        return
    summaries = macro_averaged(one.found)
    results_shown.show(
        figures.calibration_means(summaries),
        f"How often two raters, and {one.evaluator.name} and a rater, are equal on average over {len(cells)} groups",
        "calibration",
        rows,
    )


def _tables(cells: Sequence[Cell]) -> None:
    for title, names in _OF_CLASSES.items():
        _table(title, cells, names)
    st.markdown(
        ":small[Do not compare the second table with the third: a majority is steadier than a rater, and all raters are "
        "seldom equal. The first table compares people and the evaluator.]"
    )


def _table(title: str, cells: Sequence[Cell], names: Sequence[str]) -> None:
    st.markdown(f"**{title}**")
    table(
        pd.DataFrame(
            [
                {
                    "Group": called(cell.group),
                    "Texts": f"{cell.n:,}",
                    "Used": "none" if (used := cell.n_used(names)) is None else f"{used:,}",
                    "Raters": cell.n_raters,
                    **{_name(name): _cell(cell, name) for name in names},
                }
                for cell in cells
            ]
        )
    )


def _name(name: str) -> str:
    return _NAMES.get(name, STATISTICS[name])


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
    reasons_below(reasons, len(cells))
    lost = sum((Counter(cell.left_out) for cell in cells), Counter[str]())
    for reason, n in lost.items():
        said = f"Left out: {counted_as(n, 'text')}: {reason}"
        st.markdown(f":small[{plain(said)}]")


def _whole(one: Judged, how: How) -> None:
    found = one.found
    if how.averaged == "pooled":
        part("All texts", "Every text counts once, whatever its group.", "agreement-with-people")
        cells = [cell for cell in (*found.by_dimension, found.pooled) if cell.classes]
        if not cells:
            nothing("the dimensions have different classes, or none")
            return
        _tables(cells)
        results_shown.downloads("calibration-pooled", cell_rows(cells, one.evaluator.name))
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
    for title, wanted in {**_OF_CLASSES, "Ratings and scores": _NUMBERS}.items():
        names = [name for name in wanted if name in summaries[0].statistics]
        as_classes = "pairwise" in summaries[0].statistics
        if names and as_classes == (wanted is not _NUMBERS):
            st.markdown(f"**{title}**")
            table(pd.DataFrame([_mean_row(each, names) for each in summaries]))
    split = MAJORITIES[found.options.majority]
    zero = "as 0" if found.options.paper_kappa else "left out of the mean and counted behind +"
    st.markdown(f":small[Split raters: {split}. Undefined kappas: {zero}.]")
    results_shown.downloads("calibration-means", macro_rows(summaries, one.evaluator.name))


def _mean_row(each: Summary, names: Sequence[str]) -> dict[str, object]:
    return {
        "Group": called(each.group) if each.group else "all groups",
        "Groups": each.n_cells,
        **{_name(name): _mean(each.statistics.get(name), name) for name in names},
    }


def _mean(found: MacroMean | None, name: str) -> str:
    if found is None or found.mean is None:
        return UNDEFINED
    sd = "" if found.sd is None else f" ± {number(found.sd)}"
    lost = f" +{found.n_undefined}" if found.n_undefined and not found.as_zero else ""
    zero = " (with 0)" if found.as_zero and name in KAPPAS else ""
    return f"{number(found.mean)}{sd}{lost}{zero}"
