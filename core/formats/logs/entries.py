"""What all logs of evaluation tools have in common: answers with scores, and how they become the rows of a table."""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TypeGuard

from core.formats import Format
from core.formats.scores import (
    ABOUT,
    LABELS,
    OF_METRIC,
    RESULT,
    SAID,
    UNUSED,
    label_column,
    metric_column,
    read_scores,
)
from core.schema.scores import Metric
from core.tables.columns import VOCABULARY, WRITTEN_AS_LABELS, Rows, Table, named_columns, object_records
from core.tables.containers import decode
from core.tables.mapping import classes_of
from core.tables.problems import FileFindings, listed
from core.tables.reading import (
    JsonObject,
    duplicate_problems,
    is_language_tag,
    is_nothing,
    label_of,
    name_of,
    name_problem,
    numbers_as_json,
    parse_json,
    reject,
    shown,
    type_name,
)

EPOCH, PROMPT, REPEAT = "epoch", "prompt", "repeat"
"""Labels that tell several answers of one system to one item apart."""
HUMAN = "human"
"""Column for a rating that a person gave in the tool itself."""
REASON = "reason"
"""Last word of the column with a judge's reasons for its scores."""
_OF_ITEM = ("question", "reference", "context", "language", "level")
"""Columns that a data set's own fields may fill, under any of their names."""
_TAKEN = frozenset(
    {
        *OF_METRIC,
        *ABOUT,
        *UNUSED,
        *SAID,
        RESULT,
        *LABELS,
        *(name for names in VOCABULARY.values() for name in names),
    }
    - WRITTEN_AS_LABELS
)
_PEOPLE = frozenset(
    [
        "human",
        "humans",
        "annotator",
        "annotators",
        "annotation",
        "expert",
        "experts",
        "rater",
        "raters",
        "people",
    ]
)
"""Words in the name of a field that holds a label by people."""


@dataclass(frozen=True)
class Entry:
    """One answer in a log."""

    where: str
    """Its place, for messages."""
    item_id: str
    scores: Mapping[str, float]
    """Metric -> score; NaN if the tool computed none."""
    system: str | None = None
    texts: Mapping[str, object] = field(default_factory=dict)
    """Column of Assay, such as question, reference and text -> text."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What tells answers of one system to one item apart."""
    about: Mapping[str, object] = field(default_factory=dict)
    """The item's own fields: metadata or variables of the test."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Metric -> the judge's reason for its score."""


Entries = Callable[[bytes, FileFindings], Sequence[Entry]]
"""Reads the answers of a log; adds problems to the findings."""


def log_format(
    name: str,
    title: str,
    sniff: Callable[[bytes, str], bool],
    entries: Entries,
    *,
    letters: Mapping[str, float] = MappingProxyType({}),
) -> Format:
    """The format of a tool's logs: another form of a table, with a row for each answer.

    letters: the tool's own words for scores, which people's labels may use too.
    """
    rows = _rows_of(entries, letters)
    return Format(name, title, sniff, {"scores": partial(read_scores, rows=rows)}, rows=rows)


def _rows_of(entries: Entries, letters: Mapping[str, float]) -> Rows:
    def rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
        found = entries(data, findings)
        if not found and not findings.problems:
            findings.problems.append("file: contains no answer with scores; at least one is needed")
        if not found or findings.problems:
            reject(findings.file_name, findings.problems)
        return _table(found, letters, aliases, findings)

    return rows


