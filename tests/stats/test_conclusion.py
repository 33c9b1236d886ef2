"""Which of two systems is better: the order of the tests, bounds by hand, what one more question and unanswered pairs change."""

import numpy as np
import pytest
from scipy.stats import beta

from core.stats.conclusion import (
    ANSWERS,
    Bounds,
    Conclusion,
    answer_value,
    conclude,
    unanswered_at_worst,
)
from core.stats.non_inferiority import NO_SCORED_PAIR, verdict
from scripts.simulations import cell_measures, read
from scripts.simulations.answers import GRID, Cell, decided, even_shares, holds_with_one_more, questions_of


def of_questions(means: object, margin: float | None = 0.1, **options: object) -> Conclusion:
    """One pair a question."""
    return conclude(means, np.arange(len(means)), margin=margin, **options)  # type: ignore[arg-type]


def mix(lost: int, tied: int, won: int) -> np.ndarray:
    return np.repeat([-1, 0, 1], [lost, tied, won])


def bounds(bound: float, low: float, high: float) -> Bounds:
    return Bounds(bound, low, high, "questions", "questions", None, None)


@pytest.mark.parametrize(
    ("found", "with_margin", "without"),
    [
        (bounds(0.05, 0.02, 0.30), "better", "better"),
        (bounds(-0.02, -0.05, 0.30), "not worse", "not shown"),
        (bounds(-0.09, -0.095, -0.01), "worse, within the margin", "worse"),
        (bounds(-0.12, -0.15, -0.01), "worse", "worse"),
        (bounds(-0.12, -0.15, 0.05), "not shown", "not shown"),
        (bounds(-0.12, -0.15, 0.15), "not enough information", "not shown"),
        # On a threshold nothing is shown.
        (bounds(0.0, 0.0, 0.2), "not worse", "not shown"),
        (bounds(-0.1, -0.11, 0.0), "not shown", "not shown"),
    ],
)
def test_the_order_of_the_tests(found: Bounds, with_margin: str, without: str) -> None:
    assert answer_value(found, 0.1, 40) == with_margin
    assert answer_value(found, None, 40) == without


def test_better_needs_not_worse_first() -> None:
    """At a declared level above the interval's the bound can miss the margin although the interval is above 0."""
    assert answer_value(bounds(-0.11, 0.01, 0.3), 0.1, 40) == "not shown"


@pytest.mark.parametrize(
    ("scores", "value"),
    [
        (mix(5, 20, 25), "better"),
        (mix(2, 40, 2), "not worse"),
        (np.r_[mix(0, 60, 0), np.full(200, -0.06), np.full(40, 0.02)], "worse, within the margin"),
        (mix(25, 20, 5), "worse"),
        (mix(0, 10, 0), "not enough information"),
        (mix(24, 50, 16), "not shown"),
    ],
)
def test_all_six_values_from_scores(scores: np.ndarray, value: str) -> None:
    assert value in ANSWERS
    assert of_questions(scores).value == value


