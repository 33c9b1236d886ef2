"""Corrected p-values, by hand."""

import pytest

from core.stats.multiplicity import corrected


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
