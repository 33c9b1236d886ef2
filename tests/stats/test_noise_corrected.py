"""Correlations of systems and of metrics, corrected for the noise of items, and bounds of system accuracy."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from core.stats.correlation.coefficients import coefficient, leave_one_cluster_out
from core.stats.correlation.intervals import Live, corrected_over_items
from core.stats.correlation.systems import (
    accuracy_bound,
    corrected_between_systems,
    system_accuracy,
    system_correlation,
)
from scripts.simulations import cell_measures, read
from scripts.simulations import meta_correlation as meta_grid
from scripts.simulations import systems as systems_grid

BY_HAND = ([0, 2, 4, 1, 1, 4], [1, 1, 4, 1, 0, 2], ["a", "b", "c"] * 2, [1, 1, 1, 2, 2, 2])
"""Scores, ratings, systems and items of the example in docs/inference.md."""


def simulated(n_systems, n_items, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    items, systems = np.repeat(np.arange(n_items), n_systems), np.tile(np.arange(n_systems), n_items)
    shared = rng.normal(size=n_items)[items] + 0.6 * rng.normal(size=items.size)
    x, y = (spread * systems / n_systems + shared + rng.normal(size=items.size) for _ in range(2))
    return x, y, systems, items


def test_the_example_by_hand():
    """Covariances over systems of different items' values: 3 for scores, 1.5 for ratings, (1 + 3) / 2 between them."""
    x, y, systems, items = BY_HAND
    found = corrected_between_systems(x, y, systems, items=items)
    assert found.estimate == pytest.approx(2 / np.sqrt(3 * 1.5))
    assert found.naive == pytest.approx(2.125 / np.sqrt(3.25 * 1.75))
    assert (found.noise_x, found.noise_y) == (pytest.approx(1 - 3 / 3.25), pytest.approx(1 - 1.5 / 1.75))
    assert (found.low, found.interval_reason) == (None, "fewer than 5 items")
    assert (found.n, found.n_clusters) == (3, 2)


def test_it_is_the_mean_over_pairs_of_different_items_and_its_interval_the_jackknife():
    x, y, systems, items = simulated(5, 7, spread=6)
    table = [values.reshape(7, 5) for values in (x, y)]

    def parts(one, other, kept):
        pairs = permutations(kept, 2)
        return np.mean([np.cov(one[i], other[j], ddof=1)[0, 1] for i, j in pairs])

    def all_parts(kept):
        return np.array([parts(table[a], table[b], kept) for a, b in ((0, 0), (0, 1), (1, 1))])

    xx, xy, yy = all_parts(range(7))
    uncut = xy / np.sqrt(xx * yy)
    found = corrected_between_systems(x, y, systems, items=items)
    assert found.uncut == pytest.approx(uncut)
    assert found.estimate == pytest.approx(np.clip(uncut, -1, 1))
    without = np.array([all_parts([i for i in range(7) if i != left]) for left in range(7)])
    covariance = 6 / 7 * (without - without.mean(axis=0)).T @ (without - without.mean(axis=0))
    slope = np.array([-uncut / (2 * xx), 1 / np.sqrt(xx * yy), -uncut / (2 * yy)])
    error = np.sqrt(slope @ covariance @ slope)
    assert found.standard_error == pytest.approx(error)
    reach = stats.t.ppf(0.975, 6) * error
    assert (found.low or 0) <= max(uncut - reach, -1) + 1e-9
    assert (found.high or 0) >= min(uncut + reach, 1) - 1e-9


def test_without_noise_nothing_is_corrected():
    """Every item has the same scores, so that both sides' means are known."""
    x, y = np.tile([1.0, 2.0, 4.0], 6), np.tile([1.0, 3.0, 3.5], 6)
    systems, items = np.tile(np.arange(3), 6), np.repeat(np.arange(6), 3)
    found = corrected_between_systems(x, y, systems, items=items)
    assert found.estimate == pytest.approx(stats.pearsonr([1, 2, 4], [1, 3, 3.5]).statistic)
    assert found.estimate == pytest.approx(found.naive)
    assert (found.low, found.undefined_share) == (None, 0.0)
    assert found.interval_reason is not None


@pytest.mark.parametrize("paired", [True, False])
def test_units_order_and_difficulty_of_items_change_nothing(paired):
    x, y, systems, items = simulated(6, 25, seed=3)
    y[::7] = np.nan
    found = corrected_between_systems(x, y, systems, items=items, paired=paired)
    assert found.naive == pytest.approx(
        system_correlation(x, y, systems, "pearson", paired=paired, n_resamples=0).estimate
    )
    order = np.random.default_rng(0).permutation(x.size)
    turned = corrected_between_systems(
        (1e6 * x - 5)[order], (y / 100)[order], systems[order], items=items[order], paired=paired
    )
    for name in ("uncut", "low", "high", "undefined_share"):
        assert getattr(turned, name) == pytest.approx(getattr(found, name), abs=1e-6)
    if paired:
        return
    hard = corrected_between_systems(x + 10 * items, y, systems, items=items, paired=False)
    assert hard.uncut == pytest.approx(found.uncut), "every system has every item's score"


def test_noise_alone_is_undefined_with_its_reason():
    rng = np.random.default_rng(4)
    items, systems = np.repeat(np.arange(20), 8), np.tile(np.arange(8), 20)
    found = [corrected_between_systems(*rng.normal(size=(2, 160)), systems, items=items) for _ in range(20)]
    undefined = [one for one in found if one.estimate is None]
    assert len(undefined) >= 8
    for one in undefined:
        assert "differ by no more than their noise" in str(one.reason)
        assert one.low is None
        assert one.naive is not None
        assert (one.undefined_share or 0) > 0.4


