"""One fact -> what is put in its place, by kind; None where this kind of change is not possible there."""

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import gcd

import regex

from core.generation.factual.vocabulary import FRACTIONS, MONTHS, NUMBER_WORDS, fraction_pattern
from core.generation.rules.dates import move_date
from core.generation.rules.draws import Draw
from core.generation.rules.facts import Fact
from core.generation.rules.gazetteer import Gazetteer, gazetteer
from core.generation.rules.numbers import (
    digits_value,
    english_suffix,
    move_all,
    move_decade,
    move_ordinal,
    move_range,
    move_time,
)
from core.generation.rules.pool import Pool
from core.generation.script import HAN_OR_KANA, main_script, may_replace, same_text

Swap = tuple[str, str]
"""The new text and the name of the rule."""

_FALL_BACK = {
    "person": ("person",),
    "surname": ("surname",),
    "place": ("place", "city", "city_f", "landmark"),
    "landmark": ("landmark", "street", "church"),
    "organisation": ("organisation", "union", "agency"),
    "acronym": ("acronym", "agency"),
    "thing": ("thing", "surname", "city"),
}
ROMANS = [
    "I",
    "II",
    "III",
    "IV",
    "V",
    "VI",
    "VII",
    "VIII",
    "IX",
    "X",
    "XI",
    "XII",
    "XIII",
    "XIV",
    "XV",
    "XVI",
    "XVII",
    "XVIII",
    "XIX",
    "XX",
    "XXI",
]
_MOST_DAYS, _EVERY_MONTHS_DAYS = 31, 28
_NUMBERED_MONTHS = ("ja", "zh", "ko")
_UNIT_SHARE = 5
"""One quantity in so many keeps its number and changes its unit."""


def swap_fact(fact: Fact, language: str, pool: Pool, draw: Draw, avoid: Collection[str] = ()) -> Swap | None:
    """Another text for a fact, of the same type and form.

    avoid: names that the text holds already; putting one of them in would say something twice.
    """
    # The draw hangs on the text alone, so that the same name gets the same new name wherever it stands.
    draw = draw.child(fact.text.casefold())
    lists = gazetteer(language)
    if fact.kind in ("number", "quantity", "percent", "money", "date", "year", "time", "ordinal", "range"):
        swap = _counted(fact, lists, draw, avoid)
    elif fact.kind in ("antonym", "hedge"):
        swap = _opposite(fact, lists)
    else:
        swap = _named(fact, lists, pool, draw, avoid)
    if swap is None:
        return None
    new = match_case(fact.text, swap[0])
    return (new, swap[1]) if may_replace(fact.text, new) else None


def match_case(old: str, new: str) -> str:
    """`new` with a capital where `old` has one; names keep theirs."""
    if old[:1].isupper() and new[:1].islower():
        return new[:1].upper() + new[1:]
    return new


def _counted(fact: Fact, lists: Gazetteer, draw: Draw, avoid: Collection[str]) -> Swap | None:
    text = fact.text
    if fact.kind == "date":
        moved = move_date(text, lists.language, draw)
        return (moved, "date moved") if moved else None
    if fact.kind == "time":
        return move_time(text, draw), "time moved"
    if fact.kind == "range":
        moved = move_range(text, draw)
        return (moved or move_all(text, draw), "range moved")
    if fact.group == "fraction":
        return _other_fraction(text, lists.language, draw)
    if fact.group == "roman":
        return draw.choose(
            [r for r in ROMANS if abs(ROMANS.index(r) - _place(text)) in (1, 2)]
        ), "century moved"
    if not regex.search(r"\p{Nd}", text):
        return _word_of_list(fact, lists, draw, avoid)
    if (
        fact.kind == "quantity"
        and draw.below(_UNIT_SHARE, "unit") == 0
        and (swapped := _other_unit(text, lists))
    ):
        return swapped, "unit swapped"
    moved = _digits_moved(fact, lists.language, draw)
    if fact.kind == "ordinal" and (match := regex.fullmatch(r"(\p{Nd}+)(?:st|nd|rd|th)", moved)):
        moved = match[1] + english_suffix(digits_value(match[1]))
    return moved, f"{fact.kind} moved"


def _digits_moved(fact: Fact, language: str, draw: Draw) -> str:
    if fact.kind == "ordinal":
        return move_ordinal(fact.text, draw)
    if fact.group == "decade" and fact.text.endswith(("0", "٠", "०")):
        return move_decade(fact.text, draw)
    # A cold temperature stays above absolute zero.
    highest = 100 if fact.kind == "percent" else 270 if fact.text.endswith("°C") else None
    highest = 59 if fact.group == "sixtieth" else highest
    if fact.kind == "number" and language not in MONTHS and language not in _NUMBERED_MONTHS:
        # It may be the day of a date whose month nobody knows here.
        highest = _EVERY_MONTHS_DAYS if digits_value(fact.text) <= _MOST_DAYS else highest
    return move_all(fact.text, draw, fact.kind == "year", highest)


