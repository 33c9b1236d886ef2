"""Options of a command from the fields of settings."""

import argparse
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from core.cli.shared.options import Options
from core.schema.settings import SettingField, Settings, fields_of, option_word, typed_number, worded


def add_settings(command: Options, model: type[Settings], *, without: Collection[str] = ()) -> None:
    """Register an option for every field. without: fields for which the command has its own option.

    An option that is not given is absent from the namespace, so the default or the stored value of a run applies.
    """
    fields = fields_of(model)
    # A default that depends on other options is described by the help of the field.
    depending = model.usual({}, "")
    for name, one in fields.items():
        if name in without:
            continue
        if one.about.apart:
            _add_apart(command, one)
        else:
            text = _help(one, fields, "" if name in depending else one.usual)
            command.add_argument(one.option, default=argparse.SUPPRESS, help=text, **_taken(one))


def _add_apart(command: Options, one: SettingField) -> None:
    """Register an option for each word of a choice, of which one may be given."""
    group = command.add_mutually_exclusive_group()
    for word, text in one.about.apart.items():
        usual = " (default)" if word == one.default else ""
        group.add_argument(
            f"--{word}",
            dest=_place(one),
            action="store_const",
            const=word,
            default=argparse.SUPPRESS,
            help=f"{text}{usual}",
        )


def _place(one: SettingField) -> str:
    """The option's name in the namespace."""
    return one.option.removeprefix("--").replace("-", "_")


def settings_given(
    options: argparse.Namespace, model: type[Settings], *, without: Collection[str] = ()
) -> dict[str, Any]:
    """Return field -> value for the options given, as input for `model.checked`. without: as in add_settings."""
    given = {
        name: getattr(options, _place(one), None)
        for name, one in fields_of(model).items()
        if name not in without
    }
    # A repeated value, such as a system named twice, counts once.
    return {
        name: tuple(dict.fromkeys(value)) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None
    }


def _taken(one: SettingField) -> dict[str, Any]:
    """Return argparse's arguments for a field. An unusual type is read as text and checked by the field itself."""
    if one.shape == "switch":
        return {"action": argparse.BooleanOptionalAction if one.default else "store_true"}
    taken: dict[str, Any] = {"metavar": one.about.metavar}
    if one.choices:
        taken["choices"] = one.choices
    elif one.shape in ("number", "whole"):
        taken["type"] = partial(typed_number, kind=int if one.shape == "whole" else float)
    elif _several(one):
        taken["action"] = "append"
    if one.about.bare is not None:
        taken |= {"nargs": "?", "const": one.about.bare}
    return taken


def _several(one: SettingField) -> bool:
    """Whether the option may be repeated: lists of texts, and NAME=VALUE, which the command parses itself."""
    return one.shape == "texts" or (isinstance(one.default, Mapping) and not one.about.listed)


def _help(one: SettingField, fields: Mapping[str, SettingField], usual: str) -> str:
    text = worded(one.about.help, fields, option_word)
    if _several(one) and "repeated" not in text:
        text += "; may be repeated"
    if one.about.bare is not None:
        text += f" (without a value: {one.about.bare})"
    # A switch that is off needs no default in the help, and some helps state their own.
    if usual and (one.shape != "switch" or one.default) and "(default" not in text:
        text += f" (default {usual})"
    return text.replace("%", "%%")
