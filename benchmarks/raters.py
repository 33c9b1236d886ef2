"""Many raters at once: CPU time of a vote, and time from a press until the page shows "saved" and the next pair.

The app runs as usual, on a new database with 60 questions at 5 levels. The raters are threads of this process with real
websockets on the same machine, so they use part of its processor. Presses arrive at random (exponential gaps, seeded).
CPU is the user and system time of the server process. A vote is lost if the page showed "saved" but the history does
not contain it. There is no target.

With --processes N the app runs as `serve --processes N` behind HAProxy (or --proxy nginx), and CPU is that of all app
processes. More columns then show the CPU of the proxy and of the simulated raters per vote, and doubled votes: lines of
the history beyond the presses on a pair. --kill ends app process 1 by kill -9 in the middle; a rater whose connection
breaks connects again at once, as a browser does. `back` is the longest time from noticing that to the next drawn page.

    .venv/bin/python benchmarks/raters.py [--raters 10 50] [--every 2] [--seconds 30] [--processes 2 [--kill]]
"""

import argparse
import random
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.processes.app_server import AppServer, running
from helpers.processes.raw_rater import DOUBLE_PRESS_SECONDS, Gone, RawRater
from helpers.processes.several_apps import SeveralApps, several_running
from helpers.texts.factories import StudyAtHand, dataset, study_in

from core.cli.serve.proxies import PROXY_NAMES
from core.store import open_store
from core.store.answers import assignments_of, history_of
from core.store.raters import update_rater
from core.study.guidelines import CHOICE_KEYS, wording
from core.study.raters import links

QUESTIONS, ONBOARDED = 60, 4
EVERYBODY = ((1, 2.0), (10, 2.0), (50, 2.0), (100, 2.0), (200, 20.0))
"""Number of raters, and mean seconds between two presses of one rater."""
COME_BACK_SECONDS, _NOTICE_SECONDS = 60, 0.5
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
    presses: Counter[int] = field(default_factory=Counter)
    """Number of presses on each pair."""
    back_seconds: list[float] = field(default_factory=list)
    """For each broken connection, the time until a page was drawn again."""

    def press_until(self, end: float, every: float) -> None:
        """Press with random gaps of `every` seconds on average, never so soon that it counts as a double press."""
        draw = random.Random(self.rater_id)
        due = time.monotonic() + DOUBLE_PRESS_SECONDS + draw.expovariate(1 / every)
        while due < end:
            self._think_until(due)
            self._press(draw.randrange(4))
            soonest = time.monotonic() + DOUBLE_PRESS_SECONDS
            due = max(due + draw.expovariate(1 / every), soonest)

    def _think_until(self, due: float) -> None:
        """Wait. A browser whose connection breaks meanwhile connects again at once."""
        while (left := due - time.monotonic()) > 0:
            time.sleep(min(left, _NOTICE_SECONDS))
            if self.rater.is_gone:
                self._come_back()
                due = max(due, time.monotonic() + DOUBLE_PRESS_SECONDS)

    def _press(self, which: int) -> None:
        number = self.rater.number()
        self.presses[number] += 1
        start = time.perf_counter()
        try:
            self.rater.press(self.rater.choices()[which])
        except TimeoutError:
            self.unanswered += 1
            return
        except (Gone, OSError):
            self.unanswered += 1
            self._come_back()
            return
        said = re.search(r"Pair (\d+) saved: ([A-Z][a-z ]+[a-z])", self.rater.on_screen())
        if said and self.rater.number() != number:
            self.milliseconds.append(1000 * (time.perf_counter() - start))
            # Use the choice on the page, not the pressed one: the page may confirm an earlier press that timed out.
            self.acknowledged.append((int(said[1]), LABELS[said[2]]))
        else:
            self.unanswered += 1

    def _come_back(self) -> None:
        """Connect to the same address until somebody answers."""
        start = time.monotonic()
        while True:
            try:
                self.rater.connect()
                self.rater.go()
                break
            except Exception:
                if time.monotonic() - start > COME_BACK_SECONDS:
                    raise
                time.sleep(0.1)
        self.back_seconds.append(time.monotonic() - start)


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
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="app processes behind a proxy (default: one, without)",
    )
    parser.add_argument("--proxy", choices=PROXY_NAMES, default=PROXY_NAMES[0], help="default %(default)s")
    parser.add_argument(
        "--kill", action="store_true", help="kill -9 one of several app processes in the middle"
    )
    options = parser.parse_args()
    if options.kill and options.processes < 2:
        parser.error("--kill: give --processes 2 or more")
    asked = [(raters, options.every) for raters in options.raters or ()] or EVERYBODY
    for at, (raters, every) in enumerate(asked):
        row = measured(raters, options.seconds, every, options.processes, options.proxy, options.kill)
        if at == 0:
            print(f"| {' | '.join(row)} |")
            print("|---" * len(row) + "|")
        print(f"| {' | '.join(row.values())} |", flush=True)


