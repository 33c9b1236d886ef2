"""`check`: can this judge be trusted for a use?"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_options, check_out, in_options
from core.cli.shared.running import telling
from core.cli.shared.sources import add_panel_options, judge_facts, open_panel
from core.errors import InputError
from core.installation import COMMAND
from core.report.card import WRITERS, command_said
from core.results.check.tables import CHECK_TABLES, check_json, check_said, check_tables, exit_status
from core.results.check.verdict import (
    DEFAULT_OPTIONS,
    USES,
    Check,
    CheckOptions,
    Use,
    check_panel,
    option_problems,
)
from core.schema.result_table import ResultTable
from core.store import database_path
from core.tables.files import write_file

_LIMITS = {
    "margin": "for replace and gate: how far below the human ceiling the judge may be (default %(default)s)",
    "tolerance": "for monitor: largest bias, as a share of the scale (default %(default)s)",
    "accuracy": "for rank: smallest share of pairs of systems in the right order (default %(default)s)",
    "ceiling": "for gate: human ceiling to suppose where no text has two raters (default 0.85 for agreement, 0.7 for correlation)",
    "epsilon": "for replace: price of a rater in the Alt-test (default %(default)s)",
}


def add_to(nouns: Commands) -> None:
    """Register `check`."""
    command = nouns.add_parser(
        "check",
        description="Exit status: 0 trusted, 3 not trusted, 4 inconclusive, 2 bad input. Of several judges: 3 if any is not "
        "trusted, else 4 if any is inconclusive.",
    )
    add_panel_options(command)
    command.add_argument(
        "--use",
        choices=get_args(Use),
        help="; ".join(f"{name}: {what}" for name, what in USES.items())
        + " (default: replace with three raters or more, else gate)",
    )
    for name, text in _LIMITS.items():
        command.add_argument(f"--{name}", type=float, default=getattr(DEFAULT_OPTIONS, name), help=text)
    command.add_argument(
        "--system-column", metavar="COL", help="column with the system (default: found by its name)"
    )
    command.add_argument(
        "--card",
        type=Path,
        metavar="FILE",
        help="write a card, one page with the verdict, figures, limits and this command: FILE.html or FILE.md",
    )
    command.add_argument(
        "--names", action="store_true", help="for --card: name the raters (default: only their number)"
    )
    add_result_options(command, *CHECK_TABLES)
    command.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    chosen = CheckOptions(use=options.use, **{name: getattr(options, name) for name in _LIMITS})
    check_options(
        [
            *(f"--{problem}" for problem in option_problems(chosen)),
            *out_problems(options),
            *_card_problems(options),
        ]
    )
    inputs = [options.file, *options.scores]
    check_out_file(options, inputs)
    if options.card is not None:
        check_out(options.card, database_path(options.db), [*inputs, options.out], "--card")
    with telling("reading the ratings") as tell:
        try:
            panel = open_panel(options, system_column=options.system_column)
            tell("checking")
            found = check_panel(panel, chosen, facts=judge_facts(options, panel))
        except InputError as problem:
            raise in_options(problem, {"human", "judge", "system_column", *vars(chosen)}) from problem
    if options.card is not None:
        _write_card(options, found)
    tables = check_tables(found)
    said: list[str | ResultTable] = [*check_said(found), "", tables[CHECK_TABLES[0]]]
    give(
        options, check_json(found), said, [table for name, table in tables.items() if name != CHECK_TABLES[0]]
    )
    return exit_status(found)


def _card_problems(options: argparse.Namespace) -> list[str]:
    if options.card is None:
        return ["--names: only for --card; leave it out"] if options.names else []
    if options.card.suffix.lower() in WRITERS:
        return []
    return [f"--card: {options.card} does not end in {' or '.join(WRITERS)}"]


def _write_card(options: argparse.Namespace, found: Check) -> None:
    write_file(
        options.card,
        WRITERS[options.card.suffix.lower()](
            found,
            command=command_said(options.given, COMMAND, names=options.names),
            made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            names=options.names,
        ),
    )
