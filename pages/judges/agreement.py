"""Tab Judges: compare two judges (or a judge and a metric) on the same texts, and all columns with each other."""

from dataclasses import replace

import streamlit as st

from core.analyses.correlate import ANALYSIS as CORRELATE
from core.analyses.correlate import BY_MODEL, correlations
from core.analyses.judge_agreement import ANALYSIS as AGREEMENT
from core.analyses.judge_agreement import PairRow
from core.joining.quality import OfFile
from core.joining.tables import place_of
from core.plots import judges as plots
from core.plots.tables import column_against
from core.results.correlations.files import judges_by_model, side_by_side
from core.results.judges.agreement import Disagreement, same_components
from core.runs.kinds import KINDS
from core.schema.analysis import Answer
from core.schema.scores import METHODS, JudgedText, JudgeOutput, Method, ScoredRow, ScoreTable, WithTexts
from core.store import Store
from pages.tabs import judged, ranking, texts
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import analysis, chosen_judge, chosen_scores, level_diff, menus
from pages.widgets.against import has_levels
from pages.widgets.analysis import Data, Drawn
from pages.widgets.chosen_judge import factor_of, level_said, score
from pages.widgets.chosen_scores import Chosen, Scores
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import nothing, part, waiting

_LISTED, _SHORT = 50, 40


def render(store: Store, scores: Scores) -> None:
    """Choose other scores, compare two columns, and show a heat map of all columns."""
    names = judged.others(store, scores) if scores.table.rows else {}
    with mistakes_shown():
        _two(store, scores, names)
    if not names:
        return
    with mistakes_shown():
        _heat(store, scores, names)
    with mistakes_shown():
        _show_models(store, scores, names)


def _two(store: Store, first: Scores, names: dict[Chosen, str]) -> None:
    """Compare two columns, then show the texts that they differ on, and all columns that say the same."""
    part(AGREEMENT.title, AGREEMENT.question, AGREEMENT.section)
    if not names:
        nothing(
            "nothing else has scored these texts yet; start a run of a second judge or a metric"
            if first.table.rows
            else NOT_JUDGED
        )
        return
    chosen = st.selectbox("Compare with", list(names), format_func=names.__getitem__, key="judges_beside")
    second = chosen_scores.open_scores(store, chosen)
    if not second.table.rows:
        nothing("the other run has no score yet; choose another one above")
        return
    data = _data(store, first, second)
    options = analysis.form_of(AGREEMENT, data)
    answer = analysis.answer_of(AGREEMENT, options, data)
    (found,) = answer.result.pairs
    if found.n:
        name_a, name_b = data.settles["metrics"]
        factors = _factor(first.table, name_a), _factor(second.table, name_b)
        axes = _axis(found.metric_a, first, factors[0]), _axis(found.metric_b, second, factors[1])
        scatter = Drawn(
            plots.two_judges(found.apart, axes, factors),
            f"{found.n} texts by {found.metric_a} and {found.metric_b}",
            instead=True,
            caption=f"n = {found.n:,} texts that both scored. In the table A is {plain(found.metric_a)}, and B {plain(found.metric_b)}.",
        )
        analysis.show_said(answer)
        analysis.show_tables(answer, answer.tables, {"two-judges": scatter})
        _disagreements(store, (first, second), found, factors)
    else:
        nothing("no text has both scores; choose other columns or other scores")
    if len(same_components(first.table, second.table)) > 1:
        part(
            "Column by column",
            "Columns that say the same, over all texts. Between two modes of a cross-examination this is Figure 1 of CEF: does it "
            "work without a reference?",
            AGREEMENT.section,
        )
        whole = replace(data, settles={})
        options = options.model_copy(update={"metrics": None})
        analysis.show_answer(analysis.answer_of(AGREEMENT, options, whole), "judge-components")


def _data(store: Store, first: Scores, second: Scores) -> Data:
    """Both tables of scores, with the columns to compare; a column that both have is preselected."""
    pairs = same_components(first.table, second.table)
    left, right = st.columns(2)
    own = [metric.name for metric in first.table.metrics]
    name_a = left.selectbox(
        "Score of this judge", own, own.index(pairs[0][0]) if pairs else 0, key=f"judges_two_a_{first.origin}"
    )
    theirs = [metric.name for metric in second.table.metrics]
    same = next((b for a, b in pairs if a == name_a), theirs[0])
    name_b = right.selectbox(
        "Score of the other judge", theirs, theirs.index(same), key=f"judges_two_b_{second.origin}_{name_a}"
    )
    return Data(
        (first.key, second.key),
        lambda: (_scores_with_texts(store, first), _scores_with_texts(store, second)),
        settles={"metrics": (name_a, name_b)},
        grows=(first.grows or first.key, second.grows or second.key) if first.grows or second.grows else None,
    )


def _scores_with_texts(store: Store, scores: Scores) -> WithTexts:
    def texts_scored() -> list[tuple[ScoredRow, str]]:
        output = _output(store, scores)
        return [] if output is None else [(text.row, text.text) for text in output.texts]

    return WithTexts(judged.table_of(scores), texts_scored)


def _axis(name: str, scores: Scores, factor: float) -> str:
    return f"{judged.called(scores)}: {name}{'' if factor == 1.0 else ' (%)'}"


