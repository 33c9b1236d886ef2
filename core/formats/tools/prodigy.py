"""Prodigy's annotations (`prodigy db-out`, JSONL): answers, chosen options and marked spans by annotator."""

from collections.abc import Mapping, Sequence

from core.formats.tools.rows import (
    PERSON,
    RATER_TYPE,
    check_systems,
    checked,
    facts_of,
    has_keys,
    marked,
    marked_rows,
    objects_of,
    rating_table,
    tool_format,
    wants_ratings,
    wants_spans,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, label_of

_TITLE = "annotations of Prodigy"
_ANSWERS = ("accept", "reject")


def holds_annotations(data: bytes, file_name: str) -> bool:
    """Whether a file has annotations of Prodigy."""
    return has_keys(data, "_input_hash", "_task_hash", "answer")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each answer, or for each marked span of an accepted one; for a reader of texts a row for each text."""
    rows: list[tuple[str, dict[str, object]]] = []
    texts: dict[object, tuple[str, dict[str, object]]] = {}
    ignored = rejected = 0
    for where, one in objects_of(data, findings):
        about = facts_of({key: value for key, value in one.items() if key != "answer"})
        meta = one.get("meta")
        about = {**(facts_of(meta) if isinstance(meta, JsonObject) else {}), **about}
        about["item_id"] = about.get("item_id", one.get("_input_hash"))
        texts.setdefault(about["item_id"], (where, about))
        rater = label_of(one.get("_annotator_id")) or label_of(one.get("_session_id")) or "annotator"
        answer, options = label_of(one.get("answer")), one.get("accept")
        if answer not in _ANSWERS:
            ignored += 1
        elif wants_spans(aliases):
            if answer != _ANSWERS[0]:
                rejected += 1
                continue
            spans = one.get("spans")
            marks = [
                marked(span.get("start"), span.get("end"), span.get("label"))
                for span in (spans if isinstance(spans, list) else ())
                if isinstance(span, JsonObject)
            ]
            rows += marked_rows(where, about, rater, marks)
        else:
            chosen = (
                " + ".join(sorted(map(str, options))) if isinstance(options, list) and options else answer
            )
            rows.append((where, {**about, "rater": rater, RATER_TYPE: PERSON, "score": chosen}))
    if ignored:
        findings.notes.append(f"answers left out because the annotator skipped them: {ignored:,}")
    if rejected:
        findings.notes.append(f"texts left out because the annotator rejected their spans: {rejected:,}")
    if wants_spans(aliases):
        checked(rows, findings, "annotation")
        return object_records(rows, aliases, findings)
    if wants_ratings(aliases):
        return rating_table(rows, aliases, findings, "answer")
    check_systems(list(texts.values()), aliases, findings, _TITLE)
    checked(list(texts), findings, "text")
    return object_records(list(texts.values()), aliases, findings)


FORMAT = tool_format("prodigy", _TITLE, holds_annotations, _rows)
