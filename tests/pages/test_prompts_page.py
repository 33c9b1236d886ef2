"""The page Judges compares prompts: planned, previewed, forecast, judged; a prompt edited, previewed and saved as a file."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import test_prompt_files
from helpers.pages.generate_visit import said
from helpers.pages.judges_visit import page, visit
from helpers.processes.scripted_server import ScriptedServer, error
from helpers.texts.judge_runs import worked
from helpers.texts.prompts_tried import prompt_file, texts, verdict
from streamlit.testing.v1 import AppTest

from core.errors import InputError
from core.llm import prompts as house
from core.llm.prompts import (
    cautions,
    edited_text,
    find_prompt,
    load_prompt,
    other_fields,
    parse_prompt,
    save_prompt,
    shipped_prompts,
)
from core.runs.judging.several import work_through
from core.runs.path import saved_run
from core.store import Store, open_store
from core.store.runs import list_runs
from pages.widgets import run_panel

pytestmark = pytest.mark.usefixtures("cookies")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder of prompts, in which tests may save."""
    copied = tmp_path / "prompts"
    shutil.copytree(house.SHIPPED, copied)
    monkeypatch.setattr(house, "SHIPPED", copied)
    return copied


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are worked off when they are started, in this process."""

    def work(database: Path, first: int, _: str, further: tuple[int, ...] = ()) -> int:
        with open_store(database) as own:  # the page runs in a thread of its own
            work_through([saved_run(own, number) for number in (first, *further)], worked)
        return 0

    monkeypatch.setattr(run_panel, "start_child", work)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(verdict, models=("tiny", "big")) as one:
        yield one


def form(server: ScriptedServer, n_items: int = 8) -> AppTest:
    """The form with texts and a model."""
    at = visit(("compare", 0))
    at.session_state["metrics_texts_from"] = "file"
    at.session_state["metrics_texts_file"] = (texts(n_items), "t.jsonl")
    at.session_state["judges_prompts_backend"] = "openai"
    at.session_state["judges_prompts_base_url"] = server.url
    at.session_state["judges_prompts_model"] = "tiny"
    at.session_state["judges_prompts_input_price"] = 1.0
    at.session_state["judges_prompts_output_price"] = 2.0
    return shown(at)


def shown(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception
    return at


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return shown(at)


def tables(at: AppTest) -> list[Any]:
    return [one.value for one in at.table]


@pytest.mark.slow
def test_prompts_and_models_are_previewed_forecast_judged_and_linked(
    store: Store, folder: Path, at_once: None, server: ScriptedServer
) -> None:
    for word in ("SHARP", "DULL"):
        prompt_file(folder, word)
    at = form(server)
    at.multiselect(key="judges_prompts_rubric_several_rubric").set_value(["sharp", "dull"])
    at.text_input(key="judges_prompts_models").set_value("big")
    shown(at)
    at.number_input(key="judges_prompts_input_price_big").set_value(10.0)
    at.number_input(key="judges_prompts_output_price_big").set_value(20.0)
    shown(at)
    press(at, "judges_prompts_preview")
    runs = list_runs(store)
    assert [run.limit for run in runs] == [5] * 4
    assert sorted((run.settings["model"], run.running["input_price"]) for run in runs) == [
        ("big", 10.0),
        ("big", 10.0),
        ("tiny", 1.0),
        ("tiny", 1.0),
    ]
    assert len(server.asked) == 100
    estimates = next(one for one in tables(at) if "All items" in one)
    assert dict(zip(estimates["All items"], estimates["Estimate"], strict=True))["Calls"] == "160"
    press(at, "judges_prompts_rest")
    assert len(server.asked) == 160
    progress = next(one for one in tables(at) if "State" in one)
    assert list(progress["State"]) == ["done"] * 4
    assert list(progress["Items"]) == ["8 of 8"] * 4
    first = next(one.value for one in at.markdown if one.value.startswith("**"))
    assert "sharp with tiny" in first, "the cheaper of two that are as good"
    assert at.query_params["runs"] == ["1", "2", "3", "4"]
    other = AppTest.from_function(page, default_timeout=60)
    other.query_params["runs"] = ["1", "3"]
    shown(other)
    assert sorted(other.session_state["judges_prompts_runs"]) == [1, 3]


@pytest.mark.slow
def test_one_prompt_alone_is_refused_in_words(folder: Path, at_once: None, server: ScriptedServer) -> None:
    at = form(server)
    press(at, "judges_prompts_preview")
    assert at.error
    assert not server.asked


# The editor


def edited(at: AppTest, system: str) -> AppTest:
    at.toggle(key="prompt_edit_open").set_value(True)
    shown(at)
    base = find_prompt("rubric")
    at.text_area(key=f"prompt_edit_rubric_{base.sha256[:12]}_system").set_value(system)
    return shown(at)


def field(name: str) -> str:
    return f"prompt_edit_rubric_{find_prompt('rubric').sha256[:12]}_{name}"


def test_a_prompt_is_edited_previewed_on_three_texts_and_saved(
    store: Store, folder: Path, at_once: None, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = find_prompt("rubric")
    system = f"DULL. {base.system}"
    at = edited(form(server), system)
    assert at.button(key="prompt_edit_save").disabled
    press(at, "prompt_edit_preview")
    assert len(server.asked) == 6
    sent = [str(body["messages"][0]["content"]) for body in server.bodies]
    assert sum(one.startswith("DULL") for one in sent) == 3
    replies = [one.value for one in at.code]
    assert sum("DULL says so." in one for one in replies) == 3
    assert sum("SHARP says so." in one for one in replies) == 3
    assert sum(one.startswith("SYSTEM\nDULL") for one in replies) == 3
    assert at.button(key="prompt_edit_save").disabled, "it is not said what was changed"
    at.text_input(key=field("name")).set_value("house-rubric")
    at.text_input(key=field("title")).set_value("Our verdict")
    at.text_input(key=field("changed")).set_value("A word at the beginning.")
    shown(at)
    assert not at.button(key="prompt_edit_save").disabled, "name, title and remark do not reach the model"
    press(at, "prompt_edit_save")
    assert not at.error
    saved = load_prompt(folder / "house-rubric.yaml")
    assert (saved.system, saved.user, saved.purpose) == (system, base.user, "rubric")
    assert "house-rubric" in {prompt.name for prompt in shipped_prompts("rubric")}
    chosen = at.multiselect(key="judges_prompts_rubric_several_rubric")
    assert chosen.value == ["rubric", "house-rubric"]
    monkeypatch.setattr(test_prompt_files, "ROOT", folder.parent)
    test_prompt_files.test_header_names_paper_section_and_differences(saved)
    test_prompt_files.test_a_kept_prompt_needs_no_file(saved)
    test_prompt_files.test_items_texts_stand_in_fields_and_are_called_material(saved)
    assert not cautions(saved)
    # A text that was changed after its preview cannot be saved.
    at.text_input(key=field("name")).set_value("another")
    at.text_area(key=field("system")).set_value(f"DULL DULL. {base.system}")
    shown(at)
    assert at.button(key="prompt_edit_save").disabled
    assert len(list_runs(store)) == 2
    assert {run.settings["name"] for run in list_runs(store)} == {"preview-rubric", "preview-rubric-edited"}


def test_problems_name_lines_of_the_file(folder: Path, at_once: None, server: ScriptedServer) -> None:
    at = edited(form(server), "Judge $text. The texts are material.")
    problem = said(at)
    code = next(one.value for one in at.code if one.language == "yaml")
    line = next(n for n, text in enumerate(code.splitlines(), start=1) if text.startswith("system:"))
    assert f"line {line}" in problem
    assert at.button(key="prompt_edit_preview").disabled


@pytest.mark.slow
def test_a_server_that_says_nothing_gives_no_preview(folder: Path, store: Store, at_once: None) -> None:
    with ScriptedServer(lambda body, n: error(500, "down")) as server:
        at = edited(form(server), "DULL. The texts are material.")
        at.session_state["judges_prompts_retries"] = 0
        at.text_input(key=field("changed")).set_value("More.")
        press(shown(at), "prompt_edit_preview")
    assert at.button(key="prompt_edit_save").disabled


# The file


def text_of(name: str = "mine", system: str = "Be strict. The texts are material.", **changed: str) -> str:
    base = find_prompt("rubric")
    values = {"title": "Mine", "changed": "Stricter.", "user": base.user, "other": other_fields(base)}
    return edited_text(base, name=name, system=system, **{**values, **changed})


def test_the_edited_text_of_every_shipped_prompt_is_the_prompt() -> None:
    for base in shipped_prompts():
        text = edited_text(
            base,
            name="mine",
            title=base.title,
            changed="Nothing.",
            system=base.system or "",
            user=base.user,
            other=other_fields(base),
        )
        again = parse_prompt(text, "mine.yaml")
        assert again.sha256 == base.sha256
        assert again.examples == base.examples


@pytest.mark.parametrize("name", ["../mine", "a/b", "Mine", "mine.yaml", "", "a" * 81, "..", "mine\n"])
def test_names_that_lead_elsewhere_are_refused(folder: Path, name: str) -> None:
    before = sorted(folder.parent.rglob("*"))
    if name == "mine\n":
        assert save_prompt(text_of(name)).name == "mine", "a line break counts as a blank"
        return
    with pytest.raises(InputError):
        save_prompt(text_of(name))
    assert sorted(folder.parent.rglob("*")) == before


def test_nothing_is_replaced(folder: Path) -> None:
    shipped = (folder / "rubric.yaml").read_bytes()
    with pytest.raises(InputError, match="rubric already"):
        save_prompt(text_of("rubric"))
    assert (folder / "rubric.yaml").read_bytes() == shipped
    save_prompt(text_of())
    with pytest.raises(InputError, match="mine already"):
        save_prompt(text_of(system="Other. The texts are material."))
    (folder / "dangling.yaml").symlink_to(folder.parent / "elsewhere.yaml")
    with pytest.raises(InputError):
        save_prompt(text_of("dangling", system="Third. The texts are material."))
    assert not (folder.parent / "elsewhere.yaml").exists()
    assert not [path for path in folder.iterdir() if path.suffix not in (".yaml", ".md")]


def test_what_sends_the_same_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="rubric"):
        save_prompt(text_of(system=find_prompt("rubric").system or ""))


def test_a_folder_that_cannot_be_written_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(house.os, "link", full)
    with pytest.raises(InputError, match="is full"):
        save_prompt(text_of())
    assert not [path for path in folder.iterdir() if path.suffix not in (".yaml", ".md")]


def test_cautions_name_what_shipped_prompts_keep(folder: Path) -> None:
    assert not [
        one for prompt in shipped_prompts() if prompt.name != "rubric-prometheus" for one in cautions(prompt)
    ]
    bare = parse_prompt(text_of(system="Be strict.", user="$criterion $scale $question $texts"), "x")
    assert len(cautions(bare)) == 4
