"""Data types of a study: frozen dataclasses with one docstring line per field and no behaviour beyond lookups."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from core.schema.rendering import Rendering, Shown
from core.schema.scores import ErrorSpan, Turn

StudyKind = Literal["pairs", "ratings"]
"""What a rater sees at a time. pairs: two blind answers side by side; ratings: one blind text."""
Asks = Literal["levels", "preference", "ratings"]
"""What a study asks. levels: which of two answers fits a given level better (Factual); preference: which of two answers
is better, without levels (plain pairs); ratings: scores or marked errors of single texts (Specialist, Multilingual)."""
VoteMeaning = Literal["fits_level", "better"]
"""What a vote for an answer says. fits_level: it is nearer to its level than the other; better: it is the better answer."""
VOTE_MEANINGS: dict[Asks, VoteMeaning | None] = {
    "levels": "fits_level",
    "preference": "better",
    "ratings": None,
}
RatingKey = tuple[str, str, str, str, bool]
"""(rater, item, level, system, hidden repeat): key of a rating's assignment and answer."""


@dataclass(frozen=True)
class Dimension:
    """One question about a text whose answer is a number; higher is better."""

    name: str
    """Short name for tables and columns: `LA`, `H`, `overall`."""
    title: str
    description: str
    """The question in a sentence or two; read by raters and used in single and compound prompts."""
    lowest: float
    highest: float
    step: float = 1.0
    """Difference between neighbouring answers; 0: any number between the ends."""
    anchors: tuple[tuple[float, str], ...] = ()
    """(answer, its meaning in words), ascending; answers may lack a meaning."""
    detailed: str = ""
    """Longer instructions for the detailed prompts; empty: the description is used."""

    @property
    def classes(self) -> tuple[float, ...]:
        """The possible answers, worst first; empty if any number is possible."""
        if self.step <= 0:
            return ()
        n = round((self.highest - self.lowest) / self.step)
        # Rounded, so that three steps of 0.1 are 0.3.
        return tuple(round(self.lowest + k * self.step, 12) for k in range(n + 1))


@dataclass(frozen=True)
class SpanTask:
    """Marking errors in the text: the possible severities and categories."""

    severities: tuple[str, ...]
    """Mildest first."""
    categories: tuple[str, ...]
    """For example `accuracy/omission`; the part before the slash is the group."""
    source_side: bool = False
    """Whether errors may also be marked in the source text."""
    meanings: tuple[tuple[str, str], ...] = ()
    """(severity or category, its meaning); names without an entry need no explanation."""

    def in_words(self, name: str) -> str:
        """A severity or category with its meaning, for raters and judges: `relation: who did it is wrong`."""
        meaning = dict(self.meanings).get(name)
        return f"{name}: {meaning}" if meaning else name


@dataclass(frozen=True)
class TaskLabels:
    """Headings that raters read above each part of an item, in lower case: `question`, `answer`."""

    source: str = "source"
    reference: str = "reference (correct and complete)"
    text: str = "text"

    @property
    def headings(self) -> "TaskLabels":
        """The labels with a capital letter."""
        return TaskLabels(
            *(f"{one[:1].upper()}{one[1:]}" for one in (self.source, self.reference, self.text))
        )


@dataclass(frozen=True)
class RatingTask:
    """The task for every text of a study, or for an evaluator: at least one dimension, or spans."""

    name: str
    title: str
    paper: str
    section: str
    differences: str
    dimensions: tuple[Dimension, ...] = ()
    spans: SpanTask | None = None
    show_reference: bool = False
    """Whether raters and judges with this task see the item's reference; ratings in Specialist are made without it."""
    labels: TaskLabels = TaskLabels()

    def dimension(self, name: str) -> Dimension:
        """The dimension of that name. Raises KeyError."""
        return {one.name: one for one in self.dimensions}[name]


@dataclass(frozen=True)
class RatingAssignment:
    """One text for one rater. Never leaves the server."""

    rater_id: str
    position: int
    """1 is shown first; all texts of an item follow each other (pseudo side-by-side)."""
    item_id: str
    level: str
    source: str
    """The system that wrote the text."""
    repeat: bool = False
    """A hidden repeat: for consistency only."""

    @property
    def key(self) -> RatingKey:
        """Key of this assignment and its answer."""
        return self.rater_id, self.item_id, self.level, self.source, self.repeat


