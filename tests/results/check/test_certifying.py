"""Certificates of systems: the bound by hand, what counts as good, which texts have labels, several systems, tables and JSON."""

import json
from typing import Any

import numpy as np
import pytest
from helpers.texts.checks import check_json, check_tables, checked, panel, rule
from numpy.typing import NDArray
from scipy.stats import beta, norm

from core.analyses.check.filled import answer_of
from core.errors import InputError
from core.results.check.certifying import NO_SCORE, Certificate
from core.results.check.sentences import check_said, sentence
from core.results.check.verdict import check_panel
from core.schema.scale import Scale, scale_of_range
from core.schema.scores import PROBABILITY
from core.schema.unit import Unit
from core.schema.uses import CheckOptions
from scripts.simulations import cell_measures, read
from scripts.simulations.certify import GRID, N_TEXTS

Values = NDArray[np.float64]


def by_class(passes: tuple[int, int, int], fails: tuple[int, int, int]) -> tuple[Values, Values]:
    """Labels and judge: of each of the judge's answers so many texts, so many of them labelled, and so many of these good."""
    labels, judge = [], []
    for answer, (n, n_labelled, n_good) in ((1.0, passes), (0.0, fails)):
        labels.append(np.repeat([1.0, 0.0, np.nan], [n_good, n_labelled - n_good, n - n_labelled]))
        judge.append(np.full(n, answer))
    return np.concatenate(labels)[:, None], np.concatenate(judge)


def certificate(given: Any, **options: Any) -> Certificate:
    (system,) = checked(given, "certify", **options).systems
    return system


def lower_exact(k: int, n: int, level: float) -> float:
    return float(beta.ppf(1 - level, k, n - k + 1)) if k else 0.0


# --- numbers by hand -----------------------------------------------------------------------------


def test_the_bound_by_hand() -> None:
    """800 passes, 100 labelled, 97 good; 200 fails, 80 labelled, 52 good: .8 x .97 + .2 x .65 = .906."""
    one = certificate(panel(*by_class((800, 100, 97), (200, 80, 52))), target=0.85)
    theta = 0.8 * 0.97 + 0.2 * 0.65
    assert one.estimate.estimate == pytest.approx(theta)
    below = [0.97 - lower_exact(97, 100, 0.95), 0.65 - lower_exact(52, 80, 0.95)]
    texts = (0.8 * (0.97 - theta) ** 2 + 0.2 * (0.65 - theta) ** 2) / 1000
    low = theta - (0.8**2 * below[0] ** 2 + 0.2**2 * below[1] ** 2 + norm.ppf(0.95) ** 2 * texts) ** 0.5
    assert one.estimate.low == pytest.approx(low)
    assert one.verdict == "TRUSTED"
    assert (one.n_texts, one.n_labels) == (1000, 180)
    # Only these answers: no share of the strata is a matter of chance, and labels are counted.
    these = certificate(panel(*by_class((800, 100, 97), (200, 80, 52))), target=0.85, population="these")
    below = [below[0] * (1 - 100 / 800) ** 0.5, below[1] * (1 - 80 / 200) ** 0.5]
    assert these.estimate.low == pytest.approx(
        theta - (0.8**2 * below[0] ** 2 + 0.2**2 * below[1] ** 2) ** 0.5
    )


def test_with_a_constant_judge_labels_stand_alone_with_the_exact_bound() -> None:
    labels = np.repeat([1.0, 0.0], [58, 2])[:, None]
    one = certificate(panel(labels, np.ones(60)), target=0.85)
    assert one.estimate.low == pytest.approx(lower_exact(58, 60, 0.95))
    assert one.verdict == "TRUSTED"


@pytest.mark.parametrize(
    ("target", "verdict"), [(0.8, "TRUSTED"), (0.88, "INCONCLUSIVE"), (0.97, "NOT TRUSTED")]
)
def test_bounds_decide(target: float, verdict: str) -> None:
    given = panel(*by_class((800, 100, 97), (200, 80, 52)))
    found = check_panel(given, CheckOptions(use="certify", target=target))
    one = found.judges[0].systems[0]
    assert one.verdict == found.verdict == verdict
    assert one.estimate.low is not None
    assert one.estimate.high is not None
    assert verdict == (
        "TRUSTED"
        if one.estimate.low > target
        else "NOT TRUSTED"
        if one.estimate.high < target
        else "INCONCLUSIVE"
    )
    assert (found.judges[0].labels_needed is not None) is (verdict == "INCONCLUSIVE")


