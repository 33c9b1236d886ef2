"""Where a text says something that rules can change: dates, numbers, names, terms, opposites, hedges."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

from core.generation.factual.vocabulary import UNIT_WORDS, fraction_pattern
from core.generation.rules.dates import date_patterns, lone_month
from core.generation.rules.gazetteer import Gazetteer, gazetteer
from core.generation.rules.numbers import NUMBER
from core.generation.rules.pool import NAME_RUN, Pool, name_type, trimmed_name
from core.generation.stretches import opens_sentence

RANKS = {
    **dict.fromkeys(
        ("number", "quantity", "percent", "money", "date", "year", "time", "ordinal", "range"), 0
    ),
    **dict.fromkeys(("name", "acronym", "title", "weekday"), 0),
    **dict.fromkeys(("term", "antonym"), 1),
    "hedge": 2,
}
"""Kind -> how much it matters, 0 first."""

_NEAR = 60
"""Characters before a fact that say how it is meant."""
_LATIN = r"[\p{Latin}\p{Cyrillic}]"
_TIME = regex.compile(
    r"(?<![\p{Nd}:.])(?:[01]?\d|2[0-3])(?::|h|\.(?=\d\d\s(?:Uhr|a\.m|p\.m)))[0-5]\d(?![\p{Nd}:])"
)
_RANGE = regex.compile(
    rf"(?<!{_LATIN})(?<!\p{{Nd}}[.,]?)\p{{Nd}}{{1,3}}(?: to | bis | à | a |–|-|から)\p{{Nd}}{{1,3}}(?![\p{{Nd}}.,-]\p{{Nd}}|\p{{Nd}})"
)
_NUMBER = regex.compile(
    rf"(?<!{_LATIN})(?<!\p{{Nd}})(?<money>[$€£¥₹]\s?)?(?<number>{NUMBER})(?!\p{{Nd}})"
    r"(?<percent>\s?[%٪％]|\s(?:percent|per cent|Prozent|pour cent|por ciento|процентов|प्रतिशत|بالمئة|אחוז)\b)?"
    r"(?<suffix>st|nd|rd|th|ème|er|º|\.ª)?"
)
_SIXTIETHS = regex.compile(
    r"\s?(?:minutes?|seconds?|Minuten?|Sekunden?|secondes?|minutos?|segundos?|минут|секунд|分|秒)"
)
_CURRENCY = regex.compile(
    r"\s?(?:[€$£¥₹]|(?:万|億)?(?:ドル|円|元)|(?:million |billion )?(?:dollars|euros|pounds)\b)"
)
_ROMAN = regex.compile(r"(?<!\p{L})[IVX]{1,5}(?=e?\s(?:siècle|век|siglo|century))")
_YEAR_CLUE = regex.compile(r"[12]\p{Nd}{3}|[١-٢१-२۱-۲]\p{Nd}{3}")
_KATAKANA = regex.compile(r"(?<![\p{Katakana}ー])[\p{Katakana}ー]{4,}(?![\p{Katakana}ー])")

_PERSON = regex.compile(r"[\p{Katakana}ー]{2,}(?:[・＝][\p{Katakana}ー]{2,})+")


@dataclass(frozen=True)
class Fact:
    """A stretch of text that a rule can change."""

    start: int
    end: int
    text: str
    kind: str
    """A key of RANKS."""
    group: str = ""
    """The class of a name or term, such as `city`, or what a number is."""

    @property
    def rank(self) -> int:
        """0: among what is changed first."""
        return RANKS[self.kind]


def near_before(text: str, at: int) -> str:
    """The few words before a place: looking at all that stands before it would take long texts too long."""
    return text[max(0, at - _NEAR) : at]


@lru_cache(maxsize=32)
def find_facts(text: str, language: str, pool: Pool) -> tuple[Fact, ...]:
    """All facts, none overlapping, in the order of the text."""
    lists = gazetteer(language)
    found: list[Fact] = []
    taken = bytearray(len(text))
    for group in (_dates(text, language), _numbers(text, lists), _words_and_names(text, lists, pool)):
        for fact in group:
            if not any(taken[fact.start : fact.end]):
                taken[fact.start : fact.end] = b"\x01" * (fact.end - fact.start)
                found.append(fact)
    return tuple(sorted(found, key=lambda fact: fact.start))


def _dates(text: str, language: str) -> Iterator[Fact]:
    for pattern in date_patterns(language):
        for match in pattern.finditer(text):
            end = match.end() - (match.group().endswith(".") and not match.groupdict().get("y"))
            yield Fact(match.start(), end, text[match.start() : end], "date")
    if lone := lone_month(language):
        for match in lone.finditer(text):
            yield Fact(match.start(), match.end(), match.group(), "date")
    for match in _TIME.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "time")


@lru_cache(maxsize=64)
def _unit_pattern(lists_language: str) -> "regex.Pattern[str]":
    lists = gazetteer(lists_language)
    names = {
        form
        for pair in lists.texts.get("units", ())
        for side in pair.split(" = ")
        for form in side.split("|")
    }
    forms = sorted(names, key=lambda form: (-len(form), form))
    return regex.compile(
        rf"\s?(?:{'|'.join(map(regex.escape, forms))})(?!\p{{Latin}}|\p{{Cyrillic}})" if forms else "(?!)"
    )


@lru_cache(maxsize=64)
def _fraction(language: str) -> "regex.Pattern[str]":
    return regex.compile(rf"(?<!\p{{L}}){fraction_pattern(language)}(?!\p{{L}})")


def _numbers(text: str, lists: Gazetteer) -> Iterator[Fact]:
    for match in _fraction(lists.language).finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "number", "fraction")
    for match in _RANGE.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "range")
    for match in _ROMAN.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "ordinal", "roman")
    unit = _unit_pattern(lists.language)
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        kind, group = "number", ""
        if match["percent"]:
            kind = "percent"
        elif match["suffix"] or _german_ordinal(text, match.end(), lists):
            kind = "ordinal"
        elif match["money"]:
            kind = "money"
        elif found := _CURRENCY.match(text, end):
            kind, end = "money", found.end()
        elif found := unit.match(text, end):
            kind, end = "quantity", found.end()
        elif _YEAR_CLUE.fullmatch(match["number"]):
            kind = "year"
            # "the 1650s", "1650年代", "1650er Jahren": the ending stays, and the year stays round.
            group = "decade" if regex.match(r"s\b|年代|er\s", text[end : end + 4]) else ""
        elif _SIXTIETHS.match(text, end) and len(match["number"]) < 3:
            group = "sixtieth"
        yield Fact(start, end, text[start:end], kind, group)


def _german_ordinal(text: str, end: int, lists: Gazetteer) -> bool:
    """`16. Jahrhundert`, or `16.` as a span of its own; a number at a sentence's end is none."""
    whole = regex.fullmatch(r"\p{Nd}{1,2}\.", text) is not None
    before = regex.search(
        r"\b(?:im|am|dem|der|das|die|den|des|vom|zum)\s\p{Nd}{1,2}$", near_before(text, end), regex.I
    )
    return lists.language == "de" and (whole or (before is not None and text[end : end + 2] == ". "))


