"""Weighted F1 between raters beside scikit-learn's, and an evaluator among raters by hand."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from core.stats.agreement import (
    NO_PAIRS,
    NONE_WITH_BOTH,
    TOO_MANY,
    pairwise_agreement,
    pairwise_f1,
    raw_agreement,
)


def test_the_mean_over_pairs_is_scikit_learns() -> None:
    votes = np.random.default_rng(2).integers(0, 3, size=(60, 3))
    votes[:20] = votes[:20, :1]
    votes[5, 1] = votes[9, 2] = -1
    theirs = []
    for first, second in combinations(range(3), 2):
        both = (votes[:, [first, second]] >= 0).all(axis=1)
        theirs.append(f1_score(votes[both, first], votes[both, second], average="weighted", zero_division=0))
    found = pairwise_f1(votes, 3, n_resamples=300)
    assert found.estimate == pytest.approx(np.mean(theirs), abs=1e-12)
    assert found.low < found.estimate < found.high
    assert found.n == 60


def test_averaged_over_both_directions_it_is_the_share_of_equal_votes() -> None:
    """Why one direction is taken: the sum of 2 hits over (true + given), weighted with their mean, is hits over n."""
    votes = np.random.default_rng(3).integers(0, 4, size=(50, 2))
    both = (
        pairwise_f1(votes, 4, n_resamples=0).estimate + pairwise_f1(votes[:, ::-1], 4, n_resamples=0).estimate
    ) / 2
    assert both == pytest.approx(raw_agreement(votes, n_categories=4, n_resamples=0).estimate, abs=1e-12)


def test_undefined_without_pairs_and_with_too_many() -> None:
    assert pairwise_f1([[0, -1], [-1, 1]], 2).reason == NO_PAIRS
    many = pairwise_f1(np.zeros((3, 13), dtype=int), 2)
    assert many.estimate is None
    assert many.reason == TOO_MANY


def test_an_evaluator_among_raters_by_hand() -> None:
    """1 1 0: a third of the pairs agree, and the evaluator's 1 is two raters'; 0 0 0 with 1: 0 - 1; one vote: out."""
    votes = [[1, 1, 0], [0, 0, 0], [1, -1, -1], [1, 0, -1]]
    found = pairwise_agreement(votes, [1, 1, 1, -1], 2, n_resamples=0)
    assert found.gap.estimate == pytest.approx(((2 / 3 - 1 / 3) + (0 - 1)) / 2)
    assert (found.gap.n, found.gap.n_left_out) == (2, 2)
    assert (found.evaluator.estimate, found.evaluator.n) == (pytest.approx((2 / 3 + 0) / 2), 2)
    people = raw_agreement(votes, n_categories=2, n_resamples=0)
    assert (found.raters.estimate, found.raters.n) == (pytest.approx(people.estimate), people.n)
    assert pairwise_agreement([[-1, -1]], [1], 2).evaluator.reason == NONE_WITH_BOTH
    with pytest.raises(ValueError, match=r"evaluator must have shape \(1,\)"):
        pairwise_agreement([[1, 1]], [1, 1], 2)
    with pytest.raises(ValueError, match=r"clusters must have shape \(2,\)"):
        pairwise_f1([[1, 1], [0, 1]], 2, clusters=[0])


def test_a_rater_alone_has_nobody_to_agree_with_but_the_evaluator() -> None:
    found = pairwise_agreement([[1, -1], [-1, 0]], [1, 1], 2, n_resamples=0)
    assert (found.raters.reason, found.gap.reason) == (NO_PAIRS, NONE_WITH_BOTH)
    assert (found.evaluator.estimate, found.evaluator.n) == (0.5, 2)
