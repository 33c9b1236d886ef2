"""The page Generate: a run that could not start, its message, and the form filled with what it was asked for."""

import time
from pathlib import Path

import pytest
from core.runs.model_settings import RunningSettings
from core.runs.plan import create_run
from core.runs.settings import settings_of
from generate_visit import DEMO, ROOT, field, made, press, questions, said, visit
from model_answers import answer
from scripted_server import ScriptedServer

from core.errors import InputError
from core.generation.damage_steps import DamageSettings
from core.generation.factual.steps import FactualSettings
from core.generation.scheme import GenerationSettings
from core.llm.prompts import parse_prompt
from core.runs import environments
from core.runs.asked import choose_prompts, running_of
from core.runs.generation import GenerationJob, materials_of
from core.runs.worker import work
from core.schema import Run
from core.store import Store
from core.store.runs import finish_run, get_run, list_runs, run_data

OWN = questions(
    {"question": "How long is it?", "reference": "It is 1,230 km long."},
    {"question": "How old is it?", "reference": "It was built in 1951."},
)

pytestmark = pytest.mark.usefixtures("cookies")


def refused(store: Store, settings: GenerationSettings, running: RunningSettings) -> Run:
    """A run that its server turned away."""
    run, _ = create_run(store, OWN, "mine.jsonl", settings, running)
    with pytest.raises(InputError):
        work(
            store,
            run.run_id,
            lambda claimed: GenerationJob(
                materials_of(store, claimed).materials, settings_of(claimed), running_of(claimed)
            ),
        )
    return get_run(store, run.run_id)


@pytest.mark.slow
def test_a_run_that_never_started_says_why_and_opens_the_form_again(store: Store) -> None:
    own = (ROOT / "prompts" / "damage-summary.yaml").read_text("utf-8")
    own = own.replace("name: damage-summary", "name: my-own", 1).replace("You ", "You kindly ", 1)
    settings = GenerationSettings(
        "damage",
        backend="openai",
        model="nope",
        source="mine",
        attempts=2,
        prompts=choose_prompts("damage", "summary", "each", [parse_prompt(own, "my-own.yaml")]),
        damage=DamageSettings("summary", (0, 3, 5), seed=9),
    )
    with ScriptedServer(answer, models=["tiny", "large"]) as server:
        settings = GenerationSettings(**{**vars(settings), "base_url": server.url})
        run = refused(store, settings, RunningSettings(concurrency=3, timeout=7.0, input_price=1.5))
    at = visit(run)
    assert "did not start" in said(at)
    assert f"The model server at {server.url} cannot be used" in said(at)
    assert "it has no model 'nope'; choose one of: tiny, large" in [code.value for code in at.code]
    assert not at.metric
    assert "what was finished is kept" not in said(at)
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
        "Seed": "9",
        "From": "file",
    }
    assert "The file is still mine.jsonl" in said(at)
    assert not at.warning, "such as Streamlit's on a default that is overruled"
    with ScriptedServer(answer) as server:
        field(at, "Address").set_value(server.url)
        field(at, "Model").set_value("tiny")
        at.run()
        press(at, "Run all 2 items")
        again = list_runs(store)[0]
        ended(store, again)
    assert run_data(store, again.run_id) == OWN
    assert settings_of(again) == GenerationSettings(
        **{**vars(settings), "base_url": server.url, "model": "tiny"}
    )
    assert running_of(again) == RunningSettings(concurrency=3, timeout=7.0, input_price=1.5)
    at.run()
    assert "**is done**" in said(at)


def ended(store: Store, run: Run) -> None:
    for _ in range(400):
        if get_run(store, run.run_id).state in ("done", "stopped"):
            return
        time.sleep(0.05)
    raise AssertionError("the run goes on after 20 s")


def test_the_form_takes_a_factual_run_of_the_demos_questions(store: Store) -> None:
    asked = FactualSettings(2, 0.5, "trutheval", "trutheval", "shared", "rules", 11)
    prompts = choose_prompts("factual", "qa", "shared")
    settings = GenerationSettings(
        "factual",
        backend="openai",
        model="m",
        base_url="http://127.0.0.1:9/v1",
        prompts=prompts,
        factual=asked,
    )
    run, _ = create_run(store, DEMO.read_bytes(), DEMO.name, settings, RunningSettings(retries=0))
    finish_run(
        store, run.run_id, "stopped", "The run cannot start\n  - --model: name it\n  - --retries: too few"
    )
    at = visit(run)
    assert [code.value for code in at.code][:1] == ["Model: name it\nFurther tries: too few"]
    press(at, "Change the settings")
    assert field(at, "From").value == "demo"
    assert not at.warning
    press(at, "Preview five items")
    again = list_runs(store)[0]
    assert again.run_id != run.run_id
    assert (settings_of(again), running_of(again)) == (settings, RunningSettings(retries=0))


def test_a_run_that_stopped_later_keeps_its_counts_and_lists_its_problems(store: Store) -> None:
    run = made(store, limit=2)
    finish_run(store, run.run_id, "stopped", "The server cannot be used\n  - nobody answers there")
    at = visit(run)
    assert "nobody answers there" in [code.value for code in at.code]
    assert [metric.value for metric in at.metric] == ["2", "0", "0"]
    assert "Change the settings" in [button.label for button in at.button]


@pytest.mark.slow
def test_no_process_stays_behind_when_its_run_is_done(store: Store) -> None:
    run, _ = create_run(store, OWN, "mine.jsonl", GenerationSettings("factual"), RunningSettings())
    at = press(visit(run), "Start")
    (child,) = environments._children[-1:]
    ended(store, run)
    for _ in range(100):
        at.run()
        if child not in environments._children:
            break
        time.sleep(0.05)
    assert child.returncode == 0, "collected, or the system would keep it as a zombie"
    assert not Path(f"/proc/{child.pid}").exists()
