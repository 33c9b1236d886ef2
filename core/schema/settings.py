"""Settings that people choose: each field says what every door to it needs to know.

From the same fields come a command's options, a page's form, the check, the signature and the reference in docs. A
problem names its field; the command calls it `--beta`, the page "Weight of recall".
"""

import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, ClassVar, Literal, Self, Union

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from core.errors import InputError

Shape = Literal["choice", "number", "whole", "switch", "text", "texts", "other"]
"""What a field holds: one of several words, a number, a whole number, yes or no, a text, several texts."""
_ABOUT = "about"


@dataclass(frozen=True)
class About:
    """What a field says beside its type, its default and its bounds."""

    label: str
    """Its name on a page."""
    help: str
    """One sentence without a full stop: what it does."""
    option: str = ""
    """Of a command, without its hyphens, where it is not called as the field."""
    metavar: str | None = None
    """What stands for its value in the help of a command."""
    unit: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    """Value -> what the page calls it."""
    step: float = 1
    """Between two numbers of a page's widget."""
    scored: bool = True
    """Whether it changes a score: then it stands in the signature."""


@dataclass(frozen=True)
class SettingField:
    """A field of settings as a door sees it."""

    name: str
    about: About
    shape: Shape
    default: Any
    choices: tuple[str, ...] = ()
    lowest: float | None = None
    highest: float | None = None
    optional: bool = False
    """Whether it may have no value at all."""

    @property
    def option(self) -> str:
        """As a command takes it."""
        return f"--{self.about.option or self.name.replace('_', '-')}"

    def word(self, value: str) -> str:
        """What the page calls one of its values."""
        return self.about.words.get(value, value)


def setting(
    default: Any,
    label: str,
    help: str,
    *,
    within: tuple[float, float] | None = None,
    option: str = "",
    metavar: str | None = None,
    unit: str = "",
    words: Mapping[str, str] | None = None,
    step: float = 1,
    scored: bool = True,
) -> Any:
    """A field of settings. within: the smallest and the largest number. The others: see About."""
    about = About(label, help, option, metavar, unit, words or {}, step, scored)
    lowest, highest = within if within is not None else (None, None)
    return Field(default, ge=lowest, le=highest, json_schema_extra={_ABOUT: about})  # type: ignore[dict-item]  # pydantic wants JSON there, and writes no schema of these


@dataclass(frozen=True)
class Remark:
    """What is wrong with a setting, between settings, or with what they meet in a file; or what is worth knowing.

    In the text `{name}` stands for the field or value of that name, `{name=word}` for the field with that word chosen:
    each door says it in its own words.
    """

    name: str
    """Of the field; empty: it is of no field by itself."""
    text: str
    values: Mapping[str, object] = field(default_factory=dict)


class Settings(BaseModel):
    """Base of all settings: frozen, equal where all fields are equal, unknown fields left out."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())

    @classmethod
    def checked(cls, given: Mapping[str, object]) -> Self:
        """The settings of these values. Raises SettingsError with every problem."""
        problems: list[Remark] = []
        found = cls.read(given, problems)
        refuse(problems, cls)
        assert found is not None
        return found

    def but(self, **changed: object) -> Self:
        """The same settings with some of them changed, checked again."""
        return type(self).checked(self.model_dump() | changed)

    @classmethod
    def read(cls, given: Mapping[str, object], problems: list[Remark]) -> Self | None:
        """The settings of these values; None, with every problem added, where they are none."""
        try:
            return cls(**given)
        except ValidationError as wrong:
            known = fields_of(cls)
            problems += [
                _problem(known, error["loc"], error["msg"], error["input"]) for error in wrong.errors()
            ]
            return None


_FIELD = re.compile(r"\{(\w+)(?:=([\w-]+))?\}")


class SettingsError(InputError):
    """Settings that cannot be used. `found_in` are the problems with their fields; as a text they have the page's words."""

    START: ClassVar[str] = "The run cannot start"

    def __init__(
        self, problems: Iterable[Remark], fields: Mapping[str, SettingField], what: str = START
    ) -> None:
        self.found_in, self.fields = tuple(problems), fields
        super().__init__(what, [said(one, fields, on_page) for one in self.found_in])

    def in_words(self, word: "Word") -> InputError:
        """The same error in the words of a door."""
        return InputError(self.what, [said(one, self.fields, word) for one in self.found_in])


