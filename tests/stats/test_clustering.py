"""rho and the design effect by hand; what they do to sample sizes. Simulated power: test_coverage.py."""

import numpy as np
import pytest

from core.stats.planning import power_non_inferiority
from core.stats.votes import clustering


def test_equal_questions_by_hand():
    """Means 1, 0, -0.5 of two pairs each: MSB 7/6, MSW 1/6, rho (7/6 - 1/6) / (7/6 + 1/6) = 3/4."""
    found = clustering([1, 1, 0, 0, -1, 0], [0, 0, 1, 1, 2, 2])
    assert found.rho == pytest.approx(0.75)
    assert (found.pairs_per_question, found.design_effect) == (2, pytest.approx(1.75))
    assert found.reason is None


def test_unequal_questions_by_hand():
    """Sizes 1 and 3, scores 1 | 0, 0, -1: MSB 4/3, MSW 1/3, m0 = 4 - 10/4 = 3/2, m of an average pair 10/4."""
    found = clustering([1, 0, 0, -1], ["a", "b", "b", "b"])
    rho = (4 / 3 - 1 / 3) / (4 / 3 + 1 / 2 * 1 / 3)
    assert found.rho == pytest.approx(rho)
    assert (found.pairs_per_question, found.design_effect) == (2, pytest.approx(1 + 1.5 * rho))


def test_copies_are_wholly_alike_and_opposites_never_lower_the_sample_size():
    assert clustering([1, 1, 1, 0, 0, 0], np.repeat([0, 1], 3)).design_effect == pytest.approx(3)
    opposites = clustering([1, -1, 1, -1], [0, 0, 1, 1])
    assert (opposites.rho, opposites.design_effect) == (pytest.approx(-1), 1)


def test_it_is_the_correlation_that_was_simulated():
    rng = np.random.default_rng(0)
    scores = np.sqrt(0.4) * rng.standard_normal((3000, 1)) + np.sqrt(0.6) * rng.standard_normal((3000, 4))
    assert clustering(scores.ravel(), np.repeat(np.arange(3000), 4)).rho == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize(
    ("scores", "clusters", "effect", "reason"),
    [
        ([1, 0, -1], [0, 1, 2], 1, "only one pair"),
        ([1, 0, -1], [0, 0, 0], None, "fewer than two questions"),
        ([0, 0, 0], [0, 0, 1], None, "all scores are equal"),
        ([], [], None, "fewer than two questions"),
    ],
)
def test_undefined(scores, clusters, effect, reason):
    found = clustering(scores, clusters)
    assert (found.rho, found.design_effect) == (None, effect)
    assert reason in found.reason


class TestSampleSizes:
    SCORES = np.array([1, 1, 0, 0, -1, 0, np.nan, 0, 0])
    QUESTIONS = np.array([0, 0, 1, 1, 2, 2, 2, 3, 3])

    def test_pairs_times_the_design_effect_and_the_questions_that_hold_them(self):
        found = power_non_inferiority(self.SCORES, margin=0.1, clusters=self.QUESTIONS)
        known = ~np.isnan(self.SCORES)
        alike = clustering(self.SCORES[known], self.QUESTIONS[known])
        assert (found.rho, found.design_effect) == (alike.rho, alike.design_effect)
        for plain, clustered, questions in (
            (found.n_for_80_if_equal, found.n_for_80_if_equal_clustered, found.questions_for_80_if_equal),
            (found.n_for_90_if_equal, found.n_for_90_if_equal_clustered, found.questions_for_90_if_equal),
        ):
            assert plain < clustered == int(np.ceil(plain * alike.design_effect))
            assert questions == int(np.ceil(clustered / 2))

    def test_present_numbers_stay(self):
        plain = power_non_inferiority(self.SCORES, margin=0.1)
        found = power_non_inferiority(self.SCORES, margin=0.1, clusters=self.QUESTIONS)
        names = ("value", "n_for_80", "n_for_90", "n_for_80_if_equal", "n_for_90_if_equal", "n", "effect")
        assert [getattr(found, name) for name in names] == [getattr(plain, name) for name in names]
        assert (plain.rho, plain.design_effect, plain.n_for_80_if_equal_clustered) == (None, None, None)

    def test_one_pair_a_question_needs_no_factor(self):
        found = power_non_inferiority([1, 0, -1, 1], margin=0.1, clusters=range(4))
        assert found.n_for_80_if_equal_clustered == found.n_for_80_if_equal == found.questions_for_80_if_equal

    def test_without_spread(self):
        found = power_non_inferiority([0, 0, 0, 0], margin=0.1, clusters=[0, 0, 1, 1])
        assert (found.n_for_80_if_equal_clustered, found.questions_for_80_if_equal) == (None, None)
        assert found.clustered_reason == "all scores are equal"

    def test_clusters_of_another_length_are_an_error(self):
        with pytest.raises(ValueError, match="shape"):
            power_non_inferiority([1, 0], margin=0.1, clusters=[0])
