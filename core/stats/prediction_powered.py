"""A judge's mean or pass rate, corrected by labels from people: PPI++, Rogan-Gladen, intervals from labels alone, and the total
of texts of which a judge keeps some and people label the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    Estimate,
    Floats,
    Indices,
    check_confidence_level,
    numbered,
    unit_clusters,
    unit_weights,
    wilson_of,
)

Method = Literal["by-class", "ppi++", "rogan-gladen", "exact", "labels-only"]
METHODS: dict[Method, str] = {
    "by-class": "the judge's answers",
    "ppi++": "PPI++",
    "rogan-gladen": "Rogan-Gladen",
    "exact": "labels only, exact",
    "labels-only": "labels only",
}
"""Methods that may decide, and their names for readers."""
FEWEST_LABELS = 100
"""Labels of a pass rate below which labels alone decide, in clusters."""
FEWEST_OF_A_CLASS = 5
"""Labels of either class (pass, fail), in clusters, below which labels alone decide."""
FEWEST_CLUSTERS = 15
"""Clusters with labels below which labels alone decide a mean."""
SELECTED = 0.01
"""p of the test that the judge scores labelled and other rows alike, below which labels were not a random choice."""
NO_LABELS = "no row has both the judge's score and a human label"
NO_JUDGE = "no row has a judge's score"
ONE_VALUE = "fewer than two items have a value"
CHANCE = "the judge is no better than chance: sensitivity and specificity sum to at most 1"


@dataclass(frozen=True)
class Corrected:
    """A mean (or a difference of two) in people's words, corrected by labels, and what it is made of."""

    decided: Estimate
    """The corrected estimate and its interval; `n` counts rows with a judge's score."""
    method: Method
    """Which method decided."""
    why: str
    """Why, as the end of a sentence."""
    judge_only: Estimate
    """Mean of the judge's scores over all rows."""
    labels_only: Estimate
    """Mean of the human labels, without the judge."""
    weight: float | None
    """Lambda, in [0, 1]: the weight of the judge in PPI++, 0 for labels alone, None for Rogan-Gladen."""
    n_labelled: int
    """Rows with both."""
    n_labelled_clusters: int
    labels_saved: float | None
    """How many more labels would give labels alone this variance; 0 if labels alone decided, negative for a loss."""
    p_value: float | None
    """Two-sided p that the true value is 0, for differences; None for a pass rate and where nothing varies."""
    ppi: Estimate | None = None
    """PPI++, also where it did not decide; None where it cannot be computed."""
    rogan_gladen: Estimate | None = None
    """Rogan-Gladen, also where it did not decide; None unless judge and people both say pass or fail."""
    sensitivity: Estimate | None = None
    """Share of people's passes that the judge passes, with an exact interval."""
    specificity: Estimate | None = None
    """Share of people's fails that the judge fails."""
    labelled_shift_p: float | None = None
    """p of the test that the judge scores labelled and unlabelled rows alike. Small: labels were not a random choice."""
    paired: bool | None = None
    """Of a difference: whether it rests on differences within items."""
    n_left_out: int = 0
    """Of a paired difference: rows without a partner of the other system."""

    @property
    def share_saved(self) -> float | None:
        """Labels saved as a share of the labels given."""
        return None if self.labels_saved is None else self.labels_saved / self.n_labelled


@dataclass(frozen=True)
class Scored:
    """Rows of one system, all of shape (n_rows,)."""

    judge: ArrayLike
    """The judge's scores, finite."""
    human: ArrayLike
    """Human labels on the same scale (1 pass, 0 fail for pass rates); NaN where there is none."""
    clusters: ArrayLike | None = None
    """The item of each row, if rows of one item depend on each other; default: rows are independent."""
    keys: ArrayLike | None = None
    """What makes rows of two systems a pair, such as the item. Default: no pairs."""


