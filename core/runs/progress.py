"""How far a run is, how fast, and what it cost: for pages, commands and the worker alike."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from core.runs.asked import running_of
from core.runs.kinds import kind_named
from core.schema import Run, RunState, StepCost
from core.store import Store
from core.store.replies import step_costs
from core.store.runs import get_run, item_counts, n_finished_since
from core.store.studies import now_utc

STALE_SECONDS = 15.0
"""A process that has not said for so long that it lives is taken for dead."""
_RATE_SECONDS = 60.0

ShownState = RunState | Literal["interrupted"]


@dataclass(frozen=True)
class Progress:
    """A run as it stands now."""

    run: Run
    state: ShownState
    """`interrupted`: it says running, but its process is gone."""
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
    seconds_left: float | None

    @property
    def n_finished(self) -> int:
        """Items the run is through with."""
        return self.n_done + self.n_failed + self.n_again

    @property
    def can_resume(self) -> bool:
        """Whether there is work left and nobody at it."""
        left = self.n_finished < self.run.n_wanted or self.n_again > 0
        return self.state != "running" and (left or self.state == "waiting")


def progress_of(store: Store, run_id: int) -> Progress:
    """Read how a run stands. Raises NotFound."""
    run = get_run(store, run_id)
    states, failures = item_counts(store, run_id)
    working = is_worked_on(run)
    rate = _rate(store, run) if working else None
    left = run.n_wanted - sum(states.values())
    return Progress(
        run=run,
        state=state_of(run),
        n_done=states.get("done", 0),
        n_failed=states.get("failed", 0),
        n_again=states.get("again", 0),
        failures=failures,
        costs=step_costs(store, run_id),
        rate=rate,
        seconds_left=left / rate if rate else None,
    )


def state_of(run: Run) -> ShownState:
    """What a run says of itself, unless its process is gone."""
    return "interrupted" if run.state == "running" and not is_worked_on(run) else run.state


def is_worked_on(run: Run) -> bool:
    """Whether a process is at the run: it says so, has said so lately, and exists."""
    if run.state != "running" or run.process is None or _age(run.beat_utc) > STALE_SECONDS:
        return False
    try:
        os.kill(run.process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's, but there
    return True


def wall_seconds(run: Run) -> float | None:
    """Time that the run was worked on, by the clock: what passed between two starts is not in it.

    None: it was worked on by an Assay that did not note it.
    """
    if run.worked_seconds is None or run.state != "running" or run.started_utc is None:
        return run.worked_seconds
    return run.worked_seconds + max(0.0, _age(run.started_utc) - _age(run.beat_utc))


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


def _rate(store: Store, run: Run) -> float | None:
    since = max(now_utc(-_RATE_SECONDS), run.started_utc or "")
    finished = n_finished_since(store, run.run_id, since)
    seconds = _age(since)
    return finished / seconds if finished and seconds > 0 else None


def _age(moment: str | None) -> float:
    if not moment:
        return float("inf")
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
