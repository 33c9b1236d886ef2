"""What flows of runs: a job over items, what it made of each, what its steps cost."""

from dataclasses import dataclass
from typing import Literal

RULES = "rules"
"""The name of the maker or the judge where no model was asked."""
RUN_FILE = "run.json"
"""What a run says of itself, in the folder that it writes."""
RunState = Literal["waiting", "running", "done", "cancelled", "stopped"]
ItemState = Literal["done", "failed", "again"]


@dataclass(frozen=True)
class Run:
    """A job over the items of a file: what was asked for and where it stands."""

    run_id: int
    kind: str
    """Name of a kind: see core.runs.kinds."""
    state: RunState
    """`stopped`: it could not go on, `message` says why. Anything but `done` can be resumed."""
    settings: dict[str, object]
    """What determines the results, prompts included, so that a run needs no file to be resumed."""
    running: dict[str, object]
    """How it is worked on: concurrency, time limits, prices, the name of the key's variable; never a key."""
    data_file: str
    data_sha256: str
    n_items: int
    """Items of the file."""
    limit: int | None
    """Only so many of the first items; None: all. Can be raised later."""
    created_utc: str
    app_version: str
    started_utc: str | None = None
    """Of the last start."""
    finished_utc: str | None = None
    beat_utc: str | None = None
    """When the process at work last said that it lives."""
    process: int | None = None
    """Number of that process."""
    cancel: bool = False
    """Somebody asked it to stop."""
    message: str = ""
    worked_seconds: float | None = 0.0
    """Time worked until the last start ended, over all starts; None: an older Assay did not note it."""
    start_seconds: float | None = None
    """Of the last start: until the model was loaded or the server reached; None: not yet, or it was not noted."""

    @property
    def n_wanted(self) -> int:
        """Items it works on: all, or the first `limit`."""
        return self.n_items if self.limit is None else min(self.limit, self.n_items)


@dataclass(frozen=True)
class RunItem:
    """What a run made of one item."""

    position: int
    """In the file, from 0."""
    item_id: str
    state: ItemState
    """`done`: it has a result; `failed`: it has none that is complete; `again`: the server's fault, tried again."""
    result: dict[str, object]
    """The item's record; also of a failed one, as far as it came."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of what failed, for the counters."""
    seconds: float = 0.0
    finished_utc: str = ""


@dataclass(frozen=True)
class StepCost:
    """What one step of a run cost, over all items."""

    step: str
    calls: int
    """Answered by the model, whether the answer was usable or not; of a scoring run: texts that were scored."""
    cached: int
    """Answered from the cache, or all their scores found there: they cost nothing."""
    unusable: int
    """Calls that gave no usable answer: cut off, refused, no connection, or not what the step had asked for."""
    input_tokens: int | None
    """Of the calls; None where the server counts none."""
    output_tokens: int | None
    seconds: float
    """Summed over calls, which ran side by side."""
