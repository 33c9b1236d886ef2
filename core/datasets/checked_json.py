"""JSON values checked against a schema's types, without conversions: every problem is a sentence with its place."""

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from core.datasets.reading import shown, type_name
from core.errors import Problems

T = TypeVar("T")


def checked(adapter: TypeAdapter[T], value: object, place: str, problems: Problems) -> T | None:
    """The value as the adapter understands it; None, with its problems added, where it does not.

    A number in quotes is no number, and neither is a truth value.
    """
    try:
        return adapter.validate_json(json.dumps(value, ensure_ascii=False), strict=True)
    except ValidationError as wrong:
        problems += [_sentence(place, error) for error in wrong.errors(include_url=False)]
    except RecursionError:
        problems.append(f"{place}: is nested too deeply")
    return None


def number_problem(value: Any, lowest: float, highest: float) -> str | None:
    """Why a value is no number from `lowest` to `highest`, as the end of "repeat ..."; None: it is one.

    Whole numbers alone where both bounds are whole.
    """
    whole = isinstance(lowest, int) and isinstance(highest, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        what = "whole number" if whole else "number"
        return f"is {written(value)}, expected a {what}"
    if not lowest <= value <= highest:  # NaN neither
        return f"is {written(value)}, which is not between {bound(lowest)} and {bound(highest)}"
    return None


def bound(number: float) -> str:
    """The end of a range, for a message: whole numbers with all their digits."""
    return str(number) if isinstance(number, int) else f"{number:g}"


def written(value: object) -> str:
    """A JSON value, fit for a message; of what holds others, what it is."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return type_name(value) if not isinstance(value, bool) else str(value).lower()
    return shown(repr(value))


def _sentence(place: str, error: ErrorDetails) -> str:
    where = [
        str(part + 1) if isinstance(part, int) else shown(part) for part in error["loc"] if part != "row"
    ]
    said = error["msg"][0].lower() + error["msg"][1:]
    what = "is missing" if error["type"] == "missing" else f"is {written(error['input'])}: {said}"
    return f"{', '.join([place, *where])}: {what}"
