"""Runs as their owner sees them: where each works, how fast, what it costs, what failed, and what it takes on the disk."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.errors import InputError
from core.runs.asked import asked_of, environment_of
from core.runs.kinds import counts_in_items
from core.runs.overview.machine import NOT_REPORTED, Processes
from core.runs.progress import (
    AT_WORK,
    Answered,
    Progress,
    ShownState,
    is_worked_on,
    money_for,
    progress_of,
    spoken_range,
    state_of,
    wall_seconds,
)
from core.runs.working.environments import run_log
from core.schema.result_table import Cell, Column, ResultTable
from core.schema.runs import RULES, Run, StepCost
from core.store import Store
from core.store.beside import run_folder, size_of
from core.store.kept import chunk_costs, costs_of_runs
from core.store.runs import calls_of_late, counts_of_runs, list_runs
from core.store.upkeep import MB, Rows, estimated_rows

PREVIEW_NAME = "preview-"
"""How the names of judges begin that the prompt editor previews."""
_LATE_SECONDS = 60.0
_HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Place:
    """Where a run works, or would work."""

    process: int | None
    """Process that works on it; None: none does."""
    is_alive: bool
    environment: str
    """Environment with the run's libraries; empty: a newer Assay saved the run."""
    engine: str
    """`local`, or what spreads the work, such as `ray at ADDRESS`."""
    server: str
    """Machine of the model's server, or `batch files`; empty without either."""

    def __str__(self) -> str:
        process = "no process"
        if self.process is not None:
            process = f"process {self.process}{'' if self.is_alive else ' (gone)'}"
        said = [process, f"environment {self.environment}" if self.environment else ""]
        said += ["" if self.engine == "local" else self.engine]
        said += [f"model: {self.server}" if self.server else ""]
        return ", ".join(filter(None, said))


def place_of(run: Run) -> Place:
    """Where a run works. Its process is on this machine: SQLite's locks do not reach further."""
    environment = ""
    with suppress(InputError):
        environment = environment_of(run)
    address = str(run.running.get("address") or "")
    engine = str(run.running.get("engine") or "local")
    backend = run.settings.get("backend")
    host = "batch files" if backend == "batch" else ""
    if backend == "openai":
        parts = urlsplit(str(run.settings.get("base_url") or ""))
        host = "this machine" if parts.hostname in _HERE else parts.netloc.rpartition("@")[2]
    return Place(
        run.process if run.state == "running" else None,
        is_worked_on(run),
        environment,
        f"{engine} at {address}" if address and engine != "local" else engine,
        host,
    )


def model_of(run: Run) -> str:
    """The model that a run asks; `rules`, or `metrics` for a run without a model."""
    model = run.settings.get("model")
    if isinstance(model, str) and model:
        return model
    return RULES if run.settings.get("backend") == RULES else "metrics"


def name_of(run: Run) -> str:
    """The name under which a run's texts or scores are listed, or its metrics; empty: a newer Assay saved it."""
    try:
        asked = asked_of(run)
    except InputError:
        return ""
    if asked.kind.by_metrics:
        metrics = asked.settings.metrics
        return ", ".join(metrics) if len(metrics) <= 2 else f"{len(metrics)} metrics"
    return asked.called


def is_preview(run: Run) -> bool:
    """Whether the prompt editor made the run to try a prompt on some texts."""
    return str(run.settings.get("name") or "").startswith(PREVIEW_NAME)


@dataclass(frozen=True)
class Working:
    """A run that is worked on, waits, or stopped: its progress and speed."""

    progress: Progress
    place: Place
    calls_rate: float | None
    """Requests or texts per second over the last minute; None: not running, or none yet."""
    left: tuple[float, float] | None
    """Range of seconds until it ends, as its panel gives it; None: unknown."""
    memory: int | None
    """Bytes of its process with its children; None: no process, or the system does not report it."""

    @property
    def mean_rate(self) -> float | None:
        """Items per second over all its working time; None: unknown."""
        return _rate(self.progress.n_finished, wall_seconds(self.progress.run))

    @property
    def mean_calls_rate(self) -> float | None:
        """Requests or texts per second over all its working time; None: unknown."""
        n = sum(cost.calls for cost in self.progress.costs)
        return _rate(n, wall_seconds(self.progress.run))


def working(store: Store, run: Run, processes: Processes, answered: Answered | None = None) -> Working:
    """What a run does now. answered: from an earlier call for the same start, which then reads only new requests."""
    progress = progress_of(store, run.run_id)
    moving = progress.state in AT_WORK
    late = calls_of_late(store, run.run_id, _LATE_SECONDS) if moving else 0
    left = None
    if progress.state == "running":
        left = (answered or Answered(progress.run)).look(store).left_between(store, progress.run)
    place = place_of(progress.run)
    memory = None if place.process is None else processes.memory_of(place.process)
    return Working(progress, place, late / _LATE_SECONDS if late else None, left, memory)


