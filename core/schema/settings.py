"""Settings that users choose. Each field describes itself for every interface.

The same fields produce a command's options, a page's form, validation, the signature and docs/settings.md. A problem
refers to its field; a command then writes `--beta`, a page "Weight of recall".
"""

import csv
import io
import json
import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, product
from keyword import iskeyword
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from core.errors import InputError

Shape = Literal["choice", "number", "whole", "switch", "text", "texts", "list", "other"]
"""Type of a field: one of several words, a number, a whole number, yes or no, a text, several texts (an option that may be
repeated), several texts or numbers in one text with commas."""
LARGEST_SEED = 2**53 - 1
"""Some programs that read JSON round larger whole numbers."""
_ABOUT = "about"


@dataclass(frozen=True)
class About:
    """Description of a field, beyond its type, default and bounds."""

    label: str
    """Name on a page."""
    help: str
    """What it does, in one sentence without a full stop. Placeholders for other fields as in the text of a Remark."""
    option: str = ""
    """Option of the command without hyphens; empty: derived from the field's name."""
    metavar: str | None = None
    """Placeholder for the value in a command's help."""
    unit: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    """Value -> name on a page. A default that is not a word (such as "", no value or 0) also gets its name in a command's
    help here: under "" for no text or no value, under "0" for 0."""
    step: float = 1
    """Step of the number widget on a page."""
    scored: bool = True
    """Whether it can change a score and so belongs in the signature."""
    listed: bool = False
    """Whether several values are typed as one text with commas: `30,50,100`."""
    folded: bool = False
    """Whether a page shows it only on request, because it is rarely changed."""
    leading: bool = False
    """Whether the question is asked with it: its function takes it without a name, and a switch of a command as its value."""
    parameter: str = ""
    """Name in a function of `import assay`, where it is not that of the option."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """Of a choice that a command offers as an option for each word, such as `--macro` and `--pooled`: word -> its help."""
    bare: object = None
    """The value of an option that is typed without one; None: it needs a value."""
    needs: str = ""
    """The field without whose value it has no effect."""


@dataclass(frozen=True)
class SettingField:
    """A settings field as commands and pages see it."""

    name: str
    about: About
    shape: Shape
    default: Any
    choices: tuple[str, ...] = ()
    lowest: float | None = None
    highest: float | None = None
    optional: bool = False
    """Whether the value may be missing."""
    above_lowest: bool = False
    """Whether `lowest` itself is out of bounds."""
    below_highest: bool = False
    """Whether `highest` itself is out of bounds."""
    each: Shape | None = None
    """Type of each value of several; the bounds apply to each."""

    @property
    def option(self) -> str:
        """Option of the command, with hyphens."""
        return f"--{self.about.option or self.name.replace('_', '-')}"

    def valued(self, value: object) -> str:
        """The field's option name with a value, in short form: `repeats 3`."""
        name = self.option.removeprefix("--")
        if self.shape == "switch" and value:
            return name
        return f"{name} {self.typed(value) or self.about.words.get('') or value}"

    def typed(self, value: object) -> str:
        """A value as a user would type it; empty for none."""
        if self.shape == "list" and isinstance(value, Mapping):
            return _comma_text([f"{name}={one}" for name, one in value.items()])
        if self.shape == "list" and isinstance(value, tuple):
            return _comma_text(value)
        return _plain(value)

    def option_words(self, value: object) -> tuple[str, ...]:
        """What a user types to choose a value: the option, and the value if it takes one; of several values each."""
        if self.shape == "switch":
            return (f"--{'' if value else 'no-'}{self.option.removeprefix('--')}",)
        if isinstance(value, str) and value in self.about.apart:
            return (f"--{value}",)
        if isinstance(value, Mapping) and self.shape != "list":
            several = [f"{name}={_plain(one)}" for name, one in value.items()]
        elif isinstance(value, tuple) and self.shape == "texts":
            several = [*map(_plain, value)]
        else:
            several = [self.typed(value)]
        return tuple(word for one in several for word in (self.option, one))

    def word(self, value: str) -> str:
        """Name of a value on a page."""
        return self.about.words.get(value, value)

    def bounds(self, included: str = "between {} and {}") -> str:
        """The bounds in words: `between 0 and 1`, `above 0 and at most 1`; empty if there are none.

        included: wording for two ends that both belong to the range.
        """
        low, high = _plain(self.lowest), _plain(self.highest)
        if low and high and not self.above_lowest:
            return f"from {low} to below {high}" if self.below_highest else included.format(low, high)
        lower = low and f"{'above' if self.above_lowest else 'at least'} {low}"
        upper = high and f"{'below' if self.below_highest else 'at most'} {high}"
        return " and ".join(filter(None, (lower, upper)))

    @property
    def noun(self) -> str:
        """What the field holds, such as `whole number` or `list of texts`; empty for other shapes."""
        noun = _NOUNS.get(self.each or self.shape, "")
        return f"list of {noun}s" if self.each else noun

    @property
    def in_bounds(self) -> str:
        """What the field holds, and its bounds: `whole number from 1 to 100`."""
        return _bounded(self.noun, self.bounds("from {} to {}"))

    @property
    def usual(self) -> str:
        """The default: a value with its unit, or in words; empty if there is nothing to show."""
        if self.shape == "switch":
            return "on" if self.default else "off"
        plain = self.typed(self.default)
        if self.shape == "choice" and plain:
            return plain
        return self.about.words.get(plain) or " ".join(filter(None, (plain, plain and self.about.unit)))


