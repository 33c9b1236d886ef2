"""Read YAML files that people write, safely and with the line of every value.

Pydantic models elsewhere define the fields (prompts, the judges' rubrics). A problem is one sentence that starts with
its place: `line 12, ladder, 3: is empty`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, NoReturn, Protocol, TypeVar

import regex
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic_core import ErrorDetails, PydanticCustomError

from core.errors import InputError, Problems

LARGEST_FILE = 200_000
"""Most bytes of a file; a longer text would not fit any model."""
LONGEST_TITLE = 80
DEEPEST = 10
"""Most levels of nested lists and fields; a prompt file has four."""
LONGEST_NUMBER = 400
"""Most characters of a number; the largest float has 309 digits, and Python writes at most 4,300."""

_TAG = "tag:yaml.org,2002:"

_FORBIDDEN = regex.compile(r"[\p{Cc}\p{Cs}--\n\t]", regex.V1)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Thing = TypeVar("Thing", bound=_Named)
Keys = tuple[str, ...]
"""The path of keys from the top of a file to a value; list entries count from 1."""


def _text(value: str) -> str:
    """The text without spaces around it, so that YAML's block styles make no difference."""
    if found := _FORBIDDEN.search(value):
        raise PydanticCustomError("text", _no_text(found.group()))
    if not value.strip():
        raise PydanticCustomError("text", "is empty")
    return value.strip()


def _named(value: str) -> str:
    if not _NAME.fullmatch(value) or len(value) > LONGEST_TITLE:
        raise PydanticCustomError(
            "name",
            f"may have only lower-case letters a-z, digits and single hyphens, at most {LONGEST_TITLE} in all",
        )
    return value


def _titled(value: str) -> str:
    if len(value) > LONGEST_TITLE or "\n" in value:
        raise PydanticCustomError("title", f"must be one line of at most {LONGEST_TITLE} characters")
    return value


Text = Annotated[str, AfterValidator(_text)]
Name = Annotated[Text, AfterValidator(_named)]
Title = Annotated[Text, AfterValidator(_titled)]


class Strict(BaseModel):
    """Base of models that refuse unknown fields and values of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Source(Strict):
    """The paper that the idea comes from. The wording is always Assay's own."""

    paper: Text
    section: Text
    differences: Text
    """What Assay does differently from the paper."""


@dataclass(frozen=True)
class ReadYaml:
    """The content of a file, before its fields are checked."""

    values: Mapping[str, object] | None
    """The top fields by name; None if the file cannot be read: `problems` says why."""
    lines: Mapping[Keys, int] = field(default_factory=dict)
    """The line of every value; the first is 1."""
    problems: tuple[str, ...] = ()


class _Refused(Exception):
    """The problem, with its line, that stops the reading of a file."""


class _Loader(yaml.SafeLoader):
    """A loader for a safe part of YAML: texts, numbers, booleans, dates, lists and fields.

    It refuses aliases, which can expand without limit, and deep nesting, whose cost grows with its square. Numbers in
    base 60 (`1:30`) are texts.
    """

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise _Refused(f"line {line}: *{event.anchor} is a YAML alias; repeat the text instead")
        inside = isinstance(event, yaml.CollectionStartEvent)
        if inside and self._depth == DEEPEST:
            raise _Refused(f"line {line}: nested deeper than {DEEPEST} levels")
        self._depth += inside
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= inside
        return node

    def value(self, node: yaml.Node, path: Keys, lines: dict[Keys, int], problems: list[str]) -> object:
        """The value of a node. Records the line of each value, and keys that occur twice."""
        line = node.start_mark.line + 1
        text = isinstance(node, yaml.ScalarNode) and node.tag == _TAG + "str"
        if not text and node.tag != self._plain_tag(node):
            tag = _shortened(node.tag.replace(_TAG, "!!"))
            raise _Refused(f"line {line}: the tag {tag} is not allowed; leave it out")
        if isinstance(node, yaml.SequenceNode):
            return [
                self._noted(entry, (*path, str(number)), entry, lines, problems)
                for number, entry in enumerate(node.value, start=1)
            ]
        if isinstance(node, yaml.MappingNode):
            fields = {}
            for key, value in node.value:
                here = (*path, self._key(key))
                if here in lines:
                    place = f"line {key.start_mark.line + 1}, {_joined(here)}"
                    problems.append(f"{place}: is given twice (first on line {lines[here]})")
                name = self.value(key, here, lines, problems)
                fields[name] = self._noted(key, here, value, lines, problems)
            return fields
        if not text and len(node.value) > LONGEST_NUMBER:
            raise _Refused(f"line {line}: the number has more than {LONGEST_NUMBER} characters")
        try:
            return self.construct_object(node)
        except ValueError as error:  # a date that does not exist, `0x_`
            raise _Refused(f"line {line}: not readable as YAML ({error})") from None

    def _noted(
        self, at: yaml.Node, here: Keys, value: yaml.Node, lines: dict[Keys, int], problems: list[str]
    ) -> object:
        lines.setdefault(here, at.start_mark.line + 1)
        return self.value(value, here, lines, problems)

    def _plain_tag(self, node: yaml.Node) -> str:
        """The tag that YAML gives the node if no tag is written, as if without quotes."""
        tag: str = self.resolve(type(node), node.value, (True, False))  # type: ignore[no-untyped-call]
        return tag

    def _key(self, node: yaml.Node) -> str:
        line = node.start_mark.line + 1
        if not isinstance(node, yaml.ScalarNode):
            raise _Refused(f"line {line}: a field's name is a list or has fields; expected text")
        if found := _FORBIDDEN.search(node.value):
            raise _Refused(f"line {line}: {_no_text(found.group())}")
        return str(node.value)