def corrected_mean(
    rows: Scored,
    *,
    pass_rate: bool = False,
    method: Method | None = None,
    confidence_level: float = 0.95,
) -> Corrected:
    """Estimate the mean human label of all rows from the judge's scores and the labels of some rows.

    PPI++ (Angelopoulos, Duchi, Zrnic 2023, arXiv:2311.01453, sec. 2 and 6): with n labelled rows (labels Y, scores f) and
    N others (scores F), theta = mean(Y) + lambda (mean(F) - mean(f)), lambda = Cov(Y, f) / ((1 + n/N) Var(f, F)), clipped
    to [0, 1], Var(theta) = Var(Y - lambda f)/n + lambda^2 Var(F)/N. The variance of f is pooled over both parts. With
    clusters, variances are those of cluster sums and n counts clusters; if a cluster has rows of both kinds, its sums are
    added before they are squared, and lambda minimises the variance. The interval is theta +- t sqrt(Var), with the t of
    (clusters with labels - 1) degrees of freedom.

    Rogan and Gladen (1978, American Journal of Epidemiology 107:71), for pass rates: (q + sp - 1) / (se + sp - 1), clipped
    to [0, 1], with q the judge's pass rate over all rows. Interval: Lang and Reiczigel (2014, Preventive Veterinary
    Medicine 113:13), which carries the errors of q, se and sp, as Lee et al. (2025) do for judges. It takes them as
    independent; labelled rows are in all three, so it is slightly too wide.

    Labels alone: Clopper-Pearson for pass rates (with clusters: Korn and Graubard 1998, Survey Methodology 24:193), else t.

    pass_rate: labels and their means lie in [0, 1]. PPI++'s interval then has Wilson's form (1927, JASA 22:209), because
    the variance of a rate depends on the rate: the limits p solve |p - theta| = t sqrt(Var p (1 - p) / (theta (1 - theta))).

    method: None lets this rule decide, which no interval's width enters. Pass rates, in this order: labels alone below
    FEWEST_LABELS clusters with labels or FEWEST_OF_A_CLASS clusters with a label of either class, or if se + sp <= 1;
    else PPI++. Rogan-Gladen is never chosen, because it needs other labels: chosen by what people would say. Means: labels alone below FEWEST_CLUSTERS clusters with labels; else
    PPI++. PPI++ with lambda 0 is labels alone. With labels of randomly chosen rows, PPI++ for a judge of passes is, up to
    terms of smaller order, the mean of Rogan-Gladen on the other rows and labels alone with the weights that minimise the
    variance, so it needs fewer labels than either.

    Raises ValueError for scores that are not finite, other shapes, and pass rates outside [0, 1].

    Misleads if labelled rows were not chosen at random: all but Rogan-Gladen then estimate another mean (see
    `labelled_shift_p`), and Rogan-Gladen too unless the judge errs equally often in both parts.
    """
    check_confidence_level(confidence_level)
    (data,) = _checked([rows], pass_rate)
    moments = _moments(data)
    alone: Method = "exact" if pass_rate else "labels-only"
    labels = _alone(data, moments.labels, moments.n_with, NO_LABELS, pass_rate, confidence_level)
    powered = _t_interval(moments.powered, data.n, moments.n_with, NO_LABELS, confidence_level, pass_rate)
    classes = _classes(data, confidence_level) if pass_rate and data.is_binary else None
    chosen, why = _rule(data, moments, classes, pass_rate) if method is None else (method, "chosen by you")
    if chosen == "rogan-gladen" and (classes is None or classes.prevalence.estimate is None):
        chosen, why = (
            alone,
            (classes and classes.prevalence.reason) or "judge or people do not say pass or fail",
        )
    elif chosen == "ppi++" and moments.weight == 0:
        chosen, why = alone, moments.why_no_weight
    elif chosen not in ("ppi++", "rogan-gladen"):
        chosen = alone
    linear = moments.powered if chosen == "ppi++" else moments.labels
    decided, variance = powered if chosen == "ppi++" else labels, _variance(linear)
    if classes is not None and chosen == "rogan-gladen":
        decided, variance = classes.prevalence, classes.variance
    return Corrected(
        replace(decided, n=data.judge.size, n_clusters=data.n_clusters),
        chosen,
        why,
        _alone(
            replace(data, human=data.judge),
            _mean(data.judge, data.index, data.size),
            data.n_clusters,
            NO_JUDGE,
            pass_rate,
            confidence_level,
        ),
        labels,
        {"ppi++": moments.weight, "rogan-gladen": None}.get(chosen, 0.0),
        data.n,
        moments.n_with,
        0.0 if chosen == alone and data.n else _saved(data.n, _variance(moments.labels), variance),
        None if pass_rate else _p_value(linear),
        ppi=powered,
        rogan_gladen=None if classes is None else classes.prevalence,
        sensitivity=None if classes is None else classes.sensitivity,
        specificity=None if classes is None else classes.specificity,
        labelled_shift_p=_p_value(moments.shift),
    )


@dataclass(frozen=True)
class _Rows:
    """Checked rows; clusters are numbered from 0 to size - 1, for two systems together."""

    judge: Floats
    human: Floats
    index: Indices
    size: int

    @property
    def labelled(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.human)

    @property
    def n(self) -> int:
        """Rows with a label."""
        return int(self.labelled.sum())

    @property
    def n_clusters(self) -> int:
        return int(np.unique(self.index).size)

    @property
    def is_clustered(self) -> bool:
        return self.n_clusters < self.judge.size

    @property
    def is_binary(self) -> bool:
        values = np.concatenate([self.judge, self.human[self.labelled]])
        return bool(((values == 0) | (values == 1)).all())


def _checked(systems: Sequence[Scored], pass_rate: bool) -> list[_Rows]:
    """Rows as arrays, with clusters numbered over all systems. Without clusters, rows with one key share a number."""
    found = []
    for one in systems:
        judge, human = np.asarray(one.judge, dtype=np.float64), np.asarray(one.human, dtype=np.float64)
        if judge.ndim != 1 or judge.shape != human.shape:
            raise ValueError(
                f"judge and human must have one shape (n_rows,), got {judge.shape} and {human.shape}"
            )
        if not np.isfinite(judge).all() or np.isinf(human).any():
            raise ValueError("judge must be finite, human finite or NaN: leave out unusable rows before")
        if pass_rate and ((human < 0) | (human > 1)).any():
            raise ValueError("labels of a pass rate must lie in [0, 1]")
        found.append((judge, human))
    sizes = [judge.size for judge, _ in found]
    starts = np.cumsum([0, *sizes])
    clusters = [
        unit_clusters(one.keys if one.clusters is None else one.clusters, size)
        if one.clusters is not None or one.keys is not None
        else np.arange(start, start + size)
        for one, size, start in zip(systems, sizes, starts[:-1], strict=True)
    ]
    index = numbered(np.concatenate(clusters))
    size = int(index.max(initial=-1)) + 1
    return [
        _Rows(judge, human, index[start:end], size)
        for (judge, human), start, end in zip(found, starts[:-1], starts[1:], strict=True)
    ]


