"""Annotations as the authors of the Alt-Test store them: JSON with rater -> item -> label, or item -> label of one rater."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from core.formats.tools.rows import (
    MODEL,
    PERSON,
    RATER_TYPE,
    for_ratings,
    rating_table,
    refuse_without_texts,
    tool_format,
)
from core.tables.columns import VOCABULARY, Table
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, duplicate_problems, numbers_as_json, parse_json, reject
from core.tables.roles import who_in

_TITLE = "labels by rater and item"
_NAMES = frozenset(name for names in VOCABULARY.values() for name in names)
"""Names of columns: an object with one of them is a record, and no map from items to labels."""
_LEAST_ITEMS = 2


def holds_annotations(data: bytes, file_name: str) -> bool:
    """Whether a file is one JSON object of labels by item, of several raters or of one."""
    if data.lstrip()[:1] != b"{":
        return False
    try:
        value, problem = parse_json(numbers_as_json(decode(data, file_name)))
    except ValueError:
        return False
    return problem is None and isinstance(value, JsonObject) and bool(_raters(value, ""))


def _is_labels(value: object) -> bool:
    """Whether a value maps items to labels."""
    return (
        isinstance(value, JsonObject)
        and bool(value)
        and not any(key.strip().lower() in _NAMES for key in value)
        and all(one is None or isinstance(one, str | bool | int | float) for one in value.values())
    )


def _raters(value: JsonObject, stem: str) -> list[tuple[str, str | None, JsonObject]]:
    """Rater, kind of rater where the file says it, and labels; empty if the object holds something else."""
    if _is_labels(value):
        return [(stem, None, value)] if len(value) >= _LEAST_ITEMS else []
    blocks = [one for one in value.values() if isinstance(one, JsonObject)]
    if not blocks or len(blocks) < len(value):
        return []
    if all(map(_is_labels, blocks)):
        return [(key, None, block) for key, block in zip(value, blocks, strict=True)]
    found = []
    for key, block in zip(value, blocks, strict=True):
        kind = {"judge": MODEL, "person": PERSON}.get(str(who_in(key)))
        if kind is None:
            return []
        inner = {key: block} if _is_labels(block) else block
        if not all(map(_is_labels, inner.values())):
            return []
        found += [(name, kind, held) for name, held in inner.items() if isinstance(held, JsonObject)]
    return found


def _rows(data: bytes, known: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each label."""
    value, problem = parse_json(numbers_as_json(decode(data, findings.file_name)))
    if problem or not isinstance(value, JsonObject):
        reject(findings.file_name, [problem or "file: is no object"])
    if not for_ratings(known):
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
    return rating_table(rows, known, findings, "label")


FORMAT = tool_format("alt_test", _TITLE, holds_annotations, _rows)
