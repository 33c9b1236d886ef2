"""The result tables that a page offers as files."""

from typing import Any

import pytest

from core.report import csv_of
from core.schema.result_table import ResultTable
from pages.widgets import result_table


def tables_taken(monkeypatch: pytest.MonkeyPatch) -> dict[str, ResultTable]:
    """Name -> table, of all that is offered from now on."""
    found: dict[str, ResultTable] = {}
    real = result_table.downloads

    def kept(table: ResultTable, figure: Any = None) -> None:
        found[table.name] = table
        real(table, figure)

    monkeypatch.setattr(result_table, "downloads", kept)
    return found


def as_csv(found: dict[str, ResultTable]) -> dict[str, bytes]:
    """Name -> what its button gives."""
    return {name: csv_of(table) for name, table in found.items()}
