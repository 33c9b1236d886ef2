"""Two metrics compared: the difference of their correlations with one target, its interval and its test."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.stats.correlation.coefficients import (
    Method,
    column,
    is_constant,
    pair_coefficient,
    pair_reason,
    resample_columns,
    row_coefficients,
    standard,
)
from core.stats.correlation.groups import item_coefficients, partial_statistic
from core.stats.correlation.intervals import PairedTest, complete_rows, n_reached, permutation_test
from core.stats.correlation.systems import means_of, resampled_statistics, signs_flipped, system_sums
from core.stats.degeneracy import tied
from core.stats.resampling import (
    NO_RESAMPLES,
    Estimate,
    Floats,
    Rng,
    Statistic,
    block_sizes,
    check_confidence_level,
    draw_counts,
    numbered,
    resampled_estimate,
    resamples_at_once,
    why_no_interval,
)

Compared = Literal["pooled", "per_item", "per_system", "given_system"]
"""Coefficients to compare: over all rows, within items and averaged, between systems' means, or controlling for system."""


@dataclass(frozen=True)
class Difference:
    """Two coefficients with one target on the same rows, and first minus second."""

    first: Estimate
    second: Estimate
    difference: Estimate
    test: PairedTest
    """Two-sided, with the same difference."""


def difference(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    method: Method,
    *,
    of: Compared = "pooled",
    items: ArrayLike | None = None,
    systems: ArrayLike | None = None,
    paired: bool = True,
    n_swaps: int = 1_000,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
    names: tuple[str, str] = ("scores", "levels"),
) -> Difference:
    """Compare the correlations of two metrics x1 and x2 with y (all (n,)) on the rows that both scored.

    Interval: percentile bootstrap over items (None: over rows) that draws the same items for both metrics, so that what is
    hard for both cancels: Koehn's paired bootstrap (2004, EMNLP) with the resampling of Deutsch et al. (2021, TACL 9:1132,
    BOOT-INPUTS). The three intervals use the same resamples. A resample in which a coefficient is undefined is dropped and
    counted.

    p, two-sided: whole items are swapped between the metrics with probability 1/2, `n_swaps` times. Pooled: standardised
    scores (`permutation_test`); given the system, the same. Per system: these scores, then the systems' means
    (PERM-INPUTS). Per item: an item's two coefficients.

    of, systems, paired: `per_system` and `given_system` (`groups.partial`) need the system of each row; if not paired, rows have scores or a target, see
    `system_correlation`. `n` counts rows, per system systems; `n_left_out` rows, items or systems. Misleads: the interval is too
    narrow below about 30 items, and per system the systems are fixed, so it does not cover other systems; few systems
    give coefficients of a few values.
    """
    check_confidence_level(confidence_level)
    seed = rng if isinstance(rng, int) else int(rng.integers(2**63))
    drawing = _Drawing(n_swaps, n_resamples, confidence_level, seed, names)
    if of in ("per_system", "given_system"):
        if systems is None:
            raise ValueError(f"{of} needs the system of each row")
        if of == "given_system":
            return _given_systems(x1, x2, y, systems, items, method, drawing)
        return _system_difference(x1, x2, y, systems, items, paired, method, drawing)
    compare = _pooled if of == "pooled" else _item_difference
    return compare(x1, x2, y, items, method, drawing)


def differences_between(
    coefficients: Floats, values: Floats | None, *, n: int, n_clusters: int, confidence_level: float
) -> dict[tuple[int, int], Estimate]:
    """The difference of every two of several coefficients on the same rows: (i, j) -> i minus j, for i before j.

    coefficients: shape (m,), defined. values: shape (m, n_resamples), each coefficient in the same resamples; None: no
    intervals, for lack of resamples or clusters.
    """
    reason = None if values is not None else why_no_interval(0.0, n_clusters, 0)
    return {
        (i, j): resampled_estimate(
            float(coefficients[i] - coefficients[j]),
            None if values is None else values[i] - values[j],
            n=n,
            n_clusters=n_clusters,
            confidence_level=confidence_level,
            interval_reason=reason,
        )
        for i, j in combinations(range(len(coefficients)), 2)
    }


