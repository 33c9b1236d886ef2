"""Options of every command that starts a run: its kind's settings, who is asked, how the run is worked on."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from core.cli.aligned import counted
from core.cli.options import Options, add_database_option, print_notes
from core.cli.run_here import check_folder, go_where_it_runs, work_or_forget
from core.cli.setting_options import add_settings, settings_given, settings_in
from core.errors import InputError
from core.llm.call_settings import CallSettings
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
_CALL = CallSettings.model_fields.keys()
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
        "--settings",
        type=Path,
        metavar="FILE",
        help="YAML file with settings of the run, its model or its calls, by field or option; options go before it",
    )
    settings.add_argument(
        "--prompt", action="append", default=[], metavar="NAME|FILE", help="prompt to use; may be repeated"
    )
    command.set_defaults(usual_backend=usual)
    model = command.add_argument_group("model")
    model.add_argument(
        "--backend",
        choices=BACKENDS,
        help=f"who {kind.does}" + (f" (default {usual})" if usual else ""),
    )
    add_settings(model, ModelSettings, without=(*_OWN_WAY, *_CALL))
    calls = command.add_argument_group("every call of the model")
    add_settings(calls, CallSettings, without=kind.Settings.model_fields)
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
    # A name that the kind has, too, is the kind's.
    without = {*_OWN_WAY, *(_CALL & kind.Settings.model_fields.keys())}
    own, model, running = _from_file(options, kind)
    own |= settings_given(options, kind.Settings)
    model |= settings_given(options, ModelSettings, without=without)
    running |= settings_given(options, Running)
    model["backend"] = options.backend or model.get("backend") or options.usual_backend
    if model["backend"] is None:
        raise InputError(f"--backend: name who {kind.does.partition(';')[0]}: {', '.join(BACKENDS)}.")
    if model["backend"] == "openai":
        model["base_url"] = url = model.get("base_url") or OPENAI_URL
        # A run that is yet to be found brings its own key.
        usual_key = OPENAI_KEY if url == OPENAI_URL and not options.resume else None
        running["key_variable"] = running.get("key_variable", usual_key) or None
    return ask(
        kind,
        own,
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


def _from_file(options: argparse.Namespace, kind: Kind) -> Sequence[dict[str, Any]]:
    """What the settings file says: of the kind, of the model and its calls, of how the run is worked on."""
    groups = (kind.Settings, ModelSettings, Running)
    return [{} for _ in groups] if options.settings is None else settings_in(options.settings, groups)
