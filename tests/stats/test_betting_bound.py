"""The betting bound against its definition and against exact enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.stats.betting_bound import growth, log_capital, lower_bound_betting

MEANS = st.lists(st.floats(-1, 1), min_size=1, max_size=30)


def capital(means, threshold):
    return np.exp(log_capital(growth(means, threshold).sum(axis=0)))


def test_capital_by_hand():
    """Means 0.5 and -0.5 against -0.1: gains of 2/3 and -4/9 of the stake."""
    by_stake = [(1 + stake * 2 / 3) * (1 - stake * 4 / 9) for stake in (0.9, 0.5, 0.2)]
    assert capital([0.5, -0.5], -0.1) == pytest.approx(np.dot(by_stake, [0.9, 0.05, 0.05]))
    assert capital([0.5, -0.5], -0.1) == pytest.approx(0.967481, abs=1e-6)


def test_a_lost_question_loses_the_stakes():
    assert capital([-1], -0.1) == pytest.approx(0.9 * 0.1 + 0.05 * 0.5 + 0.05 * 0.8)


@pytest.mark.parametrize("values", [[-1, 0, 1], [-1, -0.25, 0.5], [-1, 0]])
def test_on_the_threshold_the_capital_neither_grows_nor_shrinks_on_average(values):
    """Exact expectation over all outcomes of 4 questions, for shares whose mean is the threshold."""
    shares = np.full(len(values), 1 / len(values))
    threshold = float(np.dot(shares, values))
    expected = sum(
        np.prod(shares[list(drawn)]) * capital(np.array(values)[list(drawn)], threshold)
        for drawn in product(range(len(values)), repeat=4)
    )
    assert expected == pytest.approx(1)


@pytest.mark.parametrize("n", [5, 12, 25, 60])
@pytest.mark.parametrize("loss", [0.1, 0.15, 0.3])
def test_the_bound_exceeds_the_true_mean_in_at_most_one_study_in_ten(n, loss):
    """Exact: the probability of every composition of n questions with mean score -0.1."""
    win = loss - 0.1
    exceeded = 0.0
    for lost in range(n + 1):
        for won in range(n - lost + 1):
            means = np.repeat([-1, 1, 0], [lost, won, n - lost - won])
            if capital(means, -0.1) >= 10:
                exceeded += stats.multinomial.pmf([lost, won, n - lost - won], n, [loss, win, 1 - loss - win])
    assert exceeded <= 0.1


@pytest.mark.parametrize(("level", "n"), [(0.90, 25), (0.95, 33)])
def test_questions_of_score_0_that_exclude_a_margin_of_a_tenth(level, n):
    assert lower_bound_betting(np.zeros(n), level) > -0.1
    assert lower_bound_betting(np.zeros(n - 1), level) < -0.1


@settings(max_examples=60, deadline=None)
@given(MEANS)
def test_at_the_bound_the_capital_is_just_what_is_needed(means):
    bound = lower_bound_betting(means, 0.9)
    assert -1 <= bound <= max(means)
    if bound > -1 + 1e-6:
        assert capital(means, bound) == pytest.approx(10, rel=1e-3)
        assert capital(means, bound + 1e-3) < 10


@settings(max_examples=40, deadline=None)
@given(MEANS, st.randoms())
def test_order_does_not_matter_and_a_higher_level_never_raises_it(means, random):
    bound = lower_bound_betting(means, 0.9)
    random.shuffle(means)
    assert lower_bound_betting(means, 0.9) == pytest.approx(bound, abs=1e-9)
    assert lower_bound_betting(means, 0.95) <= bound + 1e-9


def test_a_candidate_that_always_loses_or_always_wins():
    assert lower_bound_betting([-1] * 50) == -1
    assert 0.8 < lower_bound_betting([1] * 50) < 1


@pytest.mark.parametrize("means", [[], [[0.5]], [1.1], [np.nan]])
def test_misuse_is_an_error(means):
    with pytest.raises(ValueError, match="means must"):
        lower_bound_betting(means)