def setting(
    default: Any,
    label: str,
    help: str,
    *,
    within: tuple[float, float] | None = None,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    option: str = "",
    metavar: str | None = None,
    unit: str = "",
    words: Mapping[str, str] | None = None,
    step: float = 1,
    scored: bool = True,
    listed: bool = False,
    folded: bool = False,
    leading: bool = False,
    parameter: str = "",
    apart: Mapping[str, str] | None = None,
    bare: object = None,
    needs: str = "",
) -> Any:
    """Define a settings field. Parameters that are not described here: see About.

    within: the smallest and the largest number, short for at_least and at_most. above, below: bounds that exclude their
    number. A field may have one bound only; those of dict[str, float] apply to each number. listed: for tuple[str, ...], tuple[int, ...],
    tuple[float, ...] and dict[str, str]; bounds then apply to each number, and only a field that is optional or empty by default may have no value.
    """
    if within is not None:
        at_least, at_most = within
    about = About(
        *(label, help, option, metavar, unit, words or {}, step, scored, listed, folded, leading),
        parameter=parameter,
        apart=apart or {},
        bare=bare,
        needs=needs,
    )
    extra: Any = {_ABOUT: about}  # pydantic wants JSON there, and writes no schema of these
    if not listed and not isinstance(default, Mapping):
        return Field(default, ge=at_least, gt=above, le=at_most, lt=below, json_schema_extra=extra)
    found: FieldInfo = Field(default, json_schema_extra=extra)
    found.metadata.append(_Each(ge=at_least, gt=above, le=at_most, lt=below))
    return found


@dataclass(frozen=True)
class _Each:
    """Checks each value of a list by itself, so that every problem is found. The names are pydantic's."""

    ge: float | None
    gt: float | None
    le: float | None
    lt: float | None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        several, optional = _split_none(source)
        if typing.get_origin(several) is dict:
            name, kind = typing.get_args(several)
            if kind is not float:
                return handler(source)
            return handler.generate_schema(
                dict[name, Annotated[kind, Field(ge=self.ge, gt=self.gt, le=self.le, lt=self.lt)]]  # type: ignore[valid-type]  # the type of the field
            )
        kind = typing.get_args(several)[0]
        bounds = Field(ge=self.ge, gt=self.gt, le=self.le, lt=self.lt)
        checked: Any = tuple[Annotated[kind, bounds, BeforeValidator(lambda value: _taken(kind, value))], ...]  # type: ignore[valid-type]  # the type of the field
        return handler.generate_schema(checked | None if optional else checked)


def seed_setting(of: str = "seed of the first repeat; later repeats add 1") -> Any:
    """Define the seed field of settings that draw at random. of: its help."""
    return setting(0, "Seed", of, within=(0, LARGEST_SEED))


