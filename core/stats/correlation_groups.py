"""Correlation within items, averaged; and ratings freed of their raters' habits."""

import numpy as np
from numpy.typing import ArrayLike

from core.stats.correlation_coefficients import Method, column, is_constant, row_coefficients, standard
from core.stats.correlation_resampling import draw_counts
from core.stats.resampling import (
    Estimate,
    Floats,
    Indices,
    at_a_time,
    check_confidence_level,
    resampled_estimate,
    why_no_interval,
)


def mean_within(
    x: ArrayLike,
    y: ArrayLike,
    items: ArrayLike,
    method: Method,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """The coefficient within each item, averaged over items, with a percentile interval over items.

    x, y, items: shape (n,). Items in which it is undefined (a constant column, fewer than two rows with both values)
    have no part: `n_clusters` counts the items used, `n` their rows, `n_left_out` the items not used. Misleads where
    many items are left out, which are then not a random part (an item whose scores all tie is one of the hard ones),
    and where items have few rows: with two, every coefficient is -1 or 1.
    """
    check_confidence_level(confidence_level)
    by_item, rows = within_items(x, y, items, method)
    used = ~np.isnan(by_item)
    values = by_item[used]
    observed = float(values.mean()) if values.size else float("nan")
    no_interval = why_no_interval(observed, values.size, n_resamples)
    return resampled_estimate(
        observed,
        None if no_interval else _resampled_means(values, n_resamples, rng),
        n=int(rows[used].sum()),
        n_clusters=values.size,
        confidence_level=confidence_level,
        reason=None if values.size else "undefined within every item" if by_item.size else "no items",
        interval_reason=no_interval,
        n_left_out=int((~used).sum()),
    )


def within_items(x: ArrayLike, y: ArrayLike, items: ArrayLike, method: Method) -> tuple[Floats, Indices]:
    """The coefficient within each item, NaN where undefined, and its rows with both values: both (items,).

    Items come in the order of their labels.
    """
    first, second, labels = column(x), column(y), np.asarray(items)
    if not first.shape == second.shape == labels.shape:
        raise ValueError(
            f"x, y and items must have one shape (n,), got {first.shape}, {second.shape}, {labels.shape}"
        )
    names, item = np.unique(labels, return_inverse=True)
    known = ~(np.isnan(first) | np.isnan(second))
    rows = np.bincount(item[known], minlength=names.size)
    order = np.flatnonzero(known)[np.argsort(item[known], kind="stable")]
    starts = np.cumsum(rows) - rows
    by_item = np.full(names.size, np.nan)
    for size in np.unique(rows[rows > 1]):
        alike = np.flatnonzero(rows == size)
        chosen = order[starts[alike][:, None] + np.arange(size)]
        by_item[alike] = row_coefficients(first[chosen], second[chosen], method)
    return by_item, np.asarray(rows, dtype=np.intp)


def z_normalise(scores: ArrayLike, raters: ArrayLike) -> tuple[Floats, dict[str, str]]:
    """Each score minus its rater's mean, over its rater's standard deviation (ddof 1); and who has none, why.

    scores, raters: shape (n,). Scores of a rater with fewer than two scores, or with equal scores throughout, become
    NaN; the second result maps such raters to the reason. The usual step in machine translation's direct assessment
    (Graham et al. 2013, Linguistic Annotation Workshop 7:33). Misleads where raters saw texts of different quality:
    a rater who saw the best ones looks strict no more.
    """
    values, labels = column(scores), np.asarray(raters)
    if labels.shape != values.shape:
        raise ValueError(f"scores and raters must have one shape, got {values.shape} and {labels.shape}")
    names, rater = np.unique(labels, return_inverse=True)
    known = ~np.isnan(values)
    result, reasons = np.full(values.size, np.nan), {}
    for number, name in enumerate(names):
        mine = known & (rater == number)
        own = values[mine]
        if own.size < 2:
            reasons[str(name)] = "fewer than two scores"
        elif is_constant(own, axis=0):
            reasons[str(name)] = "all scores are equal"
        else:
            deviations = standard(own, axis=0)
            result[mine] = deviations / deviations.std(ddof=1)
    return result, reasons


def _resampled_means(values: Floats, n_resamples: int, rng: int | np.random.Generator) -> Floats:
    """The mean in each resample of the values (n,): shape (n_resamples,)."""
    together = at_a_time(values.size)
    means = [values @ counts / values.size for counts in draw_counts(values.size, n_resamples, together, rng)]
    return np.concatenate(means)
