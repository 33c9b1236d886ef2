"""Rating tasks: the questions that raters and evaluators answer about every text, read from YAML files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from core.formats.spans.mqm import WEIGHTS, is_no_error
from core.schema.study import Dimension, RatingTask, SpanTask, TaskLabels
from core.tables.reading import name_of, name_problem, shown
from core.yaml_fields import (
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

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "tasks"
MOST_ANSWERS = 101
"""Most possible answers of a scale with steps: 0 to 100 in ones."""
LONGEST_DIMENSION = 40
"""Most characters of a dimension's name, which becomes a column heading and the end of a metric's name."""
SEVERITIES = tuple(sorted(WEIGHTS, key=lambda severity: WEIGHTS[severity]))
"""Severities with a weight, mildest first."""
_ROUNDING = 1e-9


class DimensionFields(Strict):
    """Fields of a dimension in a task file."""

    name: Text
    title: Title
    description: Text
    lowest: float
    highest: float
    step: float = 1.0
    anchors: dict[float, Text] = Field(default_factory=dict)
    detailed: Text | None = None


class SpanFields(Strict):
    """Fields of an error typology in a task file."""

    severities: list[Text]
    categories: list[Text]
    source_side: bool = False
    meanings: dict[Text, Text] = Field(default_factory=dict)


class LabelFields(Strict):
    """Headings of the parts of an item in a task file."""

    source: Title = TaskLabels.source
    reference: Title = TaskLabels.reference
    text: Title = TaskLabels.text


class TaskFields(Strict):
    """Fields of a task file."""

    name: Name
    title: Title
    source: Source
    dimensions: list[DimensionFields] = Field(default_factory=list)
    spans: SpanFields | None = None
    show_reference: bool = False
    labels: LabelFields = LabelFields()


def parse_task(text: str, file_name: str) -> RatingTask:
    """Read a task from a file's text. Raises InputError with every problem and its place."""
    read = read_yaml(text)
    problems = list(read.problems)
    fields: TaskFields | None = None
    if read.values is not None:
        try:
            fields = TaskFields.model_validate(dict(read.values))
        except ValidationError as wrong:
            problems += [_problem(error, read) for error in wrong.errors()]
        else:
            problems += _problems(fields, read)
    if problems or fields is None:
        refuse(f"Task {file_name}", problems)
    return _task(fields)


def shipped_tasks() -> tuple[RatingTask, ...]:
    """Every valid task in `data/tasks/`, including added files, sorted by name."""
    return _SHIPPED.all()


def unusable_tasks() -> tuple[str, ...]:
    """One line for each invalid file in `data/tasks/`."""
    return _SHIPPED.unusable()


def find_task(name_or_path: str) -> RatingTask:
    """Find a shipped task by name, or read the task in a file. Raises InputError if there is neither."""
    return _SHIPPED.find(name_or_path)


_SHIPPED = Shipped(SHIPPED, "task", parse_task)


def dump_task(task: RatingTask) -> str:
    """Write a task as a file; parse_task reads an equal task from it."""
    fields: dict[str, Any] = {
        "name": task.name,
        "title": task.title,
        "source": {"paper": task.paper, "section": task.section, "differences": task.differences},
    }
    if task.dimensions:
        fields["dimensions"] = [_dumped(dimension) for dimension in task.dimensions]
    if task.spans is not None:
        fields["spans"] = {
            "severities": list(task.spans.severities),
            "categories": list(task.spans.categories),
            "source_side": task.spans.source_side,
        } | ({"meanings": dict(task.spans.meanings)} if task.spans.meanings else {})
    fields["show_reference"] = task.show_reference
    # Default labels are left out: the text of a task identifies a run.
    return dumped(fields | ({"labels": asdict(task.labels)} if task.labels != TaskLabels() else {}))


def _dumped(one: Dimension) -> dict[str, Any]:
    numbers = {name: _plain(getattr(one, name)) for name in ("lowest", "highest", "step")}
    anchors = {_plain(answer): meaning for answer, meaning in one.anchors}
    fields = {**vars(one), **numbers, "anchors": anchors}
    return {name: value for name, value in fields.items() if value not in ({}, "")}


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def _task(fields: TaskFields) -> RatingTask:
    spans = fields.spans
    return RatingTask(
        fields.name,
        fields.title,
        fields.source.paper,
        fields.source.section,
        fields.source.differences,
        tuple(
            Dimension(
                **{**vars(one), "anchors": tuple(sorted(one.anchors.items())), "detailed": one.detailed or ""}
            )
            for one in fields.dimensions
        ),
        None
        if spans is None
        else SpanTask(
            tuple(spans.severities), tuple(spans.categories), spans.source_side, tuple(spans.meanings.items())
        ),
        fields.show_reference,
        TaskLabels(fields.labels.source, fields.labels.reference, fields.labels.text),
    )


# --- checks beyond types -------------------------------------------------------------------------


