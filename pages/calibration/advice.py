"""Tabs Where not to use it and Files: the groups that fail a rule, and every table to take away."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.results.calibration.advice import RULES, advice, called
from core.results.calibration.results import Calibration, macro_averaged
from core.results.calibration.tables import (
    bin_rows,
    cell_rows,
    distribution_rows,
    macro_rows,
    map_rows,
    table_bytes,
    warned_rows,
)
from pages.calibration import map_part
from pages.calibration.choice import Judged
from pages.tabs import downloads
from pages.widgets import results_shown
from pages.widgets.messages import plain
from pages.widgets.parts import part, table


def render(one: Judged) -> None:
    """The sentence, the groups, the rules."""
    part(
        "Where not to use it",
        "Groups of texts in which this evaluator should not stand in for people, by the rules below.",
        "where-not-to-use-an-evaluator",
    )
    verdict(one.found)
    found = advice(one.found)
    if found.warned:
        table(
            pd.DataFrame(
                [
                    {
                        "Group": called(each.group),
                        "Texts": each.n,
                        "Verdict": each.verdict,
                        "Why": "; ".join(each.reasons),
                    }
                    for each in found.warned
                ]
            )
        )
        results_shown.downloads("where-not-to-use", warned_rows(found, one.evaluator.name))
    st.markdown(
        "The rules, in the order in which a verdict is taken:\n" + "".join(f"\n- {rule}" for rule in RULES)
    )
    st.markdown(
        ":small[A group that passes is not thereby good: read its agreement. Of many groups some pass or fail by chance.]"
    )


def verdict(found: Calibration) -> None:
    """What the evaluator is worth, before any number; first of all where it gives every text the same score."""
    judged = advice(found)
    for sentence in (*judged.constants, *judged.sentences):
        st.markdown(f"**{plain(sentence)}**")


def files(everyone: Sequence[Judged]) -> None:
    """All tables of all evaluators, as CSV."""
    part("Files", "Every table of this page, a row a group; all evaluators that are chosen are in each file.")
    tables: dict[str, list[dict[str, object]]] = {
        "agreement.csv": [],
        "dimensions.csv": [],
        "means.csv": [],
        "classes.csv": [],
        "where-not-to-use.csv": [],
        "maps.csv": [],
        "reliability.csv": [],
    }
    with st.spinner("Making the files ..."):
        for one in everyone:
            name, found = one.evaluator.name, one.found
            maps = map_part.of(one, "isotonic")
            tables["agreement.csv"] += cell_rows(found.cells, name)
            tables["dimensions.csv"] += cell_rows(found.by_dimension, name)
            tables["means.csv"] += macro_rows(macro_averaged(found), name)
            tables["classes.csv"] += distribution_rows(found.cells, name)
            tables["where-not-to-use.csv"] += warned_rows(advice(found), name)
            tables["maps.csv"] += map_rows(maps, name)
            tables["reliability.csv"] += bin_rows(maps, name)
    made = {f"calibration-{name}": table_bytes(rows) for name, rows in tables.items()}
    downloads.buttons(made, "assay-calibration.zip", "calibration")