@dataclass(frozen=True)
class _Drawing:
    """Options of the intervals and the test."""

    n_swaps: int
    n_resamples: int
    confidence_level: float
    seed: int
    names: tuple[str, str]

    def compared(
        self,
        observed: tuple[float, float],
        reasons: tuple[str | None, str | None],
        values: Callable[[], tuple[Floats, Floats]],
        test: PairedTest,
        *,
        n: int,
        n_clusters: int,
        n_left_out: int,
    ) -> Difference:
        """Both estimates and their difference. values: both coefficients in every resample; called only if defined."""
        why = why_no_interval(observed[0] - observed[1], n_clusters, self.n_resamples)
        drawn = None if why else values()
        named = [
            reason and f"{which} metric: {reason}"
            for which, reason in zip(("first", "second"), reasons, strict=True)
        ]

        def estimate(value: float, own: Floats | None, reason: str | None) -> Estimate:
            return resampled_estimate(
                value,
                own,
                n=n,
                n_clusters=n_clusters,
                confidence_level=self.confidence_level,
                reason=reason,
                interval_reason=why,
                n_left_out=n_left_out,
            )

        of_each = [
            estimate(value, None if drawn is None else drawn[side], reasons[side])
            for side, value in enumerate(observed)
        ]
        between = estimate(
            observed[0] - observed[1], None if drawn is None else drawn[0] - drawn[1], named[0] or named[1]
        )
        return Difference(of_each[0], of_each[1], between, test)

    def tested(
        self,
        observed: float,
        differences: Callable[[np.random.Generator], Floats],
        *,
        n: int,
        n_units: int,
        n_left_out: int,
    ) -> PairedTest:
        """The two-sided test with these differences after swaps; observed: NaN if undefined."""
        if np.isnan(observed):
            return PairedTest(None, None, n, 0, 0, "a coefficient is undefined", n_left_out)
        if self.n_swaps == 0:
            return PairedTest(observed, None, n, n_units, 0, NO_RESAMPLES, n_left_out)
        as_large = n_reached(differences(np.random.default_rng(self.seed)), observed, "two-sided")
        return PairedTest(
            observed, (1 + as_large) / (1 + self.n_swaps), n, n_units, self.n_swaps, None, n_left_out
        )


def _pooled(
    x1: ArrayLike, x2: ArrayLike, y: ArrayLike, items: ArrayLike | None, method: Method, drawing: _Drawing
) -> Difference:
    first, second, target, unit, n_given = complete_rows(x1, x2, y, items)
    n_units = int(unit.max(initial=-1)) + 1

    def values() -> tuple[Floats, Floats]:
        found = resample_columns(
            np.column_stack([first, second]),
            target,
            unit,
            n_units,
            (method,),
            n_resamples=drawing.n_resamples,
            seed=drawing.seed,
        )
        return found[method][0], found[method][1]

    test = permutation_test(
        first,
        second,
        target,
        method,
        items=unit,
        n_resamples=drawing.n_swaps,
        rng=drawing.seed,
        names=drawing.names,
    )
    return drawing.compared(
        (pair_coefficient(first, target, method), pair_coefficient(second, target, method)),
        (pair_reason(first, target, drawing.names), pair_reason(second, target, drawing.names)),
        values,
        test,
        n=target.size,
        n_clusters=n_units,
        n_left_out=n_given - target.size,
    )


def _item_difference(
    x1: ArrayLike, x2: ArrayLike, y: ArrayLike, items: ArrayLike | None, method: Method, drawing: _Drawing
) -> Difference:
    first, second, target, unit, _ = complete_rows(x1, x2, y, items)
    (of_first, rows), (of_second, _) = (
        item_coefficients(one, target, unit, method) for one in (first, second)
    )
    used = ~(np.isnan(of_first) | np.isnan(of_second))
    both, n = np.array([of_first[used], of_second[used]]), int(rows[used].sum())
    n_used, n_left_out = both.shape[1], int((~used).sum())
    observed = tuple(both.mean(axis=1).tolist()) if n_used else (np.nan, np.nan)
    apart = both[0] - both[1]
    reason = None if n_used else "undefined within every item"

    def values() -> tuple[Floats, Floats]:
        drawn = draw_counts(n_used, drawing.n_resamples, resamples_at_once(n_used), drawing.seed)
        found = np.concatenate([both @ counts / n_used for counts in drawn], axis=1)
        return found[0], found[1]

    return drawing.compared(
        (observed[0], observed[1]),
        (reason, reason),
        values,
        drawing.tested(
            observed[0] - observed[1],
            lambda generator: signs_flipped(apart, drawing.n_swaps, generator),
            n=n,
            n_units=n_used,
            n_left_out=n_left_out,
        ),
        n=n,
        n_clusters=n_used,
        n_left_out=n_left_out,
    )


