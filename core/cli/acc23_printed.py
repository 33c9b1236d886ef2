"""Accuracy with tie calibration, for a person at a terminal."""

from core.analysis.acc23 import Acc23, MetricAccuracy
from core.analysis.joining import SYSTEM_MEANS
from core.cli.aligned import dashed, intervals_said, number, or_dash, print_aligned, print_end
from core.datasets.reading import shown
from core.stats.resampling import Estimate

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
