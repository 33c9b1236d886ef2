"""`published`: published figures of the papers, and Table 1 of Meta-Judge recomputed from its Tables 4 to 7."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.cli.shared.giving import add_result_options, check_out_file, give, output_problems
from core.cli.shared.options import Commands, check_options, print_result
from core.errors import InputError
from core.formats.correlations import (
    DATASETS,
    GENERATORS,
    PAPERS,
    SHOTS,
    PublishedTable,
    published_names,
    read_table,
    table_keys,
)
from core.papers.published import (
    check_recomputable,
    largest_difference,
    published_table,
    recompute_table_1,
    recomputed_table,
)
from core.report import aligned


def add_to(nouns: Commands) -> None:
    """Register `published`."""
    command = nouns.add_parser("published")
    command.add_argument(
        "--table", dest="number", type=int, metavar="N", help="print one table (default: list all)"
    )
    command.add_argument(
        "--paper", choices=PAPERS, default=PAPERS[0], help="paper of table N (default %(default)s)"
    )
    command.add_argument(
        "--recompute",
        action="store_true",
        help="with --table 1: compare it with the values recomputed from Tables 4 to 7",
    )
    add_result_options(command)
    command.set_defaults(run=_published)


def _published(options: argparse.Namespace) -> None:
    check_options(output_problems(options))
    if options.number is None:
        if options.recompute:
            raise InputError("--recompute needs --table 1.")
        if options.out is not None:
            raise InputError("--out needs --table N.")
        tables = [read_table(key) for key in table_keys()]
        listed = {"tables": [_description(one) for one in tables], "sides": published_names()}
        print_result(options, listed, _print_list, tables)
        return
    check_out_file(options, [])
    table = _table(options.paper, options.number)
    if options.recompute:
        check_recomputable(table)
        cells = recompute_table_1()
        largest = largest_difference(cells)
        as_json = {"source": table.source, "largest_difference": largest, "cells": [asdict(c) for c in cells]}
        source = f"{table.source}, compared with the values recomputed from Tables 4 to 7"
        give(options, as_json, [table.title, source, "", recomputed_table(cells)])
    else:
        as_json = {**_description(table), "columns": table.columns, "rows": table.rows}
        give(options, as_json, [table.title, table.source, table.notes, "", published_table(table)])


def _table(paper: str, number: int) -> PublishedTable:
    if f"{paper}-{number}" in table_keys():
        return read_table(f"{paper}-{number}")
    there = [f"{paper} has {_numbers(paper)}" for paper in PAPERS]
    raise InputError(f"--table: {paper} has no Table {number}.", there)


def _numbers(paper: str) -> str:
    return ", ".join(key.rpartition("-")[2] for key in table_keys() if key.startswith(f"{paper}-"))


def _description(table: PublishedTable) -> dict[str, Any]:
    return {
        "paper": table.paper,
        "table": table.number,
        "title": table.title,
        "source": table.source,
        "notes": table.notes,
        "errors": table.errors,
    }


def _print_list(tables: Sequence[PublishedTable]) -> None:
    rows = [(one.paper, one.number, one.title) for one in tables]
    print("\n".join(aligned(("paper", "table", "title"), rows, cut=False)))
    print("\nSides for `meta-correlate`: correlations of 28 metrics, Spearman (meta-judge, Tables 4 to 7)")
    print("  published:DATASET                  with human judgements")
    print("  published:DATASET:GENERATOR:SHOTS  with the negative damage level")
    for name, values in (("DATASET", DATASETS), ("GENERATOR", GENERATORS), ("SHOTS", SHOTS)):
        print(f"{name}: {', '.join(values)}")
