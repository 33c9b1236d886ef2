"""The numbers, dates and names in texts, and where a changed text contradicts itself about one, by rules."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from core.generation.facts import Fact, Pool, find_facts, make_pool
from core.generation.language import language_of
from core.generation.numbers import plain_number
from core.judges.sentences import Content, Premise, sentences_of
from core.schema.study import Material
from core.tables.reading import shown

_DIGITS = regex.compile(r"\p{Nd}+(?:[.,٫٬]\p{Nd}+)*")
_COUNTED = regex.compile(r"[\s-]*([\p{L}°%]+)")
_WITH_UNIT = frozenset({"number", "quantity", "percent", "money", "ordinal"})
_ONE_OF_A_KIND = _WITH_UNIT | {"year", "date", "time", "range"}
"""Kinds of which two values for one thing contradict each other; a text may name several people."""

Value = tuple[tuple[str, str], str]
"""((kind, unit), value): what rules compare."""


@dataclass(frozen=True)
class Values:
    """Reads the values in texts: numbers with their units, dates, names."""

    pool: Pool
    languages: Mapping[str, str]

    @classmethod
    def of(cls, materials: Iterable[Material]) -> "Values":
        """Names are those that the references have. materials: a text without a reference is its own."""
        different = list({one.item.reference: one for one in materials}.values())
        return cls(make_pool(different), {one.item.reference: language_of(one) for one in different})

    def in_text(self, text: str, reference: str | None) -> "list[Sentence]":
        """The values in each sentence of the text."""
        language = self.languages.get(reference or text, "und")
        found = []
        for sentence in sentences_of(text):
            facts = find_facts(sentence, language, self.pool)
            hard = [(_value(fact, sentence), fact.text) for fact in facts if _is_hard(fact)]
            values = Counter(value for value, _ in hard)
            found.append(Sentence(sentence, values, dict(hard)))
        return found


@dataclass(frozen=True)
class Sentence:
    """A sentence and its values."""

    text: str
    values: Counter[Value]
    spelled: Mapping[Value, str]
    """Value -> as the sentence has it."""

    def is_about(self, other: "Sentence") -> bool:
        """Whether both sentences share enough words to be about one thing."""
        content, premise = Content.of(self.text), Premise.of(other.text)
        return sum(map(premise.has, (*content.names, *content.words))) >= _SHARED_WORDS


_SHARED_WORDS = 2
"""Words that two sentences must share for their two values of one unit to contradict each other."""


def _is_hard(fact: Fact) -> bool:
    return fact.kind in _ONE_OF_A_KIND or fact.kind in ("name", "acronym", "title", "weekday")


def _value(fact: Fact, text: str) -> Value:
    said = " ".join(fact.text.casefold().split())
    if fact.kind not in _WITH_UNIT:
        return (fact.kind if fact.kind in _ONE_OF_A_KIND else "name", ""), said
    digits = _DIGITS.search(said)
    unit = f"{said[: digits.start()]}{said[digits.end() :]}".strip() if digits else ""
    if not unit and (counted := _COUNTED.match(text, fact.end)):
        unit = counted.group(1).casefold()
    return (fact.kind, unit), plain_number(digits.group()) if digits else said


def contradictions(first: Sequence[Sentence], now: Sequence[Sentence]) -> Iterator[str]:
    """What a text contradicts itself about, compared with the best level of its item.

    An old value stands beside the new one if the best level has it several times and this one fewer times, with a new value
    of the same kind. Two values are given if the best level has one value of a unit, and this one has it in one sentence
    and another value in a sentence about the same thing.
    """
    spelled = {value: text for one in (*now, *first) for value, text in one.spelled.items()}

    def called(key: tuple[str, str], value: str) -> str:
        text = spelled[key, value]
        return shown(text if not key[1] or key[1] in text.casefold() else f"{text} {key[1]}")

    before, after = (sum((one.values for one in text), Counter[Value]()) for text in (first, now))
    old: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, value in before:
        old[key].append(value)
    new: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, value in after:
        if (key, value) not in before:
            new[key].append(value)
    for (key, value), n in before.items():
        if new[key] and n > 1 and 0 < after[key, value] < n:
            yield f"changed {called(key, value)} in one place and left it in another"
    for key, values in old.items():
        value, *others = values
        if key[0] not in _ONE_OF_A_KIND or others or before[key, value] > 1:
            continue
        left = [one for one in now if (key, value) in one.values]
        beside = (
            other
            for other in new[key]
            for one in now
            if (key, other) in one.values and any(one is not two and one.is_about(two) for two in left)
        )
        if (other := next(beside, None)) is not None:
            yield f"gives both {called(key, value)} and {called(key, other)}"
