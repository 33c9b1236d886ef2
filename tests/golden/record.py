"""Record what the commands of every story give today: in full into a folder, or as what tests expect.

PYTHONPATH=.:tests python tests/golden/record.py [FOLDER]
"""

import contextlib
import gzip
import json
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from golden.outputs import EXPECTED, Story, shortened, told
from golden.stories import AT, BEGUN, MODELS, ON_SERVER, ON_SHARED, begun, reply
from helpers.processes.scripted_server import ScriptedServer

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def stories() -> Iterator[tuple[Story, ScriptedServer | None]]:
    """All of them; those on real data where it lies beside the checkout."""
    with ScriptedServer(reply, MODELS) as server:
        for make in ON_SERVER.values():
            yield make(server.url), server
    if SHARED.is_dir():
        for of_shared in ON_SHARED.values():
            yield of_shared(SHARED), None


def begin() -> None:
    """Write begun.sql.gz, once: runs as the code of that day kept them. Later code has to read it, not to write it anew."""
    with ScriptedServer(reply, MODELS) as server, tempfile.TemporaryDirectory() as folder:
        told(begun(server.url), Path(folder))
        with contextlib.closing(sqlite3.connect(Path(folder) / "assay.db")) as database:
            dumped = "".join(f"{line}\n" for line in database.iterdump())
        BEGUN.write_bytes(gzip.compress(dumped.replace(server.url, AT).encode(), mtime=0))


def record(whole: Path | None) -> None:
    """Run every story; write its outputs."""
    for story, _ in stories():
        with tempfile.TemporaryDirectory() as folder:
            outputs = told(story, Path(folder))
        if whole is None:
            EXPECTED.mkdir(exist_ok=True)
            text = json.dumps(shortened(outputs), indent=1, ensure_ascii=False)
            (EXPECTED / f"{story.name}.json").write_text(text + "\n", "utf-8")
            continue
        for name, said in outputs.items():
            path = whole / story.name / name.replace(" ", "__").replace("/", "__")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(said, "utf-8")


if __name__ == "__main__":
    if not BEGUN.exists():
        begin()
    record(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
