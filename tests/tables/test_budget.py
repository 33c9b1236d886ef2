"""Every reader stops before it makes more of a file than the budget allows."""

import gc
import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import pytest
from helpers.texts import hostile_files
from helpers.texts.hostile_files import HONEST, HOSTILE, read_everywhere

from core.budget import Budget, OverBudget, budget_set, json_values
from core.tables.problems import FileFindings
from core.tables.streaming import TableFile, head_of

SMALL = Budget(rows=1_000, columns=500, values=5_000, bytes=2_000_000, members=200)
N = 100_000
MOST_TRACED = 10_000_000
"""Bytes at the peak of a reading: the content a few times, but not 100,000 objects at six doors."""
MOST_MIB = 1.5e9 / 2**20
PART = 3
"""What memory is measured at: the bounds over this. Of a file's objects a process takes as many times less, of itself nothing."""
OF_A_PROCESS = 250
"""MiB that a process takes before it reads."""


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
    ("text", "n"),
    [("[1, 2]", 2), ('{"a": "[,:{"}', 6), ('"' + "," * 50, 0), ('["\\",,,,,,,"]', 1), ("[[[", 3)],
)
def test_marks_inside_strings_are_no_values(text: str, n: int) -> None:
    assert json_values(text, 6) == n
    assert json_values(text.encode(), 6) == n
    assert json_values("[" * 1_000, 6) == 7  # counting stops


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_file_takes_more_than_the_memory_promised(kind: str, tmp_path: Path) -> None:
    """Just below the bound of rows."""
    _, peak = read_apart(kind, 900_000 // PART, tmp_path, PART)
    assert peak < OF_A_PROCESS + (MOST_MIB - OF_A_PROCESS) / PART


@pytest.mark.slow
@pytest.mark.parametrize("kind", HONEST)
def test_a_hundred_thousand_rows_with_sixteen_scores_fit_in_every_format(kind: str, tmp_path: Path) -> None:
    said, peak = read_apart(kind, 100_000, tmp_path)
    assert said == [100_000, 16]
    assert peak < MOST_MIB


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_big_table_has_no_bound_of_rows(form: Literal["csv", "jsonl", "parquet"], tmp_path: Path) -> None:
    """As the million-row file: only the rows at hand count, so the bounds are those of a few."""
    path = tmp_path / "t"
    path.write_bytes(HONEST[{"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}[form]][1](5_000))
    with budget_set(Budget(rows=100, columns=20, values=150_000)):
        table, known = TableFile(path, form), {"item_id": ("item_id",)}
        assert sum(1 for _ in table.records(table.survey(known), known, FileFindings("t", ""))) == 5_000


def test_a_line_of_a_big_table_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"item_id,text\n" + b"1,a\n" * 500_000 + b"2," + b"a" * 3_000_000)
    with budget_set(Budget(bytes=2_000_000)):
        table, known = TableFile(path, "csv"), {"item_id": ("item_id",)}
        with pytest.raises(OverBudget):
            table.survey(known)
        path.write_bytes(b"a" * 3_000_000)
        with pytest.raises(OverBudget):
            head_of(path)


def read_apart(kind: str, n: int, folder: Path, part: int = 1) -> tuple[list[object], float]:
    """What doors say of a file that makes about n objects, and the peak in MiB of the process that reads it.

    part: by which the bounds are divided.
    """
    bounds = {f"ASSAY_MOST_{name.upper()}": str(most // part) for name, most in asdict(Budget()).items()}
    script = [sys.executable, hostile_files.__file__, kind]
    subprocess.run([*script, str(n), folder / "file"], check=True)
    done = subprocess.run(
        [*script, "0", folder / "file"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **bounds},
    )
    told = json.loads(done.stdout)
    return told["said"], told["peak"]
