"""Closeness to a level's target, by hand."""

import numpy as np
import pytest

from core.stats.ideal_point import FEWEST_FITTING, ideal_point_margins, question_heights

ITEMS = np.arange(6)
ONE_LEVEL = np.zeros(6)
SCORES = np.array([[1.0, 3.0], [2.0, 5.0], [3.0, 9.0], [4.0, 4.5], [5.0, 8.0], [6.0, 0.0]])


def test_the_target_is_the_mean_of_what_fits_elsewhere() -> None:
    """Only the first answers fit: without the first question their mean is (2 + 3 + 4 + 5 + 6) / 5 = 4, |3 - 4| - |1 - 4| = -2."""
    fits = np.tile([1, 0], (6, 1))
    margins, targets = ideal_point_margins(SCORES, fits, ONE_LEVEL, ITEMS)
    assert targets == pytest.approx((21 - SCORES[:, 0]) / 5)
    assert margins[0] == pytest.approx(-2)
    assert margins[5] == pytest.approx(abs(0 - 3) - abs(6 - 3))


def test_each_vote_weighs_the_same_and_both_answers_may_fit() -> None:
    """Two raters find the second question's first answer to fit, one its second: (2 * 2 + 5 + 3 + 4 + 5 + 6) / 7."""
    fits = np.tile([1, 0], (6, 1))
    fits[1] = [2, 1]
    _, targets = ideal_point_margins(SCORES, fits, ONE_LEVEL, ITEMS)
    assert targets[0] == pytest.approx(27 / 7)
    assert targets[1] == pytest.approx((1 + 3 + 4 + 5 + 6) / 5), "its own votes have no part in its target"


def test_a_question_s_own_votes_never_move_its_margin() -> None:
    rng = np.random.default_rng(5)
    items, levels = np.repeat(np.arange(12), 3), np.tile([0, 1, 2], 12)
    scores, fits = rng.normal(size=(36, 2)), rng.integers(0, 3, (36, 2))
    before, _ = ideal_point_margins(scores, fits, levels, items)
    fits[items == 4] = [[0, 2], [2, 0], [2, 2]]
    after, _ = ideal_point_margins(scores, fits, levels, items)
    assert after[items == 4] == pytest.approx(before[items == 4], abs=1e-9)
    assert np.abs(after - before).max() > 1e-3


def test_fewer_than_five_fitting_answers_are_no_target() -> None:
    """With five questions each has four others; "both good" in one of them makes five answers, for the other four questions."""
    five = slice(0, 5)
    fits = np.tile([1, 0], (5, 1))
    margins, targets = ideal_point_margins(SCORES[five], fits, ONE_LEVEL[five], ITEMS[five])
    assert np.isnan(margins).all()
    assert np.isnan(targets).all()
    fits[0] = [3, 3]
    margins, _ = ideal_point_margins(SCORES[five], fits, ONE_LEVEL[five], ITEMS[five])
    assert np.isnan(margins).tolist() == [True, False, False, False, False]
    assert FEWEST_FITTING == 5


def test_missing_scores_are_neither_voted_on_nor_learned_from() -> None:
    scores = np.vstack([SCORES, [[7.0, 1.0]]])
    scores[2, 1], scores[3, 0] = np.nan, np.nan
    fits = np.tile([1, 0], (7, 1))
    margins, targets = ideal_point_margins(scores, fits, np.zeros(7), np.arange(7))
    assert np.isnan(margins).tolist() == [False, False, True, True, False, False, False]
    assert targets[0] == pytest.approx((2 + 3 + 5 + 6 + 7) / 5)


def test_levels_have_targets_of_their_own_and_one_may_be_missing() -> None:
    items = np.concatenate([np.arange(8), np.arange(3)])
    levels = np.array([0] * 8 + [1] * 3)
    scores, fits = np.ones((11, 2)), np.ones((11, 2))
    scores[8:] = 5.0
    _, targets = ideal_point_margins(scores, fits, levels, items)
    assert targets[:8] == pytest.approx(np.ones(8))
    assert np.isnan(targets[8:]).all(), "two other questions give four answers"


