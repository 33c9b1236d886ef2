"""The page Generate: the form, the progress of a run, and access for the admin alone."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from helpers.pages.generate_visit import ROOT, asked, field, made, press, questions, said, visit, waiting
from helpers.texts.factories import study_in
from streamlit.testing.v1 import AppTest

from core.llm.prompts import STEPS
from core.runs.asked import ModelSettings, Running
from core.runs.jobs import RunAtHand
from core.runs.kinds import kinds_that
from core.schema.runs import Run
from core.schema.settings import fields_of
from core.store import Store
from core.store.runs import finish_run, get_run, list_runs, run_item
from pages.widgets.visitor import cookie_name

pytestmark = pytest.mark.usefixtures("cookies")


# --- the form -------------------------------------------------------------------------------------


def test_the_first_visit_offers_the_demos_questions_and_a_preview(store: Store) -> None:
    at = visit()
    assert "14 questions in ar, de, en, ja: no problem found in the file." in said(at)
    assert [button.label for button in at.button] == ["Preview five items", "Run all 14 items"]
    assert len(at.warning) == 1, "rules find the facts"
    assert list_runs(store) == []


@pytest.mark.slow
def test_after_a_preview_the_same_run_continues_with_all_items(store: Store) -> None:
    run = made(store, limit=5)
    before = run_item(store, run.run.run_id, 0)
    at = visit(run)
    assert "Estimate for all 14 items from the 5 above" in said(at)
    assert "none: rules need no model" in said(at)
    press(at, "Run all 14 items")
    assert "is starting" in said(at) or "is running" in said(at)
    assert "Cancel" in [button.label for button in at.button]
    whole = ended(store, run)
    assert whole.limit is None
    assert len(list_runs(store)) == 1, "the same run, so that five items are not paid for twice"
    assert run_item(store, run.run.run_id, 0) == before
    assert run_item(store, run.run.run_id, 13) is not None
    at.run()
    assert "Run 1 **is done**." in said(at)
    assert "Run all 14 items" not in [button.label for button in at.button]


def ended(store: Store, run: RunAtHand) -> Run:
    """The run after its new process has finished it."""
    for _ in range(600):
        now = get_run(store, run.run.run_id)
        if now.state == "done" and now.finished_utc != run.run.finished_utc:
            return now
        assert now.state in ("waiting", "running", "done"), now.message
        time.sleep(0.05)
    raise AssertionError(f"the run is {now.state} after 30 s")


def test_problems_of_a_file_are_listed_next_to_it_with_their_places(store: Store) -> None:
    at = visit()
    field(at, "From").set_value("file")
    at.run()
    at.file_uploader[0].upload("bad.jsonl", questions({"item_id": "a", "reference": "x"}, {"question": "q"}))
    at.run()
    assert "bad.jsonl cannot be read: 2 problems" in said(at)
    assert "line 1, question a: question is missing" in said(at)
    assert not at.button
    assert "then upload the file again." in said(at)


def test_a_file_is_summed_up_in_words(store: Store) -> None:
    at = visit()
    field(at, "From").set_value("file")
    at.run()
    assert "Upload a file above" in said(at)
    row = {"question": "How long?", "reference": "It is 1,230 km long.", "paraphrase": "1,230 km."}
    at.file_uploader[0].upload("q.jsonl", questions({**row, "mood": "calm"}))
    at.run()
    assert "1 question without a language (`und`): no problem found in the file." in said(at)
    assert "columns not used: mood" in said(at)
    assert not at.code


def test_missing_paraphrases_are_reported_before_the_run(store: Store) -> None:
    at = visit()
    field(at, "From").set_value("file")
    at.run()
    bare = {"question": "How long?", "reference": "The Rhine is 1,230 km long."}
    at.file_uploader[0].upload(
        "q.jsonl", questions(bare, {**bare, "question": "And?", "paraphrase": "It has 1,230 km."})
    )
    at.run()
    assert "1 of 2 questions have no paraphrase" in said(at)
    assert "word for word (`verbatim` in the records)" in said(at)
    assert [button.label for button in at.button] == ["Run all 2 items"]
    field(at, "Backend").set_value("openai")
    at.run()
    assert "no paraphrase" not in said(at), "a model writes one"


def test_a_key_is_never_shown_or_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    at = visit()
    field(at, "Backend").set_value("openai")
    at.run()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    at.run()
    assert "environment has no variable of that name" in said(at)
    field(at, "Model").set_value("tiny")
    field(at, "Environment variable that holds the key").set_value("skABCDEF123456")
    at.run()
    assert "skABCDEF123456" not in said(at)
    assert next(button for button in at.button if button.label == "Preview five items").disabled
    assert list_runs(store) == []
    monkeypatch.setenv("SOME_KEY", "sk-secret-secret")
    field(at, "Environment variable that holds the key").set_value("SOME_KEY")
    at.run()
    assert "The key is set." in said(at)
    assert "sk-secret" not in said(at)
    assert not next(button for button in at.button if button.label == "Preview five items").disabled


def test_invalid_settings_are_reported_in_the_words_of_the_page(store: Store) -> None:
    at = visit()
    field(at, "Backend").set_value("openai")
    at.run()
    field(at, "Address").set_value("ftp://nowhere")
    at.run()
    field(at, "Environment variable that holds the key").set_value("")
    at.run()
    press(at, "Preview five items")
    assert "Model: is empty; enter the model's name" in said(at)
    assert "Address: it is not an http or https URL" in said(at)
    assert "--" not in " ".join(code.value for code in at.code if "Address" in code.value)
    assert list_runs(store) == []


def test_one_line_gives_the_command_that_makes_a_missing_environment(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_VLLM_PYTHON", "/nowhere/python")
    at = visit()
    field(at, "Backend").set_value("vllm")
    at.run()
    assert "./run --with vllm" in said(at)
    assert next(button for button in at.button if button.label == "Preview five items").disabled


def test_rules_instead_of_a_parse_are_reported_before_the_run_and_in_its_results(store: Store) -> None:
    at = visit()
    assert "./run --with spacy" in said(at)
    run = made(store)
    assert "./run --with spacy" in said(visit(run, "Results"))
    assert "./run --with spacy" not in said(visit(made(store, wanted=asked("damage")), "Results"))


def test_prompts_are_shown_chosen_and_uploaded(store: Store) -> None:
    at = visit()
    field(at, "Backend").set_value("openai")
    field(at, "Scheme").set_value("damage")
    at.run()
    shown = at.code[0].value
    assert shown.startswith("SYSTEM\nYou prepare answers of known quality")
    assert "\n\nUSER\n<question>\n$question\n</question>" in shown
    assert "\n\nWHAT THE LEVELS MEAN ($LADDER)\nLevel 0: Paraphrase." in shown
    assert "WORKED EXAMPLE" not in shown
    field(at, "Writing a damage level").set_value("damage-qa-few")
    at.run()
    assert "\n\nWORKED EXAMPLE 1\nquestion: " in at.code[0].value
    assert "damage-qa-few, after 000, " in said(at)
    own = (
        (ROOT / "prompts" / "damage-qa.yaml").read_text("utf-8").replace("name: damage-qa", "name: my-own", 1)
    )
    at.file_uploader[0].upload("mine.yaml", own.encode())
    at.run()
    assert "my-own, after 000, " in said(at)
    assert "damage-qa-few" not in said(at), "it takes the place of the shipped one"
    at.file_uploader[0].set_value(("mine.yaml", b"name: broken\nuser: [", "text/yaml"))
    at.run()
    assert at.error
    assert "mine.yaml" in said(at)


def test_every_scheme_is_offered_with_all_its_settings(store: Store) -> None:
    at = visit()
    schemes = kinds_that("generation")
    assert field(at, "Scheme").options == [kind.title for kind in schemes]
    for kind in schemes:
        field(at, "Scheme").set_value(kind.name)
        at.run()
        assert not at.exception
        fields = fields_of(kind.Settings)
        shown = {name for name in fields if f"generate_{name}" in {one.key for one in elements(at)}}
        assert shown == fields.keys() - kind.Settings().idle("rules")


def elements(at: AppTest) -> list[Any]:
    return [*at.text_input, *at.number_input, *at.selectbox, *at.multiselect]


def test_no_level_is_refused_and_without_level_0_nothing_is_verbatim(store: Store) -> None:
    at = visit()
    field(at, "From").set_value("file")
    field(at, "Scheme").set_value("damage")
    at.run()
    at.file_uploader[0].upload(
        "q.jsonl", questions({"question": "How long?", "reference": "It has 1,230 km."})
    )
    at.run()
    assert "so level 0 will be the reference word for word" in said(at)
    field(at, "Levels").set_value([3, 5])
    at.run()
    assert "word for word" not in said(at)
    field(at, "Levels").set_value([])
    at.run()
    press(at, "Run the one item")
    assert "Levels: choose at least one level" in said(at)
    assert list_runs(store) == []


# --- a run ----------------------------------------------------------------------------------------


def test_states_say_what_happened_and_what_to_do(store: Store) -> None:
    run = made(store, limit=2)
    finish_run(store, run.run.run_id, "stopped", "No answer for 20 items in a row (timeout).")
    at = visit(run)
    assert "stopped early" in said(at)
    assert "No answer for 20 items in a row (timeout)." in said(at)
    store.table("run").update(run.run.run_id, {"state": "running", "process": 2**22 + 1, "limit": 3})
    store._database.conn.commit()
    at = visit(run)
    assert "was interrupted: its process is gone" in said(at)
    assert "Resume" in [button.label for button in at.button]


def test_the_settings_of_a_run_use_the_words_of_the_form(store: Store) -> None:
    wanted = asked(
        backend="openai",
        model="tiny",
        base_url="http://127.0.0.1:9/v1",
        keep=0.5,
        edit_calls="shared",
        name="mine",
    )
    at = visit(waiting(store, wanted, running=Running(concurrency=3)))
    table = next(table.value for table in at.table if "Setting" in table.value.columns)
    shown = {
        plainly(name): plainly(value) for name, value in zip(table["Setting"], table["Value"], strict=True)
    }
    fields = fields_of(wanted.kind.Settings) | fields_of(ModelSettings) | fields_of(Running)
    expected = {
        "keep": "0.5",
        "edit_calls": fields["edit_calls"].word("shared"),
        "backend": fields["backend"].word("openai"),
        "model": "tiny",
        "concurrency": "3",
        "key_variable": "none",
    }
    assert {name: shown[fields[name].about.label] for name in expected} == expected
    assert shown["Name of the answers"] == "mine"
    assert fields["max_model_len"].about.label not in shown
    assert STEPS["edit-shared"] in said(at)


def plainly(cell: str) -> str:
    """A cell of a table without the characters that escape Markdown."""
    return re.sub(r"\\(?=[^\w\s])", "", cell).replace("\u00a0", " ").replace("\u2060", "")


def test_a_process_that_ends_at_once_is_shown_with_its_message(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no module named core >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setenv("ASSAY_VLLM_PYTHON", str(python))
    run = waiting(store, asked(backend="vllm", model="m"))
    at = press(visit(run), "Start")
    for _ in range(100):
        if "ended before the first item" in said(at.run()):
            break
        time.sleep(0.05)
    assert "no module named core" in said(at)
    assert "Start" in [button.label for button in at.button]


def test_a_run_without_a_finished_item_has_nothing_to_show_yet(store: Store) -> None:
    run = waiting(store)
    assert "has not started" in said(visit(run))
    assert "Start" in [button.label for button in visit(run).button]
    for part in ("Items", "Levels", "Results"):
        assert "no item is finished yet" in said(visit(run, part))


# --- for the admin alone --------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["nobody", "rater", "rater as admin"])
def test_only_the_admin_gets_anything(store: Store, cookies: dict[str, str], who: str) -> None:
    made(store)
    token = study_in(store).tokens["R1"]
    names = {
        "nobody": None,
        "rater": cookie_name(store, "rater"),
        "rater as admin": cookie_name(store, "admin"),
    }
    cookies.clear()
    if names[who]:
        cookies[str(names[who])] = token
    at = visit()
    assert [title.value for title in at.title] == ["This page is for the admin"]
    assert not [kind for kind in ("selectbox", "button", "table", "download_button", "html") if at.get(kind)]
    assert "generate" not in addresses(app())


def test_the_admin_has_the_page(store: Store) -> None:
    assert "generate" in addresses(app())


def app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()


def addresses(at: AppTest) -> set[str]:
    return {str(info.get("url_pathname")) for info in at._registered_pages.values()}


def test_columns_are_chosen_below_the_first_rows(store: Store) -> None:
    """Each column of the file has a menu of the columns it can be read as."""
    at = visit()
    field(at, "From").set_value("file")
    at.run()
    table = (
        b"key,asked,ref,paraphrase\n1,Who?,Nobody at all.,No one at all.\n2,Where?,Nowhere near.,Not near.\n"
    )
    at.file_uploader[0].upload("q.csv", table)
    at.run()
    assert [field(at, name).value for name in ("key", "asked", "ref", "paraphrase")] == [
        *("-", "-", "reference", "paraphrase")
    ]
    assert "question" in said(at)
    field(at, "asked").set_value("question")
    field(at, "key").set_value("item_id")
    at.run()
    assert "2 questions" in said(at)
    field(at, "paraphrase").set_value("-")
    at.run()
    assert "No question has a paraphrase" in said(at)
