import numpy as np
import pytest
from scipy import stats

from core.stats.correlation.groups import redundancy
from core.stats.correlation.intervals import (
    Live,
    leave_one_family_out,
    meta_correlation,
    meta_correlation_over_items,
)
from core.stats.resampling import ONE_CLUSTER

METHODS = ("pearson", "spearman", "kendall")
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
nan = np.nan


def live(seed, n_items=25, noise=(1, 2, 4, 8, 16)):
    """Metrics that follow the level less and less clearly; the last but one scores few different values."""
    rng = np.random.default_rng(seed)
    target, items = np.tile(-np.arange(6.0), n_items), np.repeat(np.arange(n_items), 6)
    scores = target[:, None] + rng.normal(size=(target.size, len(noise))) * noise
    scores[:, -2] = np.round(scores[:, -2] / 4)
    return Live(scores, target, items)


def of_rows(side, rows, method):
    return [SCIPY[method](scores[rows], side.target[rows]).statistic for scores in side.scores.T]


@pytest.mark.parametrize("method", METHODS)
def test_p_values_and_estimate_are_scipys(method):
    rng = np.random.default_rng(0)
    human = rng.normal(size=28)
    synthetic = human + rng.normal(size=28)
    found = meta_correlation(human, synthetic, method, n_resamples=500)
    two = SCIPY[method](human, synthetic)
    assert found.over_metrics.estimate == pytest.approx(two.statistic, abs=1e-14)
    assert found.p_two_sided == pytest.approx(two.pvalue)
    assert found.p_one_sided == pytest.approx(SCIPY[method](human, synthetic, alternative="greater").pvalue)
    assert found.over_metrics.low < two.statistic < found.over_metrics.high


def test_one_sided_p_of_kendall_by_counting_orders():
    """Four metrics in the same order: 1 of 24 orders is as good."""
    found = meta_correlation([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.5, 0.9], "kendall", n_resamples=50)
    assert found.p_one_sided == pytest.approx(1 / 24)
    assert found.p_two_sided == pytest.approx(2 / 24)


def test_undefined_metrics_are_left_out_and_too_few_are_said():
    found = meta_correlation(
        [0.1, nan, 0.3, 0.4, 0.2], [0.1, 0.9, 0.3, nan, 0.25], "spearman", n_resamples=50
    )
    assert (found.over_metrics.estimate, found.over_metrics.n, found.over_metrics.n_left_out) == (1, 3, 2)
    one = meta_correlation([0.1], [0.2], "spearman")
    assert (one.over_metrics.estimate, one.over_metrics.reason) == (None, "fewer than two metrics")
    assert (one.p_one_sided, one.p_two_sided) == (None, None)
    flat = meta_correlation([0.1, 0.1, 0.1], [0.2, 0.3, 0.4], "kendall")
    assert flat.over_metrics.reason == "all human correlations are equal"
    two = meta_correlation([0.1, 0.2], [0.2, 0.3], "spearman", n_resamples=10)
    assert (two.over_metrics.estimate, two.p_one_sided) == (1, None)


@pytest.mark.parametrize("method", METHODS)
def test_interval_over_items_agrees_with_a_plain_loop(method):
    """Both sides live: the quantiles of a loop that draws items and calls scipy throughout."""
    human, synthetic = live(1), live(2, n_items=18)
    found = meta_correlation_over_items(human, synthetic, method, n_resamples=3000)
    rng = np.random.default_rng(3)
    naive = []
    for _ in range(300):
        sides = []
        for side, n in ((human, 25), (synthetic, 18)):
            rows = (rng.integers(0, n, n)[:, None] * 6 + np.arange(6)).ravel()
            sides.append(of_rows(side, rows, method))
        naive.append(SCIPY[method](*sides).statistic)
    observed = [of_rows(side, slice(None), method) for side in (human, synthetic)]
    assert found.estimate == pytest.approx(SCIPY[method](*observed).statistic, abs=1e-12)
    assert found.low == pytest.approx(np.quantile(naive, 0.025), abs=0.11)
    assert found.high == pytest.approx(np.quantile(naive, 0.975), abs=0.03)
    assert (found.n, found.n_clusters, found.n_resamples) == (5, 43, 3000)


def test_a_fixed_side_stays_and_orders_may_differ():
    side = live(4)
    human = np.array([0.9, 0.6, 0.5, 0.3, 0.2])
    found = meta_correlation_over_items(human, side, "kendall", first_order="spearman", n_resamples=300)
    expected = stats.kendalltau(human, of_rows(side, slice(None), "spearman")).statistic
    assert found.estimate == pytest.approx(expected)
    turned = meta_correlation_over_items(side, human, "kendall", first_order="spearman", n_resamples=300)
    assert (turned.estimate, turned.n_clusters) == (found.estimate, 25)


