"""What determines a judge's verdicts beside the model that is asked and the prompts."""

from dataclasses import dataclass
from typing import Literal

from core.schema.judges import Order

Orders = Literal[Order, "both"]
Detail = Literal["low", "high"]
Verifier = Literal["llm", "nli", "rules"]
Mode = Literal["reference-free", "reference", "round-trip"]
Answering = Literal["each", "batch"]
Questions = Literal["yes", "mixed"]
Examined = Literal["reference", "source"]
"""What a judge compares a text with."""
ExamplesFrom = Literal["specialist", "shuffled", "fixed", "none"]
"""Where a text's examples come from, the tested system's always held out: its own source; the whole test set; one other
source, of the same rater where ratings carry one; nowhere."""
Occurrences = Literal["all", "first"]
Prompting = Literal["single", "compound", "detailed"]
"""single: one call a dimension; compound: all dimensions in one call; detailed: one call a dimension, longer instructions."""
Majority = Literal["drop", "median", "middle"]
"""Of three raters who all differ: the middle class as in 004's code, the median, or no label."""
MERGED = ""
"""As the rater of examples: all raters' ratings of a text together, one example a text."""
RUBRIC_PURPOSES = ("rubric", "rubric-text")
"""Of the prompts: an answer in JSON, or free text that ends in `[RESULT] n`; a run uses one of them."""
PAIRS_AT_ONCE = 32
"""That an entailment model reads; verdicts do not depend on it."""


@dataclass(frozen=True)
class RubricSettings:
    """003's judge with a rubric."""

    order: Orders = "reference-first"
    """Which text the judge reads first; `both`: asked once in each order, and the score is the mean."""
    repeats: int = 1
    """Times that it is asked in each order; the score is the mean of the verdicts."""
    temperature: float = 0.0
    seed: int = 0
    """Of the first repeat; each further one has the next."""


@dataclass(frozen=True)
class ClaimsSettings:
    """Claim factuality, as RAGAS and 003's truthscore have it."""

    atomicity: Detail = "low"
    """low: a claim may hold several facts; high: one fact a claim. RAGAS: low; truthscore: high."""
    coverage: Detail = "low"
    """low: the main statements; high: everything that is said. RAGAS: low; truthscore: high."""
    verifier: Verifier = "llm"
    nli_model: str = ""
    """Of the verifier `nli`: a folder, or the hub's name; empty: 003's cross-encoder."""
    device: str = "auto"
    """Of the entailment model: auto, cpu, cuda."""
    beta: float = 1.0
    """Above 1 recall weighs more, below 1 precision."""
    temperature: float = 0.0
    seed: int = 0

    @property
    def task(self) -> str:
        """Of the prompt that decomposes, such as `low-high`."""
        return f"{self.atomicity}-{self.coverage}"


@dataclass(frozen=True)
class CefSettings:
    """001's cross-examination."""

    mode: Mode = "reference-free"
    """What the text is examined against: its source, its reference, or the source after the text was translated back."""
    answers: Answering = "batch"
    """each: one call a question, as the paper; batch: all questions of a text in one structured call."""
    n_questions: int = 10
    """Asked for from each of the two texts."""
    questions: Questions = "yes"
    """yes: all are answered YES by their own text; mixed: YES, NO and IDK alike."""
    reask: bool = False
    """Ask every question of its own text too, for the confusion matrix; scores do not change."""
    repeats: int = 1
    """Whole examinations; the score is their mean."""
    temperature: float = 0.0
    seed: int = 0
    """Of the first repeat; each further one has the next."""
    source_language: str = "English"
    """Round-trip: into which language the text is translated back."""

    @property
    def examines(self) -> Examined:
        """Which of an item's texts the text is examined against."""
        return "reference" if self.mode == "reference" else "source"


@dataclass(frozen=True)
class AnswersSettings:
    """A model answers questions that any models made, for the reliability of judges."""

    answers: Answering = "batch"
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class AlignmentSettings:
    """A model says whether a marked error is what a mismatching question points to."""

    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class AutoMqmSettings:
    """002's AutoMQM: error spans with severity and category. Rules are its Parrot, which asks no model."""

    examples: ExamplesFrom = "specialist"
    n_examples: int = 0
    """The first so many of an order drawn from the seed, so that smaller sets lie in larger ones; 0: all."""
    filtered: bool = False
    """002, appendix B.2.1: without texts equal to the judged one, and without errors that people marked in it."""
    rater: str = MERGED
    """Whose ratings are shown; empty: all raters' together."""
    only: tuple[str, ...] = ()
    """Systems whose texts are judged; the others' serve as examples. Empty: all."""
    occurrences: Occurrences = "all"
    """Of a quote that stands in the text several times, what the Parrot marks."""
    repeats: int = 1
    """Draws of examples; each has the next seed. The score is the mean."""
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class DirectSettings:
    """002's Scorer: one number on the scale of the task's dimension, 0-100 unless another is chosen."""

    dimension: str = "overall"
    """Of the task and of the ratings."""
    examples: ExamplesFrom = "specialist"
    n_examples: int = 0
    rater: str = MERGED
    """Whose ratings are shown; empty: the mean of all raters."""
    only: tuple[str, ...] = ()
    repeats: int = 1
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class QualitySettings:
    """004's evaluator: a class on every dimension of the task, with a justification."""

    prompting: Prompting = "single"
    shots: int = 0
    """Examples of each class, from the items held out; 0: none. 004 shows two at most."""
    held_out: float = 0.2
    """Share of the items that only give examples and are not judged; without shots nothing is held out."""
    majority: Majority = "middle"
    """How an example's label comes from its raters."""
    language: str = ""
    """In which the evaluator is told the text is; empty: as the text's own tag says."""
    shuffled_words: float = 0.0
    """Share of the words that change places before it reads the text: for the sensitivity check, 004 has 0.1."""
    repeats: int = 1
    temperature: float = 0.0
    seed: int = 0


JudgingSettings = (
    RubricSettings | ClaimsSettings | CefSettings | AutoMqmSettings | DirectSettings | QualitySettings
)
"""Of the judges that score texts."""
