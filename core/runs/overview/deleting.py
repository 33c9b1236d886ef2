"""Deleting runs with all that belongs to them: rows, cached replies, folder and log."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from core.errors import InputError, counted
from core.runs.overview.listing import is_preview
from core.runs.progress import is_worked_on, why_not_now
from core.runs.working.environments import run_log
from core.schema.runs import Run
from core.store import Store
from core.store.beside import delete_run_folder, run_folder, size_of
from core.store.runs import delete_runs, get_run, half_deleted, list_runs, n_finished_since, note_deleted
from core.store.studies import list_studies, now_utc
from core.store.upkeep import Going, byte_size, estimated_rows, going

_ROWS_AT_ONCE = 10_000
"""Items and calls deleted in one transaction: raters' votes wait for less than a second or two."""
PREVIEWS, NOT_BEGUN = "previews", "not begun"
KEEPS_TEXTS = "A study or a run that was made from another run keeps its own copy of the texts, but no longer shows how they were made."


@dataclass(frozen=True)
class Deletion:
    """What the deletion of some runs would delete, and what it would leave."""

    runs: tuple[Run, ...]
    """Newest first."""
    going: Going
    files: int
    """Bytes of their folders and logs."""
    refused: tuple[str, ...]
    """One line for each reason against deleting a run, which is not among `runs`."""
    needed: bool
    """Whether `force` would delete more runs."""

    @property
    def n_bytes(self) -> int:
        """Bytes that the database and its disk get back."""
        return self.going.n_bytes + self.files

    @property
    def said(self) -> str:
        """What goes, in one sentence."""
        if not self.runs:
            return "no run."
        lost = self.going
        parts = [
            f"{counted(lost.n_items, 'item')}, {counted(lost.n_calls, 'call')}, "
            f"{counted(lost.n_replies, 'cached reply', 'cached replies')} and the input files "
            f"({byte_size(lost.n_bytes)} in the database)",
            f"folders and logs ({byte_size(self.files)})",
        ]
        shared = counted(lost.n_shared, "cached reply", "cached replies")
        stay = (
            f" {shared} used by other runs {'stays' if lost.n_shared == 1 else 'stay'}."
            if lost.n_shared
            else ""
        )
        waiting = ", ".join(str(run.run_id) for run in self.runs if run.state == "awaiting")
        lost_answers = f" Answers that are still to come are lost: run {waiting}." if waiting else ""
        return f"{counted(len(self.runs), 'run')}: {'; '.join(parts)}.{stay}{lost_answers}"


@dataclass(frozen=True)
class Deleted:
    """What was deleted."""

    run_ids: tuple[int, ...]
    begun: tuple[int, ...]
    """Runs on which a process had begun to work meanwhile; they are as before."""


def chosen(
    store: Store,
    *,
    older_than_days: float | None = None,
    kinds: Collection[str] = (),
    states: Collection[str] = (),
    only: str | None = None,
) -> list[Run]:
    """Runs by age, kind and stored state, newest first.

    only: PREVIEWS, runs of the prompt editor; NOT_BEGUN, runs without an item and without a process; None: all.
    """
    limit = ""
    if older_than_days is not None:
        limit = now_utc(-older_than_days * 86_400)
    return [
        run
        for run in list_runs(store)
        if (not limit or run.created_utc < limit)
        and (not kinds or run.kind in kinds)
        and (not states or run.state in states)
        and (only != PREVIEWS or is_preview(run))
        and (only != NOT_BEGUN or _is_not_begun(store, run))
    ]


def _is_not_begun(store: Store, run: Run) -> bool:
    return run.state != "done" and not is_worked_on(run) and not n_finished_since(store, run.run_id)


def deletion_of(store: Store, run_ids: Sequence[int], *, force: bool = False) -> Deletion:
    """What deleting these runs would delete, without those that a process works on and, unless `force`, those from which a
    study or another run was made. Raises InputError naming every number without a run.

    Reads all rows of the runs, and the keys of all other calls once.
    """
    runs = _known(store, run_ids)
    refused = _refused(store, runs, force=force)
    left = tuple(run for run in runs if run.run_id not in refused)
    numbers = [run.run_id for run in left]
    return Deletion(
        left,
        going(store, numbers),
        sum(size_of(run_folder(store, one)) + size_of(run_log(store.path, one)) for one in numbers),
        tuple(line for lines in refused.values() for line in lines),
        not force and any(not is_worked_on(run) for run in runs if run.run_id in refused),
    )


