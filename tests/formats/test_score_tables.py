"""Score tables: long and wide, in and out without a loss, 003's results, and what is no score."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers.processes.traced_memory import traced_memory
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.formats.registry import read_scores
from core.formats.scores import (
    NO_SCORE,
    family_of,
    write_scores_csv,
    write_scores_jsonl,
    write_scores_parquet,
)
from core.schema.scores import Metric, ScoredRow, ScoreTable, signature_from_folder
from core.tables.columns import level_number
from core.tables.mapping import classes_of
from core.tables.writer import csv_bytes

WRITERS: dict[str, Callable[..., bytes]] = {
    "csv": write_scores_csv,
    "jsonl": write_scores_jsonl,
    "parquet": write_scores_parquet,
}


def small() -> ScoreTable:
    rows = (
        ScoredRow("q1", "tiny", "0", "en", {"dataset": "Demo", "wave": "3"}),
        ScoredRow("q1", "tiny", "5", "en", {"dataset": "Demo", "wave": "3"}),
        ScoredRow("=q2", "-tiny", None, "und", {"language_pair": "en-de", "score": "x"}),
    )
    metrics = (
        Metric("bleu-4", "BLEU|order:4|smooth:add-1", "BLEU"),
        Metric("TER", "TER|case:lc", "TER", "lower"),
        Metric("rouge-4", "ROUGE|n:4", "ROUGE"),
        Metric("shots", "", "other"),
    )
    values = np.array(
        [[0.1 + 0.2, -1e-300, math.nan, 1.0], [1 / 3, 7.0, math.nan, 2.0], [5e22, math.nan, math.nan, -0.0]]
    )
    reasons = {
        (0, 2): "fewer than 4 words",
        (1, 2): "fewer than 4 words",
        (2, 2): "=no, 4-grams",
        (2, 1): "no words",
    }
    return ScoreTable(rows, metrics, values, reasons)


def same_scores(one: ScoreTable, other: ScoreTable) -> bool:
    return (
        one.rows == other.rows
        and [(m.name, m.direction) for m in one.metrics] == [(m.name, m.direction) for m in other.metrics]
        and one.values.tobytes() == other.values.tobytes()
    )


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("kind", list(WRITERS))
def test_what_is_written_is_read_again_bit_by_bit(kind: str, shape: str) -> None:
    table = small()
    found = read_scores(WRITERS[kind](table, shape), f"scores.{kind}")
    assert same_scores(found, table)
    if shape == "long" or kind == "parquet":
        assert (found.metrics, found.reasons) == (table.metrics, table.reasons)
    else:
        assert set(found.reasons) == set(table.reasons)
        assert set(found.reasons.values()) == {NO_SCORE}


NAMES = (
    st.text(
        st.characters(categories=("L", "N", "P", "S", "Zs"), max_codepoint=0x2FFF), min_size=1, max_size=12
    )
    .map(str.strip)
    .filter(bool)
)


@given(
    st.lists(NAMES, min_size=1, max_size=3, unique_by=str.lower),
    st.dictionaries(NAMES, NAMES, max_size=2),
    st.sampled_from(list(WRITERS)),
    st.sampled_from(["long", "wide"]),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_any_names_and_numbers_come_back(
    names: list[str], labels: dict[str, str], kind: str, shape: str, data: st.DataObject
) -> None:
    lower = [name.lower() for name in (*labels, *names)]
    if len(set(lower)) < len(lower):
        return  # a table's header does not tell cases apart
    if any(classes_of([value]) is not None for value in labels.values()):
        return  # where no column has numbers, one with words of a scale is a metric
    number = st.one_of(st.just(math.nan), st.floats(allow_nan=False, allow_infinity=False))
    values = np.array([[data.draw(number) for _ in names] for _ in range(2)])
    rows = tuple(ScoredRow(f"q{row}", "tiny", str(row), "en", labels) for row in range(2))
    metrics = tuple(
        Metric(name, "s", family_of(name), data.draw(st.sampled_from(["higher", "lower"]))) for name in names
    )
    reasons = {(int(r), int(m)): "no words" for r, m in zip(*np.nonzero(np.isnan(values)), strict=True)}
    table = ScoreTable(rows, metrics, values, reasons)
    found = read_scores(WRITERS[kind](table, shape), f"x.{kind}")
    assert same_scores(found, table)


@pytest.mark.parametrize("kind", list(WRITERS))
@pytest.mark.parametrize("name", ["Rater0", "annotator 2", "human", "expert_1"])
def test_a_metric_with_the_name_of_a_person_comes_back(kind: str, name: str) -> None:
    table = small()
    table = replace(table, metrics=(replace(table.metrics[0], name=name), *table.metrics[1:]))
    assert same_scores(read_scores(WRITERS[kind](table, "wide"), f"scores.{kind}"), table)


def test_results_as_003_publishes_them() -> None:
    lines = [
        {"type": "fast-fc", "id": 7, "question": "Why?", "answer": "So.", "level": "A0", "result": 0.75},
        {"type": "fast-fc", "id": 7, "question": "Why?", "answer": "No.", "level": "A1", "result": "0.5"},
        {"type": "judge", "id": 7, "question": "Why?", "answer": "No.", "level": "A1", "result": None},
        {
            "type": "judge",
            "id": 7,
            "question": "Why?",
            "answer": "So.",
            "level": "A0",
            "result": "Fine. [RESULT] 4",
        },
        {
            "type": "judge",
            "id": 7,
            "question": "Why?",
            "answer": "?",
            "level": "A2",
            "result": "I cannot say.",
        },
    ]
    table = read_scores("\n".join(map(json.dumps, lines)).encode(), "eval.jsonl")
    assert [metric.name for metric in table.metrics] == ["result"]
    assert [(row.item_id, row.level, row.labels) for row in table.rows[:2]] == [
        ("7", "A0", {"type": "fast-fc"}),
        ("7", "A1", {"type": "fast-fc"}),
    ]
    assert table.values[[0, 1, 3], 0].tolist() == [0.75, 0.5, 4.0]
    assert table.reasons == {(2, 0): "no score in the file", (4, 0): "the result contains no number"}


def test_a_wide_table_of_another_program() -> None:
    data = (
        "Unnamed: 0;Segment;system;level;shots;BLEU;chrF;TER (lower is better);metric:best\n"
        "0;1;GPT;0;5;12,5;;3;\n1;2;GPT;0;0;nan;0.5;4;\n"
    ).replace("12,5", "12.5")
    table = read_scores(data.encode(), "x.csv")
    assert [(m.name, m.family, m.direction) for m in table.metrics] == [
        ("BLEU", "BLEU", "higher"),
        ("chrF", "chrF", "higher"),
        ("TER", "TER", "lower"),
        ("best", "other", "higher"),
    ]
    assert table.rows[0] == ScoredRow("1", "GPT", "0", "und", {"shots": "5"})
    assert np.isnan(table.values).tolist() == [[False, True, False, True], [True, False, False, True]]


def test_only_a_score_column_is_a_metric_of_that_name() -> None:
    table = read_scores(b"item,system,score\n1,a,0.5\n2,a,inf\n", "x.csv")
    assert [metric.name for metric in table.metrics] == ["score"]
    assert table.reasons == {(1, 0): "infinite in the file"}


def test_a_cell_that_is_no_number_is_a_problem_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        read_scores(b"item,bleu,chrf\n1,0.5,0.1\n2,high,0.2\n3,0.7,\xd9\xa3\n4,1_0,0x1\n5,1,2\n", "x.csv")
    assert caught.value.problems == (
        'line 3: bleu is "high", expected a number',
        'line 4: chrf is "٣", expected a number',
        'line 5: bleu is "1_0", expected a number',
        'line 5: chrf is "0x1", expected a number',
    )


def test_a_decimal_comma_is_a_problem_that_says_so() -> None:
    for column in ("bleu", "result"):
        with pytest.raises(InputError, match='is "0,5", expected a number with a decimal point'):
            read_scores(f'item,x,{column}\n1,1,"0,5"\n2,1,1\n3,1,1\n'.encode(), "x.csv")


def test_rows_that_come_twice_are_problems() -> None:
    with pytest.raises(InputError, match="line 4: the same item, system, level and labels as in line 2"):
        read_scores(b"item,level,bleu\n1,0,1\n1,1,1\n1,0,2\n", "x.csv")
    with pytest.raises(InputError, match="line 3: the same text and metric bleu as in line 2"):
        read_scores(b"item,metric,score\n1,bleu,1\n1,bleu,2\n", "x.csv")


def test_a_metric_that_is_two_things_is_a_problem() -> None:
    with pytest.raises(InputError) as caught:
        read_scores(b"item,metric,score,direction\n1,ter,1,lower\n2,ter,1,\n3,x,1,up\n", "x.csv")
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["line 3", "line 4"]


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"system,bleu\na,1\n", "x.csv", "column item_id is missing"),
        (b"item,note\n1,x\n", "x.csv", "contains no score"),
        (b"PAR1 and no more", "x.parquet", "not readable as Parquet"),
        (b'{"item": 1, "bleu": 1', "x.jsonl", "not valid JSON"),
        (b"[1, 2]", "x.json", "expected an object"),
    ],
)
def test_files_that_are_no_table_of_scores(data: bytes, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_scores(data, name)


def test_a_parquet_file_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"item": [1, 2], "level": [0, 3], "bleu": [0.5, None], "domain": ["news", None]})
    table = read_scores(frame.to_parquet(), "x.parquet")
    assert table.rows == (
        ScoredRow("1", "output", "0", "und", {"domain": "news"}),
        ScoredRow("2", "output", "3", "und", {}),
    )
    assert table.values[0, 0] == 0.5
    assert table.reasons == {(1, 0): NO_SCORE}


def test_a_doubled_column_of_parquet_is_a_problem() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"item": [1], "Level": ["0"], "level": ["3"], "bleu": [0.5]})
    with pytest.raises(InputError) as caught:
        read_scores(frame.to_parquet(), "x.parquet")
    assert caught.value.problems == ("row 1: level appears more than once, here as level",)


def test_a_direction_that_a_folder_did_not_state_is_not_written() -> None:
    metrics = (Metric("TER", signature_from_folder("TER-refA", "wmt"), "TER"), Metric("x", "X|y:1", "other"))
    table = ScoreTable((ScoredRow("1", "a"),), metrics, np.array([[0.5, 1.0]]))
    written = write_scores_jsonl(table)
    assert [json.loads(line)["direction"] for line in written.splitlines()] == [None, "higher"]
    assert read_scores(written, "x.jsonl").metrics == metrics


def test_no_cell_of_a_csv_is_a_formula() -> None:
    data = write_scores_csv(small()).decode()
    assert ",=" not in data
    assert "\n=" not in data


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("A0", 0),
        ("A4", 4),
        ("3", 3),
        ("L0", 0),
        ("level 2", 2),
        (" 5 ", 5),
        ("2.5", 2.5),
        ("low", None),
        (None, None),
    ],
)
def test_levels_as_numbers(name: str | None, number: float | None) -> None:
    assert level_number(name) == number


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("bleu-4", "BLEU"),
        ("sacreBLEU", "BLEU"),
        ("BLEURT-20", "BLEURT"),
        ("chrF++", "chrF"),
        ("XCOMET-Ensemble", "COMET"),
        ("BERTscore", "BERTScore"),
        ("MetricX-23", "other"),
        ("TER", "TER"),
        ("TERp", "other"),
    ],
)
def test_families_by_name(name: str, family: str) -> None:
    assert family_of(name) == family


def test_long_csv_is_what_a_row_by_row_writer_makes() -> None:
    """Parts of a line are written once and put together: no cell may change by that."""
    nasty = ("=1+1", 'say "no", never', "two\nlines", "", "'-2", "漢字 ", "a,b")
    table = ScoreTable(
        rows=tuple(ScoredRow(text or "-", text, text or None, "en", {"shots": text}) for text in nasty),
        metrics=(Metric("=m,1", 'M|"x"', "BLEU"), Metric("ter", "TER|a,b", "TER", "lower")),
        values=np.array([[0.1 + 0.2, np.nan], [1e-17, -3.0]] * 3 + [[np.nan, 12345678.9]]),
        reasons={(0, 1): "=no, never", (2, 1): 'the "reference"', (6, 0): ""},
    )
    rows = [json.loads(line) for line in write_scores_jsonl(table).decode().split("\n") if line]
    columns = write_scores_csv(table).split(b"\r\n")[0].decode().split(",")
    assert write_scores_csv(table) == csv_bytes(columns, rows)


def test_a_wide_csv_of_numbers_takes_little_more_room_than_its_text() -> None:
    """An object a cell would take 400 bytes."""
    header = ",".join(["item", "system", *(f"m{number}" for number in range(16))])
    values = np.random.default_rng(0).normal(size=(5_000, 16)).tolist()
    lines = [f"q{at},s,{','.join(map(repr, row))}" for at, row in enumerate(values)]
    data = "\n".join([header, *lines]).encode()
    read = partial(read_scores, data, "wide.csv")
    found = read()
    assert found.values.tolist() == values
    _, peak = traced_memory(read)
    assert peak < 150 * found.values.size


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_columns_of_numbers_are_read_as_cell_by_cell(end: str) -> None:
    """One cell that is no plain number has its column read the slow way: both ways give one table."""
    cells = {
        "item": ["a", "b", "c", "d"],
        "m1": [" 1 ", "nan", "-.5e1", ""],
        "m2": ["1", "'-2", "3", "n/a"],
        "year": ["1", "2", "3", "4"],
        "m3": ["inf", "5.", "-", "1e999"],
        "empty": ["", "nan", "-", "None"],
        "m4": ["0", "0", "0", "-0"],
    }
    lines = [",".join(row) for row in [list(cells), *zip(*cells.values(), strict=True)]]
    found = read_scores(end.join(lines).encode(), "wide.csv")
    assert [metric.name for metric in found.metrics] == ["m1", "m2", "m3", "m4"]
    nan = math.nan
    expected = [[1, 1, nan, 0], [nan, -2, 5, 0], [-5, 3, nan, 0], [nan, nan, nan, -0.0]]
    assert np.array_equal(found.values, expected, equal_nan=True)
    none, infinite = "no score in the file", "infinite in the file"
    assert found.reasons == {(0, 2): infinite, (1, 0): none, (2, 2): none} | {
        (3, 0): none,
        (3, 1): none,
        (3, 2): infinite,
    }
    assert [row.labels for row in found.rows] == [{"year": str(year)} for year in (1, 2, 3, 4)]


@pytest.mark.parametrize("cell", ["1_000", "１２", "-nan", "0x10", "1,500", "5%"])
def test_what_python_alone_would_take_for_a_number_is_a_problem(cell: str) -> None:
    data = "item;m;n\n" + "".join(f"q{at};1;2\n" for at in range(9)) + f"last;1;{cell}\n"
    with pytest.raises(InputError) as raised:
        read_scores(data.encode(), "wide.csv")
    (problem,) = raised.value.problems
    assert problem.startswith("line 11: n is ")
