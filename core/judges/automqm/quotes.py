"""Where the words that a judge quotes stand in the text.

A judge repeats words as it would write them: with other quotation marks, one blank for two, an accent as a character of
its own, a letter lost. What is not there to the letter is looked for in a form without such differences, and then by
likeness. Offsets are code points of the text as it is, end exclusive.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from core.llm.parsing import visible

Located = Literal["exact", "nearest", "not found", "nothing quoted"]
"""exact: the quote stands in the text; nearest: something much like it does; nothing quoted: an error without words."""
LIKE_ENOUGH = 80.0
"""Likeness (rapidfuzz's ratio: 100 minus the share of characters to insert or delete) of words that count as found. A
word of five letters may have one exchanged, one of four may not."""
_CLUSTERS = regex.compile(r"\X")
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_JOINED = regex.compile(rf"(?V1)[[\w\p{{M}}]--[{_SPACELESS}]]")
"""Characters between which no word ends: letters, digits and marks of scripts that set blanks."""
_GLUED = regex.compile(r"[\p{M}\u200d\ufe0f\U0001f3fb-\U0001f3ff]")
"""What belongs to the character before it."""
_PLAIN = str.maketrans(
    {
        **dict.fromkeys('"“”„‟«»「」『』〝〞＂‘’‚‛‹›`´＇', "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
"""Servers that keep to a schema with lengths may not write `"` inside a text, and models take another mark for it."""


@dataclass(frozen=True)
class Place:
    """Where a quote stands; start and end are None where it was not found."""

    start: int | None
    end: int | None
    located: Located


NOWHERE, UNQUOTED = Place(None, None, "not found"), Place(None, None, "nothing quoted")


class Locator:
    """Finds quotes in one text, in the order in which a judge names them.

    The k-th time that the same words are named, their k-th occurrence is meant; once all are used up, the last one.
    Occurrences do not overlap; where some stand as whole words, only those count, so that `es` is not looked for in
    `dieses`. In scripts without blanks every place will do.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain: _Plain | None = None
        self._named: dict[str, int] = {}
        self._places: dict[str, list[tuple[int, int]]] = {}

    def find(self, quote: str) -> Place:
        """The next place of these words: exact, else nearest, else not found; an empty quote names nothing."""
        if not quote:
            return UNQUOTED
        nth = self._named.get(quote, 0)
        self._named[quote] = nth + 1
        if not nth:
            found = occurrences(quote, self._text)
            self._places[quote] = [one for one in found if _stands_alone(self._text, *one)] or found
        if own := self._places[quote]:
            return Place(*own[min(nth, len(own) - 1)], "exact")
        if not visible(quote) or not visible(self._text):
            return NOWHERE
        if self._plain is None:
            self._plain = _Plain(self._text)
        near = self._plain.nearest(quote, nth)
        return NOWHERE if near is None else Place(*near, "nearest")


def occurrences(quote: str, text: str) -> list[tuple[int, int]]:
    """Every place where exactly these code points stand, from left to right, without overlaps; none for an empty quote."""
    found: list[tuple[int, int]] = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + len(quote))
    return found


class _Plain:
    """A text without what may differ: blanks, forms of quotation marks, case, how accents are written."""

    def __init__(self, text: str) -> None:
        self.text, self._spans = _simplified(text)

    def nearest(self, quote: str, nth: int) -> tuple[int, int] | None:
        """The place, in the text as it is, that is most like the quote; None: nothing is like enough."""
        plain = _simplified(quote)[0].strip()
        bare = plain.strip("'.,;:!?()[] -")
        for words in dict.fromkeys((plain, bare)):
            if own := [one for one in occurrences(words, self.text) if _stands_alone(self.text, *one)]:
                return self._in_text(*own[min(nth, len(own) - 1)])
        place = _most_like(plain, self.text)
        return None if place is None else self._in_text(*place)

    def _in_text(self, start: int, end: int) -> tuple[int, int]:
        return self._spans[start][0], self._spans[end - 1][1]


def _simplified(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The text in its simple form, and for each of its characters the characters of the text that it comes from."""
    chars: list[str] = []
    spans: list[tuple[int, int]] = []
    for start, end, cluster in _clusters(text):
        simple = "".join(
            char
            for char in unicodedata.normalize("NFD", cluster.translate(_PLAIN)).casefold()
            if unicodedata.category(char) not in ("Cf", "Cc") or char.isspace()
        )
        if simple.isspace():
            if chars and chars[-1] == " ":
                spans[-1] = spans[-1][0], end
                continue
            simple = " "
        chars += simple
        spans += [(start, end)] * len(simple)
    return "".join(chars), spans


def _clusters(text: str) -> Iterator[tuple[int, int, str]]:
    """What a reader takes for one character: a letter with its accents, an emoji with its parts."""
    for found in _CLUSTERS.finditer(text):
        yield found.start(), found.end(), found.group()


def _most_like(quote: str, text: str) -> tuple[int, int] | None:
    """The stretch of the text most like the quote, of whole words where the script has blanks."""
    if not quote or len(quote) > 2 * len(text):
        return None
    aligned = fuzz.partial_ratio_alignment(quote, text)
    if aligned is None:
        return None
    first, last = _shared(quote, text, aligned.dest_start, aligned.dest_end)
    candidates = [(a, b) for a in _edges(text, first) for b in _edges(text, last) if a < b]
    scored = [(fuzz.ratio(quote, text[start:end]), start - end, -start) for start, end in candidates]
    likeness, negative_length, negative_start = max(scored, default=(0.0, 0, 0))
    if likeness < LIKE_ENOUGH:
        return None
    return -negative_start, -negative_start - negative_length


def _shared(quote: str, text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without what stands before its first and behind its last character that the quote has as well."""
    blocks = [one for one in Indel.editops(quote, text[start:end]).as_matching_blocks() if one.size]
    return (start + blocks[0].b, start + blocks[-1].b + blocks[-1].size) if blocks else (start, end)


def _edges(text: str, at: int) -> list[int]:
    """The nearest places at which a word may begin or end: the place itself, or those before and after it."""
    if _is_edge(text, at):
        return [at]
    before, after = at, at
    while not _is_edge(text, before):
        before -= 1
    while not _is_edge(text, after):
        after += 1
    return [before, after]


def _is_edge(text: str, at: int) -> bool:
    """Whether no word goes on across this place."""
    if not 0 < at < len(text):
        return True
    if _GLUED.match(text[at]) or text[at - 1] == "\u200d":
        return False
    return not (_JOINED.match(text[at - 1]) and _JOINED.match(text[at]))


def _stands_alone(text: str, start: int, end: int) -> bool:
    return _is_edge(text, start) and _is_edge(text, end)
