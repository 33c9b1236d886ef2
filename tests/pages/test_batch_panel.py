"""The panel of a run that waits for answers to its batch files: what waits, wrong files, and going on."""

import json
import time

import pytest
from helpers.models.batch_answerer import answered, requests_of_round
from helpers.models.model_answers import answer
from helpers.texts.judge_runs import RUNNING, settings, texts, worked
from streamlit.testing.v1 import AppTest

from core.runs.path import create
from core.runs.progress import progress_of
from core.store import Store

pytestmark = pytest.mark.usefixtures("cookies")


def _panel(run_id: int) -> None:
    from core.store import database_path, open_store
    from core.store.runs import get_run
    from pages.widgets import run_panel

    with open_store(database_path()) as store:
        run_panel.render(store, get_run(store, run_id))


def test_the_panel_takes_answers_and_the_run_goes_on(store: Store) -> None:
    chosen = settings("rubric", "http://127.0.0.1:9/v1", backend="batch")
    worked(create(store, texts(1), "mills.jsonl", chosen, RUNNING)[0])
    at = AppTest.from_function(_panel, args=(1,), default_timeout=30).run()
    assert not at.exception
    assert any("5 requests, round 1" in one.value for one in at.markdown)
    assert any("round-001.jsonl" in one.value for one in at.markdown)
    assert at.button(key="run_answers").disabled
    assert [one.label for one in at.metric] == ["Complete", "Incomplete"]
    at.file_uploader[0].upload("wrong.jsonl", b"[]\n").run()
    at.button(key="run_answers").click().run()
    assert [error.value for error in at.error]
    lines = answered(requests_of_round(store), lambda body, n: answer(body))
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    fresh = AppTest.from_function(_panel, args=(1,), default_timeout=30).run()
    fresh.file_uploader[0].upload("answers.jsonl", data).run()
    fresh.button(key="run_answers").click().run()
    assert not fresh.exception
    latest = time.monotonic() + 60
    while progress_of(store, 1).state != "done":
        assert time.monotonic() < latest
        time.sleep(0.05)
    assert progress_of(store, 1).n_done == 1
