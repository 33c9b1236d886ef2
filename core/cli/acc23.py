"""`acc23`: do metrics order and tie the texts of an item as people do?"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.cli.shared.options import (
    Commands,
    add_database_option,
    add_json_option,
    add_pair_option,
    print_result,
    read_file,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    STUDY,
    add_interval_options,
    add_system_scores,
    human_ratings,
    intervals,
    open_ratings,
    open_scores,
)
from core.cli.shared.terminal import dashed, intervals_said, number, or_dash, plain, print_aligned, print_end
from core.formats.registry import read_ratings
from core.results.correlations.acc23 import Acc23, Acc23Options, MetricAccuracy, acc23
from core.results.joining import SYSTEM_MEANS
from core.results.merging import merge_tables
from core.schema.scores import RatingSet
from core.stats.resampling import Estimate
from core.tables.reading import shown

_SWAPPED = {
    "items": "whole items, two-sided",
    "pairs": "single pairs, two-sided, as behind WMT23's tables. Pairs of an item share texts, so p is too small",
    "scores": "single scores, two-sided",
}


def print_acc23(found: Acc23) -> None:
    """A line a metric, then a line for every two that were tested."""
    print(f"Metrics against {shown(found.human)}.")
    for sentence in found.constants:
        print(sentence)
    print_aligned(
        [
            "metric",
            "acc23",
            "epsilon",
            "items",
            "systems",
            "pairs",
            "Pearson",
            "per item",
            "system",
            "pairs of systems",
            "SPA",
        ],
        [_cells(one) for one in found.metrics],
    )
    print(
        "acc23: share of pairs of an item's texts that metric and people order alike or both tie, averaged over items; "
        f"epsilon: {'found for each metric' if found.options.epsilon is None else 'as given'}."
    )
    print(f"system, pairs of systems: {SYSTEM_MEANS[found.options.system_scores]}.")
    if found.options.n_resamples:
        print(_soft_said(found))
    if found.tests:
        print()
        print_aligned(
            ["first", "second", "difference", "p", "Holm p"],
            [
                [
                    one.first,
                    one.second,
                    number(one.test.difference),
                    or_dash(one.test.p, 4),
                    or_dash(one.p_holm, 4),
                ]
                for one in found.tests
            ],
        )
        print(
            f"p: permutation test of {_SWAPPED[found.options.swap]}. "
            f"Holm p: corrected for {len(found.tests)} {'test' if len(found.tests) == 1 else 'tests'}."
        )
        for why in dict.fromkeys(one.test.reason for one in found.tests if one.test.reason):
            print(f"Where - stands: {why}.")
    _print_end(found)


def _soft_said(found: Acc23) -> str:
    soft = [one.soft_accuracy for one in found.metrics]
    pairs = sorted({one.n_pairs for one in soft})
    return (
        f"SPA: soft pairwise accuracy, 1 minus the mean difference between people's and the metric's p over "
        f"{' or '.join(map(str, pairs))} pairs of systems ({found.options.n_resamples:,} swaps of rated items, seed "
        f"{found.options.rng})."
    )


def _cells(one: MetricAccuracy) -> list[object]:
    accuracy = one.accuracy
    return [
        one.metric,
        dashed(one.interval),
        "-" if accuracy.epsilon is None else f"{accuracy.epsilon:.6g}",
        accuracy.n_items,
        accuracy.n_systems,
        f"{accuracy.n_pairs:,}",
        *(dashed(each) for _, each in _beside(one)),
        or_dash(one.soft_accuracy.accuracy),
    ]


def _beside(one: MetricAccuracy) -> list[tuple[str, Estimate]]:
    return [
        ("Pearson", one.segment),
        ("Pearson per item", one.per_item),
        ("Pearson of systems", one.system),
        ("the share of pairs of systems", one.system_accuracy),
    ]


def _intervals(found: Acc23) -> str:
    """Which bootstrap they are: a calibrated accuracy has the basic one (`calibrated_interval`)."""
    kind = "percentile" if found.options.epsilon is not None else "basic for acc23, percentile beside it"
    return intervals_said(found.options.confidence_level, f"bootstrap over items: {kind}")


def _print_end(found: Acc23) -> None:
    named = [("acc23", one.interval) for one in found.metrics]
    named += [pair for one in found.metrics for pair in _beside(one)]
    lacking = [one.soft_accuracy.reason for one in found.metrics if one.soft_accuracy.reason]
    print_end(
        named,
        dashes=(("SPA", why) for why in lacking),
        left_out=(lost for one in found.metrics for lost in one.left_out.items()),
        intervals=_intervals(found) if found.options.n_resamples else "",
        notes=found.notes,
    )


_N_RESAMPLES = 1_000
_SCORES = "METRIC.seg.score, a table of scores (CSV, JSONL, Parquet), run:N or an mt-metrics-eval folder"


def add_to(nouns: Commands) -> None:
    """Register `acc23`."""
    command = nouns.add_parser("acc23")
    command.add_argument(
        "human",
        metavar="HUMAN",
        help="HUMAN.seg.score, a file of ratings, an mt-metrics-eval folder, or an unblinded study:NAME of ratings",
    )
    command.add_argument("metrics", metavar="METRIC", nargs="+", help=_SCORES)
    command.add_argument("--dimension", metavar="D", help="of the ratings (default: the only one)")
    command.add_argument(
        "--ratings",
        dest="named",
        metavar="NAME",
        help="which ones of a folder that holds several, such as mqm",
    )
    add_pair_option(command)
    command.add_argument(
        "--references", action="store_true", help="keep refA, refB, synthetic_ref among the systems"
    )
    command.add_argument(
        "--epsilon", type=float, help="differences no larger are ties (default: the best one of each metric)"
    )
    command.add_argument(
        "--tie-rounding",
        action="store_true",
        help="people's scores that differ by rounding alone are ties; WMT23's numbers are without",
    )
    command.add_argument("--test", action="store_true", help="also a permutation test for every two metrics")
    command.add_argument(
        "--swap",
        choices=("items", "pairs"),
        help="what changes places in the test: all pairs of an item together (default), or single pairs as behind WMT23's "
        "tables, whose p is too small",
    )
    add_system_scores(command)
    add_interval_options(command, _N_RESAMPLES)
    add_json_option(command)
    add_database_option(command)
    command.set_defaults(run=_acc23, lower_is_better=False)


def _acc23(options: argparse.Namespace) -> None:
    chosen = _chosen(options)
    with telling("reading the scores") as tell:
        table = merge_tables([open_scores(given, options).table for given in options.metrics])
        human = _human(options.human, options)
        tell("calibrating ties")
        found = acc23(human, table, chosen)
    print_result(options, _json(found), print_acc23, found)


def _chosen(options: argparse.Namespace) -> Acc23Options:
    """Raises InputError with every problem."""
    problems = []
    if options.epsilon is not None and not 0 <= options.epsilon < float("inf"):
        problems.append(f"--epsilon: {options.epsilon} is no number from 0 up")
    if options.test and options.epsilon is not None:
        problems.append("--test: of calibrated metrics; leave --epsilon out")
    if options.test and not options.resamples:
        problems.append("--test: needs --resamples above 0, which are its swaps")
    if options.swap and not options.test:
        problems.append("--swap: needs --test")
    if len(set(options.metrics)) < len(options.metrics):
        problems.append("METRIC: one is named twice")
    return Acc23Options(
        epsilon=options.epsilon,
        tie_rounding=options.tie_rounding,
        references=options.references,
        dimension=options.dimension,
        test=options.test,
        swap=options.swap or "items",
        system_scores=options.system_scores,
        **intervals(options, problems),
    )


def _human(given: str, options: argparse.Namespace) -> RatingSet:
    if given.startswith(STUDY):
        return human_ratings(given, options)[0]
    path = Path(given)
    if path.is_dir():
        of_folder = argparse.Namespace(**{**vars(options), "human": options.named})
        return open_ratings(open_scores(given, options), of_folder, "--ratings")
    return read_ratings(read_file(path), path.name)


def _json(found: Acc23) -> dict[str, Any]:
    """Of one metric its numbers; of several a list of them, with the tests."""
    metrics = [_metric_json(one, found.options) for one in found.metrics]
    notes = {"notes": [*found.constants, *found.notes]}
    if len(metrics) == 1:
        return metrics[0] | notes
    tests: Sequence[Any] = [
        {"first": one.first, "second": one.second, **plain(one.test), "p_holm": one.p_holm, "swap": one.swap}
        for one in found.tests
    ]
    return {"metrics": metrics, "tests": tests, **notes}


def _metric_json(one: MetricAccuracy, options: Acc23Options) -> dict[str, Any]:
    accuracy = one.accuracy
    return {
        "metric": one.metric,
        "acc23": accuracy.accuracy,
        "epsilon": accuracy.epsilon,
        "n_items": accuracy.n_items,
        "n_systems": accuracy.n_systems,
        "n_pairs": accuracy.n_pairs,
        "n_items_left_out": accuracy.n_items_left_out,
        "reason": accuracy.reason,
        "interval": None if one.interval.low is None else [one.interval.low, one.interval.high],
        "segment_pearson": plain(one.segment),
        "item_pearson": plain(one.per_item),
        "system_pearson": plain(one.system),
        "system_accuracy": plain(one.system_accuracy),
        "soft_pairwise_accuracy": plain(one.soft_accuracy),
        "system_scores": options.system_scores,
        "n_texts": one.n_texts,
        "left_out": dict(one.left_out),
        "constant": plain(one.constant),
    }
