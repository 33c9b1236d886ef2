"""A capital at the start of a sentence: a name, or an ordinary word that merely stands first."""

from functools import lru_cache

import regex

from core.generation.factual.vocabulary import OPENERS
from core.generation.language import base_language
from core.generation.rules.gazetteer import gazetteer
from core.generation.stop_words import words_of

_NEAR = 60
"""Characters looked at on either side: a whole long text for every word would take too long."""
_SENTENCE_START = regex.compile(r"(?:^|[.!?…:。！？؟।]\s*|[\n\r]\s*)[\"'“”„«»(\[¿¡\s]*$")
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_NOUN_ENDING = regex.compile(
    r"(?:tion|sion|ment|ness|ity|ism|logy|phy|cist|gist|nomer)s?$|(?:ers|ors|ants|ists|ians|ies|ics)$"
)
_ADJECTIVE_ENDING = regex.compile(r"\p{Ll}{3}(?:ly|able|ible|ical|onal|ful|less|ous|ive|nent)$")
_PARTICIPLE = regex.compile(r"\p{L}{2,}(?:ed|ing)$")
_VERB_FOLLOWS = regex.compile(
    r"(?:['’]s\b|,?\s+(?:is|was|has|had|does|did|can|could|will|would|may|might)\b)"
)
_PLURAL = regex.compile(r"\p{L}{3,}(?<![sui])s$")
_AFTER_PLURAL = regex.compile(r"\s+(?:are|were|have|do|for|of|with|without|between|that|which)\b")


def opens_sentence(text: str, at: int) -> bool:
    """Whether a word at this place has its capital from the place alone."""
    return _SENTENCE_START.search(text[max(0, at - _NEAR) : at]) is not None


def is_ordinary_opener(text: str, start: int, end: int, language: str) -> bool:
    """Whether the single word that opens a sentence there is an ordinary word of the language, not a name.

    A word that has its capital inside a sentence too is a name, and so is one that the gazetteers list as a
    name. A word in small letters elsewhere, or of the lists' terms and opposites, is none. What remains is
    told by its form, in English alone; in other languages it counts as a name.
    """
    word, tag = text[start:end], base_language(language)
    tag = "en" if tag == "und" else tag
    entries = gazetteer(tag).entries.get(word, ())
    inside = _words_inside(text)
    if word in inside or any(entry.kind == "name" for entry in entries):
        return False
    folded = word[:1].lower() + word[1:]
    if entries or folded in words_of(tag) or folded in inside:
        return True
    return tag == "en" and (folded in OPENERS or _looks_ordinary(folded, text[end : end + _NEAR]))


@lru_cache(maxsize=8)
def _words_inside(text: str) -> frozenset[str]:
    """The words as they are written where no sentence begins; read once, for a text may have many openers."""
    return frozenset(
        match.group() for match in _WORD.finditer(text) if not opens_sentence(text, match.start())
    )


def _looks_ordinary(word: str, after: str) -> bool:
    """By the ending, and by what follows: `Kipling was` has a subject, `Measuring about` has none yet."""
    if _NOUN_ENDING.search(word) or _ADJECTIVE_ENDING.search(word):
        return True
    if _PARTICIPLE.search(word):
        return _VERB_FOLLOWS.match(after) is None
    return _PLURAL.search(word) is not None and _AFTER_PLURAL.match(after) is not None
