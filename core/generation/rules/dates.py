"""Dates in the formats of each language: found, and moved with their format kept."""

from functools import lru_cache

import regex

from core.generation.factual.vocabulary import MONTHS, month_forms
from core.generation.language import base_language
from core.generation.rules.draws import Draw
from core.generation.rules.numbers import digits_value, english_suffix, move_year, with_value

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


def lone_month(language: str) -> "regex.Pattern[str] | None":
    """A month without day and year, where its name is nothing else (not `May`, `March`, `mars`)."""
    return _lone_month(language)


@lru_cache(maxsize=64)
def _lone_month(language: str) -> "regex.Pattern[str] | None":
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
    return text[: match.start()] + _month(match.group(), language, draw) + text[match.end() :]


def _moved(text: str, match: "regex.Match[str]", language: str, draw: Draw) -> str:
    """Day and month, or month and year, or what there is."""
    parts = [name for name in ("d", "m", "mn", "y") if match.groupdict().get(name)]
    chosen = set(draw.shuffled(parts, "parts")[:2])
    changes: list[tuple[int, int, str]] = []
    for name in sorted(chosen):
        old = match.group(name)
        changes.append((*match.span(name), _part(name, old, language, draw.child(name))))
        if name == "d" and match.groupdict().get("suffix") in ("st", "nd", "rd", "th"):
            suffix = english_suffix(digits_value(changes[-1][2]))
            changes.append((*match.span("suffix"), suffix))
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _part(name: str, old: str, language: str, draw: Draw) -> str:
    if name == "m":
        return _month(old, language, draw)
    if name == "y":
        return move_year(old, draw) if len(old) == 4 else with_value(old, max(100, digits_value(old) - 7))
    value, most = digits_value(old), 12 if name == "mn" else 28
    # As many digits as before, unless it is written without zero: then a day below 10 stays below 10.
    low = 10 if len(old) == 2 and value >= 10 else 1
    high = most if len(old) == 2 else 9
    return with_value(old, draw.choose([n for n in range(low, high + 1) if n != value]))


def _month(old: str, language: str, draw: Draw) -> str:
    """Another month in the same form."""
    rows = MONTHS[base_language(language)]
    at = next(number for number, row in enumerate(rows) if old in row)
    column = rows[at].index(old)
    others = [row[column] for number, row in enumerate(rows) if number != at and column < len(row)]
    return draw.choose(others)