# PyYAML's own resolvers read base 60, which costs the square of the digits. `<<` and `=` are texts here.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in own if tag.removeprefix(_TAG) in ("bool", "null", "timestamp")]
    for first, own in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _TAG + "float",
    re.compile(
        r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
_Loader.add_implicit_resolver(
    _TAG + "int",
    re.compile(r"^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$"),
    list("-+0123456789"),
)


def read_yaml(text: str) -> ReadYaml:
    """The content of a file; problems are returned, never raised."""
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST_FILE:
        return _unreadable(f"file: is larger than {LARGEST_FILE // 1000} kB")
    try:
        return _read(text)
    except _Refused as refused:
        return _unreadable(str(refused))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "file"
        return _unreadable(f"{place}: not readable as YAML ({error.problem or error.context})")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        return _unreadable(f"line {line}: {_no_text(chr(int(error.character)))}")


def _no_text(character: str) -> str:
    return f"contains the character U+{ord(character):04X}, which is not allowed in text"


def _unreadable(problem: str) -> ReadYaml:
    return ReadYaml(None, problems=(problem,))


def _read(text: str) -> ReadYaml:
    loader = _Loader(text)
    lines: dict[Keys, int] = {}
    problems: list[str] = []
    try:
        node = loader.get_single_node()
        if node is None:
            return _unreadable("file: is empty")
        if not isinstance(node, yaml.MappingNode):
            return _unreadable("line 1: expected `field: value` lines, such as `name: my-own`")
        fields = loader.value(node, (), lines, problems)
    except (ValueError, OverflowError):  # from PyYAML's scanner: `"\UFFFFFFFF"`, a version's digits
        line = loader.get_mark().line + 1
        return _unreadable(
            f"line {line}: not readable as YAML (an invalid escape sequence, or a number that is too long)"
        )
    finally:
        loader.dispose()
    assert isinstance(fields, dict)
    # Pydantic needs texts as field names; `1: ...` at the top is an unknown field like any other.
    return ReadYaml({str(key): value for key, value in fields.items()}, lines, tuple(problems))


def place_of(lines: Mapping[Keys, int], keys: Keys) -> str:
    """The line of a value and the keys that lead to it. For a missing value: the line of the nearest value above."""
    for length in range(len(keys), 0, -1):
        if keys[:length] in lines:
            return f"line {lines[keys[:length]]}, {_joined(keys)}"
    return _joined(keys) or "file"


def _joined(keys: Keys) -> str:
    return ", ".join(map(_shortened, keys))


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_TITLE else name[: LONGEST_TITLE - 1] + "…"


def refuse(what: str, problems: Iterable[str]) -> NoReturn:
    """Raise InputError with the file's problems from top to bottom. what: its kind and name."""
    found = Problems(_sort_by_line([*problems]))
    raise InputError(f"{what} cannot be used: {found.counted}", found)


def _sort_by_line(problems: Sequence[str]) -> list[str]:
    found = [re.match(r"line (\d+)", problem) for problem in problems]
    at = [int(match.group(1)) if match else LARGEST_FILE for match in found]
    return [problem for _, problem in sorted(zip(at, problems, strict=True), key=lambda pair: pair[0])]


def value_problem(error: ErrorDetails) -> str:
    """A pydantic error as a problem for people who write such files."""
    kind, given = error["type"], type_name(error["input"])
    if kind == "missing":
        return "is missing"
    if kind == "string_type":
        hint = "; put it in quotes" if given in ("a number", "true or false", "a date") else ""
        return f"is {given}, expected text{hint}"
    expected = {"model_type": "fields with values", "dict_type": "names with values", "list_type": "a list"}
    if kind in expected:
        return f"is {given}, expected {expected[kind]}"
    if kind == "literal_error":
        return f"is {error['input']!r}, expected {error['ctx']['expected']}"
    return error["msg"]


def type_name(value: object) -> str:
    """The type of a YAML value, in words."""
    if value is None:
        return "empty"
    names: dict[type, str] = {str: "text", bool: "true or false", int: "a number", float: "a number"}
    names |= {list: "a list", dict: "a set of fields"}
    return names.get(type(value), "a date" if hasattr(value, "isoformat") else "something else")


def is_file_name(name: str) -> bool:
    """Whether the name is a file's, not that of a shipped file."""
    return name.endswith((".yaml", ".yml")) or "/" in name or "\\" in name


def text_of(path: Path, what: str = "Prompt") -> str:
    """The file's text. Raises InputError if it cannot be read. what: the kind of file, for the message."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise InputError(f"{what} {path} cannot be used: it is larger than {LARGEST_FILE // 1000} kB")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{what} {path} cannot be used: line {line} is not UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{what} {path} cannot be read: {reason}") from None


def read_each(paths: Iterable[Path], read: Callable[[Path], Thing]) -> tuple[list[Thing], tuple[str, ...]]:
    """The content of each usable file, and a line for each other file that says why it cannot be used."""
    found, unusable = [], []
    for path in paths:
        try:
            found.append(read(path))
        except InputError as error:
            first = error.problems[0] if error.problems else error.what
            more = f" (and {error.n_problems - 1:,} more)" if error.n_problems > 1 else ""
            unusable.append(f"{path.name} cannot be used: {first}{more}")
    return found, tuple(unusable)


class Shipped(Generic[Thing]):
    """The files of one kind in one of Assay's folders, users' own files included.

    what: their kind in a word, such as `task`. parse: takes a file's text and name, and may raise InputError.
    """

    def __init__(self, folder: Path, what: str, parse: Callable[[str, str], Thing]) -> None:
        self._folder, self._what, self._parse = folder, what, parse

    def load(self, path: Path | str) -> Thing:
        """The content of a file. Raises InputError with every problem."""
        path = Path(path)
        return self._parse(text_of(path, self._what.capitalize()), path.name)

    def all(self) -> tuple[Thing, ...]:
        """Every usable file, sorted by name."""
        return tuple(read_each(self._paths(), self._own)[0])

    def unusable(self) -> tuple[str, ...]:
        """A line for each file that cannot be used, with its first problem; `find` raises with all of them."""
        return read_each(self._paths(), self._own)[1]

    def find(self, name_or_path: str) -> Thing:
        """The shipped file of that name, or the file at that path. Raises InputError if there is none."""
        if is_file_name(name_or_path):
            return self.load(name_or_path)
        path = next((path for path in self._paths() if path.stem == name_or_path), None)
        if path is None:
            names = ", ".join(path.stem for path in self._paths())
            raise InputError(
                f"There is no {self._what} {name_or_path}. Choose one of {names}, or give the path of a .yaml file"
            )
        return self._own(path)

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob("*.yaml"), key=lambda path: path.stem)

    def _own(self, path: Path) -> Thing:
        found = self.load(path)
        if found.name != path.stem:
            where = f"{path.parent.parent.name}/{path.parent.name}/"
            raise InputError(
                f"name: is {found.name}, but the file is {path.name}; in {where} its name must be {found.name}.yaml"
            )
        return found


def dumped(fields: Mapping[str, object]) -> str:
    """The fields as YAML text that read_yaml reads back to the same values."""
    return yaml.dump(dict(fields), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1_000)


class _Dumper(yaml.SafeDumper):
    """A dumper that writes texts of several lines as blocks, as a person would."""


def _block_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = "\n" in text and all(char == "\n" or char.isprintable() for char in text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if plain else None)


_Dumper.add_representer(str, _block_text)
