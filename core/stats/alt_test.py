"""Alternative annotator test: may a judge stand in for a rater?

Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify
Replacing Human Annotators with LLMs", ACL 2025, sec. 3. Intervals over items, the human ceiling and power are additions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.multiplicity import corrected, rows_corrected
from core.stats.resampling import (
    Estimate,
    Floats,
    Rng,
    add_jackknife,
    check_confidence_level,
    cluster_sums,
    jackknife_error,
    leave_one_out,
    ratio,
    resampled_estimate,
    unit_clusters,
    why_no_interval,
    wilson_ends,
)

Alignment = Literal["accuracy", "rmse"]
"""How close a label or score is to those of the other raters on one item: the share of equal labels, or minus the root mean
squared distance."""
ALPHA = 0.05
"""False discovery rate over raters, as published."""
PASS_AT = 0.5
"""Smallest winning rate with which a judge passes, as published."""
MOST_EXACT = 13
"""Items up to which the signed-rank test sums over all sign changes."""
FEWEST_FOR_T = 30
"""Items of a rater from which the t-test applies; below it is the signed-rank test."""
MOST_EPSILON = 0.4
"""Largest epsilon of the figure. At 0.5 and more, a judge that is worse on half of the items could still pass."""
TARGET = 0.8
"""Wanted probability to pass in `items_needed`."""
MOST_ITEMS = 10_000
"""Most items that `items_needed` looks at."""
FEWEST_FOR_CEILING = 3
"""Raters from which one can leave and two are left to compare."""
NO_ITEMS = "no item that this rater, another rater and the judge all rated"
TOO_FEW_RATERS = "at least 3 raters are needed: without the rater under test, 2 must be left to compare"
_TOLERANCE = 1e-9
"""Squared distances that differ by less, relative to the item's scores, are equal: they differ by rounding."""
_STORED = 1e-14
"""Relative error of a stored number, with room for the raters of an item."""


@dataclass(frozen=True)
class RaterTest:
    """The test against one rater. H0: the rater is better than the judge on at least epsilon more items than it is worse."""

    n: int
    """Items that the rater, another rater and the judge all rated."""
    n_better: int
    """Items on which the judge is closer to the other raters than this rater is."""
    n_equal: int
    n_worse: int
    advantage: float | None
    """Share of items on which the judge is at least as close: (n_better + n_equal) / n."""
    p: float | None
    """One-sided, unadjusted."""
    p_corrected: float | None
    """Corrected by Benjamini-Yekutieli over the raters."""
    rejected: bool | None
    """Whether the judge wins against the rater: the corrected p is at most alpha."""
    test: Literal["t", "signed-rank", "no variance", ""]
    """How p was computed; `no variance`: all items have one outcome, and p is 0 or 1. Empty: not tested."""
    reason: str | None = None
    """Why there is no test."""

    @property
    def won_unseen(self) -> bool:
        """Whether the judge won on so few items of one outcome that no signed-rank test could have rejected, 2^-n > ALPHA."""
        return bool(self.rejected) and self.test == "no variance" and 0.5**self.n > ALPHA


@dataclass(frozen=True)
class AltTest:
    """Result of the Alt-test for one judge."""

    epsilon: float
    alpha: float
    raters: tuple[RaterTest, ...]
    winning_rate: float | None
    """Share of tested raters against whom the judge wins."""
    advantage: Estimate
    """Mean over raters of their advantage, with an interval over items."""
    reason: str | None = None
    """Why nothing was tested."""

    @property
    def passed(self) -> bool | None:
        """Whether the winning rate is at least one half; None if nothing was tested."""
        return None if self.winning_rate is None else self.winning_rate >= PASS_AT

    @property
    def passed_unseen(self) -> bool:
        """Whether it passed only because of raters with too few items for any test (`RaterTest.won_unseen`)."""
        tested = [one for one in self.raters if one.rejected is not None]
        shown = sum(bool(one.rejected) and not one.won_unseen for one in tested)
        return bool(self.passed) and shown < PASS_AT * len(tested)


