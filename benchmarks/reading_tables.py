"""Tables of scores and ratings read column by column, compared with reading them row by row.

Each reading runs in a child process and prints its processor seconds and the memory that it adds at its peak. A table from
which a row cannot be read in columns is read row by row. The results are equal. The target is half of the CPU; otherwise
the exit status is 1. Fewer than 100,000 rows have no target.

    .venv/bin/python benchmarks/reading_tables.py [--rows 100000] [--metrics 16] [--beside CHECKOUT]

--beside: folder of another checkout, which reads the same files in its own way.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]
ROWS, TARGET = 100_000, 2.0
SYSTEMS, RATERS = 5, 4
WAYS = ("columns", "rows")


def main(argv: Sequence[str] | None = None) -> int:
    """Print every reading; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of each table (default %(default)s)")
    parser.add_argument("--metrics", type=int, default=16, help="metrics (default %(default)s)")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="another checkout to compare with")
    # What a child process does: the parent stays small, because a child's peak begins at its parent's.
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.write:
        return _write(options.write, options.rows, options.metrics)
    if options.read:
        return _read(*options.read)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        _child("--write", folder, "--rows", str(options.rows), "--metrics", str(options.metrics))
        for path in sorted(Path(folder).iterdir()):
            seconds = {way: _told(path, way, HERE, way) for way in WAYS}
            if options.beside is not None:
                _told(path, "other checkout", options.beside, "columns")
            ratios.append(seconds["rows"] / seconds["columns"])
            print(f"{path.name:<14} {ratios[-1]:.1f} times less CPU than row by row", flush=True)
    return 1 if options.rows >= ROWS and min(ratios) < TARGET else 0


def _child(*options: str) -> str:
    command = [sys.executable, __file__, *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _told(path: Path, name: str, checkout: Path, way: str) -> float:
    """Read a file in a child process, print what it costs and return the processor seconds."""
    cpu, megabytes = map(float, _child("--read", str(checkout.resolve()), way, str(path)).split())
    print(f"{path.name:<14} {name:<15}{cpu:>8.2f} s CPU{megabytes:>8,.0f} MB added", flush=True)
    return cpu


def _write(folder: Path, n_rows: int, n_metrics: int) -> int:
    """Write scores with one column a metric (CSV and Parquet), scores with one row a score, and ratings."""
    import pyarrow.csv
    import pyarrow.parquet

    values = np.random.default_rng(0).normal(size=(n_rows, n_metrics)).round(6).tolist()
    names = [f"q{row // SYSTEMS},s{row % SYSTEMS}" for row in range(n_rows)]
    wide = [",".join([name, *map(repr, own)]) for name, own in zip(names, values, strict=True)]
    long = [
        f"{name},m{metric},{value}"
        for name, own in zip(names[: n_rows // n_metrics], values, strict=False)
        for metric, value in enumerate(own)
    ]
    rated = [f"{name},r{row % RATERS},{values[row][0]}" for row, name in enumerate(names)]
    headers = {
        "wide.csv": (",".join(["item,system", *(f"m{metric}" for metric in range(n_metrics))]), wide),
        "long.csv": ("item,system,metric,score", long),
        "ratings.csv": ("item,system,rater,score", rated),
    }
    for name, (header, lines) in headers.items():
        (folder / name).write_text("\n".join([header, *lines]) + "\n", "utf-8")
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "wide.csv"), folder / "wide.parquet")
    return 0


def _read(checkout: str, way: str, file: str) -> int:
    """Read one file as a checkout does and print the processor seconds and the memory added."""
    sys.path.insert(0, checkout)
    import pyarrow.parquet  # noqa: F401  loaded before memory is measured

    from core.formats import ratings, scores
    from core.formats.registry import format_of

    path = Path(file)
    gives = "ratings" if path.name.startswith("ratings") else "scores"
    read = ratings.read_ratings if gives == "ratings" else scores.read_scores
    data = path.read_bytes()
    rows = format_of(gives, data, path.name).rows
    before, begin = _peak(), time.process_time()
    # Under another name, the reader of rows is used: the readers of scores and ratings recognise their own.
    read(data, path.name, rows=rows if way == "columns" else lambda *given: rows(*given))
    print(time.process_time() - begin, _peak() - before)
    return 0


def _peak() -> float:
    """The peak of this process's memory so far, in MB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    sys.exit(main())
