"""One table in every container: every reader reads the same from each, and errors name the same line."""

import csv
import datetime
import gzip
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from helpers.texts.factories import members_of, zipped
from helpers.texts.workbooks import workbook
from hypothesis import given, settings
from hypothesis import strategies as st

from core.budget import Budget, OverBudget, budget_set
from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.registry import read_questions, read_ratings, read_scores, read_study, read_texts
from core.study.bundle import is_bundle
from core.tables.columns import DELIMITERS, delimiter_of, filled_rows
from core.tables.containers import decode, decode_utf8, findings_of, is_plain, opened
from core.tables.mapping import class_words, first_rows, number_words, rename_columns
from core.tables.reading import sha256_of

Rows = Sequence[Sequence[str | int | float]]
"""A header and rows below it; numbers are numbers where a container has them."""


def as_csv(rows: Rows, mark: str = ",", end: str = "\n") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=mark, lineterminator=end).writerows(rows)
    return out.getvalue()


def objects(rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(map(str, rows[0]), row, strict=True)) for row in rows[1:]]


def as_jsonl(rows: Rows) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in objects(rows)).encode()


def as_parquet(rows: Rows) -> bytes:
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(objects(rows)), buffer)
    return buffer.getvalue()


LINES: Mapping[str, tuple[str, Callable[[Rows], bytes]]] = {
    "semicolon": ("t.csv", lambda rows: as_csv(rows, ";").encode()),
    "tab": ("t.tsv", lambda rows: as_csv(rows, "\t").encode()),
    "bar": ("t.txt", lambda rows: as_csv(rows, "|").encode()),
    "byte order mark": ("t.csv", lambda rows: as_csv(rows).encode("utf-8-sig")),
    "CRLF": ("t.csv", lambda rows: as_csv(rows, end="\r\n").encode()),
    "UTF-16": ("t.txt", lambda rows: as_csv(rows, "\t").encode("utf-16")),
    "UTF-16 without a mark": ("t.txt", lambda rows: as_csv(rows, "\t").encode("utf-16-le")),
    "UTF-16, big end first": ("t.csv", lambda rows: as_csv(rows).encode("utf-16-be")),
    "UTF-32": ("t.csv", lambda rows: as_csv(rows).encode("utf-32")),
    "Windows-1252": ("t.csv", lambda rows: as_csv(rows, ";").encode("cp1252")),
    "workbook": ("t.xlsx", lambda rows: workbook({"Sheet": rows})),
    "workbook with another name": ("t.csv", lambda rows: workbook({"Sheet": rows})),
    "gzip": ("t.csv.gz", lambda rows: gzip.compress(as_csv(rows).encode())),
    "gzip of UTF-16": ("t.csv.gz", lambda rows: gzip.compress(as_csv(rows).encode("utf-16"))),
}
"""Containers whose lines are those of plain CSV."""
CONTAINERS = {
    **LINES,
    "sep=": ("t.csv", lambda rows: f"sep=;\r\n{as_csv(rows, ';')}".encode()),
    "sep= with a mark of its own": ("t.csv", lambda rows: f"sep=^\n{as_csv(rows, '^')}".encode()),
    "JSON": ("t.json", lambda rows: json.dumps(objects(rows)).encode()),
    "JSON in gzip": ("t.json.gz", lambda rows: gzip.compress(json.dumps(objects(rows)).encode())),
    "JSONL": ("t.jsonl", as_jsonl),
    "JSONL in gzip": ("t.jsonl.gz", lambda rows: gzip.compress(as_jsonl(rows))),
    "Parquet": ("t.parquet", as_parquet),
    "Parquet in gzip": ("t.parquet.gz", lambda rows: gzip.compress(as_parquet(rows))),
}

