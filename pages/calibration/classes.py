"""Tabs Classes and Bias: which classes people and the evaluator give, and whether it names the best one too often."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.plots import calibration as figures
from core.results.calibration.advice import called
from core.results.calibration.cells import Cell
from core.results.calibration.tables import cell_rows, distribution_rows
from pages.calibration.choice import Judged
from pages.widgets import menus, results_shown
from pages.widgets.chosen_judge import ends, value
from pages.widgets.parts import nothing, part, table

_NO_CLASSES = "ratings and scores are taken for numbers, which have no classes"
_KINDS = {
    "full": "Raters agree",
    "partial": "Two of them agree",
    "none": "No two agree",
    "one rating": "One rating",
}


def render(one: Judged) -> None:
    """The classes of one group, by how far raters agree."""
    part(
        "Classes",
        "Where people agree, does the evaluator give the same classes? Where they do not, does it still name the best one?",
        "class-distributions",
    )
    cells = _with_classes([*one.found.by_dimension, *one.found.cells])
    if not cells:
        nothing(_NO_CLASSES)
        return
    cell = menus.one_of(None, "Group", cells, lambda each: called(each.group), "calibration_classes_group")
    rows = distribution_rows([cell], one.evaluator.name)
    if any(sum(each.majority) for each in cell.distributions):
        results_shown.show(
            figures.calibration_classes(cell.distributions),
            f"Shares of the classes by majority and by {one.evaluator.name}, by how far raters agree",
            "calibration-classes",
            rows,
        )
    else:
        nothing("no text of this group has both a majority and a score")
    table(
        pd.DataFrame(
            [
                {
                    "Texts on which": _KINDS[each.kind],
                    "Counted": sum(each.majority),
                    "No majority": each.n_no_majority,
                    **{
                        f"Class {label:g}": f"{people} by people, {judge} by the evaluator"
                        for label, people, judge in zip(
                            each.classes, each.majority, each.evaluator, strict=True
                        )
                    },
                }
                for each in cell.distributions
            ]
        )
    )


def bias(one: Judged) -> None:
    """How much more often the evaluator names the best class."""
    part(
        "Bias towards the top class",
        "The share of texts to which the evaluator gives the best class, minus the share to which the majority gives it. Above "
        "0 it is too generous; most of all, often, where raters disagree.",
        "top-class-bias",
    )
    cells = _with_classes(one.found.cells)
    if not cells:
        nothing(_NO_CLASSES)
        return
    results_shown.show(
        figures.calibration_bias(cells),
        f"Bias of {one.evaluator.name} towards the top class in {len(cells)} groups, with intervals",
        "calibration-bias",
        cell_rows(cells, one.evaluator.name),
    )
    table(pd.DataFrame([_bias_row(cell) for cell in cells]))
    st.markdown(":small[With 95 % intervals over items. The number of texts behind each is in the CSV.]")


def _bias_row(cell: Cell) -> dict[str, str]:
    columns = {
        "Majority": "top_majority",
        "Evaluator": "top_evaluator",
        "Bias": "bias",
        "Where raters agree": "bias_agreed",
        "Where they disagree": "bias_disagreed",
    }
    return {
        "Group": called(cell.group),
        **{
            title: f"{value(cell.get(name))} {ends(cell.get(name))}".strip()
            for title, name in columns.items()
        },
    }


def _with_classes(cells: Sequence[Cell]) -> list[Cell]:
    """Each once: of a single language and task the dimension itself is the group."""
    found: dict[str, Cell] = {}
    for cell in cells:
        if cell.classes:
            found.setdefault(called(cell.group), cell)
    return list(found.values())
