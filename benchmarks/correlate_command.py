"""`correlate` on 10,000 rows and 16 metrics, compared with a loop over scipy's functions.

The command runs in a child process: with its default, where resampling stops when the intervals settle, and with 10,000
resamples. Every item has rated texts of five systems; some metrics have ties. Processor seconds are those of the child
and its threads, from start to end. The loop computes the same three coefficients over resampled rows and over resampled
items. It is timed on a few resamples and extrapolated to 10,000.

Targets: 12 s for the default and 40 s for 10,000 resamples; otherwise the exit status is 1. Fewer rows have no target.

    .venv/bin/python benchmarks/correlate_command.py [--rows 10000] [--metrics 16] [--resamples 10000] [--few-ratings]
                                                     [--beside CHECKOUT]

--beside: folder of another checkout, whose command runs on the same file.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, pearsonr, spearmanr

HERE = Path(__file__).resolve().parents[1]
SYSTEMS, LOOPED = 5, 2
ROWS, METRICS, RESAMPLES = 10_000, 16, 10_000
DEFAULT_SECONDS, FULL_SECONDS = 12.0, 40.0


@dataclass(frozen=True)
class Cost:
    """Processor seconds, wall seconds and peak memory of a run."""

    cpu: float
    wall: float
    megabytes: float


def main(argv: Sequence[str] | None = None) -> int:
    """Print all runs as a table; return 1 if a target is missed."""
    options = _parsed(argv)
    if options.rows < 2 * SYSTEMS or options.metrics < 1 or options.resamples < 1:
        print(f"At least {2 * SYSTEMS} rows, one metric and one resample are needed.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        scores, ratings = _written(Path(folder), options.rows, options.metrics, options.few_ratings)
        full = ["--resamples", str(options.resamples)]
        print(
            f"{options.rows:,} rows, {options.metrics} metrics, {options.resamples:,} resamples in the full run"
        )
        default = _told("default", _run(HERE, scores, ratings, []))
        whole = _told("in full", _run(HERE, scores, ratings, full))
        if options.beside is not None:
            _told("other checkout, default", _run(options.beside, scores, ratings, []))
            _told("other checkout, in full", _run(options.beside, scores, ratings, full))
        loop = _loop(scores, ratings) * options.resamples
        print(
            f"{'loop over scipy, extrapolated':<32}{loop:>9,.0f} s CPU, {loop / whole.cpu:,.0f} times as much"
        )
    if (options.rows, options.metrics, options.resamples) != (ROWS, METRICS, RESAMPLES):
        return 0
    kept = default.cpu <= DEFAULT_SECONDS and whole.cpu <= FULL_SECONDS
    print(f"targets {DEFAULT_SECONDS:g} s and {FULL_SECONDS:g} s: {'kept' if kept else 'NOT kept'}")
    return 0 if kept else 1


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS, help="rated texts (default %(default)s)")
    parser.add_argument("--metrics", type=int, default=METRICS, help="metrics (default %(default)s)")
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="resamples of the full run (default %(default)s)"
    )
    parser.add_argument(
        "--few-ratings", action="store_true", help="use whole ratings from 0 to 5, with many ties"
    )
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="another checkout to compare with")
    return parser.parse_args(argv)


def _written(folder: Path, n_rows: int, n_metrics: int, few: bool) -> tuple[Path, Path]:
    """Write a table of scores and a file of ratings of the same texts; return both paths."""
    rng = np.random.default_rng(0)
    n_items = -(-n_rows // SYSTEMS)
    names = [(f"q{item}", f"s{system}") for item in range(n_items) for system in range(SYSTEMS)][:n_rows]
    quality = np.repeat(rng.normal(size=n_items) / 2, SYSTEMS)[:n_rows] + rng.normal(size=n_rows)
    ratings = quality + rng.normal(size=n_rows) / 2
    if few:
        ratings = np.clip(np.round(ratings + 2.5), 0, 5)
    scores = quality[:, None] * np.linspace(0.3, 1, n_metrics) + rng.normal(size=(n_rows, n_metrics))
    scores[:, 3::4] = np.round(scores[:, 3::4], 1)
    _write(folder / "scores.csv", [f"metric{k}" for k in range(n_metrics)], names, scores)
    _write(folder / "ratings.csv", ["score"], names, ratings[:, None])
    return folder / "scores.csv", folder / "ratings.csv"


def _write(path: Path, columns: list[str], names: list[tuple[str, str]], values: np.ndarray) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", *columns])
        writer.writerows([*name, *map(repr, row)] for name, row in zip(names, values.tolist(), strict=True))


def _run(checkout: Path, scores: Path, ratings: Path, further: list[str]) -> Cost:
    """Run the command of a checkout. Raises RuntimeError if it fails."""
    command = [sys.executable, "-m", "core", "correlate", str(scores), "--with", "human"]
    command += ["--human", str(ratings), "--json", *further]
    environment = {**os.environ, "ASSAY_DB": str(scores.with_name("none.db"))}
    begin = time.perf_counter()
    with scores.with_name("said").open("w+") as said:
        child = subprocess.Popen(
            command, cwd=checkout, env=environment, stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begin
        if child.returncode:
            said.seek(0)
            raise RuntimeError(f"correlate in {checkout} failed: {said.read()}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / unit)


def _told(name: str, cost: Cost) -> Cost:
    print(
        f"{name:<32}{cost.cpu:>9.1f} s CPU{cost.wall:>9.1f} s wall{cost.megabytes:>9,.0f} MB peak",
        flush=True,
    )
    return cost


def _loop(scores: Path, ratings: Path) -> float:
    """Return the processor seconds for one resample of rows and one of items."""
    table = np.genfromtxt(scores, delimiter=",", skip_header=1)[:, 2:]
    target = np.genfromtxt(ratings, delimiter=",", skip_header=1)[:, 2]
    n = target.size
    items = np.array_split(np.arange(n), range(SYSTEMS, n, SYSTEMS))
    rng = np.random.default_rng(0)
    begin = time.process_time()
    for _ in range(LOOPED):
        of_rows = rng.integers(0, n, n)
        of_items = np.concatenate([items[item] for item in rng.integers(0, len(items), len(items))])
        for rows in (of_rows, of_items):
            for column in table.T:
                for coefficient in (pearsonr, spearmanr, kendalltau):
                    coefficient(column[rows], target[rows])
    return (time.process_time() - begin) / LOOPED


if __name__ == "__main__":
    sys.exit(main())
