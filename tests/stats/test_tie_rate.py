"""A metric ties as often as raters do, by hand."""

import numpy as np
import pytest

from core.stats.tie_rate import FEWEST_ITEMS, calibrated_votes, tie_thresholds

ITEMS = np.arange(6)
MARGINS = np.array([0.1, -0.2, 0.3, -0.4, 0.5, -0.6])


def test_the_threshold_ties_as_many_of_the_other_pairs_as_raters_do() -> None:
    """Two raters tie on 6 of 12 votes. Without the first question 4 of 10: of .2 .3 .4 .5 .6 two, up to .3."""
    votes = np.array([[0, 0], [0, 0], [0, 0], [1, -1], [1, 1], [-1, -1]], dtype=float)
    thresholds = tie_thresholds(MARGINS, votes, ITEMS)
    # Without the last question 6 of 10: of .1 .2 .3 .4 .5 three, up to .3.
    assert thresholds.tolist() == [0.3, 0.3, 0.2, 0.3, 0.3, 0.3]
    assert calibrated_votes(MARGINS, thresholds).tolist() == [0, 0, 1, -1, 1, -1]


def test_a_question_s_own_ties_have_no_part() -> None:
    votes = np.tile([[0.0], [1.0]], (3, 1))
    before = tie_thresholds(MARGINS, votes, ITEMS)
    votes[0] = 1
    after = tie_thresholds(MARGINS, votes, ITEMS)
    assert after[0] == before[0]
    assert (after != before).any()


@pytest.mark.parametrize(("vote", "tied"), [(0.0, True), (1.0, False)])
def test_raters_who_always_or_never_tie(vote: float, tied: bool) -> None:
    """A margin beyond all others is a preference also where raters always tie."""
    found = calibrated_votes(MARGINS, tie_thresholds(MARGINS, np.full((6, 1), vote), ITEMS))
    assert (found == 0).tolist() == [tied] * 5 + [False]


def test_equal_margins_tie_together_as_near_as_they_come() -> None:
    """Of six other pairs one has distance 0.5, four 1, one 2: 40 % of ties are nearer to 1/6 than to 5/6, 80 % are not."""
    margins = np.array([1.0, -1, 1, -1, 1, 2, 0.5])
    votes = np.full((7, 5), 1.0)
    for ties, threshold in ((2, 0.5), (4, 1.0)):
        votes[:, :ties] = 0
        assert tie_thresholds(margins, votes, np.arange(7))[0] == threshold
    assert tie_thresholds(np.array([0.0, 0, 0, 1, 1, 1]), np.full((6, 1), 1.0), ITEMS).tolist() == [0] * 6


def test_of_two_as_near_the_smaller() -> None:
    votes = np.tile([[0.0, 1.0]], (6, 1))  # .5 of the votes; of five others, 2 or 3
    assert tie_thresholds(MARGINS, votes, ITEMS)[0] == 0.3


def test_few_questions_no_margin_and_no_vote() -> None:
    votes = np.zeros((6, 1))
    assert np.isnan(tie_thresholds(MARGINS[:5], votes[:5], ITEMS[:5])).all()
    assert np.isnan(tie_thresholds(MARGINS, votes, [0, 0, 1, 1, 2, 2])).all(), "pairs of few questions"
    missing = np.append(MARGINS, np.nan)
    found = tie_thresholds(missing, np.zeros((7, 1)), np.arange(7))
    assert np.isnan(found).tolist() == [False] * 6 + [True]
    assert np.isnan(calibrated_votes(missing, found)).tolist() == [False] * 6 + [True]
    assert np.isnan(tie_thresholds(MARGINS, np.append(votes[:5], [[np.nan]], axis=0), ITEMS)[0])
    assert FEWEST_ITEMS == 5


def test_margins_that_are_all_equal() -> None:
    """Margins of 0 prefer nothing; a metric always one level off to the same side votes, and nothing tells which calls are close."""
    votes = np.zeros((6, 1))
    assert np.isnan(tie_thresholds(np.zeros(6), votes, ITEMS)).all()
    assert calibrated_votes(np.ones(6), tie_thresholds(np.ones(6), votes, ITEMS)).tolist() == [1] * 6


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="shapes"):
        tie_thresholds(MARGINS, np.zeros(6), ITEMS)
