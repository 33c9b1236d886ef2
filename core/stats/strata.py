"""The mean label of all texts from labels on some, when labels differ in number from stratum to stratum, such as the judge's answers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.non_inferiority import lower_bound_gaffke
from core.stats.prediction_powered import clopper_pearson, effective_units
from core.stats.resampling import (
    Estimate,
    Floats,
    Indices,
    check_confidence_level,
    numbered,
    resampled_estimate,
    unit_clusters,
    unit_weights,
    wilson_of,
)

Bound = Literal["wilson", "exact", "bounded", "normal"]
BOUNDS: dict[Bound, str] = {
    "wilson": "Wilson's interval, for shares",
    "exact": "the exact interval of a share (Clopper and Pearson)",
    "bounded": "Gaffke's bound on either side, for any values between known ends",
    "normal": "standard errors with t, for values without known ends",
}
"""The interval of a stratum's mean."""
MOST_OPEN = 0.05
"""Largest share of texts in strata without a label with which a single estimate is given."""
FEWEST_OTHERS = 10
"""Labels off the commonest value below which standard errors say little, where most labels have that value."""
MOST_ANSWERS = 10
"""Different scores up to which each is an answer of its own; more, such as probabilities, are cut into bins."""
_FINE_BINS, _LEAST_OF_LABELS = 20, 0.15
"""Bins into which more scores are cut at first, and the share of all labels that each has once they are joined."""
LABELLED_ALIKE = 1.645
"""Standard errors by which the labelled shares of two bins may differ to be joined: p .10 if labels were drawn at random."""
SELECTED = 0.01
"""p of `selection_p` below which labelled texts count as unlike those that they stand for."""
NO_LABELS = "no text has a label"


@dataclass(frozen=True)
class Stratum:
    """The texts of one stratum."""

    key: Hashable
    n: int
    """Texts."""
    n_labelled: int
    share: float
    """Share of all texts."""
    mean: Estimate
    """Mean label, with the interval that enters that of all texts; undefined without a label."""


@dataclass(frozen=True)
class Stratified:
    """The mean label of all texts."""

    estimate: Estimate
    """`n` counts all texts. Without an estimate, but with an interval, if strata without a label hold more than MOST_OPEN."""
    strata: tuple[Stratum, ...]
    """In the order of their keys."""
    n_labelled: int
    n_labelled_clusters: int
    open_share: float
    """Share of texts in strata without a label."""
    influence: Floats
    """What each cluster moves the estimate, shape (clusters,): the variance is their sum of squares."""
    clusters: NDArray[np.generic]
    """Label of each cluster, sorted."""

    @property
    def variance(self) -> float:
        """Variance of the estimate over clusters."""
        return float(self.influence @ self.influence)


def stratified_mean(
    labels: ArrayLike,
    strata: Sequence[Hashable] | NDArray[np.generic],
    *,
    bound: Bound,
    ends: tuple[float, float] | None = (0.0, 1.0),
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    finite: bool = False,
    confidence_level: float = 0.95,
) -> Stratified:
    """Estimate the mean label of all texts where, within a stratum, labelled texts are like the others.

    labels: shape (n,), NaN for a text without one. strata: shape (n,), the stratum of each text, known for all of them, such as
    the judge's answer. ends: lowest and highest label on offer; None only for bound "normal". clusters: shape (n,), the item of
    each text. weights: shape (n,), what the label of a text counts within its stratum, for texts drawn with known probabilities.
    finite: whether the mean of exactly these n texts is asked for, and not that of texts like these.

    theta = sum w_k p_k, with w_k the share of texts in stratum k and p_k the mean of its labels: two-phase stratified estimation
    (Cochran 1977, Sampling Techniques, sec. 12.2; for a judge's errors Tenenbein 1970, JASA 65:1350). Its variance is
    sum w_k^2 s_k^2 / n_k + B, B = sum w_k (p_k - theta)^2 / n; finite: sum w_k^2 (1 - n_k / N_k) s_k^2 / n_k.

    Interval, from the intervals [l_k, u_k] of the strata (`bound`): theta - sqrt(sum w_k^2 (p_k - l_k)^2 + z^2 B), and above
    likewise with u_k - p_k (MOVER: Zou, Huang and Zhang 2009, Computational Statistics and Data Analysis 53:1080). With clusters
    or weights each stratum counts its `effective_units`, and the distance is widened by how much clusters that lie in several
    strata add to the variance. "normal": theta +- t standard errors, with Satterthwaite's degrees of freedom.

    A stratum without a label may have any mean: the interval is that of the others, widened by its share times the ends. Up to
    MOST_OPEN of such texts the estimate takes the mean of the others for them; beyond there is none.

    Raises ValueError for other shapes, labels outside the ends, and no ends where the bound needs them.

    Misleads if within a stratum labelled texts differ from the others, as when the hard ones were labelled.
    """
    check_confidence_level(confidence_level)
    values = np.asarray(labels, dtype=np.float64)
    if values.ndim != 1 or len(strata) != values.size:
        raise ValueError(
            f"labels and strata must have one shape (n,), got {values.shape} and ({len(strata)},)"
        )
    if ends is None and bound != "normal":
        raise ValueError(f"bound {bound} needs the ends of the scale")
    labelled = ~np.isnan(values)
    if ends is not None and ((values[labelled] < ends[0]) | (values[labelled] > ends[1])).any():
        raise ValueError(f"labels must lie between {ends[0]:g} and {ends[1]:g}")
    names, index = np.unique(unit_clusters(clusters, values.size), return_inverse=True)
    keys = list(dict.fromkeys(strata))
    place = {key: at for at, key in enumerate(keys)}
    stratum_of = np.array([place[key] for key in strata], dtype=np.intp)
    texts = _Texts(
        values, labelled, stratum_of, index.astype(np.intp), unit_weights(weights, values.size), ends
    )
    parts = [_part(texts, at, bound, finite, confidence_level) for at in range(len(keys))]
    found = _combined(texts, parts, bound, finite, confidence_level)
    shown = tuple(
        Stratum(key, part.n, part.n_labelled, part.share, part.mean)
        for key, part in sorted(zip(keys, parts, strict=True), key=lambda pair: _sortable(pair[0]))
    )
    return replace(found, strata=shown, clusters=names)


