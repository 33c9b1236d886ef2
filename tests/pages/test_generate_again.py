"""The page Generate: a run that could not start, its message, and the form filled with its settings."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.pages.generate_visit import (
    DEMO,
    ROOT,
    asked,
    field,
    made,
    press,
    questions,
    said,
    visit,
    waiting,
)
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import worked

from core.errors import InputError
from core.llm.prompts import parse_prompt
from core.runs.asked import ModelSettings, Running
from core.runs.path import saved_run
from core.runs.working import environments
from core.schema.settings import Remark, SettingsError, fields_of
from core.store import Store
from core.store.runs import finish_run, get_run, list_runs, run_data

OWN = questions(
    {"question": "How long is it?", "reference": "It is 1,230 km long."},
    {"question": "How old is it?", "reference": "It was built in 1951."},
)

pytestmark = pytest.mark.usefixtures("cookies")


@pytest.mark.slow
def test_a_run_that_never_started_says_why_and_opens_the_form_again(store: Store) -> None:
    own = (ROOT / "prompts" / "damage-summary.yaml").read_text("utf-8")
    own = own.replace("name: damage-summary", "name: my-own", 1).replace("You ", "You kindly ", 1)
    running = Running(concurrency=3, timeout=7.0, input_price=1.5)
    with ScriptedServer(answer, models=["tiny", "large"]) as server:
        wanted = asked(
            "damage",
            backend="openai",
            model="nope",
            base_url=server.url,
            attempts=2,
            task="summary",
            levels=(0, 3, 5),
            seed=9,
            name="my own answers",
            prompts=[parse_prompt(own, "my-own.yaml")],
        )
        run = waiting(store, wanted, OWN, name="mine.jsonl", running=running)
        with pytest.raises(InputError):  # its server turns it away
            worked(run)
    at = visit(run)
    assert "did not start" in said(at)
    assert f"The model server at {server.url} cannot be used" in said(at)
    assert any("it has no model 'nope'; choose from tiny, large" in code.value for code in at.code)
    assert not at.metric
    assert "finished items are saved" not in said(at)
    press(at, "Change the settings")
    found = {
        label: field(at, label).value
        for label in ("Backend", "Scheme", "Model", "Address", "The texts are", "Levels", "Seed", "From")
    }
    assert found == {
        "Backend": "openai",
        "Scheme": "damage",
        "Model": "nope",
        "Address": server.url,
        "The texts are": "summary",
        "Levels": [0, 3, 5],
        "Seed": 9,
        "From": "file",
    }
    assert "Current file: mine.jsonl" in said(at)
    assert not at.warning, "such as Streamlit's on a default that is overruled"
    with ScriptedServer(answer) as server:
        field(at, "Address").set_value(server.url)
        field(at, "Model").set_value("tiny")
        at.run()
        press(at, "Run all 2 items")
        again = list_runs(store)[0]
        ended(store, again.run_id)
    assert run_data(store, again.run_id) == OWN
    found = saved_run(store, again)
    assert found.request == replace(wanted, model=wanted.model.but(base_url=server.url, model="tiny"))
    assert found.running == running
    at.run()
    assert "**is done**" in said(at)


def ended(store: Store, run_id: int) -> None:
    for _ in range(400):
        if get_run(store, run_id).state in ("done", "stopped"):
            return
        time.sleep(0.05)
    raise AssertionError("the run goes on after 20 s")


def test_the_form_opens_with_a_factual_run_of_the_demo_questions(store: Store) -> None:
    wanted = asked(
        backend="openai",
        model="m",
        base_url="http://127.0.0.1:9/v1",
        n_levels=2,
        keep=0.5,
        filter_order="trutheval",
        question_filter="trutheval",
        edit_calls="shared",
        parser="rules",
        seed=11,
    )
    running = Running(retries=0)
    run = waiting(store, wanted, name=DEMO.name, running=running)
    fields = fields_of(ModelSettings) | fields_of(Running)
    finish_run(
        store,
        run.run.run_id,
        "stopped",
        str(SettingsError([Remark("model", "name it"), Remark("retries", "too few")], fields)),
    )
    at = visit(run)
    labels = [fields[name].about.label for name in ("model", "retries")]
    assert [code.value for code in at.code][:1] == [f"{labels[0]}: name it\n{labels[1]}: too few"]
    press(at, "Change the settings")
    assert field(at, "From").value == "demo"
    assert len(at.warning) == 1, "that rules find the facts, and no other"
    press(at, "Preview five items")
    again = list_runs(store)[0]
    assert again.run_id != run.run.run_id
    assert (saved_run(store, again).request, saved_run(store, again).running) == (wanted, running)


def test_a_run_that_stopped_later_shows_its_counts_and_problems(store: Store) -> None:
    run = made(store, limit=2)
    finish_run(store, run.run.run_id, "stopped", "The server cannot be used\n  - nobody answers there")
    at = visit(run)
    assert "nobody answers there" in [code.value for code in at.code]
    assert [metric.value for metric in at.metric] == ["2", "0", "0"]
    assert "Change the settings" in [button.label for button in at.button]


@pytest.mark.slow
def test_no_process_is_left_when_its_run_is_done(store: Store) -> None:
    run = waiting(store, data=OWN)
    at = press(visit(run), "Start")
    (child,) = environments._children[-1:]
    ended(store, run.run.run_id)
    for _ in range(100):
        at.run()
        if child not in environments._children:
            break
        time.sleep(0.05)
    assert child.returncode == 0, "collected, or the system would keep it as a zombie"
    assert not Path(f"/proc/{child.pid}").exists()
