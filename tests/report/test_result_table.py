"""One table, every form: the same cells for readers, the same values for programs."""

import csv
import io
import json
import math

import pytest

from core.report import (
    TITLES,
    WRITERS,
    csv_of,
    decimals_of,
    frame_of,
    headings,
    json_of,
    latex_of,
    lines,
    markdown_of,
    notes,
    terminal_lines,
    written,
)
from core.results.cells import fitted
from core.schema.result_table import Column, Interval, ResultTable

COLUMNS = (
    Column("metric", names_row=True),
    Column("signature", shown=False),
    Column("n"),
    Column("pearson", "Pearson", heat="coefficient"),
    Column("share", percent=True),
    Column("p", p_value=True),
    Column("epsilon", general=True, places=3),
    Column("left_out"),
)
TABLE = ResultTable(
    "demo",
    COLUMNS,
    (
        (
            "BLEU",
            "nrefs:1",
            1204,
            Interval(0.51234, 0.4, 0.6, n=1204, n_left_out=3),
            0.25,
            0.00001,
            1.5e-7,
            {"no score": 1003, "no level": 2},
        ),
        ("=1+2|{x}", "", 3, Interval(None, n=3, reason="all scores are equal"), None, 0.04, math.nan, {}),
        ("chrF", "", 9, Interval(-0.0001, n=9, interval_reason="one item only"), 0.5, None, None, {}),
    ),
    title="Correlations",
    notes=("Intervals: 95 %.",),
)


def test_readers_see_rounded_numbers_with_their_interval() -> None:
    assert headings(TABLE) == ["metric", "n", "Pearson", "share", "p", "epsilon", "left out"]
    first, second, third = lines(TABLE)
    assert first == [
        *("BLEU", "1,204", "0.51 [0.40, 0.60]", "25.0 %", "< 0.001", "1.5e-07"),
        "1,003 no score; 2 no level",
    ]
    assert (second[2], second[3], second[5]) == ("–", "–", "–")
    assert third[2] == "0.00"  # never a minus before a zero


def test_what_is_undefined_has_its_reason_below() -> None:
    assert notes(TABLE) == [
        "Pearson: undefined for =1+2|{x}: all scores are equal",
        "Pearson: no interval for chrF: one item only",
        "Intervals: 95 %.",
    ]


def test_a_reason_that_all_rows_share_names_no_row() -> None:
    table = ResultTable(
        "all",
        (Column("metric", names_row=True), Column("a"), Column("b")),
        tuple((name, Interval(None, reason="no items"), Interval(None, reason="no items")) for name in "xy"),
    )
    assert notes(table) == ["a, b: undefined: no items"]


def test_csv_holds_every_column_digit_and_reason_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(TABLE).decode())))
    assert list(rows[0]) == [
        *("metric", "signature", "n"),
        *("pearson", "pearson_low", "pearson_high", "pearson_n", "pearson_n_left_out", "pearson_reason"),
        *("share", "p", "epsilon", "left_out"),
    ]
    assert rows[0]["pearson"] == "0.51234"
    assert rows[0]["p"] == "1e-05"
    assert rows[0]["left_out"] == "1003 no score; 2 no level"
    assert rows[1]["metric"] == "'=1+2|{x}"
    assert (rows[1]["pearson"], rows[1]["pearson_reason"]) == ("", "all scores are equal")
    assert rows[1]["epsilon"] == ""  # a number that is none
    assert rows[2]["pearson_reason"] == "one item only"


def test_json_and_data_frame_hold_the_same_values() -> None:
    found = json_of(TABLE)
    json.dumps(found, allow_nan=False)
    assert found[0]["pearson"]["low"] == 0.4
    assert found[0]["left_out"] == {"no score": 1003, "no level": 2}
    assert found[1]["pearson"]["reason"] == "all scores are equal"
    assert found[1]["epsilon"] is None
    frame = frame_of(TABLE)
    assert frame.loc[0, "pearson_high"] == 0.6
    assert frame["pearson"].isna().tolist() == [False, True, False]


