"""What the readers of these files share: their objects, who rated, and sentences on what a file lacks."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from core.formats import Format
from core.formats.ratings import read_ratings
from core.schema.scores import RatingSet
from core.tables.columns import (
    VOCABULARY,
    Rows,
    Table,
    is_json,
    json_objects,
    jsonl_objects,
    named_columns,
    object_records,
    reported,
)
from core.tables.containers import decode
from core.tables.problems import FileFindings, listed
from core.tables.reading import (
    JsonObject,
    is_nothing,
    label_of,
    numbers_as_json,
    parse_json,
    reject,
    shown,
    type_name,
)
from core.tables.roles import who_in

PERSON, MODEL = "human", "llm"
"""What the column RATER_TYPE says of a rater."""
RATER_TYPE = "rater_type"
TIE = "tie"
GOLD = "gold label"
"""Column of a label that stands for several people, or for what is known to be right."""
UNSPECIFIED = "unspecified"
"""Severity or category of a marked error of which the file does not say it."""
SEVERITIES = frozenset({"minor", "major", "critical", "neutral"})
_HEAD = 200_000
"""Bytes in which the keys of a file's first object stand, in spite of long texts."""
_ABOUT = ("item_id", "question", "reference", "context", "language", "level", "system", "text")


def has_keys(data: bytes, *keys: str) -> bool:
    """Whether all of these keys stand at the beginning of JSON or JSONL."""
    head = data[:_HEAD]
    return head.lstrip()[:1] in (b"{", b"[") and all(
        re.search(rb'"' + re.escape(key.encode()) + rb'"\s*:', head) for key in keys
    )


def objects_of(data: bytes, findings: FileFindings) -> list[tuple[str, JsonObject]]:
    """The objects of a JSON list, of JSONL, or one object alone, each with its place. Raises InputError."""
    text, name = decode(data, findings.file_name), findings.file_name
    if is_json(text, name):
        value, problem = parse_json(numbers_as_json(text))
        if problem:
            reject(name, [problem])
        return json_objects([value] if isinstance(value, JsonObject) else value, "", findings)
    return list(reported(jsonl_objects(numbers_as_json(text), findings.file_name), findings))


def wants_ratings(aliases: Mapping[str, Sequence[str]]) -> bool:
    """Whether a reader wants ratings or scores, not texts alone. aliases: the columns that it knows."""
    return "rater" in aliases or "metric" in aliases


def wants_spans(aliases: Mapping[str, Sequence[str]]) -> bool:
    """Whether a reader wants marked errors."""
    return "start" in aliases


def refuse_without_texts(findings: FileFindings, what: str) -> None:
    """Raise InputError for a file that holds no texts, where a reader wants them."""
    reject(
        findings.file_name,
        [
            f"file: holds {what} without the texts; use it with check, correlate, alt-test or agreement, and give the texts in a "
            "table of their own"
        ],
    )


def check_systems(
    rows: Sequence[tuple[str, Mapping[str, object]]],
    aliases: Mapping[str, Sequence[str]],
    findings: FileFindings,
    what: str,
) -> None:
    """Raise InputError for a study of a file whose texts name no system."""
    if not aliases and not any("system" in row for _, row in rows):
        reject(
            findings.file_name,
            [
                f"file: holds {what}, whose texts name no system; a study needs a table with the answers of two systems to each "
                "question"
            ],
        )