@dataclass(frozen=True)
class RatingAnswer:
    """A rater's current answer about one text. Earlier versions are in the history."""

    rater_id: str
    item_id: str
    level: str
    source: str
    repeat: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)
    """Scores given so far, by dimension."""
    spans: tuple[ErrorSpan, ...] = ()
    """In code points of the text (of the source text if in_source), end exclusive."""
    no_errors: bool = False
    """Whether the rater found no errors."""
    done: bool = False
    """Whether all dimensions are scored and errors marked or ticked as none, and the rater went on. False: a draft."""
    shown_utc: str | None = None
    answered_utc: str | None = None
    seconds: float | None = None
    """Time on the screen until it was done."""
    seconds_visible: float | None = None
    """Time on the screen in a visible tab until it was first done, as the browser measured it; None: it did not say."""
    translated: bool | None = None
    """Whether the browser had translated the page by then, as far as a page can tell; None: it did not say. It excludes nothing."""
    comment: str = ""
    invalid: bool = False
    """Whether the rater reported the text as broken; it is then left out of the analysis."""
    skipped: bool = False
    app_version: str | None = None

    @property
    def key(self) -> RatingKey:
        """Key of this answer and its assignment."""
        return self.rater_id, self.item_id, self.level, self.source, self.repeat

    @property
    def answered(self) -> bool:
        """Whether this is an answer rather than a draft or a note."""
        return self.done


@dataclass(frozen=True)
class RatingHistoryEntry:
    """One save, as it was written; history entries are never changed."""

    saved_utc: str
    answer: RatingAnswer


Choice = Literal["left", "right", "both_good", "both_bad"]
ShippedPart = Literal["guidelines", "wording", "practice", "aids"]
Preference = Literal["candidate", "both_good", "both_bad", "comparator"]
State = Literal["draft", "open", "closed", "unblinded"]
LevelOrder = Literal["fixed", "shuffled"]
Role = Literal["candidate", "comparator"]
GuessedSide = Literal["left", "right", "unsure"]
Score = Literal["composite", "net_preference"]
FlaggedPairs = Literal["keep", "leave_out"]
KeyScheme = Literal["digits", "letters", "alt", "off"]
"""The keys with which a rater answers: 1, 2 ...; letters; digits with Alt; none."""

CHOICES: tuple[Choice, ...] = get_args(Choice)
"""In the order of keys 1 to 4."""
PREFERENCES: tuple[Preference, ...] = get_args(Preference)
"""In the order of rows and columns of every contingency table."""
SCORES: tuple[Score, ...] = get_args(Score)
FLAGGED_PAIRS: tuple[FlaggedPairs, ...] = get_args(FlaggedPairs)
GUESSED_SIDES: tuple[GuessedSide, ...] = get_args(GuessedSide)
"""In the order of keys 1 to 3."""

AnswerKey = tuple[str, str, str, bool]
"""(rater, item, level, hidden repeat): key of an assignment and its answer."""

FIRST_LEVEL = "A0"
"""The level that is as good as the reference; later levels are shown as changes to it."""
NO_ANSWER = ""
"""The text of a system that gave no answer; raters read that there is none."""
UNDETERMINED = "und"
"""BCP 47's tag for an undetermined language."""
NO_LEVEL = ""
"""The level of every text in plain pairs, which have no levels."""
TextKey = tuple[str, str, str]
"""(item, level, system) of a text, empty where it has none."""


@dataclass(frozen=True)
class Item:
    """A question and its reference answer."""

    item_id: str
    """Unique within the data set; never sent to a rater's browser."""
    question: str
    reference: str
    language: str = UNDETERMINED
    """BCP 47 tag; `und` if the file has none."""
    turns: tuple[Turn, ...] = ()
    """The conversation up to the question, which is its last turn; empty for a question that stands alone."""


@dataclass(frozen=True)
class Material:
    """Material for answers of known quality: an item with the extra texts its task needs."""

    item: Item
    paraphrase: str | None = None
    """An equally good paraphrase of the reference; None if the file has none."""
    context: str | None = None
    """Passage, text to summarise or sentence to translate; None if the task has none."""