@dataclass(frozen=True)
class Remark:
    """A problem or a note about one setting, several settings, or settings and a file.

    In the text, `{name}` stands for the field or value of that name, `{name=word}` for the field with that word chosen.
    Commands and pages fill in their own names.
    """

    name: str
    """Name of the field; empty: it concerns no single field."""
    text: str
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def fields(self) -> frozenset[str]:
        """Names of all fields that it mentions."""
        return frozenset({self.name, *(found[1] for found in _FIELD.finditer(self.text))} - {""})


class Settings(BaseModel):
    """Base class of all settings: frozen, compared by value, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _of_its_own_type(cls, value: object, info: ValidationInfo) -> object:
        """Reject values that pydantic would coerce: true into 1, "no" into false, "1" into 1.

        A field's own validator with mode="before" runs first and may convert values.
        """
        own = cls.model_fields[info.field_name or ""]
        kind, optional = _split_none(own.annotation)
        if typing.get_origin(kind) is dict and isinstance(value, Mapping):
            return value
        if typing.get_origin(kind) is dict:
            return _named_values(value, typing.get_args(kind)[1], _declared_about(own))
        if optional and kind is not str and value and value == _declared_about(own).words.get(""):
            return None
        if value is None:
            return value
        if _declared_about(own).listed:
            values = _several(kind, value)
            if not values and not optional and own.default:
                noun = _NOUNS[_SHAPES[typing.get_args(kind)[0]]]
                raise ValueError(f"at least one {noun} is needed")
            return values or (None if optional else ())
        return _taken(kind, value)

    def idle(self, backend: str) -> frozenset[str]:
        """Fields without use under the other settings; forms hide them. backend: empty for settings without a model."""
        return frozenset()

    def ignored(self, backend: str) -> frozenset[str]:
        """Idle fields without any effect; a run that sets one is refused."""
        return self.idle(backend)

    @classmethod
    def offered(cls, backend: str) -> Mapping[str, tuple[str, ...]]:
        """Field -> words that fit the backend, the default first. A field not listed offers all its words."""
        return {}

    @classmethod
    def usual(cls, values: Mapping[str, object], backend: str) -> Mapping[str, object]:
        """Values for fields left unset whose default depends on the given values."""
        return {}

    def conflicts(self) -> Iterable[Remark]:
        """Problems of values that are valid by themselves and do not fit each other."""
        return ()

    def fewest_choices(self, backend: str, fits: Callable[[Self], bool]) -> list[dict[str, str]]:
        """Smallest changes, each as field -> word, that make the settings fit.

        Returns every way with that number of changed fields; empty if no words that the backend offers fit.
        """
        offered = self.offered(backend)
        others = {
            name: [word for word in offered.get(name, one.choices) if word != getattr(self, name)]
            for name, one in fields_of(type(self)).items()
            if one.shape == "choice"
        }
        for n_changed in range(1, len(others) + 1):
            changes = (
                dict(zip(names, words, strict=True))
                for names in combinations(others, n_changed)
                for words in product(*(others[name] for name in names))
            )
            if ways := [change for change in changes if fits(self.model_copy(update=change))]:
                return ways
        return []

    @classmethod
    def checked(cls, values: Mapping[str, object], what: str = "") -> Self:
        """Settings from these values. Raises SettingsError with every problem. what: start of its message."""
        problems: list[Remark] = []
        found = cls.read(values, problems)
        refuse(problems, cls, what=what or SettingsError.START)
        assert found is not None
        return found

    @property
    def option_words(self) -> tuple[str, ...]:
        """The words of a command that give these settings: the options that differ from their defaults."""
        given = ((one, getattr(self, name)) for name, one in fields_of(type(self)).items())
        return tuple(word for one, value in given if value != one.default for word in one.option_words(value))

    def unmet(self, also: Collection[str] = ()) -> list[Remark]:
        """Problems of fields that have a value but lack the field that they need. also: fields that something else stands for."""
        fields = fields_of(type(self))
        return [
            Remark(name, f"only with {{{one.about.needs}}}")
            for name, one in fields.items()
            if one.about.needs
            and one.about.needs not in also
            and getattr(self, name) != one.default
            and getattr(self, one.about.needs) == fields[one.about.needs].default
        ]

    def but(self, **changed: object) -> Self:
        """A copy with some fields changed. Raises SettingsError for invalid values of these; the others are not checked again."""
        new = type(self).checked(changed)
        return self.model_copy(update={name: getattr(new, name) for name in changed})

    @classmethod
    def read(cls, values: Mapping[str, object], problems: list[Remark]) -> Self | None:
        """Settings from these values; None if they are invalid, with every problem appended to `problems`."""
        try:
            read = cls.model_validate(dict(values) if isinstance(values, Mapping) else values)
            conflicts = [*read.conflicts()]
            problems += conflicts
            return None if conflicts else read
        except ValidationError as wrong:
            known = fields_of(cls)
            found = [_problem(known, error) for error in wrong.errors(include_url=False)]
            # Pydantic reports a problem once for each type that the field may have.
            problems += [one for at, one in enumerate(found) if one not in found[:at]]
            return None


def _named_values(given: object, kind: Any, about: About) -> object:
    """NAME=VALUE lines as a mapping. Values are parsed as JSON where possible, unless the field takes only texts."""
    if not isinstance(given, str | list | tuple):
        return given
    if isinstance(given, str):
        given = _several(tuple[str, ...], given) if about.listed else given.splitlines()
    lines = [text for line in given if (text := str(line).strip())]
    if kind is float:
        return _named_numbers(lines)
    wanted = (about.metavar or "NAME=VALUE").removesuffix(",...") if about.listed else "NAME=VALUE"
    found: dict[str, object] = {}
    for line in lines:
        # A list has names of the data, which may contain the sign.
        parts = line.rpartition("=") if about.listed else line.partition("=")
        name, equals, value = (part.strip() for part in parts)
        if not (equals and (name and value if about.listed else _NAME.fullmatch(name))):
            raise ValueError(f"{line!r} is not {wanted}")
        found[name] = value if kind is str else _json_or_text(value)
    return found


def _named_numbers(lines: Iterable[str]) -> dict[str, float]:
    """NAME=NUMBER lines as a mapping. A name, as of a model, may hold any sign."""
    found: dict[str, float] = {}
    for line in lines:
        name, _, value = (part.strip() for part in line.rpartition("="))
        number = typed_number(value, float)
        if not name or isinstance(number, str):
            raise ValueError(f"{line!r} is not NAME=NUMBER")
        if found.setdefault(name, number) != number:
            raise ValueError(f"{name!r} has two different numbers")
    return found


def named_values(values: Mapping[str, object]) -> list[str]:
    """A mapping as the NAME=VALUE lines that a user would type."""
    return [
        f"{name}={value if isinstance(value, str) and _json_or_text(value) == value else json.dumps(value)}"
        for name, value in values.items()
    ]


def _json_or_text(value: str) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


_NAME = re.compile(r"[\w.-]{1,100}")
_UNSAID = About("", "")
"""Description of a field that neither commands nor pages offer."""
_OUT_OF_BOUNDS = ("greater_than_equal", "greater_than", "less_than_equal", "less_than")
"""Pydantic's error types for numbers out of bounds."""
_FIELD = re.compile(r"\{(\w+)(?:=([\w-]+))?\}")


