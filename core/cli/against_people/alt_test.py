"""`alt-test`: may a judge replace a rater?"""

import argparse
from typing import get_args

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, in_options, name_list
from core.cli.shared.running import telling
from core.cli.shared.sources import add_interval_options, add_panel_options, intervals, open_panel
from core.errors import InputError
from core.results.alt_test import (
    ALT_TEST_TABLES,
    DEFAULT_OPTIONS,
    ITEMS,
    AltTestOptions,
    alt_test_json,
    alt_test_said,
    alt_test_tables,
    alt_tests,
    option_problems,
)
from core.stats.alt_test import ALIGNMENTS, EPSILONS, Alignment

_ADVICE = ", ".join(f"{value:g} for {who}" for who, value in EPSILONS.items())


def add_to(nouns: Commands) -> None:
    """Register `alt-test`."""
    command = nouns.add_parser("alt-test")
    add_panel_options(command)
    command.add_argument(
        "--epsilon",
        type=float,
        default=DEFAULT_OPTIONS.epsilon,
        help="price of a rater: by which share of texts a rater may be ahead of the judge, because the judge is cheaper; "
        f"Calderon et al. (2025) advise {_ADVICE} (default %(default)s)",
    )
    command.add_argument(
        "--alignment",
        choices=get_args(Alignment),
        default=DEFAULT_OPTIONS.alignment,
        help="closeness to the other raters: "
        + "; ".join(f"{name}: {what}" for name, what in ALIGNMENTS.items())
        + " (default %(default)s)",
    )
    command.add_argument(
        "--items",
        metavar="N,...",
        help="numbers of items for which to give the probability to pass "
        f"(default {','.join(map(str, ITEMS))})",
    )
    command.add_argument(
        "--advantage",
        type=float,
        metavar="A",
        help="advantage to suppose for that probability (default: the observed one)",
    )
    add_interval_options(command, DEFAULT_OPTIONS.n_resamples)
    add_result_options(command, *ALT_TEST_TABLES)
    command.set_defaults(run=_alt_test)


def _alt_test(options: argparse.Namespace) -> None:
    items = name_list(options.items)
    wrong = [name for name in items or () if not (name.isascii() and name.isdigit())]
    chosen = AltTestOptions(
        epsilon=options.epsilon,
        alignment=options.alignment,
        items=ITEMS if items is None else tuple(int(name) for name in items if name not in wrong),
        advantage=options.advantage,
    )
    problems = [f"--items: {name!r} is not a whole number" for name in wrong]
    problems += [
        f"--{problem}" for problem in option_problems(chosen) if not (wrong and problem.startswith("items"))
    ]
    made = intervals(options, [*problems, *out_problems(options)])
    check_out_file(options, [options.file, *options.scores])
    with telling("reading the ratings") as tell:
        try:
            panel = open_panel(options)
            tell("testing")
            found = alt_tests(panel, AltTestOptions(**{**vars(chosen), **made}))
        except InputError as problem:
            raise in_options(problem, {"human", "judge", *vars(chosen)}) from problem
    tables = alt_test_tables(found)
    few = len(found.panel.raters) * len(found.judges) <= _MOST_ROWS
    printed = [
        table
        for name, table in tables.items()
        if name in ALT_TEST_TABLES[: 2 if few else 1] or name == ALT_TEST_TABLES[3]
    ]
    further = [table for table in tables.values() if table not in printed]
    said = [*alt_test_said(found), *(one for table in printed for one in ("", table))]
    give(options, alt_test_json(found), said, further)


_MOST_ROWS = 40
"""Rows of the table of raters that the terminal shows."""
