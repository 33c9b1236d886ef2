"""Several processes save votes in one database: time of a save, turns of each process, errors.

Each process holds one connection and saves votes of its own raters through the desk that the page uses: one transaction
each. --rate paces all processes together (random gaps, seeded); 0 is as fast as they can. Fewest and most are the votes
saved by the process with the fewest and the most. Lost are answers in the database that differ from the last one saved without
an error. There is no target.

    .venv/bin/python benchmarks/writers.py [--writers 2 4 8] [--rate 0 40] [--seconds 10]
"""

import argparse
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.texts.factories import StudyAtHand, dataset, study_in

from core.errors import AssayError
from core.schema.study import CHOICES
from core.store import open_store
from core.store.answers import answers_of, assignments_of
from core.study.blinding import open_desk

QUESTIONS = 60


@dataclass
class Saved:
    """What one process saved."""

    rater_id: str
    milliseconds: list[float] = field(default_factory=list)
    errors: int = 0
    last: dict[int, str] = field(default_factory=dict)
    """Number of a pair -> choice saved last without an error."""


def main() -> None:
    """Print one line for each number of writers and rate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 2, 4, 8], help="default 1 2 4 8")
    parser.add_argument(
        "--rate",
        type=float,
        nargs="+",
        default=[40, 0],
        help="votes a second of all; 0: no pause (default 40 0)",
    )
    parser.add_argument("--seconds", type=float, default=10, help="default %(default)s")
    options = parser.parse_args()
    for at, (writers, rate) in enumerate((w, r) for r in options.rate for w in options.writers):
        row = measured(writers, rate, options.seconds)
        if at == 0:
            print(f"| {' | '.join(row)} |\n" + "|---" * len(row) + "|")
        print(f"| {' | '.join(row.values())} |", flush=True)


def measured(writers: int, rate: float, seconds: float) -> Mapping[str, str]:
    """Measure on a new database; return the line of the table by column."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        raters = [f"r{number}" for number in range(writers)]
        at_hand = study_in(store, dataset(QUESTIONS), raters=raters)
        said: Queue[Saved] = multiprocessing.Queue()
        gap = writers / rate if rate else 0.0
        processes = [
            multiprocessing.Process(
                target=save_votes, args=(store.path, name, at_hand.tokens[name], gap, seconds, said)
            )
            for name in raters
        ]
        for process in processes:
            process.start()
        results = [said.get() for _ in processes]
        for process in processes:
            process.join()
        lost = sum(_lost(at_hand, one) for one in results)
    times = sorted(ms for one in results for ms in one.milliseconds)
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    counts = [len(one.milliseconds) for one in results]
    return {
        "writers": f"{writers}",
        "votes a second asked": f"{rate:g}" if rate else "no pause",
        "saved a second": f"{len(times) / seconds:.0f}",
        "p50 ms": f"{cuts[49]:.1f}",
        "p95 ms": f"{cuts[94]:.1f}",
        "p99 ms": f"{cuts[98]:.1f}",
        "slowest ms": f"{times[-1]:.0f}",
        "fewest": f"{min(counts)}",
        "most": f"{max(counts)}",
        "errors": f"{sum(one.errors for one in results)}",
        "lost": f"{lost}",
    }


def save_votes(path: Path, rater: str, token: str, gap: float, seconds: float, said: "Queue[Saved]") -> None:
    """Save one vote after another for so many seconds, and hand over what became of them."""
    draw, own = random.Random(token), Saved(rater)
    with open_store(path) as store:
        desk = open_desk(store, token)
        assert desk is not None
        due = time.monotonic()
        end = due + seconds
        while time.monotonic() < end:
            due += draw.expovariate(1 / gap) if gap else 0.0
            time.sleep(max(0.0, min(due, end) - time.monotonic()))
            number, choice = 1 + draw.randrange(desk.total), CHOICES[draw.randrange(4)]
            start = time.perf_counter()
            try:
                desk.save_choice(number, choice, seconds=2.5, diff_used="own_a0")
            except AssayError:
                own.errors += 1
                own.last.pop(number, None)
                continue
            own.milliseconds.append(1000 * (time.perf_counter() - start))
            own.last[number] = choice
    said.put(own)


def _lost(at_hand: StudyAtHand, one: Saved) -> int:
    numbers = {a.key: a.position for a in assignments_of(at_hand.store, at_hand.study_id, one.rater_id)}
    answers = answers_of(at_hand.store, at_hand.study_id, one.rater_id)
    kept = {numbers[a.key]: a.choice for a in answers}
    return sum(kept.get(number) != choice for number, choice in one.last.items())


if __name__ == "__main__":
    main()
