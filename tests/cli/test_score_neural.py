"""`score` with neural metrics: from the app's Python into .venv-neural, with tiny models made by the tests."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.models.neural_environment import ROOT, run_neural

from core.formats.registry import read_scores

pytestmark = pytest.mark.slow


def texts(folder: Path) -> Path:
    path = folder / "texts.jsonl"
    rows = [
        {
            "item_id": f"q{item}",
            "system": "one",
            "level": str(level),
            "text": "the old mill burned down in May"[: 31 - 5 * level],
            "reference": f"the old mill number {item} burned down",
        }
        for item in range(12)
        for level in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_command_of_the_app_scores_where_the_libraries_are(
    neural_python: Path, tiny_metric_models: Path, tmp_path: Path
) -> None:
    """Interrupted after its first items and resumed, with another batch size: the same scores."""
    file, bert = texts(tmp_path), tiny_metric_models / "bert"
    arguments = [
        *("-m", "core", "score", str(file), "--metrics", "bleu-1,bertscore-en-l5", "--device", "cpu"),
        *("--model", f"bertscore-en-l5={bert}"),
    ]
    first = [*arguments, "--out", str(tmp_path / "one.csv"), "--db", str(tmp_path / "one.db")]
    ended = run_neural(Path(sys.executable), *first, "--limit", "5", ASSAY_NEURAL_PYTHON=str(neural_python))
    assert ended.returncode == 0, ended.stderr
    assert len(read_scores((tmp_path / "one.csv").read_bytes(), "one.csv").rows) == 15
    ended = run_neural(
        Path(sys.executable), *first, "--resume", "--batch-size", "3", ASSAY_NEURAL_PYTHON=str(neural_python)
    )
    assert ended.returncode == 0, ended.stderr
    other = [*arguments, "--out", str(tmp_path / "two.csv"), "--db", str(tmp_path / "two.db")]
    ended = run_neural(Path(sys.executable), *other, ASSAY_NEURAL_PYTHON=str(neural_python))
    assert ended.returncode == 0, ended.stderr
    assert "Cost of neural metrics: 36 different texts scored" in ended.stdout
    one, two = (read_scores((tmp_path / f"{name}.csv").read_bytes(), name) for name in ("one", "two"))
    assert one.rows == two.rows
    assert one.metrics == two.metrics
    assert "sha256:" in one.metrics[1].signature
    np.testing.assert_allclose(one.values, two.values, atol=1e-5)
    assert not np.isnan(one.values).any()


def test_models_that_cannot_be_had_are_named_together_and_leave_no_run(
    neural_python: Path, tmp_path: Path
) -> None:
    ended = run_neural(
        Path(sys.executable),
        *("-m", "core", "score", str(texts(tmp_path)), "--metrics", "bertscore-en,bleurt-tiny-128"),
        *("--out", str(tmp_path / "s.csv"), "--db", str(tmp_path / "a.db"), "--device", "cpu"),
        ASSAY_NEURAL_PYTHON=str(neural_python),
        HF_HOME=str(tmp_path / "empty"),
    )
    assert ended.returncode == 2
    for part in ("bertscore-en", "bleurt-tiny-128", "METRIC=PATH"):
        assert part in ended.stderr
    assert "Traceback" not in ended.stderr
    listed = subprocess.run(
        [sys.executable, "-m", "core", "runs", "list", "--db", str(tmp_path / "a.db")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "No runs yet" in listed.stdout
