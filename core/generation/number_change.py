"""Whether a paraphrase changed the reference's numbers: `eight hearts` is no other wording of `three hearts`.

3 and three are the same, in the languages whose number words are known; so are 2,857 and 2857, 1.5 million and
1,500,000, and a month's name and its number. What is in doubt counts as unchanged. Pure functions.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

import regex

from core.generation.factual.vocabulary import FRACTIONS, MONTHS, NUMBER_WORDS, ORDINAL_WORDS, SCALES
from core.generation.rules.numbers import NUMBER
from core.generation.rules.replacing import ROMANS

ENGLISH = "en"
"""The language whose number words are all known: in another one a number may be spelled out in words that are not."""
NUMBER_CHANGED = "number changed"
"""Under which such paraphrases are counted."""
MOST_NAMED = 3
"""Numbers that a sentence names."""
_SEPARATOR = regex.compile(r"[.,٫٬'’\u00a0\u202f]")
_DATE = regex.compile(r"(?<!\p{Nd})(\p{Nd}{1,2})[./](\p{Nd}{1,2})[./](?=\p{Nd}{2,4}(?!\p{Nd}))")
_TOKEN = regex.compile(
    rf"(?P<digits>(?<![\p{{Lu}}\p{{Ll}}\p{{Nd}}])(?:{NUMBER}))|(?P<word>\p{{L}}[\p{{L}}\p{{M}}'’]*(?:-\p{{L}}+)*)|(?P<end>[^\s\-–])"
)
_SCALE = regex.compile("|".join(SCALES), regex.IGNORECASE)
_TO_TWELVE, _TENS = tuple(range(2, 13)), (20, 30, 40, 50)
_VALUES: dict[str, tuple[int, ...]] = {
    "en": (*range(2, 20), *range(20, 100, 10), 100, 1_000, 10**6, 10**9),
    **dict.fromkeys(("de", "it", "nl"), (*_TO_TWELVE, *_TENS, 100, 1_000)),
    **dict.fromkeys(("fr", "es"), (*_TO_TWELVE, 15, *_TENS, 100, 1_000)),
    "pt": (2, *_TO_TWELVE, 15, *_TENS, 100, 1_000),
    **dict.fromkeys(("ru", "uk"), (2, *_TO_TWELVE, 20, 30, 40, 100)),
}
"""Of NUMBER_WORDS, in their order."""
_ORDINALS = {
    **dict(zip(ORDINAL_WORDS["en"].split(), (*range(1, 14), 20), strict=True)),
    **dict(
        zip(
            ["fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"],
            range(14, 20),
            strict=True,
        )
    ),
    **{
        f"{tens}ieth": 10 * at
        for at, tens in enumerate(["thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet"], 3)
    },
    "hundredth": 100,
}
_OTHERWISE = {
    "both": 2, "pair": 2, "pairs": 2, "couple": 2, "twice": 2, "double": 2, "dual": 2, "twin": 2, "twins": 2, "duo": 2,
    "triple": 3, "thrice": 3, "trio": 3, "quarter": 25, "half": 50, "decade": 10, "dozen": 12, "century": 100,
}  # fmt: skip
"""English words that may stand for a number."""
_SCALES_IN_WORDS = (100, 1_000, 10**6, 10**9, 10**12)
_ROMAN = ROMANS[1:-1]
"""Without I, which is a pronoun."""


def plain_number(digits: str) -> str:
    """The same text for 2,857 and 2.857 and 2857: three digits after a separator are taken for thousands."""
    plain = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in digits)
    first, *groups = map(str, _SEPARATOR.split(plain))
    thousands = len(first) <= 3 and first != "0"
    if thousands and all(len(group) == 3 for group in groups):
        return first + "".join(groups)
    if thousands and len(groups) > 1 and all(len(group) == 3 for group in groups[:-1]):
        return f"{first}{''.join(groups[:-1])}.{groups[-1]}"
    return ".".join([first, *groups])


def number_change(language: str, reference: str, text: str, question: str = "") -> str | None:
    """What changed among the numbers, as a sentence that a model can act on; None: nothing that is sure.

    language: of the texts, without region. question: a paraphrase may repeat its numbers. In English a number that is
    missing or new is a change; elsewhere one that is missing while another is new, because it may be spelled out in words
    that are not known. 1 does not count: `a` and `one` say it too. Misleads where a paraphrase converts units.
    """
    there, here, asked = (_Numbers.of(one, language) for one in (reference, text, question))
    lost = there.said - here.said - here.possible
    new = here.said - there.said - there.possible - asked.said - asked.possible
    if there.unclear or here.unclear or not (lost or new) or (language != ENGLISH and not (lost and new)):
        return None
    parts = [f"{_listed(lost)} missing"] if lost else []
    parts += [f"{_listed(new)} not in the reference"] if new else []
    return f"Its numbers are not the reference's: {', and '.join(parts)}. Keep every number."


@dataclass
class _Numbers:
    """The numbers of a text."""

    said: set[Decimal] = field(default_factory=set)
    possible: set[Decimal] = field(default_factory=set)
    """What words of it may stand for."""
    unclear: bool = False
    """A number is spelled out in a way that is not known."""

    @classmethod
    def of(cls, text: str, language: str) -> "_Numbers":
        found = cls()
        run: list[_Part] = []
        for digits, word in [*_tokens(text, language), ("", "")]:
            if word == "and" and language == ENGLISH and run and run[-1].value >= 100:
                continue
            part = _part(digits, word, language)
            if part is not None and run and _goes_on(run[-1], part, language):
                run.append(part)
                continue
            scaled = bool(run) and part is None and _SCALE.fullmatch(word) is not None
            found._add(run, language, unknown_scale=scaled)
            run = [] if part is None else [part]
            found.possible |= {Decimal(one) for one in _possible(word, language)}
            found.unclear |= language != ENGLISH and _is_compound(word, language)
        found.said.discard(Decimal(1))
        return found

    def _add(self, run: "list[_Part]", language: str, *, unknown_scale: bool) -> None:
        """The number that these words and digits make together."""
        if not run:
            return
        if unknown_scale or (language != ENGLISH and len(run) > 1):
            self.unclear = True
            return
        value = _together([one.value for one in run])
        (self.possible if any(one.is_ordinal for one in run) else self.said).add(value)


@dataclass(frozen=True)
class _Part:
    """Digits or a number word."""

    value: Decimal
    in_digits: bool = False
    is_ordinal: bool = False
    """As a word: `3rd` counts as a number, since no other word has its form."""


def _tokens(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Digits or a word, each, the other being empty; both for another character, which ends what belongs together."""
    for found in _TOKEN.finditer(_DATE.sub(r"\1 ; \2 ; ", text)):
        word = found["word"] or ""
        if language == ENGLISH and "-" in word:
            yield from (("", part) for part in word.split("-"))
        else:
            yield found["digits"] or "", word