def _sortable(key: Hashable) -> tuple[bool, float, str]:
    """Numbers in their order, then words."""
    return (False, float(key), "") if isinstance(key, int | float) else (True, 0.0, str(key))


@dataclass(frozen=True)
class _Texts:
    values: Floats
    labelled: NDArray[np.bool_]
    stratum: Indices
    cluster: Indices
    """Number of each text's cluster."""
    weights: Floats
    ends: tuple[float, float] | None

    @property
    def n_clusters(self) -> int:
        return int(self.cluster.max(initial=-1)) + 1


@dataclass(frozen=True)
class _Part:
    """One stratum, as it enters the sum."""

    n: int
    n_labelled: int
    share: float
    mean: Estimate
    influence: Floats
    """Of the stratum's mean, by cluster, with its factor for small samples."""
    n_clusters: int


def _part(texts: _Texts, at: int, bound: Bound, finite: bool, confidence_level: float) -> _Part:
    own = texts.stratum == at
    used = own & texts.labelled
    n, n_labelled = int(own.sum()), int(used.sum())
    left = 1 - n_labelled / n if finite else 1.0
    values, weights, index = texts.values[used], texts.weights[used], texts.cluster[used]
    n_clusters = int(np.unique(index).size)
    undefined = None if n_labelled else "no text of this kind has a label"
    low = high = None
    influence = np.zeros(texts.n_clusters)
    mean = np.nan
    if n_labelled:
        mean = float((weights * values).sum() / weights.sum())
        moved = np.bincount(index, weights * (values - mean), texts.n_clusters) / weights.sum()
        influence = moved * (n_clusters / max(n_clusters - 1, 1) * left) ** 0.5
    if n_labelled and bound != "normal":
        assert texts.ends is not None
        bottom, width = texts.ends[0], texts.ends[1] - texts.ends[0]
        scaled = (values - bottom) / width
        asked = {"clusters": index, "weights": weights if np.ptp(weights) else None}
        p, effective = effective_units(scaled, **asked, confidence_level=confidence_level)
        low, high = ends_of_mean(scaled, weights, p, effective, bound, confidence_level)
        low, high = (bottom + width * (p + (end - p) * left**0.5) for end in (low, high))
    estimate = resampled_estimate(
        mean,
        None,
        n=n_labelled,
        n_clusters=n_clusters,
        confidence_level=confidence_level,
        reason=undefined,
        interval_reason="part of the interval of all texts" if bound == "normal" else None,
    )
    return _Part(
        n,
        n_labelled,
        n / texts.values.size,
        replace(estimate, low=low, high=high),
        influence,
        n_clusters,
    )


