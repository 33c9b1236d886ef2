"""Tiny models of every family beside the libraries' own calls: what one session in the neural environment saw."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers.models.neural_environment import ROOT, run_neural

from core.metrics.neural.bertscore import DEFAULT_LAYERS, ENGLISH, OTHERS
from core.metrics.neural.model import NO_NUMBER

pytestmark = pytest.mark.slow
SCRIPT = ROOT / "tests" / "metrics" / "neural" / "neural_session.py"
WITH_REFERENCE = {
    "bertscore-en",
    "bertscore-cs-l5",
    "comet-wmt22-da",
    "comet-wmt20-da",
    "bleurt-tiny-128",
    "bleurt-20-d12",
    "nli",
    "nli-both",
}
WITH_SOURCE = {"comet-wmt22-da", "comet-wmt20-da", "comet-wmt20-qe-da"}


def see(python: Path, models: Path, report: Path, *options: str) -> dict[str, Any]:
    ran = run_neural(python, SCRIPT, models, report, *options)
    assert ran.returncode == 0, ran.stderr[-4000:]
    seen: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return {**seen, "stdout": ran.stdout}


@pytest.fixture(scope="module")
def seen(
    neural_python: Path, tiny_metric_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    return see(neural_python, tiny_metric_models, tmp_path_factory.mktemp("session") / "report.json")


@pytest.fixture(scope="module")
def elsewhere(
    neural_python: Path, tiny_metric_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Another process with copies of the models at another place, one of them with another tokenizer."""
    folder = tmp_path_factory.mktemp("elsewhere")
    models = Path(shutil.copytree(tiny_metric_models, folder / "copied"))
    words = (models / "bleurt" / "vocab.txt").read_text("utf-8").splitlines()
    words[200], words[300] = words[300], words[200]
    (models / "bleurt" / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    return see(neural_python, models, folder / "report.json", "--brief")


def test_scores_are_the_libraries_own(seen: dict[str, Any]) -> None:
    """bert_score.score, comet's predict, bleurt-pytorch's and transformers' models called directly."""
    assert seen["ours"].keys() == seen["libraries"].keys()
    for name, scores in seen["ours"].items():
        assert scores == pytest.approx(seen["libraries"][name], abs=1e-6), name
        assert len({round(score, 4) for score in scores}) > 20, f"{name}: the models tell texts apart"


def test_a_text_as_its_own_reference_has_bertscore_1(seen: dict[str, Any]) -> None:
    """Theory: every token's nearest one is itself, at cosine 1."""
    assert seen["same"]["bertscore-en"] == pytest.approx([1.0] * len(seen["same"]["bertscore-en"]), abs=1e-6)


def test_batches_and_order_do_not_matter(seen: dict[str, Any]) -> None:
    """Padding differs, so the last digits may; not where the same batch is scored again."""
    for name, scores in seen["ours"].items():
        assert seen["again"][name] == scores, name
        assert seen["backwards"][name][::-1] == pytest.approx(scores, abs=1e-5), name
        assert seen["one by one"][name] == pytest.approx(scores, abs=1e-5), name
        assert seen["reopened"][name] == pytest.approx(scores[:3], abs=1e-5), name
        assert seen["threaded"][name] == pytest.approx(scores[:5], abs=1e-5), name


def test_entailment_is_found_by_its_label_not_its_place(seen: dict[str, Any]) -> None:
    swapped = seen["other models"]["nli"]
    assert swapped == pytest.approx(seen["ours"]["nli"][: len(swapped)], abs=1e-6)


def test_both_ways_is_the_smaller_of_two(seen: dict[str, Any]) -> None:
    one, both = seen["ours"]["nli"], seen["ours"]["nli-both"]
    assert all(smaller <= way + 1e-6 for smaller, way in zip(both, one, strict=True))
    assert any(smaller < way - 1e-3 for smaller, way in zip(both, one, strict=True))


def test_layers_are_bert_scores_defaults(seen: dict[str, Any]) -> None:
    expected = {"en": [ENGLISH, DEFAULT_LAYERS[ENGLISH]], "cs": [OTHERS, DEFAULT_LAYERS[OTHERS]]}
    assert seen["defaults"] == expected


def test_what_is_missing_is_said(seen: dict[str, Any]) -> None:
    for name, column in seen["odd"].items():
        reference, source = name in WITH_REFERENCE, name in WITH_SOURCE
        assert column["no reference"] == ("no reference" if reference else column["good"]), name
        assert column["empty reference"] == ("the reference is empty" if reference else column["good"]), name
        assert column["no source"] == ("no source" if source else column["good"]), name
        assert "half a character" in column["half a character"], name


def test_empty_texts_have_no_bertscore_and_a_number_elsewhere(seen: dict[str, Any]) -> None:
    for name, column in seen["odd"].items():
        if name.startswith("bertscore"):
            assert column["empty text"] == "the text is empty"
            assert column["no word"] == "the model gave no number"
        else:
            assert math.isfinite(column["empty text"]), name


def test_texts_beyond_the_window_are_cut(seen: dict[str, Any]) -> None:
    """Two texts that differ only after what the model reads score the same."""
    for name, column in seen["odd"].items():
        assert column["too long"] == pytest.approx(column["as long"], abs=1e-5), name


def test_a_model_without_a_number_gives_a_reason(seen: dict[str, Any]) -> None:
    assert set(seen["other models"]["bleurt-tiny-128"]) == {NO_NUMBER}


def test_signatures_say_what_was_loaded(seen: dict[str, Any]) -> None:
    signatures = seen["signatures"]
    for name, parts in {
        "bertscore-en": ("BERTScore|model:local|layer:6|score:F1|idf:no|rescaled:no|", "|bert-score:0.3.13|"),
        "bertscore-cs-l5": ("BERTScore|model:local|layer:5|", "|bert-score:0.3.13|"),
        "comet-wmt22-da": ("COMET|model:local|inputs:source+reference|", "|unbabel-comet:2.2.7|"),
        "comet-wmt20-qe-da": ("COMET|model:local|inputs:source|", "|transformers:4.57.6"),
        "bleurt-tiny-128": ("BLEURT|model:local|length:128|", "|bleurt-pytorch:0.0.1|"),
        "nli": ("NLI|model:local|premise>hypothesis:reference>text|score:p(entailment)|", "|sha256:"),
    }.items():
        start, inside = parts
        assert signatures[name].startswith(start)
        assert inside in signatures[name]
    assert len(set(signatures.values())) == len(signatures)


def test_a_model_is_known_by_its_files_wherever_they_lie(
    seen: dict[str, Any], elsewhere: dict[str, Any]
) -> None:
    there, here = elsewhere["signatures"], seen["signatures"]
    assert [name for name in here if here[name] != there[name]] == ["bleurt-tiny-128"]
    for name in here.keys() - {"bleurt-tiny-128"}:
        assert elsewhere["ours"][name] == pytest.approx(seen["ours"][name], abs=1e-5), name


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nowhere", "bertscore-en: there is no file or folder"),
        ("no model", "there is no config.json"),
        ("no comet", "is not a COMET model: there is no"),
        ("shallow", "has 3 layers, but the metric compares the fifth"),
        ("other metric", "bleurt-20-d12 has a model, but is not one of the chosen metrics"),
        ("no reference", "comet-wmt22-da: the model reads no reference"),
        ("a reference", "comet-wmt20-qe-da: the model reads a reference"),
        ("unnamed", "LABEL_0, LABEL_1, LABEL_2"),
        ("no gpu", "torch finds no GPU; choose auto or cpu"),
        ("no device", "There is no device 'tpu'"),
        ("no batch", "batch size is 0, expected at least 1"),
        ("no weights", "cannot be loaded"),
    ],
)
def test_what_does_not_fit_is_a_sentence(seen: dict[str, Any], what: str, said: str) -> None:
    assert said in seen["refusals"][what]["text"]


def test_models_that_cannot_be_fetched_are_named_together_at_once(seen: dict[str, Any]) -> None:
    said = seen["refusals"]["offline"]
    for part in (
        "bertscore-en: roberta-large is not on this machine",
        "comet-wmt22-da: Unbabel/wmt22-comet-da is not on this machine",
        "bleurt-20-d12: lucadiliello/BLEURT-20-D12 is not on this machine",
        "the model hub cannot be used: HF_HUB_OFFLINE is set",
        "METRIC=PATH",
    ):
        assert part in said["text"]
    assert said["seconds"] < 5


def test_standard_output_stays_with_the_command(seen: dict[str, Any]) -> None:
    assert seen["stdout"] == ""