def test_the_level_is_divided_by_systems_and_judges() -> None:
    labels, judge = by_class((800, 100, 97), (200, 80, 52))
    systems = np.array(["a", "b"])[np.arange(1000) % 2]
    both = check_panel(
        panel(labels, judge, 1 - judge, systems=systems), CheckOptions(use="certify", target=0.8)
    )
    assert {system.estimate.confidence_level for one in both.judges for system in one.systems} == {
        1 - 2 * 0.05 / 4
    }


def test_labels_of_few_items_trust_nothing() -> None:
    labels = np.ones((25, 1))
    one = certificate(panel(labels, np.ones(25)), target=0.5)
    assert one.verdict == "INCONCLUSIVE"
    assert one.rule.labels_needed == 30


def test_items_of_many_rows_count_by_their_effective_number() -> None:
    labels = np.repeat(np.repeat([1.0, 0.0], [36, 4]), 5)[:, None]
    rows, items = (
        certificate(panel(labels, np.ones(200), items=items), target=0.5)
        for items in (np.arange(200), np.repeat(np.arange(40), 5))
    )
    assert rows.estimate.estimate == items.estimate.estimate
    assert items.estimate.low is not None
    assert rows.estimate.low is not None
    assert items.estimate.low < rows.estimate.low - 0.03
    assert items.estimate.low == pytest.approx(lower_exact(36, 40, 0.95), abs=0.01)


# --- what counts as good, and which answers the judge gave ---------------------------------------


def test_most_raters_must_pass_an_answer() -> None:
    """Two of three pass it, one of two, the only one, none: the tie is not good."""
    nan = np.nan
    ratings = np.tile([[1, 1, 0], [1, 0, nan], [1, nan, nan], [0, 0, nan]], (10, 1))
    one = certificate(panel(ratings, np.ones(40)))
    assert one.estimate.estimate == pytest.approx(2 / 4)


def test_scales_with_more_than_two_classes_need_a_lowest_pass() -> None:
    grades = np.tile([1.0, 3, 4, 5], 20)[:, None]
    for ratings, scale in (
        (grades, {}),
        (grades * 17.5, {"scale": scale_of_range(0, 100)}),
        (grades, {"scale": Scale("unordered", (1.0, 3.0, 4.0, 5.0), {4.0: "fine"})}),
    ):
        with pytest.raises(InputError) as raised:
            checked(panel(ratings, np.ones(80), **scale), "certify")
        assert [problem.split(":")[0] for problem in raised.value.problems] == ["passes_from"]
    assert certificate(panel(grades, np.ones(80)), passes_from="4").estimate.estimate == pytest.approx(0.5)
    words = Scale("unordered", (1.0, 3.0, 4.0, 5.0), {1.0: "bad", 3.0: "odd", 4.0: "fine", 5.0: "rude"})
    found = certificate(panel(grades, np.ones(80), scale=words), passes_from="fine")
    assert found.estimate.estimate == pytest.approx(0.25)
    for wrong in ("good", "7"):
        with pytest.raises(InputError):
            checked(panel(grades, np.ones(80), scale=words), "certify", passes_from=wrong)


def test_texts_without_a_score_are_a_stratum() -> None:
    labels, judge = by_class((800, 100, 97), (200, 80, 52))
    judge[judge == 0] = np.nan
    named = certificate(panel(labels, judge))
    assert {part.key: part.n for part in named.strata} == {"1": 800, NO_SCORE: 200}
    assert named.estimate == certificate(panel(*by_class((800, 100, 97), (200, 80, 52)))).estimate


def test_answers_without_a_label_may_all_fail() -> None:
    """.04 of the texts without a label lower the bound by .04 times their share; .2 of them leave no single estimate."""
    few = certificate(panel(*by_class((960, 100, 97), (40, 0, 0))), target=0.8)
    assert few.estimate.estimate == pytest.approx(0.97)
    assert few.estimate.low is not None
    assert few.estimate.low < 0.96 * 0.97
    many = certificate(panel(*by_class((800, 100, 97), (200, 0, 0))), target=0.9)
    assert many.estimate.estimate is None
    assert many.estimate.low is not None
    assert many.verdict == "INCONCLUSIVE"
    assert many.rule.labels_needed is None
    # A target below what is left when they all fail is shown all the same.
    assert certificate(panel(*by_class((800, 100, 97), (200, 0, 0))), target=0.6).verdict == "TRUSTED"