@dataclass(frozen=True)
class MaterialSet:
    """A checked file of questions and references, without answers."""

    materials: tuple[Material, ...]
    """In the order of the file; no two have the same question, reference and context."""
    sha256: str
    """Of the file's bytes, hexadecimal."""
    file_name: str
    notes: tuple[str, ...] = ()
    """Notes that are not errors, such as items left out as duplicates."""


@dataclass(frozen=True)
class Output:
    """One system's answer to one item at one level."""

    item_id: str
    level: str
    source: str
    text: str


@dataclass(frozen=True)
class Dataset:
    """A checked file: every item has every level from both systems, or in plain pairs one answer from each."""

    items: tuple[Item, ...]
    """In the order of the file; references of plain pairs may be empty."""
    outputs: tuple[Output, ...]
    levels: tuple[str, ...]
    """Best first; NO_LEVEL alone in plain pairs."""
    sources: tuple[str, str]
    """In the order of the file."""
    sha256: str
    """Of the file's bytes, hexadecimal."""
    file_name: str
    notes: tuple[str, ...] = ()
    """Notes that are not errors."""
    read_as: tuple[str, ...] = ()
    """What was understood of a table's columns, one line each."""

    @property
    def plain(self) -> bool:
        """Whether these are plain pairs: two systems' answers without levels."""
        return self.levels == (NO_LEVEL,)


@dataclass(frozen=True)
class Design:
    """The declared design of a study. It freezes at the first vote."""

    candidate: str
    """The system to test for non-inferiority; without a margin, the first system of the file."""
    comparator: str
    """The system it is compared with; without a margin, the second system of the file."""
    margin: float | None = 0.1
    """How much worse than the comparator is acceptable, on the scale of the score (-1 to 1); positive. None: no margin is
    declared, so neither system is under test, and sentences treat both alike."""
    confidence_level: float = 0.90
    """Confidence level of the one-sided lower bound, between 0.5 and 1."""
    seed: int = 0
    """Seed of every side, order and repeat."""
    level_order: LevelOrder = "fixed"
    """`fixed`: levels of a question from best to worst, as in Factual; `shuffled`: drawn per rater and question."""
    repeat_share: float = 0.05
    """Share of a rater's pairs that are shown twice, 0 to 0.5."""
    votes_per_pair: int | None = None
    """None: every rater rates every pair; k: each question goes to k raters."""
    max_questions: int | None = None
    """Largest number of questions for one rater; None: no limit. Needs votes_per_pair."""
    blinding_pairs: int = 10
    """Rated pairs shown again after the last answer, to ask which answer a person wrote; 0: none."""
    person: Role = "comparator"
    """The role whose answers a person wrote; used only if blinding_pairs is not 0."""
    main_levels: tuple[str, ...] | None = None
    """Levels of the main analysis; None: all but the first, or the only one."""
    votes_needed: int | None = None
    """Votes that a pair needs to count; None: the default, stored here when it is fixed (study/analysis_set)."""
    score: Score = "composite"
    """Score behind the verdict: the sign of the sum of a pair's votes, or their mean."""
    flagged: FlaggedPairs = "keep"
    """Whether votes on pairs that a rater flagged as invalid count."""
    declared: bool = True
    """Whether the analysis set was declared before the votes; False for studies older than the analysis set."""
    early_looks: bool = False
    """Whether results may be looked at while the study runs, by a bound that holds at every look; needs a margin."""
    rendering: Rendering = "plain"
    """How raters see answers and references, the same for both sides."""
    code_language: str = ""
    """The language of answers that are shown as code, as Pygments names it; empty: not highlighted."""

    @property
    def person_system(self) -> str:
        """The system whose answers a person wrote."""
        return self.candidate if self.person == "candidate" else self.comparator

    @property
    def shown(self) -> Shown:
        """How raters see answers and references."""
        return Shown(self.rendering, self.code_language)


@dataclass(frozen=True)
class AnalysisSet:
    """Rules for what the main analysis counts, with every default filled in."""

    levels: tuple[str, ...]
    votes_needed: int
    """Votes a pair needs from raters who are not excluded."""
    score: Score
    flagged: FlaggedPairs
    declared: bool
    """Whether it was fixed before the first vote."""


