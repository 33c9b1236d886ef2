"""What the steps of factual perturbation have to give, whether a model or rules do the work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import field_validator

from core.generation.records import Edit, EditCalls, FilterOrder, Planning, QuestionFilter, Span
from core.generation.scheme import SEED, GenerationSettings
from core.llm.asking import Answer
from core.schema.kinds import PromptSlot
from core.schema.settings import Remark, setting
from core.schema.study import Material

MOST_LEVELS = 9
"""Beyond A0: A1 ... A9 keep their order as text."""


class FactualSettings(GenerationSettings):
    """What fixes a run beside model and prompts."""

    n_levels: int = setting(
        4,
        "Levels beyond A0",
        "A0-A4, or the number of levels beyond A0",
        within=(1, MOST_LEVELS),
        option="levels",
        words={"4": "A0-A4"},
    )
    keep: float = setting(
        0.8,
        "Share of facts that may be changed (k)",
        "share of ranked spans that may be edited: the first k of them, rounded up, are spread over the levels",
        within=(0.0001, 1.0),
        step=0.05,
    )
    filter_order: FilterOrder = setting(
        "paper",
        "Order of the filters",
        "paper: drop what the question names, then keep; trutheval: the other way round",
        words={
            "paper": "drop what the question names, then keep a share (as the paper says)",
            "trutheval": "keep a share, then drop what the question names (as its code does)",
        },
    )
    question_filter: QuestionFilter = setting(
        "words",
        "A fact is in the question if it shares",
        "words: case and punctuation off on both sides; trutheval: as that code does it",
        words={
            "words": "words, without case and punctuation",
            "trutheval": "as the paper's code compares them, quirks included",
        },
    )
    edit_calls: EditCalls = setting(
        "each",
        "Calls for the edits",
        "each: one call a level, as the paper; shared: one for all levels",
        words={
            "each": "one call a level, each from the level before (as the paper)",
            "shared": "one call for all levels (cheaper)",
        },
    )
    planning: Planning = setting(
        "none",
        "Before an edit",
        "alternatives: the model lists two or three for every fact before it chooses, as Factual asks it to",
        words={
            "none": "nothing: the model replaces at once (cheaper)",
            "alternatives": "two or three alternatives for every fact (as Factual)",
        },
    )
    parser: str = setting(
        "auto",
        "Facts are found by",
        "what finds facts: auto (a dependency parse by spaCy where it is set up, else rules), rules, or the name of a spaCy "
        "pipeline",
    )
    seed: int = SEED

    @field_validator("n_levels", mode="before")
    @classmethod
    def _levels(cls, given: object) -> object:
        """A0-A4 is 4."""
        if not isinstance(given, str):
            return given
        number = given.strip().upper().removeprefix("A0-A")
        if not (number.isascii() and number.isdigit()):
            raise ValueError(
                f"{given!r} is neither A0-A1 ... A0-A{MOST_LEVELS} nor a number of levels beyond A0"
            )
        return int(number)

    @property
    def level_names(self) -> tuple[str, ...]:
        """See GenerationSettings."""
        return tuple(f"A{number}" for number in range(self.n_levels + 1))

    @property
    def first_level(self) -> str:
        """See GenerationSettings."""
        return self.level_names[0]

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """A paraphrase, a ranking and edits, unless rules make them."""
        if by_rules:
            return ()
        edit, instead = ("edit", ("edit-text",)) if self.edit_calls == "each" else ("edit-shared", ())
        if self.planning == "alternatives":
            edit, instead = "edit-planned", ()
        return tuple(
            PromptSlot(purpose, f"factual-{purpose}", instead=others)
            for purpose, others in (("paraphrase", ()), ("rank", ()), (edit, instead))
        )

    def problems(self, backend: str) -> Iterator[Remark]:
        """Planning is of one level's edits."""
        if backend != "rules" and self.planning == "alternatives" and self.edit_calls == "shared":
            yield Remark("planning", "alternatives are planned level by level; choose {edit_calls=each}")

    def idle(self, backend: str) -> frozenset[str]:
        """Rules make all levels at once."""
        return frozenset({"edit_calls", "planning"}) if backend == "rules" else frozenset()


@dataclass(frozen=True)
class EditTask:
    """One level's edit: the text of the level before, and where every span of A0 stands in it now."""

    level: int
    """1 for A1."""
    text: str
    places: tuple[tuple[int, int], ...]
    """Start and end of every span in `text`, by span number; nothing else differs from A0."""
    group: tuple[int, ...]
    """Spans to change now."""
    held: tuple[int, ...]
    """Kept spans that must stand as they are: the groups of later levels."""
    spans: tuple[Span, ...]
    """As they were in A0."""
    levels: int = 0
    """Levels of the whole run beyond A0; 0: not said."""


class Steps(Protocol):
    """The steps that need judgement. Everything else (filter, keep, groups, splicing, checks) is the pipeline's."""

    @property
    def backend(self) -> str:
        """`rules`, `openai` or `vllm`: stands in every record."""

    @property
    def prompts(self) -> dict[str, str] | None:
        """Step -> sha256 of the prompt it uses; None without a model."""

    async def paraphrase(self, material: Material) -> Answer[str] | None:
        """A0; None: this backend writes no paraphrase, the file's or the reference is taken."""

    async def rank(
        self, material: Material, text: str, spans: Sequence[Span], candidates: Sequence[int]
    ) -> Answer[tuple[int, ...]]:
        """The candidates (numbers into spans), most important first: each once."""

    async def edit(
        self, material: Material, tasks: Sequence[EditTask]
    ) -> Answer[tuple[tuple[Edit, ...], ...]]:
        """Replacements for every span of each task's group.

        One task: the edit of one level. Several (edit_calls `shared`): all levels at once, each task's text
        being A0, because later levels do not exist yet.
        """
