"""Audit: models answer the questions of cross-examinations from the text the questions were made from.

Agreement between models on these answers measures how reliable they are as judges (CEF, section 3.1: ADR and ADS).
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import InputError
from core.judges.cross_examination import KIND as EXAMINATION
from core.judges.cross_examination import CefRecord
from core.judges.kind import TEMPERATURE, AuditKind, Audits, Done, asking
from core.judges.questions import ANSWERING, Answerer, Answering, CrossQuestion, Side, answer_prompt
from core.llm.asking import Model
from core.llm.prompts import Prompt
from core.schema.runs import KindSettings, PromptSlot
from core.schema.scores import JudgedText, JudgeOutput, ScoredRow
from core.schema.settings import seed_setting
from core.tables.reading import shown

ANSWERS = "answers"
"""Name of the step."""


class AnswersSettings(KindSettings):
    """How a model answers other models' questions, to measure the reliability of judges."""

    answers: Answering = ANSWERING
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting("seed of the model's answers")

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """See KindSettings."""
        return (answer_prompt(self.answers),)


@dataclass(frozen=True)
class QuestionSet:
    """Questions that one model made from a text, with one model's answers from the same text."""

    row: ScoredRow
    """The text's row; system and level mean nothing for the side `source`."""
    side: Side
    """Whether `document` is the item's source (or reference), or a text."""
    author: str
    """The model that made the questions."""
    document: str
    """The text that the questions were made from and are answered from."""
    questions: tuple[CrossQuestion, ...]
    """`answer` comes from their own text; None: not answered yet, or missing with a reason."""


@dataclass(frozen=True)
class AnswerSet:
    """One model's answers to several models' questions: the data for the reliability of judges."""

    model: str
    sets: tuple[QuestionSet, ...]


def question_sets_of(output: JudgeOutput) -> tuple[QuestionSet, ...]:
    """All distinct question sets in a cross-examiner's first repeat, without answers.

    Questions from the source appear once per item, even though they examined all texts of the item; different sets for
    one item all appear. The author is the model that made them.
    """
    found: dict[tuple[object, ...], QuestionSet] = {}
    for judged in output.texts:
        for one in _sets_of(judged, output.model):
            row = one.row
            whose: tuple[object, ...] = (
                _dataset(row)
                if one.side == "source"
                else (row.system, row.level, tuple(sorted(row.labels.items())))
            )
            asked = tuple(question.text for question in one.questions)
            found.setdefault((one.side, row.item_id, row.language, *whose, one.document, asked), one)
    return tuple(found.values())


def check_together(names: Sequence[str], outputs: Sequence[JudgeOutput]) -> list[str]:
    """Check that the questions of these cross-examinations can be answered together; returns notes for the user.

    names: the user's name for each of them.
    Raises InputError for other judges, for two runs by one model (its questions would count twice), and for runs with
    different modes (their questions come from different documents).
    """
    others = [one for one in outputs if one.kind != EXAMINATION.name]
    if others:
        wrong = [f"{shown(one.name)} is from the judge {one.kind}" for one in others]
        raise InputError("Only cross-examinations have questions to answer", wrong)
    by_model: dict[str, list[str]] = {}
    by_mode: dict[str, list[str]] = {}
    for name, output in zip(names, outputs, strict=True):
        by_model.setdefault(output.model, []).append(name)
        by_mode.setdefault(str(output.settings.get("mode", "")), []).append(name)
    problems = [
        f"{_and(names)} were {'both' if len(names) == 2 else 'all'} made by {shown(model)}: choose one run per model"
        for model, names in by_model.items()
        if len(names) > 1
    ]
    if len(by_mode) > 1:
        modes = "; ".join(f"{_and(names)}: {mode}" for mode, names in by_mode.items())
        problems.append(
            f"they compare texts with different documents ({modes}): choose runs with the same mode"
        )
    if problems:
        raise InputError("These cross-examinations cannot be answered together", problems)
    named = all(_dataset(text.row) for output in outputs for text in output.texts)
    items = [
        {(text.row.item_id, text.row.language, _dataset(text.row) if named else ()) for text in output.texts}
        for output in outputs
    ]
    if len(items) > 1 and not set.intersection(*items):
        return ["no item is in all of them: models will be compared on questions about different texts"]
    return []


