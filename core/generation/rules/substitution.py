"""Typed substitution: a stretch of text -> another of the same type, script and form, that says something else."""

from collections.abc import Collection, Sequence
from functools import lru_cache

import regex

from core.generation.factual.editing import replacement_problem
from core.generation.language import base_language
from core.generation.rules.alike import (
    nearest,
    of_listed_ending,
    of_listed_names,
    of_same_ending,
    of_vocabulary,
    without_used,
)
from core.generation.rules.draws import Draw
from core.generation.rules.facts import Fact, find_facts
from core.generation.rules.gazetteer import Gazetteer, gazetteer
from core.generation.rules.pool import Pool
from core.generation.rules.swaps import Swap, match_case, swap_fact
from core.generation.script import is_unspaced, main_script, may_replace

LONG_SPAN = 6
"""From so many words on, two facts of a span are changed."""
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
    """(new text, rule's name). The new text differs, has one line and the same script.

    kind: of the span, as factual.kinds names it; facts of this kind are changed first.
    avoid: names that are not to be used, because the text around holds them.
    neighbours: words of the text around, for a language whose lists and data set offer nothing.
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
    """Whether the language's lists alone hold something that can stand for this span."""
    nothing, draw = Pool(), Draw("fits")
    facts = _facts_of_span(text, language, nothing)
    if any(swap_fact(fact, language, nothing, draw) is not None for fact in facts):
        return True
    made = _fitting(text, text, kind, language, nothing, draw, ())
    return made is not None and made[1] != "denied"


def _facts_of_span(flat: str, language: str, pool: Pool) -> tuple[Fact, ...]:
    """The facts; where there is none, the whole span as the lists have it: its neighbours are not seen here."""
    facts = find_facts(flat, language, pool)
    entries = gazetteer(language).entries.get(flat, ())
    if not facts and entries:
        facts = (Fact(0, len(flat), flat, entries[0].kind, entries[0].group),)
    return facts


def stands(old: str, new: str) -> bool:
    """Whether `new` passes every check that a model's replacement has to pass, and brings no new script."""
    return may_replace(old, new) and replacement_problem(old, new, old) is None


def put_in(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """The text with stretches replaced; an English article before one is made to fit."""
    for start, end, new in sorted(changes, reverse=True):
        before = text[:start]
        article = regex.search(r"(?<![\p{L}’'-])(?P<a>[Aa])n?(?P<gap>\s)$", before[-4:])
        old_vowel, new_vowel = (word[:1].lower() in "aeiou" for word in (text[start:end], new))
        if article and old_vowel != new_vowel and new[:1].isascii() and new[:1].isalpha():
            before = (
                before[: len(before) - len(article.group())]
                + article["a"]
                + ("n" if new_vowel else "")
                + article["gap"]
            )
        text = before + new + text[end:]
    return text


def _fitting(
    flat: str, text: str, kind: str, language: str, pool: Pool, draw: Draw, avoid: Collection[str]
) -> Swap | None:
    """For a span that holds nothing of a known class: a word that fits its sentence, or the verb denied."""
    lists = gazetteer(language)
    for rule, options in (
        ("term swapped", _pool_terms(flat, lists, pool, avoid)),
        ("word swapped", _words_alike(flat, lists, pool, avoid)),
        ("name swapped", of_listed_names(flat, lists) if kind in ("name", "acronym", "title") else []),
        (f"{kind} swapped", of_vocabulary(flat, kind, lists.language)),
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
    """From a word of the data set or of the text around to merely different: nothing here is sure to fit."""
    key = base_language(language), main_script(text)
    names = [name for found in pool.names.get(key, {}).values() for name in found]
    for offered in (pool.words.get(key, ()), names, neighbours):
        options = nearest(flat, [word for word in offered if word.casefold() not in flat.casefold()])
        if made := _drawn(flat, text, without_used(options, avoid), draw, avoid):
            return made, "word swapped"
    for new in _letters(flat.strip()):
        if stands(text, new):
            return new, "letters moved"
    # Only marks that no reader sees can come here; a sign that belongs to no script is all that is left.
    return ("?" if may_replace(text, "?") else "!"), "letters moved"


def _drawn(flat: str, text: str, options: Sequence[str], draw: Draw, avoid: Collection[str]) -> str | None:
    options = [option for option in options if may_replace(text, option) and stands(text, option)]
    options = without_used(options, avoid) or options
    return draw.child(flat.casefold()).choose(options) if options else None


def _content(flat: str, lists: Gazetteer) -> "regex.Match[str] | None":
    """What follows the articles and prepositions at the start, up to a closing mark."""
    skip = lists.words.get("articles", frozenset()) | lists.words.get("prepositions", frozenset())
    words = list(regex.finditer(r"[\p{L}\p{M}'’-]+", flat))
    for word in words:
        if word.group().lower() not in skip:
            return regex.compile(r".*?(?=[.,;:!?)\"”»]*\s*$)").match(flat, word.start())
    return None


def _pool_terms(flat: str, lists: Gazetteer, pool: Pool, avoid: Collection[str]) -> list[str]:
    """English: the noun phrase after the article, by one of another item; plural stays plural."""
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
    """Any spaced language: the longest ordinary word, by one of its ending from the data set or the lists."""
    if is_unspaced(flat):
        return []
    skip = lists.words.get("articles", frozenset()) | lists.words.get("prepositions", frozenset())
    words = [m for m in regex.finditer(_WORD, flat) if m.group().lower() not in skip]
    if not words:
        return []
    longest = max(words, key=lambda match: (len(match.group()), -match.start()))
    old, used = longest.group(), skip | {word.casefold() for word in avoid}
    for offered in (of_same_ending(old, lists, pool), of_listed_ending(old, lists)):
        # Words of the lists have replacements of their own, and are numbers and opposites for the most part.
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
    """The text with its first verb denied; a denied one is affirmed; None: no verb that the list knows."""
    found: list[tuple[int, int, str]] = []
    for verb, denied in lists.negations:
        for old, new in ((denied, verb), (verb, denied)):
            at = _find_word(text, old)
            if at is not None and not (old == verb and _find_word(text[at:], denied) == 0):
                found.append((at, at + len(old), match_case(text[at : at + len(old)], new)))
    if not found:
        return None
    # In Japanese and Hindi the verb stands last, and the first place found is mostly inside a clause.
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
    """Two neighbours change places, one sign goes, one is doubled: always different, never a new script."""
    parts = regex.findall(r"\X", flat)
    if not parts:
        return ()
    swapped = [
        "".join([*parts[:at], parts[at + 1], parts[at], *parts[at + 2 :]])
        for at in range(min(len(parts) - 1, 40))
    ]
    return [*reversed(swapped), "".join(parts[:-1]), "".join([*parts, parts[-1]])]
