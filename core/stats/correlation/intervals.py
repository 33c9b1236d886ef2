"""How strongly scores follow a target, with intervals: the functions of this package's correlations in one place.

Every interval is a percentile bootstrap. Over rows it takes rows for independent; where an item has several rows they
are not, and the interval is too narrow: resample items. Ranks are made anew in every resample, as a loop over
scipy's functions would make them. NaN means no value; rows without one are left out pairwise and counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial as partial_of

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from core.stats.correlation.coefficients import (
    Method,
    column,
    pair_coefficient,
    pair_reason,
)
from core.stats.correlation.resampled import columns_alike, resample_columns
from core.stats.near_ties import tied
from core.stats.resampling import (
    Estimate,
    Floats,
    Indices,
    check_confidence_level,
    is_settled,
    numbered,
    resampled_estimate,
    why_no_interval,
)


def correlate(
    x: ArrayLike,
    y: ArrayLike,
    method: Method,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """The coefficient of x and y (n,) with a percentile interval over rows, or over whole clusters (items).

    clusters: shape (n,), the item of each row; None resamples rows. `n_left_out` counts rows without a value.
    Undefined (a constant column, fewer than two rows): estimate None, with the reason. Resamples in which a column
    is constant are dropped and counted. Too narrow over rows that share items, and with few clusters.
    """
    scores = column(x)[:, None]
    return correlate_columns(
        scores,
        y,
        (method,),
        clusters=clusters,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )[0][method]


def correlate_columns(
    scores: ArrayLike,
    y: ArrayLike,
    methods: Sequence[Method],
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
    names: tuple[str, str] = ("scores", "levels"),
    until_settled: bool = False,
    tell: Callable[[str], None] | None = None,
) -> list[dict[Method, Estimate]]:
    """`correlate` for each column of scores (n, m), all on the same resamples: a result a column, by method.

    Columns may miss different rows; those that miss the same ones share the work. With an int as rng a column's
    result does not depend on the other columns. names: plurals for the reason of an undefined coefficient.
    until_settled: stop drawing for a column as soon as all its intervals are settled (`resampling.is_settled`), n_resamples
    at most. tell: told how far the work is.
    """
    check_confidence_level(confidence_level)
    table, target, labels = _checked(scores, y, clusters)
    seed = rng if isinstance(rng, int) else int(rng.integers(2**63))
    results: list[dict[Method, Estimate]] = [{} for _ in range(table.shape[1])]
    for rows, columns in columns_alike(table, target):
        part = table[np.ix_(rows, columns)]
        found = _complete_columns(
            part,
            target[rows],
            labels[rows],
            methods,
            n_resamples,
            confidence_level,
            seed,
            names,
            enough=partial_of(_all_settled, confidence_level=confidence_level) if until_settled else None,
            tell=tell,
        )
        for index, by_method in zip(columns, found, strict=True):
            results[index] = {
                method: replace(estimate, n_left_out=int((~rows).sum()))
                for method, estimate in by_method.items()
            }
    return results


def fisher_interval(
    r: float, n: int, confidence_level: float = 0.95, method: Method = "pearson"
) -> tuple[float, float] | None:
    """Interval by Fisher's z for n independent rows; None for Kendall, n < 4, an undefined r and |r| = 1.

    Variance of z: 1 / (n - 3) for Pearson (Fisher 1921); (1 + r**2 / 2) / (n - 3) for Spearman (Bonett and Wright
    2000, Psychometrika 65:23). Assumes a bivariate normal distribution; misleads on rows that share items.
    """
    check_confidence_level(confidence_level)
    if method == "kendall" or n < 4 or not abs(r) < 1:
        return None
    variance = (1 + r**2 / 2 if method == "spearman" else 1.0) / (n - 3)
    reach = float(norm.ppf((1 + confidence_level) / 2)) * np.sqrt(variance)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


def _complete_columns(
    scores: Floats,
    y: Floats,
    clusters: Indices,
    methods: Sequence[Method],
    n_resamples: int,
    confidence_level: float,
    seed: int,
    names: tuple[str, str],
    *,
    enough: Callable[[Sequence[Floats]], bool] | None,
    tell: Callable[[str], None] | None,
) -> list[dict[Method, Estimate]]:
    """The results of columns that have a value in every row given, equal ones tied."""
    distinct, clusters = np.unique(clusters, return_inverse=True)
    by_column = np.ascontiguousarray(scores.T)
    reasons = [pair_reason(x, y, names) for x in by_column]
    defined = [number for number, reason in enumerate(reasons) if reason is None]
    values = None
    if why_no_interval(0.0, distinct.size, n_resamples) is None and defined:
        values = resample_columns(
            scores[:, defined],
            y,
            clusters,
            distinct.size,
            methods,
            n_resamples=n_resamples,
            seed=seed,
            enough=enough,
            tell=tell,
        )
    results: list[dict[Method, Estimate]] = []
    for number, (x, reason) in enumerate(zip(by_column, reasons, strict=True)):
        by_method = {}
        for method in methods:
            observed = pair_coefficient(x, y, method)
            by_method[method] = resampled_estimate(
                observed,
                None if values is None or reason else values[method][defined.index(number)],
                n=y.size,
                n_clusters=distinct.size,
                confidence_level=confidence_level,
                reason=reason,
                interval_reason=why_no_interval(observed, distinct.size, n_resamples),
            )
        results.append(by_method)
    return results


def _all_settled(values: Sequence[Floats], confidence_level: float) -> bool:
    return all(
        is_settled(resampled_estimate(0.0, one, n=0, n_clusters=0, confidence_level=confidence_level))
        for one in values
    )


def _checked(scores: ArrayLike, y: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats, Indices]:
    table, target = np.asarray(scores, dtype=np.float64), column(y)
    labels = np.arange(target.size) if clusters is None else np.asarray(clusters)
    if table.ndim != 2 or len(table) != target.size or labels.shape != target.shape:
        raise ValueError(
            f"scores must have shape (n, m), y and clusters (n,), got {table.shape}, {target.shape}, {labels.shape}"
        )
    if np.isinf(table).any():
        raise ValueError("scores must be finite, or NaN where there is none")
    # Column by column: all at once would hold half a dozen copies of the table.
    table = np.stack([tied(own) for own in table.T], axis=1) if table.shape[1] else table
    return table, target, numbered(labels)
