"""`runs`: what is running, what it cost, cancel, resume, results. Pages start `runs work` as a child process."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from core.cli.options import (
    Commands,
    add_database_option,
    add_reading_verb,
    existing_store,
    json_text,
    print_result,
)
from core.cli.progress_line import telling
from core.cli.run_calls import add_call_options, show_calls
from core.cli.run_here import check_folder, finish_in_folder, go_where_it_runs, work_here
from core.cli.run_summary import summary
from core.datasets.reading import shown
from core.errors import InputError
from core.runs.path import at_hand, resume, run_report
from core.runs.progress import Progress, progress_of, state_of, why_not_now
from core.runs.worker import end_at_once, work
from core.schema import Run
from core.store import Store
from core.store.runs import ask_to_stop, get_run, list_runs

CANCEL_SECONDS = 10.0
"""For which `cancel` waits until the run's process is gone."""
_AT_WORK = ("running", "cancelling")


def add_to(nouns: Commands) -> None:
    """Register `runs` and its verbs."""
    noun = nouns.add_parser(
        "runs", help="runs of generation, scoring and judges: list, show, cancel, resume, write results"
    )
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    add_reading_verb(verbs, "list", "all runs, newest first", _list)
    command = add_reading_verb(
        verbs, "show", "how far a run is, what failed and why, what it cost; what a model was asked", _show
    )
    _add_number(command)
    add_call_options(command)
    _verb(verbs, "cancel", "ask a run to stop; it can be resumed").set_defaults(run=_cancel)
    command = _verb(verbs, "resume", "go on with a run where it stopped, and write its results")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    command.add_argument("--limit", type=int, metavar="N", help="only the first N items (default: all)")
    command.set_defaults(run=_resume)
    command = _verb(verbs, "write", "write a run's results as far as it is")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    command.set_defaults(run=_write)
    command = _verb(verbs, "work", "work on a run that waits (what pages start)")
    command.add_argument(
        "--alone",
        action="store_true",
        help="end this process if the model has not closed some seconds after the run is to stop",
    )
    command.set_defaults(run=_work)


def _verb(verbs: Commands, name: str, text: str) -> argparse.ArgumentParser:
    command = verbs.add_parser(name, help=text)
    _add_number(command)
    add_database_option(command)
    return command


def _add_number(command: argparse.ArgumentParser) -> None:
    command.add_argument("number", type=int, metavar="RUN", help="number of the run")


def _list(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        found = [progress_of(store, run.run_id) for run in list_runs(store)]
        rows = [
            {"run": p.run.run_id, "kind": p.run.kind, "state": p.state, "file": p.run.data_file}
            for p in found
        ]
        print_result(options, rows, _print_list, store, found)


def _print_list(store: Store, found: Sequence[Progress]) -> None:
    if not found:
        print("No runs yet: `generate factual`, `generate damage`, `score` or `judge` starts one.")
        return
    print("run\tmade (UTC)\tkind\tstate\tcomplete\tsource, metrics or judge\tseed\tfile")
    for progress in found:
        run = progress.run
        made = run.created_utc[:16].replace("T", " ")
        cells = (run.run_id, made, run.kind, progress.state, f"{progress.n_done} of {run.n_wanted}")
        print(*cells, *_maker_and_seed(store, run), shown(run.data_file), sep="\t")


def _maker_and_seed(store: Store, run: Run) -> tuple[str, str]:
    """Who made the texts or scores, and the seed; one run that a newer Assay saved hides no other."""
    try:
        at = at_hand(store, run)
        return shown(at.path.maker(at.asked)), "-" if at.asked.seed is None else str(at.asked.seed)
    except InputError:
        return f"cannot be read: see `runs show {run.run_id}`", "-"


def _show(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        at = at_hand(store, options.number)
        if show_calls(options, at):
            return
        progress = progress_of(store, options.number)
        if options.json:
            print(json_text(run_report(at, progress)))
        else:
            print("\n".join([*summary(at, progress), *filter(None, [progress.run.message])]))


def _cancel(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        number, state = options.number, state_of(get_run(store, options.number))
        if state == "waiting":
            ask_to_stop(store, number)
            print(f"Run {number} is cancelled: it had not started.")
            return
        if state not in _AT_WORK:
            print(f"Run {number} is {state}: nobody is working on it.")
            return
        ask_to_stop(store, number)
        until = time.monotonic() + CANCEL_SECONDS
        with telling(f"run {number} is being cancelled"):
            while state in _AT_WORK and time.monotonic() < until:
                time.sleep(0.1)
                state = state_of(get_run(store, number))
        progress = progress_of(store, number)
        if progress.state in _AT_WORK:
            print(f"Run {number} still runs. {why_not_now(progress.run) or ''}".rstrip())
        else:
            saved = f"{progress.n_finished} of {progress.run.n_wanted} items are finished and saved"
            print(f"Run {number} is {progress.state}: {saved}.")


def _resume(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        run = at_hand(store, options.number)
        check_folder(options.out, run.run)
        go_where_it_runs(run.asked.environment)
        work_here(resume(run, None, options.limit))
        finish_in_folder(run, options.out)


def _write(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        run = at_hand(store, options.number)
        check_folder(options.out, run.run)
        finish_in_folder(run, options.out)


def _work(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        run = at_hand(store, options.number)
        ended = work(
            store, options.number, lambda claimed: run.path.job(run.claimed(claimed)), alone=options.alone
        )
        if options.alone and ended.state != "done":
            end_at_once()  # what could not be interrupted, such as a model that loads, would go on
