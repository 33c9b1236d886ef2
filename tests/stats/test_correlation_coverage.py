"""Simulated coverage of the intervals of correlations and size of their tests: what is true, the simulation knows.

Bands are the nominal level -+ about four Monte Carlo standard errors, except where a failure is what is shown. For two
normal variables with correlation rho, Spearman's rho is 6/pi asin(rho/2) and Kendall's tau 2/pi asin(rho).
"""

import numpy as np
import pytest
from scipy import stats

from core.stats.correlation.coefficients import coefficient
from core.stats.correlation.groups import mean_within, partial
from core.stats.correlation.intervals import (
    Live,
    correlate,
    fisher_interval,
    meta_correlation,
    meta_correlation_over_items,
    permutation_test,
    williams,
)
from core.stats.correlation.systems import system_accuracy, system_correlation

pytestmark = pytest.mark.slow

METHODS = ("pearson", "spearman", "kendall")
RHO = 0.6
TRUE = {"pearson": RHO, "spearman": 6 / np.pi * np.arcsin(RHO / 2), "kendall": 2 / np.pi * np.arcsin(RHO)}


def normal_pairs(rng, n):
    return rng.multivariate_normal([0, 0], [[1, RHO], [RHO, 1]], n)


def holds(found, true):
    return found.low <= true <= found.high


@pytest.mark.parametrize("method", METHODS)
def test_over_independent_rows(method):
    rng = np.random.default_rng(0)
    covered, studies = 0, 500
    for _ in range(studies):
        x, y = normal_pairs(rng, 80).T
        covered += holds(correlate(x, y, method, n_resamples=600, rng=rng), TRUE[method])
    assert 0.915 <= covered / studies <= 0.975


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_fisher_on_independent_normal_rows(method):
    rng = np.random.default_rng(1)
    covered, studies = 0, 2000
    for _ in range(studies):
        x, y = normal_pairs(rng, 40).T
        low, high = fisher_interval(coefficient(x, y, method), 40, 0.95, method)
        covered += low <= TRUE[method] <= high
    assert 0.93 <= covered / studies <= 0.97


@pytest.mark.parametrize("method", METHODS)
def test_over_items_where_rows_of_an_item_are_alike_and_rows_do_not(method):
    """Half of the variance of both columns belongs to the item, five rows an item."""
    rng = np.random.default_rng(2)
    items = np.repeat(np.arange(60), 5)
    studies, over_items, over_rows = 200, 0, 0
    for _ in range(studies):
        shared, own = normal_pairs(rng, 60)[items], normal_pairs(rng, 300)
        x, y = np.sqrt(0.5) * (shared + own).T
        over_items += holds(correlate(x, y, method, clusters=items, n_resamples=400, rng=rng), TRUE[method])
        over_rows += holds(correlate(x, y, method, n_resamples=400, rng=rng), TRUE[method])
    assert 0.90 <= over_items / studies <= 0.985
    assert over_rows / studies < 0.88


def test_mean_within_items():
    """Items in which the correlation is .2 or .8, half of each; without ties tau has no bias, whatever the rows."""
    rng = np.random.default_rng(3)
    true = np.mean(2 / np.pi * np.arcsin([0.2, 0.8]))
    covered, studies = 0, 1000
    for _ in range(studies):
        rho = rng.choice([0.2, 0.8], 60)[:, None]
        x = rng.normal(size=(60, 6))
        y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=(60, 6))
        items = np.repeat(np.arange(60), 6)
        found = mean_within(x.ravel(), y.ravel(), items, "kendall", n_resamples=500, rng=rng)
        covered += holds(found, true)
    assert 0.92 <= covered / studies <= 0.975


@pytest.mark.parametrize("method", ["pearson", "kendall"])
def test_partial_over_items(method):
    """Systems differ in both columns; within each the correlation is RHO, part of it shared by an item's rows."""
    rng = np.random.default_rng(4)
    items, systems = np.repeat(np.arange(60), 5), np.tile(np.arange(5), 60)
    covered, studies = 0, 200
    for _ in range(studies):
        x, y = np.sqrt(0.5) * (normal_pairs(rng, 60)[items] + normal_pairs(rng, 300)).T
        found = partial(
            x + 2 * systems, y + 2 * systems, systems, method, items=items, n_resamples=400, rng=rng
        )
        covered += holds(found, TRUE[method])
    assert 0.88 <= covered / studies <= 0.985


