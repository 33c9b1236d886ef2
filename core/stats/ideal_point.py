"""Margins of votes that ask which of two answers fits a level: how much nearer one answer's score is to what fits."""

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats, Indices, cluster_sums, numbered

FEWEST_FITTING = 5
"""Answers found to fit a level that its target needs."""
TOO_FEW_FITTING = f"fewer than {FEWEST_FITTING} answers were found to fit the level in other questions"


def ideal_point_margins(
    scores: ArrayLike, fits: ArrayLike, levels: ArrayLike, items: ArrayLike
) -> tuple[Floats, Floats]:
    """How much nearer the first answer's score of each pair is to its level's target, and the targets; both shape (n_pairs,).

    scores: shape (n_pairs, 2), the scores of the two answers, NaN for none; higher need not be better. fits: shape (n_pairs, 2),
    the number of raters who found each answer to fit its level. levels, items: shape (n_pairs,), the pair's level and its question,
    which is left out.

    The target is the mean score of the answers at the level that raters found to fit it in the other questions; each vote weighs
    the same, so an answer that two raters found to fit counts twice. A pair votes for the answer that is nearer to the target:
    margin = |second - target| - |first - target|. This is preference by distance from an ideal point (Coombs 1964; Schoenemann
    and Wang 1972), with the point learned from votes on other questions.

    Questions differ in what they do to scores, whatever the quality of the answers. How far a question lies above the others is
    read off its own other levels (`question_heights`), and the target moves with it. Without other levels it does not move.

    NaN where a score is missing, and where fewer than FEWEST_FITTING scored answers fit the level in other questions.

    Misleads if raters found answers to fit that do not, for example because both systems miss the level alike: their mean is then
    the target. If the two answers lie on either side of the target, the margin is a difference of two distances and small.
    Raises ValueError for unequal shapes.
    """
    values, votes = np.asarray(scores, dtype=np.float64), np.asarray(fits, dtype=np.float64)
    level_of, item_of = np.asarray(levels), np.asarray(items)
    if values.ndim != 2 or values.shape[1:] != (2,) or votes.shape != values.shape:
        raise ValueError(
            f"scores and fits must have shape (n_pairs, 2), got {values.shape} and {votes.shape}"
        )
    if level_of.shape != (len(values),) or item_of.shape != (len(values),):
        raise ValueError(f"levels and items must have shape ({len(values)},)")
    heights = question_heights(values, level_of, item_of)
    even = values - heights[:, None]
    weights = np.where(np.isnan(even), 0.0, votes)
    # Of each pair: votes for fitting answers, the sum of their scores, and how many answers they are.
    sums = np.column_stack(
        [weights.sum(axis=1), (weights * np.nan_to_num(even)).sum(axis=1), (weights > 0).sum(axis=1)]
    )
    level, item = numbered(level_of), numbered(item_of)
    n_votes, total, n_answers = (_sums(sums, level) - _sums(sums, _both(level, item))).T
    enough = np.rint(n_answers) >= FEWEST_FITTING
    targets = np.where(enough, total / np.where(enough, n_votes, 1.0), np.nan) + heights
    first, second = np.abs(values - targets[:, None]).T
    return second - first, targets


def question_heights(scores: ArrayLike, levels: ArrayLike, items: ArrayLike) -> Floats:
    """How far the question of each pair lies above other questions at this level, judged by its other levels; shape (n_pairs,).

    Parameters as in `ideal_point_margins`; votes have no part. What a score differs from the mean of its level and system is
    averaged over the question's other levels, and multiplied by the slope, from 0 to 1, with which such averages predict a level
    in the other questions: 0 if questions do not differ, so that chance is not taken for height. 0 without other levels.
    """
    values = np.asarray(scores, dtype=np.float64)
    level, item = numbered(levels), numbered(items)
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    rest = np.where(there, filled - _mean(_sums(filled, level), _sums(there * 1.0, level)), 0.0)
    # Of each pair the sum of both answers' differences, and their number.
    own = np.column_stack([rest.sum(axis=1), there.sum(axis=1)])
    others = _sums(own, item) - _sums(own, _both(level, item))
    here, elsewhere = _mean(*own.T), _mean(*others.T)
    products = np.column_stack([here * elsewhere, elsewhere**2]) * (own[:, 1:] > 0)
    predicted, spread = (products.sum(axis=0) - _sums(products, item)).T
    return np.asarray(np.clip(_mean(predicted, spread), 0.0, 1.0) * elsewhere)


def _mean(total: Floats, n: Floats) -> Floats:
    """Quotient of the two, and 0 where n is 0."""
    return np.asarray(np.divide(total, n, out=np.zeros(np.shape(total)), where=np.asarray(n) > 0))


def _both(one: Indices, other: Indices) -> Indices:
    """Number each row's group by two columns at once."""
    return numbered(one * (int(other.max(initial=0)) + 1) + other)


def _sums(values: Floats, group: Indices) -> Floats:
    """Sums over each row's group, in the place of the row; shape of the values."""
    return cluster_sums(values, group)[group]
