"""Alignment of a cross-examination's mismatches with the errors that people marked, decided by a model for each error.

CEF, section 4.4: a model reads a marked error and the mismatching questions, and decides whether they concern the same
thing. Its decision is itself a judge's opinion, which no person has checked.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import regex

from core.diff import tokenize
from core.judges.cross_examination import Examination, questions_of
from core.judges.kind import TEMPERATURE, AuditKind, Audits, Done
from core.judges.questions import SIDES, Side, Verdict, read_verdict
from core.llm.asking import Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import form, read_object
from core.llm.prompts import Prompt, checked_prompt
from core.schema.runs import KindSettings, PromptSlot
from core.schema.scores import ScoredRow
from core.schema.settings import seed_setting

STEP = "alignment"
_PURPOSE = "align"
NO_MISMATCH = "no question mismatches"
NOTHING_MARKED = "no words are marked"
NOT_GIVEN = "(not given)"
"""As `core.judges.kind.NOTHING`; kept because stored answers are found by their request."""
MAX_TOKENS = 400
_LONGEST_WHY = 400
LEAST_SHARED = 0.5
"""Share of an error's content words that one question must contain."""
NO_CONTENT = "the marked words say too little to be found by words"

_SHORTEST_WORD = 4
_STEM = 5
"""Letters of a word that are compared, because endings differ."""
_ENGLISH = """
    about after also been before being could does doing done each from have having here into itself just like many more
    most much only other over same shall should some such than that their them then there these they this those through
    very were what when where which while will with within without would your text document
"""
_FUNCTION_WORDS = frozenset(_ENGLISH.split())
_ALONE = regex.compile(
    r"[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]\p{M}*"
)
_SCHEMA = form(why={"type": "string", "maxLength": _LONGEST_WHY}, verdict={"enum": ["YES", "NO"]})


class AlignmentSettings(KindSettings):
    """How a model is asked whether a mismatching question points to a marked error."""

    MODEL_FREE: ClassVar[bool] = True

    temperature: float | None = TEMPERATURE
    seed: int = seed_setting("seed of the model's answers")

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """See KindSettings."""
        return () if by_rules else (PromptSlot(_PURPOSE, "align"),)

    def idle(self, backend: str) -> frozenset[str]:
        """See KindSettings. Rules draw nothing."""
        return frozenset({"temperature", "seed"}) if backend == "rules" else frozenset()


@dataclass(frozen=True)
class Mismatch:
    """A question whose answer from the other text differs from the answer its own text gives."""

    side: Side
    question: str
    expected: Verdict
    answer: Verdict


@dataclass(frozen=True)
class MarkedError:
    """An error that a person marked in a text, and whether a mismatching question points to it."""

    quote: str
    """The marked words."""
    severity: str
    category: str
    found: bool | None = None
    """None: not asked yet, or no verdict."""
    why: str = ""
    reason: str | None = None
    """Reason for a missing verdict."""


@dataclass(frozen=True)
class MarkedText:
    """A text with its mismatches from a cross-examination and the errors that people marked in it."""

    row: ScoredRow
    text: str
    document: str | None
    mismatches: tuple[Mismatch, ...]
    errors: tuple[MarkedError, ...]


def mismatches_of(examination: Examination) -> tuple[Mismatch, ...]:
    """Questions whose answer from the other text differs from their own text's; those made from the source come first.

    Unparsed answers do not count. Mixed questions that expect IDK are included, although no score counts them: YES or NO
    to such a question means that only the other text contains the answer.
    """
    return tuple(
        Mismatch(side, one.text, one.expected, one.answer)
        for side in SIDES
        for one in questions_of(examination, side) or ()
        if one.answer is not None and one.answer != one.expected
    )


@dataclass(frozen=True)
class Found:
    """The model's decision on one error."""

    verdict: bool
    why: str


class Aligner:
    """Asks a model about each marked error: does a mismatching question point to it?"""

    def __init__(self, model: Model, prompt: Prompt, settings: AlignmentSettings) -> None:
        self._model, self._prompt, self._settings = model, checked_prompt(prompt, _PURPOSE), settings

    async def align(self, text: MarkedText) -> Done:
        """Decide every error of a text: found, not found, or no verdict with a reason.

        Without mismatching questions every error counts as not found, and the model is not asked. An error without
        marked words gets no verdict. An unusable answer affects only its own error. Returns the text, the failures,
        and whether they were temporary.
        """
        clear = [settled_error(text, error) for error in text.errors]
        unclear = [error for error, known in zip(text.errors, clear, strict=True) if known is None]
        answers = await asyncio.gather(
            *(self._model.ask(self._request(text, error), _read) for error in unclear)
        )
        told = (
            replace(error, found=None, why="", reason=answer.reason or "invalid")
            if answer.value is None
            else replace(error, found=answer.value.verdict, why=answer.value.why, reason=None)
            for error, answer in zip(unclear, answers, strict=True)
        )
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


