"""Tab Texts: one text with its scores, and how the judge arrived at them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.judges.alignment import mismatches_of
from core.judges.claims import KIND, Claim, ClaimsRecord
from core.judges.cross_examination import CefRecord, Examination
from core.judges.kind import JudgeKind
from core.judges.pairwise import KIND as KIND_of_pairs
from core.judges.pairwise import ORDERS, PairwiseRecord
from core.judges.questions import CrossQuestion
from core.judges.rubric import KIND as KIND_of_rubric
from core.judges.rubric import RubricRecord, RubricTrial
from core.results.judges.pairwise import opponents_of
from core.runs.kinds import KINDS
from core.schema.runs import Run
from core.schema.scores import JudgedText, JudgeOutput
from core.store import Store
from core.store.kept import step_costs
from core.store.runs import item_position
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import chosen_judge, level_diff, run_panel
from pages.widgets.chosen_judge import MARKS, document_words, factor_of, level_said, score
from pages.widgets.messages import one_line, plain
from pages.widgets.parts import nothing, part, table


def claims_of_text(record: ClaimsRecord) -> None:
    """Show the claims of both sides, and the steps that failed."""
    _side(
        "Claims of the text",
        "Verified against the reference. Precision is the share supported.",
        record.response,
    )
    _side(
        "Claims of the reference",
        "Verified against the text. Recall is the share supported.",
        record.reference,
    )
    for step, reason in record.reasons:
        st.warning(plain(f"{step}: {reason}"))


def _side(title: str, sentence: str, claims: Sequence[Claim] | None) -> None:
    part(title, sentence, KIND.section)
    if not claims:
        nothing("the judge could not extract claims" if claims is None else "it contains no claim")
        return
    counts = {mark: sum(claim.supported is verdict for claim in claims) for verdict, mark in MARKS.items()}
    st.markdown(
        f"{counts['✓']} supported (✓), {counts['✗']} not supported (✗), {counts['?']} without a verdict (?)."
    )
    table(
        pd.DataFrame(
            {
                "Mark": [MARKS[claim.supported] for claim in claims],
                "Claim": [claim.text for claim in claims],
                "Why": [claim.reason or claim.why for claim in claims],
            }
        )
    )


def questions_of_text(record: CefRecord, named: str, slot: str) -> None:
    """Show one of the examinations of a text, one for each repeat; the caller shows the texts."""
    if record.back_translation is not None:
        level_diff.plain_card(
            "Back-translation, examined instead of the text", record.back_translation, "und"
        )
    if not record.examinations:
        nothing("the judge did not examine this text")
        return
    at = 0
    if len(record.examinations) > 1:
        at = st.segmented_control(
            "Repeat",
            range(len(record.examinations)),
            default=0,
            format_func=lambda number: str(number + 1),
            required=True,
            key=f"judges_cef_repeat_{slot}",
        )
    examination = record.examinations[min(at, len(record.examinations) - 1)]
    for step, reason in examination.reasons:
        st.warning(plain(document_words(f"{step}: {reason}", named)))
    _mismatches(examination, named)
    _questions_of_side(
        f"Made from the {named}, answered from the text",
        "The answer IDK: the text omits it (coverage). Another answer than expected: the text contradicts it (conformity).",
        examination.from_source,
    )
    _questions_of_side(
        f"Made from the text, answered from the {named}",
        f"Another answer than expected: the text adds to the {named} or contradicts it (consistency).",
        examination.from_text,
    )


def _mismatches(examination: Examination, named: str) -> None:
    part(
        "Mismatches",
        "Questions that the two texts answer differently.",
        "cross-examination",
    )
    found = mismatches_of(examination)
    if not found:
        nothing("every answer is the expected one")
        return
    table(
        pd.DataFrame(
            {
                "Question": [one.question for one in found],
                "Made from the": [named if one.side == "source" else "text" for one in found],
                "Expected": [one.expected for one in found],
                "Answer": [one.answer for one in found],
            }
        )
    )


def _questions_of_side(title: str, sentence: str, questions: Sequence[CrossQuestion] | None) -> None:
    part(title, sentence, "cross-examination")
    if not questions:
        nothing("the judge could not make questions" if questions is None else "the judge made no question")
        return
    unparsed = sum(one.answer is None for one in questions)
    if unparsed:
        answers = "1 answer is" if unparsed == 1 else f"{unparsed} answers are"
        st.markdown(f"Left out of the scores: {answers} not YES, NO or IDK.")
    columns = {
        "Question": [one.text for one in questions],
        "Expected": [one.expected for one in questions],
        "Answer": [one.answer or one.reason or "none" for one in questions],
    }
    if unparsed:
        columns["Reply"] = [one.said for one in questions]
    if any(one.again or one.again_reason for one in questions):
        columns["Asked again"] = [one.again or one.again_reason or "not asked" for one in questions]
    table(pd.DataFrame(columns))


_ORDERS = {"reference-first": "reference read first", "response-first": "response read first"}


def verdicts_of_text(record: RubricRecord) -> None:
    """Show a card for each trial."""
    part("Verdicts", "The score is the mean of the usable verdicts.", KIND_of_rubric.section)
    if not record.trials:
        nothing("the judge was not asked about this text")
    for trial in record.trials:
        verdict = "no verdict" if trial.verdict is None else f"verdict {trial.verdict}"
        level_diff.plain_card(f"{_which(record, trial)}{verdict}", trial.feedback or "(no feedback)", "und")
        if trial.reason:
            st.warning(plain(trial.reason))
            if trial.detail:
                st.text(trial.detail)


def _which(record: RubricRecord, trial: RubricTrial) -> str:
    if len(record.trials) == 1:
        return ""
    return f"{_ORDERS[trial.order].capitalize()}, repeat {trial.repeat + 1}: "


_READ = {"own-first": "this text read first", "other-first": "this text read second"}
_PREFERRED = {
    "own": "this text is preferred",
    "other": "the other text is preferred",
    "both_good": "both good",
    "both_bad": "both bad",
    "tie": "tie",
    None: "no verdict",
}


def comparisons_of_text(record: PairwiseRecord) -> None:
    """Show a card for each comparison, the orders of one opponent together."""
    part(
        "Comparisons",
        "The score is the share of comparisons that the text wins; ties count half.",
        KIND_of_pairs.section,
    )
    if not record.trials:
        nothing("the judge was not asked about this text")
    several = len({trial.against for trial in record.trials}) > 1
    repeated = any(trial.repeat for trial in record.trials)
    for trial in sorted(record.trials, key=lambda one: (one.against, one.repeat, ORDERS.index(one.order))):
        read = [_READ[trial.order], *([f"repeat {trial.repeat + 1}"] if repeated else [])]
        title = f"{', '.join([*([f'Against {trial.against}'] if several else []), *read])}: {_PREFERRED[trial.verdict]}"
        level_diff.plain_card(f"{title[:1].upper()}{title[1:]}", trial.feedback or "(no feedback)", "und")
        if trial.reason:
            st.warning(plain(trial.reason))
            if trial.detail:
                st.text(trial.detail)


def _opponents(text: JudgedText, output: JudgeOutput) -> None:
    """Show the texts that the judge compared this one with."""
    if not isinstance(text.record, PairwiseRecord):
        return
    for called, other in opponents_of(output, text):
        level_diff.plain_card(f"Compared with: {called}", other.text, other.row.language)


_WORST, _GIVEN, _UNDEFINED = "lowest score first", "as in the file", "without a score first"


def render(store: Store, run: Run) -> None:
    """Choose an item and one of its texts, and show what the judge replied."""
    part(
        "Texts",
        "How the judge arrived at the scores of one text. Feedback, claims and questions are the model's own words and "
        "can be wrong.",
        KINDS[run.kind].section,
    )
    output = chosen_judge.output_of(store, run)
    if not output.texts:
        nothing(NOT_JUDGED)
        return
    chosen = _choose(output)
    named = chosen_judge.document_name(output)
    _heading(chosen, named)
    _opponents(chosen, output)
    scores(chosen, output, named)
    record(chosen, named)
    chosen_judge.text_calls(store, run, output, chosen)
    with st.expander("What this item cost"):
        _costs(store, run, chosen, named)


def _choose(output: JudgeOutput) -> JudgedText:
    names = [metric.name for metric in output.metrics]
    name = names[0]
    first = st.container()
    if len(names) > 1:
        second, first = st.columns(2)
        name = second.selectbox("Score", names, key="judges_text_metric")
    order = first.selectbox("Order", [_WORST, _GIVEN, _UNDEFINED], key="judges_text_order")
    items: dict[str, list[JudgedText]] = {}
    for text in _ordered(output.texts, name, order):
        items.setdefault(text.row.item_id, []).append(text)
    left, right = st.columns(2)
    item = left.selectbox("Item", list(items), format_func=lambda one: _item_said(one, items[one]))
    texts = items[item]
    factor = next(factor_of(metric) for metric in output.metrics if metric.name == name)
    at = right.selectbox(
        "Text", range(len(texts)), format_func=lambda at: _text_said(texts[at], name, factor)
    )
    return texts[min(at, len(texts) - 1)]


def _ordered(texts: Sequence[JudgedText], metric: str, order: str) -> list[JudgedText]:
    """Order by that score or as in the file; texts without a score come last unless requested first."""
    if order == _GIVEN:
        return list(texts)
    undefined = 0 if order == _UNDEFINED else 2

    def place(text: JudgedText) -> tuple[int, float]:
        score = text.scores.get(metric)
        return (undefined, 0.0) if score is None else (1, score)

    return sorted(texts, key=place)


def _item_said(item: str, texts: Sequence[JudgedText]) -> str:
    short = one_line(texts[0].question or "", 60)
    return f"{item}: {short}" if short else item


def _text_said(text: JudgedText, metric: str, factor: float) -> str:
    return f"{text.row.system}{level_said(text.row)}: {score(text.scores.get(metric), factor)}"


def _heading(text: JudgedText, named: str) -> None:
    if text.question and text.question != text.document:
        level_diff.plain_card("Source or question", text.question, text.row.language)
    left, right = st.columns(2)
    with left:
        if text.document is None:
            nothing(f"this text has no {named}")
        else:
            level_diff.plain_card(named.capitalize(), text.document, text.row.language)
    with right:
        level_diff.plain_card(f"Text{level_said(text.row)}", text.text, text.row.language)


def scores(text: JudgedText, output: JudgeOutput, named: str) -> None:
    """Show the text's scores, or why there are none. named: as in `record`."""
    factors = {metric.name: factor_of(metric) for metric in output.metrics}
    table(
        pd.DataFrame(
            {
                "Score": list(text.scores),
                "Value": [score(value, factors[name]) for name, value in text.scores.items()],
                "Note": [
                    chosen_judge.document_words(text.reasons.get(name, ""), named) for name in text.scores
                ],
            }
        )
    )
    repeats = output.settings.get("repeats")
    if isinstance(repeats, int) and repeats > 1:
        st.markdown(f":small[Scores are the mean of {repeats} repeats.]")


