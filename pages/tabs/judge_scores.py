"""Tab Scores: what a judge's scores come to, how they follow the level as 003 prints it, and the ways to see more."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.judges.kind import JudgeKind
from core.judges.rubric import Rubric
from core.results.correlations.table import MetricCorrelation
from core.results.joining import CorrelationOptions
from core.results.judges.scores import degeneracy, score_summary
from core.runs.asked import asked_of
from core.runs.kinds import KINDS
from core.schema.scores import ScoreTable
from core.stats.degeneracy import constants_said
from core.store import Store
from pages.tabs import levels
from pages.widgets import chosen_judge, chosen_scores, parts, results_shown
from pages.widgets.against import has_levels
from pages.widgets.chosen_judge import ends, factor_of, with_ends
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import plain
from pages.widgets.parts import constants, left_out, nothing, number, part, table


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
    table(
        pd.DataFrame(
            {
                "Score": [row.metric for row in rows],
                "Texts": [f"{row.n:,}" for row in rows],
                "Mean": [number(row.mean) for row in rows],
                "SD": [number(row.sd) for row in rows],
                "Undefined": [left_out(row.left_out) for row in rows],
            }
        )
    )
    chosen_scores.read_notes(found.notes)
    if scale:
        st.markdown(f":small[{scale}]")
    results_shown.downloads(
        "judge-scores",
        [
            {
                "metric": row.metric,
                "n": row.n,
                "mean": row.mean,
                "sd": row.sd,
                "left_out": left_out(row.left_out),
                **results_shown.constant(row.constant),
            }
            for row in rows
        ],
    )


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
    rows = pd.DataFrame([_row(one) for one in report.rows])
    table(rows if any(one.left_out for one in report.rows) else rows.drop(columns="Left out"))
    st.markdown(
        f":small[95 % percentile intervals, {options.n_resamples:,} resamples. Questions: those in which Kendall is "
        "defined; it is not where all scores of a question are equal. Left out: rows.]"
    )
    results_shown.downloads("judge-table-2", [_csv_row(one) for one in report.rows])


def _row(one: MetricCorrelation) -> dict[str, str]:
    pooled = one.pooled.get("pearson")
    over_rows = pooled.over_rows if pooled else None
    kendall = one.per_item.get("kendall")
    questions = kendall.n_clusters if kendall else 0
    return {
        "Score": one.metric.name,
        "Pearson, over rows": with_ends(over_rows),
        "Over questions": ends(pooled.over_items if pooled else None),
        "Kendall": with_ends(kendall),
        "Rows, questions": f"{one.n:,}, {questions:,}",
        "Left out": left_out(one.left_out),
    }


def _csv_row(one: MetricCorrelation) -> dict[str, Any]:
    pooled = one.pooled.get("pearson")
    kendall = one.per_item.get("kendall")
    return {
        "metric": one.metric.name,
        "signature": one.metric.signature,
        "n": one.n,
        "left_out": left_out(one.left_out),
        **results_shown.estimate("pearson_over_rows", pooled.over_rows if pooled else None),
        **results_shown.estimate("pearson_over_questions", pooled.over_items if pooled else None),
        **results_shown.estimate("kendall_per_question", kendall),
        "questions": kendall.n_clusters if kendall else 0,
    }
