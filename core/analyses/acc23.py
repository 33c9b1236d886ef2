"""Pairwise accuracy with tie calibration: do metrics order an item's texts as people do?

With the other measures of WMT's meta-evaluation: segment and system correlations.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from core.schema.analysis import (
    Analysis,
    Caution,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.joining.tables import Joined
    from core.results.correlations.paired import People
    from core.schema.scores import RatingSet, ScoreTable
    from core.stats.correlation.systems import SoftAccuracy
    from core.stats.resampling import Floats

_ONE_LEVEL = "no question has pairs at two levels that both sides scored"
_ALPHA = 0.05  # a note warns if no p can reach this level


class Acc23Options(Settings):
    """Options for the comparison, its intervals and its tests."""

    dimension: str | None = setting(
        None,
        "Dimension of the ratings",
        "which dimension of the ratings to use (default: the only one)",
        metavar="D",
        words={"": "the only one"},
    )
    references: bool = setting(
        False,
        "Count references as systems",
        "include the references refA, refB, synthetic_ref as systems",
    )
    epsilon: float | None = setting(
        None,
        "Epsilon",
        "count differences up to this size as ties (default: the best value for each metric)",
        at_least=0,
        words={"": "the best value for each metric"},
    )
    tie_rounding: bool = setting(
        False,
        "Tie human scores that differ only by rounding",
        "count human scores that differ only by rounding as ties (WMT23 did not)",
    )
    test: bool = setting(
        False, "Test every two metrics", "also run a permutation test for each pair of metrics"
    )
    swap: Literal["items", "pairs"] = setting(
        "items",
        "What the test swaps",
        "what the test swaps: all pairs of an item together, or single pairs as in WMT23's tables, whose p-values are too small "
        "because the pairs of an item share texts",
        words={"items": "Whole items", "pairs": "Single pairs (WMT23)"},
    )
    system_scores: Literal["all", "rated"] = setting(
        "all",
        "Texts of system scores",
        "texts over which a metric's system score is the mean; all: as in WMT's metrics task. Human scores are always means over "
        "rated texts",
        words={"all": "All texts", "rated": "Rated texts"},
    )
    n_resamples: int = resamples_setting(1_000, "number of bootstrap resamples, and of swaps of tests")
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()

    def conflicts(self) -> Iterable[Remark]:
        """What a test cannot do."""
        if self.test and self.epsilon is not None:
            yield Remark("test", "not possible with {epsilon}, because the test needs calibrated metrics")
        if self.test and not self.n_resamples:
            yield Remark("test", "needs {n_resamples} above 0, the number of swaps")
        if self.swap != "items" and not self.test:
            yield Remark("swap", "needs {test}")

    def idle(self, backend: str) -> frozenset[str]:
        """A test alone swaps."""
        return frozenset() if self.test else frozenset({"swap"})

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that determine the intervals."""
        return self.model_dump(include={"n_resamples", "confidence_level", "rng"})


@row
class SoftRow:
    """Soft pairwise accuracy of one metric."""

    accuracy: float | None = entry("1 minus the mean difference of p, 0 to 1")
    n_pairs: int = entry("system pairs compared")
    n_swaps: int = entry("swaps drawn for each p")
    n_left_out: int = entry("system pairs without an item with all four scores")
    reason: str | None = entry("why it is undefined")


@row
class ConstantRow:
    """The score of all or nearly all texts."""

    value: float = entry("the score")
    share: float = entry("its share of the scores")
    n: int = entry("scores")
    n_others: int = entry("other scores")


