"""What a cross-examination keeps of a text, and its scores from that record alone (CEF, section 3.1)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

import regex

from core.diff import tokenize
from core.judges.cross_examination.verdicts import Verdict
from core.judges.kind import mean_of, trial_problems
from core.schema.scores import Score

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


CEF_COMPONENTS = ("coverage", "conformity", "consistency", "consistency-code", "conciseness", "overall")
"""In the order of the columns. `consistency` is the paper's formula, `consistency-code` what its code and its A.6 count."""
LOWEST_CONCISENESS = -1e9
"""Far below what a text of any length has."""
NO_QUESTIONS = "no questions"
NONE_ANSWERED = "no answer could be used"
NONE_CLOSED = "no question expects YES or NO"
TRANSLATE_BACK = "translate back"
MADE_FROM: dict[Side, str] = {"source": "questions from source", "text": "questions from text"}
"""Steps in which questions are made, by the side they are made from."""
ANSWERED_FROM: dict[Side, str] = {"source": "answers from text", "text": "answers from source"}
"""Steps in which questions are answered, by the side they were made from."""

_UNSPACED = regex.compile(
    r"[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]", regex.V1
)


def scores_of(record: CefRecord, document: str, text: str) -> tuple[Score, ...]:
    """One score for each of CEF_COMPONENTS.

    document: D, what the text was examined against. text: as it was judged; where the record holds a
    back-translation, that was examined in its place and its words are counted.

    - coverage = 1 - share of IDK among the answers to Q_D: how much of D the text tells.
    - conformity = 1 - share of answers to Q_D that contradict what is expected: YES for NO, NO for YES.
    - consistency = 1 - share of IDK among the answers to Q_T: how much of the text D bears out. The paper's formula;
      a contradiction does not lower it.
    - consistency-code = share of answers to Q_T that are the expected one: the code of the paper's experiments, and the
      example of its A.6 (0.3 where the formula gives 0.6).
    - conciseness = 1 - words of the text / words of D: at most 1, below 0 where the text is longer.
    - overall = mean of coverage, conformity and consistency; undefined unless all three are defined.

    Several examinations (repeats): every component is its mean over those in which it is defined; overall is the mean
    of these means. Misleading: a text that says nothing contradicts nothing (conformity 1 at coverage 0); with ten
    questions a share moves in steps of 0.1.
    """
    scores = examined_scores(record.examinations)
    scores["conciseness"] = conciseness(
        document, text if record.back_translation is None else record.back_translation
    )
    if any(step == TRANSLATE_BACK for one in record.examinations for step, _ in one.reasons):
        # What would have been examined is not there, and the text itself is in another language.
        scores["conciseness"] = Score(None, scores["coverage"].reason)
    return tuple(scores[name] for name in CEF_COMPONENTS)


def examined_scores(examinations: Sequence[Examination]) -> dict[str, Score]:
    """By name all of CEF_COMPONENTS that questions tell: all but conciseness. See scores_of."""
    coverage = _mean(examinations, "source", _known)
    conformity = _mean(examinations, "source", _not_contradicted)
    consistency = _mean(examinations, "text", _known)
    return {
        "coverage": coverage,
        "conformity": conformity,
        "consistency": consistency,
        "consistency-code": _mean(examinations, "text", _as_expected),
        "overall": _overall({"coverage": coverage, "conformity": conformity, "consistency": consistency}),
    }


def _known(question: CrossQuestion) -> bool:
    return question.answer != "IDK"


def _not_contradicted(question: CrossQuestion) -> bool:
    return question.answer in ("IDK", question.expected)


def _as_expected(question: CrossQuestion) -> bool:
    return question.answer == question.expected


def _mean(examinations: Sequence[Examination], side: Side, counts: Callable[[CrossQuestion], bool]) -> Score:
    shares = [_share(one, side, counts) for one in examinations]
    mean = mean_of(share.value for share in shares)
    return mean or (shares[0] if shares else Score(None, NO_QUESTIONS))


def _share(examination: Examination, side: Side, counts: Callable[[CrossQuestion], bool]) -> Score:
    questions = questions_of(examination, side)
    used = used_of(questions or ())
    if used:
        return Score(sum(map(counts, used)) / len(used))
    for step, why in examination.reasons:
        if step in (TRANSLATE_BACK, MADE_FROM[side], ANSWERED_FROM[side]):
            return Score(None, f"{step}: {why}")
    if not questions:
        return Score(None, NO_QUESTIONS)
    closed = any(question.expected != "IDK" for question in questions)
    return Score(None, NONE_ANSWERED if closed else NONE_CLOSED)


def _overall(parts: dict[str, Score]) -> Score:
    values = [part.value for part in parts.values() if part.value is not None]
    if len(values) == len(parts):
        return Score(fmean(values))
    return next(
        Score(None, f"no {name} ({part.reason})") for name, part in parts.items() if part.value is None
    )


def used_of(questions: Sequence[CrossQuestion]) -> tuple[CrossQuestion, ...]:
    """Those that shares are taken over: expected YES or NO, and answered."""
    return tuple(one for one in questions if one.expected != "IDK" and one.answer is not None)


def conciseness(document: str, text: str) -> Score:
    """1 - words of the text / words of the document: at most 1, below 0 where the text is longer.

    Words are counted as the app compares texts: punctuation is none; in a script without spaces every visible
    character is one. Undefined where only one of the two has such a script, because words and characters do not
    compare. Says little where the two are in different languages, as in a translation that is examined directly.
    The CEF paper counts punctuation as words too, so its figures differ by a few hundredths, and prints percent.
    """
    words = count_words(document)
    if not words:
        return Score(None, "the document has no words")
    if _by_characters(document) != _by_characters(text):
        return Score(None, "one text is counted in words, the other in characters")
    return Score(1 - count_words(text) / words)


def score_bounds(name: str) -> tuple[float, float]:
    """The smallest and the largest score of the column of this name."""
    return (LOWEST_CONCISENESS if name.endswith("conciseness") else 0.0), 1.0


def count_words(text: str) -> int:
    """Words; in a script without spaces, visible characters."""
    return sum(any(char.isalnum() for char in token) for token in tokenize(text))


def _by_characters(text: str) -> bool:
    """Whether most letters of the text are of a script without spaces."""
    return 2 * len(_UNSPACED.findall(text)) > sum(char.isalpha() for char in text)
