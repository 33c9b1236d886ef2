"""Labels of several raters and of an evaluator: majorities, kinds of agreement, weighted F1, bias, and the evaluator beside single raters."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    Estimate,
    Floats,
    cluster_bootstrap,
    mean_estimates,
    mean_of_sums,
    ratio,
    unit_clusters,
)
from core.stats.votes import MISSING, Codes, category_counts, check_votes

FULL: Final = 0
PARTIAL: Final = 1
NONE: Final = 2
AGREEMENT_KINDS: Final = ("full", "partial", "none")
"""Names of the codes: all raters of a unit agree, some two but not all do, no two do."""
MAJORITY_RULES: Final = ("drop", "median", "middle")

_NO_SHARED = "no unit has both labels"
_NO_PAIRS = "no unit was rated by two raters"


@dataclass(frozen=True)
class TopClassBias:
    """How much more often an evaluator gives the top class than the raters' majority, over units that have both labels."""

    bias: Estimate
    """Share of the evaluator minus share of the majority, in [-1, 1]; above 0 the evaluator is too generous."""
    evaluator: Estimate
    """Share of the top class among the evaluator's labels."""
    majority: Estimate
    """Share of the top class among the majority's labels."""


def majority_labels(votes: ArrayLike, n_categories: int, rule: str = "drop") -> Codes:
    """The category that most raters of a unit gave: shape (n_units,), -1 where there is none.

    Every label is a category that a rater of the unit gave. Where several were given equally often, `rule` decides:
    "drop" gives no label; "median" takes the middle vote (no label where two middle votes differ); "middle" takes the
    middle one of all categories where a rater gave it (no label elsewhere, nor where their number is even). With three
    raters and three categories "middle" and "median" are the same: what 004's code does with three raters who all
    differ. One rating alone is its own majority. Misleads: a majority of two against one hides a third of the votes;
    "drop" leaves out the texts that people find hardest; "middle" favours the middle of the scale.
    """
    if rule not in MAJORITY_RULES:
        raise ValueError(f"rule must be one of {', '.join(MAJORITY_RULES)}, got {rule!r}")
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    most = counts.max(axis=1, keepdims=True)
    clear = (most[:, 0] > 0) & ((counts == most).sum(axis=1) == 1)
    split = ~clear & (most[:, 0] > 0)
    labels = np.where(clear, counts.argmax(axis=1), MISSING)
    if rule == "middle" and n_categories % 2 == 1:
        middle = n_categories // 2
        labels[split & (counts[:, middle] > 0)] = middle
    elif rule == "median":
        labels[split] = _median_votes(counts[split])
    return labels.astype(np.int64)


def _median_votes(counts: Floats) -> Codes:
    """The middle vote of each unit; -1 where two stand in the middle and differ."""
    total, below = counts.sum(axis=1), counts.cumsum(axis=1)
    lower = (below >= np.ceil(total / 2)[:, None]).argmax(axis=1)
    upper = (below >= (np.floor(total / 2) + 1)[:, None]).argmax(axis=1)
    return np.where(lower == upper, lower, MISSING).astype(np.int64)


def agreement_kinds(votes: ArrayLike, n_categories: int) -> Codes:
    """FULL, PARTIAL or NONE for each unit, -1 where fewer than two raters gave a vote: shape (n_units,).

    Two raters agree fully or not at all; with more raters than categories some two always agree.
    """
    counts = category_counts(check_votes(votes, n_categories), n_categories)
    total, most = counts.sum(axis=1), counts.max(axis=1, initial=0)
    kinds = np.select([total < 2, most == total, most > 1], [MISSING, FULL, PARTIAL], NONE)
    return kinds.astype(np.int64)


