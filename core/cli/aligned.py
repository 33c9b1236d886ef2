"""Tables for a terminal: columns aligned, numbers with their interval, what is undefined with its reason."""

import unicodedata
from collections.abc import Sequence

from core.datasets.reading import shown
from core.stats.resampling import Estimate

_WIDE = frozenset("WF")


def number(value: float | None, places: int = 3) -> str:
    """A number, or the word that there is none."""
    return "undefined" if value is None else f"{value:.{places}f}"


def with_interval(estimate: Estimate | None) -> str:
    """Such as `0.512 [0.401, 0.611]`; an undefined one has its reason."""
    if estimate is None:
        return "-"
    if estimate.estimate is None:
        why = estimate.reason or ""
        return why if why.startswith("undefined") else f"undefined: {why}"
    if estimate.low is None:
        return number(estimate.estimate)
    return f"{number(estimate.estimate)} [{number(estimate.low)}, {number(estimate.high)}]"


def print_aligned(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A header and its rows; names from files are made fit for a terminal."""
    cells = [
        [shown(str(cell)) if isinstance(cell, str) else str(cell) for cell in row] for row in (header, *rows)
    ]
    widths = [max(_width(row[k]) for row in cells) for k in range(len(header))]
    for row in cells:
        padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(padded).rstrip())


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in _WIDE else 1
        for char in text
    )
