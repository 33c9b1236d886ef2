"""The rules of each use against calculations by hand, and verdicts that must not change with how a file is written."""

import tracemalloc
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from helpers.texts.checks import check_json, check_tables, checked, panel, rule
from numpy.typing import NDArray
from scipy.stats import binom, norm, spearmanr
from sklearn.metrics import cohen_kappa_score

from core.errors import InputError
from core.results.check.ranking import order_by_chance
from core.results.check.rules import decided, interval_rule
from core.results.check.verdict import Check, check_panel
from core.schema.scale import Scale
from core.schema.uses import CheckOptions, Use
from core.stats.resampling import Estimate

USES: tuple[Use, ...] = ("replace", "rank", "gate", "monitor")
Values = NDArray[np.float64]


def raters(n: int, number: int = 4, right: float = 0.9, classes: int = 2, seed: int = 0) -> Values:
    """Ratings (n, number): the true class, or any with probability 1 - right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, classes + 1, n)[:, None]
    shape = (n, number)
    return np.where(rng.random(shape) < right, truth, rng.integers(1, classes + 1, shape)).astype(np.float64)


# --- numbers by hand -----------------------------------------------------------------------------

FIVE = np.array([[1, 1, 1], [1, 1, 2], [2, 2, 2], [1, 2, 2], [2, np.nan, 2]])
FIVE_JUDGED = np.array([1, 2, 2, 1, 1])


def test_agreement_and_ceiling_by_hand() -> None:
    one = checked(panel(FIVE, FIVE_JUDGED), "gate")
    assert one.measure == "agreement"
    # Shares of raters with the judge's class: 1, 1/3, 1, 1/3, 0. Pairs of raters that agree: 1, 1/3, 1, 1/3, 1.
    assert one.agreement.estimate == pytest.approx((1 + 1 / 3 + 1 + 1 / 3 + 0) / 5)
    assert one.ceiling.value == pytest.approx((1 + 1 / 3 + 1 + 1 / 3 + 1) / 5)
    # Always 2: shares 0, 1/3, 1, 2/3, 1.
    assert one.constant is not None
    assert (one.constant.answer, one.constant.agreement) == (2, pytest.approx(3 / 5))


def test_the_rules_of_two_classes_by_hand() -> None:
    """Two raters of 100 texts who agree on 30 fails and 60 passes; the judge passes 9 of the fails and fails 3 of the passes."""
    first = np.repeat([1.0, 2.0, 1.0, 2.0], [30, 60, 5, 5])
    second = np.repeat([1.0, 2.0, 2.0, 1.0], [30, 60, 5, 5])
    judge = np.concatenate([np.repeat([2.0, 1.0], [9, 21]), np.repeat([1.0, 2.0], [3, 57]), np.ones(10)])
    one = checked(panel(np.column_stack([first, second]), judge), "gate")
    found = check_json(check_panel(panel(np.column_stack([first, second]), judge), CheckOptions(use="gate")))
    # Each rater is the reference of the other: 30 + 30 + 10 places fail, 60 + 60 + 10 pass, each of half a text.
    assert found["judges"][0]["false_passes"]["judge"] == pytest.approx(18 / 70)
    assert found["judges"][0]["false_passes"]["people"] == pytest.approx(10 / 70)
    assert found["judges"][0]["false_fails"]["judge"] == pytest.approx((6 + 10) / 130)
    assert found["judges"][0]["false_fails"]["people"] == pytest.approx(10 / 130)
    # Covariance of two raters of 35 % fails: .6 - .65^2; of the judge and a rater: P(both pass) - .66 x .65.
    people, mine = 0.6 - 0.65**2, 0.57 - 0.66 * 0.65
    assert found["judges"][0]["kept_share"]["share"] == pytest.approx(mine / people)
    assert rule(one, "kept-share").limit == 0


def test_kappa_is_of_the_judge_with_every_rater_pooled() -> None:
    one = checked(panel(FIVE, FIVE_JUDGED), "gate")
    at, rater = np.nonzero(~np.isnan(FIVE))
    assert one.kappa is not None
    assert one.kappa.estimate == pytest.approx(cohen_kappa_score(FIVE[at, rater], FIVE_JUDGED[at]))


def test_ac1_with_one_rater_by_hand() -> None:
    people, judge = [1] * 40 + [2] * 10, [1] * 36 + [2] * 4 + [1] * 4 + [2] * 6
    one = checked(panel(np.array([people]).T, judge), "gate")
    # Gwet 2008: chance agreement 2 q (1 - q) for two classes, q the mean share of a class: (.8 + .8) / 2.
    observed, chance = 42 / 50, 2 * 0.8 * 0.2
    assert one.ac1 is not None
    assert one.ac1.estimate == pytest.approx((observed - chance) / (1 - chance))
    assert one.kappa is not None
    assert one.kappa.estimate == pytest.approx(cohen_kappa_score(people, judge))


def test_bias_is_a_share_of_the_raters_scale() -> None:
    people = np.array([[1, 2], [5, 5], [3, 4], [2, 2]])
    one = checked(panel(people, [2, 5, 4, 3]), "monitor")
    assert one.bias is not None
    assert one.bias.estimate == pytest.approx((0.5 + 0 + 0.5 + 1) / 4 / 4)


def test_correlation_is_with_the_mean_of_the_raters() -> None:
    rng = np.random.default_rng(1)
    people = rng.normal(size=(40, 3)) + rng.normal(size=(40, 1))
    from scipy.stats import spearmanr

    judge = people.mean(axis=1) + rng.normal(size=40)
    one = checked(panel(people, judge), "gate")
    assert one.measure == "correlation"
    assert one.kappa is None
    assert one.correlation is not None
    assert one.correlation.estimate == pytest.approx(spearmanr(judge, people.mean(axis=1)).statistic)


def test_the_order_of_four_systems_by_hand() -> None:
    names = np.array(list("abcd"))
    # One order of 24 has all six pairs right; four have five or more: the right one and three swaps of neighbours.
    right = order_by_chance(np.arange(4.0), np.arange(4.0), names)
    one_wrong = order_by_chance(np.array([1.0, 0, 2, 3]), np.arange(4.0), names)
    assert right == pytest.approx(1 / 24)
    assert one_wrong == pytest.approx(4 / 24)
    assert order_by_chance(np.arange(4.0)[::-1], np.arange(4.0), names) == 1


def test_the_order_of_many_systems_is_drawn() -> None:
    exact = [
        sum(one[i] < one[j] for i in range(5) for j in range(i + 1, 5)) >= 8 for one in permutations(range(5))
    ]
    swapped = np.array([1.0, 0, 3, 2, 4])  # 8 of 10 pairs right
    assert order_by_chance(swapped, np.arange(5.0), np.array(list("abcde"))) == pytest.approx(np.mean(exact))
    ten = np.arange(10.0)
    assert order_by_chance(ten, ten, np.array(list("abcdefghij"))) < 0.001


def test_the_order_of_hundreds_of_systems_takes_little_memory() -> None:
    many = np.arange(300.0)
    tracemalloc.start()
    assert order_by_chance(many, many, many.astype(str)) < 0.001
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()


def test_a_judge_of_one_system_ranks_nothing() -> None:
    given = raters(40, 2, classes=5)
    scores = np.where(np.arange(40) < 20, given[:, 0], np.nan)
    one = checked(panel(given, scores, systems=np.repeat(["a", "b"], 20)), "rank")
    assert one.verdict == "INCONCLUSIVE"
    assert rule(one, "accuracy").estimate.estimate is None


def test_no_order_of_three_systems_is_beyond_chance() -> None:
    n = 60
    quality = np.tile([0.0, 5.0, 10.0], n) + np.random.default_rng(0).normal(size=3 * n)
    found = panel(
        np.column_stack([quality] * 2), quality, items=np.repeat(np.arange(n), 3), systems=list("abc") * n
    )
    one = checked(found, "rank")
    assert rule(one, "accuracy").met is True
    assert rule(one, "order").met is None
    assert one.verdict == "INCONCLUSIVE"
    assert one.labels_needed is None
    assert one.labels_reason


def test_labels_needed_by_its_formula() -> None:
    """The normal quantile of the smaller p grows with the root of the number of items: to that of .05 in .8 of files."""
    people = raters(150, 4, 0.7, seed=1)
    one = checked(panel(people[:, :3], people[:, 3]), "gate")
    found = max((rule for rule in one.rules if rule.met is None), key=lambda rule: rule.labels_needed or 0)
    z = -norm.ppf(min(p for p in (found.shown, found.broken) if p is not None))
    wanted = int(np.ceil(150 * ((norm.ppf(0.95) + norm.ppf(0.8)) / z) ** 2))
    assert one.verdict == "INCONCLUSIVE"
    assert found.labels_needed == wanted
    assert one.labels_needed == wanted - 150
    n_of_class = found.behind.difference.n
    assert found.class_needed == int(np.ceil(wanted * n_of_class / 150))


@pytest.mark.slow
def test_the_promised_labels_settle_most_draws() -> None:
    """The true rates are what was estimated, and the promised number of items is labelled: .8 of files, less for .8 by three rules."""
    rng = np.random.default_rng(4)
    settled = []
    for seed in range(200):
        n = 150
        people = raters(n, 4, 0.8, seed=seed)
        one = checked(panel(people[:, :3], people[:, 3]), "gate")
        if one.verdict != "INCONCLUSIVE" or one.labels_needed is None or one.labels_needed > 2_000:
            continue
        rows = rng.integers(0, n, n + one.labels_needed)
        again = checked(panel(people[rows, :3], people[rows, 3]), "gate")
        settled.append(again.verdict != "INCONCLUSIVE")
        if len(settled) == 60:
            break
    assert 0.5 < np.mean(settled) < 0.95


# --- verdicts that must be so -----------------------------------------------------------------------


def test_what_the_check_must_say() -> None:
    rng = np.random.default_rng(5)
    people = raters(500)
    judges = {
        "copy": people[:, 3],
        "coin": rng.integers(1, 3, 500),
        "constant": np.ones(500),
    }
    found = check_panel(panel(people[:, :3], *judges.values()))
    assert found.use == "replace"
    assert [one.verdict for one in found.judges] == ["TRUSTED", "NOT TRUSTED", "NOT TRUSTED"]
    few = check_panel(panel(people[:12, :3], people[:12, 3]))
    assert few.verdict == "INCONCLUSIVE"


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("n", [1, 2, 12])
def test_few_items_are_never_trusted(use: Use, n: int) -> None:
    people = raters(2 * n)
    one = checked(
        panel(people[:, :3], people[:, 3], items=np.repeat(np.arange(n), 2), systems=["a", "b"] * n), use
    )
    assert one.verdict != "TRUSTED"
    assert rule(one, "items").met is None


@pytest.mark.parametrize("use", USES)
def test_a_constant_judge_is_not_trusted(use: Use) -> None:
    people = raters(120)
    one = checked(
        panel(people[:, :3], np.full(120, 2), items=np.repeat(np.arange(60), 2), systems=["a", "b"] * 60), use
    )
    assert one.verdict == "NOT TRUSTED"


@pytest.mark.parametrize("use", USES)
def test_a_judge_on_another_scale(use: Use) -> None:
    """0 to 100 against 1 to 5: scores cannot be subtracted, so only the uses that read ranks can trust it."""
    rng = np.random.default_rng(2)
    systems = np.array(list("abcde") * 60)
    quality = np.tile([1.0, 2, 3, 4, 5], 60)[:, None]
    people = np.clip(np.round(quality + rng.normal(0, 0.5, (300, 4))), 1, 5)
    found = panel(people[:, :3], 20 * people[:, 3] - 0.5, items=np.repeat(np.arange(60), 5), systems=systems)
    one = checked(found, use)
    assert one.bias is None
    assert one.verdict == ("TRUSTED" if use in {"rank", "gate"} else "INCONCLUSIVE")
    if use in {"replace", "monitor"}:
        assert one.labels_needed is None


def test_labels_without_an_order() -> None:
    people = raters(300, classes=3)
    found = panel(
        people[:, :3], people[:, 3], scale=Scale("unordered", (1.0, 2.0, 3.0), {1.0: "x", 2.0: "y", 3.0: "z"})
    )
    one = checked(found, "replace")
    assert one.verdict == "TRUSTED"
    assert one.correlation is None
    assert one.bias is None
    for use in ("rank", "monitor"):
        if use == "monitor":
            assert checked(found, "monitor").verdict == "INCONCLUSIVE"


def test_raters_of_one_class() -> None:
    ones = np.ones((60, 3))
    same = checked(panel(ones, np.ones(60)), "gate")
    assert same.verdict == "INCONCLUSIVE"
    now_and_then = np.where(np.arange(60) % 20 == 0, 2.0, 1.0)
    assert checked(panel(ones, now_and_then), "gate").verdict != "TRUSTED"


def test_missing_scores_are_errors_and_counted() -> None:
    people = raters(200)
    judge = people[:, 3].copy()
    judge[::4] = np.nan
    people[1, :3] = np.nan
    found = check_panel(panel(people[:, :3], judge), CheckOptions(use="gate"))
    assert (found.judges[0].n_texts, found.judges[0].n_left_out) == (149, 51)
    assert (found.n_items, found.n_left_out) == (149, 51)
    assert found.judges[0].n_unscored == 50
    assert found.judges[0].coverage == pytest.approx(149 / 199)
    assert found.verdict == "NOT TRUSTED"
    left = check_panel(found.panel, CheckOptions(use="gate", missing_judge="leave-out"))
    assert left.verdict == "INCONCLUSIVE"
    assert rule(left.judges[0], "coverage").met is None


def test_items_count_if_two_raters_labelled_them() -> None:
    people = raters(200, 2)
    people[20:, 1] = np.nan
    one = checked(panel(people, people[:, 0]), "gate")
    assert rule(one, "items").met is None
    assert one.agreement.n_clusters == 20


def test_weak_raters_do_not_make_their_colleague_useless() -> None:
    """Raters who nearly toss coins have a kappa of .04 with each other, and so has another one of them."""
    people = raters(1000, 4, 0.2)
    one = checked(panel(people[:, :3], people[:, 3]), "monitor")
    assert one.correlation is not None
    assert one.correlation.high is not None
    assert one.correlation.high < 0.2
    assert rule(one, "related").met is not False


@pytest.mark.parametrize("ceiling", [None, 0.5, 0.85, 1.0])
def test_a_stated_ceiling_decides_nothing(ceiling: float | None) -> None:
    people = raters(300, 2)
    one = checked(panel(people[:, :1], people[:, 1]), "gate", ceiling=ceiling)
    assert one.ceiling.assumed == ceiling
    assert one.verdict == "INCONCLUSIVE"
    assert rule(one, "people").met is None


def test_one_rater_and_stated_limits_by_the_exact_bound() -> None:
    """29 texts without a miss show "at most .1", since .9 to the 29th is .047; 28 do not."""
    for n, verdict in ((28, "INCONCLUSIVE"), (29, "TRUSTED")):
        people = np.repeat([1.0, 2.0], [n, 40])
        limits = {"most_false_passes": 0.1, "most_false_fails": 0.1}
        one = checked(panel(people[:, None], people), "gate", **limits)
        assert one.verdict == verdict
        assert rule(one, "false-passes").shown == pytest.approx(0.9**n)
        assert checked(panel(people[:, None], people), "gate").verdict == "INCONCLUSIVE"
        assert (
            checked(panel(people[:, None], people), "gate", most_false_passes=0.1).verdict == "INCONCLUSIVE"
        )
    judge = people.copy()
    judge[:9] = 2.0
    one = checked(panel(people[:, None], judge), "gate", **limits)
    assert rule(one, "false-passes").broken == pytest.approx(binom.sf(8, 29, 0.1))
    assert one.verdict == "NOT TRUSTED"


def test_the_ceiling_has_the_measure_of_the_judge() -> None:
    """A judge of 0 to 100 is compared by correlation, so the raters' share of equal classes is no ceiling of it."""
    people = raters(100, 3, 0.8, classes=5)
    found = check_panel(panel(people[:, :2], 20 * people[:, 2]), CheckOptions(use="gate"))
    (one,) = found.judges
    assert one.measure == found.ceiling.measure == one.ceiling.measure == "correlation"
    assert found.ceiling == one.ceiling


