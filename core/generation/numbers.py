"""Numbers and dates: change them plausibly in the same form, compare them between two texts, and check that they make sense."""

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
    """A node in a tree of random choices: the same parts always choose the same, regardless of earlier draws."""

    def __init__(self, *parts: object) -> None:
        # Include each part's length, so that ("a", "b") and ("ab",) differ.
        whole = "".join(f"{len(str(part))}:{part}" for part in parts)
        self._key = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()

    def child(self, *parts: object) -> "Draw":
        """A node below this one, such as for one span."""
        return Draw(self._key, *parts)

    def below(self, limit: int, label: object = "") -> int:
        """A number from 0 to limit - 1."""
        digest = hashlib.sha256(f"{self._key}/{label}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def choose(self, options: Sequence[T], label: object = "") -> T:
        """One of the options. Removing an option that was not chosen does not change the choice."""
        # Takes the smallest hash: removing names from a pool does not change the choices of other items.
        best = min(range(len(options)), key=lambda at: (self.below(1 << 62, f"{label}|{options[at]}"), at))
        return options[best]

    def shuffled(self, options: Sequence[T], label: object = "") -> list[T]:
        """The options in random order."""
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
"""Most percent by which a rounded number may differ."""
LATEST_YEAR = 2025
"""Latest year after a change: a date in the future would give the change away."""
_SUFFIX = {1: "st", 2: "nd", 3: "rd"}


def digits_value(text: str) -> int:
    """The digits of a text as one integer, in any script and with any separators."""
    return int("".join(str(unicodedata.digit(char)) for char in text if unicodedata.category(char) == "Nd"))


def replace_digits(text: str, value: int) -> str:
    """The text with its digits replaced in their script; the value must not have more digits."""
    digits = [at for at, char in enumerate(text) if unicodedata.category(char) == "Nd"]
    new = list(text)
    for at, digit in zip(digits, str(value).zfill(len(digits)), strict=True):
        zero = ord(text[at]) - unicodedata.digit(text[at])
        new[at] = chr(zero + int(digit))
    return "".join(new)


def put_in(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """The text with stretches replaced and English articles before them adapted.

    changes: (start, end, new text).
    """
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
    """The text with new values for matched numbers."""
    return put_in(text, [(*match.span(), replace_digits(match.group(), value)) for match, value in changes])


def move_number(text: str, draw: Draw, highest: int | None = None) -> str:
    """A number (as NUMBER matches it) changed by a tenth to a factor of 2.4, up or down; a round number stays round.

    highest: largest value, as for percentages.
    """
    count = sum(unicodedata.category(char) == "Nd" for char in text)
    value = digits_value(text)
    top = min(10**count - 1, highest if highest is not None else 10**count - 1)
    bottom = 10 ** (count - 1) if count > 1 and value >= 10 ** (count - 1) else 1
    if count == 1 or value < 10:
        options = [n for n in range(max(1, value - 3), value + 5) if n != value and bottom <= n <= top]
        return replace_digits(text, draw.choose(options or [n for n in (1, 2) if n != value]))
    step = 10 ** (len(str(value)) - len(str(value).rstrip("0")))
    options = [value * percent // 100 // step * step for percent in (*_LARGER, *_SMALLER)]
    options = [n for n in options if n != value and bottom <= n <= top]
    if not options:
        options = [n for n in (value - step, value + step) if 0 < n < 10**count]
    return replace_digits(text, draw.choose(options or [max(1, value - 1)]))


def move_year(text: str, draw: Draw) -> str:
    """Change a year of four digits by 3 to 40 years, never into the future."""
    year = digits_value(text)
    distance = 3 + draw.below(38, "years")
    later = year + distance
    if draw.below(2, "sign") == 0 and (later <= LATEST_YEAR or year > LATEST_YEAR) and later < 10_000:
        return replace_digits(text, later)
    return replace_digits(text, year - distance if year - distance >= 1000 else later)


def move_decade(text: str, draw: Draw) -> str:
    """Change the first year of a decade (1650s) by 10 to 50 years, to that of another decade."""
    year = digits_value(text)
    options = [year + step for step in (-50, -40, -30, -20, -10, 10, 20, 30, 40)]
    past = [n for n in options if 1000 <= n <= LATEST_YEAR]
    return replace_digits(text, draw.choose(past or [n for n in options if 1000 <= n <= 9990]))


def move_range(text: str, draw: Draw) -> str | None:
    """Change both ends of a range such as `3 to 5` by the same amount; None if every change adds or removes digits."""
    first, last = list(_NUMBER.finditer(text))[:2]
    low, high = digits_value(first.group()), digits_value(last.group())
    for shift in draw.shuffled([-3, -2, 2, 3, 4, -10, 10, 20, -20]):
        new = low + shift, high + shift
        if new[0] > 0 and all(len(str(a)) == len(str(b)) for a, b in ((low, new[0]), (high, new[1]))):
            return _changed(text, (first, new[0]), (last, new[1]))
    return None


def move_ordinal(text: str, draw: Draw) -> str:
    """Change the number in an ordinal by at most three, so that centuries and ranks stay plausible."""
    match = _NUMBER.search(text)
    assert match is not None
    value, count = digits_value(match.group()), len(match.group())
    near = [n for n in range(max(1, value - 3), value + 4) if n != value and len(str(n)) <= count]
    return _changed(text, (match, draw.choose(near)))


def english_suffix(number: int) -> str:
    """The suffix of an English ordinal: 1st, 2nd, 3rd, 11th."""
    return "th" if number % 100 in (11, 12, 13) else _SUFFIX.get(number % 10, "th")


def move_all(text: str, draw: Draw, year: bool = False, highest: int | None = None) -> str:
    """Change every number in the text, each by its own draw."""

    def moved(match: "regex.Match[str]") -> str:
        own = draw.child(match.start())
        return move_year(match.group(), own) if year else move_number(match.group(), own, highest)

    return str(_NUMBER.sub(moved, text))


def move_time(text: str, draw: Draw) -> str:
    """Change a time such as 14:30 to another hour and other minutes."""
    first, last = list(_NUMBER.finditer(text))[:2]
    hour, minute = digits_value(first.group()), digits_value(last.group())
    hours = range(10, 24) if len(first.group()) == 2 and hour >= 10 else range(1, 10)
    new_hour = draw.choose([n for n in hours if n != hour], "hour")
    new_minute = draw.choose([n for n in range(0, 60, 5) if n != minute], "minute")
    return _changed(text, (first, new_hour), (last, new_minute))


def general_year(text: str) -> str:
    """The decade of a year: 1655 gives 1650, with digits in their script."""
    return replace_digits(text, digits_value(text) // 10 * 10)


def rounded(text: str, decimal_mark: str) -> str | None:
    """Round a number of three or more digits to one or two, whichever is near; None if it is round already, or a decimal.

    decimal_mark: the language's mark, which distinguishes 42.195 from 42,195.
    """
    if _NUMBER.fullmatch(text) is None or decimal_mark in text or "٫" in text:
        return None
    value = digits_value(text)
    size = len(str(value))
    for kept in (1, 2):
        step = 10 ** max(0, size - kept)
        new = (2 * value + step) // (2 * step) * step
        if size > 2 and len(str(new)) == size and abs(new - value) * 100 <= _ROUND_WITHIN * value:
            return None if new == value else replace_digits(text, new)
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
    """Patterns for dates, longest forms first."""
    forms = month_forms(base_language(language))
    patterns = list(_PLAIN)
    if forms:
        # Thai has no spaces: a letter after a month belongs to the next word.
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
    """A pattern for a month without day and year, except names that are other words too (`May`, `March`, `mars`)."""
    forms = [form for form in month_forms(base_language(language)) if len(form) > 4 and form != "March"]
    if not forms:
        return None
    return regex.compile(
        rf"(?<![\p{{L}}\p{{M}}])(?:{'|'.join(map(regex.escape, forms))})(?![\p{{L}}\p{{M}}])"
    )


def move_date(text: str, language: str, draw: Draw) -> str | None:
    """Change one or two parts of a date; None if the text is not a date."""
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
    """Change at most two parts of a matched date."""
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
        return move_year(old, draw) if len(old) == 4 else replace_digits(old, max(100, digits_value(old) - 7))
    value, most = digits_value(old), 12 if name == "mn" else 28
    # Keep the number of digits: without a leading zero, a day below 10 stays below 10.
    low = 10 if len(old) == 2 and value >= 10 else 1
    high = most if len(old) == 2 else 9
    return replace_digits(old, draw.choose([n for n in range(low, high + 1) if n != value]))


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
"""The only language in which all number words are known."""
NUMBER_CHANGED = "number changed"
"""Kind of problem in counts of paraphrases."""
MOST_NAMED = 3
"""Most numbers that a sentence lists."""
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
"""Values of NUMBER_WORDS, in their order."""
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
"""English words that may mean a number."""
_SCALES_IN_WORDS = (100, 1_000, 10**6, 10**9, 10**12)
_ROMAN = ROMANS[1:-1]
"""Roman numbers without I, which is a pronoun."""


def plain_number(digits: str) -> str:
    """A number in plain digits: 2,857 and 2.857 both give 2857, because three digits after a separator count as thousands."""
    plain = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in digits)
    first, *groups = map(str, _SEPARATOR.split(plain))
    thousands = len(first) <= 3 and first != "0"
    if thousands and all(len(group) == 3 for group in groups):
        return first + "".join(groups)
    if thousands and len(groups) > 1 and all(len(group) == 3 for group in groups[:-1]):
        return f"{first}{''.join(groups[:-1])}.{groups[-1]}"
    return ".".join([first, *groups])


def number_change(language: str, reference: str, text: str, question: str = "") -> str | None:
    """The change among a text's numbers, as a sentence that a model can act on; None if there is no certain change.

    language: the texts' language, without region. question: a paraphrase may use its numbers. In English every missing
    or new number is a change. In other languages, where a number may be spelled out in unknown words, only a missing
    number together with a new one is. 1 does not count, because `a` means it too. Misleads if a paraphrase converts units.
    """
    there, here, asked = (_Numbers.of(one, language) for one in (reference, text, question))
    lost = there.stated - here.stated - here.possible
    new = here.stated - there.stated - there.possible - asked.stated - asked.possible
    if there.unclear or here.unclear or not (lost or new) or (language != ENGLISH and not (lost and new)):
        return None
    parts = [f"{_some_numbers(lost)} missing"] if lost else []
    parts += [f"{_some_numbers(new)} not in the reference"] if new else []
    return f"Its numbers are not the reference's: {', and '.join(parts)}. Keep every number."


@dataclass
class _Numbers:
    """The numbers of a text."""

    stated: set[Decimal] = field(default_factory=set)
    possible: set[Decimal] = field(default_factory=set)
    """Numbers that words of the text may mean."""
    unclear: bool = False
    """Whether a number is spelled out in unknown words."""

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
        found.stated.discard(Decimal(1))
        return found

    def _add(self, run: "list[_Part]", language: str, *, unknown_scale: bool) -> None:
        """Add the number that these words and digits form together."""
        if not run:
            return
        if unknown_scale or (language != ENGLISH and len(run) > 1):
            self.unclear = True
            return
        value = _together([one.value for one in run])
        (self.possible if any(one.is_ordinal for one in run) else self.stated).add(value)


@dataclass(frozen=True)
class _Part:
    """Digits or a number word."""

    value: Decimal
    in_digits: bool = False
    is_ordinal: bool = False
    """Whether it is an ordinal in words; `3rd` counts as a number, because its form is unambiguous."""


def _tokens(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield (digits, "") or ("", word), and ("", "") for other characters, which end a number."""
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
    """Whether a hyphenated word contains a number word, as in `quatre-vingts`."""
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
        return True  # their total is unknown
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
    """Yield the numbers that a word may mean as a month, a fraction or a Roman number."""
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
    """The first numbers with a verb, for a sentence: `3 is`, `3, 5 are`."""
    shown = [f"{one:f}" for one in sorted(numbers)]
    more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
    return f"{', '.join(shown[:MOST_NAMED])}{more} {'is' if len(shown) == 1 else 'are'}"


_OF_THEM = (
    r"of (?:which|whom|them|these|those)|von (?:denen|ihnen)|d['’]entre (?:eux|elles)|de (?:los|las) cuales"
    r"|de (?:ellos|ellas)|из (?:них|которых)"
)
_SMALL = 19
"""Number words from two to twenty, which begin every list in this order and without a gap."""
WHOLES: dict[str, tuple[str, ...]] = {"en": ("all", "none"), "de": ("alle",)}
"""Replacements of a part when no other number fits, as in `three hearts, two of which`."""


def is_part(text: str, end: int) -> bool:
    """Whether the number that ends at this position is part of the number before it."""
    return regex.compile(rf"\s(?:{_OF_THEM})\b").match(text, end) is not None


def makes_sense(text: str, language: str) -> bool:
    """Whether every part in the text (`four of which`) is smaller than the number that it is part of."""
    return all(_parts_fit(sentence, language) for sentence in sentences(text))


def _parts_fit(sentence: str, language: str) -> bool:
    if regex.search(_OF_THEM, sentence) is None:
        return True
    words = {word: at + 2 for at, word in enumerate(NUMBER_WORDS.get(language, "").split()[:_SMALL])}
    either = "|".join((*words, NUMBER))
    found = list(regex.finditer(rf"(?<![\p{{L}}\p{{N}}])(?i:{either})(?![\p{{L}}\p{{N}}])", sentence))
    for whole, part in pairwise(found):
        if is_part(sentence, part.end()):
            # Ignore separators inside a number: parts are whole numbers.
            one, other = (words.get(m.group().lower()) or digits_value(m.group()) for m in (whole, part))
            if other >= one:
                return False
    return True
