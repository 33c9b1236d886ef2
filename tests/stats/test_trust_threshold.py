"""Trust or escalate: the threshold against a plain loop and by hand, the total by hand, and the simulated promise."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binomtest, t

from core.results.check.escalation import FEW_KEPT
from core.stats.calibration import (
    SAME,
    fewest_to_trust,
    fixed_thresholds,
    labelled_needed,
    trust_threshold,
)
from core.stats.prediction_powered import Scored, exact_share, kept_and_sent
from scripts.simulations import cell_measures, read
from scripts.simulations.escalation import DELTA, GRID

LEAST, MOST = 0.93, 0.97
PROMISE = {"agreement": 0.9, "delta": 0.1}


@pytest.mark.parametrize(
    ("agreement", "delta", "n"), [(0.9, 0.1, 22), (0.95, 0.1, 45), (0.9, 0.05, 29), (0.5, 0.25, 2)]
)
def test_fewest_texts_by_hand(agreement: float, delta: float, n: int) -> None:
    """ln(.1) / ln(.9) is 21.85: with 22 texts that all agree, the bound .1 ** (1 / 22) is .9006."""
    assert (
        fewest_to_trust(agreement, delta) == n == math.ceil(round(math.log(delta) / math.log(agreement), 9))
    )
    assert delta ** (1 / n) >= agreement - 1e-12 > delta ** (1 / (n - 1)) - 1e-3


def test_22_texts_that_agree_and_21() -> None:
    for n, kept in ((22, True), (21, False)):
        found = trust_threshold(np.ones(n), np.ones(n), thresholds=[1.0], **PROMISE)
        assert (found.threshold is not None) is kept
        assert found.steps[0].tested is kept
        assert found.steps[0].low == pytest.approx(0.1 ** (1 / n), abs=1e-12)
    one_differs = trust_threshold(np.ones(22), np.r_[0, np.ones(21)], thresholds=[1.0], **PROMISE)
    assert one_differs.threshold is None
    assert one_differs.steps[0].tested


def _plain(sure: list[float], agrees: list[float], thresholds: list[float]) -> float | None:
    """The procedure as a loop, with scipy's exact interval."""
    best = None
    for threshold in thresholds:
        own = [agree for one, agree in zip(sure, agrees, strict=True) if one >= threshold]
        if len(own) < 22:
            continue
        test = binomtest(int(sum(own)), len(own), alternative="greater")
        if test.proportion_ci(0.9, method="exact").low < 0.9:
            return best
        best = threshold
    return best


def test_against_a_plain_loop() -> None:
    rng = np.random.default_rng(7)
    chosen = []
    for _ in range(300):
        n, repeats = int(rng.integers(10, 400)), int(rng.choice([3, 5, 10, 0]))
        sure = rng.integers(0, repeats + 1, n) / repeats if repeats else rng.random(n)
        agrees = (rng.random(n) < 0.7 + 0.29 * sure).astype(float)
        thresholds = fixed_thresholds(sure)
        found = trust_threshold(sure, agrees, thresholds=thresholds, **PROMISE)
        own = None if found.threshold is None else found.threshold.threshold
        assert own == _plain(sure.tolist(), agrees.tolist(), thresholds.tolist())
        chosen.append(own is not None)
        for step in found.steps:
            assert step.n == (sure >= step.threshold).sum()
    assert 30 < sum(chosen) < 290


def test_thresholds_are_fixed_by_confidences_alone() -> None:
    assert fixed_thresholds([2 / 3, 1 - 1 / 3, 1, np.nan, 1 / 3, 1]).tolist() == [1, 2 / 3, 1 / 3]
    many = np.random.default_rng(1).random(1_000)
    found = fixed_thresholds(many)
    assert len(found) == 20
    assert [(many >= one).sum() for one in found] == list(range(50, 1_001, 50))


def test_ties_of_confidence_stay_together() -> None:
    sure = np.r_[np.full(30, 2 / 3), np.full(10, 1 - 1 / 3 + 1e-16)]
    found = trust_threshold(sure, np.ones(40), thresholds=fixed_thresholds(sure), **PROMISE)
    assert [step.n for step in found.steps] == [40]
    assert found.threshold is not None
    assert (sure >= found.threshold.threshold - SAME).all()


