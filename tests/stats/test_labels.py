"""Majorities, kinds of agreement, weighted F1 and top-class bias: hand calculations, scikit-learn, simulation."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score

from core.stats.agreement import (
    BOTH_ONE_CATEGORY,
    FULL,
    NO_DISAGREEMENT,
    NONE,
    ONE_CATEGORY,
    PARTIAL,
    agreement_kinds,
    cohen_kappa,
    fleiss_kappa,
    full_agreement,
    krippendorff_alpha,
    majority_labels,
    raw_agreement,
    top_class_bias,
    weighted_f1,
)
from core.stats.votes import MISSING

NO_SHARED = "no unit has both labels"
VOTES = [[2, 2, 2], [0, 2, 0], [0, 1, 2], [1, 1, -1], [0, 2, -1], [1, -1, -1], [-1, -1, -1]]


@pytest.mark.parametrize(
    ("rule", "labels"),
    [
        ("middle", [2, 0, 1, 1, -1, 1, -1]),
        ("median", [2, 0, 1, 1, -1, 1, -1]),
        ("drop", [2, 0, -1, 1, -1, 1, -1]),
    ],
)
def test_majority(rule, labels):
    assert majority_labels(VOTES, 3, rule).tolist() == labels


def test_rules_differ_where_categories_are_more_than_three_or_even():
    split = [[0, 3, 4], [2, 3, 4]]
    assert majority_labels(split, 5, "middle").tolist() == [MISSING, 2], "of 0, 3 and 4 nobody gave 2"
    assert majority_labels(split, 5).tolist() == [MISSING, MISSING]
    assert majority_labels(split, 5, "median").tolist() == [3, 3]
    assert majority_labels([[0, 1], [0, 0]], 2, "middle").tolist() == [MISSING, 0]
    assert majority_labels([[0, 0, 1, 3, 3]], 4, "median").tolist() == [1]
    with pytest.raises(ValueError, match="drop, median, middle"):
        majority_labels(VOTES, 3, "mode")


def test_kinds_of_agreement():
    assert agreement_kinds(VOTES, 3).tolist() == [FULL, PARTIAL, NONE, FULL, NONE, MISSING, MISSING]


def test_full_agreement_counts_units_on_which_all_agree():
    found = full_agreement(VOTES, 3, n_resamples=100)
    assert (found.estimate, found.n, found.n_left_out) == (2 / 5, 5, 2)
    # pair by pair the second unit agrees by a third
    assert raw_agreement(VOTES, n_categories=3, n_resamples=0).estimate == pytest.approx((2 + 1 / 3) / 5)
    assert full_agreement([[1], [0]], 3).reason == "no unit was rated by two raters"
    with pytest.raises(ValueError, match=r"clusters must have shape \(7,\)"):
        full_agreement(VOTES, 3, clusters=[1, 2])


def test_of_two_raters_it_is_raw_agreement():
    votes = np.random.default_rng(0).integers(-1, 3, (60, 2))
    items = np.arange(60) // 4
    one = asdict(full_agreement(votes, 3, clusters=items))
    other = asdict(raw_agreement(votes, clusters=items, n_categories=3))
    assert one == {key: other[key] for key in one}


def labels_of(n):
    return arrays(np.int64, n, elements=st.integers(-1, 3))


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 20).flatmap(lambda n: st.tuples(labels_of(n), labels_of(n))))
def test_weighted_f1_is_scikit_learns(labels):
    truth, predicted = labels
    used = (truth >= 0) & (predicted >= 0)
    found = weighted_f1(truth, predicted, n_resamples=0)
    assert (found.n, found.n_left_out) == (used.sum(), (~used).sum())
    if not used.any():
        assert (found.estimate, found.reason) == (None, NO_SHARED)
        return
    theirs = f1_score(truth[used], predicted[used], average="weighted", zero_division=0)
    assert found.estimate == pytest.approx(theirs, abs=1e-12)


def test_weighted_f1_by_hand_and_with_an_interval():
    """Class 0: 2 true, 1 said, 1 hit: 2/3. Class 1: 2 true, 3 said, 2 hits: 4/5."""
    found = weighted_f1([0, 0, 1, 1], [0, 1, 1, 1], clusters=["a", "a", "b", "b"], n_resamples=500)
    assert found.estimate == pytest.approx((2 / 3 + 4 / 5) / 2)
    # aa: class 0 has F1 2/3; ab; bb: class 1 alone, and right
    assert (found.low, found.high, found.n_clusters) == (pytest.approx(2 / 3), 1, 2)


def test_labels_have_to_be_codes_of_one_shape():
    with pytest.raises(ValueError, match="integer codes"):
        weighted_f1([0.5, 1], [0, 1])
    with pytest.raises(ValueError, match=r"one shape \(n_units,\)"):
        weighted_f1([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="codes run from 0 to 2"):
        top_class_bias([0, 3], [0, 1], 3)


def test_top_class_bias():
    found = top_class_bias([2, 1, 0, 2, -1], [2, 2, 2, 1, 2], 3, clusters=list("aabbc"), n_resamples=300)
    assert (found.bias.estimate, found.evaluator.estimate, found.majority.estimate) == (0.25, 0.75, 0.5)
    assert (found.bias.n, found.bias.n_left_out, found.bias.n_clusters) == (4, 1, 2)
    assert (found.bias.low, found.bias.high) == (0, 0.5)  # a: 1 - 1/2; b: 1/2 - 1/2
    nothing = top_class_bias([-1], [2], 3)
    assert (nothing.bias.estimate, nothing.bias.reason) == (None, NO_SHARED)


def test_kappas_are_undefined_where_all_use_one_class():
    """Multilingual enters such a cell as 0; full agreement is 1 there."""
    votes = [[2, 2, 2]] * 5
    for found, reason in (
        (fleiss_kappa(votes, n_categories=3), ONE_CATEGORY),
        (krippendorff_alpha(votes, n_categories=3), NO_DISAGREEMENT),
        (cohen_kappa([[2, 2]] * 5, n_categories=3), BOTH_ONE_CATEGORY),
    ):
        assert (found.estimate, found.reason) == (None, reason)
    assert full_agreement(votes, 3).estimate == 1


@pytest.mark.slow
def test_interval_of_the_bias_covers():
    """A unit's truth is the top class with .5; a lenient evaluator calls a third of the rest top, on half of the items."""
    rng = np.random.default_rng(4)
    truth, covered = 0.5 / 3 / 2, 0
    for _ in range(800):
        majority = rng.integers(1, 3, (60, 4))
        lenient = (rng.random((60, 1)) < 0.5) & (rng.random((60, 4)) < 1 / 3)
        evaluator = np.where(lenient, 2, majority)
        found = top_class_bias(
            majority.ravel(),
            evaluator.ravel(),
            3,
            clusters=np.repeat(np.arange(60), 4),
            n_resamples=500,
            rng=rng,
        )
        covered += found.bias.low - 1e-9 <= truth <= found.bias.high + 1e-9
    assert 0.91 <= covered / 800 <= 0.98
