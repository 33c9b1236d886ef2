"""What flows of scoring and judging: texts, metrics, score tables, human ratings, what judges said, correlations made elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Direction = Literal["higher", "lower"]
"""Which end of a metric's scale is better."""
Method = Literal["pearson", "spearman", "kendall"]
"""Kendall is tau-b throughout."""
METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")
Against = Literal["human", "-level", "level"]
"""What scores are correlated with; `-level`: minus the damage level, so that a good metric is positive."""


@dataclass(frozen=True)
class Metric:
    """One configuration of a metric: what a column of scores is."""

    name: str
    """Short, unique, as commands take it: `bleu-4`, `chrf-6-2`."""
    signature: str
    """Every setting that changes a score, in sacrebleu's style: `BLEU|order:4|smooth:add-1|...`. Empty: the scores were
    made elsewhere. Where `score_columns.direction_is_stated` denies it, `direction` is an assumption."""
    family: str
    """BLEU, chrF, ROUGE, METEOR, BERTScore, COMET, BLEURT, NLI; another word for scores made elsewhere."""
    direction: Direction = "higher"


@dataclass(frozen=True)
class Score:
    """One metric's score of one text. An unscored text is not a zero."""

    value: float | None
    reason: str | None = None
    """Why there is no value; None where there is one."""


@dataclass(frozen=True)
class ScorableOutput:
    """A text to be scored, and what it is compared with."""

    item_id: str
    system: str
    """Who made it: a source, a translation system, a generator."""
    text: str
    reference: str | None = None
    source: str | None = None
    """What was asked: the question, or the sentence or text that is translated or summarised."""
    level: str | None = None
    """A0-A4 or 0-5; None: its quality is not known by construction."""
    language: str = "und"
    labels: Mapping[str, str] = field(default_factory=dict)
    """Further columns to group by, such as dataset, generator, shots, prompt."""


@dataclass(frozen=True)
class OutputSet:
    """A checked file of texts to be scored."""

    outputs: tuple[ScorableOutput, ...]
    """In the order of the file; (item, system, level) with the labels is unique."""
    sha256: str
    """Of the file's bytes; of a folder: of its files' names and bytes."""
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> rows that hold no text to score, such as levels that could not be made."""


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """Whose text a row of scores is about."""

    item_id: str
    system: str
    level: str | None = None
    language: str = "und"
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoreTable:
    """Scores of many texts by many metrics."""

    rows: tuple[ScoredRow, ...]
    metrics: tuple[Metric, ...]
    values: NDArray[np.float64]
    """Shape (rows, metrics); NaN where undefined, never infinite."""
    reasons: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(row, metric) -> why there is no value; a NaN without an entry came from elsewhere without a reason."""
    file_name: str = ""
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, ScoredRow], ...] = ()
    """Rows that the user left out, each with the reason."""


@dataclass(frozen=True)
class ErrorSpan:
    """An error that a rater marked in a text."""

    start: int
    """In characters of the text."""
    end: int
    """Exclusive."""
    severity: str
    category: str
    weight: float | None = None
    """What it takes off the score, where the file says it."""
    in_source: bool = False
    """Marked in the source, not in the translation."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's score of one text. Higher is better, whatever the file's polarity was."""

    item_id: str
    score: float
    system: str | None = None
    """None: the file has one text an item."""
    level: str | None = None
    rater: str | None = None
    """None: the file does not say, or merged several."""
    dimension: str = "overall"
    language: str = "und"
    labels: Mapping[str, str] = field(default_factory=dict)
    spans: tuple[ErrorSpan, ...] | None = None
    """None: errors were not marked; empty: none was found."""


@dataclass(frozen=True)
class RatingSet:
    """A checked file of human ratings."""

    ratings: tuple[Rating, ...]
    sha256: str
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> texts the file names but that nobody rated."""


@dataclass(frozen=True)
class CorrelationSet:
    """One correlation a metric: one side of a meta-correlation, made here, imported, or published.

    Oriented so that a metric that follows quality is positive.
    """

    name: str
    """What to call it: a file, `published:cus-qa-cs`, a run."""
    values: Mapping[str, Mapping[Method, float | None]]
    """Metric -> first-order method -> correlation; None or a missing method: undefined or not given."""
    families: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Metric -> why it is undefined."""
    n: Mapping[str, int] = field(default_factory=dict)
    """Metric -> texts behind it, where known."""
    notes: tuple[str, ...] = ()
    """Such as that signs were turned, because the file holds correlations with the raw level."""
    against: Against | None = None
    """What the scores were correlated with; None: not said."""
    scores_turned: bool = True
    """Whether scores of metrics whose lower end is better were turned first, as ours are; False: made elsewhere, so the
    correlation of such a metric follows its raw scores."""


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
    record: Any
    """The record of the judge's kind; None: the judge was never asked, or its output came from elsewhere without one."""


@dataclass(frozen=True)
class JudgeOutput:
    """All that one judge said: of a run, or of the folder that a run wrote."""

    name: str
    """The judge's, with which its columns begin."""
    kind: str
    model: str
    """As the user named it; `rules` where none was asked."""
    settings: Mapping[str, object]
    """The kind's own, by name."""
    metrics: tuple[Metric, ...]
    texts: tuple[JudgedText, ...]
    attached: str = ""
    """The whole file that the settings refer to, such as a rubric or a task; empty: not known."""
    not_sent: frozenset[str] = frozenset()
    """Parts that some requests went without, because the server refuses them; see core.llm.exchange."""

    @property
    def temperature(self) -> float | None:
        """What every request was sent with; None: the model answered at its server's own, or it is not known."""
        chosen = self.settings.get("temperature")
        return (
            float(chosen) if isinstance(chosen, int | float) and "temperature" not in self.not_sent else None
        )


@dataclass(frozen=True)
class RatedText:
    """A text and its ratings: several where several raters, or dimensions, are there; none where nobody rated it."""

    output: ScorableOutput
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True)
class RatedSet:
    """A checked file of rated texts."""

    texts: tuple[RatedText, ...]
    """In the order of the file; (item, system, level) with the labels is unique."""
    sha256: str
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> ratings of texts that are not there, references' outputs and the like."""
