"""Dawid and Skene's model: the class of each unit, and each rater's errors, estimated together from labels alone."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.multiplicity import corrected
from core.stats.resampling import (
    NO_RESAMPLES,
    ONE_CLUSTER,
    Estimate,
    Floats,
    Rng,
    check_confidence_level,
    jackknife_ends,
    numbered,
    unit_clusters,
)
from core.stats.votes import MISSING, Codes, check_votes

LEAST_RATERS: Final = 3
LEAST_SHARED: Final = 10
"""Units with labels of three raters that the model needs, and that a rater needs for an accuracy."""
LEAST_EXPECTED: Final = 0.5
"""A row of a confusion matrix is undefined if fewer of the rater's labels are expected to be on units of its class."""
N_GROUPS: Final = 25
"""Groups of clusters that the jackknife leaves out in turn: the most, so that large tables stay fast."""
N_STARTS: Final = 10
"""Further starts, which only test whether another solution fits better."""
ALPHA: Final = 0.05
"""Raters are called less accurate than the others below this p-value, corrected by Holm."""
SMOOTHING: Final = 1.0
"""Labels added to each row of each confusion matrix, and to the class shares, spread evenly over the classes."""

_TOLERANCE, _MOST_ITERATIONS = 1e-6, 1_000
_ROUGHLY, _FEW_ITERATIONS = 1e-4, 100  # of the refits behind intervals, which begin near their solution
_START_ITERATIONS = 300  # of further starts
_TIED = 1e-6  # posteriors that differ by less are equal
_NEVER = 1e-300  # a probability of 0, so that its logarithm is finite


@dataclass(frozen=True)
class DawidSkene:
    """What the model estimates. Arrays contain NaN, and every estimate is None, where `reason` is given."""

    n_units: int
    """Units with a label."""
    n_labels: int
    n_left_out: int
    """Units without a label."""
    n_shared: int
    """Units with labels of at least three raters."""
    class_shares: Floats
    """Shape (n_classes,): estimated share of each class among units; 0 for a class that no rater used."""
    confusion: Floats
    """Shape (n_raters, n_classes, n_classes): the probability that a rater gives a label (last axis) to a unit of a class."""
    expected: Floats
    """Shape (n_raters, n_classes): expected number of the rater's labels on units of each class."""
    posterior: Floats
    """Shape (n_units, n_classes): probability of each class; NaN for a unit without a label."""
    accuracy: tuple[Estimate, ...]
    """Each rater's expected share of labels that give the unit's class; n counts labels, n_resamples the groups left out."""
    difference: tuple[Estimate, ...]
    """Each rater's accuracy minus the mean accuracy of all others."""
    p: tuple[float | None, ...]
    """Two-sided p-value of each difference, not corrected for the number of raters."""
    log_likelihood: float | None
    n_iterations: int
    converged: bool
    better_by: float
    """Log likelihood (with smoothing) that the best of the further starts gained over the solution; 0 if none is better."""
    smoothing: float
    reason: str | None
    """Why nothing is estimated."""

    @property
    def p_holm(self) -> tuple[float | None, ...]:
        """The p-values, corrected by Holm for the number of raters."""
        return self.p if self.reason is not None else tuple(corrected(self.p, "holm"))

    @property
    def below_others(self) -> tuple[bool, ...]:
        """Whether each rater is less accurate than the others: difference below 0, corrected p below 0.05."""
        return tuple(
            p is not None and p < ALPHA and one.estimate is not None and one.estimate < 0
            for p, one in zip(self.p_holm, self.difference, strict=True)
        )

    @property
    def labels(self) -> Codes:
        """The most probable class of each unit, shape (n_units,); -1 without a label, and for equally probable classes."""
        unknown = np.isnan(self.posterior).any(axis=1)
        filled: Floats = np.nan_to_num(self.posterior)
        n_near = (filled >= filled.max(axis=1, keepdims=True) - _TIED).sum(axis=1)
        clear = ~unknown & (n_near == 1)
        return np.where(clear, filled.argmax(axis=1), MISSING).astype(np.int64)


