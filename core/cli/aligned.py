"""Tables for a terminal: columns aligned, numbers with their interval, what is undefined with its reason."""

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from core.analysis.decimals import decimal
from core.datasets.reading import shown
from core.stats.resampling import NO_RESAMPLES, Estimate

_WIDE = frozenset("WF")
_GAP = "  "


def number(value: float | None, places: int = 3) -> str:
    """A number, or the word that there is none."""
    return "undefined" if value is None else decimal(value, places)


def counted(count: int, what: str) -> str:
    """Such as `1 text`, `2,000 texts`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


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


def of_items(estimate: Estimate | None) -> str:
    """A mean over items; where some have no part in it, on how many it rests: `0.856 (1 of 14 items)`."""
    said = with_interval(estimate)
    if estimate is None or estimate.estimate is None or not estimate.n_left_out:
        return said
    return f"{said} ({estimate.n_clusters} of {estimate.n_clusters + estimate.n_left_out} items)"


def interval_notes(named: Iterable[tuple[str, Estimate | None]]) -> list[str]:
    """Why estimates that are there have no interval though one was asked for: a sentence for each name and reason."""
    found = {
        f"where {name} has no interval: {one.interval_reason}": None
        for name, one in named
        if one is not None
        and one.estimate is not None
        and one.low is None
        and one.interval_reason not in (None, NO_RESAMPLES)
    }
    return list(found)


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
