"""A table read row by row: the texts, notes and problems that the reader of whole files gives."""

import io
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from core.errors import InputError, NotAllowed
from core.formats.registry import read_texts
from core.formats.scorable import COLUMNS
from core.runs.tables.reading import read_texts_into
from core.schema.big_tables import NOTES_KEY, TEXT_COLUMNS
from core.schema.scores import mask_named
from core.tables import streaming
from core.tables.mapping import rename_columns
from core.tables.streaming import TableFile, form_of, head_of

CHUNK = 4


def jsonl(*rows: Mapping[str, object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def table_in(folder: Path, name: str, data: bytes, renamed: Mapping[str, str] | None = None) -> TableFile:
    path = folder / name
    path.write_bytes(data)
    form = form_of(head_of(path), name)
    assert form is not None
    return TableFile(path, form, renamed or {})


def in_chunks(
    folder: Path, name: str, data: bytes, renamed: Mapping[str, str] | None = None
) -> tuple[Any, ...]:
    """The texts, notes and rows left out, or the problems."""
    try:
        table = table_in(folder, name, data, renamed)
        target = folder / "texts.parquet"
        n_texts = read_texts_into(table, table.survey(COLUMNS), target, CHUNK)
    except InputError as problem:
        return problem.what, sorted(problem.problems)
    assert sorted(path.name for path in folder.iterdir()) == sorted({name, "texts.parquet"}), (
        "nothing else is left"
    )
    with pyarrow.parquet.ParquetFile(target) as file:
        assert file.schema_arrow.names == list(TEXT_COLUMNS)
        sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
        assert sizes == [CHUNK] * (n_texts // CHUNK) + ([n_texts % CHUNK] if n_texts % CHUNK else [])
        noted = json.loads(file.metadata.metadata[NOTES_KEY])
        rows = file.read().to_pylist()
    assert [row["row"] for row in rows] == list(range(n_texts))
    texts = [
        (*(row[name] for name in TEXT_COLUMNS[1:-1]), json.loads(row["labels"]) if row["labels"] else {})
        for row in rows
    ]
    return texts, sorted(noted["notes"]), noted["left_out"]


def whole(name: str, data: bytes, renamed: Mapping[str, str] | None = None) -> tuple[Any, ...]:
    try:
        found = read_texts(rename_columns(data, name, renamed or {}), name)
    except InputError as problem:
        return problem.what, sorted(problem.problems)
    texts = [
        (
            one.item_id,
            one.system,
            one.level,
            one.language,
            one.text,
            one.reference,
            one.source,
            dict(one.labels),
        )
        for one in found.outputs
    ]
    return texts, sorted(found.notes), dict(found.left_out)


FILES: dict[str, tuple[str, bytes, dict[str, str]]] = {
    "texts of an item that one row has": (
        "t.jsonl",
        jsonl(
            *(
                {
                    "item_id": f"q{n // 3}",
                    "system": f"s{n % 3}",
                    "text": f"text {n}",
                    "reference": f"reference {n // 3}" if n % 3 == 0 else None,
                    "dataset": "d",
                }
                for n in range(20)
            )
        ),
        {},
    ),
    "rows without a text, languages and sources to fill in, columns that are no labels": (
        "t.jsonl",
        jsonl(
            *(
                {
                    "item_id": f"q{n // 3}",
                    "level": f"A{n % 3}",
                    "text": f"text {n}" if n != 4 else None,
                    "reason": "no such level",
                    "question": "Who?",
                    "context": f"c{n // 3}" if n % 3 == 1 else None,
                    "language": "de" if n % 3 == 2 else None,
                    "score": 1.5,
                    "nested": {"a": 1},
                }
                for n in range(20)
            )
        ),
        {},
    ),
    "cells over two lines, and formulas": (
        "t.csv",
        b"item,output,ref,id,group\n"
        + b"".join(b'q%d,"two\n%d",r%d,x,\'=g\n' % (n, n, n) for n in range(11)),
        {},
    ),
    "repeated, contradicting and broken rows": (
        "t.csv",
        b"item_id,text,reference\nq1,a,r\nq1,a,r2\nq1,b,r\n,c,d\nq2,b\nq3,x,\nq3,y,r\n",
        {},
    ),
    "a file pasted many times": (
        "t.csv",
        b"item_id,text\n" + b"".join(b"q%d,a\n" % (n % 5) for n in range(30)),
        {},
    ),
    "ids with levels": (
        "t.jsonl",
        jsonl({"item_id": "q_level1", "text": "x"}, {"item_id": "q_level2", "text": "y"}),
        {},
    ),
    "ids with other levels than the column": (
        "t.jsonl",
        jsonl({"item_id": "q_level1", "text": "x"}, {"item_id": "q_level2", "text": "y", "level": 3}),
        {},
    ),
    "renamed columns of CSV": ("t.csv", b"key;out;ref\nq1;a;b\nq2;c;d\n", {"item_id": "key", "text": "out"}),
    "renamed columns of JSONL": (
        "t.jsonl",
        jsonl({"key": "q1", "out": "a", "text": "c"}, {"key": "q2", "out": "b", "ref": "z"}),
        {"item_id": "key", "text": "out"},
    ),
    "no item": ("t.csv", b"text,ref\na,b\n", {}),
    "an empty file": ("t.csv", b"", {}),
    "broken lines": (
        "t.jsonl",
        b'{"item_id": "q1", "text": "a"}\nnot json\n[1]\n{"item_id": 3, "text": NaN}\n{"item_id": 4, "item_id": 4}\n',
        {},
    ),
    "a byte order mark": ("t.csv", b'\xef\xbb\xbfitem_id,text\r\nq1,a\r\nq2,"b\r\nc"\r\n', {}),
    "tabs, and line ends of old Macs": ("t.txt", b"item_id\ttext\nq1\ta\rq2\tb\n", {}),
    "Parquet": (
        "t.parquet",
        parquet(item=[1, 2, 3], text=["a", "b", None], ref=["x", None, "z"], group=[1.0, 2.5, None]),
        {"reference": "text", "text": "ref"},
    ),
    "language pairs": (
        "t.jsonl",
        jsonl(
            {"item_id": "q1", "system": "a", "text": "x", "language_pair": "en-de"},
            {"item_id": "q1", "system": "b", "text": "x", "language": "de"},
            {"item_id": "q1", "system": "c", "text": "z\u0001"},
        ),
        {},
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_the_same_as_from_the_whole_file(name: str, tmp_path: Path) -> None:
    assert in_chunks(tmp_path, *FILES[name]) == whole(*FILES[name])


CELLS: dict[str, tuple[object, ...]] = {
    "system": ("x", "y", None),
    "level": (None, "A1", 2),
    "language": ("en", "de", None),
    "reference": ("r", "r ", "s", None, None),
    "source": (None, "so"),
    "context": (None, "co", "c2"),
    "question": ("qu", None),
    "group": ("1", 2.5, "n/a", None, [1]),
    "reason": ("why", None),
    "origin": ("o", None),
}


def test_the_same_from_files_that_nobody_would_write(tmp_path: Path) -> None:
    draw = random.Random(1)
    refused = 0
    for number in range(60):
        rows = []
        for _ in range(draw.randint(1, 12)):
            row: dict[str, object] = {
                "item_id": draw.choice(["q1", "q2", "q3_level1"]),
                "text": draw.choice(["a", "b b", "", None, "c"]),
            }
            rows.append(
                row | {key: draw.choice(cells) for key, cells in CELLS.items() if draw.random() < 0.4}
            )
        folder = tmp_path / str(number)
        folder.mkdir()
        expected = whole("t.jsonl", jsonl(*rows))
        assert in_chunks(folder, "t.jsonl", jsonl(*rows)) == expected, rows
        refused += len(expected) == 2
    assert 10 < refused < 50


def test_a_header_longer_than_the_first_bytes_that_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEAD_BYTES", 5)
    data = b"item_id,text,reference\n" + b"".join(b"q%d,\xc3\xa4%d,r\n" % (n, n) for n in range(9))
    assert in_chunks(tmp_path, "t.csv", data) == whole("t.csv", data)


def test_masked_texts_of_a_blind_study_are_refused(tmp_path: Path) -> None:
    rows = [{"item_id": "q1", "system": mask_named(1, "0123abcd"), "text": "a"}]
    with pytest.raises(NotAllowed):
        in_chunks(tmp_path, "t.jsonl", jsonl(*rows))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", b'item_id,text\n1,"a\nb"\n\n2,c\n3,d\n'),
        ("t.csv", b"item_id,text\r1,a\r2,c\r3,d"),
        ("t.jsonl", jsonl(*({"item_id": n} for n in range(3))) + b"\n\n\n"),
        ("t.parquet", parquet(item_id=[1, 2, 3])),
    ],
)
def test_rows_are_counted_as_they_are_read(name: str, data: bytes, tmp_path: Path) -> None:
    table = table_in(tmp_path, name, data)
    assert [table.has_more_rows(n) for n in (1, 2, 3, 4)] == [True, True, False, False]


@pytest.mark.parametrize(("name", "data"), [("t.json", b"[]"), ("t.txt", b'  [{"item_id": 1}]')])
def test_a_json_list_is_not_read_row_by_row(name: str, data: bytes) -> None:
    assert form_of(data, name) is None


def test_other_columns_make_another_table(tmp_path: Path) -> None:
    data = b"item_id,text,other\n1,a,b\n"
    plain, renamed = table_in(tmp_path, "t.csv", data), table_in(tmp_path, "t.csv", data, {"text": "other"})
    assert plain.sha256 != renamed.sha256
