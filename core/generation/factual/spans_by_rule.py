"""Spans without a parser: what has a recognisable form, then content words until there are enough."""

from collections.abc import Iterator
from functools import lru_cache

import regex

from core.generation.factual.vocabulary import OPENERS
from core.generation.kinds import Match, best_matches, classify
from core.generation.language import base_language
from core.generation.openers import is_ordinary_opener, opens_sentence
from core.generation.records import Span
from core.generation.rules.gazetteer import gazetteer
from core.generation.script import UNSPACED
from core.generation.stop_words import words_of

DEFAULT_WANTED = 12
"""Spans worth having for four levels: two for each, and as many again that the filter and `keep` take."""
_CASELESS = r"[\p{scx=Arab}\p{scx=Hebr}\p{scx=Deva}\p{scx=Beng}\p{scx=Taml}\p{scx=Geor}\p{scx=Hang}]"
_WORD = regex.compile(
    rf"[[\p{{L}}\p{{M}}]--[{UNSPACED}]]+(?:[-'’][[\p{{L}}\p{{M}}]--[{UNSPACED}]]+)*", regex.V1
)
_RUN = regex.compile(
    r"\p{Han}{2,8}|[\p{Katakana}ー]{2,20}|[\p{scx=Thai}]{3,40}|[\p{scx=Khmr}\p{scx=Laoo}\p{scx=Mymr}]{3,40}"
)
_PARTICLES = frozenset("的了是在与與及有为為于於之也都而但或从從由被把对對将將并並因所如吗嗎呢约約")
"""Single characters that hardly ever stand inside a longer Chinese word."""
_LONG, _LONG_CASELESS = 4, 3


def spans_by_rule(text: str, language: str, wanted: int = DEFAULT_WANTED) -> tuple[Span, ...]:
    """Typed stretches, and content words where there are fewer than `wanted`; sorted, none inside another.

    language: a tag without region, or `und`.
    """
    typed = [match for match in best_matches(text, language) if _useful(text, match)]
    named = [Span(m.start, m.end, text[m.start : m.end], _kind(text, m, language)) for m in typed]
    found = [span for span in named if span.kind != "term"]
    if len(found) < wanted:
        free = [span for span in _content(text, language) if not any(_meet(span, other) for other in found)]
        found += _most_telling(free, wanted - len(found), language)
    return tuple(sorted(found, key=lambda span: span.start))


def _useful(text: str, match: Match) -> bool:
    """Whether there is something to change: a letter alone is a mark, and a grapheme is never cut."""
    piece = text[match.start : match.end]
    alone = match.kind == "name" and len(piece) < 2
    return not alone and on_boundaries(text, match.start, match.end)


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


def _kind(text: str, match: Match, language: str) -> str:
    """The match's kind; a capital that only begins a sentence, or a German noun, makes no name."""
    if match.kind != "name":
        return match.kind
    piece = text[match.start : match.end]
    if regex.search(r"[ \-'’\p{N}]|(?<!^)\p{Lu}", piece):
        return "name"
    if base_language(language) == "de":
        return "term"
    if not opens_sentence(text, match.start) or not is_ordinary_opener(
        text, match.start, match.end, language
    ):
        return "name"
    ordinary = classify(piece.lower(), language)
    return ordinary if ordinary in ("antonym", "hedge", "number", "ordinal") else "term"


def _meet(span: Span, other: Span) -> bool:
    return span.start < other.end and other.start < span.end


def _content(text: str, language: str) -> Iterator[Span]:
    """Every content word; in scripts without spaces, runs of one script between function words."""
    stop = words_of("en" if language == "und" else language)
    for word in _WORD.finditer(text):
        folded = word.group().casefold()
        long = _LONG_CASELESS if regex.match(_CASELESS, folded) else _LONG
        if len(folded) >= long and folded not in stop and folded not in OPENERS:
            yield from _span(text, word.start(), word.end())
    for run in _RUN.finditer(without_function_words(text, stop)):
        yield from _span(text, run.start(), run.end())


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


def _span(text: str, start: int, end: int) -> Iterator[Span]:
    if on_boundaries(text, start, end):
        yield Span(start, end, text[start:end], "term")


def _most_telling(spans: list[Span], number: int, language: str) -> list[Span]:
    """Words that the lists can replace, then the longest; each text once before any comes twice."""
    seen: set[str] = set()
    listed = gazetteer("en" if language == "und" else language).entries
    ranked = []
    for span in sorted(spans, key=lambda span: (-len(span.text), span.start)):
        again, unlisted = span.text.casefold() in seen, span.text not in listed
        ranked.append((again, unlisted, -len(span.text), span.start, span))
        seen.add(span.text.casefold())
    return [span for *_, span in sorted(ranked, key=lambda entry: entry[:4])[:number]]
