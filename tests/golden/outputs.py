"""What commands print and write, without what no two runs share and without sentences: numbers, JSON, CSV, records.

A story is a list of commands that work in one folder on one database. What is compared is kept in expected/, one
JSON file a story: short outputs whole, long ones as their length and hash. To see where a long one differs, write
both in full and compare the folders:

    PYTHONPATH=.:tests python tests/golden/record.py FOLDER      # today's, in full
    PYTHONPATH=.:tests python tests/golden/record.py             # takes today's outputs as the expected ones

`--story NAME` is for one story alone.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet

from core.cli import main

EXPECTED = Path(__file__).parent / "expected"
LONGEST = 1_000
"""Characters of an output that is kept whole."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])|(?<![\w.])-?\d+e-\d+(?![\w.])")
_PASSING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?"), "TIME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "HOST"),
    (re.compile(r"\bprompt-([\w-]+):[0-9a-f]+"), r"prompt-\1:HASH"),
    (re.compile(r"\b(task|rubric):([\w-]+)-[0-9a-f]{12}\b"), r"\1:\2-HASH"),
)
_OF_THIS_RUN = {
    *(
        "seconds",
        "wall_seconds",
        "worked_seconds",
        "start_seconds",
        "app_version",
        "process",
        "beat_utc",
        "size",
    )
}
_WORDED = {
    *("message", "note", "notes", "sentence", "sentences", "reading", "why_numbers", "rules"),
    *("prompts", "rubric_text", "task_text"),
}
"""Fields that hold sentences, or files of data/ and prompts/ that have tests of their own."""
Outputs = dict[str, Any]


@dataclass(frozen=True)
class Story:
    """Commands in order; each is a name and its words."""

    name: str
    steps: Sequence[tuple[str, Sequence[str]]]
    files: Mapping[str, bytes]
    """Name -> content, in the folder before the first command."""
    database: str = ""
    """SQL of the database before the first command."""


def told(story: Story, folder: Path) -> dict[str, str]:
    """Step and name of what it wrote -> its content, in order, without what passes. Every command must succeed."""
    for name, data in story.files.items():
        (folder / name).write_bytes(data)
    if story.database:
        with contextlib.closing(sqlite3.connect(folder / "assay.db")) as opened:
            opened.executescript(story.database)
    found: dict[str, str] = {}
    before = os.environ.get("ASSAY_DB")
    os.environ["ASSAY_DB"] = str(folder / "assay.db")
    try:
        with contextlib.chdir(folder):
            known = dict(story.files)
            for name, words in story.steps:
                found |= {f"{name} {what}": said for what, said in _one(words, known)}
            if (folder / "assay.db").exists():
                found |= dict(_database(folder / "assay.db"))
    finally:
        os.environ.pop("ASSAY_DB")
        if before is not None:
            os.environ["ASSAY_DB"] = before
    return found


def _one(words: Sequence[str], known: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """What one command printed as JSON, and every file that is new or changed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(list(words))
    assert status == 0, f"{' '.join(words)}: {err.getvalue()}"
    if "--json" in words:
        yield "stdout", plain("stdout.json", out.getvalue().encode())
    for path in sorted(Path().rglob("*")):
        name = path.as_posix()
        if path.is_file() and not name.startswith("assay.db"):
            data = path.read_bytes()
            if known.get(name) != data:
                yield name, plain(name, data)
                known[name] = data


def plain(name: str, data: bytes) -> str:
    """A file's content as text, without what passes. Keys of JSON are sorted: their order is no promise."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            return "\n".join(f"== {one}\n{plain(one, bundle.read(one))}" for one in bundle.namelist())
    if name.endswith(".parquet"):
        table = pyarrow.parquet.read_table(io.BytesIO(data))
        rows = "".join(_dumped(row) + "\n" for row in table.to_pylist())
        return _without_passing(f"{table.schema.remove_metadata()}\n{rows}")
    text = data.decode()
    if name.endswith(".json"):
        return _without_passing(
            json.dumps(_cleared(json.loads(text)), indent=1, ensure_ascii=False, sort_keys=True)
        )
    if name.endswith(".jsonl"):
        return _without_passing("".join(_dumped(json.loads(line)) + "\n" for line in text.splitlines()))
    return _without_passing(text)


def _dumped(value: object) -> str:
    return json.dumps(_cleared(value), ensure_ascii=False, default=str)


def _cleared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _field(key, one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    cleared = [_cleared(one) for one in value]
    # Steps stand in the order in which they were first asked, which no two runs share.
    of_steps = bool(cleared) and all(isinstance(one, dict) and "step" in one for one in cleared)
    return sorted(cleared, key=json.dumps) if of_steps else cleared


def _field(key: str, value: Any) -> Any:
    if key in _OF_THIS_RUN and value is not None:
        return key.upper()
    if key in _WORDED and value:
        return sorted(value) if isinstance(value, dict) else "WORDS"
    return _cleared(value)


def _without_passing(text: str) -> str:
    for pattern, said in _PASSING:
        text = pattern.sub(said, text)
    # Six digits: the last ones depend on the processor and on the libraries' versions.
    return _NUMBER.sub(lambda found: f"{float(found[0]):.6g}", text)


def _database(path: Path) -> Iterator[tuple[str, str]]:
    """What the database keeps of runs: settings and every item's record."""
    with contextlib.closing(sqlite3.connect(path)) as opened:
        opened.row_factory = sqlite3.Row
        for table in ("run", "run_item", "run_metric"):
            for row in opened.execute(f"select * from {table} order by 1, 2"):
                # Younger than what was recorded, and of one machine's moment.
                kept = {key: _json(value) for key, value in dict(row).items() if key != "start_seconds"}
                where = "-".join(str(value) for value in tuple(row)[: 1 if table == "run" else 2])
                yield f"database {table} {where}", _without_passing(_dumped(kept))


def _json(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        return json.loads(value)
    return value


def shortened(outputs: Mapping[str, str]) -> dict[str, object]:
    """As expected/ keeps them: short ones line by line, long ones by length and hash."""
    return {
        name: said.splitlines()
        if len(said) <= LONGEST
        else {"characters": len(said), "sha256": hashlib.sha256(said.encode()).hexdigest()}
        for name, said in outputs.items()
    }


def expected(story: str) -> dict[str, object]:
    """What the story's commands gave when it was recorded."""
    read: dict[str, object] = json.loads((EXPECTED / f"{story}.json").read_text("utf-8"))
    return read