def _rate(n: int, seconds: float | None) -> float | None:
    return n / seconds if n and seconds else None


@dataclass(frozen=True)
class RunLine:
    """A run with its counts, cost and failures, from sums over the database."""

    run: Run
    state: ShownState
    n_done: int
    n_failed: int
    n_again: int
    failures: Mapping[tuple[str, str], int]
    costs: Sequence[StepCost]

    @property
    def n_finished(self) -> int:
        """Number of items that the run has reached."""
        return self.n_done + self.n_failed + self.n_again

    @property
    def calls(self) -> int:
        """Requests sent, or texts scored."""
        return sum(cost.calls for cost in self.costs)

    def tokens(self, which: str) -> int | None:
        """`input_tokens` or `output_tokens` over all steps; None if the server did not count some of them."""
        counts = [getattr(cost, which) for cost in self.costs if cost.calls]
        return None if not counts or None in counts else sum(counts)

    @property
    def money(self) -> float | None:
        """See money_of."""
        try:
            return money_for(self.run, self.costs)
        except InputError:  # a newer Assay saved it
            return None


def run_lines(store: Store, runs: Iterable[Run] | None = None) -> list[RunLine]:
    """Runs with counts and costs, newest first. Reads each index, and each call, once, however many runs there are."""
    chosen = list_runs(store) if runs is None else list(runs)
    counts, costs = counts_of_runs(store), costs_of_runs(store)
    lines = []
    for run in chosen:
        states, failures = counts.get(run.run_id, ({}, {}))
        done, failed, again = (states.get(name, 0) for name in ("done", "failed", "again"))
        own = chunk_costs(store, run.run_id) if counts_in_items(run.kind) else costs.get(run.run_id, [])
        lines.append(RunLine(run, state_of(run), done, failed, again, failures, own))
    return lines


@dataclass(frozen=True)
class RunSize:
    """What a run takes on the disk."""

    run: Run
    rows: Rows
    """In the database; bytes are estimated."""
    folder: int
    log: int

    @property
    def n_bytes(self) -> int:
        """All of it together."""
        return self.rows.n_bytes + self.folder + self.log


def run_sizes(store: Store) -> list[RunSize]:
    """All runs with what they take, the largest first."""
    runs = list_runs(store)
    rows = estimated_rows(store, [run.run_id for run in runs])
    sizes = [
        RunSize(
            run,
            rows[run.run_id],
            size_of(run_folder(store, run.run_id)),
            size_of(run_log(store.path, run.run_id)),
        )
        for run in runs
    ]
    return sorted(sizes, key=lambda one: -one.n_bytes)


# --- tables ------------------------------------------------------------------------------------

_RUN = (
    Column("run", names_row=True),
    Column("kind", shown=False),
    Column("name", "name or metrics"),
    Column("file", shown=False),
    Column("state"),
)
"""Readers know a run by its name. Files hold all of it."""


def _cells(run: Run, state: ShownState | None = None) -> tuple[Cell, ...]:
    return str(run.run_id), run.kind, name_of(run), run.data_file, state or state_of(run)


def working_table(runs: Sequence[Working]) -> ResultTable:
    """What runs where and how fast, one row a run."""
    columns = (
        *_RUN,
        Column("finished"),
        Column("items"),
        Column("failures"),
        Column("where"),
        Column("process", shown=False),
        Column("environment", shown=False),
        Column("engine", shown=False),
        Column("items_per_s", "items a second, last minute", general=True),
        Column("items_per_s_mean", "items a second, mean", general=True),
        Column("calls_per_s", "calls a second, last minute", general=True),
        Column("calls_per_s_mean", "calls a second, mean", general=True),
        Column("left", "time left"),
        Column("memory_mb", "memory, MB", places=0),
        Column("message", shown=False),
    )
    rows = []
    for one in runs:
        progress, run = one.progress, one.progress.run
        rows.append(
            (
                *_cells(run, progress.state),
                *(progress.n_finished, run.n_wanted, _failures_by_reason([progress.failures])),
                *(str(one.place), one.place.process, one.place.environment, one.place.engine),
                *(progress.rate, one.mean_rate, one.calls_rate, one.mean_calls_rate),
                "" if one.left is None else spoken_range(*one.left),
                None if one.memory is None else one.memory / MB,
                run.message,
            )
        )
    notes: tuple[str, ...] = ()
    if any(one.memory is None and one.place.is_alive for one in runs):
        notes = (f"No memory: {NOT_REPORTED}.",)
    return ResultTable("runs-now", columns, tuple(rows), notes=notes)


