"""Options of every command that may ask a language model: who is asked, and how a run works on it."""

import argparse
from dataclasses import replace
from typing import Any

from core.cli.options import add_database_option
from core.datasets.reading import parse_json
from core.errors import InputError
from core.llm.asking import DEFAULT_ATTEMPTS
from core.runs.model_settings import BACKENDS, OPENAI_KEY, OPENAI_URL, Backend, RunningSettings

_DEFAULTS = RunningSettings()
_RUNNING = ("concurrency", "timeout", "retries", "input_price", "output_price")
"""Options of RunningSettings that no other option decides."""


def add_who(command: argparse.ArgumentParser, does: str, default: Backend | None = None) -> None:
    """`--backend`, `--model`, `--base-url`, `--prompt`.

    does: what the backend does here, such as `makes the answers`; default: of --backend, None where one must be named.
    """
    command.add_argument(
        "--backend",
        choices=BACKENDS,
        default=default,
        required=default is None,
        help=f"who {does}" + (" (%(default)s)" if default else ""),
    )
    command.add_argument("--model", default="", help="name on the server, or name or path for vllm")
    command.add_argument("--base-url", default="", help=f"OpenAI-compatible server (default {OPENAI_URL})")
    command.add_argument(
        "--prompt", action="append", default=[], metavar="NAME|FILE", help="prompt to use; may be repeated"
    )


def add_how(command: argparse.ArgumentParser, items: str = "items", same: str = "this file") -> None:
    """Attempts, engine, limit, resume, the line to the server, its key, prices and the database.

    items: what --limit counts; same: what --resume looks for beside the settings.
    """
    command.add_argument(
        "--attempts", type=int, default=DEFAULT_ATTEMPTS, help="answers asked for one step (%(default)s)"
    )
    command.add_argument("--max-model-len", type=int, help="vllm: tokens of prompt and answer together")
    command.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="vllm: an argument of vllm.LLM, such as quantization=awq; may be repeated",
    )
    command.add_argument(
        "--limit", type=int, metavar="N", help=f"only the first N {items}; more later with --resume"
    )
    command.add_argument(
        "--resume",
        action="store_true",
        help=f"go on with the last run of {same} and these settings; prices and requests as it had them, unless named",
    )
    _add_line(command)
    command.add_argument("--input-price", type=float, help="money for a million input tokens")
    command.add_argument("--output-price", type=float, help="money for a million output tokens")
    add_database_option(command)


def _add_line(command: argparse.ArgumentParser) -> None:
    # None: not given, so that a run which goes on can keep what it had.
    command.add_argument(
        "--concurrency", type=int, help=f"requests open at once (default {_DEFAULTS.concurrency})"
    )
    command.add_argument(
        "--timeout", type=float, help=f"seconds for a request (default {_DEFAULTS.timeout:g})"
    )
    command.add_argument(
        "--retries", type=int, help=f"further tries when the line fails (default {_DEFAULTS.retries})"
    )
    command.add_argument(
        "--key-variable",
        metavar="NAME",
        help=f"environment variable with the server's key (default {OPENAI_KEY} for OpenAI's own server, else none)",
    )


def model_given(options: argparse.Namespace) -> dict[str, Any]:
    """Fields of ModelSettings, all but the prompts. Raises InputError for an engine's option that is none."""
    return {
        "backend": options.backend,
        "model": options.model,
        "base_url": _base_url(options),
        "attempts": options.attempts,
        "max_model_len": options.max_model_len,
        "engine": _engine(options),
    }


def running_given(options: argparse.Namespace, before: RunningSettings | None = None) -> RunningSettings:
    """How the run is worked on.

    before: of a run that goes on, how it was worked on so far; it keeps whatever is not given.
    """
    given = {name: getattr(options, name) for name in _RUNNING if getattr(options, name) is not None}
    if before is not None:
        key = before.key_variable if options.key_variable is None else options.key_variable or None
        return replace(before, key_variable=key, **given)
    # A run that is yet to be found brings its own.
    key = options.key_variable if options.resume else _key_variable(options)
    return RunningSettings(key_variable=key or None, **given)


def prompts_given(options: argparse.Namespace) -> list[str]:
    """Names and files of `--prompt`. Raises InputError where some are given and no model is asked."""
    if options.backend == "rules" and options.prompt:
        raise InputError("--prompt: rules ask no model, so they use no prompt; leave it out.")
    given: list[str] = options.prompt
    return given


def _base_url(options: argparse.Namespace) -> str:
    return options.base_url or (OPENAI_URL if options.backend == "openai" else "")


def _key_variable(options: argparse.Namespace) -> str | None:
    if options.key_variable is not None or options.backend != "openai":
        return options.key_variable or None
    return OPENAI_KEY if _base_url(options) == OPENAI_URL else None


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