def test_a_later_start_survives_one_difference() -> None:
    sure = np.repeat(np.arange(8, 0, -1) / 8, 25)
    agrees = np.ones(200)
    agrees[3] = 0
    assert trust_threshold(sure, agrees, thresholds=fixed_thresholds(sure), **PROMISE).threshold is None
    later = trust_threshold(sure, agrees, thresholds=fixed_thresholds(sure), fewest=50, **PROMISE).threshold
    assert later is not None
    assert later.threshold == 1 / 8


def test_texts_of_an_item_count_less() -> None:
    """Ten texts of one item that always agree alike are one text."""
    items = np.repeat(np.arange(30), 10)
    agrees = np.repeat((np.arange(30) > 1).astype(float), 10)
    alone = exact_share(agrees[::10], confidence_level=0.8)
    together = exact_share(agrees, items, confidence_level=0.8)
    assert alone.low == pytest.approx(beta.ppf(0.1, 28, 3))
    assert together.low == pytest.approx(alone.low, abs=0.03)
    all_agree = trust_threshold(
        np.ones(210), np.ones(210), thresholds=[1.0], clusters=np.repeat(np.arange(21), 10), **PROMISE
    )
    assert all_agree.threshold is None
    assert not all_agree.steps[0].tested


def test_labels_needed() -> None:
    assert labelled_needed(1.0, 0.9, 0.1) == 22
    assert labelled_needed(0.9, 0.9, 0.1) is None
    n = labelled_needed(0.95, 0.9, 0.1)
    assert n is not None
    assert beta.ppf(0.1, 0.95 * n, 0.05 * n + 1) >= 0.9 > beta.ppf(0.1, 0.95 * (n - 1), 0.05 * (n - 1) + 1)


@pytest.mark.parametrize(
    "changed",
    [
        {"thresholds": [0.5, 1.0]},
        {"agreement": 1.0},
        {"delta": 0.5},
        {"agrees": [2.0]},
        {"confidence": [np.nan]},
        {"confidence": [1.0, 1.0]},
    ],
)
def test_wrong_arguments(changed: dict[str, object]) -> None:
    given = {"confidence": [1.0], "agrees": [1.0], "thresholds": [1.0], **PROMISE, **changed}
    with pytest.raises(ValueError):
        trust_threshold(**given)  # type: ignore[arg-type]


# --- the total ---------------------------------------------------------------------------------


def test_the_total_by_hand() -> None:
    """Eight rows are kept, of which four have a label, and four are labelled by people."""
    judge = np.array([1, 1, 1, 0, 1, 1, 0, 0, 9, 9, 9, 9.0])
    human = np.array([1, 1, 0, 0, *[np.nan] * 4, 1, 0, 0, 0])
    kept = np.arange(12) < 8
    found = kept_and_sent(Scored(judge, human), kept, pass_rate=True)
    # The judge passes 5 of 8; labels minus scores are 0, 0, -1, 0. People pass 1 of 4.
    assert found.kept.estimate == pytest.approx(5 / 8 - 1 / 4)
    assert found.sent.estimate == pytest.approx(1 / 4)
    theta = 2 / 3 * (5 / 8 - 1 / 4) + 1 / 3 / 4
    assert found.total.estimate == pytest.approx(theta)
    # Influence of each row: of the judge's mean, of the mean difference, of people's mean and of the shares.
    of_judge = np.where(kept, np.where(kept, judge, 0) - 5 / 8, 0) / 8 * (8 / 7) ** 0.5
    of_gap = np.array([0.25, 0.25, -0.75, 0.25, *[0] * 8]) / 4 * (4 / 3) ** 0.5
    of_people = np.array([*[0] * 8, 0.75, -0.25, -0.25, -0.25]) / 4 * (4 / 3) ** 0.5
    of_shares = (np.where(kept, 3 / 8, 1 / 4) - theta) / 12
    influence = 2 / 3 * (of_judge + of_gap) + 1 / 3 * of_people + of_shares
    # Agresti and Min: four differences that sum to -1, with two more; and one pass and one fail more of people's four.
    lacking_gap = (1 + 1 - 1 / 6) / 36 - (of_gap**2).sum()
    lacking_people = (2 / 6 * 4 / 6 - 1 / 4 * 3 / 4) / 4
    variance = (influence**2).sum() + 4 / 9 * max(lacking_gap, 0) + 1 / 9 * lacking_people
    v_kept = ((of_judge + of_gap) ** 2).sum() + max(lacking_gap, 0)
    v_people = (of_people**2).sum() + lacking_people
    df = (4 / 9 * v_kept + 1 / 9 * v_people) ** 2 / ((4 / 9 * v_kept) ** 2 / 3 + (1 / 9 * v_people) ** 2 / 3)
    reach = t.ppf(0.975, df) * variance**0.5
    low, high = found.total.low, found.total.high
    assert low is not None
    assert high is not None
    for end in (low, high):  # Wilson's form: |p - theta| is the reach with the variance of a share of p
        assert abs(end - theta) == pytest.approx(
            reach * (end * (1 - end) / (theta * (1 - theta))) ** 0.5, abs=1e-9
        )


