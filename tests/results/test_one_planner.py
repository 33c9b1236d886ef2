"""One planner: form, Plan, progress and results give one number of questions for one study from the same inputs."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from helpers.texts.factories import StudyAtHand, dataset, ended, study_in, vote

from core.analyses.plan import ANALYSIS, PlanOptions, reached_by, reached_said
from core.results.study.planning import (
    FEW_TO_PLAN,
    Aim,
    design_options,
    planned_sizes,
    question_range,
    stated,
)
from core.results.study.results import study_results
from core.schema.analysis import Answer
from core.schema.assumptions import ASSUMPTIONS
from core.schema.study import Choice
from core.sources.studies import standing_of
from core.stats.planning import OUT_OF_REACH, THESE
from core.store import Store
from core.study.analysis_set import main_levels
from core.study.blinding import BlindPair


def mixed(pair: BlindPair) -> Choice:
    """Left, right and ties by question, level and place in the rater's list, so that neither system is favoured."""
    at = sum(pair.question.encode()) + sum(pair.level.encode()) + pair.number % 2
    choices: tuple[Choice, ...] = ("left", "both_good", "right", "both_bad")
    return choices[at % 4]


def voted(store: Store, **design: Any) -> StudyAtHand:
    at_hand = study_in(store, dataset(20), state="open", repeat_share=0.0, **design)
    for token in at_hand.tokens.values():
        vote(store, token, mixed)
    return at_hand


def planned(store: Store, at_hand: StudyAtHand, **options: Any) -> Answer:
    standing = standing_of(store, at_hand.study)
    return ANALYSIS.answer(PlanOptions.checked(options), None, standing)


def in_plan(store: Store, at_hand: StudyAtHand) -> int:
    """The number that `study plan --study NAME` gives, in its JSON."""
    numbers = [one["questions"] for one in planned(store, at_hand).json["plans"] if one["scope"] == THESE]
    assert len(numbers) == 1, "for the raters of the study"
    return int(numbers[0])


@pytest.mark.parametrize("margin", [0.1, None])
@pytest.mark.parametrize("score", ["composite", "net_preference"])
def test_one_study_has_one_number_in_all_four_places(store: Store, margin: float | None, score: str) -> None:
    at_hand = voted(store, margin=margin, score=score)
    study = at_hand.study
    # In the form, the owner expects as many raters as will come, and the components are unknown.
    of_form = design_options(study.design, main_levels(study.design, study.levels), len(at_hand.tokens))
    low, high = question_range(of_form)
    assert low is not None
    assert high is not None
    # In Plan and in the progress, they are assumed until the study is unblinded.
    reached = reached_by(standing_of(store, study))
    assert reached.scopes[0].questions_needed == in_plan(store, at_hand)
    assert low <= in_plan(store, at_hand) <= high
    assert reached.questions_range == (low, high)
    # In the results, and in Plan from then on, they are the study's own.
    ended(store, study.study_id)
    size = study_results(at_hand.record, n_resamples=10).own_size
    assert size.options == of_form
    assert size.sizes[0][1].questions == in_plan(store, at_hand)
    standing = standing_of(store, at_hand.study)
    own = standing.own_basis
    assert own is not None
    at_end = reached_by(standing, own)
    assert at_end.scopes[0].questions_needed == in_plan(store, at_hand)
    assert (reached.assumed, at_end.assumed) == (True, False)
    assert planned_sizes(own.components, of_form)[0].questions == in_plan(store, at_hand)


def test_the_range_contains_what_plan_gives_with_stated_inputs() -> None:
    shares, agreements = (0.3, 0.4, 0.5, 0.65, 0.8), ((0.1, 0.2), (0.2, 0.3), (0.3, 0.4), (0.5, 0.6))
    for score, votes, levels in product(("composite", "net_preference"), (1, 2, 3), (1, 4)):
        options = Aim(score=score, raters=(votes,), levels=levels)  # type: ignore[arg-type]
        low, high = question_range(options)
        assert low is not None
        assert high is not None
        for decided, (alike, agree) in product(shares, agreements):
            basis = stated(decided=decided, question_correlation=alike, agreement=agree)
            (plan, *_) = planned_sizes(basis.components, options)
            assert plan.questions is not None
            assert low <= plan.questions <= high


