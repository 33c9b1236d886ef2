"""`meta-correlate`: does data of known quality rank metrics as people do?"""

import argparse
import json
from collections.abc import Mapping
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
from core.analysis.meta_sides import by_dataset
from core.cli.aligned import number, print_aligned, with_interval
from core.cli.options import Commands, name_list, write_file
from core.cli.score_sources import add_interval_options, add_rating_options, open_side
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import METHODS
from core.stats.resampling import Estimate

_SIDE = "a JSON file of correlations, published:NAME, a table of scores, run:N, or a folder"


def add_to(nouns: Commands) -> None:
    """Register `meta-correlate`."""
    command = nouns.add_parser("meta-correlate", help="does data of known quality rank metrics as people do?")
    command.add_argument("human_side", metavar="HUMAN", help=f"{_SIDE}; NAME=SIDE,... for several data sets")
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
        help="of the p that is printed (default %(default)s, as 000; JSON has both)",
    )
    add_interval_options(command, 1_000)
    add_rating_options(command)
    command.add_argument("--out", type=Path, metavar="FILE", help="write the JSON to a file")
    command.add_argument("--json", action="store_true", help="print JSON as docs/formats.md describes it")
    command.set_defaults(run=_meta_correlate)


def _meta_correlate(options: argparse.Namespace) -> None:
    _check(options)
    chosen: dict[str, Any] = {
        "method": options.method,
        "first_order": options.first_order,
        "n_resamples": options.resamples,
        "confidence_level": options.confidence,
        "rng": options.seed,
    }
    synthetic = open_side(options.synthetic_side, options, human=False)
    if options.by or options.over:
        matrix = _matrix(synthetic, options, chosen)
        _write(matrix_json(matrix), options)
        if not options.json:
            _print_matrix(matrix)
        return
    found = meta_correlate(open_side(options.human_side, options, human=True), synthetic, **chosen)
    _write(meta_json(found), options)
    if not options.json:
        _print(found, options.alternative)


def _check(options: argparse.Namespace) -> None:
    problems = []
    if options.resamples < 0:
        problems.append(f"--resamples: {options.resamples} is negative; 0 asks for no intervals")
    if not 0 < options.confidence < 1:
        problems.append(f"--confidence: {options.confidence} does not lie between 0 and 1")
    if options.seed < 0:
        problems.append(f"--seed: {options.seed} is negative")
    if problems:
        raise InputError("The options cannot be used.", problems)


def _matrix(synthetic: Side, options: argparse.Namespace, chosen: Mapping[str, Any]) -> Matrix:
    if not isinstance(synthetic, LiveSide):
        raise InputError(
            f"--by and --over need scores on the synthetic side: {shown(options.synthetic_side)} holds "
            "correlations, which no longer tell their texts apart."
        )
    by = name_list(options.by) or []
    humans = _humans(options, split=DATASET in (*by, options.over))
    return meta_matrix(humans, synthetic.table, by=by, over=options.over, **chosen)


def _humans(options: argparse.Namespace, *, split: bool) -> Mapping[str, Side]:
    """The human side of each data set: named in HUMAN, else told by its column `dataset`, else one for all."""
    given = options.human_side
    if "=" in given and not Path(given).exists():
        named: dict[str, Side] = {}
        for part in given.split(","):
            name, _, side = part.partition("=")
            if not name.strip() or not side.strip() or name.strip() in named:
                raise InputError(f"HUMAN: {shown(part)!r} is not NAME=SIDE, with each data set named once.")
            named[name.strip()] = open_side(side.strip(), options, human=True)
        return named
    side = open_side(given, options, human=True)
    if split and isinstance(side, LiveSide) and DATASET in group_columns(side.table):
        return by_dataset(side)
    return {"": side}


def _write(found: Mapping[str, Any], options: argparse.Namespace) -> None:
    written = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    if options.out is not None:
        write_file(options.out, (written + "\n").encode())
    if options.json:
        print(written)


def _print(found: MetaCorrelation, alternative: str) -> None:
    print(f"Human side: {shown(found.human)}; synthetic side: {shown(found.synthetic)}")
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
    print(f"  p {side}: {'undefined' if p is None else f'{p:.3g}'}")
    for family, without in found.without_family.items():
        print(f"  without {shown(family)}: {with_interval(without)} (n={without.n})")
    dropped: dict[str, list[str]] = {}
    for metric, why in found.dropped.items():
        dropped.setdefault(why, []).append(shown(metric))
    for why, metrics in dropped.items():
        print(f"Dropped: {', '.join(metrics)}: {why}")
    for note in found.notes:
        print(f"Note: {note}")


def _said(estimate: Estimate) -> str:
    if estimate.low is None:
        return f"none: {estimate.interval_reason}"
    return f"[{number(estimate.low)}, {number(estimate.high)}] at {estimate.confidence_level:.0%}"


def _print_matrix(matrix: Matrix) -> None:
    if matrix.cells:
        columns = list(matrix.cells[0].by)
        rows = [
            [
                *cell.by.values(),
                f"undefined: {cell.reason}"
                if cell.result is None
                else with_interval(cell.result.over_metrics),
                0 if cell.result is None else cell.result.n_metrics,
                "-" if cell.result is None else ", ".join(cell.result.dropped) or "none",
            ]
            for cell in matrix.cells
        ]
        print_aligned([*columns, "meta-correlation", "metrics", "dropped"], rows)
    if matrix.summaries:
        print("\nMean and standard deviation (ddof 1):")
        rows = [
            [*one.by.values(), number(one.mean), number(one.sd), one.n, one.left_out]
            for one in matrix.summaries
        ]
        print_aligned([*matrix.summaries[0].by, "mean", "SD", "n", "left out"], rows)
    for note in matrix.notes:
        print(f"Note: {note}")
