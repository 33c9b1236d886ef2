"""Claims and a real cross-encoder of random weights: what one session in the neural environment saw."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.models.neural_environment import ROOT, run_neural

pytestmark = pytest.mark.slow
SCRIPT = ROOT / "tests" / "judges" / "claims_session.py"


@pytest.fixture(scope="module")
def seen(
    neural_python: Path, tiny_metric_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    report = tmp_path_factory.mktemp("claims") / "report.json"
    ran = run_neural(neural_python, SCRIPT, tiny_metric_models, report)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert "Traceback" not in ran.stderr
    read: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return read


def labels(seen: list[dict[str, Any]]) -> list[str]:
    return [each["label"].lower() for each in seen]


def shares(seen: list[dict[str, Any]]) -> list[float]:
    return [each["probability"] for each in seen]


def test_verdicts_are_the_library_s_own(seen: dict[str, Any]) -> None:
    ours = seen["nli"]["pairs"]
    assert labels(ours) == [label for label, _ in seen["library"]]
    assert shares(ours) == pytest.approx([share for _, share in seen["library"]], abs=1e-6)
    assert len(set(labels(ours))) == 3, "the model tells pairs apart"


def test_the_order_of_labels_is_the_model_s_own(seen: dict[str, Any]) -> None:
    """The same weights with their labels in another order, and in capitals."""
    ours, swapped = seen["nli"]["pairs"], seen["nli-swapped"]["pairs"]
    assert {each["label"] for each in swapped} == {"NEUTRAL", "CONTRADICTION", "ENTAILMENT"}
    assert labels(swapped) == labels(ours)
    assert shares(swapped) == pytest.approx(shares(ours), abs=1e-6)
    records = [seen[name]["record"] for name in ("nli", "nli-swapped")]
    verdicts = [
        [claim["supported"] for side in ("response", "reference") for claim in record[side]]
        for record in records
    ]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 5
    assert seen["nli-swapped"]["scores"] == seen["nli"]["scores"]


def test_supported_is_what_is_likeliest_entailed(seen: dict[str, Any]) -> None:
    record = seen["nli"]["record"]
    for claim in (*record["response"], *record["reference"]):
        label, share = claim["why"].split()
        assert claim["supported"] is (label == "entailment")
        assert 1 / 3 <= float(share) <= 1
    assert record["reasons"] == []


def test_batches_do_not_matter(seen: dict[str, Any]) -> None:
    whole = seen["nli"]["pairs"]
    for other in (seen["nli"]["apart"], seen["one by one"]["pairs"]):
        assert labels(other) == labels(whole)
        assert shares(other) == pytest.approx(shares(whole), abs=1e-5)


def test_what_was_cut_off_is_said_and_was_not_read(seen: dict[str, Any]) -> None:
    first, broken, long, longer, empty = seen["nli"]["odd"]
    assert first["window"] is None
    assert (broken["label"], broken["window"]) == (None, None)
    assert "cannot read these texts" in broken["reason"]
    assert (long["window"], longer["window"]) == (128, 128)
    assert longer["probability"] == pytest.approx(long["probability"], abs=1e-6)
    assert empty["label"] is not None


def test_the_signature_says_which_files_and_whose_code(seen: dict[str, Any]) -> None:
    name, files, library, transformers = seen["nli"]["signature"].split("|")
    assert name == "local"
    assert files.startswith("sha256:")
    assert (library.split(":")[0], transformers.split(":")[0]) == ("sentence-transformers", "transformers")
    assert seen["nli-swapped"]["signature"] != seen["nli"]["signature"]


def test_what_is_missing_is_said(seen: dict[str, Any]) -> None:
    said = seen["refusals"]
    assert "does not recognise entailment; its labels are LABEL_0, LABEL_1, LABEL_2" in said["unnamed"]
    assert "Choose another one: a folder on this machine, or a name on the hub" in said["nowhere"]
    assert "claims: cross-encoder/nli-deberta-v3-large is not on this machine" in said["default"]
    assert "torch finds no GPU" in said["gpu"]
