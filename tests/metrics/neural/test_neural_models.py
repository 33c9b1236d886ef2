"""Models by name: fetched once from a hub (one on this machine), then taken from where they are."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers.models.neural_environment import ROOT, run_neural
from model_hub import Hub, model_hub, silent_hub

pytestmark = pytest.mark.slow
SCRIPT = ROOT / "tests" / "metrics" / "neural" / "score_by_name.py"
ASKED = (
    "bertscore-en=tiny/bert",
    "comet-wmt22-da=tiny/comet",
    "comet-eamt22-cometinho-da=tiny/comet-minilm",
    "nli=tiny/nli",
)
TENSORFLOW = "tf_model.h5"


def score(python: Path, url: str, home: Path, *asked: str) -> dict[str, Any]:
    ran = run_neural(python, SCRIPT, *asked, HF_ENDPOINT=url, HF_HOME=str(home), HF_HUB_OFFLINE="0")
    assert ran.returncode == 0, ran.stderr[-4000:]
    said: dict[str, Any] = json.loads(ran.stdout)
    return said


def hub_of(models: Path) -> dict[str, Path]:
    """As the hub has them: COMET's encoder is a model of its own, and weights come in several formats."""
    (models / "bert" / TENSORFLOW).write_bytes(b"for another library")
    return {
        "tiny/bert": models / "bert",
        "tiny/comet": models / "comet-of-hub",
        "tiny/xlmr": models / "xlmr",
        "tiny/nli": models / "nli",
        "tiny/comet-minilm": models / "comet-minilm",
        "tiny/minilm": models / "minilm",
        "xlm-roberta-base": models / "xlmr",
    }


@pytest.fixture(scope="module")
def visits(
    neural_python: Path, tiny_metric_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("hub")
    with model_hub(hub_of(tiny_metric_models)) as hub:
        first, fetched = score(neural_python, hub.url, home, *ASKED), hub.fetched
        wrong = score(neural_python, hub.url, home, "nli=tiny/none", "comet-wmt20-da=tiny/bert")
        encoderless = tmp_path_factory.mktemp("encoderless")
        comet = f"comet-wmt22-da={tiny_metric_models / 'comet-of-hub'}"
        away = score(neural_python, "http://127.0.0.1:9", encoderless, comet)
        hub.asked.clear()
        again, asked_again = score(neural_python, hub.url, home, *ASKED), list(hub.asked)
    paths = {"bertscore-en": "bert", "comet-wmt22-da": "comet-da", "nli": "nli"}
    by_path = score(
        neural_python, "", home, *(f"{name}={tiny_metric_models / place}" for name, place in paths.items())
    )
    return {
        "first": first,
        "fetched": fetched,
        "wrong": wrong,
        "away": away,
        "again": again,
        "asked again": asked_again,
        "by path": by_path,
    }


def test_a_model_by_name_scores_as_the_same_files_by_path(visits: dict[str, Any]) -> None:
    flat = [number for row in visits["first"]["scores"] for number in row]
    without_minilm = [number for place, number in enumerate(flat) if place % 4 != 2]
    by_path = [number for row in visits["by path"]["scores"] for number in row]
    assert without_minilm == pytest.approx(by_path, abs=1e-6)
    assert "BERTScore|model:tiny/bert|" in visits["first"]["signatures"][0]
    files = [signature.split("|sha256:")[1] for signature in visits["first"]["signatures"]]
    local = [signature.split("|sha256:")[1] for signature in visits["by path"]["signatures"]]
    assert (files[0], files[3]) == (local[0], local[2])  # COMET's differ: theirs name the encoder otherwise


def test_a_comet_of_another_encoder_finds_the_tokenizer_its_library_names(visits: dict[str, Any]) -> None:
    """As cometinho: the encoder's configuration comes from one model, its tokenizer from another."""
    minilm = [row[2] for row in visits["first"]["scores"]]
    assert all(math.isfinite(score) for score in minilm)
    assert len(set(minilm)) == 2


def test_only_what_a_library_reads_is_fetched(visits: dict[str, Any]) -> None:
    assert {"config.json", "model.safetensors", "checkpoints/model.ckpt", "hparams.yaml"} <= visits["fetched"]
    assert TENSORFLOW not in visits["fetched"]


def test_what_is_here_is_not_asked_for_again(visits: dict[str, Any]) -> None:
    assert visits["asked again"] == []
    assert visits["again"]["scores"] == visits["first"]["scores"]


def test_a_name_the_hub_does_not_know_is_said(visits: dict[str, Any]) -> None:
    assert "nli: the model hub has no tiny/none" in visits["wrong"]["error"]
    assert "comet-wmt20-da: tiny/bert contains no COMET model" in visits["wrong"]["error"]


def test_a_comet_whose_encoder_cannot_be_fetched_is_refused_before_it_scores(visits: dict[str, Any]) -> None:
    assert "comet-wmt22-da: tiny/xlmr is not on this machine; " in visits["away"]["error"]
    assert "the model hub cannot be used: ConnectionError" in visits["away"]["error"]


def test_a_hub_that_says_nothing_is_waited_for_once(neural_python: Path, tmp_path: Path) -> None:
    with silent_hub() as url:
        said = score(neural_python, url, tmp_path, "nli=tiny/nli", "bertscore-en=tiny/bert")
    assert "the model hub cannot be used: ReadTimeout" in said["error"]
    assert "nli: tiny/nli is not on this machine" in said["error"]
    assert said["seconds"] < 30  # ten of them for the one question; importing takes the rest


def test_the_hub_of_these_tests_counts_only_contents() -> None:
    hub = Hub({})
    hub.server.server_close()
    commit = "c0ffee" * 6 + "c0de"
    hub.asked += [
        f"HEAD /a/resolve/{commit}/config.json",
        "GET /api/models/a",
        f"GET /a/resolve/{commit}/x.bin",
    ]
    assert hub.fetched == {"x.bin"}
