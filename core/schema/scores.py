"""Data types for scoring and judging: texts, metrics, score tables, human ratings, judges' output, imported correlations."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.schema.scale import Scale

Direction = Literal["higher", "lower"]
"""Whether higher or lower scores of a metric are better."""
Method = Literal["pearson", "spearman", "kendall"]
""""kendall" is always tau-b."""
METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")
Against = Literal["human", "-level", "level"]
"""What scores are correlated with. `-level` is minus the damage level, so that a good metric gets a positive correlation."""


PROBABILITY = "inclusion_probability"
"""Label with the probability with which a text was drawn to be labelled, above 0 and at most 1. Not `probability`, which may be
a judge's score."""


PAIR = "pair"
"""Label that says which texts of an item are compared with each other; in a file of edited twins, the name of the probe."""
EDIT = "edit"
"""Label of an edited twin: the name of the edit that it received; without it, or `none`, the text is as it was made."""
NO_EDIT = "none"
"""Value of both labels for texts as they were made."""
ROLE = "role"
"""Label of a text in a file of edited twins: `better` or `worse`, its place in the pair by the levels as made."""
Role = Literal["better", "worse"]
"""A text's place in its pair, by the levels as made."""
BETTER: Role = "better"
WORSE: Role = "worse"
EDITED_BY = "edited_by"
"""Label of a twin that a model wrote: the model's name. Twins by rules and texts as made lack it."""
TWIN_LABELS = frozenset({PAIR, EDIT, ROLE, EDITED_BY})
"""Labels of a file of edited twins; without them, a twin, its unedited text and its opponent have the same labels."""
_MASK = re.compile(r"answer [12] \(masked ([0-9a-f]{8})\)")


MASKED = "masked"
"""Group of all rows whose systems are masked: as the names are drawn pair by pair, nothing is grouped by them."""
MASK_NOTE = (
    "the systems are masked: which of the two is answer 1 was drawn for each pair, so nothing is shown by system; once the study "
    "is unblinded, its votes are compared with these scores under the real names"
)


def mask_named(place: int, code: str) -> str:
    """Name that stands for a system while a study is blind. place: 1 or 2; code: 8 hexadecimal digits that name the texts."""
    return f"answer {place} (masked {code})"


def mask_code(system: str | None) -> str | None:
    """The code in a mask's name; None for any other system."""
    found = _MASK.fullmatch(system or "")
    return found and found[1]


def mask_notes(systems: Iterable[str]) -> tuple[str, ...]:
    """The note that a table with a masked system needs; empty without one."""
    return (MASK_NOTE,) if any(map(mask_code, set(systems))) else ()


@dataclass(frozen=True)
class Metric:
    """One configuration of a metric: the meaning of one column of scores."""

    name: str
    """Short unique name, as used in commands: `bleu-4`, `chrf-6-2`."""
    signature: str
    """Every setting that changes a score, in sacrebleu's style: `BLEU|order:4|smooth:add-1|...`. Empty: the scores were
    computed elsewhere. If `score_columns.direction_is_stated` is false, `direction` is an assumption."""
    family: str
    """That of the registry, such as BLEU; another word for scores computed elsewhere."""
    direction: Direction = "higher"


STATED = "made elsewhere"
"""Signature of another program's metric whose direction the file states; without a direction it is empty."""
_FROM_FOLDER = "|from:"


def signature_from_folder(stem: str, folder: str) -> str:
    """The signature of a metric from a folder of scores, whose files state no direction."""
    return f"{stem}{_FROM_FOLDER}{folder}"


def direction_is_stated(metric: Metric) -> bool:
    """Whether a metric's direction is known, rather than assumed because its file states none."""
    return metric.signature != "" and _FROM_FOLDER not in metric.signature


@dataclass(frozen=True)
class Score:
    """One metric's score for one text. An unscored text is not a zero."""

    value: float | None
    reason: str | None = None
    """Why there is no value; None if there is one."""


TurnRole = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Turn:
    """One message of a conversation."""

    role: TurnRole
    text: str


def conversation_text(turns: Sequence[Turn]) -> str:
    """A conversation as one text, each turn under the name of its speaker."""
    return "\n\n".join(f"{turn.role.capitalize()}: {turn.text}" for turn in turns)


