import numpy as np
import pytest

from core.stats.resampling import (
    NO_RESAMPLES,
    ONE_CLUSTER,
    cluster_bootstrap,
    draw_counts,
    mean_estimates,
    mean_of_sums,
    quantile,
    ratio_estimates,
)


def some(n=60, k=3):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, k))
    values[rng.random((n, k)) < 0.2] = np.nan
    return values, rng.integers(0, 12, n)


def test_each_column_is_a_naive_loop_over_the_same_counts():
    values, clusters = some()
    found = mean_estimates(values, clusters, n_resamples=300, rng=4)
    counts = np.concatenate(list(draw_counts(12, 300, 7, 4)), axis=1)
    for column, estimate in zip(values.T, found, strict=True):
        means = []
        for resample in counts.T:
            drawn = np.repeat(column, resample[clusters].astype(int))
            means.append(np.nanmean(drawn))
        assert estimate.low == pytest.approx(quantile(np.array(means), 0.025), abs=1e-12)
        assert estimate.high == pytest.approx(quantile(np.array(means), 0.975), abs=1e-12)
        assert estimate.estimate == pytest.approx(np.nanmean(column))
        assert (estimate.n, estimate.n_left_out) == (np.sum(~np.isnan(column)), np.sum(np.isnan(column)))


def test_one_column_agrees_with_the_bootstrap_of_one_column():
    values, clusters = some()
    known = ~np.isnan(values[:, 0])
    (found,) = mean_estimates(values[:, :1], clusters, n_resamples=20_000)
    other = cluster_bootstrap(
        np.column_stack([values[known, 0], np.ones(known.sum())]),
        clusters[known],
        mean_of_sums,
        n_resamples=20_000,
    )
    assert found.estimate == pytest.approx(other.estimate)
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.02)
    assert (found.n, found.n_clusters, found.n_resamples) == (other.n, other.n_clusters, other.n_resamples)


def test_a_ratio_of_sums_is_not_a_mean_of_ratios():
    """Two items: 1 of 1 and 0 of 9."""
    (found,) = ratio_estimates([[1.0], [0.0]], [[1.0], [9.0]], ["a", "b"], n_resamples=100)
    assert (found.estimate, found.n, found.n_clusters) == (0.1, 10, 2)
    assert (found.low, found.high) == (0, 1)


def test_a_column_does_not_depend_on_its_neighbours():
    values, clusters = some()
    assert mean_estimates(values, clusters)[1] == mean_estimates(values[:, 1:2], clusters)[0]


def test_what_is_undefined_has_its_reason():
    empty, single, few = mean_estimates(
        [[np.nan, 1.0, 1.0], [np.nan, np.nan, 0.0], [np.nan, 3.0, np.nan]], ["a", "b", "a"], n_resamples=400
    )
    assert (empty.estimate, empty.reason, empty.n_left_out) == (None, "no units", 3)
    assert (single.estimate, single.low) == (2, None)
    assert single.interval_reason == ONE_CLUSTER
    assert (few.estimate, few.n_undefined) == (0.5, 0)
    assert mean_estimates([[1.0], [2.0]], ["a", "b"], n_resamples=0)[0].interval_reason == NO_RESAMPLES
    assert mean_estimates(np.empty((0, 1)), [])[0].reason == "no units"


def test_resamples_without_a_value_are_dropped_and_counted():
    """Of three items two have a value; P(neither drawn) = 1/27."""
    (found,) = mean_estimates([[1.0], [2.0], [np.nan]], ["a", "b", "c"], n_resamples=20_000)
    assert found.n_undefined / found.n_resamples == pytest.approx(1 / 27, abs=0.005)


@pytest.mark.parametrize("shape", [(3,), (3, 2, 1)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="one shape"):
        ratio_estimates(np.ones(shape), np.ones(shape), ["a", "b", "c"])
