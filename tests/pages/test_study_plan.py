"""The tab Plan of the page Studies, a plan before there is a study, and what a running study has reached."""

from typing import Any

import pytest
from helpers.texts.factories import dataset, prefers, study_in, unblind, vote
from streamlit.testing.v1 import AppTest

from core.results.study.planning import (
    PlanOptions,
    of_pilot,
    plan_study,
    reached_said,
    reached_so_far,
    stated,
)
from core.store import Store
from pages.widgets.messages import plain

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    from core.store import database_path, open_store
    from core.store.studies import list_studies
    from pages.studies import planning

    with open_store(database_path(None)) as store:
        studies = [one for one in list_studies(store) if one.state != "unblinded"]
        planning.render(store, studies[0] if studies else None)


def result_page() -> None:
    from core.store import database_path, open_store
    from core.store.studies import list_studies
    from pages.studies import result

    with open_store(database_path(None)) as store:
        result.render(store, list_studies(store)[0])


def visit(shown: Any) -> AppTest:
    at = AppTest.from_function(shown, default_timeout=60).run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    return "\n".join(text.value for text in at.markdown)


def field(at: AppTest, label: str) -> Any:
    kinds = (at.radio, at.selectbox, at.number_input, at.multiselect)
    return next(widget for kind in kinds for widget in kind if widget.label.startswith(label))


def test_a_plan_before_there_is_a_study(store: Store) -> None:
    at = visit(page)
    first = plan_study(stated(), PlanOptions()).plans[0]
    assert f"{first.questions:,} questions and {first.raters} raters" in said(at)
    field(at, "Spread of raters").set_value(0.2)
    field(at, "Score of a pair").set_value("net_preference")
    field(at, "Numbers of raters").set_value([5])
    field(at, "Plan for").set_value("half-width")
    at.run()
    field(at, "Wanted half-width").set_value(0.05).run()
    options = PlanOptions(score="net_preference", raters=(5,), half_width=0.05)
    expected = plan_study(stated(rater_sd=0.2), options)
    assert f"{expected.plans[0].questions:,} questions and 5 raters" in said(at)
    shown = at.table[0].value
    assert (len(shown), shown["Questions"][0]) == (1, f"{expected.plans[0].questions:,}"), "one scope"
    assert not {"Valid for", "Why not"} & set(shown)
    field(at, "Numbers of raters").set_value([2, 5]).run()
    field(at, "Valid for").set_value("raters as a sample").run()
    shown = at.table[0].value
    assert (list(shown["Raters"]), shown["Questions"][0]) == (["2", "5"], "–")
    assert "fewer than 5 raters" in shown["Why not"][0].replace("\u00a0", " ")
    field(at, "Numbers of raters").set_value([]).run()
    assert at.error[0].value == "Invalid plan"


def test_a_pilot_and_a_running_study(store: Store) -> None:
    pilot = study_in(store, dataset(16), name="pilot", raters=("A", "B"))
    for at, token in enumerate(pilot.tokens.values()):
        vote(store, token, prefers(at))
    running = study_in(store, dataset(6), name="running", score="net_preference", margin=0.2)
    vote(store, next(iter(running.tokens.values())), prefers(0))
    unblind(pilot)
    shown = visit(page)
    assert (field(shown, "Margin").value, field(shown, "Levels").value) == (0.2, 4)
    basis = stated()
    for line in reached_said(reached_so_far(store, running.study, basis)):
        assert plain(line) in said(shown)
    field(shown, "Components of a vote").set_value(pilot.study.study_id).run()
    assert plain(of_pilot(pilot.record).source) in said(shown)


def test_the_progress_says_what_is_reached(store: Store) -> None:
    running = study_in(store, dataset(16))
    for token in running.tokens.values():
        vote(store, token, prefers(0))
    text = said(visit(result_page))
    assert all(plain(line) in text for line in reached_said(reached_so_far(store, running.study)))
