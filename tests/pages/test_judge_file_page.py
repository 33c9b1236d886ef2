"""A judge in one file on the page Judges: exported from a run, loaded in the form of a new one."""

import re

import pytest
from helpers.pages.admin_session import field, press, said
from helpers.pages.judges_visit import NOWHERE, visit, waiting
from helpers.texts.judge_runs import settings, texts
from helpers.texts.specialist_runs import parrot

from core.llm.prompts import find_prompt
from core.runs.asked import asked_of
from core.runs.judging.in_one_file import judge_file, write_judge
from core.store import Store
from core.store.runs import list_runs

pytestmark = pytest.mark.usefixtures("cookies")


def loaded(text: bytes) -> object:
    at = visit()
    at.file_uploader(key="judges_judge_file").upload("judge.yaml", text)
    at.run()
    assert not at.exception
    return at


def test_a_loaded_judge_fills_the_form_and_makes_the_same_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)
    monkeypatch.setattr("pages.widgets.run_panel.answers", lambda *_: None, raising=False)
    own = find_prompt("rubric-text")
    asked = settings("rubric", NOWHERE, prompts=[own], temperature=0.5, top_p=0.25, name="mine")
    at = loaded(write_judge(judge_file(asked)))
    at.file_uploader(key="metrics_texts_upload").upload("mills.jsonl", texts(1, ("A0",)))  # type: ignore[attr-defined]
    at.run()  # type: ignore[attr-defined]
    assert field(at, "Temperature").value == 0.5  # type: ignore[arg-type, attr-defined]