def test_a_name_in_a_heading_is_escaped_as_in_a_cell() -> None:
    table = ResultTable("t", (Column("a", "a|b"), Column("b", "<b>x</b> & y")), (("1", "2"),))
    assert markdown_of(table).decode().splitlines()[0] == r"| a\|b | \<b\>x\</b\> & y |"
    assert r"a|b & \textless{}b\textgreater{}x\textless{}/b\textgreater{} \& y \\" in latex_of(table).decode()


def test_markdown_and_latex_escape_what_is_the_users() -> None:
    markdown = markdown_of(TABLE).decode()
    assert "| metric | n | Pearson | share | p | epsilon | left out |" in markdown
    assert r"=1+2\|{x}" in markdown
    assert "- Intervals: 95 %." in markdown
    latex = latex_of(TABLE).decode()
    assert latex.startswith("% Correlations\n")
    assert r"=1+2|\{x\} & 3 & -- & -- & 0.040" in latex
    assert r"25.0 \%" in latex
    assert all(line.count("&") == 6 for line in latex.splitlines() if line.endswith(r"\\"))


def test_a_line_break_of_the_users_breaks_no_row() -> None:
    table = ResultTable("name", (Column("item"),), (("a\nb\\input{x}",),), title="t\nu")
    assert "| a b\\\\input{x} |" in markdown_of(table).decode()
    latex = latex_of(table).decode()
    assert latex.startswith("% t u\n")
    assert r"a b\textbackslash{}input\{x\} \\" in latex


@pytest.mark.parametrize("room", [None, 40])
def test_a_narrow_terminal_repeats_what_names_a_row(room: int | None) -> None:
    printed = terminal_lines(TABLE, room)
    assert printed[0] == "Correlations"
    heads = [line for line in printed if line.startswith("metric")]
    assert len(heads) == 1 if room is None else len(heads) > 1
    assert all(len(line) <= 40 for line in printed if room and not line.startswith("Note: "))
    assert [line for line in printed if line.startswith("Note: ")] == [f"Note: {one}" for one in notes(TABLE)]


def test_a_table_without_rows_has_a_header() -> None:
    empty = ResultTable("empty", COLUMNS, ())
    assert csv_of(empty).decode().startswith("metric,signature,n,pearson,share")
    assert json_of(empty) == []
    assert frame_of(empty).empty
    assert markdown_of(empty).decode().startswith("| metric |")


def test_a_row_has_a_cell_a_column() -> None:
    with pytest.raises(ValueError, match="table short"):
        ResultTable("short", COLUMNS, (("x",),))


def test_every_form_has_a_title_and_a_writer() -> None:
    assert set(TITLES) == set(WRITERS) == {"csv", "md", "tex"}
    assert all(write(TABLE) for _, write in WRITERS.values())


@pytest.mark.parametrize(
    ("value", "low", "high", "n", "places"),
    [
        (0.512, 0.401, 0.611, 40, 2),
        (0.512, 0.501, 0.541, 4000, 3),
        (0.1, -0.8, 0.9, 5, 2),
        (0.0, 0.0, 0.0, 2, 2),
        (1.0, 1.0, 1.0, 5000, 3),
        (-12.3, -20.1, -5.2, 9, 0),
        (3.41, 2.9, 4.2, 30, 1),
        (0.5, None, None, None, 3),
        (0.5, None, None, 9, 2),
    ],
)
def test_decimals_fit_the_interval_or_n(
    value: float, low: float | None, high: float | None, n: int | None, places: int
) -> None:
    assert fitted(value, low, high, n, 3) == places


def test_a_bound_keeps_its_decimals_and_a_column_takes_the_most_that_a_cell_deserves() -> None:
    column = Column("share")
    assert written(Interval(-0.104, n=20), column) == "-0.104"
    assert written(Interval(1300), column) == "1,300"  # a count beside estimates has none
    wide, narrow = Interval(0.5, 0.3, 0.7, n=9), Interval(0.5, 0.49, 0.51, n=9000)
    assert decimals_of([wide, None, Interval(None, reason="no text")], column) == 2
    assert decimals_of([wide, narrow], column) == 3