def _known(store: Store, run_ids: Sequence[int]) -> tuple[Run, ...]:
    known = {run.run_id: run for run in list_runs(store)}
    numbers = sorted(set(run_ids), reverse=True)
    if unknown := [number for number in numbers if number not in known]:
        raise InputError("Nothing was deleted.", [f"there is no run {one}" for one in sorted(unknown)])
    return tuple(known[number] for number in numbers)


def _refused(store: Store, runs: Sequence[Run], *, force: bool) -> dict[int, list[str]]:
    """Run -> reasons not to delete it."""
    found = {} if force else depend_on(store, {run.run_id for run in runs})
    for run in runs:
        if why := why_not_now(run):
            found.setdefault(run.run_id, []).append(why)
    return found


def depend_on(store: Store, run_ids: Collection[int]) -> dict[int, list[str]]:
    """Run -> what was made from it, one line each: studies and further runs by the names of their files."""
    files = [(f"Run {run.run_id}", run.data_file, run.run_id) for run in list_runs(store)]
    files += [(f"The study {study.name!r}", study.dataset_file, 0) for study in list_studies(store)]
    found: dict[int, list[str]] = {}
    for who, file, number in files:
        for named in _NAMED.findall(file):
            if int(named) in run_ids and number not in run_ids:
                found.setdefault(int(named), []).append(f"{who} was made from run {named} (file {file})")
    return found


_NAMED = re.compile(r"(?<![^\W_])run[-: ]([1-9]\d{0,17})(?!\w)", re.IGNORECASE)
"""A run in a file's name, as in `run-3-questions.jsonl`, `run 3` or `next labels of run:3`."""


def delete(
    store: Store, run_ids: Sequence[int], *, force: bool = False, tell: Callable[[int], None] | None = None
) -> Deleted:
    """Delete runs with everything that belongs to them; shared replies stay.

    force: even if studies or other runs were made from them; those keep their own copy of the texts. tell: called with
    the number of runs deleted so far.
    Refuses all of them with every problem (InputError) if a process works on one, or without `force` if something was
    made from one. Each run is deleted in one transaction with all its rows; folders and logs follow. If the process is
    killed between, `sweep` deletes them later.
    """
    runs = _known(store, run_ids)
    numbers = [run.run_id for run in runs]
    if refused := _refused(store, runs, force=force):
        raise InputError("Nothing was deleted.", [line for lines in refused.values() for line in lines])
    gone: list[int] = []
    begun: list[int] = []
    for group in _groups(store, numbers):
        with store.writing():
            now = {number: is_worked_on(get_run(store, number)) for number in group}
            begun += [number for number, moving in now.items() if moving]
            going_now = [number for number, moving in now.items() if not moving]
            delete_runs(store, going_now)
        gone += going_now
        if tell is not None:
            tell(len(gone))
    sweep(store)
    store.forget()  # otherwise the write-ahead log keeps the size of what was deleted
    return Deleted(tuple(gone), tuple(begun))


def _groups(store: Store, numbers: Sequence[int]) -> Iterator[list[int]]:
    """Runs that are deleted together: few enough rows for a short transaction, at least one run."""
    rows = estimated_rows(store, numbers)
    group: list[int] = []
    n = 0
    for number in numbers:
        own = rows[number].n_items + rows[number].n_calls
        if group and n + own > _ROWS_AT_ONCE:
            yield group
            group, n = [], 0
        group.append(number)
        n += own
    if group:
        yield group


def sweep(store: Store) -> tuple[int, ...]:
    """Delete folders and logs of deleted runs, also those that a killed deletion left behind; returns the runs' numbers."""
    left = half_deleted(store)
    for number in left:
        delete_run_folder(store, number)
        with suppress(FileNotFoundError):
            run_log(store.path, number).unlink()
    if left:
        note_deleted(store, left)
    return tuple(left)
