"""Margins of votes that ask which of two answers fits a level: how much nearer one answer's score is to what fits."""

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats, Indices, cluster_sums, numbered

FEWEST_FITTING = 5
"""Answers found to fit a level that its target needs."""
_ALIKE = 1e-9
"""Share of the larger spread below which the neighbours of all levels are their other levels: they then predict as one."""
TOO_FEW_FITTING = f"fewer than {FEWEST_FITTING} answers were found to fit the level in other questions"


def ideal_point_margins(
    scores: ArrayLike, fits: ArrayLike, levels: ArrayLike, items: ArrayLike
) -> tuple[Floats, Floats]:
    """How much nearer the first answer's score of each pair is to its level's target, and the targets; both shape (n_pairs,).

    scores: shape (n_pairs, 2), the scores of the two answers, NaN for none; higher need not be better. fits: shape (n_pairs, 2),
    the number of raters who found each answer to fit its level. levels, items: shape (n_pairs,), the place of the pair's level, such as
    0 for the best, and its question, which is left out.

    The target is the mean score of the answers at the level that raters found to fit it in the other questions; each vote weighs
    the same, so an answer that two raters found to fit counts twice. A pair votes for the answer that is nearer to the target:
    margin = |second - target| - |first - target|. This is preference by distance from an ideal point (Coombs 1964; Schoenemann
    and Wang 1972), with the point learned from votes on other questions.

    Questions differ in what they do to scores, whatever the quality of the answers. How far a question lies above the others is
    read off its own other levels (`question_heights`), and the target moves with it. Without other levels it does not move. If
    quality itself differs between questions at every level, that takes the difference away.

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
    averaged over the question's neighbouring levels, and over all its other levels. The height is what these two predict for the
    level by least squares over the other questions: about 0 if questions do not differ, so that chance is not taken for height,
    and near the neighbours if a text resembles that of the level before. 0 without other levels.
    """
    values = np.asarray(scores, dtype=np.float64)
    level, item = numbered(levels), numbered(items)
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    rest = np.where(there, filled - _mean(_sums(filled, level), _sums(there * 1.0, level)), 0.0)
    # Of each pair the sum of both answers' differences, and their number; then of each question and level, with a level without
    # any at either end.
    own = np.column_stack([rest.sum(axis=1), there.sum(axis=1)])
    cells = np.zeros((int(item.max(initial=-1)) + 1, int(level.max(initial=-1)) + 3, 2))
    np.add.at(cells, (item, level + 1), own)
    near = cells[item, level] + cells[item, level + 2]
    others = cells.sum(axis=1)[item] - cells[item, level + 1]
    of_all = _mean(*others.T)
    features = np.column_stack([np.where(near[:, 1] > 0, _mean(*near.T), of_all), of_all])
    known = np.column_stack([features, _mean(*own.T)]) * (own[:, 1:] > 0)
    products = (known[:, :, None] * known[:, None, :]).reshape(-1, 9)
    elsewhere = (products.sum(axis=0) - _sums(products, item)).reshape(-1, 3, 3)
    weights = np.linalg.pinv(elsewhere[:, :2, :2], rcond=_ALIKE, hermitian=True) @ elsewhere[:, :2, 2:]
    return np.asarray((features * weights[:, :, 0]).sum(axis=1))


def _mean(total: Floats, n: Floats) -> Floats:
    """Quotient of the two, and 0 where n is 0."""
    return np.asarray(np.divide(total, n, out=np.zeros(np.shape(total)), where=np.asarray(n) > 0))


def _both(one: Indices, other: Indices) -> Indices:
    """Number each row's group by two columns at once."""
    return numbered(one * (int(other.max(initial=0)) + 1) + other)


def _sums(values: Floats, group: Indices) -> Floats:
    """Sums over each row's group, in the place of the row; shape of the values."""
    return cluster_sums(values, group)[group]
