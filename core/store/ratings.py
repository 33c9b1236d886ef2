"""Ratings of texts: who is shown which text, what was said of it, and a history that only grows."""

import json
from collections.abc import Iterable
from dataclasses import asdict, replace

from core.schema.scores import ErrorSpan
from core.schema.tasks import RatingAnswer, RatingAssignment, RatingHistoryEntry
from core.store.connection import Row, Store, insert_sql, upsert_sql
from core.store.studies import now_utc

_KEY = ("study_id", "rater_id", "item_id", "level", "source", "repeat")
_ANSWER_FIELDS = tuple(RatingAnswer.__dataclass_fields__)
_ASSIGNMENT_FIELDS = tuple(RatingAssignment.__dataclass_fields__)
_FLAGS = ("repeat", "no_errors", "done", "invalid", "skipped")
_SET_CURRENT = upsert_sql("rating_answer", ("study_id", *_ANSWER_FIELDS), _KEY)
_ADD_TO_HISTORY = insert_sql("rating_history", ("saved_utc", "study_id", *_ANSWER_FIELDS))


def replace_rating_assignments(
    store: Store, study_id: int, rater_id: str, assignments: Iterable[RatingAssignment]
) -> None:
    """Set which texts a rater is shown."""
    with store.writing():
        store.table("rating_assignment").delete_where("study_id = ? and rater_id = ?", [study_id, rater_id])
        store.table("rating_assignment").insert_all(
            {"study_id": study_id, **asdict(one)} for one in assignments
        )


def rating_assignments_of(
    store: Store, study_id: int, rater_id: str | None = None
) -> tuple[RatingAssignment, ...]:
    """Assignments of a study, or of one rater, in the order in which they are shown."""
    only = "" if rater_id is None else " and rater_id = :rater"
    rows = store.rows(
        f"select * from rating_assignment where study_id = :id{only} order by rater_id, position",
        {"id": study_id, "rater": rater_id},
    )
    return tuple(_assignment(row) for row in rows)


def rating_assignment_at(
    store: Store, study_id: int, rater_id: str, position: int
) -> RatingAssignment | None:
    """What stands at a position of a rater's list now, or None."""
    row = store.row(
        "select * from rating_assignment where study_id = :id and rater_id = :rater and position = :position",
        {"id": study_id, "rater": rater_id, "position": position},
    )
    return None if row is None else _assignment(row)


def positions_together(store: Store, study_id: int, like: RatingAssignment) -> tuple[int, ...]:
    """Where the texts of the same item stand on a rater's list, itself among them, in the order shown."""
    rows = store.rows(
        "select position from rating_assignment where study_id = :id and rater_id = :rater and item_id = :item "
        "and repeat = :repeat order by position",
        {"id": study_id, "rater": like.rater_id, "item": like.item_id, "repeat": int(like.repeat)},
    )
    return tuple(row["position"] for row in rows)


def save_rating(store: Store, study_id: int, answer: RatingAnswer) -> bool:
    """Make `answer` the current one and add it to the history; returns whether anything changed.

    Saving the same thing twice (a double press, a second tab) leaves one answer and one line of history.
    """
    with store.writing():
        before = find_rating(store, study_id, answer)
        if before is not None and _decided(before) == _decided(answer):
            return False
        row = _row(study_id, answer)
        store.change(_SET_CURRENT, row)
        store.change(_ADD_TO_HISTORY, {"saved_utc": now_utc(), **row})
    return True


def restore_ratings(
    store: Store, study_id: int, answers: Iterable[RatingAnswer], history: Iterable[RatingHistoryEntry]
) -> None:
    """Write answers and history as a bundle holds them."""
    with store.writing():
        store.table("rating_answer").insert_all(_row(study_id, answer) for answer in answers)
        store.table("rating_history").insert_all(
            {"saved_utc": entry.saved_utc, **_row(study_id, entry.answer)} for entry in history
        )


def find_rating(store: Store, study_id: int, like: RatingAnswer) -> RatingAnswer | None:
    """The current answer with the rater, item, level, source and repeat of `like`."""
    row = store.row(
        "select * from rating_answer where study_id = :id and rater_id = :rater and item_id = :item "
        "and level = :level and source = :source and repeat = :repeat",
        {
            "id": study_id,
            "rater": like.rater_id,
            "item": like.item_id,
            "level": like.level,
            "source": like.source,
            "repeat": int(like.repeat),
        },
    )
    return None if row is None else _answer(row)


def ratings_of(store: Store, study_id: int, rater_id: str | None = None) -> tuple[RatingAnswer, ...]:
    """Current answers of a study, or of one rater."""
    only = "" if rater_id is None else " and rater_id = :rater"
    rows = store.rows(
        f"select * from rating_answer where study_id = :id{only} order by rowid",
        {"id": study_id, "rater": rater_id},
    )
    return tuple(_answer(row) for row in rows)


def rating_history_of(store: Store, study_id: int) -> tuple[RatingHistoryEntry, ...]:
    """Every save, oldest first."""
    rows = store.rows("select * from rating_history where study_id = :id order by id", {"id": study_id})
    return tuple(RatingHistoryEntry(row["saved_utc"], _answer(row)) for row in rows)


def _row(study_id: int, answer: RatingAnswer) -> Row:
    row = asdict(answer)
    return {
        "study_id": study_id,
        **row,
        "scores": json.dumps(row["scores"], ensure_ascii=False),
        "spans": json.dumps(row["spans"], ensure_ascii=False),
    }


def _answer(row: Row) -> RatingAnswer:
    values = {name: row[name] for name in _ANSWER_FIELDS}
    values |= {flag: bool(values[flag]) for flag in _FLAGS}
    values["scores"] = json.loads(values["scores"])
    values["spans"] = tuple(ErrorSpan(**span) for span in json.loads(values["spans"]))
    return RatingAnswer(**values)


def _assignment(row: Row) -> RatingAssignment:
    values = {name: row[name] for name in _ASSIGNMENT_FIELDS}
    return RatingAssignment(**{**values, "repeat": bool(row["repeat"])})


def _decided(answer: RatingAnswer) -> RatingAnswer:
    """What a rater decides; the time of a repeated press is no change."""
    return replace(answer, shown_utc=None, answered_utc=None, seconds=None, app_version=None)