def _disagreements(
    store: Store, both: tuple[Scores, Scores], found: PairRow, factors: tuple[float, float]
) -> None:
    part(
        "Where they disagree",
        "Texts whose ranks differ most between the two judges, in percentiles. The largest difference comes first.",
        "judge-agreement",
    )
    listed = found.apart[:_LISTED]
    columns = (*(scores.origin for scores in both), found.metric_a, found.metric_b)
    one = menus.one_of(
        None, "Text", listed, lambda case: _case(case, factors), f"judges_disagreement_{columns}"
    )
    said = [(scores, _judged(store, scores, one.row)) for scores in both]
    known = next((text for _, text in said if text is not None), None)
    if known is None:
        st.markdown(
            "These scores come without texts. Judge the texts in a new run to read them side by side."
        )
        return
    left, right = st.columns(2)
    text, named = known
    with left:
        level_diff.plain_card(named.capitalize(), text.document or "", text.row.language)
    with right:
        level_diff.plain_card("Text", text.text, text.row.language)
    for place, (scores, found_text) in enumerate(said):
        if found_text is not None:
            with st.expander(f"{'This judge' if place == 0 else 'Other judge'}: {plain(scores.name)}"):
                texts.record(*found_text, slot=f"two_{place}")


def _output(store: Store, scores: Scores) -> JudgeOutput | None:
    """All replies of a judge; None if the scores do not come from a judge's run."""
    if scores.run is None or KINDS[scores.run.kind].work != "judging":
        return None
    return chosen_judge.output_of(store, scores.run)


def _judged(store: Store, scores: Scores, row: ScoredRow) -> tuple[JudgedText, str] | None:
    """The text with its record and the name of what it was compared with; None if no judge's run scored it."""
    output = _output(store, scores)
    place = None if output is None else place_of(row, [text.row for text in output.texts])
    if output is None or place is None:
        return None
    return output.texts[place], chosen_judge.document_name(output)


def _heat(store: Store, scores: Scores, names: dict[Chosen, str]) -> None:
    part(
        "All scores of these texts",
        "How similarly each pair of columns scores the same texts. Does a judge add anything to a metric that costs nothing?",
        "redundancy",
    )
    left, right = st.columns([3, 1])
    others = left.multiselect(
        "Scores of the same texts", list(names), format_func=names.__getitem__, key="judges_heat"
    )
    method: Method = right.selectbox(
        "Coefficient", METHODS, index=1, format_func=str.capitalize, key="judges_heat_method"
    )
    opened = [scores, *(chosen_scores.open_scores(store, one) for one in others if one in names)]
    filled = [one for one in opened if one.table.rows]
    merged = judged.merged(filled)
    if len(merged.metrics) < 2:
        nothing("the comparison needs two columns; choose further scores above")
        return
    ranking.heat(tuple(one.key for one in filled), merged, method, "judge-redundancy")
    chosen_scores.read_notes(merged.notes)


_COEFFICIENTS = {"kendall_per_item": "Kendall, per item", "pearson": "Pearson, over all rows"}


def _show_models(store: Store, scores: Scores, names: dict[Chosen, str]) -> None:
    """Show judges by technique and model, as Factual's Table 2, and the correlation by the size of the model (Figure 3b)."""
    if not has_levels(scores.table):
        return
    part(
        "Judges by model and size",
        "Does a larger model follow quality better? Correlation with minus the damage level, in the form of Table 2 and "
        "Figure 3b of Factual, which prints the other sign: 1 is perfect. Sizes come from the models' names.",
        "correlation",
    )
    left, right = st.columns([3, 1])
    others = left.multiselect(
        "Scores to compare", list(names), format_func=names.__getitem__, key="judges_by_model"
    )
    column = right.selectbox(
        "Figure", list(_COEFFICIENTS), format_func=_COEFFICIENTS.__getitem__, key="judges_by_model_figure"
    )
    opened = [scores, *(chosen_scores.open_scores(store, one) for one in others if one in names)]
    filled = [one for one in opened if one.table.rows and has_levels(one.table)]
    if len(filled) < 2:
        nothing("the comparison needs two judges of texts with levels; choose further scores above")
        return
    with waiting(any(one.moving for one in filled)):
        reports = {judged.called(one): judged.level_correlations(one) for one in filled}
    report = side_by_side(reports)
    found = judges_by_model(report, [OfFile(judged.called(one), one.table) for one in filled])
    answer = Answer(CORRELATE, CORRELATE.Options(), correlations(report, judges=found))
    sized = sum(one.size is not None for one in found) > 1
    figure = column_against(answer.tables[BY_MODEL], column, "size") if sized else None
    by_size = Drawn(figure, f"{_COEFFICIENTS[column]} by size of the model")
    analysis.show_tables(answer, (BY_MODEL,), {BY_MODEL: by_size})
    if not sized:
        st.markdown(":small[No figure: fewer than two of these models state their size in their name.]")


def _factor(found: ScoreTable, name: str) -> float:
    return next(factor_of(metric) for metric in found.metrics if metric.name == name)


def _case(one: Disagreement, factors: tuple[float, float]) -> str:
    name = f"{one.row.item_id[:_SHORT]}, {one.row.system[:_SHORT]}{level_said(one.row)}"
    scores = f"{score(one.score_a, factors[0])} and {score(one.score_b, factors[1])}"
    return f"{name}: {scores}, {100 * one.difference:+.0f} percentiles"
