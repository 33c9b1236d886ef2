"""The rules of a scale, one at a time: what is shown, what is broken, what cannot be known."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.texts.checks import check_json, check_tables, checked, panel, rule
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from core.errors import InputError
from core.report.card import limits_of
from core.results.check.rules import Rule, decided, state_rule, verdict_of
from core.results.check.sentences import ceiling_sentence, check_said, sentence
from core.results.check.verdict import check_panel
from core.schema.scale import Scale, scale_of_range
from core.schema.unit import Unit
from core.schema.uses import CheckOptions, Use
from core.stats.agreement import intraclass_correlation
from core.stats.in_place import NOTHING_ABOVE_CHANCE

Values = NDArray[np.float64]
HARM = Scale("unordered", (0.0, 1.0, 2.0), {0.0: "fine", 1.0: "unhelpful", 2.0: "harmful"})


def graded(n: int, seed: int = 0, shifts: tuple[float, ...] = (0, 0, 0, 0), noise: float = 0.6) -> Values:
    """Ratings from 1 to 5: one quality a text, each rater with a shift and noise."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, n)[:, None]
    return np.clip(np.round(quality + np.array(shifts) + noise * rng.normal(size=(n, len(shifts)))), 1, 5)


def kinds(n: int, seed: int = 0, right: float = 0.9, harmful: float = 0.03) -> tuple[Values, Values]:
    """The true class of each text, and four raters who are right with this probability."""
    rng = np.random.default_rng(seed)
    shares = (0.6 - harmful / 2, 0.4 - harmful / 2, harmful)
    truth = rng.choice(3, n, p=shares).astype(np.float64)
    others = (truth[:, None] + rng.integers(1, 3, (n, 4))) % 3
    return truth, np.where(rng.random((n, 4)) < right, truth[:, None], others)


# --- levels ------------------------------------------------------------------------------------


def test_all_rules_must_be_shown_and_broken_ones_are_corrected_by_holm() -> None:
    def rules(*p: tuple[float | None, float | None]) -> tuple[Rule, ...]:
        return tuple(
            replace(state_rule(f"{at}", "", "", None), shown=shown, broken=broken)
            for at, (shown, broken) in enumerate(p)
        )

    assert verdict_of(decided(rules((0.049, 0.9), (0.049, 0.9)))) == "TRUSTED"
    assert verdict_of(decided(rules((0.049, 0.9), (0.051, 0.9)))) == "INCONCLUSIVE"
    assert verdict_of(decided(rules((0.9, 0.04), (0.01, 0.9)))) == "INCONCLUSIVE"  # .04 x 2
    assert verdict_of(decided(rules((0.9, 0.024), (0.01, 0.9)))) == "NOT TRUSTED"
    assert verdict_of(decided(rules((0.9, 0.04), (None, None)))) == "NOT TRUSTED"
    # Ten judges: .05 / 10 for each.
    assert verdict_of(decided(rules((0.006, 0.9)), n_judges=10)) == "INCONCLUSIVE"
    assert verdict_of(decided(rules((0.004, 0.9)), n_judges=10)) == "TRUSTED"
    (strict,) = decided((replace(rules((0.0126, 0.9))[0], strict=True),))
    assert strict.met is None
    (strict,) = decided((replace(rules((0.9, 0.026))[0], strict=True),))
    assert strict.met is None
    assert verdict_of(()) == "INCONCLUSIVE"


