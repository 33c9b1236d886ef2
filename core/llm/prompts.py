"""Prompts: what is sent to a model, read from YAML files that people write, checked as a whole; files may take fields from another."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

from core.errors import InputError
from core.llm.client import Message
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
"""The variable that stands for the rendered ladder."""


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
}
"""(purpose, task) -> its use. A new purpose is a line here and one in STEPS; menus and errors follow."""

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
    "decompose": "Finding the claims of a text",
    "verify": "Verifying claims",
    "questions": "Asking questions of a text",
    "answer": "Answering one question",
    "answers": "Answering all questions of a text",
    "translate": "Translating back",
    "align": "Comparing mismatches with a marked error",
    "mark-errors": "Marking errors",
    "direct": "Giving a score",
    "quality": "Rating quality",
}
"""Purpose -> the step of a run that its prompt is for, as a title."""

PURPOSES: tuple[str, ...] = tuple(dict.fromkeys(purpose for purpose, _ in USES))
LEVELS = (0, 1, 2, 3, 4, 5)
"""What a ladder has to say something about."""


def _whole_number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Value = Annotated[Text, BeforeValidator(_whole_number_as_text)]


class ExampleFields(Strict):
    """One worked example: shown to the model as a question and its answer."""

    variables: dict[str, Value]
    answer: Text


class PromptFile(Strict):
    """A prompt file. None: not given, so taken from `based_on` where there is one."""

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
    """One file as far as it can be understood."""

    fields: PromptFile
    """Without the fields that have problems."""
    lines: Mapping[Keys, int]
    """Where every value stands, counted from 1."""
    problems: tuple[str, ...]
    broken: frozenset[str]
    """Top-level fields that have problems: nothing more is said about them."""

    def place(self, path: Sequence[str | int]) -> str:
        """The line and the names on the way to a value; the nearest value above where it is missing itself."""
        return place_of(self.lines, _keys(path))


def read_fields(text: str) -> Written:
    """Everything that one file says, without what it is based on."""
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
    if error["type"] == "extra_forbidden":
        return f"is no field of a prompt file; there are {_allowed_beside(error)}"
    if "[key]" in error["loc"] and error["type"] != "missing":
        return "is no level; a ladder's levels are the numbers 0 to 5, without quotes"
    return value_problem(error)


def _allowed_beside(error: ErrorDetails) -> str:
    models: dict[str | int, type[BaseModel]] = {"source": Source, "examples": ExampleFields}
    model = models[error["loc"][0]] if len(error["loc"]) > 1 else PromptFile
    return ", ".join(model.model_fields)


_REQUIRED = ("name", "title", "purpose", "shots", "source", "user")


def problems_of(fields: PromptFile, written: Written) -> list[str]:
    """Every problem with a file whose single values are sound, each with its place.

    fields: merged with those of the file it is based on. written: the file itself; what is broken there is
    left alone here.
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
    """The use that purpose and task name; None where they name none."""
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
        yield f"{written.place(['examples'])}: are there although shots is zero; say few"


def _check_templates(fields: PromptFile, written: Written, use: Use) -> Iterator[str]:
    for name in ("system", "user"):
        yield from _lone_dollars(getattr(fields, name) or "", written.place([name]))
    known = (*use.offered, *((LADDER,) if use.ladder else ()))
    possible = "$ladder" if use.ladder else "none"
    in_system, in_user = _names(fields.system), _names(fields.user)
    for name in in_system:
        if name in use.offered:
            yield (
                f"{written.place(['system'])}: holds ${name}; what belongs to one item goes into user, "
                "so that the system turn is the same for all"
            )
        elif name not in known:
            yield f"{written.place(['system'])}: ${name} is no variable here; possible: {possible}"
    for name in in_user:
        if name not in known:
            yield f"{written.place(['user'])}: ${name} is no variable here; possible: {_dollars(known)}"
    for name in use.needed:
        if fields.user is not None and name not in in_user:
            yield f"{written.place(['user'])}: lacks ${name}"


def _check_ladder(fields: PromptFile, written: Written, use: Use) -> Iterator[str]:
    if fields.ladder is None:
        if use.ladder and "ladder" not in written.broken:
            yield "ladder: is missing; it says what each of the levels 0 to 5 means"
        return
    place = written.place([LADDER])
    if not use.ladder:
        yield f"{place}: {fields.purpose} has no levels of damage; leave the field out"
        return
    if missing := [str(level) for level in LEVELS if level not in fields.ladder]:
        yield f"{place}: lacks level {', '.join(missing)}"
    for level in fields.ladder:
        if level not in LEVELS:
            yield f"{written.place([LADDER, level])}: is no level; there are 0 to 5"
    templates = {"system", "user"} & written.broken
    if not templates and LADDER not in (*_names(fields.system), *_names(fields.user)):
        yield f"{place}: $ladder stands neither in system nor in user, so that the model never sees it"