def measured(
    raters: int,
    seconds: float,
    every: float,
    processes: int = 1,
    proxy: str = PROXY_NAMES[0],
    kill: bool = False,
) -> Mapping[str, str]:
    """Measure on a new database and server; return the line of the table by column."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        at_hand = study_in(store, dataset(QUESTIONS), raters=[f"r{n:03d}" for n in range(raters)])
        with store.writing():
            for link in links(store, at_hand.study):
                update_rater(store, at_hand.study_id, link.rater_id, onboarding=ONBOARDED)
        with _served(store.path, processes, proxy) as app:
            people = [(link.rater_id, link.url(app.url)) for link in links(store, at_hand.study)]
            with RawRater.of_link(people[0][1], keep=False):
                before = app.memory_mib()  # includes everything that the first visitor loads
            pressing = [Pressing(name, RawRater.of_link(url, keep=False)) for name, url in people]
            several = app if isinstance(app, SeveralApps) else None
            begin, own, between = app.processor_seconds(), time.process_time(), _proxy_seconds(several)
            end = time.monotonic() + seconds
            threads = [threading.Thread(target=one.press_until, args=(end, every)) for one in pressing]
            for thread in threads:
                thread.start()
            if kill and several:
                time.sleep(seconds / 2)
                several.kill(1)
            for thread in threads:
                thread.join()
            taken, own = app.processor_seconds() - begin, time.process_time() - own
            between = _proxy_seconds(several) - between
            each = (app.memory_mib() - before) / raters
            for one in pressing:
                one.rater.close()
        lost = sum(_lost(at_hand, one) for one in pressing)
        doubled = sum(_doubled(at_hand, one) for one in pressing)
    times = sorted(ms for one in pressing for ms in one.milliseconds)
    cuts = statistics.quantiles(times, n=20, method="inclusive") if len(times) > 1 else [float("nan")] * 19
    row = {
        "raters": f"{raters}",
        "a vote every s": f"{every:g}",
        "CPU ms per vote": f"{1000 * taken / len(times):.1f}",
        "p50 ms": f"{statistics.median(times):.0f}",
        "p95 ms": f"{cuts[18]:.0f}",
        "slowest ms": f"{times[-1]:.0f}",
        "acknowledged": f"{len(times)}",
        "unanswered": f"{sum(one.unanswered for one in pressing)}",
        "lost": f"{lost}",
        "MiB before": f"{before:.0f}",
        "MiB per session": f"{each:.2f}",
    }
    if several is None:
        return row
    back = [taken for one in pressing for taken in one.back_seconds]
    more = {
        "doubled": f"{doubled}",
        "proxy ms per vote": f"{1000 * between / len(times):.1f}",
        "raters' ms per vote": f"{1000 * own / len(times):.1f}",
        "came back": f"{len(back)}",
        "back s": f"{max(back, default=0):.1f}",
    }
    return {"processes": f"{processes}{', one killed' if kill else ''}", **row, **more}


def _served(database: Path, processes: int, proxy: str) -> AbstractContextManager[AppServer | SeveralApps]:
    return running(database) if processes == 1 else several_running(database, processes, proxy)


def _proxy_seconds(several: SeveralApps | None) -> float:
    return several.proxy_seconds() if several else 0.0


def _lost(at_hand: StudyAtHand, one: Pressing) -> int:
    """Return the number of votes that the page showed as saved but the database does not contain."""
    kept = set(_lines(at_hand, one))
    return sum(said not in kept for said in one.acknowledged)


def _doubled(at_hand: StudyAtHand, one: Pressing) -> int:
    """Return the number of lines of the history beyond the presses on each pair."""
    lines = Counter(number for number, _ in _lines(at_hand, one))
    return sum(max(0, n - one.presses[number]) for number, n in lines.items())


def _lines(at_hand: StudyAtHand, one: Pressing) -> list[tuple[int, str | None]]:
    """Return number and choice of each line of the history of a rater."""
    numbers = {a.key: a.position for a in assignments_of(at_hand.store, at_hand.study_id, one.rater_id)}
    history = [entry.answer for entry in history_of(at_hand.store, at_hand.study_id)]
    return [(numbers[a.key], a.choice) for a in history if a.rater_id == one.rater_id]


if __name__ == "__main__":
    main()
