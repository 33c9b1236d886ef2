"""Pairwise accuracy with tie calibration: hand calculations, a search over all epsilons, enumeration, and simulation."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from core.stats.correlation.systems import (
    accuracy_test,
    calibrate_ties,
    calibrated_interval,
    pair_results,
    pairwise_accuracy,
)
from core.stats.resampling import NO_RESAMPLES

HUMAN, METRIC = [1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]


def by_hand(human, metric, epsilon):
    """Mean over items, and their number, one pair at a time."""
    items = []
    for true, scores in zip(human, metric, strict=True):
        known = [(h, m) for h, m in zip(true, scores, strict=True) if h == h and m == m]
        right = [
            h1 == h2 if abs(m1 - m2) <= epsilon else (h1 - h2) * (m1 - m2) > 0
            for (h1, m1), (h2, m2) in combinations(known, 2)
        ]
        if right:
            items.append(np.mean(right))
    return (np.mean(items) if items else None), len(items)


def test_published_vectors():
    assert kendalltau(HUMAN, METRIC).statistic == pytest.approx(0.316227766, abs=1e-9)
    assert pairwise_accuracy(HUMAN, METRIC).accuracy == pytest.approx(0.6)
    assert pairwise_accuracy(HUMAN, METRIC, 2).accuracy == pytest.approx(0.4)


def test_one_more_tie_makes_these_vectors_better():
    """2 and 2 are 0.5 apart for the metric, as are 2 (people's 1) and 1.5: one pair is won, none is lost."""
    found = calibrate_ties(HUMAN, METRIC)
    assert (found.accuracy, found.epsilon) == (pytest.approx(0.7), 0.5)
    assert (found.n_items, found.n_systems, found.n_pairs) == (1, 5, 10)
    assert (found.n_human_ties, found.n_metric_ties) == (1, 2)


@pytest.mark.parametrize(
    ("human", "metric", "accuracy", "epsilon"),
    [
        pytest.param([1, 2, 3], [10, 20, 30], 1, 0, id="in order: no tie is added"),
        pytest.param([1, 1, 1], [5, 3, 4], 1, 2, id="all tied: the smallest epsilon that ties all"),
        pytest.param([1, 1, 1], [4, 4, 4], 1, 0, id="ties of its own"),
        pytest.param([3, 2, 1], [1, 2, 3], 0, 0, id="backwards: no epsilon helps, so the smallest"),
        # epsilon 1 wins the tied pair and loses an ordered one: as good as 0, which is smaller
        pytest.param([1, 1, 2], [1, 2, 3], 2 / 3, 0, id="as good: the smallest"),
    ],
)
def test_epsilon(human, metric, accuracy, epsilon):
    found = calibrate_ties(human, metric)
    assert (found.accuracy, found.epsilon) == (pytest.approx(accuracy), epsilon)


def test_items_weigh_the_same_and_those_without_two_scores_are_left_out():
    nan = np.nan
    human = [[1, 2, 3, 4], [1, 2, nan, nan], [1, nan, nan, nan], [1, nan, 2, nan]]
    metric = [[1, 2, 3, 4], [2, 1, 5, nan], [1, 2, 3, 4], [nan, 1, 2, nan]]
    found = pairwise_accuracy(human, metric)
    assert (found.accuracy, found.n_items, found.n_items_left_out) == (0.5, 2, 2)
    assert (found.n_pairs, found.n_systems) == (7, 4)
    results = pair_results(human, metric)
    assert np.nanmean(results[:2], axis=1).tolist() == [1, 0]
    assert np.isnan(results[2:]).all()


def test_undefined_without_a_pair():
    for empty in ([[1, np.nan]], np.empty((0, 3)), np.empty((3, 0))):
        found = calibrate_ties(empty, empty)
        assert (found.accuracy, found.epsilon, found.n_items) == (None, None, 0)
        assert found.reason == "no item has two systems that both sides scored"
        assert calibrated_interval(empty, empty).reason == found.reason
        assert accuracy_test(empty, empty, empty).reason == found.reason


def test_scores_as_far_apart_as_numbers_go():
    """All that people tie is right once even the largest distance is a tie; ordered the wrong way, nothing else is."""
    found = calibrate_ties([[1, 1], [2, 1]], [[1e308, -1e308], [-1e308, 1e308]])
    assert found.accuracy == 0.5
    assert np.isfinite(found.epsilon)


def test_input_that_cannot_be():
    with pytest.raises(ValueError, match=r"one shape \(n_items, n_systems\)"):
        calibrate_ties([[1, 2]], [[1, 2, 3]])
    with pytest.raises(ValueError, match="infinity"):
        calibrate_ties([1, 2], [1, np.inf])
    for epsilon in (-1, np.nan):
        with pytest.raises(ValueError, match="0 or more"):
            pairwise_accuracy([1, 2], [1, 2], epsilon)
    with pytest.raises(ValueError, match="accepts no epsilons"):
        accuracy_test([1, 2], [1, 2], [1, 2], swap="scores", epsilons=(0, 0))
    with pytest.raises(ValueError, match='"pairs", "items" or "scores"'):
        accuracy_test([1, 2], [1, 2], [1, 2], swap="texts")


def score_matrices():
    score = st.integers(0, 5).map(float) | st.just(np.nan)
    return st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
        lambda shape: st.tuples(arrays(float, shape, elements=score), arrays(float, shape, elements=score))
    )