@dataclass(frozen=True)
class Study:
    """A study: data set, design and state."""

    study_id: int
    name: str
    state: State
    design: Design
    levels: tuple[str, ...]
    dataset_sha256: str
    dataset_file: str
    created_utc: str
    """ISO 8601 in UTC, as all times in Assay."""
    app_version: str
    language: str = "en"
    """Default language of the guidelines."""
    first_vote_utc: str | None = None
    """Time of the first vote, when the design froze; None: nobody has voted yet."""
    kind: StudyKind = "pairs"
    task: RatingTask | None = None
    """The task for every text; None in a study of pairs."""

    @property
    def has_ended(self) -> bool:
        """Whether raters can no longer answer, and nothing of the study changes."""
        return self.state in ("closed", "unblinded")

    @property
    def is_changeable(self) -> bool:
        """Whether its owner may change the design and everything that raters read: nobody has voted, and it has not ended."""
        return self.first_vote_utc is None and not self.has_ended

    @property
    def asks(self) -> Asks:
        """What the study asks raters."""
        if self.kind == "ratings":
            return "ratings"
        return "levels" if self.named_levels else "preference"

    @property
    def votes_mean(self) -> VoteMeaning | None:
        """What a vote says, by what the study asks; None without votes. An owner's wording does not change it."""
        return VOTE_MEANINGS[self.asks]

    @property
    def named_levels(self) -> tuple[str, ...]:
        """The levels as people see them; empty in plain pairs."""
        return tuple(level for level in self.levels if level != NO_LEVEL)


@dataclass(frozen=True)
class Rater:
    """A person who rates, under a pseudonym."""

    rater_id: str
    dry_run: bool = False
    """Whether this is a preview, whose answers are stored but never counted."""
    imported: bool = False
    """Whether the votes came from a file, without side, time or link."""
    language: str | None = None
    """Language of the guidelines; None: the study's."""
    created_utc: str = ""
    revoked: bool = False
    """Whether the link was revoked; answers are kept."""
    link_number: int = 0
    """Number of links issued so far."""
    onboarding: int = 0
    """0: guidelines not read yet; from 1: practice pairs done + 1."""
    diff_mode: str = "own_a0"
    """Which differences were last marked for this rater."""
    key_scheme: KeyScheme = "digits"
    """The keys with which this rater answers."""
    consent_utc: str | None = None
    """When the rater agreed to the consent text; None: not yet, or there is none."""
    finished_utc: str | None = None
    """When the rater locked their answers; None: answers can still change."""
    excluded: str | None = None
    """The owner's reason for excluding the rater from the analysis; None: counted."""
    withdrawn: bool = False
    """Whether the rater withdrew: pseudonym replaced, comments deleted."""


@dataclass(frozen=True)
class Assignment:
    """One pair for one rater, with the system on each side. Never leaves the server."""

    rater_id: str
    position: int
    """1 is shown first."""
    item_id: str
    level: str
    left: str
    """System on the left side."""
    right: str
    repeat: bool = False
    """A hidden repeat: for consistency only, never in the main analysis."""

    @property
    def key(self) -> AnswerKey:
        """Key of this assignment and its answer."""
        return self.rater_id, self.item_id, self.level, self.repeat


@dataclass(frozen=True)
class Answer:
    """A rater's current answer to one pair. Earlier versions are in the history."""

    rater_id: str
    item_id: str
    level: str
    repeat: bool = False
    choice: Choice | None = None
    """None: not answered, or imported without a side."""
    preference: Preference | None = None
    """Set only for imported votes; otherwise derived from choice and assignment."""
    shown_utc: str | None = None
    answered_utc: str | None = None
    seconds: float | None = None
    """Time from the pair's latest appearance to the choice."""
    seconds_visible: float | None = None
    """Time on the screen in a visible tab until the first choice, as the browser measured it; None: it did not say."""
    translated: bool | None = None
    """Whether the browser had translated the page by then, as far as a page can tell; None: it did not say. It excludes nothing."""
    diff_used: str | None = None
    """Which differences were marked when the choice was made: own_a0, reference, left_right, or none. Earlier answers
    have own_a0 for reference too."""
    comment: str = ""
    invalid: bool = False
    """Whether the rater flagged the pair as invalid; the design decides whether its votes count."""
    skipped: bool = False
    """Whether the pair was skipped; it returns after the other open pairs."""
    app_version: str | None = None

    @property
    def key(self) -> AnswerKey:
        """Key of this answer and its assignment."""
        return self.rater_id, self.item_id, self.level, self.repeat

    @property
    def answered(self) -> bool:
        """Whether this is an answer rather than a note on an open pair."""
        return self.choice is not None or self.preference is not None


