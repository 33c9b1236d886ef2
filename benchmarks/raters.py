"""Many raters at once: CPU time of a vote, and time from a press until the page shows "saved" and the next pair.

The app runs as usual, on a new database with 60 questions at 5 levels. The raters are threads of this process with real
websockets on the same machine, so they use part of its processor. Presses arrive at random (exponential gaps, seeded).
CPU is the user and system time of the server process. A vote is lost if the page showed "saved" but the history does
not contain it. There is no target.

    .venv/bin/python benchmarks/raters.py [--raters 10 50] [--every 2] [--seconds 30]
"""

import argparse
import random
import re
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.processes.app_server import running
from helpers.processes.raw_rater import DOUBLE_PRESS_SECONDS, Gone, RawRater
from helpers.texts.factories import StudyAtHand, dataset, study_in

from core.store import open_store
from core.store.answers import assignments_of, history_of
from core.store.raters import update_rater
from core.study.guidelines import CHOICE_KEYS, wording
from core.study.raters import links

QUESTIONS, ONBOARDED = 60, 4
EVERYBODY = ((1, 2.0), (10, 2.0), (50, 2.0), (100, 2.0), (200, 20.0))
"""Number of raters, and mean seconds between two presses of one rater."""
LABELS = {wording({}, "en")[key]: choice for choice, key in CHOICE_KEYS.items()}


@dataclass
class Pressing:
    """One rater, with acknowledged votes and times."""

    rater_id: str
    rater: RawRater
    acknowledged: list[tuple[int, str]] = field(default_factory=list)
    """Number and choice of each vote that the page showed as saved."""
    milliseconds: list[float] = field(default_factory=list)
    unanswered: int = 0

    def press_until(self, end: float, every: float) -> None:
        """Press with random gaps of `every` seconds on average, never so soon that it counts as a double press."""
        draw = random.Random(self.rater_id)
        due = time.monotonic() + DOUBLE_PRESS_SECONDS + draw.expovariate(1 / every)
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            self._press(draw.randrange(4))
            soonest = time.monotonic() + DOUBLE_PRESS_SECONDS
            due = max(due + draw.expovariate(1 / every), soonest)

    def _press(self, which: int) -> None:
        number = self.rater.number()
        start = time.perf_counter()
        try:
            self.rater.press(self.rater.choices()[which])
        except (Gone, TimeoutError):
            self.unanswered += 1
            return
        said = re.search(r"Pair (\d+) saved: ([A-Z][a-z ]+[a-z])", self.rater.on_screen())
        if said and self.rater.number() != number:
            self.milliseconds.append(1000 * (time.perf_counter() - start))
            # Use the choice on the page, not the pressed one: the page may confirm an earlier press that timed out.
            self.acknowledged.append((int(said[1]), LABELS[said[2]]))
        else:
            self.unanswered += 1


def main() -> None:
    """Print one line for each number of raters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--raters",
        type=int,
        nargs="+",
        help=f"numbers of raters to measure (default, with seconds between presses: {EVERYBODY})",
    )
    parser.add_argument(
        "--every", type=float, default=2, help="mean seconds between presses of a rater (default %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=30, help="duration of each measurement (default %(default)s)"
    )
    options = parser.parse_args()
    print(
        "| raters | a vote every s | CPU ms per vote | p50 ms | p95 ms | slowest ms | acknowledged | unanswered | lost "
        "| MiB before | MiB per session |"
    )
    print("|---" * 11 + "|")
    asked = [(raters, options.every) for raters in options.raters or ()]
    for raters, every in asked or EVERYBODY:
        print(measured(raters, options.seconds, every), flush=True)


def measured(raters: int, seconds: float, every: float) -> str:
    """Measure on a new database and server; return one line of the table."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        at_hand = study_in(store, dataset(QUESTIONS), raters=[f"r{n:03d}" for n in range(raters)])
        with store.writing():
            for link in links(store, at_hand.study):
                update_rater(store, at_hand.study_id, link.rater_id, onboarding=ONBOARDED)
        with running(store.path) as app:
            people = [(link.rater_id, link.url(app.url)) for link in links(store, at_hand.study)]
            with RawRater.of_link(people[0][1], keep=False):
                before = app.memory_mib()  # includes everything that the first visitor loads
            pressing = [Pressing(name, RawRater.of_link(url, keep=False)) for name, url in people]
            begin, end = app.processor_seconds(), time.monotonic() + seconds
            threads = [threading.Thread(target=one.press_until, args=(end, every)) for one in pressing]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            taken = app.processor_seconds() - begin
            each = (app.memory_mib() - before) / raters
            for one in pressing:
                one.rater.close()
        lost = sum(_lost(at_hand, one) for one in pressing)
    times = sorted(ms for one in pressing for ms in one.milliseconds)
    cuts = statistics.quantiles(times, n=20, method="inclusive") if len(times) > 1 else [float("nan")] * 19
    unanswered = sum(one.unanswered for one in pressing)
    return (
        f"| {raters} | {every:g} | {1000 * taken / len(times):.1f} | {statistics.median(times):.0f} | {cuts[18]:.0f} | {times[-1]:.0f} | {len(times)} "
        f"| {unanswered} | {lost} | {before:.0f} | {each:.2f} |"
    )


def _lost(at_hand: StudyAtHand, one: Pressing) -> int:
    """Return the number of votes that the page showed as saved but the database does not contain."""
    numbers = {a.key: a.position for a in assignments_of(at_hand.store, at_hand.study_id, one.rater_id)}
    history = [entry.answer for entry in history_of(at_hand.store, at_hand.study_id)]
    kept = {(numbers[a.key], a.choice) for a in history if a.rater_id == one.rater_id}
    return sum(said not in kept for said in one.acknowledged)


if __name__ == "__main__":
    main()
