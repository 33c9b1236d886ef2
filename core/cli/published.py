"""`published`: figures of the papers, and Table 1 of 000 recomputed from its Tables 4 to 7."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.cli.shared.options import Commands, add_json_option, print_result
from core.cli.shared.terminal import print_whole
from core.errors import InputError
from core.formats.correlations import (
    DATASETS,
    GENERATORS,
    PAPERS,
    SHOTS,
    Cell,
    PublishedTable,
    published_names,
    read_table,
    table_keys,
)
from core.results.meta_correlation import RecomputedCell, check_recomputable, recompute_table_1

_FOOTNOTES = ("why_undefined", "error")  # columns of sentences: below the table, once each


def add_to(nouns: Commands) -> None:
    """Register `published`."""
    command = nouns.add_parser("published")
    command.add_argument("--table", type=int, metavar="N", help="print one table (default: list all)")
    command.add_argument(
        "--paper", choices=PAPERS, default=PAPERS[0], help="whose table N (default %(default)s)"
    )
    command.add_argument(
        "--recompute", action="store_true", help="with --table 1: beside what follows from Tables 4 to 7"
    )
    add_json_option(command)
    command.set_defaults(run=_published)


def _published(options: argparse.Namespace) -> None:
    if options.table is None:
        if options.recompute:
            raise InputError("--recompute goes with --table 1.")
        tables = [read_table(key) for key in table_keys()]
        listed = {"tables": [_about(one) for one in tables], "sides": published_names()}
        print_result(options, listed, _print_list, tables)
        return
    table = _table(options.paper, options.table)
    if options.recompute:
        check_recomputable(table)
        cells = recompute_table_1()
        largest = max(abs(cell.difference) for cell in cells if cell.difference is not None)
        as_json = {"source": table.source, "largest_difference": largest, "cells": [asdict(c) for c in cells]}
        print_result(options, as_json, _print_recomputed, table, cells, largest)
    else:
        as_json = {**_about(table), "columns": table.columns, "rows": table.rows}
        print_result(options, as_json, _print_table, table)


def _table(paper: str, number: int) -> PublishedTable:
    if f"{paper}-{number}" in table_keys():
        return read_table(f"{paper}-{number}")
    there = [f"{paper} has {_numbers(paper)}" for paper in PAPERS]
    raise InputError(f"--table: there is no Table {number} of {paper}.", there)


def _numbers(paper: str) -> str:
    return ", ".join(key.rpartition("-")[2] for key in table_keys() if key.startswith(f"{paper}-"))


def _about(table: PublishedTable) -> dict[str, Any]:
    return {
        "paper": table.paper,
        "table": table.number,
        "title": table.title,
        "source": table.source,
        "notes": table.notes,
        "errors": table.errors,
    }


def _print_list(tables: Sequence[PublishedTable]) -> None:
    print_whole(("paper", "table", "title"), [(t.paper, str(t.number), t.title) for t in tables], {1})
    print("\nSides for `meta-correlate`: correlations of 28 metrics, Spearman (meta-judge, Tables 4 to 7)")
    print("  published:DATASET                  with human judgements")
    print("  published:DATASET:GENERATOR:SHOTS  with minus the damage level")
    for name, values in (("DATASET", DATASETS), ("GENERATOR", GENERATORS), ("SHOTS", SHOTS)):
        print(f"{name}: {', '.join(values)}")


def _print_table(table: PublishedTable) -> None:
    print(f"{table.title}\n{table.source}\n{table.notes}\n")
    columns = [name for name in table.columns if name not in _FOOTNOTES]
    figures = {name for name in columns if any(isinstance(row[name], int | float) for row in table.rows)}
    sentences = _sentences(table.rows)
    decimals = {name: _decimals(table, name) for name in figures}
    rows = [
        [_written(row[name], decimals.get(name)) for name in columns] + [_marks(row, sentences)]
        for row in table.rows
    ]
    header = [*columns, "note" if sentences else ""]
    print_whole(header, rows, {n for n, name in enumerate(columns) if name in figures})
    for mark, sentence in enumerate(sentences, start=1):
        print(f"{mark}: {sentence}")


def _sentences(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Errors and reasons, every one once, in the order in which they come."""
    return list(dict.fromkeys(part for row in rows for part in _notes_of(row)))


def _notes_of(row: Mapping[str, Cell]) -> list[str]:
    return [part for name in _FOOTNOTES if row.get(name) for part in str(row[name]).split("; ")]


def _marks(row: Mapping[str, Cell], sentences: list[str]) -> str:
    return ",".join(str(sentences.index(part) + 1) for part in _notes_of(row))


def _decimals(table: PublishedTable, name: str) -> int:
    """As printed: .010 stays .010 where others of its column have three places, 0.000785 keeps its six."""
    written = (str(row[name]) for row in table.rows if isinstance(row[name], float))
    most = max((len(number.partition(".")[2]) for number in written), default=0)
    return 3 if table.paper == "meta-judge" else most


def _written(cell: Cell, decimals: int | None) -> str:
    """decimals: None in columns of words."""
    if cell is None:
        return "" if decimals is None else "undefined"
    return f"{cell:.{decimals}f}" if isinstance(cell, float) else str(cell)


def _print_recomputed(table: PublishedTable, cells: Sequence[RecomputedCell], largest: float) -> None:
    print(f"{table.title}\n{table.source}, beside what follows from the paper's Tables 4 to 7\n")
    rows = [
        (
            *(cell.dataset, cell.generator, cell.shots, f"{cell.published:.3f}"),
            *(_rounded(cell.recomputed, ".3f"), _rounded(cell.difference, "+.3f")),
            *(str(cell.n), ", ".join(cell.dropped)),
        )
        for cell in cells
    ]
    header = ("dataset", "generator", "shots", "published", "recomputed", "difference", "n", "dropped")
    print_whole(header, rows, {3, 4, 5, 6})
    for metric, reason in {pair: None for cell in cells for pair in cell.dropped.items()}:
        print(f"dropped: {metric}: {reason}")
    print(
        f"{len(cells)} cells, largest difference {largest:.3f}: the correlations in Tables 4 to 7 are rounded to three "
        "places. n: metrics that both columns define."
    )


def _rounded(value: float | None, form: str) -> str:
    return "undefined" if value is None else f"{round(value, 3) + 0:{form}}"  # + 0: never -0.000
