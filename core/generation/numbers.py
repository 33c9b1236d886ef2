"""Numbers and dates: moved to plausible others in the same form, read, compared between two texts, and held against each other."""

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import regex

from core.diff.sentences import sentences
from core.generation.language import base_language
from core.generation.lists import FRACTIONS, MONTHS, NUMBER_WORDS, ORDINAL_WORDS, SCALES, month_forms

T = TypeVar("T")


class Draw:
    """A place in the tree of choices: the same parts always choose the same, whatever else was drawn before."""

    def __init__(self, *parts: object) -> None:
        # Each part with its length: ("a", "b") and ("ab",) must not meet.
        whole = "".join(f"{len(str(part))}:{part}" for part in parts)
        self._key = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()

    def child(self, *parts: object) -> "Draw":
        """The choices below this one, such as those of one span."""
        return Draw(self._key, *parts)

    def below(self, limit: int, label: object = "") -> int:
        """A number from 0 to limit - 1."""
        digest = hashlib.sha256(f"{self._key}/{label}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def choose(self, options: Sequence[T], label: object = "") -> T:
        """One of the options; which one does not change when others are removed that it would not have chosen."""
        # The option of the smallest hash: taking names out of a pool leaves all other items' choices alone.
        best = min(range(len(options)), key=lambda at: (self.below(1 << 62, f"{label}|{options[at]}"), at))
        return options[best]

    def shuffled(self, options: Sequence[T], label: object = "") -> list[T]:
        """The options in a drawn order."""
        return sorted(options, key=lambda option: self.below(1 << 62, f"{label}|{option}"))


NUMBER = (
    r"\p{Nd}{1,3}(?:[.,'’٬\u00a0\u202f]\p{Nd}{3})+(?:[.,٫]\p{Nd}+)?"  # 1,234,567.8
    r"|\p{Nd}{1,2}(?:,\p{Nd}{2})+,\p{Nd}{3}"  # 12,34,567
    r"|\p{Nd}+(?:[.,٫]\p{Nd}+)?"
)
_NUMBER = regex.compile(NUMBER)
_LARGER = (115, 125, 135, 150, 165, 180, 210, 240)
_SMALLER = (88, 80, 74, 66, 58, 50, 42)
_ROUND_WITHIN = 8
"""Percent that a rounded number may be off."""
LATEST_YEAR = 2025
"""No year is moved beyond it: a date to come would give the change away."""
_SUFFIX = {1: "st", 2: "nd", 3: "rd"}


def digits_value(text: str) -> int:
    """The digits of a text as one integer, whatever script and separators."""
    return int("".join(str(unicodedata.digit(char)) for char in text if unicodedata.category(char) == "Nd"))


def with_value(text: str, value: int) -> str:
    """The text with its digits replaced, in place and in their script; the value must have as many digits."""
    digits = [at for at, char in enumerate(text) if unicodedata.category(char) == "Nd"]
    new = list(text)
    for at, digit in zip(digits, str(value).zfill(len(digits)), strict=True):
        zero = ord(text[at]) - unicodedata.digit(text[at])
        new[at] = chr(zero + int(digit))
    return "".join(new)


def put_in(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """The text with stretches replaced; an English article before one is made to fit."""
    for start, end, new in sorted(changes, reverse=True):
        before = text[:start]
        article = regex.search(r"(?<![\p{L}’'-])(?P<a>[Aa])n?(?P<gap>\s)$", before[-4:])
        old_vowel, new_vowel = (word[:1].lower() in "aeiou" for word in (text[start:end], new))
        if article and old_vowel != new_vowel and new[:1].isascii() and new[:1].isalpha():
            letter = article["a"] + ("n" if new_vowel else "")
            before = before[: len(before) - len(article.group())] + letter + article["gap"]
        text = before + new + text[end:]
    return text


def _changed(text: str, *changes: "tuple[regex.Match[str], int]") -> str:
    """The text with other values for the numbers found in it."""
    return put_in(text, [(*match.span(), with_value(match.group(), value)) for match, value in changes])


def move_number(text: str, draw: Draw, highest: int | None = None) -> str:
    """One number (as NUMBER matches it), larger or smaller by a tenth to a factor of 2.4; round stays round.

    highest: no larger value, as for percentages.
    """
    count = sum(unicodedata.category(char) == "Nd" for char in text)
    value = digits_value(text)
    top = min(10**count - 1, highest if highest is not None else 10**count - 1)
    bottom = 10 ** (count - 1) if count > 1 and value >= 10 ** (count - 1) else 1
    if count == 1 or value < 10:
        options = [n for n in range(max(1, value - 3), value + 5) if n != value and bottom <= n <= top]
        return with_value(text, draw.choose(options or [n for n in (1, 2) if n != value]))
    step = 10 ** (len(str(value)) - len(str(value).rstrip("0")))
    options = [value * percent // 100 // step * step for percent in (*_LARGER, *_SMALLER)]
    options = [n for n in options if n != value and bottom <= n <= top]
    if not options:
        options = [n for n in (value - step, value + step) if 0 < n < 10**count]
    return with_value(text, draw.choose(options or [max(1, value - 1)]))


def move_year(text: str, draw: Draw) -> str:
    """A year of four digits, 3 to 40 years away, never in the future."""
    year = digits_value(text)
    distance = 3 + draw.below(38, "years")
    later = year + distance
    if draw.below(2, "sign") == 0 and (later <= LATEST_YEAR or year > LATEST_YEAR) and later < 10_000:
        return with_value(text, later)
    return with_value(text, year - distance if year - distance >= 1000 else later)


def move_decade(text: str, draw: Draw) -> str:
    """The first year of a decade (1650s), 10 to 50 years away; a decade stays one."""
    year = digits_value(text)
    options = [year + step for step in (-50, -40, -30, -20, -10, 10, 20, 30, 40)]
    past = [n for n in options if 1000 <= n <= LATEST_YEAR]
    return with_value(text, draw.choose(past or [n for n in options if 1000 <= n <= 9990]))


def move_range(text: str, draw: Draw) -> str | None:
    """A range such as `3 to 5`, both ends moved by as much; None where that changes the number of digits."""
    first, last = list(_NUMBER.finditer(text))[:2]
    low, high = digits_value(first.group()), digits_value(last.group())
    for shift in draw.shuffled([-3, -2, 2, 3, 4, -10, 10, 20, -20]):
        new = low + shift, high + shift
        if new[0] > 0 and all(len(str(a)) == len(str(b)) for a, b in ((low, new[0]), (high, new[1]))):
            return _changed(text, (first, new[0]), (last, new[1]))
    return None


def move_ordinal(text: str, draw: Draw) -> str:
    """The number in an ordinal, at most three places away: centuries and ranks stay what can be."""
    match = _NUMBER.search(text)
    assert match is not None
    value, count = digits_value(match.group()), len(match.group())
    near = [n for n in range(max(1, value - 3), value + 4) if n != value and len(str(n)) <= count]
    return _changed(text, (match, draw.choose(near)))


def english_suffix(number: int) -> str:
    """The letters behind an English ordinal: 1st, 2nd, 3rd, 11th."""
    return "th" if number % 100 in (11, 12, 13) else _SUFFIX.get(number % 10, "th")


def move_all(text: str, draw: Draw, year: bool = False, highest: int | None = None) -> str:
    """Every number in the text moved, each by its own draw."""

    def moved(match: "regex.Match[str]") -> str:
        own = draw.child(match.start())
        return move_year(match.group(), own) if year else move_number(match.group(), own, highest)

    return str(_NUMBER.sub(moved, text))


def move_time(text: str, draw: Draw) -> str:
    """A time of day such as 14:30: another hour of the day, other minutes."""
    first, last = list(_NUMBER.finditer(text))[:2]
    hour, minute = digits_value(first.group()), digits_value(last.group())
    hours = range(10, 24) if len(first.group()) == 2 and hour >= 10 else range(1, 10)
    new_hour = draw.choose([n for n in hours if n != hour], "hour")
    new_minute = draw.choose([n for n in range(0, 60, 5) if n != minute], "minute")
    return _changed(text, (first, new_hour), (last, new_minute))


def general_year(text: str) -> str:
    """The decade of a year: 1655 gives 1650, digits in their script."""
    return with_value(text, digits_value(text) // 10 * 10)


def rounded(text: str, decimal_mark: str) -> str | None:
    """A number of three digits or more to one or two digits, whichever is near; None: round already, or a decimal.

    decimal_mark: the language's, which tells 42.195 from 42,195.
    """
    if _NUMBER.fullmatch(text) is None or decimal_mark in text or "٫" in text:
        return None
    value = digits_value(text)
    size = len(str(value))
    for kept in (1, 2):
        step = 10 ** max(0, size - kept)
        new = (2 * value + step) // (2 * step) * step
        if size > 2 and len(str(new)) == size and abs(new - value) * 100 <= _ROUND_WITHIN * value:
            return None if new == value else with_value(text, new)
    return None


_DAY = r"(?P<d>\p{Nd}{1,2})(?P<suffix>st|nd|rd|th|er|\.|º)?"
_YEAR = r"(?P<y>\p{Nd}{4})(?!\p{Nd})"
_PLAIN = (
    r"(?<!\p{Nd})(?P<y>\p{Nd}{4})-(?P<mn>\p{Nd}{2})-(?P<d>\p{Nd}{2})(?!\p{Nd})",
    r"(?<!\p{Nd})(?P<d>\p{Nd}{1,2})[./](?P<mn>\p{Nd}{1,2})[./](?P<y>\p{Nd}{4})(?!\p{Nd})",
    r"(?<!\p{Nd})(?P<y>\p{Nd}{3,4})年(?!代)(?:(?P<mn>\p{Nd}{1,2})月(?:(?P<d>\p{Nd}{1,2})日)?)?",
    r"(?<!\p{Nd})(?P<mn>\p{Nd}{1,2})月(?P<d>\p{Nd}{1,2})日",
    r"(?<!\p{Nd})(?P<y>\p{Nd}{4})년(?:\s?(?P<mn>\p{Nd}{1,2})월(?:\s?(?P<d>\p{Nd}{1,2})일)?)?",
    r"(?<!\p{Nd})(?P<mn>\p{Nd}{1,2})월\s?(?P<d>\p{Nd}{1,2})일",
)


@lru_cache(maxsize=64)
def date_patterns(language: str) -> tuple["regex.Pattern[str]", ...]:
    """Patterns for dates, the longest forms first."""
    forms = month_forms(base_language(language))
    patterns = list(_PLAIN)
    if forms:
        # Thai writes no spaces: what follows a month there is another word.
        ends = "" if base_language(language) == "th" else r"(?![\p{L}\p{M}])"
        before = "[ובלמה]?" if base_language(language) == "he" else ""
        month = rf"{before}(?P<m>{'|'.join(map(regex.escape, forms))}){ends}"
        link = r"(?:\s+(?:de|del|of|ค\.ศ\.|พ\.ศ\.))?"
        patterns = [
            rf"(?<!\p{{Nd}}){_DAY}{link}\s+{month}{link}(?:,?\s+{_YEAR})?",
            rf"(?<!\p{{L}}){month}\s+{_DAY}(?!\p{{Nd}}),?\s+{_YEAR}",
            rf"(?<!\p{{L}}){month}{link}\s+{_YEAR}",
            rf"(?<!\p{{L}}){month}\s+{_DAY}(?![\p{{Nd}}.,:%]\p{{Nd}}|\p{{Nd}})",
            *_PLAIN,
        ]
    return tuple(regex.compile(pattern) for pattern in patterns)


@lru_cache(maxsize=64)
def lone_month(language: str) -> "regex.Pattern[str] | None":
    """A month without day and year, where its name is nothing else (not `May`, `March`, `mars`)."""
    forms = [form for form in month_forms(base_language(language)) if len(form) > 4 and form != "March"]
    if not forms:
        return None
    return regex.compile(
        rf"(?<![\p{{L}}\p{{M}}])(?:{'|'.join(map(regex.escape, forms))})(?![\p{{L}}\p{{M}}])"
    )


def move_date(text: str, language: str, draw: Draw) -> str | None:
    """The date with one or two of its parts moved; None where the text is no date."""
    for pattern in date_patterns(language):
        match = pattern.search(text)
        if match is not None:
            return _moved(text, match, language, draw)
    lone = lone_month(language)
    match = lone.search(text) if lone else None
    if match is None:
        return None
    return put_in(text, [(*match.span(), _other_month(match.group(), language, draw))])


def _moved(text: str, match: "regex.Match[str]", language: str, draw: Draw) -> str:
    """Day and month, or month and year, or what there is."""
    parts = [name for name in ("d", "m", "mn", "y") if match.groupdict().get(name)]
    chosen = set(draw.shuffled(parts, "parts")[:2])
    changes: list[tuple[int, int, str]] = []
    for name in sorted(chosen):
        old = match.group(name)
        changes.append((*match.span(name), _part_moved(name, old, language, draw.child(name))))
        if name == "d" and match.groupdict().get("suffix") in ("st", "nd", "rd", "th"):
            suffix = english_suffix(digits_value(changes[-1][2]))
            changes.append((*match.span("suffix"), suffix))
    return put_in(text, changes)


def _part_moved(name: str, old: str, language: str, draw: Draw) -> str:
    if name == "m":
        return _other_month(old, language, draw)
    if name == "y":
        return move_year(old, draw) if len(old) == 4 else with_value(old, max(100, digits_value(old) - 7))
    value, most = digits_value(old), 12 if name == "mn" else 28
    # As many digits as before, unless it is written without zero: then a day below 10 stays below 10.
    low = 10 if len(old) == 2 and value >= 10 else 1
    high = most if len(old) == 2 else 9
    return with_value(old, draw.choose([n for n in range(low, high + 1) if n != value]))


def _other_month(old: str, language: str, draw: Draw) -> str:
    """Another month in the same form."""
    rows = MONTHS[base_language(language)]
    at = next(number for number, row in enumerate(rows) if old in row)
    column = rows[at].index(old)
    others = [row[column] for number, row in enumerate(rows) if number != at and column < len(row)]
    return draw.choose(others)


_ROMANS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI"
ROMANS = _ROMANS.split()
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
    parts = [f"{_some_numbers(lost)} missing"] if lost else []
    parts += [f"{_some_numbers(new)} not in the reference"] if new else []
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


def _some_numbers(numbers: set[Decimal]) -> str:
    """The first of them, with the verb: `3 is`, `3, 5 are`."""
    shown = [f"{one:f}" for one in sorted(numbers)]
    more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
    return f"{', '.join(shown[:MOST_NAMED])}{more} {'is' if len(shown) == 1 else 'are'}"


_OF_THEM = (
    r"of (?:which|whom|them|these|those)|von (?:denen|ihnen)|d['’]entre (?:eux|elles)|de (?:los|las) cuales"
    r"|de (?:ellos|ellas)|из (?:них|которых)"
)
_SMALL = 19
"""Number words from two to twenty stand in the lists in this order, without a gap."""
WHOLES: dict[str, tuple[str, ...]] = {"en": ("all", "none"), "de": ("alle",)}
"""What stands in for a part where no other number fits, as in `three hearts, two of which`."""


def is_part(text: str, end: int) -> bool:
    """Whether the number that ends there is a part of the one before it."""
    return regex.compile(rf"\s(?:{_OF_THEM})\b").match(text, end) is not None


def makes_sense(text: str, language: str) -> bool:
    """Whether in every sentence a part (`four of which`) is smaller than the number it is a part of."""
    return all(_parts_fit(sentence, language) for sentence in sentences(text))


def _parts_fit(sentence: str, language: str) -> bool:
    if regex.search(_OF_THEM, sentence) is None:
        return True
    words = {word: at + 2 for at, word in enumerate(NUMBER_WORDS.get(language, "").split()[:_SMALL])}
    either = "|".join((*words, NUMBER))
    found = list(regex.finditer(rf"(?<![\p{{L}}\p{{N}}])(?i:{either})(?![\p{{L}}\p{{N}}])", sentence))
    for whole, part in pairwise(found):
        if is_part(sentence, part.end()):
            # Marks inside a number count for nothing here: parts are whole numbers.
            one, other = (words.get(m.group().lower()) or digits_value(m.group()) for m in (whole, part))
            if other >= one:
                return False
    return True