def test_why_it_is_undefined():
    x, y, systems, items = BY_HAND
    assert "no items" in str(corrected_between_systems(x, y, systems, items=None).reason)
    assert "only two systems" in str(
        corrected_between_systems([1, 2, 2, 3], [1, 3, 2, 2], list("abab"), items=[1, 1, 2, 2]).reason
    )
    one_item = corrected_between_systems([*x, 5], [*y, 5], [*systems, "d"], items=[*items, 1])
    assert "only one item" in str(one_item.reason)
    flat = corrected_between_systems([1] * 6, y, systems, items=items)
    assert flat.reason == system_correlation([1] * 6, y, systems, "pearson").reason
    with pytest.raises(ValueError, match="confidence_level"):
        corrected_between_systems(x, y, systems, items=items, confidence_level=2)


def test_accuracy_is_bounded_by_pairs_of_certain_order():
    x, y, systems, items = simulated(4, 60, spread=12)
    found = accuracy_bound(x, y, systems, items=items)
    assert (found.low, found.high, found.n_settled, found.n_pairs) == (1, 1, 6, 6)
    close = accuracy_bound(*simulated(4, 10, spread=0.1)[:3], items=simulated(4, 10)[3])
    assert (close.low, close.high, close.n_settled) == (0, 1, 0)
    swapped = accuracy_bound(x, -y, systems, items=items)
    assert (swapped.low, swapped.high) == (0, 0)
    assert system_accuracy(x, y, systems).estimate == 1
    assert accuracy_bound(x, y, systems, items=None).reason is not None
    assert accuracy_bound([1, 2], [1, 2], ["a", "a"], items=[1, 2]).reason == "fewer than two systems"
    assert accuracy_bound([1, 2], [1, 2], ["a", "b"], items=[1, 1]).low is None


def test_without_each_cluster_agrees_with_a_plain_loop():
    rng = np.random.default_rng(5)
    scores, y, clusters = rng.integers(0, 9, (30, 3)).astype(float), rng.normal(size=30), np.arange(30) // 3
    for method in ("pearson", "spearman", "kendall"):
        found = leave_one_cluster_out(scores, y, clusters, 10, method)
        expected = [
            [coefficient(own[clusters != left], y[clusters != left], method) for left in range(10)]
            for own in scores.T
        ]
        assert found == pytest.approx(np.array(expected))


def live(seed, n_items, strengths, first_item=0):
    rng = np.random.default_rng(seed)
    target, items = np.tile(-np.arange(4.0), n_items), np.repeat(np.arange(n_items), 4) + first_item
    return Live(np.outer(target, strengths) + rng.normal(size=(target.size, len(strengths))), target, items)


def test_metrics_on_items_of_their_own_and_on_the_same_items():
    """Errors that both sides share are no association of the metrics."""
    strengths = np.linspace(0.2, 1, 6)
    human, other = live(1, 30, strengths), live(2, 30, strengths, first_item=30)
    apart = corrected_over_items(human, other, "pearson")
    assert (apart.n, apart.n_clusters) == (6, 30)
    values = [[coefficient(own, side.target, "pearson") for own in side.scores.T] for side in (human, other)]
    assert apart.naive == pytest.approx(stats.pearsonr(*values).statistic)
    assert (apart.uncut or 0) > (apart.naive or 1)
    same = corrected_over_items(human, human, "pearson")
    assert same.uncut == pytest.approx(1)
    fixed = corrected_over_items([*values[0][:5], np.nan], other, "pearson")
    assert (fixed.n, fixed.n_left_out, fixed.noise_x) == (5, 1, 0)
    neither = corrected_over_items(values[0], values[1], "pearson")
    assert neither.estimate is None
    assert neither.reason is not None


def test_no_alarm_where_a_metric_hangs_on_one_item():
    side = live(1, 6, [0.5, 1.0, 1.5])
    scores = side.scores.copy()
    scores[:, 0] = 0
    scores[0, 0] = 1
    found = corrected_over_items([0.1, 0.4, 0.5], Live(scores, side.target, side.items), "pearson")
    assert found.estimate is None
    assert "undefined without one of the items" in str(found.reason)


def test_the_stored_tables_keep_the_promise():
    for grid in (systems_grid.GRID, meta_grid.GRID):
        stored = read(grid)
        assert set(stored) == set(grid.cells)
        assert min(one["corrected"] or 0 for one in stored.values()) >= 0.90
    assert min(one["accuracy, bound"] or 0 for one in read(systems_grid.GRID).values()) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "cell", "replicates"),
    [
        (systems_grid, (8, 100, 0.3, 0.95), 250),
        (systems_grid, (15, 20, 0.1, 0.95), 250),
        (meta_grid, (8, 20, "close", "other items"), 200),
    ],
)
def test_a_few_cells_again(module, cell, replicates):
    stored, again = read(module.GRID)[cell], cell_measures(module.GRID, cell, replicates)
    for name in ("corrected", "undefined"):
        known = again[name], stored[name]
        error = np.sqrt(max(known[1] * (1 - known[1]), 0.02) / (replicates * (1 - stored["undefined"])))
        assert abs(known[0] - known[1]) < 4 * error, name