def test_a_limit_is_not_written_as_the_number_it_is_compared_with() -> None:
    found = Estimate(0.794, 0.7, 0.87, 100, None, 0, 0, 0.9, n_clusters=100)
    assert "0.794" in interval_rule("accuracy", "", "accuracy", found, 0.792).why


@pytest.mark.parametrize("width", [0.01, 0.05, 0.07, 0.1, 0.13, 0.2])
@pytest.mark.parametrize("limit", [0.05, 0.7, 0.75, 0.8, 0.9])
def test_a_bound_equal_to_the_limit_is_not_beyond_it(limit: float, width: float) -> None:
    for middle, low, high in (
        (limit + width, limit, limit + 2 * width),
        (limit - width, limit - 2 * width, limit),
    ):
        found = Estimate(middle, low, high, 100, None, 0, 0, 0.9, n_clusters=100)
        (one,) = decided([interval_rule("accuracy", "", "accuracy", found, limit)])
        assert one.met is None


def test_all_problems_at_once() -> None:
    with pytest.raises(InputError) as raised:
        check_panel(panel(raters(3), np.full(3, np.nan)), CheckOptions(use="rank", critical=("harmful",)))
    assert len(raised.value.problems) == 3


# --- the same file, written otherwise -----------------------------------------------------------------


