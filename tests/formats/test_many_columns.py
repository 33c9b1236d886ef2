"""Wide and long files: headers are read in linear time, and messages stay short whatever a file holds."""

import json
import time
from collections.abc import Callable

import pytest

from core.errors import InputError
from core.formats.registry import read_questions, read_ratings, read_scores, read_texts
from core.formats.study.files import read_dataset
from core.tables.problems import MOST_LISTED, listed

N_COLUMNS = 12_000
MOST_SECONDS = 5
"""Of CPU, for all readers; what takes the square takes twice as long."""
LONGEST = 2_000
"""Characters of a message about columns."""
NAMES = [f"c{number}" for number in range(N_COLUMNS)]
READERS: tuple[Callable[[bytes, str], object], ...] = (
    read_dataset,
    read_questions,
    read_texts,
    read_ratings,
    read_scores,
)


def wide(header: list[str], value: str) -> bytes:
    return f"{','.join(header)}\n{','.join(['a'] * 2 + [value] * (len(header) - 2))}\n".encode()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(wide(["item_id", "system", *NAMES], "0.5"), id="numbers"),
        pytest.param(wide(["item_id", "system", *NAMES], "x y"), id="words"),
        pytest.param(wide(["item_id", "system", *["same"] * N_COLUMNS], "0.5"), id="one name"),
        pytest.param(wide(NAMES, "0.5"), id="no id"),
    ],
)
def test_headers_are_read_in_linear_time(data: bytes) -> None:
    began, refused = time.process_time(), []
    for read in READERS:
        try:
            read(data, "a.csv")
        except InputError as error:
            refused.append(error)
    assert time.process_time() - began < MOST_SECONDS
    for error in refused:
        assert error.n_problems < 10
        assert len(str(error)) < LONGEST


@pytest.mark.slow
def test_a_metric_a_row_is_read_in_linear_time() -> None:
    rows = "".join(f"a,m{number},0.5\n" for number in range(5 * N_COLUMNS))
    began = time.process_time()
    assert len(read_scores(f"item_id,metric,score\n{rows}".encode(), "a.csv").metrics) == 5 * N_COLUMNS
    assert time.process_time() - began < MOST_SECONDS


def test_of_many_columns_the_likely_ones_are_named() -> None:
    assert listed(["a", "", "b"]) == "a, (no name), b"
    assert listed(NAMES[: MOST_LISTED + 1]).startswith(f"{MOST_LISTED + 1}, among them c0, c1")
    with pytest.raises(InputError) as caught:
        read_texts(wide([*NAMES, "item-ids", "output"], "a"), "a.csv")
    (problem,) = caught.value.problems
    assert f"the file has: {N_COLUMNS + 2:,}, among them" in problem
    assert "item-ids" in problem
    with pytest.raises(InputError) as caught:
        read_dataset(wide([*NAMES, "questoin"], "a"), "a.csv")
    assert any("questoin" in problem for problem in caught.value.problems)


def test_ignored_columns_are_counted() -> None:
    row = {"item_id": "a", "question": "q", "reference": "r", **dict.fromkeys(NAMES, "x")}
    notes = read_questions(json.dumps(row).encode(), "a.jsonl").notes
    assert len(notes) == 1
    assert f"{N_COLUMNS:,}, among them c0" in notes[0]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_many_bad_rows_are_counted(suffix: str) -> None:
    header = "item_id,question,reference,level,source,text\n" if suffix == ".csv" else ""
    with pytest.raises(InputError) as caught:
        read_dataset((header + "x\n" * 100_000).encode(), f"a{suffix}")
    assert len(caught.value.problems) == 1, "the same problem is told once"
    assert caught.value.n_problems >= 100_000
    assert "100,0" in caught.value.what
