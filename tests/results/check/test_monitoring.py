"""To follow a mean a judge must move as quality does: verdicts of planted judges, thirds, one rater, JSON and the table."""

import numpy as np
import pytest
from helpers.texts.checks import check_json, check_tables, checked, panel, rule
from numpy.typing import NDArray

from core.results.check.monitoring import bias_in_thirds
from core.results.check.sentences import sentence
from core.results.check.texts import own_texts
from core.results.check.verdict import check_panel
from core.schema.scale import Scale, scale_of_range
from core.schema.uses import CheckOptions
from scripts.simulations import cell_measures, read
from scripts.simulations.monitor import GRID, truth_of

Values = NDArray[np.float64]
FILES = 20


def graded(n: int, slope: float = 1.0, raters: int = 3, seed: int = 0) -> tuple[Values, Values]:
    """Ratings from 1 to 5 by raters of one quality, and a judge that is another rater, moved towards 3 by the slope."""
    rng = np.random.default_rng(seed)
    seen = 3 + rng.normal(size=n)[:, None] + rng.normal(0, 0.5, (n, raters + 1))
    ratings = np.clip(np.round(seen), 1, 5)
    return ratings[:, :raters], 3 + slope * (ratings[:, -1] - 3)


@pytest.mark.parametrize(
    ("slope", "verdict", "met"),
    [(0.3, "NOT TRUSTED", False), (1.0, "TRUSTED", True), (0.0, "NOT TRUSTED", False)],
)
def test_a_judge_that_hardly_moves_is_not_trusted_and_a_copy_is(
    slope: float, verdict: str, met: bool
) -> None:
    people, judge = graded(300, slope)
    one = checked(panel(people, judge), "monitor")
    assert rule(one, "bias").met is True
    assert rule(one, "responsiveness").met is met
    assert one.verdict == verdict
    assert one.responsiveness is not None
    assert one.responsiveness.estimate.estimate == pytest.approx(slope, abs=0.1)


def test_a_judge_that_moves_too_far_is_not_trusted() -> None:
    people, judge = graded(400)
    narrow = 3 + 0.4 * (people - 3)
    given = panel(narrow, judge, scale=scale_of_range(1, 5))
    one = checked(given, "monitor")
    assert one.verdict == "NOT TRUSTED"
    assert one.responsiveness is not None
    assert one.responsiveness.estimate.low is not None
    assert one.responsiveness.estimate.low > 1.25
    assert rule(one, "responsiveness").limit == 1.25
    # A limit that is stated decides.
    assert rule(checked(given, "monitor", most_responsive=4), "responsiveness").met is True


def test_one_rater_shows_no_more_than_a_lowest_number() -> None:
    people, judge = graded(400, raters=1)
    one = checked(panel(people, judge), "monitor")
    assert one.verdict == "INCONCLUSIVE"
    assert one.labels_needed is None
    assert "label some texts twice" in one.labels_reason
    flat = checked(panel(people, 3 + 0.3 * (judge - 3)), "monitor")
    assert flat.verdict == "INCONCLUSIVE"
    # Its lowest number lies above the upper limit: that is shown with one rater too.
    steep = checked(panel(3 + 0.4 * (people - 3), judge, scale=scale_of_range(1, 5)), "monitor")
    assert steep.verdict == "NOT TRUSTED"


def test_raters_who_agree_on_nothing_break_nothing() -> None:
    rng = np.random.default_rng(2)
    people = rng.integers(1, 6, (300, 3)).astype(np.float64)
    found = rule(checked(panel(people, people[:, 0]), "monitor"), "responsiveness")
    assert found.met is None
    assert found.broken is None


def test_ten_systems_are_compared_by_their_means() -> None:
    rng = np.random.default_rng(3)
    systems = np.repeat(np.arange(20), 30)
    quality = np.linspace(1.5, 4.5, 20)[systems] + rng.normal(0, 0.5, 600)
    people = np.clip(np.round(quality[:, None] + rng.normal(0, 0.5, (600, 3))), 1, 5)
    # Moves by half between systems, and as people do within them.
    judge = quality - 0.5 * (np.linspace(1.5, 4.5, 20)[systems] - 3)
    given = panel(people, judge, systems=np.array([f"s{at}" for at in systems]), scale=scale_of_range(1, 5))
    one = checked(given, "monitor")
    assert one.responsiveness is not None
    assert one.responsiveness.of_groups
    assert one.responsiveness.estimate.estimate == pytest.approx(0.5, abs=0.05)
    assert one.verdict == "NOT TRUSTED"


def test_a_scale_without_means_has_no_responsiveness() -> None:
    people, judge = graded(60)
    other = checked(panel(people, 20 * judge - 0.5), "monitor")
    assert other.responsiveness is None
    assert rule(other, "responsiveness").met is None
    assert not other.thirds
    words = Scale("unordered", (1.0, 2.0, 3.0, 4.0, 5.0))
    assert checked(panel(people, judge, scale=words), "monitor").responsiveness is None


