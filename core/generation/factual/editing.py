"""Replacements -> the next level's text, and the checks that nothing else changed (003: only the group's spans)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

from core.generation.factual.steps import EditTask
from core.generation.language import main_script, same_text, scripts_of, zeros_of
from core.generation.records import Edit

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