def _table(
    entries: Sequence[Entry],
    letters: Mapping[str, float],
    aliases: Mapping[str, Sequence[str]],
    findings: FileFindings,
) -> Table:
    """One row for each answer; metrics have marked columns, because a log says itself what is a score."""
    of_people = "rater" in aliases
    fields = _fields(entries, of_people=of_people)
    people = [key for key, column in fields.items() if of_people and is_by_people(column)]
    numbers = _words(entries, people, letters, findings)
    findings.notes += _shared(entries, people)
    apart = {
        name: [entry.labels[name] for entry in entries if name in entry.labels] for name in _labels(entries)
    }
    labels = {name: label_column(name, values, _TAKEN - LABELS, wide=True) for name, values in apart.items()}
    metrics = dict.fromkeys(metric for entry in entries for metric in entry.scores)
    if not metrics and not people and ("metric" in aliases or of_people):
        findings.problems.append(
            "file: no answer in this log has a score, and none has a label by people; run its scorers first, or read the answers "
            "as texts and score them"
        )
    bad = [metric for metric in metrics if name_of(metric) != metric]
    findings.problems += [
        f"file: the name of the score {shown(metric)} {name_problem(metric)}" for metric in bad
    ]
    findings.refuse()
    columns = {metric: metric_column(Metric(metric, "", ""), False, frozenset()) for metric in metrics}
    rows = []
    for entry in entries:
        row: dict[str, object] = {"item_id": entry.item_id}
        if entry.system is not None:
            row["system"] = entry.system
        row |= {name: text for name, text in entry.texts.items() if not is_nothing(text)}
        row |= {
            fields[key]: numbers[key].get(str(value), value) if key in numbers else value
            for key, value in entry.about.items()
            if key in fields and not is_nothing(value)
        }
        row |= {labels[name]: value for name, value in entry.labels.items()}
        if of_people:
            row |= {f"{metric} {REASON}": said for metric, said in entry.reasons.items() if said.strip()}
        if "metric" in aliases or of_people:
            row |= {columns[m]: None if math.isnan(score) else score for m, score in entry.scores.items()}
        rows.append((entry.where, row))
    keys = dict.fromkeys(key for _, row in rows for key in row)
    return object_records(rows, aliases, findings, list(keys))


def _labels(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(name for entry in entries for name in entry.labels))


def _fields(entries: Sequence[Entry], *, of_people: bool) -> dict[str, str]:
    """The items' own fields that are used -> their columns: facts on the item, labels, and for raters people's labels."""
    values: dict[str, list[object]] = {}
    items: dict[str, dict[object, set[str]]] = {}
    for entry in entries:
        for key, value in entry.about.items():
            if not is_nothing(value) and key.strip().lower() not in VOCABULARY["item_id"]:
                values.setdefault(key, []).append(value)
                items.setdefault(key, {}).setdefault(value, set()).add(entry.item_id)
    taken = {*_labels(entries), *(name for entry in entries for name in entry.texts)}
    found: dict[str, str] = {}
    own = named_columns(list(values), {name: VOCABULARY[name] for name in _OF_ITEM if name not in taken})
    for key, held in values.items():
        if own.get(key) == "language" and not all(
            isinstance(one, str) and is_language_tag(one) for one in held
        ):
            continue
        if key in own:
            found[key] = own[key]
        elif any(label_of(value) is None for value in held) or name_of(key) != key or key in taken:
            continue
        elif is_by_people(key):
            if of_people:
                found[key] = key
        elif any(len(same) > 1 for same in items[key].values()):  # else it names the item, and no group
            words = [label_of(value) or "" for value in held]
            found[key] = label_column(key, words, _TAKEN, wide=True)
    return found


def _words(
    entries: Sequence[Entry], keys: Sequence[str], letters: Mapping[str, float], findings: FileFindings
) -> dict[str, Mapping[str, float]]:
    """Field -> word -> number, for people's labels in the tool's letters or in words of a known scale: scores are numbers."""
    found: dict[str, Mapping[str, float]] = {}
    for key in keys:
        words = {value for entry in entries if not is_nothing(value := entry.about.get(key))}
        if all(word in letters for word in words):
            found[key] = {str(word): letters[str(word)] for word in words}
        elif (scale := classes_of(words)) is not None:
            found[key] = {word: float(number) for word, number in scale.items()}
        if key in found:
            said = ", ".join(f"{shown(word)} = {number:g}" for word, number in sorted(found[key].items()))
            findings.notes.append(f"{shown(key)}: read words as classes, {said}")
    return found


def _shared(entries: Sequence[Entry], people: Sequence[str]) -> list[str]:
    """A note on each field whose value an item has for all of its answers: it may be about none of them."""
    notes = []
    for key in people:
        held: dict[str, list[object]] = {}
        for entry in entries:
            held.setdefault(entry.item_id, []).append(entry.about.get(key))
        several = [values for values in held.values() if len(values) > 1]
        if several and all(len(set(map(repr, values))) == 1 for values in several):
            notes.append(
                f"{shown(key)}: an item has several answers, and its label counts for each of them; give the answers labels of "
                "their own in a table if they were labelled one by one"
            )
    return notes


