"""How far a judge's values move where people's do: its covariance with a rater over that of two raters."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.in_place import HALF_AN_ITEM, NOTHING_VARIES
from core.stats.resampling import (
    Estimate,
    Floats,
    check_confidence_level,
    jackknife_influence,
    numbered,
    ratio,
    resampled_estimate,
    unit_clusters,
    unit_weights,
)

FEWEST_MEANS = 10
"""Groups, such as systems or periods, from which their means are compared in place of texts."""
NO_INTERVAL = "the raters' own covariance is not shown to be above 0"


@dataclass(frozen=True)
class Sides:
    """One-sided p-values of a number beside a limit; None where nothing varies."""

    above: float | None
    """Small where the number is shown to lie above the limit."""
    below: float | None


@dataclass(frozen=True)
class Responsiveness:
    """By how much the judge moves where people move by 1."""

    estimate: Estimate
    """The ratio of the two covariances, with Fieller's interval: the limits that the linear tests do not reject."""
    judge: float | None
    """Mean covariance of the judge with a rater."""
    people: float | None
    """Mean covariance of two raters; with one rater the variance of the ratings."""
    of_one_rater: bool
    """Whether no text has two raters: noise of the rater is then in `people`, so that `found` is at most the responsiveness."""
    of_groups: bool
    """Whether means of groups were compared, not texts."""
    people_move: float | None
    """p of the raters' own covariance not being above 0."""
    least: Sides
    most: Sides


