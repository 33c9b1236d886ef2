"""Every reader stops before it makes more of a file than the budget allows."""

import gc
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from helpers.texts import hostile_files
from helpers.texts.hostile_files import HOSTILE, read_everywhere

from core.budget import Budget, OverBudget, budget_set, json_values

SMALL = Budget(rows=1_000, columns=500, values=5_000, bytes=2_000_000, members=200)
N = 100_000
MOST_TRACED = 10_000_000
"""Bytes at the peak of a reading: the content a few times, but not 100,000 objects at six doors."""
MOST_MIB = 1.5e9 / 2**20


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_bound_fires_before_the_objects_are_made(kind: str) -> None:
    name, make = HOSTILE[kind]
    data = make(N)
    with budget_set(SMALL):
        read_everywhere(make(3), name)  # loads libraries
        gc.collect()
        tracemalloc.start()
        try:
            found = read_everywhere(data, name)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    stopped = [one for one in found if isinstance(one, OverBudget)]
    assert stopped
    assert all(found)  # no door reads it
    for one in stopped:
        assert one.what.startswith(name)
        assert "ASSAY_MOST_" in "".join(one.problems)
    assert peak < MOST_TRACED


@pytest.mark.parametrize(
    ("text", "n"), [("[1, 2]", 2), ('{"a": "[,:{"}', 2), ('"' + "," * 50, 0), ('["\\",,,"]', 1), ("[[[", 3)]
)
def test_marks_inside_strings_are_no_values(text: str, n: int) -> None:
    assert json_values(text, 3) == n
    assert json_values(text.encode(), 3) == n
    assert json_values("[" * 1_000, 3) == 4  # counting stops


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("n", [900_000, 12_000_000])
def test_no_file_takes_more_than_the_memory_promised(kind: str, n: int, tmp_path: Path) -> None:
    """Just below the bound of rows, and above those of values and bytes."""
    made = tmp_path / "file"
    script = [sys.executable, hostile_files.__file__, kind]
    subprocess.run([*script, str(n), made], check=True)
    done = subprocess.run([*script, "0", made], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["peak"] < MOST_MIB