def test_fine_scores_are_binned() -> None:
    rng = np.random.default_rng(0)
    quality = rng.random(1_000)
    labels = np.where(rng.random(1_000) < 0.2, quality > 0.1, np.nan)[:, None]
    one = certificate(panel(labels, quality), target=0.8)
    assert 2 <= len(one.strata) <= 5
    assert sum(part.n for part in one.strata) == 1_000
    assert one.verdict == "TRUSTED"


def test_drawn_labels_count_by_their_probability() -> None:
    labels = np.repeat([1.0, 0.0], [40, 40])[:, None]
    drawn = [{PROBABILITY: "0.1" if at < 40 else "0.4"} for at in range(80)]
    one = certificate(panel(labels, np.ones(80), labels=drawn))
    assert one.estimate.estimate == pytest.approx(4 / 5)


def test_nobody_is_certified_while_the_item_is_undecided() -> None:
    from dataclasses import replace

    sure = panel(*by_class((800, 100, 97), (200, 80, 52)))
    unsure = replace(sure, unit=Unit("id", n=1000, undecided="question", n_values=14))
    found = check_panel(unsure, CheckOptions(use="certify", target=0.5))
    assert found.verdict == "INCONCLUSIVE"
    assert [system.verdict for system in found.judges[0].systems] == ["INCONCLUSIVE"]


# --- labels still needed -------------------------------------------------------------------------


def test_the_labels_named_settle_it_in_most_files() -> None:
    labels, judge = by_class((2_000, 60, 58), (500, 60, 45))
    one = checked(panel(labels, judge), "certify", target=0.88)
    assert one.verdict == "INCONCLUSIVE"
    assert one.labels_needed is not None
    rng, times, n_trusted = np.random.default_rng(0), 1 + one.labels_needed / 120, 0
    for _ in range(100):
        n = round(60 * times)
        again = by_class((2_000, n, rng.binomial(n, 58 / 60)), (500, n, rng.binomial(n, 0.75)))
        n_trusted += certificate(panel(*again), target=0.88).verdict == "TRUSTED"
    assert n_trusted == pytest.approx(80, abs=15)


def test_more_texts_are_asked_for_where_labels_cannot_settle_it() -> None:
    one = checked(panel(*by_class((160, 100, 97), (40, 30, 18))), "certify", target=0.89)
    assert one.verdict == "INCONCLUSIVE"
    assert one.labels_needed is None
    assert "add texts" in one.labels_reason
    these = checked(
        panel(*by_class((160, 100, 97), (40, 30, 18))), "certify", target=0.89, population="these"
    )
    assert these.labels_needed is not None
    assert these.labels_needed <= 70


# --- several systems -----------------------------------------------------------------------------


def _three() -> Any:
    labels, judge = by_class((800, 100, 97), (200, 80, 52))
    bad, unlabelled = labels.copy(), np.full_like(labels, np.nan)
    bad[~np.isnan(bad)] *= np.arange(180) % 2
    return panel(
        np.concatenate([labels, bad, unlabelled]),
        np.tile(judge, 3),
        items=np.tile(np.arange(1000), 3),
        systems=np.repeat(["good", "poor", "new"], 1000),
    )


def test_each_system_has_its_verdict() -> None:
    found = check_panel(_three(), CheckOptions(use="certify", target=0.8))
    (one,) = found.judges
    assert {system.system: system.verdict for system in one.systems} == {
        "good": "TRUSTED",
        "new": "INCONCLUSIVE",
        "poor": "NOT TRUSTED",
    }
    assert (one.verdict, answer_of(found).status) == ("NOT TRUSTED", 3)
    new = next(system for system in one.systems if system.system == "new")
    assert (new.n_labels, new.estimate.estimate) == (0, None)
    assert (
        check_said(found)[0]
        == "1 of 3 systems is TRUSTED to give at least 80 % good answers: good. 1 NOT TRUSTED, 1 INCONCLUSIVE."
    )
    told = check_json(found)
    assert json.dumps(told, allow_nan=False)
    assert [one["system"] for one in told["judges"][0]["systems"]] == ["good", "new", "poor"]
    rows = check_tables(found)["check-systems"].rows
    assert [(row[1], row[2], row[5]) for row in rows if row[1] == "good"] == [
        ("good", "all", 180),
        ("good", "0", 80),
        ("good", "1", 100),
    ]


