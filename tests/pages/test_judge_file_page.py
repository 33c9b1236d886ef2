"""A judge in one file on the page Judges: exported from a run, loaded in the form of a new one."""

import pytest
from helpers.pages.generate_visit import field, press, said
from helpers.pages.judges_visit import RULES, judged, texts, visit
from helpers.texts.judge_runs import ON_RATINGS, settings
from helpers.texts.judge_runs import texts as mills
from streamlit.testing.v1 import AppTest

from core.llm.prompts import parse_prompt, shipped_prompts
from core.runs.asked import asked_of
from core.runs.judging.in_one_file import judge_file, write_judge
from core.store import Store
from core.store.runs import list_runs

pytestmark = pytest.mark.usefixtures("cookies")
URL = "http://127.0.0.1:9/v1"


def loaded(text: bytes) -> AppTest:
    at = visit()
    at.file_uploader(key="judges_judge_file").upload("judge.yaml", text)
    at.run()
    assert not at.exception
    return at


def test_a_loaded_judge_fills_the_form_and_makes_the_same_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)
    (shipped,) = [one for one in shipped_prompts("rubric-text") if one.name == "rubric-text"]
    own = parse_prompt(shipped.dump().replace("name: rubric-text", "name: my-own"), "own.yaml")
    asked = settings("rubric", URL, prompts=[own], temperature=0.5, top_p=0.25, name="mine", repeats=3)
    at = loaded(write_judge(judge_file(asked)))
    assert field(at, "Temperature").value == 0.5  # type: ignore[attr-defined]
    assert field(at, "Repeats").value == 3  # type: ignore[attr-defined]
    at.radio(key="metrics_texts_from").set_value("file").run()
    at.file_uploader(key="metrics_texts_upload").upload("mills.jsonl", mills(1, ("A0", "A1")))
    at.run()
    assert not at.exception
    press(at, "Judge the one item")
    (run,) = list_runs(store, ("rubric",))
    assert asked_of(run) == asked


def test_what_is_changed_after_loading_stays_changed(store: Store) -> None:
    at = loaded(write_judge(judge_file(settings("rubric", URL, temperature=0.5))))
    field(at, "Temperature").set_value(1.5)  # type: ignore[attr-defined]
    at.run()
    at.run()
    assert field(at, "Temperature").value == 1.5  # type: ignore[attr-defined]


def test_a_file_that_is_no_judge_of_this_page_is_refused(store: Store) -> None:
    at = loaded(b"kind: rubric\n")
    assert "settings" in "".join(one.value for one in (*at.error, *at.code))
    at = loaded(write_judge(judge_file(settings(ON_RATINGS[0], URL))))
    assert at.error
    assert at.radio(key="judges_kind").value not in ON_RATINGS


def test_a_run_offers_its_judge(store: Store) -> None:
    run = judged(store, texts(store), RULES, limit=1)
    at = visit(("run", run.run_id), "Files")
    assert "Export this judge" in [one.label for one in at.get("download_button")]
    assert "Nothing" not in said(at)
