import pytest
from scipy.stats import binom

from core.stats.votes import position_bias


def test_fourteen_votes_of_which_ten_on_one_side():
    """By hand: p is 2 * (1001 + 364 + 91 + 14 + 1) / 2**14. The interval by its definition: each end leaves 2.5 %."""
    found = position_bias(10, 4)
    assert (found.n, found.left, found.right) == (14, 10, 4)
    assert found.share_left == pytest.approx(10 / 14)
    assert found.p == pytest.approx(2 * 1471 / 2**14)
    assert binom(14, found.low).sf(9) == pytest.approx(0.025)
    assert binom(14, found.high).cdf(10) == pytest.approx(0.025)


def test_all_on_one_side():
    """By hand: p = 2 / 2**5, upper end 1, lower end 0.025 ** (1 / 5)."""
    found = position_bias(5, 0)
    assert found.p == pytest.approx(2 / 32)
    assert (found.low, found.high) == pytest.approx((0.025**0.2, 1))


def test_sides_are_mirror_images():
    one, other = position_bias(3, 9), position_bias(9, 3)
    assert one.p == pytest.approx(other.p)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))


def test_no_choice_of_a_side():
    found = position_bias(0, 0)
    assert (found.n, found.share_left, found.low, found.high, found.p) == (0, None, None, None, None)
    assert found.reason == "no choice of a side"


def test_counts_are_not_negative():
    with pytest.raises(ValueError, match="negative"):
        position_bias(-1, 2)
