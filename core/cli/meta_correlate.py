"""`meta-correlate`: does data of known quality rank metrics as people do?"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.analysis.joining import group_columns
from core.analysis.meta_correlation import (
    DATASET,
    LiveSide,
    Matrix,
    MetaCorrelation,
    Side,
    meta_correlate,
    meta_matrix,
)
from core.analysis.meta_report import matrix_json, meta_json
from core.analysis.meta_sides import by_dataset, chosen_side
from core.analysis.table_choice import TableChoice, check_choice
from core.cli.meta_printed import print_matrix, print_meta
from core.cli.options import Commands, add_json_option, check_out, json_text, name_list, write_file
from core.cli.progress_line import telling
from core.cli.score_sources import (
    add_interval_options,
    add_rating_options,
    intervals,
    open_side,
    table_choice,
)
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import METHODS
from core.store import database_path

_SIDE = "a JSON file of correlations, published:NAME, a table of scores, run:N, or a folder"


def add_to(nouns: Commands) -> None:
    """Register `meta-correlate`."""
    command = nouns.add_parser("meta-correlate", help="does data of known quality rank metrics as people do?")
    command.add_argument(
        "human_side", metavar="HUMAN", help=f"{_SIDE}; with --by {DATASET} also NAME=SIDE,..., one a data set"
    )
    command.add_argument(
        "synthetic_side", metavar="SYNTHETIC", help=f"{_SIDE}; scores: against minus their level"
    )
    command.add_argument("--method", choices=METHODS, default="spearman", help="default %(default)s")
    command.add_argument(
        "--first-order", choices=METHODS, help="correlations of each metric, where they are not --method's"
    )
    command.add_argument(
        "--by", metavar="COL,...", help="a cell for each value of these columns of SYNTHETIC"
    )
    command.add_argument(
        "--over", metavar="COL", help="mean and SD over this column's values, such as prompt"
    )
    command.add_argument(
        "--alternative",
        choices=["greater", "two-sided"],
        default="greater",
        help="of the p that is printed (default %(default)s, as LLM as a Meta-Judge; JSON has both)",
    )
    add_interval_options(command, 1_000)
    add_rating_options(command)
    command.add_argument("--out", type=Path, metavar="FILE", help="write the JSON to a file")
    add_json_option(command)
    command.set_defaults(run=_meta_correlate)


def _meta_correlate(options: argparse.Namespace) -> None:
    chosen = {"method": options.method, "first_order": options.first_order, **_intervals(options)}
    sides = _Sides(options, table_choice(options))
    with telling("reading the sides") as tell:
        synthetic = sides.open(options.synthetic_side, human=False)
        found: Matrix | MetaCorrelation
        if options.by or options.over:
            tell("correlating, one cell after the other")
            humans, found = _matrix(sides, synthetic, chosen)
        else:
            human = sides.open(options.human_side, human=True)
            sides.check()
            tell("correlating")
            found = meta_correlate(human, synthetic, **chosen)
    if isinstance(found, Matrix):
        _write(matrix_json(found), options)
        if not options.json:
            _print_sides(humans, options)
            print_matrix(found)
        return
    _write(meta_json(found), options)
    if not options.json:
        print_meta(found, options.alternative)


def _intervals(options: argparse.Namespace) -> dict[str, Any]:
    """How intervals are made. Raises InputError with every problem of the options."""
    problems = []
    if options.out is not None and options.out.suffix.lower() != ".json":
        problems.append(f"--out: {options.out} is no .json file")
    if not (options.by or options.over) and _names_sides(options.human_side):
        problems.append(
            f"HUMAN: {shown(options.human_side)} names a side for each data set: add --by {DATASET}, or give one side"
        )
    made = intervals(options, problems)
    if options.out is not None:
        named = [part.partition("=")[2].strip() for part in options.human_side.split(",")]
        inputs = [options.human_side, *filter(None, named), options.synthetic_side, options.human]
        check_out(options.out, database_path(options.db), inputs)
    return made


@dataclass(frozen=True)
class _Sides:
    """Opens sides as the user wants them; what nobody has is refused when all of them are open."""

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
            f"--by and --over need scores on the synthetic side: {shown(options.synthetic_side)} holds "
            "correlations, which no longer tell their texts apart."
        )
    by = name_list(options.by) or []
    humans = _humans(sides, split=DATASET in (*by, options.over))
    sides.check()
    return humans, meta_matrix(humans, synthetic.table, by=by, over=options.over, **chosen)


def _humans(sides: _Sides, *, split: bool) -> Mapping[str, Side]:
    """The human side of each data set: named in HUMAN, else told by its column `dataset`, else one for all."""
    given = sides.options.human_side
    if _names_sides(given):
        named: dict[str, Side] = {}
        for part in given.split(","):
            name, _, side = part.partition("=")
            if not name.strip() or not side.strip() or name.strip() in named:
                raise InputError(f"HUMAN: {shown(part)!r} is not NAME=SIDE, with each data set named once.")
            named[name.strip()] = sides.open(side.strip(), human=True)
        return named
    side = sides.open(given, human=True)
    if split and isinstance(side, LiveSide) and DATASET in group_columns(side.table):
        return by_dataset(side)
    return {"": side}


def _names_sides(human: str) -> bool:
    return "=" in human and not Path(human).exists()


def _print_sides(humans: Mapping[str, Side], options: argparse.Namespace) -> None:
    """What the cells are made of."""
    named = (
        f"{shown(name)}: {shown(side.name)}" if name else shown(side.name) for name, side in humans.items()
    )
    print(
        f"Human side: {', '.join(named)}; synthetic side: {shown(options.synthetic_side)}, against minus the level"
    )
    first = options.first_order or options.method
    order = "" if first == options.method else f" of {first.capitalize()} correlations"
    interval = (
        "" if not options.resamples else f"; {options.confidence:.0%} intervals from resampling metrics"
    )
    print(f"Meta-correlation: {options.method.capitalize()}{order}{interval}")


def _write(found: Mapping[str, Any], options: argparse.Namespace) -> None:
    written = json_text(found)
    if options.out is not None:
        write_file(options.out, (written + "\n").encode())
    if options.json:
        print(written)