def _system_difference(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    items: ArrayLike | None,
    paired: bool,
    method: Method,
    drawing: _Drawing,
) -> Difference:
    both = np.array([column(x1), column(x2)])
    scores = np.where(np.isnan(both).any(axis=0), np.nan, both)
    units = np.arange(scores.shape[1]) if items is None else np.asarray(items)
    sides = [system_sums(one, y, systems, units, paired) for one in scores]
    n_units, n_systems = len(sides[0].sums), sides[0].systems.size
    means = [means_of(side.sums.sum(axis=0)[None])[:, 0] for side in sides]
    names = ("mean scores", "mean ratings")
    observed = [float(row_coefficients(own[:1], own[1:], method)[0]) for own in means]
    reasons = [pair_reason(own[0], own[1], names, "systems") for own in means]

    def values() -> tuple[Floats, Floats]:
        one, other = (
            resampled_statistics((method,), side.sums, drawing.n_resamples, drawing.seed)[method]
            for side in sides
        )
        return one, other

    def swapped(generator: np.random.Generator) -> Floats:
        # Standardised, so that swapped scores have one scale.
        alike = [system_sums(_standardised(one), y, systems, units, paired) for one in scores]
        totals = [side.sums[:, 2] * side.scales[0] for side in alike]
        n_rows, target = sides[0].sums[:, 0].sum(axis=0), means[0][1]
        blocks = []
        for size in block_sizes(drawing.n_swaps, resamples_at_once(n_units)):
            stays = generator.integers(0, 2, size=(size, n_units)).astype(np.float64)
            mixed = (
                tied((weights @ totals[0] + (1 - weights) @ totals[1]) / n_rows)
                for weights in (stays, 1 - stays)
            )
            one, other = (row_coefficients(own, np.tile(target, (size, 1)), method) for own in mixed)
            blocks.append(one - other)
        return np.concatenate(blocks)

    n_left_out = sides[0].n_left_out
    return drawing.compared(
        (observed[0], observed[1]),
        (reasons[0], reasons[1]),
        values,
        drawing.tested(
            observed[0] - observed[1], swapped, n=n_systems, n_units=n_units, n_left_out=n_left_out
        ),
        n=n_systems,
        n_clusters=n_units,
        n_left_out=n_left_out,
    )


def _given_systems(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    items: ArrayLike | None,
    method: Method,
    drawing: _Drawing,
) -> Difference:
    first, second, target, unit, n_given = complete_rows(x1, x2, y, items)
    known = ~np.isnan([column(one) for one in (x1, x2, y)]).any(axis=0)
    system, n_units = numbered(np.asarray(systems)[known]), int(unit.max(initial=-1)) + 1
    one, other = (
        partial_statistic(scores, target, system, unit, n_units, method, drawing.names)
        for scores in (first, second)
    )

    def of_counts(
        prepared: tuple[Statistic | None, Statistic | None], counts: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        found = [
            np.empty(0) if each is None else each(own) for each, own in zip(prepared, counts, strict=True)
        ]
        return found[0], found[1]

    def values() -> tuple[Floats, Floats]:
        drawn = draw_counts(n_units, drawing.n_resamples, one.together, drawing.seed)
        parts = [of_counts((one.statistic, other.statistic), (counts, counts)) for counts in drawn]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def swapped(generator: np.random.Generator) -> Floats:
        # As in `permutation_test`: a swapped metric is a weighting of the scores of both.
        both = partial_statistic(
            np.concatenate([_standardised(first), _standardised(second)]),
            np.tile(target, 2),
            np.tile(system, 2),
            np.concatenate([unit, unit + n_units]),
            2 * n_units,
            method,
        )
        blocks = []
        for size in block_sizes(drawing.n_swaps, both.together):
            stays = generator.integers(0, 2, size=(size, n_units)).T.astype(np.float64)
            counts = np.concatenate([stays, 1 - stays]), np.concatenate([1 - stays, stays])
            mixed = of_counts((both.statistic, both.statistic), counts)
            blocks.append(mixed[0] - mixed[1])
        return np.concatenate(blocks)

    n_left_out = n_given - target.size
    return drawing.compared(
        (one.observed, other.observed),
        (one.reason, other.reason),
        values,
        drawing.tested(
            one.observed - other.observed, swapped, n=target.size, n_units=n_units, n_left_out=n_left_out
        ),
        n=target.size,
        n_clusters=n_units,
        n_left_out=n_left_out,
    )


def _standardised(scores: Floats) -> Floats:
    """Scores minus their mean, divided by their standard deviation, over all rows; NaN stays."""
    known = ~np.isnan(scores)
    found = scores.copy()
    if known.any() and not is_constant(scores[known], axis=0):
        centred = standard(scores[known], axis=0)
        found[known] = centred / centred.std()
    return found
