"""Tab Scores: what a judge's scores come to, how they follow the level as 003 prints it, and the ways to see more."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from core.judges.kind import JudgeKind
from core.judges.rubric import Rubric
from core.results.joining import CorrelationOptions
from core.results.judges.scores import degeneracy, level_table, score_summary, summary_table
from core.runs.asked import asked_of
from core.runs.kinds import KINDS
from core.schema.scores import ScoreTable
from core.stats.degeneracy import constants_said
from core.store import Store
from pages.tabs import levels
from pages.widgets import chosen_judge, chosen_scores, parts, result_table
from pages.widgets.against import has_levels
from pages.widgets.chosen_judge import factor_of
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import plain
from pages.widgets.parts import constants, nothing, part


def render(store: Store, scores: Scores) -> None:
    """Means and what is undefined, 003's Table 2, scores by level."""
    part(
        "Scores",
        "Higher is better. A text without a score is left out of what follows, and counted with the reason; it is no "
        "zero.",
        "scores",
    )
    if not scores.table.rows:
        nothing("nothing is judged yet")
        return
    shown = _in_percent(scores)
    _summary(shown.table, _signs(store, scores), _scale(scores))
    _to_metrics(scores)
    if has_levels(scores.table):
        _raw_level(scores)
    levels.render(store, shown, warned=True)


def _in_percent(scores: Scores) -> Scores:
    """The scores with those of cross-examination, stored from 0 to 1, in percent as 001 prints them."""
    factors = [factor_of(metric) for metric in scores.table.metrics]
    if set(factors) <= {1.0}:
        return scores
    metrics = tuple(
        metric if factor == 1.0 else replace(metric, name=f"{metric.name} (%)")
        for metric, factor in zip(scores.table.metrics, factors, strict=True)
    )
    values = scores.table.values * np.array(factors)
    return replace(
        scores, key=(*scores.key, "percent"), table=replace(scores.table, metrics=metrics, values=values)
    )


def _signs(store: Store, scores: Scores) -> list[str]:
    """Why a run's scores may measure little, beside those that are constant; of a table nothing else is known."""
    if scores.run is None:
        return []
    kind, output = KINDS[scores.run.kind], chosen_judge.output_of(store, scores.run)
    assert isinstance(kind, JudgeKind)
    found = chosen_scores.once(("degeneracy", scores.key), lambda: degeneracy(kind, output))
    return [one.sentence for one in found if one.sign != "constant"]


def _summary(found: ScoreTable, signs: Sequence[str], scale: str) -> None:
    rows = score_summary(found)
    constants([*constants_said((row.metric, row.constant) for row in rows), *signs])
    result_table.show(summary_table(found))
    if scale:
        st.markdown(f":small[{scale}]")


def _scale(scores: Scores) -> str:
    """A rubric's verdicts are points on a scale of its own; empty for other scores."""
    if scores.run is None:
        return ""
    asked = asked_of(scores.run)
    file = asked.kind.attachment
    rubric = None if file is None else file.read(asked.attached, file.name)
    if not isinstance(rubric, Rubric):
        return ""
    return f"Scale of the rubric {plain(rubric.name)}: {rubric.lowest} (worst) to {rubric.highest} (best)."


def _to_metrics(scores: Scores) -> None:
    if st.button(
        "Correlate on the page Metrics",
        key="judges_to_metrics",
        icon=":material/arrow_forward:",
        help="With levels, human ratings or votes, beside other metrics, and in the meta-correlation.",
    ):
        chosen_scores.remember(scores.chosen)
        st.session_state[f"metrics_part_{scores.chosen[0]}"] = "Correlations"
        st.switch_page(parts.metrics())


def _raw_level(scores: Scores) -> None:
    part(
        "With the level, as Table 2 of the factual-perturbation study",
        "Against the damage level itself: a judge that follows quality is near -1. Pearson over all rows, with "
        "intervals over rows (as the paper) and over questions (the sounder one); Kendall within each question, then "
        "averaged.",
        "correlation",
    )
    options = CorrelationOptions(
        raw_level=True, n_resamples=chosen_scores.resamples_for(scores), methods=("pearson", "kendall")
    )
    with st.spinner("Computing ..."):
        report = chosen_scores.correlated((*scores.key, "raw level"), scores.table, None, (), options)
    result_table.show(level_table(report.rows))
    st.markdown(
        f":small[95 % percentile intervals, {options.n_resamples:,} resamples. Questions: those in which Kendall is "
        "defined; it is not where all scores of a question are equal. Left out: rows.]"
    )
