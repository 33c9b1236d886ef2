"""The keys of a JSON value by their path, for tests that pin what programs read."""

from collections.abc import Iterator
from typing import Any


def key_paths(value: Any, at: str = "") -> Iterator[str]:
    """Every key, the inner ones by their path: `judges[].intervals.f1`."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from key_paths(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for inner in value:
            yield from key_paths(inner, f"{at}[]")
    else:
        yield at