def test_a_margin_too_small_has_no_upper_end() -> None:
    """By hand, normal distribution: 2.1232^2 x .3 / .0001 = 13,500 questions with one vote."""
    options = Aim(margin=0.01, raters=(1,))
    assert question_range(options) == (None, None)
    assert planned_sizes(stated().components, options)[0].reason == OUT_OF_REACH
    assert question_range(replace(options, margin=0.013))[1] is None


def test_without_a_margin_the_half_width_is_planned() -> None:
    """By hand: half of the two-sided 90 % interval, 1.645 sqrt(.49 / n) = .1 at n = 132.6; the rater's .01 is left out."""
    options = Aim(margin=None, confidence_level=0.95, raters=(1,))
    plan = planned_sizes(stated().components, options)[0]
    assert (options.wanted_power, options.wanted_half_width) == (None, 0.1)
    assert plan.questions == pytest.approx(132.6, abs=1)
    assert (plan.power, plan.reason) == (None, None)


def test_few_questions_have_a_range_instead(store: Store) -> None:
    at_hand = study_in(store, dataset(14), state="open")
    for token in at_hand.tokens.values():
        vote(store, token, mixed)
    ended(store, at_hand.study.study_id)
    size = study_results(at_hand.record, n_resamples=10).own_size
    assert (size.sizes, size.reason) == ((), FEW_TO_PLAN)
    assert size.questions_range == question_range(size.options)
    standing = standing_of(store, at_hand.study)
    assert standing.own_basis is None
    assert len(standing.why_not) == 1


def test_before_the_end_nothing_rests_on_the_votes(store: Store) -> None:
    at_hand = voted(store)
    standing = standing_of(store, at_hand.study)
    assert (standing.own_basis, standing.why_not) == (None, ())
    assert standing.aim.votes == len(at_hand.tokens)
    said = " ".join(reached_said(reached_by(standing)))
    ranges = [one.range for one in ASSUMPTIONS if one.range]
    assert all(f"{low:g} to {high:g}" in said for low, high in ranges)


@pytest.mark.parametrize(
    "asked", [{"margin": 0.1}, {"half_width": 0.2, "confidence_level": 0.9}, {"mean": 0.1}]
)
def test_options_apply_before_the_usual_level_and_in_what_is_reached(
    store: Store, asked: dict[str, Any]
) -> None:
    """A margin asked for a study without one is tested one-sided at 0.90, not at the 0.95 of the two-sided interval."""
    at_hand = voted(store, margin=None, score="net_preference")
    as_json = planned(store, at_hand, **asked).json
    level = asked.get("confidence_level", 0.9 if "margin" in asked else 0.95)
    assert as_json["confidence_level"] == level
    stated_alike = {"margin": None, "confidence_level": level, **asked}
    options = Aim(
        score="net_preference",
        levels=4,
        raters=(len(at_hand.tokens),),
        votes=len(at_hand.tokens),
        **stated_alike,
    )
    (size, *_) = planned_sizes(stated(mean=options.mean).components, options)
    needed = as_json["reached"]["scopes"][THESE]["questions_needed"]
    assert as_json["plans"][0]["questions"] == needed == size.questions


def test_a_study_keeps_its_own_raters_in_what_it_has_reached(store: Store) -> None:
    at_hand = voted(store)
    asked = {"raters": (7,), "votes": 5, "levels": 1, "questions": 30}
    standing = standing_of(store, at_hand.study)
    assert reached_by(standing, None, asked) == reached_by(standing)


def test_small_sizes_in_words() -> None:
    """One rater with one vote needs no plural; 15 questions take less than an hour; both scores need the fewest questions."""
    answer = ANALYSIS.answer(PlanOptions(margin=0.9, raters=(1,)), None, None)
    assert (
        "15 questions and 1 rater with 1 vote a pair. 15 votes, less than an hour in all"
        in answer.verdicts[0].sentence
    )
    assert ANALYSIS.answer(PlanOptions(margin=0.9, raters=(2,)), None, None).result.net_preference is None
