"""A judge against raters who split: by hand, against other functions, in theory, and its intervals by simulation."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon

from core.stats.agreement import (
    FEW_ITEMS,
    NO_ANSWER,
    ONE_ANSWER,
    SplitRaters,
    pairwise_agreement,
    split_raters,
)

QUICK = {"n_resamples": 100}


def drawn(
    n: int, n_raters: int, n_answers: int = 1, *, k: int = 3, sharp: float = 1.0, seed: int = 5
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Votes and answers drawn alike from each text's own distribution: the judge is one more rater."""
    draw = np.random.default_rng(seed)
    p = draw.dirichlet(np.full(k, sharp), n)
    both = np.array([draw.choice(k, n_raters + n_answers, p=one) for one in p])
    return both[:, :n_raters], both[:, n_raters:]


def by_kind(found: SplitRaters) -> dict[str, tuple[float, float, int]]:
    return {
        one.kind: (one.rater_agreement.estimate, one.judge_agreement.estimate, one.n) for one in found.degrees
    }


def test_four_texts_by_hand() -> None:
    """Votes 001, 111, 012, 222; answers 0, 1, 1, 0.

    All: a rater meets another's vote in (1/3 + 1 + 0 + 1) / 4, the judge in (2/3 + 1 + 1/3 + 0) / 4. The others are
    unanimous if the 1 of the first text is left out (weight 1/3), and in the second and fourth text: the rater agrees in
    (0/3 + 1 + 1) / (7/3), the judge in (1/3 + 1 + 0) / (7/3). They split if a 0 of the first text is left out (weight
    2/3, both agree by half), and in the third: the judge's 1 is there unless the 1 is left out, so it agrees by 1/3.
    """
    found = split_raters(
        [[0, 0, 1], [1, 1, 1], [0, 1, 2], [2, 2, 2]], [[0], [1], [1], [0]], 3, n_resamples=50
    )
    expected = {"all": (7 / 12, 1 / 2, 4), "full": (6 / 7, 4 / 7, 3), "none": (1 / 5, 2 / 5, 2)}
    assert {kind: pytest.approx(numbers) for kind, numbers in expected.items()} == by_kind(found)
    assert [one.agreement_gap.estimate for one in found.degrees] == pytest.approx([-1 / 12, -2 / 7, 1 / 5])
    assert (found.n, found.n_left_out, found.n_answers) == (4, 0, 1)


