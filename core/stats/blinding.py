"""Test blinding: could raters guess, or could measured numbers predict, which system wrote an answer?"""

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    Estimate,
    Floats,
    Resampling,
    Rng,
    check_confidence_level,
    cluster_bootstrap,
    flips_p,
    ratio,
    resamples_at_once,
    sign_flips,
)

LEFT, RIGHT, UNSURE = range(3)
"""Codes of sides and guesses."""
NO_GUESSES = "no guess was given"
_SIDES = ("left", "right")


@dataclass(frozen=True)
class Index:
    """A blinding index with the standard error and normal interval of its publication."""

    estimate: float | None
    se: float | None
    """Standard error, assuming independent guesses."""
    low: float | None
    """estimate - z se; may lie outside the index's range, as published."""
    high: float | None
    n: int
    """Guesses, including "cannot tell"."""
    confidence_level: float
    reason: str | None = None


@dataclass(frozen=True)
class ShareRight:
    """Share of right guesses among those that name a side, with interval and test against one half."""

    n: int
    n_right: int
    share: float | None
    low: float | None
    high: float | None
    confidence_level: float
    p: float | None
    """Two-sided exact binomial p-value of a share of one half."""
    reason: str | None = None


@dataclass(frozen=True)
class BlindingIndex:
    """All indices of a set of guesses."""

    n: int
    table: tuple[tuple[int, ...], ...]
    """Rows: human text on the left, on the right; columns: guessed left, right, cannot tell."""
    share_right: ShareRight
    bang_left: Index
    """Bang's index of guesses about pairs with the human text on the left."""
    bang_right: Index
    bang: Index
    james: Index
    bang_questions: Estimate
    """`bang` with a percentile interval over questions."""
    james_questions: Estimate
    """`james` with a percentile interval over questions."""