@dataclass(frozen=True)
class ScorableOutput:
    """A text to score, with the texts it can be compared with."""

    item_id: str
    system: str
    """What wrote the text: a model, a translation system, a generator, a person."""
    text: str
    reference: str | None = None
    source: str | None = None
    """Input of the system: a question, or the sentence or text to translate or summarise."""
    level: str | None = None
    """A0-A4 or 0-5; None: the text was not made to a known quality."""
    language: str = "und"
    labels: Mapping[str, str] = field(default_factory=dict)
    """Other columns to group by, such as dataset, generator, shots, prompt."""
    turns: tuple[Turn, ...] = ()
    """The conversation up to the question, which is its last turn; empty if the source stands alone."""

    @property
    def full_source(self) -> str | None:
        """The source as a judge reads it: with the turns before it, if there are any."""
        return conversation_text(self.turns) if self.turns else self.source

    @property
    def row(self) -> "ScoredRow":
        """What names the text in scores and records."""
        return ScoredRow(self.item_id, self.system, self.level, self.language, self.labels)


@dataclass(frozen=True)
class OutputSet:
    """A validated file of texts to score."""

    outputs: tuple[ScorableOutput, ...]
    """In the order of the file; (item, system, level, labels) is unique."""
    sha256: str
    """Hash of the file's bytes; for a folder, of its files' names and bytes."""
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of rows without a text to score, such as levels that could not be made."""


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The text that a row of scores belongs to."""

    item_id: str
    system: str
    level: str | None = None
    language: str = "und"
    labels: Mapping[str, str] = field(default_factory=dict)


RowKey = tuple[str, str, str | None, str, tuple[tuple[str, str], ...]]


def row_key(row: ScoredRow) -> RowKey:
    """The key of a text, which must be unique."""
    return row.item_id, row.system, row.level, row.language, tuple(sorted(row.labels.items()))


def twin_series(text: ScorableOutput | ScoredRow) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
    """Key that twins share with the texts they were made from: item, system, language and all labels but TWIN_LABELS."""
    own = tuple(sorted((name, value) for name, value in text.labels.items() if name not in TWIN_LABELS))
    return text.item_id, text.system, text.language, own


@dataclass(frozen=True)
class ScoreTable:
    """Scores of many texts on many metrics."""

    rows: Sequence[ScoredRow]
    """As `core.schema.row_columns.ScoredRows` from a file; never changed."""
    metrics: tuple[Metric, ...]
    values: NDArray[np.float64]
    """Shape (rows, metrics); NaN where undefined, never infinite."""
    reasons: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(row, metric) -> why there is no value. A NaN without an entry was imported without a reason."""
    file_name: str = ""
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, ScoredRow], ...] = ()
    """Rows that the user excluded, as (reason, row)."""
    sha256: str = ""
    """Of the file; empty for scores that no table of scores was read for."""
    row_numbers: int = 0
    """Rows of a file that names no items, so that their numbers are the ids; 0: the file has ids."""


@dataclass(frozen=True)
class WithTexts:
    """Scores, and the texts behind them where they are known."""

    table: ScoreTable
    texts: Callable[[], Sequence[tuple[ScoredRow, str]]]
    """Reads the texts; empty where nobody knows them."""


@dataclass(frozen=True)
class ErrorSpan:
    """An error that a rater marked in a text."""

    start: int
    """Index of the first character."""
    end: int
    """Index after the last character."""
    severity: str
    category: str
    weight: float | None = None
    """Penalty on the score, if the file gives one."""
    in_source: bool = False
    """Whether it is marked in the source instead of the translation."""


_DECIMALS = 9  # for sums of weights: more than any weight has, few enough to remove rounding errors


def score_of(spans: Iterable[ErrorSpan]) -> float:
    """Minus the weights of a text's errors, including those in the source. Exact: ten errors of 0.1 sum to 1 in any order."""
    return 0.0 - round(math.fsum(span.weight or 0.0 for span in spans), _DECIMALS)


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's score for one text. Higher is better, whatever the polarity of the file."""

    item_id: str
    score: float
    system: str | None = None
    """None: the file has one text per item."""
    level: str | None = None
    rater: str | None = None
    """None: the file names no rater, or merges several."""
    dimension: str = "overall"
    language: str = "und"
    labels: Mapping[str, str] = field(default_factory=dict)
    spans: tuple[ErrorSpan, ...] | None = None
    """None: nobody marked errors; empty: no errors were found."""


