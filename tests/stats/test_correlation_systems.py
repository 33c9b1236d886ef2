from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from core.stats.correlation.groups import partial
from core.stats.correlation.systems import soft_pairwise_accuracy, system_accuracy, system_correlation
from core.stats.resampling import NO_RESAMPLES
from scripts.simulations import ROOT

METHODS = ("pearson", "spearman", "kendall")
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
nan = np.nan
EQUAL_MEANS, EQUAL_WITHIN = "all mean scores are equal", "all scores are equal within each group"


def simulated(seed, n_systems=5, n_items=30):
    """Systems of different quality, every system on every item."""
    rng = np.random.default_rng(seed)
    systems = np.tile(np.arange(n_systems), n_items)
    items = np.repeat(np.arange(n_items), n_systems)
    y = np.round(systems + rng.normal(size=systems.size) * 2, 1)
    return np.round(y + rng.normal(size=systems.size) * 2 + systems, 1), y, systems, items


@pytest.mark.parametrize("method", METHODS)
def test_between_systems_is_the_coefficient_of_their_means(method):
    x, y, systems, items = simulated(0)
    means = [[values[systems == system].mean() for system in range(5)] for values in (x, y)]
    found = system_correlation(x, y, systems, method, items=items, n_resamples=500)
    assert found.estimate == pytest.approx(SCIPY[method](*means).statistic, abs=1e-9)
    assert (found.n, found.n_clusters, found.n_left_out) == (5, 30, 0)
    assert found.low <= found.estimate <= found.high


def test_interval_between_systems_agrees_with_scipy_resampling_items():
    x, y, systems, items = simulated(1)
    tables = [values.reshape(30, 5) for values in (x, y)]
    other = stats.bootstrap(
        (np.arange(30),),
        lambda drawn: stats.pearsonr(*(table[drawn].mean(axis=0) for table in tables)).statistic,
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    found = system_correlation(x, y, systems, "pearson", items=items)
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.01)


def test_without_items_there_is_no_interval_between_systems():
    x, y, systems, _ = simulated(2)
    found = system_correlation(x, y, systems, "pearson")
    assert found.low is None
    assert found.interval_reason == "no items given: nothing to resample"


def test_a_resample_without_a_system_is_dropped_and_counted():
    """System c is on one of three items: missed by (2/3)**3 = .296 of the resamples."""
    x, y = [1, 2, 3, 1, 3, 2, 3.5], [1, 2, 3, 1, 2, 1, 2.5]
    found = system_correlation(
        x,
        y,
        ["a", "b", "c", "a", "b", "a", "b"],
        "spearman",
        items=[1, 1, 1, 2, 2, 3, 3],
        n_resamples=5000,
    )
    assert found.n_undefined / 5000 == pytest.approx((2 / 3) ** 3, abs=0.02)


def test_systems_without_a_row_are_left_out_and_counted():
    found = system_correlation([1, 2, nan], [1, 2, 3], ["a", "b", "c"], "pearson")
    assert (found.estimate, found.n, found.n_left_out) == (1, 2, 1)
    assert system_correlation([1, nan], [1, 2], ["a", "b"], "pearson").reason == "fewer than two systems"
    assert system_correlation([1, 1], [1, 2], ["a", "b"], "pearson").reason == EQUAL_MEANS


def test_accuracy_by_hand_with_ties_as_wmt_counts_them():
    """Of 6 pairs of means (1,1) (2,2) (2,3) (5,3): b-c is a tie of the metric alone, c-d one of people alone."""
    found = system_accuracy([1, 2, 2, 5], [1, 2, 3, 3], list("abcd"))
    assert found.estimate == pytest.approx(4 / 6)
    assert found.n == 6
    assert system_accuracy([1, 2, 2], [1, 3, 3], list("abc")).estimate == 1
    assert system_accuracy([1], [1], ["a"]).reason == "fewer than two systems"