def test_the_distance_is_that_of_scipy() -> None:
    """Two others said 0 and 1, the judge 0, 0, 1 and 2; the rater left out said 0, 1 or 2 in turn."""
    (whole, *_) = split_raters([[0, 1, 2]], [[0, 0, 1, 2]], 3, **QUICK).degrees
    q = [0.5, 0.25, 0.25]
    others = [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
    assert whole.distribution_distance.estimate == pytest.approx(
        np.mean([jensenshannon(q, p, base=2) for p in others])
    )
    one_answer = [np.mean([jensenshannon(np.eye(3)[k], p, base=2) for k in (0, 0, 1, 2)]) for p in others]
    assert whole.judge_distance.estimate == pytest.approx(np.mean(one_answer))
    alone = [jensenshannon(np.eye(3)[k], p, base=2) for k, p in enumerate(others)]
    assert whole.rater_distance.estimate == pytest.approx(np.mean(alone))
    brier = [((np.array(q) - p) ** 2).sum() for p in others]
    assert whole.distribution_brier.estimate == pytest.approx(np.mean(brier))
    assert whole.rater_brier.estimate == pytest.approx(1.5)


def test_over_all_texts_one_answer_agrees_as_in_pairs() -> None:
    votes, answers = drawn(80, 4)
    votes[::7, 0] = votes[::5, 1] = -1
    answers[::9] = -1
    whole = split_raters(votes, answers, 3, **QUICK).degrees[0]
    rated = answers[:, 0] >= 0
    pairs = pairwise_agreement(votes[rated], answers[rated, 0], 3, **QUICK)
    assert whole.rater_agreement.estimate == pytest.approx(pairs.raters.estimate)
    assert whole.judge_agreement.estimate == pytest.approx(pairs.evaluator.estimate)
    assert whole.agreement_gap.estimate == pytest.approx(pairs.gap.estimate)
    assert whole.agreement_gap.low == pytest.approx(pairs.gap.low)


@pytest.mark.parametrize("n_raters", [3, 5])
def test_a_judge_that_is_one_more_rater_has_no_gap_however_the_others_split(n_raters: int) -> None:
    """Were texts sorted by all their raters, a rater would agree for certain where all agree, and the judge would not."""
    found = split_raters(*drawn(6_000, n_raters), 3, **QUICK)
    assert len(found.degrees) >= 3
    for one in found.degrees:
        assert abs(one.agreement_gap.estimate) < 0.02, one.kind
        assert abs(one.distance_gap.estimate) < 0.02, one.kind
    unanimous = next(one for one in found.degrees if one.kind == "full")
    assert unanimous.rater_agreement.estimate < 0.95


def test_distances_depend_on_the_number_of_raters_and_their_difference_does_not() -> None:
    """Few others are a rough distribution: they change the distance, for rater and judge alike."""
    few, many = (split_raters(*drawn(4_000, n, seed=1), 3, **QUICK).degrees[0] for n in (2, 12))
    assert abs(few.rater_distance.estimate - many.rater_distance.estimate) > 0.03
    assert few.distance_gap.low < 0 < few.distance_gap.high
    assert many.distance_gap.low < 0 < many.distance_gap.high


def test_a_judge_that_answers_as_the_raters_do_is_nearer_with_all_its_answers() -> None:
    one, several = (split_raters(*drawn(2_000, 5, n), 3, **QUICK).degrees[0] for n in (1, 10))
    assert one.distribution_distance.estimate == pytest.approx(one.judge_distance.estimate)
    assert several.distribution_distance.estimate < several.judge_distance.estimate - 0.1
    assert several.distribution_brier.estimate < several.rater_brier.estimate


def test_its_doubt_follows_theirs_or_not() -> None:
    votes, answers = drawn(400, 5, 5, sharp=0.5)
    follows = split_raters(votes, answers, 3, **QUICK).follows
    assert follows.low > 0.2
    assert follows.n == 400
    elsewhere = split_raters(votes, np.roll(answers, 1, axis=0), 3, **QUICK).follows
    assert abs(elsewhere.estimate) < 0.2
    assert split_raters(votes, answers[:, :1], 3, **QUICK).follows.reason == ONE_ANSWER
    sure = split_raters(votes, np.zeros((400, 3), dtype=int), 3, **QUICK).follows
    assert sure.estimate is None
    assert "answers" in sure.reason


def test_two_raters_have_no_degrees_and_one_rater_nothing() -> None:
    votes, answers = drawn(30, 2)
    found = split_raters(votes, answers, 3, **QUICK)
    assert [one.kind for one in found.degrees] == ["all"]
    none = split_raters(votes[:, :1], answers, 3, **QUICK)
    assert none.degrees[0].rater_agreement.reason == NO_ANSWER
    assert (none.n, none.n_left_out) == (0, 30)
    assert split_raters(np.zeros((0, 3), int), np.zeros((0, 1), int), 3).degrees[0].n == 0


def test_the_order_of_texts_raters_and_answers_does_not_matter() -> None:
    votes, answers = drawn(60, 4, 3)
    items = np.arange(60) // 2
    turned = split_raters(votes[::-1, ::-1], answers[::-1, ::-1], 3, clusters=items[::-1], **QUICK)
    for one, other in zip(
        split_raters(votes, answers, 3, clusters=items, **QUICK).degrees, turned.degrees, strict=True
    ):
        assert one.agreement_gap.estimate == pytest.approx(other.agreement_gap.estimate)
        assert one.agreement_gap.low == pytest.approx(other.agreement_gap.low)


def test_a_row_of_few_items_has_no_interval() -> None:
    votes, answers = drawn(60, 5, seed=8)
    found = {
        one.kind: one.agreement_gap
        for one in split_raters(votes, answers, 3, clusters=np.arange(60) // 6, **QUICK).degrees
    }
    assert found["all"].low is not None
    assert found["all"].n_clusters == 10
    few = (
        split_raters(votes[:54], answers[:54], 3, clusters=np.arange(54) // 6, **QUICK)
        .degrees[0]
        .agreement_gap
    )
    assert few.estimate is not None
    assert (few.low, few.interval_reason) == (None, FEW_ITEMS)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="answers"):
        split_raters([[0, 1]], [[0], [1]], 3)


@pytest.mark.slow
def test_the_intervals_of_the_gaps_cover() -> None:
    """60 items of two texts, three raters, a judge that is one more rater: the gap is 0 in every row."""
    covered: dict[str, list[bool]] = {}
    for seed in range(150):
        votes, answers = drawn(120, 3, seed=seed)
        for one in split_raters(votes, answers, 3, clusters=np.arange(120) // 2, n_resamples=400).degrees:
            covered.setdefault(one.kind, []).append(one.agreement_gap.low <= 0 <= one.agreement_gap.high)
    for kind, own in covered.items():
        assert 0.91 <= np.mean(own) <= 0.98, (kind, np.mean(own))
