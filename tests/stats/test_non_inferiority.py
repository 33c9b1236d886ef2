"""Bounds against enumeration, theory, scipy and Factual. Simulated coverage: test_coverage.py."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.stats.non_inferiority import (
    lower_bound_pairs,
    lower_bound_questions,
    non_inferiority,
    resampled_mean_distribution,
)
from core.stats.votes import composite_scores, preferences

SCORES = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=6)


class TestExactDistribution:
    @settings(max_examples=40, deadline=None)
    @given(SCORES)
    def test_agrees_with_enumerating_every_resample(self, scores):
        n = len(scores)
        sums = np.array([sum(drawn) for drawn in product(scores, repeat=n)])
        means, probabilities = resampled_mean_distribution(scores)
        expected = [(sums == total).mean() for total in range(-n, n + 1)]
        np.testing.assert_allclose(probabilities, expected, atol=1e-14)
        np.testing.assert_allclose(means, np.arange(-n, n + 1) / n)

    @pytest.mark.parametrize("n", [80, 1000, 5000])
    def test_has_the_moments_of_a_mean_of_n_draws(self, n):
        scores = np.random.default_rng(n).choice([-1, 0, 1], n, p=[0.2, 0.5, 0.3])
        means, probabilities = resampled_mean_distribution(scores)
        assert probabilities.min() >= 0
        assert probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert means @ probabilities == pytest.approx(scores.mean(), abs=1e-12)
        variance = (means - scores.mean()) ** 2 @ probabilities
        assert variance == pytest.approx(scores.var() / n, rel=1e-9)

    def test_two_values_give_a_binomial_with_its_tails_intact(self):
        scores = np.array([1] * 600 + [0] * 400)
        _, probabilities = resampled_mean_distribution(scores)
        expected = stats.binom(1000, 0.6).pmf(np.arange(1001))
        kept = expected > 1e-250
        np.testing.assert_allclose(probabilities[1000:][kept], expected[kept], rtol=1e-9)
        assert probabilities[:1000].max() == 0

    @pytest.mark.parametrize("score", [-1, 0, 1])
    def test_scores_all_equal_leave_one_mean(self, score):
        means, probabilities = resampled_mean_distribution([score] * 7)
        assert probabilities[means == score] == 1
        assert lower_bound_pairs([score] * 7) == score


class TestBoundOverPairs:
    def test_the_smallest_mean_whose_cumulative_probability_reaches_the_level(self):
        """Scores -1, 1: means -1, 0, 1 with 1/4, 1/2, 1/4."""
        assert lower_bound_pairs([-1, 1], 0.75) == -1
        assert lower_bound_pairs([-1, 1], 0.7499) == 0
        assert lower_bound_pairs([-1, 1], 0.25) == 0
        assert lower_bound_pairs([-1, 1], 0.2) == 1

    def test_agrees_with_scipy_up_to_one_step_of_the_mean(self):
        scores = np.random.default_rng(1).choice([-1.0, 0, 1], 90, p=[0.3, 0.3, 0.4])
        other = stats.bootstrap(
            (scores,), np.mean, confidence_level=0.9, alternative="greater", method="percentile",
            n_resamples=20_000, rng=np.random.default_rng(2),
        )  # fmt: skip
        assert lower_bound_pairs(scores, 0.9) == pytest.approx(
            other.confidence_interval.low, abs=1 / 90 + 1e-9
        )

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=40), st.floats(0.5, 0.98))
    def test_a_higher_level_never_raises_it(self, scores, level):
        assert lower_bound_pairs(scores, level + 0.01) <= lower_bound_pairs(scores, level)


class TestBoundOverQuestions:
    def test_one_pair_a_question_is_the_bound_over_pairs(self):
        scores = np.random.default_rng(3).choice([-1, 0, 1], 81, p=[0.3, 0.3, 0.4])
        over_questions = lower_bound_questions(scores, np.arange(81), 0.9, n_resamples=50_000)
        assert over_questions == pytest.approx(lower_bound_pairs(scores, 0.9), abs=1 / 81 + 1e-9)

    def test_copies_of_a_pair_add_nothing(self):
        scores = np.random.default_rng(4).choice([-1, 0, 1], 60, p=[0.3, 0.3, 0.4])
        copied = lower_bound_questions(np.repeat(scores, 5), np.repeat(np.arange(60), 5), rng=5)
        assert copied == lower_bound_questions(scores, np.arange(60), rng=5)
        assert lower_bound_pairs(np.repeat(scores, 5)) > copied

    def test_questions_of_unequal_size_weigh_by_their_pairs(self):
        """Questions (1 pair, score 1) and (3 pairs, score 0): means 1 (1/4), 1/4 (1/2), 0 (1/4)."""
        scores, questions = [1, 0, 0, 0], ["a", "b", "b", "b"]
        assert lower_bound_questions(scores, questions, 0.9) == 0
        assert lower_bound_questions(scores, questions, 0.5) == 0.25
        assert lower_bound_questions(scores, questions, 0.1) == 1


class TestNetPreferences:
    """Scores between -1 and 1, such as the mean vote of a pair."""

    def test_the_bound_over_pairs_is_a_bootstrap_over_single_pairs(self):
        scores = np.random.default_rng(6).choice([-1, -1 / 3, 0, 1 / 3, 1], 60)
        found = non_inferiority(scores, np.repeat(np.arange(15), 4), margin=0.1)
        assert found.bound_pairs == lower_bound_questions(scores, np.arange(60))
        assert found.mean == pytest.approx(scores.mean())

    def test_a_single_pair_bounds_itself(self):
        assert non_inferiority([0.5], ["a"], margin=0.1).bound_pairs == 0.5

    def test_halved_scores_halve_the_bound_over_questions(self):
        scores, questions = np.random.default_rng(7).choice([-1, 0, 1], 80), np.repeat(np.arange(20), 4)
        assert lower_bound_questions(scores / 2, questions) == lower_bound_questions(scores, questions) / 2


@pytest.mark.shared
class TestStudy003:
    """The paper's one-sided 90 % bound is 0.025; over questions 0.0 and -0.0375 (FIELD.md), within one step 1/80."""

    @pytest.mark.parametrize(
        ("level", "over_pairs", "over_questions"), [(0.90, 0.025, 0.0), (0.95, -0.0125, -0.0375)]
    )
    def test_bounds(self, study_003, level, over_pairs, over_questions):
        votes, questions = study_003.part("A1", "A2", "A3", "A4")
        scores = composite_scores(preferences(votes))
        found = non_inferiority(scores, questions, margin=0.1, confidence_level=level)
        assert (found.mean, found.n_pairs, found.n_questions) == (0.125, 80, 20)
        assert found.bound_pairs == over_pairs
        assert found.bound_questions == pytest.approx(over_questions, abs=1 / 80 + 1e-9)
        assert found.non_inferior_pairs
        assert found.non_inferior_questions
        assert found.reason is None


