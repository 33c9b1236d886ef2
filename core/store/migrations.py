"""The schema, as the list of steps that made it: the only place where it changes."""

import json
import math
import secrets
import struct
from collections.abc import Iterator
from itertools import groupby

from sqlite_utils import Database, Migrations

_RATING_ANSWER_COLUMNS = {
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
        dict(_RATING_ANSWER_COLUMNS),
        pk=("study_id", *_KEY),
        foreign_keys=[("study_id", "study", "id")],
        not_null=set(_RATING_ANSWER_COLUMNS) - _OPTIONAL,
        strict=True,
    )
    db.table("rating_history").create(
        {"id": int, "saved_utc": str, **_RATING_ANSWER_COLUMNS},
        pk="id",
        foreign_keys=[("study_id", "study", "id")],
        not_null={"saved_utc", *_RATING_ANSWER_COLUMNS} - _OPTIONAL,
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
    kept = ("id", "saved_utc", *(name for name in _RATING_ANSWER_COLUMNS if name not in _PERSONAL))
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


def create_run_tables(db: Database) -> None:
    """Runs, their items, their calls, and the cache of replies."""
    db.table("run").create(
        {
            "id": int,
            "kind": str,
            "state": str,
            "settings": str,
            "running": str,
            "data_file": str,
            "data_sha256": str,
            "data": bytes,
            "n_items": int,
            "limit": int,
            "created_utc": str,
            "app_version": str,
            "started_utc": str,
            "finished_utc": str,
            "beat_utc": str,
            "process": int,
            "cancel": int,
            "message": str,
        },
        pk="id",
        not_null={"kind", "state", "settings", "running", "data_file", "data_sha256", "data", "n_items"},
        defaults={"cancel": 0, "message": ""},
        strict=True,
    )
    db.table("run_item").create(
        {
            "run_id": int,
            "position": int,
            "item_id": str,
            "state": str,
            "result": str,
            "failures": str,
            "seconds": float,
            "finished_utc": str,
        },
        pk=("run_id", "position"),
        foreign_keys=[("run_id", "run", "id")],
        not_null={"item_id", "state", "result", "failures", "seconds", "finished_utc"},
        strict=True,
    )
    db.table("run_call").create(
        {
            "id": int,
            "run_id": int,
            "position": int,
            "key": str,
            "step": str,
            "reason": str,
            "cached": int,
            "input_tokens": int,
            "output_tokens": int,
            "seconds": float,
            "at_utc": str,
        },
        pk="id",
        foreign_keys=[("run_id", "run", "id")],
        not_null={"run_id", "position", "key", "step", "cached", "seconds", "at_utc"},
        strict=True,
    )
    db.table("run_call").create_index(["run_id", "position", "key"])
    db.table("reply").create(
        {
            "key": str,
            "text": str,
            "reason": str,
            "detail": str,
            "input_tokens": int,
            "output_tokens": int,
            "seconds": float,
            "created_utc": str,
        },
        pk="key",
        not_null={"detail", "seconds", "created_utc"},
        strict=True,
    )


def move_run_data(db: Database) -> None:
    """Each run's file in a table of its own, what polling reads in an index, and the time that runs were worked on.

    Columns behind a file of many megabytes cost a walk over all its pages whenever they are read or written.
    """
    db.execute(
        "CREATE TABLE run_data (run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE, "
        "data BLOB NOT NULL) STRICT"
    )
    # One at a time: the pages that a file leaves take the next one, so that the database grows by the largest alone.
    for (run_id,) in db.execute("SELECT id FROM run ORDER BY id").fetchall():
        db.execute("INSERT INTO run_data SELECT id, data FROM run WHERE id = ?", [run_id])
        db.execute("UPDATE run SET data = x'' WHERE id = ?", [run_id])
    db.execute("ALTER TABLE run DROP COLUMN data")
    db.execute("CREATE INDEX run_item_finished ON run_item (run_id, finished_utc, state)")
    db.execute("CREATE INDEX run_item_failures ON run_item (run_id, failures) WHERE failures <> '[]'")
    db.execute("ALTER TABLE run ADD COLUMN worked_seconds REAL DEFAULT 0")
    # Of an older run the last start alone is known: that is all its time only where it finished every item since.
    db.execute(
        "UPDATE run SET worked_seconds = CASE WHEN started_utc <= (SELECT min(finished_utc) FROM run_item "
        "WHERE run_id = run.id) THEN round((julianday(coalesce(finished_utc, beat_utc)) - julianday(started_utc)) "
        "* 86400, 3) END WHERE started_utc IS NOT NULL"
    )


def show_calls(db: Database) -> None:
    """Requests beside their replies, what became of each reply, and the time until a run's model could be asked."""
    # In a compressed form: the prompts of one run are much alike.
    db.execute("CREATE TABLE request (key TEXT PRIMARY KEY, asked BLOB NOT NULL) STRICT")
    # texts: which of the item's texts asked, as a JSON list of numbers from 0; [] where an item is one text.
    for column in ("rejected TEXT", "detail TEXT", "not_sent TEXT", "thinking_tokens INTEGER", "texts TEXT"):
        db.execute(f"ALTER TABLE run_call ADD COLUMN {column}")
    for column in ("thinking TEXT", "thinking_tokens INTEGER"):
        db.execute(f"ALTER TABLE reply ADD COLUMN {column}")
    db.execute("ALTER TABLE run ADD COLUMN start_seconds REAL")


def create_score_tables(db: Database) -> None:
    """The cache of scores, the metrics of each scoring run, and files that were given to a page."""
    db.table("score_signature").create({"id": int, "text": str}, pk="id", not_null={"text"}, strict=True)
    db.table("score_signature").create_index(["text"], unique=True)
    # In one tree by pair: all scores of a text stand side by side, and there is no second copy of the key.
    db.execute(
        "CREATE TABLE score (pair BLOB NOT NULL, signature INTEGER NOT NULL REFERENCES score_signature(id), "
        "value REAL, reason TEXT, PRIMARY KEY (pair, signature)) STRICT, WITHOUT ROWID"
    )
    # A run that is forgotten before it did anything takes its metrics with it.
    db.execute(
        "CREATE TABLE run_metric (run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, "
        "position INTEGER NOT NULL, name TEXT NOT NULL, signature TEXT NOT NULL, family TEXT NOT NULL, "
        "direction TEXT NOT NULL, PRIMARY KEY (run_id, position)) STRICT, WITHOUT ROWID"
    )
    db.table("kept_file").create(
        {
            "id": int,
            "kind": str,
            "file_name": str,
            "sha256": str,
            "data": bytes,
            "options": str,
            "created_utc": str,
        },
        pk="id",
        not_null={"kind", "file_name", "sha256", "data", "options", "created_utc"},
        strict=True,
    )
    db.table("kept_file").create_index(["kind", "sha256"], unique=True)


def pack_scores(db: Database) -> None:
    """All scores that one run made of a text in one row: sixteen rows took a quarter of the time of a run."""
    # Numbered in the order in which they come, for the first score of a text stays.
    for table in (
        "score_list (id INTEGER PRIMARY KEY, signatures TEXT NOT NULL UNIQUE)",
        "text_score (id INTEGER PRIMARY KEY, pair BLOB NOT NULL, list INTEGER NOT NULL REFERENCES score_list(id), "
        "scores BLOB NOT NULL, reasons TEXT, UNIQUE (pair, list))",
    ):
        db.execute(f"CREATE TABLE {table} STRICT")
    lists: dict[str, int] = {}

    def packed() -> Iterator[tuple[bytes, int, bytes, str | None]]:
        kept = db.execute(
            "SELECT pair, text, value, reason FROM score JOIN score_signature ON id = signature ORDER BY pair, signature"
        )
        for pair, scores in groupby(kept, key=lambda row: row[0]):
            _, names, values, reasons = zip(*scores, strict=True)
            why = {at: reason for at, reason in enumerate(reasons) if reason is not None}
            number = lists.setdefault(json.dumps(names), len(lists) + 1)
            numbers = [math.nan if value is None else value for value in values]
            yield pair, number, struct.pack(f"<{len(numbers)}d", *numbers), json.dumps(why) if why else None

    rows = list(packed())
    db.conn.executemany(
        "INSERT INTO score_list (id, signatures) VALUES (?, ?)",
        [(number, text) for text, number in lists.items()],
    )
    db.conn.executemany("INSERT INTO text_score (pair, list, scores, reasons) VALUES (?, ?, ?, ?)", rows)
    db.execute("DROP TABLE score")
    db.execute("DROP TABLE score_signature")


migrations = Migrations("assay")
STEPS_TABLE = migrations.migrations_table
"""Where sqlite-utils keeps which steps were made."""

_ANSWER_COLUMNS = {
    "study_id": int,
    "rater_id": str,
    "item_id": str,
    "level": str,
    "repeat": int,
    "choice": str,
    "preference": str,
    "shown_utc": str,
    "answered_utc": str,
    "seconds": float,
    "diff_used": str,
    "comment": str,
    "invalid": int,
    "skipped": int,
    "app_version": str,
}
_ANSWER_REQUIRED = {"study_id", "rater_id", "item_id", "level", "repeat", "comment", "invalid", "skipped"}


def pending_steps(db: Database) -> list[str]:
    """Steps that `db` still lacks, in the order in which they are made."""
    return [step.name for step in migrations.pending(db)]


def applied_steps(db: Database) -> list[str]:
    """Steps that made `db`, in the order in which they were made."""
    return [step.name for step in migrations.applied(db)]


def unknown_steps(db: Database) -> list[str]:
    """Steps that made `db` and that this code has never heard of: a newer Assay wrote it."""
    nothing = Database(memory=True, execute_plugins=False)
    known = {step.name for step in migrations.pending(nothing)}
    nothing.close()
    return [name for name in applied_steps(db) if name not in known]


def is_ours(db: Database) -> bool:
    """Whether Assay made `db`: some step of its schema is on record there."""
    return bool(migrations.applied(db))


@migrations()
def m001_studies(db: Database) -> None:
    """Studies, their data, raters and answers; the history cannot be changed."""
    _create_studies(db)
    _create_raters(db)
    _create_answers(db)
    db.table("setting").create({"key": str, "value": str}, pk="key", not_null={"value"}, strict=True)
    db.table("setting").insert({"key": "database_id", "value": secrets.token_hex(16)})


@migrations()
def m002_real_raters(db: Database) -> None:
    """Consent, locked answers, guesses, exclusion, withdrawal, own wording, the admin's sign-in."""
    _extend_studies(db)
    _extend_raters(db)
    _free_pseudonyms(db)
    _create_sign_in(db)


@migrations()
def m003_runs(db: Database) -> None:
    """Runs, what they made of each item, every call to a model, and replies kept for the next time."""
    create_run_tables(db)


@migrations()
def m004_scores(db: Database) -> None:
    """Scores kept for the next time, the metrics of a run, and files that a page remembers."""
    create_score_tables(db)


@migrations()
def m005_ratings(db: Database) -> None:
    """Studies in which texts are rated one by one: their task, lists, answers and history."""
    create_rating_tables(db)


@migrations()
def m006_analysis_set(db: Database) -> None:
    """What the main analysis counts. A study made before has the defaults, and nobody declared them."""
    for column in (
        "main_levels TEXT",
        "votes_needed INTEGER",
        "score TEXT NOT NULL DEFAULT 'composite'",
        "flagged TEXT NOT NULL DEFAULT 'keep'",
        "declared INTEGER NOT NULL DEFAULT 0",
    ):
        db.execute(f"ALTER TABLE study ADD COLUMN {column}")


@migrations()
def m007_run_data(db: Database) -> None:
    """The files of runs where polling does not read them, and how long each run was worked on."""
    move_run_data(db)


@migrations()
def m008_scores_of_a_text(db: Database) -> None:
    """The cache of scores with a row a text."""
    pack_scores(db)


@migrations()
def m009_calls_seen(db: Database) -> None:
    """What a model was asked and why an answer was not used; its thinking; how long a run took to start."""
    show_calls(db)


def _extend_studies(db: Database) -> None:
    db.execute("ALTER TABLE study ADD COLUMN blinding_pairs INTEGER NOT NULL DEFAULT 10")
    db.execute("ALTER TABLE study ADD COLUMN person TEXT NOT NULL DEFAULT 'comparator'")
    # A design is frozen at the first vote: what was not declared then is not asked now.
    db.execute("UPDATE study SET blinding_pairs = 0 WHERE first_vote_utc IS NOT NULL")
    db.table("wording").create(
        {"study_id": int, "language": str, "key": str, "text": str},
        pk=("study_id", "language", "key"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"text"},
        strict=True,
    )
    db.execute("ALTER TABLE log ADD COLUMN rater_id TEXT")
    about_one = "('rater added', 'preview added', 'link revoked', 'link issued again')"
    db.execute(f"UPDATE log SET rater_id = detail, detail = '' WHERE action IN {about_one}")
    db.execute(
        "UPDATE log SET rater_id = r.rater_id, detail = substr(detail, length(r.rater_id) + 3) FROM rater AS r "
        "WHERE r.study_id = log.study_id AND action = 'votes imported' "
        "AND substr(detail, 1, length(r.rater_id) + 2) = r.rater_id || ': ' "
        "AND instr(substr(detail, length(r.rater_id) + 3), ': ') = 0"
    )


def _extend_raters(db: Database) -> None:
    for column in ("consent_utc", "finished_utc", "excluded"):
        db.execute(f"ALTER TABLE rater ADD COLUMN {column} TEXT")
    db.execute("ALTER TABLE rater ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0")
    db.table("guess").create(
        {
            "study_id": int,
            "rater_id": str,
            "item_id": str,
            "level": str,
            "guess": str,
            "comment": str,
            "answered_utc": str,
            "seconds": float,
            "app_version": str,
        },
        pk=("study_id", "rater_id", "item_id", "level"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"guess", "comment", "answered_utc"},
        strict=True,
    )


def _free_pseudonyms(db: Database) -> None:
    """What a rater may have deleted can change in the history: pseudonym and comment; nothing else can."""
    db.execute("DROP TRIGGER answer_history_no_update")
    kept = ("id", "saved_utc", *(name for name in _ANSWER_COLUMNS if name not in _PERSONAL))
    changed = " OR ".join(f'OLD."{name}" IS NOT NEW."{name}"' for name in kept)
    known = "EXISTS (SELECT 1 FROM answer_history WHERE id = NEW.id)"  # INSERT OR REPLACE deletes in silence
    for name, event, condition in (("update", "UPDATE", changed), ("replace", "INSERT", known)):
        db.execute(
            f"CREATE TRIGGER answer_history_no_{name} BEFORE {event} ON answer_history WHEN {condition} "
            "BEGIN SELECT RAISE(ABORT, 'the history of answers is append-only'); END"
        )


def _create_sign_in(db: Database) -> None:
    db.table("admin_session").create(
        {"token_sha256": str, "created_utc": str, "expires_utc": str},
        pk="token_sha256",
        not_null={"created_utc", "expires_utc"},
        strict=True,
    )
    db.table("event").create(
        {"id": int, "kind": str, "address": str, "n": int, "first_utc": str, "last_utc": str},
        pk="id",
        not_null={"kind", "address", "n", "first_utc", "last_utc"},
        strict=True,
    )


def _create_studies(db: Database) -> None:
    db.table("study").create(
        {
            "id": int,
            "name": str,
            "state": str,
            "candidate": str,
            "comparator": str,
            "margin": float,
            "confidence_level": float,
            "seed": int,
            "level_order": str,
            "repeat_share": float,
            "votes_per_pair": int,
            "max_questions": int,
            "levels": str,
            "dataset_sha256": str,
            "dataset_file": str,
            "created_utc": str,
            "app_version": str,
            "language": str,
            "first_vote_utc": str,
        },
        pk="id",
        not_null={"name", "state", "candidate", "comparator", "margin", "confidence_level", "seed", "levels"},
        strict=True,
    )
    db.table("study").create_index(["name"], unique=True)
    db.table("item").create(
        {
            "study_id": int,
            "position": int,
            "item_id": str,
            "question": str,
            "reference": str,
            "language": str,
        },
        pk=("study_id", "item_id"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"position", "question", "reference", "language"},
        strict=True,
    )
    db.table("output").create(
        {"study_id": int, "item_id": str, "level": str, "source": str, "text": str},
        pk=("study_id", "item_id", "level", "source"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"text"},
        strict=True,
    )
    db.table("guideline").create(
        {"study_id": int, "language": str, "text": str},
        pk=("study_id", "language"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"text"},
        strict=True,
    )
    db.table("log").create(
        {"id": int, "study_id": int, "at_utc": str, "action": str, "detail": str},
        pk="id",
        foreign_keys=[("study_id", "study", "id")],
        not_null={"study_id", "at_utc", "action", "detail"},
        strict=True,
    )


def _create_raters(db: Database) -> None:
    db.table("rater").create(
        {
            "study_id": int,
            "rater_id": str,
            "dry_run": int,
            "imported": int,
            "language": str,
            "created_utc": str,
            "revoked": int,
            "link_number": int,
            "token_sha256": str,
            "onboarding": int,
            "diff_mode": str,
        },
        pk=("study_id", "rater_id"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"dry_run", "imported", "created_utc", "revoked", "link_number", "onboarding"},
        strict=True,
    )
    db.table("rater").create_index(["token_sha256"], unique=True)
    db.table("assignment").create(
        {
            "study_id": int,
            "rater_id": str,
            "position": int,
            "item_id": str,
            "level": str,
            "left": str,
            "right": str,
            "repeat": int,
        },
        pk=("study_id", "rater_id", "position"),
        foreign_keys=[("study_id", "study", "id")],
        not_null={"item_id", "level", "left", "right", "repeat"},
        strict=True,
    )
    db.table("assignment").create_index(["study_id", "rater_id", "item_id", "level", "repeat"], unique=True)


def _create_answers(db: Database) -> None:
    db.table("answer").create(
        dict(_ANSWER_COLUMNS),
        pk=("study_id", "rater_id", "item_id", "level", "repeat"),
        foreign_keys=[("study_id", "study", "id")],
        not_null=_ANSWER_REQUIRED,
        strict=True,
    )
    db.table("answer_history").create(
        {"id": int, "saved_utc": str, **_ANSWER_COLUMNS},
        pk="id",
        foreign_keys=[("study_id", "study", "id")],
        not_null=_ANSWER_REQUIRED | {"saved_utc"},
        strict=True,
    )
    for change in ("UPDATE", "DELETE"):
        db.execute(
            f"CREATE TRIGGER answer_history_no_{change.lower()} BEFORE {change} ON answer_history "
            "BEGIN SELECT RAISE(ABORT, 'the history of answers is append-only'); END"
        )
