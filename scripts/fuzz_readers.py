"""Damage valid files of every format and read them through the doors that commands and pages use.

An input may be read or refused with an InputError. Anything else is a fault: another exception, a signal, more than --seconds, or
more than --memory. Each input follows from the seed and its number, so `--only NUMBER` shows it again with its traceback. Ends with
status 1 if there was a fault.

    .venv/bin/python scripts/fuzz_readers.py [--inputs 100000] [--seed 1] [--first 0] [--only NUMBER]
"""

import argparse
import gzip
import io
import json
import multiprocessing
import random
import resource
import signal
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from helpers.texts.factories import always, dataset, study_in, vote
from helpers.texts.hostile_files import HOSTILE
from helpers.texts.mutations import TEXTS, damaged
from helpers.texts.rating_studies import rating_study, rating_texts
from helpers.texts.workbooks import workbook

from core.errors import AssayError
from core.formats.panel import read_panel
from core.formats.registry import (
    read_questions,
    read_rated,
    read_ratings,
    read_scores,
    read_spans,
    read_study,
    read_texts,
)
from core.store import open_store
from core.store.backup import read_backup, write_backup
from core.study.bundle import read_bundle, write_bundle
from core.tables.problems import FileFindings
from core.tables.streaming import TableFile, form_of, head_of
from core.yaml_fields import read_yaml

ROOT = Path(__file__).resolve().parents[1]
AT_ONCE = 500
"""Inputs of one process, which is then replaced: a reader may leave memory or a crash behind."""
LARGEST = 40_000
"""Bytes of a valid file; only whole lines are taken of longer tables."""
Door = Callable[[bytes, str, Path], object]


def _streamed(data: bytes, name: str, folder: Path) -> int:
    path = folder / name
    path.write_bytes(data)
    form = form_of(head_of(path), path.name)
    if form is None:
        return 0
    table, known = TableFile(path, form), {"item_id": ("item_id",), "text": ("text",)}
    return sum(1 for _ in table.records(table.survey(known), known, FileFindings(name, "")))


