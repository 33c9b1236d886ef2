"""The command line: one file a noun, thin like pages. Exit status 0, or 2 with a sentence for a user's mistake."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import __version__
from core.errors import AssayError

NOUNS = {
    "study": "blind validation studies",
    "generate": "make answers of known quality",
    "score": "score texts with metrics",
    "judge": "score texts with a language model as judge, and look at judges",
    "spans": "precision, recall and F1 of marked errors, character by character",
    "acc23": "pairwise accuracy with tie calibration of metrics against people, as in WMT23",
    "correlate": "correlations of metrics with human ratings or damage levels",
    "meta-correlate": "does data of known quality rank metrics as people do?",
    "calibrate": "evaluators against human ratings: agreement, kappas, bias, where not to use them",
    "convert": "ratings and marked errors from one form into another",
    "published": "figures of the papers, and sides for meta-correlate",
    "runs": "runs of generation, scoring and judges: list, show, cancel, resume, write results",
    "serve": "start the app (what ./run calls)",
    "admin": "the admin's sign-in",
}
"""In the order of the help; each has a module of its name, which is loaded when it is asked for."""
STOPPED = 130
"""Exit status after Ctrl-C, as shells have it."""
_HALF = re.compile("[\ud800-\udfff]")


if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    _Commands = argparse._SubParsersAction


Load = Callable[[str], Callable[[_Commands], None]]
"""From a command's name to what adds its options, and perhaps those of others."""


def later(commands: _Commands, summaries: Mapping[str, str], load: Load) -> None:
    """Name commands, which are loaded when they are asked for."""
    assert isinstance(commands, Later)
    commands.later(summaries, load)


class Later(_Commands):
    """The nouns of the command line, or the verbs of a noun: named at once, loaded when they are asked for."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._loads: dict[str, Load] = {}
        self._named: dict[str, argparse.ArgumentParser] = {}

    def later(self, summaries: Mapping[str, str], load: Load) -> None:
        """Name commands; `later` does it to any."""
        for name, summary in summaries.items():
            self._named[name] = super().add_parser(name, help=summary)
            self._loads[name] = load

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """A command's parser; of one that is named already, the parser that the help has."""
        command = self._named.pop(name, None)
        if command is None:
            return super().add_parser(name, **options)
        self._loads.pop(name, None)
        command.description = options.get("description")
        return command

    def load(self, name: str) -> None:
        """Give a command its options."""
        if name in self._loads:
            self._loads[name](name)(self)

    def load_all(self) -> None:
        """Give all commands their options, and theirs."""
        for name in self.choices:
            self.load(name)
        for command in self.choices.values():
            for action in command._actions:
                if isinstance(action, Later):
                    action.load_all()

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        """Read what follows a command's name."""
        self.load(values[0])
        super().__call__(parser, namespace, values, option)


def parser() -> argparse.ArgumentParser:
    """The command line: every noun by its name, its options when they are needed."""
    top = argparse.ArgumentParser(prog="python -m core", description="Assay: can this judge be trusted?")
    top.add_argument("--version", action="version", version=f"assay {__version__}")
    nouns = top.add_subparsers(dest="noun", required=True, metavar="NOUN", action=Later)
    later(nouns, NOUNS, lambda name: import_module(f"core.cli.{name.replace('-', '_')}").add_to)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    commands = parser()
    options, further = commands.parse_known_args(given)
    if further and options.noun != "serve":  # serve hands them to Streamlit
        commands.error(f"unrecognized arguments: {' '.join(further)}")
    options.further = further
    try:
        _check_texts(options, given)
        options.run(options)
    except AssayError as problem:
        print(_in_options(problem), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of a pipe had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _in_options(problem: AssayError) -> AssayError:
    """The problem with its settings named as options."""
    from core.schema.settings import SettingsError, as_option  # imported lazily: pydantic loads slowly

    return problem.in_words(as_option) if isinstance(problem, SettingsError) else problem


def _check_texts(options: argparse.Namespace, given: Sequence[str]) -> None:
    """Raise InputError for what no file, database or page can hold: bytes that are no UTF-8 reach us as half surrogates."""
    if not any(map(_HALF.search, given)):
        return
    from core.cli.shared.options import check_options  # loads the store
    from core.tables.reading import shown

    problems = []
    for name, value in vars(options).items():
        texts = value if isinstance(value, list | tuple) else [value]
        option = f"--{name.replace('_', '-')}"
        called = option if any(one.split("=")[0] == option for one in given) else name
        problems += [
            f"{called}: {shown(str(text))} is no text, as it holds bytes that are not UTF-8"
            for text in texts
            if isinstance(text, str | Path) and _HALF.search(str(text))
        ]
    check_options(problems)