@dataclass(frozen=True)
class Guess:
    """A rater's guess which answer a person wrote, after the answers were locked. Given once, never changed."""

    rater_id: str
    item_id: str
    level: str
    guess: GuessedSide
    """Sides as the rater saw them when rating."""
    comment: str = ""
    answered_utc: str = ""
    seconds: float | None = None
    """Time from the pair's appearance to the guess; None after a restart, when it is unknown."""
    seconds_visible: float | None = None
    """Time on the screen in a visible tab, as the browser measured it; None: it did not say."""
    translated: bool | None = None
    """Whether the browser had translated the page by then, as far as a page can tell; None: it did not say. It excludes nothing."""
    app_version: str | None = None

    @property
    def key(self) -> AnswerKey:
        """The key of the answer and the assignment that this guess is about."""
        return self.rater_id, self.item_id, self.level, False


@dataclass(frozen=True)
class HistoryEntry:
    """One save, as it was written; history entries are never changed."""

    saved_utc: str
    answer: Answer


@dataclass(frozen=True)
class LogEntry:
    """One thing an owner did to a study."""

    at_utc: str
    action: str
    detail: str
    rater_id: str | None = None
    """The rater concerned; stored apart from the detail, so that a pseudonym can be deleted on withdrawal."""


@dataclass(frozen=True)
class EnteredQuestion:
    """A question that a look at a running study counts, as it was when it entered; entries are never changed."""

    position: int
    """1 entered first; the order follows from the seed."""
    item_id: str
    mean: float | None
    """Mean score of its pairs, in [-1, 1]; None if every pair is left out as flagged."""
    votes: int
    """Votes behind the mean."""
    entered_utc: str


@dataclass(frozen=True)
class Inclusion:
    """The probability with which a text was drawn for its study, so that its labels can be weighted.

    It tells how uncertain a judge is about the text, so raters never see it, and their pages never read it.
    """

    item_id: str
    level: str
    source: str
    probability: float
    """Above 0, at most 1."""


@dataclass(frozen=True)
class ShippedText:
    """One text that Assay ships for raters, as it was when the study froze: what raters read from then on."""

    part: ShippedPart
    """Guidelines are Markdown, the other parts JSON."""
    language: str
    """Empty for practice pairs and aids, which exist once."""
    text: str


@dataclass(frozen=True)
class StudyTexts:
    """A study with the texts that raters read, whatever its state: no answer is read."""

    study: Study
    items: tuple[Item, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class StudyRecord:
    """A complete study, as read by the analysis and stored in a bundle."""

    study: Study
    items: tuple[Item, ...]
    outputs: tuple[Output, ...]
    raters: tuple[Rater, ...]
    assignments: tuple[Assignment, ...]
    answers: tuple[Answer, ...]
    history: tuple[HistoryEntry, ...] = ()
    guidelines: dict[str, str] = field(default_factory=dict)
    """Language -> Markdown; missing languages use the shipped text."""
    log: tuple[LogEntry, ...] = ()
    guesses: tuple[Guess, ...] = ()
    wording: dict[str, dict[str, str]] = field(default_factory=dict)
    """Language -> key -> text: consent and button labels that the owner changed."""
    rating_assignments: tuple[RatingAssignment, ...] = ()
    rating_answers: tuple[RatingAnswer, ...] = ()
    rating_history: tuple[RatingHistoryEntry, ...] = ()
    entered: tuple[EnteredQuestion, ...] = ()
    """Questions counted by looks while the study ran."""
    inclusion: tuple[Inclusion, ...] = ()
    """Probabilities of texts that were drawn for a rating study; none for texts that were not drawn."""
    shipped: tuple[ShippedText, ...] = ()
    """Shipped texts, copied at the first vote; none before it."""
