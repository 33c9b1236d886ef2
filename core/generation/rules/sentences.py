"""How long a text is, where its sentences end, texts brought to a length, and numbers that contradict each other within a sentence."""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

import regex

from core.generation.damage.checks import LENGTH_TOLERANCE
from core.generation.factual.vocabulary import NUMBER_WORDS
from core.generation.language import count_words, is_unspaced
from core.generation.rules.numbers import NUMBER, digits_value

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


_OF_THEM = (
    r"of (?:which|whom|them|these|those)|von (?:denen|ihnen)|d['’]entre (?:eux|elles)|de (?:los|las) cuales"
    r"|de (?:ellos|ellas)|из (?:них|которых)"
)
_SMALL = 19
"""Number words from two to twenty stand in the lists in this order, without a gap."""


WHOLES: dict[str, tuple[str, ...]] = {"en": ("all", "none"), "de": ("alle",)}
"""What stands in for a part where no other number fits, as in `three hearts, two of which`."""


def is_part(text: str, end: int) -> bool:
    """Whether the number that ends there is a part of the one before it."""
    return regex.compile(rf"\s(?:{_OF_THEM})\b").match(text, end) is not None


def makes_sense(text: str, language: str) -> bool:
    """Whether in every sentence a part (`four of which`) is smaller than the number it is a part of."""
    return all(_parts_fit(sentence, language) for sentence in sentences(text))


def _parts_fit(sentence: str, language: str) -> bool:
    if regex.search(_OF_THEM, sentence) is None:
        return True
    words = {word: at + 2 for at, word in enumerate(NUMBER_WORDS.get(language, "").split()[:_SMALL])}
    either = "|".join((*words, NUMBER))
    found = list(regex.finditer(rf"(?<![\p{{L}}\p{{N}}])(?i:{either})(?![\p{{L}}\p{{N}}])", sentence))
    for whole, part in pairwise(found):
        if is_part(sentence, part.end()):
            # Marks inside a number count for nothing here: parts are whole numbers.
            one, other = (words.get(m.group().lower()) or digits_value(m.group()) for m in (whole, part))
            if other >= one:
                return False
    return True