def _backup(data: bytes, name: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        read_backup(data, name, Path(place))


DOORS: dict[str, Door] = {
    "scores": lambda data, name, _: read_scores(data, name),
    "ratings": lambda data, name, _: read_ratings(data, name),
    "texts": lambda data, name, _: read_texts(data, name),
    "rated texts": lambda data, name, _: read_rated(data, name),
    "study": lambda data, name, _: read_study(data, name).finish(),
    "questions": lambda data, name, _: read_questions(data, name),
    "spans": lambda data, name, _: read_spans(data, name),
    "panel": lambda data, name, _: read_panel(data, name, find=True),
    "big table": _streamed,
    "bundle": lambda data, name, _: read_bundle(data, name),
    "backup": _backup,
    "YAML": lambda data, _, __: read_yaml(data.decode("utf-8", "replace")),
}
ENDINGS = (
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".parquet",
    ".xlsx",
    ".eval",
    ".csv.gz",
    ".txt",
    ".zip",
    ".yaml",
    "",
)


def valid_files() -> list[tuple[str, bytes]]:
    """Small valid files of every format: those of the demo and of the tests, and tables of them in other containers."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    found = []
    for folder in ("data/demo", "tests/formats/logs", "prompts"):
        for path in sorted((ROOT / folder).iterdir())[: 3 if folder == "prompts" else None]:
            data = path.read_bytes() if path.is_file() and path.suffix != ".md" else b""
            if len(data) > LARGEST and path.suffix in (".csv", ".tsv", ".jsonl"):
                data = data[: data.rfind(b"\n", 0, LARGEST) + 1]
            if 0 < len(data) <= 10 * LARGEST:
                found.append((path.name, data))
    rows = [["item_id", "system", "level", "text", "bleu"]]
    rows += [[f"q{at // 2}", "ab"[at % 2], "A0", f"answer {at}", str(at / 8)] for at in range(20)]
    table = "\n".join(map(",".join, rows)).encode()
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(io.BytesIO(table)), made := io.BytesIO())
    found += [
        ("t.csv", table),
        ("t.csv.gz", gzip.compress(table)),
        ("t.parquet", made.getvalue()),
        ("t.xlsx", workbook({"One": rows})),
        ("t.csv", table.decode().encode("utf-16")),
        ("t.csv", table.replace(b",", b";").replace(b".", b",") + "\nq9;c;A0;é;1".encode("cp1252")),
    ]
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        at_hand = study_in(store, dataset(2, ("A0", "A1")), raters=("R1", "R2"), repeat_share=0.2)
        vote(store, at_hand.tokens["R1"], always("left"))
        found.append(("bundle.zip", write_bundle(at_hand.record)))
        rating = rating_study(store, rating_texts(2), raters=("R1",), name="rating")
        found += [("ratings.zip", write_bundle(rating.record)), ("backup.zip", write_backup(store))]
    return found


def hostile_input(rng: random.Random, valid: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """A file's name and bytes: valid ones, changed a few times."""
    if rng.random() < 0.03:
        name, make = HOSTILE[rng.choice(list(HOSTILE))]
        return name, make(rng.choice((1, 10, 300)))
    name, data = rng.choice(valid)
    for _ in range(rng.randrange(4)):
        data = rng.choice(CHANGES)(rng, data, rng.choice(valid)[1])
    if rng.random() < 0.15:
        name = name.partition(".")[0] + rng.choice(ENDINGS)
    return name, data[: 2**20]


def _flipped(rng: random.Random, data: bytes, _: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 9)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = sorted(rng.randrange(len(data) + 1) for _ in "ab")
    return data[:start] + data[end:] if rng.random() < 0.5 else data[:end]


def _repeated(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = sorted(rng.randrange(len(data) + 1) for _ in "ab")
    return data[:end] + data[start:end][:2_000] * rng.choice((1, 2, 50)) + data[end:]


def _put(rng: random.Random, data: bytes, _: bytes) -> bytes:
    """Put a hostile piece where a value may stand."""
    piece = rng.choice(
        [
            *(text.encode("utf-8", "surrogatepass") for text in TEXTS),
            *(
                b"[" * 2_000,
                b'{"a":' * 500,
                b"1" * 5_000,
                b"1e999",
                b"-0",
                b"NaN",
                b"Infinity",
                b"null",
                b"true",
            ),
            *(
                b'"',
                b'""',
                b"'",
                b",",
                b";",
                b"\t",
                b"\r",
                b"\n",
                b"\0",
                b"\xff\xfe",
                b"\xef\xbb\xbf",
                b"\\ud800",
            ),
            *(
                b"99999999999999999999",
                b"0x1f",
                b"1_000",
                b"3,5",
                b"50 %",
                b"*a",
                b"&a",
                b"!!python/none",
                b"<<: *a",
            ),
        ]
    )
    marks = [at for at, byte in enumerate(data[:20_000]) if byte in b',:[{\n"\t;'] or [0]
    at = rng.choice(marks) + rng.randrange(2)
    return data[:at] + piece + data[at + rng.choice((0, 0, 1, len(piece))) :]


def _swapped(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Half of one file and half of another; of two zips, members of both."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        return _other_members(rng, data, other)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _other_members(rng: random.Random, data: bytes, other: bytes) -> bytes:
    members: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()[:200]}
    except Exception:  # a zip that was damaged before
        return _flipped(rng, data, other)
    for name in rng.sample(sorted(members), min(len(members), 2)):
        members[name] = rng.choice((_flipped, _cut, _repeated, _put))(rng, members[name], other)
    if members and rng.random() < 0.2:
        members.pop(rng.choice(sorted(members)))
    with zipfile.ZipFile(
        made := io.BytesIO(), "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


CHANGES: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    *(_flipped, _cut, _repeated, _put, _put, _swapped, _other_members),
    lambda rng, data, _: damaged(rng, data),
    lambda _, data, __: gzip.compress(data, 1),
    lambda _, data, __: data.decode("utf-8", "replace").encode("utf-16"),
)


def outcome(door: str, name: str, data: bytes, folder: Path) -> str:
    """What a door does with an input: `read`, the name of the error that users see, or `fault` with a traceback."""
    try:
        DOORS[door](data, name, folder)
    except AssayError as refused:
        str(refused)
        return type(refused).__name__
    except BaseException:
        return f"fault\n{traceback.format_exc()}"
    return "read"


def drawn(seed: int, number: int, valid: Sequence[tuple[str, bytes]]) -> tuple[str, str, bytes]:
    """The door, the file's name and its bytes for one input."""
    rng = random.Random(f"{seed}:{number}")
    name, data = hostile_input(rng, valid)
    doors = list(DOORS)
    if name.endswith(".zip") and rng.random() < 0.8:
        doors = ["bundle", "backup"]
    elif name.endswith((".yaml", ".yml")) and rng.random() < 0.8:
        doors = ["YAML"]
    return rng.choice(doors), name, data


def _too_long(*_: object) -> NoReturn:
    raise TimeoutError("took too long")


def work(
    numbers: range,
    seed: int,
    seconds: int,
    memory: int,
    results: "multiprocessing.Queue[tuple[int, str, str]]",
) -> None:
    """Read inputs and report each before the next, so that the parent knows which one ended the process."""
    resource.setrlimit(resource.RLIMIT_AS, (memory * 2**20, memory * 2**20))
    signal.signal(signal.SIGALRM, _too_long)
    valid = valid_files()
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            door, name, data = drawn(seed, number, valid)
            signal.alarm(seconds)
            said = outcome(door, name, data, Path(folder))
            signal.alarm(0)
            results.put((number, door, said))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read all inputs and print how many came out how; return 1 if any was a fault."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--inputs", type=int, default=100_000, help="number of inputs (default %(default)s)")
    options.add_argument("--first", type=int, default=0, help="number of the first (default %(default)s)")
    options.add_argument("--seed", type=int, default=1, help="seed (default %(default)s)")
    options.add_argument("--seconds", type=int, default=60, help="time of one input (default %(default)s)")
    options.add_argument(
        "--memory", type=int, default=6_000, help="MiB of addresses of the process (default %(default)s)"
    )
    options.add_argument("--only", type=int, metavar="NUMBER", help="show one input and what becomes of it")
    chosen = options.parse_args(arguments)
    if chosen.only is not None:
        door, name, data = drawn(chosen.seed, chosen.only, valid_files())
        print(door, name, len(data), data[:2_000])
        with tempfile.TemporaryDirectory() as folder:
            print(outcome(door, name, data, Path(folder)))
        return 0
    counts: Counter[tuple[str, str]] = Counter()
    faults: dict[str, tuple[int, int]] = {}
    process = multiprocessing.get_context("fork")
    end, at = chosen.first + chosen.inputs, chosen.first
    while at < end:
        numbers = range(at, min(at + AT_ONCE, end))
        results: multiprocessing.Queue[tuple[int, str, str]] = process.Queue()
        worker = process.Process(
            target=work, args=(numbers, chosen.seed, chosen.seconds, chosen.memory, results)
        )
        worker.start()
        while at < numbers.stop:
            try:
                number, door, said = results.get(timeout=1)
            except Exception:  # nothing came: the queue is empty
                if worker.is_alive():
                    continue
                if results.empty():
                    number, door, said = at, "?", f"fault\nended with status {worker.exitcode}"
                else:
                    continue
            at = number + 1
            kind, _, trace = said.partition("\n")
            counts[door, kind] += 1
            if kind == "fault":
                where = "\n".join(trace.strip().splitlines()[-3:])
                first, n = faults.get(where, (number, 0))
                faults[where] = (first, n + 1)
                if not n:
                    print(f"input {number} at {door}:\n{trace}", flush=True)
            if said.startswith("fault\nended"):
                break
        worker.join()
        print(f"{at - chosen.first:,} inputs, {sum(n for _, n in faults.values())} faults", flush=True)
    for (door, kind), n in sorted(counts.items()):
        print(f"{door:<12} {kind:<14} {n:>8,}")
    totals = Counter[str]()
    for (_, kind), n in counts.items():
        totals[kind] += n
    print(
        json.dumps({"seed": chosen.seed, "inputs": counts.total(), **totals, "kinds of faults": len(faults)})
    )
    for where, (first, n) in faults.items():
        print(f"{n} times, first at input {first}:\n{where}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
