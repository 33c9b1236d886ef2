"""Results for a terminal and as JSON: columns aligned, numbers with their interval, what is undefined with its reason."""

import math
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from core.cli.shared.options import print_notes
from core.results.decimals import decimal, ends
from core.stats.resampling import NO_RESAMPLES, Estimate
from core.tables.reading import printable_text, shown

_WIDE = frozenset("WF")
_GAP = "  "


def number(value: float | None, places: int = 3) -> str:
    """A number, or the word that there is none."""
    return "undefined" if value is None else decimal(value, places)


def counted(count: int, what: str) -> str:
    """Such as `1 text`, `2,000 texts`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def with_interval(estimate: Estimate | None, places: int = 3) -> str:
    """Such as `0.512 [0.401, 0.611]`; an undefined one has its reason."""
    if estimate is None:
        return "-"
    if estimate.estimate is None:
        why = estimate.reason or ""
        return why if why.startswith("undefined") else f"undefined: {why}"
    if estimate.low is None:
        return number(estimate.estimate, places)
    low, high = number(estimate.low, places), number(estimate.high, places)
    return f"{number(estimate.estimate, places)} [{low}, {high}]"


def dashed(estimate: Estimate | None) -> str:
    """The same in a table: a dash for what is undefined, whose reason stands once, below."""
    return "-" if estimate is None or estimate.estimate is None else with_interval(estimate)


def or_dash(value: float | None, places: int = 3) -> str:
    """A number in a table."""
    return "-" if value is None else number(value, places)


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


def print_end(
    named: Iterable[tuple[str, Estimate | None]],
    *,
    dashes: Iterable[tuple[str, str | None]] = (),
    left_out: Iterable[tuple[str, int]] = (),
    intervals: str = "",
    notes: Iterable[str] = (),
) -> None:
    """What stands below a table: why there are dashes, what had no part in it, how intervals were made, notes.

    named: each estimate with the name of its column; dashes: columns of other figures with reasons; left_out: reasons with counts; intervals: see intervals_said.
    """
    named = list(named)
    undefined = [(name, one.reason) for name, one in named if one is not None and one.estimate is None]
    print_dashes([*undefined, *dashes])
    print_left_out(left_out)
    if intervals:
        print(intervals)
    print_notes(dict.fromkeys([*notes, *interval_notes(named)]))


def print_dashes(undefined: Iterable[tuple[str, str | None]]) -> None:
    """Why a dash stands, a line for each name."""
    reasons: dict[str, dict[str, None]] = {}
    for name, why in undefined:
        reasons.setdefault(name, {})[printable_text(why or "no reason is given")] = None
    for name, whys in reasons.items():
        print(f"Where - stands, {name} is undefined: {'; '.join(whys)}.")


def print_left_out(left_out: Iterable[tuple[str, int]], whose: str = "") -> None:
    """What had no part in a result, once for each reason and count."""
    of = f" of {shown(whose)}" if whose else ""
    for reason, count in dict.fromkeys(left_out):
        print(f"Left out{of}: {count:,}: {shown(reason)}")


def intervals_said(confidence_level: float, how: str = "percentile bootstrap over items") -> str:
    """How intervals were made."""
    return f"Intervals: {confidence_level:.0%}, {how}."


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
