"""What flows through a study: frozen dataclasses, one docstring line a field, no behaviour beyond lookups."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from core.schema.scores import ErrorSpan

StudyKind = Literal["pairs", "ratings"]
"""What a rater sees at a time. pairs: two blind answers side by side; ratings: one blind text after the other."""
Asks = Literal["levels", "preference", "ratings"]
"""What a study asks. levels: which of two answers fits a stated level better (Factual); preference: which of two answers
is better, no level stated (plain pairs); ratings: scores or marked errors of single texts (Specialist, Multilingual)."""
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


Choice = Literal["left", "right", "both_good", "both_bad"]
Preference = Literal["candidate", "both_good", "both_bad", "comparator"]
State = Literal["draft", "open", "closed", "unblinded"]
LevelOrder = Literal["fixed", "shuffled"]
Role = Literal["candidate", "comparator"]
GuessedSide = Literal["left", "right", "unsure"]
Score = Literal["composite", "net_preference"]
FlaggedPairs = Literal["keep", "leave_out"]

CHOICES: tuple[Choice, ...] = get_args(Choice)
"""In the order of the keys 1 to 4."""
PREFERENCES: tuple[Preference, ...] = get_args(Preference)
"""In the order of every contingency table's rows and columns."""
SCORES: tuple[Score, ...] = get_args(Score)
FLAGGED_PAIRS: tuple[FlaggedPairs, ...] = get_args(FlaggedPairs)
GUESSED_SIDES: tuple[GuessedSide, ...] = get_args(GuessedSide)
"""In the order of the keys 1 to 3."""

AnswerKey = tuple[str, str, str, bool]
"""(rater, item, level, hidden repeat): what an assignment and its answer share."""

FIRST_LEVEL = "A0"
"""The level that is as good as the reference: later levels are shown as changes to it."""
NO_LEVEL = ""
"""The level of every text in plain pairs, which state none."""


@dataclass(frozen=True)
class Item:
    """A question and the reference that answers it."""

    item_id: str
    """Unique within the data set; never sent to a rater's browser."""
    question: str
    reference: str
    language: str = "und"
    """BCP 47 tag; `und` where the file names none."""


@dataclass(frozen=True)
class Material:
    """What answers of known quality are made from: an item, and what its task needs besides."""

    item: Item
    paraphrase: str | None = None
    """The reference in other words, as good as it; None: the file has none."""
    context: str | None = None
    """Passage, text that is summarised, or sentence that is translated; None: the task has none."""


@dataclass(frozen=True)
class MaterialSet:
    """A checked file of questions and references, without answers."""

    materials: tuple[Material, ...]
    """In the order of the file; no two alike in question, reference and context."""
    sha256: str
    """Of the file's bytes, hexadecimal."""
    file_name: str
    notes: tuple[str, ...] = ()
    """What a reader should know although it is no error, such as items left out as duplicates."""


@dataclass(frozen=True)
class Output:
    """One source's answer to one item at one level."""

    item_id: str
    level: str
    source: str
    text: str


@dataclass(frozen=True)
class Dataset:
    """A checked file: every item has every level from both systems, or one answer from each in plain pairs."""

    items: tuple[Item, ...]
    """In the order of the file; the references of plain pairs may be empty."""
    outputs: tuple[Output, ...]
    levels: tuple[str, ...]
    """Best first; NO_LEVEL alone in plain pairs."""
    sources: tuple[str, str]
    """In the order of the file."""
    sha256: str
    """Of the file's bytes, hexadecimal."""
    file_name: str
    notes: tuple[str, ...] = ()
    """What a reader should know although it is no error."""

    @property
    def plain(self) -> bool:
        """Whether these are plain pairs: two systems' answers without levels."""
        return self.levels == (NO_LEVEL,)


