"""What generation leaves behind for every item: each step's result, so that a person can follow it."""

from dataclasses import dataclass
from typing import Literal

A0Origin = Literal["llm", "paraphrase", "verbatim"]
"""Written by the model; taken from the file's paraphrase; the reference word for word."""
FilterOrder = Literal["paper", "trutheval"]
"""`paper`: drop what the question names, then keep the first ceil(k n); `trutheval`: the other way round."""
QuestionFilter = Literal["words", "trutheval"]
"""`words`: punctuation and case off on both sides; `trutheval`: with the quirks of that project's code."""
EditCalls = Literal["each", "shared"]
"""`each`: one call a level, each from the level before, as 003 does; `shared`: one call for all levels."""
Planning = Literal["none", "alternatives"]
"""`alternatives`: before an edit the model lists two or three for every span and then chooses, as Factual asks it to."""
Task = Literal["qa", "qa-passage", "summary", "translation"]


@dataclass(frozen=True)
class Span:
    """A stretch of A0 that may carry a fact."""

    start: int
    end: int
    """Character offsets into A0, end exclusive."""
    text: str
    kind: str
    """What found it: a dependency such as `dobj`, or a rule such as `year`."""


@dataclass(frozen=True)
class Dropped:
    """A span that is never edited, and why."""

    span: int
    reason: Literal["in the question", "not kept"]
    word: str = ""
    """The word it shares with the question."""


@dataclass(frozen=True)
class Edit:
    """One span's replacement."""

    span: int
    old: str
    new: str
    how: str
    """`llm`, or the rule that made it, such as `year moved`."""


@dataclass(frozen=True)
class FactualLevel:
    """One of A0 ... An."""

    name: str
    text: str
    group: tuple[int, ...] = ()
    """Spans edited at this level, in the order of the text."""
    edits: tuple[Edit, ...] = ()
    attempts: int = 0
    """Answers it took; 0: no model was asked."""
    note: str = ""
    """What is special about this level, such as that no span was left for it."""


@dataclass(frozen=True)
class FactualTrace:
    """Everything that was done to one item."""

    item_id: str
    backend: str
    """`rules`, `openai` or `vllm`."""
    a0_from: A0Origin | None = None
    spans: tuple[Span, ...] = ()
    """In the order of the text."""
    spans_by: str = ""
    """`spacy MODEL VERSION`, or `rules`."""
    stop_words: str = ""
    """Name of the list used by the question filter."""
    dropped: tuple[Dropped, ...] = ()
    ranking: tuple[int, ...] = ()
    """Span numbers, most important first: those that were ranked."""
    kept: tuple[int, ...] = ()
    """Span numbers that may be edited, most important first."""
    groups: tuple[tuple[int, ...], ...] = ()
    """One for A1, A2 ...: span numbers."""
    levels: tuple[FactualLevel, ...] = ()
    """A0 first; as far as it came."""
    notes: tuple[str, ...] = ()
    prompts: dict[str, str] | None = None
    """Step -> sha256 of the prompt file; None without a model."""
    failed_step: str | None = None
    """None: every level was made."""
    reason: str | None = None
    """Why it failed, in the few words it is counted under."""
    detail: str = ""
    temporary: bool = False
    """The failure was the server's: a resumed run tries again."""


@dataclass(frozen=True)
class DamageLevel:
    """One of the levels 0 (as good as the reference) to 5 (wrong throughout)."""

    level: int
    text: str | None
    """None: no text passed the checks."""
    how: str
    """`llm`, `paraphrase`, `verbatim`, or the rules that made it, joined by ` + `."""
    attempts: int = 0
    reason: str | None = None
    detail: str = ""
    temporary: bool = False


@dataclass(frozen=True)
class DamageTrace:
    """Everything that was done to one item."""

    item_id: str
    backend: str
    task: Task
    levels: tuple[DamageLevel, ...] = ()
    notes: tuple[str, ...] = ()
    prompts: dict[str, str] | None = None
