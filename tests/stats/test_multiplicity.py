"""Corrected p-values, by hand."""

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from core.stats.multiplicity import corrected, interval_p


def test_holm_by_hand():
    """.005 times 4, .01 times 3, .03 times 2, and .04 is held up by the one before."""
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected([0.5, 0.4, 0.9]) == [1, 1, 1]
    assert corrected([0.02]) == [0.02]


def test_benjamini_hochberg_by_hand():
    """.04 times 4/4; .03 times 4/3 and .01 times 4/2 reach no higher; .005 times 4."""
    assert corrected([0.01, 0.04, 0.03, 0.005], "benjamini-hochberg") == pytest.approx(
        [0.02, 0.04, 0.04, 0.02]
    )


def test_benjamini_yekutieli_pays_the_harmonic_sum():
    """1 + 1/2 + 1/3 = 11/6 times Benjamini and Hochberg's."""
    p = [0.001, 0.02, 0.03]
    paid = [11 / 6 * one for one in corrected(p, "benjamini-hochberg")]
    assert corrected(p, "benjamini-yekutieli") == pytest.approx(paid)


def test_tests_without_a_p_do_not_count():
    assert corrected([None, 0.02, None, 0.01]) == [None, pytest.approx(0.02), None, pytest.approx(0.02)]
    assert corrected([None]) == [None]
    assert corrected([]) == []


def test_a_p_from_an_interval_by_hand() -> None:
    """0.3 with the nearer end at 0.1 is 0.3 / (0.2 / 1.96) = 2.94 standard errors from 0: p = .0033."""
    assert interval_p(0.3, 0.1, 0.4) == pytest.approx(2 * norm.sf(2.94), abs=1e-4)
    assert interval_p(-0.3, -0.4, -0.1) == interval_p(0.3, 0.1, 0.4)
    assert interval_p(0.8, 0.6, 0.9, null=0.5) == pytest.approx(interval_p(0.3, 0.1, 0.4))


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_p_of_an_interval_says_what_the_interval_says(level: float) -> None:
    for estimate, low, high in (
        (0.2, 0.01, 0.9),
        (0.2, -0.01, 0.3),
        (-0.2, -0.5, -0.01),
        (-0.2, -0.21, 0.01),
    ):
        p = interval_p(estimate, low, high, confidence_level=level)
        assert (p < 1 - level) == (low > 0 or high < 0)
    assert interval_p(0.2, 0.0, 0.3, confidence_level=level) == pytest.approx(1 - level)


def test_the_p_of_a_normal_mean_is_that_of_its_z_test() -> None:
    for z in (0.3, 1.5, 3.2):
        assert interval_p(z, z - 1.959964, z + 1.959964) == pytest.approx(2 * norm.sf(z), rel=1e-5)


def test_without_an_interval_or_its_width_there_is_no_p() -> None:
    assert interval_p(None, None, None) is None
    assert interval_p(0.2, None, None) is None
    assert interval_p(1.0, 1.0, 1.0) is None
    assert interval_p(1.0, 1.0, 1.2) is None
    assert interval_p(0.0, -0.1, 0.2) == 1


@pytest.mark.parametrize("correction", ["holm", "benjamini-hochberg", "benjamini-yekutieli"])
def test_corrections_are_those_of_statsmodels(correction):
    names = {"holm": "holm", "benjamini-hochberg": "fdr_bh", "benjamini-yekutieli": "fdr_by"}
    rng = np.random.default_rng(3)
    for n in (2, 7, 40):
        p = np.round(rng.random(n) ** 3, 2)  # with ties
        assert corrected(p.tolist(), correction) == pytest.approx(
            multipletests(p, method=names[correction])[1]
        )
