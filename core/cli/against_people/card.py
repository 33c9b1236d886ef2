"""`check --card`: the verdict as one page, with the command that made it."""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.installation import COMMAND
from core.report.card import WRITERS, command_said
from core.results.check.verdict import Check
from core.schema.result_table import ResultTable
from core.tables.files import write_file


def add_card_options(command: argparse.ArgumentParser) -> None:
    """Register `--card` and `--names`."""
    command.add_argument(
        "--card",
        type=Path,
        metavar="FILE",
        help="write a card, one page with the verdict, figures, limits and this command: FILE.html or FILE.md",
    )
    command.add_argument(
        "--names", action="store_true", help="for --card: name the raters (default: only their number)"
    )


def card_problems(options: argparse.Namespace) -> list[str]:
    """Return what is wrong with the options."""
    if options.card is None:
        return ["--names: only for --card; leave it out"] if options.names else []
    if options.card.suffix.lower() in WRITERS:
        return []
    return [f"--card: {options.card} does not end in {' or '.join(WRITERS)}"]


def write_card(
    options: argparse.Namespace, found: Check, changed: Sequence[str], gaps: Sequence[ResultTable]
) -> None:
    """Write the card. changed: what changed since an earlier check, in sentences. gaps: tables that follow."""
    write_file(
        options.card,
        WRITERS[options.card.suffix.lower()](
            found,
            command=command_said(options.typed, COMMAND, names=options.names),
            made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            names=options.names,
            said=changed,
            further=gaps,
        ),
    )
