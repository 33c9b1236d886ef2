"""CSV tables that are safe to open in a spreadsheet: no text runs as a formula."""

import codecs
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import regex

_FORMULA = regex.compile(r"[\t\r\n]|[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]*[-=+@＝＋－＠]")
"""Spreadsheets skip invisible characters before they look for a formula."""


def csv_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, header: bool = True) -> bytes:
    """Rows as UTF-8 CSV. Cells that a spreadsheet would run as a formula start with an apostrophe."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, columns)  # line ends as in RFC 4180
    if header:
        writer.writeheader()
    for row in rows:
        writer.writerow({name: guarded(value) for name, value in row.items()})
    return buffer.getvalue().encode()


def excel_csv(data: bytes) -> bytes:
    """CSV with a byte order mark, without which Excel reads UTF-8 as another encoding. Assay reads both."""
    return data if data.startswith(codecs.BOM_UTF8) else codecs.BOM_UTF8 + data


def csv_cells(*cells: Any) -> str:
    """Cells as `csv_bytes` writes them in a line. Join them with further cells by commas."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerow([*map(guarded, cells), ""])  # a single empty cell would be quoted
    return buffer.getvalue()[: -len(",\r\n")]


def guarded(value: Any) -> Any:
    """A cell's value as a CSV file stores it. `unguarded` restores the text."""
    if isinstance(value, bool):
        return str(value).lower()
    # If the text itself starts with an apostrophe, it gets a second one: removing one is then always right.
    if isinstance(value, str) and _FORMULA.match(value.lstrip("'")):
        return "'" + value
    return value


def unguarded(cell: str) -> str:
    """The text without the apostrophe that `guarded` or another program put before a formula."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell.lstrip("'")) else cell
