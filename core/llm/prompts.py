"""Prompts, read from YAML files and validated as a whole. A file can inherit fields from another file."""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

from core.disk import why_not_written
from core.errors import InputError
from core.llm.client import Message
from core.scratch import scratch_folder
from core.yaml_fields import (
    Keys,
    Name,
    Source,
    Strict,
    Text,
    Title,
    dumped,
    is_file_name,
    place_of,
    read_each,
    read_yaml,
    refuse,
    text_of,
    value_problem,
)

LADDER = "ladder"
"""The variable for the rendered ladder."""


@dataclass(frozen=True)
class Use:
    """The variables that a caller gives to a prompt of one purpose, and the answer it expects."""

    offered: tuple[str, ...]
    """Variables that a caller always gives; a prompt can use any of them."""
    needed: tuple[str, ...]
    """Variables that the prompt must use."""
    answer: Literal["text", "json"] = "text"
    """Form of the model's answer; the answers of examples are checked against it."""
    ladder: bool = False
    """Whether the file must define every damage level."""


def _use(offered: str, needed: str, answer: Literal["text", "json"] = "text", ladder: bool = False) -> Use:
    return Use(tuple(offered.split()), tuple(needed.split()), answer, ladder)


USES: Mapping[tuple[str, str | None], Use] = {
    ("paraphrase", None): _use("question reference", "reference"),
    ("rank", None): _use("question text spans", "text", "json"),
    ("edit", None): _use("text spans level levels", "text", "json"),
    ("edit-shared", None): _use("text spans levels", "text spans", "json"),
    ("edit-planned", None): _use("text spans level levels", "text", "json"),
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
    ("rubric-prometheus", None): _use(
        "criterion scale lowest highest question reference response", "criterion scale reference response"
    ),
    ("pairwise", None): _use(
        "guidelines question reference level choices texts", "guidelines choices texts", "json"
    ),
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
    ("mark-errors", None): _use(
        "source text source_language language severities categories", "text severities categories", "json"
    ),
    ("direct", None): _use(
        "source text source_language language dimension description scale lowest highest",
        "text description lowest highest",
        "json",
    ),
    ("quality", "single"): _use(
        "source text language dimension description scale", "text description scale", "json"
    ),
    ("quality", "compound"): _use("source text language dimensions", "text dimensions", "json"),
    ("quality", "detailed"): _use(
        "source text language dimension description scale", "text description scale", "json"
    ),
    ("align", None): _use("document text questions error severity category", "text questions error", "json"),
    ("twin-padding", None): _use("question text", "text"),
    ("twin-lengthening", None): _use("question text", "text"),
    ("twin-authority", None): _use("question text", "text"),
    ("twin-formatting", None): _use("question text", "text"),
    ("twin-confidence", None): _use("question text", "text"),
    ("twin-own-style", None): _use("question text", "text"),
}
"""(purpose, task) -> its use. A new purpose needs one line here and one in STEPS; menus and errors follow from them."""

STEPS: Mapping[str, str] = {
    "paraphrase": "Writing A0",
    "rank": "Ranking the facts",
    "edit": "Changing the facts of a level",
    "edit-shared": "Changing the facts of all levels",
    "edit-planned": "Planning and changing the facts of a level",
    "edit-text": "Changing the facts in the whole text",
    "damage": "Writing a damage level",
    "rubric": "Judging by the rubric",
    "rubric-text": "Judging by the rubric",
    "rubric-prometheus": "Judging by the rubric",
    "pairwise": "Comparing two answers",
    "decompose": "Finding the claims of a text",
    "verify": "Verifying claims",
    "questions": "Asking questions of a text",
    "answer": "Answering one question",
    "answers": "Answering all questions of a text",
    "translate": "Translating back",
    "align": "Comparing mismatches with a marked error",
    "twin-padding": "Padding a text",
    "twin-lengthening": "Lengthening a text without a new fact",
    "twin-authority": "Inventing an authority for a text",
    "twin-formatting": "Marking up a text",
    "twin-confidence": "Giving a text a confident tone",
    "twin-own-style": "Rewriting a text in the model's own words",
    "mark-errors": "Marking errors",
    "direct": "Giving a score",
    "quality": "Rating quality",
}
"""Purpose -> title of the step that uses its prompt."""

PURPOSES: tuple[str, ...] = tuple(dict.fromkeys(purpose for purpose, _ in USES))
LEVELS = (0, 1, 2, 3, 4, 5)
"""The levels that a ladder must describe."""


