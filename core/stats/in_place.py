"""A judge in the place of each rater in turn, on the same texts: the errors by class, the share of people's own value that it keeps, agreement by distance."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats import agreement
from core.stats.resampling import (
    Estimate,
    Floats,
    check_confidence_level,
    jackknife_ends,
    jackknife_influence,
    leave_one_out,
    mean_share,
    numbered,
    ratio,
    resampled_estimate,
    unit_clusters,
    unit_weights,
    why_no_interval,
)

FEWEST_OF_A_PAIR = 30
"""Texts that two raters share, below which their texts are pooled with those of other such pairs, as "another rater"."""
HALF_AN_ITEM = 0.5
"""Part of an item by which a design effect is made safe; simulated: docs/simulations/verdict.md, items of many rows."""
NO_PLACES = "no text of this class has a rater beside others who agree on it"
NO_PAIRS = "no text was rated by two raters and the judge"
NOTHING_VARIES = "the raters do not vary together: there is nothing to keep"
NOTHING_ABOVE_CHANCE = "two raters agree no more than by chance: there is nothing to keep"


@dataclass(frozen=True)
class ClassErrors:
    """How often a judge, and the raters in its place, give another class than the other raters do. Shares in [0, 1]."""

    judge: Estimate
    """Share of the places of this class that the judge gives another one, or no score; Wilson's interval over items."""
    people: Estimate
    """The same of the rater whose place it is."""
    difference: Estimate
    """The judge's share minus the people's, in [-1, 1]; `n` counts texts, `n_clusters` items of the class."""
    n_effective: float
    """Paired texts that the test counts: the sum of weights, over the design effect."""
    below: float | None
    """p of the difference being at least the margin: small where the judge is shown to stay within it."""
    above: float | None
    """p of the difference being at most the margin: small where the judge is shown to exceed it."""
    influence: Floats
    """What each item moves the difference, shape (items of the class,); they sum to 0."""
    items: NDArray[np.intp]
    """Number of the item (in the order of sorted labels) of each influence value."""