def test_accuracy_equals_counting_pairs():
    x, y, systems, items = simulated(3, n_systems=8)
    means = [np.round([values[systems == system].mean() for system in range(8)], 12) for values in (x, y)]
    right = [
        np.sign(means[0][a] - means[0][b]) == np.sign(means[1][a] - means[1][b])
        for a, b in combinations(range(8), 2)
    ]
    found = system_accuracy(x, y, systems, items, n_resamples=400)
    assert (found.estimate, found.n) == (pytest.approx(np.mean(right)), 28)
    assert found.low <= found.estimate <= found.high <= 1


def test_equal_means_tie_whatever_order_they_were_summed_in():
    """0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in floating point."""
    x, y = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1], [1, 2, 3, 3, 2, 1]
    assert system_accuracy(x, y, list("aaabbb")).estimate == 1
    assert system_correlation(x, [1, 1, 1, 2, 2, 2], list("aaabbb"), "pearson").reason == EQUAL_MEANS


def residuals(values, labels):
    dummies = (labels[:, None] == np.unique(labels)).astype(float)
    return sm.OLS(values, dummies).fit().resid


@pytest.mark.parametrize("seed", [4, 5])
def test_partial_correlation_is_that_of_regression_residuals(seed):
    x, y, systems, _ = simulated(seed)
    expected = stats.pearsonr(residuals(x, systems), residuals(y, systems)).statistic
    assert partial(x, y, systems, "pearson", n_resamples=0).estimate == pytest.approx(expected, abs=1e-12)
    ranks = [residuals(stats.rankdata(values), systems) for values in (x, y)]
    expected = stats.pearsonr(*ranks).statistic
    assert partial(x, y, systems, "spearman", n_resamples=0).estimate == pytest.approx(expected, abs=1e-12)


def test_partial_tau_counts_the_pairs_of_one_system():
    x, y, systems, _ = simulated(6)
    same = systems[:, None] == systems
    a, b = (np.sign(values[:, None] - values) * same for values in (x, y))
    expected = (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())
    assert partial(x, y, systems, "kendall", n_resamples=0).estimate == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_one_group_is_the_plain_coefficient_and_its_interval(method):
    x, y, _, items = simulated(7)
    found = partial(x, y, ["one"] * 150, method, items=items, n_resamples=4000)
    assert found.estimate == pytest.approx(SCIPY[method](x, y).statistic, abs=1e-12)
    tables = np.stack([x.reshape(30, 5), y.reshape(30, 5)])
    drawn = np.random.default_rng(1).integers(0, 30, (800, 30))
    naive = [SCIPY[method](*tables[:, rows].reshape(2, -1)).statistic for rows in drawn]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(naive, [0.025, 0.975])), abs=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_at_equal_labels_agree_with_a_plain_loop(method):
    """Items drawn again and again, the coefficient computed from the rows drawn: the same quantiles."""
    x, y, systems, items = simulated(8, n_systems=3)
    drawn = np.random.default_rng(2).integers(0, 30, (400, 30))
    naive = []
    for items_drawn in drawn:
        rows = np.concatenate([np.flatnonzero(items == item) for item in items_drawn])
        naive.append(partial(x[rows], y[rows], systems[rows], method, n_resamples=0).estimate)
    found = partial(x, y, systems, method, items=items, n_resamples=4000)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(naive, [0.025, 0.975])), abs=0.03)


def test_a_correlation_that_systems_alone_make_vanishes():
    """Within each system x and y are independent; between systems they agree."""
    rng = np.random.default_rng(9)
    systems = np.repeat(np.arange(4), 500)
    x, y = 3 * systems + rng.normal(size=2000), 3 * systems + rng.normal(size=2000)
    for method in METHODS:
        assert SCIPY[method](x, y).statistic > 0.6
        assert abs(partial(x, y, systems, method, n_resamples=0).estimate) < 0.09