def _whole_number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Value = Annotated[Text, BeforeValidator(_whole_number_as_text)]


class ExampleFields(Strict):
    """One worked example, shown to the model as a question and its answer."""

    variables: dict[str, Value]
    answer: Text


class PromptFile(Strict):
    """Contents of a prompt file. None: not given, so inherited from `based_on` if there is one."""

    name: Name | None = None
    title: Title | None = None
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
    """The valid contents of one file."""

    fields: PromptFile
    """Fields without those that have problems."""
    lines: Mapping[Keys, int]
    """Line of every value, from 1."""
    problems: tuple[str, ...]
    broken: frozenset[str]
    """Top-level fields that have problems; no further problems are reported for them."""

    def place(self, path: Sequence[str | int]) -> str:
        """The line and path of a value, or of its nearest parent if it is missing."""
        return place_of(self.lines, _keys(path))


def read_fields(text: str) -> Written:
    """Read the fields of one file, without the file it is based on."""
    read = read_yaml(text)
    if read.values is None:
        return Written(PromptFile(), {}, read.problems, frozenset(PromptFile.model_fields))
    return _checked(read.values, read.lines, list(read.problems))


def _checked(raw: Mapping[str, object], lines: Mapping[Keys, int], problems: list[str]) -> Written:
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


def _keys(path: Sequence[str | int]) -> Keys:
    """Keys as in `lines`: list entries from 1, a ladder's levels unchanged, without pydantic's markers."""
    keys: list[str] = []
    for part in path:
        if isinstance(part, int) and keys != [LADDER]:
            keys.append(str(part + 1))
        elif part != "[key]":
            keys.append(str(part))
    return tuple(keys)


def _sentence(error: ErrorDetails) -> str:
    """One problem in terms of a prompt file."""
    if error["type"] == "extra_forbidden":
        return f"is not a field of a prompt file; the fields are {_allowed_beside(error)}"
    if "[key]" in error["loc"] and error["type"] != "missing":
        return "is not a level; a ladder's levels are the numbers 0 to 5, without quotes"
    return value_problem(error)


def _allowed_beside(error: ErrorDetails) -> str:
    models: dict[str | int, type[BaseModel]] = {"source": Source, "examples": ExampleFields}
    model = models[error["loc"][0]] if len(error["loc"]) > 1 else PromptFile
    return ", ".join(model.model_fields)


_REQUIRED = ("name", "title", "purpose", "shots", "source", "user")


def problems_of(fields: PromptFile, written: Written) -> list[str]:
    """Problems between the fields of a file, each with its place.

    fields: merged with those of the file it is based on. written: the file itself; fields with problems there are
    skipped here.
    """
    problems = [f"{name}: is missing" for name in _REQUIRED if _lacks(fields, written, name)]
    problems += _check_use_name(fields, written)
    problems += _check_shots(fields, written)
    use = use_of(fields)
    if use is not None:
        problems += _check_templates(fields, written, use)
        problems += _check_ladder(fields, written, use)
        for number, _ in enumerate(fields.examples or ()):
            problems += _check_example(fields, written, use, number)
    return problems


def use_of(fields: PromptFile) -> Use | None:
    """The use for the purpose and task; None: unknown."""
    return USES.get((fields.purpose or "", fields.task))


def _lacks(fields: PromptFile, written: Written, name: str) -> bool:
    return getattr(fields, name) is None and name not in written.broken


def _check_use_name(fields: PromptFile, written: Written) -> Iterator[str]:
    purpose, task = fields.purpose, fields.task
    if purpose is None:
        return
    tasks = [known for use, known in USES if use == purpose]
    if not tasks:
        yield f"{written.place(['purpose'])}: is {purpose!r}; possible: {', '.join(PURPOSES)}"
    elif task is None and tasks != [None] and "task" not in written.broken:
        yield f"task: is missing; possible: {', '.join(str(known) for known in tasks)}"
    elif task is not None and tasks == [None]:
        yield f"{written.place(['task'])}: {purpose} has no tasks; leave the field out"
    elif task is not None and task not in tasks:
        known = ", ".join(str(known) for known in tasks)
        yield f"{written.place(['task'])}: is {task!r}; possible: {known}"


def _check_shots(fields: PromptFile, written: Written) -> Iterator[str]:
    if "examples" in written.broken or fields.shots is None:
        return
    if fields.shots == "few" and not fields.examples:
        yield f"{written.place(['shots'])}: is few, but there are no examples"
    if fields.shots == "zero" and fields.examples:
        yield f"{written.place(['examples'])}: are given although shots is zero; use few"


