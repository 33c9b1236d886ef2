"""Agreement of raters without a judge: by hand, as other tools compute it, and what happens where there is nothing to compare."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike
from sklearn.metrics import cohen_kappa_score

import assay
from core.analyses.agreement import (
    ANALYSIS,
    BY_SCALE,
    CODES,
    MEASURES,
    NO_ERROR,
    Agreement,
    AgreementOptions,
    _sentences,
)
from core.errors import InputError
from core.schema.analysis import Answer
from core.schema.panel import Panel
from core.schema.scale import Scale
from core.schema.scores import ScoredRow
from core.schema.unit import Unit

WORDS = Scale("unordered", (0.0, 1.0, 2.0), {0.0: "cat", 1.0: "dog", 2.0: "bird"})


def panel(ratings: ArrayLike, items: Sequence[int] | None = None, **other: Any) -> Panel:
    given = np.asarray(ratings, dtype=np.float64)
    rows = tuple(ScoredRow(f"q{at}", "output") for at in range(len(given)))
    names = tuple(f"r{at}" for at in range(given.shape[1]))
    labels = np.arange(len(given)) if items is None else np.asarray(items)
    return Panel(rows, labels, np.full(len(given), "output"), names, given, **other)


def answered(ratings: ArrayLike, items: Sequence[int] | None = None, **other: Any) -> Answer:
    return ANALYSIS.answer(AgreementOptions(n_resamples=50), panel(ratings, items, **other))


def compared(ratings: ArrayLike, items: Sequence[int] | None = None, **other: Any) -> Agreement:
    found: Agreement = answered(ratings, items, **other).result
    return found


def values(found: Agreement) -> dict[str, float | None]:
    return {one.code: one.value.value for one in found.measures}


def noisy(n: int, kinds: Sequence[float], n_classes: int = 5, seed: int = 0) -> Any:
    """Ratings of a shared truth; kinds: the share of texts that each rater rates at random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, n_classes + 1, n)
    own = [np.where(rng.random(n) < share, rng.integers(1, n_classes + 1, n), truth) for share in kinds]
    return np.column_stack(own).astype(float)


def test_two_raters_by_hand() -> None:
    """1 1, 2 1, 2 2, 3 3: kappa (3/4 - 5/16) / (1 - 5/16), quadratic kappa 1 - (1/4) / (5/4)."""
    found = compared([[1, 1], [2, 1], [2, 2], [3, 3]], scale=Scale("ordered", (1.0, 2.0, 3.0), ends=(1, 3)))
    got = values(found)
    assert got["agreement"] == 3 / 4
    assert got["kappa"] == pytest.approx(7 / 11)
    assert got["kappa-quadratic"] == pytest.approx(4 / 5)
    # Shares of the classes 3/8, 3/8, 2/8: chance is (2 x 15/64 + 12/64) / 2 = 21/64.
    assert got["ac1"] == pytest.approx((48 - 21) / (64 - 21))
    first, second = found.raters
    assert first.difference.value == 1 / 4 == -(second.difference.value or 0)
    assert (first.mean, first.mean_others) == (2, 7 / 4)
    (pair,) = found.pairs
    assert (pair.kappa.value, pair.kappa_quadratic.value) == pytest.approx((7 / 11, 4 / 5))
    assert (found.verdict, ANALYSIS.verdicts(found)[0].status) == ("not-shown", 4), "four items"


@pytest.mark.parametrize(("kind", "scale"), [("two", None), ("unordered", WORDS), ("ordered", None), ("scores", Scale("scores"))])  # fmt: skip
def test_the_measures_of_each_scale(kind: Any, scale: Scale | None) -> None:
    ratings = noisy(60, (0.1, 0.2, 0.3), 2 if kind == "two" else 3 if kind == "unordered" else 5)
    ratings -= 0 if kind in ("ordered", "scores") else 1
    given = {} if scale is None else {"scale": scale}
    answer = answered(ratings, **given)
    found: Agreement = answer.result
    assert found.kind == kind
    assert tuple(values(found)) == BY_SCALE[kind]
    assert all(one.value.low is not None for one in found.measures)
    assert (found.by, found.verdict) == (BY_SCALE[kind][0], "agree")
    assert {*found.raters[0].__dict__} >= {"difference", "standing"}
    has_severity = kind != "unordered"
    assert all((one.difference.value is not None) == has_severity for one in found.raters)
    shown = {column.name for column in answer.tables["agreement-raters"].columns if column.shown}
    assert ("difference" in shown) == has_severity
    assert ("passed" in shown) == (kind == "two")
    assert [*answer.figures] == (["agreement-raters"] if has_severity else [])