def settled_error(text: MarkedText, error: MarkedError) -> MarkedError | None:
    """The error decided without a model; None: a model or rules must decide."""
    if not error.quote.strip():
        return replace(error, found=None, why="", reason=NOTHING_MARKED)
    if not text.mismatches:
        return replace(error, found=False, why=NO_MISMATCH, reason=None)
    return None


def listed(mismatches: Sequence[Mismatch]) -> str:
    """Every mismatching question with the answers from both texts, one per line."""
    lines = []
    for number, one in enumerate(mismatches, start=1):
        document, text = (one.expected, one.answer) if one.side == "source" else (one.answer, one.expected)
        lines.append(f"{number}. {' '.join(one.question.split())} Document: {document}. Text: {text}.")
    return "\n".join(lines)


def _read(answer: str) -> Found:
    """Read an answer. Case and extra fields do not matter; a missing `why` is empty, and a long one is shortened."""
    said = read_object(answer, verdict={})
    told, why = said["verdict"], said.get("why")
    verdict = read_verdict(told if isinstance(told, str) else "")
    if verdict == "IDK":
        raise Unusable("Its verdict is neither YES nor NO.")
    return Found(verdict == "YES", why.strip()[:_LONGEST_WHY] if isinstance(why, str) else "")


def align_by_words(text: MarkedText) -> MarkedText:
    """Decide every error by shared words: a stand-in for a model.

    An error counts as found if one mismatching question shares at least half of its content words. It can also have no
    verdict, with a reason. Content words are numbers, words of at least four letters that are not English function words
    (compared by their first five letters), and pairs of characters in scripts without spaces.

    This finds questions that quote the error and misses those that paraphrase it. Questions in another language share at
    most names and numbers with the text. The resulting rates say nothing about the quality of a cross-examination.
    """
    questions = [(one.question, content(one.question)) for one in text.mismatches]

    def aligned(error: MarkedError) -> MarkedError:
        if (known := settled_error(text, error)) is not None:
            return known
        wanted = content(error.quote)
        if not wanted:
            return replace(error, found=None, why="", reason=NO_CONTENT)
        n_shared, question = max(
            ((len(wanted & words), question) for question, words in questions), key=lambda pair: pair[0]
        )
        found = n_shared >= LEAST_SHARED * len(wanted)
        said = f"{n_shared} of {len(wanted)} content words are in: {question}" if n_shared else ""
        return replace(error, found=found, why=said or "no question shares a content word", reason=None)

    return replace(text, errors=tuple(map(aligned, text.errors)))


def content(text: str) -> frozenset[str]:
    """The content words of a text, in the form in which they are compared."""
    words: set[str] = set()
    before = ""
    for token in tokenize(text.casefold()):
        if _ALONE.fullmatch(token):
            words |= {before + token} if before else set()
            before = token
            continue
        before = ""
        if any(char.isdigit() for char in token):
            words.add(token)
        elif len(token) >= _SHORTEST_WORD and token[0].isalpha() and token not in _FUNCTION_WORDS:
            words.add(token[:_STEM])
    return frozenset(words)


class AlignmentKind(AuditKind):
    """Checks whether a cross-examination's mismatching questions point to the errors that people marked."""

    name = "alignment"
    title = "Alignment with marked errors"
    verb = "align"
    summary = (
        "checks whether a cross-examination's mismatching questions point to the errors that people marked"
    )
    reads = "marked texts"
    does = "decides; rules: compare the words of question and error, a stand-in"
    section = "alignment-with-marked-errors"
    Settings = AlignmentSettings
    Piece = MarkedText
    reports = frozenset({"alignment"})
    rules = (
        "A stand-in without a model: an error counts as found if a mismatching question shares enough of its words "
        "and numbers. Texts and questions must be in the same language."
    )
    piece_called = "text"
    table = "alignment.csv"
    columns = ("category", "severity", "error", "found", "why", "reason", "mismatches")

    def open(self, settings: AlignmentSettings, prompts: Mapping[str, Prompt]) -> Audits:
        """See AuditKind."""

        async def by_words(text: MarkedText) -> Done:
            return align_by_words(text), (), False

        return lambda model: by_words if model is None else Aligner(model, prompts[_PURPOSE], settings).align

    def broken(self, text: MarkedText, reason: str) -> MarkedText:
        """See AuditKind."""
        return replace(text, errors=tuple(replace(one, found=None, reason=reason) for one in text.errors))

    def identity(self, _: MarkedText) -> tuple[str, ...]:
        """See AuditKind."""
        return ()

    def nothing(self, texts: Sequence[MarkedText]) -> str | None:
        """See AuditKind."""
        return (
            "texts" if not texts else None if any(one.errors for one in texts) else "marked error to look for"
        )

    def rows(self, text: MarkedText) -> Iterator[dict[str, Any]]:
        """See AuditKind."""
        for error in text.errors:
            yield {
                "category": error.category,
                "severity": error.severity,
                "error": error.quote,
                "found": None if error.found is None else "yes" if error.found else "no",
                "why": error.why,
                "reason": error.reason,
                "mismatches": len(text.mismatches),
            }


KIND = AlignmentKind()
