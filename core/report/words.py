"""How readers see a cell of a result table, and what stands below the table."""

import math
from collections.abc import Mapping

from core.results.cells import for_rows
from core.results.decimals import decimal
from core.schema.result_table import Cell, Column, Interval, ResultTable

DASH = "–"
"""In place of an undefined number; its reason stands below the table."""


def headings(table: ResultTable) -> list[str]:
    """Headings of the columns that readers see."""
    return [column.heading for column in table.columns if column.shown]


def lines(table: ResultTable) -> list[list[str]]:
    """Rows as readers see them, a text a cell."""
    return [
        [written(cell, column) for cell, column in zip(row, table.columns, strict=True) if column.shown]
        for row in table.rows
    ]


def written(cell: Cell, column: Column) -> str:
    """A cell in words: `0.512 [0.401, 0.611]`, `1,204`, `< 0.001`, a dash for what is undefined."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return DASH
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Mapping):
        return "; ".join(f"{n:,} {reason}" for reason, n in cell.items()) or "none"
    if isinstance(cell, Interval):
        if cell.value is None:
            return DASH
        ends = (
            ""
            if cell.low is None or cell.high is None
            else f" [{_number(cell.low, column)}, {_number(cell.high, column)}]"
        )
        return f"{_number(cell.value, column)}{ends}{cell.beside and ' '}{cell.beside}"
    return f"{cell:,}" if isinstance(cell, int) else _number(cell, column)


def _number(value: float, column: Column) -> str:
    if column.p_value and value < 10**-column.places:
        return f"< {10**-column.places:g}"
    if column.general:
        return f"{value:.{column.places}g}"
    if column.percent:
        return f"{decimal(100 * value, max(column.places - 2, 0))} %"
    return decimal(value, column.places)


def notes(table: ResultTable) -> list[str]:
    """What stands below the table: why cells are undefined or lack an interval, then the table's own notes."""
    names = [at for at, column in enumerate(table.columns) if column.names_row]
    undefined: dict[tuple[str, str], list[str]] = {}
    bare: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        name = " ".join(str(row[at]) for at in names if row[at] is not None)
        for cell, column in zip(row, table.columns, strict=True):
            if isinstance(cell, Interval) and column.shown:
                if cell.value is None:
                    undefined.setdefault((column.heading, cell.reason or "no reason given"), []).append(name)
                elif cell.interval_reason:
                    bare.setdefault((column.heading, cell.interval_reason), []).append(name)
    return [
        *_reasons(undefined, "undefined", len(table.rows)),
        *_reasons(bare, "no interval", len(table.rows)),
        *table.notes,
    ]


def _reasons(found: Mapping[tuple[str, str], list[str]], what: str, n_rows: int) -> list[str]:
    """A sentence for each reason, with the columns and rows that share it."""
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (heading, reason), names in found.items():
        together.setdefault((reason, tuple(names)), []).append(heading)
    return [
        f"{', '.join(columns)}: {what}{for_rows(names, n_rows)}: {reason}"
        for (reason, names), columns in together.items()
    ]
