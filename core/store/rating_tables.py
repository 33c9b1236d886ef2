"""The tables of rating studies: lists of texts, what was said of them, and a history that cannot be changed."""

from sqlite_utils import Database

_ANSWER_COLUMNS = {
    "study_id": int,
    "rater_id": str,
    "item_id": str,
    "level": str,
    "source": str,
    "repeat": int,
    "scores": str,
    "spans": str,
    "no_errors": int,
    "done": int,
    "shown_utc": str,
    "answered_utc": str,
    "seconds": float,
    "comment": str,
    "invalid": int,
    "skipped": int,
    "app_version": str,
}
_OPTIONAL = {"shown_utc", "answered_utc", "seconds", "app_version"}
_PERSONAL = {"rater_id", "comment"}
"""What a rater may have deleted; nothing else of the history changes."""
_KEY = ("rater_id", "item_id", "level", "source", "repeat")


def create_rating_tables(db: Database) -> None:
    """Kind and task of a study; assignments, answers and history of texts that are rated one by one."""
    db.execute("ALTER TABLE study ADD COLUMN kind TEXT NOT NULL DEFAULT 'pairs'")
    db.execute("ALTER TABLE study ADD COLUMN task TEXT")
    _create_assignments(db)
    db.table("rating_answer").create(
        dict(_ANSWER_COLUMNS),
        pk=("study_id", *_KEY),
        foreign_keys=[("study_id", "study", "id")],
        not_null=set(_ANSWER_COLUMNS) - _OPTIONAL,
        strict=True,
    )
    db.table("rating_history").create(
        {"id": int, "saved_utc": str, **_ANSWER_COLUMNS},
        pk="id",
        foreign_keys=[("study_id", "study", "id")],
        not_null={"saved_utc", *_ANSWER_COLUMNS} - _OPTIONAL,
        strict=True,
    )
    _protect_history(db)


def _create_assignments(db: Database) -> None:
    db.table("rating_assignment").create(
        {
            "study_id": int,
            "rater_id": str,
            "position": int,
            "item_id": str,
            "level": str,
            "source": str,
            "repeat": int,
        },
        pk=("study_id", "rater_id", "position"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"item_id", "level", "source", "repeat"},
        strict=True,
    )
    db.table("rating_assignment").create_index(["study_id", *_KEY], unique=True)


def _protect_history(db: Database) -> None:
    kept = ("id", "saved_utc", *(name for name in _ANSWER_COLUMNS if name not in _PERSONAL))
    changed = " OR ".join(f'OLD."{name}" IS NOT NEW."{name}"' for name in kept)
    known = "EXISTS (SELECT 1 FROM rating_history WHERE id = NEW.id)"  # INSERT OR REPLACE deletes in silence
    for name, event, when in (
        ("update", "UPDATE", f"WHEN {changed}"),
        ("replace", "INSERT", f"WHEN {known}"),
        ("delete", "DELETE", ""),
    ):
        db.execute(
            f"CREATE TRIGGER rating_history_no_{name} BEFORE {event} ON rating_history {when} "
            "BEGIN SELECT RAISE(ABORT, 'the history of ratings is append-only'); END"
        )