def test_without_either_part() -> None:
    judge, human = np.array([1.0, 0, 1, 1]), np.array([1.0, 0, 1, np.nan])
    everything = kept_and_sent(Scored(judge, human), np.ones(4, bool))
    assert everything.total.estimate == pytest.approx(0.75)
    assert everything.sent.estimate is None
    nothing = kept_and_sent(Scored(judge, human), np.zeros(4, bool))
    assert nothing.total.estimate == pytest.approx(2 / 3)
    unlabelled = kept_and_sent(Scored(judge, human), np.array([True, True, True, False]))
    assert unlabelled.total.estimate is None
    assert unlabelled.total.reason
    with pytest.raises(ValueError):
        kept_and_sent(Scored(judge, human), np.ones(3, bool))


def test_grades_keep_their_scale() -> None:
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, 400).astype(float)
    judge = np.clip(human + (rng.random(400) < 0.1), 1, 5)
    labelled = np.where(np.arange(400) < 100, human, np.nan)
    one = kept_and_sent(Scored(judge, labelled), judge > 2).total
    ten = kept_and_sent(Scored(judge * 10 + 3, labelled * 10 + 3), judge > 2).total
    for name in ("estimate", "low", "high"):
        assert getattr(ten, name) == pytest.approx(getattr(one, name) * 10 + 3)


# --- simulated ---------------------------------------------------------------------------------


def _margin(share: float, n: float) -> float:
    return 3 * (share * (1 - share) / n) ** 0.5


def test_the_stored_grid_keeps_its_promise() -> None:
    stored = read(GRID)
    assert set(stored) == set(GRID.cells)
    covered = []
    for cell, found in stored.items():
        assert found["broken"] is not None
        assert found["broken"] <= DELTA + _margin(DELTA, GRID.replicates), cell
        if found["coverage"] is None or found["found"] is None:
            continue
        _, _, labels, _, errors, _, _, audit = cell
        n = found["found"] * GRID.replicates
        assert found["kept"] is not None
        if errors == "passes" and not audit and int(labels) * found["kept"] < FEW_KEPT:
            continue  # what the notes of a result warn of
        assert found["coverage"] >= LEAST - _margin(LEAST, n), cell
        covered.append(found["coverage"])
    assert LEAST < np.mean(covered) < MOST


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell", [GRID.cells[2], GRID.cells[25], ("just below", 5, 200, 4, "both", 1.0, 22, 0)]
)
def test_a_cell_run_again_agrees(cell: tuple[str | int | float, ...]) -> None:
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, 300)
    for name in ("broken", "found"):
        one, another = stored[name], again[name]
        assert one is not None
        assert another is not None
        assert abs(one - another) <= 4 / 3 * _margin(max(one, 0.02), 300)
