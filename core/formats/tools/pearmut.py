"""What a campaign of Pearmut writes (JSONL): scores and marked errors of several models' translations, by annotator."""

from collections.abc import Iterator, Mapping, Sequence

from core.formats.tools.rows import (
    NO_ERROR,
    PERSON,
    RATER_TYPE,
    UNSPECIFIED,
    checked,
    has_keys,
    marked_rows,
    name_in,
    objects_of,
    rating_table,
    tool_format,
    wants_ratings,
    wants_spans,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, is_nothing, label_of, shown, type_name

_TITLE = "annotations of Pearmut"
_EXTRA = ("welcome_", "random_", "goodbye_")
"""How the numbers of tasks begin that train or check annotators."""


def holds_annotations(data: bytes, file_name: str) -> bool:
    """Whether a file has Pearmut's annotations."""
    return has_keys(data, "annotation", "item", "user_id", "item_i")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each rated translation, with a row for each marked error where a reader wants these."""
    ratings: list[tuple[str, dict[str, object]]] = []
    texts: dict[tuple[str, str], tuple[str, dict[str, object]]] = {}
    extra = unscored = 0
    for where, task in objects_of(data, findings):
        if (label_of(task.get("item_i")) or "").startswith(_EXTRA):
            extra += 1
            continue
        rater = name_in(task, "user_id", where, findings)
        for place, own, rated in _translations(task, where, findings):
            about = {"item_id": own["item_id"], "system": own["system"]}
            texts.setdefault((str(own["item_id"]), str(own["system"])), (place, own))
            if wants_spans(aliases):
                spans = rated.get("error_spans")
                marks = [_mark(span) for span in spans] if isinstance(spans, list) else []
                ratings += marked_rows(place, own, rater, marks)
            elif is_nothing(rated.get("score")):
                unscored += 1
            else:
                who = {"rater": rater, RATER_TYPE: PERSON}
                ratings.append((place, {**about, **who, "score": rated["score"]}))
    if extra:
        findings.notes.append(f"tasks left out because they train or check annotators: {extra:,}")
    if unscored:
        findings.notes.append(f"translations left out because they have no score: {unscored:,}")
    if wants_spans(aliases):
        checked(ratings, findings, "annotation")
        return object_records(ratings, aliases, findings)
    if wants_ratings(aliases):
        return rating_table(ratings, aliases, findings, "score")
    checked(list(texts), findings, "translation")
    return object_records(list(texts.values()), aliases, findings)


def _translations(
    task: JsonObject, where: str, findings: FileFindings
) -> Iterator[tuple[str, dict[str, object], JsonObject]]:
    """Yield the place, the text and the annotation of each translation of a task."""
    items, annotations = task.get("item"), task.get("annotation")
    if not isinstance(items, list) or not isinstance(annotations, list) or len(items) != len(annotations):
        findings.problems.append(f"{where}: item and annotation are not lists of the same length")
        return
    for number, (item, annotation) in enumerate(zip(items, annotations, strict=True), start=1):
        place = f"{where}, item {number}"
        if annotation is None:
            continue
        if not isinstance(item, JsonObject) or not isinstance(annotation, JsonObject):
            findings.problems.append(f"{place}: is {type_name(annotation)}, expected an object by model")
            continue
        item_id = name_in(item, "item_id", place, findings)
        target = item.get("tgt")
        if item_id is None:
            continue
        for model, rated in annotation.items():
            if not isinstance(rated, JsonObject):
                findings.problems.append(
                    f"{place}, {shown(model)}: is {type_name(rated)}, expected an object"
                )
                continue
            text = target.get(model) if isinstance(target, JsonObject) else target
            about = {"item_id": item_id, "system": model}
            yield place, {**about, "question": item.get("src"), "text": text}, rated


def _mark(span: object) -> dict[str, object]:
    """A marked error. Pearmut counts the last character of a span as its end."""
    if not isinstance(span, JsonObject):
        return dict(NO_ERROR)
    end = span.get("end_i")
    return {
        "start": span.get("start_i"),
        "end": end + 1 if isinstance(end, int) else end,
        "severity": (severity := label_of(span.get("severity"))) or UNSPECIFIED,
        "category": label_of(span.get("category")) or UNSPECIFIED,
        "weight": None if severity else 1,
    }


FORMAT = tool_format("pearmut", _TITLE, holds_annotations, _rows)
