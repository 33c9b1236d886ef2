"""`corrected`: a judge's mean or pass rate, corrected by labels from people on some of the texts."""

import argparse

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_options, in_options
from core.cli.shared.running import telling
from core.cli.shared.sources import add_panel_options, open_panel
from core.errors import InputError
from core.results.corrected import (
    TABLES,
    Options,
    corrected_json,
    corrected_numbers,
    corrected_said,
    corrected_tables,
)


def add_to(nouns: Commands) -> None:
    """Register `corrected`."""
    command = nouns.add_parser("corrected")
    add_panel_options(command)
    command.add_argument(
        "--pass",
        dest="passes",
        metavar="VALUE",
        help="rating that counts as a pass; all others are fails (default: the better of two words, or 1 of 0 and 1; other "
        "ratings are averaged)",
    )
    command.add_argument(
        "--method",
        choices=["ppi++", "rogan-gladen", "labels-only"],
        help="method that decides; choose it before you see the results (default: by the rule in docs/inference.md)",
    )
    command.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of intervals (default %(default)s)"
    )
    add_result_options(command, *TABLES)
    command.set_defaults(run=_corrected)


def _corrected(options: argparse.Namespace) -> None:
    wrong = []
    if not 0 < options.confidence < 1:
        wrong.append(f"--confidence: must lie between 0 and 1, got {options.confidence:g}")
    check_options([*wrong, *out_problems(options)])
    check_out_file(options, [options.file, *options.scores])
    with telling("reading the ratings") as tell:
        try:
            panel = open_panel(options)
            tell("correcting the scores")
            found = corrected_numbers(panel, Options(options.passes, options.method, options.confidence))
        except InputError as problem:
            raise in_options(problem, ("human", "judge")) from problem
    printed, further = corrected_tables(found)
    said = [*corrected_said(found), *(one for table in printed for one in ("", table))]
    give(options, corrected_json(found), said, further)
