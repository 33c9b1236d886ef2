import numpy as np
import pytest

from core.stats.votes import composite_scores, preferences


def test_choices_become_signs():
    np.testing.assert_array_equal(preferences([[0, 1, 2], [3, -1, 0]]), [[1, 0, 0], [-1, np.nan, 1]])


@pytest.mark.parametrize(
    ("unit", "score"),
    [([1, 1], 1), ([1, 0], 1), ([1, -1], 0), ([0, 0], 0), ([-1, 0], -1), ([1, -1, -1], -1), ([np.nan, 1], 1)],
)
def test_the_sign_of_the_sum(unit, score):
    assert composite_scores([unit])[0] == score


def test_a_pair_nobody_voted_on_has_no_score():
    np.testing.assert_array_equal(composite_scores([[np.nan, np.nan], [0, np.nan]]), [np.nan, 0])


@pytest.mark.shared
def test_003(study_003):
    votes, _ = study_003.part("A1", "A2", "A3", "A4")
    scores = composite_scores(preferences(votes))
    assert [int((scores == score).sum()) for score in (-1, 0, 1)] == [17, 36, 27]
    assert scores.mean() == 0.125


@pytest.mark.parametrize(("signs", "message"), [([1, 0], "shape"), ([[2, 0]], "-1, 0 or")])
def test_misuse_is_an_error(signs, message):
    with pytest.raises(ValueError, match=message):
        composite_scores(signs)