def facts_of(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields of a task that describe its text, by Assay's names: question, reference, text and others."""
    named = named_columns(list(fields), {name: VOCABULARY[name] for name in _ABOUT})
    return {name: fields[key] for key, name in named.items() if not isinstance(fields[key], dict | list)}


def majority_decision(decisions: Sequence[str | None]) -> str | None:
    """The decision of a judge that was asked in several orders: the side that more of them prefer, else a tie.

    decisions: a side, TIE, or None where there was no usable answer. An order without an answer, or with a tie, leaves the
    decision to the others. None if no order has an answer.
    """
    told = [one for one in decisions if one is not None]
    sides = [one for one in told if one != TIE]
    counts = {side: sides.count(side) for side in sides}
    best = [side for side, n in counts.items() if n == max(counts.values())]
    return None if not told else best[0] if len(best) == 1 else TIE


def changed_with_order(decisions: Collection[Sequence[str | None]], findings: FileFindings) -> None:
    """Note the rule of `majority_decision`, and how many decisions the order changed."""
    both = [one for one in decisions if len([side for side in one if side is not None]) > 1]
    if both:
        changed = sum(len({*one}) > 1 for one in both)
        findings.notes.append(
            f"the judge was asked in several orders, and {changed:,} of {len(both):,} decisions changed with them: the side that "
            "more orders prefer counts, else a tie"
        )


def checked(rows: Sequence[object], findings: FileFindings, what: str) -> None:
    """Raise InputError with all problems, or if nothing was found."""
    if not rows and not findings.problems:
        findings.problems.append(f"file: contains no {what}; at least one is needed")
    findings.refuse()


def objects_in(
    holder: Mapping[str, object], key: str, where: str, findings: FileFindings
) -> Iterator[tuple[str, JsonObject]]:
    """The objects in a list that may be missing, with their places; everything else is a problem."""
    value = holder.get(key)
    if value is None:
        return
    if not isinstance(value, list):
        findings.problems.append(f"{where}: {key} is {type_name(value)}, expected a list")
        return
    for number, one in enumerate(value, start=1):
        if isinstance(one, JsonObject):
            yield f"{where}, {key} {number}", one
        else:
            findings.problems.append(f"{where}, {key} {number}: is {type_name(one)}, expected an object")


def name_in(record: Mapping[str, object], key: str, where: str, findings: FileFindings) -> str | None:
    """A name that a record must have; None after reporting a problem."""
    name = label_of(record.get(key))
    if name is None:
        wrong = (
            "is missing" if is_nothing(record.get(key)) else f"is {type_name(record[key])}, expected a name"
        )
        findings.problems.append(f"{where}: {shown(key)} {wrong}")
    return name


def marked(start: object, end: object, label: object) -> dict[str, object]:
    """A marked error with one label: its severity if it is a word for one, else its category, and the error counts 1."""
    name = label_of(label)
    severe = name is not None and name.casefold() in SEVERITIES
    return {
        "start": start,
        "end": end,
        "severity": name.casefold() if severe and name else UNSPECIFIED,
        "category": UNSPECIFIED if severe or name is None else name,
        "weight": None if severe else 1,
    }


def marked_rows(
    where: str, facts: Mapping[str, object], rater: str | None, marks: Sequence[Mapping[str, object]]
) -> Iterator[tuple[str, dict[str, object]]]:
    """A row for each marked error of a text, or one for a text without any, with the text and who marked it."""
    about: dict[str, object] = {key: facts[key] for key in ("item_id", "system", "text") if key in facts}
    about |= {"rater": rater} if rater is not None else {}
    for mark in marks or [NO_ERROR]:
        yield where, {**about, **mark}


NO_ERROR: Mapping[str, object] = {
    "start": None,
    "end": None,
    "severity": None,
    "category": None,
    "weight": None,
}
"""The row of a text in which a rater marked nothing."""


def rating_table(
    rows: Sequence[tuple[str, Mapping[str, object]]],
    aliases: Mapping[str, Sequence[str]],
    findings: FileFindings,
    what: str = "rating",
) -> Table:
    """The table of ratings, a row for each. For a reader of scores the raters are metrics, one for each of their dimensions.

    Raises InputError with all problems, or if there is no row.
    """
    checked(rows, findings, what)
    if "rater" in aliases:
        return object_records(rows, aliases, findings)
    models = [one for one in rows if one[1].get(RATER_TYPE) == MODEL]
    if models and len(models) < len(rows):
        findings.notes.append(
            f"ratings by people are no scores, and are left out: {len(rows) - len(models):,}"
        )
        rows = models
    found = []
    for where, row in rows:
        rater, dimension = row.get("rater"), row.get("dimension")
        named = {"metric": rater if dimension is None else f"{rater}-{dimension}"}
        left = {key: cell for key, cell in row.items() if key not in ("rater", "dimension", RATER_TYPE)}
        found.append((where, {**left, **named}))
    return object_records(found, aliases, findings)


def tool_format(
    name: str, title: str, sniff: Callable[[bytes, str], bool], rows: Rows, *, has_names: bool = True
) -> Format:
    """The format of files in which people and models may rate side by side: ratings are read without the models'."""
    return Format(
        name, title, sniff, {"ratings": partial(_read_people, rows=rows)}, rows=rows, has_names=has_names
    )


def _read_people(data: bytes, file_name: str, *, rows: Rows, **asked: Any) -> RatingSet:
    """Read the ratings by people. Raises InputError if models alone rated."""

    def of_people(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
        table = rows(data, aliases, findings)
        models = [record for record in table.records if _is_by_model(record.cells)]
        if not models:
            return table
        names = dict.fromkeys(label_of(record.cells.get("rater")) or "" for record in models)
        if len(models) == len(table.records):
            reject(
                file_name,
                [f"file: holds ratings by models alone ({listed(list(names))}), and none by people"],
            )
        findings.notes.append(f"ratings by models left out: {len(models):,} ({listed(list(names))})")
        left = [record for record in table.records if not _is_by_model(record.cells)]
        return table._replace(records=left)

    return read_ratings(data, file_name, rows=of_people, **asked)


def _is_by_model(cells: Mapping[str, object]) -> bool:
    """Whether a row is a model's rating, by the kind of its rater, else by its name."""
    kind = cells.get(RATER_TYPE)
    return kind == MODEL if kind else who_in(label_of(cells.get("rater")) or "") == "judge"