def between_systems_coverage(nearness, n_items, studies):
    """Shares of studies whose intervals of r and of accuracy hold what endless items would give, and lie below it.

    nearness: the quality of the eight systems differs by as many times less than the noise of a text.
    """
    rng = np.random.default_rng(5)
    human = np.linspace(0, 3, 8) / nearness
    metric = np.array([0, 0.8, 0.5, 1.1, 2.2, 1.4, 2.0, 2.9]) / nearness
    items, systems = np.repeat(np.arange(n_items), 8), np.tile(np.arange(8), n_items)
    # Of 28 pairs of systems the metric has 1 and 2, 4 and 5, 4 and 6 the wrong way round.
    true = (stats.pearsonr(human, metric).statistic, 25 / 28)
    held, below = np.zeros(2), np.zeros(2)
    for _ in range(studies):
        difficulty = rng.normal(size=n_items)[items]
        x = metric[systems] + difficulty + rng.normal(size=items.size)
        y = human[systems] + difficulty + rng.normal(size=items.size)
        found = (
            system_correlation(x, y, systems, "pearson", items=items, n_resamples=400, rng=rng),
            system_accuracy(x, y, systems, items, n_resamples=400, rng=rng),
        )
        held += [holds(*one) for one in zip(found, true, strict=True)]
        below += [one.high < value for one, value in zip(found, true, strict=True)]
    return held / studies, below / studies


def test_between_systems_over_items():
    """Systems far apart: 300 items show their true means with little noise."""
    held, _ = between_systems_coverage(1, n_items=300, studies=150)
    assert 0.90 <= held[0] <= 0.985


def test_between_systems_over_items_lies_too_low_where_systems_are_close():
    """The observed means are noisy, and drawing items adds that noise once more; the docs say so."""
    held, below = between_systems_coverage(10, n_items=100, studies=100)
    assert (held < 0.5).all()
    assert (held + below > 0.97).all()


@pytest.mark.parametrize("method", METHODS)
def test_meta_correlation_over_metrics_covers_the_population_of_metrics(method):
    """28 metrics drawn from a population in which the two sides' correlations correlate."""
    rng = np.random.default_rng(6)
    covered, studies = 0, 500
    for _ in range(studies):
        human, synthetic = normal_pairs(rng, 28).T
        found = meta_correlation(human, synthetic, method, n_resamples=500, rng=rng).over_metrics
        covered += holds(found, TRUE[method])
    assert 0.89 <= covered / studies <= 0.975


def simulated_side(rng, n_items, strength):
    """Metrics whose Pearson correlation with the level is strength / sqrt(1 + strength**2) in the long run."""
    target, items = np.tile(-np.arange(6.0), n_items), np.repeat(np.arange(n_items), 6)
    level = (target + 2.5) / np.sqrt(35 / 12)
    difficulty = rng.normal(size=(n_items, 1))[items]
    own = rng.normal(size=(target.size, strength.size))
    return Live(strength * level[:, None] + np.sqrt(0.5) * (difficulty + own), target, items)


def meta_coverage(lowest, highest, n_items, studies):
    rng = np.random.default_rng(7)
    strength = np.linspace(lowest, highest, 15)
    in_the_long_run = strength / np.sqrt(1 + strength**2)
    human = in_the_long_run + np.random.default_rng(5).normal(size=15) * (highest - lowest) * 0.15
    true = stats.pearsonr(human, in_the_long_run).statistic
    covered = 0
    for _ in range(studies):
        side = simulated_side(rng, n_items, strength)
        found = meta_correlation_over_items(human, side, "pearson", n_resamples=300, rng=rng)
        covered += holds(found, true)
    return covered / studies


def test_meta_correlation_over_items_covers_what_endless_items_would_give_for_these_metrics():
    assert 0.90 <= meta_coverage(0.2, 2.0, n_items=150, studies=200) <= 0.985


def test_meta_correlation_over_few_items_lies_too_low_where_metrics_are_alike():
    """Noise of the correlations lowers their correlation; the docs say so."""
    assert meta_coverage(0.9, 1.1, n_items=20, studies=100) < 0.4


def test_p_values_of_paired_tests_are_uniform_where_two_metrics_are_equally_good():
    rng = np.random.default_rng(8)
    p_values = {name: [] for name in (*METHODS, "over items", "williams")}
    items = np.repeat(np.arange(30), 3)
    for _ in range(400):
        y = rng.normal(size=60)
        x1, x2 = y + rng.normal(size=(2, 60))
        for method in METHODS:
            p_values[method].append(permutation_test(x1, x2, y, method, n_resamples=199, rng=rng).p)
        r = [coefficient(a, b, "pearson") for a, b in ((x1, y), (x2, y), (x1, x2))]
        p_values["williams"].append(williams(*r, 60)[1])
        shared = rng.normal(size=(3, 30))[:, items]
        y = shared[0] + rng.normal(size=90)
        x1, x2 = y + shared[1:] + rng.normal(size=(2, 90))
        found = permutation_test(x1, x2, y, "pearson", items=items, n_resamples=199, rng=rng)
        p_values["over items"].append(found.p)
    for name, values in p_values.items():
        assert stats.kstest(values, "uniform").pvalue > 0.001, name
        assert 0.015 <= np.mean(np.array(values) <= 0.05) <= 0.09, name