@dataclass(frozen=True)
class Design:
    """What fixes a study's comparison. Margin and confidence level are declared before the first vote."""

    candidate: str
    """The source whose non-inferiority is asked."""
    comparator: str
    """The source it is compared with."""
    margin: float = 0.1
    """How much worse than the comparator is still acceptable, on the scale of the score, -1 to 1; positive."""
    confidence_level: float = 0.90
    """Of the one-sided lower bound, between 0.5 and 1."""
    seed: int = 0
    """From which every side, order and repeat is drawn."""
    level_order: LevelOrder = "fixed"
    """`fixed`: the levels of a question from best to worst, as in 003; `shuffled`: drawn per rater and question."""
    repeat_share: float = 0.05
    """Share of a rater's pairs shown a second time, 0 to 0.5."""
    votes_per_pair: int | None = None
    """None: every rater rates every pair; k: each question goes to k raters."""
    max_questions: int | None = None
    """Most questions one rater gets; None: no cap. Needs votes_per_pair."""
    blinding_pairs: int = 10
    """Rated pairs shown once more after the last answer, to ask which of the two the person wrote; 0: none."""
    person: Role = "comparator"
    """The role whose answers a person wrote; asked for only where blinding_pairs is not 0."""
    main_levels: tuple[str, ...] | None = None
    """Levels of the main analysis; None: all but the first, or the only one."""
    votes_needed: int | None = None
    """Votes that a pair needs to count; None: the default, written here when it is fixed (study/analysis_set)."""
    score: Score = "composite"
    """What the verdict is about: the sign of the sum of a pair's votes, or their mean."""
    flagged: FlaggedPairs = "keep"
    """Whether the votes on pairs that a rater reported as invalid count."""
    declared: bool = True
    """False: the study is older than the analysis set, so nobody declared it before the votes."""


@dataclass(frozen=True)
class AnalysisSet:
    """What the main analysis counts, with every default filled in."""

    levels: tuple[str, ...]
    votes_needed: int
    """From raters who are not excluded."""
    score: Score
    flagged: FlaggedPairs
    declared: bool
    """Whether it was fixed before the first vote."""


@dataclass(frozen=True)
class Study:
    """A data set, a design and where the study stands."""

    study_id: int
    name: str
    state: State
    design: Design
    levels: tuple[str, ...]
    dataset_sha256: str
    dataset_file: str
    created_utc: str
    """ISO 8601, UTC, as every time in Assay."""
    app_version: str
    language: str = "en"
    """Of the guidelines a rater gets unless another is set."""
    first_vote_utc: str | None = None
    """When margin, confidence level, roles and draws froze; None: nobody has voted yet."""
    kind: StudyKind = "pairs"
    task: RatingTask | None = None
    """What is asked of every text; None: a study of pairs."""

    @property
    def asks(self) -> Asks:
        """What raters are asked."""
        if self.kind == "ratings":
            return "ratings"
        return "levels" if self.named_levels else "preference"

    @property
    def named_levels(self) -> tuple[str, ...]:
        """The levels that people read; none in plain pairs."""
        return tuple(level for level in self.levels if level != NO_LEVEL)


@dataclass(frozen=True)
class Rater:
    """A person who rates, under a pseudonym."""

    rater_id: str
    dry_run: bool = False
    """A preview: answers are kept, marked, and never counted."""
    imported: bool = False
    """Votes came from a file: no side, no time, no link."""
    language: str | None = None
    """Of the guidelines; None: the study's."""
    created_utc: str = ""
    revoked: bool = False
    """The link no longer opens anything; answers are kept."""
    link_number: int = 0
    """Counts the links issued; 0: none yet."""
    onboarding: int = 0
    """0: nothing read; 1: guidelines read; 2 and more: practice pairs done + 1."""
    diff_mode: str = "own_a0"
    """Which differences this rater last had marked."""
    consent_utc: str | None = None
    """When the rater agreed to the study's consent text; None: not yet, or there is none."""
    finished_utc: str | None = None
    """When the rater locked their answers; None: they can still change."""
    excluded: str | None = None
    """Why the owner leaves this rater out of the analysis; None: counted."""
    withdrawn: bool = False
    """The pseudonym was replaced and comments were deleted at the rater's wish."""


