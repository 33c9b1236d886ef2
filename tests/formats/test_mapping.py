"""Columns that a file's owner names: at every door, in every form, and nothing else of the file changes."""

import io
import json
import re
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.registry import read_texts
from core.tables.columns import SPECS
from core.tables.containers import decode
from core.tables.mapping import ASIDE, first_rows, parse_columns, rename_columns

NAMED = {"text": "Said", "item_id": "Key"}


def test_pairs_are_read_and_all_that_are_none_are_named() -> None:
    assert parse_columns("text=Said, item_id = Key") == NAMED
    assert parse_columns(None) == {}
    with pytest.raises(InputError) as caught:
        parse_columns("text,item=Key,text=a,text=b,system=c,level=c")
    assert len(caught.value.problems) == 4
    assert "item_id" in caught.value.problems[1]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_a_table_the_header_alone_changes(mark: str, end: str) -> None:
    rows = [["Key", "Said", "text", "note"], ["1", "'=a b", "other", "5"], ["2", "c", "", "x"]]
    data = end.join(["", *(mark.join(row) for row in rows), ""]).encode()
    lines = rename_columns(data, "a.csv", NAMED).decode().split(end)
    assert lines[1] == mark.join(["item_id", "text", ASIDE.format(column="text"), "note"])
    assert lines[2:] == data.decode().split(end)[2:]


def test_a_header_over_several_lines_keeps_the_numbers_of_those_that_follow() -> None:
    data = b'Key,"Sa\nid",level\n1,"a\nb",0\n2,,x\n'
    renamed = rename_columns(data, "a.csv", {"item_id": "Key"}).decode()
    assert renamed.split("\n")[-4:] == ['1,"a', 'b",0', "2,,x", ""]
    assert len(renamed.split("\n")) == len(data.decode().split("\n"))


def test_objects_keep_all_but_the_names() -> None:
    rows = [{"Key": "1", "Said": "ä", "x": 1.5, "text": None}, {"Key": 2, "Said": "b"}]
    lines = b"\n".join(json.dumps(row).encode() for row in rows) + b"\n[]\n"
    renamed = [{"item_id": "1", "text": "ä", "x": 1.5, "text of the file": None}, {"item_id": 2, "text": "b"}]
    found = rename_columns(lines, "a.jsonl", NAMED).decode().splitlines()
    assert [json.loads(line) for line in found] == [*renamed, []]
    assert json.loads(rename_columns(json.dumps(rows).encode(), "a.json", NAMED)) == renamed


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(InputError) as caught:
        rename_columns(b"Key,Sad\n1,a\n", "a.csv", NAMED)
    (problem,) = caught.value.problems
    assert [name in problem for name in ("Said", "Sad")] == [True, True]
    with pytest.raises(InputError):
        rename_columns(b'{"questions": []}', "a.json", NAMED)


def test_what_is_renamed_is_read() -> None:
    found = read_texts(rename_columns(b"Key,Said,text\n1,a,x\n2,b,y\n", "a.csv", NAMED), "a.csv").outputs
    assert [(one.item_id, one.text, dict(one.labels)) for one in found] == [
        ("1", "a", {"text of the file": "x"}),
        ("2", "b", {"text of the file": "y"}),
    ]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_the_first_rows_are_shown_with_what_they_are_read_as(name: str) -> None:
    rows = [{"ID": str(n), "Said": f"t{n}", "lang": "de"} for n in range(9)]
    data = {
        "a.csv": "ID,Said,lang\n" + "".join(f"{n},t{n},de\n" for n in range(9)),
        "a.jsonl": "\n".join(map(json.dumps, rows)),
        "a.json": json.dumps(rows),
    }[name].encode()
    assert decode(data, name)
    found = first_rows(data, name)
    assert found.columns == ("ID", "Said", "lang")
    assert found.rows == tuple((str(n), f"t{n}", "de") for n in range(5))
    assert found.read_as == {"ID": "item_id", "lang": "language"}


def test_parquet_files_have_columns_to_name_too() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([{"Key": "1", "Said": "x", "text": "y"}]), buffer)
    data = rename_columns(buffer.getvalue(), "a.parquet", NAMED)
    assert [(one.item_id, one.text) for one in read_texts(data, "a.parquet").outputs] == [("1", "x")]
    for name, given in (("a.parquet", {"text": "Nowhere"}), ("b.parquet", NAMED)):
        with pytest.raises(InputError):
            rename_columns(buffer.getvalue() if given != NAMED else b"PAR1", name, given)


def test_the_documentation_names_every_column() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
    table = page.split("## Names of columns")[1].split("\n\n")[2]
    named = {
        line.split("|")[1].strip(" `"): [re.findall(r"`(\w+)`", line.split("|")[at]) for at in (2, 3)]
        for line in table.splitlines()[2:]
    }
    assert named == {spec.name: [[*spec.aliases], [*spec.wider]] for spec in SPECS}