def _check_templates(fields: PromptFile, written: Written, use: Use) -> Iterator[str]:
    for name in ("system", "user"):
        yield from _lone_dollars(getattr(fields, name) or "", written.place([name]))
    known = (*use.offered, *((LADDER,) if use.ladder else ()))
    possible = "$ladder" if use.ladder else "none"
    in_system, in_user = _names(fields.system), _names(fields.user)
    for name in in_system:
        if name in use.offered:
            yield (
                f"{written.place(['system'])}: contains ${name}; variables of an item belong in user, "
                "so that the system turn is the same for all items"
            )
        elif name not in known:
            yield f"{written.place(['system'])}: ${name} is not a variable here; possible: {possible}"
    for name in in_user:
        if name not in known:
            yield f"{written.place(['user'])}: ${name} is not a variable here; possible: {_dollars(known)}"
    for name in use.needed:
        if fields.user is not None and name not in in_user:
            yield f"{written.place(['user'])}: lacks ${name}"


def _check_ladder(fields: PromptFile, written: Written, use: Use) -> Iterator[str]:
    if fields.ladder is None:
        if use.ladder and "ladder" not in written.broken:
            yield "ladder: is missing; it defines the levels 0 to 5"
        return
    place = written.place([LADDER])
    if not use.ladder:
        yield f"{place}: {fields.purpose} has no levels of damage; leave the field out"
        return
    if missing := [str(level) for level in LEVELS if level not in fields.ladder]:
        yield f"{place}: lacks level {', '.join(missing)}"
    for level in fields.ladder:
        if level not in LEVELS:
            yield f"{written.place([LADDER, level])}: is not a level; the levels are 0 to 5"
    templates = {"system", "user"} & written.broken
    if not templates and LADDER not in (*_names(fields.system), *_names(fields.user)):
        yield f"{place}: is not used: put $ladder into system or user"


def _check_example(fields: PromptFile, written: Written, use: Use, number: int) -> Iterator[str]:
    assert fields.examples is not None
    example = fields.examples[number]
    place: list[str | int] = ["examples", number, "variables"]
    wanted = [name for name in _names(fields.user) if name in use.offered]
    for name in wanted:
        if name not in example.variables:
            yield f"{written.place(place)}: lacks {name}, which user contains"
    for name, value in example.variables.items():
        if name not in use.offered:
            offered = ", ".join(use.offered)
            yield f"{written.place([*place, name])}: is not a variable here; possible: {offered}"
        elif name == "level" and use.ladder and value not in [str(level) for level in LEVELS]:
            yield f"{written.place([*place, name])}: is {value}, not a level from 0 to 5"
    if use.answer == "json" and not _is_json(example.answer):
        yield f"{written.place(['examples', number, 'answer'])}: is not JSON, which this purpose requires"


def _lone_dollars(text: str, place: str) -> Iterator[str]:
    for match in Template.pattern.finditer(text):
        if match.group("invalid") is not None:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{place}: line {line} of the text has a lone $; write $$ for a dollar sign"


def _names(text: str | None) -> list[str]:
    """The variables of a template, without duplicates, in the order of the text."""
    found = [match.group("named") or match.group("braced") for match in Template.pattern.finditer(text or "")]
    return [name for name in dict.fromkeys(found) if name]


def _dollars(names: tuple[str, ...]) -> str:
    return ", ".join(f"${name}" for name in names)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


SHIPPED = Path(__file__).resolve().parents[2] / "prompts"
MOST_BASES = 10
"""Longest chain of files that a prompt can be based on."""


def shipped_path(name: str) -> Path | None:
    """The file of a shipped prompt; None: there is no such prompt."""
    return next((path for path in SHIPPED.glob("*.yaml") if path.stem == name), None)


