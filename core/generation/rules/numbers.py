"""Numbers moved to plausible other numbers: same digits' script, same length, same separators."""

import unicodedata

import regex

from core.generation.rules.draws import Draw

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
            return (
                text[: first.start()]
                + with_value(first.group(), new[0])
                + text[first.end() : last.start()]
                + with_value(last.group(), new[1])
                + text[last.end() :]
            )
    return None


def move_ordinal(text: str, draw: Draw) -> str:
    """The number in an ordinal, at most three places away: centuries and ranks stay what can be."""
    match = _NUMBER.search(text)
    assert match is not None
    value, count = digits_value(match.group()), len(match.group())
    near = [n for n in range(max(1, value - 3), value + 4) if n != value and len(str(n)) <= count]
    return text[: match.start()] + with_value(match.group(), draw.choose(near)) + text[match.end() :]


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
    return (
        text[: first.start()]
        + with_value(first.group(), new_hour)
        + text[first.end() : last.start()]
        + with_value(last.group(), new_minute)
        + text[last.end() :]
    )


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
