"""Whether the fields of a prompt file fit together: nothing missing, variables known, ladder whole, examples usable."""

import json
from collections.abc import Iterator
from string import Template

from core.llm.prompt_files import LADDER, LEVELS, PURPOSES, USES, PromptFile, Use, Written

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