def test_partial_is_undefined_where_a_column_is_constant_in_every_group():
    found = partial([1, 1, 2, 2], [1, 2, 3, 4], list("aabb"), "pearson")
    assert (found.estimate, found.reason) == (None, EQUAL_WITHIN)
    assert partial([1, 2], [1, 2], ["a", "b"], "kendall").reason == EQUAL_WITHIN
    assert partial([1, nan], [1, 2], ["a", "b"], "kendall").reason == "fewer than two rows"
    gap = partial([1, 2, 3, nan], [1, 2, 1, 4], list("aaab"), "spearman", n_resamples=10)
    assert (gap.n, gap.n_left_out) == (3, 1)


def test_each_sides_mean_is_over_its_own_rows_where_rows_are_not_paired():
    """Means of x: a 2, b 5, c 9; of y: a 1, b 3, c 2. Over the rows with both x has 1, 6, 9."""
    x = [1, 3, 4, 6, 9, nan, 7]
    y = [1, nan, nan, 3, 1, 3, nan]
    systems = ["a", "a", "b", "b", "c", "c", "d"]
    items = [1, 2, 2, 1, 1, 2, 1]
    own = system_correlation(x, y, systems, "pearson", items=items, paired=False, n_resamples=200)
    assert own.estimate == pytest.approx(stats.pearsonr([2, 5, 9], [1, 3, 2]).statistic)
    assert (own.n, own.n_left_out, own.n_clusters) == (3, 1, 2)
    both = system_correlation(x, y, systems, "pearson", items=items, n_resamples=0)
    assert both.estimate == pytest.approx(stats.pearsonr([1, 6, 9], [1, 3, 1]).statistic)
    assert system_accuracy(x, y, systems, items, paired=False, n_resamples=0).estimate == pytest.approx(2 / 3)


def test_rows_of_scores_beside_rows_of_ratings_are_the_same_as_one_table():
    """What nobody rated, and ratings of texts that have several, need no common row."""
    x, y, systems, items = simulated(11)
    unrated = items >= 20
    one = system_correlation(
        x, np.where(unrated, nan, y), systems, "pearson", items=items, paired=False, n_resamples=300
    )
    apart = system_correlation(
        np.concatenate([x, np.full((~unrated).sum(), nan)]),
        np.concatenate([np.full(x.size, nan), y[~unrated]]),
        np.concatenate([systems, systems[~unrated]]),
        "pearson",
        items=np.concatenate([items, items[~unrated]]),
        paired=False,
        n_resamples=300,
    )
    assert apart == one


def test_without_missing_values_pairing_makes_no_difference():
    x, y, systems, items = simulated(12)
    for function in (system_correlation, lambda x, y, s, _, **more: system_accuracy(x, y, s, **more)):
        found = [
            function(x, y, systems, "kendall", items=items, paired=p, n_resamples=200) for p in (True, False)
        ]
        assert found[0] == found[1]


def test_soft_accuracy_by_hand():
    """Sums of the differences 1, 2 over all swaps: 3, 1, -1, -3, so p is 1/4; of -1, 3: 4, 2, -2, -4, at least 2: 1/2."""
    human, metric = [[1, 0], [2, 0]], [[0, 1], [3, 0]]
    found = soft_pairwise_accuracy(human, metric, n_resamples=40_000)
    assert found.accuracy == pytest.approx(1 - 1 / 4, abs=0.01)
    assert (found.n_pairs, found.n_swaps, found.n_left_out) == (1, 40_000, 0)


def test_soft_accuracy_equals_counting_swaps_one_by_one():
    """The same swaps for all pairs and both sides; a pair has the items that both sides know of both systems."""
    rng = np.random.default_rng(3)
    human, metric = np.array([0, 0.2, 0.4, 0.4]) + rng.normal(size=(2, 9, 4)).round(1)
    human[2:4, 1], metric[5, 3] = nan, nan
    signs = np.where(np.random.default_rng(7).random((500, 9)) < 0.5, -1, 1)
    apart = []
    for a, b in combinations(range(4), 2):
        known = ~np.isnan(human[:, [a, b]] + metric[:, [a, b]]).any(axis=1)
        p = []
        for side in (human, metric):
            d = side[known, a] - side[known, b]
            p.append(np.mean([(sign[known] * d).sum() >= d.sum() - 1e-9 for sign in signs]))
        apart.append(abs(p[0] - p[1]))
    found = soft_pairwise_accuracy(human, metric, n_resamples=500, rng=7)
    assert found.accuracy == pytest.approx(1 - np.mean(apart), abs=1e-12)
    assert found == soft_pairwise_accuracy(human, metric, n_resamples=500, rng=7)
    assert found != soft_pairwise_accuracy(human, metric, n_resamples=500, rng=8)


