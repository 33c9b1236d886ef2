"""`runs cancel`, `resume`, `write` and `work`. Pages start `runs work` as a child process."""

import argparse
import time
from pathlib import Path

from core.cli.runs.verbs import run_verb
from core.cli.shared.options import Commands, add_database_option, existing_store
from core.cli.shared.running import check_folder, exec_in_environment, finish_in_folder, telling, work_here
from core.errors import InputError
from core.runs.path import resume, saved_run
from core.runs.progress import AT_WORK, progress_of, state_of, why_not_now
from core.runs.working.worker import end_at_once, work
from core.store.runs import ask_to_stop, finish_run, get_run

CANCEL_SECONDS = 10.0
"""How long `cancel` waits for the run's process to end."""


def add_to(verbs: Commands) -> None:
    """Register `cancel` and `resume`."""
    run_verb(verbs, "cancel", "stop a run; it can be resumed").set_defaults(run=_cancel)
    command = run_verb(verbs, "resume", "resume a stopped run, and write its results")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    command.add_argument("--limit", type=int, metavar="N", help="only the first N items (default: all)")
    command.set_defaults(run=_resume)


def add_write(verbs: Commands) -> None:
    """Register `write`."""
    command = run_verb(verbs, "write", "write the results of a run, complete or not")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    command.set_defaults(run=_write)


def add_work(verbs: Commands) -> None:
    """Register `work`."""
    command = verbs.add_parser("work", help="process queued runs one after the other (used by the app)")
    command.add_argument("numbers", type=int, nargs="+", metavar="RUN", help="numbers of the runs")
    add_database_option(command)
    command.add_argument(
        "--alone",
        action="store_true",
        help="end this process if the model is still open some seconds after the run was stopped",
    )
    command.set_defaults(run=_work)


def _cancel(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        number, state = options.number, state_of(get_run(store, options.number))
        if state == "waiting":
            ask_to_stop(store, number)
            print(f"Run {number} is cancelled. It had not started.")
            return
        if state == "awaiting":
            finish_run(store, number, "cancelled")
            print(f"Run {number} is cancelled. Answers to its batch files can still be read: `runs answers`.")
            return
        if state not in AT_WORK:
            print(f"Run {number} is {state}, so there is nothing to cancel.")
            return
        ask_to_stop(store, number)
        until = time.monotonic() + CANCEL_SECONDS
        with telling(f"cancelling run {number}"):
            while state in AT_WORK and time.monotonic() < until:
                time.sleep(0.1)
                state = state_of(get_run(store, number))
        progress = progress_of(store, number)
        if progress.state in AT_WORK:
            print(f"Run {number} is still running. {why_not_now(progress.run) or ''}".rstrip())
        else:
            saved = f"{progress.n_finished} of {progress.run.n_wanted} items are finished and saved"
            print(f"Run {number} is {progress.state}: {saved}.")


def _resume(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        run = saved_run(store, options.number)
        check_folder(options.out, run.run)
        exec_in_environment(run.environment)
        work_here(resume(run, None, options.limit))
        finish_in_folder(run, options.out)


def _write(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        run = saved_run(store, options.number)
        check_folder(options.out, run.run)
        finish_in_folder(run, options.out)


def _work(options: argparse.Namespace) -> None:
    from core.runs.judging.several import work_through  # imported lazily: loads what compares judges

    with existing_store(options.db) as store:
        progress, refused = work_through(
            [saved_run(store, number) for number in options.numbers],
            lambda run: work(
                store,
                run.run.run_id,
                lambda claimed: run.path.job(run.claimed(claimed)),
                alone=options.alone,
            ),
        )
        if refused:
            raise InputError("\n".join(refused.values()))
        if options.alone and any(one.state != "done" for one in progress):
            end_at_once()  # otherwise work that cannot be interrupted, such as loading a model, would continue
