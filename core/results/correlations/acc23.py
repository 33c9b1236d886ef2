"""Pairwise accuracy with tie calibration: do metrics order an item's texts as people do?

With the other measures of WMT's meta-evaluation: segment and system correlations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import (
    SIGNS,
    chosen_ratings,
    columns_at,
    dimension_said,
    dimensions_of,
    items_of,
    level_key,
    rows_at,
)
from core.joining.tables import (
    SAME_NAME,
    SYSTEM_MEANS,
    Joined,
    SystemScores,
    join_ratings,
    left_out,
    rows_met,
    system_rows,
)
from core.results.cells import corrected_column, corrected_note, interval, left_out_notes, picked, plain
from core.schema.result_table import Column, ResultTable
from core.schema.row_columns import ScoredRows
from core.schema.scores import RatingSet, ScoreTable
from core.stats.correlation.groups import mean_within
from core.stats.correlation.intervals import PairedTest, correlate
from core.stats.correlation.systems import (
    NO_PAIRS,
    PairwiseAccuracy,
    SoftAccuracy,
    Swap,
    accuracy_test,
    between_systems,
    calibrate_ties,
    calibrated_interval,
    pair_results,
    pairwise_accuracy,
    soft_pairwise_accuracy,
    system_accuracy,
)
from core.stats.degeneracy import Constant, constant, constants_said
from core.stats.multiplicity import corrected
from core.stats.resampling import Estimate, Floats, mean_estimates, ratio
from core.tables.reading import shown
from core.tables.references import names_reference

_ONE_LEVEL = "no question has pairs at two levels that both sides scored"
_ALPHA = 0.05  # a note warns if no p can reach this level


@dataclass(frozen=True)
class Acc23Options:
    """Options for the comparison, its intervals and its tests."""

    epsilon: float | None = None
    """Scores of a metric that differ by no more are ties; None: calibrated for each metric."""
    tie_rounding: bool = False
    """Whether human scores that differ only by rounding (-25.2 and -25.200000000000003) are ties. In WMT23's published
    numbers they are not."""
    references: bool = False
    """Whether to include systems that are references (refA, refB, synthetic_ref)."""
    dimension: str | None = None
    """Dimension of the ratings; None: the only one."""
    test: bool = False
    """Also test every two metrics."""
    swap: Swap = "items"
    """Unit that the test swaps (`accuracy_test`); "pairs": the published variant, whose p is too small."""
    system_scores: SystemScores = "all"
    """Texts over which metric scores of systems are averaged."""
    n_resamples: int = 1_000
    """Resamples for intervals, the test and soft pairwise accuracy; 0: none of these."""
    confidence_level: float = 0.95
    rng: int = 0

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that determine the intervals."""
        return picked(self, "n_resamples", "confidence_level", "rng")


DEFAULT_ACC23_OPTIONS = Acc23Options()


@dataclass(frozen=True)
class MetricAccuracy:
    """One metric compared with people."""

    metric: str
    accuracy: PairwiseAccuracy
    interval: Estimate
    """Interval of the accuracy over items; a calibrated epsilon is calibrated again in each resample."""
    segment: Estimate
    """Pearson over all texts; the interval resamples items."""
    per_item: Estimate
    """Pearson within each item, averaged over items."""
    system: Estimate
    """Pearson between systems' means."""
    system_accuracy: Estimate
    """Share of system pairs that the metric orders as people do."""
    soft_accuracy: SoftAccuracy
    """The same, weighted by how certain both are of each pair, over the rated texts."""
    n_texts: int
    left_out: Mapping[str, int]
    """Reason -> scored texts that are left out."""
    constant: Constant | None
    """The score of all or nearly all these texts; None: scores vary."""


@dataclass(frozen=True)
class AccuracyTest:
    """A test of two metrics on the same texts."""

    first: str
    second: str
    test: PairedTest
    p_holm: float | None
    """The test's p, corrected for all tests of this call; None if undefined."""
    swap: Swap
    """The unit that the test swapped."""