def full_agreement(
    votes: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """Percentage agreement of 004 as a share: units on which all raters agree, of those with two votes or more. In [0, 1].

    Of two raters the same as `agreement.raw_agreement`; of more it is stricter, and falls with their number: do not
    compare panels of different size. Misleads where one category is popular, as all raw agreement does.
    """
    kinds = agreement_kinds(votes, n_categories)
    labels = unit_clusters(clusters, kinds.size)
    used = kinds != MISSING
    found = cluster_bootstrap(
        np.column_stack([kinds[used] == FULL, np.ones(used.sum())]),
        labels[used],
        mean_of_sums,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return replace(found, reason=_NO_PAIRS if found.estimate is None else None, n_left_out=int((~used).sum()))


def weighted_f1(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """F1 of each class, 2 hits / (true + predicted), averaged with the class's share of `truth`. In [0, 1].

    truth, predicted: labels, shape (n_units,); units where either is -1 are left out and counted. As scikit-learn's
    f1_score(average="weighted", zero_division=0): a class that is never predicted has F1 0; one that is predicted but
    never true has no weight of its own. Not symmetric. Misleads where one class is popular: always naming it gives a high
    value, so read it beside kappa and the distribution of classes.
    """
    true, given, labels, n_left_out = _shared(truth, predicted, clusters)
    n_classes = int(max(true.max(initial=0), given.max(initial=0))) + 1
    is_true, is_given = (each[:, None] == np.arange(n_classes) for each in (true, given))

    def f1(sums: Floats) -> Floats:
        hits, of_truth, of_given = (sums[..., k * n_classes : (k + 1) * n_classes] for k in range(3))
        each = np.nan_to_num(ratio(2 * hits, of_truth + of_given))
        return ratio((each * of_truth).sum(axis=-1), of_truth.sum(axis=-1))

    found = cluster_bootstrap(
        np.hstack([is_true & is_given, is_true, is_given]),
        labels,
        f1,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return replace(found, reason=_NO_SHARED if found.estimate is None else None, n_left_out=n_left_out)


def top_class_bias(
    majority: ArrayLike,
    evaluator: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> TopClassBias:
    """Does the evaluator give the best class, n_categories - 1, more often than the raters' majority does (004)?

    majority, evaluator: labels, shape (n_units,); units where either is -1 are left out. Compared over the same units,
    so that the interval, from resampled clusters, is of a paired difference. Misleads: 0 does not mean that the two agree
    on which units are best, only that they name as many.
    """
    check_votes(np.column_stack([np.asarray(majority), np.asarray(evaluator)]), n_categories)
    true, given, labels, n_left_out = _shared(majority, evaluator, clusters)
    top = n_categories - 1
    is_top = [(each == top).astype(np.float64) for each in (given, true)]
    found = mean_estimates(
        np.column_stack([is_top[0] - is_top[1], *is_top]),
        labels,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    bias, of_evaluator, of_majority = (
        replace(each, reason=_NO_SHARED if each.estimate is None else None, n_left_out=n_left_out)
        for each in found
    )
    return TopClassBias(bias=bias, evaluator=of_evaluator, majority=of_majority)


def _shared(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None
) -> tuple[Codes, Codes, NDArray[np.generic], int]:
    """Units that have both labels: the labels, the clusters, and how many units were left out."""
    one, other = np.asarray(first), np.asarray(second)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"both labels must have one shape (n_units,), got {one.shape} and {other.shape}")
    highest = max(int(one.max(initial=0)), int(other.max(initial=0)))
    codes = check_votes(np.column_stack([one, other]), max(highest + 1, 2))
    used = (codes != MISSING).all(axis=1)
    labels = unit_clusters(clusters, one.size)
    return codes[used, 0], codes[used, 1], labels[used], int((~used).sum())


MOST_PAIRS = 66
"""Of raters (12 of them): each takes columns of its own in every resample."""
NO_PAIRS = "no text was rated by two raters"
TOO_MANY = "too many raters for the F1 of every two of them: it is worked out for up to 12"
NONE_WITH_BOTH = "no text has two raters' votes and the evaluator's"


@dataclass(frozen=True)
class PairwiseAgreement:
    """How often two voices give the same class: two raters, or the evaluator and a rater. Each in [0, 1], the gap in [-1, 1]."""

    raters: Estimate
    """Share of a unit's pairs of raters that agree, averaged over units with two votes or more (`raw_agreement`)."""
    evaluator: Estimate
    """Share of a unit's raters who gave the evaluator's class, averaged over the same units that have its class."""
    gap: Estimate
    """The evaluator's share minus the raters', over units that have both."""


def pairwise_f1(
    votes: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """Mean over pairs of raters of the weighted F1 (`labels.weighted_f1`), the earlier rater of a pair as truth. [0, 1].

    votes: codes, shape (n_units, n_raters), -1 for missing; pairs that share no unit are left out. Its direction is a
    convention: averaged over both directions, the weighted F1 of two raters is exactly the share of their equal votes.
    `n`: units with two votes or more. Undefined above MOST_PAIRS pairs that share units. 004 prints it beside that of an evaluator (Table
    2). Misleads as weighted F1 does: high by chance where one class is popular.
    """
    codes = check_votes(votes, n_categories)
    used = (codes != MISSING).sum(axis=1) >= 2
    labels = unit_clusters(clusters, len(codes))
    pairs = [
        (first, second)
        for first, second in combinations(range(codes.shape[1]), 2)
        if (codes[:, [first, second]] != MISSING).all(axis=1).any()
    ]
    if not pairs or len(pairs) > MOST_PAIRS:
        pairs, why = [], NO_PAIRS if not pairs else TOO_MANY
    else:
        why = None
    blocks = [_block(codes[used, first], codes[used, second], n_categories) for first, second in pairs]

    def f1(sums: Floats) -> Floats:
        parts = sums.reshape(*sums.shape[:-1], -1, 3, n_categories)
        hits, truth, given = (parts[..., k, :] for k in range(3))
        each = np.nan_to_num(ratio(2 * hits, truth + given))
        by_pair = ratio((each * truth).sum(axis=-1), truth.sum(axis=-1))
        defined = ~np.isnan(by_pair)
        return ratio(np.where(defined, by_pair, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(np.float64))

    found = cluster_bootstrap(
        np.hstack(blocks) if blocks else np.zeros((int(used.sum()), 3 * n_categories)),
        labels[used],
        f1,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return replace(found, reason=why if found.estimate is None else None, n_left_out=int((~used).sum()))


def _block(truth: np.ndarray, given: np.ndarray, n_categories: int) -> Floats:
    """Columns hits, true and given of a pair's classes; 0 where one of the two gave no vote."""
    shared = ((truth != MISSING) & (given != MISSING))[:, None]
    true, said = (each[:, None] == np.arange(n_categories) for each in (truth, given))
    return np.hstack([shared & true & said, shared & true, shared & said]).astype(np.float64)


def pairwise_agreement(
    votes: ArrayLike,
    evaluator: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> PairwiseAgreement:
    """Compare people and an evaluator by the same measure: the chance that two voices on a unit give one class.

    votes: codes (n_units, n_raters); evaluator: codes (n_units,), -1 for missing. A gap below 0 says that the evaluator
    agrees with a rater less often than another rater does. The agreement with a majority has no such zero: a majority is
    steadier than a rater, and "all raters equal" falls with their number. Units with one vote are left out, unless no unit
    has two: then the evaluator's share is over all, and the others are undefined. Misleads where one class is popular, as
    all raw agreement does: both shares are high by chance.
    """
    codes = check_votes(votes, n_categories)
    given = check_votes(np.asarray(evaluator).reshape(-1, 1), n_categories)[:, 0]
    if given.size != len(codes):
        raise ValueError(f"evaluator must have shape ({len(codes)},), one label a unit, got {given.shape}")
    counts = category_counts(codes, n_categories)
    total = counts.sum(axis=1)
    paired = total >= 2
    beside = (paired if paired.any() else total >= 1) & (given != MISSING)
    of_class = counts[np.arange(len(codes)), np.maximum(given, 0)]
    size = np.maximum(total, 2.0)
    raters = np.where(paired, (counts * (counts - 1)).sum(axis=1) / (size * (size - 1)), np.nan)
    own = np.where(beside, of_class / np.maximum(total, 1.0), np.nan)
    found = mean_estimates(
        np.column_stack([raters, own, own - raters]),
        unit_clusters(clusters, len(codes)),
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return PairwiseAgreement(
        *(
            replace(one, reason=reason if one.estimate is None else None)
            for one, reason in zip(found, (NO_PAIRS, NONE_WITH_BOTH, NONE_WITH_BOTH), strict=True)
        )
    )
