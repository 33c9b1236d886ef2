"""What people write into a prompt file: its fields, what each purpose needs, and where something is wrong.

`core.llm.prompts` makes a Prompt of what is read here. A problem is one sentence that starts with its place:
`line 12, ladder, 3: is empty`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import regex
import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

LARGEST_FILE = 200_000
"""Bytes; a prompt longer than that fits no model."""
LONGEST_TITLE = 80
DEEPEST = 10
"""Lists and fields inside each other; a prompt file has four."""
LADDER = "ladder"
"""The variable that stands for the rendered ladder."""

_FORBIDDEN = regex.compile(r"[\p{Cc}\p{Cs}--\n\t]", regex.V1)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Path = tuple[str, ...]
"""Keys from the top of a file to a value; list entries count from 1."""


@dataclass(frozen=True)
class Use:
    """What a caller offers to a prompt of one purpose, and what it gets back."""

    offered: tuple[str, ...]
    """Variables that a caller gives, always all of them; a prompt may use any."""
    needed: tuple[str, ...]
    """Variables without which the prompt cannot do its work."""
    answer: Literal["text", "json"] = "text"
    """What the model is to write; the answers of examples are checked for it."""
    ladder: bool = False
    """Whether the file says what every damage level means."""


def _use(offered: str, needed: str, answer: Literal["text", "json"] = "text", ladder: bool = False) -> Use:
    return Use(tuple(offered.split()), tuple(needed.split()), answer, ladder)


USES: Mapping[tuple[str, str | None], Use] = {
    ("paraphrase", None): _use("question reference", "reference"),
    ("rank", None): _use("question text spans", "text", "json"),
    ("edit", None): _use("text spans level levels", "text", "json"),
    ("edit-shared", None): _use("text spans levels", "text spans", "json"),
    ("edit-text", None): _use("text level levels", "text"),
    ("damage", "qa"): _use("question reference level", "question reference level", ladder=True),
    ("damage", "qa-passage"): _use(
        "passage question reference level", "passage question reference level", ladder=True
    ),
    ("damage", "summary"): _use("source_text reference level", "reference level", ladder=True),
    ("damage", "translation"): _use(
        "source_sentence reference level", "source_sentence reference level", ladder=True
    ),
    ("rubric", None): _use("criterion scale lowest highest question texts", "criterion scale texts", "json"),
    ("rubric-text", None): _use("criterion scale lowest highest question texts", "criterion scale texts"),
    ("decompose", "low-low"): _use("text", "text", "json"),
    ("decompose", "low-high"): _use("text", "text", "json"),
    ("decompose", "high-low"): _use("text", "text", "json"),
    ("decompose", "high-high"): _use("text", "text", "json"),
    ("verify", None): _use("premise claims", "premise claims", "json"),
    ("questions", "yes"): _use("text n", "text n", "json"),
    ("questions", "mixed"): _use("text n", "text n", "json"),
    ("answer", None): _use("text question", "text question"),
    ("answers", None): _use("text questions", "text questions", "json"),
    ("translate", None): _use("text language", "text language"),
    ("align", None): _use("document text questions error severity category", "text questions error", "json"),
}
"""(purpose, task) -> its use. A new purpose is one line here; menus and errors follow."""

PURPOSES: tuple[str, ...] = tuple(dict.fromkeys(purpose for purpose, _ in USES))
LEVELS = (0, 1, 2, 3, 4, 5)
"""What a ladder has to say something about."""


def _text(value: str) -> str:
    """The text without blanks around it, so that YAML's ways to write a block make no difference."""
    if found := _FORBIDDEN.search(value):
        raise PydanticCustomError("text", f"holds the character U+{ord(found.group()):04X}, which is no text")
    if not value.strip():
        raise PydanticCustomError("text", "is empty")
    return value.strip()


def _named(value: str) -> str:
    if not _NAME.fullmatch(value) or len(value) > LONGEST_TITLE:
        raise PydanticCustomError(
            "name", f"may have small letters a-z, digits and single hyphens, at most {LONGEST_TITLE} in all"
        )
    return value


def _titled(value: str) -> str:
    if len(value) > LONGEST_TITLE or "\n" in value:
        raise PydanticCustomError("title", f"has to be one line of at most {LONGEST_TITLE} characters")
    return value