@dataclass(frozen=True)
class Acc23:
    """All metrics of a table compared with one set of ratings."""

    human: str
    metrics: tuple[MetricAccuracy, ...]
    """Metrics in the table's order."""
    tests: tuple[AccuracyTest, ...]
    """Every pair of metrics once; empty if no test was requested."""
    options: Acc23Options
    notes: tuple[str, ...] = ()
    of_pairs: bool = False
    """Whether rows are pairs of a study, so that a question's levels are compared, not systems."""

    @property
    def constants(self) -> tuple[str, ...]:
        """A sentence for each (nearly) constant metric: such a metric is right only about pairs that people tie."""
        return constants_said((shown(one.metric), one.constant) for one in self.metrics)


def acc23(human: RatingSet, table: ScoreTable, options: Acc23Options = DEFAULT_ACC23_OPTIONS) -> Acc23:
    """Compute pairwise accuracy within items for every metric, with segment and system correlations.

    Deutsch et al. 2023 (EMNLP, "Ties Matter"), as in WMT23: the share of pairs of an item's texts that metric and people
    order alike or both tie, averaged over items. A rating is the mean of a text's ratings; a system's texts at several
    levels count separately. Misleads if people hardly ever tie, or nearly always: the calibrated epsilon then reflects the
    people more than the metric. Epsilon is calibrated on the reported data, which slightly favours metrics with a fine
    scale. If a judge has one column for each dimension (JUDGE-DIMENSION), only the column of the rated dimension is used,
    with a note. Raises InputError if nothing matches.
    """
    if not table.metrics:
        raise InputError("The table contains no metric. Add a column of scores.")
    if options.epsilon is not None and not 0 <= options.epsilon < float("inf"):
        raise InputError(f"epsilon: {options.epsilon} is not a number of at least 0.")
    table, other_columns = _of_dimension(human, table, options.dimension)
    people, scored, notes = (human, table, ()) if options.references else _without_references(human, table)
    joined = join_ratings(scored, people, dimension=options.dimension, z_normalise=False, kept=False)
    items, systems = _places(joined)

    def spread(values: Floats) -> Floats:
        """The values with shape (items, systems), NaN where there is no text."""
        matrix = np.full((int(items.max(initial=-1)) + 1, int(systems.max(initial=-1)) + 1), np.nan)
        matrix[items, systems] = values
        return matrix

    tied = spread(joined.target)
    target = tied if options.tie_rounding else spread(_as_given(joined, people, options))
    matrices = [spread(scores) for scores in joined.scores().T]
    names = [metric.name for metric in joined.table.metrics]
    tests = _tests(names, target, matrices, options) if options.test else ()
    # Ratings that differ only by rounding are tied in the first matrix and not in the second.
    n_apart = sum(
        int(((tied[:, one] == tied[:, other]) & (target[:, one] != target[:, other])).sum())
        for one, other in combinations(range(tied.shape[1]), 2)
    )
    rounding = (
        f"{n_apart:,} pairs of human scores differ only by rounding. They count as different, as in WMT23's own numbers",
    )
    return Acc23(
        human.file_name,
        tuple(
            _of_metric(joined, index, matrix, target, options, bool(human.pair_of))
            for index, matrix in enumerate(matrices)
        ),
        tests,
        options,
        (
            *(*notes, *other_columns, *scored.notes, *joined.notes),
            *(rounding if n_apart else ()),
            *_floor_note(tests),
        ),
        of_pairs=bool(human.pair_of),
    )


def _as_given(joined: Joined, people: RatingSet, options: Acc23Options) -> Floats:
    """The joined rows' mean ratings, without ties between those that differ only by rounding."""
    chosen = chosen_ratings(people, options.dimension, z_normalise=False)
    met = rows_met(joined.table, people, chosen.ratings)
    used, size = met >= 0, len(joined.table.rows)
    sums = np.bincount(met[used], weights=chosen.values[used], minlength=size).astype(np.float64)
    return ratio(sums, np.bincount(met[used], minlength=size).astype(np.float64))[joined.rows]


