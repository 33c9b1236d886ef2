"""`study plan`: questions, raters and votes for a wanted power or half-width."""

import argparse
from typing import Any

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import (
    Commands,
    add_database_option,
    check_options,
    existing_store,
    in_options,
    name_list,
)
from core.cli.shared.sources import reading_of
from core.errors import InputError
from core.results.study.planning import ASSUMPTIONS, PLAN_TABLES, planned
from core.schema.study import SCORES
from core.sources.named import parse_source
from core.sources.studies import pilot_of
from core.stats.planning import USUAL_RATERS
from core.study.design import MARGIN_RANGE
from core.tables.reading import shown

_CALLED = {"confidence_level": "confidence"}
"""Field of PlanOptions -> its option, if the names differ."""
_FIELDS = (
    "margin",
    "confidence_level",
    "mean",
    "power",
    "half_width",
    "questions",
    "votes",
    "levels",
    "score",
)


def add_to(verbs: Commands) -> None:
    """Register `study plan`."""
    command = verbs.add_parser("plan")
    command.add_argument(
        "--pilot",
        metavar="study:NAME|FILE",
        help="variance components: of an unblinded study, or of a CSV file (then give --levels too; default: from the assumptions below)",
    )
    for one in ASSUMPTIONS:
        command.add_argument(
            f"--{one.name.replace('_', '-')}", type=float, help=f"{one.help} (default {one.default:g})"
        )
    command.add_argument(
        "--study",
        metavar="NAME",
        help="a study of pairs: plan with its margin, confidence level, score and levels, and show what it has reached",
    )
    command.add_argument(
        "--margin", type=float, help=f"non-inferiority margin, {MARGIN_RANGE} (default 0.1, or the study's)"
    )
    command.add_argument(
        "--confidence",
        type=float,
        help="level of the one-sided lower bound (default 0.90; for a study without a margin 0.95, the two-sided 90 %% interval)",
    )
    command.add_argument(
        "--mean", type=float, help="true mean vote, -1 to 1 (default 0: equally good systems)"
    )
    command.add_argument("--power", type=float, help="wanted power (default 0.8, without --half-width)")
    command.add_argument(
        "--half-width", type=float, metavar="W", help="wanted distance of the mean from its lower bound"
    )
    command.add_argument(
        "--questions",
        type=int,
        metavar="N",
        help="show what N questions reach, instead of --power and --half-width",
    )
    command.add_argument(
        "--raters",
        metavar="J,J",
        help=f"numbers of raters to compare (default {','.join(map(str, USUAL_RATERS))})",
    )
    command.add_argument("--votes", type=int, metavar="K", help="votes a pair (default: all raters)")
    command.add_argument(
        "--levels", type=int, metavar="L", help="levels of a question in the main analysis (default 1)"
    )
    command.add_argument("--score", choices=SCORES, help="score of a pair (default composite, as in a study)")
    add_result_options(command, *PLAN_TABLES)
    add_database_option(command)
    command.set_defaults(run=_plan)


def _plan(options: argparse.Namespace) -> None:
    given = {
        one.name: getattr(options, one.name) for one in ASSUMPTIONS if getattr(options, one.name) is not None
    }
    clash = [f"--{name.replace('_', '-')}: leave it out, the components come from --pilot" for name in given]
    check_options([*out_problems(options), *(clash if options.pilot is not None else [])])
    check_out_file(options, [options.pilot])
    try:
        said, as_json, (designs, power) = planned(
            None if options.pilot is None else pilot_of(parse_source(options.pilot), reading_of(options)),
            given,
            _given(options),
            options.study,
            lambda: existing_store(options.db),
        )
    except InputError as problem:
        raise in_options(problem, _NAMES) from problem
    give(options, as_json, [*said, "", designs], [power])


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Field of PlanOptions -> its value on the command line, if given."""
    found = {name: getattr(options, _CALLED.get(name, name)) for name in _FIELDS}
    given = {name: value for name, value in found.items() if value is not None}
    if options.raters is not None:
        numbers = name_list(options.raters) or []
        if wrong := [one for one in numbers if not (one.isascii() and one.isdigit())]:
            raise InputError("Invalid plan", [f"raters: {shown(one)} is not a whole number" for one in wrong])
        given["raters"] = tuple(dict.fromkeys(map(int, numbers)))
    return given


_NAMES = {one.name for one in ASSUMPTIONS} | {_CALLED.get(name, name) for name in (*_FIELDS, "raters")}
"""Fields that are options."""