@dataclass(frozen=True)
class Assignment:
    """One pair for one rater: which source stands on which side. Never leaves the server."""

    rater_id: str
    position: int
    """1 is shown first."""
    item_id: str
    level: str
    left: str
    """Source on the left side."""
    right: str
    repeat: bool = False
    """A hidden repeat: for consistency only, never in the main analysis."""

    @property
    def key(self) -> AnswerKey:
        """What this and its answer share."""
        return self.rater_id, self.item_id, self.level, self.repeat


@dataclass(frozen=True)
class Answer:
    """What a rater said to one pair, as it stands now. Earlier versions are in the history."""

    rater_id: str
    item_id: str
    level: str
    repeat: bool = False
    choice: Choice | None = None
    """None: not answered, or imported without a side."""
    preference: Preference | None = None
    """Set only for imported votes; else derived from choice and assignment."""
    shown_utc: str | None = None
    answered_utc: str | None = None
    seconds: float | None = None
    """From the pair's appearance to the choice, this time it was on the screen."""
    diff_used: str | None = None
    """Which differences were marked when the choice was made: own_a0, reference, left_right, or none. Earlier answers
    have own_a0 for reference too."""
    comment: str = ""
    invalid: bool = False
    """The rater says that the pair itself is broken; the design says whether its votes count."""
    skipped: bool = False
    """Put off; comes back after the other open pairs."""
    app_version: str | None = None

    @property
    def key(self) -> AnswerKey:
        """What this and its assignment share."""
        return self.rater_id, self.item_id, self.level, self.repeat

    @property
    def answered(self) -> bool:
        """Whether this counts as an answer rather than a note on an open pair."""
        return self.choice is not None or self.preference is not None


@dataclass(frozen=True)
class Guess:
    """Which of the two a rater took for the person's, after their answers were locked. Given once, never changed."""

    rater_id: str
    item_id: str
    level: str
    guess: GuessedSide
    """Sides as the rater saw them when rating."""
    comment: str = ""
    answered_utc: str = ""
    seconds: float | None = None
    """From the pair's appearance to the guess; None after a restart, when nobody knows."""
    app_version: str | None = None

    @property
    def key(self) -> AnswerKey:
        """The key of the answer and the assignment that this guess is about."""
        return self.rater_id, self.item_id, self.level, False


@dataclass(frozen=True)
class HistoryEntry:
    """One save, as it was written; the list of them is never changed."""

    saved_utc: str
    answer: Answer


@dataclass(frozen=True)
class LogEntry:
    """One thing an owner did to a study."""

    at_utc: str
    action: str
    detail: str
    rater_id: str | None = None
    """Whom it was done to; kept apart from the detail so that a withdrawn pseudonym can go."""


@dataclass(frozen=True)
class StudyRecord:
    """A study whole: what the analysis reads, the bundle holds and an import restores."""

    study: Study
    items: tuple[Item, ...]
    outputs: tuple[Output, ...]
    raters: tuple[Rater, ...]
    assignments: tuple[Assignment, ...]
    answers: tuple[Answer, ...]
    history: tuple[HistoryEntry, ...] = ()
    guidelines: dict[str, str] = field(default_factory=dict)
    """Language -> Markdown; a language that is missing uses the text shipped with Assay."""
    log: tuple[LogEntry, ...] = ()
    guesses: tuple[Guess, ...] = ()
    wording: dict[str, dict[str, str]] = field(default_factory=dict)
    """Language -> key -> text: consent and button labels, as far as the owner changed them."""
    rating_assignments: tuple[RatingAssignment, ...] = ()
    rating_answers: tuple[RatingAnswer, ...] = ()
    rating_history: tuple[RatingHistoryEntry, ...] = ()
