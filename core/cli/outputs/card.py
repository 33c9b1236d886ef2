"""`check --card`: the verdict as one page, with the command that made it."""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.analyses.check.rows import Checked
from core.cli.outputs import Output
from core.errors import InputError
from core.installation import COMMAND
from core.report.card import WRITERS, command_said
from core.schema.analysis import Answer
from core.tables.files import write_file


def _add(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--card",
        type=Path,
        metavar="FILE",
        help="write a card, one page with the verdict, figures, limits and this command: FILE.html or FILE.md",
    )
    command.add_argument(
        "--names", action="store_true", help="for --card: name the raters (default: only their number)"
    )


def _problems(options: argparse.Namespace) -> list[str]:
    if options.card is None:
        return ["--names: only for --card; leave it out"] if options.names else []
    if options.card.suffix.lower() in WRITERS:
        return []
    return [f"--card: {options.card} does not end in {' or '.join(WRITERS)}"]


def _write(options: argparse.Namespace, answer: Answer, _data: Sequence[Any]) -> list[str]:
    if options.card is None:
        return []
    found = answer.result
    if not isinstance(found, Checked):
        raise InputError(f"--card: {found.sentence}")
    write_file(
        options.card,
        WRITERS[options.card.suffix.lower()](
            found.check,
            command=command_said(options.typed, COMMAND, names=options.names),
            made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            names=options.names,
            sentences=() if found.drift is None else found.drift.sentences,
            further=[table for table in (answer.tables.get("gaps"),) if table is not None],
        ),
    )
    return []


OUTPUT = Output(
    _add, _problems, _write, lambda options: None if options.card is None else ("--card", options.card)
)
