"""The forecast after a preview against the truth: time, calls and tokens of the whole run.

Runs a command with `--limit`, reads what the product tells for all items, resumes with all, and compares by the clock.
Without --command: rubric judges the demonstration's answers on a local server that answers --at-once requests at once
and takes --latency seconds for each. With it: any `generate` or `judge` command of your own, without --limit, --out and
--db, such as `judge rubric data/demo/answers.csv --backend vllm --model MODEL`. Asked for: the time lies within the
range told, or at most a factor of two away from it, or the exit status is 1.

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
from core.runs.path import at_hand
from core.runs.progress import progress_of, wall_seconds
from core.store import open_store

ROOT = Path(__file__).resolve().parents[1]
FACTOR = 2.0


def server(at_once: int, latency: float) -> ScriptedServer:
    """Answers so many requests at once; the others wait in line."""
    free = [0.0] * at_once

    def script(body: dict[str, Any], _: int) -> Said:
        place = min(range(at_once), key=free.__getitem__)
        now = time.monotonic()
        free[place] = max(now, free[place]) + latency
        return Said(answer(body), delay=free[place] - now)

    return ScriptedServer(script)


def core(*words: str) -> None:
    """A command of the product."""
    subprocess.run([sys.executable, "-m", "core", *words], cwd=ROOT, check=True)


def measure(command: list[str], items: int, folder: Path) -> int:
    """Print the forecast beside the truth; 1 where the truth is more than a factor of two outside the range."""
    database, out = folder / "assay.db", folder / "out"
    where = ["--out", str(out), "--db", str(database)]
    core(*command, *where, "--limit", str(items))
    with open_store(database) as store:
        told = estimate_all(at_hand(store, 1), progress_of(store, 1))
        core("runs", "resume", "1", *where)
        progress = progress_of(store, 1)
    truth = wall_seconds(progress.run)
    if truth is None or told.seconds_low is None or told.seconds_high is None:
        print(f"no time was told, or none was measured: {told}")
        return 1
    calls = sum(cost.calls for cost in progress.costs)
    tokens = sum((cost.input_tokens or 0) + (cost.output_tokens or 0) for cost in progress.costs)
    print(
        f"\ntold from {told.n_seen} of {told.n_items} items; the last start took {progress.run.start_seconds} s"
    )
    print(f"time    told {told.seconds_low:,.1f} to {told.seconds_high:,.1f} s; it took {truth:,.1f} s")
    print(
        f"calls   told {told.calls:,}; there were {calls:,}" if told.calls is not None else "calls   not told"
    )
    if told.input_tokens is not None and told.output_tokens is not None:
        print(f"tokens  told {told.input_tokens + told.output_tokens:,}; there were {tokens:,}")
    kept = told.seconds_low / FACTOR <= truth <= told.seconds_high * FACTOR
    within = told.seconds_low <= truth <= told.seconds_high
    print("within the range" if within else f"within a factor of {FACTOR:g}" if kept else "NOT kept")
    return 0 if kept else 1


def main() -> int:
    """The product's command on the local server, or one of your own."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--items", type=int, default=4, help="of the preview")
    options.add_argument(
        "--at-once", type=int, default=4, help="requests that the local server answers at once"
    )
    options.add_argument("--latency", type=float, default=0.05, help="seconds a request")
    options.add_argument("--command", nargs=argparse.REMAINDER, help="your own, to the end of the line")
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