def _whole_number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Text = Annotated[str, AfterValidator(_text)]
Value = Annotated[Text, BeforeValidator(_whole_number_as_text)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Source(_Strict):
    """Where the idea comes from. The wording never does."""

    paper: Text
    section: Text
    differences: Text
    """What this prompt does otherwise than the paper's, in own words."""


class ExampleFields(_Strict):
    """One worked example: shown to the model as a question and its answer."""

    variables: dict[str, Value]
    answer: Text


class PromptFile(_Strict):
    """A prompt file. None: not given, so taken from `based_on` where there is one."""

    name: Annotated[Text, AfterValidator(_named)] | None = None
    title: Annotated[Text, AfterValidator(_titled)] | None = None
    purpose: str | None = None
    task: str | None = None
    shots: Literal["zero", "few"] | None = None
    source: Source | None = None
    based_on: Text | None = None
    ladder: dict[int, Text] | None = None
    system: Text | None = None
    user: Text | None = None
    examples: list[ExampleFields] | None = None


@dataclass(frozen=True)
class Written:
    """One file as far as it can be understood."""

    fields: PromptFile
    """Without the fields that have problems."""
    lines: Mapping[Path, int]
    """Where every value stands, counted from 1."""
    problems: tuple[str, ...]
    broken: frozenset[str]
    """Top-level fields that have problems: nothing more is said about them."""

    def place(self, path: Sequence[str | int]) -> str:
        """The line and the names on the way to a value; the nearest value above where it is missing itself."""
        keys = _keys(path)
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.lines:
                return f"line {self.lines[keys[:length]]}, {', '.join(keys)}"
        return ", ".join(keys) or "file"


def read_fields(text: str) -> Written:
    """Everything that one file says, without what it is based on."""
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST_FILE:
        return _unreadable(f"file: is larger than {LARGEST_FILE // 1000} kB")
    try:
        return _read_yaml(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "file"
        return _unreadable(f"{place}: not readable as YAML ({error.problem or error.context})")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        return _unreadable(f"line {line}: holds the character U+{int(error.character):04X}, which is no text")
    except RecursionError:
        return _unreadable("file: not readable as YAML (nested too deeply)")
    except ValueError as error:  # a date that does not exist, a number with thousands of digits
        return _unreadable(f"file: not readable as YAML ({error})")


def _unreadable(problem: str) -> Written:
    return Written(PromptFile(), {}, (problem,), frozenset(PromptFile.model_fields))


def _read_yaml(text: str) -> Written:
    if problem := _unsafe(text):
        return _unreadable(problem)
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return _unreadable("file: is empty")
        if not isinstance(node, yaml.MappingNode):
            return _unreadable("line 1: expected `field: value` lines, such as `name: my-prompt`")
        lines: dict[Path, int] = {}
        problems = list(_walk(node, (), lines))
        # pydantic wants texts as the names of fields; `1: ...` at the top is an unknown field like any other.
        raw = {str(key): value for key, value in loader.construct_document(node).items()}
    finally:
        loader.dispose()
    return _checked(raw, lines, problems)


def _unsafe(text: str) -> str | None:
    """What could make reading take for ever: an alias may stand for any amount, and depth costs its square."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            return f"line {line}: *{event.anchor} is a YAML alias; write the text out instead"
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            return f"line {line}: nested more than {DEEPEST} deep"
    return None


def _walk(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Iterator[str]:
    """Note where every value stands; yield a problem for each key that a mapping has twice."""
    if isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value, start=1):
            lines[(*path, str(number))] = entry.start_mark.line + 1
            yield from _walk(entry, (*path, str(number)), lines)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here, line = (*path, str(key.value)), key.start_mark.line + 1
            if here in lines:
                yield f"line {line}, {', '.join(here)}: is given a second time (first on line {lines[here]})"
            else:
                lines[here] = line
            yield from _walk(value, here, lines)


def _checked(raw: dict[str, object], lines: Mapping[Path, int], problems: list[str]) -> Written:
    empty = [key for key, value in raw.items() if value is None and key in PromptFile.model_fields]
    good = {key: value for key, value in raw.items() if key not in empty}
    broken: set[str] = set(empty)
    written = Written(PromptFile(), lines, (), frozenset())
    problems += [f"{written.place([key])}: is empty" for key in empty]
    try:
        fields = PromptFile.model_validate(good)
    except ValidationError as wrong:
        for error in wrong.errors():
            broken.add(str(error["loc"][0]))
            problems.append(f"{written.place(error['loc'])}: {_sentence(error)}")
        fields = PromptFile.model_validate({k: v for k, v in good.items() if k not in broken})
    return Written(fields, lines, tuple(problems), frozenset(broken))


def _keys(path: Sequence[str | int]) -> Path:
    """Names as in `lines`: list entries from 1, a ladder's level as itself; pydantic's own marks left out."""
    keys: list[str] = []
    for part in path:
        if isinstance(part, int) and keys != [LADDER]:
            keys.append(str(part + 1))
        elif part != "[key]":
            keys.append(str(part))
    return tuple(keys)


def _sentence(error: ErrorDetails) -> str:
    """What is wrong with one value, in the words of a person who writes prompt files."""
    kind, given = error["type"], type_name(error["input"])
    if kind == "extra_forbidden":
        return f"is no field of a prompt file; there are {_allowed_beside(error)}"
    if kind == "missing":
        return "is missing"
    if "[key]" in error["loc"]:
        return "is no level; a ladder's levels are the numbers 0 to 5, without quotes"
    if kind == "string_type":
        hint = "; put it in quotes" if given in ("a number", "a truth value", "a date") else ""
        return f"is {given}, expected a text{hint}"
    expected = {"model_type": "fields with values", "dict_type": "names with values", "list_type": "a list"}
    if kind in expected:
        return f"is {given}, expected {expected[kind]}"
    if kind == "literal_error":
        return f"is {error['input']!r}; possible: {error['ctx']['expected']}"
    return error["msg"]


def _allowed_beside(error: ErrorDetails) -> str:
    models: dict[str | int, type[BaseModel]] = {"source": Source, "examples": ExampleFields}
    model = models[error["loc"][0]] if len(error["loc"]) > 1 else PromptFile
    return ", ".join(model.model_fields)


def type_name(value: object) -> str:
    """What a YAML value is, in words."""
    if value is None:
        return "empty"
    names: dict[type, str] = {str: "a text", bool: "a truth value", int: "a number", float: "a number"}
    names |= {list: "a list", dict: "a set of fields"}
    return names.get(type(value), "a date" if hasattr(value, "isoformat") else "something else")
