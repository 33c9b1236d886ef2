"""`report levels --remake FILE.csv`: the questions of the items to remake, a file for `generate`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.cli.shared.outputs import Output
from core.errors import InputError
from core.runs.judging.levels import questions_csv
from core.schema.analysis import Answer
from core.tables.files import write_file


def _add(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--remake",
        type=Path,
        metavar="FILE.csv",
        help="write the questions of the items to remake, a file for `generate`",
    )


def _problems(options: argparse.Namespace) -> list[str]:
    found, path = [], options.remake
    if path is not None and path.suffix.lower() != ".csv":
        found.append(f"--remake: {path} does not end in .csv")
    if path is not None and options.out and path.resolve() == options.out.resolve():
        found.append(f"--remake: {path} is the file of --out. Name another one")
    return found


def _file(options: argparse.Namespace) -> tuple[str, Path] | None:
    return None if options.remake is None else ("--remake", options.remake)


def _write(options: argparse.Namespace, answer: Answer, data: Sequence[Any]) -> list[str]:
    path, items, made = options.remake, answer.result.remake_items, data[0].made
    if path is None:
        return []
    if not (made.materials or made.texts):
        raise InputError(
            "--remake: the scores come without the texts, so nothing tells the questions. Name the texts behind the scores."
        )
    if not items:
        print(f"--remake: no item is to be remade, so {path} is not written.", file=sys.stderr)
        return []
    write_file(path, questions_csv(items, made))
    return [str(path)]


OUTPUT = Output(_add, _problems, _write, _file)
