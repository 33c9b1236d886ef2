"""Record what the commands of every story give today: in full into a folder, or as what tests expect.

PYTHONPATH=.:tests python tests/golden/record.py [FOLDER] [--story NAME]...
"""

import argparse
import contextlib
import gzip
import json
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
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


def record(whole: Path | None, names: Collection[str]) -> None:
    """Run the stories of these names, or every one; write their outputs."""
    for story, _ in stories():
        if names and story.name not in names:
            continue
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
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("folder", nargs="?", type=Path, help="where outputs are written in full")
    command.add_argument("--story", action="append", default=[], help="one of tests/golden/expected")
    wanted = command.parse_args()
    record(wanted.folder, wanted.story)
