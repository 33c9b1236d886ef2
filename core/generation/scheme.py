"""Schemes of generation: kinds of runs that make texts of known quality from questions and references."""

from collections.abc import Mapping, Sequence
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
SEED: Any = seed_setting("random seed: the same seed gives the same groups and, with rules, the same answers")
"""Seed of the order of groups and of everything that rules draw; each item draws by its id, not its position."""


class GenerationSettings(KindSettings):
    """Settings that, with model and prompts, determine a run that makes texts."""

    MODEL_FREE: ClassVar[bool] = True
    DRAWN: ClassVar[bool] = True

    @property
    def level_names(self) -> tuple[str, ...]:
        """Names of the levels, best first."""
        raise NotImplementedError

    @property
    def first_level(self) -> str | None:
        """Name, for messages, of the level that is as good as the reference; None if it is not made."""
        raise NotImplementedError

    @property
    def asked_for(self) -> Task | None:
        """Kind of texts in the file; None for questions with references."""
        return None


@dataclass(frozen=True)
class Writer:
    """The writer of the texts: a model with prompts, or rules with a pool of words from all items of the file."""

    model: Model | None
    prompts: Mapping[str, Prompt]
    pool: Any = None
    """The pool of `core.generation.facts`, if rules write."""
    parsers: Parsers | None = None
    """Parsers for dependency parses; None uses only this process."""


@dataclass(frozen=True)
class Came:
    """The result for an item, read from its trace."""

    failures: tuple[tuple[str, str], ...]
    """(step, reason) of each missing level; empty if all levels were made."""
    temporary: bool
    """Whether the server or the connection failed, so that another run may succeed."""
    texts: Mapping[str, str]
    """Level -> text, for the levels that were made."""
    verbatim: bool
    """Whether the first level is the reference word for word."""
    spans_by: str = ""
    """How facts were found: `rules` or `spacy MODEL VERSION`; empty if the scheme uses no facts."""


class Scheme(Kind):
    """A kind of run that makes texts."""

    work: Work = "generation"
    reads: Reads = "questions"
    does = "makes the answers"
    Trace: type[Any]
    """Stored record of each item: everything that was done."""
    levels_by: tuple[str, ...] = ()
    """Purposes of the prompts that make the levels; their names label a run's texts."""

    async def make(self, settings: Any, material: Material, writer: Writer) -> Any:
        """Make all levels of one item, as a Trace."""
        raise NotImplementedError

    def came(self, trace: Any) -> Came:
        """The item's result."""
        raise NotImplementedError

    def rows(self, trace: Any, source: str) -> Sequence[GeneratedText]:
        """The item's levels for long tables. source: name of the system."""
        raise NotImplementedError

    def broken(self, settings: Any, item_id: str, backend: str, reason: str, detail: str) -> Any:
        """The trace of an item that failed through a defect of Assay."""
        raise NotImplementedError

    def report(
        self,
        settings: Any,
        traces: Sequence[Any],
        materials: Mapping[str, Material],
        failures: Mapping[tuple[str, str], int],
    ) -> bytes:
        """The contents of report.json. materials: by item. failures: of the run, by step and reason."""
        raise NotImplementedError

    def more_files(
        self, materials: Sequence[Material], texts: Sequence[GeneratedText]
    ) -> Mapping[str, bytes]:
        """Files that only this scheme writes, by name."""
        return {}

    def notes(self, settings: Any, materials: Sequence[Material], parsers: Parsers) -> tuple[str, ...]:
        """Notes before the run starts. Raises InputError if this machine cannot follow the settings."""
        return ()
