"""Small files that would make much of themselves: each bound of core.budget has some, in every format that can reach it.

`python hostile_files.py NAME N FOLDER` writes one and reads it at every door, and prints what came of it and the process' peak in MiB.
"""

import gzip
import io
import json
import resource
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from core.errors import AssayError
from core.formats.panel import read_panel
from core.formats.registry import read_questions, read_ratings, read_scores, read_study, read_texts
from core.store.backup import read_backup
from core.study.bundle import read_bundle

_BOOK = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PARTS = "http://schemas.openxmlformats.org/package/2006"
_MIB = 2**20


def _zip(members: Mapping[str, str | bytes]) -> bytes:
    with zipfile.ZipFile(buffer := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _parquet(columns: Mapping[str, list[object]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), buffer := io.BytesIO(), compression="zstd")
    return buffer.getvalue()


def _workbook(sheet: str, texts: str = "") -> bytes:
    link = f'<Relationship Id="r1" Type="{_LINKS}/worksheet" Target="worksheets/sheet1.xml"/>'
    shared = f'<Relationship Id="r2" Type="{_LINKS}/sharedStrings" Target="sharedStrings.xml"/>'
    book = f'<Relationship Id="r1" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/>'
    return _zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PARTS}/content-types"/>',
            "_rels/.rels": f'<Relationships xmlns="{_PARTS}/relationships">{book}</Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{_BOOK}" xmlns:r="{_LINKS}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PARTS}/relationships">{link}{shared}</Relationships>',
            "xl/sharedStrings.xml": f'<sst xmlns="{_BOOK}">{texts}</sst>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_BOOK}"><sheetData>{sheet}</sheetData></worksheet>',
        }
    )


def _log(sample: str, n_members: int = 1) -> bytes:
    header = json.dumps({"version": 2, "status": "success", "eval": {"model": "m"}})
    samples = {f"samples/{at}_epoch_1.json": sample for at in range(n_members)}
    return _zip({"header.json": header, **samples})


