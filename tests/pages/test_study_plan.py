"""The tab Plan of the page Studies, a plan before there is a study, and what a running study has reached."""

from pathlib import Path
from typing import Any

import pytest
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.factories import dataset, prefers, study_in, unblind, vote
from streamlit.testing.v1 import AppTest

from core.analyses.plan import ANALYSIS, PlanOptions, reached_by, reached_said
from core.cli import main
from core.results.study.planning import pilot_basis
from core.schema.analysis import Answer
from core.schema.settings import fields_of
from core.sources.studies import standing_of
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


def planned(**options: Any) -> Answer:
    return ANALYSIS.answer(PlanOptions(**options), None, None)


def test_a_plan_before_there_is_a_study(store: Store) -> None:
    at = visit(page)
    assert all(plain(line) in said(at) for line in planned().all_sentences)
    shown = {one.key for kind in ("number_input", "text_input", "selectbox") for one in at.get(kind)}
    assert {f"plan_{name}" for name in fields_of(PlanOptions)} <= shown
    at.number_input(key="plan_rater_sd").set_value(0.2)
    at.selectbox(key="plan_score").set_value("net_preference")
    at.text_input(key="plan_raters").set_value("2, 5")
    at.number_input(key="plan_half_width").set_value(0.05).run()
    expected = planned(score="net_preference", raters=(2, 5), half_width=0.05, rater_sd=0.2)
    assert plain(expected.verdicts[0].sentence) in said(at)
    shown_table = at.table[0].value
    assert list(shown_table["Raters"]) == ["**2**", "5", "2", "5"], "the fewest votes are marked"
    assert ":small[In bold: the fewest votes.]" in said(at)
    assert "fewer than 5 raters" in shown_table["Why not"][2].replace("\u00a0", " ")
    at.text_input(key="plan_raters").set_value("0").run()
    assert not at.exception
    assert len(at.error) == 1


def test_an_empty_field_shows_what_is_used_instead(store: Store) -> None:
    """The study's own numbers, which follow what is typed beside them."""

    def shown(at: AppTest) -> dict[str, str]:
        kinds = ("number_input", "text_input", "selectbox")
        return {one.key.removeprefix("plan_"): one.placeholder for kind in kinds for one in at.get(kind)}

    usual = shown(visit(page))
    assert {name: usual[name] for name in ("margin", "power", "half_width", "levels", "score")} == {
        "margin": "0.1",
        "power": "0.8",
        "half_width": "none",
        "levels": "1",
        "score": "composite score",
    }
    study_in(
        store,
        dataset(3),
        name="own",
        raters=("A", "B", "C"),
        margin=0.25,
        confidence_level=0.95,
        score="net_preference",
        votes_per_pair=2,
    )
    at = visit(page)
    own = shown(at)
    names = ("margin", "confidence_level", "raters", "votes", "levels", "score")
    assert [own[name] for name in names] == ["0.25", "0.95", "3", "2", "4", "net preference"]
    at.number_input(key="plan_half_width").set_value(0.05).run()
    assert shown(at)["power"] == "none", "a half-width alone is wanted"


def test_a_pilot_and_a_running_study(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pilot = study_in(store, dataset(16), name="pilot", raters=("A", "B"))
    for at, token in enumerate(pilot.tokens.values()):
        vote(store, token, prefers(at))
    running = study_in(store, dataset(6), name="running", score="net_preference", margin=0.2)
    vote(store, next(iter(running.tokens.values())), prefers(0))
    unblind(pilot)
    taken = tables_taken(monkeypatch)
    shown = visit(page)
    for line in reached_said(reached_by(standing_of(store, running.study))):
        assert plain(line) in said(shown)
    pages = as_csv(taken)
    for table in ("plans", "power"):
        out = tmp_path / "out.csv"
        words = ("study", "plan", "--study", "running", "--db", str(store.path))
        assert main([*words, "--table", table, "--out", str(out)]) == 0
        assert pages[table] == out.read_bytes()
    capsys.readouterr()
    at = shown.selectbox(key=f"plan_pilot_{running.study.study_id}").set_value(pilot.study.study_id).run()
    assert plain(pilot_basis(pilot.record).source) in said(at)


def test_the_progress_says_what_is_reached(store: Store) -> None:
    running = study_in(store, dataset(16))
    for token in running.tokens.values():
        vote(store, token, prefers(0))
    text = said(visit(result_page))
    assert all(plain(line) in text for line in reached_said(reached_by(standing_of(store, running.study))))
