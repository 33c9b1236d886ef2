"""Runs of any kind, kept before they begin, found again, and set to go on."""

from core import __version__
from core.datasets.reading import sha256_of
from core.errors import InputError
from core.runs.progress import is_worked_on
from core.schema import Run, RunKind
from core.store import Store
from core.store.runs import change_run, get_run, insert_run, item_states, list_runs


def keep_run(
    store: Store,
    kind: RunKind,
    data: bytes,
    file_name: str,
    n_items: int,
    *,
    settings: dict[str, object],
    running: dict[str, object],
    limit: int | None = None,
) -> Run:
    """Keep a run that waits to be started, with its file. Raises InputError for a limit that is none."""
    check_limit(limit, 0)
    run = Run(
        run_id=0,
        kind=kind,
        state="waiting",
        settings=settings,
        running=running,
        data_file=file_name,
        data_sha256=sha256_of(data),
        n_items=n_items,
        limit=None if limit is None else min(limit, n_items),
        created_utc="",
        app_version=__version__,
    )
    return insert_run(store, run, data)


def newest_same(store: Store, kind: RunKind, data: bytes, settings: dict[str, object]) -> Run:
    """The newest run that was asked for exactly this. Raises InputError when there is none to resume."""
    sha256 = sha256_of(data)
    for run in list_runs(store, (kind,)):
        if run.data_sha256 == sha256 and run.settings == settings:
            return run
    raise InputError(
        "There is no run of this file with these settings to resume: leave --resume out to start one. "
        "`python -m core runs list` names the runs there are."
    )


def go_on(store: Store, run: Run, running: dict[str, object] | None, limit: int | None) -> Run:
    """Set how a run goes on: other limits of work where some are given, and how many of its items."""
    if is_worked_on(run):
        raise InputError(f"Run {run.run_id} is being worked on by process {run.process}: cancel it first.")
    check_limit(limit, len(item_states(store, run.run_id)))
    limit = None if limit is None else min(limit, run.n_items)
    change_run(store, run.run_id, running=running, limit=limit)
    return get_run(store, run.run_id)


def check_limit(limit: int | None, n_done: int) -> None:
    """Raise InputError for a number of items that is none, or smaller than what is done."""
    if limit is not None and limit < max(1, n_done):
        why = f"the run has come to {n_done} items already" if n_done else "at least 1"
        raise InputError("The run cannot start", [f"--limit: {limit} is too small; {why}"])