@dataclass(frozen=True)
class _Linear:
    """An estimate that is asymptotically a sum over clusters."""

    point: float
    influence: Floats
    """Of each cluster, shape (size,), with the factor for small samples: the variance is the sum of squares."""
    df: float

    @property
    def variance(self) -> float:
        return float(self.influence @ self.influence)

    def minus(self, other: "_Linear") -> "_Linear":
        """The difference: clusters that both share count with their covariance. df: Welch and Satterthwaite."""
        below = sum(one.variance**2 / one.df for one in (self, other) if one.df > 0)
        df = (self.variance + other.variance) ** 2 / below if below > 0 else min(self.df, other.df)
        if min(self.df, other.df) < 1:
            df = 0.0
        return _Linear(self.point - other.point, self.influence - other.influence, df)


def _variance(found: _Linear | None) -> float | None:
    return None if found is None or found.df < 1 else found.variance


def _small_sample(n: int) -> float:
    return n / (n - 1) if n > 1 else 1.0


def _influence(values: Floats, index: Indices, size: int) -> Floats:
    """Deviations from the mean over n, summed in each cluster: shape (size,)."""
    if not values.size:
        return np.zeros(size)
    return np.bincount(index, weights=values - values.mean(), minlength=size) / values.size


def _mean(values: Floats, index: Indices, size: int) -> _Linear | None:
    """The mean of values; None without any."""
    if not values.size:
        return None
    n = int(np.unique(index).size)
    return _Linear(float(values.mean()), _influence(values, index, size) * _small_sample(n) ** 0.5, n - 1)


@dataclass(frozen=True)
class _Moments:
    """What labels and judge say together."""

    labels: _Linear | None
    powered: _Linear | None
    """PPI++; None without labels."""
    shift: _Linear | None
    """Mean score of labelled minus unlabelled rows; None without rows of either."""
    weight: float
    """Lambda, clipped."""
    n_with: int
    """Clusters with a label."""
    why_no_weight: str
    """Why PPI++ would equal labels alone."""


def _moments(data: _Rows) -> _Moments:
    """PPI++: mean(Y) minus lambda times (mean(f) - mean(F)), by influence values of clusters."""
    labelled, index, size = data.labelled, data.index, data.size
    y, f, others = data.human[labelled], data.judge[labelled], data.judge[~labelled]
    has_label, has_other = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    has_label[index[labelled]] = True
    has_other[index[~labelled]] = True
    n_with, n_without = int(has_label.sum()), int((has_other & ~has_label).sum())
    scale = np.where(has_label, _small_sample(n_with), _small_sample(n_without)) ** 0.5
    labels = _mean(y, index[labelled], size)
    if labels is None or not others.size:
        why = "every row with a judge's score has a label" if y.size else NO_LABELS
        return _Moments(labels, labels, None, 0.0, n_with, why)
    of_f, of_others = _influence(f, index[labelled], size), _influence(others, index[~labelled], size)
    shift = _Linear(float(f.mean() - others.mean()), scale * (of_f - of_others), n_with - 1)
    shared, spread = float(labels.influence @ shift.influence), shift.variance
    if n_without and not (has_label & has_other).any():
        # No cluster has rows of both kinds: PPI++ pools the variance of f over both.
        on_scale = np.where(
            has_label,
            of_f * n_with + f.mean(),
            np.where(has_other, of_others * n_without + others.mean(), np.nan),
        )
        there = has_label | has_other
        spread = float(on_scale[there].var(ddof=1)) * (1 / n_with + 1 / n_without)
    weight = min(max(shared / spread, 0.0), 1.0) if spread > 0 and n_with > 1 else 0.0
    powered = replace(
        labels,
        point=labels.point - weight * shift.point,
        influence=labels.influence - weight * shift.influence,
    )
    why = (
        "the judge's scores do not rise with the labels"
        if spread > 0
        else "the judge gives all rows one score"
    )
    return _Moments(labels, powered, shift, weight, n_with, why)


def _found(
    estimate: float | None,
    low: float | None,
    high: float | None,
    confidence_level: float,
    n: int,
    n_clusters: int,
    *,
    reason: str | None = None,
    interval_reason: str | None = None,
) -> Estimate:
    """An estimate without resampling."""
    return Estimate(
        estimate, low, high, n, reason, 0, 0, confidence_level, interval_reason, n_clusters=n_clusters
    )


