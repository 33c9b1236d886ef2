"""Tab Levels: scores by damage level, and cases where a metric prefers the damaged text."""

import streamlit as st

from core.analyses.levels import ANALYSIS, Levels, LevelsOptions, MetricRow, WorstRow
from core.plots import metrics as plots
from core.schema.analysis import Answer
from core.schema.scores import OutputSet
from core.stats.degeneracy import constants_said
from core.store import Store
from core.tables.columns import level_number
from pages.tabs.phrases import NOT_SCORED
from pages.widgets import against, chosen_scores, level_diff, menus
from pages.widgets.against import has_levels
from pages.widgets.analysis import Data, Drawn, answer_of, form, show_tables
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import constants, nothing, number, part, places

_LONGEST = 30
_WORST = "prefers-damaged"


def show_worst(store: Store, scores: Scores, answer: Answer) -> None:
    """Choose a metric and one of its cases, and show both texts."""
    _part(_WORST)
    found: Levels = answer.result
    by_name = {one.metric: one for one in found.levels if one.worst}
    if not by_name:
        shares = [one.prefers for one in found.levels]
        reasons = dict.fromkeys(one.reason for one in shares if one.reason)
        told = [f"undefined where {reason}" for reason in reasons]
        if not told or any(one.value is not None for one in shares):
            told.insert(0, "no metric prefers a damaged text")
        nothing("; ".join(told))
        return
    left, right = st.columns(2)
    name = left.selectbox("Metric", list(by_name), key="metrics_worst_metric")
    cases = by_name[name].worst
    if scores.run is None:
        show_tables(answer, (_WORST,), only={"metric": [name]})
        st.markdown(
            ":small[A table of scores contains no texts. To see them side by side, score the texts in a new run.]"
        )
        return
    case = menus.one_of(right, "Case", cases, _case, f"metrics_worst_case_{scores.origin}_{name}")
    _texts(chosen_scores.outputs(store, scores.run), case)


def _case(case: WorstRow) -> str:
    ahead = number(case.ahead)
    return f"{case.item_id[:_LONGEST]}, {case.system[:_LONGEST]}, level {case.level}: {ahead} ahead"


def _texts(outputs: OutputSet, case: WorstRow) -> None:
    named = (case.item_id, case.system, dict(case.labels))
    own = [one for one in outputs.outputs if (one.item_id, one.system, dict(one.labels)) == named]
    by_level = {one.level: one for one in own if one.level is not None}
    if case.level not in by_level:
        nothing("the run's file does not contain both texts")
        return
    first = min(by_level, key=lambda level: level_number(level) or 0)
    undamaged = by_level[first]
    cards(
        (f"Level {case.level}, score {number(case.score)}", by_level[case.level].text),
        (f"Undamaged (level {first}), score {number(case.first_score)}", undamaged.text),
        undamaged.reference,
        undamaged.language,
    )


Titled = tuple[str, str]
"""A title and a text."""


def cards(
    text: Titled, base: Titled | None, reference: str | None, language: str, source: str | None = None
) -> None:
    """Show a text with its changes against a base text, or against the reference where there is none, and what it is about.

    Two cards stand side by side; the first of an odd number has the whole width.
    """
    about = [("Source or question", source), ("Reference", reference), base or ("", None)]
    plain = [(title, words) for title, words in about if words is not None]
    where = [st.container(), *(one for one, _ in zip(places(alignment="top"), plain, strict=False))]
    if len(plain) % 2:
        where = [one for one, _ in zip(places(alignment="top"), [*plain, text], strict=False)]
    for place, (title, words) in zip(where, plain, strict=False):
        with place:
            level_diff.plain_card(title, words, language)
    title, words = text
    against_reference = base is None and reference is not None
    with where[-1]:
        level_diff.marked_card(
            f"{title}, marked against the reference" if against_reference else title,
            reference if base is None else base[1],
            words,
            language,
        )


NO_LEVELS = "these scores have no levels; compare them with human ratings or votes"
_SHOWN_FIRST = 4
"""Metrics preselected for the figure: the first of each family, then others."""


def render(store: Store, scores: Scores, *, warned: bool = False) -> None:
    """Show lines by level, shares, and the texts behind the worst cases. warned: the page has named constant metrics already."""
    part(
        "Levels",
        "A metric that follows quality falls from each level to the next. Only texts of the same item are compared.",
        "levels",
    )
    if not scores.table.rows:
        nothing(NOT_SCORED)
        return
    if not has_levels(scores.table):
        nothing(NO_LEVELS)
        return
    above, below = st.container(), st.container()
    with below:
        scores = against.choose_rows(scores, "main")
    with above:
        _levels(store, scores, warned=warned)


def _levels(store: Store, scores: Scores, *, warned: bool) -> None:
    # Scores that come in are looked at again and again, without intervals.
    options = LevelsOptions(n_resamples=0) if scores.moving else form(ANALYSIS)
    assert isinstance(options, LevelsOptions)
    grows = scores.grows and (*scores.grows, *(one.name for one in scores.table.metrics))
    answer = answer_of(ANALYSIS, options, Data(scores.key, lambda: scores.table, grows=grows))
    result: Levels = answer.result
    if not warned:
        constants(constants_said((one.metric, one.constant) for one in result.numbers))
    chosen = _choose(result)
    if chosen:
        names = [row.metric for row in chosen]
        lines = (
            f" Lines: {options.confidence_level:.0%} intervals, resampling items."
            if options.n_resamples
            else ""
        )
        by_level = Drawn(
            plots.scores_by_level([one for one in result.numbers if one.metric in names]),
            f"Mean score by level, with intervals: {', '.join(names)}",
            instead=True,
            caption=f"Dots: means over items.{lines}",
        )
        show_tables(answer, ("levels",), {"levels": by_level}, only={"metric": names})
    _shares(answer)
    show_worst(store, scores, answer)


def _part(name: str) -> None:
    """The heading of a table."""
    declared = next(one for one in ANALYSIS.tables if one.name == name)
    part(declared.title, declared.question, "levels")


def _choose(found: Levels) -> list[MetricRow]:
    by_name = {one.metric: one for one in found.levels}
    of_families = {one.family: one.metric for one in reversed(found.levels)}.values()
    first = sorted(by_name, key=lambda name: name not in of_families and not _sums_up(name))[:_SHOWN_FIRST]
    names = st.multiselect("Metrics", list(by_name), default=first, key="metrics_levels_shown")
    return [by_name[name] for name in names]


def _sums_up(name: str) -> bool:
    """Whether it is the mean of its family's other components, as in a cross-examination."""
    return name.removesuffix(" (%)").endswith("-overall")


def _shares(answer: Answer) -> None:
    _part("monotonic")
    show_tables(answer, ("monotonic",))
    st.markdown(
        ":small[The columns Items and Left out belong to Monotonic. Strictly counts every item with a score at each level.]"
    )
