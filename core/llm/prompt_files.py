"""What people write into a prompt file: its fields, what each purpose needs, and where something is wrong.

`core.llm.prompts` makes a Prompt of what is read here. A problem is one sentence that starts with its place:
`line 12, ladder, 3: is empty`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

from core.yaml_fields import Keys, Name, Source, Strict, Text, Title, place_of, read_yaml, value_problem

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