def _t_interval(
    found: _Linear | None,
    n: int,
    n_clusters: int,
    why_none: str,
    confidence_level: float,
    pass_rate: bool = False,
) -> Estimate:
    """Estimate +- t standard errors, for pass rates in Wilson's form; none where nothing varies or nothing is free."""
    from scipy.special import stdtrit  # imported lazily: no command needs it at its start

    if found is None:
        return _found(
            None, None, None, confidence_level, n, n_clusters, reason=why_none, interval_reason=why_none
        )
    if found.df < 1 or not found.variance > 0:
        why = ONE_VALUE if found.df < 1 else "all values are equal, so nothing shows the uncertainty"
        return _found(found.point, None, None, confidence_level, n, n_clusters, interval_reason=why)
    point, reach = found.point, float(stdtrit(found.df, (1 + confidence_level) / 2)) * found.variance**0.5
    low, high = point - reach, point + reach
    if pass_rate:
        point = min(max(point, 0.0), 1.0)
        low, high = (
            wilson_of(point, reach**2 / (point * (1 - point)))
            if 0 < point < 1
            else (min(low, point), max(high, point))
        )
        low, high = max(low, 0.0), min(high, 1.0)
    return _found(point, low, high, confidence_level, n, n_clusters)


def _p_value(found: _Linear | None) -> float | None:
    """Two-sided p that the estimate is 0; None where nothing varies."""
    from scipy.special import stdtr

    if found is None or found.df < 1 or not found.variance > 0:
        return None
    return 2 * float(stdtr(found.df, -abs(found.point) / found.variance**0.5))


def _saved(n: int, of_labels: float | None, variance: float | None) -> float | None:
    return n * (of_labels / variance - 1) if of_labels is not None and variance else None


