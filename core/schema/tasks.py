"""What raters and judges are asked to say of one text: scores on dimensions, errors marked in it; and what was said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.schema.scores import ErrorSpan

StudyKind = Literal["pairs", "ratings"]
"""pairs: two blind answers side by side (003); ratings: one blind text after the other, scored or marked (002, 004)."""
RatingKey = tuple[str, str, str, str, bool]
"""(rater, item, level, source, hidden repeat): what a rating's assignment and answer share."""


@dataclass(frozen=True)
class Dimension:
    """One question about a text whose answer is a number; higher is better."""

    name: str
    """Short, as tables and columns have it: `LA`, `H`, `overall`."""
    title: str
    description: str
    """What is asked, in a sentence or two; raters and single and compound prompts read it."""
    lowest: float
    highest: float
    step: float = 1.0
    """Between two answers that are on offer; 0: any number between the ends."""
    anchors: tuple[tuple[float, str], ...] = ()
    """(answer, its meaning in words), ascending; of answers without one nothing is said."""
    detailed: str = ""
    """Longer instructions, for the detailed prompts; empty: the description has to do."""

    @property
    def classes(self) -> tuple[float, ...]:
        """The answers that are on offer, worst first; empty where any number is."""
        if self.step <= 0:
            return ()
        n = round((self.highest - self.lowest) / self.step)
        # As people write them: three steps of 0.1 are 0.3.
        return tuple(round(self.lowest + k * self.step, 12) for k in range(n + 1))


@dataclass(frozen=True)
class SpanTask:
    """Errors are marked in the text: with what severities and categories."""

    severities: tuple[str, ...]
    """Mildest first."""
    categories: tuple[str, ...]
    """As `accuracy/omission`; what stands before the slash groups them."""
    source_side: bool = False
    """Whether errors may be marked in the source as well."""
    meanings: tuple[tuple[str, str], ...] = ()
    """(severity or category, what it means); of one without, its name says all."""

    def in_words(self, name: str) -> str:
        """A severity or category as it is listed for raters and judges: `relation: who did it is wrong`."""
        meaning = dict(self.meanings).get(name)
        return f"{name}: {meaning}" if meaning else name


@dataclass(frozen=True)
class TaskLabels:
    """What raters read above each part of an item, written as inside a sentence: `question`, `answer`."""

    source: str = "source"
    reference: str = "reference (correct and complete)"
    text: str = "text"

    @property
    def headings(self) -> "TaskLabels":
        """The same words with a capital letter, to stand above the parts."""
        return TaskLabels(
            *(f"{one[:1].upper()}{one[1:]}" for one in (self.source, self.reference, self.text))
        )


@dataclass(frozen=True)
class RatingTask:
    """What is asked of every text of a study, or of an evaluator. At least one dimension, or spans."""

    name: str
    title: str
    paper: str
    section: str
    differences: str
    dimensions: tuple[Dimension, ...] = ()
    spans: SpanTask | None = None
    show_reference: bool = False
    """Whether raters see the item's reference, and judges with this task too; 002's ratings are made without."""
    labels: TaskLabels = TaskLabels()

    def dimension(self, name: str) -> Dimension:
        """The dimension of that name. Raises KeyError."""
        return {one.name: one for one in self.dimensions}[name]


@dataclass(frozen=True)
class RatingAssignment:
    """One text for one rater. Never leaves the server."""

    rater_id: str
    position: int
    """1 is shown first; all texts of an item stand together (pseudo side-by-side)."""
    item_id: str
    level: str
    source: str
    """Whose text it is."""
    repeat: bool = False
    """A hidden repeat: for consistency only."""

    @property
    def key(self) -> RatingKey:
        """What this and its answer share."""
        return self.rater_id, self.item_id, self.level, self.source, self.repeat


@dataclass(frozen=True)
class RatingAnswer:
    """What a rater said of one text, as it stands now. Earlier versions are in the history."""

    rater_id: str
    item_id: str
    level: str
    source: str
    repeat: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)
    """By dimension, as far as given."""
    spans: tuple[ErrorSpan, ...] = ()
    """In code points of the text (of the source where in_source), end exclusive."""
    no_errors: bool = False
    """The rater says that there is nothing to mark."""
    done: bool = False
    """The rater went on: all dimensions are scored, errors are marked or said to be none. Before, it is a draft."""
    shown_utc: str | None = None
    answered_utc: str | None = None
    seconds: float | None = None
    """On the screen until it was done."""
    comment: str = ""
    invalid: bool = False
    """The rater says that the text itself is broken; left out of the analysis."""
    skipped: bool = False
    app_version: str | None = None

    @property
    def key(self) -> RatingKey:
        """What this and its assignment share."""
        return self.rater_id, self.item_id, self.level, self.source, self.repeat

    @property
    def answered(self) -> bool:
        """Whether this counts as an answer rather than a draft or a note."""
        return self.done


@dataclass(frozen=True)
class RatingHistoryEntry:
    """One save, as it was written; the list of them is never changed."""

    saved_utc: str
    answer: RatingAnswer