Word = Callable[[SettingField, str | None], str]
"""How a door calls a field, or the field with a value chosen."""


def on_page(field: SettingField, value: str | None) -> str:
    """As a form says it."""
    return field.about.label if value is None else f"{field.about.label}: {field.word(value)}"


def as_option(field: SettingField, value: str | None) -> str:
    """As a command line says it."""
    return field.option if value is None else f"{field.option} {value}"


def said(problem: Remark, fields: Mapping[str, SettingField], word: Word) -> str:
    """The problem as a sentence of a door."""

    def filled(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if value is None and name in problem.values:
            return str(problem.values[name])
        return word(fields[name], value)

    text = _FIELD.sub(filled, problem.text)
    return f"{word(fields[problem.name], None)}: {text}" if problem.name in fields else text


def refuse(
    problems: Sequence[Remark],
    *models: type[Settings],
    also: Iterable[SettingField] = (),
    what: str = SettingsError.START,
) -> None:
    """Raise SettingsError where there are problems. models, also: where their fields come from; what: its first words."""
    if problems:
        fields = {name: one for model in models for name, one in fields_of(model).items()}
        raise SettingsError(problems, fields | {one.name: one for one in also}, what)


def fields_of(model: type[Settings]) -> dict[str, SettingField]:
    """Name -> field, in the order in which they are declared; those that no door offers are left out."""
    return dict(_fields(model))


def _fields(model: type[Settings]) -> Iterator[tuple[str, SettingField]]:
    for name, info in model.model_fields.items():
        extra: Any = info.json_schema_extra or {}
        if _ABOUT in extra:
            yield name, _field(name, extra[_ABOUT], info)


def _field(name: str, about: About, info: FieldInfo) -> SettingField:
    kind, optional = _without_none(info.annotation)
    choices = tuple(_words(kind))
    return SettingField(
        name,
        about,
        shape="choice" if choices else _SHAPES.get(typing.get_origin(kind) or kind, "other"),
        default=info.default,
        choices=choices,
        lowest=_bound(info, "ge"),
        highest=_bound(info, "le"),
        optional=optional,
    )


def _bound(info: FieldInfo, which: str) -> float | None:
    return next((getattr(one, which) for one in info.metadata if hasattr(one, which)), None)


_SHAPES: Mapping[Any, Shape] = {bool: "switch", int: "whole", float: "number", str: "text", tuple: "texts"}


def _without_none(kind: Any) -> tuple[Any, bool]:
    if typing.get_origin(kind) in (Union, UnionType):
        inner = [one for one in typing.get_args(kind) if one is not type(None)]
        if len(inner) == 1:
            return inner[0], True
    return kind, False


def _words(kind: Any) -> Iterator[str]:
    """The words of a Literal, or of a union of them."""
    if typing.get_origin(kind) is Literal:
        yield from typing.get_args(kind)


def _problem(
    fields: Mapping[str, SettingField], place: Sequence[int | str], message: str, value: object
) -> Remark:
    name = str(place[0]) if place else ""
    one = fields.get(name)
    given = {"value": repr(value)}
    if one is None:
        return Remark(name, "{name} {message}", {"name": name, "message": message})
    if one.choices:
        return Remark(name, "{value} is none of {offered}", given | {"offered": ", ".join(one.choices)})
    if one.lowest is not None and one.highest is not None:
        low, high = (f"{end:g}" if isinstance(end, float) else str(end) for end in (one.lowest, one.highest))
        return Remark(name, "{value} is not between {low} and {high}", given | {"low": low, "high": high})
    return Remark(name, "{value}: {message}", given | {"message": message[0].lower() + message[1:]})
