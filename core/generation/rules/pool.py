"""What the data set itself offers as replacements: its names by type, its terms, its answers.

Everything is sorted, so the order of the file is irrelevant; replacements for an item may come from any item.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import regex

from core.generation.factual.vocabulary import UNIT_WORDS, month_forms
from core.generation.language import base_language, language_of
from core.generation.openers import opens_sentence
from core.generation.rules.content import content_words
from core.generation.rules.gazetteer import Gazetteer, gazetteer
from core.generation.rules.naming import NAME_RUN, name_type, trimmed_name
from core.generation.script import main_script, same_text
from core.schema import Material

Key = tuple[str, str | None]
"""Language (without region) and script."""
_TERM = r"(?<![\p{{L}}’'-])(?:{articles}) (?P<term>(?:\p{{Ll}}+ )?\p{{Ll}}{{3,}})(?=[.,;]| (?:of|in|on|from|with|and|for) )"
_KATAKANA = regex.compile(r"(?<![\p{Katakana}ー])[\p{Katakana}ー]{3,}(?![\p{Katakana}ー])")
_MOST_TEXTS = 5_000
"""Materials that names are read from: beyond it a pool only grows slower to search."""


@dataclass(frozen=True)
class Other:
    """An answer of the data set that can stand in for another item's."""

    item_id: str
    text: str


@dataclass(frozen=True)
class Pool:
    """The replacements a data set offers."""

    names: Mapping[Key, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Type of name -> names."""
    types: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(language, name) -> the type most of its places suggest."""
    terms: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    vocabulary: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Language -> words written in lower case somewhere: no names, even at the start of a sentence."""
    words: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    """Ordinary content words as they stand inside a sentence, where no list knows them."""
    answers: Mapping[Key, tuple[Other, ...]] = field(default_factory=dict)

    # Facts are remembered by text and pool: which pool it is decides, and what it holds never changes.
    __hash__ = object.__hash__

    def named(self, language: str, script: str | None, kind: str) -> tuple[str, ...]:
        """Names of one type."""
        return self.names.get((base_language(language), script), {}).get(kind, ())

    def type_of(self, language: str, name: str) -> str | None:
        """The type of a name that the data set holds."""
        return self.types.get((base_language(language), name))

    def others(self, material: Material) -> tuple[Other, ...]:
        """Answers of other items in this item's language and script, none with this item's text.

        Those of about its length, where there are any: a sentence in place of a word would give itself away.
        """
        own = material.item
        key = (language_of(material), main_script(own.reference))
        found = tuple(
            other
            for other in self.answers.get(key, ())
            if other.item_id != own.item_id
            and not (abs(len(other.text) - len(own.reference)) < 9 and same_text(other.text, own.reference))
        )
        size = len(own.reference)
        alike = tuple(other for other in found if size <= 2 * len(other.text) <= 4 * size)
        return alike or found


def make_pool(materials: Iterable[Material]) -> Pool:
    """The pool of a whole data set; the same for any order of it."""
    chosen = sorted(materials, key=lambda material: material.item.item_id)
    vocabulary: dict[str, set[str]] = defaultdict(set)
    terms: dict[Key, set[str]] = defaultdict(set)
    words: dict[Key, set[str]] = defaultdict(set)
    answers: dict[Key, list[Other]] = defaultdict(list)
    for material in chosen:
        item = material.item
        language, script = language_of(material), main_script(item.reference)
        answers[language, script].append(Other(item.item_id, item.reference))
    for language, text in _texts(chosen):
        vocabulary[language].update(regex.findall(r"(?<![\p{L}\p{M}])\p{Ll}[\p{L}\p{M}]+", text))
        terms[language, main_script(text)].update(_terms(text, language))
        for word in _words(text, language):
            words[language, main_script(word)].add(word)
    frozen = {language: frozenset(words) for language, words in vocabulary.items()}
    names, types = _names(chosen, frozen)
    return Pool(
        names,
        types,
        {key: tuple(sorted(found)) for key, found in terms.items()},
        frozen,
        {key: tuple(sorted(found)) for key, found in words.items()},
        {key: tuple(found) for key, found in answers.items()},
    )


def _texts(materials: Iterable[Material]) -> Iterator[tuple[str, str]]:
    for material in list(materials)[:_MOST_TEXTS]:
        for text in (material.item.question, material.item.reference, material.paraphrase):
            if text:
                yield language_of(material), text


def _terms(text: str, language: str) -> Iterator[str]:
    articles = gazetteer(language).words.get("articles", frozenset())
    if articles and language == "en":
        pattern = _TERM.format(articles="|".join(sorted(articles)))
        yield from (match["term"] for match in regex.finditer(pattern, text))
    units = UNIT_WORDS.get(language, "").split()
    yield from (word for word in _KATAKANA.findall(text) if word not in units)


def _words(text: str, language: str) -> Iterator[str]:
    listed, months = gazetteer(language).entries, month_forms(language)
    for start, end in content_words(text, language):
        word = text[start:end]
        # A capital tells a noun in German alone; elsewhere it tells a name, which has a pool of its own.
        ordinary = not word[0].isupper() or (language == "de" and not opens_sentence(text, start))
        if ordinary and word not in listed and word not in months:
            yield word


@lru_cache(maxsize=64)
def _pieces(language: str) -> frozenset[str]:
    """Words of the listed names that have several."""
    return frozenset(word for form in gazetteer(language).entries if " " in form for word in form.split())


def _is_no_example(name: str, text: str, at: int, lists: Gazetteer) -> bool:
    """A month, a word that has its capital from its place, or a piece of a listed name (`Olympic`)."""
    if any(entry.kind == "name" for entry in lists.entries.get(name, ())):
        return False
    return (
        name in month_forms(lists.language)
        or name in _pieces(lists.language)
        or name.lower() in lists.entries
        or (opens_sentence(text, at) and " " not in name)
    )


def _names(
    materials: list[Material], vocabulary: Mapping[str, frozenset[str]]
) -> tuple[dict[Key, dict[str, tuple[str, ...]]], dict[tuple[str, str], str]]:
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for language, text in _texts(materials):
        lists, known = gazetteer(language), vocabulary.get(language, frozenset())
        for match in NAME_RUN.finditer(text):
            place = trimmed_name(text, match.start(), match.end(), lists, known)
            if place is not None:
                name = text[place[0] : place[1]]
                if _is_no_example(name, text, place[0], lists):
                    continue
                votes[language, name][name_type(name, text[max(0, place[0] - 60) : place[0]], lists)] += 1
    types = {key: min(count, key=lambda kind: (-count[kind], kind)) for key, count in votes.items()}
    surnames = {
        (language, name.split()[-1])
        for (language, name), kind in types.items()
        if kind == "person" and name.split()[-1] not in gazetteer(language).entries
    }
    for key in types:
        if types[key] in ("thing", "place") and key in surnames:
            types[key] = "surname"
    for key in sorted(surnames):
        types.setdefault(key, "surname")
    grouped: dict[Key, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (language, name), kind in sorted(types.items()):
        grouped[language, main_script(name)][kind].append(name)
    return (
        {key: {kind: tuple(found) for kind, found in kinds.items()} for key, kinds in grouped.items()},
        types,
    )
