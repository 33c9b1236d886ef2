"""The keys of JSON, the inner ones by their path: what programs read, so that none goes and none changes its place."""

from collections.abc import Iterator
from typing import Any


def paths(value: Any, at: str = "") -> Iterator[str]:
    """Every key, the inner ones by their path: `judges.*.per_rater[].p`."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from paths(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from paths(inner, f"{at}[]")
    else:
        yield at


def under(at: str, *keys: str) -> set[str]:
    """The paths of keys in an object."""
    return {f"{at}.{one}" for one in keys}


ENDS = ("estimate", "low", "high", "reason", "interval_reason")
COUNTED = (*ENDS, "n", "n_left_out")
