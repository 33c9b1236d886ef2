"""Ties of scores as frequent as ties of raters: which margins are so small that they count as no preference."""

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats, cluster_sums, numbered

FEWEST_ITEMS = 5
"""Other questions that a threshold needs."""
FEW_ITEMS = f"fewer than {FEWEST_ITEMS} other questions from which to learn how often raters tie"
NO_SPREAD = "the metric prefers neither answer in any pair"


def tie_thresholds(margins: ArrayLike, votes: ArrayLike, items: ArrayLike) -> Floats:
    """The margin up to which each pair counts as a tie, shape (n_pairs,), learned from the pairs of other questions.

    margins: shape (n_pairs,), above 0 for the first answer, NaN for none. votes: shape (n_pairs, n_raters), 1, -1, 0 for a tie, NaN
    for none. items: shape (n_pairs,), the question of each pair.

    The threshold is the largest distance |margin| of the other questions that counts as a tie, so that the share of ties among
    them comes as close as possible to the share of ties among the votes on the same pairs; if two distances come equally close,
    the smaller. Equal distances tie together: a metric with few different scores may tie clearly more or less often than raters.
    0, which ties equal scores alone, if no distance above 0 comes closer, and if all margins are equal: then nothing tells which of
    them are closer calls.

    NaN without a margin, where fewer than FEWEST_ITEMS other questions have one with a vote, and everywhere if all margins are 0.

    A question's votes reach its own threshold only through the margins of other questions, if those were learned from votes.

    Unlike the threshold that maximises accuracy (Deutsch et al. 2023, EMNLP, 12914), it looks at no agreement: with many ties of
    raters, the most accurate metric would tie always. Misleads if raters tie for another reason than closeness, such as haste.
    """
    values, signs = np.asarray(margins, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    if values.ndim != 1 or signs.ndim != 2 or len(signs) != len(values):
        raise ValueError(
            f"margins and votes must have shapes (n_pairs,) and (n_pairs, n_raters), got {values.shape} and {signs.shape}"
        )
    item = numbered(items)
    there = ~np.isnan(values)
    thresholds = np.full(values.shape, np.nan)
    if not (values[there] != 0).any():
        return thresholds
    n_votes, n_ties = (~np.isnan(signs)).sum(axis=1), (signs == 0).sum(axis=1)
    used = there & (n_votes > 0)
    by_item = cluster_sums(np.column_stack([used * 1.0, used * n_votes, used * n_ties]), item)
    n_items = int((by_item[:, 0] > 0).sum())
    order = np.flatnonzero(used)[np.argsort(np.abs(values[used]), kind="stable")]
    ascending, items_in_order = np.abs(values[order]), item[order]
    equal = np.ptp(values[there]) == 0
    for at in np.unique(item[there]):
        if n_items - (by_item[at, 0] > 0) < FEWEST_ITEMS:
            continue
        _, votes_elsewhere, ties_elsewhere = by_item.sum(axis=0) - by_item[at]
        elsewhere = ascending[items_in_order != at]
        thresholds[there & (item == at)] = (
            0.0 if equal else _threshold(elsewhere, ties_elsewhere / votes_elsewhere)
        )
    return thresholds


def _threshold(ascending: Floats, share: float) -> float:
    """0 or the distance at which the share of distances up to it is closest to this share; of two, the smaller."""
    last = np.flatnonzero(np.append(np.diff(ascending) > 0, True))
    steps = np.append(0.0, ascending[last])
    shares = np.append((ascending == 0).sum(), last + 1) / ascending.size
    return float(steps[np.argmin(np.abs(shares - share))])


def calibrated_votes(margins: ArrayLike, thresholds: ArrayLike) -> Floats:
    """1 or -1 beyond the threshold, 0 up to it, NaN without margin or threshold."""
    values, limits = np.asarray(margins, dtype=np.float64), np.asarray(thresholds, dtype=np.float64)
    signs = np.where(np.abs(values) <= limits, 0.0, np.sign(values))
    return np.where(np.isnan(limits), np.nan, signs)
