"""Options of every command that starts a run: its kind's settings, who is asked, how the run is worked on."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from core.cli.aligned import counted
from core.cli.options import Options, add_database_option, print_notes
from core.cli.run_here import check_folder, go_where_it_runs, work_or_forget
from core.cli.setting_options import add_settings, settings_given
from core.datasets.reading import parse_json
from core.errors import InputError
from core.llm.prompts import find_prompt
from core.runs.asked import BACKENDS, OPENAI_KEY, OPENAI_URL, Asked, ModelSettings, Running, ask
from core.runs.at_hand import RunAtHand
from core.runs.path import create, find_same, resume
from core.schema import Run
from core.schema.kinds import Kind
from core.schema.settings import Settings, as_option
from core.schema.settings import said as worded
from core.store import Store, database_path, open_store

_OWN_WAY = ("backend",)
"""Fields of ModelSettings that an option gives in a way of its own."""
Read = Callable[[Store], tuple[bytes, str]]
"""Reads the file that a run is to work on, and its name."""
Check = Callable[[Path, Run | None, Callable[[], Run] | None], None]
"""See check_folder."""
Found = TypeVar("Found")


def add_asking(
    command: argparse.ArgumentParser, kind: Kind, *, usual: str | None = None, same: str = "this file"
) -> Options:
    """Everything by which a run of the kind is asked for. Returns its group of settings, for a command's own.

    usual: backend unless another is named; None: one must be. same: what --resume looks for beside the settings.
    """
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    settings = command.add_argument_group("settings")
    add_settings(settings, kind.Settings)
    settings.add_argument(
        "--prompt", action="append", default=[], metavar="NAME|FILE", help="prompt to use; may be repeated"
    )
    model = command.add_argument_group("model")
    model.add_argument(
        "--backend",
        choices=BACKENDS,
        default=usual,
        required=usual is None,
        help=f"who {kind.does}" + (f" (default {usual})" if usual else ""),
    )
    add_settings(model, ModelSettings, without=_OWN_WAY)
    run = command.add_argument_group("run")
    add_settings(run, Running)
    add_going_on(run, same)
    return settings


def add_going_on(command: Options, same: str) -> None:
    """How much of a run is done, and where it is kept. same: what --resume looks for beside the settings."""
    command.add_argument(
        "--limit", type=int, metavar="N", help="only the first N items; more later with --resume"
    )
    command.add_argument(
        "--resume",
        action="store_true",
        help=f"go on with the last run of {same} with these settings; other options of the run stay as they were, unless named",
    )
    add_database_option(command)


def asked(
    options: argparse.Namespace, kind: Kind, *, name: str = "", attached: str = ""
) -> tuple[Asked, Running]:
    """What the command asks for, checked. Raises SettingsError or InputError with everything that is wrong."""
    model = settings_given(options, ModelSettings, without=_OWN_WAY) | {"backend": options.backend}
    if "engine" in model:
        model["engine"] = _engine(model["engine"])
    running = settings_given(options, Running)
    if options.backend == "openai":
        model["base_url"] = url = model.get("base_url") or OPENAI_URL
        # A run that is yet to be found brings its own key.
        usual_key = OPENAI_KEY if url == OPENAI_URL and not options.resume else None
        running["key_variable"] = running.get("key_variable", usual_key) or None
    return ask(
        kind,
        settings_given(options, kind.Settings),
        model,
        running,
        name=name,
        attached=attached,
        prompts=[find_prompt(one) for one in options.prompt],
    )


def run_it(
    options: argparse.Namespace,
    wanted: Asked,
    running: Settings,
    read: Read,
    *,
    check: Check = check_folder,
    write: Callable[[RunAtHand, Path], Found],
) -> Found:
    """Work here on the run that is asked for, new or resumed. Returns what `write` makes of it and of --out.

    check: raises InputError where the run's results cannot be written there.
    """
    go_where_it_runs(wanted.environment)
    with open_store(database_path(options.db)) as store:
        data, file_name = read(store)
        if options.resume:
            found = find_same(store, data, wanted)
            check(options.out, found.run, None)
            run = resume(found, found.running.but(**_named(options, type(running))), options.limit)
        else:
            check(options.out, None, lambda: find_same(store, data, wanted).run)
            run, notes = create(store, data, file_name, wanted, running, options.limit)
            _print_new(run, notes)
        work_or_forget(run)
        return write(run, options.out)


def _named(options: argparse.Namespace, model: type[Settings]) -> dict[str, Any]:
    """How a run that goes on is worked on otherwise than it was; an empty --key-variable sends no key."""
    given = settings_given(options, model)
    return given | ({"key_variable": given["key_variable"] or None} if "key_variable" in given else {})


def _print_new(run: RunAtHand, notes: tuple[Any, ...]) -> None:
    """What is to be known of a new run, and which rows were left out."""
    print_notes(note if isinstance(note, str) else worded(note, run.fields, as_option) for note in notes)
    print_notes(
        f"left out, {reason}: {counted(count, 'row')}" for reason, count in run.path.left_out(run).items()
    )


def _engine(given: Iterable[str]) -> dict[str, Any]:
    """NAME=VALUE as arguments of vllm.LLM: a value that is JSON is read as such, another is a text."""
    chosen: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (equals and name.isidentifier()):
            raise InputError(f"--engine: {one!r} is not NAME=VALUE, such as gpu_memory_utilization=0.8.")
        read, problem = parse_json(value)
        chosen[name] = value if problem else read
    return chosen