def outcomes(judge: ArrayLike, ratings: ArrayLike, alignment: Alignment) -> Floats:
    """Compare the judge with each rater, item by item: -1 judge better, 0 equal, 1 rater better, NaN not comparable.

    judge: shape (n,), NaN where it gave nothing. ratings: shape (n, raters), NaN where a rater gave none. Both leave the
    rater out: the alignment S with the item's other raters is computed for the judge, S(f), and for the rater, S(h). The
    result is W_h - W_f with W_f = 1[S(f) >= S(h)] and W_h = 1[S(h) >= S(f)]; shape (n, raters). An item counts for a
    rater if the rater, another rater and the judge have values.

    Raises ValueError for other shapes, infinite values and an unknown alignment.
    """
    scores, given = np.asarray(judge, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    if given.ndim != 2 or scores.shape != given.shape[:1]:
        raise ValueError(
            f"judge must have shape (n,) and ratings (n, raters), got {scores.shape}, {given.shape}"
        )
    if alignment not in get_args(Alignment):
        raise ValueError(f"alignment must be one of {', '.join(get_args(Alignment))}, got {alignment!r}")
    if np.isinf(scores).any() or np.isinf(given).any():
        raise ValueError("judge and ratings must be finite; what is missing is NaN")
    used = ~np.isnan(given)
    comparable = used & (used.sum(axis=1) > 1)[:, None] & ~np.isnan(scores)[:, None]
    closer = _equal_labels if alignment == "accuracy" else _squared_distances
    gap, smallest = closer(scores, given, used)
    worse = np.where(gap > smallest, 1.0, np.where(gap < -smallest, -1.0, 0.0))
    return np.where(comparable, worse, np.nan)


def _equal_labels(judge: Floats, ratings: Floats, used: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Equal labels among an item's other raters: the rater's number minus the judge's; and what counts as none, by item."""
    of_judge = (ratings == judge[:, None]).astype(np.float64)
    of_rater = np.zeros(ratings.shape)
    for other in range(ratings.shape[1]):
        of_rater += ratings == ratings[:, [other]]
    return (of_rater - used) - (of_judge.sum(axis=1, keepdims=True) - of_judge), np.full(
        (len(ratings), 1), 0.5
    )


def _squared_distances(judge: Floats, ratings: Floats, used: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Sums of squared distances from an item's other raters: the judge's minus the rater's; and what counts as none.

    Each item has a middle and a smallest difference of its own, so that one huge score makes no other item a tie.
    """
    n = used.sum(axis=1, keepdims=True)
    total = np.where(used, ratings, 0.0).sum(axis=1, keepdims=True)
    middle = np.round(total / np.maximum(n, 1))  # whole, so that whole numbers stay exact
    given, own = np.where(used, ratings - middle, 0.0), judge[:, None] - middle
    total, squares = given.sum(axis=1, keepdims=True), (given**2).sum(axis=1, keepdims=True)
    of_rater = n * given**2 - 2 * given * total + squares
    of_judge = n * own**2 - 2 * own * total + squares - (own - given) ** 2
    largest = np.maximum(np.abs(given).max(axis=1, initial=0.0, keepdims=True), np.abs(np.nan_to_num(own)))
    # The second part: how exactly numbers of this size are stored.
    return of_judge - of_rater, _TOLERANCE * largest**2 + _STORED * np.abs(middle) * largest


def counts_of(compared: Floats) -> NDArray[np.int64]:
    """Count the outcomes (n, raters) of each rater: shape (raters, 3), judge better, equal, worse."""
    return np.stack([(compared == value).sum(axis=0) for value in (-1, 0, 1)], axis=-1).astype(np.int64)


def p_values(counts: ArrayLike, epsilon: float) -> Floats:
    """One-sided p-values of H0: mean(W_h - W_f) >= epsilon, from counts (..., 3) of better, equal, worse.

    From FEWEST_FOR_T items on, Student's t-test; below, Wilcoxon's signed-rank test of the differences minus epsilon (by
    scipy's rules: over all sign changes up to MOST_EXACT items, else normal, with corrections for ties and continuity). If all items have one
    outcome, p is 0 where the mean is below epsilon, else 1. NaN without items. Shape (...).

    Misleads below 30 items: the signed-rank test is about a symmetric distribution around epsilon, which differences of
    -1, 0 and 1 do not have.
    """
    from scipy.special import stdtr  # imported lazily: loads slowly

    better, equal, worse = np.moveaxis(np.asarray(counts), -1, 0).astype(np.int64)
    n = better + equal + worse
    mean = ratio((worse - better).astype(np.float64), n.astype(np.float64))
    variance = ratio((better + worse) - n * mean**2, np.maximum(n - 1, 0).astype(np.float64))
    constant = np.maximum(np.maximum(better, equal), worse) == n
    with np.errstate(invalid="ignore", divide="ignore"):
        by_t = stdtr(np.maximum(n - 1, 1), (mean - epsilon) / np.sqrt(variance / n))
    found = np.where(constant, np.where(mean < epsilon, 0.0, 1.0), by_t)
    few = np.asarray((n < FEWEST_FOR_T) & ~constant)
    if few.any():
        triples = zip(better[few].tolist(), equal[few].tolist(), worse[few].tolist(), strict=True)
        found[few] = [_signed_rank(*triple, epsilon) for triple in triples]
    return np.where(n > 0, found, np.nan)


@lru_cache(maxsize=20_000)
def _signed_rank(better: int, equal: int, worse: int, epsilon: float) -> float:
    """P of Wilcoxon's signed-rank test, as scipy.stats.wilcoxon gives it, whose loop over 13 items takes a second."""
    from scipy.stats import rankdata, wilcoxon

    differences = np.repeat([-1.0, 0.0, 1.0], [better, equal, worse]) - epsilon
    if differences.size > MOST_EXACT:
        return float(wilcoxon(differences, alternative="less").pvalue)
    differences = differences[differences != 0]
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)  # ranks of ties end in a half
    chances = np.ones(1)
    for rank in doubled.tolist():  # each sign is positive or negative with probability one half
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return float(chances[: int(doubled[differences > 0].sum()) + 1].sum())


def winning_rates(counts: ArrayLike, epsilon: float, alpha: float = ALPHA) -> Floats:
    """Winning rates for counts (..., raters, 3), shape (...); NaN if no rater was tested.

    The rule of `alt_test` for many panels at once: Benjamini-Yekutieli over the raters with items.
    """
    p = p_values(counts, epsilon)
    paid = rows_corrected(p.reshape(-1, p.shape[-1]), "benjamini-yekutieli").reshape(p.shape)
    wins, tested = (paid <= alpha).sum(axis=-1), (~np.isnan(p)).sum(axis=-1)
    return ratio(wins.astype(np.float64), tested.astype(np.float64))


def alt_test(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    epsilon: float = 0.2,
    alignment: Alignment = "accuracy",
    clusters: ArrayLike | None = None,
    alpha: float = ALPHA,
    confidence_level: float = 0.95,
) -> AltTest:
    """Test whether a judge may stand in for a rater (Calderon, Reichart and Dror 2025, sec. 3).

    judge: shape (n,), NaN where it gave nothing. ratings: shape (n, raters), NaN where missing, at least two raters; labels
    as numbers for accuracy. epsilon: in [0, 1), the price of a rater: how many more items (as a share) the rater may win
    against the judge than the judge against the rater, because the judge is cheaper. clusters: the item of each text,
    shape (n,), the unit of the interval of the advantage; by default each text is an item.

    Each rater in turn is left out and compared with the judge (`outcomes`, `p_values`). Winning rate: share of tested raters
    against whom the judge wins; it passes at PASS_AT. Advantage: mean over raters of the share of items on which the judge
    is at least as close to the others.

    Raises ValueError for fewer than two raters, other shapes, and an epsilon outside [0, 1).

    Misleads if raters disagree for no reason: then any judge near the middle passes. If raters rated few items, passing is
    a matter of their number (`power`), but on one to four items of one outcome the published rule lets the judge win
    without a test (`AltTest.passed_unseen`). With two raters the only other rater is the standard. Texts of one item are
    tested as if independent; the interval counts whole items.
    """
    given = _checked(ratings, epsilon)
    compared = outcomes(judge, given, alignment)
    counts = counts_of(compared)
    known = p_values(counts, epsilon).tolist()
    p: list[float | None] = [None if np.isnan(one) else one for one in known]
    adjusted = corrected(p, "benjamini-yekutieli")
    tests = tuple(map(_rater_test, counts.tolist(), p, adjusted, [alpha] * len(p)))
    tested = [one for one in tests if one.rejected is not None]
    return AltTest(
        epsilon,
        alpha,
        tests,
        sum(bool(one.rejected) for one in tested) / len(tested) if tested else None,
        _advantage(_sums_of(compared), unit_clusters(clusters, len(compared)), confidence_level),
        None if tested else NO_ITEMS,
    )


def _checked(ratings: ArrayLike, epsilon: float) -> Floats:
    given = np.asarray(ratings, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] < 2:
        raise ValueError(f"ratings must have shape (n, raters) with at least two raters, got {given.shape}")
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must lie in [0, 1), got {epsilon!r}")
    return given


def _rater_test(counts: Sequence[int], p: float | None, adjusted: float | None, alpha: float) -> RaterTest:
    better, equal, worse = counts
    n = better + equal + worse
    if p is None or adjusted is None:
        return RaterTest(0, 0, 0, 0, None, None, None, None, "", NO_ITEMS)
    constant = n in counts
    return RaterTest(
        n,
        better,
        equal,
        worse,
        (better + equal) / n,
        p,
        adjusted,
        adjusted <= alpha,
        "no variance" if constant else "t" if n >= FEWEST_FOR_T else "signed-rank",
    )


def _sums_of(compared: Floats) -> Floats:
    """What the advantage is computed from, one row a text: for each rater W_f, then for each whether it counts."""
    used = ~np.isnan(compared)
    return np.hstack([(compared <= 0).astype(np.float64), used.astype(np.float64)])


def _mean_ratio(sums: Floats, panels: int = 1) -> Floats:
    """Mean over panels of the mean over raters of their shares, from sums (..., 2 panels * raters).

    Raters without items are left out, and so are panels without such raters.
    """
    half = sums.shape[-1] // 2
    shares = ratio(sums[..., :half], sums[..., half:]).reshape(*sums.shape[:-1], panels, half // panels)
    return _mean(_mean(shares))


def _mean(values: Floats) -> Floats:
    """Mean over the last axis of what is not NaN; NaN where nothing is left."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))


def _advantage(
    per_text: Floats, clusters: NDArray[np.generic], confidence_level: float, panels: int = 1
) -> Estimate:
    """Estimate the advantage over texts with a comparison, with Wilson's interval over items (`resampling.wilson_ends`).

    A percentile bootstrap covers far too seldom near 1, where advantages lie: see docs/simulations/alt-test.md.
    """
    check_confidence_level(confidence_level)
    sums, n = _cluster_sums(per_text, clusters)

    def statistic(totals: Floats) -> Floats:
        return _mean_ratio(totals, panels)

    observed = float(statistic(sums.sum(axis=0))) if len(sums) else np.nan
    found = _estimate(observed, n, len(per_text), len(sums), confidence_level)
    if found.estimate is None or len(sums) < 2:
        return found
    low, high = wilson_ends(
        observed,
        jackknife_error(leave_one_out(sums, statistic)),
        n_clusters=len(sums),
        most=float(sums[:, sums.shape[1] // 2 :].sum()),
        confidence_level=confidence_level,
    )
    return replace(found, low=low, high=high)


def _cluster_sums(per_text: Floats, clusters: NDArray[np.generic]) -> tuple[Floats, int]:
    """Sums of the items with a comparison, and the number of their texts."""
    some = per_text[:, per_text.shape[1] // 2 :].any(axis=1)
    return cluster_sums(per_text[some], clusters[some]), int(some.sum())


def _estimate(observed: float, n: int, n_texts: int, n_clusters: int, confidence_level: float) -> Estimate:
    """An estimate without an interval yet."""
    undefined = bool(np.isnan(observed))
    return resampled_estimate(
        observed,
        None,
        n=n,
        n_clusters=n_clusters,
        n_left_out=n_texts - n,
        confidence_level=confidence_level,
        reason=NO_ITEMS if undefined else None,
        interval_reason=why_no_interval(observed, n_clusters, 1),
    )


def _gap(
    first: Floats, second: Floats, clusters: NDArray[np.generic], confidence_level: float, panels: int
) -> Estimate:
    """Estimate the first advantage minus the second, with the jackknife's t interval over items."""
    both, half = np.hstack([first, second]), first.shape[1]
    some = first[:, half // 2 :].any(axis=1)
    sums = cluster_sums(both[some], clusters[some])

    def statistic(totals: Floats) -> Floats:
        return _mean_ratio(totals[..., :half], panels) - _mean_ratio(totals[..., half:], panels)

    observed = float(statistic(sums.sum(axis=0))) if len(sums) else np.nan
    found = _estimate(observed, int(some.sum()), len(both), len(sums), confidence_level)
    jackknife = add_jackknife(found, sums, statistic, (-1.0, 1.0))
    return replace(
        found, low=jackknife.low_t, high=jackknife.high_t, interval_reason=jackknife.interval_t_reason
    )


@dataclass(frozen=True)
class Replaced:
    """One rater left the panel, and somebody was tested as the judge against the others."""

    winning_rate: float | None
    advantage: float | None
    passed: bool | None
    n: int
    """Texts that the rater who left and at least two others rated."""
    reason: str | None = None


@dataclass(frozen=True)
class Ceiling:
    """What a rater reaches in the place of the judge, against the others. Means over raters who left the panel."""

    winning_rate: float | None
    advantage: Estimate
    raters: tuple[Replaced, ...]
    """One for each rater who leaves the panel."""
    reason: str | None = None
    """Why it is undefined."""


@dataclass(frozen=True)
class OnReduced:
    """A judge on the same panels and items as the human ceiling, so that the two can be compared."""

    ceiling: Ceiling
    """The judge's numbers in the place of the rater who left."""
    gap: Estimate
    """The judge's advantage minus the ceiling's, on the texts that the judge scored."""


def human_ceiling(
    ratings: ArrayLike,
    *,
    epsilon: float = 0.2,
    alignment: Alignment = "accuracy",
    clusters: ArrayLike | None = None,
    alpha: float = ALPHA,
    confidence_level: float = 0.95,
) -> Ceiling:
    """Test each rater as the judge against the others: what a person reaches under the same rule.

    Parameters as in `alt_test`. Each rater in turn leaves the panel, and the Alt-test is run with this rater's ratings in
    place of the judge's. The winning rate and the advantage are means over the raters. Undefined, with a reason, for fewer
    than three raters. Misleads as a limit: a judge may be above it, because raters' errors count against raters only.
    """
    given = _checked(ratings, epsilon)
    return _replaced(given, given, epsilon, alignment, clusters, alpha, confidence_level)[0]


def reduced_alt_test(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    epsilon: float = 0.2,
    alignment: Alignment = "accuracy",
    clusters: ArrayLike | None = None,
    alpha: float = ALPHA,
    confidence_level: float = 0.95,
) -> OnReduced:
    """Run the judge on the panels of `human_ceiling`: one rater less each, and only the texts that this rater rated.

    On the full panel a judge is compared with one more rater, so its advantage differs from the ceiling's for that alone.
    Parameters as in `alt_test`.
    """
    given = _checked(ratings, epsilon)
    scores = np.asarray(judge, dtype=np.float64)
    in_place = np.where(np.isnan(given), np.nan, scores[:, None])
    people = np.where(np.isnan(scores)[:, None], np.nan, given)
    own, of_judge = _replaced(given, in_place, epsilon, alignment, clusters, alpha, confidence_level)
    _, of_people = _replaced(given, people, epsilon, alignment, clusters, alpha, confidence_level)
    gap = _gap(of_judge, of_people, unit_clusters(clusters, len(given)), confidence_level, given.shape[1])
    if given.shape[1] < FEWEST_FOR_CEILING:
        gap = replace(gap, estimate=None, low=None, high=None, reason=TOO_FEW_RATERS)
    return OnReduced(own, gap)


def _replaced(
    ratings: Floats,
    in_place: Floats,
    epsilon: float,
    alignment: Alignment,
    clusters: ArrayLike | None,
    alpha: float,
    confidence_level: float,
) -> tuple[Ceiling, Floats]:
    """Test column r of `in_place` against the raters without r, for each r; also the texts' sums behind the advantage."""
    n, raters = ratings.shape
    labels = unit_clusters(clusters, n)
    compared = [
        outcomes(in_place[:, rater], np.delete(ratings, rater, axis=1), alignment) for rater in range(raters)
    ]
    sums = [_sums_of(one) for one in compared]
    # First all comparisons' W_f, then all their counts, as `_mean_ratio` reads them.
    per_text = np.hstack([*(one[:, : raters - 1] for one in sums), *(one[:, raters - 1 :] for one in sums)])
    if raters < FEWEST_FOR_CEILING:
        nothing = replace(_estimate(np.nan, 0, n, 0, confidence_level), reason=TOO_FEW_RATERS)
        return Ceiling(None, nothing, (), TOO_FEW_RATERS), per_text
    rates = winning_rates(np.stack([counts_of(one) for one in compared]), epsilon, alpha)
    each = tuple(
        Replaced(
            None if np.isnan(rate) else float(rate),
            None if np.isnan(rate) else float(_mean_ratio(own.sum(axis=0))),
            None if np.isnan(rate) else bool(rate >= PASS_AT),
            int((~np.isnan(one)).any(axis=1).sum()),
            NO_ITEMS if np.isnan(rate) else None,
        )
        for rate, own, one in zip(rates, sums, compared, strict=True)
    )
    known = rates[~np.isnan(rates)]
    advantage = _advantage(per_text, labels, confidence_level, raters)
    rate = float(known.mean()) if known.size else None
    return Ceiling(rate, advantage, each, None if known.size else NO_ITEMS), per_text


@dataclass(frozen=True)
class Sweep:
    """Winning rates of a judge for many epsilons."""

    epsilons: tuple[float, ...]
    winning_rates: tuple[float | None, ...]
    passes_from: float | None
    """Smallest epsilon from which the judge passes at every larger one; None: at none of them."""


def epsilon_sweep(
    judge: ArrayLike, ratings: ArrayLike, *, alignment: Alignment = "accuracy", alpha: float = ALPHA
) -> Sweep:
    """Winning rate for every epsilon from 0 to MOST_EPSILON in steps of 0.01: what price of a rater the verdict needs.

    Misleads if epsilon is chosen from it: choose epsilon from the cost of raters, before looking.
    """
    given = _checked(ratings, 0.0)
    counts = counts_of(outcomes(judge, given, alignment))
    epsilons = tuple(round(step / 100, 2) for step in range(int(100 * MOST_EPSILON) + 1))
    rates = [float(winning_rates(counts, epsilon, alpha)) for epsilon in epsilons]
    fails = [place for place, rate in enumerate(rates) if not rate >= PASS_AT]
    first = fails[-1] + 1 if fails else 0
    return Sweep(
        epsilons,
        tuple(None if np.isnan(rate) else rate for rate in rates),
        epsilons[first] if first < len(epsilons) else None,
    )


@dataclass(frozen=True)
class Power:
    """Probability to pass with other numbers of items."""

    advantage: float | None
    """The advantage for which it holds: the observed one, or the stated one."""
    items: tuple[int, ...]
    power: tuple[float | None, ...]
    """One for each number of items."""
    items_needed: int | None
    """Smallest number of items with a power of at least TARGET."""
    reason: str | None = None
    """Why there is no number of items, or no power."""


_GRID = (
    10,
    15,
    20,
    30,
    40,
    50,
    75,
    100,
    150,
    200,
    300,
    500,
    750,
    1_000,
    1_500,
    2_000,
    3_000,
    5_000,
    MOST_ITEMS,
)


def power(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    items: Sequence[int] = (30, 50, 100, 200),
    advantage: float | None = None,
    epsilon: float = 0.2,
    alignment: Alignment = "accuracy",
    clusters: ArrayLike | None = None,
    alpha: float = ALPHA,
    n_resamples: int = 1_000,
    rng: Rng = 0,
) -> Power:
    """Probability that a judge passes with n items, and the number of items needed for a probability of TARGET.

    Items are drawn with replacement from the observed ones, so that raters who err together still do, and each draw
    is tested as in `alt_test`. advantage: in (0, 1), the advantage to suppose instead of the observed one: items are then
    drawn with probabilities proportional to exp(c w), where w is an item's mean share of raters that the judge is at
    least as close as, and c is chosen so that the expected advantage is the stated one (exponential tilting). The number needed
    is interpolated between the sizes of a grid. Standard error of a power: at most 0.5 / sqrt(n_resamples).

    Undefined if the stated advantage is outside the range of the observed items. Misleads with few observed items, whose mix it
    projects: it is a plan, not evidence. n is the number of items of the whole study; a rater who rated a part of the
    items gets the same part of the new ones.
    """
    given = _checked(ratings, epsilon)
    compared = outcomes(judge, given, alignment)
    labels = unit_clusters(clusters, len(given))
    used = (~np.isnan(compared)).any(axis=1)
    flags = np.stack([compared[used] == value for value in (-1, 0, 1)], axis=-1).astype(np.float64)
    sums = cluster_sums(flags.reshape(len(flags), 3 * given.shape[1]), labels[used])
    distinct, multiplicity = np.unique(sums, axis=0, return_counts=True)
    if not len(distinct):
        return Power(advantage, tuple(items), (None,) * len(items), None, NO_ITEMS)
    per_rater = distinct.reshape(len(distinct), -1, 3)
    shares = multiplicity / multiplicity.sum()
    observed = _expected_advantage(per_rater, shares)
    if advantage is not None:
        tilted = _tilted(per_rater, shares, advantage)
        if tilted is None:
            why = "no weights of the observed items have this advantage"
            return Power(advantage, tuple(items), (None,) * len(items), None, why)
        shares = tilted
    generator = np.random.default_rng(rng)

    def at(n: int) -> float:
        drawn = generator.multinomial(n, shares, size=n_resamples).astype(np.float64) @ distinct
        counts = drawn.reshape(n_resamples, -1, 3).round().astype(np.int64)
        return float((winning_rates(counts, epsilon, alpha) >= PASS_AT).mean())

    found = tuple(at(n) for n in items)
    needed, reason, before = None, f"not reached with {MOST_ITEMS:,} items", (0, 0.0)
    for n in _GRID:
        reached = at(n)
        if reached >= TARGET:
            share = (TARGET - before[1]) / (reached - before[1]) if reached > before[1] else 1.0
            needed = max(2, int(np.ceil(before[0] + share * (n - before[0])))) if before[0] else n
            break
        before = (n, reached)
    return Power(
        observed if advantage is None else advantage, tuple(items), found, needed, None if needed else reason
    )


def _expected_advantage(per_rater: Floats, shares: Floats) -> float:
    """Advantage of clusters drawn with these shares; per_rater: outcomes (clusters, raters, 3)."""
    totals = np.tensordot(shares, per_rater, axes=1)
    return float(_mean(ratio(totals[:, 0] + totals[:, 1], totals.sum(axis=-1))))


def _tilted(per_rater: Floats, shares: Floats, advantage: float) -> Floats | None:
    """Shares tilted so that the expected advantage is the given one; None if no tilt reaches it."""
    from scipy.optimize import brentq

    ties = ratio(per_rater[..., 0] + per_rater[..., 1], per_rater.sum(axis=-1))
    better = _mean(ties)

    def with_tilt(tilt: float) -> Floats:
        exponent = np.log(shares) + tilt * better
        weights = np.exp(exponent - exponent.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def error(tilt: float) -> float:
        return _expected_advantage(per_rater, with_tilt(tilt)) - advantage

    if not error(-500.0) < 0 < error(500.0):
        return None
    return with_tilt(float(brentq(error, -500.0, 500.0)))
