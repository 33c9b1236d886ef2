"""Studies and their data: create, find, change, log."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from core.errors import NotFound
from core.schema.scores import Turn
from core.schema.study import (
    Design,
    EnteredQuestion,
    Inclusion,
    Item,
    LogEntry,
    Output,
    RatingTask,
    ShippedText,
    State,
    Study,
)
from core.store.connection import Row, Store

_DESIGN_FIELDS = tuple(Design.__dataclass_fields__)
_ENTERED_FIELDS = tuple(EnteredQuestion.__dataclass_fields__)
_DESIGN_FLAGS = ("declared", "early_looks")


def now_utc(seconds: float = 0) -> str:
    """The time now, or `seconds` from now: ISO 8601 in UTC with milliseconds."""
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def insert_study(store: Store, study: Study, items: tuple[Item, ...], outputs: tuple[Output, ...]) -> Study:
    """Write a study and its texts; return the study with its number."""
    with store.writing():
        row = _study_row(study)
        study_id: int = store.table("study").insert(row).last_rowid or 0
        store.table("item").insert_all(
            {"study_id": study_id, "position": position, **asdict(item)}
            for position, item in enumerate(items)
        )
        store.table("output").insert_all({"study_id": study_id, **asdict(output)} for output in outputs)
    return replace(study, study_id=study_id)


def list_studies(store: Store) -> list[Study]:
    """All studies, newest first."""
    return [_study(row) for row in store.rows("select * from study order by id desc")]


def find_study(store: Store, name: str) -> Study:
    """The study with this name. Raises NotFound, naming all studies."""
    row = store.row("select * from study where name = :name", {"name": name})
    if row is None:
        names = ", ".join(study.name for study in list_studies(store)) or "none yet"
        raise NotFound(f"There is no study named {name!r}. Studies: {names}.")
    return _study(row)


def get_study(store: Store, study_id: int) -> Study:
    """The current state of the study with this number. Raises NotFound."""
    row = store.row("select * from study where id = :id", {"id": study_id})
    if row is None:
        raise NotFound(f"There is no study number {study_id}.")
    return _study(row)


def update_study(store: Store, study_id: int, **changes: Any) -> None:
    """Set columns of the study's row: state, language, first_vote_utc, votes_needed."""
    with store.writing():
        store.table("study").update(study_id, changes)


def write_design(store: Store, study_id: int, design: Design) -> None:
    """Replace the study's design."""
    update_study(store, study_id, **_design_row(design))


def set_state(store: Store, study_id: int, state: State) -> None:
    """Set the study's state."""
    update_study(store, study_id, state=state)


def items_of(store: Store, study_id: int, item_id: str | None = None) -> tuple[Item, ...]:
    """The study's items in the order of its file, or only the item with this id."""
    only = "" if item_id is None else " and item_id = :item"
    rows = store.rows(
        f"select * from item where study_id = :id{only} order by position", {"id": study_id, "item": item_id}
    )
    return tuple(
        Item(
            row["item_id"],
            row["question"],
            row["reference"],
            row["language"],
            tuple(Turn(**turn) for turn in json.loads(row["turns"])),
        )
        for row in rows
    )


def outputs_of(store: Store, study_id: int, item_id: str | None = None) -> tuple[Output, ...]:
    """All texts of a study, or those of one item."""
    only = "" if item_id is None else " and item_id = :item"
    rows = store.rows(
        f"select * from output where study_id = :id{only} order by rowid", {"id": study_id, "item": item_id}
    )
    return tuple(Output(row["item_id"], row["level"], row["source"], row["text"]) for row in rows)


def sources_of(store: Store, study_id: int) -> list[str]:
    """The systems whose texts a study shows, in alphabetical order."""
    rows = store.rows(
        "select distinct source from output where study_id = :id order by source", {"id": study_id}
    )
    return [row["source"] for row in rows]


def write_log(
    store: Store,
    study_id: int,
    action: str,
    detail: str = "",
    *,
    rater_id: str | None = None,
    at_utc: str | None = None,
) -> None:
    """Add a line to the study's log. A pseudonym belongs in `rater_id`, never in the detail."""
    entry = LogEntry(now_utc() if at_utc is None else at_utc, action, detail, rater_id)
    with store.writing():
        store.table("log").insert({"study_id": study_id, **asdict(entry)})


def read_log(store: Store, study_id: int) -> tuple[LogEntry, ...]:
    """The study's log, oldest first."""
    rows = store.rows("select * from log where study_id = :id order by id", {"id": study_id})
    return tuple(LogEntry(row["at_utc"], row["action"], row["detail"], row["rater_id"]) for row in rows)


def enter_questions(store: Store, study_id: int, questions: Iterable[EnteredQuestion]) -> None:
    """Add questions that a look counts from now on. They can neither change nor be deleted."""
    with store.writing():
        store.table("entered_question").insert_all(
            {"study_id": study_id, **asdict(question)} for question in questions
        )


