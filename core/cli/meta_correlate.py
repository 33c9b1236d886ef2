"""`meta-correlate`: whether data of known quality ranks metrics as people do."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from core.cli.shared.giving import Said, add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_columns, name_list
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_interval_options,
    add_rating_options,
    intervals,
    open_side,
    table_choice,
)
from core.errors import InputError
from core.joining.choices import TableChoice, check_choice, group_columns
from core.results.meta_correlation import (
    DATASET,
    Alternative,
    LiveSide,
    Matrix,
    MetaCorrelation,
    Side,
    by_dataset,
    chosen_side,
    matrix_json,
    matrix_table,
    meta_correlate,
    meta_json,
    meta_matrix,
    meta_said,
    summary_table,
)
from core.schema.scores import METHODS
from core.tables.reading import shown


def _matrix_said(matrix: Matrix, humans: Mapping[str, Side], options: argparse.Namespace) -> Said:
    """Return how the sides differ, the sides, the table of cells, and the summary over variants."""
    caution = [] if matrix.caution is None else [matrix.caution]
    summaries = [summary_table(matrix)] if matrix.summaries else []
    return [*matrix.sides_said, *_sides_said(humans, options), *caution, matrix_table(matrix), *summaries]


_SIDE = "a JSON file of correlations, published:NAME, a table of scores, run:N, or a folder"


def add_to(nouns: Commands) -> None:
    """Register `meta-correlate`."""
    command = nouns.add_parser("meta-correlate")
    command.add_argument(
        "human_side",
        metavar="HUMAN",
        help=f"{_SIDE}; with --by {DATASET} also NAME=SIDE,..., one for each data set",
    )
    command.add_argument(
        "synthetic_side", metavar="SYNTHETIC", help=f"{_SIDE}; scores are correlated with the negative level"
    )
    command.add_argument(
        "--method",
        choices=METHODS,
        default="spearman",
        help="coefficient between the two sides (default %(default)s)",
    )
    command.add_argument(
        "--first-order", choices=METHODS, help="coefficient for each metric on a side (default: --method)"
    )
    command.add_argument(
        "--by", metavar="COL,...", help="one cell for each value of these columns of SYNTHETIC"
    )
    command.add_argument(
        "--over", metavar="COL", help="report mean and SD over the values of this column, e.g. prompt"
    )
    command.add_argument(
        "--alternative",
        choices=get_args(Alternative),
        default="greater",
        help="alternative hypothesis of the printed p-value (default %(default)s, as in Meta-Judge; JSON has both)",
    )
    add_interval_options(command, 1_000)
    add_rating_options(command)
    add_result_options(command, "meta-correlation", "without-family", "meta-matrix", "meta-summaries")
    command.set_defaults(run=_meta_correlate)


def _meta_correlate(options: argparse.Namespace) -> None:
    chosen = {"method": options.method, "first_order": options.first_order, **_intervals(options)}
    sides = _Sides(options, table_choice(options))
    with telling("reading the sides") as tell:
        synthetic = sides.open(options.synthetic_side, human=False)
        found: Matrix | MetaCorrelation
        if options.by or options.over:
            tell("correlating the cells")
            humans, found = _matrix(sides, synthetic, chosen)
        else:
            human = sides.open(options.human_side, human=True)
            sides.check()
            tell("correlating")
            found = meta_correlate(human, synthetic, **chosen)
    if isinstance(found, Matrix):
        give(options, matrix_json(found), _matrix_said(found, humans, options))
    else:
        give(options, meta_json(found), meta_said(found, options.alternative))


def _intervals(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of intervals. Raises InputError with every problem of the options."""
    problems = out_problems(options)
    cells = ("meta-matrix", *(["meta-summaries"] if options.over else []))
    there = cells if options.by or options.over else ("meta-correlation", "without-family")
    if options.table is not None and options.table not in there:
        problems.append(f"--table: this result has no table {options.table}, only {' and '.join(there)}")
    if not (options.by or options.over) and _names_sides(options.human_side):
        problems.append(
            f"HUMAN: {shown(options.human_side)} names a side for each data set. Add --by {DATASET}, or give one side"
        )
    made = intervals(options, problems)
    named = [part.partition("=")[2].strip() for part in options.human_side.split(",")]
    inputs = [options.human_side, *filter(None, named), options.synthetic_side, options.human]
    check_out_file(options, inputs)
    check_columns(options, inputs)
    return made


@dataclass(frozen=True)
class _Sides:
    """Opens sides as the options request, and then checks the options against all of them."""

    options: argparse.Namespace
    choice: TableChoice
    opened: list[Side] = field(default_factory=list)

    def open(self, given: str, *, human: bool) -> Side:
        side = open_side(given, self.options, human=human)
        self.opened.append(side)
        return chosen_side(side, self.choice)

    def check(self) -> None:
        check_choice(
            self.choice, *(side.table if isinstance(side, LiveSide) else side for side in self.opened)
        )


def _matrix(sides: _Sides, synthetic: Side, chosen: Mapping[str, Any]) -> tuple[Mapping[str, Side], Matrix]:
    options = sides.options
    if not isinstance(synthetic, LiveSide):
        raise InputError(
            f"--by and --over need scores on the synthetic side. {shown(options.synthetic_side)} contains "
            "correlations, which cannot be split by text."
        )
    by = name_list(options.by) or []
    humans = _humans(sides, split=DATASET in (*by, options.over))
    sides.check()
    return humans, meta_matrix(humans, synthetic.table, by=by, over=options.over, **chosen)


def _humans(sides: _Sides, *, split: bool) -> Mapping[str, Side]:
    """Return the human side of each data set: named in HUMAN, else split by the column `dataset`, else one for all."""
    given = sides.options.human_side
    if _names_sides(given):
        named: dict[str, Side] = {}
        for part in given.split(","):
            name, _, side = part.partition("=")
            if not name.strip() or not side.strip() or name.strip() in named:
                raise InputError(f"HUMAN: {shown(part)!r} is not NAME=SIDE with each data set named once.")
            named[name.strip()] = sides.open(side.strip(), human=True)
        return named
    side = sides.open(given, human=True)
    if split and isinstance(side, LiveSide) and DATASET in group_columns(side.table):
        return by_dataset(side)
    return {"": side}


def _names_sides(human: str) -> bool:
    return "=" in human and not Path(human).exists()


def _sides_said(humans: Mapping[str, Side], options: argparse.Namespace) -> list[str]:
    """Return the lines that describe both sides."""
    named = (
        f"{shown(name)}: {shown(side.name)}" if name else shown(side.name) for name, side in humans.items()
    )
    first = options.first_order or options.method
    order = "" if first == options.method else f" of {first.capitalize()} correlations"
    interval = (
        "" if not options.resamples else f"; {options.confidence:.0%} intervals from resampling metrics"
    )
    return [
        f"Human side: {', '.join(named)}; synthetic side: {shown(options.synthetic_side)}, against the negative level",
        f"Meta-correlation: {options.method.capitalize()}{order}{interval}",
    ]
