"""All pairs of systems of all items, and what tying near metric scores does to them (for `tie_calibration`)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import Floats

_ROUNDING = 1e-12  # accuracies this close are one: they are sums of the same fractions in another order


@dataclass(frozen=True)
class Pairs:
    """All pairs of all items, item by item."""

    item: NDArray[np.intp]
    """A number from 0 for items that have a pair."""
    human_ties: NDArray[np.bool_]
    agree: NDArray[np.bool_]
    """Both sides put the same system ahead."""
    gap: Floats
    """How far the two metric scores are apart."""
    sizes: Floats
    """Pairs of each item: shape (n_items,)."""

    @property
    def n_items(self) -> int:
        """Items with a pair."""
        return self.sizes.size

    def right(self, epsilon: float) -> NDArray[np.bool_]:
        """Whether the metric has each pair right when scores no further apart than epsilon tie."""
        return np.where(self.gap <= epsilon, self.human_ties, self.agree)

    def per_item(self, epsilon: float) -> Floats:
        """Accuracy of each item: shape (n_items,)."""
        return np.asarray(np.bincount(self.item[self.right(epsilon)], minlength=self.n_items) / self.sizes)


def matrices(human: ArrayLike, metric: ArrayLike) -> tuple[Floats, Floats]:
    """Both as (n_items, n_systems). Raises ValueError for other shapes and for infinite scores."""
    sides = [np.asarray(values, dtype=np.float64) for values in (human, metric)]
    if sides[0].shape != sides[1].shape or sides[0].ndim not in (1, 2):
        raise ValueError(
            f"both must have one shape (n_items, n_systems), got {sides[0].shape} and {sides[1].shape}"
        )
    if any(np.isinf(values).any() for values in sides):
        raise ValueError("scores hold infinity: give NaN where there is no score")
    true, scores = (values[None] if values.ndim == 1 else values for values in sides)
    return true, scores


def known_pairs(true: Floats, scores: Floats) -> NDArray[np.bool_]:
    """Which two systems i < j of each item both sides scored."""
    first, second = np.triu_indices(true.shape[1], 1)
    known = ~(np.isnan(true) | np.isnan(scores))
    return np.asarray(known[:, first] & known[:, second])


def pairs_of(true: Floats, scores: Floats) -> Pairs:
    """All pairs of scores (n_items, n_systems), NaN where missing."""
    first, second = np.triu_indices(true.shape[1], 1)
    known = known_pairs(true, scores)
    rows = np.nonzero(known)[0]
    of_human = np.sign((true[:, first] - true[:, second])[known])
    with np.errstate(over="ignore"):  # scores far apart: their distance is then the largest number there is
        between = np.nan_to_num((scores[:, first] - scores[:, second])[known])
    n_pairs = known.sum(axis=1)
    numbers = np.cumsum(n_pairs > 0) - 1
    return Pairs(
        item=numbers[rows],
        human_ties=of_human == 0,
        agree=(of_human != 0) & (of_human == np.sign(between)),
        gap=np.abs(between),
        sizes=n_pairs[n_pairs > 0].astype(np.float64),
    )


def steps(pairs: Pairs) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Pairs whose result changes when a growing epsilon ties them, nearest first; where a new epsilon's last one stands;
    and by how much each changes its item. Pairs that the metric ties itself are tied from the start.
    """
    changing = np.nonzero((pairs.gap > 0) & (pairs.human_ties | pairs.agree))[0]
    order = changing[np.argsort(pairs.gap[changing])]
    gaps = pairs.gap[order]
    last = np.nonzero(np.diff(gaps, append=np.inf) > 0)[0]
    return order, last, np.where(pairs.human_ties[order], 1.0, -1.0) / pairs.sizes[pairs.item[order]]


def best_tie(pairs: Pairs) -> tuple[float, float]:
    """The largest accuracy, and the smallest epsilon that reaches it; n_items >= 1."""
    order, last, change = steps(pairs)
    risen = np.concatenate([[0.0], change.cumsum()[last]]) / pairs.n_items
    at = int(np.argmax(risen >= risen.max() - _ROUNDING))
    epsilon = 0.0 if at == 0 else float(pairs.gap[order[last[at - 1]]])
    return float(pairs.per_item(epsilon).mean()), epsilon
