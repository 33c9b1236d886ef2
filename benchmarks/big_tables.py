"""Big tables: the whole command `score` on up to a million rows and 16 lexical metrics, with its memory.

Rows are as in `score_command.py`, and so are the libraries: they score a sample, and their time is scaled. Texts and scores of a
big table lie in Parquet beside the database, so that memory does not grow with the rows. Each size up to --ordinary is also
scored the ordinary way, which holds the table whole. CPU seconds and memory are those of the command and of all processes that it
starts; the written table has a line for each score. Targets: at most 1.5 GB for all processes together, and a row of the
largest table costs at most 1.1 times the CPU of a row of the smallest.

    .venv/bin/python benchmarks/big_tables.py [--rows 10000 100000 1000000] [--ordinary 100000]
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.metrics import each_pair, pairs_of_words
from benchmarks.score_command import ROOT, Cost, command_cost, library_seconds, write_rows
from core.schema.big_tables import BIG_ROWS

FULL = (10_000, 100_000, 1_000_000)
MOST_MIB = 1.5e9 / 2**20
MOST_GROWTH = 1.1
"""Maximum ratio of the CPU of a row of the largest table to that of the smallest."""
AS_TABLE = "from core.schema import big_tables\nbig_tables.BIG_ROWS = 0"
"""Makes a table of any size a big one."""
AS_ORDINARY = "from core.schema import big_tables\nbig_tables.BIG_ROWS = 10**12"


def told(way: str, cost: Cost, smallest: Cost, libraries: float) -> str:
    """Return one line of the table."""
    growth = cost.cpu / cost.rows / (smallest.cpu / smallest.rows)
    return (
        f"{way:<9} {cost.rows:>10,} {cost.cpu:>8.1f} {cost.wall:>8.1f} {cost.rows / cost.wall:>8,.0f} {growth:>8.2f} "
        f"{cost.own:>8.0f} {cost.together:>8.0f} {libraries:>11.1f} {libraries / cost.cpu:>6.1f}"
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
        help="numbers of rows (default: 10000 100000 1000000)",
    )
    options.add_argument(
        "--ordinary",
        type=int,
        default=BIG_ROWS,
        metavar="N",
        help="largest number of rows that is also scored the ordinary way (default %(default)s)",
    )
    options.add_argument(
        "--sample", type=int, default=1_000, help="number of texts for the libraries (default %(default)s)"
    )
    chosen = options.parse_args(arguments)
    sizes, sample = sorted(chosen.rows), pairs_of_words(chosen.sample)
    print(
        f"{'way':<9} {'rows':>10} {'CPU s':>8} {'wall s':>8} {'rows/s':>8} {'CPU/row':>8} {'MiB run':>8} {'MiB all':>8} "
        f"{'libraries s':>11} {'times':>6}"
    )
    costs: list[Cost] = []
    ordinary: list[Cost] = []
    for size in sizes:
        # Measured again for each size, because other work on the machine changes the speed of the CPU.
        libraries = library_seconds(sample) * size / chosen.sample
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "texts.jsonl"
            write_rows(each_pair(size), file)
            costs.append(command_cost(ROOT, file, size, AS_TABLE))
            print(told("big table", costs[-1], costs[0], libraries), flush=True)
            if size <= chosen.ordinary:
                ordinary.append(command_cost(ROOT, file, size, AS_ORDINARY))
                print(told("ordinary", ordinary[-1], ordinary[0], libraries), flush=True)
    first, last = costs[0], costs[-1]
    growth, most = last.cpu / last.rows / (first.cpu / first.rows), max(cost.together for cost in costs)
    print(
        f"A row of {last.rows:,} takes {growth:.2f} times the CPU of a row of {first.rows:,} (target: at most {MOST_GROWTH}); "
        f"all processes together take at most {most:.0f} MiB (target: {MOST_MIB:.0f})."
    )
    if tuple(sizes) != FULL:
        return 0
    missed = [*(["linear growth"] if growth > MOST_GROWTH else []), *(["memory"] if most > MOST_MIB else [])]
    if missed:
        print(f"Targets missed: {', '.join(missed)}.")
    return int(bool(missed))


if __name__ == "__main__":
    raise SystemExit(main())