@settings(max_examples=100, deadline=None)
@given(score_matrices())
def test_no_epsilon_is_better_and_no_smaller_one_as_good(matrices):
    human, metric = matrices
    found = calibrate_ties(human, metric)
    tried = {epsilon: by_hand(human, metric, epsilon) for epsilon in range(6)}
    assert found.n_items == tried[0][1]
    if found.accuracy is None:
        return
    best = max(value for value, _ in tried.values())
    smallest = min(epsilon for epsilon, (value, _) in tried.items() if value >= best - 1e-12)
    assert (found.accuracy, found.epsilon) == (pytest.approx(best, abs=1e-12), smallest)
    for epsilon, (value, _) in tried.items():
        assert pairwise_accuracy(human, metric, epsilon).accuracy == pytest.approx(value, abs=1e-12)


def drawn_items(rng, n_items, noise, n_systems=4):
    human = rng.integers(0, 4, (n_items, n_systems)).astype(float)
    return human, human + rng.normal(size=human.shape) * noise


def test_interval_calibrates_anew_in_every_resample():
    """Two items have four equally likely resamples: aa, ab, ba, bb."""
    human, metric = np.array([[1.0, 1, 1], [1, 2, 3]]), np.array([[1.0, 2, 3], [1, 2, 3]])
    alone = [calibrate_ties(human[[k, k]], metric[[k, k]]).accuracy for k in (0, 1)]
    assert alone == [1, 1]  # each by an epsilon of its own; together 1/2
    found = calibrated_interval(human, metric, n_resamples=400, confidence_level=0.9)
    # resamples run from 1/2 to 1; mirrored at the estimate, 0 to 1/2
    assert (found.estimate, found.low, found.high) == (0.5, 0, 0.5)
    assert (found.n, found.n_clusters, found.n_resamples) == (2, 2, 400)


def test_interval_is_that_of_calibrating_each_drawn_set_of_items():
    human, metric = drawn_items(np.random.default_rng(5), 12, 1.0)
    human[3, 1] = human[7, 0] = np.nan
    found = calibrated_interval(human, metric, n_resamples=4000)
    rng = np.random.default_rng(1)
    drawn = [rng.integers(0, 12, 12) for _ in range(1500)]
    values = [calibrate_ties(human[rows], metric[rows]).accuracy for rows in drawn]
    mirrored = 2 * found.estimate - np.quantile(values, [0.975, 0.025])
    assert (found.low, found.high) == pytest.approx(mirrored, abs=0.02)
    assert found.estimate == calibrate_ties(human, metric).accuracy


def enumerated(gaps, observed, alternative):
    """Share of all sign changes of `gaps` (already worth their part of the mean) with a sum as large."""
    sums = [np.dot(signs, gaps) for signs in product([-1, 1], repeat=len(gaps))]
    large = {"two-sided": np.abs(sums) >= abs(observed) - 1e-12, "greater": np.array(sums) >= observed - 1e-12,
             "less": np.array(sums) <= observed + 1e-12}  # fmt: skip
    return float(np.mean(large[alternative]))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("swap", ["pairs", "items"])
