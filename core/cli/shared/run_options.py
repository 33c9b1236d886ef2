"""Options of every command that starts a run: settings of its kind, model, calls, and how the run is processed."""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from core.cli.shared.options import Options, add_database_option, print_notes
from core.cli.shared.running import check_folder, exec_in_environment, run_or_delete, telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.errors import InputError, counted, nearest_names
from core.llm.call_settings import CallSettings
from core.llm.prompts import find_prompt
from core.runs.asked import (
    BACKENDS,
    OPENAI_KEY,
    OPENAI_URL,
    Asked,
    ModelSettings,
    Running,
    ask,
    environment_for,
)
from core.runs.jobs import RunAtHand
from core.runs.judging.in_one_file import JudgeFile, ask_as
from core.runs.path import create, find_same, resume
from core.schema.runs import ENGINES, Kind, Run
from core.schema.settings import Settings, fields_of, option_word
from core.schema.settings import said as worded_of_settings
from core.store import Store, database_path, open_store
from core.tables.streaming import TableFile
from core.yaml_fields import place_of, read_yaml, refuse, text_of


def settings_in(path: Path, models: Sequence[type[Settings]]) -> list[dict[str, Any]]:
    """Read a YAML file of settings; return field -> value for each model. Names may be fields or options.

    A name that two models share goes to the first. Raises InputError for an unreadable file and for unknown names. The
    values are checked later, with all others.
    """
    read = read_yaml(text_of(path, "Settings file"))
    problems = list(read.problems)
    found: list[dict[str, Any]] = [{} for _ in models]
    known = [
        {
            called: name
            for name, one in fields_of(model).items()
            for called in (one.option.removeprefix("--"), name)
        }
        for model in models
    ]
    for called, value in (read.values or {}).items():
        at = next((at for at, names in enumerate(known) if called in names), None)
        if at is None:
            spelled = called.replace("_", "-")
            near = nearest_names(spelled, {name.replace("_", "-") for names in known for name in names})
            meant = f"; did you mean {' or '.join(near)}?" if near else ""
            problems.append(f"{place_of(read.lines, (called,))}: unknown setting{meant}")
        else:
            found[at][known[at][called]] = tuple(value) if isinstance(value, list) else value
    if problems:
        refuse(f"Settings file {path.name}", problems)
    return found


_OWN_WAY = ("backend",)
"""Fields of ModelSettings for which add_run_options registers its own option."""
_CALL = CallSettings.model_fields.keys()
_SHARED_NAME = ("engine",)
"""Fields of Running whose option belongs to a field of ModelSettings: `--engine ray` beside `--engine NAME=VALUE`."""
Read = Callable[[Store], tuple[bytes | TableFile, str]]
"""Returns the file for a run, whole or as a big table, and its name."""
Check = Callable[[Path, Run | None, Callable[[], Run] | None], None]
"""See check_folder."""
Found = TypeVar("Found")


def add_run_options(
    command: argparse.ArgumentParser,
    kind: Kind,
    *,
    usual: str | None = None,
    same: str = "this file",
    several: bool = False,
) -> Options:
    """Register all options of a run of the kind. Return the group of settings, so that a command can add its own.

    usual: default backend; None: a backend must be named. same: the input that --resume matches besides the settings. several:
    whether the command makes several runs: --model and --prompt then name one for each, and what was begun is always resumed.
    """
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    settings = command.add_argument_group("settings")
    add_settings(settings, kind.Settings)
    settings.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="YAML file with settings of the run, its model or its calls, by field or option name; options override it",
    )
    settings.add_argument(
        "--prompt",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="prompt to compare; several for the steps of one judge are joined by commas; may be repeated"
        if several
        else "prompt to use; may be repeated",
    )
    command.set_defaults(usual_backend=usual)
    model = command.add_argument_group("model")
    model.add_argument(
        "--backend",
        choices=BACKENDS,
        help=f"backend that {kind.does}" + (f" (default {usual})" if usual else ""),
    )
    if several:
        model.add_argument(
            "--model",
            action="append",
            default=[],
            dest="models",
            metavar="NAME",
            help="model to compare; may be repeated",
        )
    add_settings(model, ModelSettings, without=(*_OWN_WAY, *_CALL, *(["model"] if several else [])))
    calls = command.add_argument_group("every call of the model")
    add_settings(calls, CallSettings, without=kind.Settings.model_fields)
    run = command.add_argument_group("run")
    add_settings(run, Running, without=_SHARED_NAME)
    if several:
        _add_limit(run, "continue later without it")
        add_database_option(run)
        command.set_defaults(resume=False)
    else:
        add_resume_options(run, same)
    return settings


def _add_limit(command: Options, later: str) -> None:
    command.add_argument("--limit", type=int, metavar="N", help=f"only the first N items; {later}")


def add_resume_options(command: Options, same: str) -> None:
    """Register `--limit`, `--resume` and `--db`. same: the input that --resume matches besides the settings."""
    _add_limit(command, "continue later with --resume")
    command.add_argument(
        "--resume",
        action="store_true",
        help=f"continue the last run of {same} with these settings; its other options stay the same unless given",
    )
    add_database_option(command)


