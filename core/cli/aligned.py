"""Tables for a terminal: columns aligned, numbers with their interval, what is undefined with its reason."""

import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence

from core.analysis.decimals import decimal
from core.datasets.reading import shown
from core.stats.resampling import Estimate

_WIDE = frozenset("WF")
_GAP = "  "


def number(value: float | None, places: int = 3) -> str:
    """A number, or the word that there is none."""
    return "undefined" if value is None else decimal(value, places)


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
    """A header and its rows; names from files are made fit for a terminal.

    A table that is wider than the terminal comes in parts, each with the columns up to `metric`, else the first.
    """
    cells = [
        [shown(str(cell)) if isinstance(cell, str) else str(cell) for cell in row] for row in (header, *rows)
    ]
    widths = [max(_width(row[k]) for row in cells) for k in range(len(header))]
    n_keys = min(header.index("metric") + 1 if "metric" in header else 1, len(header))
    for number, columns in enumerate(_parts(widths, n_keys)):
        if number:
            print()
        for row in cells:
            print(_GAP.join(row[k] + " " * (widths[k] - _width(row[k])) for k in columns).rstrip())


def _parts(widths: Sequence[int], n_keys: int) -> Iterator[list[int]]:
    """Columns that fit beside each other; all of them where nobody watches a terminal."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    keys = list(range(n_keys))
    part = list(keys)
    for column in range(n_keys, len(widths)):
        taken = sum(widths[k] + len(_GAP) for k in part)
        if room is not None and taken + widths[column] > room and part != keys:
            yield part
            part = list(keys)
        part.append(column)
    yield part


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in _WIDE else 1
        for char in text
    )