def test_p_is_that_of_all_swaps(swap, alternative):
    rng = np.random.default_rng(6)
    human, first = drawn_items(rng, 5, 0.6, n_systems=3)
    second = human + rng.normal(size=human.shape) * 2
    first[2, 1] = np.nan
    both = (
        [np.where(np.isnan(first), np.nan, human), first],
        [np.where(np.isnan(first), np.nan, human), second],
    )
    gaps = pair_results(*both[0], 0.3) - pair_results(*both[1], 0.1)
    parts = gaps / (~np.isnan(gaps)).sum(axis=1, keepdims=True) / 5
    parts = np.nansum(parts, axis=1) if swap == "items" else parts[~np.isnan(parts)]
    found = accuracy_test(
        human, first, second, swap=swap, epsilons=(0.3, 0.1), n_resamples=20_000, alternative=alternative
    )
    assert found.difference == pytest.approx(parts.sum())
    assert found.p == pytest.approx(enumerated(parts, parts.sum(), alternative), abs=0.015)
    assert (found.n, found.n_left_out) == (14, 1)
    assert found.n_units == (5 if swap == "items" else 13)


def test_scores_swapped_are_on_one_scale_and_calibrated_anew():
    """The same scores in other units are the same metric; scores of people with little noise beat noise in every swap."""
    rng = np.random.default_rng(7)
    human, first = drawn_items(rng, 30, 0.3)
    large = 1000 * first + 5
    same = accuracy_test(human, first, large, swap="scores", n_resamples=50)
    assert (same.difference, same.p) == (pytest.approx(0), 1)
    noise = rng.normal(size=human.shape)
    found = accuracy_test(human, first, noise, swap="scores", n_resamples=99, alternative="greater")
    assert found.p == 0.01
    assert found.n_units == found.n == 120
    difference = calibrate_ties(human, first).accuracy - calibrate_ties(human, noise).accuracy
    assert found.difference == pytest.approx(difference, abs=1e-12)


def test_each_metric_has_its_own_epsilon_unless_given():
    human, metric = drawn_items(np.random.default_rng(8), 30, 0.7)
    coarse = np.round(metric)
    found = accuracy_test(human, metric, coarse, n_resamples=0)
    accuracies = [calibrate_ties(human, scores).accuracy for scores in (metric, coarse)]
    assert found.difference == pytest.approx(accuracies[0] - accuracies[1])
    assert (found.p, found.reason) == (None, NO_RESAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "n_systems", "lowest"), [(80, 4, 0.85), (100, 12, 0.90)])
def test_interval_covers_the_accuracy_of_many_items(n_items, n_systems, lowest):
    rng = np.random.default_rng(9)
    truth = calibrate_ties(*drawn_items(rng, 20_000, 1.0, n_systems)).accuracy
    covered = 0
    for _ in range(150):
        found = calibrated_interval(*drawn_items(rng, n_items, 1.0, n_systems), n_resamples=300, rng=rng)
        covered += found.low <= truth <= found.high
    assert lowest <= covered / 150 <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "n_systems", "studies", "of_pairs"),
    [(40, 5, 500, (0.16, 0.26)), (100, 12, 150, (0.4, 0.65))],
)
def test_swapping_items_finds_what_chance_finds_and_swapping_pairs_more(
    n_items, n_systems, studies, of_pairs
):
    """Two metrics of the same quality that follow people by an amount of their own in each item: its pairs stand and fall
    together.
    """
    rng = np.random.default_rng(10)
    small = np.zeros(2)
    for _ in range(studies):
        human = np.minimum(rng.poisson(1.5, (n_items, n_systems)), 5).astype(float)
        metrics = [human * rng.normal(1, 1, (n_items, 1)) + rng.normal(size=human.shape) for _ in range(2)]
        small += [
            accuracy_test(human, *metrics, **swap, n_resamples=200, rng=rng).p <= 0.05
            for swap in ({}, {"swap": "pairs"})
        ]
    by_default, pairs = small / studies
    assert 0.02 <= by_default <= 0.08
    assert of_pairs[0] <= pairs <= of_pairs[1]