def ends_of_mean(
    values: Floats, weights: Floats, p: float, n: float, bound: Bound, confidence_level: float
) -> tuple[float, float]:
    """The interval of a mean p of values in [0, 1] with these weights, as of n independent ones. Not for bound "normal"."""
    if bound == "exact":
        return clopper_pearson(n * p, n, confidence_level)
    if bound == "wilson":
        from scipy.special import ndtri  # imported lazily: most commands need no quantile

        return wilson_of(p, float(ndtri((1 + confidence_level) / 2)) ** 2 / n)
    counts, level = n * weights / weights.sum(), (1 + confidence_level) / 2
    low, high = (
        side * (lower_bound_gaffke(side * (2 * values - 1), level, counts=counts) / 2) + 0.5
        for side in (1, -1)
    )
    return min(low, p), max(high, p)


def _combined(
    texts: _Texts, parts: Sequence[_Part], bound: Bound, finite: bool, confidence_level: float
) -> Stratified:
    labelled = [part for part in parts if part.n_labelled]
    open_share = sum(part.share for part in parts if not part.n_labelled)
    n_labelled = int(texts.labelled.sum())
    n_labelled_clusters = int(np.unique(texts.cluster[texts.labelled]).size)

    def found(estimate: Estimate, influence: Floats) -> Stratified:
        return Stratified(estimate, (), n_labelled, n_labelled_clusters, open_share, influence, np.empty(0))

    n = texts.values.size
    blank = resampled_estimate(
        np.nan,
        None,
        n=n,
        n_clusters=texts.n_clusters,
        confidence_level=confidence_level,
        reason=NO_LABELS,
        interval_reason=NO_LABELS,
    )
    if not labelled:
        return found(blank, np.zeros(texts.n_clusters))
    closed = 1 - open_share
    means = np.array([part.mean.estimate if part.mean.estimate is not None else np.nan for part in parts])
    shares = np.array([part.share for part in parts])
    has = ~np.isnan(means)
    known = float((shares[has] * means[has]).sum())
    theta = known / closed
    first = sum(part.share * part.influence for part in labelled)
    second = _second_phase(texts, np.where(has, means, theta), theta, finite)
    influence = first + second
    apart = sum(part.share**2 * float(part.influence @ part.influence) for part in labelled)
    apart += float(second @ second)
    widened = max(1.0, float(influence @ influence) / apart) if apart > 0 else 1.0
    if bound == "normal":
        estimate = _normal(blank, texts, labelled, theta, influence, open_share, confidence_level)
        return found(estimate, influence)
    from scipy.special import ndtri  # imported lazily: most commands need no quantile

    assert texts.ends is not None
    z2 = float(ndtri((1 + confidence_level) / 2)) ** 2
    bounds = []
    for end, sign in zip(texts.ends, (-1, 1), strict=True):
        reach2 = sum(
            part.share**2 * (_end(part.mean, sign) - (part.mean.estimate or 0.0)) ** 2 for part in labelled
        )
        # The texts of strata without a label may all lie at this end.
        with_end = np.where(has, means, end)
        total = float((shares * with_end).sum())
        moved = _second_phase(texts, with_end, total, finite)
        reach2 += z2 * float(moved @ moved)
        bounds.append(min(max(total + sign * (reach2 * widened) ** 0.5, texts.ends[0]), texts.ends[1]))
    low, high = bounds
    estimate = replace(blank, reason=None, interval_reason=None, low=low, high=high)
    if open_share > MOST_OPEN:
        return found(
            replace(estimate, reason=f"{open_share:.0%} of the texts are of kinds without a label"), influence
        )
    return found(replace(estimate, estimate=theta, low=min(low, theta), high=max(high, theta)), influence)


def _end(mean: Estimate, sign: int) -> float:
    end = mean.low if sign < 0 else mean.high
    assert end is not None
    return end


def _second_phase(texts: _Texts, means: Floats, theta: float, finite: bool) -> Floats:
    """What each cluster moves the estimate by the shares of the strata among its texts."""
    if finite:
        return np.zeros(texts.n_clusters)
    moved = means[texts.stratum] - theta
    return np.bincount(texts.cluster, moved, texts.n_clusters).astype(np.float64) / moved.size


