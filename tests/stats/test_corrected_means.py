"""Corrected means by how labels were chosen: which method decides, texts without a score, labels saved, differences."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from core.stats.corrected import (
    FEWEST_OTHERS_FOR_PPI,
    Asked,
    CorrectedMean,
    Texts,
    corrected,
    corrected_gap,
)
from core.stats.prediction_powered import Scored, corrected_difference, corrected_mean
from core.stats.resampling import Estimate
from core.stats.strata import stratified_mean

NAN = float("nan")
PASSES = Asked(pass_rate=True)
GRADES = Asked(ends=(1.0, 5.0))


def _ends(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def _texts(n: int = 400, labelled: float = 0.3, seed: int = 0) -> Texts:
    """Passes of people and of a judge that agrees in .85; labels at random."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.7).astype(float)
    judge = np.where(rng.random(n) < 0.85, truth, 1 - truth)
    human = np.where(rng.random(n) < labelled, truth, NAN)
    return Texts(judge, human, np.arange(n), answers=True)


def test_the_judges_answers_decide_unless_something_is_declared() -> None:
    texts = _texts()
    found = corrected(texts, PASSES)
    assert found.method == "by-class"
    strata = stratified_mean(texts.human, texts.judge.astype(int), bound="wilson")
    assert _ends(found.decided) == _ends(strata.estimate)
    assert [(one.low, one.n_labelled) for one in found.answers] == [
        (one.key, one.n_labelled) for one in strata.strata
    ]
    assert corrected(texts, Asked(True, labels_chosen="by-judge")).decided == found.decided


def test_declared_as_random_is_ppi() -> None:
    texts = _texts()
    found = corrected(texts, Asked(True, labels_chosen="at-random"))
    expected = corrected_mean(Scored(texts.judge, texts.human), pass_rate=True)
    assert found.method == "ppi++"
    assert found.decided == expected.decided
    assert found.answers == ()
    these = corrected(texts, Asked(True, labels_chosen="at-random", these_texts=True))
    assert these.method == "by-class"


def test_declared_as_chosen_by_truth_is_rogan_gladen() -> None:
    texts = _texts()
    found = corrected(texts, Asked(True, labels_chosen="by-truth"))
    expected = corrected_mean(Scored(texts.judge, texts.human), pass_rate=True, method="rogan-gladen")
    assert found.method == "rogan-gladen"
    assert found.decided == expected.decided
    assert found.labelled_shift_p is None
    useless = Texts(1 - texts.judge, texts.human, texts.clusters, answers=True)
    undefined = corrected(useless, Asked(True, labels_chosen="by-truth"))
    assert undefined.method == "rogan-gladen"  # and not labels alone, which are far off
    assert undefined.decided.estimate is None
    assert undefined.decided.reason


def test_every_label_counts_also_without_a_score() -> None:
    """The judge is silent on every fail: labels alone say .5, and so does every method."""
    human = np.repeat([1.0, 0.0], 200)
    judge = np.where(human == 1, 1.0, NAN)
    texts = Texts(judge, human, np.arange(400), answers=True)
    found = corrected(texts, PASSES)
    assert found.method == "exact"
    assert _ends(found.decided) == pytest.approx(proportion_confint(200, 400, method="beta"))
    assert found.judge_only.estimate == 1
    some = np.where(np.arange(400) % 4 == 0, human, NAN)
    for chosen in (None, "at-random"):
        part = corrected(Texts(judge, some, np.arange(400), answers=True), Asked(True, labels_chosen=chosen))  # type: ignore[arg-type]  # one of the kinds
        assert part.decided.estimate == pytest.approx(0.5, abs=1e-6)
        assert part.n_labelled == 100
    by_answer = corrected(Texts(judge, some, np.arange(400), answers=True), PASSES)
    assert [(one.low, one.mean.estimate) for one in by_answer.answers] == [(1.0, 1.0), (None, 0.0)]
    truth = corrected(Texts(judge, some, np.arange(400), answers=True), Asked(True, labels_chosen="by-truth"))
    assert truth.decided.estimate == pytest.approx(0.5)


def test_labels_chosen_by_the_judges_answer_do_not_move_the_estimate() -> None:
    """Half of the judge's fails and a tenth of its passes have a label; Rogan-Gladen said .997 of a rate of .60."""
    rng = np.random.default_rng(4)
    truth = (rng.random(20_000) < 0.6).astype(float)
    judge = np.where(rng.random(20_000) < 0.85, truth, 1 - truth)
    human = np.where(rng.random(20_000) < np.where(judge == 1, 0.08, 0.5), truth, NAN)
    found = corrected(Texts(judge, human, np.arange(20_000), answers=True), PASSES)
    assert found.decided.estimate == pytest.approx(0.6, abs=0.02)
    assert abs((found.labels_only.estimate or 0.0) - 0.6) > 0.15
    assert found.labelled_shift_p is None or found.labelled_shift_p > 0.01


