"""What the steps of factual perturbation are given and leave behind, and the checks that nothing but a group's spans changed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
from pydantic import field_validator

from core.generation.factual.parse import Span
from core.generation.language import main_script, same_text, scripts_of, zeros_of
from core.generation.scheme import SEED, GenerationSettings
from core.schema.runs import PromptSlot
from core.schema.settings import Remark, setting

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


Places = tuple[tuple[int, int], ...]
"""Start and end of every span in a text, by span number."""

MOST_TIMES, MOST_MORE = 4, 40
"""A replacement may have this many times the old text's characters, and this many more."""
MARKS = "⟦⟧⟪⟫[]{}"
"""Characters that mark spans for a model."""
_INVISIBLE = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|[\p{Cf}--[\u00ad\u200c\u200d]]", regex.V1)


@dataclass(frozen=True)
class Problem:
    """Why an edit cannot stand."""

    kind: str
    """A few words under which it is counted."""
    detail: str
    """One sentence, said to the model too."""


def splice(text: str, places: Places, edits: Iterable[Edit]) -> tuple[str, Places]:
    """The text with the edits in their places, and where every span stands afterwards."""
    new = {edit.span: edit.new for edit in edits}
    pieces: list[str] = []
    moved: dict[int, tuple[int, int]] = {}
    end = length = 0
    for number in sorted(range(len(places)), key=lambda number: places[number]):
        start, stop = places[number]
        content = new.get(number, text[start:stop])
        pieces += [text[end:start], content]
        length += start - end
        moved[number] = (length, length + len(content))
        length += len(content)
        end = stop
    return "".join([*pieces, text[end:]]), tuple(moved[number] for number in range(len(places)))


def replacement_problem(old: str, new: str, text: str) -> Problem | None:
    """What keeps `new` from standing where `old` stood in `text`; None: nothing."""
    shown = f"“{_short(new)}” in place of “{_short(old)}”"
    if regex.search(r"[\n\r\u0085\p{Zl}\p{Zp}]", new):
        return Problem("line break", f"{shown} holds a line break.")
    if _INVISIBLE.search(new) and not set(_INVISIBLE.findall(new)) <= set(old):
        return Problem("control character", f"{shown} holds an invisible character.")
    if not regex.search(r"[^\s\p{C}]", new):
        return Problem("blank", f"The replacement of “{_short(old)}” is blank.")
    if any(mark in new and mark not in old for mark in MARKS):
        return Problem("marks left in", f"{shown} still holds a mark.")
    if new != new.strip() or regex.match(r"[\p{M}\u200c\u200d]", new):
        return Problem("broken character", f"{shown} begins or ends with a blank, or with half a character.")
    if same_text(old, new):
        return Problem("span unchanged", f"{shown} says the same: every span to change has to be changed.")
    if len(new) > MOST_TIMES * len(old) + MOST_MORE:
        return Problem("too long", f"{shown} is far longer than what it replaces.")
    return _script_problem(old, new, text, shown)


def _script_problem(old: str, new: str, text: str, shown: str) -> Problem | None:
    main = main_script(text)
    allowed = scripts_of(old) | ({main} if main else set())
    if strange := scripts_of(new) - allowed:
        return Problem("script changed", f"{shown} is in another script ({', '.join(sorted(strange))}).")
    if strange_digits := zeros_of(new) - (zeros_of(old) or zeros_of(text) | {0x30}):
        return Problem(
            "script changed", f"{shown} has digits of another script ({chr(min(strange_digits))} ...)."
        )
    return None


def edits_problem(task: EditTask, edits: Sequence[Edit]) -> Problem | None:
    """What keeps the edits from making this level: each span of the group once, none else, each really changed."""
    numbers = [edit.span for edit in edits]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        return Problem("span repeated", f"Span {twice[0]} is replaced more than once.")
    if held := sorted(set(numbers) & set(task.held)):
        return Problem("protected span changed", f"Span {held[0]} has to stay as it is.")
    if strange := sorted(set(numbers) - set(task.group)):
        return Problem("protected span changed", f"Span {strange[0]} is not among those to change.")
    if missing := sorted(set(task.group) - set(numbers)):
        return Problem("span missing", f"Span {missing[0]} has no replacement.")
    for edit in edits:
        start, end = task.places[edit.span]
        if problem := replacement_problem(task.text[start:end], edit.new, task.text):
            return problem
    return None


def check_edit(task: EditTask, after: str, after_places: Places) -> Problem | None:
    """Compare the two texts themselves, whoever made the second: nothing but the group's spans differs."""
    before_fixed, after_fixed = fixed_text(task.text, task.places), fixed_text(after, after_places)
    if before_fixed != after_fixed:
        return Problem("text around changed", "Text outside the spans is not as it was.")
    for number, (old, new) in enumerate(zip(task.places, after_places, strict=True)):
        before, now = task.text[slice(*old)], after[slice(*new)]
        if number in task.group and same_text(before, now):
            return Problem("span unchanged", f"Span {number}, “{_short(before)}”, is as it was.")
        if number not in task.group and before != now:
            return Problem(
                "protected span changed", f"Span {number}, “{_short(before)}”, has to stay as it is."
            )
    return None


def fixed_text(text: str, places: Places) -> tuple[str, ...]:
    """What stands before, between and after the spans."""
    order = sorted(places)
    starts, ends = [start for start, _ in order], [end for _, end in order]
    return tuple(text[a:b] for a, b in zip([0, *ends], [*starts, len(text)], strict=True))


def between(pieces: Sequence[str], text: str) -> tuple[str, ...] | None:
    """What a text has in the gaps between the pieces, each gap as short as can be; None: it does not hold them.

    The text has to begin with the first piece and to end with the last. No gap is empty.
    """
    first, *rest = pieces
    if not rest:
        return () if text == first else None
    *middle, last = rest
    if not text.startswith(first):
        return None
    found: list[str] = []
    at = len(first)
    for piece in middle:
        start = text.find(piece, at + 1)
        if start < 0:
            return None
        found.append(text[at:start])
        at = start + len(piece)
    end = len(text) - len(last)
    if end <= at or not text.endswith(last):
        return None
    return (*found, text[at:end])


def _short(text: str) -> str:
    plain = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return plain if len(plain) <= 60 else plain[:59] + "…"
