import numpy as np
import pytest
from scipy.stats import binom, t
from statsmodels.stats.contingency_tables import mcnemar

from core.stats.votes import NO_LEANING, NO_SIDE, first_place, position_bias


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


def test_one_verdict_a_pair_is_the_position_bias_of_a_rater():
    one = first_place([1] * 10 + [0] * 4 + [0], [0] * 10 + [1] * 4 + [0])
    rater = position_bias(10, 4)
    assert (one.first, one.second, one.n_first, one.n_second) == (10, 4, 10, 4)
    assert (one.share_first.estimate, one.p) == (rater.share_left, rater.p)
    assert (one.share_first.n, one.share_first.n_left_out) == (14, 1)
    assert one.share_first.low < rater.share_left < one.share_first.high


def test_both_orders_are_tested_by_the_pairs_that_follow_the_place():
    """Ten pairs twice for the first, two twice for the second, 88 once for each: McNemar's exact test of 10 against 2."""
    first = [2] * 10 + [0] * 2 + [1] * 88
    second = [0] * 10 + [2] * 2 + [1] * 88
    found = first_place(first, second)
    assert (found.first, found.second) == (108, 92)
    assert found.share_first.estimate == pytest.approx(0.54)
    exact = mcnemar([[0, 10], [2, 0]], exact=True)
    assert found.p == pytest.approx(exact.pvalue)
    assert position_bias(108, 92).p > 0.25, "counted one by one, the same verdicts show nothing"
    # Agresti and Min: half a pair more at either end, one at 0.
    leaning = np.array([1.0] * 10 + [-1.0] * 2 + [0.0] * 88)
    middle = leaning.sum() / 102
    error = (((leaning - middle) ** 2).sum() + 1 + 2 * middle**2) ** 0.5 / 102
    assert found.share_first.high == pytest.approx((1 + middle + t.ppf(0.975, 101) * error) / 2)


def test_repeats_and_ties_weigh_no_more_than_one_verdict():
    """One pair asked 100 times is one pair; one with a tie and a verdict leans wholly to its place."""
    found = first_place([100, 1, 0], [0, 0, 1])
    assert (found.n_first, found.n_second) == (2, 1)
    assert found.share_first.estimate == pytest.approx(2 / 3)


def test_a_place_that_nobody_prefers():
    ties, kept = first_place([0, 0], [0, 0]), first_place([1, 1], [1, 1])
    assert (ties.share_first.estimate, ties.p, ties.reason) == (None, None, NO_SIDE)
    assert (kept.share_first.estimate, kept.p, kept.reason) == (0.5, None, NO_LEANING)
    assert kept.share_first.low < 0.5 < kept.share_first.high
    with pytest.raises(ValueError, match="negative"):
        first_place([-1], [1])
    with pytest.raises(ValueError, match="shape"):
        first_place([1, 2], [1])


def test_the_interval_of_the_share_covers_a_biased_judge():
    """Both orders, six pairs a question: the place decides some pairs, the text the others. Nominal 95 %."""
    rng, hits, accused = np.random.default_rng(5), 0, 0
    items = np.repeat(np.arange(20), 6)
    for _ in range(200):
        follows = rng.random(120) < rng.beta(2, 8, 20)[items]
        place = np.where(rng.random(120) < 0.7, 2, 0)
        first = np.where(follows, place, 1)
        found = first_place(first, 2 - first, items)
        hits += found.share_first.low <= 0.54 <= found.share_first.high
        fair = np.where(follows, np.where(rng.random(120) < 0.5, 2, 0), 1)
        fair_p = first_place(fair, 2 - fair, items).p
        accused += fair_p is not None and fair_p < 0.05
    assert 0.94 < hits / 200 < 0.99
    assert accused / 200 < 0.07


def test_pairs_of_one_item_are_no_independent_evidence():
    """Forty questions of five pairs, each of which leans wholly to one place; which, a coin decides. Nominal 5 %."""
    rng, accused = np.random.default_rng(6), 0
    items = np.repeat(np.arange(40), 5)
    for _ in range(100):
        place = np.repeat(rng.choice([0, 2], 40), 5)
        first = np.where(rng.random(200) < 0.3, place, 1)
        p = first_place(first, 2 - first, items).p
        accused += p is not None and p <= 0.05
    assert accused / 100 <= 0.1, "counting pairs accuses 16 %"
    one = first_place([2] * 100, [0] * 100, np.zeros(100))
    assert one.p == 1.0, "one question shows nothing, however many pairs it has"
    five = first_place([2] * 10, [0] * 10, np.repeat(np.arange(5), 2))
    assert five.p == pytest.approx(2 / 2**5)
