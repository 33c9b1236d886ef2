"""A result table for a terminal: aligned columns, in parts where the window is narrow, then its notes."""

import unicodedata
from collections.abc import Iterator, Sequence

from core.report.words import headings, lines, notes
from core.schema.result_table import ResultTable
from core.tables.reading import printable_text, shown

_WIDE = frozenset("WF")
_GAP = "  "


def terminal_lines(table: ResultTable, room: int | None = None) -> list[str]:
    """The lines of a table: its title, header, rows, notes. room: columns of the terminal; None: as wide as it gets.

    A table that is wider comes in parts, each with the columns that name a row, else the first.
    """
    found = [printable_text(table.title)] if table.title else []
    if table.rows:
        seen = [column for column in table.columns if column.shown]
        keys = [at for at, column in enumerate(seen) if column.names_row] or [0]
        found += aligned(headings(table), lines(table), keys, room)
    return found + [f"Note: {printable_text(note)}" for note in notes(table)]


def aligned(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    keys: Sequence[int] = (0,),
    room: int | None = None,
    *,
    cut: bool = True,
) -> list[str]:
    """A header and its rows; names from files are cut and made fit for a terminal. keys: columns of every part.

    cut: whether long cells lose their end; our own words need not.
    """
    cells = [[shown(str(cell)) if cut else str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(_width(row[at]) for row in cells) for at in range(len(header))]
    found: list[str] = []
    for columns in _parts(widths, list(keys), room):
        found += [""] if found else []
        found += [
            _GAP.join(row[at] + " " * (widths[at] - _width(row[at])) for at in columns).rstrip()
            for row in cells
        ]
    return found


def _parts(widths: Sequence[int], keys: list[int], room: int | None) -> Iterator[list[int]]:
    """Columns that fit beside each other; all of them where there is no end of room."""
    part = list(keys)
    for column in range(len(widths)):
        if column in keys:
            continue
        taken = sum(widths[at] + len(_GAP) for at in part)
        if room is not None and taken + widths[column] > room and part != keys:
            yield part
            part = list(keys)
        part.append(column)
    yield sorted(part)


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in _WIDE else 1
        for one in text
    )
