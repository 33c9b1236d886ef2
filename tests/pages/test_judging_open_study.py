"""The form of a pairwise judge on a study that is still blind, and what its run's parts show."""

from collections.abc import Iterator

import pytest
from helpers.pages.generate_visit import field, press, said
from helpers.pages.judges_visit import visit
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.blind_judging import (
    JUDGE,
    MODEL,
    ONE,
    OWN_GUIDELINES,
    SYSTEMS,
    marked_study,
    prefers_alpha,
)
from helpers.texts.factories import unblind
from helpers.texts.judge_runs import run_to_the_end, settings
from streamlit.testing.v1 import AppTest

from core.judges.pairwise import parse_guidelines
from core.runs.path import saved_run
from core.schema.scores import MASK_NOTE
from core.sources.texts import guidelines_of_study, pairs_of_study
from core.store import Store
from core.store.runs import list_runs, run_data
from core.study.lifecycle import set_guideline
from pages.widgets import run_panel

pytestmark = pytest.mark.usefixtures("cookies")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(prefers_alpha, models=(MODEL,)) as one:
        yield one


def form_of_a_study(**chosen: object) -> AppTest:
    """The form with the pairwise judge and a study chosen."""
    at = visit()
    field(at, "Kind").set_value("pairwise").run()
    field(at, "From").set_value("study").run()
    assert not at.exception
    return at


@pytest.mark.parametrize("state", ["draft", "open", "closed"])
def test_a_blind_study_is_offered_under_masks(store: Store, state: str) -> None:
    marked_study(store, 2, state=state)
    at = form_of_a_study()
    assert field(at, "Study").options == [f"STUDYMARKER ({state})"]
    assert f"This study is {state}, so the judge reads its pairs under masks" in said(at)
    assert "20 texts on 2 items by 2 systems" in said(at)
    assert MASK_NOTE not in said(at), "said in other words beside the study"
    assert not any(secret in said(at) for secret in SYSTEMS)
    assert field(at, "Guidelines").value == "levels"  # type: ignore[attr-defined]


def test_an_unblinded_study_has_its_names(store: Store) -> None:
    unblind(marked_study(store, 2))
    at = form_of_a_study()
    assert "under masks" not in said(at)
    assert MASK_NOTE not in said(at)


def test_the_owners_guidelines_are_preselected_and_the_run_starts(
    store: Store, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_panel, "start", lambda run: None)
    study = marked_study(store, 2)
    set_guideline(store, study.study, "en", OWN_GUIDELINES)
    at = form_of_a_study()
    field(at, "Address").set_value(server.url).run()
    field(at, "Model").set_value(MODEL).run()
    press(at, "Judge all 2 items")
    assert not at.exception
    assert not at.error
    (run,) = list_runs(store)
    assert run_data(store, run.run_id) == pairs_of_study(store, study.study)[0]
    assert (run.kind, run.data_file) == ("pairwise", "masked-study-STUDYMARKER.jsonl")
    guidelines = parse_guidelines(saved_run(store, run).request.attached, "guidelines.yaml")
    assert guidelines == guidelines_of_study(store, study.study)
    assert guidelines.text == OWN_GUIDELINES


def test_without_a_study_of_pairs_the_form_says_so(store: Store) -> None:
    assert "No study compares pairs yet" in said(form_of_a_study())


def test_parts_of_the_run_show_nothing_by_system_and_no_levels(store: Store, server: ScriptedServer) -> None:
    study = marked_study(store, 2)
    attached = guidelines_of_study(store, study.study).dump()
    judge = settings("pairwise", server.url, name=JUDGE, attached=attached, model=MODEL)
    data, name = pairs_of_study(store, study.study)
    run = run_to_the_end(store, judge, data, name=name).run
    for part in ("Progress", "Scores", "Texts", "Judges", "Reliability", "Cost", "Files"):
        at = visit(("run", run.run_id), part)
        assert not at.exception
        shown = said(at) + "".join(str(one.value.to_csv()) for one in (*at.table, *at.dataframe))
        assert not any(secret in shown for secret in SYSTEMS), part
        if part == "Texts":
            assert "This text read first: the other text is preferred" in shown
            assert "Compared with: answer " in shown
            assert "Alpha text of" in shown
            assert "Beta text of" in shown
        if part == "Scores":
            assert MASK_NOTE[1:] in shown
            assert "Correlation with the level" not in shown
    assert ONE.encode() not in b"".join(run_data(store, one.run_id) for one in list_runs(store))
