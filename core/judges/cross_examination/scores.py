"""Scores of a cross-examination from its record alone (CEF, section 3.1), by the paper's formula and by its code's.

Q_D are questions made from the source D (or from the reference) and answered from the text T; Q_T are made from T
and answered from D. Shares are taken over the questions whose expected answer is YES or NO and that were answered;
answers that nobody could parse are left out and counted. Stored from 0 to 1, where the paper prints percent.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

import regex

from core.diff import tokenize
from core.judges.cross_examination.record import CefRecord, CrossQuestion, Examination, Side, questions_of
from core.judges.kind import mean_of
from core.schema.scores import Score

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
