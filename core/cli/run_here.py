"""Working on a run from the command line: progress while it goes on, a summary and files at its end."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from core.cli.aligned import counted
from core.cli.options import make_folder, print_notes, write_file
from core.cli.progress_line import ProgressLine
from core.cli.run_summary import summary, told_of_all
from core.errors import AssayError, InputError
from core.runs.asked import Environment
from core.runs.at_hand import RunAtHand
from core.runs.environments import python_for
from core.runs.generation import count_verbatim, spans_found_by, spans_warning
from core.runs.path import identity_of, written
from core.runs.progress import (
    Answered,
    Progress,
    duration,
    progress_of,
    seconds_since_start,
    spoken_range,
    starting,
)
from core.runs.worker import work
from core.schema import RUN_FILE, Run
from core.store.runs import delete_run, get_run, n_finished_since


def go_where_it_runs(environment: Environment) -> None:
    """Go on in the Python that the work needs, with the same arguments; return if it is this one."""
    python = python_for(environment)
    if python != Path(sys.executable):
        sys.stdout.flush()
        try:
            os.execv(str(python), [str(python), "-m", "core", *sys.argv[1:]])
        except OSError as problem:
            raise InputError(f"{python} could not be started ({problem}).") from problem


def check_folder(folder: Path, run: Run | None, same: Callable[[], Run] | None = None) -> None:
    """Raise InputError where results cannot be written there, or would mix with those of another run.

    A run that has finished no item left nothing to mix with. run: the one whose results go there; None: one that is
    yet to be made; same: finds the run that `--resume` would go on with, or raises InputError.
    """
    _check_writable(folder)
    try:
        held = json.loads((folder / RUN_FILE).read_bytes())
    except (OSError, ValueError):
        return
    if not isinstance(held, dict):
        held = {}
    if (run is not None and _is_of(held, run)) or (held.get("done") == held.get("failed") == 0):
        return
    what = f"--out: {folder} holds the results of run {held.get('run', '?')}"
    if run is None and same is not None and _would_resume(held, same):
        raise InputError(
            f"{what}, of the same file and settings: --resume goes on with it; name another folder to begin anew."
        )
    raise InputError(f"{what}; name another folder.")


def _is_of(held: dict[str, object], run: Run) -> bool:
    return identity_of(run).items() <= held.items()


def _would_resume(held: dict[str, object], same: Callable[[], Run]) -> bool:
    """Whether the folder is of the run that `--resume` would go on with."""
    try:
        return _is_of(held, same())
    except InputError:  # there is none
        return False


def _check_writable(folder: Path) -> None:
    """Raise InputError where no file could be written there: before hours of work. Nothing is made yet."""
    there = next((one for one in (folder, *folder.absolute().parents) if os.path.exists(one)), folder)
    if not there.is_dir():
        raise InputError(f"--out: {there} is a file; name a folder.")
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as problem:
        raise InputError(f"--out: {folder} cannot be written: {problem.strerror or problem}.") from problem


def work_or_forget(run: RunAtHand) -> None:
    """Work on a run that was asked for just now; one refused before it did anything is wanted in no list."""
    try:
        work_here(run)
    except InputError:
        delete_run(run.store, run.run.run_id)
        raise


def work_here(run: RunAtHand) -> None:
    """Work on the run in this process, telling how far it is on standard error."""
    number = run.run.run_id
    if _is_whole(progress_of(run.store, number)):
        print(f"Run {number} is done: nothing was left to do.", file=sys.stderr)
        return
    teller = _Teller(run)
    print(
        f"Run {number} works on {run.run.n_wanted} of {run.run.n_items} items of {run.run.data_file}.",
        file=sys.stderr,
    )
    try:
        work(run.store, number, lambda claimed: run.path.job(run.claimed(claimed)), tell=teller.tell)
    finally:
        teller.end()


def _is_whole(progress: Progress) -> bool:
    return progress.state == "done" and not progress.n_again and progress.n_finished >= progress.run.n_wanted


def finish_in_folder(run: RunAtHand, folder: Path) -> None:
    """Write a run's results and say what came of it. Raises AssayError where it did not come to its end."""
    progress = progress_of(run.now().store, run.run.run_id)
    make_folder(folder)
    files = written(run)
    for name, data in files.items():
        write_file(folder / name, data)
    print("\n".join(summary(run, progress)))
    if run.kind.work == "generation" and (verbatim := count_verbatim(run)):
        print(
            f"Note: the first level of {verbatim} items is the reference word for word (verbatim), for want of a "
            "paraphrase: a metric that compares with the reference sees a text beside itself there."
        )
    if run.kind.work == "generation":
        _print_spans(spans_found_by(run))
    print("\n".join([*told_of_all(run, progress), f"Written to {folder}: {', '.join(files)}."]))
    check_done(progress)


def _print_spans(found: Mapping[str, int]) -> None:
    """What found the facts, and a warning where that was no parse."""
    if found:
        print(
            "Facts found by: "
            + ", ".join(f"{name} ({counted(n, 'item')})" for name, n in found.items())
            + "."
        )
    if (warning := spans_warning(found)) is not None:
        print_notes([warning])


def check_done(progress: Progress) -> None:
    """Raise AssayError, saying how to go on, where a run did not come to its end."""
    if progress.state != "done":
        run = progress.run
        lines = [f"Run {run.run_id} is {progress.state}.", run.message, "--resume goes on with it."]
        raise AssayError("\n".join(line for line in lines if line))


class _Teller:
    """How far a run is, in one line."""

    def __init__(self, run: RunAtHand) -> None:
        self._store, self._number, self._model = run.store, run.run.run_id, run.asked.model
        self._line = ProgressLine()
        self._answered: Answered | None = None

    def tell(self) -> None:
        """Show how far the run is, if it is time to; what is new alone is read, twice a second on a terminal."""
        if not self._line.is_due:
            return
        run = get_run(self._store, self._number)
        passed = seconds_since_start(run)
        n = n_finished_since(self._store, self._number)
        said = f"{n} of {run.n_wanted} items"
        if run.start_seconds is None:
            self._line.show(f"{said}, {starting(self._model)} ({duration(passed)})")
            return
        if self._answered is None:
            self._answered = Answered(run)
        if self._answered.look(self._store).n:
            said += f", {self._answered}"
        left = self._answered.left_between(self._store, run)
        self._line.show(said if left is None else f"{said}, {spoken_range(*left)} left")

    def end(self) -> None:
        """Leave the line behind."""
        self._line.end()
