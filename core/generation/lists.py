"""Word lists by language, from data/: vocabulary that identifies facts, and gazetteers of words that can replace each other in a sentence.

Vocabulary lists are deliberately small: form or the parser finds what they miss. In a gazetteer a list is one text, with
commas between entries and bars between the forms of an entry (plural, cases). A form is replaced by the same form of
another entry of its class, so the entries of a class agree in grammar.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import regex

from core.errors import InputError
from core.generation.language import base_language

_DATA = Path(__file__).parents[2] / "data"
_VOCABULARY: dict[str, Any] = json.loads((_DATA / "vocabulary" / "words.json").read_text("utf-8"))
MONTHS: dict[str, tuple[tuple[str, ...], ...]] = {
    tag: tuple(tuple(month.split("|")) for month in names.split())
    for tag, names in _VOCABULARY["months"].items()
}
"""Forms of each month, the one in dates first; languages without an entry write months as numbers."""
UNIT_SYMBOLS = tuple(_VOCABULARY["unit_symbols"].split())
UNIT_WORDS: dict[str, str] = _VOCABULARY["unit_words"]
"""Patterns of words that make a number a quantity."""
SCALES = tuple(_VOCABULARY["scales"].split())
NUMBER_WORDS: dict[str, str] = _VOCABULARY["number_words"]
FRACTIONS: dict[str, dict[str, int]] = _VOCABULARY["fractions"]
"""Parts of a whole after a number word -> how many of them make the whole."""
ORDINAL_WORDS: dict[str, str] = _VOCABULARY["ordinal_words"]
HEDGES: dict[str, str] = _VOCABULARY["hedges"]
"""Words for how sure, how often or how nearly; `_` means a space."""
ANTONYMS: dict[str, str] = _VOCABULARY["antonyms"]
"""Words that have an opposite."""
ENGLISH: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in json.loads((_DATA / "vocabulary" / "english.json").read_text("utf-8")).items()
}
"""Function words and verb forms of English, by part of speech. spoken: adverbs with a meaning of their own; about: words
before a number that belong to its quantity; no_adverbs: words in -ly that are not adverbs."""
OPENERS = frozenset(_VOCABULARY["openers"].split())
"""English words that often begin a sentence and are not names there."""


def fraction_pattern(language: str) -> str:
    """A pattern for fractions such as `two thirds`; it never matches if the language has no list."""
    parts = "|".join(FRACTIONS.get(language, {}))
    numbers = "|".join(NUMBER_WORDS.get(language, "").split())
    return rf"(?P<count>(?i:{numbers}))[ -](?P<part>{parts})" if parts else r"(?!)"


def month_forms(language: str) -> tuple[str, ...]:
    """Every form of every month, longest first."""
    forms = {form for row in MONTHS.get(language, ()) for form in row}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


FOLDER = _DATA / "gazetteers"

Row = tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """The position of a form in the lists."""

    kind: str
    """`name`, `term`, `antonym`, `hedge`, `number`, `ordinal`, or `weekday`."""
    group: str
    """The class, such as `city`."""
    row: int
    column: int


@dataclass(frozen=True)
class Gazetteer:
    """The lists of one language; all empty if Assay has none for it."""

    language: str
    groups: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    """Class -> entries -> forms."""
    entries: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    """Form -> its positions; lower-case forms are included with a capital too."""
    swaps: Mapping[str, str] = field(default_factory=dict)
    """Antonyms and hedges: form -> replacement."""
    stems: Mapping[str, str] = field(default_factory=dict)
    """Antonyms in inflected languages: stem -> stem; the ending stays."""
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Lists of single words: stop, articles, prepositions, modifiers ..."""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists in which order matters: fillers, prefixes, units."""
    negations: tuple[tuple[str, str], ...] = ()
    """(verb, denied verb), most common first."""
    generalise: Mapping[str, str] = field(default_factory=dict)
    suffixes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ending -> nouns and adjectives with it, longest ending first."""
    pattern: "regex.Pattern[str] | None" = None
    """Finds any form, longest first."""


WORD_LISTS = (
    "stop", "articles", "prepositions", "adverbial", "modifiers", "ordinal_after", "before_number",
    "place_words", "clauses", "endings",
)  # fmt: skip
_COMMON = frozenset({"given_name"})
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}ー"


def languages() -> tuple[str, ...]:
    """Languages with a gazetteer."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


@lru_cache(maxsize=64)
def gazetteer(language: str) -> Gazetteer:
    """The lists of a BCP 47 tag's language; empty lists if Assay has none."""
    name = base_language(language)
    path = FOLDER / f"{name}.json"
    # The tag comes from a user's file: open only shipped files.
    return _read(path) if name in languages() else Gazetteer(name)