def _numbers(found: Check) -> Any:
    one = found.judges[0]
    signed = found.use == "monitor"
    ratio = None if one.responsiveness is None else one.responsiveness.estimate
    kept = (one.agreement, one.kappa, one.ac1, one.correlation, one.ceiling.estimate, ratio)
    kept += (
        ()
        if signed
        else tuple(
            rule.estimate
            for rule in sorted(
                one.rules, key=lambda rule: abs(rule.estimate.estimate or 0) if rule.estimate else 0
            )
        )
    )
    return [None if each is None else [each.estimate, each.low, each.high] for each in kept]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("change", ["rows", "raters", "classes", "scale"])
def test_the_verdict_does_not_depend_on_how_the_file_is_written(use: Use, change: str) -> None:
    rng = np.random.default_rng(8)
    truth = np.tile([1, 1, 1, 2], 50) if use == "rank" else rng.integers(1, 3, 200)
    people = np.where(rng.random((200, 4)) < 0.85, truth[:, None], 3 - truth[:, None]).astype(np.float64)
    items, systems = np.repeat(np.arange(50), 4), np.array(list("abcd") * 50)
    before = check_panel(
        panel(people[:, :3], people[:, 3], items=items, systems=systems), CheckOptions(use=use)
    )
    if change == "rows":
        order = rng.permutation(200)
        people, items, systems = people[order], items[order], systems[order]
    elif change == "raters":
        people = people[:, [2, 0, 1, 3]]
    elif change == "classes":
        people = 3 - people
    else:
        people = people - 1
    after = check_panel(
        panel(people[:, :3], people[:, 3], items=items, systems=systems), CheckOptions(use=use)
    )
    assert after.verdict == before.verdict
    for new, old in zip(_numbers(after), _numbers(before), strict=True):
        assert new == pytest.approx(old, abs=1e-9)