TEXTS: Rows = [
    ["item_id", "question", "system", "text"],
    ["q1", "Wie heißt der Fluss; der große?", "a", 'Der "Rhein", glaube ich'],
    ["q1", "Wie heißt der Fluss; der große?", "b", "Die Donau | oder\tder Main"],
    ["q2", "Ein Café, bitte", "a", "Gern: 3,50 Euro; mit Milch"],
    ["q2", "Ein Café, bitte", "b", "Nein"],
]
DOORS: Mapping[str, tuple[Callable[[bytes, str], Any], Rows]] = {
    "study": (lambda data, name: read_study(data, name).finish(), TEXTS),
    "texts": (read_texts, TEXTS),
    "questions": (
        read_questions,
        [["item_id", "question", "reference"], ["q1", "Größer; als?", "a, b"], ["q2", "Wo?", "hier; dort"]],
    ),
    "ratings": (
        read_ratings,
        [["item_id", "rater", "score"], ["q1", "Jürgen", 1], ["q1", "Ana", 2], ["q2", "Ana", 2.5]],
    ),
    "scores": (
        read_scores,
        [["item_id", "system", "bleu", "été"], ["q1", "größer", 1.5, 3], ["q2", "größer", 2.5, 4]],
    ),
    "panel": (
        lambda data, name: read_panel(data, name, human=["Jürgen", "Ana"], judges=["judge"]),
        [
            ["item_id", "Jürgen", "Ana", "judge"],
            *([f"q{at}", at % 2, (at // 2) % 2, at % 3 % 2] for at in range(12)),
        ],
    ),
}


def content(found: Any) -> Any:
    """What a reader read, without the file's name, fingerprint and notes."""
    if isinstance(found, np.ndarray):
        return found.tolist()
    if is_dataclass(found) and not isinstance(found, type):
        left_out = ("file_name", "sha256", "notes", "name", "sources")
        return {
            one.name: content(getattr(found, one.name)) for one in fields(found) if one.name not in left_out
        }
    if isinstance(found, Mapping):
        return {key: content(value) for key, value in found.items()}
    return [content(one) for one in found] if isinstance(found, list | tuple) else found


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_reads_every_container(door: str, container: str) -> None:
    read, rows = DOORS[door]
    name, make = CONTAINERS[container]
    plain = read(as_csv(rows).encode(), "t.csv")
    assert content(read(make(rows), name)) == content(plain)


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_fingerprint_is_that_of_the_file(container: str) -> None:
    name, make = CONTAINERS[container]
    data = make(TEXTS)
    assert read_texts(data, name).sha256 == sha256_of(data)


@pytest.mark.parametrize("container", LINES)
def test_errors_name_the_line_of_the_file(container: str) -> None:
    name, make = LINES[container]
    rows = [["item_id", "rater", "score"], ["q1", "Jürgen", 1], ["q2", "Jürgen", "größer"], ["q3", "Ana", 2]]
    with pytest.raises(InputError) as caught:
        read_ratings(make(rows), name)
    (problem,) = caught.value.problems
    assert problem.startswith("line 3: ")


def test_the_line_sep_counts_as_a_line() -> None:
    with pytest.raises(InputError) as caught:
        read_ratings(b"sep=;\nitem_id;rater;score\nq1;a;1\nq1;b;x\n", "t.csv")
    (problem,) = caught.value.problems
    assert problem.startswith("line 4: ")


@pytest.mark.parametrize("container", CONTAINERS)
def test_renamed_columns_and_previews_of_every_container(container: str) -> None:
    name, make = CONTAINERS[container]
    rows = [["Nr", "Frage", "Modell", "Antwort"], *TEXTS[1:]]
    data = make(rows)
    assert first_rows(data, name).columns == ("Nr", "Frage", "Modell", "Antwort")
    assert first_rows(data, name).rows[-1] == tuple(TEXTS[-1])
    named = {"item_id": "Nr", "question": "Frage", "system": "Modell", "text": "Antwort"}
    found = read_texts(rename_columns(data, name, named), name)
    assert content(found) == content(read_texts(as_csv(TEXTS).encode(), "t.csv"))


def test_notes_of_the_container_reach_the_result_through_renamed_columns() -> None:
    rows = [["Nr", "rater", "score"], ["q1", "Jürgen", "1,5"], ["q2", "Jürgen", "2"]]
    data = as_csv(rows, ";").encode("cp1252")
    direct = read_ratings(data.replace(b"Nr", b"id"), "t.csv")
    renamed = read_ratings(rename_columns(data, "t.csv", {"item_id": "Nr"}), "t.csv")
    for found in (direct, renamed):
        assert [one.score for one in found.ratings] == [1.5, 2.0]
        assert sum("Windows-1252" in note and "line 2" in note for note in found.notes) == 1
        assert sum("decimal commas" in note and note.endswith(": score") for note in found.notes) == 1


@pytest.mark.parametrize("container", CONTAINERS)
def test_words_become_numbers_in_every_container(container: str) -> None:
    name, make = CONTAINERS[container]
    data = make([["item_id", "rater", "score"], ["q1", "Ana", "bad"], ["q2", "Ana", "good"]])
    assert class_words(data, name) == {"score": {"bad": 0, "good": 1}}
    turned = number_words(data, name, {"score": {"bad": 5.0, "good": 2.0}})
    assert [one.score for one in read_ratings(turned, name).ratings] == [5.0, 2.0]


# Decimal commas


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        ("a;b\n1;3,5\n2;\n", ["3.5", ""]),
        ("a;b\n1;-0,5\n2;2\n", ["-0.5", "2"]),
        ("a\tb\n1\t3,5\n", ["3.5"]),
        ("a;b\n1;1,500\n2;2,500\n", ["1,500", "2,500"]),  # thousands, perhaps
        ("a;b\n1;1,500\n2;0,5\n", ["1.500", "0.5"]),
        ("a;b\n1;3,5\n2;word\n", ["3,5", "word"]),
        ('a,b\n1,"3,5"\n', ["3,5"]),
        ("a;b\n1;3,5 or 4\n2;3,5\n", ["3,5 or 4", "3,5"]),
    ],
)
def test_decimal_commas(data: str, cells: list[str]) -> None:
    text = decode(data.encode(), "t.csv")
    assert [row[1] for row in filled_rows(text, delimiter_of(text), "t.csv")][1:] == cells


def test_decimal_commas_keep_lines_and_texts() -> None:
    data = 'a;b;c\n\n1;3,5;"two\nlines; 3,5"\n2;4,5;x\n'
    assert decode(data.encode(), "t.csv") == data.replace(";3,5;", ";3.5;").replace(";4,5;", ";4.5;")


# Workbooks


def test_cells_of_a_workbook() -> None:
    day = datetime.date(2024, 5, 1)
    data = workbook({"One": [[], ["id", "x", None, "y"], ["a", 1, None, True], [None, 2.5, None, day]]})
    assert decode(data, "t.xlsx") == '\n"id","x","y"\n"a","1","true"\n"","2.5","2024-05-01"\n'


def test_the_first_visible_sheet_with_rows_is_read_and_the_others_are_named() -> None:
    sheets = {"Hidden": [["h"]], "Empty": [], "Answers": [["a"], ["1"]], "Raters": [["r"]]}
    findings = findings_of(workbook(sheets, hidden=["Hidden"]), "t.xlsx")
    (note,) = findings.notes
    assert "Answers" in note
    assert "Raters" in note
    assert not any(name in note for name in ("Hidden", "Empty"))
    assert findings_of(workbook({"One": [["a"]], "Two": []}), "t.xlsx").notes == []


def test_a_workbook_is_no_bundle() -> None:
    assert not is_bundle(workbook({"One": [["a"]]}))
    assert is_bundle(zipped({"manifest.json": b"{}"}))


def damaged_workbook() -> bytes:
    data = bytearray(workbook({"One": [["a" * 100, "b" * 100]]}))
    at = data.find(b"xl/worksheets/sheet1.xml") + len("xl/worksheets/sheet1.xml") + 5
    data[at] ^= 0xFF
    return bytes(data)


FAR_CELLS = (
    '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "<row r='1048576'><c r = 'XFD1048576'><v>1</v></c></row>",
    '<row r="1"><c r="XFD1"><v>1</v></c></row><row r="1048576"><c><v>1</v></c></row>',
)


def far_cell(cell: str, name: str) -> bytes:
    """A workbook with a cell far from its first, in a sheet with this name."""
    members, usual = members_of(workbook({"One": [["a"]]})), "xl/worksheets/sheet1.xml"
    sheet = members.pop(usual).replace(b"</sheetData>", f"{cell}</sheetData>".encode())
    relations = "xl/_rels/workbook.xml.rels"
    target = members[relations].replace(b"worksheets/sheet1.xml", f"/{name}".encode())
    return zipped({**members, name: sheet, relations: target})


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        (b"\x89PNG\r\n\x1a\n\0\0", "picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "picture"),
        (b"SQLite format 3\0", "SQLite"),
        (zipped({"a.csv": b"a,b\n"}), "zip"),
        (zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w/>"}), "Word"),
        (zipped({"[Content_Types].xml": b"<Types/>", "xl/workbook.bin": b""}), "XLSB"),
        (zipped({"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook/>"}), "cannot be read"),
        (zipped({"mimetype": b""})[:30] + b"mimetypeapplication/vnd.oasis.opendocument.text", "OpenDocument"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Office"),
        (workbook({"One": []}), "no sheet with rows"),
        (damaged_workbook(), "workbook"),
        *(
            (far_cell(cell, name), "cells")
            for cell in FAR_CELLS
            for name in ("xl/worksheets/sheet1.xml", "odd.bin")
        ),
        (gzip.compress(b"a,b\n1,2\n")[:-9], "ends too early"),
        (gzip.compress(gzip.compress(b"a,b\n")), "twice"),
        (b"\x1f\x8b\x08broken", "gzip"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"<?xml version='1.0'?><a/>", "XML"),
        ("a;b\nслово;привет\n".encode("cp1251"), "not UTF-8"),
        ("a;b\nf\xfcr;x\n".encode("cp1252") + "für;x\n".encode(), "mixes two encodings"),
        (b"\xef\xbb\xbfa;b\nf\xfcr;x\n", "not UTF-8"),
        (b"\xff\xfea", "UTF-16"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_what_is_no_table_is_named(data: bytes, word: str) -> None:
    for read in (read_texts, read_ratings, read_scores, read_panel, lambda *file: read_study(*file).finish()):
        with pytest.raises(InputError) as caught:
            read(data, "t.csv")
        (problem,) = caught.value.problems
        assert word in problem


def test_gzip_is_bounded() -> None:
    with budget_set(Budget(bytes=1_000)):
        assert decode(gzip.compress(b"a\n" * 500), "t.csv.gz") == "a\n" * 500
        with pytest.raises(OverBudget):
            decode(gzip.compress(b"a\n" * 501), "t.csv.gz")
        with pytest.raises(OverBudget):
            decode(workbook({"One": [["a" * 2_000]]}), "t.xlsx")


def test_members_of_gzip_are_joined() -> None:
    assert decode(gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n"), "t.csv.gz") == "a,b\n1,2\n"


def test_plain_text_is_not_copied() -> None:
    data = as_csv(TEXTS).encode()
    assert opened(data, "t.csv") is data
    assert is_plain(data)
    assert not any(is_plain(make(TEXTS)) for name, make in LINES.values() if name.endswith((".gz", ".xlsx")))


def test_a_prompt_must_be_utf8() -> None:
    for data in ("für".encode("cp1252"), "für".encode("utf-16")):
        with pytest.raises(InputError):
            decode_utf8(data, "prompt.yaml")


# First lines


@pytest.mark.parametrize(
    "data",
    [
        'ann1,sysA,87,False,[],1711317347.693\nann1,sysB,66,False,"[{""start"": 0}]",1711317304.453\n',
        "1,0\n1,1\n0,0\n",
        "0.5;0.25\n0.5;0.75\n",
        "good,bad\ngood,good\nbad,bad\n",
        "2024-05-01,7\n2024-05-02,8\n",
    ],
)
def test_a_first_line_of_data_is_called_one(data: str) -> None:
    named = {"item_id": data[: data.index("\n")].replace(";", ",").split(",")[0]}
    doors = (read_texts, read_ratings, read_scores, first_rows, lambda *file: rename_columns(*file, named))
    for read in doors:
        with pytest.raises(InputError) as caught:
            read(data.encode(), "t.csv")
        (problem,) = caught.value.problems
        assert problem.startswith("line 1: the first line looks like data (")


@pytest.mark.parametrize("data", ["item_id,101,102\nq1,3,4\n", "item_id,a,2019\nq1,2019,2019\n"])
def test_numbers_may_be_names(data: str) -> None:
    assert read_scores(data.encode(), "t.csv").rows


def test_numbers_of_rows_are_no_metric() -> None:
    found = read_scores(b"Unnamed: 0,item_id,bleu\n0,a,1.5\n1,b,2.5\n", "t.csv")
    assert [one.name for one in found.metrics] == ["bleu"]
    assert sum("Unnamed: 0" in note for note in found.notes) == 1
    other = b"Unnamed: 0,item_id,bleu\n7,a,1.5\n1,b,2.5\n"
    assert decode(other, "t.csv") == other.decode()


# Separators


TABLE = st.integers(2, 5).flatmap(
    lambda width: st.lists(
        st.lists(
            st.text(alphabet='ab ,;|\t"\n1', max_size=12).map(str.strip),
            min_size=width,
            max_size=width,
        ).filter(any),
        min_size=2,
        max_size=12,
    )
)


@given(TABLE, st.sampled_from(DELIMITERS), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=300, deadline=None)
def test_the_separator_of_any_texts(below: list[list[str]], mark: str, end: str) -> None:
    header = [f"Spalte {at}" for at in range(len(below[0]))]
    text = as_csv([header, *below], mark, end)
    assert delimiter_of(text) == mark
    assert list(filled_rows(text, mark, "t.csv")) == [header, *below]


@given(st.lists(st.text(alphabet="ab ,;", min_size=1, max_size=20), min_size=1, max_size=12))
def test_a_single_column_stays_one(cells: list[str]) -> None:
    texts = [f"x{cell}x" for cell in cells]
    text = "\n".join(["Antwort", *texts]) + "\n"
    assert list(filled_rows(text, delimiter_of(text), "t.csv")) == [["Antwort"], *([one] for one in texts)]


def test_a_table_longer_than_the_part_that_decides() -> None:
    chance = random.Random(1)
    rows = [["Frage", "Urteil"], *([" ".join(chance.choices("ab,", k=4_000)), "0"] for _ in range(12))]
    assert delimiter_of(as_csv(rows, ";")) == ";"


def test_a_long_word_costs_no_more_than_its_length_in_an_old_encoding() -> None:
    """The pattern that finds words with accents once took time with the square of a word's length: hours for this one."""
    assert decode(b"text\ncaf\xe9 " + b"x" * 2_000_000, "t.csv").startswith("text\ncafé x")
