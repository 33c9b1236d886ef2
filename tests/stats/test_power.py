from math import ceil

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from core.stats.planning import pairs_needed, power_non_inferiority
from core.stats.votes import composite_scores, preferences

SCORES_003 = np.repeat([-1, 0, 1], [17, 36, 27])  # the composite scores of Factual, A1-A4


def test_power_of_003():
    """FIELD.md: 0.771, margin 0.1, alpha 0.05 two-sided, n = 80."""
    found = power_non_inferiority(SCORES_003, margin=0.1)
    assert found.value == pytest.approx(0.771, abs=5e-4)
    assert (found.n, found.alpha, found.alternative, found.reason) == (80, 0.05, "two-sided", None)
    assert found.effect == pytest.approx(0.225 / SCORES_003.std(ddof=1))
    assert "TTestPower" in found.method


@pytest.mark.shared
def test_power_of_003_from_its_votes(study_003):
    votes, _ = study_003.part("A1", "A2", "A3", "A4")
    scores = composite_scores(preferences(votes))
    assert power_non_inferiority(scores, margin=0.1) == power_non_inferiority(SCORES_003, margin=0.1)


@pytest.mark.parametrize("alternative", ["two-sided", "larger"])
def test_sample_sizes_are_those_of_statsmodels_rounded_up(alternative):
    found = power_non_inferiority(SCORES_003, margin=0.1, alternative=alternative)
    spread = SCORES_003.std(ddof=1)

    def solved(effect, power):
        return ceil(TTestPower().solve_power(effect, power=power, alpha=0.05, alternative=alternative))

    assert (found.n_for_80, found.n_for_90) == (solved(0.225 / spread, 0.8), solved(0.225 / spread, 0.9))
    assert found.n_for_80_if_equal == solved(0.1 / spread, 0.8)
    assert found.n_for_90_if_equal == solved(0.1 / spread, 0.9)


@pytest.mark.parametrize("effect", [0.05, 0.3, 1, 5, 40])
def test_the_smallest_number_that_suffices(effect):
    n = pairs_needed(effect, 0.8, alpha=0.05, alternative="larger")

    def power(size):
        return TTestPower().power(effect, size, 0.05, alternative="larger")

    assert power(n) >= 0.8
    assert n == 2 or power(n - 1) < 0.8


def test_a_number_nobody_can_collect_is_none():
    assert pairs_needed(1e-5, 0.8, alpha=0.05, alternative="larger") is None


def test_value_is_the_share_of_simulated_studies_that_reject():
    """Normal scores with mean 0.3 and margin 0.2, sd 1, n = 40: the t test of the theory, run 4000 times."""
    sample = np.random.default_rng(1).normal(size=40)
    sample = (sample - sample.mean()) / sample.std(ddof=1) + 0.3
    found = power_non_inferiority(sample, margin=0.2, alternative="larger")
    studies = np.random.default_rng(2).normal(0.3, 1, (4000, 40))
    p = stats.ttest_1samp(studies, -0.2, axis=1, alternative="greater").pvalue
    assert found.value == pytest.approx((p < 0.05).mean(), abs=0.02)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([], "fewer than two"),
        ([1], "fewer than two"),
        ([np.nan, 1], "fewer than two"),
        ([0, 0, 0], "all scores are equal"),
    ],
)
def test_without_spread_nothing_is_defined(scores, reason):
    found = power_non_inferiority(scores, margin=0.1)
    assert (found.value, found.n_for_80, found.n_for_90, found.effect) == (None, None, None, None)
    assert (found.n_for_80_if_equal, found.n_for_90_if_equal) == (None, None)
    assert reason in found.reason


@pytest.mark.parametrize("alternative", ["two-sided", "larger"])
def test_a_mean_at_or_below_the_margin_leaves_only_the_plan(alternative):
    for scores in (-SCORES_003, np.repeat([-1, 0, 1], [2, 7, 1])):  # the second lies on -0.1
        found = power_non_inferiority(scores, margin=0.1, alternative=alternative)
        assert (found.value, found.n_for_80, found.n_for_90) == (None, None, None)
        assert found.n_for_80_if_equal > 0
        assert "at or below -margin" in found.reason


def test_scores_that_are_missing_are_left_out_and_counted():
    found = power_non_inferiority([1, 0, np.nan, 1], margin=0.1)
    assert (found.n, found.n_left_out) == (3, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, "margin"),
        ({"margin": 0.1, "alpha": 5}, "alpha"),
        ({"margin": 0.1, "alternative": "smaller"}, "alternative"),
    ],
)
def test_misuse_is_an_error(options, message):
    with pytest.raises(ValueError, match=message):
        power_non_inferiority([1, 0], **options)


def test_scores_are_one_row():
    with pytest.raises(ValueError, match="shape"):
        power_non_inferiority([[1, 0]], margin=0.1)
