"""Time to read what the page Operation and `runs disk` show, and to delete runs, in a database with many runs.

Builds a database: runs with 200 items of 1.2 kB, two calls each with a reply and a stored request, and an input file of
24 kB. Prints wall and CPU seconds of each step. Another process saves a setting every 50 ms while runs are deleted and
the database is compacted, as a rater saves a vote; the longest time that it waited is printed, too.

    .venv/bin/python benchmarks/housekeeping.py [--runs 1000] [--items 200]
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.runs.overview import overview
from core.runs.overview.deleting import delete, deletion_of
from core.runs.overview.listing import (
    cost_table,
    failure_table,
    model_table,
    run_lines,
    run_sizes,
    size_table,
)
from core.runs.overview.machine import Processes
from core.runs.overview.space import house_of, memory_table, space_table
from core.schema.runs import Run
from core.store import Store, open_store
from core.store.runs import insert_run, list_runs
from core.store.upkeep import compact

ROOT = Path(__file__).resolve().parents[1]
MOMENT = "2026-01-01T10:00:00.000Z"
WRITER = """
import sys, time
from pathlib import Path
from core.store import open_store
from core.store.studies import write_setting
longest = 0.0
with open_store(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    while not Path(sys.argv[2]).exists():
        begun = time.monotonic()
        write_setting(store, "vote", str(begun))
        longest = max(longest, time.monotonic() - begun)
        time.sleep(0.05)
print(longest)
"""


def build(store: Store, n_runs: int, n_items: int) -> None:
    """Fill the database."""
    drawn = random.Random(1)
    words = [hashlib.md5(str(number).encode()).hexdigest()[:7] for number in range(2_000)]

    def text(n: int) -> str:
        return " ".join(drawn.choices(words, k=n))

    for number in range(n_runs):
        with store.writing():
            state = "stopped" if number % 5 == 0 else "done"
            new = Run(0, "rubric", state, {}, {}, f"texts-{number}.jsonl", "00", n_items, None, "", "0")
            run_id = insert_run(store, new, text(3_000).encode()).run_id
            store.change_all(
                "insert into run_item values (?, ?, ?, 'done', ?, '[]', 0.5, ?)",
                ((run_id, at, f"q{at}", json.dumps({"text": text(150)}), MOMENT) for at in range(n_items)),
            )
            keys = [
                (at, hashlib.sha256(f"{number} {at} {call}".encode()).hexdigest())
                for at in range(n_items)
                for call in (0, 1)
            ]
            store.change_all(
                "insert into run_call (run_id, position, key, step, cached, input_tokens, output_tokens, seconds, at_utc) "
                "values (?, ?, ?, 'judge', 0, 1000, 100, 1.0, ?)",
                ((run_id, at, key, MOMENT) for at, key in keys),
            )
            store.change_all(
                "insert into reply (key, text, detail, seconds, created_utc) values (?, ?, '', 1.0, ?)",
                ((key, text(60), MOMENT) for _, key in keys),
            )
            store.change_all(
                "insert into request values (?, ?)",
                ((key, zlib.compress(text(60).encode())) for _, key in keys),
            )
    store.forget()


def timed(what: str, do: Callable[[], object]) -> None:
    """Print how long a step takes."""
    wall, cpu = time.monotonic(), time.process_time()
    do()
    print(f"| {what} | {time.monotonic() - wall:.2f} | {time.process_time() - cpu:.2f} |", flush=True)


def with_a_writer(database: Path, do: Callable[[], object]) -> float:
    """The longest time in seconds that another process waited for its own short write."""
    over = database.with_name("over")
    over.unlink(missing_ok=True)
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(database), str(over)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    do()
    over.touch()
    return float(child.stdout.read())


def main() -> int:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--items", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "assay.db"
        with open_store(database) as store:
            build(store, options.runs, options.items)
        print(
            f"{options.runs:,} runs, {database.stat().st_size / 1e6:,.0f} MB\n\n| step | wall, s | CPU, s |\n|---|---|---|"
        )
        with open_store(database) as store:
            timed("What runs", lambda: (overview(store), Processes()))

            def costs() -> None:
                lines = run_lines(store)
                cost_table(lines), model_table(lines), failure_table(lines)

            def disk() -> None:
                house = house_of(store)
                space_table(house), memory_table(house), size_table(run_sizes(store))

            timed("Cost and failures", costs)
            timed("Disk and memory", disk)
            numbers = [run.run_id for run in list_runs(store)]
            tenth = numbers[: max(1, len(numbers) // 10)]
            waited = []
            timed(f"Show what {len(tenth)} runs would free", lambda: deletion_of(store, tenth))
            timed(
                f"Delete {len(tenth)} runs",
                lambda: waited.append(with_a_writer(database, lambda: delete(store, tenth))),
            )
            timed("Compact", lambda: waited.append(with_a_writer(database, lambda: compact(store))))
        print(
            f"\nLongest wait of another process's write: {waited[0]:.2f} s (deleting), {waited[1]:.2f} s (compacting)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
