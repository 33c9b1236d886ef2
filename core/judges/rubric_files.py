"""Rubrics: what a judge scores by, read from YAML files that people write.

Those that Assay ships stand in `data/rubrics/`. A run keeps the whole file, a signature the start of
`Rubric.sha256`. A problem is one sentence that starts with its place: `line 9, levels, 3: is empty`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.yaml_fields import (
    Keys,
    Name,
    ReadYaml,
    Shipped,
    Source,
    Strict,
    Text,
    Title,
    dumped,
    place_of,
    read_yaml,
    refuse,
    value_problem,
)

HIGHEST_VERDICT = 100
"""The largest number that a level may have; 0 is the smallest."""
SHIPPED = Path(__file__).resolve().parents[2] / "data" / "rubrics"


class RubricFile(Strict):
    """A rubric file as it is written."""

    name: Name
    title: Title
    source: Source
    criterion: Text
    levels: dict[int, Text]


@dataclass(frozen=True)
class Rubric:
    """A question about a text and what each score means as its answer. Higher is better."""

    name: str
    title: str
    """Short, for menus."""
    paper: str
    section: str
    differences: str
    """What is done otherwise than in the paper."""
    criterion: str
    """What is asked of the text."""
    levels: Mapping[int, str]
    """Score -> when it is given; ascending, two at least. Only these scores are on offer."""

    @property
    def lowest(self) -> int:
        """The worst score."""
        return min(self.levels)

    @property
    def highest(self) -> int:
        """The best score."""
        return max(self.levels)

    @property
    def rendered(self) -> str:
        """The scale as a judge reads it, one score a line."""
        return "\n".join(f"Score {score}: {meaning}" for score, meaning in self.levels.items())

    @cached_property
    def sha256(self) -> str:
        """Of all that reaches the model; name, title, source and the way the file is written do not count."""
        canonical = json.dumps([self.criterion, self.rendered], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def dump(self) -> str:
        """The rubric as a file: parse_rubric reads it to an equal one."""
        source = {"paper": self.paper, "section": self.section, "differences": self.differences}
        return dumped(
            {
                "name": self.name,
                "title": self.title,
                "source": source,
                "criterion": self.criterion,
                "levels": dict(self.levels),
            }
        )


def parse_rubric(text: str, file_name: str) -> Rubric:
    """The rubric that a file's text describes. Raises InputError with every problem found, each with its place."""
    read = read_yaml(text)
    problems = list(read.problems)
    fields: RubricFile | None = None
    if read.values is not None:
        # What is there and empty is said once, as that.
        empty = [
            name for name, value in read.values.items() if value is None and name in RubricFile.model_fields
        ]
        problems += [f"{place_of(read.lines, (name,))}: is empty" for name in empty]
        problems += _level_problems(read)
        try:
            fields = RubricFile.model_validate(dict(read.values))
        except ValidationError as wrong:
            problems += [
                _problem(error, read.lines) for error in wrong.errors() if error["loc"][0] not in empty
            ]
    if problems or fields is None:
        refuse(f"Rubric {file_name}", problems)
    return Rubric(
        name=fields.name,
        title=fields.title,
        paper=fields.source.paper,
        section=fields.source.section,
        differences=fields.source.differences,
        criterion=fields.criterion,
        levels={score: fields.levels[score] for score in sorted(fields.levels)},
    )


def shipped_rubrics() -> tuple[Rubric, ...]:
    """Every usable rubric in `data/rubrics/`, the files that somebody put there included; by name."""
    return _SHIPPED.all()


def unusable_rubrics() -> tuple[str, ...]:
    """A line for each file in `data/rubrics/` that cannot be used."""
    return _SHIPPED.unusable()


def find_rubric(name_or_path: str) -> Rubric:
    """A shipped rubric by name, else the rubric in a file. Raises InputError where there is neither."""
    return _SHIPPED.find(name_or_path)


_SHIPPED = Shipped(SHIPPED, "rubric", parse_rubric)


def _level_problems(read: ReadYaml) -> Iterator[str]:
    """What is wrong with the scale as a whole; single levels are looked at as all fields are."""
    assert read.values is not None
    levels = read.values.get("levels")
    if not isinstance(levels, dict):
        return
    written = sum(len(keys) == 2 and keys[0] == "levels" for keys in read.lines)
    if len(levels) < written:
        yield f"{place_of(read.lines, ('levels',))}: the same number is written in two ways"
    elif len(levels) < 2:
        yield f"{place_of(read.lines, ('levels',))}: a scale has two levels at least"
    for score in levels:
        if isinstance(score, int) and not isinstance(score, bool) and not 0 <= score <= HIGHEST_VERDICT:
            yield f"{place_of(read.lines, ('levels', str(score)))}: is not between 0 and {HIGHEST_VERDICT}"


def _problem(error: ErrorDetails, lines: Mapping[Keys, int]) -> str:
    keys = tuple(str(part) for part in error["loc"] if part != "[key]")
    return f"{place_of(lines, keys)}: {_sentence(error)}"


def _sentence(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        model: type[BaseModel] = Source if error["loc"][0] == "source" else RubricFile
        return f"is no field of a rubric file; there are {', '.join(model.model_fields)}"
    if "[key]" in error["loc"]:
        return "is no level; a level is a whole number without quotes"
    return value_problem(error)
