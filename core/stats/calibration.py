"""Map a judge's scores to the scale of human ratings, test whether the mapped scores beat the mean rating, and choose the
confidence from which a judge can be kept.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.degeneracy import ROUNDING
from core.stats.prediction_powered import exact_share
from core.stats.resampling import (
    Estimate,
    Floats,
    Indices,
    Resampling,
    Rng,
    check_confidence_level,
    cluster_bootstrap,
    cluster_estimate,
    mean_estimates,
    numbered,
    ratio,
    unit_clusters,
)

Predict = Callable[[Floats], Floats]
"""Judge's scores (n,) -> values on the human scale (n,)."""
MOST_CLASSES = 20
"""Most distinct human scores for an ordinal map."""


class NoFit(Exception):
    """Raised with a reason if the ordinal model cannot be fitted."""


def isotonic_knots(judge: Floats, human: Floats) -> tuple[Floats, Floats]:
    """Least-squares non-decreasing function of the judge's scores, as knots (k,), (k,); n >= 1, no NaN.

    The map is linear between knots and constant beyond them. Equal scores get one value. A judge whose scores fall as
    people's rise gets a flat map. Source: Barlow et al. (1972), Statistical Inference under Order Restrictions;
    for calibration Zadrozny and Elkan (2002, KDD).
    """
    from scipy.optimize import isotonic_regression  # imported lazily: loads slowly, and judges need no fit

    scores, place, counts = np.unique(judge, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=human) / counts
    values = np.asarray(isotonic_regression(means, weights=counts.astype(float)).x, dtype=np.float64)
    changes = np.diff(values) != 0
    kept = np.concatenate([[True], changes]) | np.concatenate([changes, [True]])
    return scores[kept], values[kept]


def linear_map(knots: tuple[Floats, Floats]) -> Predict:
    """A map that is linear between knots and constant beyond."""
    return lambda scores: np.interp(scores, *knots)


def ordinal_map(judge: Floats, human: Floats) -> Predict:
    """Mean of the human classes under a proportional odds model of the judge's score. Raises NoFit.

    Human scores are treated as ordered classes; the mean over classes uses their values. Source: McCullagh (1980, Journal
    of the Royal Statistical Society B 42:109), fitted by statsmodels' OrderedModel. Needs two to twenty classes, and scores
    that do not separate them perfectly. Decreases if the judge's scores fall as people's rise.
    """
    classes, codes = np.unique(human, return_inverse=True)
    spread = float(judge.std())
    if spread == 0:
        raise NoFit("the judge gives every text the same score")
    if not 2 <= classes.size <= MOST_CLASSES:
        raise NoFit(f"{classes.size} different human scores, but it needs 2 to {MOST_CLASSES}")
    centre = float(judge.mean())
    slope, thresholds = _proportional_odds((judge - centre) / spread, codes)

    from scipy.special import expit

    def predict(scores: Floats) -> Floats:
        above = expit(slope * ((scores - centre) / spread)[:, None] - thresholds)
        return np.asarray(classes[0] + above @ np.diff(classes), dtype=np.float64)

    return predict


