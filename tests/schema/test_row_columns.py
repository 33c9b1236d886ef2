"""Rows in columns are the rows: the same sequence, and the same answers to every question about a column."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.joining.choices import group_columns, has_column, items_of, keys_of, names_of, rows_at, rows_by
from core.schema.row_columns import Ratings, ScoredRows, coded, combined, named_column
from core.schema.scores import ErrorSpan, Rating, ScoredRow, ScoreTable

NAMES = st.sampled_from(["a", "b", "output", "answer 1 (masked 0123abcd)"])
LABELS = st.dictionaries(st.sampled_from(["dataset", "topic"]), st.sampled_from(["x", "y", ""]))
ABOUT: dict[str, st.SearchStrategy[Any]] = {
    "item_id": st.sampled_from(["q1", "q2"]),
    "level": st.sampled_from(["A0", "0", "A1", None]),
    "language": st.sampled_from(["en", "und"]),
    "labels": LABELS,
}
SCORED = st.lists(st.builds(ScoredRow, system=NAMES, **ABOUT), max_size=6).map(tuple)
RATED = st.lists(
    st.builds(
        Rating,
        system=st.none() | NAMES,
        score=st.floats(-5, 5),
        rater=st.sampled_from(["r", None]),
        dimension=st.sampled_from(["overall", "style"]),
        spans=st.none() | st.just(()) | st.just((ErrorSpan(0, 1, "minor", "style"),)),
        **ABOUT,
    ),
    max_size=6,
).map(tuple)
COLUMNS = ("item", "system", "level", "language", "dataset", "topic")


def check_same_sequence(rows: Sequence[Any], columns: Any) -> None:
    assert columns == rows
    assert rows == columns
    assert [*columns] == [*rows]
    assert [columns[at] for at in range(-len(rows), len(rows))] == [*rows, *rows]
    assert columns[1:4] == rows[1:4]
    assert columns.take(np.arange(len(rows)) % 2 == 0) == rows[::2]
    assert pickle.loads(pickle.dumps(columns)) == rows
    assert (columns == (*rows, None)) is False
    for name in COLUMNS:
        assert [*named_column(columns, name).cells()] == [*named_column(rows, name).cells()]
        assert has_column(columns, name) == has_column(rows, name)
        assert names_of(columns, name).tolist() == names_of(rows, name).tolist()
    assert items_of(columns).tolist() == items_of(rows).tolist()
    assert keys_of(columns, COLUMNS) == keys_of(rows, COLUMNS)
    assert rows_by(columns, COLUMNS[1:3]) == rows_by(rows, COLUMNS[1:3])


@given(SCORED)
def test_scored_rows(rows: tuple[ScoredRow, ...]) -> None:
    columns = ScoredRows.of(rows)
    check_same_sequence(rows, columns)
    values = np.arange(len(rows), dtype=np.float64)[:, None][:, :0]
    tables = [ScoreTable(own, (), values) for own in (rows, columns)]
    assert group_columns(tables[0]) == group_columns(tables[1])
    last_first = range(len(rows))[::-1]
    assert rows_at(tables[0], last_first).rows == rows_at(tables[1], last_first).rows == rows[::-1]


@given(RATED)
def test_ratings(rows: tuple[Rating, ...]) -> None:
    check_same_sequence(rows, Ratings.of(rows))


def test_a_column_stores_each_cell_once() -> None:
    column = coded(["x", None, "x", "y"])
    assert column.words == ("x", None, "y")
    assert column.take([3, 0, 3]).distinct() == ["y", "x"]
    assert column.is_in({"x"}).tolist() == [True, False, True, False]


def test_combinations_are_numbered_in_order_of_first_appearance() -> None:
    codes, first = combined([coded("bbaab"), coded("xyxxx")])
    assert codes.tolist() == [0, 1, 2, 2, 0]
    assert first.tolist() == [0, 1, 2]
