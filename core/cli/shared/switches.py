"""Switches of a command whose analysis others join: each asks one more question about the same data."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.analyses import analysis
from core.analyses import switches_of as registered_switches
from core.cli.shared.options import name_list
from core.cli.shared.setting_options import add_settings, settings_given
from core.schema.analysis import Analysis, Answer
from core.schema.result_table import ResultTable
from core.schema.rows import result_entries
from core.schema.settings import Remark, SettingField, Settings, fields_of
from core.tables.reading import shown

_NUMBERS = ("no", "one", "two", "three")


@dataclass(frozen=True)
class Switch:
    """An analysis that a command asks on request."""

    option: str
    """With hyphens, such as `--rank`."""
    analysis: Analysis[Any, Any]

    @property
    def _leading(self) -> Mapping[str, SettingField]:
        return leading(self.analysis.Options)

    @property
    def _written(self) -> str:
        return self.option.removeprefix("--").replace("-", "_")

    def add(self, command: argparse.ArgumentParser, registered: set[str]) -> None:
        """Register the switch, and the options of its analysis that the command does not have yet."""
        summary = self.analysis.question[0].lower() + self.analysis.question[1:].rstrip("?")
        text, asked = f"also answer: {summary}?", [*self._leading.values()]
        if not asked:
            command.add_argument(self.option, action="store_true", help=text)
        else:
            choices = asked[0].choices or None
            command.add_argument(self.option, choices=choices, metavar=asked[0].about.metavar, help=text)
        known = {name for name, one in fields_of(self.analysis.Options).items() if one.option in registered}
        add_settings(command, self.analysis.Options, without=known | self._leading.keys())
        registered |= {one.option for one in fields_of(self.analysis.Options).values()}

    def given(self, options: argparse.Namespace) -> bool:
        """Whether the user asks it."""
        return getattr(options, self._written) not in (None, False)

    def read(self, options: argparse.Namespace, problems: list[Remark]) -> Settings | None:
        """The options of its analysis; None with every problem appended."""
        values = settings_given(options, self.analysis.Options, without=self._leading.keys())
        if self._leading:
            written = getattr(options, self._written)
            names = [written] if len(self._leading) == 1 else name_list(written) or []
            if len(names) != len(self._leading):
                first = next(iter(self._leading.values()))
                what = f"{_NUMBERS[len(self._leading)]} {first.about.label.split()[-1].lower()}s"
                form = f"write {self.option} {first.about.metavar}"
                problems.append(Remark("", f"{self.option}: {shown(written)} does not name {what}; {form}"))
                return None
            values |= dict(zip(self._leading, names, strict=True))
        found: Settings | None = self.analysis.Options.read(values, problems)
        return found


def leading(model: type[Settings]) -> Mapping[str, SettingField]:
    """The fields with which a question is asked."""
    return {name: one for name, one in fields_of(model).items() if one.about.leading}


def switches_of(command: str) -> tuple[Switch, ...]:
    """The switches of a command, in the order of the register."""
    return tuple(Switch(f"--{word}", analysis(name)) for word, name in registered_switches(command).items())


def add_switches(command: argparse.ArgumentParser, switches: Sequence[Switch]) -> None:
    """Register switches behind all options of the command itself."""
    registered = {option for action in command._actions for option in action.option_strings}
    for one in switches:
        one.add(command, registered)


def table_problems(options: argparse.Namespace, switches: Sequence[Switch]) -> list[str]:
    """The problem of a `--table` whose switch is not given."""
    return [
        f"--table: {options.table} needs {one.option}"
        for one in switches
        if options.table in [table.name for table in one.analysis.tables] and not one.given(options)
    ]


def entries_of(answer: Answer) -> dict[str, Any]:
    """The JSON of an answer as entries of an object of several answers."""
    main = answer.analysis.tables[0].name.replace("-", "_")
    entries = result_entries(answer.result)
    return entries if main in entries else {main: entries}


def printed_of(answers: Iterable[Answer]) -> tuple[list[str | ResultTable], list[ResultTable]]:
    """What is printed of several answers, a sentence once; and the tables that only files have."""
    printed: list[str | ResultTable] = []
    in_files: list[ResultTable] = []
    for answer in answers:
        printed += [one for one in answer.all_sentences if one not in printed]
        shown_tables = answer.printed
        printed += shown_tables
        in_files += [one for one in answer.tables.values() if one not in shown_tables]
    return printed, in_files
