"""Where a metric prefers the damaged text: the two texts side by side."""

from collections.abc import Sequence

import streamlit as st

from core.results.correlations.levels import ALL_LEVELS, MetricByLevel, Preference
from core.schema.scores import OutputSet, ScorableOutput
from core.store import Store
from core.tables.columns import level_number
from pages.components import choices, generated_level_diff, metrics_scores
from pages.components.metrics_scores import Scores
from pages.components.numbers import number
from pages.components.parts import nothing, part

_LONGEST = 30


def render(store: Store, scores: Scores, found: Sequence[MetricByLevel]) -> None:
    """Choose a metric and a case."""
    part(
        "Where the damaged text wins",
        "Texts that a metric scores above the undamaged text of the same item, the largest lead first.",
        "levels",
    )
    by_name = {one.metric: one for one in found if one.worst}
    if not by_name:
        shares = [one.prefers_damaged[ALL_LEVELS] for one in found]
        reasons = dict.fromkeys(one.reason for one in shares if one.reason)
        told = [f"undefined where {reason}" for reason in reasons]
        if not told or any(one.estimate is not None for one in shares):
            told.insert(0, "no metric prefers a damaged text")
        nothing("; ".join(told))
        return
    left, right = st.columns(2)
    name = left.selectbox("Metric", list(by_name), key="metrics_worst_metric")
    cases = by_name[name].worst
    if scores.run is None:
        st.dataframe([_row(case) for case in cases], hide_index=True, key="metrics_worst_cases")
        st.markdown(":small[A table of scores holds no texts; score them here to see them side by side.]")
        return
    case = choices.one_of(right, "Case", cases, _case, f"metrics_worst_case_{scores.chosen}_{name}")
    _texts(metrics_scores.outputs(store, scores.run), case)


def _case(case: Preference) -> str:
    ahead = number(case.score - case.first_score)
    return f"{case.item_id[:_LONGEST]}, {case.system[:_LONGEST]}, level {case.level}: {ahead} ahead"


def _row(case: Preference) -> dict[str, str | float]:
    scores = {"Undamaged": case.first_score, "Damaged": case.score, "Ahead": case.score - case.first_score}
    return {
        "Item": case.item_id,
        "System": case.system,
        **case.labels,
        "Level": case.level,
        **{name: round(score, 3) for name, score in scores.items()},
    }


def _texts(outputs: OutputSet, case: Preference) -> None:
    named = (case.item_id, case.system, dict(case.labels))
    own = [one for one in outputs.outputs if (one.item_id, one.system, dict(one.labels)) == named]
    by_level = {one.level: one for one in own if one.level is not None}
    if case.level not in by_level:
        nothing("the file of texts does not hold this pair")
        return
    first = min(by_level, key=lambda level: level_number(level) or 0)
    _cards(by_level[first], by_level[case.level], case)


def _cards(first: ScorableOutput, damaged: ScorableOutput, case: Preference) -> None:
    if first.reference is not None:
        generated_level_diff.plain_card("Reference", first.reference, first.language)
    left, right = st.columns(2)
    with left:
        title = f"Undamaged (level {first.level}), score {number(case.first_score)}"
        generated_level_diff.plain_card(title, first.text, first.language)
    with right:
        title = f"Level {case.level}, score {number(case.score)}"
        generated_level_diff.marked_card(title, first.text, damaged.text, damaged.language)
