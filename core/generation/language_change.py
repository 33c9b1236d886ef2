"""Whether a text left its reference's language for another of the same script: told by stop words, and only if clear.

Names, numbers and quotations say nothing, short texts little: what is in doubt counts as unchanged.
"""

from functools import lru_cache

import regex

from core.generation.script import main_script
from core.generation.stop_words import languages, words_of

LEAST_WORDS = 8
"""Of the text; fewer may be a list of names."""
LEAST_SHARE = 0.15
"""Stop words among the reference's words: with fewer, its own language does not show in it."""
LEAST_HITS = 3
"""Stop words of the other language; two may be chance, as `in` and `die` are English too."""
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def language_change(language: str, reference: str, text: str) -> str | None:
    """The language that the text seems to be in instead of the reference's; None: no clear sign of a change.

    The text has to hold less than a third of the reference's share of stop words, and of another language's at
    least twice as many, and as great a share as the reference has of its own or nearly so.
    """
    own, there, here = words_of(language), _words(reference), _words(text)
    if not own or len(here) < LEAST_WORDS or not there:
        return None
    usual, kept = _hits(there, own), _hits(here, own)
    if usual < LEAST_SHARE * len(there) or 3 * kept * len(there) >= usual * len(here):
        return None
    hits = {other: _hits(here, words_of(other)) for other in _of_script(main_script(reference), language)}
    other = max(hits, key=hits.__getitem__, default=None)
    if other is None or hits[other] < max(LEAST_HITS, 2 * kept + 1):
        return None
    return other if 3 * hits[other] * len(there) >= 2 * usual * len(here) else None


def _words(text: str) -> list[str]:
    found: list[str] = _WORD.findall(text.casefold())
    return found


def _hits(words: list[str], stop_words: frozenset[str]) -> int:
    return sum(word in stop_words for word in words)


@lru_cache(maxsize=256)
def _of_script(script: str | None, but: str) -> tuple[str, ...]:
    """Languages whose stop words are in a script, without one."""
    return tuple(
        other
        for other in languages()
        if other != but and main_script(" ".join(sorted(words_of(other)))) == script
    )
