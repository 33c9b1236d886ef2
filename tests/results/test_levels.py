"""Scores by level, against counts made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.texts.score_factories import ladder, metric, table

from core.errors import InputError
from core.results.correlations.levels import ALL_EQUAL, EQUAL, MISSING, compare_levels
from core.schema.scores import ScoredRow
from core.stats.resampling import ONE_CLUSTER

SCORES = {
    "falls": [9, 6, 3],
    "rests": [8, 8, 2],
    "rises": [5, 4, 7],
    "backwards": [1, 2, 3],
    "gap": [4, None, 6],
}
"""At level 1 one of four is ahead of level 0 (backwards); at level 2 three of five (rises, backwards, gap)."""


def of(found):
    return {
        level: (share.estimate, share.n, share.n_left_out) for level, share in found.prefers_damaged.items()
    }


def test_shares_and_means_counted_by_hand():
    (found,) = compare_levels(table(ladder(SCORES)))
    assert list(found.levels) == ["0", "1", "2"]
    assert [mean.estimate for mean in found.levels.values()] == pytest.approx([27 / 5, 20 / 4, 21 / 5])
    assert [(mean.n, mean.n_left_out) for mean in found.levels.values()] == [(5, 0), (4, 1), (5, 0)]
    assert (found.monotonic.estimate, found.monotonic.n, found.monotonic.n_left_out) == (0.5, 4, 1)
    assert (found.strictly_monotonic.estimate, found.strictly_monotonic.n) == (0.25, 4)
    assert of(found) == {"1": (1 / 4, 4, 1), "2": (3 / 5, 5, 0), "all": (4 / 9, 9, 1)}


def test_the_worst_come_first_with_their_scores():
    (found,) = compare_levels(table(ladder(SCORES, dataset="d")), most_worst=3)
    leads = [(p.item_id, p.level, p.first_score, p.score) for p in found.worst]
    assert leads == [("rises", "2", 5, 7), ("backwards", "2", 1, 3), ("gap", "2", 4, 6)]
    assert found.worst[0].labels == {"dataset": "d"}


def test_a_metric_whose_lower_end_is_better_is_turned_but_keeps_its_scale():
    upright = table(ladder(SCORES))
    turned = replace(upright, metrics=(metric("ter", direction="lower"),), values=-upright.values)
    one, other = compare_levels(upright)[0], compare_levels(turned)[0]
    assert of(one) == of(other)
    assert [mean.estimate for mean in other.levels.values()] == [
        -mean.estimate for mean in one.levels.values()
    ]
    assert [(p.item_id, -p.first_score) for p in other.worst] == [
        (p.item_id, p.first_score) for p in one.worst
    ]


def test_levels_are_compared_within_a_system_and_its_labels():
    """Mixed up, the low scores of the second system would look like falls."""
    rows = (
        ladder({"i": [9, 8]}, system="a")
        + ladder({"i": [1, 2]}, system="b")
        + ladder({"i": [3, 1]}, prompt="p")
    )
    (found,) = compare_levels(table(rows))
    assert (found.monotonic.estimate, found.monotonic.n, found.monotonic.n_clusters) == (2 / 3, 3, 1)
    assert found.monotonic.interval_reason == ONE_CLUSTER


def test_the_interval_of_a_share_resamples_items():
    """Two of four items fall: of four drawn, all or none do with P = 1/16 > 0.025 each."""
    rows = ladder({"a": [2, 1], "b": [2, 1], "c": [1, 2], "d": [1, 2]})
    (found,) = compare_levels(table(rows))
    assert (found.monotonic.low, found.monotonic.high) == (0, 1)
    assert (found.monotonic.n_resamples, found.monotonic.n_undefined) == (2000, 0)


def test_several_metrics_give_what_each_gives_alone():
    rows = [(row, (score, None if score is None else score**2)) for row, score in ladder(SCORES)]
    both = compare_levels(table(rows, ("m", "square")))
    assert both[0] == compare_levels(table(ladder(SCORES)))[0]
    assert [one.metric for one in compare_levels(table(rows, ("m", "square")), metrics=["square"])] == [
        "square"
    ]
    assert of(both[0]) == of(both[1])


def test_levels_by_other_names_stand_in_the_order_of_their_numbers():
    rows = [(ScoredRow("i", "s", level), score) for level, score in (("A10", 1), ("A2", 2), ("A0", 3))]
    (found,) = compare_levels(table(rows))
    assert list(found.levels) == ["A0", "A2", "A10"]
    assert found.monotonic.estimate == 1


def test_an_unscored_metric_is_undefined_not_zero():
    (found,) = compare_levels(table(ladder({"i": [None, None], "j": [None, None]})))
    for estimate, reason in (
        (found.monotonic, "no item has a score at every level"),
        (next(iter(found.levels.values())), "no text at this level has a score"),
        (found.prefers_damaged["all"], "no item has scores both undamaged and damaged"),
    ):
        assert (estimate.estimate, estimate.n, estimate.reason) == (None, 0, reason)
    assert (found.monotonic.n_left_out, found.prefers_damaged["all"].n_left_out) == (2, 2)
    assert found.worst == ()


def test_a_judge_that_says_the_same_of_everything_wins_nothing():
    """36 texts, all 1: it used to be monotonic in 1.000 [1.000, 1.000] and to prefer no damaged text."""
    (found,) = compare_levels(table(ladder({f"i{k}": [1] * 6 for k in range(6)})))
    assert (found.constant.value, found.constant.share, found.constant.n) == (1, 1, 36)
    shares = [found.monotonic, *found.prefers_damaged.values()]
    assert {(one.estimate, one.low, one.high, one.n) for one in shares} == {(None, None, None, 0)}
    assert {one.reason for one in shares} == {ALL_EQUAL}
    assert (found.monotonic.n_left_out, found.prefers_damaged["all"].n_left_out) == (6, 30)
    assert found.left_out == {EQUAL: 6}
    # It falls nowhere, which is no win.
    assert (found.strictly_monotonic.estimate, found.strictly_monotonic.n) == (0, 6)


def test_an_item_whose_scores_are_all_equal_is_left_out_and_counted():
    """An item with some ties stays: rests is monotonic as before. Of a gap only what is there is compared."""
    equal = {"same": [7, 7, 7], "same but for a gap": [2, None, 2], "by rounding": [0.3, 0.1 + 0.2, 0.3]}
    (found,) = compare_levels(table(ladder(SCORES | equal)))
    assert (found.monotonic.estimate, found.monotonic.n, found.monotonic.n_left_out) == (0.5, 4, 4)
    assert found.left_out == {MISSING: 2, EQUAL: 2}
    assert (found.strictly_monotonic.estimate, found.strictly_monotonic.n) == (1 / 6, 6)
    assert of(found) == {"1": (1 / 4, 4, 4), "2": (3 / 5, 5, 3), "all": (4 / 9, 9, 7)}
    assert found.constant is None
    assert [mean.n for mean in found.levels.values()] == [8, 6, 8], "means are of all texts"


def test_a_judge_that_is_nearly_constant_is_named_with_what_its_numbers_rest_on():
    (found,) = compare_levels(table(ladder({f"i{k}": [1, 1, 1, 1] for k in range(9)} | {"j": [2, 1, 1, 1]})))
    assert (found.constant.value, found.constant.n, found.constant.n_others) == (1, 40, 1)
    assert (found.monotonic.estimate, found.monotonic.n, found.left_out) == (1, 1, {EQUAL: 9})


def test_a_constant_metric_leaves_its_neighbours_alone():
    rows = [(row, (score, 3.0)) for row, score in ladder(SCORES)]
    both = compare_levels(table(rows, ("m", "same")))
    assert both[0] == compare_levels(table(ladder(SCORES)))[0]
    assert both[1].monotonic.reason == ALL_EQUAL


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(ScoredRow("i", "s"), 1.0)], "Found: none"),
        (ladder({"i": [1.0]}), "Found: 0"),
        (
            ladder({"i": [1.0, 2.0]}) + ladder({"i": [3.0]}),
            "item i, system s, level 0 is listed more than once",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(rows, said):
    with pytest.raises(InputError, match=said):
        compare_levels(table(rows))


def test_an_unknown_metric_gets_a_suggestion():
    with pytest.raises(InputError, match=r"'blue-4' is unknown; did you mean bleu-4"):
        compare_levels(table(ladder({"i": [1.0, 2.0]}), ("bleu-4",)), metrics=["blue-4"])


def test_the_mean_agrees_with_a_bootstrap_that_draws_items_one_by_one():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(40, 2))
    (found,) = compare_levels(
        table(ladder({f"i{k}": row.tolist() for k, row in enumerate(values)})), n_resamples=20_000
    )
    singly = values[np.random.default_rng(6).integers(0, 40, (20_000, 40)), 1].mean(axis=1)
    low, high = np.quantile(singly, [0.025, 0.975])
    second = [*found.levels.values()][1]
    assert (second.low, second.high) == pytest.approx((low, high), abs=0.01)
