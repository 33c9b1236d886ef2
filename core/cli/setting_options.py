"""Options of a command, made from the fields of its settings."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.cli.options import Options
from core.nearest import nearest_names
from core.schema.settings import SettingField, Settings, as_option, fields_of, worded
from core.yaml_fields import place_of, read_yaml, refuse, text_of


def add_settings(command: Options, model: type[Settings], *, without: Collection[str] = ()) -> None:
    """Register an option for every field. without: names of fields that the command takes in another way.

    What is not given leaves nothing behind, so that the field's default, or what a run kept, stays.
    """
    fields = fields_of(model)
    # The help of a field whose usual value depends on other options says so itself.
    depending = model.usual({}, "")
    for name, one in fields.items():
        if name not in without:
            text = _help(one, fields, "" if name in depending else one.usual)
            command.add_argument(one.option, default=argparse.SUPPRESS, help=text, **_taken(one))


def settings_given(
    options: argparse.Namespace, model: type[Settings], *, without: Collection[str] = ()
) -> dict[str, Any]:
    """Field -> value, of those that the command line names: for `model.checked`. without: as add_settings had it."""
    given = {
        name: getattr(options, one.option.removeprefix("--").replace("-", "_"), None)
        for name, one in fields_of(model).items()
        if name not in without
    }
    # The same system named twice is one system.
    return {
        name: tuple(dict.fromkeys(value)) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None
    }


def settings_in(path: Path, models: Sequence[type[Settings]]) -> list[dict[str, Any]]:
    """What a YAML file says of the settings of each model: field -> value. A field may be called as its option is.

    A name that two models have is the first one's. Raises InputError for what cannot be read and for unknown names; the
    values are checked with all others.
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
            problems.append(f"{place_of(read.lines, (called,))}: there is no such setting{meant}")
        else:
            found[at][known[at][called]] = tuple(value) if isinstance(value, list) else value
    if problems:
        refuse(f"Settings file {path.name}", problems)
    return found


def _taken(one: SettingField) -> dict[str, Any]:
    """What the option takes, as argparse has it. Of an unusual type it takes a text, for a check of the field's own."""
    if one.shape == "switch":
        return {"action": argparse.BooleanOptionalAction if one.default else "store_true"}
    taken: dict[str, Any] = {"metavar": one.about.metavar}
    if one.choices:
        taken["choices"] = one.choices
    elif one.shape in ("number", "whole"):
        taken["type"] = _whole if one.shape == "whole" else _number
    elif _several(one):
        taken["action"] = "append"
    return taken


def _several(one: SettingField) -> bool:
    """Whether the option may be repeated: of texts, and of NAME=VALUE, which the command reads in a way of its own."""
    return one.shape == "texts" or isinstance(one.default, Mapping)


def _whole(typed: str) -> int | str:
    """The number; what is none stays a text, so that the settings say with all else that is wrong, or understand it."""
    try:
        return int(typed)
    except ValueError:
        return typed


def _number(typed: str) -> float | str:
    try:
        return float(typed)
    except ValueError:
        return typed


def _help(one: SettingField, fields: Mapping[str, SettingField], usual: str) -> str:
    text = worded(one.about.help, fields, as_option)
    if _several(one) and "repeated" not in text:
        text += "; may be repeated"
    # A switch that is off needs no word, and a help may say itself what is usual.
    if usual and (one.shape != "switch" or one.default) and "(default" not in text:
        text += f" (default {usual})"
    return text.replace("%", "%%")