_RENDERERS: Mapping[type, Callable[[Any, str, str], None]] = {
    RubricRecord: lambda record, *_: verdicts_of_text(record),
    ClaimsRecord: lambda record, *_: claims_of_text(record),
    CefRecord: questions_of_text,
    PairwiseRecord: lambda record, *_: comparisons_of_text(record),
}
"""A record's class -> the function that shows it; any other record is shown as its rows of details.csv."""


def record(text: JudgedText, named: str, slot: str = "text") -> None:
    """Show how the judge arrived at the text's scores.

    named: what the text was compared with, `reference` or `source`; slot: unique among the places that show a record.
    """
    if text.record is None:
        nothing("the judge was not asked about this text")
    elif (shown := _RENDERERS.get(type(text.record))) is not None:
        shown(text.record, named, slot)
    else:
        details(text.record)


def details(record: Any) -> None:
    """Show a record as its rows of details.csv."""
    judges = (kind for kind in KINDS.values() if isinstance(kind, JudgeKind))
    kind = next(one for one in judges if one.Record is type(record))
    rows = pd.DataFrame(list(kind.details(record)))
    if rows.empty:
        nothing("the judge gave no details")
        return
    table(rows.dropna(axis="columns", how="all").fillna(""))


def _costs(store: Store, run: Run, text: JudgedText, named: str) -> None:
    position = item_position(store, run.run_id, text.row.item_id)
    costs = [] if position is None else step_costs(store, run.run_id, position=position)
    if not costs:
        st.markdown("No call was made.")
        return
    st.markdown(f"All texts of item {plain(text.row.item_id)} together. Answers from the cache cost nothing.")
    run_panel.step_table(costs, named)