@row
class AccuracyRow:
    """One metric compared with people."""

    metric: str = column("the metric", names_row=True)
    acc23: float | None = column(
        "share of pairs of an item's texts that metric and people order alike or both tie, averaged over items",
        shown=False,
    )
    accuracy: Interval = column("the same with its interval over items", title="acc23", key="")
    epsilon: float | None = column("scores that differ by no more are ties", places=6, general=True)
    n_items: int = column("items with a pair", title="items")
    n_systems: int | None = column("systems in a pair; none of pairs of a study", title="systems")
    n_pairs: int = column("pairs", title="pairs")
    n_texts: int = column("texts with both scores", name="texts", title="texts")
    n_items_left_out: int = entry("items without a pair")
    reason: str | None = entry("why acc23 is undefined")
    interval: tuple[float, float] | None = entry("both ends of the interval of acc23")
    segment: Interval = column("Pearson over all texts", key="segment_pearson", ends="counted")
    per_item: Interval = column("Pearson within each item, averaged", key="item_pearson", ends="counted")
    system: Interval = column("Pearson between systems' means", key="system_pearson", ends="counted")
    system_accuracy: Interval = column(
        "share of system pairs that the metric orders as people do", title="system pairs", ends="counted"
    )
    soft_pairwise_accuracy: float | None = column(
        "the same, weighted by how certain both are of each pair", title="SPA", key=""
    )
    soft_n_pairs: int = column("its system pairs", shown=False, key="")
    soft_n_swaps: int = column("its swaps", shown=False, key="")
    soft_reason: str = column("why it is undefined", shown=False, key="")
    soft: SoftRow = entry("soft pairwise accuracy", key="soft_pairwise_accuracy", rows=SoftRow)
    system_scores: str = entry("texts over which the metric's system scores are means: all or rated")
    constant_value: float | None = column("the score of all or nearly all texts", shown=False, key="")
    constant_share: float | None = column("its share", shown=False, key="")
    constant: ConstantRow | None = entry("the same; null where scores vary", rows=ConstantRow)
    left_out: Mapping[str, int] = column("reason -> scored texts left out", shown=False)


@row
class AccuracyTestRow:
    """A test of two metrics on the same texts."""

    first: str = column("a metric", names_row=True)
    second: str = column("another one", names_row=True)
    difference: float | None = column("first minus second")
    p: float | None = column("two-sided p of no difference", places=4, p_value=True)
    p_holm: float | None = column("p corrected for every two metrics", title="Holm p", places=4, p_value=True)
    swap: str = column("what was swapped", shown=False)
    n: int = column("pairs", shown=False)
    n_units: int = column("units swapped", shown=False)
    n_resamples: int = column("swaps", shown=False)
    n_left_out: int = entry("pairs left out")
    reason: str | None = entry("why the difference or p is undefined")
    why: str = column("the same", name="reason", shown=False, key="")


@row
class Accuracies:
    """All metrics of a table compared with one set of ratings."""

    human: str
    metrics: tuple[AccuracyRow, ...] = entry("each metric", rows=AccuracyRow, inlined=True)
    tests: tuple[AccuracyTestRow, ...] | None = entry(
        "every two metrics, if a test was asked for; no key with one metric",
        rows=AccuracyTestRow,
        optional=True,
    )
    notes: tuple[str, ...] = entry("constant metrics, and what was left out and assumed")
    constants: tuple[str, ...]
    """A sentence for each (nearly) constant metric: such a metric is right only about pairs that people tie."""
    options: Acc23Options
    of_pairs: bool
    """Whether rows are pairs of a study, so that a question's levels are compared, not systems."""


def compute(
    options: Acc23Options, people: "People", tables: "Sequence[ScoreTable]", *, tell: Tell
) -> Accuracies:
    """Compare every metric of the tables with people's ratings, or with the votes of a study of pairs.

    Raises InputError as `accuracies`, and if nothing matches.
    """
    from core.results.correlations.paired import merged_beside

    table, human = merged_beside(tables, people)
    tell("calibrating ties")
    return accuracies(human, table, options)