def test_missing_ratings_are_counted() -> None:
    ratings = noisy(40, (0.1, 0.1, 0.1))
    ratings[:5, 0] = np.nan
    ratings[5:8, 1:] = np.nan
    ratings[8] = np.nan
    found = compared(ratings)
    texts = {one.code: (one.n_texts, one.n_items, one.n_left_out) for one in found.measures}
    assert found.n_texts == 39
    assert texts.pop("icc") == (31, 31, 8), "all three"
    assert {*texts.values()} == {(36, 36, 3)}, "two ratings"
    rows = {one.rater: (one.n_texts, one.n_compared) for one in found.raters}
    assert rows == {"r0": (34, 31), "r1": (36, 36), "r2": (36, 36)}
    wanted = krippendorff.alpha(
        reliability_data=ratings.T, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
    )
    assert values(found)["alpha"] == pytest.approx(wanted)


def test_pairs_are_as_scikit_learn_has_them_on_their_own_texts() -> None:
    ratings = noisy(50, (0.1, 0.4, 0.3))
    ratings[::5, 2] = np.nan
    found = compared(ratings)
    for pair in found.pairs:
        both = ratings[:, [int(pair.first[1]), int(pair.second[1])]]
        both = both[~np.isnan(both).any(axis=1)].astype(int)
        assert pair.n_texts == len(both)
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(*both.T))
        assert pair.kappa_quadratic.value == pytest.approx(cohen_kappa_score(*both.T, weights="quadratic"))
        assert pair.spearman.value == pytest.approx(pd.DataFrame(both).corr("spearman").iloc[0, 1])


def test_items_of_several_rows_have_wider_intervals() -> None:
    """Ten equal rows an item are worth no more than one."""
    once = noisy(30, (0.2, 0.3))
    rows, items = np.repeat(once, 10, axis=0), np.repeat(np.arange(30), 10).tolist()
    by_row, by_item, alone = compared(rows), compared(rows, items), compared(once)
    for code in ("kappa-quadratic", "kappa", "agreement", "ac1"):
        narrow, wide, one = (
            next(each.value for each in found.measures if each.code == code)
            for found in (by_row, by_item, alone)
        )
        assert narrow.high - narrow.low < 0.5 * (wide.high - wide.low)  # type: ignore[operator]
        assert (wide.low, wide.high) == pytest.approx((one.low, one.high))
    (narrow,) = {one.difference.high - one.difference.value for one in by_row.raters[:1]}  # type: ignore[operator]
    (wide,) = {one.difference.high - one.difference.value for one in by_item.raters[:1]}  # type: ignore[operator]
    assert narrow < 0.5 * wide


def test_who_is_harsher_is_said_only_after_correction() -> None:
    same = noisy(80, (0.2, 0.2, 0.2, 0.2))
    assert {one.standing for one in compared(same).raters} == {""}
    harsh = same.copy()
    harsh[:, 2] = np.clip(harsh[:, 2] - 1, 1, 5)
    found = compared(harsh)
    standing = {one.rater: one.standing for one in found.raters}
    assert standing["r2"] == "harsher"
    assert all((one.p_holm or 0) >= (one.p or 0) for one in found.raters)
    few = compared(harsh[:5])
    assert {one.standing for one in few.raters} == {""}, "five items never show it"


def test_of_two_classes_pass_rates_stand_side_by_side() -> None:
    found = compared([[1, 1], [1, 0], [0, 0], [1, 0]] * 10)
    first, second = found.raters
    assert (first.passed, first.passed_others) == (0.75, 0.25) == (second.passed_others, second.passed)
    assert (first.difference.value, first.standing, second.standing) == (0.5, "more lenient", "harsher")