def test_the_sentence_names_system_share_labels_and_texts() -> None:
    labels, judge = by_class((800, 100, 97), (200, 80, 52))
    given = panel(labels, judge, systems=np.repeat("pipeline", 1000))
    found = check_panel(given, CheckOptions(use="certify", target=0.8))
    said = sentence(found, found.judges[0])
    assert said.startswith("TRUSTED: at least 80 % of the answers of pipeline are good: 91 % [")
    assert said.endswith("by labels of 180 of 1,000 texts.")
    assert check_json(found)["judges"][0]["systems"][0]["sentence"] == said
    assert check_json(found)["reasons"] == [said]


def test_a_judge_without_any_score_and_a_panel_without_a_judge() -> None:
    labels, judge = by_class((800, 100, 97), (200, 80, 52))
    silent = certificate(panel(labels, np.full(1000, np.nan)), target=0.7)
    assert silent.estimate.low == pytest.approx(lower_exact(149, 180, 0.95))
    with pytest.raises(InputError):
        check_panel(panel(labels[:0], judge[:0]), CheckOptions(use="certify"))
    with pytest.raises(InputError):
        check_panel(panel(np.full((40, 1), np.nan), np.ones(40)), CheckOptions(use="certify"))


def test_rules_are_one_a_system() -> None:
    one = checked(_three(), "certify", target=0.8)
    assert [each.code for each in one.rules] == ["good"] * 3
    assert rule(one, "good").limit == 0.8


# --- the simulation ------------------------------------------------------------------------------


def test_the_stored_table_keeps_the_promise() -> None:
    error = (0.05 * 0.95 / GRID.replicates) ** 0.5
    for cell, found in read(GRID).items():
        trusted, not_trusted = found["trusted"], found["not_trusted"]
        assert trusted is not None
        assert not_trusted is not None
        if cell[2] >= cell[3]:  # type: ignore[operator]
            assert trusted <= 0.05 + 2 * error, cell
        if cell[2] <= cell[3]:  # type: ignore[operator]
            # The upper end is a little too low where the judge tells nothing: .056 of 2,500 files in the worst cell.
            assert not_trusted <= 0.05 + 3 * error, cell


def test_a_cell_run_again_is_near_the_stored_one() -> None:
    cell = ("strong", "200 at random", 0.9, 0.93, "")
    again, stored = cell_measures(GRID, cell, 60)["trusted"], read(GRID)[cell]["trusted"]
    assert again is not None
    assert stored is not None
    assert again == pytest.approx(stored, abs=4 * (0.25 / 60) ** 0.5)
    assert N_TEXTS == 1_000


@pytest.mark.parametrize(("most", "falls"), [(0.6, 5), (1.0, 9)])
def test_labels_of_low_scores_neither_trust_nor_accuse(most: float, falls: float) -> None:
    """Half of the answers are good; low scores are labelled up to a hundred times as often as high ones."""
    why = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        score = rng.random(2000)
        good = (rng.random(2000) < score).astype(float)
        label = np.where(rng.random(2000) < most * np.exp(-falls * score), good, np.nan)
        found = checked(panel(label[:, None], score), "certify", target=0.5)
        assert found.verdict == "INCONCLUSIVE"
        (system,) = found.systems
        why.append(system.rule.why)
    if falls == 9:  # within bins too, and said
        assert any("differ" in one for one in why)


def test_a_target_that_all_texts_reach_exactly_is_reached() -> None:
    label = np.repeat([1.0, 0.0], [90, 10])
    found = checked(panel(label[:, None], label), "certify", target=0.9, population="these")
    assert found.verdict == "TRUSTED"


def test_the_lowest_pass_lies_within_the_scale() -> None:
    ratings = np.tile([1.0, 2, 3, 4, 5], 20)
    for use in ("certify", "gate"):
        for lowest in ("1", "6"):
            with pytest.raises(InputError, match="passes_from"):
                checked(panel(ratings[:, None], ratings), use, passes_from=lowest)