def accuracies(human: "RatingSet", table: "ScoreTable", options: Acc23Options) -> Accuracies:
    """Compute pairwise accuracy within items for every metric, with segment and system correlations.

    Deutsch et al. 2023 (EMNLP, "Ties Matter"), as in WMT23: the share of pairs of an item's texts that metric and people
    order alike or both tie, averaged over items. A rating is the mean of a text's ratings; a system's texts at several
    levels count separately. Misleads if people hardly ever tie, or nearly always: the calibrated epsilon then reflects the
    people more than the metric. Epsilon is calibrated on the reported data, which slightly favours metrics with a fine
    scale. If a judge has one column for each dimension (JUDGE-DIMENSION), only the column of the rated dimension is used,
    with a note. Raises InputError if nothing matches.
    """
    from itertools import combinations

    import numpy as np

    from core.errors import InputError
    from core.joining.tables import join_ratings
    from core.stats.degeneracy import constant, constants_said
    from core.tables.reading import shown

    if not table.metrics:
        raise InputError("The table contains no metric. Add a column of scores.")
    table, other_columns = _dimension_columns(human, table, options.dimension)
    people, scored, notes = (human, table, ()) if options.references else _drop_references(human, table)
    joined = join_ratings(scored, people, dimension=options.dimension, z_normalise=False, kept=False)
    items, systems = _places(joined)

    def spread(values: "Floats") -> "Floats":
        """The values with shape (items, systems), NaN where there is no text."""
        matrix = np.full((int(items.max(initial=-1)) + 1, int(systems.max(initial=-1)) + 1), np.nan)
        matrix[items, systems] = values
        return matrix

    tied = spread(joined.target)
    target = tied if options.tie_rounding else spread(_mean_ratings(joined, people, options))
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
    constants = constants_said(
        (shown(name), constant(joined.table.values[joined.rows, index])) for index, name in enumerate(names)
    )
    return Accuracies(
        human=human.file_name,
        metrics=tuple(
            _accuracy_row(joined, index, matrix, target, options, bool(human.pair_of))
            for index, matrix in enumerate(matrices)
        ),
        tests=tests if len(names) > 1 else None,
        notes=(
            *(*constants, *notes, *other_columns, *scored.notes, *joined.notes),
            *(rounding if n_apart else ()),
            *_floor_note(tests),
        ),
        constants=constants,
        options=options,
        of_pairs=bool(human.pair_of),
    )


def _mean_ratings(joined: "Joined", people: "RatingSet", options: Acc23Options) -> "Floats":
    """The joined rows' mean ratings, without ties between those that differ only by rounding."""
    import numpy as np

    from core.joining.choices import chosen_ratings
    from core.joining.tables import rows_met
    from core.stats.resampling import ratio

    chosen = chosen_ratings(people, options.dimension, z_normalise=False)
    met = rows_met(joined.table, people, chosen.ratings)
    used, size = met >= 0, len(joined.table.rows)
    sums = np.bincount(met[used], weights=chosen.values[used], minlength=size).astype(np.float64)
    return ratio(sums, np.bincount(met[used], minlength=size).astype(np.float64))[joined.rows]


def _dimension_columns(
    human: "RatingSet", table: "ScoreTable", dimension: str | None
) -> "tuple[ScoreTable, tuple[str, ...]]":
    """The table without judges' columns for other dimensions."""
    from core.joining.choices import SIGNS, columns_at, dimension_said, dimensions_of
    from core.joining.tables import SAME_NAME
    from core.tables.reading import shown

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


def _drop_references(
    human: "RatingSet", table: "ScoreTable"
) -> "tuple[RatingSet, ScoreTable, tuple[str, ...]]":
    """Ratings and scores without systems that are references, and a note naming these."""
    from dataclasses import replace

    from core.errors import InputError
    from core.joining.choices import rows_at
    from core.tables.reading import shown
    from core.tables.references import names_reference

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


def _places(joined: "Joined") -> "tuple[NDArray[Any], NDArray[Any]]":
    """Numbers of item and system of each joined row. Each level of a system counts as a separate system."""
    import numpy as np

    from core.errors import InputError
    from core.joining.choices import items_of, level_key
    from core.schema.row_columns import ScoredRows
    from core.tables.reading import shown

    rows = ScoredRows.of(joined.table.rows).take(joined.rows)
    items = np.unique(items_of(rows), return_inverse=True)[1]
    numbers: dict[tuple[object, ...], int] = {}
    keys = [(row.system, level_key(row.level)) for row in rows]
    systems = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
    taken = set()
    for text, place in zip(rows, zip(items.tolist(), systems.tolist(), strict=True), strict=True):
        if place in taken:
            raise InputError(
                f"Item {shown(text.item_id)} has several texts of system {shown(text.system)} at one level. Leave out all but "
                "one."
            )
        taken.add(place)
    return items, systems