@pytest.mark.parametrize(
    ("ratings", "code"),
    [
        ([[3, 3]] * 40, "undefined"),  # nothing varies
        ([[1 + at % 5, 3] for at in range(40)], "not-shown"),  # one of two is constant
        ([[at % 2, at % 2] for at in range(40)], "agree"),  # no interval, and no single item decides
        ([[at % 2, at % 2] for at in range(9)], "not-shown"),  # too few items
        ([[0, 0]] * 39 + [[1, 1]], "not-shown"),  # one item decides
        (noisy(1_500, (1, 1)), "little-better-than-chance"),
        (noisy(25, (1, 1), seed=1), "not-shown"),
        ([[0, 1], [1, 0]] * 18 + [[1, 1], [0, 0]], "little-better-than-chance"),  # less often than by chance
        ([[0, 1], [1, 0]] * 20, "not-shown"),  # always the opposite: no interval
    ],
)
def test_verdicts(ratings: ArrayLike, code: str) -> None:
    answer = answered(ratings)
    (verdict,) = answer.verdicts
    assert verdict.code == code
    assert code in CODES
    assert answer.status == {"agree": 0, "little-better-than-chance": 3}.get(code, 4)
    assert bool(verdict.reason) == (code in ("undefined", "not-shown"))
    assert answer.json["verdict"] == code


def test_penalties_where_nobody_marked_an_error_are_undefined_for_that_reason() -> None:
    penalties = Scale("scores", origin="file", penalties=True)
    answer = answered([[0, 0]] * 40, scale=penalties)
    (verdict,) = answer.verdicts
    assert (verdict.code, verdict.reason, answer.result.kind) == ("undefined", NO_ERROR, "scores")
    assert not any("r0" in said for said in _sentences(answer.result)), "no rater is blamed"
    marked = compared([[0, 0]] * 30 + [[-5, -4]] * 12, scale=penalties)
    assert marked.verdict == "agree"


def test_raters_who_never_vary_decide_no_verdict() -> None:
    """Beside a constant rater alpha of two is below 0, whatever the other answers."""
    scores = Scale("scores", ends=(0.0, 100.0))
    two = compared([[50, 60 + at % 7] for at in range(40)], scale=scores)
    assert (two.measures[0].value.high or 0) < 0
    assert two.verdict == "not-shown"
    rng = np.random.default_rng(4)
    three = np.column_stack([rng.uniform(60, 90, size=(60, 2)), np.full(60, 10.0)])
    assert compared(three, scale=scores).verdict == "not-shown"


def test_nothing_is_claimed_while_nobody_knows_what_an_item_is() -> None:
    ratings = noisy(80, (0.2, 0.2, 0.2))
    ratings[:, 2] = np.clip(ratings[:, 2] - 1, 1, 5)
    sure, unsure = (
        compared(ratings, unit=unit) for unit in (Unit(n=80), Unit(n=80, undecided="question", n_values=9))
    )
    assert (sure.verdict, unsure.verdict) == ("agree", "not-shown")
    assert "question" in (unsure.reason or "")
    assert [one.standing for one in sure.raters][2] == "harsher"
    assert {one.standing for one in unsure.raters} == {""}
    assert sure.measures == unsure.measures


def test_little_agreement_is_claimed_only_where_enough_items_tell() -> None:
    """Nearly all texts pass: kappa is near 0, and its interval too narrow to say that agreement is small."""
    rare = [[1, 1]] * 90 + [[0, 1], [1, 0]] * 3
    assert compared(rare).verdict == "not-shown"
    often = [[1, 1]] * 90 + [[0, 1], [1, 0]] * 6
    assert compared(often).verdict == "little-better-than-chance"


def test_the_limit_of_little_agreement_is_an_option() -> None:
    given = panel(noisy(400, (0.4, 0.4)))
    codes = [
        ANALYSIS.answer(AgreementOptions(little=limit, n_resamples=0), given).verdicts[0].code
        for limit in (0.0, 0.9)
    ]
    assert codes == ["agree", "little-better-than-chance"]