def merged_fields(
    text: str, folder: Path | None, chain: tuple[Path, ...]
) -> tuple[PromptFile, Written, list[str]]:
    """The fields of a file merged over those of the file it is based on, and problems with either.

    chain: the files so far, to detect a loop.
    """
    written = read_fields(text)
    problems = list(written.problems)
    base = written.fields.based_on
    if base is None:
        if "based_on" in written.broken:
            written = _unsure(written, frozenset(PromptFile.model_fields) - {"name", "title"})
        return written.fields, written, problems
    try:
        path = _base_path(base, folder)
        if path.resolve() in chain:
            raise InputError(f"{base} leads back to itself")
        if len(chain) > MOST_BASES:
            raise InputError(f"leads through more than {MOST_BASES} files")
        fields, below, wrong = merged_fields(text_of(path), path.parent, (*chain, path.resolve()))
    except InputError as error:
        unknown = frozenset(PromptFile.model_fields) - {"name", "title"}
        place = written.place(["based_on"])
        return written.fields, _unsure(written, unknown), [*problems, f"{place}: {error}"]
    problems += [f"{base}, {problem}" for problem in wrong]
    own = {name: getattr(written.fields, name) for name in written.fields.model_fields_set - {"based_on"}}
    inherited = fields.model_copy(update={"name": None, "title": None})
    return inherited.model_copy(update=own), _unsure(written, below.broken - {"name", "title"}), problems


def _unsure(written: Written, unknown: frozenset[str]) -> Written:
    """The file itself, without reporting fields as missing that the other file gives with problems."""
    broken = written.broken | (unknown - written.fields.model_fields_set)
    return Written(written.fields, written.lines, written.problems, broken)


def _base_path(base: str, folder: Path | None) -> Path:
    if not is_file_name(base):
        path = shipped_path(base)
        if path is None:
            names = ", ".join(path.stem for path in sorted(SHIPPED.glob("*.yaml")))
            raise InputError(f"there is no shipped prompt {base}; choose from {names}")
        return path
    # An uploaded file must not be able to name arbitrary files on this machine.
    if Path(base).name != base or "\\" in base:
        raise InputError(f"{base} is a path; name a shipped prompt or a file in the same folder")
    if folder is None:
        raise InputError(f"{base} is not available here; name a shipped prompt or write the fields out")
    return folder / base


@dataclass(frozen=True)
class Example:
    """A worked example: the values of the variables, and the desired answer."""

    variables: tuple[tuple[str, str], ...]
    answer: str


