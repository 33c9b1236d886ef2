"""A plan from assumptions, a pilot or a file; what a running study has reached, and that it stays blind."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids, prefers, record_of, study_in, vote

from core.analyses.plan import ANALYSIS, PlanOptions, Reached, StudyPlan, reached_by, reached_said
from core.analyses.study_results.pair_rows import answer_of
from core.errors import InputError
from core.report import csv_of
from core.results.study.counted import Filters, count
from core.results.study.planning import file_basis, pilot_basis
from core.results.study.results import study_results
from core.schema.assumptions import ASSUMPTIONS
from core.schema.rows import json_of
from core.schema.settings import SettingsError, fields_of
from core.schema.study import PREFERENCES, SCORES, Study
from core.sources.studies import standing_of
from core.stats.planning import SAMPLED, THESE, plans, stated_components
from core.stats.raters import Components
from core.store import Store
from core.store.answers import PAIRS, answers_of

NET: dict[str, Any] = {"score": "net_preference"}
PAIRS_OF = [(item, level) for item in item_ids(6) for level in LEVELS]


def planned(**options: Any) -> StudyPlan:
    """The plan of these options, without a pilot or a study."""
    found: StudyPlan = ANALYSIS.answer(PlanOptions.checked(options), None, None).result
    return found


def reached_so_far(store: Store, study: Study) -> Reached:
    return reached_by(standing_of(store, study))


def pilot() -> Any:
    votes = {
        f"R{n}": {pair: PREFERENCES[(at * (n + 1) + n * n) % 4] for at, pair in enumerate(PAIRS_OF)}
        for n in range(3)
    }
    return record_of(votes, dataset(6))


def test_a_plan_is_that_of_the_statistics() -> None:
    answer = ANALYSIS.answer(PlanOptions(**NET, raters=(3, 12)), None, None)
    plan, expected = answer.result, plans(stated_components(), margin=0.1, power=0.8, raters=(3, 12))
    for mine, one in zip(plan.plans, expected, strict=True):
        for name in (
            "scope",
            "raters",
            "votes",
            "levels",
            "questions",
            "total_votes",
            "power",
            "half_width",
            "reason",
        ):
            assert getattr(mine, name) == getattr(one, name)
    first = plan.fewest(THESE)
    assert (first.raters, first.questions) == (3, 137)
    assert plan.fewest(SAMPLED) == plan.plans[3]
    assert plan.raters_needed == 6
    assert answer.json["wanted"] == {"power": 0.8, "half_width": None, "questions": None}
    assert answer.json["plans"][0] == {
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
    assert [one.code for one in answer.verdicts] == ["planned", "planned"]
    assert "fewest votes for a power of 0.8: 137 questions and 3 raters" in answer.verdicts[0].sentence


def test_the_composite_is_compared_with_the_net_preference() -> None:
    plan = planned(raters=(3,))
    assert plan.net_preference == 137
    assert plan.plans[0].questions is not None
    assert plan.plans[0].questions > 300
    assert planned(**NET, raters=(3,)).net_preference is None


def test_raters_who_are_too_few() -> None:
    answer = ANALYSIS.answer(PlanOptions(**NET, rater_sd=0.2, raters=(5, 8)), None, None)
    assert answer.result.fewest(SAMPLED) is None
    assert answer.verdicts[1].code == "out-of-reach"
    assert f"at least {answer.result.raters_needed} raters" in answer.verdicts[1].sentence
    few = ANALYSIS.answer(PlanOptions(**NET, raters=(2,)), None, None)
    assert few.verdicts[1].code == "undefined"


def test_the_figure_has_a_line_for_each_number_of_raters() -> None:
    from core.plots.drawn import draw

    answer = ANALYSIS.answer(PlanOptions(**NET, raters=(2, 8)), None, None)
    figure = draw(answer.figures["power"], answer.tables)
    assert [trace.name for trace in figure.data] == ["2", "8", "8"], "two raters are no sample"
    assert [trace.showlegend for trace in figure.data] == [True, True, False]
    own = [one.power for one in answer.result.power if (one.scope, one.raters) == (THESE, 2)]
    assert list(figure.data[0].customdata) == own
    assert figure.data[1].line == figure.data[2].line, "one look in both"
    alone = ANALYSIS.answer(PlanOptions(**NET, raters=(2,)), None, None)
    assert {one.scope for one in alone.result.power} == {THESE}


def test_a_pilot_gives_its_own_components() -> None:
    record = pilot()
    results = study_results(record, n_resamples=50)
    basis = pilot_basis(record)
    assert basis.components == results.raters_as_sample.components.components
    assert basis.levels == len(LEVELS) - 1
    assert "3 raters" in basis.source
    assert basis.notes
    with pytest.raises(InputError, match="no variance components"):
        pilot_basis(record_of({"R0": {PAIRS_OF[1]: PREFERENCES[0]}}, dataset(6)))


def test_components_of_the_written_table_come_back() -> None:
    results = study_results(pilot(), n_resamples=50)
    table = answer_of(results).tables["variance-components"]
    found = file_basis(csv_of(table), "components.csv")
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
    assert file_basis(text.encode(), "c.csv").components == components


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
        file_basis(text.encode(), "c.csv")
    assert problem in str(found.value)
    assert "c.csv" in str(found.value)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"margin": 0.0}, "margin"),
        ({"power": 1.0}, "power"),
        ({"half_width": -1.0}, "half_width"),
        ({"questions": 0}, "questions"),
        ({"questions": 20, "power": 0.9}, "questions"),
        ({"raters": (0,)}, "raters"),
        ({"votes": 30}, "votes"),
        ({"levels": 0}, "levels"),
        ({"confidence_level": 0.4}, "confidence_level"),
        ({"question_correlation": 0.9}, "agreement"),
        *(({one.name: 1.5}, one.name) for one in ASSUMPTIONS),
    ],
)
def test_problems_name_the_field(options: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingsError) as found:
        planned(**options)
    assert field in {one.name for one in found.value.found_in}


def test_the_scores_are_those_of_a_study() -> None:
    """The declaration loads no study, so it repeats them."""
    assert fields_of(PlanOptions)["score"].choices == SCORES


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
    assert [one.now for one in found.scopes] == [one.whole for one in found.scopes]
    for mine, one in zip(found.scopes, (these, sampled), strict=True):
        assert (mine.whole.power, mine.whole.half_width) == (one.power, one.half_width)
    needed = found.scopes[0].questions_needed
    assert needed is not None
    assert found.scopes[0].questions_missing == needed - 16
    assert json_of(found)["scopes"][THESE]["questions_missing"] == needed - 16
    assert "Complete: 16 of 16 questions (64 of 64 pairs)" in reached_said(found)[0]


def test_nothing_is_reached_before_the_first_vote(store: Store) -> None:
    found = reached_so_far(store, study_in(store, dataset(16), state="open", raters=("a", "b", "c")).study)
    assert (found.complete_pairs, found.raters, found.scopes[0].now) == (0, 0, None)
    whole = found.scopes[0].whole
    assert (whole.questions, whole.raters, whole.votes) == (16, 3, 3)
    assert json_of(found)["scopes"][THESE]["now"] is None
    nobody = reached_so_far(store, study_in(store, name="nobody", raters=()).study)
    assert (nobody.scopes, json_of(nobody)["scopes"]) == ((), {})
    assert len(reached_said(nobody)) == 1


def test_questions_that_are_dealt(store: Store) -> None:
    raters = [f"R{n}" for n in range(6)]
    found = reached_so_far(store, study_in(store, dataset(16), raters=raters, votes_per_pair=2).study)
    assert [(one.whole.raters, one.whole.votes, one.whole.questions) for one in found.scopes] == [
        (6, 2, 16)
    ] * 2
    assert all(one.whole.power is not None for one in found.scopes)


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
