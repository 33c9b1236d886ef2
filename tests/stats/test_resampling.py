from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from core.stats import resampling
from core.stats.resampling import (
    bootstrap_distribution,
    cluster_bootstrap,
    cluster_sums,
    is_settled,
    mean_of_sums,
    monte_carlo_error,
    quantile,
    ratio,
    resampled_estimate,
)


def with_count(values):
    values = np.asarray(values, dtype=float)
    return np.column_stack([values, np.ones(len(values))])


@pytest.mark.parametrize(("q", "expected"), [(0.25, 1), (0.26, 2), (0.5, 2), (0.75, 3), (0.76, 9), (1, 9)])
def test_quantile_is_the_smallest_value_whose_share_reaches_q(q, expected):
    assert quantile(np.array([9.0, 1, 3, 2]), q) == expected


def test_quantile_is_not_moved_by_binary_rounding_of_the_level():
    values = np.arange(1.0, 1001)
    assert quantile(values, (1 - 0.95) / 2) == 25  # (1 - 0.95) / 2 is 0.025000000000000022
    assert quantile(values, 1 - 0.9) == 100


def test_ratio_is_nan_where_the_denominator_is_zero():
    np.testing.assert_array_equal(ratio(np.array([1.0, 0, 3]), np.array([2.0, 0, 0])), [0.5, np.nan, np.nan])


def test_cluster_sums_add_the_rows_of_each_label():
    rows = np.array([[1.0, 1], [2, 1], [4, 1]])
    np.testing.assert_array_equal(cluster_sums(rows, ["b", "a", "b"]), [[2, 1], [5, 2]])


def test_distribution_agrees_with_enumerating_every_resample():
    """Three clusters of unequal size: 27 equally likely resamples, each with its own ratio of sums."""
    sums = np.array([[1.0, 1], [4, 2], [0, 3]])
    exact = Counter(
        round(float(sums[list(drawn)].sum(0)[0] / sums[list(drawn)].sum(0)[1]), 9)
        for drawn in product(range(3), repeat=3)
    )
    drawn = bootstrap_distribution(sums, mean_of_sums, n_resamples=50_000, rng=1)
    seen = Counter(np.round(drawn, 9).tolist())
    assert set(seen) == set(exact)
    expected = [exact[value] / 27 * 50_000 for value in exact]
    assert stats.chisquare([seen[value] for value in exact], expected).pvalue > 0.001


def test_equal_clusters_drawn_together_give_the_same_distribution_as_one_by_one():
    """Ten clusters with two distinct rows against a bootstrap that picks the ten clusters singly."""
    sums = np.array([[1.0, 1]] * 7 + [[0.0, 2]] * 3)
    drawn = bootstrap_distribution(sums, mean_of_sums, n_resamples=20_000, rng=2)
    singly = sums[np.random.default_rng(3).integers(0, 10, (20_000, 10))].sum(axis=1)
    naive = singly[:, 0] / singly[:, 1]
    for q in (0.025, 0.1, 0.5, 0.9, 0.975):
        assert quantile(drawn, q) == quantile(naive, q)
    assert drawn.std() == pytest.approx(naive.std(), rel=0.03)


def test_plain_case_agrees_with_scipy():
    values = np.random.default_rng(4).normal(size=60)
    other = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    found = cluster_bootstrap(with_count(values), np.arange(60), mean_of_sums, n_resamples=20_000)
    assert found.estimate == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.02)
    assert (found.n, found.n_clusters, found.n_undefined) == (60, 60, 0)


def test_clusters_widen_the_interval_when_their_units_are_alike():
    rows = with_count(np.repeat(np.random.default_rng(6).normal(size=30), 4))
    over_units = cluster_bootstrap(rows, np.arange(120), mean_of_sums)
    over_clusters = cluster_bootstrap(rows, np.repeat(np.arange(30), 4), mean_of_sums)
    assert over_clusters.high - over_clusters.low == pytest.approx(
        2 * (over_units.high - over_units.low), rel=0.1
    )


def test_result_depends_on_the_seed_alone_and_not_on_order_or_blocks(monkeypatch):
    rng = np.random.default_rng(7)
    rows, labels = with_count(rng.integers(-1, 2, 80)), rng.integers(0, 20, 80)
    found = cluster_bootstrap(rows, labels, mean_of_sums, rng=8)
    order = rng.permutation(80)
    assert cluster_bootstrap(rows[order], labels[order], mean_of_sums, rng=8) == found
    assert cluster_bootstrap(rows, labels, mean_of_sums, rng=np.random.default_rng(8)) == found
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 300)
    assert cluster_bootstrap(rows, labels, mean_of_sums, rng=8) == found