def test_a_constant_rater_is_named() -> None:
    ratings = noisy(40, (0.1, 0.1, 0.1))
    ratings[:, 1] = 3
    found = compared(ratings)
    assert [one.constant for one in found.raters] == ["", "3", ""]
    pairs = {(one.first, one.second): one for one in found.pairs}
    assert pairs["r0", "r1"].kappa.value == 0
    assert pairs["r0", "r1"].spearman.value is None
    assert pairs["r0", "r1"].spearman.reason


def test_raters_who_share_no_text() -> None:
    ratings = noisy(60, (0.1, 0.1, 0.1))
    ratings[30:, 0] = ratings[:30, 1] = np.nan
    pairs = {(one.first, one.second): one for one in compared(ratings).pairs}
    assert (pairs["r0", "r1"].n_texts, pairs["r0", "r1"].kappa.value) == (0, None)
    assert pairs["r0", "r1"].kappa.reason
    assert pairs["r0", "r2"].n_texts == 30


@pytest.mark.parametrize("ratings", [[[1], [2], [3]], [[1, np.nan], [np.nan, 2]], np.empty((0, 2))])
def test_nothing_to_compare_is_refused(ratings: ArrayLike) -> None:
    with pytest.raises(InputError) as refused:
        compared(ratings)
    assert len(refused.value.problems) == 1


def test_many_raters_have_no_table_of_pairs() -> None:
    answer = answered(noisy(40, [0.2] * 13))
    assert answer.result.pairs == ()
    assert [*answer.tables] == ["agreement", "agreement-raters"]
    assert len(answer.result.raters) == 13


def test_judges_in_the_panel_do_not_matter() -> None:
    ratings = noisy(40, (0.1, 0.3))
    judged = panel(ratings, judges=("x",), scores=np.ones((40, 1)))
    assert ANALYSIS.answer(AgreementOptions(), judged).json == ANALYSIS.answer(AgreementOptions(), panel(ratings)).json  # fmt: skip


@pytest.fixture(scope="module")
def experts(shared_data: Path) -> pd.DataFrame:
    return pd.read_csv(shared_data / "summeval-coherence.csv")


@pytest.mark.shared
def test_summeval_as_other_tools_have_it(experts: pd.DataFrame) -> None:
    """scikit-learn and krippendorff here; pingouin 0.7.0's `intraclass_corr`, ICC(A,1), stored: 0.5727197461."""
    found = assay.agreement(experts).json
    names = ["expert_0", "expert_1", "expert_2"]
    assert [*found["raters"]] == names
    ratings = experts[names].to_numpy()
    for pair in found["pairs"]:
        both = experts[[pair["first"], pair["second"]]].to_numpy()
        assert pair["kappa"]["estimate"] == pytest.approx(cohen_kappa_score(*both.T))
        quadratic = cohen_kappa_score(*both.T, weights="quadratic")
        assert pair["kappa_quadratic"]["estimate"] == pytest.approx(quadratic)
    measured = {code: one["value"]["estimate"] for code, one in found["measures"].items()}
    assert measured["icc"] == pytest.approx(0.5727197461, abs=5e-11)
    alpha = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement="ordinal")
    assert measured["alpha"] == pytest.approx(alpha)
    for scale, level in (("unordered", "nominal"), ("scores", "interval")):
        alpha = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=level)
        again = assay.agreement(experts, scale=scale, resamples=0).json
        assert again["measures"]["alpha"]["value"]["estimate"] == pytest.approx(alpha)
    standing = {name: one["standing"] for name, one in found["raters"].items()}
    assert standing == {"expert_0": "more lenient", "expert_1": "", "expert_2": "harsher"}
    assert found["verdict"] == "agree"


@pytest.mark.shared
def test_summeval_with_a_row_for_each_rating(experts: pd.DataFrame) -> None:
    names = ["expert_0", "expert_1", "expert_2"]
    long = experts.melt(["item_id", "system"], names, "rater", "score")
    wide = assay.agreement(experts[["item_id", "system", *names]], resamples=0).json
    assert assay.agreement(long, resamples=0).json["measures"] == wide["measures"]


def test_every_measure_has_a_name() -> None:
    assert {code for codes in BY_SCALE.values() for code in codes} == {*MEASURES}