def requested_run(
    options: argparse.Namespace, kind: Kind, *, name: str = "", attached: str = ""
) -> tuple[Asked, Running]:
    """Return the requested run and how to process it, checked. Raises SettingsError or InputError with all problems."""
    # A name that the kind shares belongs to the kind.
    without = {*_OWN_WAY, *(_CALL & kind.Settings.model_fields.keys())}
    own, model, running = _settings_of_file(options, kind)
    judge: JudgeFile | None = getattr(options, "judge_file", None)
    kept = None if judge is None else judge.request.model
    own |= settings_given(options, kind.Settings)
    model |= settings_given(options, ModelSettings, without=without)
    running |= settings_given(options, Running, without=_SHARED_NAME)
    _take_engine(model, running)
    usual = options.usual_backend if kept is None else kept.backend
    model["backend"] = options.backend or model.get("backend") or usual
    if model["backend"] is None:
        raise InputError(
            f"--backend is missing: name the backend that {kind.does.partition(';')[0]}: {', '.join(BACKENDS)}."
        )
    if model["backend"] == "batch":
        model["base_url"] = model.get("base_url") or (kept and kept.base_url) or OPENAI_URL
    if model["backend"] == "openai":
        model["base_url"] = url = model.get("base_url") or (kept and kept.base_url) or OPENAI_URL
        # With --resume, the key comes from the run.
        usual_key = OPENAI_KEY if url == OPENAI_URL and not options.resume else None
        running["key_variable"] = running.get("key_variable", usual_key) or None
    asking = partial(ask, kind) if judge is None else partial(ask_as, judge)
    return asking(
        own,
        model,
        running,
        name=name,
        attached=attached,
        prompts=[find_prompt(one) for one in options.prompt],
    )


def _take_engine(model: dict[str, Any], running: dict[str, Any]) -> None:
    """Move the word for where the run is done from the model's `engine` to the one of the run.

    Raises InputError for a second word. The settings report a word that they do not know.
    """
    given = model.get("engine")
    if not isinstance(given, str | list | tuple):
        return
    entries = given.splitlines() if isinstance(given, str) else [str(one) for one in given]
    words = list(dict.fromkeys(one.strip() for one in entries if "=" not in one and one.strip()))
    arguments = tuple(one for one in entries if "=" in one)
    if len(words) > 1:
        raise InputError(
            f"--engine: {' and '.join(words)} are two engines; name one of {', '.join(ENGINES)}."
        )
    if words and words[0] not in ENGINES:
        raise InputError(
            f"--engine: {words[0]!r} is neither {' nor '.join(ENGINES)}, nor NAME=VALUE, an argument of vllm.LLM."
        )
    if words:
        running["engine"] = words[0]
    if arguments:
        model["engine"] = arguments
    else:
        del model["engine"]


def running_given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the processing options of a run that uses a model."""
    model = {
        name: value for name, value in settings_given(options, ModelSettings).items() if name == "engine"
    }
    running = settings_given(options, Running, without=_SHARED_NAME)
    _take_engine(model, running)
    return running


def run_it(
    options: argparse.Namespace,
    wanted: Asked,
    running: Settings,
    read: Read,
    *,
    check: Check = check_folder,
    write: Callable[[RunAtHand, Path], Found],
) -> Found:
    """Process the requested run in this process, new or resumed. Return the result of `write(run, --out)`.

    check: raises InputError if the results cannot be written to --out.
    """
    if not options.resume:  # otherwise it depends on the run that is continued
        exec_in_environment(environment_for(wanted, running))
    with open_store(database_path(options.db)) as store:
        data, file_name = read(store)
        if options.resume:
            found = find_same(store, data, wanted)
            check(options.out, found.run, None)
            running = found.running.but(**_named(options, type(running)))
            exec_in_environment(environment_for(wanted, running))
            run = resume(found, running, options.limit)
        else:
            check(options.out, None, lambda: find_same(store, data, wanted).run)
            with telling(f"reading {file_name}") as tell:
                run, notes = create(
                    store,
                    data,
                    file_name,
                    wanted,
                    running,
                    options.limit,
                    lambda n: tell(f"reading {file_name}: {n:,} rows"),
                )
            _print_new(run, notes)
        run_or_delete(run)
        return write(run, options.out)


def _named(options: argparse.Namespace, model: type[Settings]) -> dict[str, Any]:
    """Return the changed processing options of a resumed run. An empty --key-variable sends no key."""
    given = running_given(options) if model is Running else settings_given(options, model)
    return given | ({"key_variable": given["key_variable"] or None} if "key_variable" in given else {})


def _print_new(run: RunAtHand, notes: tuple[Any, ...]) -> None:
    """Print the notes on a new run, and how many rows it leaves out."""
    print_notes(
        note if isinstance(note, str) else worded_of_settings(note, run.fields, option_word) for note in notes
    )
    print_notes(
        f"left out, {reason}: {counted(count, 'row')}" for reason, count in run.path.left_out(run).items()
    )


def _settings_of_file(options: argparse.Namespace, kind: Kind) -> Sequence[dict[str, Any]]:
    """Return the values of `--settings` for the kind, the model with its calls, and the processing of the run."""
    groups = (kind.Settings, ModelSettings, Running)
    return [{} for _ in groups] if options.settings is None else settings_in(options.settings, groups)
