"""Can the two members of a pair be told apart by numbers measured on both?

Everything here works on differences: row i holds the numbers of pair i's first member minus those of its second. Under
the null hypothesis the two members of a question are exchangeable, so the sign of a question's differences is that
of a fair coin; every p value comes from flipping these coins, for all pairs of a question together, because its
pairs are not independent (exact test of symmetry: Fisher 1935; Good 2005, Permutation, Parametric and Bootstrap
Tests of Hypotheses, ch. 3). p = (1 + number of flips as good as the data) / (1 + number of flips); with few
questions all flips are counted and the data are one of them.

The sum of squares of the differences does not change when signs flip, so one small inverse serves all flips and a
whole test is a few matrix products (in blocks that bound the memory).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from core.stats.resampling import Floats, at_a_time

FEWEST_QUESTIONS = 6
"""With 5, the 32 flips come in mirrored pairs and no p can be below 2/32, which is above 0.05."""
PENALTY = 3.0
"""Of the ridge regression, as if three more pairs had shown no difference; set by simulation, not on any study."""
_DECIMALS = 10  # margins that are equal on paper must tie, whatever order their sums were taken in


@dataclass(frozen=True)
class Separability:
    """How well all numbers together name the first member of a pair that was not learned from."""

    auc: float | None
    """Cross-validated area under the curve, 0 to 1; 0.5 is guessing."""
    p: float | None
    """One-sided permutation p of an AUC as large; never 0."""
    n_pairs: int
    """Pairs given."""
    n_questions: int
    """Questions among them whose members differ in some number: the coins that are flipped."""
    n_flips: int
    """Flips behind p."""
    exact: bool
    """All flips were counted, none drawn."""
    reason: str | None
    """Why auc and p are missing."""


@dataclass(frozen=True)
class SingleRule:
    """The one number that names the first member most often, by being smaller or larger there."""

    column: int | None
    """Which column of the differences."""
    larger: bool
    """The first member is the one with more of it; else the one with less."""
    n_right: int
    """Pairs in which the rule names the first member."""
    n_undecided: int
    """Pairs whose members do not differ in this number."""
    n_pairs: int
    """Pairs given."""
    p: float | None
    """Permutation p of the best of all rules, both directions of every number; never 0."""
    reason: str | None
    """Why there is no rule."""


def walsh_auc(margins: Floats) -> Floats:
    """Share of sums m_i + m_j above 0, over all i and j (i = j too), sums of 0 as half: shape (n, ...) -> (...).

    The area under the ROC curve of scores {m} against {-m}. With average ranks r_i of |m_i| it is
    1/2 + sum_i sign(m_i) (2 r_i - 1) / (2 n^2), so no n x n table is made. n >= 1.
    """
    ranks = rankdata(np.abs(margins), axis=0)
    return np.asarray(0.5 + (np.sign(margins) * (2 * ranks - 1)).sum(axis=0) / (2 * margins.shape[0] ** 2))


def held_out_margins(differences: ArrayLike, clusters: ArrayLike, signs: ArrayLike | None = None) -> Floats:
    """Margins y_i f(d_i), f learned without the question of pair i: above 0 where the first member is named.

    differences: shape (n, k). clusters: shape (n,), the question of each pair. signs: shape (n, b), +1 or -1, one
    column a flip, equal within a question; default: the data, all +1. Returns shape (n, b).

    f is a ridge regression without intercept of y on d / rms(d), in closed form: with the hat matrix H of all pairs,
    the residuals of a question's pairs when it is left out are (I - H_gg)^-1 (y - H y)_g. Scaling by the root mean
    square sees no sign, so nothing leaks. Equal to scikit-learn's Ridge(2 * PENALTY, fit_intercept=False) fitted
    to d and -d with LeaveOneGroupOut.
    """
    rows, labels = _checked(differences, clusters)
    flips = np.ones((len(rows), 1)) if signs is None else np.asarray(signs, dtype=np.float64)
    design = _scaled(rows)
    inverse = np.linalg.inv(design.T @ design + PENALTY * np.eye(design.shape[1]))
    residuals = flips - design @ (inverse @ (design.T @ flips))
    _, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    for size in np.unique(sizes):  # questions with as many pairs are solved together
        members = np.flatnonzero(sizes[index] == size)
        at = members[np.argsort(index[members], kind="stable")].reshape(-1, size)
        blocks = design[at]
        inside = np.eye(size) - blocks @ inverse @ blocks.transpose(0, 2, 1)
        residuals[at] = np.linalg.solve(inside, residuals[at])
    return np.asarray(1 - flips * residuals)  # y (y - residual), and y * y = 1


def separability(
    differences: ArrayLike,
    clusters: ArrayLike,
    *,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> Separability:
    """Cross-validated AUC of naming the first member of a pair from its differences, with a permutation p.

    differences: shape (n, k), first member minus second, finite. clusters: shape (n,), the question of each pair: it is
    left out whole, and flipped whole. n_resamples: flips drawn, unless there are no more than that many in all.

    AUC is the chance that a differing pair shown one way round scores above a pair shown the other way
    round (`walsh_auc` of `held_out_margins`). Swapping first and second everywhere changes nothing.

    Degenerate cases: fewer than FEWEST_QUESTIONS questions that differ give None with the reason.

    Misleads: below 0.5 says nothing, a leave-one-out AUC of pure noise is often a little below; with some 20
    questions only a strong leak is found, so a large p is no proof of blindness; and a reader sees more than these
    numbers.
    """
    rows, labels = _checked(differences, clusters)
    n_questions, reason = _differing(rows, labels)
    if reason is not None:
        return Separability(None, None, len(rows), n_questions, 0, False, reason)
    observed = float(_auc(rows, labels, None)[0])
    signs, exact = _question_flips(n_questions, n_resamples, rng)
    index = _coins(rows, labels)
    block = at_a_time(len(rows))
    found = np.concatenate(
        [_auc(rows, labels, signs[:, at : at + block][index]) for at in range(0, signs.shape[1], block)]
    )
    p = _p_value(found, observed, exact)
    return Separability(observed, p, len(rows), n_questions, signs.shape[1], exact, None)


def strongest_rule(
    differences: ArrayLike,
    clusters: ArrayLike,
    *,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
) -> SingleRule:
    """The number and direction that name the first member of most pairs, with a p that pays for the choice.

    Shapes as in `separability`. A rule is right, wrong, or undecided where the two members are equal; rules are ranked
    by right minus wrong, the first column wins ties. p compares with the best rule of every flip (maximum
    statistic: Westfall and Young 1993), so looking at 2 k rules costs nothing further.

    Degenerate cases as in `separability`: then no rule is named. Misleads: p pays for the rules of this
    table, not for looking at several tables (levels).
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
    np.add.at(per_question, coins, votes)  # a pair without any difference adds 0, wherever it is put
    signs, exact = _question_flips(n_questions, n_resamples, rng)
    best = np.abs(signs.T @ per_question).max(axis=1)
    return SingleRule(
        column=column,
        larger=larger,
        n_right=int((votes[:, column] == (1 if larger else -1)).sum()),
        n_undecided=int((votes[:, column] == 0).sum()),
        n_pairs=len(rows),
        p=_p_value(best, float(np.abs(scores[column])), exact),
        reason=None,
    )


