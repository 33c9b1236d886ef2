"""What the steps of factual perturbation have to give, whether a model or rules do the work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.generation.records import Edit, EditCalls, FilterOrder, QuestionFilter, Span
from core.llm.asking import Answer
from core.schema import Material


@dataclass(frozen=True)
class FactualSettings:
    """What fixes a run besides model and prompts."""

    n_levels: int = 4
    """Levels beyond A0, 1 to 9."""
    keep: float = 0.8
    """k of 003: the share of ranked spans that may be edited, in (0, 1]; ceil(k n) are kept."""
    filter_order: FilterOrder = "paper"
    question_filter: QuestionFilter = "words"
    edit_calls: EditCalls = "each"
    parser: str = "auto"
    """`auto`: an installed spaCy model of the item's language, else rules; `rules`; or the name of a model."""
    seed: int = 0
    """Of the order of the groups, and of everything the rules draw; per item by its id, not its place."""


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
