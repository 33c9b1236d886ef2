import numpy as np
import pytest
from scipy import stats

from core.stats.correlation.groups import item_coefficients, mean_within, z_normalise
from core.stats.resampling import ONE_CLUSTER

METHODS = ("pearson", "spearman", "kendall")
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
nan = np.nan


def test_mean_tau_of_three_items_by_hand():
    """Taus 1, 1/3 and -1; an item whose scores tie throughout and one with a single row have none."""
    items = ["a"] * 3 + ["b"] * 3 + ["c"] * 2 + ["tied"] * 2 + ["single"]
    x = [1, 2, 3, 1, 3, 2, 5, 4, 7, 7, 1]
    y = [1, 2, 3, 1, 2, 3, 4, 5, 1, 2, 3]
    found = mean_within(x, y, items, "kendall", n_resamples=20_000)
    assert found.estimate == pytest.approx((1 + 1 / 3 - 1) / 3)
    assert (found.n, found.n_clusters, found.n_left_out) == (8, 3, 2)
    # Of 27 equally likely resamples of three items one is -1 throughout, one 1 throughout: .037 each.
    assert (found.low, found.high) == (-1, 1)


@pytest.mark.parametrize("method", METHODS)
def test_items_of_unequal_size_with_ties_and_gaps_equal_scipy_item_by_item(method):
    rng = np.random.default_rng(1)
    items = rng.integers(0, 60, 400)
    x, y = rng.integers(0, 5, 400).astype(float), rng.normal(size=400)
    x[rng.random(400) < 0.1], y[rng.random(400) < 0.1] = nan, nan
    found, rows = item_coefficients(x, y, items, method)
    for number, item in enumerate(np.unique(items)):
        mine = (items == item) & ~np.isnan(x) & ~np.isnan(y)
        assert rows[number] == mine.sum()
        if mine.sum() > 1 and np.ptp(x[mine]):
            assert found[number] == pytest.approx(SCIPY[method](x[mine], y[mine]).statistic, abs=1e-13)
        else:
            assert np.isnan(found[number])


def test_interval_is_that_of_the_mean_of_the_items_coefficients():
    rng = np.random.default_rng(2)
    items = np.repeat(np.arange(80), 6)
    y = np.tile(np.arange(6.0), 80)
    x = y + rng.normal(size=480) * 3
    found = mean_within(x, y, items, "spearman")
    by_item, _ = item_coefficients(x, y, items, "spearman")
    other = stats.bootstrap((by_item,), np.mean, method="percentile", rng=np.random.default_rng(3))
    assert found.estimate == pytest.approx(by_item.mean())
    assert (found.low, found.high) == pytest.approx(tuple(other.confidence_interval), abs=0.008)


def test_undefined_within_every_item():
    found = mean_within([1, 1, 2, 2], [1, 2, 3, 4], ["a", "a", "b", "b"], "pearson")
    assert (found.estimate, found.reason) == (None, "undefined within every item")
    assert (found.n, found.n_clusters, found.n_left_out) == (0, 0, 2)
    assert mean_within([], [], [], "pearson").reason == "no items"
    one = mean_within([1, 2], [1, 2], ["a", "a"], "pearson")
    assert (one.estimate, one.low) == (1, None)
    assert one.interval_reason == ONE_CLUSTER


def test_many_items_at_once():
    """20,000 items: under independence the mean tau is 0 with standard deviation sqrt(2 (2k+5) / (9k (k-1)) / items)."""
    rng = np.random.default_rng(4)
    items = np.repeat(np.arange(20_000), 6)
    found = mean_within(rng.normal(size=120_000), rng.normal(size=120_000), items, "kendall", n_resamples=200)
    deviation = np.sqrt(2 * 17 / (9 * 6 * 5) / 20_000)
    assert abs(found.estimate) < 4 * deviation
    assert found.high - found.low == pytest.approx(2 * 1.96 * deviation, rel=0.2)


def test_z_scores_by_hand():
    """1, 2, 3 has mean 2 and standard deviation 1 (ddof 1); 10, 20 has mean 15 and 7.0711."""
    found, reasons = z_normalise([1, 10, 2, 20, 3], ["a", "b", "a", "b", "a"])
    np.testing.assert_allclose(found, [-1, -np.sqrt(0.5), 0, np.sqrt(0.5), 1])
    assert reasons == {}


def test_raters_without_a_spread_have_no_z_scores_and_a_reason():
    found, reasons = z_normalise([1, 1, 5, 2, 4, nan], ["same", "same", "once", "c", "c", "c"])
    np.testing.assert_allclose(found, [nan, nan, nan, -np.sqrt(0.5), np.sqrt(0.5), nan])
    assert reasons == {"once": "fewer than two scores", "same": "all scores are equal"}


def test_z_scores_equal_scipys_zscore_rater_by_rater():
    rng = np.random.default_rng(5)
    scores, raters = rng.normal(size=100) * 20 + 50, rng.integers(0, 4, 100)
    found, _ = z_normalise(scores, raters)
    for rater in range(4):
        np.testing.assert_allclose(found[raters == rater], stats.zscore(scores[raters == rater], ddof=1))


def test_misuse_is_refused():
    with pytest.raises(ValueError, match="items"):
        mean_within([1, 2], [1, 2], ["a"], "pearson")
    with pytest.raises(ValueError, match="raters"):
        z_normalise([1, 2], ["a"])