def _auc(rows: Floats, labels: NDArray[np.generic], signs: Floats | None) -> Floats:
    return walsh_auc(np.round(held_out_margins(rows, labels, signs), _DECIMALS))


def _scaled(rows: Floats) -> Floats:
    """Columns divided by their root mean square; columns of zeros stay."""
    size = np.sqrt((rows**2).mean(axis=0))
    return rows / np.where(size > 0, size, 1.0)


def _differing(rows: Floats, labels: NDArray[np.generic]) -> tuple[int, str | None]:
    """How many questions differ in some number, and why that is too few."""
    n = np.unique(labels[rows.any(axis=1)]).size
    if n >= FEWEST_QUESTIONS:
        return n, None
    if n == 0:
        return n, "no pair differs in any feature" if len(rows) else "no pair"
    return n, f"the answers to {n} questions differ in a feature; {FEWEST_QUESTIONS} are needed"


def _coins(rows: Floats, labels: NDArray[np.generic]) -> NDArray[np.intp]:
    """Number of each pair's question among those that differ; questions that do not may share any coin."""
    names = np.unique(labels[rows.any(axis=1)])
    return np.minimum(np.searchsorted(names, labels), names.size - 1)


def _question_flips(n: int, n_resamples: int, rng: int | np.random.Generator) -> tuple[Floats, bool]:
    """Signs of shape (n, flips): all 2**n of them where that is no more than n_resamples, else drawn."""
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    exact = 2**n <= n_resamples
    if exact:
        coins = np.arange(2**n)[None, :] >> np.arange(n)[:, None] & 1
    else:
        coins = np.random.default_rng(rng).integers(0, 2, size=(n, n_resamples))
    return 1 - 2 * coins.astype(np.float64), exact


def _p_value(found: Floats, observed: float, exact: bool) -> float:
    reached = int((found >= observed - 1e-12).sum())
    return reached / found.size if exact else (1 + reached) / (1 + found.size)


def _checked(differences: ArrayLike, clusters: ArrayLike) -> tuple[Floats, NDArray[np.generic]]:
    rows, labels = np.asarray(differences, dtype=np.float64), np.asarray(clusters)
    if rows.ndim != 2 or labels.shape != rows.shape[:1]:
        raise ValueError(
            f"differences must have shape (n, k) and clusters (n,), got {rows.shape} and {labels.shape}"
        )
    if not np.isfinite(rows).all():
        raise ValueError("differences must be finite")
    return rows, labels