def is_by_people(key: str) -> bool:
    """Whether a field holds a label by people, by a word in its name."""
    words = "".join(char if char.isalnum() else " " for char in key.casefold()).split()
    return bool(_PEOPLE & {word.rstrip("0123456789") for word in words})


def own_id(*about: Mapping[str, object]) -> str | None:
    """The id that a data set itself gives an item, under any name of the column item_id."""
    for fields in about:
        key = next(iter(named_columns(list(fields), {"item_id": VOCABULARY["item_id"]})), None)
        if key is not None and (name := label_of(fields[key])) is not None:
            return name
    return None


def scalars(value: object) -> dict[str, object]:
    """An object's fields that are single values."""
    if not isinstance(value, Mapping):
        return {}
    return {
        key: one
        for key, one in value.items()
        if isinstance(one, str | bool | int | float) and not key.startswith("_")
    }


def text_of(value: object) -> str | None:
    """A text as a log holds it: text, a value to be written as JSON, or messages, of which the last by a user counts."""
    if value is None or isinstance(value, str):
        return value
    if is_objects(value) and all("role" in one for one in value):
        asked = [one for one in value if one.get("role") == "user"] or value
        return content_of(asked[-1].get("content"))
    return json.dumps(value, ensure_ascii=False)


def content_of(value: object) -> str | None:
    """The text of a message, whose content may be text or a list of parts."""
    if isinstance(value, list):
        parts = [one.get("text") for one in value if isinstance(one, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else None


def is_objects(value: object) -> TypeGuard[list[JsonObject]]:
    """Whether a value is a list of at least one object and nothing else."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, JsonObject) for one in value)


def json_of(data: bytes, findings: FileFindings) -> JsonObject:
    """The object that a log in JSON is. Raises InputError."""
    value, problem = parse_json(numbers_as_json(decode(data, findings.file_name)))
    if problem:
        reject(findings.file_name, [problem])
    if not isinstance(value, JsonObject):
        reject(findings.file_name, [f"file: is {type_name(value)}, expected an object"])
    return value


def objects_at(
    holder: Mapping[str, object], key: str, noun: str, findings: FileFindings
) -> Iterator[tuple[str, JsonObject]]:
    """The objects of a list with their places, `NOUN 3`; everything else is a problem."""
    value = holder.get(key)
    if not isinstance(value, list):
        wrong = "is missing" if key not in holder else f"is {type_name(value)}"
        findings.problems.append(f"file: {key} {wrong}, expected a list of objects")
        return
    for number, one in enumerate(value, start=1):
        if isinstance(one, JsonObject):
            findings.problems += duplicate_problems(f"{noun} {number}", one)
            yield f"{noun} {number}", one
        else:
            findings.problems.append(f"{noun} {number}: is {type_name(one)}, expected an object")


def object_at(
    holder: Mapping[str, object], key: str, where: str, findings: FileFindings
) -> Mapping[str, object]:
    """An object that may be missing or null; anything else is a problem."""
    value = holder.get(key)
    if value is None or isinstance(value, JsonObject):
        return value or {}
    findings.problems.append(f"{where}: {key} is {type_name(value)}, expected an object")
    return {}


def told_apart(names: Iterable[str]) -> list[str]:
    """The names, with a number from the second of the same name on."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return found


class LeftOut:
    """Scores that are no numbers: one note for each metric instead of one for each answer."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def add(self, metric: str, value: object) -> None:
        """Remember a score that is no number."""
        self._seen.setdefault(metric, shown(value) if isinstance(value, str) else type_name(value))

    def metrics(self) -> Collection[str]:
        """The metrics with such a score."""
        return self._seen.keys()

    def note(self, findings: FileFindings) -> None:
        """Add the notes to the findings."""
        if self._seen:
            said = listed([f"{metric} ({value})" for metric, value in self._seen.items()])
            findings.notes.append(f"scores that are no numbers are left out: {said}")