def _read(path: Path) -> Gazetteer:
    try:
        raw = json.loads(path.read_text("utf-8"))
        groups = {name: _rows(text) for name, text in raw["classes"].items()}
    except (ValueError, KeyError, AttributeError) as error:
        raise InputError(
            f"{path.name} cannot be read as a word list: {error}; correct or restore it"
        ) from error
    for name in ("weekdays", "numbers", "numbers_2", "ordinals", "fractions"):
        groups[name] = _rows(raw.get(name, ""))
    groups["numbers"] = tuple((row[0].split(" = ")[0],) for row in groups["numbers"])
    groups["numbers_2"] = tuple((row[0].split(" = ")[0],) for row in groups["numbers_2"])
    endings, suffixes = frozenset(_items(raw.get("endings", ""))), raw.get("suffixes", {})
    swaps, stems = _swaps(raw.get("antonyms", []), bool(endings))
    hedges, _ = _swaps([f"{pair}".replace(" = ", " => ") for pair in raw.get("hedges", [])], False)
    entries = _entries(groups, swaps, hedges)
    return Gazetteer(
        path.stem,
        groups,
        entries,
        {**swaps, **hedges},
        stems,
        {name: frozenset(_items(raw.get(name, ""))) for name in WORD_LISTS},
        {
            "fillers": tuple(raw.get("fillers", [])),
            "prefixes": tuple(raw.get("prefixes", "").split()),
            "units": tuple(_items(raw.get("units", ""))),
            "vowels": tuple(raw.get("vowels", "")),
        },
        tuple(text.partition(" = ")[::2] for text in raw.get("negations", [])),
        raw.get("generalise", {}),
        {
            suffix: tuple(_items(suffixes[suffix]))
            for suffix in sorted(suffixes, key=lambda one: (-len(one), one))
        },
        _pattern(entries, stems, endings, tuple(raw.get("prefixes", "").split())),
    )


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _rows(text: str) -> tuple[Row, ...]:
    return tuple(tuple(form.strip() for form in item.split("|")) for item in _items(text))


def _swaps(pairs: Sequence[str], inflected: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Swaps of whole words and of stems: both ways for `a = b`, one way for `a => b`; earlier lines win."""
    whole: dict[str, str] = {}
    stems: dict[str, str] = {}
    for pair in pairs:
        left, arrow, right = pair.partition(" => ")
        if not arrow:
            left, _, right = pair.partition(" = ")
        first, second = left.split("|"), right.split("|")
        for a, b in zip(first, second, strict=False):
            target = stems if inflected and len(first) == 1 and len(a) > 2 else whole
            target.setdefault(a, b)
            whole.setdefault(a, b)
            if not arrow:
                target.setdefault(b, a)
                whole.setdefault(b, a)
    return whole, stems


def _entries(
    groups: Mapping[str, tuple[Row, ...]], swaps: Mapping[str, str], hedges: Mapping[str, str]
) -> dict[str, tuple[Entry, ...]]:
    found: dict[str, list[Entry]] = {}
    kinds = {"numbers": "number", "numbers_2": "number", "ordinals": "ordinal", "fractions": "ordinal"}
    for name, rows in groups.items():
        if name in _COMMON:
            continue
        for at, row in enumerate(rows):
            for column, form in enumerate(row):
                kind = kinds.get(name) or (
                    "weekday" if name == "weekdays" else ("name" if form[:1].isupper() else "term")
                )
                found.setdefault(form, []).append(Entry(kind, name, at, column))
    for kind, table in (("hedge", hedges), ("antonym", swaps)):
        for form in table:
            found.setdefault(form, []).append(Entry(kind, kind, 0, 0))
    for form in list(found):
        found.setdefault(form[:1].upper() + form[1:], found[form])
    return {form: tuple(places) for form, places in found.items()}


def _pattern(
    entries: Mapping[str, object], stems: Mapping[str, str], endings: frozenset[str], prefixes: Sequence[str]
) -> "regex.Pattern[str]":
    """One pattern for all forms. In scripts without spaces, a form must not be part of a longer run."""
    forms = sorted(entries, key=lambda form: (-len(form), form))
    spaced = [regex.escape(form) for form in forms if not regex.search(f"[{_CJK}]", form)]
    dense = [_dense(form) for form in forms if regex.search(f"[{_CJK}]", form)]
    before = "".join(regex.escape(prefix) for prefix in prefixes)
    start = rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?:[{before}])?" if before else r"(?<![\p{L}\p{M}\p{N}])"
    parts = []
    if spaced:
        parts.append(rf"{start}(?P<form>{'|'.join(spaced)})(?![\p{{L}}\p{{M}}\p{{N}}])")
    if stems:
        ends = "|".join(sorted(endings, key=lambda ending: (-len(ending), ending)))
        alternatives = "|".join(sorted(stems, key=lambda stem: (-len(stem), stem)))
        parts.append(rf"{start}(?P<stem>(?:{alternatives})(?=(?:{ends})?(?![\p{{L}}\p{{M}}])))(?:{ends})?")
    if dense:
        parts.append(rf"(?P<dense>{'|'.join(dense)})")
    return regex.compile("|".join(parts) or r"(?!)")


def _dense(form: str) -> str:
    escaped = regex.escape(form)
    if len(form) == 1 and form not in "約约":
        return rf"(?<!\p{{Han}}){escaped}(?!\p{{Han}})"
    if regex.fullmatch(r"[\p{Katakana}ー]+", form):
        return rf"(?<![\p{{Katakana}}ー]){escaped}(?![\p{{Katakana}}ー])"
    return str(escaped)
