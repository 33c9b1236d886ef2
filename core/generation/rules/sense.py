"""Numbers that contradict each other within a sentence: `two hearts, four of which` gives a change away."""

from itertools import pairwise

import regex

from core.generation.factual.vocabulary import NUMBER_WORDS
from core.generation.rules.lengths import sentences
from core.generation.rules.numbers import NUMBER, digits_value

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