def _words_and_names(text: str, lists: Gazetteer, pool: Pool) -> Iterator[Fact]:
    """Longest first, so that a country is not found inside the name of a university."""
    found = [*_listed(text, lists), *_named(text, lists, pool)]
    if lists.language == "ja":
        found += _katakana(text)
    yield from sorted(found, key=lambda fact: (fact.start - fact.end, fact.start, fact.kind))


def _katakana(text: str) -> Iterator[Fact]:
    """People's names, told by the dot between their parts; and other words, of which units are none."""
    units = UNIT_WORDS["ja"].split()
    for match in _PERSON.finditer(text):
        yield Fact(match.start(), match.end(), match.group(), "name", "person")
    for match in _KATAKANA.finditer(text):
        if match.group() not in units:
            yield Fact(match.start(), match.end(), match.group(), "term", "katakana")


def _listed(text: str, lists: Gazetteer) -> Iterator[Fact]:
    if lists.pattern is None:
        return
    for match in lists.pattern.finditer(text, overlapped=False):
        name = match.lastgroup or "form"
        start, end = match.span(name)
        form = match.group(name)
        entries = lists.entries.get(form)
        if name == "stem" or entries is None:
            yield Fact(start, end, form, "antonym", "stem")
            continue
        for entry in entries:
            if _fits(text, start, end, form, entry.kind, lists):
                yield Fact(start, end, form, entry.kind, entry.group)
                break


def _unit_words(lists: Gazetteer) -> frozenset[str]:
    rows = lists.groups.get("period", ())
    return frozenset(form for row in rows for form in row)


def _fits(text: str, start: int, end: int, form: str, kind: str, lists: Gazetteer) -> bool:
    """Whether the neighbours allow this reading: `about` is a hedge before a number, `second` counts after `the`."""
    if kind == "hedge" and form.lower() in lists.words.get("before_number", ()):
        following = regex.match(r"\s+(\S+)", text[end : end + _NEAR])
        after = following.group(1).strip(".,;") if following else ""
        entries = lists.entries.get(after, ())
        return (
            after[:1].isdigit()
            or (after[:1] in "-−$€£" and bool(after))
            or any(e.kind == "number" for e in entries)
        )
    if kind == "ordinal" and (needed := lists.words.get("ordinal_after")):
        previous = regex.search(r"(\p{L}+)\s+$", near_before(text, start))
        return previous is not None and previous.group(1).lower() in needed
    previous = near_before(text, start).rstrip()
    if form == "most" and previous.lower().endswith("the"):
        return False
    if kind == "number" and previous[-1:].isdigit():
        return False  # "500 million" is one number
    # "2 hours 58 minutes" has its numbers moved, not its units.
    counted = previous[-1:].isdigit() or previous.endswith(" per")
    return not (kind == "term" and counted and form.lower() in _unit_words(lists))


def _named(text: str, lists: Gazetteer, pool: Pool) -> Iterator[Fact]:
    known = pool.vocabulary.get(lists.language, frozenset())
    for match in NAME_RUN.finditer(text):
        place = trimmed_name(text, match.start(), match.end(), lists, known)
        if place is None:
            continue
        name = text[place[0] : place[1]]
        if name in lists.entries:
            continue  # found among the listed
        group = pool.type_of(lists.language, name) or name_type(name, near_before(text, place[0]), lists)
        unknown = (
            opens_sentence(text, place[0]) and " " not in name and pool.type_of(lists.language, name) is None
        )
        if unknown and not regex.fullmatch(r"\p{Lu}{2,}|\p{Lu}\p{Ll}+\p{Lu}.*", name):
            continue  # one capital at the start of a sentence says nothing
        yield Fact(place[0], place[1], name, "acronym" if group == "acronym" else "name", group)
