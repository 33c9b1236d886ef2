"""Rank correlation with a panel against scipy, its jackknife against leaving out by hand, and its coverage."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, spearmanr
from scipy.stats import t as student

from core.stats.correlation.panels import NO_OTHERS, UNDEFINED, panel_correlation
from core.stats.resampling import agresti_min_mean, mean_share

Values = NDArray[np.float64]


def _drawn(n: int, seed: int, digits: int = 0) -> tuple[Values, Values]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    return quality + rng.normal(size=n), np.round(quality[:, None] + rng.normal(size=(n, 3)), digits)


def _by_hand(judge: Values, ratings: Values) -> tuple[float, float]:
    sides = [(ratings[:, at], np.delete(ratings, at, axis=1).mean(axis=1)) for at in range(ratings.shape[1])]
    own = [spearmanr(judge, others).statistic for _, others in sides]
    return float(np.mean(own)), float(np.mean([spearmanr(*side).statistic for side in sides]))


def test_estimates_are_scipys() -> None:
    judge, ratings = _drawn(40, 1)
    found = panel_correlation(judge, ratings)
    of_judge, of_raters = _by_hand(judge, ratings)
    assert found.judge.estimate == pytest.approx(of_judge)
    assert found.raters.estimate == pytest.approx(of_raters)
    assert found.gap.estimate == pytest.approx(of_judge - of_raters)


def test_the_interval_leaves_out_items_on_fishers_z() -> None:
    judge, ratings = _drawn(60, 2)
    items = np.repeat(np.arange(20), 3)
    found = panel_correlation(judge, ratings, clusters=items, confidence_level=0.9).judge
    without = np.array([_by_hand(judge[items != one], ratings[items != one])[0] for one in range(20)])
    error = np.sqrt(19 / 20 * ((without - without.mean()) ** 2).sum())
    observed = found.estimate
    assert observed is not None
    reach = student.ppf(0.95, 19) * error / (1 - observed**2)
    assert (found.low, found.high) == pytest.approx(
        (np.tanh(np.arctanh(observed) - reach), np.tanh(np.arctanh(observed) + reach))
    )
    assert (found.n, found.n_clusters) == (60, 20)


def test_missing_ratings_weight_raters_by_their_texts() -> None:
    judge, ratings = _drawn(50, 3)
    ratings[30:, 2] = np.nan
    found = panel_correlation(judge, ratings)
    some = ratings[:30]
    first, second = (
        spearmanr(judge, np.nanmean(np.delete(ratings, at, axis=1), axis=1)).statistic for at in (0, 1)
    )
    third = spearmanr(judge[:30], some[:, :2].mean(axis=1)).statistic
    assert found.judge.estimate == pytest.approx((50 * first + 50 * second + 30 * third) / 130)


def test_one_rater_has_no_ceiling() -> None:
    judge, ratings = _drawn(30, 4)
    found = panel_correlation(judge, ratings[:, :1])
    assert found.judge.estimate == pytest.approx(spearmanr(judge, ratings[:, 0]).statistic)
    assert (found.raters.estimate, found.raters.reason) == (None, NO_OTHERS)
    assert found.gap.estimate is None


def test_undefined() -> None:
    judge, ratings = _drawn(30, 5)
    assert panel_correlation(np.ones(30), ratings).judge.reason == UNDEFINED
    assert panel_correlation(judge[:1], ratings[:1]).judge.estimate is None
    assert panel_correlation(judge, ratings[:, [0, 0]]).raters.interval_reason is not None
    assert panel_correlation(np.full(30, np.nan), ratings).judge.estimate is None


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rho"), [(30, 0.0), (30, 0.6), (100, 0.9)])
def test_coverage(n: int, rho: float) -> None:
    """Judge and one rater are binormal with Pearson's rho, so Spearman's is 6 / pi asin(rho / 2)."""
    truth, covered = 6 / np.pi * np.arcsin(rho / 2), 0
    for seed in range(400):
        rng = np.random.default_rng([seed, n])
        judge = rng.normal(size=n)
        rater = rho * judge + np.sqrt(1 - rho**2) * rng.normal(size=n)
        found = panel_correlation(judge, rater[:, None], confidence_level=0.9).judge
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert 0.855 < covered / 400 < 0.95


def test_agresti_and_mins_interval_of_paired_passes() -> None:
    """Agresti and Min 2005: 1/2 more in each cell. Agresti (2002), table 10.1: 1,600 voters, 150 and 86 of whom changed."""
    differences = np.repeat([0.0, -1.0, 1.0], [794 + 570, 150, 86])
    found = agresti_min_mean(differences)
    total = 1602
    middle = (86 - 150) / total
    error = np.sqrt((150 + 86 + 1) - (150 - 86) ** 2 / total) / total
    assert (found.low, found.high) == pytest.approx(
        (middle - norm.ppf(0.975) * error, middle + norm.ppf(0.975) * error), abs=2e-5
    )
    assert found.estimate == pytest.approx(-0.04)
    assert (round(found.low or 0, 3), round(found.high or 0, 3)) == (-0.059, -0.021)


def test_nothing_varies_and_the_interval_has_a_width() -> None:
    found = agresti_min_mean(np.zeros(98))
    reach = student.ppf(0.975, 99) / 100
    assert (found.low, found.high) == pytest.approx((-reach, reach))
    narrow = agresti_min_mean(np.zeros(98), largest=0.25)
    assert (narrow.low, narrow.high) == pytest.approx((-reach / 4, reach / 4))


def test_a_share_of_single_texts_is_wilsons() -> None:
    """Jackknife and Wilson differ by t for z and by n - 1 for n."""
    from statsmodels.stats.proportion import proportion_confint

    found = mean_share(np.repeat([1.0, 0.0], [450, 50]))
    assert (found.low, found.high) == pytest.approx(proportion_confint(450, 500, method="wilson"), abs=2e-3)
    everything = mean_share(np.ones(50))
    assert everything.high == 1
    squared = student.ppf(0.975, 49) ** 2
    assert everything.low == pytest.approx(50 / (50 + squared))