def class_errors(
    judge: ArrayLike,
    votes: ArrayLike,
    *,
    margin: float,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.9,
) -> ClassErrors:
    """Errors on one class of the raters: of the judge, of a rater in its place, and whether they differ by the margin.

    judge: shape (n,), 1 where the judge gives the class, 0 where another one, NaN where it says nothing, which counts as an
    error. votes: shape (n, raters), the same of people; NaN for no vote. For a rater of a text the reference is the strict
    majority of the other raters; where they tie, the place does not count. Each place weighs 1 / raters of the text, times
    the text's weight (for texts drawn with known probabilities). clusters: shape (n,), the item of each text.

    Test and interval: Tango's score test for paired shares (1998, Statistics in Medicine 17:891) on b = sum of max(x, 0),
    c = sum of max(-x, 0), N = sum of d, where d is the weight of a text's places of the class and x the same times (judge
    errs - rater errs); from three raters on all three times sum d / sum d^2. Z is divided by the root of the design effect
    over items (at least 1) and compared with t of (items of the class - 1) degrees of freedom (after Yang, Sun and Hardin
    2012, Computational Statistics and Data Analysis 56:1301).

    Misleads where raters err together: the reference is then wrong with them, and a judge that shares their error looks right.
    """
    check_confidence_level(confidence_level)
    said, given = np.asarray(judge, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    texts = unit_weights(weights, said.size)
    labels = numbered(unit_clusters(clusters, said.size))
    n_raters = (~np.isnan(given)).sum(axis=1)
    others = np.nansum(given, axis=1)[:, None] - given  # NaN where the rater gave no vote
    of_class = 2 * others > (n_raters - 1)[:, None]
    place = of_class / np.maximum(n_raters, 1)[:, None]
    wrong = np.where(np.isnan(said), 1.0, 1.0 - said)
    alone = place.sum(axis=1)
    d, e_judge = alone * texts, wrong * alone * texts
    e_people = (place * (1.0 - np.nan_to_num(given))).sum(axis=1) * texts
    kept = d > 0
    return _place_errors(
        d[kept],
        alone[kept],
        e_judge[kept],
        e_people[kept],
        labels[kept],
        margin,
        confidence_level,
        scaled=bool((n_raters[kept] > 2).any()),
        n_left_out=int((~kept).sum()),
    )


def _place_errors(
    d: Floats,
    alone: Floats,
    e_judge: Floats,
    e_people: Floats,
    labels: NDArray[np.intp],
    margin: float,
    confidence_level: float,
    *,
    scaled: bool,
    n_left_out: int,
) -> ClassErrors:
    x, total = e_judge - e_people, float(d.sum())
    items, index = np.unique(labels, return_inverse=True)
    gap = float(x.sum() / total) if total else np.nan
    found = resampled_estimate(
        gap,
        None,
        n=d.size,
        n_clusters=items.size,
        confidence_level=confidence_level,
        reason=None if total else NO_PLACES,
        interval_reason=None if items.size > 1 else "fewer than two items of this class",
        n_left_out=n_left_out,
    )
    residual = x - gap * d
    by_item: Floats = np.bincount(index, residual, items.size).astype(np.float64) if total else np.empty(0)
    judged, people = (
        mean_share(wrong / d, labels, weights=d, confidence_level=confidence_level)
        for wrong in (e_judge, e_people)
    )
    if not total or items.size < 2:
        return ClassErrors(
            judged,
            people,
            found,
            0.0,
            None,
            None,
            by_item / total if total else by_item,
            items,
        )
    from scipy.special import stdtr, stdtrit  # imported lazily: most commands need no quantile

    scale = total / float((d**2).sum())
    if not scaled:  # two raters: a text is at most one pair, and only unequal weights make it less
        scale /= float(alone.sum() / (alone**2).sum())
    effect = _design_effect(residual, by_item, d, np.bincount(index, d, items.size).astype(np.float64))
    b, c, n = (scale * float(one) for one in (np.maximum(x, 0).sum(), np.maximum(-x, 0).sum(), total))
    z = paired_score(b, c, n, margin) / effect**0.5
    df = items.size - 1
    reach = float(stdtrit(df, (1 + confidence_level) / 2)) * effect**0.5
    low, high = (paired_score_end(b, c, n, end) for end in (reach, -reach))
    return ClassErrors(
        judged,
        people,
        replace(found, low=low, high=high),
        n / effect,
        float(stdtr(df, z)),
        float(stdtr(df, -z)),
        by_item / total,
        items,
    )


def _design_effect(residual: Floats, by_item: Floats, d: Floats, of_item: Floats) -> float:
    """Variance over items above that over texts, at least 1, with half an item more that the judge gets wholly wrong.

    The added half, of the size-weighted mean size, speaks for errors that fill whole items and happen to be absent: without
    any error the effective number of texts is that of items, as in Korn and Graubard (1998, Survey Methodology 24:193). Where
    each text is an item it changes nothing. residual, d: shape (n,), each text's; by_item, of_item: their sums by item.
    """
    size, text = float((of_item**2).sum() / of_item.sum()), float((d**2).sum() / d.sum())
    added = HALF_AN_ITEM * size
    return max(1.0, float((by_item**2).sum() + added * size) / float((residual**2).sum() + added * text))


def paired_score(b: float, c: float, n: float, null: float) -> float:
    """Tango's score statistic of a difference of paired shares, (b - c) / n, against `null`, in (-1, 1).

    b, c: pairs in which only the first, only the second has the property, of n pairs; they need not be whole. Tango (1998,
    Statistics in Medicine 17:891, formula 5). Infinite where the null allows no spread and the data lie elsewhere.
    """
    distance = (b - c) / n - null
    middle = b + c - null * (2 * n - b + c)
    fewer = (middle + np.sqrt(max(middle**2 + 8 * n * c * null * (1 - null), 0.0))) / (4 * n)
    variance = (2 * max(fewer, 0.0, -null) + null - null**2) / n
    if variance <= 0:
        return 0.0 if distance == 0 else float(np.sign(distance)) * np.inf
    return float(distance / np.sqrt(variance))


def paired_score_end(b: float, c: float, n: float, z: float) -> float:
    """The difference at which `paired_score` is z: for z > 0 the lower, for z < 0 the upper end of its interval."""
    low, high = (-1.0, (b - c) / n) if z > 0 else ((b - c) / n, 1.0)
    for _ in range(60):  # the statistic falls as the difference rises
        middle = (low + high) / 2
        if paired_score(b, c, n, middle) > z:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# --- pairs of raters ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """Texts that two raters and the judge all have. Pooled pairs stand in both orders."""

    rows: NDArray[np.intp]
    first: NDArray[np.intp]
    """Column of the rater of each row."""
    second: NDArray[np.intp]
    weights: Floats


def _blocks(known: NDArray[np.bool_], weights: Floats, fewest: int = FEWEST_OF_A_PAIR) -> list[_Block]:
    """Every pair of raters with enough texts, then all others together. known: (n, raters), without texts to leave out."""
    found, pooled = [], []
    for i, j in combinations(range(known.shape[1]), 2):
        rows = np.flatnonzero(known[:, i] & known[:, j])
        if rows.size >= fewest:
            found.append(_Block(rows, np.full(rows.size, i), np.full(rows.size, j), weights[rows]))
        elif rows.size:
            pooled.append((rows, i, j))
    if pooled:
        rows = np.concatenate([one for one, _, _ in pooled])
        first = np.concatenate([np.full(one.size, i) for one, i, _ in pooled])
        second = np.concatenate([np.full(one.size, j) for one, _, j in pooled])
        found.append(
            _Block(
                np.concatenate([rows, rows]),
                np.concatenate([first, second]),
                np.concatenate([second, first]),
                np.concatenate([weights[rows], weights[rows]]) / 2,
            )
        )
    return found


@dataclass(frozen=True)
class InPlace:
    """A statistic of a judge with a rater beside that of two raters on the same texts."""

    judge: Estimate
    people: Estimate
    gap: Estimate
    """The judge's minus the people's."""
    share: Estimate
    """The judge's over the people's, without an interval; undefined where the people's is not above 0."""
    kept: Estimate
    """The judge's minus a stated share of the people's."""
    influence: Floats = field(default_factory=lambda: np.empty((0, 2)))
    """What each item moves the gap and the kept share by the jackknife, shape (items, 2); columns sum to 0."""
    items: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Number of the item (in the order of sorted labels) of each row."""


def classes_in_place(
    judge: ArrayLike,
    votes: ArrayLike,
    n_classes: int,
    *,
    kept_share: float,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.9,
    fewest: int = FEWEST_OF_A_PAIR,
) -> tuple[InPlace, InPlace]:
    """Agreement above chance, and kappa, of a judge with a rater and of two raters: what a judge keeps of people's own value.

    judge: shape (n,), codes 0 .. n_classes - 1, NaN for no score, which agrees with nobody. votes: shape (n, raters).
    Agreement above chance is the sum over classes of the covariance of two indicators, so for two classes twice their
    covariance: if errors are independent given the truth, the ratio is that of Youden's indices, at any share of the
    classes. Kappa is Cohen's: agreement above chance over the most that the shares allow. Both are means over pairs of
    raters, on the texts that both rated, weighted by texts (kappa: the ratio of means, Conger 1980, Psychological Bulletin
    88:322); the judge stands in the place of each of the two. Interval of the second: t over items, by the jackknife.
    """
    said, given = np.asarray(judge, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    texts = unit_weights(weights, said.size)
    labels = numbered(unit_clusters(clusters, said.size))
    known = ~np.isnan(given)
    codes = np.where(known, given, 0).astype(np.int64)
    # No score is a class that nobody gave.
    own = np.where(np.isnan(said), n_classes, np.nan_to_num(said)).astype(np.int64)
    hot = np.eye(n_classes + 1)
    parts = []
    for one in _blocks(known, texts, fewest):
        i, j, k = codes[one.rows, one.first], codes[one.rows, one.second], own[one.rows]
        same = np.column_stack([i == j, k == i, k == j]).astype(np.float64)
        per_text = np.column_stack([np.ones(i.size), same, hot[i], hot[j], hot[k]]) * one.weights[:, None]
        parts.append(_sums(per_text, labels[one.rows], int(labels.max()) + 1))
    width, size = 4 + 3 * (n_classes + 1), n_classes + 1

    def agreement(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Agreement above chance of the judge and of people, and the most of each, one value a total."""
        blocks = sums.reshape(*sums.shape[:-1], -1, width)
        n = blocks[..., 0]
        of = ratio(blocks, np.broadcast_to(n[..., None], blocks.shape))
        first, second, third = (of[..., 4 + at * size : 4 + (at + 1) * size] for at in range(3))
        chance = (first * second).sum(axis=-1)
        judged_chance = (third * (first + second)).sum(axis=-1) / 2
        total = n.sum(axis=-1)
        above = (of[..., 2] + of[..., 3]) / 2 - judged_chance, of[..., 1] - chance
        most = 1 - judged_chance, 1 - chance
        judged, people, judged_most, most_of_people = (
            ratio((n * np.nan_to_num(one)).sum(axis=-1), total) for one in (*above, *most)
        )
        return judged, people, judged_most, most_of_people

    def covariances(sums: Floats) -> tuple[Floats, Floats]:
        return agreement(sums)[:2]

    def kappas(sums: Floats) -> tuple[Floats, Floats]:
        judged, people, judged_most, most_of_people = agreement(sums)
        return ratio(judged, judged_most), ratio(people, most_of_people)

    covariance, kappa = (
        _judge_in_place(parts, both, kept_share, confidence_level) for both in (covariances, kappas)
    )
    return covariance, kappa


def quadratic_kappa(
    judge: ArrayLike,
    votes: ArrayLike,
    *,
    kept_share: float,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.9,
    fewest: int = FEWEST_OF_A_PAIR,
) -> InPlace:
    """Kappa with squared distances, of the judge with a rater and of two raters, over pairs of raters on the same texts.

    judge: shape (n,), numbers on the raters' scale, NaN for no score (its texts are left out). votes: shape (n, raters).
    1 - (mean of squared distances) / (mean expected by chance from each pair's own means and variances): the ratio of means
    over pairs, not the mean of ratios (Conger 1980, Psychological Bulletin 88:322). For one pair it is Cohen's (1968,
    Psychological Bulletin 70:213), the same for any spacing of equal steps. Interval: t over items, by the jackknife.

    Misleads where a judge between severe and lenient raters is close to both and ranks nothing: read it with Spearman's.
    """
    said, given = np.asarray(judge, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    texts = unit_weights(weights, said.size)
    labels = numbered(unit_clusters(clusters, said.size))
    known = ~np.isnan(given) & ~np.isnan(said)[:, None]
    middle = float(np.nanmean(given)) if known.any() else 0.0  # for precision: moments of centred numbers
    if known.any() and np.ptp(given[known]) == 0:
        middle = float(given[known][0])  # the mean of equal numbers may differ from them in its last digit
    parts = []
    for one in _blocks(known, texts, fewest):
        i, j, k = (
            given[one.rows, one.first] - middle,
            given[one.rows, one.second] - middle,
            said[one.rows] - middle,
        )
        moments = [np.ones(i.size), i, j, k, i * i, j * j, k * k, i * j, k * i, k * j]
        parts.append(
            _sums(np.column_stack(moments) * one.weights[:, None], labels[one.rows], int(labels.max()) + 1)
        )

    def kappas(sums: Floats) -> tuple[Floats, Floats]:
        blocks = sums.reshape(*sums.shape[:-1], -1, 10)
        n = blocks[..., 0]
        _, i, j, k, ii, jj, kk, ij, ki, kj = np.moveaxis(
            ratio(blocks, np.broadcast_to(n[..., None], blocks.shape)), -1, 0
        )

        def pair(x: Floats, y: Floats, xx: Floats, yy: Floats, xy: Floats) -> tuple[Floats, Floats]:
            return xx + yy - 2 * xy, xx + yy - 2 * x * y

        def kappa(distances: list[tuple[Floats, Floats]]) -> Floats:
            seen, chance = (
                sum((n * np.nan_to_num(one[at])).sum(axis=-1) for one in distances) for at in (0, 1)
            )
            return 1 - ratio(np.asarray(seen), np.asarray(chance))

        return kappa([pair(k, i, kk, ii, ki), pair(k, j, kk, jj, kj)]), kappa([pair(i, j, ii, jj, ij)])

    return _judge_in_place(parts, kappas, kept_share, confidence_level)


def raters_kappa(
    votes: ArrayLike, n_classes: int, *, clusters: ArrayLike | None = None, confidence_level: float = 0.95
) -> Estimate:
    """Cohen's kappa of two raters, over all pairs of raters, without a judge: the value of people in `classes_in_place`.

    votes: shape (n, raters), codes 0 .. n_classes - 1, NaN for none. Of two raters it is their Cohen's kappa. Of more it is the
    ratio of means over pairs (Conger 1980, Psychological Bulletin 88:322), with pairs that share few texts pooled. Interval: t
    over items, by the jackknife.

    Misleads if one class is popular: kappa is then near 0 although raters agree on almost every text.
    """
    given = np.asarray(votes, dtype=np.float64)
    nothing = np.full(len(given), np.nan)
    _, found = classes_in_place(
        nothing,
        given,
        n_classes,
        kept_share=0.0,
        clusters=clusters,
        confidence_level=confidence_level,
        fewest=_fewest_of(given),
    )
    return _people_kappa(found.people, given)


def raters_quadratic_kappa(
    ratings: ArrayLike, *, clusters: ArrayLike | None = None, confidence_level: float = 0.95
) -> Estimate:
    """Quadratic kappa of two raters, over all pairs of raters, without a judge: the value of people in `quadratic_kappa`.

    ratings: shape (n, raters), the numbers of ordered classes, NaN for none. Pairs and interval as in `raters_kappa`.

    Misleads if one class is popular, like kappa. A rater who is stricter by a constant lowers it; a large distance counts as
    much as many small ones.
    """
    given = np.asarray(ratings, dtype=np.float64)
    found = quadratic_kappa(
        np.zeros(len(given)),  # any numbers: only the people's value is read
        given,
        kept_share=0.0,
        clusters=clusters,
        confidence_level=confidence_level,
        fewest=_fewest_of(given),
    )
    return _people_kappa(found.people, given)


def _fewest_of(given: Floats) -> int:
    """Texts from which a pair counts alone: a single pair has no other to be pooled with."""
    return 1 if given.shape[1] == 2 else FEWEST_OF_A_PAIR


def _people_kappa(people: Estimate, given: Floats) -> Estimate:
    """A kappa of people within its range, with its texts instead of its pairs and the reasons of a panel without a judge."""
    paired = int(((~np.isnan(given)).sum(axis=1) > 1).sum())
    reason = None if people.estimate is not None else agreement.ALL_ALIKE if paired else agreement.NO_PAIRS
    low, high = (None if end is None else min(1.0, max(-1.0, end)) for end in (people.low, people.high))
    return replace(people, low=low, high=high, n=paired, n_left_out=len(given) - paired, reason=reason)


def _sums(per_text: Floats, labels: NDArray[np.intp], n_items: int) -> Floats:
    sums = np.zeros((n_items, per_text.shape[1]))
    np.add.at(sums, labels, per_text)
    return sums


def _judge_in_place(
    parts: list[Floats],
    both: Callable[[Floats], tuple[Floats, Floats]],
    kept_share: float,
    confidence_level: float,
) -> InPlace:
    """Estimates of two statistics of the same sums, one row of `parts` an item: the judge's, the people's, and how they differ."""
    sums = np.hstack(parts) if parts else np.zeros((0, 1))
    items = np.flatnonzero(sums.any(axis=1))
    sums = sums[items]
    judged, people = (float(one) for one in both(sums.sum(axis=0))) if parts else (np.nan, np.nan)
    without = leave_one_out(sums, lambda total: np.stack(both(total), axis=-1)) if parts else None
    n = round(sum(float(part[:, 0].sum()) for part in parts))

    def found(value: float, of: tuple[float, float], why: str = NOTHING_VARIES) -> Estimate:
        """The value with the jackknife interval of of[0] x judge + of[1] x people."""
        one = resampled_estimate(
            value,
            None,
            n=n,
            n_clusters=len(sums),
            confidence_level=confidence_level,
            reason=None if not np.isnan(value) else why if parts else NO_PAIRS,
            interval_reason=why_no_interval(value, len(sums), 1),
        )
        if one.estimate is None or without is None or one.interval_reason is not None:
            return one
        low, high, _, reason = jackknife_ends(
            value, without @ np.array(of), confidence_level, (-np.inf, np.inf)
        )
        return replace(one, low=low, high=high, interval_reason=reason)

    share = judged / people if people > 0 else np.nan
    return InPlace(
        found(judged, (1.0, 0.0)),
        found(people, (0.0, 1.0)),
        found(judged - people, (1.0, -1.0)),
        replace(
            found(share, (0.0, 0.0), NOTHING_ABOVE_CHANCE if people < 0 else NOTHING_VARIES),
            interval_reason="see `kept`",
        ),
        found(judged - kept_share * people, (1.0, -kept_share)),
        np.empty((0, 2))
        if without is None
        else jackknife_influence(without @ np.array([[1.0, 1.0], [-1.0, -kept_share]])),
        items,
    )