class TestVerdict:
    def test_non_inferior_only_above_the_margin_not_on_it(self):
        """All questions score -0.1 exactly, so both the bound over questions and -margin are -0.1."""
        scores = np.tile([-1] + [0] * 9, 4)
        questions = np.repeat(np.arange(4), 10)
        on_it = non_inferiority(scores, questions, margin=0.1)
        assert on_it.bound_questions == -0.1
        assert on_it.non_inferior_questions is False
        assert non_inferiority(scores, questions, margin=0.11).non_inferior_questions is True

    def test_a_candidate_that_always_loses(self):
        found = non_inferiority([-1] * 10, range(10), margin=0.2)
        assert (found.bound_pairs, found.non_inferior_pairs, found.non_inferior_questions) == (
            -1,
            False,
            False,
        )

    def test_pairs_without_a_score_are_left_out_and_counted(self):
        found = non_inferiority([1, np.nan, 0, np.nan], ["a", "b", "c", "c"], margin=0.1)
        assert (found.mean, found.n_pairs, found.n_questions, found.n_left_out) == (0.5, 2, 2, 2)

    @pytest.mark.parametrize("scores", [[], [np.nan]])
    def test_no_scores(self, scores):
        found = non_inferiority(scores, [0] * len(scores), margin=0.1)
        assert (found.mean, found.bound_pairs, found.bound_questions) == (None, None, None)
        assert (found.non_inferior_pairs, found.non_inferior_questions) == (None, None)
        assert found.reason == "no pair has a score"

    def test_one_question_has_a_bound_over_pairs_only(self):
        found = non_inferiority([1, 0, 1], ["a"] * 3, margin=0.1)
        assert found.bound_pairs is not None
        assert (found.bound_questions, found.non_inferior_questions, found.n_resamples) == (None, None, 0)
        assert "fewer than two questions" in found.reason


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: non_inferiority([1, 0], [0, 1], margin=0), "margin"),
        (lambda: non_inferiority([1, 0], [0, 1], margin=-0.1), "margin"),
        (lambda: non_inferiority([1, 0], [0, 1], margin=float("nan")), "margin"),
        (lambda: non_inferiority([1, 0], [0, 1], margin=0.1, confidence_level=90), "confidence_level"),
        (lambda: non_inferiority([1.5, 0], [0, 1], margin=0.1), "scores must be in"),
        (lambda: non_inferiority([1, 0], [0], margin=0.1), "shape"),
        (lambda: resampled_mean_distribution([]), "no scores"),
        (lambda: resampled_mean_distribution([np.nan]), "NaN"),
        (lambda: resampled_mean_distribution([[1]]), "shape"),
        (lambda: resampled_mean_distribution([0.5]), "-1, 0 or \\+1"),
        (lambda: lower_bound_questions([1, 0], [0, 0]), "at least two questions"),
        (lambda: lower_bound_questions([1, np.nan], [0, 1]), "NaN"),
        (lambda: lower_bound_questions([1, 0], [0, 1], n_resamples=0), "n_resamples"),
    ],
)
def test_misuse_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