def blinding_index(
    sides: ArrayLike, guesses: ArrayLike, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> BlindingIndex:
    """Compute both indices of a set of guesses, with analytic intervals and intervals over resampled clusters.

    sides: shape (n,), side of the human text, LEFT or RIGHT. guesses: shape (n,), LEFT, RIGHT or UNSURE.
    clusters: shape (n,), the question of each guess; None: each guess by itself. Further arguments: see
    resampling.cluster_bootstrap.

    Misleads with few guesses: normal intervals at n = 10 are rough, and if all guesses are right the interval has width 0
    at any n, even at n = 1 (read `share_right`, whose interval is exact). Guesses by one rater, or about one question, are
    not independent: analytic intervals are then too narrow, and intervals over questions account for the question but not
    for the rater.
    """
    cells = _cells(sides, guesses)
    table = np.rint(cells.sum(axis=0)).astype(np.int64).reshape(2, 3)
    (l_l, l_r, l_u), (r_l, r_r, r_u) = table.tolist()
    level = drawing.get("confidence_level", 0.95)
    bang = bang_index(l_l + r_r, l_r + r_l, l_u + r_u, confidence_level=level)
    james = james_index(table, confidence_level=level)
    units = np.arange(len(cells)) if clusters is None else clusters
    bang_questions, james_questions = (
        replace(cluster_bootstrap(cells, units, statistic, **drawing), reason=index.reason)
        for statistic, index in ((bang_of_sums, bang), (james_of_sums, james))
    )
    empty = "no guess about a pair with the human answer on the {}"
    return BlindingIndex(
        n=len(cells),
        table=tuple(tuple(row) for row in table.tolist()),
        share_right=share_right(l_l + r_r, l_l + r_r + l_r + r_l, confidence_level=level),
        bang_left=bang_index(l_l, l_r, l_u, confidence_level=level, no_guesses=empty.format("left")),
        bang_right=bang_index(r_r, r_l, r_u, confidence_level=level, no_guesses=empty.format("right")),
        bang=bang,
        james=james,
        bang_questions=bang_questions,
        james_questions=james_questions,
    )


def bang_index(
    right: int, wrong: int, unsure: int, *, confidence_level: float = 0.95, no_guesses: str = NO_GUESSES
) -> Index:
    """Bang's index: (right - wrong) / n, where n includes "cannot tell"; -1 to 1, 0 for random guesses.

    1: every guess was right, so blinding failed. -1: every guess was wrong, so the texts are distinguishable, too.
    Variance (Bang et al. 2004, as in the R package BI 1.2.0):
    (p (1 - p) + q (1 - q) + 2 p q) / n, where p and q are the shares of right and wrong guesses. Bang et al. prefer
    one-sided intervals; this one is two-sided. No guesses: undefined, for the reason `no_guesses`.

    Designed for one arm at a time. Pooled over both, arms can cancel: a rater who always guesses "left" has 1 in one arm
    and -1 in the other, about 0 together. This is right (the rater could not tell) but hides that the rater did not try. If
    the sides are not balanced, such a rater's pooled index is (n left - n right) / n, not 0.
    Also misleads if few guesses name a side: 3 right of 3 among 30 "cannot tell" is 0.09.
    """
    check_confidence_level(confidence_level)
    if min(right, wrong, unsure) < 0:
        raise ValueError(f"counts must not be negative, got {right}, {wrong} and {unsure}")
    n = right + wrong + unsure
    if n == 0:
        return Index(None, None, None, None, 0, confidence_level, no_guesses)
    p, q = right / n, wrong / n
    return _normal_index(p - q, (p + q - (p - q) ** 2) / n, n, confidence_level)


def james_index(table: ArrayLike, *, confidence_level: float = 0.95) -> Index:
    """James's index of a table of counts (2 sides, 3 guesses): 0 to 1; 1 blinded, 0.5 random guesses, 0 all right.

    (1 + u + (1 - u) K) / 2, where u is the share of "cannot tell" and K = (Do - De) / De compares the observed
    disagreement of side and guess, among guesses that name a side, with the one expected by chance from their margins.
    James's weights: right 0, wrong 0.5, cannot tell 1. In counts, with N of n guesses naming a side:
    U / n + N^2 wrong / (2 n (named left x side right + named right x side left)). Variance: James's, which is
    the delta method on multinomial counts.

    All "cannot tell": 1, whatever the sides. Undefined if all guesses that name a side are about the same true side: K is
    then 0 or 0/0 whatever was guessed (the R package BI gives (1 + u) / 2 or NaN).

    Misleads because "cannot tell" dominates: with 80 % of it the index is 0.8 or above even if all other guesses are
    right. And one number for both sides cannot show that only one of them was recognised.
    """
    check_confidence_level(confidence_level)
    counts = np.asarray(table, dtype=np.float64)
    if counts.shape != (2, 3) or (counts < 0).any():
        raise ValueError(f"table must contain counts in 2 rows and 3 columns, got {table!r}")
    n = int(counts.sum())
    if n == 0:
        return Index(None, None, None, None, 0, confidence_level, NO_GUESSES)
    estimate = float(james_of_sums(counts.reshape(6)))
    if np.isnan(estimate):
        seen = _SIDES[int(counts[RIGHT, :UNSURE].sum() > 0)]
        reason = f"every guess that names a side is about a pair with the human answer on the {seen}"
        return Index(None, None, None, None, n, confidence_level, reason)
    return _normal_index(estimate, _james_variance(counts / n) / n, n, confidence_level)


def share_right(n_right: int, n: int, *, confidence_level: float = 0.95) -> ShareRight:
    """Share of right guesses among the n that name a side, in [0, 1]; one half by chance.

    Interval: Clopper and Pearson (1934, Biometrika 26:404), never below its level; p: exact. n = 0: undefined.
    Misleads because it leaves out "cannot tell", and if guesses are dependent (one rater, one question).
    """
    check_confidence_level(confidence_level)
    if not 0 <= n_right <= n:
        raise ValueError(f"n_right must lie between 0 and n, got {n_right} of {n}")
    if n == 0:
        return ShareRight(0, 0, None, None, None, confidence_level, None, "no guess names a side")
    from scipy.stats import binomtest  # imported lazily: loads slowly

    test = binomtest(n_right, n, 0.5)
    interval = test.proportion_ci(confidence_level=confidence_level, method="exact")
    low, high, p = float(interval.low), float(interval.high), float(test.pvalue)
    return ShareRight(n, n_right, n_right / n, low, high, confidence_level, p)


def bang_of_sums(sums: Floats) -> Floats:
    """Bang's index over both sides from the table's cell counts (..., 6), row by row; NaN without guesses."""
    right, wrong = sums[..., 0] + sums[..., 4], sums[..., 1] + sums[..., 3]
    return ratio(right - wrong, sums.sum(axis=-1))


def james_of_sums(sums: Floats) -> Floats:
    """James's index from the table's cell counts (..., 6), row by row; NaN if undefined."""
    l_l, l_r, l_u, r_l, r_r, r_u = np.moveaxis(sums, -1, 0)
    on_left, on_right, wrong = l_l + l_r, r_l + r_r, l_r + r_l
    n, named = sums.sum(axis=-1), on_left + on_right
    chance = (l_l + r_l) * on_right + (l_r + r_r) * on_left
    one_sided = (named > 0) & ((on_left == 0) | (on_right == 0))
    rest = np.where(named == 0, 0.0, ratio(named**2 * wrong, 2 * n * chance))
    return np.asarray(np.where(one_sided, np.nan, ratio(l_u + r_u, n) + rest), dtype=np.float64)


def _cells(sides: ArrayLike, guesses: ArrayLike) -> Floats:
    """One row for each guess with 1 in its cell of the table (row by row), shape (n, 6)."""
    true, guessed = (np.asarray(codes) for codes in (sides, guesses))
    if true.ndim != 1 or true.shape != guessed.shape:
        raise ValueError(f"sides and guesses must both have shape (n,), got {true.shape} and {guessed.shape}")
    if not (np.isin(true, (LEFT, RIGHT)).all() and np.isin(guessed, (LEFT, RIGHT, UNSURE)).all()):
        raise ValueError("sides must be 0 (left) or 1 (right), guesses 0, 1 or 2 (cannot tell)")
    cells = np.zeros((len(true), 6))
    cells[np.arange(len(true)), (3 * true + guessed).astype(np.int64)] = 1
    return cells


def _james_variance(shares: NDArray[np.float64]) -> float:
    """The variance times n: sum p d^2 - (sum p d)^2, with d the derivatives of the index by each cell's share."""
    cells = shares[:, :UNSURE]
    named, wrong = float(cells.sum()), float(cells[LEFT, RIGHT] + cells[RIGHT, LEFT])
    if named == 0:
        return 0.0
    on, said = cells.sum(axis=1), cells.sum(axis=0)
    chance = said[LEFT] * on[RIGHT] + said[RIGHT] * on[LEFT]
    derivative = np.ones((2, 3))
    is_wrong = 1 - np.eye(2)
    by_chance = on[None, ::-1] + said[::-1, None]  # of `chance`: rows sides, columns guesses
    derivative[:, :UNSURE] = (
        named * wrong / chance
        + named**2 / (2 * chance) * is_wrong
        - named**2 * wrong / (2 * chance**2) * by_chance
    )
    return float((shares * derivative**2).sum() - (shares * derivative).sum() ** 2)


def _normal_index(estimate: float, variance: float, n: int, confidence_level: float) -> Index:
    from scipy.special import ndtri  # imported lazily: most commands need no quantile

    se = float(np.sqrt(max(variance, 0.0)))
    half = float(ndtri((1 + confidence_level) / 2)) * se
    return Index(estimate, se, estimate - half, estimate + half, n, confidence_level)


FEWEST_QUESTIONS = 6
"""Fewest questions. With 5, the 32 flips come in mirrored pairs, so no p can be below 2/32, which is above 0.05."""
PENALTY = 3.0
"""Penalty of the ridge regression, as if three more pairs showed no difference; set by simulation, not on a study."""
_DECIMALS = 10  # margins that are mathematically equal must tie, whatever the order of summation


@dataclass(frozen=True)
class Separability:
    """How well all numbers together identify the first member of a held-out pair."""

    auc: float | None
    """Cross-validated area under the curve, 0 to 1; chance gives 0.5."""
    p: float | None
    """One-sided permutation p of an AUC at least as large; never 0."""
    n_pairs: int
    n_questions: int
    """Questions whose members differ in some number: the units that are flipped."""
    n_flips: int
    """Number of flips behind p."""
    exact: bool
    """Whether all flips were enumerated instead of drawn."""
    reason: str | None


@dataclass(frozen=True)
class SingleRule:
    """The single number that identifies the first member most often, by being smaller or larger."""

    column: int | None
    """Column of the differences."""
    larger: bool
    """Whether the first member has the larger value; otherwise the smaller."""
    n_right: int
    """Pairs in which the rule identifies the first member."""
    n_undecided: int
    """Pairs whose members are equal in this number."""
    n_pairs: int
    p: float | None
    """Permutation p of the best of all rules, both directions of every number; never 0."""
    reason: str | None


def walsh_auc(margins: Floats) -> Floats:
    """Share of sums m_i + m_j above 0, over all i and j (i = j too), sums of 0 as half: shape (n, ...) -> (...).

    The area under the ROC curve of scores {m} against {-m}. With average ranks r_i of |m_i| it is
    1/2 + sum_i sign(m_i) (2 r_i - 1) / (2 n^2), so no n x n table is made. n >= 1.
    """
    from scipy.stats import rankdata

    ranks = rankdata(np.abs(margins), axis=0)
    return np.asarray(0.5 + (np.sign(margins) * (2 * ranks - 1)).sum(axis=0) / (2 * margins.shape[0] ** 2))


def held_out_margins(differences: ArrayLike, clusters: ArrayLike, signs: ArrayLike | None = None) -> Floats:
    """Margins y_i f(d_i), where f is fitted without the question of pair i: above 0 if the first member is identified.

    differences: shape (n, k). clusters: shape (n,), the question of each pair. signs: shape (n, b), +1 or -1, one
    column for each flip, equal within a question; default: all +1, the data. Returns shape (n, b).

    f is a ridge regression without intercept of y on d / rms(d), in closed form: with the hat matrix H of all pairs,
    the residuals of a left-out question's pairs are (I - H_gg)^-1 (y - H y)_g. Scaling by the root mean
    square ignores signs, so nothing leaks. Equal to scikit-learn's Ridge(2 * PENALTY, fit_intercept=False) fitted
    to d and -d with LeaveOneGroupOut.
    """
    rows, labels = _checked(differences, clusters)
    flips = np.ones((len(rows), 1)) if signs is None else np.asarray(signs, dtype=np.float64)
    size = np.sqrt((rows**2).mean(axis=0))
    design = rows / np.where(size > 0, size, 1.0)
    inverse = np.linalg.inv(design.T @ design + PENALTY * np.eye(design.shape[1]))
    residuals = flips - design @ (inverse @ (design.T @ flips))
    _, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    for n_pairs in np.unique(sizes):  # questions with equally many pairs are solved together
        members = np.flatnonzero(sizes[index] == n_pairs)
        at = members[np.argsort(index[members], kind="stable")].reshape(-1, n_pairs)
        blocks = design[at]
        inside = np.eye(n_pairs) - blocks @ inverse @ blocks.transpose(0, 2, 1)
        residuals[at] = np.linalg.solve(inside, residuals[at])
    return np.asarray(1 - flips * residuals)  # y (y - residual), and y * y = 1


def separability(
    differences: ArrayLike, clusters: ArrayLike, *, n_resamples: int = 2000, rng: Rng = 0
) -> Separability:
    """Cross-validated AUC of identifying the first member of a pair from its differences, with a permutation p.

    differences: shape (n, k), first member minus second, finite. clusters: shape (n,), the question of each pair; whole
    questions are left out and flipped. n_resamples: flips to draw; if there are no more in total, all are used.

    AUC is the probability that a differing pair in one order scores above a pair in the other
    order (`walsh_auc` of `held_out_margins`). Swapping first and second everywhere changes nothing.

    Degenerate cases: fewer than FEWEST_QUESTIONS questions that differ give None with a reason.

    Misleads: a value below 0.5 has no meaning, because a leave-one-out AUC of pure noise is often slightly below. With
    about 20 questions only a strong leak is found, so a large p does not prove blindness. A reader sees more than these
    numbers.
    """
    rows, labels = _checked(differences, clusters)
    n_questions, reason = _differing(rows, labels)
    if reason is not None:
        return Separability(None, None, len(rows), n_questions, 0, False, reason)
    observed = float(_auc(rows, labels, None)[0])
    signs, exact = sign_flips(n_questions, n_resamples, rng)
    index = _coins(rows, labels)
    block = resamples_at_once(len(rows))
    found = np.concatenate(
        [_auc(rows, labels, signs[:, at : at + block][index]) for at in range(0, signs.shape[1], block)]
    )
    p = flips_p(found, observed, exact)
    return Separability(observed, p, len(rows), n_questions, signs.shape[1], exact, None)


def strongest_rule(
    differences: ArrayLike, clusters: ArrayLike, *, n_resamples: int = 2000, rng: Rng = 0
) -> SingleRule:
    """The number and direction that identify the first member of most pairs, with p corrected for the choice.

    Shapes as in `separability`. A rule is right, wrong, or undecided if the two members are equal. Rules are ranked by
    right minus wrong; the first column wins ties. p compares with the best rule of every flip (maximum
    statistic: Westfall and Young 1993), so trying 2 k rules needs no further correction.

    Degenerate cases as in `separability`, without a rule. Misleads: p is corrected for the rules of this table, not for
    several tables (levels).
    """
    rows, labels = _checked(differences, clusters)
    n_questions, reason = _differing(rows, labels)
    if reason is not None:
        return SingleRule(None, False, 0, 0, len(rows), None, reason)
    votes = np.sign(rows)
    scores = votes.sum(axis=0)
    column = int(np.argmax(np.abs(scores)))
    larger = bool(scores[column] >= 0)
    per_question = np.zeros((n_questions, votes.shape[1]))
    coins = _coins(rows, labels)
    np.add.at(per_question, coins, votes)  # a pair without any difference adds 0 to any question
    signs, exact = sign_flips(n_questions, n_resamples, rng)
    best = np.abs(signs.T @ per_question).max(axis=1)
    return SingleRule(
        column=column,
        larger=larger,
        n_right=int((votes[:, column] == (1 if larger else -1)).sum()),
        n_undecided=int((votes[:, column] == 0).sum()),
        n_pairs=len(rows),
        p=flips_p(best, float(np.abs(scores[column])), exact),
        reason=None,
    )


def _auc(rows: Floats, labels: NDArray[np.generic], signs: Floats | None) -> Floats:
    return walsh_auc(np.round(held_out_margins(rows, labels, signs), _DECIMALS))


def _differing(rows: Floats, labels: NDArray[np.generic]) -> tuple[int, str | None]:
    """Number of questions that differ in some number, and the reason if these are too few."""
    n = np.unique(labels[rows.any(axis=1)]).size
    if n >= FEWEST_QUESTIONS:
        return n, None
    if n == 0:
        return n, "no pair differs in any feature" if len(rows) else "no pair"
    return n, f"the answers to {n} questions differ in a feature; {FEWEST_QUESTIONS} are needed"


def _coins(rows: Floats, labels: NDArray[np.generic]) -> NDArray[np.intp]:
    """Number of each pair's question among those that differ; the number is arbitrary for other questions."""
    names = np.unique(labels[rows.any(axis=1)])
    return np.minimum(np.searchsorted(names, labels), names.size - 1)


def _checked(differences: ArrayLike, clusters: ArrayLike) -> tuple[Floats, NDArray[np.generic]]:
    rows, labels = np.asarray(differences, dtype=np.float64), np.asarray(clusters)
    if rows.ndim != 2 or labels.shape != rows.shape[:1]:
        raise ValueError(
            f"differences must have shape (n, k) and clusters (n,), got {rows.shape} and {labels.shape}"
        )
    if not np.isfinite(rows).all():
        raise ValueError("differences must be finite")
    return rows, labels
