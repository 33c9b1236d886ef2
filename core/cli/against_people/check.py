"""`check`: can this judge be trusted for a use?"""

import argparse
from typing import get_args

from core.cli.against_people.gaps import add_gap_options, gap_problems, gap_results
from core.cli.against_people.prices import add_price_options, judge_facts
from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_options, in_options
from core.cli.shared.running import telling
from core.cli.shared.sources import add_panel_options, open_panel
from core.errors import InputError
from core.report import json_of
from core.results.check.choosing import WHICH_TABLES, which_json, which_of, which_said, which_tables
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
    add_price_options(command)
    add_gap_options(command)
    add_result_options(command, *CHECK_TABLES, *WHICH_TABLES, GAPS)
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
            found = check_panel(panel, chosen, facts=judge_facts(options, panel))
        except InputError as problem:
            raise in_options(problem, {"human", "judge", "system_column", *vars(chosen)}) from problem
    tables = check_tables(found)
    main = tables.pop(CHECK_TABLES[0])
    as_json, further, said = check_json(found), [*tables.values()], check_said(found)
    which: list[ResultTable] = []
    if len(found.judges) > 1:
        try:
            choice = which_of(found)
        except (
            InputError
        ) as problem:  # such as judges without a common text: their verdicts hold all the same
            said.append(str(problem))
        else:
            as_json["which"] = which_json(choice)
            said += which_said(choice)
            which = [*which_tables(choice).values()]
    gaps, gaps_said = gap_results(options, panel)
    as_json |= {one.name: json_of(one) for one in gaps}
    printed = [*said, *(one for table in (main, *which) for one in ("", table)), *gaps_said]
    give(options, as_json, printed, [one for one in (*further, *gaps) if one not in printed])
    return exit_status(found)
