"""Spans without a parser: what has a recognisable form, then content words until there are enough."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import regex

from core.generation.factual.spans.phrases import phrases
from core.generation.kinds import KINDS, Match, best_matches, classify
from core.generation.language import base_language
from core.generation.openers import is_ordinary_opener, opens_sentence
from core.generation.records import Span
from core.generation.rules.content import content_words
from core.generation.rules.content import on_boundaries as on_boundaries
from core.generation.rules.content import without_function_words as without_function_words
from core.generation.rules.facts import find_facts
from core.generation.rules.gazetteer import gazetteer
from core.generation.rules.pool import Pool
from core.generation.rules.substitution import fits
from core.generation.script import UNSPACED

DEFAULT_WANTED = 12
"""Spans worth having for four levels: two for each, and as many again that the filter and `keep` take."""
_WORDS = frozenset({"name", "acronym", "title", "term", "antonym", "hedge"})
"""Kinds that need a word in their place; numbers and dates are moved."""
_LOOSE = frozenset({"term", "antonym", "hedge"})
"""Kinds that a phrase may cut."""
SPANS_PER_LEVEL = 3
"""So many are wanted for each level; with fewer than one for each, a verb to deny is better than none."""

_SENTENCE = 6
"""Words from which on a text says enough for a denied verb to be one change among others."""


def spans_by_rule(
    text: str, language: str, wanted: int = DEFAULT_WANTED, *, for_rules: bool = True
) -> tuple[Span, ...]:
    """The spans, sorted, none inside another.

    English: the phrases outside subjects, with names and quantities whole (`phrases`). Any other language: stretches of a
    recognisable form, wherever they stand, and content words where there are fewer than `wanted`.

    language: a tag without region, or `und`. for_rules: only what rules have a fitting word for, and other words that they
    can replace where there are fewer than `wanted`; a model, which finds words itself, gets the others too.
    """
    lists, few = base_language(language), wanted // SPANS_PER_LEVEL
    typed = typed_spans(text, language)
    phrased, subjects = _phrases(text, typed) if lists == "en" else (typed, ())

    def outside(spans: Iterable[Span]) -> list[Span]:
        return [one for one in spans if all(one.end <= start or end <= one.start for start, end in subjects)]

    found = [span for span in phrased if _stays(span, lists)] if for_rules else phrased
    words = list(
        _replaceable(text, lists) if for_rules and gazetteer(lists).entries else _words(text, language)
    )
    if for_rules or lists != "en":
        found = _with(found, outside(words), wanted, lists)
    if for_rules and len(found) < few:
        found = _with(found, phrased, few, lists)
    if for_rules and len(found) < few and len(text.split()) >= _SENTENCE:
        found = _with(found, _verbs(text, lists), few, lists)
    if not found and wanted:
        found = _with(found, [*typed, *_words(text, language)], 1, lists)
    return tuple(sorted(found, key=lambda span: span.start))


def typed_spans(text: str, language: str) -> list[Span]:
    """Dates, quantities, names and the like, wherever they stand; a hedge in front of a number is part of its quantity."""
    typed = [match for match in best_matches(text, language) if _useful(text, match)]
    return [Span(m.start, m.end, text[m.start : m.end], _kind(text, m, language)) for m in typed]


def _phrases(text: str, typed: Sequence[Span]) -> tuple[list[Span], tuple[tuple[int, int], ...]]:
    """The phrases of an English text outside its subjects, and where the subjects are."""
    whole = [span for span in typed if span.kind not in _LOOSE and _stands_alone(text, span)]
    found = phrases(text, whole)
    objects = [(start, end) for start, end in found.objects if on_boundaries(text, start, end)]
    return [Span(a, b, text[a:b], classify(text[a:b], "en")) for a, b in objects], found.subjects


def _stands_alone(text: str, span: Span) -> bool:
    """Not a part of a longer word: `MS` of `MS-DOS`, `U` of `U.S.`."""
    before, after = text[max(0, span.start - 2) : span.start], text[span.end : span.end + 2]
    return not (regex.search(r"[\p{L}\p{N}][-–.]$", before) or regex.match(r"[-–.]\p{L}", after))


def _with(found: list[Span], more: Iterable[Span], wanted: int, language: str) -> list[Span]:
    """The spans, and of the others those that are free, until there are enough."""
    taken = sorted((span.start, span.end) for span in found)
    starts = [start for start, _ in taken]

    def is_free(span: Span) -> bool:
        at = bisect_left(starts, span.end)
        return at == 0 or taken[at - 1][1] <= span.start

    return [*found, *_most_telling([s for s in more if is_free(s)], wanted - len(found), language)]


def _stays(span: Span, language: str) -> bool:
    """Whether a typed stretch of words can be replaced; where there are no lists, other words have to do."""
    if span.kind not in _WORDS and regex.search(r"\p{Nd}", span.text):
        return True
    if span.kind == "term" and " " not in span.text:
        return False  # words by themselves come later, from the lists
    return not gazetteer(language).entries or fits(span.text, span.kind, language)


def _words(text: str, language: str) -> Iterator[Span]:
    for start, end in content_words(text, language):
        yield Span(start, end, text[start:end], "term")


def _useful(text: str, match: Match) -> bool:
    """Whether there is something to change: a letter alone is a mark, and a grapheme is never cut."""
    piece = text[match.start : match.end]
    alone = match.kind == "name" and len(piece) < 2
    return not alone and on_boundaries(text, match.start, match.end)


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


def _replaceable(text: str, language: str) -> Iterator[Span]:
    """What the lists can replace: their own words, and words of a suffix that they have words for."""
    for fact in find_facts(text, language, Pool()):
        kind = fact.kind if fact.kind in KINDS else "name"
        if kind in _WORDS and on_boundaries(text, fact.start, fact.end) and fits(fact.text, kind, language):
            yield Span(fact.start, fact.end, fact.text, kind)
    for start, end in content_words(text, language):
        if fits(text[start:end], "term", language):
            yield Span(start, end, text[start:end], "term")


def _verbs(text: str, language: str) -> Iterator[Span]:
    """Verbs that can be denied: where hardly anything else can change, that does."""
    verbs = sorted({verb for verb, _ in gazetteer(language).negations}, key=lambda verb: (-len(verb), verb))
    unspaced = regex.compile(rf"[{UNSPACED}]", regex.V1)
    forms = [regex.escape(verb) for verb in verbs if not unspaced.search(verb)]
    if forms:
        pattern = rf"(?<![\p{{L}}\p{{M}}'’])(?:{'|'.join(forms)})(?![\p{{L}}\p{{M}}]| (?:not|nicht|kein))"
        for match in regex.finditer(pattern, text):
            yield Span(match.start(), match.end(), match.group(), "term")


def _most_telling(spans: list[Span], number: int, language: str) -> list[Span]:
    """Words that the lists hold, then the longest; each text once before any comes twice."""
    seen: set[str] = set()
    listed = gazetteer(language).entries
    ranked = []
    for span in sorted(spans, key=lambda span: (-len(span.text), span.start)):
        again, unlisted = span.text.casefold() in seen, span.text not in listed
        ranked.append((again, unlisted, -len(span.text), span.start, span))
        seen.add(span.text.casefold())
    chosen: list[Span] = []
    for *_, span in sorted(ranked, key=lambda entry: entry[:4]):
        if len(chosen) < number and not any(_meet(span, other) for other in chosen):
            chosen.append(span)
    return chosen