def exact_share(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Estimate:
    """Mean of shares over units with the exact interval of a share (Clopper and Pearson 1934, Biometrika 26:404).

    values: shape (n,), each in [0, 1], n >= 1. clusters: shape (n,), the item of each unit; by default units are independent.
    weights: shape (n,), positive, what each unit counts. With either n is the `effective_units`. Exact for independent
    units of 0 and 1; for shares between too wide, since they vary less; with clusters or weights approximate. An end of the
    interval at level 1 - 2 delta is a one-sided bound at 1 - delta.
    """
    check_confidence_level(confidence_level)
    given = np.asarray(values, dtype=np.float64)
    index = numbered(unit_clusters(clusters, given.size))
    n_clusters = int(index.max(initial=-1)) + 1
    point, n = effective_units(given, clusters, weights=weights, confidence_level=confidence_level)
    if not given.size:
        return _t_interval(None, 0, n_clusters, "no unit has a value", confidence_level)
    low, high = clopper_pearson(n * point, n, confidence_level)
    return _found(point, low, high, confidence_level, given.size, n_clusters)


def effective_units(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> tuple[float, float]:
    """Mean of values, and the number of independent units that would make it as certain.

    Parameters as in `exact_share`. Korn and Graubard (1998, Survey Methodology 24:193); where nothing varies the number of
    clusters, or with weights (sum of weights)^2 / sum of squared weights over clusters (Kish 1965, Survey Sampling).
    """
    given = np.asarray(values, dtype=np.float64)
    if not given.size:
        return np.nan, 0.0
    counts = unit_weights(weights, given.size)
    index = numbered(unit_clusters(clusters, given.size))
    by_cluster = np.bincount(index, counts)
    n_clusters, even = by_cluster.size, bool(np.ptp(counts) == 0)
    point = float((counts * given).sum() / counts.sum())
    if even and n_clusters == given.size:
        return point, float(n_clusters)
    moved = np.bincount(index, counts * (given - point)) / counts.sum()
    mean = _Linear(point, moved * _small_sample(n_clusters) ** 0.5, n_clusters - 1)
    spread = float((counts * (given - point) ** 2).sum() / counts.sum())
    n = _effective(float(given.size), mean, spread, n_clusters, confidence_level)
    return point, n if even or mean.variance > 0 else min(
        n, float(by_cluster.sum() ** 2 / (by_cluster**2).sum())
    )


def _alone(
    data: _Rows,
    mean: _Linear | None,
    n_clusters: int,
    why_none: str,
    pass_rate: bool,
    confidence_level: float,
) -> Estimate:
    """Mean of `data.human` without the other side: exact for pass rates, else t."""
    if mean is None or not pass_rate or not 0 <= mean.point <= 1:
        return _t_interval(mean, data.n, n_clusters, why_none, confidence_level)
    n = float(data.n)
    if n_clusters < n:
        n = _effective(n, mean, mean.point * (1 - mean.point), n_clusters, confidence_level)
    low, high = clopper_pearson(n * mean.point, n, confidence_level)
    return _found(mean.point, low, high, confidence_level, data.n, n_clusters)


def _effective(n: float, mean: _Linear, spread: float, n_clusters: int, confidence_level: float) -> float:
    """Korn and Graubard's number of independent labels in clustered ones; the number of clusters if nothing varies.

    spread: variance of single labels, for passes p (1 - p).
    """
    from scipy.special import stdtrit

    if n_clusters < 2 or not mean.variance > 0:
        return float(n_clusters)
    tail = (1 + confidence_level) / 2
    lost = float(stdtrit(n - 1, tail) / stdtrit(n_clusters - 1, tail)) ** 2
    return min(n, max(spread / mean.variance * lost, 1.0))


def clopper_pearson(count: float, n: float, confidence_level: float) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934, Biometrika 26:404); count and n may be fractions."""
    from scipy.special import betaincinv

    tail = (1 - confidence_level) / 2
    low = 0.0 if count <= 0 else float(betaincinv(count, n - count + 1, tail))
    high = 1.0 if count >= n else float(betaincinv(count + 1, n - count, 1 - tail))
    return low, high


@dataclass(frozen=True)
class _Classes:
    """The judge's errors by class, and Rogan-Gladen."""

    prevalence: Estimate
    sensitivity: Estimate
    specificity: Estimate
    quality: float
    """se + sp; NaN without one of the classes."""
    variance: float | None
    """Of Rogan-Gladen, by the delta method without added counts."""


def _classes(data: _Rows, confidence_level: float) -> _Classes:
    y, f = data.human[data.labelled], data.judge[data.labelled]
    own = data.index[data.labelled]
    passes = y == 1

    def right(values: Floats, index: Indices, why_none: str) -> Estimate:
        part = _Rows(values, values, index, data.size)
        mean = _mean(values, index, data.size)
        return _alone(part, mean, part.n_clusters, why_none, True, confidence_level)

    sensitivity = right(f[passes], own[passes], "no label says pass")
    specificity = right(1 - f[~passes], own[~passes], "no label says fail")
    se, sp = sensitivity.estimate, specificity.estimate
    if se is None or sp is None:
        why: str | None = sensitivity.reason or specificity.reason
        quality = float("nan")
    else:
        quality = se + sp
        why = CHANCE if quality <= 1 else None
    n_pass, n_fail, n = float(passes.sum()), float((~passes).sum()), float(data.judge.size)
    if why is not None or se is None or sp is None:
        undefined = _found(
            None, None, None, confidence_level, data.n, data.n, reason=why, interval_reason=why
        )
        return _Classes(undefined, sensitivity, specificity, quality, None)
    q = float(data.judge.mean())
    estimate = min(max((q + sp - 1) / (quality - 1), 0.0), 1.0)
    if data.is_clustered:
        n, n_pass, n_fail = (
            effective_units(values, index, confidence_level=confidence_level)[1]
            for values, index in (
                (data.judge, data.index),
                (f[passes], own[passes]),
                (f[~passes], own[~passes]),
            )
        )
    low, high = _lang_reiczigel(q * n, n, se * n_pass, n_pass, sp * n_fail, n_fail, confidence_level)
    # The interval's centre is another estimate, so it might miss this one.
    prevalence = _found(estimate, min(low, estimate), max(high, estimate), confidence_level, data.n, data.n)
    variance = _delta(estimate, q, n, se, n_pass, sp, n_fail)
    return _Classes(prevalence, sensitivity, specificity, quality, variance)


def _delta(p: float, q: float, n: float, se: float, n_pass: float, sp: float, n_fail: float) -> float:
    """Variance of Rogan-Gladen's estimate p from the binomial variances of q, se and sp."""
    errors = q * (1 - q) / n + p**2 * se * (1 - se) / n_pass + (1 - p) ** 2 * sp * (1 - sp) / n_fail
    return float(errors / (se + sp - 1) ** 2)


def _lang_reiczigel(
    count: float,
    n: float,
    true_pass: float,
    n_pass: float,
    true_fail: float,
    n_fail: float,
    confidence_level: float,
) -> tuple[float, float]:
    """Lang and Reiczigel's interval: counts are added to q, se and sp, then a Wald interval is moved."""
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence_level) / 2))
    n, n_pass, n_fail = n + z**2, n_pass + 2, n_fail + 2
    q, se, sp = (count + z**2 / 2) / n, (true_pass + 1) / n_pass, (true_fail + 1) / n_fail
    if se + sp <= 1:
        return 0.0, 1.0
    p = (q + sp - 1) / (se + sp - 1)
    moved = 2 * z**2 * (p * se * (1 - se) / n_pass - (1 - p) * sp * (1 - sp) / n_fail)
    reach = z * _delta(p, q, n, se, n_pass, sp, n_fail) ** 0.5
    return min(max(p + moved - reach, 0.0), 1.0), min(max(p + moved + reach, 0.0), 1.0)


def _rule(data: _Rows, moments: _Moments, classes: _Classes | None, pass_rate: bool) -> tuple[Method, str]:
    """Which method decides, and why. It does not depend on the width of any interval."""
    items = "items" if data.is_clustered else "rows"
    if data.labelled.all():
        return ("exact" if pass_rate else "labels-only"), moments.why_no_weight
    if not pass_rate:
        if moments.n_with < FEWEST_CLUSTERS:
            return "labels-only", f"fewer than {FEWEST_CLUSTERS} {items} have a label ({moments.n_with})"
        return "ppi++", "it corrects a mean"
    if moments.n_with < FEWEST_LABELS:
        return "exact", f"fewer than {FEWEST_LABELS} {items} have a label ({moments.n_with})"
    if _fewest_of_a_class(data) < FEWEST_OF_A_CLASS:
        return "exact", f"fewer than {FEWEST_OF_A_CLASS} {items} pass, or fail"
    if classes is None:
        return "ppi++", "judge or people do not say pass or fail"
    if not classes.quality > 1:
        return "exact", CHANCE
    return "ppi++", "it corrects a pass rate"