# --- groups --------------------------------------------------------------------------------------


def test_a_group_is_measured_by_its_own_raters() -> None:
    """Raters agree less on hard texts. A judge as good as they are fails nowhere; a coin on the hard texts does there."""
    rng = np.random.default_rng(4)
    hard = np.arange(800) % 2 == 1
    truth = rng.integers(1, 3, 800)[:, None]
    right = np.where(hard, 0.85, 0.97)[:, None]
    people = np.where(rng.random((800, 4)) < right, truth, 3 - truth).astype(np.float64)
    labels = [{"kind": "hard" if one else "easy"} for one in hard]
    coin = np.where(hard, rng.integers(1, 3, 800), people[:, 3])
    found = check_panel(panel(people[:, :3], people[:, 3], coin, labels=labels), CheckOptions(use="gate"))
    assert [one.fails for one in found.judges[0].groups] == [False, False]
    assert [(one.value, one.fails) for one in found.judges[1].groups] == [("easy", False), ("hard", True)]
    easy, hard_one = found.judges[0].groups
    assert easy.limit is not None
    assert hard_one.limit is not None
    assert easy.limit > hard_one.limit + 0.1


def test_groups_of_monitor_are_tested_on_their_bias() -> None:
    rng = np.random.default_rng(4)
    people = np.clip(np.round(rng.normal(3, 1, (300, 1)) + rng.normal(0, 0.4, (300, 4))), 1, 5)
    labels = [{"kind": "ab"[at % 2]} for at in range(300)]
    judge = np.where(np.arange(300) % 2 == 1, np.minimum(people[:, 3] + 1, 5), people[:, 3])
    one = checked(panel(people[:, :3], judge, labels=labels), "monitor")
    assert [(group.value, group.measure, group.fails) for group in one.groups] == [
        ("a", "bias", False),
        ("b", "bias", True),
    ]


