"""The language of a text: the file's tag without its region, or a guess where the file names none."""

from collections import Counter
from functools import lru_cache

import regex

from core.generation.stop_words import languages, words_of
from core.schema import Material

UNDETERMINED = "und"
"""BCP 47 for "nobody said which language"."""
_BY_SCRIPT = (
    (r"[\p{Hiragana}\p{Katakana}]", "ja"),
    (r"\p{Hangul}", "ko"),
    (r"\p{Han}", "zh"),
    (r"\p{Thai}", "th"),
    (r"\p{Hebrew}", "he"),
    (r"\p{Arabic}", "ar"),
    (r"\p{Devanagari}", "hi"),
    (r"\p{Greek}", "el"),
)
_LETTERS_WANTED = 0.3
"""Share of a text's letters a script needs to decide the language: a quoted name is no evidence."""


def base_language(tag: str) -> str:
    """`de` of `de-AT`."""
    return tag.replace("_", "-").split("-")[0].casefold()


def known_language(tag: str, text: str) -> str:
    """The tag without its region; where the file names none, the guess, or `und`."""
    base = base_language(tag)
    return base if base != UNDETERMINED else guess_language(text) or UNDETERMINED


def language_of(material: Material) -> str:
    """The item's language, guessed from question and reference where the file names none."""
    item = material.item
    return known_language(item.language, f"{item.question} {item.reference}")


@lru_cache(maxsize=4096)
def guess_language(text: str) -> str | None:
    """By script, and in Latin and Cyrillic by the most frequent stop words; None: no evidence, or a tie."""
    letters = len(regex.findall(r"\p{L}", text))
    for script, language in _BY_SCRIPT:
        if letters and len(regex.findall(script, text)) >= _LETTERS_WANTED * letters:
            return language
    counts = Counter(regex.findall(r"[\p{L}\p{M}]+", text.casefold()))
    scores: dict[str, int] = {}
    for language in languages():
        words = words_of(language)
        scores[language] = sum(count for word, count in counts.items() if word in words)
    ranked = sorted(scores.values(), reverse=True)
    if not ranked or ranked[0] == 0 or ranked[0] == ranked[1]:
        return None
    return max(scores, key=lambda language: scores[language])
