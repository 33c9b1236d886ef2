"""Numbers that differ by rounding alone are one number: .1 + .2 is .3, though not in binary."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.stats.resampling import Floats

ROUNDING = 1e-12
"""Relative to what was added up; a sum of a thousand doubles is off by less."""


def tied(values: Floats, sizes: Floats | None = None) -> Floats:
    """Values along the last axis, with those that differ by no more than rounding replaced by the least of them.

    sizes: shape of values; how large what was added up to each value was (a mean of -1 and 1 is 0, its rounding is
    that of 1). None: the values themselves. NaN stays. A chain of values, each near the next, is one value.
    """
    size = np.abs(values) if sizes is None else sizes
    order = np.argsort(values, axis=-1, kind="stable")
    ascending, ordered = (np.take_along_axis(each, order, axis=-1) for each in (values, size))
    reach = ROUNDING * np.maximum(ordered[..., 1:], ordered[..., :-1])
    near = ascending[..., 1:] <= ascending[..., :-1] + reach  # no difference is taken: it could overflow
    differ = near & (ascending[..., 1:] != ascending[..., :-1])
    if not differ.any():
        return values
    place = np.broadcast_to(np.arange(values.shape[-1]), values.shape).copy()
    place[..., 1:][near] = 0
    first = np.maximum.accumulate(place, axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ascending, first, axis=-1), axis=-1)
    return result


def group_means(values: Floats, group: NDArray[np.intp], n_groups: int, least_size: float = 0.0) -> Floats:
    """Mean of the values (n,) of each group, whatever their order, equal ones tied; NaN for a group without any.

    least_size: how large the values' own rounding takes them for, where they are differences of larger numbers.
    """
    if values.size == n_groups == np.unique(group).size:  # one a group, which is its mean
        means = np.empty(n_groups)
        means[group] = values
        return tied(means, np.maximum(np.abs(means), least_size))
    members: list[list[float]] = [[] for _ in range(n_groups)]
    for number, value in zip(group.tolist(), values.tolist(), strict=True):
        members[number].append(value)
    means, sizes = _means(members), _means([[abs(value) for value in own] for own in members])
    return tied(means, np.maximum(sizes, least_size))


def _means(members: Sequence[Sequence[float]]) -> Floats:
    return np.array([_mean(own) if own else math.nan for own in members], dtype=np.float64)


def _mean(own: Sequence[float]) -> float:
    try:
        return math.fsum(own) / len(own)
    except OverflowError:  # a sum of the largest doubles; their mean is none
        return math.fsum(value / len(own) for value in own)