class SettingsError(InputError):
    """Invalid settings. `found_in` lists the problems with their fields; the message uses the names of pages."""

    START: ClassVar[str] = "The run cannot start"

    def __init__(
        self, problems: Iterable[Remark], fields: Mapping[str, SettingField], what: str = START
    ) -> None:
        self.found_in, self.fields = tuple(problems), fields
        super().__init__(what, [said(one, fields, page_word) for one in self.found_in])

    def in_words(self, word: "Word") -> InputError:
        """The same error, with field names as `word` gives them."""
        return InputError(self.what, [said(one, self.fields, word) for one in self.found_in])


Word = Callable[[SettingField, str | None], str]
"""Names a field, or a field with a chosen value, for a command or a page."""


def page_word(field: SettingField, value: str | None) -> str:
    """Name of a field, or a field with a value, on a page."""
    return field.about.label if value is None else f"{field.about.label}: {field.word(value)}"


def option_word(field: SettingField, value: str | None) -> str:
    """Name of a field, or a field with a value, on a command line."""
    if value in field.about.apart:
        return f"--{value}"
    return field.option if value is None or field.shape == "switch" else f"{field.option} {value}"


def parameter_word(field: SettingField, value: str | None) -> str:
    """Name of a field, or a field with a value, as a parameter of a function in a notebook."""
    name = field.about.parameter or field.option.removeprefix("--").replace("-", "_")
    if iskeyword(name):
        name += "_"
    return name if value is None else f"{name}={value!r}"


