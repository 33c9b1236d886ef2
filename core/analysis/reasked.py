"""Does a judge stand by its questions? What they should be by their own text against what it says when asked again.

001, section 4.6 and Figure 4.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.analysis.judge_reliability import ALL_SIDES, SIDES
from core.analysis.row_columns import items_of
from core.datasets.reading import shown
from core.errors import InputError
from core.judges.cross_examination import judge as cross_examination
from core.judges.cross_examination.record import CefRecord, CrossQuestion, Side
from core.judges.cross_examination.verdicts import VERDICTS, Verdict
from core.schema.judging import JudgedText, JudgeOutput
from core.stats.shares import Share, wilson_share

NOT_ASKED_FOR = "no question with this expected answer was answered when asked again"


@dataclass(frozen=True)
class ReaskedRow:
    """Questions with one expected answer."""

    expected: Verdict
    counts: Mapping[Verdict, int]
    """What was answered when the question was asked again of the text it was made from."""
    without: Mapping[str, int]
    """Reason, such as `unparsed` -> questions without a second answer."""
    unchanged: Share
    """Share of the questions with a second answer that kept theirs."""


@dataclass(frozen=True)
class Reasked:
    """The confusion matrix of one judge: rows are expected answers, columns second ones."""

    judge: str
    by_side: Mapping[str, tuple[ReaskedRow, ...]]
    """`source`, `text`, `all` -> a row for YES, NO and IDK each."""
    n_not_asked: int
    """Questions that were not asked again."""


def confusion(output: JudgeOutput, *, confidence_level: float = 0.95) -> Reasked:
    """Count a cross-examination's questions by expected answer and by the answer to the same text, over all repeats.

    A question counts once for its item, document and repeat, as it was asked: all texts of an item share the questions
    made from the source. Questions without a second answer stand in no share and are counted with their reasons. Wilson intervals; they take
    questions of one text for independent, which they are not quite. Misleads at temperature 0 with a judge that
    repeats itself: to stand by an answer does not make it right. Raises InputError for other judges, and for runs that
    asked nothing again.
    """
    if output.kind != cross_examination.KIND.name:
        raise InputError(f"{shown(output.name)} asks no questions: it is a judge of the kind {output.kind}.")
    by_side = _distinct(output.texts)
    asked: dict[str, list[CrossQuestion]] = {
        side: [question for question in by_side[side] if _asked_again(question)] for side in SIDES
    }
    every = [question for questions in asked.values() for question in questions]
    if not every:
        raise InputError(
            f"{shown(output.name)} asked no question a second time: choose that questions are asked again (--reask)."
        )
    return Reasked(
        judge=output.name,
        by_side={
            side: tuple(_row(expected, questions, confidence_level) for expected in VERDICTS)
            for side, questions in (asked | {ALL_SIDES: every}).items()
        },
        n_not_asked=sum(len(questions) for questions in by_side.values()) - len(every),
    )


def _distinct(texts: Sequence[JudgedText]) -> dict[Side, list[CrossQuestion]]:
    """Each question once, by what it was made from."""
    found: dict[Side, dict[tuple[object, ...], CrossQuestion]] = {side: {} for side in SIDES}
    for text, item in zip(texts, items_of([text.row for text in texts]).tolist(), strict=True):
        for side, document, repeat, question in _asked(text):
            found[side].setdefault((item, document, repeat, question.text), question)
    return {side: list(questions.values()) for side, questions in found.items()}


def _asked(text: JudgedText) -> Iterator[tuple[Side, str | None, int, CrossQuestion]]:
    """Side, document and repeat of every question that the text was examined with."""
    record = text.record
    if not isinstance(record, CefRecord):
        return
    examined = text.text if record.back_translation is None else record.back_translation
    for one in record.examinations:
        for question in one.from_source or ():
            yield "source", text.document, one.repeat, question
        for question in one.from_text or ():
            yield "text", examined, one.repeat, question


def _asked_again(question: CrossQuestion) -> bool:
    return question.again is not None or question.again_reason is not None


def _row(expected: Verdict, questions: Sequence[CrossQuestion], confidence_level: float) -> ReaskedRow:
    own = [question for question in questions if question.expected == expected]
    answered = Counter(question.again for question in own)
    without = Counter(question.again_reason or "" for question in own if question.again is None)
    counts = {verdict: answered[verdict] for verdict in VERDICTS}
    return ReaskedRow(
        expected,
        counts,
        dict(without),
        wilson_share(
            counts[expected], sum(counts.values()), confidence_level=confidence_level, reason=NOT_ASKED_FOR
        ),
    )
