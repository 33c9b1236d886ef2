"""How far a run is, how fast, and what it cost: for pages, commands and the worker alike."""

import math
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from core.runs.asked import ModelSettings, running_of
from core.runs.kinds import kind_named
from core.schema.runs import Run, RunState, StepCost
from core.store import Store
from core.store.kept import step_costs
from core.store.runs import calls_since, finished_of, get_run, item_counts, n_finished_since
from core.store.studies import now_utc

STALE_SECONDS = 15.0
"""A process that has not reported for so long is silent: dead, unless the system still has the very same process."""
_RATE_SECONDS = 60.0
_REUSE_SECONDS = 1.0
"""Two clocks are compared; no number of a process is given again within so short a time."""
_SLOW_READ = 0.05
"""Seconds of a read that is too slow to be repeated at every look."""
_NEARLY = 0.95
"""Most of an item that counts as done before it is."""
_READ_SHARE = 20
"""A slow read is repeated after so many times its own time."""

ShownState = RunState | Literal["interrupted", "cancelling"]


@dataclass(frozen=True)
class Progress:
    """A run as it stands now."""

    run: Run
    state: ShownState
    """`interrupted`: it says running, but its process is gone. `cancelling`: asked to stop, its process still lives."""
    n_done: int
    n_failed: int
    """Without a complete result, for a reason that another try would not mend."""
    n_again: int
    """Without a result because no answer came: tried again when the run is resumed."""
    failures: dict[tuple[str, str], int]
    """(step, reason) -> how often, over all items."""
    costs: list[StepCost]
    rate: float | None
    """Items a second over the last minute; None: not running, or nothing finished yet."""

    @property
    def starting_seconds(self) -> float | None:
        """For how long the process has been loading a model or reaching a server; None: it is not starting."""
        starting = self.state in ("running", "cancelling") and self.run.start_seconds is None
        return seconds_since_start(self.run) if starting else None

    @property
    def silent_seconds(self) -> float | None:
        """For how long a process that lives has not reported; None: it reports, or none is at work."""
        age = _age(self.run.beat_utc)
        return age if self.state in ("running", "cancelling") and age > STALE_SECONDS else None

    @property
    def n_finished(self) -> int:
        """Items the run is through with."""
        return self.n_done + self.n_failed + self.n_again

    @property
    def can_resume(self) -> bool:
        """Whether there is work left and nobody at it."""
        left = self.n_finished < self.run.n_wanted or self.n_again > 0
        return self.state not in ("running", "cancelling") and (left or self.state == "waiting")


def progress_of(store: Store, run_id: int) -> Progress:
    """Read how a run stands. Raises NotFound."""
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
        costs=_costs(store, run_id, working),
        rate=rate,
    )


def state_of(run: Run) -> ShownState:
    """The state that a run has written, unless its process is gone or was asked to stop."""
    if run.state != "running":
        return run.state
    if not is_worked_on(run):
        return "interrupted"
    return "cancelling" if run.cancel else "running"


def is_worked_on(run: Run) -> bool:
    """Whether a process works on the run or still closes its model, however long ago it last reported."""
    return run.state == "running" and run.process is not None and _lives(run.process, _age(run.beat_utc))


def why_not_now(run: Run) -> str | None:
    """Why nobody else can work on the run now, and what to do; None: somebody can."""
    if not is_worked_on(run):
        return None
    silent = _age(run.beat_utc)
    if silent > STALE_SECONDS:
        return (
            f"Run {run.run_id} is being worked on by process {run.process}, which has not reported for "
            f"{duration(silent)}. If it hangs, end it with `kill -9 {run.process}`, then resume the run: finished items "
            "are saved."
        )
    if run.cancel:
        return f"Run {run.run_id} is still ending (process {run.process}): try again in a moment."
    return f"Run {run.run_id} is being worked on by process {run.process}: cancel it first."