def _check_example(fields: PromptFile, written: Written, use: Use, number: int) -> Iterator[str]:
    assert fields.examples is not None
    example = fields.examples[number]
    place: list[str | int] = ["examples", number, "variables"]
    wanted = [name for name in _names(fields.user) if name in use.offered]
    for name in wanted:
        if name not in example.variables:
            yield f"{written.place(place)}: lacks {name}, which user holds"
    for name, value in example.variables.items():
        if name not in use.offered:
            offered = ", ".join(use.offered)
            yield f"{written.place([*place, name])}: is no variable here; possible: {offered}"
        elif name == "level" and use.ladder and value not in [str(level) for level in LEVELS]:
            yield f"{written.place([*place, name])}: is {value}, no level 0 to 5"
    if use.answer == "json" and not _is_json(example.answer):
        yield f"{written.place(['examples', number, 'answer'])}: is not JSON, which this purpose asks for"


def _lone_dollars(text: str, place: str) -> Iterator[str]:
    for match in Template.pattern.finditer(text):
        if match.group("invalid") is not None:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{place}: line {line} of the text has a lone $; write $$ for a dollar sign"


def _names(text: str | None) -> list[str]:
    """The variables of a template, each once, in the order of the text."""
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
"""Files that one prompt may be based on, one after the other."""


def shipped_path(name: str) -> Path | None:
    """The file of a shipped prompt; None: there is no such prompt."""
    return next((path for path in SHIPPED.glob("*.yaml") if path.stem == name), None)


