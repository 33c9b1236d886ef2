"""Do a cross-examination's mismatches point to the errors that people marked? Asked of a model, error by error.

001, section 4.4: a model reads a marked error beside the mismatching questions and says whether they are about the same
thing. What it says is itself a judge's opinion, and unchecked by people.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import InputError
from core.judges.settings import AlignmentSettings
from core.judges.verdicts import read_verdict
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import read_json
from core.llm.prompts import Prompt
from core.schema.judges import MarkedError, MarkedText, Mismatch

STEP = "alignment"
NO_MISMATCH = "no question mismatches"
NOTHING_MARKED = "no words are marked"
NOT_GIVEN = "(not given)"
MAX_TOKENS = 400
_LONGEST_WHY = 400
_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "why": {"type": "string", "maxLength": _LONGEST_WHY},
        "verdict": {"enum": ["YES", "NO"]},
    },
    "required": ["why", "verdict"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Found:
    """What the model said of one error."""

    verdict: bool
    why: str


class Aligner:
    """Asks a model, once for each marked error, whether a mismatching question points to it."""

    def __init__(self, model: Model, prompt: Prompt, settings: AlignmentSettings | None = None) -> None:
        if prompt.purpose != "align":
            raise InputError(f"Prompt {prompt.name} is for {prompt.purpose}; one for align is needed")
        self._model = model
        self._prompt = prompt
        self._settings = settings or AlignmentSettings()

    async def align(self, text: MarkedText) -> tuple[MarkedText, tuple[tuple[str, str], ...], bool]:
        """The text with every error found, not found, or without a verdict for a reason; failures; temporary or not.

        Nobody is asked where no question mismatches (nothing can point to an error: not found), nor about an error
        without marked words (nobody could tell: no verdict). An answer that cannot be used costs that error alone.
        """
        clear = [without_asking(text, error) for error in text.errors]
        unclear = [error for error, known in zip(text.errors, clear, strict=True) if known is None]
        answers = await asyncio.gather(
            *(self._model.ask(self._request(text, error), _read) for error in unclear)
        )
        told = iter(map(_answered, unclear, answers))
        failed = [answer for answer in answers if answer.value is None]
        return (
            replace(text, errors=tuple(next(told) if known is None else known for known in clear)),
            tuple((STEP, answer.reason or "invalid") for answer in failed),
            any(answer.temporary for answer in failed),
        )

    def _request(self, text: MarkedText, error: MarkedError) -> Request:
        offered = {
            "document": text.document or NOT_GIVEN,
            "text": text.text,
            "questions": listed(text.mismatches),
            "error": error.quote,
            "severity": error.severity or NOT_GIVEN,
            "category": error.category or NOT_GIVEN,
        }
        return Request(
            step=STEP,
            messages=self._prompt.messages(
                **{name: defused(value, (self._prompt,)) for name, value in offered.items()}
            ),
            max_tokens=MAX_TOKENS,
            temperature=self._settings.temperature,
            seed=self._settings.seed,
            schema=_SCHEMA,
        )


def without_asking(text: MarkedText, error: MarkedError) -> MarkedError | None:
    """The error with what is clear of itself; None: somebody has to look."""
    if not error.quote.strip():
        return replace(error, found=None, why="", reason=NOTHING_MARKED)
    if not text.mismatches:
        return replace(error, found=False, why=NO_MISMATCH, reason=None)
    return None


def listed(mismatches: Sequence[Mismatch]) -> str:
    """Every mismatching question with what the two texts say to it, whichever of them it was made from."""
    lines = []
    for number, one in enumerate(mismatches, start=1):
        document, text = (one.expected, one.answer) if one.side == "source" else (one.answer, one.expected)
        lines.append(f"{number}. {' '.join(one.question.split())} Document: {document}. Text: {text}.")
    return "\n".join(lines)


_ANY_VERDICT: Mapping[str, object] = {"type": "object", "required": ["verdict"]}
"""Looser than what is asked for: servers that ignore the form lose no verdict by its trimmings."""


def _read(answer: str) -> Found:
    """A verdict in any case counts, whatever stands beside it; a `why` that is missing is empty, a long one is cut."""
    said = read_json(answer, _ANY_VERDICT)
    assert isinstance(said, dict)
    told, why = said["verdict"], said.get("why")
    verdict = read_verdict(told if isinstance(told, str) else "")
    if verdict == "IDK":
        raise Unusable("Its verdict is neither YES nor NO.")
    return Found(verdict == "YES", why.strip()[:_LONGEST_WHY] if isinstance(why, str) else "")


def _answered(error: MarkedError, answer: Answer[Found]) -> MarkedError:
    if answer.value is None:
        return replace(error, found=None, why="", reason=answer.reason or "invalid")
    return replace(error, found=answer.value.verdict, why=answer.value.why, reason=None)