@pytest.mark.parametrize("n", [3, 5, 20])
def test_all_won_and_all_tied_by_hand(n: int) -> None:
    """The added question has a share of the weight with the survival function (1 - t)^n."""
    tied = of_questions(np.zeros(n)).bounds
    assert tied is not None
    reach = 1 - 0.05 ** (1 / n)
    assert (tied.low, tied.high) == pytest.approx((-reach, reach))
    won = of_questions(np.ones(n))
    assert won.bounds is not None
    assert won.bounds.low == pytest.approx(1 - 2 * reach)
    assert won.bounds.bound == pytest.approx(1 - 2 * (1 - 0.1 ** (1 / n)))
    assert won.value == ("better" if 2 * reach < 1 else "not worse")
    assert (won.bounds.low_method, won.bounds.high) == ("gaffke", 1)
    assert of_questions(-np.ones(n), None).value == ("worse" if 2 * reach < 1 else "not enough information")


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_that_of_the_verdict_and_the_sides_mirror(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, questions = rng.choice([-1, 0, 1], 100, p=[0.2, 0.5, 0.3]), np.repeat(np.arange(25), 4)
    for level in (0.90, 0.95):
        found = conclude(scores, questions, margin=0.1, confidence_level=level)
        assert found.bounds is not None
        assert found.bounds.bound == verdict(scores, questions, margin=0.1, confidence_level=level).bound
        assert found.bounds.low <= found.bounds.bound
        assert (found.bounds.bound == found.bounds.low) == (level == 0.95)
    one = conclude(scores, questions, margin=None)
    other = conclude(-scores, questions, margin=None)
    assert one.bounds is not None
    assert other.bounds is not None
    # Equal up to the simulation error of the resamples.
    assert (other.bounds.low, other.bounds.high) == pytest.approx(
        (-one.bounds.high, -one.bounds.low), abs=0.02
    )


def test_the_switch_is_decided_for_each_side() -> None:
    """40 questions are won and 2 lost a little: wins outweigh the worst lost one, but losses not half the best won one."""
    found = of_questions(np.r_[np.full(2, -0.1), np.ones(40)]).bounds
    assert found is not None
    assert (found.low_method, found.high_method) == ("questions", "gaffke")
    assert found.low_reason is None
    assert found.high_reason == "all lost questions together weigh less than half the best won one"
    mirrored = of_questions(np.r_[np.full(2, 0.1), -np.ones(40)]).bounds
    assert mirrored is not None
    assert mirrored.low_reason is not None
    swapped = {"won": "lost", "lost": "won", "worst": "best", "best": "worst"}
    assert [swapped.get(word, word) for word in mirrored.low_reason.split()] == found.high_reason.split()
    assert of_questions(np.ones(20)).bounds.high_reason == "no question was lost"  # type: ignore[union-attr]


def test_no_pair_and_one_question() -> None:
    none = conclude([], [], margin=0.1)
    assert (none.value, none.bounds, none.mean, none.reason) == (
        "not enough information",
        None,
        None,
        NO_SCORED_PAIR,
    )
    one = conclude([0.0, 1.0], ["q", "q"], margin=0.1)
    assert (one.value, one.mean, one.n_pairs, one.n_questions) == ("not enough information", 0.5, 2, 1)


def test_gaffkes_bounds_are_always_there() -> None:
    found = of_questions(mix(4, 12, 4), margin=0.3)
    assert found.gaffke is not None
    assert found.bounds is not None
    assert found.bounds.low_method == "questions"
    assert found.gaffke.bound < found.bounds.bound
    few = of_questions(mix(1, 8, 1))
    assert few.gaffke is not None
    assert few.bounds is not None
    assert (few.gaffke.bound, few.gaffke.low, few.gaffke.value) == (
        few.bounds.bound,
        few.bounds.low,
        few.value,
    )


@pytest.mark.parametrize(("n", "holds"), [(22, False), (60, True)])
def test_one_more_lost_question_by_hand(n: int, holds: bool) -> None:
    """Two of n + 2 weights are lost then; their share is beta distributed with 2 and n."""
    found = of_questions(np.zeros(n))
    assert found.value == "not worse"
    assert found.holds_with_one_more == holds == bool(beta(2, n).sf(0.1) < 0.1)


@pytest.mark.parametrize(("lost", "won", "holds"), [(1, 1, False), (1, 3, True), (2, 2, False), (2, 4, True)])
def test_one_more_question_has_the_mean_number_of_pairs(lost: int, won: int, holds: bool) -> None:
    """22 questions of 4 pairs; the question more is lost at all 4."""
    scores, questions = np.repeat(mix(lost, 22 - lost - won, won), 4), np.repeat(np.arange(22), 4)
    found = conclude(scores, questions, margin=0.1)
    assert found.bounds is not None
    assert (found.value, found.bounds.low_method) == ("not worse", "questions")
    assert found.holds_with_one_more == holds
    more = conclude(np.r_[scores, [-1] * 4], np.r_[questions, [22] * 4], margin=0.1)
    assert (more.value == "not worse") == holds


def test_an_open_answer_has_nothing_to_hold() -> None:
    assert of_questions(mix(24, 50, 16)).holds_with_one_more is None
    worse = of_questions(mix(25, 20, 5))
    assert worse.holds_with_one_more is True, "one more question won outright changes nothing in 50"


def test_the_tipping_point_by_hand() -> None:
    """40 ties and 10 unanswered questions: with k lost, k + 1 of 51 weights are lost."""
    names = [f"q{n}" for n in range(40)]
    found = unanswered_at_worst(np.zeros(40), names, [f"z{n}" for n in range(10)], "not worse", margin=0.1)
    fewest = next(k for k in range(11) if beta(k + 1, 50 - k).sf(0.1) >= 0.1)
    assert (found.n, found.worst.against, found.worst.tipping) == (10, -1, fewest)
    assert found.tipping_share == fewest / 10
    assert found.worst.mean_at_worst == pytest.approx(-10 / 50)
    assert found.worst.value_at_worst == "worse"


def test_unanswered_pairs_that_change_nothing() -> None:
    names = [f"q{n}" for n in range(100)]
    scores = np.r_[np.zeros(60), np.ones(40)]
    assert unanswered_at_worst(scores, names, ["z"], "better", margin=0.1).worst.tipping is None
    nothing = unanswered_at_worst([], [], ["z"] * 20, "not enough information", margin=0.1)
    assert (nothing.n, nothing.worst.mean_at_worst, nothing.worst.value_at_worst) == (
        20,
        None,
        "not enough information",
    )
    none = unanswered_at_worst(scores, names, [], "better", margin=0.1)
    assert (none.n, none.worst.tipping, none.worst.value_at_worst) == (0, None, "better")


def test_unanswered_pairs_speak_against_worse_by_being_won() -> None:
    names = [f"q{n}" for n in range(30)]
    scores = np.r_[-np.ones(9), np.zeros(18), np.ones(3)]
    assert conclude(scores, names, margin=None).value == "worse"
    found = unanswered_at_worst(scores, names, [f"z{n}" for n in range(20)], "worse", margin=None)
    assert [one.against for one in found.cases] == [1]
    assert found.worst.value_at_worst in ("better", "not shown")
    assert found.worst.tipping is not None


def test_without_a_margin_an_open_answer_can_be_changed_both_ways() -> None:
    """12 won and 8 lost of 40: the leader needs fewer of the 20 unanswered pairs than the other system."""
    names, missing = [f"q{n}" for n in range(40)], [f"z{n}" for n in range(20)]
    scores = mix(8, 20, 12)
    found, turned = (
        unanswered_at_worst(sign * scores, names, missing, "not shown", margin=None) for sign in (1, -1)
    )
    assert [(one.against, one.value_at_worst) for one in found.cases] == [(1, "better"), (-1, "worse")]
    tips = [one.tipping for one in found.cases]
    assert None not in tips
    assert tips[0] < tips[1]  # type: ignore[operator]
    assert found.tipping_share == tips[0] / 20  # type: ignore[operator]
    assert [(-one.against, one.tipping) for one in turned.cases] == [
        (one.against, one.tipping) for one in found.cases
    ]
    lost_only = unanswered_at_worst(scores, names, missing, "not shown", margin=0.1)
    assert [(one.against, one.tipping) for one in lost_only.cases] == [(-1, None)]


@pytest.mark.parametrize(("lost", "won"), [(4, 9), (10, 10), (2, 12)])
def test_systems_that_change_places_mirror_the_answer(lost: int, won: int) -> None:
    """Net preferences of questions with one to three pairs, where draws of scores and of mirrored scores differ."""
    questions = np.repeat(np.arange(30), np.arange(30) % 3 + 1)
    scores = np.random.default_rng(lost).permutation(
        np.r_[
            -np.ones(lost),
            -np.full(lost, 0.5),
            np.ones(won),
            np.full(won, 0.5),
            np.zeros(60 - 2 * (lost + won)),
        ]
    )
    ahead, behind = (conclude(sign * scores, questions, margin=None) for sign in (1, -1))
    assert ahead.bounds is not None
    assert behind.bounds is not None
    assert (ahead.bounds.low, ahead.bounds.high) == (-behind.bounds.high, -behind.bounds.low)
    assert (ahead.bounds.low_method, ahead.bounds.high_method) == ("questions", "questions")
    assert behind.value == {"better": "worse", "worse": "better"}.get(ahead.value, ahead.value)
    assert ahead.holds_with_one_more == behind.holds_with_one_more
    for sign, found in ((1, ahead), (-1, behind)):
        declared = verdict(sign * scores, questions, margin=0.1)
        assert found.bounds is not None
        assert found.bounds.bound == declared.bound, "the declared bound is that of the verdict"


# --- the simulation -------------------------------------------------------------------------------


def test_decisions_of_the_simulation_are_those_of_the_answer() -> None:
    rng = np.random.default_rng(4)
    sums, _, steps = questions_of(Cell("votes", 0.05, 0.0, 0.1, 20, -0.1), 60, rng)
    assert steps == 12
    today, gaffke = decided(sums, steps), decided(sums, steps, gaffke=True)
    questions = np.repeat(np.arange(20), steps)
    values = set()
    agree = 0
    for row, study in enumerate(sums):
        pairs = np.concatenate([np.repeat([np.sign(s), 0], [abs(s), steps - abs(s)]) for s in study])
        found = conclude(pairs, questions, margin=0.1)
        values.add(found.value)
        assert found.gaffke is not None
        by_gaffke = found.gaffke.value in ("better", "not worse", "worse, within the margin")
        assert by_gaffke == gaffke.above_margin[row]
        shown = found.value in ("better", "not worse", "worse, within the margin")
        agree += shown == today.above_margin[row]
        agree += (found.value in ("worse", "worse, within the margin")) == today.negative[row]
        if found.value == "not worse":
            holds = holds_with_one_more(sums[[row]], steps, better=False)[0]
            agree += holds == found.holds_with_one_more
        else:
            agree += 1
    assert len(values) > 2
    assert agree >= 3 * 60 - 3, "the resampled bound differs from the exact one by its simulation error only"


def test_the_mixes_have_their_mean() -> None:
    for cell in map(Cell._make, GRID.cells):
        if cell.kind == "even":
            shares = even_shares(cell)
            assert (shares > 0).all()
            assert shares @ [-1, cell.win, -cell.loss] == pytest.approx(cell.mean)


@pytest.mark.slow
def test_a_few_cells_of_the_stored_table() -> None:
    stored = read(GRID)
    exact = [cell for cell in GRID.cells if cell[0] == "even" and cell[4] == 15]
    for cell in exact[:2]:
        again = cell_measures(GRID, cell)
        for name, value in stored[cell].items():
            assert again[name] == (None if value is None else pytest.approx(value, abs=6e-4)), name
    votes = next(cell for cell in GRID.cells if cell[0] == "votes")
    again = cell_measures(GRID, votes, 1_000)
    assert again["not_worse"] == pytest.approx(stored[votes]["not_worse"], abs=4 * 0.017)
    unanswered = next(cell for cell in GRID.cells if cell[0] == "unanswered")
    again = cell_measures(GRID, unanswered, 2_000)
    assert again["not_worse"] == pytest.approx(stored[unanswered]["not_worse"], abs=4 * 0.04)


def test_the_lines_warn_of_most_false_answers_in_the_stored_table() -> None:
    """What the document says: nearly every false "not worse" of the mixes carries a line."""
    rows = [measures for cell, measures in read(GRID).items() if cell[0] != "unanswered" and cell[5] == -0.1]
    assert max(row["not_worse"] for row in rows) > 0.5
    assert max(row["not_worse_gaffke"] for row in rows) < 0.06
    assert min(row["line_any"] for row in rows if row["not_worse"] > 0.15) > 0.9


@pytest.mark.parametrize("scores", [mix(5, 20, 25), mix(2, 3, 3), mix(0, 30, 10), mix(9, 20, 9)])
def test_the_verdict_of_a_bound_that_is_known_is_the_same(scores: np.ndarray) -> None:
    found = of_questions(scores, 0.1, one_more=False)
    assert found.bounds is not None
    assert found.holds_with_one_more is None
    at = np.arange(len(scores))
    assert verdict(scores, at, margin=0.1, bound=found.bounds.bound) == verdict(scores, at, margin=0.1)
