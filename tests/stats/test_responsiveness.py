"""Responsiveness: by hand, by brute force, and what must not change it."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from core.stats.responsiveness import FEWEST_MEANS, responsiveness

Values = NDArray[np.float64]


def seen(n: int, raters: int, seed: int = 0, slope: float = 0.6) -> tuple[Values, Values]:
    """A judge with a slope, and raters, of one quality with noise."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    return slope * quality + 0.3 * rng.normal(size=n), quality[:, None] + 0.5 * rng.normal(size=(n, raters))


def found(judge: Values, votes: Values, **more: object):
    return responsiveness(judge, votes, least=0.75, most=1.25, **more)  # type: ignore[arg-type]


def covariances(judge: Values, votes: Values) -> tuple[float, float]:
    """Judge with rater and rater with rater, averaged over pairs of raters of the same texts: from numpy."""
    pairs = list(combinations(range(votes.shape[1]), 2))
    of_judge = [np.cov(judge, votes[:, at])[0, 1] for pair in pairs for at in pair]
    return float(np.mean(of_judge)), float(
        np.mean([np.cov(votes[:, i], votes[:, j])[0, 1] for i, j in pairs])
    )


def test_four_texts_by_hand() -> None:
    """Raters 1 2 3 4 and 2 2 4 4, judge 2 2 3 3: cov with the raters .667 and .667, of the raters 1.333."""
    votes = np.array([[1.0, 2], [2, 2], [3, 4], [4, 4]])
    one = found(np.array([2.0, 2, 3, 3]), votes)
    # Deviations -1.5 -.5 .5 1.5, -1 -1 1 1 and -.5 -.5 .5 .5: products over 3 are 2/3, 2/3 and 4/3.
    assert one.judge == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert one.people == pytest.approx(4 / 3)
    assert one.estimate.estimate == pytest.approx(0.5)


def test_covariances_are_those_of_every_pair_and_the_jackknife_is_exact() -> None:
    judge, votes = seen(40, 3)
    one = found(judge, votes)
    assert (one.judge, one.people) == pytest.approx(covariances(judge, votes))
    without = np.array([covariances(np.delete(judge, at), np.delete(votes, at, 0)) for at in range(40)])
    spread = 39 / 40 * ((without - without.mean(axis=0)).T @ (without - without.mean(axis=0)))
    moved = 39 / 40 * (without.mean(axis=0) - without)
    spread[0, 0] += 0.5 * np.abs(moved[:, 1]).max() ** 2  # half an item more that the judge misses
    from scipy.stats import t

    for limit, sides in ((0.75, one.least), (1.25, one.most)):
        v = np.array([1, -limit])
        statistic = (one.judge - limit * one.people) / (v @ spread @ v) ** 0.5
        assert sides.above == pytest.approx(t.sf(statistic, 39))
        assert sides.below == pytest.approx(t.cdf(statistic, 39))


def test_the_interval_holds_the_limits_that_the_test_does_not_reject() -> None:
    judge, votes = seen(60, 3)
    one = found(judge, votes, confidence_level=0.9)
    for end, side in ((one.estimate.low, "above"), (one.estimate.high, "below")):
        at_end = responsiveness(judge, votes, least=end, most=9)
        assert getattr(at_end.least, side) == pytest.approx(0.05)


def test_the_slope_is_found_whatever_the_noise_and_severity() -> None:
    judge, votes = seen(4_000, 3, slope=0.6)
    rng = np.random.default_rng(5)
    for noisier in (votes, votes + rng.normal(size=votes.shape), votes + np.array([-2.0, 0, 2])):
        estimate = found(judge, noisier).estimate.estimate
        assert estimate == pytest.approx(0.6, abs=0.05)
    # Two of four raters, who differ, rated each text: pairs are centred on their own texts.
    judge, votes = seen(4_000, 4, slope=0.6)
    votes = votes + np.array([-1.5, -0.5, 0.5, 1.5])
    votes[np.argsort(rng.random(votes.shape), axis=1) >= 2] = np.nan
    assert found(judge, votes).estimate.estimate == pytest.approx(0.6, abs=0.05)


def test_one_rater_gives_a_lower_number() -> None:
    judge, votes = seen(4_000, 1, slope=0.6)
    one = found(judge, votes)
    assert one.of_one_rater
    # The rater's variance is 1 + .25, so that the slope .6 looks like .48.
    assert one.estimate.estimate == pytest.approx(0.48, abs=0.05)


def test_other_units_scale_it_and_shifts_do_not() -> None:
    judge, votes = seen(80, 3)
    one = found(judge, votes).estimate.estimate
    assert found(judge + 7, votes - 3).estimate.estimate == pytest.approx(one)
    assert found(2 * judge, votes).estimate.estimate == pytest.approx(2 * one)
    assert found(judge, votes[:, ::-1]).estimate.estimate == pytest.approx(one)


def test_copies_of_a_row_in_one_item_change_nothing_but_the_weight() -> None:
    judge, votes = seen(50, 2)
    twice = found(np.tile(judge, 2), np.tile(votes, (2, 1)), clusters=np.tile(np.arange(50), 2))
    once = found(judge, votes)
    assert twice.estimate.n_clusters == 50
    assert twice.estimate.estimate == pytest.approx(once.estimate.estimate)
    assert twice.least.below == pytest.approx(once.least.below, abs=0.01)
    weighted = found(judge, votes, weights=np.where(np.arange(50) < 25, 1.0, 3.0))
    repeated = np.r_[np.arange(50), np.tile(np.arange(25, 50), 2)]
    again = found(judge[repeated], votes[repeated])
    assert weighted.estimate.estimate == pytest.approx(again.estimate.estimate, abs=1e-9)


def test_means_of_groups_are_compared_from_ten_on() -> None:
    judge, votes = seen(12 * 20, 2)
    groups = np.repeat(np.arange(12), 20)
    one = found(judge, votes, groups=groups)
    means = (
        np.array([judge[groups == at].mean() for at in range(12)]),
        np.array([votes[groups == at].mean(axis=0) for at in range(12)]),
    )
    assert one.of_groups
    assert one.estimate.n_clusters == 12
    assert (one.judge, one.people) == pytest.approx(covariances(*means))
    few = found(judge, votes, groups=np.minimum(groups, FEWEST_MEANS - 2))
    assert not few.of_groups


@pytest.mark.parametrize("n", [0, 1, 2])
def test_nothing_is_shown_by_nothing(n: int) -> None:
    judge, votes = seen(n, 2)
    one = found(judge, votes)
    assert one.least.above is None or one.least.above > 0.05
    constant = found(np.ones(30), np.ones((30, 2)))
    assert constant.estimate.estimate is None
    assert constant.estimate.reason
    assert constant.least.above is None
