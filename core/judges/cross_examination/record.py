"""What a cross-examination keeps of a text: questions made from each of two texts, answered from the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from core.judges.cross_examination.verdicts import Verdict
from core.judges.record_checks import trial_problems

Side = Literal["source", "text"]
"""Which of the two texts a question was made from: what should be said (D in the CEF paper), or what was said (T)."""
SIDES: tuple[Side, ...] = ("source", "text")


@dataclass(frozen=True)
class CrossQuestion:
    """A question made from one of the two texts, answered from the other."""

    text: str
    expected: Verdict = "YES"
    """What it should be by its own text."""
    answer: Verdict | None = None
    """From the other text; None: what came back is none of the three."""
    reason: str | None = None
    """Why there is no answer: `unparsed`, or the reason why none came."""
    said: str = ""
    """What could not be parsed, shortened."""
    again: Verdict | None = None
    """Asked once more of its own text; None: not asked, or not parsed."""
    again_reason: str | None = None
    """Why there is no second answer; None where it was not asked for."""


@dataclass(frozen=True)
class Examination:
    """One cross-examination of a text, of as many as there are repeats."""

    repeat: int
    from_source: tuple[CrossQuestion, ...] | None
    """Made from the source (or the reference), answered from the text; None: no questions could be made."""
    from_text: tuple[CrossQuestion, ...] | None
    """Made from the text, answered from the source (or the reference)."""
    reasons: tuple[tuple[str, str], ...] = ()
    """(step, why) of steps that failed."""


@dataclass(frozen=True)
class CefRecord:
    """All cross-examinations of one text."""

    examinations: tuple[Examination, ...]
    back_translation: str | None = None
    """Round-trip mode: what was examined in the text's place."""


def questions_of(examination: Examination, side: Side) -> tuple[CrossQuestion, ...] | None:
    """The questions that were made from this side; None: none could be made."""
    return examination.from_source if side == "source" else examination.from_text


def questions_from_text(record: CefRecord) -> tuple[str, ...]:
    """All questions that were made from the judged text. Those from its source are the same for all texts of an item."""
    return tuple(one.text for examination in record.examinations for one in examination.from_text or ())


def details(record: CefRecord) -> Iterator[dict[str, Any]]:
    """A row of details.csv for each question, and for each step that failed."""
    for examination in record.examinations:
        repeat = {"repeat": examination.repeat}
        for side in SIDES:
            for question in questions_of(examination, side) or ():
                yield {"what": "question", "side": side, **repeat, **_details_of(question)}
        for step, reason in examination.reasons:
            yield {"what": f"step: {step}", "reason": reason, **repeat}


def _details_of(question: CrossQuestion) -> dict[str, Any]:
    return {
        "text": question.text,
        "expected": question.expected,
        "verdict": question.answer,
        "again": question.again,
        "why": question.said,
        "reason": question.reason or question.again_reason,
    }


def record_problems(record: CefRecord, _: str | None = None) -> Iterator[str]:
    """See JudgeKind: repeats that there cannot be, or that stand twice."""
    return trial_problems("examinations", record.examinations, "repeat")
