"""Annotations as the authors of the Alt-Test store them: JSON with rater -> item -> label, or item -> label of one rater."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from core.errors import InputError
from core.formats.tools.rows import (
    MODEL,
    PERSON,
    RATER_TYPE,
    rating_table,
    refuse_without_texts,
    tool_format,
    wants_ratings,
)
from core.tables.columns import VOCABULARY, Table
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, duplicate_problems, numbers_as_json, parse_json, reject
from core.tables.roles import Who, who_in

_TITLE = "labels by rater and item"
_KINDS: Mapping[Who, str] = {"person": PERSON, "judge": MODEL}
_NAMES = frozenset(name for names in VOCABULARY.values() for name in names)
"""Names of columns: an object with one of them is a record, and no map from items to labels."""


def holds_annotations(data: bytes, file_name: str) -> bool:
    """Whether a file is one JSON object of labels by item, of several raters or of one."""
    if data.lstrip()[:1] != b"{":
        return False
    try:
        value, problem = parse_json(numbers_as_json(decode(data, file_name)))
    except InputError:
        return False
    return (
        problem is None and isinstance(value, JsonObject) and bool(_raters(value, PurePath(file_name).stem))
    )


def _is_labels(value: object) -> bool:
    """Whether a value maps items to labels."""
    return (
        isinstance(value, JsonObject)
        and bool(value)
        and not any(key.strip().lower() in _NAMES for key in value)
        and all(one is None or isinstance(one, str | bool | int | float) for one in value.values())
    )


def _kind(rater: str, stem: str) -> str | None:
    """What a rater is, by its own name or else by that of the file, such as `human_annotations`; None if neither tells."""
    return _KINDS.get(who_in(rater)) or _KINDS.get(who_in(stem))


def _raters(value: JsonObject, stem: str) -> list[tuple[str, str | None, JsonObject]]:
    """Rater, kind of rater where the file says it, and labels; empty if the object holds something else.

    Summaries of results look alike. So the items of one rater count only if its name tells a person or a model, and those of
    several only if two of them labelled the same item.
    """
    if _is_labels(value):
        return [(stem, _kind(stem, stem), value)] if who_in(stem) is not None else []
    blocks = {key: one for key, one in value.items() if isinstance(one, JsonObject)}
    if not blocks or len(blocks) < len(value):
        return []
    if all(map(_is_labels, blocks.values())):
        items = [item for labels in blocks.values() for item in labels]
        shared = len({*items}) < len(items)
        told = len(blocks) == 1 and who_in(next(iter(blocks))) is not None
        kinds = {rater: _kind(rater, stem) for rater in blocks}
        return [(rater, kinds[rater], labels) for rater, labels in blocks.items()] if shared or told else []
    found: list[tuple[str, str | None, JsonObject]] = []
    for key, block in blocks.items():
        kind = _KINDS.get(who_in(key))
        inner = {key: block} if _is_labels(block) else block
        if kind is None or not all(map(_is_labels, inner.values())):
            return []
        found += [(name, kind, labels) for name, labels in inner.items() if isinstance(labels, JsonObject)]
    return found


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each label."""
    value, problem = parse_json(numbers_as_json(decode(data, findings.file_name)))
    if problem or not isinstance(value, JsonObject):
        reject(findings.file_name, [problem or "file: is no object"])
    if not wants_ratings(aliases):
        refuse_without_texts(findings, _TITLE)
    findings.problems += duplicate_problems("file", value)
    rows = []
    for rater, kind, labels in _raters(value, PurePath(findings.file_name).stem):
        findings.problems += duplicate_problems(f"rater {rater}", labels)
        rows += [
            (
                f"rater {rater}, item {item}",
                {"item_id": item, "rater": rater, **({RATER_TYPE: kind} if kind else {}), "score": label},
            )
            for item, label in labels.items()
            if label is not None
        ]
    return rating_table(rows, aliases, findings, "label")


FORMAT = tool_format("alt_test", _TITLE, holds_annotations, _rows)