def test_several_judges_share_the_level() -> None:
    """A judge that is TRUSTED alone need not be beside nine others."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 330)
    people = np.where(rng.random((330, 4)) < 0.92, truth[:, None], 1 - truth[:, None]).astype(np.float64)
    alone = checked(panel(people[:, :3], people[:, 3]), "gate")
    coins = [rng.integers(0, 2, 330).astype(np.float64) for _ in range(40)]
    beside = check_panel(panel(people[:, :3], people[:, 3], *coins), CheckOptions(use="gate"))
    assert alone.verdict == "TRUSTED"
    assert beside.judges[0].verdict == "INCONCLUSIVE"
    assert check_json(beside)["judges_paid_for"] == 41


# --- ordered classes ---------------------------------------------------------------------------


def test_a_judge_that_is_only_too_high_is_named_so() -> None:
    people = graded(400)
    high = np.clip(people[:, 3] + 1, 1, 5)
    one = checked(panel(people[:, :3], high), "gate")
    assert one.verdict == "NOT TRUSTED"
    assert rule(one, "kappa-quadratic").met is False
    assert rule(one, "correlation").met is True
    assert "too high: map it" in one.severity
    low = checked(panel(people[:, :3], np.clip(people[:, 3] - 1, 1, 5)), "gate")
    assert "too low: map it" in low.severity


def test_a_judge_that_ranks_nothing_between_severe_and_lenient_raters_is_not_trusted() -> None:
    people = graded(400, shifts=(-1, 0, 1), noise=0.5)
    middle = np.full(400, 3.0)
    middle[::20] = 4.0
    one = checked(panel(people, middle), "gate")
    assert one.verdict == "NOT TRUSTED"
    assert not one.severity


def test_a_missing_score_of_an_ordered_scale_is_the_farther_end() -> None:
    people = graded(300)
    silent = people[:, 3].copy()
    silent[people[:, :3].mean(axis=1) < 2.5] = np.nan
    filled = np.where(np.isnan(silent), 5.0, silent)
    quiet, loud = (checked(panel(people[:, :3], one), "gate") for one in (silent, filled))
    assert rule(quiet, "kappa-quadratic").estimate.estimate == rule(loud, "kappa-quadratic").estimate.estimate
    assert quiet.verdict == "NOT TRUSTED"
    assert quiet.coverage is not None
    assert quiet.coverage < 0.9
    wrong, left_out = (
        check_panel(panel(people[:, :3], silent), CheckOptions(use="gate", missing_judge=missing))
        for missing in ("wrong", "leave-out")
    )
    counted = f"{quiet.n_unscored:,} of 300"
    assert counted in sentence(wrong, wrong.judges[0])
    assert counted not in sentence(left_out, left_out.judges[0])
    assert len(check_tables(wrong)["check"].notes) == len(check_tables(left_out)["check"].notes) + 1


SYMMETRIC = np.array([1.0, 1, 2, 3, 3, 4, 5, 5])
BALANCED = np.tile(np.column_stack([SYMMETRIC] * 4), (10, 1))
"""Ratings whose mean is the middle of the scale."""


@pytest.mark.parametrize(
    ("people", "first_level"),
    [
        (graded(300), 0),
        (graded(300, seed=1, shifts=(1, 0, 0, 1)), 0),
        (BALANCED, 0),  # all means are the middle: the ranks decide
        (np.delete(BALANCED, [0, 1, 8, 9, 15], axis=0), 2),
    ],
)
def test_a_turned_scale_turns_the_result_and_nothing_else(people: Values, first_level: int) -> None:
    """Where raters tie at the middle of the scale, both ends are equally far from a missing score."""
    silent = people[:, 3].copy()
    level = np.flatnonzero(people[:, :3].mean(axis=1) == 3)
    assert level.size >= 10
    silent[level[first_level::2]] = np.nan
    one, turned = (
        checked(panel(*both), "gate") for both in ((people[:, :3], silent), (6 - people[:, :3], 6 - silent))
    )
    assert turned.verdict == one.verdict
    for code in ("kappa-quadratic", "correlation", "kept-share"):
        first, second = rule(one, code), rule(turned, code)
        assert second.estimate.estimate == pytest.approx(first.estimate.estimate, abs=1e-12)
        assert second.estimate.low == pytest.approx(first.estimate.low, abs=1e-9)
        assert second.shown == pytest.approx(first.shown, abs=1e-9)
    assert turned.bias is not None
    assert one.bias is not None
    assert turned.bias.estimate == pytest.approx(-(one.bias.estimate or 0))


@pytest.mark.parametrize("shift", [1, -1])
def test_a_missing_score_at_the_middle_is_the_end_off_the_other_texts(shift: int) -> None:
    """The end that lowers the agreement more: the high one where people rate other texts high."""
    people = graded(300, shifts=(shift,) * 4)
    silent = people[:, 3].copy()
    silent[people[:, :3].mean(axis=1) == 3] = np.nan
    found, high, low = (
        rule(checked(panel(people[:, :3], one), "gate"), "kappa-quadratic").estimate.estimate
        for one in (silent, *(np.where(np.isnan(silent), end, silent) for end in (5.0, 1.0)))
    )
    assert found == min(high, low) < max(high, low)


def test_raters_who_always_agree_on_one_answer_are_still_two_raters() -> None:
    judge = np.full(60, 2.0)
    judge[::3] = 3.0
    ratings = Scale("ordered", (1.0, 2.0, 3.0), {}, (1.0, 3.0), "declared")
    check = check_panel(panel(np.full((60, 3), 2.0), judge, scale=ratings), CheckOptions(use="gate"))
    assert check.paired
    assert not check_panel(
        panel(np.full((60, 1), 2.0), judge, scale=ratings), CheckOptions(use="gate")
    ).paired
    assert check.ceiling.estimate is not None
    assert check.ceiling.estimate.estimate is None
    assert "undefined" in ceiling_sentence(check)
    assert any("undefined" in one for one in limits_of(check))


def test_a_kept_share_without_agreement_of_people_has_its_reason() -> None:
    """Two raters who choose at random, one against the other."""
    first = np.tile([1.0, 2.0, 3.0], 20)
    opposed = checked(panel(np.column_stack([first, 4 - first]), first), "gate")
    assert rule(opposed, "kept-share").behind.share.reason == NOTHING_ABOVE_CHANCE
    of_two = checked(panel(np.column_stack([first > 1, first < 2]), first > 1), "gate")
    assert rule(of_two, "kept-share").behind.share.reason == NOTHING_ABOVE_CHANCE


def test_the_intraclass_correlation_is_of_the_judge_in_each_raters_place() -> None:
    people = graded(100)
    one = checked(panel(people[:, :2], people[:, 3]), "gate")
    assert one.icc is not None
    places = [intraclass_correlation(people[:, [at, 3]], n_resamples=0).estimate or 0 for at in (0, 1)]
    assert one.icc.judge == pytest.approx(np.mean(places))
    assert one.icc.people == intraclass_correlation(people[:, :2], n_resamples=0).estimate


def test_a_lowest_pass_makes_two_classes_of_an_ordered_scale() -> None:
    people = graded(400)
    whole, passed = (
        panel(people[:, :3], people[:, 3]),
        panel(*(people[:, part] >= 4 for part in (slice(0, 3), 3))),
    )
    one, other = checked(whole, "gate", passes_from="4"), checked(passed, "gate")
    assert one.kind == "two"
    assert [each.code for each in one.rules] == [each.code for each in other.rules]
    assert [each.shown for each in one.rules] == pytest.approx([each.shown for each in other.rules])
    for wrong in ({"passes_from": "good"}, {"critical": ("1",)}):
        with pytest.raises(InputError):
            check_panel(whole, CheckOptions(use="gate", **wrong))


# --- classes without an order ------------------------------------------------------------------


def test_a_class_that_the_judge_never_names_fails_it() -> None:
    _, people = kinds(1_500, harmful=0.06)
    never = np.where(people[:, 3] == 2, 0.0, people[:, 3])
    one = checked(panel(people[:, :3], never, scale=HARM), "gate")
    assert rule(one, "kappa").met is True
    assert rule(one, "classes").met is False
    assert rule(one, "classes").of_class == "harmful"
    assert one.verdict == "NOT TRUSTED"


def test_a_critical_class_must_be_shown() -> None:
    _, people = kinds(400, harmful=0.01)
    given = panel(people[:, :3], people[:, 3], scale=HARM)
    assert checked(given, "gate").verdict == "TRUSTED"
    one = checked(given, "gate", critical=("harmful",))
    assert rule(one, "critical").met is None
    assert one.verdict == "INCONCLUSIVE"
    assert rule(one, "critical").class_needed is not None


@pytest.mark.parametrize("codes", [(0, 1, 2), (2, 0, 1), (7, 3, 11)])
def test_other_codes_of_an_unordered_scale_change_nothing(codes: tuple[int, ...]) -> None:
    _, people = kinds(300, seed=5)
    scale = Scale("unordered", tuple(sorted(float(one) for one in codes)))
    renamed = np.array(codes, dtype=np.float64)[people.astype(int)]
    one = checked(panel(renamed[:, :3], renamed[:, 3], scale=scale), "gate")
    before = checked(panel(people[:, :3], people[:, 3], scale=Scale("unordered", (0.0, 1.0, 2.0))), "gate")
    assert one.verdict == before.verdict
    assert [each.shown for each in one.rules] == pytest.approx([each.shown for each in before.rules])


def test_the_scale_is_not_what_was_observed() -> None:
    """A judge that is 1 too high, with and without one 5 among the ratings: one measure, and nearly one number."""
    people = np.minimum(graded(200, noise=0.3), 4)
    judge = people[:, 3] + 1
    with_five = people.copy()
    with_five[0, 0] = 5
    both = [checked(panel(one[:, :3], judge), "gate") for one in (people, with_five)]
    assert {one.verdict for one in both} == {"NOT TRUSTED"}
    assert {one.measure for one in both} == {"kappa_quadratic"}
    assert both[0].scale == both[1].scale == replace(scale_of_range(1, 5), origin="guessed")


# --- which texts are labelled --------------------------------------------------------------------


def _chosen(of_fails: float, of_passes: float, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    truth = rng.random(2_000) < 0.8
    seen = np.where(rng.random((2_000, 4)) < 0.92, truth[:, None], ~truth[:, None]).astype(np.float64)
    labelled = rng.random(2_000) < np.where(seen[:, 3] == 0, of_fails, of_passes)
    return panel(np.where(labelled[:, None], seen[:, :3], np.nan), seen[:, 3])


def test_labels_that_look_chosen_decide_nothing_until_it_is_said_how() -> None:
    chosen = _chosen(0.9, 0.2)
    one = checked(chosen, "gate")
    assert one.verdict == "INCONCLUSIVE"
    assert rule(one, "labels-chosen").met is None
    weighted = checked(chosen, "gate", labels_chosen="by-judge")
    assert one.rule("labels-chosen") is not None
    assert weighted.rule("labels-chosen") is None
    everything = _chosen(1, 1)
    whole = checked(everything, "gate")
    biased = checked(chosen, "gate", labels_chosen="at-random")
    wanted = rule(whole, "false-fails").behind.judge.estimate
    assert rule(weighted, "false-fails").behind.judge.estimate == pytest.approx(wanted, abs=0.03)
    assert rule(biased, "false-fails").behind.judge.estimate > wanted + 0.1


def test_an_answer_of_the_judge_without_a_label_is_named() -> None:
    one = checked(_chosen(0.0, 0.5), "gate", labels_chosen="by-judge")
    assert rule(one, "labels-chosen").met is None
    assert one.verdict == "INCONCLUSIVE"


def test_left_out_scores_need_coverage_and_labels_like_the_others() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 600)
    people = np.where(rng.random((600, 4)) < 0.92, truth[:, None], 1 - truth[:, None]).astype(np.float64)
    at_random, on_fails = people[:, 3].copy(), people[:, 3].copy()
    at_random[:12] = np.nan
    on_fails[np.flatnonzero((people[:, :3] == 0).all(axis=1))[:12]] = np.nan
    fine = checked(panel(people[:, :3], at_random), "gate", missing_judge="leave-out")
    assert rule(fine, "coverage").met is True
    bad = checked(panel(people[:, :3], on_fails), "gate", missing_judge="leave-out")
    assert rule(bad, "coverage").met is None
    n_fails = int((people[:, :3] == 0).all(axis=1).sum())
    assert fisher_exact([[12, 0], [n_fails - 12, 600 - n_fails]]).pvalue < 0.05


# --- units and words ---------------------------------------------------------------------------


def test_nobody_is_trusted_while_the_item_is_undecided() -> None:
    people = np.tile([[0.0, 0, 0, 0], [1.0, 1, 1, 1]], (100, 1))
    sure = panel(people[:, :3], people[:, 3])
    assert checked(sure, "gate").verdict == "TRUSTED"
    unsure = replace(sure, unit=Unit("id", n=200, undecided="question", n_values=14))
    assert checked(unsure, "gate").verdict == "INCONCLUSIVE"
    assert rule(checked(unsure, "gate"), "unit").met is None


def test_the_first_line_is_the_verdict_with_two_numbers_and_the_second_how_it_was_read() -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(600) < 0.9).astype(np.float64)
    people = np.where(rng.random((600, 3)) < 0.95, truth[:, None], 1 - truth[:, None])
    judge = np.where((truth == 0) & (rng.random(600) < 0.7), 1.0, truth)
    found = check_panel(panel(people, judge), CheckOptions(use="gate"))
    first, second, *_ = check_said(found)
    assert first == sentence(found, found.judges[0])
    assert first.startswith("NOT TRUSTED as a gate: it passes ")
    assert second.startswith("Read as: two classes (0, 1), guessed")
    rates = check_json(found)["judges"][0]["false_passes"]
    assert f"passes {100 * rates['judge']:.0f} % [" in first
    assert f"people pass {100 * rates['people']:.0f} % [" in first


def test_json_has_what_each_item_moves() -> None:
    """The difference without an item is, to first order, the difference minus the item's influence."""
    people = graded(120)
    found = check_panel(panel(people[:, :3], people[:, 3]), CheckOptions(use="gate"))
    moved = check_json(found)["rows"]["judges"]["j0"]["influence"]
    assert set(moved) == {"kappa-quadratic", "correlation", "kept-share"}
    for code, one in moved.items():
        assert len(one["items"]) == len(one["values"]) == 120
        assert sum(one["values"]) == pytest.approx(0, abs=1e-5)
        kept = np.arange(120) != 7
        without = checked(panel(people[kept, :3], people[kept, 3]), "gate")
        change = rule(found.judges[0], code).estimate.estimate - rule(without, code).estimate.estimate
        assert one["values"][one["items"].index("7")] == pytest.approx(change, abs=2e-3)


