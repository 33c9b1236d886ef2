"""Questions of a cross-examination given to other models, each to be answered from the text it was made from.

How often models agree on such answers says how reliable they are as judges (001, section 3.1: ADR and ADS).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.datasets.reading import shown
from core.errors import InputError
from core.judges.question_asking import Answerer
from core.judges.settings import AnswersSettings
from core.llm.asking import Model
from core.llm.prompts import Prompt
from core.schema.judges import CefRecord, CrossQuestion, Examination, JudgedText, JudgeOutput, QuestionSet
from core.schema.scores import ScoredRow

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
            whose: tuple[object, ...] = (
                _dataset(row)
                if one.side == "source"
                else (row.system, row.level, tuple(sorted(row.labels.items())))
            )
            asked = tuple(question.text for question in one.questions)
            found.setdefault((one.side, row.item_id, row.language, *whose, one.document, asked), one)
    return tuple(found.values())


def check_together(given: Sequence[str], outputs: Sequence[JudgeOutput]) -> list[str]:
    """What is to be known of cross-examinations whose questions are answered together.

    given: what the user calls each of them.
    Raises InputError where two are by one model, which would meet its own questions twice, or examined against
    different documents, which no model's questions then share.
    """
    by_model: dict[str, list[str]] = {}
    by_mode: dict[str, list[str]] = {}
    for name, output in zip(given, outputs, strict=True):
        by_model.setdefault(output.model, []).append(name)
        by_mode.setdefault(str(output.settings.get("mode", "")), []).append(name)
    problems = [
        f"{_and(names)} were {'both' if len(names) == 2 else 'all'} made by {shown(model)}: name one run a model"
        for model, names in by_model.items()
        if len(names) > 1
    ]
    if len(by_mode) > 1:
        modes = "; ".join(f"{_and(names)}: {mode}" for mode, names in by_mode.items())
        problems.append(f"their modes differ, and with them the documents ({modes}): name runs of one mode")
    if problems:
        raise InputError("These cross-examinations cannot be answered together", problems)
    named = all(_dataset(text.row) for output in outputs for text in output.texts)
    items = [
        {(text.row.item_id, text.row.language, _dataset(text.row) if named else ()) for text in output.texts}
        for output in outputs
    ]
    if len(items) > 1 and not set.intersection(*items):
        return [
            "no item is in all of them, so that models will be compared on questions about different texts"
        ]
    return []


def _and(names: Sequence[str]) -> str:
    *others, last = map(shown, names)
    return f"{', '.join(others)} and {last}" if others else last


def _sets_of(judged: JudgedText, author: str) -> Iterator[QuestionSet]:
    first = _first_of(judged)
    if first is None:
        return
    record, examination = first
    if judged.document is not None and examination.from_source:
        # The source is the item's: its questions belong to no system and no level, and only to its data set.
        row = ScoredRow(judged.row.item_id, "", None, judged.row.language, dict(_dataset(judged.row)))
        yield QuestionSet(row, "source", author, judged.document, _unanswered(examination.from_source))
    if examination.from_text:
        text = judged.text if record.back_translation is None else record.back_translation
        yield QuestionSet(judged.row, "text", author, text, _unanswered(examination.from_text))


def _dataset(row: ScoredRow) -> tuple[tuple[str, str], ...]:
    """The label that tells items of one id apart, where the row has it."""
    return tuple((name, value) for name, value in row.labels.items() if name == "dataset" and value)


def _first_of(judged: JudgedText) -> tuple[CefRecord, Examination] | None:
    record = judged.record
    if not isinstance(record, CefRecord):
        return None
    first = next((one for one in record.examinations if one.repeat == 0), None)
    return None if first is None else (record, first)


def _unanswered(questions: tuple[CrossQuestion, ...]) -> tuple[CrossQuestion, ...]:
    return tuple(CrossQuestion(one.text, one.expected) for one in questions)
