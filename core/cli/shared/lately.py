"""Commands that are named at once, each with its summary, and loaded when they are asked for: help needs no libraries."""

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

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
    """The nouns of the command line, or the verbs of a noun."""

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