def _normal(
    blank: Estimate,
    texts: _Texts,
    labelled: Sequence[_Part],
    theta: float,
    influence: Floats,
    open_share: float,
    confidence_level: float,
) -> Estimate:
    """Theta +- t standard errors, for the texts of strata with labels."""
    if open_share > MOST_OPEN:
        why = f"{open_share:.0%} of the texts are of kinds without a label, and the scale has no ends"
        return replace(blank, reason=why, interval_reason=why)
    estimate = replace(blank, estimate=theta, reason=None)
    if why := few_differ(texts.values[texts.labelled]):
        return replace(estimate, interval_reason=why)
    if not float(influence @ influence) > 0 or all(part.n_clusters < 2 for part in labelled):
        return replace(estimate, interval_reason="fewer than two items of a kind have a label")
    # A single label shows no variance: it counts as varying like all labels.
    spread = float(texts.values[texts.labelled].var(ddof=1))
    terms = [
        (
            part.share**2 * (float(part.influence @ part.influence) if part.n_clusters > 1 else spread),
            part.n_clusters - 1,
        )
        for part in labelled
    ]
    variance = float(influence @ influence) + sum(one for one, df in terms if df < 1)
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    below = sum(one**2 / max(df, 1) for one, df in terms)
    df = sum(one for one, _ in terms) ** 2 / below if below > 0 else float(max(df for _, df in terms))
    reach = float(stdtrit(df, (1 + confidence_level) / 2)) * variance**0.5
    return replace(estimate, low=theta - reach, high=theta + reach, interval_reason=None)


def few_differ(labels: Floats, fewest: int = FEWEST_OTHERS) -> str:
    """Why standard errors say little about the mean of these labels: most are equal, and few are not. Empty where they do.

    labels: shape (n,), n >= 1. fewest: labels off the commonest value that are enough. From simulation: with 85 % of labels at one end, t intervals of 30 labels cover .76.
    """
    _, counts = np.unique(labels, return_counts=True)
    others = labels.size - int(counts.max())
    if others >= fewest or 2 * others > labels.size:
        return ""
    return f"only {others} of {labels.size} labels differ from the commonest one"


@dataclass(frozen=True)
class Difference:
    """The first mean minus the second."""

    estimate: Estimate
    p_value: float | None
    """Two-sided, of a difference of 0, from the interval."""
    correlation: float
    """Of the two estimates, by clusters that both share; 0 without any."""


def mean_difference(
    first: Stratified | Estimate, second: Stratified | Estimate, *, width: float | None = None
) -> Difference:
    """The first mean minus the second, with MOVER's interval.

    lower: d - sqrt(a^2 + b^2 - 2 r a b), a the distance from the first mean to its lower end, b from the second to its upper
    end, r the correlation of both over shared clusters (Zou and Donner 2008, Statistics in Medicine 27:1693); upper likewise.
    Plain estimates count as independent. width: of the scale, beyond which no difference lies.

    Few items of which none differs show r = 1 and hardly any width. So a^2 + b^2 - 2 r a b is at least that of one item with the
    largest difference, (z r width / items with labels)^2 more: the counts that Agresti and Min (2005, Statistics in Medicine
    24:729) add to a table of pairs.
    """
    from core.stats.multiplicity import interval_p

    sides = [one.estimate if isinstance(one, Stratified) else one for one in (first, second)]
    a, b = sides
    r, added = 0.0, 0.0
    if isinstance(first, Stratified) and isinstance(second, Stratified):
        _, at, other = np.intersect1d(
            first.clusters, second.clusters, assume_unique=True, return_indices=True
        )
        spread = (first.variance * second.variance) ** 0.5
        r = float(first.influence[at] @ second.influence[other]) / spread if spread > 0 else 0.0
        if width is not None and r > 0:
            from scipy.special import ndtri  # imported lazily: most commands need no quantile

            n_items = max(min(first.n_labelled_clusters, second.n_labelled_clusters), 1)
            added = (float(ndtri((1 + a.confidence_level) / 2)) * r * width / n_items) ** 2
    n, n_clusters, level = a.n + b.n, max(a.n_clusters, b.n_clusters), a.confidence_level
    why = a.reason or b.reason
    d = np.nan if a.estimate is None or b.estimate is None else a.estimate - b.estimate
    found = resampled_estimate(
        d,
        None,
        n=n,
        n_clusters=n_clusters,
        confidence_level=level,
        reason=why,
        interval_reason=why or a.interval_reason or b.interval_reason,
    )
    if None in (a.low, a.high, b.low, b.high):
        return Difference(found, None, r)
    assert a.low is not None
    assert a.high is not None
    assert b.low is not None
    assert b.high is not None
    if found.estimate is None:
        # Without a single estimate on one side the ranges themselves are subtracted.
        return Difference(
            replace(found, low=a.low - b.high, high=a.high - b.low, interval_reason=None), None, r
        )
    assert a.estimate is not None
    assert b.estimate is not None
    below = _mover(a.estimate - a.low, b.high - b.estimate, r, added)
    above = _mover(a.high - a.estimate, b.estimate - b.low, r, added)
    low, high = d - below, d + above
    if width is not None:
        low, high = max(low, -width), min(high, width)
    shown = replace(found, low=low, high=high, interval_reason=None)
    return Difference(shown, interval_p(d, low, high, confidence_level=level), r)


