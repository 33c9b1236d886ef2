"""Gaffke's bound against its definition, against Clopper and Pearson, and its exact error."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln

from core.stats.non_inferiority import chance_not_above, lower_bound_gaffke

MEANS = st.lists(st.floats(-1, 1), min_size=1, max_size=30)


@pytest.mark.parametrize("n", [1, 2, 22, 500])
def test_the_chance_where_nothing_was_lost_or_won(n):
    """By hand: the added question's weight exceeds nine times that of n others with chance 0.9 to the n."""
    assert chance_not_above([0.0], [n], -0.1) == pytest.approx(0.9**n, abs=1e-9)


@pytest.mark.parametrize(("lost", "n"), [(0, 5), (1, 5), (3, 20), (30, 400), (7, 8)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_on_two_scores_it_is_the_bound_of_clopper_and_pearson(lost, n, level):
    means = np.repeat([-1, 0], [lost, n - lost])
    expected = -stats.beta.ppf(level, lost + 1, n - lost)
    assert lower_bound_gaffke(means, level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [1, 3, 10, 60])
def test_it_is_the_quantile_of_weighted_means_with_one_question_more_that_was_lost(n):
    rng = np.random.default_rng(n)
    means = rng.uniform(-1, 1, n)
    weights = rng.standard_exponential((100_000, n + 1))
    drawn = (weights @ np.append(means, -1)) / weights.sum(axis=1)
    bound = lower_bound_gaffke(means)
    assert (drawn <= bound).mean() == pytest.approx(0.1, abs=0.004)


def _mixes(n, kinds):
    """Every way to have n questions of that many kinds: shape (ways, kinds)."""
    drawn = np.array(list(combinations_with_replacement(range(kinds), n)))
    return (drawn[:, :, None] == np.arange(kinds)).sum(axis=1)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 12, 22])
@pytest.mark.parametrize(
    "scores",
    [(-1, 0, 1), (-1, 0, 0.25), (-1, -0.25, 0), (-1, -0.15, 0.75), (-0.75, 0, 0.25), (-0.5, 0, 0.5)],
)
def test_the_bound_exceeds_the_true_mean_in_at_most_one_study_in_ten(n, scores):
    """Exact: every mix of n questions, for every distribution of mean -0.1 on three scores, in steps of a hundredth."""
    mixes, scores = _mixes(n, 3), np.array(scores, dtype=float)
    passed = mixes[chance_not_above(scores, mixes, -0.1) < 0.1]
    ways = gammaln(n + 1) - gammaln(passed + 1).sum(axis=1)
    errors = []
    for middle in np.linspace(0, 1, 101):
        shares = np.linalg.solve([np.ones(3), scores, [0, 1, 0]], [1, -0.1, middle])
        if (shares >= -1e-12).all():
            logs = np.log(np.clip(shares, 1e-300, 1))
            errors.append(np.exp(ways + (passed * logs).sum(axis=1)).sum())
    assert errors
    assert max(errors) <= 0.1


@pytest.mark.parametrize(("level", "n"), [(0.90, 22), (0.95, 29)])
def test_questions_of_score_0_that_exclude_a_margin_of_a_tenth(level, n):
    assert lower_bound_gaffke(np.zeros(n), level) > -0.1
    assert lower_bound_gaffke(np.zeros(n - 1), level) < -0.1


@settings(max_examples=60, deadline=None)
@given(MEANS)
def test_at_the_bound_the_chance_is_just_what_is_allowed(means):
    bound = lower_bound_gaffke(means, 0.9)
    assert -1 <= bound <= max(means)
    different, counts = np.unique(means, return_counts=True)
    if bound > -1 + 1e-6:
        assert chance_not_above(different, counts, bound) <= 0.1 + 1e-6
        assert bound + 1e-3 >= 1 or chance_not_above(different, counts, bound + 1e-3) > 0.1


@settings(max_examples=40, deadline=None)
@given(MEANS, st.randoms())
def test_order_does_not_matter_and_a_higher_level_never_raises_it(means, random):
    bound = lower_bound_gaffke(means, 0.9)
    random.shuffle(means)
    assert lower_bound_gaffke(means, 0.9) == pytest.approx(bound, abs=1e-9)
    assert lower_bound_gaffke(means, 0.95) <= bound + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-1, -0.75, -0.25, 0, 0.5, 1]), min_size=1, max_size=8))
def test_more_questions_of_a_mix_above_the_threshold_never_raise_the_chance(means):
    """What lets `verdicts.py` halve its way to the number of missing questions."""
    if np.mean(means) <= -0.1:
        return
    different, counts = np.unique(means, return_counts=True)
    numbers = np.unique(np.geomspace(1, 10_000, 80).astype(int))
    chances = chance_not_above(different, numbers[:, None] * counts / len(means), -0.1)
    assert (np.diff(chances) <= 1e-6).all()


def test_a_candidate_that_always_loses_or_always_wins():
    assert lower_bound_gaffke([-1] * 50) == -1
    assert 0.9 < lower_bound_gaffke([1] * 50) < 1


@pytest.mark.parametrize("means", [[], [[0.5]], [1.1], [np.nan]])
def test_misuse_is_an_error(means):
    with pytest.raises(ValueError, match="means must"):
        lower_bound_gaffke(means)
