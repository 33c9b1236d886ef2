"""What a cell of a table or a value of a JSON object holds: nothing, a number, or a name to group by."""

import math
from collections.abc import Sequence

import regex

from core.tables.reading import name_of, shown, type_name

UNDEFINED = frozenset({"", "nan", "none", "null", "na", "n/a", "-"})
"""What stands in a cell, in lower case, that holds no number on purpose."""

_NUMBER = regex.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DECIMAL_COMMA = regex.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
_PERCENT = regex.compile(r"\s*[-+]?[0-9]+([.,][0-9]+)?\s*%\s*")
_NO_JSON = regex.compile(r'"(?:[^"\\\n]|\\.)*+"|(?P<nan>\bNaN\b)|(?P<infinite>-?\bInfinity\b)')


def numbers_as_json(text: str) -> str:
    """NaN as null and infinity as a text: other programs write both, JSON knows neither."""
    if "NaN" not in text and "Infinity" not in text:
        return text

    def replaced(found: regex.Match[str]) -> str:
        if found["nan"]:
            return "null"
        return f'"{found.group()}"' if found["infinite"] else found.group()

    return str(_NO_JSON.sub(replaced, text))


def is_nothing(value: object) -> bool:
    """Whether a cell is empty or null."""
    return value is None or (isinstance(value, str) and not value.strip())


def number_in(value: object) -> float | None:
    """A cell's number; None: it holds none. Infinite ones come back as they are."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return -math.inf if text.startswith("-") else math.inf
    # float() alone would take digits of any script, and underscores.
    return float(text) if text.isascii() and "_" not in text and _NUMBER.fullmatch(text) else None


def numbers_in(cells: Sequence[str]) -> list[float] | None:
    """The numbers of cells, NaN where one says that there is none; None where one holds anything else."""
    try:
        numbers = list(map(float, cells))
    except ValueError:
        numbers = [math.nan]
    # float() alone takes what number_in does but for digits of any script, underscores and a NaN with a sign.
    together = "".join(cells)
    if "_" in together or not together.isascii() or any(map(math.isnan, numbers)):
        found = [math.nan if is_undefined(cell) else number_in(cell) for cell in cells]
        return None if None in found else [number for number in found if number is not None]
    return numbers


def is_undefined(value: object) -> bool:
    """Whether a cell says that there is no number."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and value.strip().lower() in UNDEFINED)


def label_of(value: object) -> str | None:
    """A cell as a name to group by; None: it cannot be one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    return name_of(value)


def looks_like_number(value: object) -> bool:
    """Whether a cell holds a number, or was meant to: with a decimal comma or a percent sign."""
    return number_in(value) is not None or (isinstance(value, str) and _meant(value) is not None)


def _meant(text: str) -> str | None:
    """What number a text was meant to be, as the end of "expected ..."; None: none that is known."""
    if _DECIMAL_COMMA.fullmatch(text):
        return "a number with a decimal point"
    return "a number without a percent sign" if _PERCENT.fullmatch(text) else None


def number_problem(value: object) -> str:
    """Why number_in found no number, as the end of "score ..."."""
    if not isinstance(value, str):
        return f"is {type_name(value)}, expected a number"
    return f'is "{shown(value)}", expected {_meant(value) or "a number"}'
