"""The words of a text that say something: candidates for a change, and what can be put in their place."""

from collections.abc import Iterator
from functools import lru_cache

import regex

from core.generation.factual.vocabulary import OPENERS, UNIT_WORDS, month_forms
from core.generation.script import UNSPACED
from core.generation.stop_words import words_of

_CASELESS = r"[\p{scx=Arab}\p{scx=Hebr}\p{scx=Deva}\p{scx=Beng}\p{scx=Taml}\p{scx=Geor}\p{scx=Hang}]"
_WORD = regex.compile(
    rf"[[\p{{L}}\p{{M}}]--[{UNSPACED}]]+(?:[-'’][[\p{{L}}\p{{M}}]--[{UNSPACED}]]+)*", regex.V1
)
_RUN = regex.compile(
    r"\p{Han}{2,8}|[\p{Katakana}ー]{2,20}|[\p{scx=Thai}]{3,40}|[\p{scx=Khmr}\p{scx=Laoo}\p{scx=Mymr}]{3,40}"
)
_PARTICLES = frozenset("的了是在与與及有为為于於之也都而但或从從由被把对對将將并並因所如吗嗎呢约約")
"""Single characters that hardly ever stand inside a longer Chinese word."""
_PAIRS = regex.compile(r"(?<!\p{L})(?:על ידי|על יד|على يد|عن طريق)(?!\p{L})")
"""Two words that are one preposition: neither is a word of its own there."""
_LONG, _LONG_CASELESS = 4, 3


def content_words(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Places of the content words; in scripts without spaces, runs of one script between function words."""
    stop = words_of("en" if language == "und" else language)
    units = frozenset(UNIT_WORDS.get(language, "").split())
    paired = [match.span() for match in _PAIRS.finditer(text)]
    for word in _WORD.finditer(text):
        folded = word.group().casefold()
        long = _LONG_CASELESS if regex.match(_CASELESS, folded) else _LONG
        inside = any(start <= word.start() < end for start, end in paired)
        if len(folded) >= long and folded not in stop and folded not in OPENERS and not inside:
            yield from _whole(text, *word.span())
    runs = text
    if unspaced_months := [month for month in month_forms(language) if regex.search(r"\p{Thai}", month)]:
        # A function word may stand inside the name of a month, and half of one is no word.
        months = "|".join(map(regex.escape, unspaced_months))
        runs = regex.sub(months, lambda found: "\n" * len(found.group()), text)
    for run in _RUN.finditer(without_function_words(runs, stop)):
        if run.group() not in units:
            yield from _whole(text, *run.span())


def _whole(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if on_boundaries(text, start, end):
        yield start, end


def on_boundaries(text: str, start: int, end: int) -> bool:
    """Whether a stretch is blank-free at its ends, on one line, has a letter or digit, and cuts no character."""
    piece = text[start:end]
    if (
        piece != piece.strip()
        or not regex.search(r"[\p{L}\p{N}]", piece)
        or regex.search(r"[\p{Zl}\p{Zp}\p{Cc}]", piece)
    ):
        return False
    joined = r"[\p{M}\u200c\u200d]"
    if regex.match(joined, piece) or regex.match(joined, text[end : end + 1]):
        return False
    return not text[start - 1 : start].endswith("\u200d")


def without_function_words(text: str, stop: frozenset[str]) -> str:
    """The text, as long as before, with line breaks for the function words of scripts without spaces.

    In such scripts they are where one word ends and the next begins.
    """
    cutter = _cutter(stop)
    return cutter.sub(lambda found: "\n" * len(found.group()), text) if cutter else text


@lru_cache(maxsize=64)
def _cutter(stop: frozenset[str]) -> "regex.Pattern[str] | None":
    unspaced = [word for word in stop if regex.fullmatch(rf"[{UNSPACED}\p{{M}}]+", word)]
    cutting = [word for word in unspaced if word in _PARTICLES or not regex.fullmatch(r"\p{Han}", word)]
    cutting.sort(key=lambda word: (-len(word), word))
    return regex.compile("|".join(map(regex.escape, cutting))) if cutting else None