def _accuracy_row(
    joined: "Joined", index: int, matrix: "Floats", target: "Floats", options: Acc23Options, of_pairs: bool
) -> AccuracyRow:
    from dataclasses import replace

    import numpy as np

    from core.joining.choices import items_of
    from core.joining.tables import left_out, system_rows
    from core.results.cells import interval
    from core.stats.correlation.groups import mean_within
    from core.stats.correlation.intervals import correlate
    from core.stats.correlation.systems import (
        NO_PAIRS,
        SoftAccuracy,
        calibrate_ties,
        calibrated_interval,
        pair_results,
        pairwise_accuracy,
        soft_pairwise_accuracy,
        system_accuracy,
        system_correlation,
    )
    from core.stats.degeneracy import constant
    from core.stats.resampling import mean_estimates, ratio

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
    same = constant(joined.table.values[joined.rows, index])
    return AccuracyRow(
        metric=joined.table.metrics[index].name,
        acc23=accuracy.accuracy,
        accuracy=interval(around),
        epsilon=accuracy.epsilon,
        n_items=accuracy.n_items,
        n_systems=None if of_pairs else accuracy.n_systems,
        n_pairs=accuracy.n_pairs,
        n_texts=int((~np.isnan(scores)).sum()),
        n_items_left_out=accuracy.n_items_left_out,
        reason=accuracy.reason,
        interval=None if around.low is None or around.high is None else (around.low, around.high),
        segment=interval(correlate(scores, people, "pearson", clusters=items, **options.resampling)),
        per_item=interval(mean_within(scores, people, items, "pearson", **options.resampling)),
        system=interval(system_correlation(*means, "pearson", **of_means)),
        system_accuracy=interval(system_accuracy(*means, **of_means)),
        **_soft_columns(soft),
        system_scores=options.system_scores,
        constant_value=None if same is None else same.value,
        constant_share=None if same is None else same.share,
        constant=None if same is None else ConstantRow(**vars(same)),
        left_out=left_out(joined, every, index),
    )


def _soft_columns(soft: "SoftAccuracy") -> dict[str, Any]:
    """The fields of a row that hold soft pairwise accuracy."""
    return {
        "soft": SoftRow(**vars(soft)),
        "soft_pairwise_accuracy": soft.accuracy,
        "soft_n_pairs": soft.n_pairs,
        "soft_n_swaps": soft.n_swaps,
        "soft_reason": soft.reason or "",
    }


def _tests(
    names: Sequence[str], target: "Floats", matrices: "Sequence[Floats]", options: Acc23Options
) -> tuple[AccuracyTestRow, ...]:
    """Test every two metrics on the texts that both scored, each at its own epsilon."""
    from itertools import combinations

    import numpy as np

    from core.stats.correlation.systems import accuracy_test
    from core.stats.multiplicity import corrected

    pairs = list(combinations(range(len(names)), 2))
    draws: dict[str, Any] = {"swap": options.swap, "n_resamples": options.n_resamples, "rng": options.rng}
    found = []
    for pair in pairs:
        both = ~np.isnan([matrices[index] for index in pair]).any(axis=0)
        one, other = (np.where(both, matrices[index], np.nan) for index in pair)
        found.append(accuracy_test(target, one, other, **draws))
    return tuple(
        AccuracyTestRow(
            first=names[first],
            second=names[second],
            swap=options.swap,
            p_holm=paid,
            why=test.reason or "",
            **vars(test),
        )
        for (first, second), test, paid in zip(pairs, found, corrected([one.p for one in found]), strict=True)
    )


