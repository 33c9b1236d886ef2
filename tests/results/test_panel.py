"""Raters and judges side by side, from wide and long tables, files apart and words."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.registry import read_ratings, read_scores
from core.joining.panel import OTHER_RATERS, panel_of
from core.schema.panel import Panel

NAN = float("nan")
WIDE = """item,a,b,c,x,y
q1,1,2,1,1,3
q2,2,,2,2,2
q3,3,3,,3,
"""


def _wide(text: str = WIDE, **asked: Any) -> Panel:
    asked = {"human": ["a", "b", "c"], "judges": ["x", "y"], **asked}
    return read_panel(text.encode(), "wide.csv", **asked)


def test_a_wide_table_names_columns() -> None:
    panel = _wide()
    assert panel.raters == ("a", "b", "c")
    assert panel.judges == ("x", "y")
    assert np.array_equal(panel.ratings, [[1, 2, 1], [2, NAN, 2], [3, 3, NAN]], equal_nan=True)
    assert np.array_equal(panel.scores, [[1, 3], [2, 2], [3, NAN]], equal_nan=True)
    assert [row.item_id for row in panel.rows] == ["q1", "q2", "q3"]
    assert not panel.scale.words
    assert panel.scale.ordered
    assert not panel.left_out


@pytest.mark.parametrize("sign", [";", "\t"])
def test_any_separator_and_any_case(sign: str) -> None:
    panel = _wide(WIDE.replace(",", sign).replace("item", "Item"), human=["A", "B"], judges=["X"])
    assert panel.raters == ("A", "B")
    assert panel.judges == ("X",)
    assert panel.scores.shape == (3, 1)


def test_a_long_table_gives_the_same_panel() -> None:
    wide = _wide()
    rows = ["item,rater,score"]
    for line in WIDE.splitlines()[1:]:
        item, *cells = line.split(",")
        rows += [f"{item},{name},{cell}" for name, cell in zip("abcxy", cells, strict=True)]
    data = "\n".join(rows).encode()
    panel = read_panel(data, "long.csv", judges=["x", "y"])
    assert panel.raters == ("a", "b", "c")
    assert panel.judges == ("x", "y")
    assert np.array_equal(panel.ratings, wide.ratings, equal_nan=True)
    assert np.array_equal(panel.scores, wide.scores, equal_nan=True)
    some = read_panel(data, "long.csv", human=["c", "a"], judges=["x"])
    assert some.raters == ("c", "a")
    assert some.left_out[OTHER_RATERS] == 4


def test_a_long_table_with_the_judge_in_a_column() -> None:
    text = "item,rater,score,x\nq1,a,1,1\nq1,b,2,1\nq2,a,2,2\nq2,b,1,2\n"
    panel = read_panel(text.encode(), "long.csv", judges=["x"])
    assert panel.raters == ("a", "b")
    assert panel.scores.ravel().tolist() == [1, 2]


def test_judges_in_files_apart() -> None:
    ratings = read_ratings(b"item,rater,score\nq1,a,1\nq1,b,2\nq2,a,2\nq9,a,2\n", "ratings.csv")
    table = read_scores(b"item,x,y\nq1,1,5\nq2,2,4\nq3,3,3\n", "scores.csv")
    panel = panel_of(ratings, [table], judges=["y"])
    assert panel.judges == ("y",)
    assert [row.item_id for row in panel.rows] == ["q1", "q2", "q3"]
    assert np.array_equal(panel.ratings, [[1, 2], [2, NAN], [NAN, NAN]], equal_nan=True)
    assert sum(panel.left_out.values()) == 1
    assert panel_of(ratings, [table]).judges == ("x", "y")


def test_words_of_a_scale_are_ordered_and_other_words_are_not() -> None:
    panel = _wide("item,a,b,x\nq1,Pass,fail,pass\nq2,fail,,fail\n", human=["a", "b"], judges=["x"])
    assert panel.scale.words == {0: "fail", 1: "Pass"}
    assert panel.scale.ordered
    assert np.array_equal(panel.ratings, [[1, 0], [0, NAN]], equal_nan=True)
    panel = _wide("item,a,b,x\nq1,blue,Red,red\nq2,red,,blue\n", human=["a", "b"], judges=["x"])
    assert not panel.scale.ordered
    assert list(panel.scale.words) == [0, 1]
    assert panel.ratings[0].tolist() == [0, 1]
    assert panel.scores.ravel().tolist() == [1, 0]
    long = "item,rater,score\nq1,a,blue\nq1,b,red\nq1,x,red\n"
    panel = read_panel(long.encode(), "long.csv", judges=["x"])
    assert not panel.scale.ordered
    assert panel.ratings.tolist() == [[0, 1]]
    assert panel.scores.tolist() == [[1]]


def test_columns_with_names_that_mean_something_else() -> None:
    text = "id,rating,score,model,text\nq1,1,2,m1,one\nq1,2,2,m2,two\n"
    panel = _wide(text, human=["rating"], judges=["score"])
    assert panel.ratings.ravel().tolist() == [1, 2]
    assert panel.scores.ravel().tolist() == [2, 2]
    assert panel.items.tolist() == [0, 0]


def test_systems_items_and_clusters_are_columns_on_request() -> None:
    text = "key,who,y,x\nd1,s1,1,1\nd1,s1,0,1\nd2,s2,,0\n"
    panel = read_panel(text.encode(), "t.csv", human=["y"], judges=["x"], system_column="who", item="key")
    assert panel.systems.tolist() == ["s1", "s1", "s2"]
    assert panel.items.tolist() == [0, 0, 1]
    panel = read_panel(b"y,x\n1,1\n0,1\n", "t.csv", human=["y"], judges=["x"])
    assert panel.items.tolist() == [0, 1]


def test_texts_tell_rows_of_an_item_apart() -> None:
    text = "item,text,a,b,x\nq1,one,1,2,1\nq1,two,2,2,1\n"
    panel = _wide(text, human=["a", "b"], judges=["x"])
    assert len(panel.rows) == 2
    assert panel.items.tolist() == [0, 0]


def test_a_repeated_rating_is_an_error_that_names_it() -> None:
    with pytest.raises(InputError) as wide:
        _wide("item,a,b,x,y\nq1,1,2,1,1\nq1,2,2,1,1\nq2,1,3,1,1\n", human=["a", "b"])
    assert any("line 3" in one and "q1" in one for one in wide.value.problems)
    with pytest.raises(InputError) as long:
        read_panel(b"item,rater,score\nq1,a,1\nq1,a,2\n", "long.csv")
    assert any("line 3" in one for one in long.value.problems)
    ratings = read_ratings(b"item,system,rater,score\nq1,s,a,1\nq1,t,a,2\n", "ratings.csv")
    with pytest.raises(InputError) as several:
        panel_of(ratings, [read_scores(b"item,x\nq1,1\n", "scores.csv")])
    assert "q1" in several.value.problems[0]
    assert "rater a" in several.value.problems[0]


def test_unknown_names_are_all_listed() -> None:
    with pytest.raises(InputError) as found:
        _wide(human=["a", "bb"], judges=["z"])
    assert len(found.value.problems) == 2
    with pytest.raises(InputError):
        read_panel(b"item,rater,score\nq1,a,1\n", "long.csv", human=["nobody"])


def test_times_and_comments_of_ratings_do_not_tell_texts_apart() -> None:
    rows = [
        {"item": "q1", "rater": "a", "score": 1, "took": "3"},
        {"item": "q1", "rater": "b", "score": 2, "took": "5"},
    ]
    panel = read_panel("\n".join(map(json.dumps, rows)).encode(), "long.jsonl")
    assert panel.ratings.tolist() == [[1, 2]]
    assert panel.judges == ()


def test_parquet_and_a_data_frame_s_lines_give_the_same_panel(tmp_path: Path) -> None:
    frame, wide = pd.read_csv(io.StringIO(WIDE)), _wide()
    frame.to_parquet(tmp_path / "wide.parquet")
    frame.to_json(tmp_path / "wide.jsonl", orient="records", lines=True)
    for name in ("wide.parquet", "wide.jsonl"):
        data = (tmp_path / name).read_bytes()
        panel = read_panel(data, name, human=["a", "b", "c"], judges=["x", "y"])
        assert np.array_equal(panel.ratings, wide.ratings, equal_nan=True)
        assert np.array_equal(panel.scores, wide.scores, equal_nan=True)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (WIDE, {"human": None, "judges": ["x"]}),  # no column names raters
        (WIDE, {"human": ["a", "a"], "judges": ["x"]}),
        (WIDE, {"human": ["a", "b"], "judges": ["a"]}),
        (WIDE, {"human": ["a", "A"], "judges": ["x"]}),
        ("item,a,b,x\n", {"human": ["a", "b"], "judges": ["x"]}),
    ],
)
def test_unclear_names_and_empty_files_are_one_clear_error(text: str, asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        _wide(text, **asked)


def test_a_judge_on_another_scale_is_noted() -> None:
    panel = _wide("item,a,b,x\nq1,1,2,80\nq2,2,1,90\n", human=["a", "b"], judges=["x"])
    assert any("x" in note and "scale" in note for note in panel.notes)