def _part(digits: str, word: str, language: str) -> _Part | None:
    if digits:
        plain = plain_number(digits)
        indian = plain.count(".") > 1  # 12,34,567: groups of two
        return _Part(Decimal(plain.replace(".", "") if indian else plain).normalize(), in_digits=True)
    plain = word.casefold()
    if language == ENGLISH and plain in _ORDINALS:
        return _Part(Decimal(_ORDINALS[plain]), is_ordinal=True)
    if language == ENGLISH and plain == "trillion":
        return _Part(Decimal(10**12))
    words = NUMBER_WORDS.get(language, "").split()
    return _Part(Decimal(_VALUES[language][words.index(plain)])) if plain in words else None


def _is_compound(word: str, language: str) -> bool:
    """Whether a number word is a part of the word, as in `quatre-vingts`."""
    first, *others = word.casefold().split("-")
    return bool(others) and not {first, *others}.isdisjoint(NUMBER_WORDS.get(language, "").split())


def _goes_on(before: _Part, part: _Part, language: str) -> bool:
    """Whether a number word belongs to the part before it: `twenty` `five`, `two` `hundred`, `1.5` `million`."""
    if part.in_digits:
        return False
    if part.value in _SCALES_IN_WORDS:
        return True
    if before.in_digits:
        return False
    if language != ENGLISH:
        return True  # what they make together is not known
    return before.value % 100 == 0 or (before.value % 10 == 0 and before.value < 100 and part.value < 10)


def _together(values: list[Decimal]) -> Decimal:
    total = current = Decimal(0)
    for value in values:
        if value == 100 and current:
            current *= 100
        elif value in _SCALES_IN_WORDS and value != 100 and (current or total):
            total, current = total + (current or 1) * value, Decimal(0)
        else:
            current += value
    return (total + current).normalize()


def _possible(word: str, language: str) -> Iterator[int]:
    """What a word may stand for besides a number word: a month, a fraction, a Roman number."""
    plain = word.casefold()
    for at, forms in enumerate(MONTHS.get(language, ()), start=1):
        if plain in (form.casefold() for form in forms):
            yield at
    if (part := FRACTIONS.get(language, {}).get(plain)) is not None:
        yield part
    if language == ENGLISH and plain in _OTHERWISE:
        yield _OTHERWISE[plain]
    if word in _ROMAN:
        yield _ROMAN.index(word) + 2


def _listed(numbers: set[Decimal]) -> str:
    """The first of them, with the verb: `3 is`, `3, 5 are`."""
    shown = [f"{one:f}" for one in sorted(numbers)]
    more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
    return f"{', '.join(shown[:MOST_NAMED])}{more} {'is' if len(shown) == 1 else 'are'}"