def test_a_column_of_the_raters_classes_is_no_group() -> None:
    people = raters(60)
    labels = [{"outcome": f"{people[at, 0]:g}", "kind": "xy"[at % 2]} for at in range(60)]
    one = checked(panel(people[:, :3], people[:, 3], labels=labels), "gate")
    assert {group.column for group in one.groups} == {"kind"}


# --- tables --------------------------------------------------------------------------------------


def test_json_has_the_promised_keys() -> None:
    people = raters(60)
    found = check_json(check_panel(panel(people[:, :3], people[:, 3])))
    assert {
        *("verdict", "use", "sentence", "reasons", "n_items", "n_left_out", "human", "judges", "columns"),
        *("signature", "scale", "judges_paid_for", "read_as"),
    } <= set(found)
    assert set(found["human"]) == {"raters", "ceiling"}
    assert {
        *("name", "verdict", "agreement", "kappa", "ac1", "correlation", "alt_test", "bias", "consistency"),
        *("cost", "groups", "labels_needed", "false_passes", "false_fails", "kept_share", "kappa_quadratic"),
        *("coverage", "constant"),
    } <= set(found["judges"][0])
    assert {"estimate", "low", "high"} <= set(found["judges"][0]["agreement"])
    several = check_json(check_panel(panel(people[:, :3], people[:, 3], people[:, 0])))
    assert several["verdict"] is None


