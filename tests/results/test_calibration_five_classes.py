"""Calibration beyond three classes: split raters, scores off the scale, order beside classes, one measure for both."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers.texts.calibrations import answered
from helpers.texts.five_classes import QUICK, compared, given, panel
from helpers.texts.score_factories import ratings as rating_set
from helpers.texts.score_factories import table
from scipy.stats import kendalltau, spearmanr

from core.analyses.calibrate.rows import NO_VERDICT
from core.results.calibration.cells import NO_MAJORITY, OFF_SCALE, evaluators_of
from core.results.calibration.results import (
    LESS_THAN_A_RATER,
    SHIFTED,
    advice,
    calibrate,
    maps_of,
    rule_tests,
    verdict_of,
    verdicts_of,
)
from core.schema.figures import Intervals
from core.schema.scale import DeclaredScale
from core.schema.scores import Rating, ScoredRow
from core.schema.study import Dimension
from core.stats.agreement import majority_labels
from core.stats.votes import MISSING

RATERS = ("raters_agreement", "raters_pairwise", "raters_f1", "raters_kappa", "raters_alpha", "raters_ac1")


def test_a_text_of_split_raters_drops_out_unless_a_rule_is_asked_for() -> None:
    votes, said = panel()
    codes = votes.astype(int) - 1
    split = np.array([len(set(row)) == 3 for row in codes.tolist()])
    assert 100 < split.sum() < 500
    found = compared(votes, said)
    assert found.options.majority == "drop"
    (cell,) = found.cells
    assert cell.left_out == {NO_MAJORITY["drop"]: split.sum()}
    assert cell.statistics["agreement"].n == (~split).sum()
    for rule in ("middle", "median"):
        labels = majority_labels(codes, 5, rule)
        given = np.array([label in row for label, row in zip(labels.tolist(), codes.tolist(), strict=True)])
        assert (given | (labels == MISSING)).all(), f"{rule} names a class that no rater gave"
    middle = compared(votes, said, QUICK.but(majority="middle")).cells[0]
    without = sum(len(set(row)) == 3 and 2 not in row for row in codes.tolist())
    assert middle.left_out == {NO_MAJORITY["middle"]: without}


def test_a_median_is_undefined_where_the_two_middle_votes_differ() -> None:
    votes = np.array([[1, 2, 4, 5], [1, 3, 3, 5], [1, 2, 2, 2]] * 4, dtype=float)
    cell = compared(votes, votes[:, 1], QUICK.but(majority="median")).cells[0]
    assert cell.left_out == {NO_MAJORITY["median"]: 4}
    assert cell.statistics["agreement"].n == 8


@pytest.mark.parametrize("task", [False, True], ids=["classes as given", "classes of the task"])
def test_a_score_off_the_scale_is_left_out_and_changes_nobody_elses_numbers(task: bool) -> None:
    """One 0.33 on a scale of 1 to 5: raters keep their numbers, and the evaluator has one text fewer."""
    dimensions = (Dimension("LA", "", "", 1, 5),) if task else ()
    votes, said = panel()
    clean = compared(votes, said, dimensions=dimensions)
    place = int(np.flatnonzero([len(set(row)) < 3 for row in votes.tolist()])[0])
    said[place] = 0.33
    found = compared(votes, said, dimensions=dimensions)
    before, after = clean.cells[0], found.cells[0]
    assert after.classes == (1, 2, 3, 4, 5)
    assert (after.n, after.n_off_scale) == (600, 1)
    assert {name: after.statistics[name] for name in RATERS} == {
        name: before.statistics[name] for name in RATERS
    }
    assert after.left_out == {**before.left_out, OFF_SCALE: 1}
    for name in ("agreement", "spearman", "shift", "pairwise"):
        assert after.statistics[name].n == before.statistics[name].n - 1
    assert sum(map(sum, (one.majority for one in after.distributions))) == after.statistics["agreement"].n
    assert sum(map(sum, (one.evaluator for one in after.distributions))) == after.statistics["agreement"].n
    (mapped,) = maps_of(found).values()
    assert mapped.n == 599
    assert mapped.error_before.estimate is not None


def test_many_scores_off_the_scale_are_said_and_most_of_them_are_another_scale() -> None:
    votes, said = panel()
    said[:60] = 7
    cell = compared(votes, said).cells[0]
    assert (cell.classes, cell.n_off_scale) == ((1, 2, 3, 4, 5), 60)
    assert verdict_of(cell).value == "off the scale"
    other = compared(votes, panel()[1] * 20).cells[0]
    assert (other.classes, other.n_off_scale) == ((), 0)
    assert other.statistics["spearman"].estimate == pytest.approx(
        compared(votes, panel()[1]).cells[0].statistics["spearman"].estimate
    )


def test_rank_correlations_stand_beside_classes_with_intervals_over_items() -> None:
    votes, said = panel()
    statistics = compared(votes, said).cells[0].statistics
    mean = votes.mean(axis=1)
    for name, theirs in (("spearman", spearmanr), ("kendall", kendalltau)):
        found = statistics[name]
        assert found.estimate == pytest.approx(theirs(said, mean).statistic)
        assert found.low < found.estimate < found.high
    assert statistics["shift"].estimate == pytest.approx((said - mean).mean())


def test_people_and_evaluator_are_compared_by_pairs() -> None:
    """Two raters of a text; the evaluator and a rater of it: the same measure, and the gap is their difference."""
    votes, said = panel()
    found = compared(votes, said)
    statistics = found.cells[0].statistics
    pairs = [(votes[:, a] == votes[:, b]).mean() for a, b in combinations(range(3), 2)]
    raters, evaluator = statistics["raters_pairwise"], statistics["pairwise"]
    assert raters.estimate == pytest.approx(np.mean(pairs))
    assert evaluator.estimate == pytest.approx((votes == said[:, None]).mean())
    assert statistics["gap"].estimate == pytest.approx(evaluator.estimate - raters.estimate)
    whole = answered(*given(votes, said), averaged="pooled").json
    assert whole["agreement"]["raters_pairwise"]["estimate"] == raters.estimate
    assert whole["agreement"]["evaluator_pairwise"]["estimate"] == evaluator.estimate


def test_a_judge_that_is_worse_than_a_rater_does_not_look_better_than_people() -> None:
    """It equals the majority more often than all three raters are equal, yet a rater less often than another rater."""
    votes, said = panel(noise=1.8)
    statistics = compared(votes, said).cells[0].statistics
    assert statistics["agreement"].estimate > statistics["raters_agreement"].estimate
    assert statistics["pairwise"].estimate < statistics["raters_pairwise"].estimate
    drawn = answered(*given(votes, said)).figures["agreement"]
    assert isinstance(drawn, Intervals)
    assert drawn.sides == ("raters_pairwise", "pairwise")


def test_a_judge_that_agrees_less_than_a_rater_is_told_so() -> None:
    """It is noisier than the raters and not biased: no objection would let it stand in for one of them."""
    found = compared(*panel(noise=2.5))
    (cell,) = found.cells
    assert cell.statistics["bias"].low < 0 < cell.statistics["bias"].high
    assert cell.statistics["gap"].high < 0
    assert verdict_of(cell).value == LESS_THAN_A_RATER
    assert [one.verdict for one in advice(found).warned] == [LESS_THAN_A_RATER]
    assert "No objection" not in advice(found).sentence


def test_the_tests_of_many_groups_are_corrected_for_their_number() -> None:
    """A gap that a single group shows is not shown among forty groups of which the others show none."""
    (cell,) = compared(*panel(noise=2.5)).cells
    gap = replace(cell.statistics["gap"], estimate=-0.05, low=-0.09, high=-0.01)
    one = replace(cell, statistics={**cell.statistics, "gap": gap})
    others = replace(
        cell, statistics={**cell.statistics, "gap": replace(gap, estimate=0.0, low=-0.04, high=0.04)}
    )
    alone, among = rule_tests([one])[0]["gap"], rule_tests([one, *[others] * 39])[0]["gap"]
    assert alone.p == alone.p_bh == among.p < 0.05
    assert (among.n_tests, among.p_bh) == (40, pytest.approx(40 * alone.p))
    assert verdict_of(one).value == LESS_THAN_A_RATER
    assert [found.value for found in verdicts_of([one, *[others] * 39])] == ["no objection"] * 40
    chance = replace(cell.statistics["kappa"], estimate=0.2, low=0.01, high=0.4)
    weak = replace(others, statistics={**others.statistics, "kappa": chance})
    null = replace(weak, statistics={**weak.statistics, "kappa": replace(chance, estimate=0.01, low=-0.2)})
    assert verdict_of(weak).value == "no objection"
    (reason,) = verdicts_of([weak, null])[0].reasons
    assert "correction for 2 groups" in reason


def test_an_interval_without_width_has_no_p_and_still_counts() -> None:
    (cell,) = compared(*panel(noise=2.5)).cells
    gap = replace(cell.statistics["gap"], estimate=-1.0, low=-1.0, high=-1.0)
    one = replace(cell, statistics={**cell.statistics, "gap": gap})
    assert rule_tests([one, cell])[0]["gap"].p is None
    assert verdicts_of([one, cell])[0].value == LESS_THAN_A_RATER


def test_a_judge_that_orders_well_but_is_shifted_is_told_so() -> None:
    """It is one class and a half too strict: its classes agree badly, its order is the best there is."""
    found = compared(*panel(shift=1.5))
    (cell,) = found.cells
    judged = advice(found)
    assert verdict_of(cell).value == "orders well, but is shifted"
    assert cell.statistics["spearman"].low > 0.5
    assert cell.statistics["shift"].high < -0.25
    assert cell.statistics["gap"].high < 0
    assert [one.verdict for one in judged.warned] == [SHIFTED]
    assert "orders texts well, but is shifted" in judged.sentence
    said = answered(*given(*panel(shift=1.5))).json
    assert said["by_group"][0]["verdict"]["value"] == SHIFTED
    assert said["by_group"][0]["numbers"]["spearman"]["low"] == cell.statistics["spearman"].low
    assert said["not_to_use"]["groups"][0]["verdict"] == SHIFTED


def test_neither_a_good_judge_nor_a_random_one_is_shifted() -> None:
    votes, said = panel()
    assert verdict_of(compared(votes, said).cells[0]).value == "no objection"
    random = np.random.default_rng(1).integers(1, 3, len(votes)).astype(float)
    assert verdict_of(compared(votes, random).cells[0]).value == "not shown better than chance"


def test_one_rater_alone_is_compared_with_the_evaluator() -> None:
    votes, said = panel()
    statistics = compared(votes[:, :1], said).cells[0].statistics
    assert statistics["raters_pairwise"].estimate is None
    assert statistics["pairwise"].estimate == pytest.approx((votes[:, 0] == said).mean())


def test_a_judge_that_says_nothing_is_named_so_first() -> None:
    votes, said = panel()
    constant = compared(votes, np.full(600, 3.0))
    assert verdict_of(constant.cells[0]).value == "says nothing"
    assert "all 600 texts the same score, 3" in verdict_of(constant.cells[0]).reasons[0]
    assert "same score" in advice(constant).sentence
    assert constant.cells[0].statistics["spearman"].estimate is None
    said[20:] = 3
    nearly = compared(votes, said).cells[0]
    assert (nearly.constant.value, nearly.constant.n) == (3, 600)
    found = answered(*given(votes, np.full(600, 3.0))).json["by_group"][0]
    assert found["constant"] == {"value": 3.0, "share": 1.0, "n": 600, "n_others": 0}
    few = compared(votes[:12], np.full(12, 3.0)).cells[0]
    assert verdict_of(few).value == "too few texts"
    assert len(verdict_of(few).reasons) > 1


@pytest.mark.parametrize("scores", ["constant", "varying"])
def test_people_who_rate_every_text_alike_leave_no_verdict(scores: str) -> None:
    """Kappa of a constant majority is undefined or at most 0, whatever the evaluator answers."""
    votes = np.full((60, 3), 2.0)
    said = np.full(60, 2.0)
    if scores == "varying":
        said[::30] = 3.0
        votes[1::30, 0] = 3.0
    found = compared(votes, said)
    (cell,) = found.cells
    assert cell.only_answer == 2
    assert cell.only_rating == (2 if scores == "constant" else None)
    verdict = verdict_of(cell)
    assert verdict.value is None
    assert len(verdict.reasons) == 1
    answer = answered(*given(votes, said))
    whole = answer.json
    assert [one.code for one in answer.verdicts] == ["undefined"]
    assert whole["by_group"][0]["verdict"]["value"] is None
    assert [one["verdict"] for one in whole["not_to_use"]["groups"]] == [None]
    assert whole["not_to_use"]["sentence"] == advice(found).sentence
    assert "replace people" not in advice(found).sentence
    (row,) = answer.tables["where-not-to-use"].rows
    assert NO_VERDICT in row


def test_ratings_that_never_vary_object_to_no_evaluator() -> None:
    """As where ratings are numbers: nothing tells a good evaluator from a bad one."""
    said = np.full(60, 2.0)
    said[::3] = 3.0
    found = compared(np.full((60, 3), 2.0), said, scale=DeclaredScale(ends=(1.0, 5.0)))
    assert found.cells[0].only_rating == 2
    verdict = verdict_of(found.cells[0])
    assert (verdict.value, len(verdict.reasons)) == (None, 1)
    assert "replace people" not in advice(found).sentence


def test_ratings_vary_though_majorities_that_exist_do_not() -> None:
    """One of two raters always answers 2: where the other answers 3 there is no majority."""
    votes = np.full((60, 2), 2.0)
    votes[::3, 1] = 3.0
    said = np.where(np.arange(60) % 2 == 0, 2.0, 3.0)
    (cell,) = compared(votes, said).cells
    assert (cell.only_rating, cell.only_answer) == (None, 2)


def test_majorities_that_never_vary_may_still_object_to_an_evaluator() -> None:
    """Another rater nearly always agrees; the evaluator agrees on two thirds of the texts."""
    said = np.full(60, 2.0)
    said[::3] = 3.0
    votes = np.full((60, 3), 2.0)
    votes[1::30, 0] = 3.0
    verdict = verdict_of(compared(votes, said).cells[0])
    assert verdict.value in {LESS_THAN_A_RATER, "biased"}
    assert len(verdict.reasons) == 2


def test_a_popular_class_that_people_give_as_often_says_something() -> None:
    """Of 400 texts people call 15 bad; a judge that finds most of them is nearly constant, and right."""
    votes = np.full((400, 3), 1.0)
    votes[:15] = 0
    said = votes[:, 0].copy()
    said[0] = 1
    found = compared(votes, said)
    cell = found.cells[0]
    assert (cell.constant.value, cell.constant.n_others) == (1, 14)
    assert verdict_of(cell).value == "no objection"
    (named,) = advice(found).constants
    assert named.startswith("judge (LA) is nearly constant: 386 of 400 texts")


def test_a_constant_judge_is_named_though_every_group_is_small() -> None:
    votes = panel(36)[0]
    people = rating_set(
        *(
            Rating(f"i{n}", float(score), "s", None, f"r{who}", "LA", f"l{n % 6}")
            for n, scores in enumerate(votes)
            for who, score in enumerate(scores)
        )
    )
    made = table([(ScoredRow(f"i{n}", "s", None, f"l{n % 6}"), 1.0) for n in range(36)], ["judge-LA"])
    found = calibrate(people, made, evaluators_of(made, people)[0], options=QUICK)
    assert {verdict_of(cell).value for cell in found.cells} == {"too few texts"}
    assert advice(found).constants[0].startswith("judge (LA) is constant: all 36 texts")
