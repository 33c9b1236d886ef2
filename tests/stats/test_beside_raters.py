"""A judge beside raters: agreement, and coefficients averaged over pairs of raters."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from core.stats.agreement import (
    agreement_with_raters,
    cohen_kappa,
    gwet_ac1,
    mean_of_pairs,
    pairwise_agreement,
    raw_agreement,
)
from core.stats.votes import MISSING

FEW = {"n_resamples": 200, "rng": 3}


def votes(n=60, raters=3, missing=0.0, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    codes = np.where(rng.random((n, raters + 1)) < 0.6, truth[:, None], rng.integers(0, 4, (n, raters + 1)))
    codes = np.where(rng.random(codes.shape) < missing, MISSING, codes)
    return codes[:, :raters], codes[:, raters], np.repeat(np.arange(n // 4), 4)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_one_pair_has_the_coefficient_of_two_raters_with_both_intervals(missing):
    codes, _, items = votes(raters=2, missing=missing)
    for name, own in (("cohen_kappa", cohen_kappa), ("gwet_ac1", gwet_ac1)):
        both = codes if name == "cohen_kappa" else codes[(codes != MISSING).all(axis=1)]
        labels = items if name == "cohen_kappa" else items[(codes != MISSING).all(axis=1)]
        one, found = own(both, clusters=labels, **FEW), mean_of_pairs(name, [codes], clusters=items, **FEW)
        # The resamples of AC1 are others, because its rows are.
        near = 1e-9 if name == "cohen_kappa" else 0.03
        for end in ("estimate", "low", "high", "low_t", "high_t"):
            exact = 1e-9 if end in ("estimate", "low_t", "high_t") else near
            assert getattr(found, end) == pytest.approx(getattr(one, end), abs=exact), (name, end)
        assert (found.n, found.n_clusters) == (one.n, one.n_clusters)


def test_kappa_of_a_judge_is_the_mean_of_its_kappas_with_each_rater():
    codes, judge, items = votes(missing=0.1)
    pairs = [np.column_stack([codes[:, rater], judge]) for rater in range(3)]
    kappas = [cohen_kappa_score(*pair[(pair != MISSING).all(axis=1)].T, labels=range(4)) for pair in pairs]
    found = mean_of_pairs("cohen_kappa", pairs, clusters=items, **FEW)
    assert found.estimate == pytest.approx(np.mean(kappas))
    assert found.low < found.estimate < found.high
    among = mean_of_pairs("cohen_kappa", [codes[:, two] for two in combinations(range(3), 2)], **FEW)
    assert -1 <= among.estimate <= 1


def test_a_pair_without_a_coefficient_is_left_out_of_the_mean():
    """The second rater and the judge always give one answer: only the first pair has a kappa."""
    one = np.array([[0, 0], [3, 3], [0, 3], [3, 3]])
    same = np.zeros((4, 2), dtype=int)
    found = mean_of_pairs("cohen_kappa", [one, same], **FEW)
    assert found.estimate == pytest.approx(cohen_kappa(one, **FEW).estimate)
    nothing = mean_of_pairs("cohen_kappa", [same], **FEW)
    assert (nothing.estimate, bool(nothing.reason)) == (None, True)
    empty = mean_of_pairs("gwet_ac1", [np.full((3, 2), MISSING)], **FEW)
    assert (empty.estimate, empty.n, bool(empty.reason)) == (None, 0, True)


def test_beside_raters_is_pairwise_agreement_with_the_raters_own_numbers():
    codes, judge, items = votes(missing=0.1)
    found = agreement_with_raters(codes, judge, clusters=items, **FEW)
    other = pairwise_agreement(codes, judge, 4, clusters=items, **FEW)
    assert found.raters == raw_agreement(codes, clusters=items, **FEW)
    assert found.judge.estimate == pytest.approx(other.evaluator.estimate)
    assert found.gap.estimate == pytest.approx(other.gap.estimate)
    assert found.gap.low_t < found.gap.estimate < found.gap.high_t
    assert (found.judge.n, found.gap.n) == (other.evaluator.n, other.gap.n)


def test_an_answer_that_raters_do_not_have_agrees_with_nobody():
    codes, judge, items = votes()
    found = agreement_with_raters(codes, np.full_like(judge, 4), clusters=items, n_categories=5, **FEW)
    assert found.judge.estimate == 0
