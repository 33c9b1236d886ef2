"""`meta-correlate`: does data of known quality rank metrics as people do?"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.cli.shared.options import (
    Commands,
    add_json_option,
    check_out,
    json_text,
    name_list,
    print_notes,
    write_file,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_interval_options,
    add_rating_options,
    intervals,
    open_side,
    table_choice,
)
from core.cli.shared.terminal import number, print_aligned, with_interval
from core.errors import InputError
from core.results.choices import TableChoice, check_choice, group_columns
from core.results.meta_correlation import (
    DATASET,
    LiveSide,
    Matrix,
    MetaCorrelation,
    Side,
    by_dataset,
    chosen_side,
    matrix_json,
    meta_correlate,
    meta_json,
    meta_matrix,
)
from core.schema.scores import METHODS
from core.stats.resampling import Estimate
from core.store import database_path
from core.tables.reading import shown


def print_meta(found: MetaCorrelation, alternative: str) -> None:
    """What limits the comparison, the points, the estimate with its intervals and p, and notes."""
    print(f"Human side: {shown(found.human)}; synthetic side: {shown(found.synthetic)}")
    if found.caution is not None:
        print(found.caution)
    if found.dropped:
        print(f"Metrics compared: {found.n_metrics} of {found.n_metrics + len(found.dropped)}")
    for line in _dropped([found]):
        print(line)
    print_aligned(
        ["metric", "family", "human", "synthetic"],
        [
            [point.metric, point.family, number(point.human), number(point.synthetic)]
            for point in found.points
        ],
    )
    estimate = found.over_metrics
    print(
        f"\nMeta-correlation ({found.method.capitalize()}, {found.n_metrics} metrics): {with_interval(estimate)}"
    )
    print(f"  interval over metrics: {_said(estimate)}")
    if found.over_items is not None:
        print(f"  interval over items:   {_said(found.over_items)}")
    p = found.p_one_sided if alternative == "greater" else found.p_two_sided
    side = "one-sided" if alternative == "greater" else "two-sided"
    print(f"  p {side}: {f'undefined: {found.p_reason}' if p is None else f'{p:.3g}'}")
    for family, without in found.without_family.items():
        print(f"  without {shown(family)}: {with_interval(without)} (n={without.n})")
    print_notes(found.notes)


def _dropped(results: Iterable[MetaCorrelation]) -> Iterator[str]:
    """One line a reason, whatever the number of metrics and cells."""
    reasons: dict[str, dict[str, None]] = {}
    for found in results:
        for metric, why in found.dropped.items():
            reasons.setdefault(why, {})[shown(metric)] = None
    for why, metrics in reasons.items():
        count = f"{len(metrics)} metrics ({', '.join(metrics)})" if len(metrics) > 1 else next(iter(metrics))
        yield f"Dropped: {count}: {why}"


def _said(estimate: Estimate) -> str:
    if estimate.low is None:
        return f"none: {estimate.interval_reason}"
    return f"[{number(estimate.low)}, {number(estimate.high)}] at {estimate.confidence_level:.0%}"


def print_matrix(matrix: Matrix) -> None:
    """A line a cell, what was dropped in any of them, and the summary over variants."""
    if matrix.caution is not None:
        print(matrix.caution)
    if matrix.cells:
        columns = list(matrix.cells[0].by)
        rows = [
            [
                *cell.by.values(),
                f"undefined: {cell.reason}"
                if cell.result is None
                else with_interval(cell.result.over_metrics),
                0 if cell.result is None else cell.result.n_metrics,
                "-" if cell.result is None else len(cell.result.dropped),
            ]
            for cell in matrix.cells
        ]
        print_aligned([*columns, "meta-correlation", "metrics", "dropped"], rows)
        for line in _dropped(cell.result for cell in matrix.cells if cell.result is not None):
            print(line)
    if matrix.summaries:
        print("\nMean and standard deviation (ddof 1):")
        rows = [
            [*one.by.values(), number(one.mean), number(one.sd), one.n, one.left_out]
            for one in matrix.summaries
        ]
        print_aligned([*matrix.summaries[0].by, "mean", "SD", "n", "left out"], rows)
    print_notes(matrix.notes)


_SIDE = "a JSON file of correlations, published:NAME, a table of scores, run:N, or a folder"


def add_to(nouns: Commands) -> None:
    """Register `meta-correlate`."""
    command = nouns.add_parser("meta-correlate")
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