def _fewest_of_a_class(data: _Rows) -> int:
    """Clusters with a label of the rarer class, pass or fail."""
    labels, index = data.human[data.labelled], data.index[data.labelled]
    return min(int(np.unique(index[where]).size) for where in (labels > 0.5, labels < 0.5))


def corrected_difference(
    first: Scored, second: Scored, *, pass_rate: bool = False, confidence_level: float = 0.95
) -> Corrected:
    """Estimate the mean of the first system minus that of the second, corrected by labels.

    Paired if at least half of the rows, and half of the labels, of the system with fewer have a partner: a row of the
    other system with the same key, for labels a labelled one. Then PPI++ on the differences of pairs, so that what an
    item adds to both cancels. Else PPI++ for each system: the variance is that of the difference of both sums over
    clusters, with Welch and Satterthwaite's degrees of freedom. The p-value tests that the difference is 0.

    Differences of pass rates use the same. Below FEWEST_LABELS labelled pairs (rows of a system), and if labels differ in
    fewer than FEWEST_OF_A_CLASS pairs (a system has fewer passes or fails), labels alone decide: of
    pairs by Agresti and Min (2005, Statistics in Medicine 24:729; with several pairs in a cluster times the design effect),
    of independent rows by Agresti and Caffo (2000, American Statistician 54:280), which add counts so that equal labels
    give a width too; of systems with several rows in a cluster but no pairs by t. Differences of pass rates are cut to [-1, 1].

    Keys must be unique within a system. Raises ValueError if not, and as `corrected_mean` does.

    Misleads like `corrected_mean`.
    """
    check_confidence_level(confidence_level)
    a, b = _checked([first, second], pass_rate)
    pairs = _pairs(first, second, a, b)
    found = (
        _apart(a, b, pass_rate, confidence_level)
        if pairs is None
        else _paired(a, b, pairs, pass_rate, confidence_level)
    )
    if not pass_rate:
        return found
    return replace(
        found,
        decided=_cut(found.decided),
        labels_only=_cut(found.labels_only),
        ppi=None if found.ppi is None else _cut(found.ppi),
    )


def _cut(difference: Estimate) -> Estimate:
    """A difference of two pass rates within [-1, 1], inside its interval.

    t intervals of few labels may reach beyond the scale, and added counts move the centre away from the estimate.
    """
    estimate, low, high = difference.estimate, difference.low, difference.high
    if estimate is None:
        return difference
    estimate = min(max(estimate, -1.0), 1.0)
    if low is None or high is None:
        return replace(difference, estimate=estimate)
    return replace(
        difference, estimate=estimate, low=max(min(low, estimate), -1.0), high=min(max(high, estimate), 1.0)
    )


def _apart(a: _Rows, b: _Rows, pass_rate: bool, confidence_level: float) -> Corrected:
    """The difference of two systems without pairs."""
    sides = (_moments(a), _moments(b))
    labels, powered = _minus(sides[0].labels, sides[1].labels), _minus(sides[0].powered, sides[1].powered)
    judged = _minus(*(_mean(one.judge, one.index, one.size) for one in (a, b)))
    fewest, clustered = min(one.n_with for one in sides), a.is_clustered or b.is_clustered
    least = FEWEST_LABELS if pass_rate else FEWEST_CLUSTERS
    rare = pass_rate and fewest >= least and min(map(_fewest_of_a_class, (a, b))) < FEWEST_OF_A_CLASS
    few, useless = fewest < least or rare, all(one.weight == 0 for one in sides)
    of_labels = labels
    if few and pass_rate and labels is not None and not clustered:
        of_labels = _agresti_caffo(labels, a, b)
    decided = of_labels if few or useless else powered
    n_labelled, n_with = a.n + b.n, sum(one.n_with for one in sides)

    def shown(found: _Linear | None, of: _Linear | None, n: int, n_clusters: int) -> Estimate:
        made = _t_interval(found, n, n_clusters, NO_LABELS, confidence_level)
        return made if of is None else replace(made, estimate=of.point)

    n, n_clusters = a.judge.size + b.judge.size, a.n_clusters + b.n_clusters
    why = "rows are not paired"
    if rare:
        why = f"fewer than {FEWEST_OF_A_CLASS} {'items' if clustered else 'rows'} of a system pass, or fail"
    elif few:
        why = f"a system has fewer than {least} labels"
    elif useless:
        why = sides[0].why_no_weight
    return Corrected(
        shown(decided, labels if decided is of_labels else powered, n, n_clusters),
        "labels-only" if few or useless else "ppi++",
        why,
        shown(judged, judged, n, n_clusters),
        shown(of_labels, labels, n_labelled, n_with),
        0.0 if few or useless else None,
        n_labelled,
        n_with,
        0.0 if few or useless else _saved(n_labelled, _variance(labels), _variance(powered)),
        _p_value(decided),
        ppi=shown(powered, powered, n_labelled, n_with),
        paired=False,
    )


def _minus(first: _Linear | None, second: _Linear | None) -> _Linear | None:
    return None if first is None or second is None else first.minus(second)


