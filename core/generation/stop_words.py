"""Stop words by language, from data/stopwords: the question filter ignores them, the rules never edit them."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import regex

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "stopwords"
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


@dataclass(frozen=True)
class StopWords:
    """A list and what it is called in records."""

    name: str
    """Such as `en`, `de (guessed)`, or `none`."""
    words: frozenset[str]
    """Lower case, as in the file."""


NO_STOP_WORDS = StopWords("none", frozenset())


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """Languages that have a list."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


@lru_cache(maxsize=64)
def words_of(language: str) -> frozenset[str]:
    """The words of one list; empty for a language without one."""
    if language not in languages():
        return frozenset()
    lines = (_FOLDER / f"{language}.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def stop_words_for(language: str, text: str = "") -> StopWords:
    """The list of a language tag; for `und`, the list of the language that the text seems to be in."""
    base = language.replace("_", "-").split("-")[0].casefold()
    if base == UNDETERMINED:
        guessed = guess_language(text)
        return StopWords(f"{guessed} (guessed)", words_of(guessed)) if guessed else NO_STOP_WORDS
    words = words_of(base)
    return StopWords(base, words) if words else NO_STOP_WORDS


def known_language(language: str, text: str) -> str:
    """The tag without its region; where the file names none, the guess, or `und`."""
    base = language.replace("_", "-").split("-")[0].casefold()
    return base if base != UNDETERMINED else guess_language(text) or UNDETERMINED


@lru_cache(maxsize=1024)
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
