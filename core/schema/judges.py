"""What judges say of a text, step by step: kept by a run, shown beside the score it led to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.schema.runs import JudgeKind
from core.schema.scores import Metric, ScoredRow

Verdict = Literal["YES", "NO", "IDK"]
VERDICTS: tuple[Verdict, ...] = ("YES", "NO", "IDK")
HIGHEST_VERDICT = 100
"""The largest number that a rubric's level may have; 0 is the smallest."""
MOST_REPEATS = 100
"""Times that a judge may be asked the same of one text."""
MOST_QUESTIONS = 100
"""That a cross-examiner may be asked for from one text."""
MOST_EXAMPLES = 1000
"""Rated texts that one prompt may show."""
MOST_SHOTS = 20
"""Examples of each class that an evaluator may be shown."""
SETTING_BOUNDS: Mapping[str, tuple[float, float]] = {
    "n_questions": (1, MOST_QUESTIONS),
    "repeats": (1, MOST_REPEATS),
    "temperature": (0.0, 2.0),
    "beta": (0.001, 1000.0),
    "seed": (0, 2**53 - 1),
    "n_examples": (0, MOST_EXAMPLES),
    "shots": (0, MOST_SHOTS),
    "held_out": (0.0, 0.9),
    "shuffled_words": (0.0, 1.0),
}
"""Number among a judge's settings -> the smallest and the largest; whole numbers alone where these are whole.

Beyond its bounds of beta F is recall or precision to five places; larger whole numbers are not the same in every program
that reads JSON.
"""
Order = Literal["reference-first", "response-first"]
ORDERS: tuple[Order, ...] = ("reference-first", "response-first")
Located = Literal["exact", "nearest", "not found", "nothing quoted"]
"""exact: the quote stands in the text; nearest: something much like it does; nothing quoted: an error without words."""
Side = Literal["source", "text"]
"""Which of the two texts a question was made from: what should be said (D in 001), or what was said (T)."""


@dataclass(frozen=True)
class RubricTrial:
    """The rubric judge asked once."""

    order: Order
    """Which of the two texts it read first."""
    repeat: int
    """From 0."""
    verdict: int | None
    """None: no verdict on offer was given."""
    feedback: str = ""
    reason: str | None = None
    """Why there is no verdict."""
    detail: str = ""


@dataclass(frozen=True)
class RubricRecord:
    """All that the rubric judge said of one text."""

    trials: tuple[RubricTrial, ...]


@dataclass(frozen=True)
class Claim:
    """One statement that can be true or false by itself."""

    text: str
    supported: bool | None = None
    """Whether the other text says it; None: nobody could tell, or nobody was asked."""
    why: str = ""
    """In the verifier's words: the model's sentence, or the label of the entailment model with its probability."""
    reason: str | None = None
    """Why there is no verdict."""


@dataclass(frozen=True)
class ClaimsRecord:
    """Claims of both texts, each verified against the other text."""

    response: tuple[Claim, ...] | None
    """None: the response could not be decomposed."""
    reference: tuple[Claim, ...] | None
    reasons: tuple[tuple[str, str], ...] = ()
    """(step, why) of steps that failed."""


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


@dataclass(frozen=True)
class ExampleUsed:
    """A rated text that a specialist judge was shown. Whose it was is what the leak test looks at."""

    item_id: str
    system: str
    rater: str | None
    """None: the ratings carry none, or several raters were merged."""
    n_errors: int = 0
    """That it showed; 0 for examples of scores."""


@dataclass(frozen=True)
class FoundError:
    """An error that a judge names, and where it stands in the text."""

    quote: str
    """As the judge wrote it; empty: it names nothing that stands there, such as an omission."""
    severity: str
    category: str
    start: int | None = None
    """In code points of the text; None: it was not found there."""
    end: int | None = None
    """Exclusive."""
    located: Located = "exact"
    """How the quote was found."""


@dataclass(frozen=True)
class ErrorTrial:
    """The error-marking judge asked once."""

    repeat: int
    """From 0; each draws its examples anew where they are drawn at random."""
    errors: tuple[FoundError, ...] | None
    """None: no usable answer came; empty: it found none."""
    examples: tuple[ExampleUsed, ...] = ()
    reason: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class AutoMqmRecord:
    """All that the error-marking judge said of one text."""

    trials: tuple[ErrorTrial, ...]


@dataclass(frozen=True)
class DirectTrial:
    """The scorer asked once."""

    repeat: int
    score: float | None
    """None: no score within the scale was given."""
    examples: tuple[ExampleUsed, ...] = ()
    reason: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class DirectRecord:
    """All that the scorer said of one text."""

    trials: tuple[DirectTrial, ...]


@dataclass(frozen=True)
class QualityTrial:
    """An evaluator's answer on one dimension."""

    dimension: str
    repeat: int
    score: float | None
    """None: no class on offer was named."""
    justification: str = ""
    reason: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class QualityRecord:
    """All that an evaluator said of one text."""

    trials: tuple[QualityTrial, ...]
    examples: tuple[ExampleUsed, ...] = ()
    judged: str | None = None
    """What it read in the text's place, where words were shuffled; None: the text itself."""


Record = RubricRecord | ClaimsRecord | CefRecord | AutoMqmRecord | DirectRecord | QualityRecord


@dataclass(frozen=True)
class JudgedText:
    """A text, its scores by one judge, and how the judge came to them."""

    row: ScoredRow
    text: str
    document: str | None
    """What it was compared with: its reference or its source, as the judge reads it."""
    question: str | None
    """The output's source: what was asked, or the text that was translated or summarised."""
    scores: Mapping[str, float | None]
    """By name of the metric."""
    reasons: Mapping[str, str]
    """Metric -> why there is no score."""
    record: Record | None
    """None: the judge was never asked, or its output came from elsewhere without one."""


@dataclass(frozen=True)
class JudgeOutput:
    """All that one judge said: of a run, or of the folder that a run wrote."""

    name: str
    """The judge's, with which its columns begin."""
    kind: JudgeKind
    model: str
    """As the user named it; `rules` where none was asked."""
    settings: Mapping[str, object]
    """Of the kind: those of RubricSettings, ClaimsSettings or CefSettings, by name."""
    metrics: tuple[Metric, ...]
    texts: tuple[JudgedText, ...]
    task_text: str = ""
    """Of a judge that stands on ratings: the whole file of dimensions, severities and categories; empty: not known."""


@dataclass(frozen=True)
class QuestionSet:
    """Questions that one model made from one text, with the answers that one model gave from the same text."""

    row: ScoredRow
    """Which text of which item; of the side `source` its system and level say nothing."""
    side: Side
    """What `document` is: the source (or reference) of the item, or a text."""
    author: str
    """The model that made the questions."""
    document: str
    """What they were made from and are answered from."""
    questions: tuple[CrossQuestion, ...]
    """`answer`: from their own text; None before they were answered, or with a reason."""


@dataclass(frozen=True)
class AnswerSet:
    """One model's answers to questions of several models: what the reliability of judges is computed from."""

    model: str
    sets: tuple[QuestionSet, ...]


@dataclass(frozen=True)
class Mismatch:
    """A question whose answer from the other text is not what its own text says."""

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
    """None: not asked yet, or no verdict came."""
    why: str = ""
    reason: str | None = None
    """Why there is no verdict."""


@dataclass(frozen=True)
class MarkedText:
    """A text with the mismatches of a cross-examination and the errors that people marked in it."""

    row: ScoredRow
    text: str
    document: str | None
    mismatches: tuple[Mismatch, ...]
    errors: tuple[MarkedError, ...]