Pairs = tuple[Indices, Indices]


def _pairs(first: Scored, second: Scored, a: _Rows, b: _Rows) -> Pairs | None:
    """Places of the rows of either system that have a partner; None if too few have one."""
    if first.keys is None or second.keys is None:
        return None
    keys = np.asarray(first.keys), np.asarray(second.keys)
    if any(np.unique(one).size < one.size for one in keys):
        raise ValueError("keys must be unique within a system")
    _, at, other = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    labelled = int((a.labelled[at] & b.labelled[other]).sum())
    enough = 2 * at.size >= min(a.judge.size, b.judge.size) and 2 * labelled >= min(a.n, b.n)
    return (at, other) if at.size and labelled > 1 and enough else None


def _paired(a: _Rows, b: _Rows, pairs: Pairs, pass_rate: bool, confidence_level: float) -> Corrected:
    at, other = pairs
    human = a.human[at] - b.human[other]
    rows = Scored(a.judge[at] - b.judge[other], human, a.index[at])
    found = corrected_mean(rows, confidence_level=confidence_level)
    labelled = ~np.isnan(human)
    n_differ = int(np.unique(a.index[at][labelled & (human != 0)]).size)
    few = found.n_labelled_clusters < FEWEST_LABELS
    if pass_rate and (few or n_differ < FEWEST_OF_A_CLASS):
        found = corrected_mean(rows, method="labels-only", confidence_level=confidence_level)
        why = f"fewer than {FEWEST_LABELS} pairs have labels ({found.n_labelled_clusters})"
        found = replace(found, why=why if few else f"labels differ in fewer than {FEWEST_OF_A_CLASS} pairs")
        added = _agresti_min(human[labelled], a.index[at][labelled], a.size)
        n, clusters = found.n_labelled, found.n_labelled_clusters
        made = _t_interval(added, n, clusters, NO_LABELS, confidence_level)
        labels = replace(made, estimate=found.labels_only.estimate)
        decided = replace(labels, n=found.decided.n, n_clusters=found.decided.n_clusters)
        found = replace(found, decided=decided, labels_only=labels, p_value=_p_value(added))
    return replace(found, paired=True, n_left_out=a.judge.size + b.judge.size - 2 * at.size)


def _sole(point: float, variance: float, size: int, df: float = np.inf) -> _Linear:
    """An estimate whose variance lies in one number, since no cluster is shared any more."""
    influence = np.zeros(max(size, 1))
    influence[0] = variance**0.5
    return _Linear(point, influence, df)


def _agresti_min(differences: Floats, index: Indices, size: int) -> _Linear:
    """Half a pair is added to each cell of the table of two passes or fails.

    If a cluster has several pairs, the variance is multiplied by the design effect, at least 1: that of the mean difference
    over that of independent pairs, or pairs a cluster if nothing varies; t then has (clusters - 1) degrees of freedom.
    """
    n, moved, clusters = differences.size + 2, float(differences.sum()), int(np.unique(index).size)
    variance = (float((differences**2).sum()) + 1 - moved**2 / n) / n**2
    if clusters == differences.size:
        return _sole(moved / n, variance, size)
    mean, apart = _mean(differences, index, size), _mean(differences, np.arange(differences.size), n)
    assert mean is not None
    assert apart is not None
    effect = mean.variance / apart.variance if mean.variance > 0 else differences.size / clusters
    return _sole(moved / n, variance * max(effect, 1.0), size, clusters - 1)


def _agresti_caffo(labels: _Linear, a: _Rows, b: _Rows) -> _Linear:
    """One pass and one fail are added to each system; the covariance of shared items stays as it is."""
    shares, variance = [], labels.variance
    for one in (a, b):
        n, passed = one.n + 2, float(one.human[one.labelled].sum()) + 1
        own = _mean(one.human[one.labelled], one.index[one.labelled], one.size)
        shares.append(passed / n)
        variance += passed / n * (1 - passed / n) / n - (0.0 if own is None else own.variance)
    return _sole(shares[0] - shares[1], max(variance, 0.0), a.size)


# --- some texts kept by the judge, the others labelled by people -------------------------------


@dataclass(frozen=True)
class KeptAndSent:
    """The mean human label of all rows: kept ones by the judge, corrected, and the others by people."""

    total: Estimate
    kept: Estimate
    """Of the kept rows: the judge's mean plus the mean of label minus score."""
    sent: Estimate
    """Mean label of the other rows."""
    share_kept: float | None
    n_kept: int
    n_kept_labelled: int
    n_sent: int
    n_sent_labelled: int


NONE_KEPT, NONE_SENT = "no row is kept", "every row is kept"
NO_LABEL_BACK = "none of the rows sent to people has a label"


