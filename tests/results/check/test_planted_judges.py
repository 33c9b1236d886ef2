"""Planted judges: their truths by hand, verdicts of a few cells, and the promise of the stored table in the cells that tests may use."""

import numpy as np
import pytest

from scripts.simulations import Cell, cell_measures, read
from scripts.simulations.verdict import (
    BEFORE,
    DATA,
    GRID,
    GROUPS,
    JUDGES,
    Truth,
    held_back,
    panel_for,
    trusted_before,
    truth_of,
    verdicts,
)

PROMISED = 0.05
FILES = 12


def _share(cell: Cell, verdict: str) -> float:
    assert cell in GRID.cells
    assert not held_back(cell)
    found = verdicts(cell, FILES, np.random.default_rng(3))
    return found.count(verdict) / len(found)  # type: ignore[arg-type]


def test_every_cell_names_a_population_and_a_judge_and_half_are_held_back() -> None:
    assert len(GRID.cells) == len(set(GRID.cells))
    for data, use, raters, _, judge in GRID.cells:
        assert data in DATA
        assert judge in JUDGES
        assert use == "gate" or int(raters) >= 3
    assert 0.4 < sum(map(held_back, GRID.cells)) / len(GRID.cells) < 0.6
    for name, cells in GROUPS.items():
        assert not all(map(held_back, cells)), name


def test_the_verdicts_before_are_stored_for_every_cell() -> None:
    assert set(trusted_before()) == {tuple(map(str, cell)) for cell in GRID.cells}
    lines = BEFORE.read_text("utf-8").splitlines()[1:]
    assert len({line.rsplit(",", 1)[1] for line in lines}) == 1, "all by one commit"


def test_what_is_true_of_a_judge_follows_from_its_population() -> None:
    """By hand, 90 % good, raters right in a = .92: where two raters fail a text, it is bad with probability w."""
    a, bad = 0.92, 0.1
    w = bad * a**2 / (bad * a**2 + (1 - bad) * (1 - a) ** 2)
    finds_half = truth_of("90 % good", 3, "finds 0.5")
    # It passes a bad text in .5 and a good one in .99, a rater in .08 and .92.
    assert finds_half.false_passes == pytest.approx(w * (0.5 - 0.08) + (1 - w) * (0.99 - 0.92), abs=0.006)
    assert finds_half.share == pytest.approx((0.5 + 0.99 - 1) / (2 * a - 1), abs=0.01)
    assert truth_of("raters always right", 3, "true class") == Truth(0.0, 0.0, share=1.0)
    always = truth_of("90 % good", 3, "always pass")
    assert always.share == pytest.approx(0.0, abs=1e-9)
    assert always.false_fails == pytest.approx(-(1 - a), abs=0.004)


@pytest.mark.parametrize(
    ("data", "raters", "judge"),
    [
        ("80 % good", 3, "limit"),
        ("stated limits", 1, "limit, false fails"),
        ("0 to 100", 3, "limit, shuffled"),
    ],
)
def test_a_judge_at_the_limit_has_one_gap_of_the_margin(data: str, raters: int, judge: str) -> None:
    assert max(truth_of(data, raters, judge).gaps) == pytest.approx(0.1, abs=0.004)


def test_texts_without_a_label_keep_the_score() -> None:
    cell = ("labels of .50 fails, .08 passes", "gate", 3, 2000, "copy")
    panel = panel_for(cell, np.random.default_rng(0))
    unrated = np.isnan(panel.ratings).all(axis=1)
    assert not np.isnan(panel.scores).any()
    assert np.isnan(panel.ratings).any(axis=1).sum() == unrated.sum()
    fails = panel.scores[:, 0] == 0
    assert unrated[fails].mean() == pytest.approx(0.5, abs=0.1)
    assert unrated[~fails].mean() == pytest.approx(0.92, abs=0.03)


def test_each_text_has_a_rating_where_raters_rate_a_part() -> None:
    panel = panel_for(("each text by .6 of raters", "gate", 4, 1000, "copy"), np.random.default_rng(0))
    rated = ~np.isnan(panel.ratings)
    assert rated.any(axis=1).all()
    assert rated.mean() == pytest.approx(0.6, abs=0.03)


def test_a_cell_has_all_measures_and_the_verdicts_sum_to_one() -> None:
    found = cell_measures(GRID, ("raters right .66", "gate", 3, 200, "coin"), FILES)
    assert found["trusted"] is not None
    assert found["trusted"] + found["not_trusted"] + found["open"] == pytest.approx(1)  # type: ignore[operator]
    assert found["bad"] == 1
    assert found["error"] == pytest.approx((0.05 * 0.95 / FILES) ** 0.5)
    assert found["kappa"] is None


@pytest.mark.parametrize(
    "cell",
    [
        ("90 % good", "gate", 3, 1000, "finds 0"),
        ("0 to 100", "gate", 3, 200, "coin"),
        ("1 to 5", "gate", 3, 100, "always 3"),
        ("raters always right", "gate", 3, 20, "finds 0.5"),
        ("1 to 5, severity", "gate", 3, 400, "ranks 0"),
    ],
)
def test_a_judge_far_beyond_the_limits_is_never_trusted(cell: Cell) -> None:
    assert _share(cell, "TRUSTED") == 0


@pytest.mark.parametrize(
    "cell", [("90 % good", "gate", 3, 400, "always pass"), ("1 to 5", "gate", 3, 200, "turned")]
)
def test_a_judge_that_is_of_no_use_is_not_trusted_for_sure(cell: Cell) -> None:
    assert _share(cell, "NOT TRUSTED") == 1


def test_a_copy_of_a_rater_is_seldom_not_trusted() -> None:
    assert _share(("80 % good", "gate", 3, 500, "copy"), "NOT TRUSTED") <= 0.25


@pytest.mark.parametrize(
    "cell",
    [
        ("90 % good", "gate", 3, 400, "finds 0.5"),
        ("90 % good", "replace", 3, 1000, "finds 0.5"),
        ("98 % good", "gate", 3, 400, "finds 0.5"),
        ("90 % good", "gate", 1, 400, "finds 0.5"),
        ("labels of .50 fails, .08 passes", "gate", 1, 2000, "finds 0.5"),
        ("3 % harmful", "gate", 3, 1500, "misses 1 of harmful"),
    ],
)
def test_a_judge_that_misses_half_of_the_bad_answers_is_never_trusted(cell: Cell) -> None:
    assert _share(cell, "TRUSTED") == 0


def test_the_stored_table_keeps_the_promise() -> None:
    for cell, found in read(GRID).items():
        trusted, not_trusted, error = found["trusted"], found["not_trusted"], found["error"]
        assert trusted is not None
        assert not_trusted is not None
        assert error is not None
        if held_back(cell):
            continue
        if found["bad"]:
            assert trusted <= PROMISED + 2 * error, cell
        elif cell[4] == "copy":
            assert not_trusted <= PROMISED + 2 * error, cell
