"""Old addresses lead to a study or to the list; links that name nothing, or something hostile, say so."""

from urllib.parse import parse_qsl

import pytest
from helpers.pages import study_visit
from helpers.pages.every_tab import APP, pages_registered
from helpers.pages.old_addresses import LEADS, scored_study
from helpers.texts.factories import dataset, study_in
from streamlit.testing.v1 import AppTest

from core.store import Store
from pages.tabs.moved import OLD

pytestmark = pytest.mark.usefixtures("cookies")


def visit(old: str) -> AppTest:
    path, _, query = old.partition("?")
    at = AppTest.from_file(str(APP), default_timeout=60)
    at._page_hash = pages_registered()[path]  # AppTest.switch_page knows files alone
    for name, value in parse_qsl(query):
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def test_every_old_address_is_walked() -> None:
    walked = {(old.partition("?")[0], *dict(parse_qsl(old.partition("?")[2]))) for old in LEADS}
    for old in OLD:
        assert any(old.path == path and {*old.having} <= {*names} for path, *names in walked), old


@pytest.mark.parametrize("old", LEADS)
def test_an_old_address_leads_to_a_study_or_to_the_list(store: Store, old: str) -> None:
    scored_study(store)
    at = visit(old)
    found = {name: at.query_params[name] for name in at.query_params}
    assert {name: [value] if isinstance(value, str) else value for name, value in found.items()} == {
        name: [value] for name, value in LEADS[old].items()
    }
    assert at.title[0].value == ("june" if LEADS[old] else "Studies")


def test_votes_of_several_or_no_scored_studies_lead_to_the_list(store: Store) -> None:
    at = visit("metrics?part=votes")
    assert at.title[0].value == "Studies"
    assert len(at.success) == 1
    scored_study(store)
    study_in(store, dataset(6), raters=("ann",), name="july", state="unblinded")
    assert visit("metrics?part=votes").title[0].value == "Studies", "the scores are of both studies' items"


@pytest.mark.parametrize("view", ["check", "metrics?part=levels", "check?run=7"])
def test_other_views_of_these_pages_stay(store: Store, view: str) -> None:
    scored_study(store)
    assert visit(view).title[0].value in {"Can this judge be trusted?", "Metrics"}


@pytest.mark.parametrize(
    "asked",
    [
        {"study": "99"},
        {"study": "paper"},
        {"study": "1' OR 1=1 --"},
        {"study": "9" * 5000},
        {"study": "1", "tab": "nowhere"},
        {"study": "1", "tab": "<script>alert(1)</script>"},
    ],
    ids=lambda asked: str(asked)[:40],
)
def test_a_link_to_what_is_not_there_says_so(store: Store, asked: dict[str, str]) -> None:
    scored_study(store)
    at = study_visit.visit(**asked)  # type: ignore[arg-type]
    assert len(at.warning) == 1
    assert "script" not in at.warning[0].value


@pytest.mark.parametrize("part", ["all", "trust", "orders", "nowhere"])
def test_hostile_parameters_of_the_judges_are_left_out(store: Store, part: str) -> None:
    scored_study(store)
    hostile = dict.fromkeys(
        (
            "use",
            "judge",
            "human",
            "dimension",
            "checked",
            "margin",
            "gaps-judge",
            "gaps-text",
            "run",
            "pair",
            "answers",
        ),
        "\u202e<img src=x onerror=alert(1)>" + "x" * 3000,
    )
    at = study_visit.visit(1, "judges", judges=part, **hostile)
    assert not at.error
    assert set(at.query_params) <= {"study", "tab", "judges", "judge"}
