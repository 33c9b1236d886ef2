"""`check`: can this judge be trusted for a use?"""

import argparse
from typing import get_args

from core.cli.against_people.gaps import add_gap_options, gap_problems, gap_results
from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_options, in_options
from core.cli.shared.running import telling
from core.cli.shared.sources import add_panel_options, open_panel
from core.errors import InputError
from core.report import json_of
from core.results.check.gaps import GAPS
from core.results.check.tables import CHECK_TABLES, check_json, check_said, check_tables, exit_status
from core.results.check.verdict import (
    DEFAULT_OPTIONS,
    USES,
    CheckOptions,
    Use,
    check_panel,
    option_problems,
)
from core.schema.result_table import ResultTable

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
    add_gap_options(command)
    add_result_options(command, *CHECK_TABLES, GAPS)
    command.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    chosen = CheckOptions(use=options.use, **{name: getattr(options, name) for name in _LIMITS})
    check_options(
        [
            *(f"--{problem}" for problem in option_problems(chosen)),
            *gap_problems(options),
            *out_problems(options),
        ]
    )
    check_out_file(options, [options.file, *options.scores])
    with telling("reading the ratings") as tell:
        try:
            panel = open_panel(options, find=True)
            tell("checking")
            found = check_panel(panel, chosen)
        except InputError as problem:
            raise in_options(problem, {"human", "judge", "system_column", *vars(chosen)}) from problem
    tables = check_tables(found)
    said: list[str | ResultTable] = [*check_said(found), "", tables[CHECK_TABLES[0]]]
    gaps, gaps_said = gap_results(options, panel)
    tables |= {one.name: one for one in gaps}
    said += gaps_said
    as_json = check_json(found) | {one.name: json_of(one) for one in gaps}
    give(options, as_json, said, [table for table in tables.values() if table not in said])
    return exit_status(found)
