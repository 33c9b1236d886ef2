"""Small makers of cross-examinations for tests of analyses."""

from collections.abc import Sequence
from typing import Any

from core.judges.cross_examination import CefRecord, Examination
from core.judges.questions import CrossQuestion, Verdict
from core.schema.scores import JudgedText, JudgeOutput, ScoredRow


def question(
    text: str, answer: Verdict | None = "YES", expected: Verdict = "YES", **more: Any
) -> CrossQuestion:
    reason = "unparsed" if answer is None else None
    return CrossQuestion(text, expected, answer, reason, **more)


def answered(*answers: Verdict | None) -> tuple[CrossQuestion, ...]:
    """A question that expects YES for each answer."""
    return tuple(question(f"Question {n}?", answer) for n, answer in enumerate(answers))


def examined(
    from_source: Sequence[CrossQuestion] | None, from_text: Sequence[CrossQuestion] | None, repeat: int = 0
) -> Examination:
    return Examination(
        repeat,
        None if from_source is None else tuple(from_source),
        None if from_text is None else tuple(from_text),
    )


def judged(item: str, record: CefRecord | None, **fields: Any) -> JudgedText:
    row = ScoredRow(item, fields.pop("system", "s"), fields.pop("level", None), fields.pop("language", "und"))
    given: dict[str, Any] = {
        "text": "Ein Text von ihm.",
        "document": "A text of his.",
        "question": "A text of his.",
        "scores": {},
        "reasons": {},
    }
    return JudgedText(row=row, record=record, **{**given, **fields})


def output(*texts: JudgedText, **fields: Any) -> JudgeOutput:
    given: dict[str, Any] = {"name": "cef-tiny", "kind": "cef", "model": "tiny", "metrics": ()}
    settings = {"n_questions": 10, "repeats": 1}
    return JudgeOutput(texts=texts, **{**given, "settings": settings, **fields})


def record(*examinations: Examination) -> CefRecord:
    return CefRecord(examinations)
