"""Replace a fact or a stretch of text by another with the same type, script and form but another meaning."""

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd

import regex

from core.generation.facts import Fact, Pool, find_facts
from core.generation.language import (
    HAN_OR_KANA,
    base_language,
    is_unspaced,
    main_script,
    may_replace,
    same_text,
    scripts_of,
    words_of,
    zeros_of,
)
from core.generation.lists import (
    ANTONYMS,
    FRACTIONS,
    HEDGES,
    MONTHS,
    NUMBER_WORDS,
    Gazetteer,
    fraction_pattern,
    gazetteer,
)
from core.generation.numbers import (
    ROMANS,
    Draw,
    digits_value,
    english_suffix,
    move_all,
    move_date,
    move_decade,
    move_ordinal,
    move_range,
    move_time,
    put_in,
)
from core.llm.asking import Unusable

_ENGLISH = regex.compile(r"(?:ing|ed|ly|tions?|ments?|ness|ity|ists?|ous|ive|al)$")
"""English endings that show a part of speech; -s alone may be a verb's."""
_LONGER = 3
"""Most letters by which two words may differ in length."""


def same_ending_words(word: str, lists: Gazetteer, pool: Pool) -> list[str]:
    """Words in the data set with this word's ending, so probably with its part of speech, gender and number."""
    if lists.language == "en":
        return _english(word.lower(), pool)
    offered = pool.words.get((lists.language, main_script(word)), ())
    return [
        new
        for new in offered
        if new[-3:] == word[-3:] and _same_case(word, new) and abs(len(new) - len(word)) <= _LONGER
    ]


def _english(old: str, pool: Pool) -> list[str]:
    ending = _ENGLISH.search(old)
    if ending is None:
        return []
    stop = words_of("en")
    return [
        word
        for word in sorted(pool.vocabulary.get("en", ()))
        if word not in stop and (found := _ENGLISH.search(word)) and found.group() == ending.group()
    ]


def listed_ending_words(word: str, lists: Gazetteer) -> list[str]:
    """Words in the language's lists with this word's suffix, such as -ung, and with its capitalisation."""
    for suffix, words in lists.suffixes.items():
        if word.endswith(suffix) and len(word) > len(suffix) + 2 and word.lower() not in lists.entries:
            return [new if _same_case(word, new) else new.capitalize() for new in words]
    return []


def listed_names(name: str, lists: Gazetteer) -> list[str]:
    """Names in the lists with as many words and the same ending, for names without a known class."""
    if not name[:1].isupper():
        return []
    words = name.count(" ")
    every = [
        form
        for form, entries in lists.entries.items()
        if entries[0].kind == "name" and form.count(" ") == words and main_script(form) == main_script(name)
    ]
    rest = [] if main_script(name) == "Cyrillic" else every
    return next((found for length in (2, 1) if (found := _ending(name, every, length))), rest)


def vocabulary_words(word: str, kind: str, language: str) -> list[str]:
    """Other hedges or numbers, or antonyms with the same ending, for a language without pairs."""
    if kind in ("number", "ordinal") and not regex.search(r"\p{Nd}", word):
        return NUMBER_WORDS.get(language, "").split() if kind == "number" else []
    if kind == "hedge":
        return [new.replace("_", " ") for new in HEDGES.get(language, "").split()]
    return _ending(word, ANTONYMS.get(language, "").split(), 2) if kind == "antonym" else []