@dataclass(frozen=True)
class Prompt:
    """A complete, validated prompt for one purpose."""

    name: str
    title: str
    """Short title for menus."""
    purpose: str
    """One of PURPOSES."""
    task: str | None
    """Variant of the purpose, such as qa, summary or translation for damage; None if the purpose has no tasks."""
    shots: str
    """`zero`, or `few` if worked examples come first."""
    paper: str
    section: str
    differences: str
    """Differences from the published prompt."""
    system: str | None
    """The system turn, the same for every item; None: no system turn."""
    user: str
    ladder: tuple[str, ...] = ()
    """Meaning of the levels 0 to 5; empty for purposes without levels."""
    examples: tuple[Example, ...] = ()

    @property
    def use(self) -> Use:
        """The variables and the form of the answer for this prompt."""
        return USES[self.purpose, self.task]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of `messages`: all that the purpose offers, used or not."""
        return self.use.offered

    def messages(self, **variables: str | int) -> tuple[Message, ...]:
        """The turns to send. Values are inserted literally; a `$` in a value has no meaning.

        Raises TypeError unless exactly `self.variables` are given, each a text or a whole number.
        """
        if missing := [name for name in self.variables if name not in variables]:
            raise TypeError(f"prompt {self.name} lacks {', '.join(missing)}")
        if extra := [name for name in variables if name not in self.variables]:
            raise TypeError(f"prompt {self.name} has no variable {', '.join(extra)}")
        for name, value in variables.items():
            if not isinstance(value, str | int) or isinstance(value, bool):
                raise TypeError(f"prompt {self.name}: {name} is {value!r}, neither a text nor a whole number")
        return (*self.opening, self._turn(variables))

    @cached_property
    def opening(self) -> tuple[Message, ...]:
        """The turns before the item's own, identical in every request, so that a server can cache them."""
        turns: list[Message] = []
        if self.system is not None:
            turns.append(Message("system", _filled(self.system, {LADDER: self.rendered_ladder})))
        for example in self.examples:
            turns += [self._turn(dict(example.variables)), Message("assistant", example.answer)]
        return tuple(turns)

    @property
    def rendered_ladder(self) -> str:
        """The levels as text for `$ladder`."""
        return "\n".join(f"Level {level}: {text}" for level, text in zip(LEVELS, self.ladder, strict=False))

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that reaches the model; name, title, source and formatting do not count."""
        # No file contains U+0000, so these placeholders cannot be confused with its text.
        stand_ins = {name: f"\0{name}\0" for name in self.variables}
        turns = [[turn.role, turn.content] for turn in (*self.opening, self._turn(stand_ins))]
        canonical = json.dumps(turns, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def dump(self) -> str:
        """The prompt as one self-contained file; parse_prompt reads it back with the same sha256."""
        fields: dict[str, object] = {"name": self.name, "title": self.title, "purpose": self.purpose}
        fields |= {} if self.task is None else {"task": self.task}
        fields |= {"shots": self.shots}
        fields |= {"source": {"paper": self.paper, "section": self.section, "differences": self.differences}}
        fields |= {} if not self.ladder else {"ladder": dict(zip(LEVELS, self.ladder, strict=True))}
        fields |= {} if self.system is None else {"system": self.system}
        fields |= {"user": self.user}
        if self.examples:
            fields["examples"] = [{"variables": dict(e.variables), "answer": e.answer} for e in self.examples]
        return dumped(fields)

    def _turn(self, variables: Mapping[str, str | int]) -> Message:
        return Message("user", _filled(self.user, {**variables, LADDER: self.rendered_ladder}))


def _filled(template: str, values: Mapping[str, str | int]) -> str:
    return Template(template).substitute(values)


def parse_prompt(text: str, file_name: str, folder: Path | None = None) -> Prompt:
    """The prompt in a file's text. Raises InputError with every problem found.

    folder: where files named in `based_on` are searched; None: only shipped prompts can be named there.
    """
    own = () if folder is None else ((folder / file_name).resolve(),)
    fields, written, problems = merged_fields(text, folder, own)
    problems += problems_of(fields, written)
    if problems:
        refuse(f"Prompt {file_name}", problems)
    return _prompt(fields)


def _prompt(fields: PromptFile) -> Prompt:
    """The prompt from validated fields."""
    assert fields.source is not None
    same = ("name", "title", "purpose", "task", "shots", "system", "user")
    values: dict[str, Any] = {name: getattr(fields, name) for name in same}
    return Prompt(
        **values,
        **fields.source.model_dump(),
        ladder=tuple(text for _, text in sorted((fields.ladder or {}).items())),
        examples=tuple(Example(tuple(e.variables.items()), e.answer) for e in fields.examples or ()),
    )


def load_prompt(path: Path | str) -> Prompt:
    """Load the prompt in a file. Raises InputError with every problem found."""
    path = Path(path)
    return parse_prompt(text_of(path), path.name, path.parent)


def shipped_prompts(purpose: str | None = None, task: str | None = None) -> tuple[Prompt, ...]:
    """All usable prompts in `prompts/`, including files that users added; zero-shot before few-shot.

    See unusable_prompts for files that cannot be used.
    """
    prompts, _ = _all_shipped(_stats())
    return tuple(p for p in prompts if purpose in (None, p.purpose) and (task is None or p.task == task))


def unusable_prompts() -> tuple[str, ...]:
    """One line for each unusable file in `prompts/`, with its first problem; `find_prompt` reports all problems."""
    return _all_shipped(_stats())[1]


def _stats() -> tuple[tuple[str, int, int], ...]:
    """Name, change time and size of each file: the cache key, so that pages see new files without a restart."""
    found = []
    for path in sorted(SHIPPED.glob("*.yaml")):
        with contextlib.suppress(OSError):  # removed meanwhile, or a broken link
            stat = path.stat()
            found.append((path.name, stat.st_mtime_ns, stat.st_size))
    return tuple(found)


@lru_cache(maxsize=1)
def _all_shipped(files: tuple[tuple[str, int, int], ...]) -> tuple[tuple[Prompt, ...], tuple[str, ...]]:
    prompts, unusable = read_each([SHIPPED / name for name, _, _ in files], _shipped)
    uses = list(USES)
    prompts.sort(key=lambda p: (uses.index((p.purpose, p.task)), p.shots == "few", p.name))
    return tuple(prompts), unusable


def _shipped(path: Path) -> Prompt:
    prompt = load_prompt(path)
    if prompt.name != path.stem:
        raise InputError(
            f"name: is {prompt.name}; in prompts/ a file is named after its prompt: {prompt.name}.yaml"
        )
    return prompt


def find_prompt(name_or_path: str, purpose: str | None = None, task: str | None = None) -> Prompt:
    """A shipped prompt by name, else the prompt in a file. Raises InputError unless it fits the purpose and task."""
    if is_file_name(name_or_path):
        found = load_prompt(name_or_path)
    elif (path := shipped_path(name_or_path)) is not None:
        found = _shipped(path)
    else:
        names = ", ".join(p.name for p in shipped_prompts(purpose, task) or shipped_prompts())
        raise InputError(
            f"There is no prompt {name_or_path}: choose from {names}, or give the path of a .yaml file",
            unusable_prompts(),
        )
    return checked_prompt(found, purpose or found.purpose, task, name_or_path)


def checked_prompt(prompt: Prompt, purpose: str, task: str | None = None, called: str = "") -> Prompt:
    """The same prompt. Raises InputError unless it fits the purpose and, if given, the task. called: the user's name for it."""
    if prompt.purpose != purpose or task not in (None, prompt.task):
        wanted, given = _use_name(purpose, task), _use_name(prompt.purpose, prompt.task)
        raise InputError(f"Prompt {called or prompt.name} is for {given}; this step needs one for {wanted}")
    return prompt


