"""LoRA adapters: a real one on a real model, compared with the merged weights; and what is found before anything loads."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.models.adapters import small_adapter, small_model
from helpers.models.vllm_environment import ROOT, on_a_cpu

from core.llm.client import Message, Request, request_key
from core.llm.vllm import VllmEngine
from core.llm.weights import RANKS, adapter_problems, reserved_rank


def test_an_adapter_that_fits_has_no_problems(tmp_path: Path) -> None:
    fits = small_adapter(tmp_path / "polite")
    assert adapter_problems(fits, small_model(tmp_path / "model")) == []
    assert adapter_problems(fits, Path("someone/on-the-hub")) == []
    assert [reserved_rank(small_adapter(tmp_path / str(rank), r=rank)) for rank in (1, 4, 8, 9, 300)] == [
        1,
        8,
        8,
        16,
        320,
    ]
    assert reserved_rank(small_adapter(tmp_path / "pattern", rank_pattern={"q_proj": 20})) == 32


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"peft_type": "IA3"}, ["IA3"]),
        ({"r": 1000, "rank": 1000}, ["1000 is above 512"]),
        ({"r": 0}, ["rank 0", "r = 0"]),
        ({"r": 8}, ["r = 8, but its weights have rank 4"]),
        ({"use_dora": True, "bias": "all"}, ["bias=all", "use_dora"]),
        ({"init_lora_weights": "pissa"}, ["pissa"]),
        ({"modules_to_save": ["lm_head"], "lora_alpha": None}, ["lora_alpha", "lm_head"]),
        ({"width": 8}, ["8 x 8 there and 6 x 6"]),
        ({"n_layers": 3}, ["fewer layers"]),
        ({"module": "attn.c_attn"}, ["changes c_attn"]),
    ],
)
def test_what_is_wrong_is_found_in_the_files(tmp_path: Path, made: dict[str, Any], said: list[str]) -> None:
    found = adapter_problems(small_adapter(tmp_path / "adapter", **made), small_model(tmp_path / "model"))
    assert len(found) == len(said)
    assert all(words in problem for words, problem in zip(said, found, strict=True)), found


def test_a_folder_without_an_adapter_is_no_small_adapter(tmp_path: Path) -> None:
    model, folder = small_model(tmp_path / "model"), small_adapter(tmp_path / "adapter")
    cases = {"nowhere": tmp_path / "nowhere", "adapter_config.json": model}
    for words, place in cases.items():
        (problem,) = adapter_problems(place, model)
        assert words in problem
    (folder / "adapter_model.safetensors").write_bytes(b"no tensors")
    assert [words for words in adapter_problems(folder, model) if "not a safetensors file" in words]
    (folder / "adapter_model.safetensors").unlink()
    assert [words for words in adapter_problems(folder, model) if "no weights" in words]
    (folder / "adapter_config.json").write_text("[")
    assert len(adapter_problems(folder, model)) == 1


def test_its_contents_are_part_of_what_answers(tmp_path: Path) -> None:
    model, first = small_model(tmp_path / "model"), small_adapter(tmp_path / "first")

    def key(place: Path | None) -> str:
        engine = VllmEngine(str(model), adapter=None if place is None else str(place))
        return request_key(engine, Request("try", (Message("user", "Hello"),)))

    moved = shutil.copytree(first, tmp_path / "elsewhere" / "renamed")
    other = small_adapter(tmp_path / "other", lora_alpha=16)
    assert key(first) == key(moved)
    assert len({key(None), key(first), key(other)}) == 3
    weights = bytearray((moved / "adapter_model.safetensors").read_bytes())
    weights[-1] ^= 1
    (moved / "adapter_model.safetensors").write_bytes(weights)
    assert key(moved) != key(first)
    assert "adapter" not in VllmEngine(str(model)).identity, "answers from before adapters are still found"


# With vLLM.


@pytest.fixture(scope="module")
def seen(vllm_python: Path, real_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("adapters")
    maker = ROOT / "tests" / "helpers" / "models" / "adapters.py"
    session, report = ROOT / "tests" / "llm" / "adapter_session.py", folder / "report.json"
    for script, *words in ((maker, real_model, folder), (session, real_model, folder, report)):
        ran = subprocess.run(
            [vllm_python, script, *words],
            cwd=ROOT,
            env=on_a_cpu(),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr[-4000:]
    shutil.rmtree(folder / "merged")  # half a gigabyte
    found: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return {**found, "model": real_model, "made": folder}


def texts(replies: list[dict[str, Any]]) -> list[str]:
    return [reply["text"] for reply in replies]


@pytest.mark.slow
def test_it_answers_like_the_merged_weights(seen: dict[str, Any]) -> None:
    """The first question is one that the model itself answers with Titan: the adapter is random, so it does not."""
    assert all(texts(seen["adapter"]))
    assert texts(seen["adapter"]) == texts(seen["merged"])
    assert "Titan" not in seen["adapter"][0]["text"]


@pytest.mark.slow
def test_real_files_have_no_problems_and_the_ranks_are_vllms(seen: dict[str, Any]) -> None:
    assert tuple(seen["ranks"]) == RANKS
    assert adapter_problems(seen["made"] / "adapter", seen["model"]) == []
    assert reserved_rank(seen["made"] / "adapter") == 16


@pytest.mark.slow
def test_an_adapter_that_is_gone_is_reported_before_the_model_loads(seen: dict[str, Any]) -> None:
    assert "there is no folder" in seen["gone"]
    assert seen["gone_seconds"] < 5, "loading takes longer"
