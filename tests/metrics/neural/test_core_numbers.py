"""core gives the same numbers in the neural environment, with numpy 1.26, as in the app's."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.models.neural_environment import ROOT, run_neural

SCRIPT = ROOT / "tests" / "metrics" / "neural" / "core_numbers.py"


def differences(here: Any, there: Any, place: str = "") -> list[str]:
    """Where two JSON values differ by more than 1e-12."""
    if isinstance(here, dict):
        assert here.keys() == there.keys(), place
        return [found for key in here for found in differences(here[key], there[key], f"{place}/{key}")]
    if isinstance(here, list):
        assert len(here) == len(there), place
        return [
            found
            for number, (first, second) in enumerate(zip(here, there, strict=True))
            for found in differences(first, second, f"{place}/{number}")
        ]
    if isinstance(here, float) and isinstance(there, float):
        same = math.isclose(here, there, rel_tol=1e-12, abs_tol=1e-12) or (
            math.isnan(here) and math.isnan(there)
        )
    else:
        same = here == there
    return [] if same else [f"{place}: {here} here, {there} there"]


@pytest.mark.slow
def test_scores_and_correlations_are_the_same_with_another_numpy(neural_python: Path) -> None:
    ran = run_neural(neural_python, SCRIPT)
    assert ran.returncode == 0, ran.stderr[-3000:]
    there = json.loads(ran.stdout)
    command = [sys.executable, SCRIPT]
    with_path = {**os.environ, "PYTHONPATH": str(ROOT)}
    here = json.loads(
        subprocess.run(command, cwd=ROOT, env=with_path, capture_output=True, check=True).stdout
    )
    assert (here["numpy"] >= "2", there["numpy"].startswith("1.26.")) == (True, True)
    assert len(there["found"]["scores"]) == 16
    assert not there["torch"], "the lexical metrics and the statistics never load a model's library"
    assert differences(here["found"], there["found"]) == []


def test_differences_are_seen() -> None:
    assert differences({"a": [1.0, math.nan]}, {"a": [1.0, math.nan]}) == []
    assert differences({"a": [1.0, None]}, {"a": [1.0 + 1e-9, 0.0]}) == [
        "/a/0: 1.0 here, 1.000000001 there",
        "/a/1: None here, 0.0 there",
    ]
