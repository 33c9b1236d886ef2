"""The estimate after a preview, compared with the actual time, calls and tokens of the whole run.

Runs a command with `--limit`, reads the estimate for all items, resumes with all items, and compares. Without
--command, a rubric judge scores the demo answers on a local server that handles --at-once requests in parallel and
takes --latency seconds for each. --command takes any `generate` or `judge` command without --limit, --out and --db,
e.g. `judge rubric data/demo/answers.csv --backend vllm --model MODEL`. Target: the time is at most a factor of two
outside the estimated range; otherwise the exit status is 1.

    .venv/bin/python benchmarks/forecast.py [--items 4] [--at-once 4] [--latency 0.05] [--command ...]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Said, ScriptedServer

from core.runs.costs import estimate_all
from core.runs.path import saved_run
from core.runs.progress import progress_of, wall_seconds
from core.store import open_store

ROOT = Path(__file__).resolve().parents[1]
FACTOR = 2.0


def server(at_once: int, latency: float) -> ScriptedServer:
    """Return a server that answers so many requests in parallel; the others queue."""
    free = [0.0] * at_once

    def script(body: dict[str, Any], _: int) -> Said:
        place = min(range(at_once), key=free.__getitem__)
        now = time.monotonic()
        free[place] = max(now, free[place]) + latency
        return Said(answer(body), delay=free[place] - now)

    return ScriptedServer(script)


def core(*words: str) -> None:
    """Run a command of Assay."""
    subprocess.run([sys.executable, "-m", "core", *words], cwd=ROOT, check=True)


def measure(command: list[str], items: int, folder: Path) -> int:
    """Print the estimate and the actual values; return 1 if the time is more than a factor of two outside the range."""
    database, out = folder / "assay.db", folder / "out"
    where = ["--out", str(out), "--db", str(database)]
    core(*command, *where, "--limit", str(items))
    with open_store(database) as store:
        told = estimate_all(saved_run(store, 1), progress_of(store, 1))
        core("runs", "resume", "1", *where)
        progress = progress_of(store, 1)
    truth = wall_seconds(progress.run)
    if truth is None or told.seconds_low is None or told.seconds_high is None:
        print(f"no time was estimated or measured: {told}")
        return 1
    calls = sum(cost.calls for cost in progress.costs)
    tokens = sum((cost.input_tokens or 0) + (cost.output_tokens or 0) for cost in progress.costs)
    print(
        f"\nestimated from {told.n_seen} of {told.n_items} items; the last start took {progress.run.start_seconds} s"
    )
    print(f"time    estimated {told.seconds_low:,.1f} to {told.seconds_high:,.1f} s, actual {truth:,.1f} s")
    print(
        f"calls   estimated {told.calls:,}, actual {calls:,}"
        if told.calls is not None
        else "calls   no estimate"
    )
    if told.input_tokens is not None and told.output_tokens is not None:
        print(f"tokens  estimated {told.input_tokens + told.output_tokens:,}, actual {tokens:,}")
    kept = told.seconds_low / FACTOR <= truth <= told.seconds_high * FACTOR
    within = told.seconds_low <= truth <= told.seconds_high
    print("within the range" if within else f"within a factor of {FACTOR:g}" if kept else "NOT kept")
    return 0 if kept else 1


def main() -> int:
    """Measure a rubric judge on the local server, or the command given."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--items", type=int, default=4, help="items of the preview (default %(default)s)")
    options.add_argument(
        "--at-once",
        type=int,
        default=4,
        help="requests that the local server answers in parallel (default %(default)s)",
    )
    options.add_argument(
        "--latency", type=float, default=0.05, help="seconds for each request (default %(default)s)"
    )
    options.add_argument(
        "--command", nargs=argparse.REMAINDER, help="another command, up to the end of the line"
    )
    chosen = options.parse_args()
    local = None if chosen.command else server(chosen.at_once, chosen.latency)
    with tempfile.TemporaryDirectory() as folder, local or nullcontext():
        command = chosen.command or [
            *("judge", "rubric", "data/demo/answers.csv", "--backend", "openai", "--model", "tiny"),
            *("--base-url", local.url if local else ""),
        ]
        return measure(command, chosen.items, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