def test_no_live_side_gives_no_interval():
    found = meta_correlation_over_items([0.1, 0.2, 0.3], [0.1, 0.3, 0.2], "pearson")
    assert found.estimate == pytest.approx(0.5)
    assert (found.low, found.interval_reason) == (None, "no side is live: nothing to resample")


def test_constant_metrics_are_left_out_and_gaps_are_pairwise():
    side = live(5)
    side.scores[:, 1] = 3.0
    side.scores[::5, 2] = nan
    found = meta_correlation_over_items([0.9, 0.6, 0.5, 0.3, nan], side, "spearman", n_resamples=200)
    kept = ~np.isnan(side.scores[:, 2])
    expected = [
        stats.spearmanr(
            side.scores[kept if column == 2 else slice(None), column],
            side.target[kept if column == 2 else slice(None)],
        ).statistic
        for column in (0, 2, 3)
    ]
    assert found.estimate == pytest.approx(stats.spearmanr([0.9, 0.5, 0.3], expected).statistic)
    assert (found.n, found.n_left_out) == (3, 2)
    assert found.low is not None


def test_a_metric_undefined_in_a_resample_is_left_out_of_it_alone():
    """Metric 0 differs on one of four items only: undefined where that is not drawn (.316), the other three go on."""
    side = live(6, n_items=4)
    side.scores[:, 0] = 0.0
    side.scores[:6, 0] = side.target[:6]
    found = meta_correlation_over_items([0.9, 0.6, 0.5, 0.3, 0.2], side, "spearman", n_resamples=400)
    assert found.n == 5
    assert found.n_undefined < 10
    only_two = Live(side.scores[:, :2], side.target, side.items)
    found = meta_correlation_over_items([0.9, 0.6], only_two, "spearman", n_resamples=4000)
    assert found.n_undefined / 4000 == pytest.approx(0.75**4, abs=0.03)


def test_too_few_items_or_metrics():
    one_item = live(7, n_items=1)
    found = meta_correlation_over_items([0.9, 0.6, 0.5, 0.3, 0.2], one_item, "spearman")
    assert found.interval_reason == ONE_CLUSTER
    one_metric = live(8, noise=(1, 1))
    one_metric.scores[:, 1] = 0.0
    found = meta_correlation_over_items([0.9, 0.6], one_metric, "spearman")
    assert (found.estimate, found.reason) == (None, "fewer than two metrics")


def test_leaving_a_family_out_is_the_meta_correlation_of_the_others():
    human, synthetic = [0.1, 0.2, 0.9, 0.8, 0.5], [0.2, 0.1, 0.8, 0.9, 0.1]
    found = leave_one_family_out(human, synthetic, ["B", "B", "C", "C", "A"], "spearman", n_resamples=40)
    assert list(found) == ["B", "C", "A"]
    assert found["B"].estimate == pytest.approx(stats.spearmanr(human[2:], synthetic[2:]).statistic)
    assert found["C"].estimate == pytest.approx(stats.spearmanr([0.1, 0.2, 0.5], [0.2, 0.1, 0.1]).statistic)
    assert found["A"].n == 4
    with pytest.raises(ValueError, match="families"):
        leave_one_family_out(human, synthetic, ["B"], "spearman")
    alone = leave_one_family_out([0.1, 0.2], [0.1, 0.2], ["A", "A"], "spearman")
    assert alone["A"].reason == "fewer than two metrics"


@pytest.mark.parametrize("method", METHODS)
def test_redundancy_is_every_pairs_coefficient_over_shared_rows(method):
    rng = np.random.default_rng(9)
    values = np.round(rng.normal(size=(60, 5)) + rng.normal(size=(60, 1)), 1)
    values[:7, 1], values[5:20, 3], values[:, 4] = nan, nan, 2.0
    found = redundancy(values, method)
    for first in range(4):
        for second in range(4):
            both = ~np.isnan(values[:, [first, second]]).any(axis=1)
            expected = SCIPY[method](values[both, first], values[both, second]).statistic
            assert found.values[first, second] == pytest.approx(expected, abs=1e-12)
            assert found.n[first, second] == both.sum()
    assert np.isnan(found.values[4]).all()
    assert np.isnan(found.values[:, 4]).all()


def test_redundancy_of_nothing():
    assert redundancy(np.empty((0, 2)), "spearman").n.tolist() == [[0, 0], [0, 0]]
    assert np.isnan(redundancy([[1.0, 2.0]], "pearson").values).all()
    with pytest.raises(ValueError, match="shape"):
        redundancy([1, 2], "pearson")