def test_the_rules_are_a_table() -> None:
    people = raters(60)
    table = check_tables(check_panel(panel(people[:, :3], people[:, 3])))["check-rules"]
    at = [column.name for column in table.columns].index("code")
    assert [row[at] for row in table.rows] == [
        "items",
        "false-passes",
        "false-fails",
        "kept-share",
        "alt-test",
    ]


def test_the_signature_follows_labels_and_limits() -> None:
    people = raters(60)
    first = panel(people[:, :3], people[:, 3])
    signed = [
        check_json(check_panel(one, CheckOptions(use="gate", margin=margin)))["signature"]
        for one, margin in ((first, 0.1), (first, 0.05), (panel(3 - people[:, :3], people[:, 3]), 0.1))
    ]
    assert len(set(signed)) == 3
    assert check_json(check_panel(first, CheckOptions(use="gate")))["signature"] == signed[0]


# --- the ceiling of the file -----------------------------------------------------------------------


@pytest.mark.parametrize("constant", [False, True])
def test_raters_scores_have_a_ceiling_without_the_judge(constant: bool) -> None:
    rng = np.random.default_rng(3)
    quality = rng.normal(50, 20, 80)
    given = quality[:, None] + rng.normal(0, 5, (80, 2))
    scores = np.full(80, given.mean()) if constant else quality + rng.normal(0, 6, 80)
    found = check_panel(panel(given, scores), CheckOptions(use="gate"))
    for ceiling in (found.ceiling, found.judges[0].ceiling):
        assert (ceiling.measure, ceiling.assumed) == ("correlation", None)
        assert ceiling.value == pytest.approx(spearmanr(given[:, 0], given[:, 1]).statistic)


def test_raters_who_agree_by_chance_are_no_yardstick():
    """A rater who was held out of a panel of coins is no worse than they are, so it must not fail because of them."""
    rng = np.random.default_rng(11)
    n_failed = 0
    for _ in range(60):
        labels = rng.integers(0, 2, size=(60, 4)).astype(float)
        found = checked(panel(labels[:, :3], labels[:, 3]), "gate")
        n_failed += found.verdict == "NOT TRUSTED"
    assert n_failed <= 5