def _problems(fields: TaskFields, read: ReadYaml) -> Iterator[str]:
    if not fields.dimensions and fields.spans is None:
        yield "file: the task is empty; give dimensions, spans, or both"
    names = Counter(one.name.casefold() for one in fields.dimensions)
    for number, one in enumerate(fields.dimensions, start=1):
        place = ("dimensions", str(number))
        if problem := _name_problem(one.name):
            yield f"{place_of(read.lines, (*place, 'name'))}: {problem}"
        if names[one.name.casefold()] > 1:
            yield f"{place_of(read.lines, (*place, 'name'))}: {shown(one.name)} is the name of several dimensions"
        for field, problem in _scale_problems(one):
            yield f"{place_of(read.lines, (*place, field))}: {problem}"
        written = sum(keys[:3] == (*place, "anchors") and len(keys) == 4 for keys in read.lines)
        if len(one.anchors) < written:
            yield f"{place_of(read.lines, (*place, 'anchors'))}: a number occurs twice, written differently"
    if fields.spans is not None:
        yield from _span_problems(fields.spans, read)


def _name_problem(name: str) -> str:
    if name_of(name) is None:
        return name_problem(name)
    if len(name) > LONGEST_DIMENSION:
        return f"has {len(name)} characters, at most {LONGEST_DIMENSION}"
    return (
        ""
        if all(char.isalnum() or char in "_-" for char in name)
        else "may contain only letters, digits, - and _"
    )


def _scale_problems(one: DimensionFields) -> Iterator[tuple[str, str]]:
    """(field, problem) for a dimension's numbers."""
    numbers = {"lowest": one.lowest, "highest": one.highest, "step": one.step}
    wild = [name for name, number in numbers.items() if not abs(number) < 1e9]  # NaN neither
    if wild:
        yield from ((name, f"is {numbers[name]:g}, expected a number") for name in wild)
        return
    if one.highest <= one.lowest:
        yield "highest", f"is {one.highest:g}, which is not above lowest ({one.lowest:g})"
        return
    if one.step < 0:
        yield "step", f"is {one.step:g}, below 0; 0 means any number"
        return
    steps = 0.0 if one.step == 0 else (one.highest - one.lowest) / one.step
    if abs(steps - round(steps)) > _ROUNDING * max(1.0, steps):
        yield (
            "step",
            f"is {one.step:g}, which does not divide the range from {one.lowest:g} to {one.highest:g}",
        )
    elif round(steps) + 1 > MOST_ANSWERS:
        yield (
            "step",
            f"is {one.step:g}, which gives {round(steps) + 1} answers; at most {MOST_ANSWERS} are possible",
        )
    else:
        for answer in one.anchors:
            if not _is_offered(answer, one):
                yield "anchors", f"{answer:g} is not a possible answer"


def _is_offered(answer: float, one: DimensionFields) -> bool:
    if not one.lowest <= answer <= one.highest:
        return False
    place = 0.0 if one.step == 0 else (answer - one.lowest) / one.step
    return abs(place - round(place)) <= _ROUNDING * max(1.0, place)


def _span_problems(spans: SpanFields, read: ReadYaml) -> Iterator[str]:
    for field, written in (("severities", spans.severities), ("categories", spans.categories)):
        place = place_of(read.lines, ("spans", field))
        if not written:
            yield f"{place}: is empty; at least one is needed"
        for number, one in enumerate(written, start=1):
            here = place_of(read.lines, ("spans", field, str(number)))
            if name_of(one) is None:
                yield f"{here}: {name_problem(one)}"
            elif written.index(one) < number - 1:
                yield f"{here}: {shown(one)} occurs twice"
            elif field == "categories" and is_no_error(one, ""):
                yield f"{here}: {shown(one)} is not an error; 'no errors' needs no category"
            elif field == "severities" and one not in WEIGHTS:
                yield f"{here}: {shown(one)} has no weight; possible: {', '.join(SEVERITIES)}"
    for name in spans.meanings:
        if name not in (*spans.severities, *spans.categories):
            place = place_of(read.lines, ("spans", "meanings", name))
            yield f"{place}: not a severity or category of this task"
    known = [one for one in spans.severities if one in WEIGHTS]
    ordered = sorted(known, key=SEVERITIES.index)
    if known != ordered:
        place = place_of(read.lines, ("spans", "severities"))
        yield f"{place}: list the mildest first: {', '.join(ordered)}"


def _problem(error: ErrorDetails, read: ReadYaml) -> str:
    # Pydantic counts list entries from 0, messages from 1.
    keys = tuple(
        str(part + 1) if isinstance(part, int) else str(part) for part in error["loc"] if part != "[key]"
    )
    return f"{place_of(read.lines, _written_keys(keys, read))}: {_sentence(error)}"


def _written_keys(keys: tuple[str, ...], read: ReadYaml) -> tuple[str, ...]:
    """The keys as written in the file, where an anchor 1.0 may be written 1."""
    if keys in read.lines or not keys:
        return keys
    short = keys[-1].removesuffix(".0")
    return (*keys[:-1], short) if (*keys[:-1], short) in read.lines else keys


def _sentence(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return f"is not a field here; possible: {', '.join(_model_at(error['loc']).model_fields)}"
    if "[key]" in error["loc"]:
        return "is not an answer; write a number without quotes"
    if error["type"] in ("float_type", "float_parsing"):
        return f"is {error['input']!r}, expected a number"
    if error["type"] == "bool_type":
        return f"is {error['input']!r}, expected true or false"
    return value_problem(error)


def _model_at(loc: Sequence[int | str]) -> type[BaseModel]:
    models: Mapping[object, type[BaseModel]] = {
        "source": Source,
        "dimensions": DimensionFields,
        "spans": SpanFields,
        "labels": LabelFields,
    }
    return models.get(loc[0], TaskFields) if len(loc) > 1 else TaskFields
