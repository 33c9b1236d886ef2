"""What stands behind the verdict of a study of pairs: by level, how robust it is, and raters as a sample."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.analyses.study_results.pair_rows import answer_of
from core.plots import study as plots
from core.results.study.pair_list import PairFilter
from core.results.study.raters import component_shares
from core.results.study.results import StudyResults
from core.results.study.tables import blocks, preference_names
from core.schema.study import PREFERENCES
from core.stats.non_inferiority import lowest_mean
from pages.studies.analysed import NO_PAIR
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import open_study
from pages.widgets.analysis import Drawn, heading, show_tables
from pages.widgets.parts import nothing, number
from pages.widgets.result_table import together


def bodies(study_id: int, results: StudyResults) -> dict[str, Callable[[], None]]:
    """Title -> what draws that part."""
    return {
        "By level" if results.levels else "Choices": partial(_show_levels, study_id, results),
        "Robustness": partial(_robustness, results),
        "Raters as a sample": partial(_sample, study_id, results),
    }


def _show_levels(study_id: int, results: StudyResults) -> None:
    """Show how each rater answered, the score, and ties."""
    if not results.overall.n_pairs:
        nothing(NO_PAIR)
        return
    names = preference_names(results.candidate, results.comparator)
    choices = Drawn(
        plots.choices(results.per_level or blocks(results), results.raters, names),
        "Stacked bars: answers per level and rater",
        instead=True,
    )
    if not results.filtered:  # the tab with the pairs knows no filter of this one, so it would show others
        choices = replace(
            choices,
            press=partial(_press_bar, study_id, results.raters, tuple(results.per_level)),
            hint="Press a bar to see its pairs.",
        )
    show_tables(answer_of(results), ("choices", "composite", "ties"), {"choices": choices}, headed=True)


def _press_bar(
    study_id: int, raters: tuple[str, ...], levels: tuple[str, ...], bar: Mapping[str, Any]
) -> None:
    """Open the pairs of a bar: a rater's answer at a level. The figure has a trace for each rater and answer."""
    rater, answer = divmod(int(bar["curve_number"]), len(PREFERENCES))
    row = int(bar["point_index"])
    open_study.show_pairs(
        study_id,
        PairFilter(levels=levels[row : row + 1], votes=((raters[rater], PREFERENCES[answer]),)),
    )


def _robustness(results: StudyResults) -> None:
    """Show whether another way of counting would change the verdict, what would, and the numbers that it rests on."""
    answer, bound = answer_of(results), results.non_inferiority
    with together("robustness"):
        show_tables(answer, ("sensitivity", "robustness"), headed=True)
        if "early" in answer.tables:
            heading(answer.analysis, next(one for one in answer.analysis.tables if one.name == "early"))
            with st.expander(AS_A_TABLE):  # its figure is on the first screen
                show_tables(answer, ("early",))
        if bound.mean is not None:
            # A lower bound alone would take a side.
            show_tables(answer, ("answer", *(() if bound.margin is None else ("bounds",))), headed=True)


def _sample(study_id: int, results: StudyResults) -> None:
    """Show raters' means with the bound over raters, where votes differ, and the size of a new study."""
    sample, answer = results.raters_as_sample, answer_of(results)
    found = sample.mrmc
    if found.mean is None:
        nothing(NO_PAIR)
        return
    names = [name for name, one in zip(sample.names, found.raters, strict=True) if one.mean is not None]
    means = Drawn(
        plots.rater_means(sample, (results.candidate, results.comparator)),
        f"Mean vote of each rater with interval over questions. Mean of all {number(found.mean)}, lower bound over "
        f"raters and questions {number(found.bound)}, margin {number(lowest_mean(sample.margin))}",
        instead=True,
        press=None if results.filtered else partial(_press_rater, study_id, names),
    )
    drawn = {"rater-means": means}
    if any(share is not None for share, _ in component_shares(sample.components).values()):
        drawn["variance-components"] = Drawn(
            plots.variance_shares(sample.components),
            "Stacked bars: shares of the variance of one vote and of the mean vote",
            instead=True,
        )
    with together("sample"):
        show_tables(answer, ("rater-means", "variance-components"), drawn, headed=True)
        if not answer.tables["variance-components"].rows:
            nothing(sample.components.reason or NO_PAIR)
        show_tables(answer, ("plan",), headed=True)
        with st.expander(answer.tables["power"].title):
            show_tables(answer, ("power",))


def _press_rater(study_id: int, names: Sequence[str], dot: Mapping[str, Any]) -> None:
    """Open the pairs of a rater; the dots of all raters together lead nowhere."""
    if int(dot["curve_number"]) == 0:
        open_study.show_pairs(study_id, PairFilter(rater=names[int(dot["point_index"])]))
