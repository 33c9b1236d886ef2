"""`runs list` and `runs show`."""

import argparse
from collections.abc import Sequence

from core.cli.runs.calls import add_call_options, show_calls
from core.cli.runs.verbs import add_number
from core.cli.shared.options import Commands, add_reading_verb, existing_store, print_result
from core.cli.shared.running import summary
from core.errors import InputError
from core.runs.path import run_report, saved_run
from core.runs.progress import Progress, progress_of
from core.schema.runs import Run
from core.store import Store
from core.store.beside import left_out_said
from core.store.runs import list_runs
from core.tables.files import json_text
from core.tables.reading import shown


def add_to(verbs: Commands) -> None:
    """Register `list` and `show`."""
    add_reading_verb(verbs, "list", "all runs, newest first", _list)
    command = add_reading_verb(
        verbs,
        "show",
        "show progress, failures with reasons, and cost of a run; or the calls of one item",
        _show,
    )
    add_number(command)
    add_call_options(command)


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
        print("No runs yet. Start one with `generate factual`, `generate damage`, `score` or `judge`.")
        return
    print("run\tcreated (UTC)\tkind\tstate\tcomplete\tsystem, metrics or judge\tseed\tfile")
    for progress in found:
        run = progress.run
        cells = (
            run.run_id,
            run.created_minute,
            run.kind,
            progress.state,
            f"{progress.n_done} of {run.n_wanted}",
        )
        print(*cells, *_maker_and_seed(store, run), shown(run.data_file), sep="\t")


def _maker_and_seed(store: Store, run: Run) -> tuple[str, str]:
    """Return the maker of texts or scores, and the seed. A run saved by a newer Assay must not hide the others."""
    try:
        at = saved_run(store, run)
        return shown(at.path.maker(at.request)), "-" if at.request.seed is None else str(at.request.seed)
    except InputError:
        return f"unreadable: see `runs show {run.run_id}`", "-"


def _show(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        at = saved_run(store, options.number)
        if show_calls(options, at):
            return
        progress = progress_of(store, options.number)
        if options.json:
            print(json_text(run_report(at, progress)))
        else:
            further = (progress.run.message, left_out_said(store, options.number))
            print("\n".join([*summary(at, progress), *filter(None, further)]))
