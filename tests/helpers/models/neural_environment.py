"""The neural environment for tests: its Python, and tiny models for every family, made there once a session.

The tests' own environment has no torch, so whatever needs it is a child process.
tests/conftest.py imports the fixtures, so that there is one of each in a session.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def find_neural_python() -> Path | None:
    """ASSAY_NEURAL_PYTHON, else the environment that `./run --with neural` made; None: neither."""
    given = os.environ.get("ASSAY_NEURAL_PYTHON")
    python = Path(given) if given else ROOT / ".venv-neural" / "bin" / "python"
    return python if python.exists() else None


@pytest.fixture(scope="session")
def neural_python() -> Path:
    python = find_neural_python()
    if python is None:
        pytest.skip("needs .venv-neural: `./run --with neural --setup` makes it, or set ASSAY_NEURAL_PYTHON")
    return python


def run_neural(
    python: Path, *arguments: str | Path, timeout: float = 300, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A script or module in the neural environment, away from the model hub unless `variables` say otherwise."""
    threads = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [python, *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            **threads,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="session")
def tiny_metric_models(neural_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tiny models by family; see tests/helpers/models/tiny_metric_models.py."""
    folder = tmp_path_factory.mktemp("metric-models")
    made = run_neural(neural_python, Path(__file__).with_name("tiny_metric_models.py"), folder)
    assert made.returncode == 0, made.stderr[-3000:]
    return folder