def _other_fraction(text: str, language: str, draw: Draw) -> Swap | None:
    """`two thirds` gives `three quarters`: below one, in lowest terms, and of another value."""
    words, parts = NUMBER_WORDS[language].split(), FRACTIONS[language]
    old = regex.fullmatch(fraction_pattern(language), text)
    if old is None:
        return None
    value = Fraction(words.index(old["count"].lower()) + 2, parts[old["part"]])
    options = [
        f"{words[count - 2]}{text[old.end('count')]}{part}"
        for part, whole in parts.items()
        for count in range(2, whole)
        if gcd(count, whole) == 1 and Fraction(count, whole) != value
    ]
    return draw.choose(options), "fraction moved"


def _place(roman: str) -> int:
    return ROMANS.index(roman) if roman in ROMANS else 0


def _other_unit(text: str, lists: Gazetteer) -> str | None:
    for pair in lists.texts.get("units", ()):
        left, right = (side.split("|") for side in pair.split(" = "))
        for a, b in zip([*left, *right], [*right, *left], strict=False):
            if regex.search(rf"(?<![\p{{L}}]){regex.escape(a)}$", text) or (
                text.endswith(a) and main_script(a) == HAN_OR_KANA
            ):
                return text[: -len(a)] + b
    return None


def _word_of_list(fact: Fact, lists: Gazetteer, draw: Draw, avoid: Collection[str]) -> Swap | None:
    """A number word, ordinal or fraction: a neighbour in its list, at most four places away."""
    entry = next((e for e in lists.entries.get(fact.text, ()) if e.kind == fact.kind), None)
    if entry is None:
        return None
    rows = lists.groups[entry.group]
    near = [row[0] for at, row in enumerate(rows) if at != entry.row and abs(at - entry.row) <= 4]
    if (
        entry.group == "numbers"
        and entry.row > 0
        and rows[entry.row][0] in ("hundred", "thousand", "million", "billion")
    ):
        near = [row[0] for row in rows[-4:] if row[0] != rows[entry.row][0]]
    near = [word for word in near if word not in avoid] or near
    return (draw.choose(near), f"{fact.kind} moved") if near else None


def _opposite(fact: Fact, lists: Gazetteer) -> Swap | None:
    rule = "hedge hardened" if fact.kind == "hedge" else "antonym"
    text = fact.text
    lower = text[:1].lower() + text[1:]
    for table in (lists.stems, lists.swaps) if fact.group == "stem" else (lists.swaps,):
        for form in (text, lower):
            if form in table:
                return table[form], rule
    return None


def _named(fact: Fact, lists: Gazetteer, pool: Pool, draw: Draw, avoid: Collection[str]) -> Swap | None:
    """A name or term of the same class, from the data set first where it has enough."""
    script = main_script(fact.text)
    listed = _of_class(fact, lists)
    offered: list[str] = []
    for group in _FALL_BACK.get(fact.group, (fact.group,)):
        offered += pool.named(lists.language, script, group)
        if group != fact.group or not listed:
            offered += [row[0] for row in lists.groups.get(group, ())]
        if group == "surname":
            offered += [row[0].split()[-1] for row in lists.groups.get("person", ()) if " " in row[0]]
        if len(offered) > 3:
            break
    if fact.group == "katakana":
        offered += [
            t
            for t in pool.terms.get((lists.language, script), ())
            if regex.fullmatch(r"[\p{Katakana}ー]+", t)
        ]
    options = listed or offered
    if fact.group == "thing":
        options = [option for option in options if len(option.split()) == len(fact.text.split())]
    options = _usable(options, fact, lists, avoid)
    if not options:
        return None
    label = fact.group.split("_")[0] if fact.group not in ("thing", "katakana") else fact.kind
    return draw.choose(options), f"{label} swapped"


def _of_class(fact: Fact, lists: Gazetteer) -> list[str]:
    """The same form of every other entry of the fact's class."""
    lower = fact.text[:1].lower() + fact.text[1:]
    entries = [*lists.entries.get(fact.text, ()), *lists.entries.get(lower, ())]
    entry = next((e for e in entries if e.group == fact.group), None)
    if entry is None:
        return []
    rows = lists.groups[entry.group]
    return [row[entry.column] for at, row in enumerate(rows) if at != entry.row and entry.column < len(row)]


def _usable(options: Sequence[str], fact: Fact, lists: Gazetteer, avoid: Collection[str]) -> list[str]:
    used = {name.casefold() for name in avoid}
    options = sorted({option for option in options if may_replace(fact.text, option)})
    fresh = [
        option
        for option in options
        if not any(f" {option.casefold()} " in f" {name} " for name in used)
        and not any(same_text(word, fact.text) for word in option.split())
    ]
    options = fresh or options
    vowels = lists.texts.get("vowels", ())
    agreeing = [o for o in options if (o[:1].lower() in vowels) == (fact.text[:1].lower() in vowels)]
    if vowels and agreeing and (lists.language != "en" or fact.kind == "term" or fact.group == "nationality"):
        options = agreeing
    if main_script(fact.text) == "Cyrillic" and fact.group != "hedge":
        # Cases: another ending would break the sentence, unless the lists give the same form of the class.
        options = [o for o in options if same_cyrillic_case(o, fact.text)]
    return options


def same_cyrillic_case(one: str, other: str) -> bool:
    """Whether two names can be in the same case: the same last letter, or both a bare consonant."""
    bare = r"[бвгджзйклнпрстфцчшщ]$"
    both = all(regex.search(bare, name) for name in (one, other))
    return one[-1:] == other[-1:] or both
