"""Simulated coverage of shares: of items (levels, preferences, votes), and of pairs of systems."""

import numpy as np
import pytest

from core.stats.correlation.systems import system_accuracy
from core.stats.resampling import mean_estimates

pytestmark = pytest.mark.slow


def test_shares_and_means_over_items_with_several_texts_each():
    """60 items of 4 texts; items differ in how often a metric prefers the damaged text (mean .3) and in their scores."""
    rng = np.random.default_rng(0)
    items = np.repeat(np.arange(60), 4)
    studies, shares, means = 600, 0, 0
    for _ in range(studies):
        often = rng.beta(3, 7, 60)[items]
        flags = rng.random(240) < often
        scores = rng.normal(0, 1, 60)[items] + rng.normal(0, 1, 240)
        share, mean = mean_estimates(np.column_stack([flags, scores]), items, n_resamples=500, rng=rng)
        shares += share.low <= 0.3 <= share.high
        means += mean.low <= 0 <= mean.high
    assert 0.905 <= shares / studies <= 0.975
    assert 0.905 <= means / studies <= 0.975


def test_a_share_over_texts_taken_for_independent_is_too_sure():
    """The same data with each text as an item of its own: what resampling items is for."""
    rng = np.random.default_rng(1)
    items = np.repeat(np.arange(60), 4)
    studies, covered = 600, 0
    for _ in range(studies):
        scores = rng.normal(0, 1, 60)[items] + rng.normal(0, 1, 240)
        (mean,) = mean_estimates(scores[:, None], np.arange(240), n_resamples=500, rng=rng)
        covered += mean.low <= 0 <= mean.high
    assert covered / studies < 0.85


def test_system_accuracy_holds_what_endless_items_would_give():
    """Seven systems, three of 21 pairs in the wrong order; 150 items, noise as large as the systems' range."""
    rng = np.random.default_rng(2)
    human = np.arange(7) * 0.3
    metric = human[[0, 2, 1, 3, 5, 4, 6]].copy()
    metric[[0, 1]] = metric[[1, 0]]
    order = np.sign(np.subtract.outer(human, human)) == np.sign(np.subtract.outer(metric, metric))
    true = (order.sum() - 7) / 42
    assert 0.7 < true < 0.95
    studies, covered = 150, 0
    items, systems = np.repeat(np.arange(150), 7), np.tile(np.arange(7), 150)
    for _ in range(studies):
        shared = rng.normal(0, 1, 150)[items]
        y = human[systems] + shared + rng.normal(0, 1, 1050)
        x = metric[systems] + shared + rng.normal(0, 1, 1050)
        found = system_accuracy(x, y, systems, items, n_resamples=300, rng=rng)
        covered += found.low - 1e-9 <= true <= found.high + 1e-9
    assert covered / studies > 0.92