def responsiveness(
    judge: ArrayLike,
    votes: ArrayLike,
    *,
    least: float,
    most: float,
    clusters: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.9,
) -> Responsiveness:
    """Mean covariance of judge and rater over that of two raters, with tests against two limits.

    judge: shape (n,); votes: shape (n, raters), numbers on one scale; NaN for none. If errors of judge and raters are
    independent given the quality, this is the slope of the judge on the quality that raters see, whatever their noise
    (Barnett 1969, Biometrics 25:129). A slope of people on the judge is another number: noise of the judge lowers it.

    Every two raters count with the texts that both rated, centred there, so that severe and lenient raters change nothing;
    pairs with a single text count together. groups: shape (n,), such as the system. Where two raters share FEWEST_MEANS of
    them or more, the means of groups are compared, and groups are the clusters. Tests are linear: judge - limit x people
    against 0, t over clusters by the jackknife. With one rater, the rater's variance stands for the covariance: the ratio
    is then too low by the share of the rater's noise.

    Misleads where raters err together: what they share then counts as quality.
    """
    check_confidence_level(confidence_level)
    said, given = np.asarray(judge, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    texts, labels = unit_weights(weights, said.size), numbered(unit_clusters(clusters, said.size))
    given = np.where(np.isnan(said)[:, None], np.nan, given)
    one_rater = not ((~np.isnan(given)).sum(axis=1) > 1).any()
    blocks = list(_blocks(said, given, texts, labels, one_rater))
    of_groups = False
    if groups is not None:
        means = [_means(one, numbered(groups)) for one in blocks]
        means = [one for one in means if one.labels.size >= FEWEST_MEANS]
        of_groups = bool(means)
        blocks = means or blocks
    total, without, n = _moments(blocks)
    judged, people = (float(one) for one in ratio(total[1:], total[[0, 0]]))
    found = resampled_estimate(
        judged / people if people > 0 else np.nan,
        None,
        n=n,
        n_clusters=len(without),
        confidence_level=confidence_level,
        reason=None if people > 0 else NOTHING_VARIES,
        interval_reason=NO_INTERVAL,
    )
    nothing = Sides(None, None)
    result = Responsiveness(
        found, _plain(judged), _plain(people), one_rater, of_groups, None, nothing, nothing
    )
    if len(without) < 2 or np.isnan(people):
        return result
    moved = ratio(without[:, 1:], without[:, [0, 0]])
    if np.isnan(moved).any():
        return result
    spread = _spread(moved, whole=not of_groups)
    sides = [
        _sides(judged - limit * people, float(v @ spread @ v), len(moved))
        for limit in (least, most)
        for v in [np.array([1.0, -limit])]
    ]
    low, high = _fieller(judged, people, spread, len(moved), confidence_level)
    return replace(
        result,
        estimate=replace(found, low=low, high=high, interval_reason=None if low is not None else NO_INTERVAL),
        people_move=_sides(people, spread[1, 1], len(moved)).above,
        least=sides[0],
        most=sides[1],
    )


@dataclass(frozen=True)
class _Block:
    """Texts, or means of groups, of two raters and the judge. Arrays have shape (rows,)."""

    judge: Floats
    first: Floats
    second: Floats
    weights: Floats
    labels: NDArray[np.intp]
    """Cluster of each row."""
    rows: NDArray[np.intp]
    """Text of each row; empty for means."""


def _blocks(
    judge: Floats, votes: Floats, weights: Floats, labels: NDArray[np.intp], one_rater: bool
) -> Iterator[_Block]:
    """The texts of every two raters; of one rater with itself, where no text has two. Pairs of one text come together."""
    known, single = ~np.isnan(votes), []
    n = votes.shape[1]
    for i, j in [(at, at) for at in range(n)] if one_rater else combinations(range(n), 2):
        rows = np.flatnonzero(known[:, i] & known[:, j])
        if rows.size > 1:
            yield _Block(judge[rows], votes[rows, i], votes[rows, j], weights[rows], labels[rows], rows)
        elif rows.size:
            single.append((int(rows[0]), i, j))
    if single:
        rows, first, second = (np.array(one, dtype=np.intp) for one in zip(*single, strict=True))
        both = np.concatenate([rows, rows])
        yield _Block(
            judge[both],
            np.concatenate([votes[rows, first], votes[rows, second]]),
            np.concatenate([votes[rows, second], votes[rows, first]]),
            weights[both] / 2,
            labels[both],
            both,
        )


def _means(block: _Block, groups: NDArray[np.intp]) -> _Block:
    """The means of each group in the block's texts; every group counts alike."""
    names, at = np.unique(groups[block.rows], return_inverse=True)
    counts = np.bincount(at, block.weights)
    judge, first, second = (
        np.bincount(at, block.weights * one) / counts for one in (block.judge, block.first, block.second)
    )
    return _Block(judge, first, second, np.ones(names.size), names, np.empty(0, dtype=np.intp))


def _moments(blocks: list[_Block]) -> tuple[Floats, Floats, int]:
    """Degrees of freedom and sums of products (judge with rater, rater with rater): of all, without each cluster; rows.

    A covariance is the sum over the degrees of freedom, of which a block has its rows - 1, so that small blocks do not bias it.
    """
    used = np.unique(np.concatenate([one.labels for one in blocks])) if blocks else np.empty(0, dtype=np.intp)
    total, change = np.zeros(3), np.zeros((used.size, 3))
    for one in blocks:
        k, i, j = (side - side.mean() for side in (one.judge, one.first, one.second))
        clusters, at = np.unique(one.labels, return_inverse=True)
        columns = (one.weights, np.ones(k.size), i, j, k, i * j, k * i, k * j)
        sums = np.column_stack([np.bincount(at, one.weights * column) for column in columns])
        whole = _products(sums.sum(axis=0))
        total += whole
        change[np.searchsorted(used, clusters)] += _products(sums.sum(axis=0) - sums) - whole
    return total, total + change, sum(one.judge.size for one in blocks)


def _products(sums: Floats) -> Floats:
    """Degrees of freedom, and centred sums of products of judge with rater and of two raters, from sums of products."""
    squares, n, i, j, k, ij, ki, kj = np.moveaxis(sums, -1, 0)
    there = n > 1e-9

    def centred(product: Floats, one: Floats, other: Floats) -> Floats:
        return np.where(there, product - ratio(one * other, n), 0.0)

    judged = (centred(ki, k, i) + centred(kj, k, j)) / 2
    return np.stack([centred(n, squares, np.ones_like(n)), judged, centred(ij, i, j)], axis=-1)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else value


def _spread(without: Floats, *, whole: bool) -> Floats:
    """Jackknife variances of the two covariances, from their values without each cluster.

    whole: whether half a cluster is added in which the judge misses what moves people most. A judge that happens to miss
    none of a few rare texts would otherwise vary too little.
    """
    moved = jackknife_influence(without)
    found = len(without) / (len(without) - 1) * moved.T @ moved
    if whole:
        found[0, 0] += HALF_AN_ITEM * float(np.abs(moved[:, 1]).max()) ** 2
    return found


def _sides(value: float, variance: float, n: int) -> Sides:
    """Tests of a number against 0, by t over n clusters."""
    if variance <= 1e-24:
        return Sides(None, None)
    from scipy.special import stdtr  # imported lazily: most commands need no quantile

    t = value / variance**0.5
    return Sides(float(stdtr(n - 1, -t)), float(stdtr(n - 1, t)))


def _fieller(
    judged: float, people: float, spread: Floats, n: int, confidence_level: float
) -> tuple[float | None, float | None]:
    """The ratios r for which judged - r people is within t errors of 0 (Fieller 1954); none where people may be 0."""
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    t = float(stdtrit(n - 1, (1 + confidence_level) / 2))
    a = people**2 - t**2 * spread[1, 1]
    b = judged * people - t**2 * spread[0, 1]
    c = judged**2 - t**2 * spread[0, 0]
    if people <= 0 or a <= 0 or b * b < a * c:
        return None, None
    reach = np.sqrt(b * b - a * c)
    return float((b - reach) / a), float((b + reach) / a)