def test_undefined_resamples_are_dropped_and_counted():
    """A ratio whose denominator is 0 in one of two clusters: a quarter of the resamples draw it twice."""
    found = cluster_bootstrap([[1.0, 1], [0, 0]], [0, 1], mean_of_sums, n_resamples=4000)
    assert found.estimate == 1
    assert found.n_undefined == pytest.approx(1000, abs=120)
    assert (found.low, found.high) == (1, 1)


def test_no_units():
    found = cluster_bootstrap(np.empty((0, 2)), [], mean_of_sums)
    assert (found.estimate, found.low, found.high, found.n) == (None, None, None, 0)
    assert found.reason == "no units"
    assert found.interval_reason == "the estimate is undefined"


def test_undefined_statistic():
    found = cluster_bootstrap(np.zeros((3, 2)), [1, 2, 3], mean_of_sums)
    assert found.estimate is None
    assert "undefined" in found.reason


def test_one_cluster_has_an_estimate_but_no_interval():
    found = cluster_bootstrap(with_count([1, 0]), ["q", "q"], mean_of_sums)
    assert (found.estimate, found.low, found.high, found.reason) == (0.5, None, None, None)
    assert found.interval_reason == "fewer than two clusters: nothing to resample"


def test_no_resamples_no_interval():
    found = cluster_bootstrap(with_count([1, 0]), [0, 1], mean_of_sums, n_resamples=0)
    assert (found.estimate, found.low, found.n_resamples) == (0.5, None, 0)
    assert found.interval_reason == "no resamples requested"


def test_undefined_in_every_resample():
    """A statistic that is defined only for sums that no resample of two clusters can reach."""
    found = cluster_bootstrap(
        [[1.0], [2.0]],
        [0, 1],
        lambda sums: np.where(np.ndim(sums) == 1, sums[..., 0], np.nan),
        n_resamples=50,
    )
    assert (found.estimate, found.low, found.n_undefined) == (3, None, 50)
    assert "every resample" in found.interval_reason


def test_clusters_all_alike_give_an_interval_of_width_zero():
    found = cluster_bootstrap(with_count([1, 0] * 5), np.repeat(np.arange(5), 2), mean_of_sums)
    assert found.low == found.high == found.estimate == 0.5


@pytest.mark.parametrize(
    ("rows", "clusters", "options", "message"),
    [
        ([[1.0, np.nan]], [0], {}, "NaN"),
        ([[1.0, 1]], [0, 1], {}, "shape"),
        ([1.0, 1], [0, 1], {}, "shape"),
        ([[1.0, 1]], [np.nan], {}, "label"),
        ([[1.0, 1]], [0], {"confidence_level": 1}, "confidence_level"),
        ([[1.0, 1], [1, 1]], [0, 1], {"n_resamples": -1}, "n_resamples"),
    ],
)
def test_misuse_is_an_error(rows, clusters, options, message):
    with pytest.raises(ValueError, match=message):
        cluster_bootstrap(rows, clusters, mean_of_sums, **options)


def test_a_distribution_needs_a_cluster():
    with pytest.raises(ValueError, match="at least one cluster"):
        bootstrap_distribution(np.empty((0, 2)), mean_of_sums)


def test_the_monte_carlo_error_is_the_spread_of_a_bound_over_seeds():
    """A thousand normal values, 400 times: the 2.5 % quantile varies as theory has it, and the mean error says so."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(400, 1_000))
    spread = np.std([quantile(values, 0.025) for values in drawn])
    theory = np.sqrt(0.025 * 0.975 / 1_000) / stats.norm.pdf(stats.norm.ppf(0.025))
    assert spread == pytest.approx(theory, rel=0.1)
    errors = [monte_carlo_error(values, 0.025) for values in drawn]
    assert np.mean(errors) == pytest.approx(theory, rel=0.15)


def test_the_monte_carlo_error_of_too_few_values_is_unknown_and_never_settled():
    values = np.arange(60.0)
    assert monte_carlo_error(values, 0.025) == np.inf
    found = resampled_estimate(1.0, values, n=9, n_clusters=9, confidence_level=0.95)
    assert found.monte_carlo_error is None
    assert not is_settled(found)
    # Order statistics 26 +- 5.03 of 1,040, rounded away from it: 20 and 32.
    assert monte_carlo_error(np.arange(1_040.0), 0.025) == 6.0


def test_an_interval_without_width_or_without_resamples_is_settled():
    same = resampled_estimate(1.0, np.ones(1_024), n=9, n_clusters=9, confidence_level=0.95)
    assert (same.monte_carlo_error, is_settled(same)) == (0.0, True)
    assert is_settled(resampled_estimate(1.0, None, n=9, n_clusters=9, confidence_level=0.95))
