"""A judge's run whose model is on a server: in one process, and with two workers of a Ray cluster on this machine.

A local server answers every request after a fixed time. CPU of the run in one process says how many requests a second one
process can send, save and judge: only a server that answers more than that is worth asking from a cluster. Both runs must
give the same files, or the exit status is 1. Needs `.venv-ray` (`./run --with ray --setup`).

    .venv/bin/python benchmarks/models_on_ray.py [--texts 1000] [--latency 0.5] [--concurrency 64]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Said, ScriptedServer
from helpers.texts.judge_runs import LEVELS, texts

from core.runs.working.environments import python_for
from core.schema.runs import RUN_FILE

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Took:
    """What one run took."""

    wall: float
    cpu: float
    """Seconds of the run's process, without the processes of Ray."""
    n: int
    """Requests."""
    files: dict[str, bytes]


def measured(engine: str, python: Path, data: Path, options: argparse.Namespace) -> Took:
    """Run the judge once, in a database of its own."""
    folder = data.with_name(engine)
    judge = ("judge", "rubric", str(data), "--out", str(folder), "--db", str(folder.with_suffix(".db")))
    with ScriptedServer(lambda body, n: Said(answer(body, n), delay=options.latency)) as server:
        model = ("--backend", "openai", "--model", "tiny", "--base-url", server.url)
        how = ("--engine", engine, "--concurrency", str(options.concurrency))
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        ended = subprocess.run(
            [str(python), "-m", "core", *judge, *model, *how],
            cwd=ROOT,
            env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        if ended.returncode:
            raise SystemExit(ended.stderr)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != RUN_FILE}
        # The address of the server differs between the runs.
        return Took(
            wall, cpu, len(server.asked), {n: d.replace(server.url.encode(), b"") for n, d in files.items()}
        )


def main() -> int:
    """Measure both runs; returns the exit status."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--texts", type=int, default=1000)
    options.add_argument("--latency", type=float, default=0.5)
    options.add_argument("--concurrency", type=int, default=64)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "texts.jsonl"
        data.write_bytes(texts(max(1, chosen.texts // len(LEVELS))))
        here = measured("local", Path(sys.executable), data, chosen)
        on_ray = measured("ray", python_for("ray"), data, chosen)
    least = here.n * chosen.latency / chosen.concurrency
    print(
        f"{here.n:,} requests of {chosen.latency:g} s, {chosen.concurrency} at once: at least {least:.1f} s"
    )
    print(
        f"one process:       {here.wall:6.1f} s, CPU {here.cpu:6.1f} s, {1000 * here.cpu / here.n:.1f} ms a request"
    )
    print(f"two workers, Ray:  {on_ray.wall:6.1f} s, CPU of its process {on_ray.cpu:.1f} s")
    same = here.files == on_ray.files
    print(f"The same files: {'yes' if same else 'no'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