HOSTILE: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "Parquet rows": (
        "t.parquet",
        lambda n: _parquet({"item_id": ["a"] * n, "system": ["b"] * n, "bleu": [0.5] * n}),
    ),
    "Parquet texts": (
        "t.parquet",
        lambda n: _parquet(
            {"item_id": [str(at) for at in range(n // 100)], "text": ["x" * 10_000] * (n // 100)}
        ),
    ),
    "Parquet lists": (
        "t.parquet",
        lambda n: _parquet({"item_id": ["a"] * 10, "text": [["b"] * (n // 10)] * 10}),
    ),
    "Parquet columns": ("t.parquet", lambda n: _parquet({f"c{at}": [1] for at in range(n // 100)})),
    "JSON lists": ("t.json", lambda n: b"[" + b"[]," * n + b"[]]"),
    "JSON objects": ("t.json", lambda n: b"[" + b'{"item_id":1},' * (n // 3) + b"{}]"),
    "JSON keys": ("t.json", lambda n: json.dumps([{f"k{at}": 1 for at in range(n // 2)}]).encode()),
    "JSONL lines": ("t.jsonl", lambda n: b'{"item_id":"a","text":"b"}\n' * (n // 5)),
    "JSONL keys": ("t.jsonl", lambda n: b"".join(b'{"k%d":1}\n' % at for at in range(n // 3))),
    "JSONL no objects": ("t.jsonl", lambda n: b"{\n" * n),
    "CSV rows": ("t.csv", lambda n: b"item_id,bleu\n" + b"".join(b"q%d,1\n" % at for at in range(n))),
    "CSV words": (
        "t.csv",
        lambda n: b"item_id,text,note\n" + b"".join(b"%d,ab,c\n" % at for at in range(n // 3)),
    ),
    "CSV cells of a row": ("t.csv", lambda n: b"item_id,text\n" + b"ab," * n),
    "CSV columns": ("t.csv", lambda n: b",".join(b"c%d" % at for at in range(n)) + b"\n1"),
    "CSV quoted row": ("t.csv", lambda n: b"item_id,text\n" + b'"a\n",' * n),
    "CSV lines": ("t.csv", lambda n: b"item_id,text\n" + b"\n" * n),
    "CSV JSON in a cell": ("t.csv", lambda n: b'item_id,text\n1,"' + b"[{" + b"'a':'b'," * n + b'}]"\n'),
    "wide text": ("t.csv", lambda n: "item_id,text\n1,\U0001f600".encode() + b"a" * 40 * n),
    "Windows text": ("t.csv", lambda n: b"item_id,text\n1,\xe9" + b"\na" * n),
    "UTF-16 text": ("t.csv", lambda n: ("item_id,text\n1," + "\na" * n).encode("utf-16")),
    "gzip bytes": ("t.csv.gz", lambda n: gzip.compress(b"item_id,text\n1," + b"a" * 100 * n)),
    "gzip members": ("t.csv.gz", lambda n: gzip.compress(b"") * n),
    "workbook span": ("t.xlsx", lambda n: _workbook(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>')),
    "workbook cells": ("t.xlsx", lambda n: _workbook("<row>" + "<c/>" * n + "</row>")),
    "workbook rows": ("t.xlsx", lambda n: _workbook("<row><c><v>1</v></c></row>" * n)),
    "workbook texts": (
        "t.xlsx",
        lambda n: _workbook('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', "<si/>" * n),
    ),
    "workbook bytes": ("t.xlsx", lambda n: _workbook(" " * 100 * n)),
    "log values": ("t.eval", lambda n: _log('{"id":1,"epoch":1,"x":[' + "[]," * n + "0]}")),
    "log bytes": ("t.eval", lambda n: _log('{"id":1,"epoch":1,"x":"' + "a" * 100 * n + '"}')),
    "log members": ("t.eval", lambda n: _log("{}", n // 20)),
    "promptfoo": (
        "t.json",
        lambda n: b'{"evalId":"a","results":{"version":3,"results":[' + b"{}," * n + b'{}]},"config":{}}',
    ),
    "bundle manifest": ("t.zip", lambda n: _zip({"manifest.json": b"[" + b"[]," * n + b"0]"})),
    "backup manifest": ("t.zip", lambda n: _zip({"manifest.json": b"[" + b"[]," * n + b"0]"})),
    "backup members": ("t.zip", lambda n: _zip({f"assay.db.d/{at}": b"" for at in range(n // 20)})),
}
"""What is too much -> the file's name, and its bytes if it makes about n objects."""


def _wide(n: int) -> list[dict[str, object]]:
    """Rows with 16 scores of full length."""
    names = [f"m{at}" for at in range(16)]
    return [
        {"item_id": f"q{row // 5}", "system": f"s{row % 5}"}
        | {name: (row + 0.5) / (at + 3) for at, name in enumerate(names)}
        for row in range(n)
    ]


def _columns(rows: list[dict[str, object]]) -> dict[str, list[object]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _wide_csv(n: int) -> bytes:
    rows = _wide(n)
    return "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]).encode()


def _wide_sheet(n: int) -> bytes:
    def cell(place: str, value: object) -> str:
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    rows = _wide(n)
    return _workbook(
        "".join(
            f'<row r="{at}">{"".join(cell(f"{chr(65 + place)}{at}", one) for place, one in enumerate(cells))}</row>'
            for at, cells in enumerate([list(rows[0]), *(list(row.values()) for row in rows)], start=1)
        )
    )


HONEST: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "CSV": ("t.csv", _wide_csv),
    "gzip": ("t.csv.gz", lambda n: gzip.compress(_wide_csv(n))),
    "JSON": ("t.json", lambda n: json.dumps(_wide(n)).encode()),
    "JSONL": ("t.jsonl", lambda n: "\n".join(map(json.dumps, _wide(n))).encode()),
    "Parquet": (
        "t.parquet",
        lambda n: _parquet(_columns(_wide(n))),
    ),
    "workbook": ("t.xlsx", _wide_sheet),
}
"""Tables of n rows and 16 scores."""


def read_everywhere(data: bytes, name: str) -> list[Exception | None]:
    """What each door that commands and pages use says of a file; None if it reads it."""
    doors: list[Callable[[], object]] = [
        lambda: read_scores(data, name),
        lambda: read_ratings(data, name),
        lambda: read_texts(data, name),
        lambda: read_study(data, name).finish(),
        lambda: read_questions(data, name),
        lambda: read_panel(data, name, find=True),
    ]
    if name.endswith(".zip"):
        doors = [lambda: read_bundle(data, name), lambda: _read_backup(data, name)]
    found: list[Exception | None] = []
    for door in doors:
        try:
            door()
            found.append(None)
        except AssayError as problem:
            found.append(problem.with_traceback(None))
    return found


def _read_backup(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        read_backup(data, name, Path(folder))


def peak_mib() -> float:
    """The peak of this process' memory. A child's `ru_maxrss` would begin at its parent's on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        return (
            next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line) / 1024
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB


if __name__ == "__main__":
    chosen, number, at = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    file_name, make = (HOSTILE | HONEST)[chosen]
    if number:
        at.write_bytes(make(number))
    elif chosen in HONEST:
        table = read_scores(at.read_bytes(), file_name)
        print(json.dumps({"said": [len(table.rows), len(table.metrics)], "peak": peak_mib()}))
    else:
        said = [type(one).__name__ for one in read_everywhere(at.read_bytes(), file_name)]
        print(json.dumps({"said": said, "peak": peak_mib()}))