def _of_dimension(
    human: RatingSet, table: ScoreTable, dimension: str | None
) -> tuple[ScoreTable, tuple[str, ...]]:
    """The table without judges' columns for other dimensions."""
    there = dimensions_of(human) if dimension is None else (dimension,)
    names = [metric.name for metric in table.metrics]
    once = {name: name.partition(SAME_NAME)[0] for name in names}
    said = {name: found for name in names if len(there) == 1 and (found := dimension_said(once[name], there))}
    judges = tuple(f"{judge}{sign}" for judge, _ in said.values() if judge for sign in SIGNS)
    kept = [place for place, name in enumerate(names) if name in said or not name.startswith(judges)]
    if len(kept) == len(names):
        return table, ()
    others = ", ".join(shown(name) for place, name in enumerate(names) if place not in kept)
    return columns_at(table, kept), (f"columns of the same judge for other dimensions left out: {others}",)


def _without_references(human: RatingSet, table: ScoreTable) -> tuple[RatingSet, ScoreTable, tuple[str, ...]]:
    """Ratings and scores without systems that are references, and a note naming these."""
    kept = [index for index, row in enumerate(table.rows) if not names_reference(row.system)]
    ratings = tuple(one for one in human.ratings if not names_reference(one.system or ""))
    gone = {row.system for row in table.rows if names_reference(row.system)}
    gone |= {one.system for one in human.ratings if one.system and names_reference(one.system)}
    if not gone:
        return human, table, ()
    if not kept or not ratings:
        raise InputError(
            f"All texts are references ({', '.join(sorted(map(shown, gone)))}). Include references to compare them."
        )
    note = f"references left out: {', '.join(sorted(map(shown, gone)))}"
    scored = replace(rows_at(table, kept), notes=table.notes)
    return replace(human, ratings=ratings), scored, (note,)


