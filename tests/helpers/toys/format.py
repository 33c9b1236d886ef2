"""A format as somebody would add one: this file, and a line in core.formats.registry."""

from collections.abc import Mapping, Sequence

from core.formats import Format
from core.tables.columns import Table, object_records
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import shown


def _sniff(data: bytes, file_name: str) -> bool:
    return file_name.endswith(".toy") or data.startswith(b"%toy\n")


def _rows(data: bytes, known: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A block of lines `KEY = VALUE` is a row; blank lines stand between blocks."""
    text = decode(data, findings.file_name).removeprefix("%toy\n")
    rows = []
    for number, block in enumerate(text.strip().split("\n\n"), start=1):
        pairs = [line.partition(" = ") for line in block.splitlines()]
        findings.problems += [
            f"block {number}: {shown(key)} is no KEY = VALUE" for key, mark, _ in pairs if not mark
        ]
        rows.append((f"block {number}", {key: value for key, mark, value in pairs if mark}))
    return object_records(rows, known, findings)


FORMAT = Format("toy", "blocks of KEY = VALUE", _sniff, rows=_rows)