# --- whatever the file -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["two", "ordered", "unordered", "scores", "constant"])
@pytest.mark.parametrize("n", [1, 2, 5, 31])
def test_small_and_odd_files_have_a_verdict_without_nan(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, len(kind)])
    uses: tuple[Use, ...] = ("gate", "replace", "rank", "monitor", "certify")
    for use in uses:
        for raters in (1, 3):
            quality = rng.normal(size=n)[:, None] + rng.normal(size=(n, raters + 1))
            values = {
                "two": (quality > 0).astype(np.float64),
                "ordered": np.clip(np.round(3 + quality), 1, 5),
                "unordered": rng.integers(0, 3, quality.shape).astype(np.float64),
                "scores": np.round(50 + 10 * quality, 1),
                "constant": np.ones_like(quality),
            }[kind]
            values[rng.random(values.shape) < 0.3] = np.nan
            scale = {"scale": HARM} if kind == "unordered" else {}
            given = panel(values[:, 1:], values[:, 0], systems=[*"abc" * n][:n], **scale)
            for more in ({}, {"labels_chosen": "by-judge"}, {"missing_judge": "leave-out"}):
                try:
                    found = check_panel(given, CheckOptions(use=use, n_resamples=20, **more))
                except InputError:  # such as no text with a rating and a score
                    continue
                assert json.dumps(check_json(found), allow_nan=False)
                assert check_said(found)
                assert found.verdict != "TRUSTED" or n >= 30
