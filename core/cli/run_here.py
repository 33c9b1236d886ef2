"""Working on a run from the command line: progress while it goes on, a summary and files at its end."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from core.cli.options import make_folder, write_file
from core.cli.progress_line import ProgressLine
from core.cli.run_summary import summary, told_of_all
from core.errors import AssayError, InputError
from core.runs.environments import Environment, python_for
from core.runs.kinds import files_of, job_of
from core.runs.model_settings import Backend
from core.runs.progress import Progress, duration, progress_of
from core.runs.report import RUN_FILE, identity_of
from core.runs.sources import count_verbatim
from core.runs.worker import work
from core.schema import GENERATION_KINDS, Run
from core.schema.scores import OutputSet
from core.store import Store
from core.store.runs import delete_run, n_finished_since


def go_where_it_runs(environment: Backend | Environment) -> None:
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


def work_or_forget(store: Store, run: Run, outputs: OutputSet | None = None) -> None:
    """Work on a run that was asked for just now; one refused before it did anything is wanted in no list.

    outputs: what a run of metrics scores, where its file was read just now.
    """
    try:
        work_here(store, run, outputs)
    except InputError:
        delete_run(store, run.run_id)
        raise


def work_here(store: Store, run: Run, outputs: OutputSet | None = None) -> None:
    """Work on the run in this process, telling how far it is on standard error."""
    if _is_whole(progress_of(store, run.run_id)):
        print(f"Run {run.run_id} is done: nothing was left to do.", file=sys.stderr)
        return
    teller = _Teller(store, run)
    print(
        f"Run {run.run_id} works on {run.n_wanted} of {run.n_items} items of {run.data_file}.",
        file=sys.stderr,
    )
    try:
        work(store, run.run_id, lambda claimed: job_of(store, claimed, outputs), tell=teller.tell)
    finally:
        teller.end()


def _is_whole(progress: Progress) -> bool:
    return progress.state == "done" and not progress.n_again and progress.n_finished >= progress.run.n_wanted


def finish_in_folder(store: Store, run_id: int, folder: Path) -> None:
    """Write a run's results and say what came of it. Raises AssayError where it did not come to its end."""
    progress = progress_of(store, run_id)
    make_folder(folder)
    names = []
    for name, data in files_of(store, progress.run).items():
        write_file(folder / name, data)
        names.append(name)
    print("\n".join(summary(store, progress)))
    if progress.run.kind in GENERATION_KINDS and (verbatim := count_verbatim(store, progress.run)):
        print(
            f"Note: the first level of {verbatim} items is the reference word for word (verbatim), for want of a "
            "paraphrase: a metric that compares with the reference sees a text beside itself there."
        )
    print("\n".join([*told_of_all(store, progress), f"Written to {folder}: {', '.join(names)}."]))
    check_done(progress)


def check_done(progress: Progress) -> None:
    """Raise AssayError, saying how to go on, where a run did not come to its end."""
    if progress.state != "done":
        run = progress.run
        lines = [f"Run {run.run_id} is {progress.state}.", run.message, "--resume goes on with it."]
        raise AssayError("\n".join(line for line in lines if line))


class _Teller:
    """How far a run is, in one line."""

    def __init__(self, store: Store, run: Run) -> None:
        self._store = store
        self._run = run
        self._line = ProgressLine()
        self._begun = time.monotonic()
        self._n_before = n_finished_since(store, run.run_id)

    def tell(self) -> None:
        """Show how far the run is, if it is time to; counts alone are read, twice a second on a terminal."""
        if not self._line.is_due:
            return
        n = n_finished_since(self._store, self._run.run_id)
        rate = (n - self._n_before) / (time.monotonic() - self._begun)
        left = f", about {duration((self._run.n_wanted - n) / rate)} left" if rate > 0 else ""
        self._line.show(f"{n} of {self._run.n_wanted} items{left}")

    def end(self) -> None:
        """Leave the line behind."""
        self._line.end()
