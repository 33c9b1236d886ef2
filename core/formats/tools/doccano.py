"""doccano's export of sequence labelling (JSONL): texts with `label` or `labels`, lists of [start, end, label], or `entities`."""

import re
from collections.abc import Mapping, Sequence

from core.formats import Format
from core.formats.tools.rows import (
    check_systems,
    checked,
    facts_of,
    has_keys,
    marked,
    marked_rows,
    objects_of,
    wants_ratings,
    wants_spans,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, label_of, reject

_TITLE = "marked spans of doccano"
_TRIPLE = re.compile(rb'"labels?"\s*:\s*\[\s*\[\s*\d+\s*,\s*\d+\s*,\s*"')
_TRIPLE_SIZE = 3
_HEAD = 200_000


def holds_spans(data: bytes, file_name: str) -> bool:
    """Whether a file has texts with doccano's spans."""
    if not has_keys(data, "text"):
        return False
    return bool(_TRIPLE.search(data[:_HEAD])) or has_keys(data, "entities", "start_offset", "end_offset")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each marked span; for a reader of texts a row for each text."""
    if wants_ratings(aliases) and not wants_spans(aliases):
        reject(
            findings.file_name,
            ["file: holds marked spans of doccano and no ratings; the commands on spans read it"],
        )
    rows: list[tuple[str, dict[str, object]]] = []
    for number, (where, one) in enumerate(objects_of(data, findings), start=1):
        about = facts_of(one)
        about["item_id"] = about.get("item_id", number)
        if not wants_spans(aliases):
            rows.append((where, about))
            continue
        marks = [mark for mark in _held(one) if mark is not None]
        if len(marks) < len(_held(one)):
            findings.problems.append(f"{where}: a label is not [start, end, label]")
        names = (label_of(one.get(key)) for key in ("annotator", "user", "username"))
        rows += marked_rows(where, about, next(filter(None, names), None), marks)
    if not wants_spans(aliases):
        check_systems(rows, aliases, findings, _TITLE)
    checked(rows, findings, "text")
    return object_records(rows, aliases, findings)


def _held(one: JsonObject) -> list[dict[str, object] | None]:
    """The marked spans of a text; None for what is none."""
    held = next((one[key] for key in ("label", "labels", "entities") if isinstance(one.get(key), list)), [])
    found: list[dict[str, object] | None] = []
    for span in held if isinstance(held, list) else ():
        if isinstance(span, JsonObject):
            found.append(marked(span.get("start_offset"), span.get("end_offset"), span.get("label")))
        elif isinstance(span, list) and len(span) == _TRIPLE_SIZE:
            found.append(marked(*span))
        else:
            found.append(None)
    return found


FORMAT = Format("doccano", _TITLE, holds_spans, rows=_rows)
