"""`report levels`: are made levels what they claim to be, and which to remake?"""

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from core.cli.judge.verbs import checked_intervals, verb
from core.cli.shared.giving import give
from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_pair_option,
    check_out,
)
from core.cli.shared.sources import (
    N_RESAMPLES,
    add_interval_options,
    reading_of,
)
from core.errors import InputError
from core.results.judges.made_levels import (
    DEFAULT_OPTIONS,
    MadeOptions,
    made_json,
    made_said,
    made_tables,
    option_problems,
    sets_table,
)
from core.runs.judging.levels import (
    check_levels,
    questions_csv,
)
from core.sources.judges import made_of
from core.sources.named import parse_source
from core.sources.scores import scores_of
from core.sources.texts import made_texts_of
from core.store import database_path
from core.tables.files import write_file

_HELP = {
    "tolerance": "largest rise of the score to a worse level, as a share of the range of all scores (default %(default)s)",
    "alike": "share of words in the same order from which two levels count as the same text (default %(default)s)",
    "longer": "how much longer than the median of its item's levels a text may be, or shorter (default %(default)s)",
}


def add_levels(verbs: Commands) -> None:
    """Register `report levels`."""
    command = verb(
        verbs,
        "levels",
        "check whether made levels are what they claim: falling scores, core fact, contradictions, equal texts, length",
        _levels,
        "made-levels",
        "levels-made",
        "length-by-system",
        "items-made",
    )
    command.add_argument(
        "scores",
        metavar="run:N|DIR|SCORES",
        help="a claims judge's run or folder, or any scores of the texts",
    )
    command.add_argument(
        "texts",
        nargs="?",
        metavar="FILE|DIR|run:N|study:NAME",
        help="the texts, if the scores come without them; a generation run, or its folder, also says which facts it changed",
    )
    command.add_argument("--metric", default="", metavar="NAME", help="column of scores (default: the first)")
    for one in fields(MadeOptions):
        command.add_argument(
            f"--{one.name}",
            type=float,
            default=getattr(DEFAULT_OPTIONS, one.name),
            metavar="X",
            help=_HELP[one.name],
        )
    command.add_argument(
        "--remake",
        type=Path,
        metavar="FILE.csv",
        help="write the questions of the items to remake, a file for `generate`",
    )
    add_pair_option(command)
    add_columns_option(command)
    add_interval_options(command, N_RESAMPLES)


def _levels(options: argparse.Namespace) -> None:
    chosen = MadeOptions(options.tolerance, options.alike, options.longer)
    inputs = [one for one in (options.scores, options.texts) if one is not None]
    wrong = [f"--{problem}" for problem in option_problems(chosen)]
    if options.remake is not None and options.remake.suffix.lower() != ".csv":
        wrong.append(f"--remake: {options.remake} does not end in .csv")
    if options.remake is not None and options.out and options.remake.resolve() == options.out.resolve():
        wrong.append(f"--remake: {options.remake} is the file of --out. Name another one")
    drawing = checked_intervals(options, inputs, wrong)
    if options.remake is not None:
        check_out(options.remake, database_path(options.db), inputs, "--remake")
    reading, scores = reading_of(options), parse_source(options.scores)
    table, made = scores_of(scores, reading), made_of(scores, reading)
    if options.texts is not None:
        made = made.beside(made_texts_of(parse_source(options.texts), reading))
    if options.remake is not None and not (made.materials or made.texts):
        raise InputError(
            "--remake: the scores come without the texts, so nothing tells the questions. Name the texts behind the scores."
        )
    found = check_levels(table, made, metric=options.metric, options=chosen, **drawing)
    give(options, made_json(found), [*made_said(found), *made_tables(found)], [sets_table(found)])
    if options.remake is not None and not found.remake_items:
        print(f"--remake: no item is to be remade, so {options.remake} is not written.", file=sys.stderr)
    elif options.remake is not None:
        write_file(options.remake, questions_csv(found.remake_items, made))
        if not options.json:
            print(options.remake)
