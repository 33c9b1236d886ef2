"""The command line: one file for each noun.

Exit status 0, or 2 with an error message for a user's mistake, or 4 for a run none of whose answers could be used; `check` and
analyses may have others for verdicts.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import __version__
from core.analyses import ANALYSES, command_of, commands_of
from core.errors import AssayError
from core.installation import COMMAND

_NOUNS = {
    "study": "blind validation studies",
    "generate": "generate answers of known quality",
    "score": "score texts with metrics",
    "judge": "score texts with a language model as judge",
    "report": "report on the results of judges: orders, repeats, costs, agreement, bias, made levels",
    "convert": "convert ratings and marked errors to another format",
    "reproduce": "numbers of five papers, computed again, and their analyses for your own runs",
    "published": "published tables of Meta-Judge, Factual and CEF; some can be sides of meta-correlate",
    "runs": "list, show, cancel or resume runs, and write their results",
    "serve": "start the app",
    "admin": "sign-in of the admin",
}
"""Nouns with a module of the same name, imported when the noun is used. Analyses are registered in core/analyses."""
_FIRST, _BEHIND = "check", "report"
"""The analysis that the help lists first, and the noun behind which it lists the others."""
STOPPED = 130
"""Exit status after Ctrl-C, the convention of shells."""
_HALF = re.compile("[\ud800-\udfff]")
_REPORTS = frozenset(
    {
        *("ablation", "bias", "compare", "consistency", "copying", "costs", "examples-curve", "levels"),
        *("pairs", "raters", "reasked", "reliability"),
    }
)
"""Verbs that `judge` had and that call no model."""


if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    _Commands = argparse._SubParsersAction


Load = Callable[[str], Callable[[_Commands], None]]
"""Takes a command's name; returns the function that adds its options, and perhaps those of other commands."""


def later(commands: _Commands, summaries: Mapping[str, str], load: Load) -> None:
    """Register commands by name; each is loaded when it is used."""
    assert isinstance(commands, Later)
    commands.later(summaries, load)


class Later(_Commands):
    """The nouns of the command line, or the verbs of a noun: registered at once, loaded when used."""

    def __init__(self, *names: Any, **options: Any) -> None:
        super().__init__(*names, **options)
        self._loads: dict[str, Load] = {}
        self._named: dict[str, argparse.ArgumentParser] = {}

    def later(self, summaries: Mapping[str, str], load: Load) -> None:
        """Register commands by name and summary. Call the function `later`, which checks the type."""
        for name, summary in summaries.items():
            self._named[name] = super().add_parser(name, help=summary)
            self._loads[name] = load

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """Return the parser of a command: the registered one if the name is known, else a new one."""
        command = self._named.pop(name, None)
        if command is None:
            return super().add_parser(name, **options)
        self._loads.pop(name, None)
        command.description = options.get("description")
        return command

    def load(self, name: str) -> None:
        """Add the options of one command."""
        if name in self._loads:
            self._loads[name](name)(self)

    def load_all(self) -> None:
        """Add the options of all commands, including those of their verbs."""
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
        """Parse the arguments after a command's name, which may have two words: `reproduce cef reliability`."""
        if len(values) > 1 and f"{values[0]} {values[1]}" in self.choices:
            values = [f"{values[0]} {values[1]}", *values[2:]]
        if values[0] == "judge" and len(values) > 1 and values[1] in _REPORTS:
            parser.exit(2, moved(f"judge {values[1]}", _report(values[1])) + "\n")
        self.load(values[0])
        super().__call__(parser, namespace, values, option)


def parser(program: str = COMMAND) -> argparse.ArgumentParser:
    """Return the parser with every noun; the options of a noun are added when it is used."""
    top = argparse.ArgumentParser(prog=program, description="Assay: can this judge be trusted?")
    top.add_argument("--version", action="version", version=f"assay {__version__}")
    nouns = top.add_subparsers(dest="noun", required=True, metavar="NOUN", action=Later)
    later(nouns, _summaries(), _loader)
    return top


def _summaries() -> dict[str, str]:
    """Noun -> what it is for, in the order of the help."""
    at = [*_NOUNS].index(_BEHIND) + 1
    nouns, analyses = [*_NOUNS.items()], _analyses("")
    return dict([(_FIRST, analyses[_FIRST]), *nouns[:at], *analyses.items(), *nouns[at:]])


def _analyses(noun: str) -> dict[str, str]:
    """Command -> summary, of the analyses that are verbs of this noun; empty: nouns."""
    return {command: ANALYSES[name].summary for command, name in commands_of(noun).items()}


def add_analyses(verbs: _Commands, noun: str) -> None:
    """Register the analyses that are verbs of a noun."""
    later(verbs, _analyses(noun), partial(_loader, of=noun))


def _loader(command: str, of: str = "") -> Callable[[_Commands], None]:
    """What adds the options of a noun, or of an analysis that is a verb of the noun `of`."""
    name = commands_of(of).get(command)
    if name is None:
        add: Callable[[_Commands], None] = _module_of(command).add_to
        return add
    from core.cli.analyses import add_analysis

    return partial(add_analysis, command=command, name=name)


def moved(before: str, now: str) -> str:
    """Return what is said to who types a command by the name that it had."""
    return f"`{before}` is now `{now}`."


def _report(verb: str) -> str:
    """Return the command that is now what the verb of `judge` was."""
    found = [command_of(name) for name, one in ANALYSES.items() if one.noun]
    return next((one for one in found if one.split()[-1] == verb), f"report {verb}")


def _module_of(noun: str) -> Any:
    module = noun.replace("-", "_")
    return import_module(f"core.cli.{module}")


def main(arguments: Sequence[str] | None = None, program: str = COMMAND) -> int:
    """Run one command and return the exit status. program: what its users type, for usage and errors."""
    given = sys.argv[1:] if arguments is None else arguments
    commands = parser(program)
    options, further = commands.parse_known_args(given)
    if further and options.noun != "serve":  # serve passes them on to Streamlit
        commands.error(f"unrecognized arguments: {' '.join(further)}")
    options.further, options.typed, options.status = further, tuple(given), 0
    try:
        _check_texts(options, given)
        options.run(options)
    except AssayError as problem:
        print(_option_problem(problem), file=sys.stderr)
        return problem.status
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the program that reads our output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as problem:  # a write that no function knows, such as of a library
        from core.disk import is_disk_problem, why_not_written

        path = Path(problem.filename or "The output")
        if not is_disk_problem(problem):
            raise
        print(f"{path} cannot be written: {why_not_written(problem, path)}.", file=sys.stderr)
        return 2
    return int(options.status)  # a command sets it before it prints


def _option_problem(problem: AssayError) -> AssayError:
    """Return the problem with its settings written as options."""
    from core.schema.settings import SettingsError, option_word  # imported lazily: pydantic loads slowly

    return problem.in_words(option_word) if isinstance(problem, SettingsError) else problem


def _check_texts(options: argparse.Namespace, given: Sequence[str]) -> None:
    """Raise InputError for arguments that are not valid UTF-8, which Python passes on as lone surrogates."""
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
            f"{called}: {shown(str(text))} is not valid UTF-8"
            for text in texts
            if isinstance(text, str | Path) and _HALF.search(str(text))
        ]
    check_options(problems)
