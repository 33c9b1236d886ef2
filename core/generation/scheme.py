"""A scheme of generation: a kind of run that makes texts of known quality from questions and references."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from core.formats.generation import GeneratedText
from core.generation.parse import Parsers
from core.llm.asking import Model
from core.llm.prompts import Prompt
from core.schema.runs import Kind, KindSettings, Reads, Work
from core.schema.settings import seed_setting
from core.schema.study import Material

Task = Literal["qa", "qa-passage", "summary", "translation"]
SEED: Any = seed_setting(
    "seed of everything that is drawn: the same seed gives the same groups, and with rules the same answers"
)
"""Of the order of groups, and of everything that rules draw; per item by its id, not its place."""


class GenerationSettings(KindSettings):
    """What fixes a run that makes texts beside model and prompts."""

    MODEL_FREE: ClassVar[bool] = True
    DRAWN: ClassVar[bool] = True

    @property
    def level_names(self) -> tuple[str, ...]:
        """Best first."""
        raise NotImplementedError

    @property
    def first_level(self) -> str | None:
        """What the level that is as good as the reference is called in a sentence; None: it is not made."""
        raise NotImplementedError

    @property
    def asked_for(self) -> Task | None:
        """What the texts of the file are; None: questions with references."""
        return None


@dataclass(frozen=True)
class Writer:
    """Who writes the texts: a model with its prompts, or rules with what all items of the file hold."""

    model: Model | None
    prompts: Mapping[str, Prompt]
    pool: Any = None
    """Of `core.generation.facts`, where rules write."""
    parsers: Parsers | None = None
    """Where a dependency parse comes from; None: from this process alone."""


@dataclass(frozen=True)
class Came:
    """What came of an item, read from its trace."""

    failures: tuple[tuple[str, str], ...]
    """(step, reason) of what is missing; empty: all levels are there."""
    temporary: bool
    """Whether the server or the line failed, so that another run may mend it."""
    texts: Mapping[str, str]
    """Level -> text, for the levels that were made."""
    verbatim: bool
    """Whether the first level is the reference word for word."""
    spans_by: str = ""
    """What found the facts: `rules`, or `spacy MODEL VERSION`; empty: none were looked for."""


@dataclass(frozen=True, kw_only=True)
class Scheme(Kind):
    """A kind of run that makes texts."""

    work: Work = "generation"
    reads: Reads = "questions"
    does: str = "makes the answers"
    Trace: type[Any]
    """What is kept of each item: everything that was done."""
    make: Callable[[Any, Material, Writer], Awaitable[Any]]
    """All levels of one item, for (settings, material, writer), as a Trace."""
    came: Callable[[Any], Came]
    """For a trace."""
    rows: Callable[[Any, str], Sequence[GeneratedText]]
    """An item's levels as long tables have them, for (trace, the name of its source)."""
    broken: Callable[[Any, str, str, str, str], Any]
    """The trace of an item on which we failed ourselves, for (settings, item, backend, reason, detail)."""
    report: Callable[[Any, Sequence[Any], Mapping[str, Material], Mapping[tuple[str, str], int]], bytes]
    """report.json, for (settings, traces, materials by item, failures of the run)."""
    more_files: Callable[[Sequence[Material], Sequence[GeneratedText]], Mapping[str, bytes]] = lambda *_: {}
    """Files that only this scheme writes."""
    notes: Callable[[Any, Sequence[Material], Parsers], tuple[str, ...]] = lambda *_: ()
    """What to know before the run starts, for (settings, materials, where a parse comes from). Raises InputError where the
    settings cannot be kept on this machine."""
    levels_by: tuple[str, ...] = ()
    """Purposes of the prompts that make the levels worse: what a run's texts are labelled by."""