def kept_and_sent(
    rows: Scored, kept: ArrayLike, *, pass_rate: bool = False, confidence_level: float = 0.95
) -> KeptAndSent:
    """Estimate the mean human label of all rows, where a judge decides about some and people about the others.

    kept: shape (n_rows,), true where the judge decides. Labels of kept rows correct it, and must be of randomly chosen ones;
    labels of the others are of all of them, or of randomly chosen ones.

    With W the share of kept rows, theta = W (mean(F) + mean(Y - f)) + (1 - W) mean(Z): F the judge's scores of all kept rows, Y
    and f labels and scores of those with both, Z the labels of the others. That is stratified estimation (Cochran 1977, Sampling
    Techniques, sec. 5A.3), with the difference estimator among the kept: PPI (Angelopoulos et al. 2023, Science 382:669) with the
    weight 1, because a judge is kept where it agrees with people. The variance is that of cluster sums of influence values,
    and counts that rows are themselves a sample: W varies too.

    Kept rows have few differences Y - f, perhaps none, which shows no uncertainty. So their variance is that with half a
    cluster more at either largest difference and one at 0 (Agresti and Min 2005, Statistics in Medicine 24:729); for pass rates
    that of Z is with one pass and one fail more. The largest difference is the largest observed one, and at least `step`: 1 for
    pass rates, else the smallest distance of two labels. The interval is t with Welch and Satterthwaite's degrees of freedom; for
    pass rates in Wilson's form, as in `corrected_mean`.

    Raises ValueError as `corrected_mean`. Misleads if the labels of kept rows were not chosen at random.
    """
    check_confidence_level(confidence_level)
    (data,) = _checked([rows], pass_rate)
    where = np.asarray(kept, dtype=np.bool_)
    if where.shape != data.judge.shape:
        raise ValueError(f"kept must have shape {data.judge.shape}, got {where.shape}")
    share = float(where.mean()) if where.size else 0.0
    own = _kept_mean(data, where, pass_rate)
    others = _sent_mean(data, ~where, pass_rate)
    n_kept_labelled, n_sent_labelled = (int((data.labelled & part).sum()) for part in (where, ~where))

    def shown(found: _Linear | None, n: int, why: str) -> Estimate:
        return _t_interval(found, n, data.n_clusters, why, confidence_level, pass_rate)

    why_kept = NONE_KEPT if not where.any() else NO_LABELS
    why_sent = NONE_SENT if where.all() else NO_LABEL_BACK
    missing = (why_kept if own is None and share > 0 else "") or (
        why_sent if others is None and share < 1 else ""
    )
    total = None
    if where.size and not missing:
        parts = [(weight, one) for weight, one in ((share, own), (1 - share, others)) if one is not None]
        total = _stratified(data, where, parts)
    return KeptAndSent(
        shown(total, data.judge.size, missing or NO_JUDGE),
        shown(own, int(where.sum()), why_kept),
        shown(others, int((~where).sum()), why_sent),
        share if where.size else None,
        int(where.sum()),
        n_kept_labelled,
        int((~where).sum()),
        n_sent_labelled,
    )


def _kept_mean(data: _Rows, where: NDArray[np.bool_], pass_rate: bool) -> _Linear | None:
    """Judge's mean plus mean difference; the last influence value is what the differences' variance lacks."""
    both = where & data.labelled
    judged = _mean(data.judge[where], data.index[where], data.size)
    gaps = data.human[both] - data.judge[both]
    off = _mean(gaps, data.index[both], data.size)
    if judged is None or off is None:
        return None
    largest = max(float(np.abs(gaps).max()), 1.0 if pass_rate else _step(data.human))
    cautious = _agresti_min(gaps / largest, data.index[both], data.size).variance * largest**2
    lacking = max(cautious - off.variance, 0.0) ** 0.5
    influence = np.append(judged.influence + off.influence, lacking)
    return _Linear(judged.point + off.point, influence, off.df)


def _sent_mean(data: _Rows, where: NDArray[np.bool_], pass_rate: bool) -> _Linear | None:
    """Mean label; the last influence value is what the variance of a pass rate lacks."""
    both = where & data.labelled
    labels = _mean(data.human[both], data.index[both], data.size)
    if labels is None:
        return None
    n, p, lacking = int(both.sum()), labels.point, 0.0
    if pass_rate:
        more = (n * p + 1) / (n + 2)
        lacking = max(more * (1 - more) - p * (1 - p), 0.0) / n
    return _Linear(p, np.append(labels.influence, lacking**0.5), labels.df)


def _stratified(data: _Rows, where: NDArray[np.bool_], parts: Sequence[tuple[float, _Linear]]) -> _Linear:
    """Both parts with their weights, which vary with the rows."""
    point = sum(weight * one.point for weight, one in parts)
    influence = sum(weight * one.influence[:-1] for weight, one in parts)
    if len(parts) == 2:
        means = np.where(where, parts[0][1].point, parts[1][1].point)
        influence = influence + _influence(means, data.index, data.size)
    lacking = [weight * one.influence[-1] for weight, one in parts]
    spread = [(weight**2 * one.variance, one.df) for weight, one in parts]
    below = sum(variance**2 / df for variance, df in spread if df > 0)
    known = min(df for _, df in spread)
    df = sum(variance for variance, _ in spread) ** 2 / below if below > 0 and known >= 1 else known
    return _Linear(float(point), np.concatenate([np.atleast_1d(influence), lacking]), df)


def _step(labels: Floats) -> float:
    """Smallest distance of two labels; 1 if all are equal."""
    values = np.unique(labels[~np.isnan(labels)])
    return float(np.diff(values).min()) if values.size > 1 else 1.0