def test_thirds_are_cut_by_one_rater_and_measured_against_another() -> None:
    """Four texts, raters 1 2, 1 1, 3 3, 5 4, judge 2 2 3 3: the third of each rating, against the other rater, by hand."""
    people = np.array([[1.0, 2], [1, 1], [3, 3], [5, 4]])
    own = own_texts(panel(people, [2, 2, 3, 3], scale=scale_of_range(1, 5)), 0)
    low, middle, high = bias_in_thirds(own, CheckOptions())
    # Mid-ranks of 1, 2, 3, 4, 5 among 8 ratings: 1.5/8, 3.5/8, 5/8, 6.5/8, 7.5/8.
    assert [(one.lowest, one.highest) for one in (low, middle, high)] == [(1, 1), (2, 3), (4, 5)]
    # Low: text 1 by its first rater (against the 2: 0), text 2 by both (2 - 1 = 1): places 1/2 and 1.
    assert low.bias.estimate == pytest.approx((0.5 * 0 + 1 * 1) / 1.5 / 4)
    # Middle: text 1 by its second rater (2 - 1), text 3 by both (0).
    assert middle.bias.estimate == pytest.approx((0.5 * 1 + 1 * 0) / 1.5 / 4)
    assert high.bias.estimate == pytest.approx(((3 - 4) + (3 - 5)) / 2 / 4)


def test_two_classes_are_low_and_high() -> None:
    people = (graded(200)[0] > 2).astype(np.float64)
    assert [one.name for one in checked(panel(people, people[:, 0]), "monitor").thirds] == ["low", "high"]


def test_a_copy_has_no_bias_in_any_third() -> None:
    """Against the rater who chose the third a copy would be .1 too high where that rating is low."""
    people, judge = graded(4_000)
    one = checked(panel(people, judge), "monitor")
    assert len(one.thirds) == 3
    assert max(abs(third.bias.estimate or 0) for third in one.thirds) < 0.02


def test_the_sentence_names_a_third_beyond_the_tolerance() -> None:
    people, judge = graded(400, 0.5)
    found = check_panel(panel(people, judge), CheckOptions(use="monitor"))
    said = sentence(found, found.judges[0])
    assert "Where people rate" in said
    copy = check_panel(panel(*graded(400)), CheckOptions(use="monitor"))
    assert "Where people rate" not in sentence(copy, copy.judges[0])
    assert "Quality +1 moves the judge +" in sentence(copy, copy.judges[0])


def test_json_and_table_have_responsiveness_and_thirds() -> None:
    people, judge = graded(200, 0.5)
    found = check_panel(panel(people, judge), CheckOptions(use="monitor"))
    told = check_json(found)["judges"][0]
    assert set(told["responsiveness"]) >= {
        "estimate",
        "low",
        "high",
        "judge",
        "people",
        "n",
        "means_of_systems",
    }
    assert told["responsiveness"]["estimate"] == pytest.approx(
        told["responsiveness"]["judge"] / told["responsiveness"]["people"]
    )
    assert [one["third"] for one in told["bias_thirds"]] == ["low", "middle", "high"]
    table = check_tables(found)["check"]
    at = [column.name for column in table.columns]
    for name in ("responsiveness", "bias_low", "bias_middle", "bias_high"):
        assert table.columns[at.index(name)].shown
    gate = check_panel(panel(people, judge), CheckOptions(use="gate"))
    assert check_json(gate)["judges"][0]["responsiveness"] is None


# --- the simulation ------------------------------------------------------------------------------


def test_the_stored_table_keeps_the_promise() -> None:
    for cell, found in read(GRID).items():
        trusted, true = found["trusted"], found["true"]
        assert trusted is not None
        if true is None:  # one rater
            assert trusted == 0, cell
        elif cell[3] not in {"slope 1", "slope 1, offset"}:
            assert trusted <= 0.05 + 2 * (0.05 * 0.95 / GRID.replicates) ** 0.5, cell
        else:
            assert found["not_trusted"] is not None
            assert found["not_trusted"] <= 0.05 + 2 * (0.05 * 0.95 / GRID.replicates) ** 0.5, cell


def test_planted_judges_have_the_slope_that_they_are_named_after() -> None:
    for cell in (("1 to 5", 3, 300, "slope 0.75"), ("two classes", 3, 300, "slope 1.25")):
        assert cell in GRID.cells
        assert truth_of(cell) == pytest.approx(float(str(cell[3]).split()[1]), abs=0.02)


def test_a_cell_run_again_is_near_the_stored_one() -> None:
    cell = ("1 to 5", 3, 300, "slope 0.5")
    again = cell_measures(GRID, cell, FILES)
    assert again["trusted"] == read(GRID)[cell]["trusted"] == 0
    assert again["before"] is not None
    assert again["before"] > 0.5
