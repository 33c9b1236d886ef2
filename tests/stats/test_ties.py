import pytest

from core.stats.votes import ties


def shares(found):
    return found.paper_rule, found.both_tied, found.composite_zero, found.opposed


@pytest.mark.parametrize(
    ("unit", "expected"),
    [  # paper rule, both tied, composite 0, opposed; 0 candidate, 1 both good, 2 both bad, 3 comparator
        ([0, 0], (0, 0, 0, 0)),
        ([0, 1], (1, 0, 0, 0)),
        ([0, 2], (0, 0, 0, 0)),
        ([0, 3], (0, 0, 1, 1)),
        ([1, 1], (1, 1, 1, 0)),
        ([1, 2], (0, 1, 1, 0)),
        ([2, 2], (0, 1, 1, 0)),
        ([1, 3], (1, 0, 0, 0)),
        ([0, 1, 3], (1, 0, 1, 1)),
        ([0, 0, 3], (0, 0, 0, 1)),
        ([1, 1, -1], (1, 1, 1, 0)),
    ],
)
def test_one_pair(unit, expected):
    assert shares(ties([unit])) == expected


@pytest.mark.shared
def test_003(study_003):
    """FIELD.md: 82.5 % by the paper's rule on A1-A4, 85 % on all pairs, 95 % at A0; 2.5 % opposed."""
    found = ties(study_003.part("A1", "A2", "A3", "A4")[0])
    assert (found.n, found.n_left_out) == (80, 0)
    assert shares(found) == pytest.approx((0.825, 0.425, 0.45, 0.025))
    assert ties(study_003.votes).paper_rule == pytest.approx(0.85)
    assert ties(study_003.part("A0")[0]).paper_rule == pytest.approx(0.95)


def test_pairs_with_too_few_votes_are_left_out_and_counted():
    votes = [[1, -1], [1, 1], [-1, -1]]
    assert (ties(votes).n, ties(votes).n_left_out) == (1, 2)
    assert (ties(votes, min_votes=1).n, ties(votes, min_votes=1).n_left_out) == (2, 1)


def test_no_pair_with_enough_votes():
    found = ties([[1, -1]])
    assert shares(found) == (None, None, None, None)
    assert found.reason == "no pair has 2 or more votes"


def test_misuse_is_an_error():
    with pytest.raises(ValueError, match="min_votes"):
        ties([[1, 1]], min_votes=0)
