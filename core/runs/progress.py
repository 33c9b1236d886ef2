"""Progress, speed and cost of a run, for pages, commands and the worker."""

import math
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from core.errors import counted
from core.runs.asked import ModelSettings, running_of
from core.runs.kinds import counts_in_items, kind_named
from core.schema.runs import Run, RunState, StepCost
from core.store import Store
from core.store.beside import process_exists
from core.store.kept import chunk_costs, step_costs
from core.store.runs import STALE_SECONDS, calls_since, finished_of, get_run, item_counts, n_finished_since
from core.store.studies import now_utc

AT_WORK = ("running", "cancelling")
"""Shown states of a run that has a process."""
_RATE_SECONDS = 60.0
_REUSE_SECONDS = 1.0
"""Tolerance, because two clocks are compared; process ids are not reused within so short a time."""
_SLOW_READ = 0.05
"""Seconds from which a read is too slow to be repeated every time."""
_NEARLY = 0.95
"""Largest share of an unfinished item that counts as done."""
_READ_SHARE = 20
"""A slow read is repeated after this multiple of its own time."""

ShownState = RunState | Literal["interrupted", "cancelling"]


@dataclass(frozen=True)
class Progress:
    """The current state of a run."""

    run: Run
    state: ShownState
    """`interrupted`: recorded as running, but its process is gone. `cancelling`: asked to stop, but its process still runs."""
    n_done: int
    n_failed: int
    """Items without a complete result, for a reason that a retry would not fix."""
    n_again: int
    """Items without a result because there was no answer; retried when the run is resumed."""
    failures: dict[tuple[str, str], int]
    """(step, reason) -> number of failures over all items."""
    costs: list[StepCost]
    rate: float | None
    """Items per second over the last minute; None: not running, or nothing finished yet."""

    @property
    def starting_seconds(self) -> float | None:
        """Seconds that the process has been loading a model or connecting to a server; None: it is not starting."""
        starting = self.state in AT_WORK and self.run.start_seconds is None
        return seconds_since_start(self.run) if starting else None

    @property
    def silent_seconds(self) -> float | None:
        """Seconds since the last report of a live but silent process; None: it reports, or there is none."""
        age = _age(self.run.beat_utc)
        return age if self.state in AT_WORK and age > STALE_SECONDS else None

    @property
    def n_finished(self) -> int:
        """Number of finished items."""
        return self.n_done + self.n_failed + self.n_again

    @property
    def nothing_usable(self) -> str:
        """That no answer of a judge could be used, as a sentence; empty if one was, or if none was given.

        The answers of a run that is done are all there; whoever reads the state alone would take it for a result. Other runs may
        have made a part of their items by rules, without the model.
        """
        if kind_named(self.run.kind).work != "judging":
            return ""
        calls, unusable = sum(one.calls for one in self.costs), sum(one.unusable for one in self.costs)
        if self.n_done or not calls or unusable < calls or any(one.cached for one in self.costs):
            return ""
        return f"None of the judge's {counted(calls, 'answer')} could be used, so no item has a result."

    @property
    def can_resume(self) -> bool:
        """Whether there is work left and no process works on it."""
        left = self.n_finished < self.run.n_wanted or self.n_again > 0
        return self.state not in AT_WORK and (left or self.state == "waiting")


def progress_of(store: Store, run_id: int) -> Progress:
    """Read the progress of a run. Raises NotFound."""
    run = get_run(store, run_id)
    states, failures = item_counts(store, run_id)
    working = is_worked_on(run)
    n_recent, seconds = _recent(store, run) if working else (0, 0.0)
    rate = n_recent / seconds if n_recent and seconds > 0 else None
    return Progress(
        run=run,
        state=state_of(run),
        n_done=states.get("done", 0),
        n_failed=states.get("failed", 0),
        n_again=states.get("again", 0),
        failures=failures,
        costs=_costs(store, run, working),
        rate=rate,
    )


def state_of(run: Run) -> ShownState:
    """The recorded state of a run, corrected if its process is gone or was asked to stop."""
    if run.state != "running":
        return run.state
    if not is_worked_on(run):
        return "interrupted"
    return "cancelling" if run.cancel else "running"


def is_worked_on(run: Run) -> bool:
    """Whether a process works on the run or is still closing its model, even if it is silent."""
    return run.state == "running" and run.process is not None and _lives(run.process, _age(run.beat_utc))