def _lives(process: int, silent: float) -> bool:
    """Whether the process that reported `silent` seconds ago lives, and its number is not another's by now.

    Whoever has the number and is older than the last report is the process that made it. Where the system does not
    tell ages, a process that is silent is taken for dead.
    """
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's, but there
    try:
        # The name, in brackets, may hold blanks and brackets of its own.
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        state, started = fields[0], float(fields[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return silent <= STALE_SECONDS
    return state not in "ZX" and age >= silent - _REUSE_SECONDS


def seconds_since_start(run: Run) -> float:
    """Since a process last began to work on the run; 0 for one that nobody started."""
    return max(0.0, _age(run.started_utc)) if run.started_utc else 0.0


def starting(model: ModelSettings) -> str:
    """What a process does before its first item."""
    return {"vllm": "starting the model", "openai": "reaching the server"}.get(model.backend, "starting")


def wall_seconds(run: Run) -> float | None:
    """Time that the run was worked on, by the clock: what passed between two starts is not in it.

    None: it was worked on by an Assay that did not note it.
    """
    if run.worked_seconds is None or run.state != "running" or run.started_utc is None:
        return run.worked_seconds
    return run.worked_seconds + max(0.0, _age(run.started_utc) - _age(run.beat_utc))


def worked_said(run: Run) -> str:
    """The time worked as a sentence; empty where it is not known."""
    seconds, start = wall_seconds(run), run.start_seconds
    starting = f", {start:,.1f} s of them for the last start" if start and start >= 1 else ""
    return f"Time worked: {seconds:,.1f} s{starting}." if seconds else ""


def money_of(progress: Progress) -> float | None:
    """What the run cost so far; None where a price or a count of tokens is missing, or nothing is bought."""
    if kind_named(progress.run.kind).work == "scores":
        return None
    prices = running_of(progress.run)
    if prices.input_price is None or prices.output_price is None:
        return None
    total = 0.0
    for cost in progress.costs:
        if cost.calls and (cost.input_tokens is None or cost.output_tokens is None):
            return None
        total += (cost.input_tokens or 0) * prices.input_price + (
            cost.output_tokens or 0
        ) * prices.output_price
    return total / 1e6


def not_sent_said(missing: Mapping[str, int]) -> str:
    """A sentence, without its full stop, about the parts of requests that a server refuses; see parts_not_sent."""
    parts = ", ".join(f"{name} ({n:,} {'call' if n == 1 else 'calls'})" for name, n in missing.items())
    return f"Not sent, because the server refuses it: {parts}"


def duration(seconds: float) -> str:
    """Such as `1 h 5 min` or `12 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def spoken_range(low: float, high: float) -> str:
    """Seconds from low to high in the unit of the larger, two digits each: `40 to 75 min`, `20 s to 5 min`."""
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
    """Seconds that further items take, told from n that took so long; None: from nothing, or nothing is left."""
    return _widened(n_left * seconds / n, n) if n > 0 and n_left > 0 and seconds > 0 else None


@dataclass
class Answered:
    """Requests of a run's last start that were answered, and their tokens. Each look reads only what is new."""

    run: Run
    n: int = 0
    input_tokens: int = 0
    """Where the server counts them."""
    output_tokens: int = 0
    _seen: int | None = field(default=None, repr=False)
    _open: Counter[int] = field(default_factory=Counter, repr=False)
    """Position of an item that is not finished -> its requests."""
    _n_items: int = field(default=0, repr=False)
    """Finished ones for which there were requests."""

    def look(self, store: Store) -> "Answered":
        """Add what came since the last look."""
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
        """Seconds that the rest of the run takes, as a range told from this start since its model answers; None: from nothing.

        Items that are under way count by their requests, as many as the finished ones needed: where hundreds are under
        way at once, hardly any is finished until nearly all are. run: as it stands now.
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
        """Such as `37 requests, 12,300 tokens in, 410 out`."""
        requests = "1 request" if self.n == 1 else f"{self.n:,} requests"
        if not self.input_tokens and not self.output_tokens:
            return requests
        return f"{requests}, {self.input_tokens:,} tokens in, {self.output_tokens:,} out"


def _two_digits(number: float) -> float:
    return round(number, 1 - math.floor(math.log10(number))) if number > 0 else number


def _widened(seconds: float, n: float) -> tuple[float, float]:
    """A range of time told from n events: 90 % of what chance makes of their number, and 10 % of a machine's moods."""
    rel = 0.1 + 1.645 / math.sqrt(max(n, 1))
    return seconds / (1 + rel), seconds * (1 + rel)


def _recent(store: Store, run: Run) -> tuple[int, float]:
    """Items that were finished in the last minute, and the seconds in which they were: the start is not in it."""
    seconds = min(_RATE_SECONDS, _age(run.started_utc) - (run.start_seconds or 0.0))
    return n_finished_since(store, run.run_id, now_utc(-seconds)), seconds


_slow: dict[tuple[str, int], tuple[float, list[StepCost]]] = {}
"""Database and run -> until when its sums are fresh enough, and the sums."""


def _costs(store: Store, run_id: int, working: bool) -> list[StepCost]:
    """The run's sums. While it works on a hundred thousand calls they may be some seconds old."""
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
