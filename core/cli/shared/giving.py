"""Output of a command's result: lines and tables on the terminal, JSON, or a file whose ending chooses the format."""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from core.cli.shared.options import add_excel_option, add_json_option, check_out
from core.errors import InputError
from core.report import ENDINGS, file_of, terminal_lines
from core.results.cells import decimal
from core.schema.result_table import ResultTable
from core.store import database_path
from core.tables.files import json_text, write_file
from core.tables.writer import excel_csv

Said: TypeAlias = Sequence[str | ResultTable]
"""Lines of text and tables, in the order in which a command prints them."""


def add_result_options(
    command: argparse.ArgumentParser, *tables: str, document: str = "docs/formats.md"
) -> None:
    """Register `--json`, `--out` and, with tables, `--table`.

    tables: names of all tables, the main one first. document: where the JSON is described.
    """
    add_json_option(command, document)
    command.add_argument(
        "--out", type=Path, metavar="FILE", help=f"write the result to a file: {', '.join(ENDINGS)}"
    )
    add_excel_option(command)
    if not tables:
        command.set_defaults(table=None)
        return
    command.add_argument(
        "--table",
        choices=tables,
        help=f"table to write to a {', '.join(ENDINGS[1:])} file (default: {tables[0]} for .csv, all for the others)",
    )


def output_problems(options: argparse.Namespace) -> list[str]:
    """Return the problems of `--out` and `--table` that need no input file."""
    problems = []
    if options.out is not None and options.out.suffix.lower() not in ENDINGS:
        problems.append(f"--out: {options.out} does not end in one of {', '.join(ENDINGS)}")
    if options.table is not None and (options.out is None or options.out.suffix.lower() == ".json"):
        problems.append("--table: needs an --out file that ends in .csv, .md or .tex")
    if options.excel and (options.out is None or options.out.suffix.lower() != ".csv"):
        problems.append("--excel: needs an --out file that ends in .csv")
    return problems


def check_out_file(options: argparse.Namespace, inputs: Iterable[str | Path | None]) -> None:
    """Raise InputError if `--out` cannot be written, before hours of work. inputs: files that the command reads."""
    if options.out is not None:
        check_out(options.out, database_path(getattr(options, "db", None)), inputs)


def give(
    options: argparse.Namespace, as_json: Any, parts: Said, in_files: Iterable[ResultTable] = ()
) -> None:
    """Write `--out` if given; print JSON with `--json`, else the lines and tables.

    in_files: tables too long for a terminal, written to files only.
    """
    if options.out is not None:
        write_file(options.out, _file(options, as_json, [*parts, *in_files]))
    if options.json:
        print(json_text(as_json))
        return
    print_said(parts)
    if options.out is not None:
        tables = [one.name for one in [*parts, *in_files] if isinstance(one, ResultTable)]
        if options.out.suffix.lower() == ".csv" and options.table is None and len(tables) > 1:
            others = ", ".join(tables[1:])
            print(f"{options.out} contains the table {tables[0]}. Choose another with --table: {others}")
        print(options.out)


def print_said(parts: Said) -> None:
    """Print lines and tables; a wide table is split into parts that fit the terminal."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for at, one in enumerate(parts):
        if at and isinstance(one, ResultTable) and isinstance(parts[at - 1], ResultTable):
            print()
        for line in [one] if isinstance(one, str) else terminal_lines(one, room):
            print(
                line
                if room is None or (isinstance(one, ResultTable) and not line.startswith("Note: "))
                else _broken_line(line, room)
            )


def _broken_line(line: str, room: int) -> str:
    """Break a long sentence between words, not within one as terminals do."""
    return textwrap.fill(
        line, max(room, 20), break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def _file(options: argparse.Namespace, as_json: Any, parts: Said) -> bytes:
    chosen = options.table
    if chosen is not None:
        parts = [one for one in parts if isinstance(one, ResultTable) and one.name == chosen]
        if not parts:
            raise InputError(f"--table: this result has no table {chosen}.")
    data = file_of(options.out.suffix.lower(), as_json, parts, only=chosen is not None)
    return excel_csv(data) if options.excel else data


def number(value: float | None, places: int = 3) -> str:
    """Return the number as text, or "undefined" for None."""
    return "undefined" if value is None else decimal(value, places)
