"""The same scores in one process, in a pool of processes, and on Ray: wall time, CPU and memory.

Rows are as in `metrics.py`: every text has its own reference and is scored by the 16 configurations in a new database, and
all tables must be equal, byte for byte. CPU and memory are those of all processes of the command, with Ray's own, read ten
times a second; memory is the largest sum of proportional set sizes (shared pages count once). Then empty batches are sent
over Ray, which gives what a batch costs beyond its work. Needs .venv-ray (`./run --with ray --setup`).

    .venv/bin/python benchmarks/engines.py [--rows 1000 10000] [--batches 200]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.metrics import pairs_of_words
from benchmarks.score_command import write_rows
from core.runs.working.environments import python_for

ROOT = Path(__file__).resolve().parents[1]
WORKERS = 2
ENGINES = {
    "one process": ("--workers", "1"),
    "pool": ("--workers", str(WORKERS)),
    "Ray": ("--workers", str(WORKERS), "--engine", "ray"),
}
TICKS = os.sysconf("SC_CLK_TCK")
EMPTY = """
import sys, time
from core.runs.working.cluster import Cluster
n = int(sys.argv[1])
begun = time.monotonic()
with Cluster(workers=2) as cluster:
    started = time.monotonic() - begun
    list(cluster.spread(list, [[0]] * 4))
    wall, cpu = time.monotonic(), time.process_time()
    list(cluster.spread(list, [[0]] * n))
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    single = time.monotonic()
    list(cluster.spread(list, [[0]]))
    single = time.monotonic() - single
print(started, 1000 * wall / n, 1000 * cpu / n, single)
"""


@dataclass
class Session:
    """What the processes of a session have used so far."""

    number: int
    cpu: dict[int, float] = field(default_factory=dict)
    """Process -> CPU seconds when it was last seen."""
    most: float = 0.0
    """Largest sum of their memory in MiB."""

    def look(self) -> None:
        """Read the processes that are there."""
        memory = 0.0
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError, StopIteration):  # ended while we looked
                words = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(words[3]) != self.number:
                    continue
                self.cpu[int(folder.name)] = (int(words[11]) + int(words[12])) / TICKS
                lines = (folder / "smaps_rollup").read_text().splitlines()
                memory += int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024
        self.most = max(self.most, memory)


def cost_of(engine: str, file: Path, folder: Path) -> tuple[float, float, float, bytes]:
    """Return wall seconds, CPU seconds, MiB and the table of one run. Exits if it fails."""
    out = folder / "scores.csv"
    arguments = [
        "score",
        str(file),
        "--out",
        str(out),
        "--db",
        str(folder / f"{engine}.db"),
        *ENGINES[engine],
    ]
    begun = time.monotonic()
    with (folder / "said.txt").open("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "core", *arguments],
            cwd=ROOT,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        session = Session(process.pid)
        while process.poll() is None:
            session.look()
            time.sleep(0.1)
        wall = time.monotonic() - begun
        said.seek(0)
        if process.returncode != 0:
            raise SystemExit(f"the command failed:\n{said.read()}")
    return wall, sum(session.cpu.values()), session.most, out.read_bytes()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 1 if the tables differ."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument(
        "--rows", type=int, nargs="+", default=[1_000, 10_000], metavar="N", help="default: 1000 10000"
    )
    options.add_argument(
        "--batches",
        type=int,
        default=200,
        metavar="N",
        help="empty batches sent over Ray (default %(default)s)",
    )
    chosen = options.parse_args(arguments)
    python = python_for("ray")  # says what is missing
    same = True
    print(f"{'rows':>9} {'engine':<12} {'wall s':>8} {'CPU s':>8} {'MB':>8}")
    for rows in chosen.rows:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "texts.jsonl"
            write_rows(pairs_of_words(rows), file)
            tables = set()
            for engine in ENGINES:
                wall, cpu, memory, table = cost_of(engine, file, Path(folder))
                tables.add(table)
                print(f"{rows:>9,} {engine:<12} {wall:>8.1f} {cpu:>8.1f} {memory:>8.0f}", flush=True)
            same = same and len(tables) == 1
    print("All tables are equal." if same else "The tables differ.")
    told = subprocess.run(
        [python, "-c", EMPTY, str(chosen.batches)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    started, wall, cpu, single = map(float, told)
    print(
        f"Ray starts in {started:.1f} s. An empty batch among {chosen.batches}: {wall:.0f} ms, of which {cpu:.0f} ms of CPU "
        f"in the run's process; one alone: {single:.2f} s."
    )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
