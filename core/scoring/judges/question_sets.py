"""Questions of a cross-examination given to other models, each to be answered from the text it was made from.

How often models agree on such answers says how reliable they are as judges (001, section 3.1: ADR and ADS).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from core.llm.asking import Model
from core.llm.prompts import Prompt
from core.schema.judges import CefRecord, CrossQuestion, Examination, JudgedText, JudgeOutput, QuestionSet
from core.schema.scores import ScoredRow
from core.scoring.judges.question_asking import Answerer
from core.scoring.judges.settings import AnswersSettings

ANSWERS = "answers"
"""The step of such runs."""


class QuestionAnswerer:
    """A model that answers sets of questions. prompts: `answer` (each) or `answers` (batch)."""

    def __init__(self, model: Model, prompts: Mapping[str, Prompt], settings: AnswersSettings) -> None:
        self._answerer = Answerer(model, prompts, settings.answers, settings.temperature)
        self._seed = settings.seed

    async def answer(self, asked: QuestionSet) -> tuple[QuestionSet, tuple[tuple[str, str], ...], bool]:
        """The set with this model's answers, (step, reason) of what failed, and whether another run may mend it."""
        answered = await self._answerer.answer(asked.document, asked.questions, ANSWERS, self._seed)
        return replace(asked, questions=answered.questions), answered.failures, answered.temporary


def question_sets_of(output: JudgeOutput) -> tuple[QuestionSet, ...]:
    """Every distinct set of questions that a cross-examiner made, without any answers; of its first repeat.

    Questions from the source stand there once an item, although all texts of the item were examined with them; more
    often where they were not the same. The author is the model that made them.
    """
    found: dict[tuple[object, ...], QuestionSet] = {}
    for judged in output.texts:
        for one in _sets_of(judged, output.model):
            row = one.row
            whose = () if one.side == "source" else (row.system, row.level, tuple(sorted(row.labels.items())))
            asked = tuple(question.text for question in one.questions)
            found.setdefault((one.side, row.item_id, row.language, *whose, one.document, asked), one)
    return tuple(found.values())


def _sets_of(judged: JudgedText, author: str) -> Iterator[QuestionSet]:
    first = _first_of(judged)
    if first is None:
        return
    record, examination = first
    if judged.document is not None and examination.from_source:
        # The source is the item's: its questions belong to no system and no level.
        row = ScoredRow(judged.row.item_id, "", None, judged.row.language)
        yield QuestionSet(row, "source", author, judged.document, _unanswered(examination.from_source))
    if examination.from_text:
        text = judged.text if record.back_translation is None else record.back_translation
        yield QuestionSet(judged.row, "text", author, text, _unanswered(examination.from_text))


def _first_of(judged: JudgedText) -> tuple[CefRecord, Examination] | None:
    record = judged.record
    if not isinstance(record, CefRecord):
        return None
    first = next((one for one in record.examinations if one.repeat == 0), None)
    return None if first is None else (record, first)


def _unanswered(questions: tuple[CrossQuestion, ...]) -> tuple[CrossQuestion, ...]:
    return tuple(CrossQuestion(one.text, one.expected) for one in questions)