def cost_table(lines: Sequence[RunLine]) -> ResultTable:
    """What each run cost and what failed in it. Failures and money come early: a narrow screen shows the first columns."""
    columns = (
        *_RUN,
        Column("failures"),
        Column("model"),
        Column("created_utc", "created (UTC)"),
        Column("finished", shown=False),
        Column("items", shown=False),
        Column("calls"),
        Column("money", places=4),
        Column("tokens_in", "tokens in"),
        Column("tokens_out", "tokens out"),
        Column("worked_s", "worked, s", places=0, shown=False),
    )
    rows = tuple(
        (
            *_cells(line.run, line.state),
            _failures_by_reason([line.failures]),
            *(model_of(line.run), line.run.created_minute),
            *(line.n_finished, line.run.n_wanted, line.calls, line.money),
            *(line.tokens("input_tokens"), line.tokens("output_tokens"), wall_seconds(line.run)),
        )
        for line in lines
    )
    return ResultTable("run-costs", columns, rows)


def model_table(lines: Sequence[RunLine]) -> ResultTable:
    """Calls, tokens and money by model, over these runs."""
    of_model: dict[str, list[RunLine]] = {}
    for line in lines:
        of_model.setdefault(model_of(line.run), []).append(line)
    columns = (
        Column("model", names_row=True),
        Column("runs"),
        Column("calls"),
        Column("tokens_in", "tokens in"),
        Column("tokens_out", "tokens out"),
        Column("uncounted_runs", "runs without a count of tokens"),
        Column("money", places=4),
        Column("unpriced_runs", "runs without a price"),
    )
    rows = []
    for model, own in of_model.items():
        asked = [line for line in own if line.calls] if model not in (RULES, "metrics") else []
        counts = [(line.tokens("input_tokens"), line.tokens("output_tokens")) for line in asked]
        money = [line.money for line in asked]
        calls, price = sum(line.calls for line in own), sum(one or 0.0 for one in money)
        tokens = (sum(pair[at] or 0 for pair in counts) for at in (0, 1))
        row: tuple[Cell, ...] = (model, len(own), calls, *tokens, sum(None in pair for pair in counts))
        rows.append(((-price, -calls, model), (*row, price, sum(one is None for one in money))))
    rows.sort(key=lambda one: one[0])
    found = tuple(row for _, row in rows)
    notes = []
    if any(row[5] for row in found):
        notes.append("Sums of tokens leave out runs whose server did not count the tokens of every call.")
    if any(row[7] for row in found):
        notes.append("Sums of money leave out runs without both prices, or without a count of tokens.")
    return ResultTable("model-costs", columns, found, notes=tuple(notes))


def failure_table(lines: Sequence[RunLine]) -> ResultTable:
    """Failures by step and reason, over these runs, the most frequent first."""
    times: Counter[tuple[str, str]] = Counter()
    runs: Counter[tuple[str, str]] = Counter()
    for line in lines:
        times.update(line.failures)
        runs.update(dict.fromkeys(line.failures, 1))
    columns = (
        Column("step", names_row=True),
        Column("reason", names_row=True),
        Column("times"),
        Column("runs"),
    )
    rows = tuple((step, reason, n, runs[step, reason]) for (step, reason), n in times.most_common())
    return ResultTable("failures", columns, rows)


def _failures_by_reason(found: Iterable[Mapping[tuple[str, str], int]]) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for failures in found:
        for (_, reason), n in failures.items():
            counts[reason] += n
    return dict(counts.most_common())


def size_table(sizes: Sequence[RunSize]) -> ResultTable:
    """What runs take on the disk, one row a run."""
    columns = (
        *_RUN,
        Column("created_utc", "created (UTC)"),
        Column("items", shown=False),
        Column("calls", shown=False),
        Column("database_mb", "in the database, MB", places=1),
        Column("folder_mb", "folder, MB", places=1),
        Column("log_mb", "log, MB", places=1),
        Column("total_mb", "together, MB", places=1),
    )
    rows = tuple(
        (
            *_cells(one.run),
            one.run.created_minute,
            *(one.rows.n_items, one.rows.n_calls),
            *(n / MB for n in (one.rows.n_bytes, one.folder, one.log, one.n_bytes)),
        )
        for one in sizes
    )
    note = (
        "Megabytes in the database are estimated from a few items and calls of each run. They include cached replies, "
        "which other runs may share."
    )
    return ResultTable("runs", columns, rows, notes=(note,) if rows else ())


def size_json(sizes: Sequence[RunSize]) -> list[dict[str, object]]:
    """What runs take, in bytes, for `--json`."""
    return [
        {
            "run": one.run.run_id,
            "kind": one.run.kind,
            "state": state_of(one.run),
            "file": one.run.data_file,
            "created_utc": one.run.created_utc,
            "items": one.rows.n_items,
            "calls": one.rows.n_calls,
            "database": one.rows.n_bytes,
            "folder": one.folder,
            "log": one.log,
        }
        for one in sizes
    ]