def dawid_skene(
    labels: ArrayLike,
    n_classes: int,
    *,
    clusters: ArrayLike | None = None,
    smoothing: float = SMOOTHING,
    n_groups: int = N_GROUPS,
    n_starts: int = N_STARTS,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> DawidSkene:
    """Estimate units' classes and raters' confusion matrices by EM (Dawid and Skene 1979, Applied Statistics 28:20).

    labels: shape (n_units, n_raters), codes 0 to n_classes - 1, with -1 or NaN for missing; or (n_units, n_raters, n_times)
    if raters labelled units several times. clusters: shape (n_units,), the item of each unit; default: each unit.

    The model: a unit has one class, drawn by the class shares. Given the class, labels are independent, and a rater gives
    each label with the probabilities in a row of the rater's confusion matrix. EM alternates equations 2.3 and 2.4 (class
    shares and matrices from posteriors) with 2.5 (posteriors). It starts from each unit's shares of votes (3.1), which ties
    the classes to the labels of the same name: nothing else prevents a solution in which two classes have changed places.
    `n_starts` further starts weight raters at random. They only report in `better_by` whether another solution fits better.
    smoothing: as many labels are added to each row, spread evenly; 0 gives Dawid and Skene's estimates. It keeps a single
    label from ruling out a class. It stops when no posterior changes by more than 1e-6, or after 1,000 iterations.

    Accuracy is the mean posterior of the classes that a rater named: with every unit labelled once and without smoothing,
    the sum over classes of share times diagonal. Intervals leave out groups of clusters in turn (at most `n_groups`; 0: no
    intervals) and fit again from the solution; t with groups - 1 degrees of freedom, cut to [0, 1] ([-1, 1] for differences).

    Nothing is estimated with fewer than three raters, with fewer than 10 units that three raters labelled, or if all labels
    are equal. A rater with fewer than 10 such units has no accuracy; a row with fewer than half an expected label is NaN.

    Misleads if errors are not independent: on hard items many raters make the same mistake, the model takes it for
    the truth, and every accuracy is too high, with intervals that are too narrow. With three raters of whom one guesses,
    the other two cannot be told apart. A class that few units have may be absorbed by a popular one. Simulated in
    docs/simulations/dawid-skene.md.

    Raises ValueError for other shapes, unknown codes, n_classes below 2, and negative smoothing.
    """
    check_confidence_level(confidence_level)
    if smoothing < 0:
        raise ValueError(f"smoothing must not be negative, got {smoothing!r}")
    counts = _counts(labels, n_classes)
    n_units, n_raters, _ = counts.shape
    items = unit_clusters(clusters, n_units)
    given = counts.sum(axis=2) > 0
    some = given.any(axis=1)
    shared = given.sum(axis=1) >= LEAST_RATERS
    in_use = np.flatnonzero(counts.sum(axis=(0, 1)) > 0)
    reason = _why_not(given, int(shared.sum()), len(in_use))
    own_labels = counts.sum(axis=(0, 2)).astype(int).tolist()
    if reason is not None:
        nothing = tuple(_nothing(reason, n, confidence_level) for n in own_labels)
        return DawidSkene(
            n_units=int(some.sum()),
            n_labels=sum(own_labels),
            n_left_out=int((~some).sum()),
            n_shared=int(shared.sum()),
            class_shares=np.full(n_classes, np.nan),
            confusion=np.full((n_raters, n_classes, n_classes), np.nan),
            expected=np.full((n_raters, n_classes), np.nan),
            posterior=np.full((n_units, n_classes), np.nan),
            accuracy=nothing,
            difference=nothing,
            p=(None,) * n_raters,
            log_likelihood=None,
            n_iterations=0,
            converged=False,
            better_by=0.0,
            smoothing=smoothing,
            reason=reason,
        )
    used = counts[some][:, :, in_use]
    # Units with the same labels have the same posterior: one row for each pattern, and its number of units.
    flat, pattern = np.unique(used.reshape(len(used), -1), axis=0, return_inverse=True)
    weights = np.bincount(pattern).astype(np.float64)[:, None]
    patterns = flat.reshape(len(flat), n_raters, len(in_use))
    start = _vote_shares(patterns, np.ones((1, n_raters)))
    solution = _em(patterns, weights, start, smoothing, _TOLERANCE, _MOST_ITERATIONS)
    generator = np.random.default_rng(rng)
    found = solution.posterior[:, 0]
    posterior = np.full((n_units, n_classes), np.nan)
    posterior[some] = 0.0
    posterior[np.ix_(some, in_use)] = found[pattern]
    shares = np.zeros(n_classes)
    shares[in_use] = solution.class_shares[0]
    expected = np.zeros((n_raters, n_classes))
    expected[:, in_use] = np.einsum("pr,pk->rk", patterns.sum(axis=2), found * weights)
    confusion = np.full((n_raters, n_classes, n_classes), np.nan)
    confusion[:, in_use] = 0.0
    confusion[np.ix_(np.arange(n_raters), in_use, in_use)] = np.swapaxes(solution.confusion[:, :, 0], 1, 2)
    confusion[expected < LEAST_EXPECTED] = np.nan
    ranks = numbered(items[some])
    n_clusters = int(ranks.max()) + 1
    n_groups = min(n_groups, n_clusters)
    drawn = generator.permutation(np.arange(n_clusters) % max(n_groups, 1))[ranks]
    accuracies, left = _accuracies(patterns, solution.posterior, weights)[0], None
    if n_groups > 1:
        without = np.repeat(weights, n_groups, axis=1)
        np.subtract.at(without, (pattern, drawn), 1.0)
        begin = np.repeat(solution.posterior, n_groups, axis=1)
        refit = _em(patterns, without, begin, smoothing, _ROUGHLY, _FEW_ITERATIONS)
        left = _accuracies(patterns, refit.posterior, without)
    reasons = [
        f"only {n} units have labels of this rater and two others; at least {LEAST_SHARED} are needed"
        if n < LEAST_SHARED
        else None
        for n in (given & shared[:, None]).sum(axis=0).tolist()
    ]
    clusters_of = [len(set(ranks[given[some][:, rater]].tolist())) for rater in range(n_raters)]
    no_groups = None if n_groups > 1 else NO_RESAMPLES if n_clusters > 1 else ONE_CLUSTER
    common = {"own_labels": own_labels, "clusters": clusters_of, "level": confidence_level}
    accuracy, _ = _estimates(accuracies, left, reasons, no_groups, scale=(0.0, 1.0), **common)
    known = np.array([why is None for why in reasons])
    difference, p = _estimates(
        _minus_others(accuracies[None], known)[0],
        None if left is None else _minus_others(left, known),
        [why if known.sum() > 1 else why or "no other rater has an accuracy" for why in reasons],
        no_groups,
        scale=(-1.0, 1.0),
        **common,
    )
    return DawidSkene(
        n_units=int(some.sum()),
        n_labels=sum(own_labels),
        n_left_out=int((~some).sum()),
        n_shared=int(shared.sum()),
        class_shares=shares,
        confusion=confusion,
        expected=expected,
        posterior=posterior,
        accuracy=accuracy,
        difference=difference,
        p=p,
        log_likelihood=float(solution.log_likelihood[0]),
        n_iterations=solution.n_iterations,
        converged=solution.converged,
        better_by=_gained(patterns, weights, solution, smoothing, n_starts, generator),
        smoothing=smoothing,
        reason=None,
    )


def _counts(labels: ArrayLike, n_classes: int) -> Floats:
    """How often a rater gave each label to each unit: shape (n_units, n_raters, n_classes)."""
    array = np.asarray(labels)
    if array.dtype.kind == "f":
        whole = np.where(np.isnan(array), MISSING, array)
        if (whole != np.round(whole)).any():
            raise ValueError("labels must be whole numbers, with -1 or NaN for missing")
        array = whole.astype(np.int64)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3:
        raise ValueError(
            f"labels must have shape (n_units, n_raters) or (n_units, n_raters, n_times), got {array.shape}"
        )
    n_units, n_raters, n_times = array.shape
    codes = check_votes(array.reshape(n_units, n_raters * n_times), n_classes).reshape(array.shape)
    return np.asarray((codes[..., None] == np.arange(n_classes)).sum(axis=2), dtype=np.float64)


def _why_not(given: NDArray[np.bool_], n_shared: int, n_in_use: int) -> str | None:
    """Why the model cannot be estimated, or None."""
    n_raters = int(given.any(axis=0).sum())
    if n_raters < LEAST_RATERS:
        return f"the model needs {LEAST_RATERS} raters with labels, found {n_raters}"
    if n_shared < LEAST_SHARED:
        return (
            f"only {n_shared} units have labels of {LEAST_RATERS} raters; at least {LEAST_SHARED} are needed"
        )
    if n_in_use < 2:
        return "all labels are equal"
    return None


@dataclass(frozen=True)
class _Solution:
    """Several fits of the same patterns. They are the second axis, so that one matrix product serves all."""

    posterior: Floats
    """(patterns, fits, classes)."""
    class_shares: Floats
    """(fits, classes)."""
    confusion: Floats
    """(raters, labels, fits, classes)."""
    log_likelihood: Floats
    penalised: Floats
    """The log likelihood with the smoothing, which EM raises at every step."""
    n_iterations: int
    converged: bool


def _em(
    patterns: Floats, weights: Floats, posterior: Floats, smoothing: float, tolerance: float, most: int
) -> _Solution:
    """Run EM for several weightings of the same patterns, until no posterior of any changes by more than `tolerance`.

    patterns: (patterns, raters, classes), counts of labels. weights: (patterns, fits or 1). posterior: (patterns, fits,
    classes), the start.
    """
    n_patterns, n_raters, k = patterns.shape
    n_fits = posterior.shape[1]
    counts = patterns.reshape(n_patterns, n_raters * k)
    turned = np.ascontiguousarray(counts.T)
    converged, n_iterations = False, 0
    while not converged and n_iterations < most:
        n_iterations += 1
        weighted = posterior * weights[..., None]
        shares = weighted.sum(axis=0) + smoothing / k
        shares /= shares.sum(axis=1, keepdims=True)
        given = (turned @ weighted.reshape(n_patterns, -1)).reshape(n_raters, k, n_fits, k) + smoothing / k
        given /= np.maximum(given.sum(axis=1, keepdims=True), _NEVER)
        logs = np.log(np.maximum(given, _NEVER))
        log_shares = np.log(np.maximum(shares, _NEVER))
        joint = (counts @ logs.reshape(n_raters * k, -1)).reshape(posterior.shape) + log_shares
        most_likely = joint.max(axis=2, keepdims=True)
        relative = np.exp(joint - most_likely)
        total = relative.sum(axis=2, keepdims=True)
        changed = relative / total
        converged = bool(np.abs(changed - posterior).max(initial=0.0) <= tolerance)
        posterior = changed
    likelihood = ((np.log(total) + most_likely)[..., 0] * weights).sum(axis=0)
    prior = smoothing / k * (logs.sum(axis=(0, 1, 3)) + log_shares.sum(axis=1)) if smoothing else 0.0
    return _Solution(posterior, shares, given, likelihood, likelihood + prior, n_iterations, converged)


def _vote_shares(patterns: Floats, of_raters: Floats) -> Floats:
    """Each pattern's share of labels by class, with weights of raters (fits, raters): shape (patterns, fits, classes)."""
    votes = np.einsum("prk,fr->pfk", patterns, of_raters)
    return np.asarray(votes / votes.sum(axis=2, keepdims=True), dtype=np.float64)


def _gained(
    patterns: Floats,
    weights: Floats,
    solution: _Solution,
    smoothing: float,
    n_starts: int,
    generator: np.random.Generator,
) -> float:
    """By how much the best of several starts with random weights of raters beats the solution; 0 if none does."""
    if n_starts < 1:
        return 0.0
    start = _vote_shares(patterns, generator.exponential(size=(n_starts, patterns.shape[1])))
    others = _em(patterns, weights, start, smoothing, _ROUGHLY, _START_ITERATIONS)
    return max(0.0, float(others.penalised.max() - solution.penalised[0]))


def _accuracies(patterns: Floats, posterior: Floats, weights: Floats) -> Floats:
    """Mean posterior of the classes that each rater named: shape (fits, raters), NaN without labels."""
    n_patterns, n_raters, k = patterns.shape
    weighted = (posterior * weights[..., None]).reshape(n_patterns, -1)
    crossed = patterns.reshape(n_patterns, -1).T @ weighted  # rater and label, fit and class
    right = np.einsum("rkfk->fr", crossed.reshape(n_raters, k, -1, k))
    total = weights.T @ patterns.sum(axis=2)
    return np.where(total > 0, right / np.maximum(total, _NEVER), np.nan)


def _minus_others(accuracies: Floats, known: NDArray[np.bool_]) -> Floats:
    """Each rater's accuracy minus the mean of the other known raters': shape (fits, raters), NaN without others."""
    others = known[None] & ~np.eye(len(known), dtype=bool)
    n = others.sum(axis=1)
    total = np.nan_to_num(accuracies) @ others.T.astype(np.float64)
    return np.asarray(np.where(n > 0, accuracies - total / np.maximum(n, 1), np.nan), dtype=np.float64)


def _estimates(
    values: Floats,
    left: Floats | None,
    reasons: list[str | None],
    no_groups: str | None,
    *,
    scale: tuple[float, float],
    own_labels: list[int],
    clusters: list[int],
    level: float,
) -> tuple[tuple[Estimate, ...], tuple[float | None, ...]]:
    """Estimates with jackknife intervals, and two-sided p-values against 0. left: (groups, raters), or None without."""
    estimates: list[Estimate] = []
    p_values: list[float | None] = []
    for rater, (value, reason, n) in enumerate(zip(values.tolist(), reasons, own_labels, strict=True)):
        if reason is not None:
            estimates.append(_nothing(reason, n, level))
            p_values.append(None)
            continue
        low = high = p = None
        why = no_groups
        if left is not None:
            low, high, p, why = jackknife_ends(value, left[:, rater], level, scale)
        estimates.append(
            Estimate(
                *(value, low, high, n, None, 0, 0 if left is None else len(left), level),
                interval_reason=why,
                n_clusters=clusters[rater],
            )
        )
        p_values.append(p)
    return tuple(estimates), tuple(p_values)


def _nothing(reason: str, n: int, level: float) -> Estimate:
    return Estimate(None, None, None, n, reason, 0, 0, level, interval_reason="the estimate is undefined")
