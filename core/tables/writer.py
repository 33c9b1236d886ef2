"""Tables that are safe to open in a spreadsheet: no text is ever run as a formula."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import regex

_FORMULA = regex.compile(r"[\t\r\n]|[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]*[-=+@＝＋－＠]")
"""Spreadsheets drop what nobody sees before they look for a formula."""


def csv_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """UTF-8 CSV; cells that a spreadsheet would run as a formula start with an apostrophe."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, columns)  # lines end as RFC 4180 has it
    writer.writeheader()
    for row in rows:
        writer.writerow({name: guarded(value) for name, value in row.items()})
    return buffer.getvalue().encode()


def csv_cells(*cells: Any) -> str:
    """Cells as they stand in a line of `csv_bytes`, which may be put together with others by commas."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerow([*map(guarded, cells), ""])  # a lone empty cell would be written otherwise
    return buffer.getvalue()[: -len(",\r\n")]


def guarded(value: Any) -> Any:
    """A cell's value as a CSV file has it. `unguarded` gives a text back as it was."""
    if isinstance(value, bool):
        return str(value).lower()
    # An apostrophe of the text's own gets a second one, so that taking one off is always right.
    if isinstance(value, str) and _FORMULA.match(value.lstrip("'")):
        return "'" + value
    return value


def unguarded(cell: str) -> str:
    """The text without the apostrophe that `guarded`, or another exporter, put before a formula."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell.lstrip("'")) else cell