def _use_name(purpose: str, task: str | None) -> str:
    return purpose if task is None else f"{purpose} ({task})"


_APART = ("name", "title", "source", "system", "user")
"""Fields of an edited prompt that are given one by one; the rest is YAML."""


def other_fields(prompt: Prompt) -> str:
    """The fields of a prompt beside name, title, source, system and user, as YAML to edit."""
    fields = read_yaml(prompt.dump()).values or {}
    return dumped({name: value for name, value in fields.items() if name not in _APART})


def edited_text(
    base: Prompt, *, name: str, title: str, changed: str, system: str, user: str, other: str
) -> str:
    """A prompt file that was edited from `base`, with the header of all prompt files. `parse_prompt` finds its problems.

    changed: how it differs from `base`, in words. other: YAML, as from `other_fields`. Line breaks in name, title and changed count
    as blanks.
    """
    name, title, changed = (" ".join(one.split()) for one in (name, title, changed))
    differences = f"{base.differences} Edited from {base.name}: {changed}"
    head = dumped(
        {
            "name": name,
            "title": title,
            "source": {"paper": base.paper, "section": base.section, "differences": differences},
        }
    )
    turns = dumped({**({"system": system} if system.strip() else {}), "user": user})
    first = f"# Paper: {base.paper}. Section: {' '.join(base.section.split())}."
    second = f"# Edited from {base.name}. How it differs is said under source."
    return "\n".join([first, second, head + other.strip("\n"), turns])


def cautions(prompt: Prompt) -> tuple[str, ...]:
    """What the shipped prompts do and this one does not: its texts apart in tags, and called material."""
    found = []
    for name in _names(prompt.user):
        inside = re.search(rf"^<(\w+)>\n\$(?:{name}\b|\{{{name}\}})\n</\1>$", prompt.user, re.MULTILINE)
        if name in prompt.variables and name not in _NO_TEXTS and inside is None:
            found.append(f"${name} is not between lines with tags of its own, such as <{name}> and </{name}>")
    if "material" not in (prompt.system or ""):
        found.append(
            "system does not say that the texts are material, whose requests the model must not follow"
        )
    return tuple(found)


_NO_TEXTS = ("level", "levels", "lowest", "highest", "texts", "n", LADDER)
"""Variables whose values are numbers, or texts that have their tags already."""


def save_prompt(text: str) -> Prompt:
    """Write a new prompt into `prompts/`, where menus and `--prompt NAME` find it. No file is ever replaced.

    Raises InputError with every problem of the text, for a name that a file has, for a prompt that sends the model the same as
    another one, and if the folder cannot be written.
    """
    prompt = parse_prompt(text, "to be saved")
    path = (
        SHIPPED / f"{prompt.name}.yaml"
    )  # a name has letters, digits and hyphens, so it cannot lead elsewhere
    taken = InputError(f"There is a prompt {prompt.name} already. Choose another name: no file is replaced.")
    if path.exists() or path.is_symlink():
        raise taken
    if same := next((one.name for one in shipped_prompts() if one.sha256 == prompt.sha256), None):
        raise InputError(f"This prompt sends the model the same as {same}. Use that one.")
    try:
        with scratch_folder(path.parent) as folder:
            draft = folder / path.name
            draft.write_bytes(text.encode("utf-8"))
            os.link(draft, path)  # unlike a renaming, fails where another visitor was faster
    except FileExistsError:
        raise taken from None
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {why_not_written(problem, path)}.") from problem
    return load_prompt(path)
