"""Records of UniEval and G-Eval (JSON): generated texts with people's mean scores and an evaluator's, by dimension."""

from collections.abc import Iterator, Mapping, Sequence

from core.formats.tools.rows import (
    MODEL,
    PERSON,
    RATER_TYPE,
    checked,
    has_keys,
    objects_of,
    rating_table,
    tool_format,
    wants_ratings,
)
from core.tables.columns import Table, object_records
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, is_nothing, label_of, type_name

_TITLE = "records of UniEval"
PEOPLE, EVALUATOR = "people", "UniEval"
_SCORES = {"scores": (PEOPLE, PERSON), "predict_scores": (EVALUATOR, MODEL)}
_IDS = ("doc_id", "dialog_id", "id")
_ANSWERS = "all_responses"


def holds_records(data: bytes, file_name: str) -> bool:
    """Whether a file has records with a system's output and people's scores of it."""
    return has_keys(data, "system_output", "scores", "source")


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each score of a text; for a reader of texts a row for each text."""
    rows: list[tuple[str, dict[str, object]]] = []
    texts: list[tuple[str, dict[str, object]]] = []
    numbers: dict[str, str] = {}
    answers = 0
    for where, one in objects_of(data, findings):
        # Records without an id are those of one source text.
        number = numbers.setdefault(str(one.get("source")), str(len(numbers) + 1))
        item = next((name for key in _IDS if (name := label_of(one.get(key))) is not None), number)
        about = {"item_id": item, "system": label_of(one.get("system_id"))}
        facts = {
            "question": one.get("source"),
            "reference": one.get("reference"),
            "text": one.get("system_output"),
        }
        texts.append((where, {**about, **{key: text for key, text in facts.items() if not is_nothing(text)}}))
        rows += [(where, {**about, **score}) for score in _scores(where, one, findings)]
        answers += _ANSWERS in one and "predict_scores" not in one
    if answers:
        findings.notes.append(
            f"{_ANSWERS} holds a model's answers in words, for one dimension that the file does not name, and is not read: write "
            'their mean as predict_scores, such as {"coherence": 3.5}'
        )
    if wants_ratings(aliases):
        return rating_table(rows, aliases, findings, "score")
    checked(texts, findings, "record")
    return object_records(texts, aliases, findings)


def _scores(where: str, one: JsonObject, findings: FileFindings) -> Iterator[dict[str, object]]:
    """Rater, dimension and score of a record."""
    for key, (rater, kind) in _SCORES.items():
        held = one.get(key)
        if is_nothing(held):
            continue
        if not isinstance(held, JsonObject):
            findings.problems.append(f"{where}: {key} is {type_name(held)}, expected scores by dimension")
            continue
        for dimension, score in held.items():
            if not is_nothing(score):
                yield {"rater": rater, RATER_TYPE: kind, "dimension": dimension, "score": score}


FORMAT = tool_format("unieval", _TITLE, holds_records, _rows)
