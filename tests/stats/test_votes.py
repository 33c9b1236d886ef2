import numpy as np
import pytest

from core.stats.votes import (
    BOTH_BAD,
    BOTH_GOOD,
    CANDIDATE,
    COMPARATOR,
    category_counts,
    check_votes,
    contingency,
)


def test_rows_are_the_first_raters_categories():
    np.testing.assert_array_equal(
        contingency([0, 0, 1, -1, 2], [1, 1, 0, 1, -1], 3), [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    )


def test_contingency_of_nothing_is_a_table_of_zeros():
    np.testing.assert_array_equal(contingency([], []), np.zeros((4, 4)))


@pytest.mark.shared
def test_table_1_of_003(study_003):
    """Paper, Table 1, A1-A4; order: candidate (AI), both good, both bad, comparator (Expert)."""
    votes, _ = study_003.part("A1", "A2", "A3", "A4")
    assert (CANDIDATE, BOTH_GOOD, BOTH_BAD, COMPARATOR) == (0, 1, 2, 3)
    np.testing.assert_array_equal(
        contingency(votes[:, 0], votes[:, 1]), [[6, 14, 0, 0], [7, 32, 0, 5], [0, 2, 0, 1], [2, 8, 0, 3]]
    )


def test_counts_pass_over_missing_votes():
    votes = check_votes([[0, 2, -1], [-1, -1, -1]], 3)
    np.testing.assert_array_equal(category_counts(votes, 3), [[1, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("votes", "n_categories", "message"),
    [
        ([[0, 4]], 4, "vote of unit 0 by rater 1 is 4"),
        ([[0, -2]], 4, "is -2"),
        ([[0.0, 1.0]], 4, "integer codes"),
        ([0, 1], 4, "shape"),
        ([[0, 0]], 1, "n_categories"),
    ],
)
def test_votes_that_do_not_fit_are_named(votes, n_categories, message):
    with pytest.raises(ValueError, match=message):
        check_votes(votes, n_categories)


def test_contingency_wants_equal_lengths():
    with pytest.raises(ValueError, match="shape"):
        contingency([0], [0, 1])