def _and(names: Sequence[str]) -> str:
    *others, last = map(shown, names)
    return f"{', '.join(others)} and {last}" if others else last


def _sets_of(judged: JudgedText, author: str) -> Iterator[QuestionSet]:
    record = judged.record
    first = [one for one in record.examinations if one.repeat == 0] if isinstance(record, CefRecord) else []
    if not first:
        return
    examination = first[0]
    if judged.document is not None and examination.from_source:
        # The source belongs to the item: its questions have no system and no level, only a data set.
        row = ScoredRow(judged.row.item_id, "", None, judged.row.language, dict(_dataset(judged.row)))
        yield QuestionSet(row, "source", author, judged.document, _unanswered(examination.from_source))
    if examination.from_text:
        text = judged.text if record.back_translation is None else record.back_translation
        yield QuestionSet(judged.row, "text", author, text, _unanswered(examination.from_text))


def _dataset(row: ScoredRow) -> tuple[tuple[str, str], ...]:
    """The label that distinguishes items with the same id, if the row has it."""
    return tuple((name, value) for name, value in row.labels.items() if name == "dataset" and value)


def _unanswered(questions: tuple[CrossQuestion, ...]) -> tuple[CrossQuestion, ...]:
    return tuple(CrossQuestion(one.text, one.expected) for one in questions)


class AnswersKind(AuditKind):
    """Answers the questions of cross-examinations with a model, to measure how reliable their judges are."""

    name = "answers"
    title = "Answers to judges' questions"
    summary = (
        "answers the questions of cross-examinations with a model, to measure how reliable their judges are"
    )
    reads = "questions asked"
    does = "answers"
    section = "judge-reliability"
    Settings = AnswersSettings
    Piece = QuestionSet
    reports = frozenset({"reliability"})
    piece_called = "set of the same questions"
    table = "answers.csv"
    columns = ("side", "author", "text", "expected", "verdict", "reason")

    def open(self, settings: AnswersSettings, prompts: Mapping[str, Prompt]) -> Audits:
        """See AuditKind."""

        def answering(model: Model) -> Callable[[QuestionSet], Awaitable[Done]]:
            answerer = Answerer(model, prompts, settings.answers, settings.temperature)

            async def answer(asked: QuestionSet) -> Done:
                found = await answerer.answer(asked.document, asked.questions, ANSWERS, settings.seed)
                return replace(asked, questions=found.questions), found.failures, found.temporary

            return answer

        return asking(answering)

    def broken(self, questions: QuestionSet, reason: str) -> QuestionSet:
        """See AuditKind."""
        return replace(
            questions,
            questions=tuple(replace(one, answer=None, reason=reason) for one in questions.questions),
        )

    # A repeated set of questions would count twice.
    def identity(self, questions: QuestionSet) -> tuple[str, ...]:
        """See AuditKind."""
        return (
            questions.side,
            questions.author,
            questions.document,
            *(one.text for one in questions.questions),
        )

    def nothing(self, sets: Sequence[QuestionSet]) -> str | None:
        """See AuditKind."""
        return (
            "questions" if not sets else None if any(one.questions for one in sets) else "question to answer"
        )

    def rows(self, questions: QuestionSet) -> Iterator[dict[str, Any]]:
        """See AuditKind."""
        for question in questions.questions:
            yield {
                "side": questions.side,
                "author": questions.author,
                "text": question.text,
                "expected": question.expected,
                "verdict": question.answer,
                "reason": question.reason,
            }


KIND = AnswersKind()
