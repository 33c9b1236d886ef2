"""CPU time of the whole command `score`, with start, database and table, compared with the libraries.

Rows are as in `metrics.py`: every text has its own reference and is scored by the 16 configurations in a new database.
CPU time is that of the command and of all processes that it starts. The libraries score a sample as in `metrics.py`,
and their time is scaled to the rows. Targets: ten times the rows take at most 11 times the CPU, and at 100,000 rows the
command takes at most a sixth of the libraries' CPU. At 10,000 rows, two seconds of start are a quarter of the CPU.

    .venv/bin/python benchmarks/score_command.py [--rows 10000 100000] [--beside CHECKOUT]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from benchmarks.metrics import library_for, pairs_of_words
from core.metrics.registry import find_metrics
from core.metrics.scorer import ScoringPair

ROOT = Path(__file__).resolve().parents[1]
FULL = (10_000, 100_000)
MOST_GROWTH = 11.0
"""Maximum ratio of CPU for ten times the rows."""
LEAST_GAIN = 6.0
"""Minimum ratio of the libraries' CPU to that of the command."""


@dataclass(frozen=True)
class Cost:
    """Cost of one run of the command."""

    rows: int
    cpu: float
    """CPU seconds of all its processes."""
    wall: float
    own: float
    """Peak resident memory of the command's process in MiB; 0 if unknown."""
    worker: float
    """Peak resident memory of the largest process that it started, in MiB."""
    together: float
    """Sum of the peaks of all processes, in MiB: at least the peak of the sum."""


def write_rows(pairs: Iterable[ScoringPair], path: Path) -> None:
    """Write a row for each text, each with its own item."""
    with path.open("w", encoding="utf-8") as file:
        for number, pair in enumerate(pairs):
            row = {"item_id": f"q{number}", "system": "one", "text": pair.text, "reference": pair.reference}
            file.write(json.dumps(row) + "\n")


def command_cost(checkout: Path, file: Path, rows: int, before: str = "") -> Cost:
    """Run the command of a checkout on a file. Exits if it fails or leaves out a score.

    before: code that the command's process runs first.
    """
    start = ["-m", "core"]
    if before:
        start = [
            "-c",
            f"{before}\nimport runpy\nrunpy.run_module('core', run_name='__main__', alter_sys=True)",
        ]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scores.csv"
        arguments = ["score", str(file), "--out", str(out), "--db", str(Path(folder) / "new.db")]
        begun = time.monotonic()
        with (Path(folder) / "said.txt").open("w+", encoding="utf-8") as said:
            process = subprocess.Popen(
                [sys.executable, *start, *arguments], cwd=checkout, stdout=said, stderr=said
            )
            peaks: dict[int, float] = {}
            while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
                peaks |= peaks_of(process.pid)
                time.sleep(0.1)
            _, status, usage = ended
            process.returncode = os.waitstatus_to_exitcode(status)
            wall = time.monotonic() - begun
            said.seek(0)
            if process.returncode != 0:
                raise SystemExit(f"the command failed:\n{said.read()}")
        with out.open("rb") as written:
            lines = sum(1 for _ in written)
        if lines != 16 * rows + 1:
            raise SystemExit(f"the table has {lines} lines instead of {16 * rows + 1}")
    own = peaks.pop(process.pid, 0.0)
    others = list(peaks.values())
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(rows, cpu, wall, own, max(others, default=0.0), own + sum(others))


def peaks_of(process: int) -> dict[int, float]:
    """Return process -> peak resident memory in MiB for a process and its children; empty except on Linux."""
    found = {}
    try:
        started = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        started = []
    for number in (process, *map(int, started)):
        with suppress(OSError, StopIteration):  # the process may have ended
            status = Path(f"/proc/{number}/status").read_text()
            peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
            found[number] = int(peak.split()[1]) / 1024
    return found


def library_seconds(pairs: Sequence[ScoringPair]) -> float:
    """Return the CPU seconds of the libraries for all configurations, starting with empty caches."""
    for kept in (Tokenizer13a.__call__, TokenizerRegexp.__call__):
        kept.cache_clear()
    libraries = [library_for(spec) for spec in find_metrics(["lexical"])]
    begun = time.process_time()
    for library in libraries:
        for pair in pairs:
            library(pair.text, pair.reference or "")
    return time.process_time() - begun


def told(name: str, cost: Cost, libraries: float) -> str:
    """Return one line of the table."""
    return (
        f"{name:<10} {cost.rows:>9,} {cost.cpu:>8.1f} {cost.wall:>8.1f} {cost.own:>8.0f} {cost.worker:>8.0f} "
        f"{libraries:>11.1f} {libraries / cost.cpu:>6.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 1 if a target is missed at full size."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument(
        "--rows",
        type=int,
        nargs="+",
        default=list(FULL),
        metavar="N",
        help="numbers of rows (default: 10000 100000)",
    )
    options.add_argument(
        "--sample", type=int, default=1_000, help="number of texts for the libraries (default %(default)s)"
    )
    options.add_argument(
        "--beside",
        type=Path,
        metavar="CHECKOUT",
        help="also run the command of another checkout on the same rows",
    )
    options.add_argument(
        "--beside-rows",
        type=int,
        metavar="N",
        help="maximum number of rows for the other checkout (default: all)",
    )
    chosen = options.parse_args(arguments)
    sizes = sorted(chosen.rows)
    pairs = pairs_of_words(max(*sizes, chosen.sample))
    checkouts = {"here": ROOT} | ({} if chosen.beside is None else {"beside": chosen.beside.resolve()})
    print(
        f"{'checkout':<10} {'rows':>9} {'CPU s':>8} {'wall s':>8} {'MiB':>8} {'worker':>8} {'libraries s':>11} {'times':>6}"
    )
    costs: dict[str, list[Cost]] = {name: [] for name in checkouts}
    gains = []
    for size in sizes:
        # Measured again for each size, because other work on the machine changes the speed of the CPU.
        libraries = library_seconds(pairs[: chosen.sample]) * size / chosen.sample
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "texts.jsonl"
            write_rows(pairs[:size], file)
            for name, checkout in checkouts.items():
                if name == "beside" and chosen.beside_rows is not None and size > chosen.beside_rows:
                    continue
                cost = command_cost(checkout, file, size)
                costs[name].append(cost)
                print(told(name, cost, libraries), flush=True)
                if name == "here":
                    gains.append(libraries / cost.cpu)
    broken = []
    for name, found in costs.items():
        if len(found) > 1:
            growth, times = found[-1].cpu / found[0].cpu, found[-1].rows / found[0].rows
            print(
                f"{name}: {times:g} times the rows take {growth:.1f} times the CPU (target: at most 11 for 10 times)"
            )
            if name == "here" and growth > MOST_GROWTH:
                broken.append("linear growth")
    print(
        f"{gains[-1]:.1f} times less CPU than the libraries at {sizes[-1]:,} rows (target: {LEAST_GAIN:g} at {FULL[-1]:,})"
    )
    if gains[-1] < LEAST_GAIN:
        broken.append("a sixth of the libraries' CPU")
    if tuple(sizes) != FULL:
        return 0
    if broken:
        print(f"Targets missed: {', '.join(broken)}.")
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main())
