"""`judge claims --nli`: from the app's Python into .venv-neural, with a tiny entailment model made by the tests."""

import json
import sys
from pathlib import Path

import pytest
from helpers.models.neural_environment import run_neural
from helpers.texts.judge_runs import LEVELS, texts

from core.judges.claims import ClaimsRecord
from core.runs.records import read_judge_folder

pytestmark = pytest.mark.slow


def test_a_command_of_the_app_verifies_claims_where_the_library_is(
    neural_python: Path, tiny_metric_models: Path, tmp_path: Path
) -> None:
    """Two items first, the third one with --resume; every claim has the label of the entailment model."""
    (tmp_path / "mills.jsonl").write_bytes(texts(3))
    command = [
        *("-m", "core", "judge", "claims", str(tmp_path / "mills.jsonl"), "--backend", "rules"),
        *("--nli", str(tiny_metric_models / "nli"), "--device", "cpu", "--contradictions"),
        *("--out", str(tmp_path / "out"), "--db", str(tmp_path / "assay.db")),
    ]
    said = []
    for more in (["--limit", "2"], ["--resume"]):
        ended = run_neural(Path(sys.executable), *command, *more, ASSAY_NEURAL_PYTHON=str(neural_python))
        assert ended.returncode == 0, ended.stderr[-3000:]
        said.append(ended.stdout)
    assert "2 of 2 items complete" in said[0]
    assert "3 of 3 items complete" in said[1]
    assert said[0].count("a stand-in") == 1
    output = read_judge_folder(tmp_path / "out")
    assert len(output.texts) == 3 * len(LEVELS)
    for text in output.texts:
        assert isinstance(text.record, ClaimsRecord)
        claims = [*(text.record.response or ()), *(text.record.reference or ())]
        assert claims
        assert all(claim.supported is not None and claim.why for claim in claims)
        assert text.record.contradictions is not None, "searched, with or without a find"
    said_of = json.loads((tmp_path / "out" / "run.json").read_bytes())["settings"]
    assert said_of["claims"]["verifier"] == "nli"