def merged_fields(
    text: str, folder: Path | None, chain: tuple[Path, ...]
) -> tuple[PromptFile, Written, list[str]]:
    """The fields of a file over those of the file it is based on, and what is wrong with either.

    chain: the files on the way here, so that a loop is seen.
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
            raise InputError(f"goes through more than {MOST_BASES} files")
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
    """The file itself, where what it does not give and the other file gives wrongly is not called missing."""
    broken = written.broken | (unknown - written.fields.model_fields_set)
    return Written(written.fields, written.lines, written.problems, broken)


def _base_path(base: str, folder: Path | None) -> Path:
    if not is_file_name(base):
        path = shipped_path(base)
        if path is None:
            names = ", ".join(path.stem for path in sorted(SHIPPED.glob("*.yaml")))
            raise InputError(f"there is no shipped prompt {base}; there are {names}")
        return path
    # A file that somebody sends in must not be able to name any file of the machine.
    if Path(base).name != base or "\\" in base:
        raise InputError(f"{base} is a path; name a shipped prompt or a file in the same folder")
    if folder is None:
        raise InputError(f"{base} cannot be looked up here; name a shipped prompt or write the fields out")
    return folder / base


@dataclass(frozen=True)
class Example:
    """A worked example: what is asked, and the answer that is wanted."""

    variables: tuple[tuple[str, str], ...]
    answer: str


@dataclass(frozen=True)
class Prompt:
    """What a model is told for one purpose, complete and checked."""

    name: str
    title: str
    """Short, for menus."""
    purpose: str
    """One of PURPOSES."""
    task: str | None
    """What is damaged: qa, qa-passage, summary or translation; None for the other purposes."""
    shots: str
    """`zero`, or `few` where worked examples come first."""
    paper: str
    section: str
    differences: str
    """What is done otherwise than in the paper."""
    system: str | None
    """The same for every item; None: there is no system turn."""
    user: str
    ladder: tuple[str, ...] = ()
    """What the levels 0 to 5 mean; empty for purposes that have no levels."""
    examples: tuple[Example, ...] = ()

    @property
    def use(self) -> Use:
        """What a caller gives to this prompt and gets back."""
        return USES[self.purpose, self.task]

    @property
    def variables(self) -> tuple[str, ...]:
        """What `messages` takes: all that the purpose offers, whether this prompt uses it or not."""
        return self.use.offered

    def messages(self, **variables: str | int) -> tuple[Message, ...]:
        """The turns to send. Values stand in them as they are: a `$` in a value means nothing.

        Raises TypeError unless exactly `self.variables` are given, each a text or a whole number.
        """
        if missing := [name for name in self.variables if name not in variables]:
            raise TypeError(f"prompt {self.name} lacks {', '.join(missing)}")
        if extra := [name for name in variables if name not in self.variables]:
            raise TypeError(f"prompt {self.name} knows no {', '.join(extra)}")
        for name, value in variables.items():
            if not isinstance(value, str | int) or isinstance(value, bool):
                raise TypeError(f"prompt {self.name}: {name} is {value!r}, no text and no whole number")
        return (*self.opening, self._turn(variables))

    @cached_property
    def opening(self) -> tuple[Message, ...]:
        """The turns before the item's own: alike in every request, so that a server computes them once."""
        turns: list[Message] = []
        if self.system is not None:
            turns.append(Message("system", _filled(self.system, {LADDER: self.rendered_ladder})))
        for example in self.examples:
            turns += [self._turn(dict(example.variables)), Message("assistant", example.answer)]
        return tuple(turns)

    @property
    def rendered_ladder(self) -> str:
        """The levels as they stand in the place of `$ladder`."""
        return "\n".join(f"Level {level}: {text}" for level, text in zip(LEVELS, self.ladder, strict=False))

    @cached_property
    def sha256(self) -> str:
        """Of all that reaches the model; name, title, source and the way the file is written do not count."""
        # No text of a file holds U+0000, so these stand-ins cannot be mistaken for one.
        stand_ins = {name: f"\0{name}\0" for name in self.variables}
        turns = [[turn.role, turn.content] for turn in (*self.opening, self._turn(stand_ins))]
        canonical = json.dumps(turns, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def dump(self) -> str:
        """The prompt as one file that needs no other: parse_prompt reads it to the same sha256."""
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
    """The prompt that a file's text describes. Raises InputError with every problem found.

    folder: where a file named in `based_on` is looked for; None: only shipped prompts can be named there.
    """
    own = () if folder is None else ((folder / file_name).resolve(),)
    fields, written, problems = merged_fields(text, folder, own)
    problems += problems_of(fields, written)
    if problems:
        refuse(f"Prompt {file_name}", problems)
    return _prompt(fields)


def _prompt(fields: PromptFile) -> Prompt:
    """The prompt that checked fields make."""
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
    """The prompt in a file. Raises InputError with every problem found."""
    path = Path(path)
    return parse_prompt(text_of(path), path.name, path.parent)


def shipped_prompts(purpose: str | None = None, task: str | None = None) -> tuple[Prompt, ...]:
    """Every usable prompt in `prompts/`, the files that somebody put there included; zero-shot before few-shot.

    A list of them says which files cannot be used: see unusable_prompts.
    """
    prompts, _ = _all_shipped(_stats())
    return tuple(p for p in prompts if purpose in (None, p.purpose) and (task is None or p.task == task))


def unusable_prompts() -> tuple[str, ...]:
    """A line for each file in `prompts/` that cannot be used, with the first reason; `find_prompt` names all of them."""
    return _all_shipped(_stats())[1]


def _stats() -> tuple[tuple[str, int, int], ...]:
    """What is read is kept as long as no file changes, so that a page sees a new file without a restart."""
    found = []
    for path in sorted(SHIPPED.glob("*.yaml")):
        with contextlib.suppress(OSError):  # removed since, or a link to nowhere
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
            f"name: is {prompt.name}; in prompts/ a file is called after its prompt: {prompt.name}.yaml"
        )
    return prompt


def find_prompt(name_or_path: str, purpose: str | None = None, task: str | None = None) -> Prompt:
    """A shipped prompt by name, else the prompt in a file; refused unless it is for this purpose and task."""
    if is_file_name(name_or_path):
        found = load_prompt(name_or_path)
    elif (path := shipped_path(name_or_path)) is not None:
        found = _shipped(path)
    else:
        names = ", ".join(p.name for p in shipped_prompts(purpose, task) or shipped_prompts())
        raise InputError(
            f"There is no prompt {name_or_path}: give one of {names}, or the path of a .yaml file",
            unusable_prompts(),
        )
    return for_use(found, purpose or found.purpose, task, name_or_path)


def for_use(prompt: Prompt, purpose: str, task: str | None = None, called: str = "") -> Prompt:
    """The prompt; refused unless it is for this purpose and, where one is named, this task. called: as a user did."""
    if prompt.purpose != purpose or task not in (None, prompt.task):
        wanted, given = _use_name(purpose, task), _use_name(prompt.purpose, prompt.task)
        raise InputError(f"Prompt {called or prompt.name} is for {given}; one for {wanted} is needed")
    return prompt


def _use_name(purpose: str, task: str | None) -> str:
    return purpose if task is None else f"{purpose} ({task})"