def test_a_side_agrees_with_itself_and_not_with_its_opposite():
    x = np.random.default_rng(5).normal(size=(50, 6)) + np.arange(6)
    assert soft_pairwise_accuracy(x, x).accuracy == 1
    assert soft_pairwise_accuracy(x, 3 * x + 1).accuracy == 1
    assert soft_pairwise_accuracy(x, -x).accuracy < 0.01


def test_a_side_that_orders_no_systems_has_no_soft_accuracy():
    """Else p is 1 in either order of two systems, and the result follows the order of the columns: 1 or 0."""
    human = np.random.default_rng(5).normal(size=(50, 3)) + 10 * np.arange(3)
    same, of_items = np.ones((50, 3)), np.repeat(np.arange(50.0)[:, None], 3, axis=1)
    for side in (human, human[:, ::-1]):
        assert soft_pairwise_accuracy(side, same).reason == "all scores are equal"
        assert soft_pairwise_accuracy(same, side).reason == "all ratings are equal"
        found = soft_pairwise_accuracy(side, of_items)
        assert (found.accuracy, found.n_pairs, found.reason) == (None, 3, "all scores of an item are equal")


def test_where_all_are_sure_soft_accuracy_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(6)
    human = 10 * np.array([0, 1, 2, 3, 4]) + rng.normal(size=(40, 5))
    metric = 10 * np.array([0, 2, 1, 4, 3]) + rng.normal(size=(40, 5))
    flat = (metric.ravel(), human.ravel(), np.tile(np.arange(5), 40))
    hard = system_accuracy(*flat, n_resamples=0).estimate
    assert hard == 0.8
    assert soft_pairwise_accuracy(human, metric).accuracy == pytest.approx(hard, abs=1e-12)


def test_systems_that_share_nothing_are_left_out_and_none_gives_no_soft_accuracy():
    human = np.array([[1, 2, nan], [2, 1, nan], [3, 3, nan], [nan, nan, 1]])
    found = soft_pairwise_accuracy(human, human)
    assert (found.accuracy, found.n_pairs, found.n_left_out) == (1, 1, 2)
    assert soft_pairwise_accuracy(human[:, [0, 2]], human[:, [0, 2]]).reason == "no two systems share an item"
    assert soft_pairwise_accuracy(human[:, :1], human[:, :1]).reason == "fewer than two systems"
    none = soft_pairwise_accuracy(human, human, n_resamples=0)
    assert (none.accuracy, none.n_pairs, none.reason) == (None, 1, NO_RESAMPLES)
    with pytest.raises(ValueError, match="one shape"):
        soft_pairwise_accuracy(human, human[:2])


def test_misuse_is_refused():
    for call in (
        lambda: system_correlation([1, 2], [1, 2], ["a"], "pearson"),
        lambda: system_accuracy([1, 2], [1, 2], ["a", "b"], [1]),
        lambda: partial([1, 2], [1, 2], ["a"], "pearson"),
    ):
        with pytest.raises(ValueError, match="one shape"):
            call()


@pytest.mark.parametrize("name", ["Between systems", "System accuracy"])
def test_the_documents_call_values_over_systems_naive_and_lead_to_the_corrected_ones(name):
    """Simulated in scripts/simulations/systems.py."""
    part = (ROOT / "docs" / "statistics.md").read_text("utf-8").split(f"- *{name}*")[1].split("\n- *")[0]
    assert "naive" in part
    assert "inference.md#noise-corrected-correlation-of-systems" in part
