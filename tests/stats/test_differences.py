"""The difference of two metrics' correlations: against scipy, against loops over resamples, and its coverage."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from core.stats.correlation.coefficients import resample_columns
from core.stats.correlation.differences import difference, differences_between
from core.stats.correlation.groups import mean_within, partial
from core.stats.correlation.intervals import correlate, correlate_columns, permutation_test
from core.stats.correlation.systems import system_correlation
from core.stats.resampling import NO_RESAMPLES, ONE_CLUSTER, draw_counts, quantile

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
METHODS = tuple(SCIPY)


def drawn(n_items=12, n_systems=5, seed=0, missing=0.0):
    """Two related metrics, a target, items and systems; each cell of the metrics is missing with this probability."""
    rng = np.random.default_rng(seed)
    items, systems = (part.ravel() for part in np.mgrid[:n_items, :n_systems])
    y = np.round(rng.normal(size=n_items)[items] + 0.5 * systems + rng.normal(size=items.size), 1)
    shared = rng.normal(size=items.size)
    x1, x2 = (np.round(y + shared + scale * rng.normal(size=items.size), 1) for scale in (0.5, 2.0))
    for one in (x1, x2):
        one[rng.random(one.size) < missing] = np.nan
    return x1, x2, y, items, systems


def shared_rows(x1, x2, *others):
    known = ~(np.isnan(x1) | np.isnan(x2))
    return tuple(one[known] for one in (x1, x2, *others))


@pytest.mark.parametrize("method", METHODS)
def test_pooled_is_scipys_difference_with_the_intervals_of_each_on_shared_rows(method):
    x1, x2, y, items, _ = drawn(missing=0.15)
    found = difference(x1, x2, y, method, items=items, n_resamples=300, rng=4)
    first, second, target, unit = shared_rows(x1, x2, y, items)
    by_scipy = [SCIPY[method](one, target).statistic for one in (first, second)]
    assert found.difference.estimate == pytest.approx(by_scipy[0] - by_scipy[1])
    assert found.difference.n == first.size < x1.size
    assert found.difference.n_left_out == x1.size - first.size
    alone = [correlate(one, target, method, clusters=unit, n_resamples=300, rng=4) for one in (first, second)]
    for one, other in zip((found.first, found.second), alone, strict=True):
        wanted = (other.estimate, other.low, other.high)
        assert (one.estimate, one.low, one.high) == pytest.approx(wanted, rel=1e-12)
    assert found.test == permutation_test(
        first, second, target, method, items=unit, n_resamples=1_000, rng=4, names=("scores", "levels")
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_is_that_of_a_loop_over_resampled_items(method):
    x1, x2, y, items, _ = drawn(n_items=9)
    found = difference(x1, x2, y, method, items=items, n_resamples=150, rng=2)
    (counts,) = draw_counts(9, 150, 150, 2)
    values = []
    for weights in counts.T.astype(int):
        rows = np.concatenate([np.flatnonzero(items == item) for item in np.repeat(np.arange(9), weights)])
        values.append(SCIPY[method](x1[rows], y[rows]).statistic - SCIPY[method](x2[rows], y[rows]).statistic)
    expected = [quantile(np.array(values), q) for q in (0.025, 0.975)]
    assert [found.difference.low, found.difference.high] == pytest.approx(expected)


def test_per_item_by_hand():
    """Two items of three texts: tau of the first metric 1 and 1/3, of the second -1/3 and 1; a third item is constant."""
    y = [1, 2, 3, 1, 2, 3, 1, 2]
    x1 = [1, 2, 3, 1, 3, 2, 5, 5]
    x2 = [2, 3, 1, 1, 2, 3, 1, 2]
    items = [0, 0, 0, 1, 1, 1, 2, 2]
    found = difference(x1, x2, y, "kendall", of="per_item", items=items, n_resamples=1_000)
    assert (found.first.estimate, found.second.estimate) == pytest.approx(((1 + 1 / 3) / 2, (-1 / 3 + 1) / 2))
    assert found.difference.estimate == pytest.approx(1 / 3)
    assert (found.difference.n, found.difference.n_clusters, found.difference.n_left_out) == (6, 2, 1)
    # The items' differences are 4/3 and -2/3, and every resample draws two of them.
    assert (found.difference.low, found.difference.high) == pytest.approx((-2 / 3, 4 / 3))
    # Of the four swaps of two items, the mean is +-1/3 or +-1: every one is at least as large.
    assert found.test.p == 1.0


def test_per_item_equals_the_house_where_both_are_defined():
    x1, x2, y, items, _ = drawn(seed=3)
    found = difference(x1, x2, y, "spearman", of="per_item", items=items, n_resamples=200, rng=1)
    for one, x in ((found.first, x1), (found.second, x2)):
        alone = mean_within(x, y, items, "spearman", n_resamples=200, rng=1)
        assert (one.estimate, one.low, one.high, one.n) == pytest.approx(
            (alone.estimate, alone.low, alone.high, alone.n)
        )
    assert found.difference.estimate == pytest.approx(found.first.estimate - found.second.estimate)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("paired", [True, False])
def test_per_system_equals_the_house_and_the_difference_of_means(method, paired):
    x1, x2, y, items, systems = drawn(seed=5)
    if not paired:  # as in WMT: metrics score all texts, people rate a part
        rated = items < 8
        x1, x2, y = (
            np.concatenate([one, np.full(rated.sum(), np.nan)])
            if one is not y
            else np.concatenate([np.full(y.size, np.nan), y[rated]])
            for one in (x1, x2, y)
        )
        items, systems = (np.concatenate([one, one[rated]]) for one in (items, systems))
    asked = {"items": items, "paired": paired, "n_resamples": 200, "rng": 7}
    found = difference(x1, x2, y, method, of="per_system", systems=systems, **asked)
    for one, x in ((found.first, x1), (found.second, x2)):
        alone = system_correlation(x, y, systems, method, **asked)
        assert (one.estimate, one.low, one.high, one.n, one.n_clusters) == (
            alone.estimate,
            alone.low,
            alone.high,
            alone.n,
            alone.n_clusters,
        )
        means = [[np.nanmean(values[systems == system]) for system in range(5)] for values in (x, y)]
        assert one.estimate == pytest.approx(SCIPY[method](*means).statistic)
    assert found.difference.estimate == found.first.estimate - found.second.estimate
    assert found.difference.low <= found.difference.estimate <= found.difference.high


def test_p_per_system_is_that_of_all_swaps_of_items():
    """Seven items have 128 swaps; the share of those with a difference at least as large, computed one by one."""
    x1, x2, y, items, systems = drawn(n_items=7, n_systems=4, seed=11)
    found = difference(
        x1, x2, y, "pearson", of="per_system", systems=systems, items=items, n_resamples=0, n_swaps=20_000
    )
    first, second = (stats.zscore(one).reshape(7, 4) for one in (x1, x2))
    target = y.reshape(7, 4).mean(axis=0)

    def apart(stays):
        swap = np.array(stays)[:, None] == 1
        mixed = np.where(swap, first, second), np.where(swap, second, first)
        one, other = (stats.pearsonr(own.mean(axis=0), target).statistic for own in mixed)
        return one - other

    observed = apart([1] * 7)
    share = np.mean([abs(apart(stays)) >= abs(observed) - 1e-12 for stays in product([0, 1], repeat=7)])
    assert found.test.difference == pytest.approx(observed)
    assert found.test.p == pytest.approx(share, abs=0.015)
    assert found.test.n_units == 7


@pytest.mark.parametrize("method", METHODS)
def test_given_the_system_each_is_the_house_s_partial_correlation(method):
    x1, x2, y, items, systems = drawn(missing=0.15)
    asked = {"items": items, "n_resamples": 200, "rng": 7}
    found = difference(x1, x2, y, method, of="given_system", systems=systems, **asked)
    first, second, target, unit, system = shared_rows(x1, x2, y, items, systems)
    for one, x in ((found.first, first), (found.second, second)):
        alone = partial(x, target, system, method, **{**asked, "items": unit})
        assert (one.estimate, one.low, one.high, one.n) == pytest.approx(
            (alone.estimate, alone.low, alone.high, alone.n)
        )
    assert found.difference.estimate == pytest.approx(found.first.estimate - found.second.estimate)
    assert found.difference.low <= found.difference.estimate <= found.difference.high


def test_p_given_the_system_is_that_of_all_swaps_of_items():
    x1, x2, y, items, systems = drawn(n_items=7, n_systems=3, seed=21)
    asked = {"systems": systems, "items": items, "n_resamples": 0, "n_swaps": 20_000}
    found = difference(x1, x2, y, "pearson", of="given_system", **asked)
    first, second = stats.zscore(x1), stats.zscore(x2)

    def without_systems(values):
        return values - np.array([values[systems == system].mean() for system in systems])

    def apart(stays):
        swap = np.array(stays)[items] == 1
        mixed = np.where(swap, first, second), np.where(swap, second, first)
        one, other = (stats.pearsonr(without_systems(own), without_systems(y)).statistic for own in mixed)
        return one - other

    observed = apart([1] * 7)
    share = np.mean([abs(apart(stays)) >= abs(observed) - 1e-12 for stays in product([0, 1], repeat=7)])
    assert found.test.difference == pytest.approx(observed)
    assert found.test.p == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize("of", ["pooled", "per_item", "per_system", "given_system"])
def test_a_metric_compared_with_itself(of):
    x1, _, y, items, systems = drawn()
    found = difference(x1, x1, y, "kendall", of=of, items=items, systems=systems, n_resamples=100)
    assert (found.difference.estimate, found.difference.low, found.difference.high) == (0, 0, 0)
    assert found.test.p == 1.0


@pytest.mark.parametrize("of", ["pooled", "per_item", "per_system", "given_system"])
def test_a_constant_metric_is_named(of):
    x1, _, y, items, systems = drawn()
    found = difference(x1, np.ones(x1.size), y, "pearson", of=of, items=items, systems=systems, n_resamples=9)
    assert (found.difference.estimate, found.difference.low, found.test.p) == (None, None, None)
    assert (found.second.estimate, bool(found.second.reason)) == (None, True)
    assert found.difference.reason.startswith("second" if of != "per_item" else "first")
    assert found.test.reason


@pytest.mark.parametrize("of", ["pooled", "per_item", "per_system", "given_system"])
def test_why_there_is_no_interval(of):
    x1, x2, y, items, systems = drawn()
    none = difference(x1, x2, y, "pearson", of=of, items=items, systems=systems, n_resamples=0, n_swaps=0)
    assert none.difference.interval_reason == none.first.interval_reason == NO_RESAMPLES
    assert (none.test.p, none.test.reason) == (None, NO_RESAMPLES)
    one = difference(x1, x2, y, "pearson", of=of, items=np.zeros(x1.size), systems=systems, n_resamples=10)
    assert one.difference.estimate is not None
    assert one.difference.interval_reason == ONE_CLUSTER


def test_rows_are_resampled_without_items_and_generators_give_seeds():
    x1, x2, y, _, _ = drawn()
    found = difference(x1, x2, y, "pearson", n_resamples=50, rng=np.random.default_rng(1))
    assert found.difference.n_clusters == x1.size
    for of in ("per_system", "given_system"):
        with pytest.raises(ValueError, match="system"):
            difference(x1, x2, y, "pearson", of=of)
    with pytest.raises(ValueError, match="confidence"):
        difference(x1, x2, y, "pearson", confidence_level=1.0)


def test_all_differences_of_several_columns_are_those_of_two():
    x1, x2, y, items, _ = drawn(seed=8)
    x3 = np.round(x1 + x2, 1)
    scores = np.column_stack([x1, x2, x3])
    values = resample_columns(scores, y, items, 12, ("kendall",), n_resamples=100, seed=3)["kendall"]
    alone = [one["kendall"].estimate for one in correlate_columns(scores, y, ("kendall",), n_resamples=0)]
    found = differences_between(
        np.array(alone), np.array(values), n=y.size, n_clusters=12, confidence_level=0.9
    )
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    for (i, j), one in found.items():
        two = difference(
            scores[:, i],
            scores[:, j],
            y,
            "kendall",
            items=items,
            n_resamples=100,
            rng=3,
            confidence_level=0.9,
        ).difference
        assert (one.estimate, one.low, one.high, one.n) == (two.estimate, two.low, two.high, two.n)


N_STUDIES, N_SYSTEMS = 200, 6


def study(n_items, rng):
    """Texts of six systems: quality by item and system, and two metrics with a part of their errors in common."""
    items, systems = (part.ravel() for part in np.mgrid[:n_items, :N_SYSTEMS])
    y = rng.normal(size=n_items)[items] + 0.3 * systems + rng.normal(size=items.size)
    of_item, shared = rng.normal(size=n_items)[items], rng.normal(size=items.size)
    x1 = y + of_item + shared + rng.normal(size=items.size)
    x2 = 0.7 * y + of_item + shared + 1.2 * rng.normal(size=items.size)
    return x1, x2, y, items, systems


def coverage(n_items, of, method, seed=1):
    """Share of studies whose 95 % interval contains the difference for very many items of the same systems."""
    rng = np.random.default_rng(seed)
    x1, x2, y, items, systems = study(20_000, rng)
    truth = difference(
        x1, x2, y, method, of=of, items=items, systems=systems, n_resamples=0, n_swaps=0
    ).difference.estimate
    inside = 0
    for number in range(N_STUDIES):
        x1, x2, y, items, systems = study(n_items, rng)
        one = difference(
            x1, x2, y, method, of=of, items=items, systems=systems, n_resamples=500, n_swaps=0, rng=number
        ).difference
        inside += one.low <= truth <= one.high
    return inside / N_STUDIES


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [50, 200])
@pytest.mark.parametrize(
    ("of", "method"),
    [
        ("pooled", "pearson"),
        ("pooled", "spearman"),
        ("pooled", "kendall"),
        ("per_item", "kendall"),
        ("given_system", "pearson"),
    ],
)
def test_the_interval_contains_the_true_difference_as_often_as_it_claims(n_items, of, method):
    assert coverage(n_items, of, method) >= 0.92