def nearest(word: str, words: Iterable[str]) -> list[str]:
    """The words that share the last two letters, else the last letter, else any; all with the same capitalisation."""
    same = sorted({new for new in words if _same_case(word, new)})
    same = [new for new in same if abs(len(new) - len(word)) <= max(_LONGER, len(word) // 2)] or same
    return next((found for length in (2, 1) if (found := _ending(word, same, length))), same)


def unused_words(words: Collection[str], avoid: Collection[str]) -> list[str]:
    """The words that are not in use yet. avoid: those in use."""
    used = {word.casefold() for word in avoid}
    return [word for word in words if word.casefold() not in used]


def _ending(word: str, words: Iterable[str], length: int) -> list[str]:
    return [new for new in words if new[-length:] == word[-length:]]


def _same_case(first: str, second: str) -> bool:
    return first[:1].isupper() == second[:1].isupper()


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
_MOST_DAYS, _EVERY_MONTHS_DAYS = 31, 28
_NUMBERED_MONTHS = ("ja", "zh", "ko")
_UNIT_SHARE = 5
"""One in this many quantities keeps its number and changes its unit."""


def swap_fact(fact: Fact, language: str, pool: Pool, draw: Draw, avoid: Collection[str] = ()) -> Swap | None:
    """Another text for a fact, with the same type and form; None if there is none.

    avoid: names already in the text, which must not be repeated.
    """
    # The draw depends on the text alone, so that a name gets the same new name everywhere.
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
    """`new` with a capital if `old` has one; capitals in `new` stay."""
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
        place = ROMANS.index(text) if text in ROMANS else 0
        return draw.choose([r for r in ROMANS if abs(ROMANS.index(r) - place) in (1, 2)]), "century moved"
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
    # Keep cold temperatures above absolute zero.
    highest = 100 if fact.kind == "percent" else 270 if fact.text.endswith("°C") else None
    highest = 59 if fact.group == "sixtieth" else highest
    if fact.kind == "number" and language not in MONTHS and language not in _NUMBERED_MONTHS:
        # It may be the day in a date whose month is in no list.
        highest = _EVERY_MONTHS_DAYS if digits_value(fact.text) <= _MOST_DAYS else highest
    return move_all(fact.text, draw, fact.kind == "year", highest)


def _other_fraction(text: str, language: str, draw: Draw) -> Swap | None:
    """Another fraction below one, in lowest terms and with another value: `two thirds` gives `three quarters`."""
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
    """Replace a number word, ordinal or fraction by a neighbour in its list, at most four positions away."""
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
    """A name or term of the same class, from the lists or the data set."""
    script = main_script(fact.text)
    listed = _class_forms(fact, lists)
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


def _class_forms(fact: Fact, lists: Gazetteer) -> list[str]:
    """The same form of every other entry in the fact's class."""
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
        # Keep the grammatical case: another ending would break the sentence.
        bare = regex.compile(r"[бвгджзйклнпрстфцчшщ]$")
        options = [
            o
            for o in options  # the same last letter, or a final consonant in both
            if o[-1:] == fact.text[-1:] or (bare.search(o) and bare.search(fact.text))
        ]
    return options


LONG_SPAN = 6
"""Fewest words of a span in which two facts are changed."""
_WORD = r"(?<![\p{L}\p{M}\p{N}'’-])[\p{Lu}\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{M}]{3,}(?![\p{L}\p{M}\p{N}'’-])"
_BLANKS = regex.compile(r"\s+")


def substitute(
    text: str,
    kind: str,
    language: str,
    pool: Pool,
    draw: Draw,
    avoid: Collection[str] = (),
    neighbours: Collection[str] = (),
) -> Swap:
    """Replace a span: (new text, name of the rule). The new text differs, has one line and the same script.

    kind: the span's kind (factual.spans.Kind); facts of this kind are changed first.
    avoid: names to avoid, because the surrounding text has them.
    neighbours: words from the surrounding text, for a language whose lists and data set offer nothing.
    """
    flat = _BLANKS.sub(" ", text)
    facts = sorted(
        _facts_of_span(flat, language, pool), key=lambda fact: (fact.kind != kind, fact.rank, fact.start)
    )
    most = 2 if len(flat.split(" ")) >= LONG_SPAN else 1
    chosen: list[tuple[Fact, Swap]] = []
    for fact in facts:
        held = [*avoid, *(other.text for other in facts), *(swap[0] for _, swap in chosen)]
        swap = swap_fact(fact, language, pool, draw, held)
        if swap is not None and not (chosen and fact.rank == 2):
            chosen.append((fact, swap))
        if len(chosen) == most:
            break
    if chosen:
        new = put_in(flat, [(fact.start, fact.end, swap[0]) for fact, swap in chosen])
        if stands(text, new):
            return new, " + ".join(dict.fromkeys(swap[1] for _, swap in chosen))
    made = _fitting(flat, text, kind, language, pool, draw, avoid)
    return made or _last_resorts(flat, text, language, pool, draw, avoid, neighbours)


@lru_cache(maxsize=4096)
def fits(text: str, kind: str, language: str) -> bool:
    """Whether the language's lists alone offer a replacement for this span."""
    nothing, draw = Pool(), Draw("fits")
    facts = _facts_of_span(text, language, nothing)
    if any(swap_fact(fact, language, nothing, draw) is not None for fact in facts):
        return True
    made = _fitting(text, text, kind, language, nothing, draw, ())
    return made is not None and made[1] != "denied"


def _facts_of_span(flat: str, language: str, pool: Pool) -> tuple[Fact, ...]:
    """The facts in a span; if there is none but the lists have the whole span, the span itself."""
    facts = find_facts(flat, language, pool)
    entries = gazetteer(language).entries.get(flat, ())
    if not facts and entries:
        facts = (Fact(0, len(flat), flat, entries[0].kind, entries[0].group),)
    return facts


MOST_TIMES, MOST_MORE = 4, 40
"""A replacement may have at most this many times the old text's characters, plus this many."""
MARKS = "⟦⟧⟪⟫[]{}"
"""Characters that mark spans for a model."""
_INVISIBLE = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|[\p{Cf}--[\u00ad\u200c\u200d]]", regex.V1)


def stands(old: str, new: str) -> bool:
    """Whether `new` passes every check of a model's replacement and uses no new script."""
    return may_replace(old, new) and replacement_problem(old, new, old) is None


def replacement_problem(old: str, new: str, text: str) -> Unusable | None:
    """Why `new` cannot replace `old` in `text`, as a problem that a model can act on; None if it can."""
    shown = f"“{_short(new)}” in place of “{_short(old)}”"
    if regex.search(r"[\n\r\u0085\p{Zl}\p{Zp}]", new):
        return Unusable(f"{shown} holds a line break.", "line break")
    if _INVISIBLE.search(new) and not set(_INVISIBLE.findall(new)) <= set(old):
        return Unusable(f"{shown} holds an invisible character.", "control character")
    if not regex.search(r"[^\s\p{C}]", new):
        return Unusable(f"The replacement of “{_short(old)}” is blank.", "blank")
    if any(mark in new and mark not in old for mark in MARKS):
        return Unusable(f"{shown} still holds a mark.", "marks left in")
    if new != new.strip() or regex.match(r"[\p{M}\u200c\u200d]", new):
        return Unusable(f"{shown} begins or ends with a blank, or with half a character.", "broken character")
    if same_text(old, new):
        return Unusable(f"{shown} says the same: every span to change has to be changed.", "span unchanged")
    if len(new) > MOST_TIMES * len(old) + MOST_MORE:
        return Unusable(f"{shown} is far longer than what it replaces.", "too long")
    main = main_script(text)
    if strange := scripts_of(new) - scripts_of(old) - ({main} if main else set()):
        return Unusable(f"{shown} is in another script ({', '.join(sorted(strange))}).", "script changed")
    if digits := zeros_of(new) - (zeros_of(old) or zeros_of(text) | {0x30}):
        return Unusable(f"{shown} has digits of another script ({chr(min(digits))} ...).", "script changed")
    return None


def _short(text: str) -> str:
    plain = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return plain if len(plain) <= 60 else plain[:59] + "…"


def _fitting(
    flat: str, text: str, kind: str, language: str, pool: Pool, draw: Draw, avoid: Collection[str]
) -> Swap | None:
    """For a span without facts of a known class: another word that fits its sentence, or a denied verb."""
    lists = gazetteer(language)
    for rule, options in (
        ("term swapped", _pool_terms(flat, lists, pool, avoid)),
        ("word swapped", _words_alike(flat, lists, pool, avoid)),
        ("name swapped", listed_names(flat, lists) if kind in ("name", "acronym", "title") else []),
        (f"{kind} swapped", vocabulary_words(flat, kind, lists.language)),
        ("denied", [denied] if (denied := deny(flat, lists)) else []),
    ):
        if made := _drawn(flat, text, options, draw, avoid):
            return made, rule
    return None


def _last_resorts(
    flat: str,
    text: str,
    language: str,
    pool: Pool,
    draw: Draw,
    avoid: Collection[str],
    neighbours: Collection[str],
) -> Swap:
    """Replacements that may not fit: a word from the data set or the surrounding text, else changed letters."""
    key = base_language(language), main_script(text)
    names = [name for found in pool.names.get(key, {}).values() for name in found]
    for offered in (pool.words.get(key, ()), names, neighbours):
        options = nearest(flat, [word for word in offered if word.casefold() not in flat.casefold()])
        if made := _drawn(flat, text, unused_words(options, avoid), draw, avoid):
            return made, "word swapped"
    for new in _letters(flat.strip()):
        if stands(text, new):
            return new, "letters moved"
    # Only invisible marks get here; the last resort is a sign that belongs to no script.
    return ("?" if may_replace(text, "?") else "!"), "letters moved"


def _drawn(flat: str, text: str, options: Sequence[str], draw: Draw, avoid: Collection[str]) -> str | None:
    options = [option for option in options if may_replace(text, option) and stands(text, option)]
    options = unused_words(options, avoid) or options
    return draw.child(flat.casefold()).choose(options) if options else None


def _content(flat: str, lists: Gazetteer) -> "regex.Match[str] | None":
    """The span after its leading articles and prepositions, up to a closing mark."""
    skip = lists.words.get("articles", frozenset()) | lists.words.get("prepositions", frozenset())
    words = list(regex.finditer(r"[\p{L}\p{M}'’-]+", flat))
    for word in words:
        if word.group().lower() not in skip:
            return regex.compile(r".*?(?=[.,;:!?)\"”»]*\s*$)").match(flat, word.start())
    return None


def _pool_terms(flat: str, lists: Gazetteer, pool: Pool, avoid: Collection[str]) -> list[str]:
    """For English: the span with the noun phrase after its article replaced by another item's; plural stays plural."""
    match = _content(flat, lists)
    if lists.language != "en" or match is None or not match.group() or len(match.group().split()) > 4:
        return []
    used = {name.casefold() for name in avoid}
    article = regex.search(r"(?<!\p{L})(a|an|the|its|his|her|their)\s$", flat[: match.start()], regex.I)
    if article is None:
        return []
    plural = match.group().endswith("s") and not match.group().endswith("ss")
    return [
        put_in(flat, [(match.start(), match.end(), term)])
        for term in pool.terms.get((lists.language, "Latin"), ())
        if (term.endswith("s") and not term.endswith("ss")) == plural
        and term not in flat
        and term.casefold() not in used
    ]


def _words_alike(flat: str, lists: Gazetteer, pool: Pool, avoid: Collection[str]) -> list[str]:
    """For languages with spaces: the span with its longest ordinary word replaced by one with the same ending."""
    if is_unspaced(flat):
        return []
    skip = lists.words.get("articles", frozenset()) | lists.words.get("prepositions", frozenset())
    words = [m for m in regex.finditer(_WORD, flat) if m.group().lower() not in skip]
    if not words:
        return []
    longest = max(words, key=lambda match: (len(match.group()), -match.start()))
    old, used = longest.group(), skip | {word.casefold() for word in avoid}
    for offered in (same_ending_words(old, lists, pool), listed_ending_words(old, lists)):
        # Skip words in the lists: they have their own replacements, and most are numbers and antonyms.
        found = [
            put_in(flat, [(*longest.span(), match_case(old, word))])
            for word in offered
            if len(word) > 4
            and word.lower() not in flat.lower()
            and word not in lists.entries
            and word.casefold() not in used
        ]
        if found:
            return found
    return []


def deny(text: str, lists: Gazetteer) -> str | None:
    """The text with its first verb denied, or affirmed if it is denied; None if the list knows no verb in it."""
    found: list[tuple[int, int, str]] = []
    for verb, denied in lists.negations:
        for old, new in ((denied, verb), (verb, denied)):
            at = _find_word(text, old)
            if at is not None and not (old == verb and _find_word(text[at:], denied) == 0):
                found.append((at, at + len(old), match_case(text[at : at + len(old)], new)))
    if not found:
        return None
    # In Japanese and Hindi the main verb comes last; the first match is mostly inside a clause.
    choose = max if lists.language in ("ja", "hi") else min
    return put_in(text, [choose(found, key=lambda place: (place[0], -place[1]))])


def _find_word(text: str, word: str) -> int | None:
    dense = regex.search(r"[\p{Han}\p{Hiragana}\p{Katakana}]", word)
    after = (
        r"(?=[。、，！？\s]|$)"
        if dense and regex.search(r"\p{Hiragana}", word)
        else ""
        if dense
        else r"(?![\p{L}\p{M}])"
    )
    before = "" if dense else r"(?<![\p{L}\p{M}'’])"
    match = regex.search(f"{before}{regex.escape(word)}{after}", text)
    return match.start() if match else None


def _letters(flat: str) -> Sequence[str]:
    """Variants with two neighbours swapped, a character dropped or one doubled: always different, never in a new script."""
    parts = regex.findall(r"\X", flat)
    if not parts:
        return ()
    swapped = [
        "".join([*parts[:at], parts[at + 1], parts[at], *parts[at + 2 :]])
        for at in range(min(len(parts) - 1, 40))
    ]
    return [*reversed(swapped), "".join(parts[:-1]), "".join([*parts, parts[-1]])]