def test_the_direction_of_scores_makes_no_difference() -> None:
    fits = np.tile([1, 1], (6, 1))
    up, _ = ideal_point_margins(SCORES, fits, ONE_LEVEL, ITEMS)
    down, _ = ideal_point_margins(-SCORES, fits, ONE_LEVEL, ITEMS)
    assert up == pytest.approx(down)


def test_a_question_s_height_is_read_off_its_other_levels() -> None:
    """Four questions of heights -3, -1, 1, 3 at every level."""
    items, levels = np.repeat(np.arange(4), 3), np.tile([1, 2, 3], 4)
    heights = np.repeat([-3.0, -1.0, 1.0, 3.0], 3)
    scores = np.column_stack([heights - levels, heights - levels - 1])
    assert question_heights(scores, levels, items) == pytest.approx(heights)
    one = levels == 1
    assert question_heights(scores[one], levels[one], items[one]) == pytest.approx(0)
    # A text moves the height of its question at the other levels; at its own only by moving the mean of the level.
    scores[0] += 4
    moved = question_heights(scores, levels, items)
    assert abs(moved[0] - heights[0]) < abs(moved[1] - heights[1])


def test_heights_by_hand() -> None:
    """Two levels, one system's scores missing. Differences from the levels' means: A1 -2, 0, 2 and A2 -1, 0, 1.

    Without the third question, products are -2 * -1 twice and squares (-1)^2 + (-2)^2: slope 4 / 5, so its heights are .8 * 1 and .8 * 2.
    """
    items, levels = np.repeat(np.arange(3), 2), np.tile([1, 2], 3)
    first = np.array([-2.0, -1.0, 0.0, 0.0, 2.0, 1.0])
    scores = np.column_stack([first, np.full(6, np.nan)])
    assert question_heights(scores, levels, items)[4:] == pytest.approx([0.8, 1.6])


def test_heights_are_least_squares_over_the_other_questions() -> None:
    """With numpy's least squares: neighbouring levels and all other levels predict a level."""
    rng = np.random.default_rng(3)
    by_question = rng.normal(size=(9, 1)) + np.cumsum(rng.normal(size=(9, 4)), axis=1)
    rest = by_question - by_question.mean(axis=0)
    others = (rest.sum(axis=1, keepdims=True) - rest) / 3
    near = np.column_stack(
        [rest[:, 1], (rest[:, 0] + rest[:, 2]) / 2, (rest[:, 1] + rest[:, 3]) / 2, rest[:, 2]]
    )
    kept = np.arange(9) != 5
    features = np.stack([near, others], axis=-1)
    weights, *_ = np.linalg.lstsq(features[kept].reshape(-1, 2), rest[kept].ravel(), rcond=None)
    scores = np.column_stack([by_question.ravel(), by_question.ravel() - 7])
    found = question_heights(scores, np.tile([0, 1, 2, 3], 9), np.repeat(np.arange(9), 4))
    assert found.reshape(9, 4)[5] == pytest.approx(features[5] @ weights)


def test_questions_that_do_not_differ_have_no_height() -> None:
    items, levels = np.repeat(np.arange(400), 4), np.tile(np.arange(4), 400)
    noise = np.random.default_rng(8).normal(size=(1600, 2))
    assert np.abs(question_heights(noise, levels, items)).mean() < 0.05


def test_no_pairs_and_wrong_shapes() -> None:
    nothing, _ = ideal_point_margins(np.empty((0, 2)), np.empty((0, 2)), [], [])
    assert nothing.shape == (0,)
    with pytest.raises(ValueError, match="shape"):
        ideal_point_margins(SCORES[:, 0], np.ones(6), ONE_LEVEL, ITEMS)
    with pytest.raises(ValueError, match="shape"):
        ideal_point_margins(SCORES, np.ones((6, 2)), ONE_LEVEL[1:], ITEMS)