def _places(joined: Joined) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of item and system of each joined row. Each level of a system counts as a separate system."""
    rows = ScoredRows.of(joined.table.rows).take(joined.rows)
    items = np.unique(items_of(rows), return_inverse=True)[1]
    numbers: dict[tuple[object, ...], int] = {}
    keys = [(row.system, level_key(row.level)) for row in rows]
    systems = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
    taken = set()
    for row, place in zip(rows, zip(items.tolist(), systems.tolist(), strict=True), strict=True):
        if place in taken:
            raise InputError(
                f"Item {shown(row.item_id)} has several texts of system {shown(row.system)} at one level. Leave out all but "
                "one."
            )
        taken.add(place)
    return items, systems


def _of_metric(
    joined: Joined, index: int, matrix: Floats, target: Floats, options: Acc23Options, of_pairs: bool
) -> MetricAccuracy:
    scores, people = joined.scores()[:, index], joined.target
    items = items_of([joined.table.rows[row] for row in joined.rows.tolist()])
    every = np.ones(len(joined.table.rows), dtype=np.bool_)
    between = system_rows(joined, every, options.system_scores)
    means = (between.scores[:, index], between.target, between.systems)
    of_means = {"items": between.items, "paired": between.paired, **options.resampling}
    if options.epsilon is None:
        accuracy = calibrate_ties(target, matrix)
        around = calibrated_interval(target, matrix, **options.resampling)
    else:
        accuracy = pairwise_accuracy(target, matrix, options.epsilon)
        results = pair_results(target, matrix, options.epsilon)
        known = ~np.isnan(results)
        shares = ratio(np.where(known, results, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))
        around = mean_estimates(shares[:, None], np.arange(len(shares)), **options.resampling)[0]
    soft = SoftAccuracy(None, 0, options.n_resamples, reason="fewer than two systems")
    if not of_pairs:
        soft = soft_pairwise_accuracy(target, matrix, n_resamples=options.n_resamples, rng=options.rng)
    elif accuracy.reason == NO_PAIRS:
        accuracy, around = replace(accuracy, reason=_ONE_LEVEL), replace(around, reason=_ONE_LEVEL)
    return MetricAccuracy(
        metric=joined.table.metrics[index].name,
        accuracy=accuracy,
        interval=around,
        segment=correlate(scores, people, "pearson", clusters=items, **options.resampling),
        per_item=mean_within(scores, people, items, "pearson", **options.resampling),
        system=between_systems(*means, "pearson", **of_means),
        system_accuracy=system_accuracy(*means, **of_means),
        soft_accuracy=soft,
        n_texts=int((~np.isnan(scores)).sum()),
        left_out=left_out(joined, every, index),
        constant=constant(joined.table.values[joined.rows, index]),
    )


def _tests(
    names: Sequence[str], target: Floats, matrices: Sequence[Floats], options: Acc23Options
) -> tuple[AccuracyTest, ...]:
    """Test every two metrics on the texts that both scored, at the given epsilon or each at its own."""
    pairs = list(combinations(range(len(names)), 2))
    given = None if options.epsilon is None else (options.epsilon, options.epsilon)
    draws: dict[str, Any] = {"swap": options.swap, "n_resamples": options.n_resamples, "rng": options.rng}
    found = []
    for pair in pairs:
        both = ~np.isnan([matrices[index] for index in pair]).any(axis=0)
        one, other = (np.where(both, matrices[index], np.nan) for index in pair)
        found.append(accuracy_test(target, one, other, epsilons=given, **draws))
    return tuple(
        AccuracyTest(names[first], names[second], test, paid, options.swap)
        for (first, second), test, paid in zip(pairs, found, corrected([one.p for one in found]), strict=True)
    )


def _floor_note(tests: Sequence[AccuracyTest]) -> tuple[str, ...]:
    """Warn if p_holm cannot reach .05: the numbers of swaps drawn and of items to swap limit it from below."""
    tested = [one.test for one in tests if one.test.p is not None]
    if not tested:
        return ()
    n_swaps, n_units = (max(getattr(one, name) for one in tested) for name in ("n_resamples", "n_units"))
    lowest = len(tested) / (1 + n_swaps)
    tests_said = "1 test" if len(tested) == 1 else f"{len(tested)} tests"
    if len(tested) * 2.0 ** (1 - n_units) > _ALPHA:
        return (
            f"Holm p cannot reach {_ALPHA:g}: {tests_said} with {n_units} units to swap. "
            "More items are needed.",
        )
    if lowest > _ALPHA:
        return (
            f"Holm p cannot fall below {len(tested)} / {1 + n_swaps:,} = {lowest:.2g}: {tests_said} with "
            f"{n_swaps:,} swaps. Draw more swaps.",
        )
    return ()


_CALIBRATED = "calibrated for each metric on the reported texts, which slightly favours a fine scale"
_OF_TEXTS = "acc23: share of pairs of an item's texts that metric and people order alike or both tie, averaged over items."
_OF_LEVELS = (
    "acc23: compares the levels of a question, not systems: share of two levels whose pairs metric and people order alike or "
    "both tie, averaged over questions."
)
_SWAPPED: Mapping[Swap, str] = {
    "items": "whole items, two-sided",
    "pairs": "single pairs, two-sided, as in WMT23's tables. Pairs of an item share texts, so p is too small",
}


def accuracy_table(found: Acc23) -> ResultTable:
    """One row for each metric. A calibrated accuracy has the basic bootstrap interval."""
    options = found.options
    soft = {one.metric: one.soft_accuracy for one in found.metrics}
    pairs = " or ".join(map(str, sorted({one.n_pairs for one in soft.values() if one.accuracy is not None})))
    kind = "percentile" if options.epsilon is not None else "basic for acc23, percentile for the others"
    drawn = (
        *(
            (
                "SPA: soft pairwise accuracy, 1 minus the mean difference between people's and the metric's p over "
                f"{pairs} system pairs ({options.n_resamples:,} swaps of rated items, seed {options.rng}).",
            )
            if pairs
            else ()
        ),
        f"Intervals: {options.confidence_level:.0%}, bootstrap over items: {kind}.",
    )
    return ResultTable(
        "accuracy",
        (
            Column("metric", names_row=True),
            Column("acc23", shown=False),
            Column("accuracy", "acc23"),
            Column("epsilon", places=6, general=True),
            *(Column(name, name.removeprefix("n_")) for name in ("n_items", "n_systems", "n_pairs")),
            Column("texts"),
            Column("segment"),
            Column("per_item", "per item"),
            Column("system"),
            Column("system_accuracy", "system pairs"),
            Column("soft_pairwise_accuracy", "SPA"),
            *(Column(name, shown=False) for name in ("soft_n_pairs", "soft_n_swaps", "soft_reason")),
            *(Column(name, shown=False) for name in ("constant_value", "constant_share", "left_out")),
        ),
        tuple(
            (
                *(one.metric, one.accuracy.accuracy, interval(one.interval), one.accuracy.epsilon),
                *(one.accuracy.n_items, None if found.of_pairs else one.accuracy.n_systems),
                *(one.accuracy.n_pairs, one.n_texts),
                *map(interval, (one.segment, one.per_item, one.system, one.system_accuracy)),
                *(one.soft_accuracy.accuracy, one.soft_accuracy.n_pairs, one.soft_accuracy.n_swaps),
                one.soft_accuracy.reason or "",
                *((None, None) if one.constant is None else (one.constant.value, one.constant.share)),
                one.left_out,
            )
            for one in found.metrics
        ),
        notes=(
            f"{_OF_LEVELS if found.of_pairs else _OF_TEXTS} "
            f"Epsilon: {_CALIBRATED if options.epsilon is None else 'as given'}.",
            "Pearson: segment: over all pairs; per item: within each question, averaged."
            if found.of_pairs
            else "Pearson: segment: over all texts; per item: within each item, averaged; system: between systems' means "
            f"({SYSTEM_MEANS[options.system_scores]}). System intervals are too low if systems are close or items few.",
            *(drawn if options.n_resamples else ()),
            *_no_soft_notes({name: one.reason for name, one in soft.items()}),
            *left_out_notes([(one.metric, one.left_out) for one in found.metrics], "texts"),
            *found.notes,
        ),
    )


def _no_soft_notes(reasons: Mapping[str, str | None]) -> Iterator[str]:
    """Why soft pairwise accuracy is undefined, of all metrics or of those named."""
    for reason in dict.fromkeys(filter(None, reasons.values())):
        of = [shown(name) for name, own in reasons.items() if own == reason]
        which = "" if len(of) == len(reasons) else f" for {', '.join(of)}"
        yield f"SPA: undefined{which}: {reason}"


def accuracy_test_table(found: Acc23) -> ResultTable:
    """One row for every two tested metrics."""
    n = len(found.tests)
    return ResultTable(
        "accuracy-tests",
        (
            Column("first", names_row=True),
            Column("second", names_row=True),
            Column("difference"),
            Column("p", places=4, p_value=True),
            corrected_column("holm", n, places=4),
            *(Column(name, shown=False) for name in ("swap", "n", "n_units", "n_resamples", "reason")),
        ),
        tuple(
            (
                *(one.first, one.second, one.test.difference, one.test.p, one.p_holm),
                *(one.swap, one.test.n, one.test.n_units, one.test.n_resamples, one.test.reason or ""),
            )
            for one in found.tests
        ),
        title="Differences in accuracy, first minus second",
        notes=(
            f"p: permutation test of {_SWAPPED[found.options.swap]}.",
            *corrected_note("holm", n, "every two metrics"),
            *dict.fromkeys(f"p: undefined: {one.test.reason}" for one in found.tests if one.test.reason),
        ),
    )


def acc23_json(found: Acc23) -> dict[str, Any]:
    """The documented JSON: the numbers of one metric, or a list for several metrics, with the tests."""
    metrics = [
        _metric_json(one, found.options) | ({"n_systems": None} if found.of_pairs else {})
        for one in found.metrics
    ]
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
