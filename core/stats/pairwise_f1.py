"""An evaluator beside single raters: pairwise weighted F1, and pairwise agreement with and without the evaluator."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from core.stats.many_ratios import mean_estimates
from core.stats.resampling import Estimate, Floats, cluster_bootstrap, ratio, unit_clusters
from core.stats.votes import MISSING, category_counts, check_votes

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
