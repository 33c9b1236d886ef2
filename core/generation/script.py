"""The script a text is written in: what can be told of a language without knowing it.

Two languages that share a script (English and German, Russian and Ukrainian) cannot be told apart here.
"""

from collections import Counter
from functools import lru_cache

import regex

SCRIPTS = [
    "Latin",
    "Cyrillic",
    "Greek",
    "Arabic",
    "Hebrew",
    "Devanagari",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Thai",
    "Georgian",
    "Armenian",
    "Bengali",
    "Gujarati",
    "Gurmukhi",
    "Kannada",
    "Malayalam",
    "Oriya",
    "Sinhala",
    "Tamil",
    "Telugu",
    "Ethiopic",
    "Khmer",
    "Lao",
    "Myanmar",
    "Tibetan",
    "Mongolian",
    "Thaana",
    "Syriac",
    "Cherokee",
    "Tifinagh",
    "Nko",
    "Javanese",
    "Bopomofo",
]
"""As Unicode names them; letters of any other script count as `Other`."""
JAPANESE = "Japanese"
"""Kana, and the Han characters beside them."""
FOREIGN_SHARE = 0.25
"""Share of a text's letters from which a second script is part of how the text is written."""
KANA_SHARE = 0.1
"""Share of kana among Han and kana from which a text is Japanese: Chinese quotes a stray kana at most."""
SURELY_CHINESE = 12
"""Han characters without any kana that no Japanese sentence has; fewer may be a Japanese name or noun."""

# In a text of another script, Latin words with a capital or a digit are names: Microsoft, COVID, mRNA.
_LATIN_NAME = regex.compile(
    r"(?<![\p{L}\p{N}])(?=\p{Latin}*[\p{Lu}\p{Nd}])[\p{Latin}\p{Nd}]+(?![\p{L}\p{N}])"
)
_OTHER_LETTER = regex.compile(r"[\p{L}--\p{Latin}--\p{Lm}]", regex.V1)
_LETTER = regex.compile(r"[\p{L}--\p{Lm}]", regex.V1)


@lru_cache(maxsize=16_384)
def _script_of_letter(letter: str) -> str:
    for name in SCRIPTS:
        if regex.match(rf"\p{{Script={name}}}", letter):
            return name
    return "Other"


def letters_by_script(text: str) -> Counter[str]:
    """How many letters the text has of each script; kana and Han together are Japanese where kana are many."""
    found = Counter(_script_of_letter(letter) for letter in _LETTER.findall(text))
    kana = found["Hiragana"] + found["Katakana"]
    if kana and kana >= KANA_SHARE * (kana + found["Han"]):
        found[JAPANESE] = kana + found["Han"]
        del found["Hiragana"], found["Katakana"], found["Han"]
    return +found


def script_of(text: str) -> str | None:
    """The script most letters are of, such as `Latin`; None: there is no letter, as in "1985"."""
    counts = letters_by_script(text)
    return max(sorted(counts), key=counts.__getitem__) if counts else None


def same_script(first: str, second: str) -> bool:
    """Whether two texts are written in the same script; True where one has no letters and nothing can be told.

    Names in Latin letters inside another script are looked past. Where the texts' scripts differ, each must be
    part of the other text too, with a quarter of its letters or more. A short text in Han characters may be
    Chinese or Japanese; a long one without kana is Chinese.
    """
    if _agree(letters_by_script(first), letters_by_script(second)):
        return True
    return _agree(letters_by_script(_without_names(first)), letters_by_script(_without_names(second)))


def _without_names(text: str) -> str:
    return _LATIN_NAME.sub("", text) if _OTHER_LETTER.search(text) else text


def _agree(first: Counter[str], second: Counter[str]) -> bool:
    if not first or not second:
        return True
    _read_as_japanese(first, second)
    _read_as_japanese(second, first)
    return all(
        one[name] >= FOREIGN_SHARE * one.total()
        for one in (first, second)
        for name in (_most(first), _most(second))
    )


def _read_as_japanese(one: Counter[str], other: Counter[str]) -> None:
    """Count a few Han characters as Japanese where the other text is."""
    if other[JAPANESE] and 0 < one["Han"] < SURELY_CHINESE:
        one[JAPANESE] += one.pop("Han")


def _most(counts: Counter[str]) -> str:
    return max(sorted(counts), key=counts.__getitem__)
