"""Simulated coverage: how often do the intervals hold the true value, which the simulation knows?

Bands are nominal level +- about four Monte Carlo standard errors, except where undercoverage is what is shown.
"""

import numpy as np
import pytest

from core.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    raw_agreement,
)
from core.stats.non_inferiority import (
    lower_bound_pairs,
    lower_bound_questions,
    verdict,
)
from core.stats.planning import power_non_inferiority
from scripts.simulations.verdicts import Cell, by_verdict, pair_scores, question_sums

pytestmark = pytest.mark.slow

PAIRS = 4  # a question, as A1-A4 in Factual
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
    over_questions, over_pairs = bound_coverage(n_questions, 1000, seed=n_questions)
    assert lowest <= over_questions <= 0.925
    assert over_pairs < 0.86


def test_without_correlation_both_bounds_cover():
    """One pair a question: both bounds are the same bootstrap."""
    rng = np.random.default_rng(1)
    covered = np.zeros(2)
    for _ in range(1000):
        scores = rng.choice([-1, 0, 1], 100, p=[0.25, 0.375, 0.375])
        covered += [
            lower_bound_pairs(scores, 0.9) <= 0.125,
            lower_bound_questions(scores, np.arange(100), 0.9, 1000, rng) <= 0.125,
        ]
    assert ((covered / 1000 >= 0.865) & (covered / 1000 <= 0.935)).all()


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
        found = cohen_kappa(votes, clusters=questions, n_resamples=600, rng=rng)
        by_question += found.low <= 0.475 <= found.high
        found = cohen_kappa(votes, n_resamples=600, rng=rng)
        by_pair += found.low <= 0.475 <= found.high
    return by_question / n_studies, by_pair / n_studies


@pytest.mark.parametrize(("n_questions", "lowest"), [(20, 0.88), (100, 0.92)])
def test_kappa_interval_over_questions_covers_and_the_one_over_pairs_does_not(n_questions, lowest):
    by_question, by_pair = kappa_coverage(n_questions, 250, seed=n_questions)
    assert lowest <= by_question <= 0.98
    assert by_pair < 0.80


TRUE_AGREEMENT = {
    raw_agreement: 0.25 + 0.75 * 0.475,
    cohen_kappa: 0.475,
    gwet_ac1: 0.475,
    fleiss_kappa: 0.475,
    krippendorff_alpha: 0.475,
}


@pytest.mark.parametrize(("n_questions", "n_pairs"), [(10, 4), (20, 8), (50, 4)])
def test_jackknife_intervals_cover_with_few_questions(n_questions, n_pairs):
    rng = np.random.default_rng(n_questions)
    covered = dict.fromkeys(TRUE_AGREEMENT, 0)
    for _ in range(500):
        votes, questions = simulated_votes(rng, n_questions, n_pairs)
        for coefficient, true in TRUE_AGREEMENT.items():
            found = coefficient(votes, clusters=questions, n_resamples=0)
            covered[coefficient] += found.low_t <= true <= found.high_t
    for count in covered.values():
        assert 0.93 - 0.02 <= count / 500 <= 0.96 + 0.02  # two simulation errors


@pytest.mark.parametrize("rho", [0.3, 0.6])
def test_the_planned_number_of_pairs_gives_the_promised_power_only_with_the_design_effect(rho):
    """A large pilot of equally good systems, four pairs a question; studies of the planned size, 2,000 times."""
    pilot = pair_scores(Cell(0.3, 0.3, 4, rho, 4000), 1)[0]
    plan = power_non_inferiority(
        pilot.ravel(), margin=0.1, alpha=0.1, alternative="larger", clusters=np.repeat(np.arange(4000), 4)
    )

    def power(pairs):
        return by_verdict(question_sums(Cell(0.3, 0.3, 4, rho, -(-pairs // 4)), 2000), 4).mean()

    assert power(plan.n_for_80_if_equal_clustered) == pytest.approx(0.80, abs=0.035)
    assert power(plan.n_for_80_if_equal) < 0.70


@pytest.mark.parametrize(("leave_out", "low", "high"), [(False, 0.0, 0.05), (True, 0.40, 0.58)])
def test_leaving_flagged_pairs_out_hides_what_was_lost(leave_out, low, high):
    """True mean -0.15: 25 % of pairs lost, 10 % won; raters flag half of the lost ones (docs: 2 % and 49 %)."""
    rng = np.random.default_rng(5)
    questions, called, n_studies = np.repeat(np.arange(20), PAIRS), 0, 400
    for _ in range(n_studies):
        scores = rng.choice([-1.0, 0.0, 1.0], size=20 * PAIRS, p=[0.25, 0.65, 0.10])
        if leave_out:
            scores[(scores < 0) & (rng.random(scores.size) < 0.5)] = np.nan
        called += verdict(scores, questions, margin=0.1, n_resamples=400, rng=rng).value == "non-inferior"
    assert low <= called / n_studies <= high