def entered_of(store: Store, study_id: int) -> tuple[EnteredQuestion, ...]:
    """Questions that looks at the running study have counted, in the order of entry."""
    rows = store.rows(
        "select * from entered_question where study_id = :id order by position", {"id": study_id}
    )
    return tuple(EnteredQuestion(**{name: row[name] for name in _ENTERED_FIELDS}) for row in rows)


def write_inclusion(store: Store, study_id: int, texts: Iterable[Inclusion]) -> None:
    """Store the probabilities with which texts were drawn for the study."""
    with store.writing():
        store.table("inclusion").insert_all({"study_id": study_id, **asdict(text)} for text in texts)


def inclusion_of(store: Store, study_id: int) -> tuple[Inclusion, ...]:
    """Probabilities of the study's texts that were drawn, in the order of its file."""
    rows = store.rows(
        "select item_id, level, source, probability from inclusion where study_id = :id order by rowid",
        {"id": study_id},
    )
    return tuple(Inclusion(**row) for row in rows)


def read_guidelines(store: Store, study_id: int) -> dict[str, str]:
    """Language -> Markdown, for guidelines that the owner changed."""
    rows = store.rows("select * from guideline where study_id = :id order by language", {"id": study_id})
    return {row["language"]: row["text"] for row in rows}


def write_guideline(store: Store, study_id: int, language: str, text: str) -> None:
    """Set the guidelines of one language."""
    with store.writing():
        row = {"study_id": study_id, "language": language, "text": text}
        store.table("guideline").upsert(row, pk=("study_id", "language"))


def read_wording(store: Store, study_id: int) -> dict[str, dict[str, str]]:
    """Language -> key -> text, for texts that the owner changed."""
    found: dict[str, dict[str, str]] = {}
    for row in store.rows(
        "select * from wording where study_id = :id order by language, key", {"id": study_id}
    ):
        found.setdefault(row["language"], {})[row["key"]] = row["text"]
    return found


def write_wording(store: Store, study_id: int, language: str, texts: dict[str, str]) -> None:
    """Replace all of the study's own texts in one language; missing keys use the shipped text."""
    with store.writing():
        store.table("wording").delete_where("study_id = ? and language = ?", [study_id, language])
        store.table("wording").insert_all(
            {"study_id": study_id, "language": language, "key": key, "text": text}
            for key, text in texts.items()
        )


def read_shipped(store: Store, study_id: int) -> tuple[ShippedText, ...]:
    """The shipped texts that were copied into the study; none before the first vote."""
    rows = store.rows(
        "select part, language, text from shipped_text where study_id = :id order by rowid",
        {"id": study_id},
    )
    return tuple(ShippedText(**row) for row in rows)


def write_shipped(store: Store, study_id: int, texts: Iterable[ShippedText]) -> None:
    """Copy shipped texts into the study."""
    with store.writing():
        store.table("shipped_text").insert_all({"study_id": study_id, **asdict(text)} for text in texts)


def _study_row(study: Study) -> Row:
    row = {name: value for name, value in asdict(study).items() if name not in {"study_id", "design"}}
    task = None if study.task is None else json.dumps(asdict(study.task), ensure_ascii=False)
    return {**row, **_design_row(study.design), "levels": json.dumps(study.levels), "task": task}


def _design_row(design: Design) -> Row:
    levels = design.main_levels
    return {**asdict(design), "main_levels": None if levels is None else json.dumps(levels)}


def _design(row: Row) -> Design:
    levels = row["main_levels"]
    return Design(
        **{name: row[name] for name in _DESIGN_FIELDS if name not in {"main_levels", *_DESIGN_FLAGS}},
        main_levels=None if levels is None else tuple(json.loads(levels)),
        declared=bool(row["declared"]),
        early_looks=bool(row["early_looks"]),
    )


def _study(row: Row) -> Study:
    design = _design(row)
    apart = {*_DESIGN_FIELDS, "id", "levels", "task"}
    rest = {name: value for name, value in row.items() if name not in apart}
    levels, task = tuple(json.loads(row["levels"])), _task(row["task"])
    return Study(study_id=row["id"], design=design, levels=levels, task=task, **rest)


def _task(text: str | None) -> RatingTask | None:
    """Read a task written by `_study_row`."""
    return None if text is None else _task_reader()(text)


@cache
def _task_reader() -> Callable[[str], RatingTask]:
    from pydantic import TypeAdapter  # imported lazily: loads slowly, and most studies have no task

    return TypeAdapter(RatingTask).validate_json


def read_setting(store: Store, key: str) -> str | None:
    """A setting of the whole database, or None."""
    row = store.row("select value from setting where key = :key", {"key": key})
    return None if row is None else str(row["value"])


def write_setting(store: Store, key: str, value: str) -> None:
    """Store a setting of the whole database."""
    with store.writing():
        store.table("setting").upsert({"key": key, "value": value}, pk="key")


def delete_setting(store: Store, key: str) -> None:
    """Delete a setting of the whole database."""
    with store.writing():
        store.table("setting").delete_where("key = ?", [key])
