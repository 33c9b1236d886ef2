"""Alphas of ordered categories and of numbers: Krippendorff's own example, another implementation, and what must hold."""

import krippendorff
import numpy as np
import pytest

from core.stats.agreement import ALL_ALIKE, NO_PAIRS, interval_alpha, krippendorff_alpha, ordinal_alpha

NAN = np.nan
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
"""Krippendorff (2011), section C: 4 observers, 12 units; nominal .743, ordinal .815, interval .849."""


def codes(ratings: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(ratings), -1, ratings - 1).astype(int)


def test_the_published_example() -> None:
    votes = codes(PUBLISHED)
    assert krippendorff_alpha(votes, n_categories=5, n_resamples=0).estimate == pytest.approx(0.743, abs=5e-4)
    ordinal = ordinal_alpha(votes, n_categories=5, n_resamples=0)
    interval = interval_alpha(PUBLISHED, n_resamples=0)
    assert ordinal.estimate == pytest.approx(0.815, abs=5e-4)
    assert interval.estimate == pytest.approx(0.849, abs=5e-4)
    assert (ordinal.n, ordinal.n_left_out) == (interval.n, interval.n_left_out) == (11, 1)


def test_another_implementation_gives_the_same() -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        votes = rng.integers(-1, 4, size=(30, 4))
        ratings = np.where(votes < 0, NAN, votes * 1.0)
        for level, found in (
            ("ordinal", ordinal_alpha(votes, n_categories=6, n_resamples=0)),
            ("interval", interval_alpha(ratings * 7 - 300, n_resamples=0)),
        ):
            theirs = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=level)
            assert found.estimate == pytest.approx(theirs, abs=1e-12)


def test_with_two_categories_all_three_are_one() -> None:
    votes = np.random.default_rng(1).integers(-1, 2, size=(40, 3))
    nominal = krippendorff_alpha(votes, n_categories=2, n_resamples=200)
    ordinal = ordinal_alpha(votes, n_categories=2, n_resamples=200)
    interval = interval_alpha(np.where(votes < 0, NAN, votes), n_resamples=200)
    assert ordinal.estimate == pytest.approx(nominal.estimate)
    assert interval.estimate == pytest.approx(nominal.estimate)
    assert ordinal.low < ordinal.estimate < ordinal.high


def test_undefined_with_its_reason() -> None:
    for found in (
        ordinal_alpha([[1, 1], [1, 1]], n_categories=3),
        interval_alpha([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]]),
    ):
        assert (found.estimate, found.reason) == (None, ALL_ALIKE)
    for found in (ordinal_alpha([[1, -1], [0, -1]], n_categories=3), interval_alpha([[1, NAN], [2, NAN]])):
        assert (found.estimate, found.reason, found.n_left_out) == (None, NO_PAIRS, 2)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        interval_alpha([1.0, 2.0])
    with pytest.raises(ValueError, match="infinity"):
        interval_alpha([[1.0, np.inf]])
    with pytest.raises(ValueError, match="clusters"):
        ordinal_alpha([[0, 1]], clusters=[1, 2], n_categories=2)
