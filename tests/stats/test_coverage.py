"""Simulated coverage: how often do the intervals hold the true value, which the simulation knows?

Bands are nominal level +- about four Monte Carlo standard errors, except where undercoverage is what is shown.
"""

import numpy as np
import pytest

from core.stats.agreement import cohen_kappa
from core.stats.non_inferiority import lower_bound_pairs, lower_bound_questions

pytestmark = pytest.mark.slow

PAIRS = 4  # a question, as A1-A4 in 003
LIKES, DISLIKES = [0.05, 0.35, 0.60], [0.45, 0.40, 0.15]  # shares of -1, 0, +1 on two kinds of question
TRUE_MEAN = 0.5 * (0.60 - 0.05) + 0.5 * (0.15 - 0.45)


def simulated_scores(rng, n_questions):
    """Half of the questions favour the candidate, half the comparator; pairs of a question are alike."""
    shares = np.where(rng.random((n_questions, 1)) < 0.5, LIKES, DISLIKES).cumsum(axis=1)
    scores = (rng.random((n_questions, PAIRS, 1)) > shares[:, None, :2]).sum(axis=2) - 1
    return scores.ravel(), np.repeat(np.arange(n_questions), PAIRS)


def bound_coverage(n_questions, n_studies, seed):
    rng = np.random.default_rng(seed)
    over_questions = over_pairs = 0
    for _ in range(n_studies):
        scores, questions = simulated_scores(rng, n_questions)
        over_questions += lower_bound_questions(scores, questions, 0.9, 1000, rng) <= TRUE_MEAN
        over_pairs += lower_bound_pairs(scores, 0.9) <= TRUE_MEAN
    return over_questions / n_studies, over_pairs / n_studies


@pytest.mark.parametrize(("n_questions", "lowest"), [(20, 0.86), (100, 0.875)])
def test_bound_over_questions_covers_and_the_bound_over_pairs_does_not(n_questions, lowest):
    over_questions, over_pairs = bound_coverage(n_questions, 2000, seed=n_questions)
    assert lowest <= over_questions <= 0.925
    assert over_pairs < 0.86


def test_without_correlation_both_bounds_cover():
    """One pair a question: both bounds are the same bootstrap."""
    rng = np.random.default_rng(1)
    covered = np.zeros(2)
    for _ in range(2000):
        scores = rng.choice([-1, 0, 1], 100, p=[0.25, 0.375, 0.375])
        covered += [
            lower_bound_pairs(scores, 0.9) <= 0.125,
            lower_bound_questions(scores, np.arange(100), 0.9, 1000, rng) <= 0.125,
        ]
    assert ((covered / 2000 >= 0.875) & (covered / 2000 <= 0.935)).all()


def simulated_votes(rng, n_questions, n_pairs=8):
    """Both raters see the truth on easy questions (95 %), and guess on hard ones, half of each. Four even categories."""
    n = n_questions * n_pairs
    questions = np.repeat(np.arange(n_questions), n_pairs)
    sees = rng.random(n) < np.where(rng.random(n_questions) < 0.5, 0.95, 0)[questions]
    votes = rng.integers(0, 4, (n, 2))
    votes[sees, 1] = votes[sees, 0]
    return votes, questions


def kappa_coverage(n_questions, n_studies, seed):
    """Agreement is .25 + .75 * .475, chance .25, so the true kappa is .475."""
    rng = np.random.default_rng(seed)
    by_question = by_pair = 0
    for _ in range(n_studies):
        votes, questions = simulated_votes(rng, n_questions)
        found = cohen_kappa(votes, clusters=questions, n_resamples=1000, rng=rng)
        by_question += found.low <= 0.475 <= found.high
        found = cohen_kappa(votes, n_resamples=1000, rng=rng)
        by_pair += found.low <= 0.475 <= found.high
    return by_question / n_studies, by_pair / n_studies


@pytest.mark.parametrize(("n_questions", "lowest"), [(20, 0.88), (100, 0.92)])
def test_kappa_interval_over_questions_covers_and_the_one_over_pairs_does_not(n_questions, lowest):
    by_question, by_pair = kappa_coverage(n_questions, 1000, seed=n_questions)
    assert lowest <= by_question <= 0.98
    assert by_pair < 0.80