def _floor_note(tests: Sequence[AccuracyTestRow]) -> tuple[str, ...]:
    """Warn if p_holm cannot reach .05: the numbers of swaps drawn and of items to swap limit it from below."""
    tested = [one for one in tests if one.p is not None]
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
_SWAPPED = {
    "items": "whole items, two-sided",
    "pairs": "single pairs, two-sided, as in WMT23's tables. Pairs of an item share texts, so p is too small",
}


def _notes(found: Accuracies) -> tuple[str, ...]:
    """How accuracies and intervals were made. A calibrated accuracy has the basic bootstrap interval."""
    from core.joining.tables import SYSTEM_MEANS
    from core.results.cells import left_out_notes

    options = found.options
    pairs = " or ".join(
        map(
            str, sorted({one.soft_n_pairs for one in found.metrics if one.soft_pairwise_accuracy is not None})
        )
    )
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
    return (
        f"{_OF_LEVELS if found.of_pairs else _OF_TEXTS} "
        f"Epsilon: {_CALIBRATED if options.epsilon is None else 'as given'}.",
        "Pearson: segment: over all pairs; per item: within each question, averaged."
        if found.of_pairs
        else "Pearson: segment: over all texts; per item: within each item, averaged; system: between systems' means "
        f"({SYSTEM_MEANS[options.system_scores]}). System intervals are too low if systems are close or items few.",
        *(drawn if options.n_resamples else ()),
        *_no_soft_notes({one.metric: one.soft_reason for one in found.metrics}),
        *left_out_notes([(one.metric, one.left_out) for one in found.metrics], "texts"),
        *found.notes[len(found.constants) :],
    )


def _no_soft_notes(reasons: Mapping[str, str]) -> Iterable[str]:
    """Why soft pairwise accuracy is undefined, of all metrics or of those named."""
    from core.tables.reading import shown

    for reason in dict.fromkeys(filter(None, reasons.values())):
        of = [shown(name) for name, own in reasons.items() if own == reason]
        which = "" if len(of) == len(reasons) else f" for {', '.join(of)}"
        yield f"SPA: undefined{which}: {reason}"


def _test_notes(found: Accuracies) -> tuple[str, ...]:
    from core.results.cells import corrected_note

    tests = found.tests or ()
    return (
        f"p: permutation test of {_SWAPPED[found.options.swap]}.",
        *corrected_note("holm", len(tests), "every two metrics"),
        *dict.fromkeys(f"p: undefined: {one.reason}" for one in tests if one.reason),
    )


def _sentences(found: Accuracies) -> tuple[str, ...]:
    from core.tables.reading import shown

    return (f"Metrics against {shown(found.human)}.", *map(Caution, found.constants))


ANALYSIS = Analysis(
    name="acc23",
    title="Accuracy",
    question="Which share of an item's text pairs does a metric order or tie as people do?",
    Options=Acc23Options,
    Result=Accuracies,
    takes=("ratings", "scores"),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    section="statistics#pairwise-accuracy-and-tie-calibration",
    refuses="If scores and ratings share no text.",
    misleads="A calibrated epsilon is fitted to these texts, so the accuracy is slightly too high for others. If people hardly "
    "ever tie, or nearly always, it says more about them than about the metric.",
    example="""
>>> import assay, pandas as pd
>>> pairs = pd.DataFrame({"item_id": [1, 1, 2, 2], "system": ["a", "b"] * 2})
>>> people, metric = pairs.assign(score=[1, 2, 3, 1]), pairs.assign(mine=[0.1, 0.2, 0.1, 0.4])
>>> float(assay.acc23(people, metric, resamples=0).frame["accuracy"][0])
0.5
""",
    tables=(
        Table("accuracy", AccuracyRow, lambda found: found.metrics, "Accuracy", notes=_notes),
        Table(
            "accuracy-tests",
            AccuracyTestRow,
            lambda found: found.tests or None,
            "Differences in accuracy, first minus second",
            notes=_test_notes,
            hidden=lambda found: ("p_holm",) if len(found.tests or ()) < 2 else (),
            asked_by="test",
        ),
    ),
)
