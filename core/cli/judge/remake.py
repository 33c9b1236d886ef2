"""`report levels --remake FILE.csv`: the questions of the items to remake, a file for `generate`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from core.cli.shared.beside import Beside, Wrote
from core.cli.shared.options import check_out
from core.errors import InputError
from core.results.judges.made_levels import ScoredLevels
from core.runs.judging.levels import questions_csv
from core.schema.analysis import Answer
from core.store import database_path
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


def _check(options: argparse.Namespace, inputs: Sequence[str | Path | None]) -> None:
    if options.remake is not None:
        check_out(options.remake, database_path(options.db), inputs, "--remake")


def _write(options: argparse.Namespace, answer: Answer, levels: ScoredLevels) -> Wrote:
    path, items = options.remake, answer.result.remake_items
    if path is None:
        return Wrote()
    if not (levels.made.materials or levels.made.texts):
        raise InputError(
            "--remake: the scores come without the texts, so nothing tells the questions. Name the texts behind the scores."
        )
    if not items:
        print(f"--remake: no item is to be remade, so {path} is not written.", file=sys.stderr)
        return Wrote()
    write_file(path, questions_csv(items, levels.made))
    return Wrote(files=(path,))


BESIDE = Beside(_add, _problems, _check, _write)