def test_few_grades_off_the_commonest_one_are_bounded() -> None:
    """28 of 30 labels are 5: the interval must reach far below what standard errors say."""
    human = np.array([5.0] * 28 + [1.0, 4.0] + [NAN] * 300)
    judge = np.concatenate([human[:30], np.full(300, 5.0)]) + np.random.default_rng(1).normal(0, 0.1, 330)
    texts = Texts(judge, human, np.arange(330))
    for asked in (GRADES, Asked(ends=(1.0, 5.0), labels_chosen="at-random")):
        found = corrected(texts, asked)
        assert found.method != "ppi++"
        assert _ends(found.decided)[0] < 4.45
    many = np.concatenate([human[:30], [5.0] * 40, [3.0] * FEWEST_OTHERS_FOR_PPI, [NAN] * 230])
    assert corrected(
        Texts(judge, many, np.arange(330)), Asked(ends=(1.0, 5.0), labels_chosen="at-random", method=None)
    ).why


def test_a_pass_rate_keeps_its_guard_in_any_coding() -> None:
    human = np.array([1.0] * 29 + [0.0] + [NAN] * 100)
    judge = np.where(np.isnan(human), 1.0, human)
    clusters = np.arange(130)
    rate = corrected(Texts(judge, human, clusters, answers=True), Asked(True, labels_chosen="at-random"))
    coded = corrected(
        Texts(1 + 4 * judge, 1 + 4 * human, clusters), Asked(ends=(1.0, 5.0), labels_chosen="at-random")
    )
    assert [(end - 1) / 4 for end in _ends(coded.decided)] == pytest.approx(_ends(rate.decided), abs=1e-6)


def test_labels_saved_compare_with_labels_at_random() -> None:
    good = corrected(_texts(4000, 0.1), PASSES)
    assert good.share_saved is not None
    assert 0.5 < good.share_saved < 1.2
    rng = np.random.default_rng(2)
    texts = _texts(4000, 0.1)
    useless = Texts(rng.permutation(texts.judge), texts.human, texts.clusters, answers=True)
    assert abs(corrected(useless, PASSES).share_saved or 0.0) < 0.05
    truth, judge = _texts(4000, 1.0).human, _texts(4000, 1.0).judge
    wasteful = np.where(np.where(judge == 1, 0.02, 1.0) > rng.random(4000), truth, NAN)
    spent = corrected(Texts(judge, wasteful, texts.clusters, answers=True), PASSES)
    assert (spent.share_saved or 0.0) < -0.3


def test_a_choice_of_labels_is_noticed() -> None:
    rng = np.random.default_rng(6)
    truth = (rng.random(2000) < 0.7).astype(float)
    judge = np.where(rng.random(2000) < 0.8, truth, 1 - truth)
    systems = np.repeat(["a", "b"], 1000)
    by_system = np.where(rng.random(2000) < np.where(systems == "a", 0.3, 0.1), truth, NAN)
    found = corrected(Texts(judge, by_system, np.arange(2000), answers=True, systems=systems), PASSES)
    assert found.labelled_shift_p is not None
    assert found.labelled_shift_p < 1e-6
    assert found.selected_by in {"a", "b"}
    by_judge = np.where(rng.random(2000) < np.where(judge == 1, 0.1, 0.4), truth, NAN)
    declared = corrected(
        Texts(judge, by_judge, np.arange(2000), answers=True), Asked(True, labels_chosen="at-random")
    )
    assert declared.labelled_shift_p is not None
    assert declared.labelled_shift_p < 1e-6


def _gap(first: Texts, second: Texts, asked: Asked) -> tuple[CorrectedMean, CorrectedMean, object]:
    sides = corrected(first, asked), corrected(second, asked)
    return *sides, corrected_gap(first, second, *sides, asked)


def test_differences_follow_their_systems() -> None:
    first, second = _texts(seed=1), _texts(seed=2)
    a, b, gap = _gap(first, second, PASSES)
    found = corrected_gap(first, second, a, b, PASSES)
    assert gap == found
    assert found.method == "by-class"
    assert found.decided.estimate == pytest.approx((a.decided.estimate or 0.0) - (b.decided.estimate or 0.0))
    low, high = _ends(found.decided)
    assert low < (found.decided.estimate or 0.0) < high
    random = Asked(True, labels_chosen="at-random")
    keyed = [Texts(one.judge, one.human, one.clusters, True, keys=np.arange(400)) for one in (first, second)]
    a, b, _ = _gap(*keyed, random)
    expected = corrected_difference(
        *(Scored(one.judge, one.human, one.clusters, one.keys) for one in keyed), pass_rate=True
    )
    assert corrected_gap(*keyed, a, b, random).decided == expected.decided
    a, b, _ = _gap(first, second, Asked(True, labels_chosen="by-truth"))
    by_truth = corrected_gap(first, second, a, b, Asked(True, labels_chosen="by-truth"))
    assert by_truth.method == "rogan-gladen"
    assert by_truth.decided.estimate == pytest.approx(
        (a.decided.estimate or 0.0) - (b.decided.estimate or 0.0)
    )
