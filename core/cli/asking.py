"""Options of every command that starts a run: its kind's settings, who is asked, how the run is worked on."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.cli.options import Options, add_database_option
from core.cli.run_here import check_folder, finish_in_folder, go_where_it_runs, work_or_forget
from core.cli.setting_options import add_settings, settings_given
from core.datasets.reading import parse_json
from core.errors import InputError
from core.llm.prompts import find_prompt
from core.runs.asked import BACKENDS, OPENAI_KEY, OPENAI_URL, Asked, ModelSettings, Running, ask
from core.runs.at_hand import RunAtHand
from core.runs.path import create, find_same, resume
from core.schema.kinds import Kind
from core.schema.settings import as_option
from core.schema.settings import said as worded
from core.store import Store, database_path, open_store

_OWN_WAY = ("backend", "engine")
"""Fields of ModelSettings that an option gives in a way of its own."""
Read = Callable[[Store], tuple[bytes, str]]
"""Reads the file that a run is to work on, and its name."""


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
    model.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="vllm: an argument of vllm.LLM, such as quantization=awq; may be repeated",
    )
    run = command.add_argument_group("run")
    add_settings(run, Running)
    run.add_argument(
        "--limit", type=int, metavar="N", help="only the first N items; more later with --resume"
    )
    run.add_argument(
        "--resume",
        action="store_true",
        help=f"go on with the last run of {same} with these settings; other options of the run stay as they were, unless named",
    )
    add_database_option(run)
    return settings


def asked(
    options: argparse.Namespace, kind: Kind, *, name: str = "", attached: str = ""
) -> tuple[Asked, Running]:
    """What the command asks for, checked. Raises SettingsError or InputError with everything that is wrong."""
    if options.backend == "rules" and options.prompt:
        raise InputError("--prompt: rules ask no model, so they use no prompt; leave it out.")
    model = settings_given(options, ModelSettings, without=_OWN_WAY)
    url = model.get("base_url") or (OPENAI_URL if options.backend == "openai" else "")
    model |= {"backend": options.backend, "base_url": url, "engine": _engine(options)}
    running = settings_given(options, Running)
    # A run that is yet to be found brings its own key.
    usual_key = (
        OPENAI_KEY if url == OPENAI_URL and options.backend == "openai" and not options.resume else None
    )
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
    running: Running,
    read: Read,
    *,
    finish: Callable[[RunAtHand], Any] = lambda _: None,
) -> Any:
    """Work here on the run that is asked for, new or resumed, and write what came of it.

    Returns what `finish` makes of the run.
    """
    go_where_it_runs(wanted.environment)
    with open_store(database_path(options.db)) as store:
        data, file_name = read(store)
        if options.resume:
            found = find_same(store, data, wanted)
            check_folder(options.out, found.run)
            run = resume(found, found.running.but(**_named(options)), options.limit)
        else:
            check_folder(options.out, None, lambda: find_same(store, data, wanted).run)
            run, notes = create(store, data, file_name, wanted, running, options.limit)
            print_notes(run, notes)
        work_or_forget(run)
        finish_in_folder(run, options.out)
        return finish(run)


def _named(options: argparse.Namespace) -> dict[str, Any]:
    """How a run that goes on is worked on otherwise than it was; an empty --key-variable sends no key."""
    given = settings_given(options, Running)
    return given | ({"key_variable": given["key_variable"] or None} if "key_variable" in given else {})


def print_notes(run: RunAtHand, notes: tuple[Any, ...]) -> None:
    """What is to be known of a new run, and which rows were left out."""
    for note in notes:
        text = note if isinstance(note, str) else worded(note, run.fields, as_option)
        print(f"Note: {text}")
    for reason, count in run.path.left_out(run).items():
        print(f"Note: left out, {reason}: {count:,} {'row' if count == 1 else 'rows'}")


def _engine(options: argparse.Namespace) -> dict[str, Any]:
    """NAME=VALUE as arguments of vllm.LLM: a value that is JSON is read as such, another is a text."""
    chosen: dict[str, Any] = {}
    for given in options.engine:
        name, equals, value = given.partition("=")
        if not (equals and name.isidentifier()):
            raise InputError(f"--engine: {given!r} is not NAME=VALUE, such as gpu_memory_utilization=0.8.")
        read, problem = parse_json(value)
        chosen[name] = value if problem else read
    if chosen and options.backend != "vllm":
        raise InputError("--engine: only vllm has an engine; leave it out, or choose --backend vllm.")
    return chosen
