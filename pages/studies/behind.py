"""What stands behind the verdict of a study of pairs: by level, how robust it is, and raters as a sample."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.analyses.study_results.pair_rows import answer_of
from core.plots import study as plots
from core.results.study.pair_list import PairFilter
from core.results.study.raters import component_shares
from core.results.study.results import StudyResults
from core.results.study.tables import blocks, preference_names
from core.schema.result_table import ResultTable
from core.schema.study import PREFERENCES
from core.stats.non_inferiority import lowest_mean
from pages.studies.analysed import AS_TABLE, NO_PAIR
from pages.widgets import open_study, result_table
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, number, part

_show = partial(result_table.show, titled=False)


def bodies(study_id: int, results: StudyResults) -> dict[str, Callable[[], None]]:
    """Title -> what draws that part."""
    return {
        "By level" if results.levels else "Choices": partial(_by_level, study_id, results),
        "Robustness": partial(_robustness, results),
        "Raters as a sample": partial(_sample, study_id, results),
    }


def _by_level(study_id: int, results: StudyResults) -> None:
    """Show how each rater answered, the score, and ties."""
    if not results.overall.n_pairs:
        nothing(NO_PAIR)
        return
    tables, at = answer_of(results).tables, " at each level" if results.levels else ""
    per_level = results.per_level or blocks(results)
    with result_table.together("by_level"):
        part(
            "Choices",
            f"How each rater answered{at}. Sides are decoded to systems."
            + ("" if results.filtered else " Press a bar to see its pairs."),
            "choices",
        )
        _show(
            tables["choices"],
            figure=plots.choices(
                per_level, results.raters, preference_names(results.candidate, results.comparator)
            ),
            alt="Stacked bars: answers per level and rater",
            folded=AS_TABLE,
            press=None  # the tab with the pairs knows no filter of this one, so it would show others
            if results.filtered
            else partial(_press_bar, study_id, results.raters, tuple(results.per_level)),
        )
        part(
            "Composite score",
            f"A pair scores +1 if its votes favour {plain(results.candidate)}, -1 if they favour {plain(results.comparator)}, "
            "and 0 otherwise. Both good and both bad count 0.",
            "composite-score",
        )
        _show(tables["composite"])
        part(
            "Ties",
            "How often raters saw no difference. The four rules overlap, so the shares do not sum to 1.",
            "ties",
        )
        _show(tables["ties"])


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
    """Show whether another way of counting would change the verdict, and what would."""
    tables = answer_of(results).tables
    with result_table.together("robustness"):
        part(
            "Would another way of counting change it?",
            "One rule changes per row.",
            "sensitivity",
        )
        _show(tables["sensitivity"])
        if "robustness" in tables:
            result_table.show(tables["robustness"])
        if results.early is not None:
            _early(tables["early"])
        bound = results.non_inferiority
        if bound.mean is not None:
            part(
                "Declared analysis, for comparison" if results.early is not None else "Bounds and answer",
                "The numbers that the verdict rests on."
                if results.early is None
                else "Without the early looks, these would decide.",
                "the-answer",
            )
            _show(tables["answer"])
            if bound.margin is not None:  # a lower bound alone would take a side
                result_table.show(tables["bounds"])


def _early(path: ResultTable) -> None:
    """Show how the always-valid bound grew; its figure is on the first screen."""
    part(
        "Early looks",
        "How the always-valid bound, which decides about the whole study, grew with each question.",
        "looking-early",
    )
    with st.expander(AS_TABLE):
        _show(path)


def _sample(study_id: int, results: StudyResults) -> None:
    """Show raters' means with the bound over raters, where votes differ, and the size of a new study."""
    sample = results.raters_as_sample
    found = sample.found
    part(
        "Raters as a sample",
        "Would other raters reach the same verdict? Here raters are a sample, too, and the score is the mean vote.",
        "raters-as-a-sample",
    )
    if found.mean is None:
        nothing(NO_PAIR)
        return
    tables = answer_of(results).tables
    means, components = tables["rater-means"], tables["variance-components"]
    with result_table.together("sample"):
        _show(
            means,
            figure=plots.rater_means(sample, (results.candidate, results.comparator)),
            alt=f"Mean vote of each rater with interval over questions. Mean of all {number(found.mean)}, lower bound over "
            f"raters and questions {number(found.bound)}, margin {number(lowest_mean(sample.margin))}",
            folded=AS_TABLE,
            press=None
            if results.filtered
            else partial(
                _press_rater,
                study_id,
                [name for name, one in zip(sample.names, found.raters, strict=True) if one.mean is not None],
            ),
        )
        if components.rows:
            st.markdown(
                "**Variance components.** Where do votes differ? More questions shrink every part of the mean's variance except "
                "the rater's. Only more raters shrink that."
            )
            drawn = any(share is not None for share, _ in component_shares(sample.components).values())
            _show(
                components,
                figure=plots.variance_shares(sample.components) if drawn else None,
                alt="Stacked bars: shares of the variance of one vote and of the mean vote",
                folded=AS_TABLE if drawn else "",
            )
        else:
            nothing(sample.components.reason or NO_PAIR)
        part(
            "Power",
            "How many questions a new study with raters like these needs. Plan computes the same number from the same components.",
            "power",
        )
        _show(tables["plan"])
        with st.expander("Power at the observed mean"):
            _show(tables["power"])


def _press_rater(study_id: int, names: Sequence[str], dot: Mapping[str, Any]) -> None:
    """Open the pairs of a rater; the dots of all raters together lead nowhere."""
    if int(dot["curve_number"]) == 0:
        open_study.show_pairs(study_id, PairFilter(rater=names[int(dot["point_index"])]))
