"""Numbers as words on the screen: three decimals, what is undefined says so, counts with their reasons."""

from collections.abc import Mapping

from core.results.decimals import decimal

UNDEFINED = "undefined"


def number(value: float | None, decimals: int = 3) -> str:
    """`undefined`, or the number; never a minus before a zero."""
    return UNDEFINED if value is None else decimal(value, decimals)


def interval(low: float | None, high: float | None) -> str:
    """Both ends in brackets."""
    return "no interval" if low is None or high is None else f"[{number(low)},\u00a0{number(high)}]"


def counted_as(count: int, noun: str) -> str:
    """`1 text`, `2 texts`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """0.9 as `90 %`."""
    return f"{100 * share:g} %"


def left_out(counts: Mapping[str, int]) -> str:
    """Reasons with their counts, or `none`."""
    return "; ".join(f"{n} {reason}" for reason, n in counts.items()) or "none"