def why_not_now(run: Run) -> str | None:
    """Why no other process can work on the run now, and what to do; None: one can."""
    if not is_worked_on(run):
        return None
    silent = _age(run.beat_utc)
    if silent > STALE_SECONDS:
        return (
            f"Process {run.process} is working on run {run.run_id}, but has not reported for "
            f"{duration(silent)}. If it hangs, end it with `kill -9 {run.process}`, then resume the run: finished items "
            "are saved."
        )
    if run.cancel:
        return f"Run {run.run_id} is still ending (process {run.process}). Try again in a moment."
    return f"Process {run.process} is working on run {run.run_id}. Cancel the run first."


def _lives(process: int, silent: float) -> bool:
    """Whether the process that reported `silent` seconds ago still runs, and its id is not reused.

    A process with this id that is older than the last report is the same process. If the system does not report ages, a
    silent process counts as dead.
    """
    if not process_exists(process):
        return False
    try:
        fields = process_fields(process)
        state, started = fields[0], float(fields[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return silent <= STALE_SECONDS
    return state not in "ZX" and age >= silent - _REUSE_SECONDS


def process_fields(process: int) -> list[str]:
    """The fields of /proc/PID/stat after the name. Raises OSError if the process is gone, or on systems without it."""
    # The name, in brackets, may itself contain spaces and brackets.
    return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()


def seconds_since_start(run: Run) -> float:
    """Seconds since a process last started on the run; 0 if none did."""
    return max(0.0, _age(run.started_utc)) if run.started_utc else 0.0


def starting(model: ModelSettings) -> str:
    """Name of the phase before a run's first item."""
    names = {
        "vllm": "starting the model",
        "openai": "connecting to the server",
        "batch": "reading the answers",
    }
    return names.get(model.backend, "starting")


def wall_seconds(run: Run) -> float:
    """Working time of the run in seconds, without the time between two starts."""
    if run.state != "running" or run.started_utc is None:
        return run.worked_seconds
    return run.worked_seconds + max(0.0, _age(run.started_utc) - _age(run.beat_utc))


def worked_said(run: Run) -> str:
    """The working time as a sentence; empty before the first start."""
    seconds, start = wall_seconds(run), run.start_seconds
    starting = f", including {start:,.1f} s for the last start" if start and start >= 1 else ""
    return f"Working time: {seconds:,.1f} s{starting}." if seconds else ""


def money_of(progress: Progress) -> float | None:
    """The run's cost so far; None if a price or a count of tokens is missing, or if it is free."""
    return money_for(progress.run, progress.costs)


def money_for(run: Run, costs: Sequence[StepCost]) -> float | None:
    """The price of these calls of a run; see money_of."""
    if kind_named(run.kind).by_metrics:
        return None
    prices = running_of(run)
    if prices.input_price is None or prices.output_price is None:
        return None
    total = 0.0
    for cost in costs:
        if cost.calls and (cost.input_tokens is None or cost.output_tokens is None):
            return None
        total += (cost.input_tokens or 0) * prices.input_price + (
            cost.output_tokens or 0
        ) * prices.output_price
    return total / 1e6


def rate_said(rate: float) -> str:
    """A number of items per second in words: `12 items a minute`, `34 items a second`."""
    return f"{rate * 60:,.0f} items a minute" if rate < 10 else f"{rate:,.0f} items a second"


def not_sent_said(missing: Mapping[str, int]) -> str:
    """A sentence without full stop about parts of requests that a server refuses; see parts_not_sent."""
    parts = ", ".join(f"{name} ({counted(n, 'call')})" for name, n in missing.items())
    return f"Not sent, because the server refuses it: {parts}"


def duration(seconds: float) -> str:
    """A duration in words, such as `1 h 5 min` or `12 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def spoken_range(low: float, high: float) -> str:
    """A range of seconds in words, with two significant digits: `40 to 75 min`, `20 s to 5 min`."""
    low, high = (max(1.0, _two_digits(one)) for one in (low, high))
    size, unit = next(
        one for one in ((3600.0, "h"), (60.0, "min"), (1.0, "s")) if high >= 2 * one[0] or one[0] == 1.0
    )
    upper = f"{_two_digits(high / size):g} {unit}"
    if low < size:
        return f"{spoken_range(low, low).removeprefix('about ')} to {upper}"
    lower = f"{_two_digits(low / size):g}"
    return f"about {upper}" if f"{lower} {unit}" == upper else f"{lower} to {upper}"


def left_between(n_left: float, n: float, seconds: float) -> tuple[float, float] | None:
    """Range of seconds for the remaining items, from n items that took `seconds`; None: nothing to go by, or nothing left."""
    return _widened(n_left * seconds / n, n) if n > 0 and n_left > 0 and seconds > 0 else None


@dataclass
class Answered:
    """Answered requests since a run's last start, and their tokens. Each update reads only new ones."""

    run: Run
    n: int = 0
    input_tokens: int = 0
    """Tokens, if the server counts them."""
    output_tokens: int = 0
    _seen: int | None = field(default=None, repr=False)
    _open: Counter[int] = field(default_factory=Counter, repr=False)
    """Position of an unfinished item -> number of its requests."""
    _n_items: int = field(default=0, repr=False)
    """Number of finished items with requests."""

    def look(self, store: Store) -> "Answered":
        """Add everything since the last update."""
        since = "" if self._seen is not None else self.run.started_utc or ""
        new = calls_since(store, self.run.run_id, self._seen or 0, since)
        self.n += new.of_items.total()
        self.input_tokens += new.input_tokens
        self.output_tokens += new.output_tokens
        self._seen = new.last
        self._open += new.of_items
        if self._open:
            finished = finished_of(store, self.run.run_id, self._open, self.run.started_utc or "")
            self._n_items += len(finished)
            for position in finished:
                del self._open[position]
        return self

    def left_between(self, store: Store, run: Run) -> tuple[float, float] | None:
        """Range of seconds for the rest of the run, from the answers since this start; None: no basis yet.

        Items in progress count in proportion to their requests, compared with finished items: if hundreds are in
        progress, hardly any is finished until nearly all are. run: its current state.
        """
        if run.start_seconds is None:
            return None
        under_way = 0.0
        if self._n_items:
            usual = (self.n - self._open.total()) / self._n_items
            under_way = sum(min(n / usual, _NEARLY) for n in self._open.values())
        n_left = run.n_wanted - n_finished_since(store, run.run_id)
        n_now = n_finished_since(store, run.run_id, run.started_utc or "")
        return left_between(
            n_left - under_way, n_now + under_way, seconds_since_start(run) - run.start_seconds
        )

    def __str__(self) -> str:
        """Text such as `37 requests, 12,300 tokens in, 410 out`."""
        requests = counted(self.n, "request")
        if not self.input_tokens and not self.output_tokens:
            return requests
        return f"{requests}, {self.input_tokens:,} tokens in, {self.output_tokens:,} out"


def _two_digits(number: float) -> float:
    return round(number, 1 - math.floor(math.log10(number))) if number > 0 else number


def _widened(seconds: float, n: float) -> tuple[float, float]:
    """Range of a time estimated from n events: 90 % interval of their number, plus 10 % for variation of the machine."""
    rel = 0.1 + 1.645 / math.sqrt(max(n, 1))
    return seconds / (1 + rel), seconds * (1 + rel)


def _recent(store: Store, run: Run) -> tuple[int, float]:
    """Items finished in the last minute, and the seconds that this covers, without the start."""
    seconds = min(_RATE_SECONDS, _age(run.started_utc) - (run.start_seconds or 0.0))
    return n_finished_since(store, run.run_id, now_utc(-seconds)), seconds


_slow: dict[tuple[str, int], tuple[float, list[StepCost]]] = {}
"""Database and run -> time until which its sums are fresh, and the sums."""


def _costs(store: Store, run: Run, working: bool) -> list[StepCost]:
    """The run's sums. In a running run with very many calls they may be a few seconds old."""
    run_id = run.run_id
    if counts_in_items(run.kind):
        return chunk_costs(store, run_id)
    key, begun = (str(store.path), run_id), time.monotonic()
    if working and key in _slow and begun < _slow[key][0]:
        return _slow[key][1]
    costs = step_costs(store, run_id)
    took = time.monotonic() - begun
    _slow.pop(key, None)
    if working and took > _SLOW_READ:
        _slow[key] = (begun + took * (1 + _READ_SHARE), costs)
    return costs


def _age(moment: str | None) -> float:
    if not moment:
        return float("inf")
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