def _proportional_odds(scores: Floats, codes: np.ndarray) -> tuple[float, Floats]:
    """Slope and ascending thresholds."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel  # imported lazily: takes a second

    model = OrderedModel(codes, scores[:, None], distr="logit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = model.fit(method="bfgs", disp=0, maxiter=500, skip_hessian=True)
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            raise NoFit("the fit failed") from error
    slope = float(found.params[0])
    thresholds = np.asarray(model.transform_threshold_params(found.params), dtype=np.float64)[1:-1]
    if not found.mle_retvals["converged"] or not np.isfinite([slope, *thresholds]).all():
        raise NoFit("the fit did not converge")
    return slope, thresholds


CANNOT_COMPARE = "the judge's scores are not on the human scale"


@dataclass(frozen=True)
class ReliabilityBin:
    """A bin of texts with similar scores."""

    low: float
    """Lowest score in the bin."""
    high: float
    """Highest."""
    mean_score: float
    human: Estimate
    """Mean human score; `n`: number of texts."""


def reliability_bins(
    scores: Floats, human: Floats, items: Indices, *, n_bins: int = 10, **drawing: Unpack[Resampling]
) -> tuple[tuple[ReliabilityBin, ...], Indices]:
    """Group scores (n,) into bins, lowest first, and number each text's bin; n >= 1, without NaN.

    One bin for each score if at most n_bins scores are distinct; else bins of about equal size that never split equal
    scores. Intervals of the human mean resample items. Misleads: a bin's mean hides how its texts differ, and few wide
    bins make a judge look better than it is.
    """
    place = _places(scores, n_bins)
    n_used = int(place.max()) + 1
    inside = place[:, None] == np.arange(n_used)
    means = mean_estimates(np.where(inside, human[:, None], np.nan), items, **drawing)
    bins = tuple(
        ReliabilityBin(
            low=float(own.min()),
            high=float(own.max()),
            mean_score=float(own.mean()),
            human=replace(mean, n_left_out=0),
        )
        for own, mean in zip((scores[column] for column in inside.T), means, strict=True)
    )
    return bins, place


def _places(scores: Floats, n_bins: int) -> Indices:
    values, place = np.unique(scores, return_inverse=True)
    if values.size <= n_bins:
        return np.asarray(place, dtype=np.intp)
    edges = np.quantile(scores, np.arange(1, n_bins) / n_bins, method="inverted_cdf")
    number = np.searchsorted(np.unique(edges), scores, side="left")
    return np.asarray(np.unique(number, return_inverse=True)[1], dtype=np.intp)


def calibration_error(
    scores: Floats, human: Floats, place: NDArray[np.intp], items: Indices, **drawing: Unpack[Resampling]
) -> Estimate:
    """Expected calibration error: |mean score - mean human score| of each bin, averaged over texts. 0 or more.

    place: each text's bin. On the human scale. The interval resamples items with fixed bins. Source: Naeini, Cooper and
    Hauskrecht (2015, AAAI), for probabilities. Misleads: chance alone makes it positive, more so with few texts in a bin,
    and its interval is too high for the same reason. A constant score at the human mean has error 0, so also read the mean
    absolute error.
    """
    off = np.where(place[:, None] == np.arange(int(place.max()) + 1), (scores - human)[:, None], 0.0)

    def mean_gap(sums: Floats) -> Floats:
        return ratio(np.abs(sums[..., :-1]).sum(axis=-1), sums[..., -1])

    return cluster_bootstrap(np.column_stack([off, np.ones(scores.size)]), items, mean_gap, **drawing)


Method = Literal["isotonic", "ordinal"]
Scale = tuple[float, float]
"""Lowest and highest score."""
Knots = tuple[tuple[float, float], ...]
"""(judge's score, value on the human scale), ascending; linear between, constant beyond."""

_KNOTS_OF_A_CURVE = 101
_NO_TEXTS = "no text has both scores"
_ONE_ITEM = "fewer than two items: none is left to test the map on"
_CONSTANT = "the judge gives every text the same score, so the map can only return the mean human score"
_FLAT = "the map is flat: human scores do not rise with the judge's scores"
_FALLS = "the map falls: human scores fall as the judge's scores rise"


@dataclass(frozen=True)
class CalibrationMap:
    """A map and its benefit on held-out texts. `reason`: why the whole result is undefined."""

    method: Method
    """The method used."""
    fallback: str | None
    """Reason why isotonic replaces ordinal."""
    predicted: Floats
    """(n,): each text's score from the map of the other folds; NaN if a score is missing."""
    folds: Indices
    """(n,): each text's fold, -1 if a score is missing."""
    before: tuple[ReliabilityBin, ...]
    """Bins of the judge's scores (on the human scale if scales were given), lowest first."""
    after: tuple[ReliabilityBin, ...]
    """Bins of the calibrated scores."""
    error_before: Estimate
    """Mean absolute difference between the judge's and the human score."""
    error_after: Estimate
    """Mean absolute difference between the calibrated and the human score."""
    error_of_mean: Estimate
    """Mean absolute error of the mean human score of the other folds as a prediction for every text: the baseline."""
    gain: Estimate
    """error_of_mean - error_after. If its interval reaches 0, the judge is not shown to help with any single text."""
    calibration_error_before: Estimate
    calibration_error_after: Estimate
    knots: Knots
    """Knots of the map fitted to all texts."""
    n: int
    n_left_out: int
    """Texts without one of the scores."""
    n_clusters: int
    """Items."""
    n_folds: int
    notes: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class _Texts:
    """Texts with both scores."""

    judge: Floats
    human: Floats
    items: Indices
    folds: Indices


def calibration_map(
    judge: ArrayLike,
    human: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    method: Method = "isotonic",
    n_folds: int = 5,
    n_bins: int = 10,
    judge_scale: Scale | None = None,
    human_scale: Scale | None = None,
    comparable: bool = True,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> CalibrationMap:
    """Fit the map, test it by cross-validation over items, and describe the judge before and after.

    method: "isotonic" never falls and takes any scores; "ordinal" needs human scores of few classes, and fewer texts. If
    it cannot be fitted to every fold, isotonic replaces it (`fallback`). groups: the item of each text; without groups
    every text is a separate item, and related texts may be in both fit and test. n_folds: at most the number of items.
    judge_scale, human_scale: lowest and highest score; if both are given and differ, "before" uses the judge's score
    rescaled linearly. comparable=False: the scales are unrelated, and "before" is undefined.

    Intervals resample items with the folds' maps fixed, so they ignore the variation of the maps and are too narrow with
    few items. Calibration does not improve the order of texts. It misleads for texts of another kind, language or quality
    than those it was fitted to, and adds nothing beyond the range of scores in the fit.
    """
    check_confidence_level(confidence_level)
    if method not in ("isotonic", "ordinal"):
        raise ValueError(f'method must be "isotonic" or "ordinal", got {method!r}')
    if n_folds < 2 or n_bins < 1:
        raise ValueError(f"n_folds must be at least 2 and n_bins at least 1, got {n_folds} and {n_bins}")
    known, texts = _known(judge, human, groups, n_folds, rng)
    n_items = int(texts.items.max(initial=-1)) + 1
    found, used, fallback = (
        _cross_validated(texts, method) if n_items > 1 else (texts.judge * np.nan, method, None)
    )
    reason = None if n_items > 1 else _ONE_ITEM if n_items else _NO_TEXTS
    shown = _rescaled(texts.judge, judge_scale, human_scale)
    drawing: Resampling = {"n_resamples": n_resamples, "confidence_level": confidence_level}
    errors = _errors(texts, shown if comparable else None, found, reason, drawing)
    before, after = (_side(scores, texts, reason, n_bins, drawing) for scores in (shown, found))
    predicted, folds = np.full(known.size, np.nan), np.full(known.size, -1)
    predicted[known], folds[known] = found, texts.folds
    knots = _knots(texts, used) if reason is None else ()
    return CalibrationMap(
        method=used,
        fallback=fallback,
        predicted=predicted,
        folds=folds,
        before=before[0],
        after=after[0],
        error_before=errors[0],
        error_after=errors[1],
        error_of_mean=errors[2],
        gain=errors[3],
        calibration_error_before=before[1] if comparable else _none(texts, CANNOT_COMPARE, drawing),
        calibration_error_after=after[1],
        knots=knots,
        n=texts.judge.size,
        n_left_out=int((~known).sum()),
        n_clusters=n_items,
        n_folds=min(n_folds, n_items),
        notes=_notes(texts, knots, n_folds, n_items),
        reason=reason,
    )


def calibrated(knots: Knots, scores: ArrayLike) -> Floats:
    """Map a judge's scores (n,) to the human scale; NaN stays. Needs at least one knot."""
    return linear_map((np.array([at for at, _ in knots]), np.array([value for _, value in knots])))(
        np.asarray(scores, dtype=np.float64)
    )


def _known(
    judge: ArrayLike, human: ArrayLike, groups: ArrayLike | None, n_folds: int, rng: Rng
) -> tuple[np.ndarray, _Texts]:
    """Mask of rows with both scores, and these rows, with items assigned to folds independently of row order."""
    scores, target = np.asarray(judge, dtype=np.float64), np.asarray(human, dtype=np.float64)
    labels = np.arange(scores.size) if groups is None else np.asarray(groups)
    if scores.ndim != 1 or scores.shape != target.shape or scores.shape != labels.shape:
        raise ValueError(
            f"judge, human and groups must have one shape (n,), got {scores.shape}, {target.shape} and {labels.shape}"
        )
    if np.isinf(scores).any() or np.isinf(target).any():
        raise ValueError("scores contain infinity; use NaN for a missing score")
    known = ~(np.isnan(scores) | np.isnan(target))
    items = numbered(labels[known])
    n_items = int(items.max(initial=-1)) + 1
    dealt = np.random.default_rng(rng).permutation(n_items) % max(1, min(n_folds, n_items))
    return known, _Texts(scores[known], target[known], items, dealt[items])


def _cross_validated(texts: _Texts, method: Method) -> tuple[Floats, Method, str | None]:
    """Each text's score from the map of the other folds, the method used, and the reason if it is not the requested one."""
    try:
        if method == "ordinal":
            _predictor(texts, np.ones(texts.judge.size, dtype=bool), method)
        return _held_out_predictions(texts, method), method, None
    except NoFit as error:
        return _held_out_predictions(texts, "isotonic"), "isotonic", f"isotonic in place of ordinal: {error}"


def _held_out_predictions(texts: _Texts, method: Method) -> Floats:
    found = np.empty(texts.judge.size)
    for fold in range(int(texts.folds.max()) + 1):
        held = texts.folds == fold
        found[held] = _predictor(texts, ~held, method)(texts.judge[held])
    return found


def _predictor(texts: _Texts, rows: np.ndarray, method: Method) -> Predict:
    judge, human = texts.judge[rows], texts.human[rows]
    return ordinal_map(judge, human) if method == "ordinal" else linear_map(isotonic_knots(judge, human))


def _knots(texts: _Texts, method: Method) -> Knots:
    if method == "isotonic":
        at, values = isotonic_knots(texts.judge, texts.human)
    else:
        at = np.unique(texts.judge)
        if at.size > _KNOTS_OF_A_CURVE:
            at = np.linspace(at[0], at[-1], _KNOTS_OF_A_CURVE)
        values = ordinal_map(texts.judge, texts.human)(at)
    return tuple(zip(at.tolist(), values.tolist(), strict=True))


def _rescaled(judge: Floats, judge_scale: Scale | None, human_scale: Scale | None) -> Floats:
    for scale in (judge_scale, human_scale):
        if scale is not None and not scale[0] < scale[1]:
            raise ValueError(f"a scale runs from its lowest to a larger highest score, got {scale}")
    if judge_scale is None or human_scale is None or judge_scale == human_scale:
        return judge
    place = (judge - judge_scale[0]) / (judge_scale[1] - judge_scale[0])
    return np.asarray(human_scale[0] + place * (human_scale[1] - human_scale[0]), dtype=np.float64)


def _errors(
    texts: _Texts, shown: Floats | None, values: Floats, reason: str | None, drawing: Resampling
) -> Sequence[Estimate]:
    """Errors of the judge, of the map and of the mean rating, and the map's gain over the mean rating."""
    if reason is not None:
        return [_none(texts, reason, drawing)] * 4
    sums, counts = np.bincount(texts.folds, weights=texts.human), np.bincount(texts.folds)
    means_of_others = (texts.human.sum() - sums) / (texts.human.size - counts)
    after, of_mean = np.abs(values - texts.human), np.abs(means_of_others[texts.folds] - texts.human)
    before = np.zeros_like(after) if shown is None else np.abs(shown - texts.human)
    gain = of_mean - after
    # A flat map returns the mean, but summed in another order.
    gain[np.abs(gain) <= ROUNDING * np.abs(texts.human).max()] = 0
    estimates = mean_estimates(np.column_stack([before, after, of_mean, gain]), texts.items, **drawing)
    if shown is None:
        estimates[0] = _none(texts, CANNOT_COMPARE, drawing)
    return estimates


def _side(
    scores: Floats, texts: _Texts, reason: str | None, n_bins: int, drawing: Resampling
) -> tuple[tuple[ReliabilityBin, ...], Estimate]:
    """Bins of one kind of score, and their calibration error."""
    if reason is not None:
        return (), _none(texts, reason, drawing)
    bins, place = reliability_bins(scores, texts.human, texts.items, n_bins=n_bins, **drawing)
    return bins, calibration_error(scores, texts.human, place, texts.items, **drawing)


def _none(texts: _Texts, reason: str, drawing: Resampling) -> Estimate:
    n_items = int(texts.items.max(initial=-1)) + 1
    return cluster_estimate(np.nan, None, n_items, together=1, n=texts.judge.size, reason=reason, **drawing)


def _notes(texts: _Texts, knots: Knots, n_folds: int, n_items: int) -> tuple[str, ...]:
    notes = []
    if knots and np.ptp(texts.judge) == 0:
        notes.append(_CONSTANT)
    elif knots and knots[-1][1] <= knots[0][1]:
        notes.append(_FLAT if knots[-1][1] == knots[0][1] else _FALLS)
    if 1 < n_items < n_folds:
        notes.append(f"{n_items} folds instead of {n_folds}, because there are only {n_items} items")
    return tuple(notes)


# --- the confidence from which a judge is kept -------------------------------------------------

MOST_THRESHOLDS = 20
"""Different confidences up to which each is a threshold; else this many thresholds, at even shares of kept texts."""
SAME = 1e-9
"""Confidences that differ by less are equal: shares such as 2/3 differ in their last digits. A text is kept from threshold - SAME."""


@dataclass(frozen=True)
class KeptAbove:
    """The labelled texts with at least one confidence."""

    threshold: float
    n: int
    n_clusters: int
    """Items among them."""
    share: float
    """Share of the labelled texts."""
    agreement: float | None
    """Mean agreement; None without a text."""
    low: float
    """Lower bound at this threshold, one-sided at 1 - delta; 0 without a text."""
    tested: bool
    passed: bool
    """Whether the bound reaches the agreement wanted, and did at every threshold tested before."""


@dataclass(frozen=True)
class TrustThreshold:
    """The lowest confidence with the agreement that was promised, if there is one."""

    threshold: KeptAbove | None
    steps: tuple[KeptAbove, ...]
    """One for each threshold, the highest first."""
    fewest: int
    """Items from which a threshold is tested."""


def fewest_to_trust(agreement: float, delta: float) -> int:
    """Texts without any disagreement from which the exact bound reaches the agreement: ln(delta) / ln(agreement), rounded up.

    22 for an agreement of .9 and delta .1. Raises ValueError unless both lie between 0 and 1, delta below .5.
    """
    if not 0 < agreement < 1 or not 0 < delta < 0.5:
        raise ValueError(
            f"agreement must lie between 0 and 1, delta between 0 and .5, got {agreement}, {delta}"
        )
    return ceil(log(delta) / log(agreement) - 1e-9)


def fixed_thresholds(confidence: ArrayLike) -> Floats:
    """Thresholds to test, from the highest down, from the confidences (n,) of all texts; labels do not enter.

    Every different confidence if there are at most MOST_THRESHOLDS, such as shares of equal verdicts; else those that keep 1, 2,
    ... of MOST_THRESHOLDS parts of the texts. NaN is left out.
    """
    known = np.asarray(confidence, dtype=np.float64)
    known = np.sort(known[~np.isnan(known)])
    values = known[np.diff(known, prepend=-np.inf) > SAME]
    if values.size > MOST_THRESHOLDS:
        ranks = np.ceil(np.arange(1, MOST_THRESHOLDS + 1) / MOST_THRESHOLDS * known.size).astype(int)
        values = np.unique(known[-ranks])
        values = values[np.diff(values, prepend=-np.inf) > SAME]
    return values[::-1]


def trust_threshold(
    confidence: ArrayLike,
    agrees: ArrayLike,
    *,
    thresholds: ArrayLike,
    agreement: float = 0.9,
    delta: float = 0.1,
    fewest: int | None = None,
    clusters: ArrayLike | None = None,
) -> TrustThreshold:
    """Choose the lowest confidence from which a judge agrees with people at least this often, with probability 1 - delta.

    Fixed-sequence testing (Jung, Brahman and Choi 2025, ICLR, Trust or Escalate, sec. 2.2 and theorem 1; Bauer 1991, Statistics in
    Medicine 10:871): the thresholds, fixed before any label is seen, are tested from the highest down, each by the exact
    lower bound of the agreement of the labelled texts with at least that confidence (Clopper and Pearson, one-sided at
    1 - delta). The first that fails ends the search, and the last that passed is chosen. Because a wrong threshold is reached
    only through the first wrong one, the probability of choosing one whose agreement in the population is below the target is
    at most delta, without a correction for the number of thresholds. Thresholds that keep fewer items than `fewest` are not
    tested: by default `fewest_to_trust`, below which no bound can pass. A larger number, chosen beforehand, lets the first test
    survive a chance disagreement, and costs nothing in the guarantee.

    confidence: shape (n,), no NaN, larger is surer. agrees: shape (n,), 1 where judge and people agree, 0 where not, or the share
    of a text's raters who agree. clusters: shape (n,), the item of each text; default: texts are independent. The labelled texts
    must be a random sample of the texts for which the threshold is to hold.

    The guarantee is exact for independent texts with agreement 0 or 1, however agreement changes with confidence. With several texts of an
    item the bound uses their effective number (`exact_share`), so it is approximate; it is simulated.

    Raises ValueError for other shapes and values. Misleads where texts to be judged later differ from the labelled ones.
    """
    least = fewest_to_trust(agreement, delta)
    first = max(least, fewest or least)
    sure = np.asarray(confidence, dtype=np.float64)
    values = np.asarray(agrees, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != values.shape or np.isnan(sure).any() or np.isnan(values).any():
        raise ValueError("confidence and agrees must have one shape (n,), without NaN")
    if ((values < 0) | (values > 1)).any():
        raise ValueError("agrees must lie in [0, 1]")
    at = np.asarray(thresholds, dtype=np.float64)
    if (np.diff(at) >= 0).any():
        raise ValueError("thresholds must fall")
    items = numbered(unit_clusters(clusters, sure.size))
    steps: list[KeptAbove] = []
    chosen: KeptAbove | None = None
    ended = False
    for step in _kept_above(sure, values, items, at, delta):
        tested = not ended and step.n_clusters >= first
        passed = tested and step.low >= agreement - SAME
        ended = ended or (tested and not passed)
        steps.append(replace(step, tested=tested, passed=passed))
        chosen = steps[-1] if passed else chosen
    return TrustThreshold(chosen, tuple(steps), first)


def _kept_above(
    sure: Floats, values: Floats, items: Indices, thresholds: Floats, delta: float
) -> list[KeptAbove]:
    """The texts at or above each threshold, with the lower bound of their agreement."""
    from scipy.special import betaincinv

    order = np.argsort(-sure, kind="stable")
    counts = np.searchsorted(-sure[order], SAME - thresholds, side="right")
    sums = np.concatenate([[0.0], np.cumsum(values[order])])
    new = np.zeros(sure.size)
    new[np.unique(items[order], return_index=True)[1]] = 1
    n_items = np.concatenate([[0], np.cumsum(new)]).astype(int)
    lows = betaincinv(np.maximum(sums[counts], 1e-300), counts - sums[counts] + 1, delta)
    found = []
    for threshold, n, low in zip(thresholds.tolist(), counts.tolist(), lows.tolist(), strict=True):
        if n_items[n] < n:
            kept = order[:n]
            bound = exact_share(values[kept], items[kept], confidence_level=1 - 2 * delta).low
            low = 0.0 if bound is None else bound
        mean = float(sums[n]) / n if n else None
        share = n / sure.size if sure.size else 0.0
        found.append(
            KeptAbove(threshold, n, int(n_items[n]), share, mean, low if sums[n] > 0 else 0.0, False, False)
        )
    return found


def labelled_needed(
    share_agreeing: float, agreement: float, delta: float, *, most: int = 100_000
) -> int | None:
    """Texts from which the exact bound reaches the agreement, if this share of them agrees; None if the share is no larger, or
    beyond `most`.
    """
    if share_agreeing <= agreement:
        return None
    from scipy.special import betaincinv

    low, high = fewest_to_trust(agreement, delta), most

    def passes(n: int) -> bool:
        agreeing = share_agreeing * n
        return bool(betaincinv(agreeing, n - agreeing + 1, delta) >= agreement - SAME)

    if not passes(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle + 1, high)
    return low