def _mover(a: float, b: float, r: float, added: float) -> float:
    return float((max(a**2 + b**2 - 2 * r * a * b, 0.0) + added) ** 0.5)


def bins_of(scores: ArrayLike, labelled: ArrayLike, *, fewest: int = 10) -> Indices:
    """The bin of each text by its score, each with at least `fewest` labels where neighbours were labelled alike.

    scores: shape (n,), finite; labelled: shape (n,). Up to MOST_ANSWERS different scores begin as bins of their own; more are cut
    by their middle ranks into fine bins, which need 15 % of the labels each. The bin with the fewest labels is joined to the
    neighbour whose share of labels is nearer, unless the shares of both differ by more
    than chance (LABELLED_ALIKE): labels chosen by the score are kept apart, and so is a bin without any. Numbered from 0,
    lowest scores first. Depends on how many labels there are, never on what they say.
    """
    values, has = np.asarray(scores, dtype=np.float64), np.asarray(labelled, dtype=np.bool_)
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    if counts.size > MOST_ANSWERS:
        middle = (np.cumsum(counts) - counts / 2) / max(values.size, 1)
        index = numbered(np.floor(middle * _FINE_BINS)[index])
        fewest = max(fewest, int(_LEAST_OF_LABELS * has.sum()))
    labels, sizes = np.bincount(index, has), np.bincount(index).astype(np.float64)
    bins = [[at] for at in range(labels.size)]
    while True:
        joins = [
            (labels[one], abs(labels[one] / sizes[one] - labels[other] / sizes[other]), one, other)
            for one in range(labels.size)
            for other in (one - 1, one + 1)
            if 0 <= other < labels.size
            and labels[one] < fewest
            and _labelled_alike(labels[one], sizes[one], labels[other], sizes[other])
        ]
        if not joins:
            break
        _, _, one, other = min(joins)
        first, second = min(one, other), max(one, other)
        bins[first] += bins.pop(second)
        labels[first], sizes[first] = labels[first] + labels[second], sizes[first] + sizes[second]
        labels, sizes = np.delete(labels, second), np.delete(sizes, second)
    renumbered = np.empty(sum(map(len, bins)), dtype=np.intp)
    for at, members in enumerate(bins):
        renumbered[members] = at
    return renumbered[index] if index.size else np.empty(0, dtype=np.intp)


def _labelled_alike(labels: float, n: float, others: float, n_others: float) -> bool:
    """Whether two bins may have been labelled with the same probability."""
    p = (labels + others) / (n + n_others)
    error = (p * (1 - p) * (1 / n + 1 / n_others)) ** 0.5
    return bool(error <= 0 or abs(labels / n - others / n_others) <= LABELLED_ALIKE * error)


def answers_of(scores: ArrayLike, labelled: ArrayLike, *, each: bool) -> Indices:
    """The number of each text's answer by a judge, as strata: the lowest score first, and texts without a score last.

    scores: shape (n,), NaN for none; labelled: shape (n,). each: whether each value is an answer, as of words; else `bins_of`.
    """
    values, has = np.asarray(scores, dtype=np.float64), np.asarray(labelled, dtype=np.bool_)
    known = ~np.isnan(values)
    index = numbered(values[known]) if each else bins_of(values[known], has[known])
    found = np.full(values.size, int(index.max(initial=-1)) + 1, dtype=np.intp)
    found[known] = index
    return found


def selection_p(
    labelled: ArrayLike, strata: ArrayLike, what: ArrayLike, clusters: ArrayLike | None = None
) -> float | None:
    """Two-sided p of labelled and other texts of a stratum having the same mean of `what`; None where nothing can be compared.

    labelled, strata, what: shape (n,); what: a number of each text, such as 1 for those of a system. The statistic is Cochran's
    and Mantel-Haenszel's, the sum over strata of what labelled texts have beyond their share, over its standard error by
    clusters (robust, so that items of several texts do no harm).
    """
    from scipy.special import ndtr  # imported lazily: most commands need no quantile

    has, values = np.asarray(labelled, dtype=np.float64), np.asarray(what, dtype=np.float64)
    index = numbered(strata)
    sizes = np.bincount(index)
    beyond = (has - (np.bincount(index, has) / sizes)[index]) * (
        values - (np.bincount(index, values) / sizes)[index]
    )
    by_cluster = np.bincount(numbered(unit_clusters(clusters, has.size)), beyond)
    error = float(by_cluster @ by_cluster) ** 0.5
    return None if error <= 1e-12 else 2 * float(ndtr(-abs(float(by_cluster.sum())) / error))
