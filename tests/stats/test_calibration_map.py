"""Calibration maps: hand calculations, scikit-learn and statsmodels, known truths, simulation."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from core.stats.calibration import (
    NoFit,
    calibrated,
    calibration_error,
    calibration_map,
    isotonic_knots,
    linear_map,
    ordinal_map,
    reliability_bins,
)


def simulated(rng, n_items=80, per_item=5):
    """People say 0, 1 or 2 of a hidden quality, with noise of their own; the judge gives it a number from 0 to 100, too high."""
    items = np.repeat(np.arange(n_items), per_item)
    quality = rng.normal(size=items.size) + rng.normal(size=n_items)[items] / 2
    human = np.digitize(quality + rng.normal(size=items.size) / 2, [-0.5, 0.5]).astype(float)
    judge = np.clip(75 + 8 * quality + rng.normal(size=items.size) * 4, 0, 100)
    return judge, human, items


def test_isotonic_map_is_scikit_learns():
    rng = np.random.default_rng(0)
    judge, human = rng.integers(0, 15, 200).astype(float), rng.integers(0, 3, 200).astype(float)
    judge[:100] += human[:100] * 5
    theirs = IsotonicRegression(out_of_bounds="clip").fit(judge, human)
    at = np.linspace(-3, 30, 100)
    assert linear_map(isotonic_knots(judge, human))(at) == pytest.approx(theirs.predict(at), abs=1e-12)


def test_isotonic_map_by_hand():
    """2 and 1 pool to 1.5; equal scores 4 and 4 get the mean of 2 and 3."""
    at, values = isotonic_knots(np.array([1.0, 2, 3, 4, 4]), np.array([0.0, 2, 1, 2, 3]))
    assert at.tolist() == [1, 2, 3, 4]
    assert values.tolist() == [0, 1.5, 1.5, 2.5]
    knots = tuple(zip(at, values, strict=True))
    assert calibrated(knots, [0, 1.5, 2.5, 9]).tolist() == [0, 0.75, 1.5, 2.5]
    assert np.isnan(calibrated(knots, [np.nan])).all()


def test_ordinal_map_finds_the_odds_that_made_the_classes():
    rng = np.random.default_rng(1)
    judge = rng.uniform(0, 10, 20_000)
    latent = 0.8 * judge + rng.logistic(size=judge.size)
    human = np.select([latent < 2, latent < 5], [0.0, 1.0], 3.0)  # unequal steps
    at = np.array([0.0, 2.5, 5.0, 10.0])
    expected = expit(0.8 * at - 2) + 2 * expit(0.8 * at - 5)
    assert ordinal_map(judge, human)(at) == pytest.approx(expected, abs=0.03)


def test_ordinal_map_says_why_it_cannot_be_fitted():
    ten = np.arange(10.0)
    with pytest.raises(NoFit, match="the same score"):
        ordinal_map(np.ones(10), ten)
    with pytest.raises(NoFit, match="30 different human scores"):
        ordinal_map(np.arange(30.0), np.arange(30.0))
    with pytest.raises(NoFit, match="1 different"):
        ordinal_map(ten, np.ones(10))


@pytest.mark.parametrize("method", ["isotonic", "ordinal"])
def test_a_judge_that_is_too_generous_becomes_calibrated(method):
    judge, human, items = simulated(np.random.default_rng(2))
    found = calibration_map(
        judge, human, items, method=method, judge_scale=(0, 100), human_scale=(0, 2), n_resamples=500
    )
    assert (found.method, found.fallback, found.reason, found.notes) == (method, None, None, ())
    assert (found.n, found.n_clusters, found.n_folds, found.n_left_out) == (400, 80, 5, 0)
    assert found.error_before.estimate == pytest.approx(np.abs(judge / 50 - human).mean())
    assert found.error_after.estimate == pytest.approx(np.abs(found.predicted - human).mean())
    assert found.error_after.high < found.error_before.low
    assert found.gain.low > 0
    assert found.gain.estimate == pytest.approx(found.error_of_mean.estimate - found.error_after.estimate)
    assert found.calibration_error_after.high < found.calibration_error_before.low
    assert sum(each.human.n for each in found.after) == sum(each.human.n for each in found.before) == 400
    assert np.abs(calibrated(found.knots, judge) - found.predicted).mean() < 0.1


def test_no_text_is_predicted_by_a_map_that_saw_its_item():
    """One item is unlike all others: its texts must be predicted from the others alone."""
    judge = np.tile([1.0, 2.0], 6)
    human = np.tile([0.0, 1.0], 6)
    human[:2] = [50, 100]
    items = np.repeat(list("abcdef"), 2)
    found = calibration_map(judge, human, items, n_folds=6, n_resamples=0)
    assert found.predicted[:2].tolist() == [0, 1]
    assert all(len(set(found.folds[items == name])) == 1 for name in "abcdef")
    assert sorted(found.folds[::2]) == list(range(6))
    assert found.gain.estimate == pytest.approx(
        np.mean(np.abs(np.where(np.arange(12) < 2, 0.5, 154 / 10) - human)) - found.error_after.estimate
    )


def test_folds_and_predictions_do_not_depend_on_the_order_of_rows():
    judge, human, items = simulated(np.random.default_rng(3), n_items=12)
    judge[4] = np.nan
    order = np.random.default_rng(4).permutation(judge.size)
    straight = calibration_map(judge, human, items, n_resamples=0, rng=7)
    mixed = calibration_map(judge[order], human[order], items[order], n_resamples=0, rng=7)
    assert mixed.predicted == pytest.approx(straight.predicted[order], nan_ok=True)
    assert (straight.folds[4], straight.n_left_out) == (-1, 1)
    assert (calibration_map(judge, human, items, n_resamples=0, rng=8).folds != straight.folds).any()


def test_a_constant_judge_knows_nothing_and_is_told_so():
    rng = np.random.default_rng(5)
    for method in ("isotonic", "ordinal"):
        found = calibration_map(np.full(60, 7.0), rng.integers(0, 3, 60), method=method, n_resamples=100)
        assert found.notes == (
            "the judge gives every text the same score, so the map can only return the mean human score",
        )
        assert found.method == "isotonic"
        assert (found.gain.estimate, len(found.knots), len(found.before)) == (0, 1, 1)
    assert found.fallback == "isotonic in place of ordinal: the judge gives every text the same score"


def test_a_judge_against_people_is_flat_or_falls():
    judge, human, items = simulated(np.random.default_rng(6))
    flat = calibration_map(-judge, human, items, n_resamples=100)
    falls = calibration_map(-judge, human, items, method="ordinal", n_resamples=100)
    assert flat.notes == ("the map is flat: human scores do not rise with the judge's scores",)
    assert falls.notes == ("the map falls: human scores fall as the judge's scores rise",)
    assert (flat.gain.estimate, flat.gain.low, flat.gain.high) == (0, 0, 0)
    assert falls.gain.low > 0


def test_too_little_is_undefined_and_says_why():
    none, one = calibration_map([np.nan], [1]), calibration_map([1, 2, 3], [1, 2, 3], ["a"] * 3)
    assert none.reason == "no text has both scores"
    assert one.reason == "fewer than two items: none is left to test the map on"
    for found in (none, one):
        assert (found.knots, found.before, found.after) == ((), (), ())
        assert {each.reason for each in (found.gain, found.error_after, found.calibration_error_after)} == {
            found.reason
        }
        assert np.isnan(found.predicted).all()
    few = calibration_map([1, 2, 3], [1, 2, 3], n_resamples=0)
    assert (few.n_folds, few.notes) == (3, ("3 folds instead of 5, because there are only 3 items",))


def test_scales_that_cannot_be_compared():
    judge, human, items = simulated(np.random.default_rng(7), n_items=10)
    found = calibration_map(judge, human, items, comparable=False, n_resamples=50)
    for each in (found.error_before, found.calibration_error_before):
        assert (each.estimate, each.reason) == (None, "the judge's scores are not on the human scale")
    assert found.error_after.estimate is not None
    assert found.before[0].mean_score > 20


def test_input_that_cannot_be():
    with pytest.raises(ValueError, match=r"one shape \(n,\)"):
        calibration_map([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="infinity"):
        calibration_map([1, np.inf], [1, 2])
    with pytest.raises(ValueError, match="n_folds must be at least 2"):
        calibration_map([1, 2], [1, 2], n_folds=1)
    with pytest.raises(ValueError, match="a larger highest"):
        calibration_map([1, 2], [1, 2], judge_scale=(1, 1), human_scale=(0, 1))
    with pytest.raises(ValueError, match='"isotonic" or "ordinal"'):
        calibration_map([1, 2], [1, 2], method="platt")


def test_bins_and_calibration_error_by_hand():
    scores, human = np.array([1.0, 1, 2, 2, 3]), np.array([1.0, 2, 2, 1, 5])
    bins, place = reliability_bins(scores, human, np.arange(5), n_bins=3, n_resamples=50)
    assert [(each.low, each.high, each.human.estimate, each.human.n) for each in bins] == [
        (1, 1, 1.5, 2),
        (2, 2, 1.5, 2),
        (3, 3, 5, 1),
    ]
    error = calibration_error(scores, human, place, np.arange(5), n_resamples=50)
    assert error.estimate == pytest.approx((2 * 0.5 + 2 * 0.5 + 2) / 5)
    wide, _ = reliability_bins(np.arange(100.0), np.arange(100.0), np.arange(100), n_bins=4, n_resamples=0)
    assert [each.human.n for each in wide] == [25, 25, 25, 25]
    tied, _ = reliability_bins(
        np.array([0.0] * 50 + [1, 2, 3]), np.zeros(53), np.arange(53), n_bins=2, n_resamples=0
    )
    assert [(each.low, each.high, each.human.n) for each in tied] == [(0, 0, 50), (1, 3, 3)]


@pytest.mark.slow
def test_gain_of_a_judge_that_knows_nothing_is_not_found():
    """Cross-validated: fitting noise makes the error larger, so the gain is rarely above 0, though the map bends to noise."""
    rng = np.random.default_rng(8)
    found, fitted = 0, 0.0
    for _ in range(200):
        judge, (_, human, items) = rng.normal(size=200), simulated(rng, n_items=40)
        result = calibration_map(judge, human, items, n_resamples=300, rng=rng)
        found += result.gain.low > 0
        fitted += np.abs(human - human.mean()).mean() - np.abs(calibrated(result.knots, judge) - human).mean()
    assert found / 200 <= 0.05
    assert fitted / 200 > 0


@pytest.mark.slow
def test_interval_of_the_error_covers_that_of_the_maps_on_new_items():
    rng = np.random.default_rng(9)
    new_judge, new_human, _ = simulated(rng, n_items=4000)
    covered = 0
    for _ in range(150):
        result = calibration_map(*simulated(rng), n_resamples=300, rng=rng)
        truth = np.abs(calibrated(result.knots, new_judge) - new_human).mean()
        covered += result.error_after.low <= truth <= result.error_after.high
    assert covered / 150 >= 0.88
