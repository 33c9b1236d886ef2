"""How long a text is, where its sentences end, and texts brought to a length."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import regex

from core.generation.damage_checks import LENGTH_TOLERANCE, count_words
from core.generation.script import is_unspaced

SHORTEST_CUT = 5
"""A text below so many words is not made by cutting a longer one: half a phrase is no answer."""
MOST_FILLERS = 3
"""Filler sentences in a row."""
_BOUNDARY = regex.compile(
    r"(?<=[.!?…؟।][\"”»’')]*)(?<!(?:^|[^\p{L}])(?:\p{Lu}|St|Dr|Mr|Mrs|ca|bzw|Nr)\.)(?<!\p{Nd}\.)(?<!\p{Thai}\.)\s+(?=[\"“„«(¿¡]*[\p{Lu}\p{Lo}\p{N}])"
    r"|(?<=\p{Nd}{3}\.)\s+(?=\p{Lu})|(?<=[。！？][」』）]*)(?=[^」』）\s])"
)


def lengths_within(reference: str) -> range:
    """The numbers of words that a summary of this reference may have."""
    wanted = count_words(reference)
    slack = max(1, int(LENGTH_TOLERANCE * wanted + 1e-9))
    return range(wanted - slack, wanted + slack + 1)


def within(reference: str, text: str) -> bool:
    """Whether the text is as long as the reference, give or take what a summary may differ."""
    return count_words(text) in lengths_within(reference)


def sentences(text: str) -> list[str]:
    """The text's sentences, each with the blanks that follow it; joined, they are the text."""
    found: list[str] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        found.append(text[start : match.end()])
        start = match.end()
    return [part for part in [*found, text[start:]] if part]


def shaped(parts: Iterable[str], reference: str, whole: bool = False) -> str | None:
    """Sentences strung together to the reference's length; None: there are not enough of them.

    whole: None rather than a last sentence cut short.
    """
    wanted = count_words(reference)
    dense = is_unspaced(reference)
    text = ""
    for part in parts:
        piece = part.strip()
        if not piece:
            continue
        longer = piece if not text else text + ("" if dense else " ") + piece
        if count_words(longer) > wanted:
            if within(reference, longer):
                return longer
            if text and within(reference, text):
                return text
            return None if whole or wanted < SHORTEST_CUT else _cut(longer, wanted, dense)
        text = longer
    return text if text and within(reference, text) else None


def _cut(text: str, wanted: int, dense: bool) -> str:
    """The first words (or characters), closed with the mark that the text's sentences end with."""
    end = text.rstrip()[-1]
    mark = end if end in ".!?。！？।؟" else ""
    if dense:
        return text[: max(1, wanted - len(mark))].rstrip("、，,") + mark
    kept: list[str] = []
    for word in text.split(" "):
        if kept and count_words(" ".join([*kept, word])) > wanted:
            break
        kept.append(word)
    cut = str(regex.sub(r"[^\p{L}\p{M}\p{N}%)]+$", "", " ".join(kept)))
    return cut + mark


def filler(fillers: Sequence[str], wanted: int, dense: bool) -> str | None:
    """Whole filler sentences, the combination whose length is nearest; None: the language has none."""
    if not fillers or wanted < 1:
        return None
    most = min(len(fillers), MOST_FILLERS)
    sets = [chosen for size in range(1, most + 1) for chosen in combinations(fillers, size)]
    glue = "" if dense else " "
    return min((glue.join(chosen) for chosen in sets), key=lambda text: abs(count_words(text) - wanted))
