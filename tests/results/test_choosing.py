"""Which of several judges: quality, paired tests, front and recommendation against hand calculations and scipy."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr
from scipy.stats import t as student

from core.analyses.which_judge import ANALYSIS, WhichOptions, rows_of
from core.errors import InputError
from core.llm.families import model_of
from core.plots.judges import quality_against
from core.results.check.choosing import (
    ONE_RATER,
    which_judge,
    which_of,
    which_said,
)
from core.results.check.facts import facts_of_tables
from core.results.check.verdict import JudgeFacts, check_panel
from core.schema.analysis import Answer
from core.schema.panel import Panel
from core.schema.rows import json_of
from core.schema.scale import Scale
from core.schema.scores import ScoredRow
from core.schema.uses import CheckOptions

NAN = float("nan")


def panel(ratings: Any, scores: dict[str, Any], items: Any = None) -> Panel:
    given = np.asarray(ratings, dtype=float)
    given = given[:, None] if given.ndim == 1 else given
    numbers = np.arange(len(given)) if items is None else np.asarray(items)
    return Panel(
        tuple(ScoredRow(str(item), "system") for item in numbers.tolist()),
        numbers,
        np.full(len(given), "system"),
        tuple(f"rater-{at}" for at in range(given.shape[1])),
        given,
        tuple(scores),
        np.column_stack([np.asarray(one, dtype=float) for one in scores.values()]),
    )


def flipped(truth: np.ndarray[Any, Any], wrong: range) -> np.ndarray[Any, Any]:
    found = truth.copy()
    found[list(wrong)] = 1 - found[list(wrong)]
    return found


TRUTH = np.tile([0.0, 1.0], 50)
GOOD, FAIR, POOR = flipped(TRUTH, range(5)), flipped(TRUTH, range(7)), flipped(TRUTH, range(40))
PRICES = {"good": JudgeFacts(cost=2.0, seconds=4.0), "fair": JudgeFacts(cost=0.5, seconds=9.0)}


def test_agreement_is_the_share_of_raters_with_the_judges_class() -> None:
    ratings = [[1, 1], [1, 2], [2, 2], [3, 1]]
    labels = Scale("unordered", (1.0, 2.0, 3.0))
    found = which_judge(replace(panel(ratings, {"a": [1, 1, 2, 1], "b": [2, 2, 2, 2]}), scale=labels))
    assert found.measure == "agreement"
    assert [one.name for one in found.judges] == ["a", "b"]
    assert [one.quality.estimate for one in found.judges] == pytest.approx([(1 + 0.5 + 1 + 0.5) / 4, 0.375])
    (pair,) = found.pairs
    assert pair.difference.estimate == pytest.approx(0.375)


def test_the_p_of_two_judges_is_mcnemars() -> None:
    # Of 12 texts on which exactly one judge is right, the first is right on 10: exact McNemar is a sign test.
    first, second = flipped(TRUTH, range(2)), flipped(TRUTH, range(2, 12))
    (pair,) = which_judge(panel(TRUTH, {"first": first, "second": second})).pairs
    assert (pair.first, pair.second) == ("first", "second")
    exact = binomtest(10, 12).pvalue
    assert pair.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 10_000) + 1e-4)
    assert pair.better == "first"
    assert pair.seen_from("second").difference.estimate == pytest.approx(-0.08)
    assert pair.seen_from("second").difference.low == -pair.difference.high  # type: ignore[operator]


def test_whole_items_are_swapped() -> None:
    """Ten copies of one text are one piece of evidence."""
    items = np.repeat(np.arange(4), 10)
    truth = np.repeat([0.0, 0.0, 1.0, 1.0], 10)
    (pair,) = which_judge(panel(truth, {"first": truth, "second": 1 - truth}, items)).pairs
    assert pair.p == pytest.approx(2 / 16, abs=0.015), "all four items point one way"
    assert pair.difference.n_clusters == 4


def test_scores_that_are_no_classes_are_compared_by_spearman() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(size=80)
    ratings = np.round(truth[:, None] + 0.5 * rng.normal(size=(80, 2)), 1)
    scores = {"near": truth + 0.4 * rng.normal(size=80), "far": truth + 2 * rng.normal(size=80)}
    found = which_judge(panel(ratings, scores), n_resamples=500)
    assert found.measure == "spearman"
    mean = np.round(ratings.mean(axis=1), 9)  # equal means are ties
    own = {name: spearmanr(one, mean).statistic for name, one in scores.items()}
    assert {one.name: one.quality.estimate for one in found.judges} == pytest.approx(own)
    (pair,) = found.pairs
    assert pair.difference.estimate == pytest.approx(own["near"] - own["far"])
    assert found.use == "near"
    assert found.settled


@pytest.mark.parametrize("n_items", [12, 30])
def test_few_items_have_the_jackknife_interval_of_a_difference(n_items: int) -> None:
    """By hand: t times the spread of the difference without each item, and below 30 items only."""
    rng = np.random.default_rng(5)
    truth = rng.normal(size=2 * n_items)
    items = np.repeat(np.arange(n_items), 2)
    scores = {"near": truth + rng.normal(size=truth.size), "far": truth + 2 * rng.normal(size=truth.size)}
    (pair,) = which_judge(panel(truth, scores, items)).pairs

    def apart(kept: Any) -> float:
        first, second = (
            spearmanr(scores[name][kept], truth[kept]).statistic for name in (pair.first, pair.second)
        )
        return float(first - second)

    without = np.array([apart(items != at) for at in range(n_items)])
    error = np.sqrt((n_items - 1) / n_items * ((without - without.mean()) ** 2).sum())
    reach = student.ppf(0.95, n_items - 1) * error
    assert pair.difference.estimate == pytest.approx(apart(items >= 0))
    by_hand = pytest.approx([apart(items >= 0) - reach, apart(items >= 0) + reach])
    assert ([pair.difference.low, pair.difference.high] == by_hand) is (n_items < 30)


def test_only_texts_of_all_judges_count_and_the_others_are_shown() -> None:
    fair = FAIR.copy()
    fair[90:] = NAN
    ratings = TRUTH.copy()
    ratings[0] = NAN
    found = which_judge(panel(ratings, {"good": GOOD, "fair": fair, "silent": np.full(100, NAN)}))
    assert (found.n, found.n_items, found.n_left_out) == (89, 89, 10)
    assert found.left_out == {"no score by fair": 10}
    assert {one.name: one.n_scored for one in found.judges} == {"good": 99, "fair": 89}
    assert {one.quality.n_left_out for one in found.judges} == {10}
    assert any("silent" in note for note in found.notes)
    paired = np.column_stack([TRUTH, TRUTH])
    paired[:3, 1] = NAN
    alone = which_judge(panel(paired, {"good": GOOD, "fair": FAIR}))
    assert (alone.n, alone.left_out) == (97, {ONE_RATER: 3})


def test_the_front_leaves_out_who_is_dominated() -> None:
    facts = {
        "good": JudgeFacts(cost=2.0, seconds=4.0),
        "fair": JudgeFacts(cost=0.5, seconds=9.0),
        "poor": JudgeFacts(cost=1.0, seconds=9.0),
        "twin": JudgeFacts(cost=2.0, seconds=4.0),
        "slow": JudgeFacts(cost=2.0, seconds=5.0),
    }
    scores = {"good": GOOD, "fair": FAIR, "poor": POOR, "twin": GOOD, "slow": GOOD}
    found = which_judge(panel(TRUTH, scores), facts)
    assert found.criteria == ("quality", "price", "time")
    assert {one.name: one.on_front for one in found.judges} == {
        "good": True,
        "twin": True,
        "slow": False,
        "fair": True,
        "poor": False,
    }
    assert found.judge("poor").dominated_by == ("fair",)
    assert set(found.judge("slow").dominated_by) == {"good", "twin"}


def test_without_prices_there_is_no_front_and_the_reason_is_named() -> None:
    scores = {"good": GOOD, "fair": FAIR}
    found = which_judge(panel(TRUTH, scores), {"good": JudgeFacts(cost=2.0, cost_reason="")})
    assert found.criteria == ("quality",)
    assert [one.on_front for one in found.judges] == [None, None]
    assert any("fair: no price was given" in note for note in found.notes)
    assert json_of(rows_of(found))["front_by"] == []
    by_time = which_judge(panel(TRUTH, scores), {name: JudgeFacts(seconds=1.0) for name in scores})
    assert by_time.criteria == ("quality", "time")
    assert by_time.judge("fair").dominated_by == ("good",)


def test_the_cheaper_judge_is_used_where_it_is_shown_to_be_nearly_as_good() -> None:
    many = {"good": np.tile(GOOD, 5), "fair": np.tile(FAIR, 5)}
    found = which_judge(panel(np.tile(TRUTH, 5), many), PRICES)
    assert found.pair("fair", "good").difference.estimate == pytest.approx(-0.02)
    assert (found.use, found.settled) == ("fair", True)
    strict = which_judge(panel(np.tile(TRUTH, 5), many), PRICES, margin=0.01)
    assert strict.use == "good"
    few = which_judge(panel(TRUTH[:12], {"good": GOOD[:12], "fair": FAIR[:12]}), PRICES)
    assert (few.use, few.settled) == ("good", False)


def test_constant_and_untrusted_judges_are_not_recommended() -> None:
    mostly = np.concatenate([np.zeros(90), np.ones(10)])
    scores = {"always": np.zeros(100), "good": flipped(mostly, range(12))}
    found = which_judge(panel(mostly, scores))
    assert [one.name for one in found.judges] == ["always", "good"], "the constant judge agrees more often"
    assert found.use == "good"
    assert found.judge("always").unfit
    none = which_judge(panel(mostly, scores), unfit={"good": "it is NOT TRUSTED"})
    assert (none.use, none.settled) == (None, False)
    assert json_of(rows_of(none))["use"] is None
    (said,) = which_said(none)
    assert "(always: its scores are constant; good: it is NOT TRUSTED)" in said
    assert said.endswith("The highest agreement is 0.90, of always.")


def test_a_check_passes_its_verdicts_and_facts_on() -> None:
    ratings = np.column_stack([TRUTH] * 3)
    coin = np.random.default_rng(0).integers(0, 2, 100)
    checked = check_panel(
        panel(ratings, {"good": GOOD, "coin": coin}),
        CheckOptions(use="gate"),
        facts={"good": JudgeFacts(cost=3.0), "coin": JudgeFacts(cost=0.01)},
    )
    found = which_of(checked)
    assert found.use == "good"
    assert found.judge("coin").unfit.startswith("it is NOT TRUSTED")
    agreement = {one.name: one.agreement.estimate for one in checked.judges}
    assert {one.name: one.quality.estimate for one in found.judges} == pytest.approx(agreement)


def test_p_values_are_corrected_by_holm() -> None:
    found = which_judge(panel(TRUTH, {"good": GOOD, "fair": FAIR, "poor": POOR}))
    raw = [one.p or 0.0 for one in found.pairs]
    assert [one.p_holm for one in found.pairs] == pytest.approx(
        [raw[0], 3 * min(raw), max(2 * sorted(raw)[1], 3 * min(raw))], rel=1e-9
    )
    assert [(one.first, one.second) for one in found.pairs] == [
        ("good", "fair"),
        ("good", "poor"),
        ("fair", "poor"),
    ]


def test_sentence_tables_and_json() -> None:
    facts = {
        "good": JudgeFacts(cost=2.0, currency="USD", model="m-70b"),
        "fair": JudgeFacts(cost=0.5, currency="USD"),
        "poor": JudgeFacts(cost=0.02),
    }
    many = {name: np.tile(one, 5) for name, one in (("good", GOOD), ("fair", FAIR), ("poor", POOR))}
    found = which_judge(panel(np.tile(TRUTH, 5), many), facts)
    lines = which_said(found)
    assert len(lines) == 3
    assert (said := " ".join(lines)) == (
        "Use fair: agreement 0.93, 0.50 USD per 1,000 texts. good costs 4 times as much and is better (difference 0.02 "
        "[0.01, 0.03], Holm p 0.002). poor costs 4 % as much and is worse (difference -0.33 [-0.36, -0.29], Holm p below .001)."
    )
    tables = Answer(ANALYSIS, WhichOptions(), rows_of(found)).tables
    assert [len(one.rows) for one in tables.values()] == [3, 3]
    assert list(tables) == ["which-judge", "comparisons"]
    made = json.loads(json.dumps(json_of(rows_of(found)), allow_nan=False))
    assert (made["use"], made["settled"], made["n"], made["sentence"]) == ("fair", True, 500, said)
    assert [one["price_per_1000"] for one in made["judges"]] == [2.0, 0.5, 0.02]
    assert made["comparisons"][0]["better"] == "good"


def test_a_judge_in_doubt_is_not_simply_named() -> None:
    judges = {"good": np.tile(GOOD, 5), "poor": np.tile(POOR, 5)}
    found = which_judge(panel(np.tile(TRUTH, 5), judges), doubts={"good": "It is open.", "poor": "As well."})
    assert found.use == "good"
    assert which_said(found)[0].startswith("good comes first: ")
    assert which_said(found)[0].endswith(" It is open.")


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="At least two judges"):
        which_judge(panel(TRUTH, {"good": GOOD}))
    with pytest.raises(InputError, match="by ratings of people"):
        which_judge(panel(np.full(100, NAN), {"good": GOOD, "fair": FAIR}))
    first, second = GOOD.copy(), FAIR.copy()
    first[:50] = second[50:] = NAN
    with pytest.raises(InputError, match="No rated text has a score of every judge"):
        which_judge(panel(TRUTH, {"good": first, "fair": second}))


def test_two_runs_of_one_judge_keep_their_own_prices() -> None:
    signed = "Rubric|score:verdict|model:Qwen2.5-7B|backend:openai"
    both = panel(TRUTH, {"mini": GOOD, "mini#2": FAIR, "file": POOR})
    sources = (("run:1", "mini", ""), ("run:2", "mini", ""), ("scores.csv", "file", signed))
    both = Panel(**{**vars(both), "sources": sources})
    runs = {f"run:{n}": {"mini": JudgeFacts(cost=float(n))} for n in (1, 2)}
    found = facts_of_tables(both, runs)
    assert [found[name].cost for name in ("mini", "mini#2", "file")] == [1, 2, None]
    assert found["file"].model == "Qwen2.5-7B"
    assert model_of("BLEU|nrefs:1") == ""


def test_the_figure_shows_judges_with_a_price() -> None:
    facts = {**PRICES, "poor": JudgeFacts(cost=1.0)}
    found = which_judge(panel(TRUTH, {"good": GOOD, "fair": FAIR, "poor": POOR}), facts)
    figure = quality_against(found)
    assert figure is not None
    front, *points = figure.data
    assert list(front.x) == [0.5, 2.0], "poor is dearer and worse than fair"
    assert sorted(point.x[0] for point in points) == [0.5, 1.0, 2.0]
    assert figure.layout.xaxis.type == "log"
    by_time = quality_against(found, "time")
    assert by_time is not None
    assert len(by_time.data) == 3, "poor has no time"
    free = which_judge(panel(TRUTH, {"good": GOOD, "fair": FAIR}), {**PRICES, "fair": JudgeFacts(cost=0.0)})
    assert quality_against(free).layout.xaxis.type == "linear"  # type: ignore[union-attr]
    near = which_judge(panel(TRUTH, {"good": GOOD, "fair": FAIR}), {**PRICES, "fair": JudgeFacts(cost=1.9)})
    assert quality_against(near).layout.xaxis.type == "linear", "one tick would be left"  # type: ignore[union-attr]
    assert quality_against(which_judge(panel(TRUTH, {"good": GOOD, "fair": FAIR}))) is None
