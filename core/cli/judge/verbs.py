"""What the reporting verbs of `judge` share."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from core.cli.shared.giving import (
    add_result_options,
    check_out_file,
    out_problems,
)
from core.cli.shared.options import (
    Commands,
    add_database_option,
    check_options,
)
from core.cli.shared.sources import (
    intervals,
)


def verb(
    verbs: Commands, name: str, text: str, run: Callable[[argparse.Namespace], None], *tables: str
) -> argparse.ArgumentParser:
    """Register a verb that reports a result. tables: names of its tables, the main one first."""
    command = verbs.add_parser(name, help=text)
    add_result_options(command, *tables)
    add_database_option(command)
    command.set_defaults(run=run)
    return command


def checked_intervals(
    options: argparse.Namespace, inputs: Sequence[str], wrong: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the options of intervals, after checking all options and that `--out` can be written."""
    made = intervals(options, [*wrong, *out_problems(options)])
    check_out_file(options, inputs)
    return made


def check_reading(options: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Raise InputError if `--out` cannot be written or `--table` does not apply."""
    check_options(out_problems(options))
    check_out_file(options, inputs)
