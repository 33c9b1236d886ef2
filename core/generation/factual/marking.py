"""Texts with their spans marked, as a model is shown them; marks that a text holds itself are defused."""

from collections.abc import Callable, Collection, Mapping, Sequence

from core.generation.factual.editing import Places

_LOOK_ALIKES = str.maketrans({"⟦": "(", "⟧": ")", "⟪": "(", "⟫": ")"})
_BRACKETS = str.maketrans({"[": "(", "]": ")", "{": "(", "}": ")"})


def defused(text: str) -> str:
    """The text with round brackets for characters that would be taken for marks."""
    return text.translate(_LOOK_ALIKES)


def bracket_free(text: str) -> str:
    """The same for the marks of 003: square brackets and braces. Length and places stay."""
    return text.translate(_BRACKETS)


def numbered(text: str, places: Places, numbers: Collection[int], held: Collection[int] = ()) -> str:
    """The text with ⟦3: ...⟧ around the numbered spans and ⟪...⟫ around those held."""
    marks = {number: (f"⟦{number}: ", "⟧") for number in numbers}
    marks |= dict.fromkeys(held, ("⟪", "⟫"))
    return _marked(text, places, marks, defused)


def bracketed(text: str, places: Places, numbers: Collection[int], held: Collection[int] = ()) -> str:
    """The text with [...] around the spans to change and {{...}} around those held, as 003 shows it."""
    marks = dict.fromkeys(numbers, ("[", "]"))
    marks |= dict.fromkeys(held, ("{{", "}}"))
    return _marked(text, places, marks, bracket_free)


def _marked(
    text: str, places: Places, marks: Mapping[int, tuple[str, str]], defuse: Callable[[str], str]
) -> str:
    pieces: list[str] = []
    end = 0
    for number in sorted(marks, key=lambda number: places[number]):
        start, stop = places[number]
        opening, closing = marks[number]
        pieces += [defuse(text[end:start]), opening, defuse(text[start:stop]), closing]
        end = stop
    return "".join([*pieces, defuse(text[end:])])


def span_list(text: str, places: Places, numbers: Sequence[int]) -> str:
    """One line a span: its number and its text."""
    return "\n".join(f"{number}: {defused(text[slice(*places[number])])}" for number in numbers)


def with_brackets(text: str, places: Places, numbers: Collection[int]) -> str:
    """The text with [...] around spans and all else as it is: the form of published reports."""
    return _marked(text, places, dict.fromkeys(numbers, ("[", "]")), str)
