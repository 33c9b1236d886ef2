"""Words that can stand where another stood: of its ending, its capital and its class."""

from collections.abc import Collection, Iterable

import regex

from core.generation.factual.vocabulary import ANTONYMS, HEDGES, NUMBER_WORDS
from core.generation.rules.gazetteer import Gazetteer
from core.generation.rules.pool import Pool
from core.generation.script import main_script
from core.generation.stop_words import words_of

_ENGLISH = regex.compile(r"(?:ing|ed|ly|tions?|ments?|ness|ity|ists?|ous|ive|al)$")
"""English endings that tell a part of speech; a bare -s may be a verb's."""
_LONGER = 3
"""Letters by which two words may differ in length."""


def of_same_ending(word: str, lists: Gazetteer, pool: Pool) -> list[str]:
    """Words of the data set with the ending of this one: so likely its part of speech, gender and number."""
    if lists.language == "en":
        return _english(word.lower(), pool)
    offered = pool.words.get((lists.language, main_script(word)), ())
    return [
        new
        for new in offered
        if new[-3:] == word[-3:] and _same_case(word, new) and abs(len(new) - len(word)) <= _LONGER
    ]


def _english(old: str, pool: Pool) -> list[str]:
    ending = _ENGLISH.search(old)
    if ending is None:
        return []
    stop = words_of("en")
    return [
        word
        for word in sorted(pool.vocabulary.get("en", ()))
        if word not in stop and (found := _ENGLISH.search(word)) and found.group() == ending.group()
    ]


def of_listed_ending(word: str, lists: Gazetteer) -> list[str]:
    """Words of the language's lists with the suffix of this one, such as -ung; a capital is kept."""
    for suffix, words in lists.suffixes.items():
        if word.endswith(suffix) and len(word) > len(suffix) + 2 and word.lower() not in lists.entries:
            return [new if _same_case(word, new) else new.capitalize() for new in words]
    return []


def of_listed_names(name: str, lists: Gazetteer) -> list[str]:
    """Names of the lists with as many words and the ending of this one: for names of no known class."""
    if not name[:1].isupper():
        return []
    words = name.count(" ")
    every = [
        form
        for form, entries in lists.entries.items()
        if entries[0].kind == "name" and form.count(" ") == words and main_script(form) == main_script(name)
    ]
    rest = [] if main_script(name) == "Cyrillic" else every
    return next((found for length in (2, 1) if (found := _ending(name, every, length))), rest)


def of_vocabulary(word: str, kind: str, language: str) -> list[str]:
    """Other hedges or numbers, or opposites of the same ending, of a language without pairs."""
    if kind in ("number", "ordinal") and not regex.search(r"\p{Nd}", word):
        return NUMBER_WORDS.get(language, "").split() if kind == "number" else []
    if kind == "hedge":
        return [new.replace("_", " ") for new in HEDGES.get(language, "").split()]
    return _ending(word, ANTONYMS.get(language, "").split(), 2) if kind == "antonym" else []


def nearest(word: str, words: Iterable[str]) -> list[str]:
    """The words of two letters' the same ending, else of one, else any with the same capital or none."""
    same = sorted({new for new in words if _same_case(word, new)})
    same = [new for new in same if abs(len(new) - len(word)) <= max(_LONGER, len(word) // 2)] or same
    return next((found for length in (2, 1) if (found := _ending(word, same, length))), same)


def without_used(words: Collection[str], avoid: Collection[str]) -> list[str]:
    """The words that the text does not hold yet."""
    used = {word.casefold() for word in avoid}
    return [word for word in words if word.casefold() not in used]


def _ending(word: str, words: Iterable[str], length: int) -> list[str]:
    return [new for new in words if new[-length:] == word[-length:]]


def _same_case(first: str, second: str) -> bool:
    return first[:1].isupper() == second[:1].isupper()
