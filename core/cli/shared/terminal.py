"""Words and JSON values that several commands share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from core.results.cells import decimal, ends
from core.stats.resampling import Estimate


def number(value: float | None, places: int = 3) -> str:
    """A number, or the word that there is none."""
    return "undefined" if value is None else decimal(value, places)


def counted(count: int, what: str) -> str:
    """Such as `1 text`, `2,000 texts`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def plain(value: Any) -> Any:
    """JSON values of a result: dataclasses by their fields, numbers that are none as null."""
    if isinstance(value, Estimate):
        return {**ends(value), "n": value.n, "n_left_out": value.n_left_out}
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in value]
    return value
