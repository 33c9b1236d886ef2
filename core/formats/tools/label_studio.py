"""Label Studio's export in JSON: tasks with annotations by people and predictions of models."""

from collections.abc import Iterator, Mapping, Sequence

from core.formats.tools.rows import (
    MODEL,
    PERSON,
    RATER_TYPE,
    checked,
    facts_of,
    has_keys,
    marked,
    marked_rows,
    objects_in,
    objects_of,
    rating_table,
    tool_format,
    wants_ratings,
    wants_spans,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, label_of, shown

_TITLE = "an export of Label Studio"
_CHOICE = "choice"
"""Column with what a person chose, in a table of pairs."""
_SIDES = ("left", "right")


def holds_tasks(data: bytes, file_name: str) -> bool:
    """Whether a file has annotated tasks of Label Studio."""
    return has_keys(data, "annotations", "result", "data") and has_keys(data, "from_name", "to_name")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each rating or marked error; for texts a row for each task and annotator, with the task's own fields."""
    found: list[tuple[str, dict[str, object]]] = []
    other: dict[str, int] = {}
    for where, task in objects_of(data, findings):
        fields = task.get("data")
        about: dict[str, object] = dict(fields) if isinstance(fields, JsonObject) else {}
        facts = facts_of(about)
        facts["item_id"] = facts.get("item_id", task.get("id"))
        for place, rater, kind, results in _annotated(task, where, findings):
            who = {"rater": rater, RATER_TYPE: kind}
            if not (wants_ratings(aliases) or wants_spans(aliases)):
                chosen = dict(_ratings(results, {}))
                votes = {_CHOICE if len(chosen) == 1 else name: value for name, value in chosen.items()}
                found.append((place, {**about, "item_id": facts["item_id"], "annotator": rater, **votes}))
            elif wants_spans(aliases):
                found += marked_rows(place, facts, rater, list(_marks(results)))
            else:
                found += [
                    (place, {**facts, **who, "dimension": name, "score": value})
                    for name, value in _ratings(results, other)
                ]
    if other:
        said = ", ".join(f"{shown(kind)} ({n:,})" for kind, n in other.items())
        findings.notes.append(
            f"results left out because they are no choice, rating, number or preference: {said}"
        )
    if wants_ratings(aliases) and not wants_spans(aliases):
        if not found and other:
            findings.problems.append(
                "file: has no choice, rating, number or preference; marked errors are read by the commands on spans"
            )
        if len({row["dimension"] for _, row in found}) == 1:
            found = [(place, {k: v for k, v in row.items() if k != "dimension"}) for place, row in found]
        return rating_table(found, aliases, findings, "annotation")
    checked(found, findings, "annotation")
    return object_records(found, aliases, findings)


def _annotated(
    task: JsonObject, where: str, findings: FileFindings
) -> Iterator[tuple[str, str, str, list[JsonObject]]]:
    """Place, rater, kind of rater and results of a task's annotations and predictions; cancelled ones are left out."""
    for place, one in objects_in(task, "annotations", where, findings):
        if one.get("was_cancelled") is True:
            continue
        by = one.get("completed_by")
        name = label_of(by.get("email") or by.get("id")) if isinstance(by, JsonObject) else label_of(by)
        yield place, name or "annotator", PERSON, _results(one)
    for place, one in objects_in(task, "predictions", where, findings):
        yield place, label_of(one.get("model_version")) or "prediction", MODEL, _results(one)


def _results(one: JsonObject) -> list[JsonObject]:
    held = one.get("result")
    return [part for part in held if isinstance(part, JsonObject)] if isinstance(held, list) else []


def _ratings(results: Sequence[JsonObject], other: dict[str, int]) -> Iterator[tuple[str, object]]:
    """Name of the control and what was chosen there. other: type of result -> number of those that are no rating."""
    for one in results:
        value, kind = one.get("value"), label_of(one.get("type")) or ""
        name = label_of(one.get("from_name")) or kind
        held = value if isinstance(value, JsonObject) else {}
        if isinstance(choices := held.get("choices"), list) and choices:
            yield name, " + ".join(sorted(map(str, choices)))
        elif kind == "rating" and "rating" in held:
            yield name, held["rating"]
        elif kind == "number" and "number" in held:
            yield name, held["number"]
        elif (side := held.get("selected")) in _SIDES:
            yield name, side
        else:
            other[kind] = other.get(kind, 0) + 1


def _marks(results: Sequence[JsonObject]) -> Iterator[dict[str, object]]:
    """The marked spans of text, with their first label."""
    for one in results:
        value = one.get("value")
        if isinstance(value, JsonObject) and isinstance(labels := value.get("labels"), list):
            yield marked(value.get("start"), value.get("end"), labels[0] if labels else None)


FORMAT = tool_format("label_studio", _TITLE, holds_tasks, _rows)
