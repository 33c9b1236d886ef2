"""A plan from assumptions, a pilot or a file; what a running study has reached, and that it stays blind."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids, prefers, record_of, study_in, vote

from core.errors import InputError
from core.plots.planning import power as power_figure
from core.report import csv_of
from core.results.study.counted import Filters, count
from core.results.study.planning import (
    ASSUMPTIONS,
    PlanOptions,
    of_file,
    of_pilot,
    plan_said,
    plan_study,
    plan_table,
    power_table,
    reached_said,
    reached_so_far,
    stated,
)
from core.results.study.raters import rater_tables
from core.results.study.results import study_results
from core.schema.study import PREFERENCES
from core.stats.planning import SAMPLED, THESE, plans, stated_components
from core.stats.raters import Components
from core.store import Store
from core.store.answers import PAIRS, answers_of

NET = PlanOptions(score="net_preference")
PAIRS_OF = [(item, level) for item in item_ids(6) for level in LEVELS]


def pilot() -> Any:
    votes = {
        f"R{n}": {pair: PREFERENCES[(at * (n + 1) + n * n) % 4] for at, pair in enumerate(PAIRS_OF)}
        for n in range(3)
    }
    return record_of(votes, dataset(6))


def test_a_plan_is_that_of_the_statistics() -> None:
    plan = plan_study(stated(), replace(NET, raters=(3, 12)))
    assert plan.plans == plans(stated_components(), margin=0.1, power=0.8, raters=(3, 12))
    first = plan.fewest(THESE)
    assert first is not None
    assert first.raters == 3
    assert first.questions == 137
    assert plan.fewest(SAMPLED) == plan.plans[3]
    assert plan.raters_needed == 6
    as_json = plan.to_json()
    assert as_json["wanted"] == {"power": 0.8, "half_width": None, "questions": None}
    assert as_json["plans"][0] == {
        "scope": THESE,
        "raters": 3,
        "votes": 3,
        "levels": 1,
        "questions": 137,
        "total_votes": 411,
        "power": first.power,
        "half_width": first.half_width,
        "reason": None,
        "hours": 308 / 60,
        "minutes_each": 103,
    }
    table = plan_table(plan)
    assert [row[4] for row in table.rows] == [one.questions for one in plan.plans]
    assert any(
        "fewest votes for a power of 0.8: 137 questions and 3 raters" in line for line in plan_said(plan)
    )


def test_the_composite_is_compared_with_the_net_preference() -> None:
    plan = plan_study(stated(), PlanOptions(raters=(3,)))
    assert plan.net_preference == 137
    assert plan.plans[0].questions is not None
    assert plan.plans[0].questions > 300
    assert plan_study(stated(), replace(NET, raters=(3,))).net_preference is None


def test_raters_who_are_too_few() -> None:
    plan = plan_study(stated(rater_sd=0.2), replace(NET, raters=(5, 8)))
    assert plan.fewest(SAMPLED) is None
    said = plan_said(plan)[1]
    assert "raters are too few" in said
    assert f"at least {plan.raters_needed} raters" in said


def test_the_figure_has_a_line_for_each_number_of_raters() -> None:
    plan = plan_study(stated(), replace(NET, raters=(2, 8)))
    rows = power_table(plan).rows
    figure = power_figure(plan, THESE)
    assert figure is not None
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [trace.name for trace in lines] == ["2 raters", "8 raters"]
    assert list(lines[0].y) == [row[4] for row in rows if row[:2] == (THESE, 2)]
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.x[0] for trace in dots] == [one.questions for one in plan.plans if one.scope == THESE]
    sampled = power_figure(plan, SAMPLED)
    assert sampled is not None
    assert (sampled.data[0].name, sampled.data[0].line) == ("8 raters", lines[1].line), "one look in both"
    assert power_figure(plan_study(stated(), replace(NET, raters=(2,))), SAMPLED) is None


def test_a_pilot_gives_its_own_components() -> None:
    record = pilot()
    results = study_results(record, n_resamples=50)
    basis = of_pilot(record)
    assert basis.components == results.raters_as_sample.components.components
    assert basis.levels == len(LEVELS) - 1
    assert "3 raters" in basis.source
    assert basis.notes
    with pytest.raises(InputError, match="no variance components"):
        of_pilot(record_of({"R0": {PAIRS_OF[1]: PREFERENCES[0]}}, dataset(6)))


def test_components_of_the_written_table_come_back() -> None:
    results = study_results(pilot(), n_resamples=50)
    _, table = rater_tables(results.raters_as_sample)
    found = of_file(csv_of(table), "components.csv")
    assert found.components == results.raters_as_sample.components.components


@pytest.mark.parametrize(
    ("text", "components"),
    [
        (
            "rater,question,rater_question,pair,residual\n.01,.1,.02,.03,.3\n",
            Components(0.01, 0.1, 0.02, 0.03, 0.3),
        ),
        ("rater,question,residual\n1,.5,.5\n", Components(0.5, 0.25, 0, 0, 0.25)),
        (
            "component,variance\nRater,.01\nRater x question (with residual),.2\n",
            Components(0.01, 0, 0.2, 0, 0),
        ),
    ],
)
def test_components_from_a_file(text: str, components: Components) -> None:
    assert of_file(text.encode(), "c.csv").components == components


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("a,b\n1,2\n", "no variance components"),
        ("rater,question\n-1,.2\n", "rater: "),
        ("component,variance\npair,x\n", "pair: "),
    ],
)
def test_a_file_without_components(text: str, problem: str) -> None:
    with pytest.raises(InputError) as found:
        of_file(text.encode(), "c.csv")
    assert problem in str(found.value)
    assert "c.csv" in str(found.value)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"margin": 0.0}, "margin"),
        ({"power": 1.0}, "power"),
        ({"half_width": -1.0}, "half_width"),
        ({"questions": 0}, "questions"),
        ({"raters": (0,)}, "raters"),
        ({"raters": ()}, "raters"),
        ({"votes": 30}, "votes"),
        ({"levels": 0}, "levels"),
        ({"confidence_level": 0.4}, "confidence"),
    ],
)
def test_problems_name_the_field(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as found:
        plan_study(stated(), replace(PlanOptions(), **options))
    assert any(problem.startswith(f"{field}: ") for problem in found.value.problems)


@pytest.mark.parametrize("name", [one.name for one in ASSUMPTIONS])
def test_an_impossible_assumption_names_itself(name: str) -> None:
    with pytest.raises(InputError) as found:
        stated(**{name: 1.5})
    assert found.value.problems[0].startswith(f"{name}: ")


def running(store: Store) -> Any:
    at_hand = study_in(store, dataset(16), state="open")
    for token in at_hand.tokens.values():
        vote(store, token, prefers(0))
    return at_hand


def test_what_a_running_study_has_reached(store: Store) -> None:
    at_hand = running(store)
    found = reached_so_far(store, at_hand.study)
    assert found.complete_pairs == len(count(at_hand.record, Filters()).keys) == 64
    assert (found.complete_questions, found.questions, found.levels) == (16, 16, 4)
    n_raters = found.raters
    (these, sampled) = plans(
        stated_components(),
        margin=0.1,
        questions=16,
        raters=(n_raters,),
        votes=n_raters,
        levels=4,
        composite=True,
    )
    assert found.now == found.whole == (these, sampled)
    needed = found.needed[0].questions
    assert needed is not None
    assert found.missing(THESE) == needed - 16
    assert found.to_json()["scopes"][THESE]["questions_missing"] == needed - 16
    assert "Complete: 16 of 16 questions (64 of 64 pairs)" in reached_said(found)[0]


def test_nothing_is_reached_before_the_first_vote(store: Store) -> None:
    found = reached_so_far(store, study_in(store, dataset(16), state="open", raters=("a", "b", "c")).study)
    assert (found.complete_pairs, found.raters, found.now) == (0, 0, ())
    assert (found.whole[0].questions, found.whole[0].raters, found.whole[0].votes) == (16, 3, 3)
    assert found.to_json()["scopes"][THESE]["now"] is None
    nobody = reached_so_far(store, study_in(store, name="nobody", raters=()).study)
    assert (nobody.whole, nobody.needed, nobody.to_json()["scopes"]) == ((), (), {})
    assert len(reached_said(nobody)) == 1


def test_questions_that_are_dealt(store: Store) -> None:
    raters = [f"R{n}" for n in range(6)]
    found = reached_so_far(store, study_in(store, dataset(16), raters=raters, votes_per_pair=2).study)
    assert [(one.raters, one.votes, one.questions) for one in found.whole] == [(6, 2, 16)] * 2
    assert all(one.power is not None for one in found.whole)


@pytest.mark.usefixtures("each_pair_task")
def test_what_is_reached_is_blind(store: Store) -> None:
    """Identical if candidate and comparator change places in any question, and whatever raters choose."""
    at_hand = running(store)
    number, before = at_hand.study.study_id, reached_so_far(store, at_hand.study)
    scored = count(at_hand.record, Filters())
    for exchanged in ({"q01"}, {"q01", "q04", "q15"}, set(item_ids(16))):
        for rater in at_hand.tokens:
            lists = PAIRS.lists_of(store, number, rater)
            swapped = [
                replace(one, left=one.right, right=one.left) if one.item_id in exchanged else one
                for one in lists
            ]
            PAIRS.replace_list(store, number, rater, swapped)
        assert (count(at_hand.record, Filters()).codes != scored.codes).any(), (
            "the hidden result is another one"
        )
        assert reached_so_far(store, at_hand.study) == before
    for answer in answers_of(store, number):
        PAIRS.save(store, number, replace(answer, choice="both_good" if answer.item_id < "q08" else "left"))
    assert reached_so_far(store, at_hand.study) == before
    said = " ".join(reached_said(before)).lower()
    assert not {"ai", "human", "candidate", "comparator"} & set(said.split())