def said(problem: Remark, fields: Mapping[str, SettingField], word: Word) -> str:
    """The problem as a sentence, with field names as `word` gives them."""
    text = worded(problem.text, fields, word, problem.values)
    return f"{word(fields[problem.name], None)}: {text}" if problem.name in fields else text


def worded(
    text: str, fields: Mapping[str, SettingField], word: Word, values: Mapping[str, object] | None = None
) -> str:
    """The text with `{field}` and `{field=value}` replaced by names (see Remark); other braces are left as they are."""
    own = values or {}

    def filled(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if value is None and name in own:
            return str(own[name])
        if name not in fields:
            return found[0]
        named = word(fields[name], value)
        return f'"{named}"' if word is page_word else named  # a label can be several words

    return _FIELD.sub(filled, text)


def refuse(
    problems: Sequence[Remark],
    *models: type[Settings],
    also: Iterable[SettingField] = (),
    what: str = SettingsError.START,
) -> None:
    """Raise SettingsError if there are problems. models, also: sources of the fields; what: start of the message."""
    if problems:
        fields = {name: one for model in models for name, one in fields_of(model).items()}
        raise SettingsError(problems, fields | {one.name: one for one in also}, what)


def fields_of(model: type[Settings]) -> dict[str, SettingField]:
    """Name -> field, in the order in which they are declared; those that no door offers are left out."""
    return dict(_fields_of(model))


@cache
def _fields_of(model: type[Settings]) -> dict[str, SettingField]:
    return {
        name: _field(name, about, info)
        for name, info in model.model_fields.items()
        if (about := _declared_about(info)) is not _UNSAID
    }


def _declared_about(info: FieldInfo) -> About:
    extra: Any = info.json_schema_extra or {}
    about: About = extra.get(_ABOUT, _UNSAID)
    return about


def _field(name: str, about: About, info: FieldInfo) -> SettingField:
    kind, optional = _split_none(info.annotation)
    choices = _words(kind)
    shape: Shape = "choice" if choices else _SHAPES.get(kind, "other")
    least, above, most, below = (_bound(info, which) for which in ("ge", "gt", "le", "lt"))
    return SettingField(
        name,
        about,
        shape="list" if about.listed else shape,
        default=info.default,
        choices=choices,
        lowest=least if above is None else above,
        highest=most if below is None else below,
        optional=optional,
        above_lowest=above is not None,
        below_highest=below is not None,
        each=_SHAPES[typing.get_args(kind)[0]] if about.listed or shape == "texts" else None,
    )


def _bound(info: FieldInfo, which: str) -> float | None:
    bounds = (getattr(one, which, None) for one in info.metadata)
    return next((bound for bound in bounds if bound is not None), None)


_SHAPES: Mapping[Any, Shape] = {
    bool: "switch",
    int: "whole",
    float: "number",
    str: "text",
    tuple[str, ...]: "texts",
}
_TAKEN: Mapping[Any, tuple[type, ...]] = {bool: (bool,), int: (int, float), float: (int, float), str: (str,)}
"""Field type -> accepted value types. JSON has only one number type."""


def _taken(kind: Any, value: object) -> object:
    """The value, unless pydantic would coerce it into another type."""
    accepted = _TAKEN.get(kind)
    if accepted is None or (isinstance(value, accepted) and isinstance(value, bool) == (kind is bool)):
        return value
    raise PydanticCustomError("wrong_type", "Input has another type")


def _several(kind: Any, value: object) -> tuple[object, ...]:
    """Values of a list field of this type, from a text with commas, a sequence, or a single number as YAML reads it."""
    if isinstance(value, str):
        try:  # text quoted as in a CSV file may contain commas; line breaks also separate
            parts = [
                part.strip() for row in csv.reader(value.splitlines(), skipinitialspace=True) for part in row
            ]
        except csv.Error as problem:
            raise PydanticCustomError("wrong_type", "Input has another type") from problem
        of = typing.get_args(kind)[0]
        return tuple(part if of is str else typed_number(part, of) for part in parts if part)
    if isinstance(value, int | float):
        return (value,)
    if isinstance(value, list | tuple | range):
        return tuple(value)
    raise PydanticCustomError("wrong_type", "Input has another type")


def _comma_text(values: Sequence[object]) -> str:
    """The text from which _several reads these values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(map(_plain, values))
    return text.getvalue()


def typed_number(text: str, kind: type[int] | type[float]) -> float | str:
    """The number in a text, or the text unchanged: the settings report it with all other problems, or accept it."""
    try:
        return kind(text)
    except ValueError:
        return text


def _split_none(kind: Any) -> tuple[Any, bool]:
    if typing.get_origin(kind) not in (Union, UnionType):
        return kind, False
    inner = tuple(one for one in typing.get_args(kind) if one is not type(None))
    return Union[inner], len(inner) < len(typing.get_args(kind))  # noqa: UP007  # the union's members come from a tuple


def _words(kind: Any) -> tuple[str, ...]:
    """The words of a Literal or of a union of Literals; empty for another type."""
    parts = typing.get_args(kind) if typing.get_origin(kind) is Union else (kind,)
    if any(typing.get_origin(one) is not Literal for one in parts):
        return ()
    return tuple(word for one in parts for word in typing.get_args(one))


def _plain(value: object) -> str:
    """One value, several, or none, as a user would type it."""
    if isinstance(value, tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return str(value) if isinstance(value, int | float | str) else ""


_NOUNS: Mapping[Shape, str] = {"number": "number", "whole": "whole number", "text": "text"}


def _problem(fields: Mapping[str, SettingField], error: ErrorDetails) -> Remark:
    name = str(error["loc"][0]) if error["loc"] else ""
    one, value = fields.get(name), error["input"]
    if error["type"] == "value_error":  # raised by a validator of ours, whose message includes the value
        own = {"message": str(error["ctx"]["error"]), "name": name}
        return Remark(name, "{message}" if one or not name else "{name}: {message}", own)
    given: dict[str, object] = {"value": repr(value)}
    if one is None:
        place = "{name}: " if name else ""
        return Remark(name, place + "{value}: {message}", given | {"name": name, "message": error["msg"]})
    if one.choices:
        return Remark(name, "{value} is not one of {offered}", given | {"offered": ", ".join(one.choices)})
    if one.shape == "switch":
        return Remark(name, "{value} is neither true nor false", given)
    inner = one.each if len(error["loc"]) > 1 else None
    wanted = _NOUNS[inner] if inner else one.noun
    if not wanted and error["type"] in _OUT_OF_BOUNDS and len(error["loc"]) > 1:  # a number of a mapping
        values = {"key": str(error["loc"][1]), "value": _plain(value)}
        return Remark(name, f"{{key}}: {{value}} is not {one.bounds()}", values)
    if not wanted:
        message = error["msg"][0].lower() + error["msg"][1:]
        return Remark(name, "{value}: {message}", given | {"message": message})
    bounds = one.bounds() if inner or not one.each else ""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    # With one bound only, infinity is no usable number and yet within it.
    beyond = error["type"] in _OUT_OF_BOUNDS or None not in (one.lowest, one.highest)
    if bounds and number and beyond and ((inner or one.shape) == "number" or value == value // 1):
        return Remark(name, f"{{value}} is not {bounds}", {"value": _plain(value)})
    return Remark(name, f"{{value}} is not a {_bounded(wanted, bounds)}", given)


def _bounded(noun: str, bounds: str) -> str:
    return f"{noun} {'of ' if bounds.startswith('at ') else ''}{bounds}".rstrip()
