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
