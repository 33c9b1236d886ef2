"""The schema, as the list of steps that made it: the only place where it changes."""

import secrets

from sqlite_utils import Database, Migrations

from core.store.rating_tables import create_rating_tables
from core.store.run_tables import create_run_tables, move_run_data, show_calls
from core.store.score_tables import create_score_tables, pack_scores

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
_PERSONAL = {"rater_id", "comment"}
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