@dataclass(frozen=True)
class RatingSet:
    """A validated file of human ratings."""

    ratings: Sequence[Rating]
    """As `core.schema.row_columns.Ratings` from a file; never changed."""
    sha256: str
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of texts in the file that nobody rated."""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Dimension -> what raters could give, where a form shows it."""
    row_numbers: int = 0
    """Rows of a file that names no items, so that their numbers are the ids; 0: the file has ids."""
    pair_of: tuple[str, ...] = ()
    """The two systems of a study whose pairs are the rows, each rated by its votes; empty: the rows are texts."""


@dataclass(frozen=True)
class TextOrigin:
    """What is known of the texts behind scores or correlations. An empty field is unknown."""

    datasets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """Such as `question answering` or `translation`."""
    languages: tuple[str, ...] = ()
    """Tags such as `en`; of translations the pairs, such as `en-cs`."""
    systems: tuple[str, ...] = ()


UNKNOWN_ORIGIN = TextOrigin()


@dataclass(frozen=True)
class CorrelationSet:
    """One correlation per metric: one side of a meta-correlation; computed here, imported, or published.

    Oriented so that a metric that tracks quality has a positive correlation.
    """

    name: str
    """Display name: a file, `published:cus-qa-cs`, a run."""
    values: Mapping[str, Mapping[Method, float | None]]
    """Metric -> first-order method -> correlation. None or a missing method: undefined or not reported."""
    families: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Metric -> why it is undefined."""
    n: Mapping[str, int] = field(default_factory=dict)
    """Metric -> number of texts behind the correlation, where known."""
    notes: tuple[str, ...] = ()
    """Notes for the user, such as flipped signs because the file contains correlations with the raw level."""
    against: Against | None = None
    """What the scores were correlated with; None: unknown."""
    scores_turned: bool = True
    """Whether scores of lower-is-better metrics were negated first, as here. False: computed elsewhere from the raw scores."""
    texts: TextOrigin = UNKNOWN_ORIGIN
    """What is known of the texts."""


@dataclass(frozen=True)
class JudgedText:
    """A text with one judge's scores and the record behind them."""

    row: ScoredRow
    text: str
    document: str | None
    """The reference or source that the judge compared it with, as the judge read it."""
    question: str | None
    """The output's source: the question, or the text that was translated or summarised."""
    scores: Mapping[str, float | None]
    """Metric name -> score."""
    reasons: Mapping[str, str]
    """Metric -> why there is no score."""
    record: Any
    """The record of the judge's kind. None: the judge was never asked, or its output was imported without one."""


@dataclass(frozen=True)
class JudgeOutput:
    """Everything that one judge returned, from a run or from a run's output folder."""

    name: str
    """Name of the judge; its columns begin with it."""
    kind: str
    model: str
    """The model as the user named it; `rules` if none was asked."""
    settings: Mapping[str, object]
    """Settings of the kind, by name."""
    metrics: tuple[Metric, ...]
    texts: tuple[JudgedText, ...]
    attached: str = ""
    """Full text of the file that the settings refer to, such as a rubric or a task; empty: unknown."""
    not_sent: frozenset[str] = frozenset()
    """Request fields left out of some requests because the server refuses them; see core.llm.exchange."""

    @property
    def temperature(self) -> float | None:
        """Temperature of every request; None: the server's default, or unknown."""
        chosen = self.settings.get("temperature")
        return (
            float(chosen) if isinstance(chosen, int | float) and "temperature" not in self.not_sent else None
        )


@dataclass(frozen=True)
class RatedText:
    """A text and its ratings: one per rater and dimension; empty if nobody rated it."""

    output: ScorableOutput
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True)
class RatedSet:
    """A validated file of rated texts."""

    texts: tuple[RatedText, ...]
    """In the order of the file; (item, system, level, labels) is unique."""
    sha256: str
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of ratings left out, such as those of missing texts or of references."""


@dataclass(frozen=True)
class MarkingJudges:
    """Judges that mark errors in rated texts."""

    outputs: tuple[JudgeOutput, ...]
    """Each under a name of its own."""
    rated: RatedSet
    """The texts that they read, with the ratings behind their examples."""
