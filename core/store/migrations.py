"""The database schema as a list of steps: the only place where it changes.

A step is SQL, with statements separated by blank lines, and functions for what SQL cannot do. Databases of every age
have the same table definitions, because a backup is compared with them.
"""

import json
import math
import secrets
import struct
from collections.abc import Callable, Iterator
from itertools import groupby

from sqlite_utils import Database, Migrations

Part = str | Callable[[Database], object]
migrations = Migrations("assay")
STEPS_TABLE = migrations.migrations_table
"""Table in which sqlite-utils records the applied steps."""

_ANSWER = """
    "study_id" INTEGER NOT NULL REFERENCES "study"("id"), "rater_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "repeat" INTEGER NOT NULL, "choice" TEXT,
    "preference" TEXT, "shown_utc" TEXT, "answered_utc" TEXT, "seconds" REAL, "diff_used" TEXT,
    "comment" TEXT NOT NULL, "invalid" INTEGER NOT NULL, "skipped" INTEGER NOT NULL, "app_version" TEXT"""
_RATING = """
    "study_id" INTEGER NOT NULL REFERENCES "study"("id"), "rater_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "source" TEXT NOT NULL, "repeat" INTEGER NOT NULL,
    "scores" TEXT NOT NULL, "spans" TEXT NOT NULL, "no_errors" INTEGER NOT NULL, "done" INTEGER NOT NULL,
    "shown_utc" TEXT, "answered_utc" TEXT, "seconds" REAL, "comment" TEXT NOT NULL,
    "invalid" INTEGER NOT NULL, "skipped" INTEGER NOT NULL, "app_version" TEXT"""
_PERSONAL = {"rater_id", "comment"}
"""Columns that may change in a history, because raters may have them deleted."""


_REFUSED = "BEGIN SELECT RAISE(ABORT, 'the history of {} is append-only'); END"


def _append_only(history: str, noun: str, columns: str) -> str:
    """Triggers that prevent changes to a history, except to its personal columns."""
    names = ("id", "saved_utc", *(column.split('"')[1] for column in columns.split(",")))
    changed = " OR ".join(f'OLD."{name}" IS NOT NEW."{name}"' for name in names if name not in _PERSONAL)
    known = f"EXISTS (SELECT 1 FROM {history} WHERE id = NEW.id)"  # INSERT OR REPLACE deletes in silence
    refused = _REFUSED.format(noun)
    return f"""
CREATE TRIGGER {history}_no_update BEFORE UPDATE ON {history} WHEN {changed} {refused}

CREATE TRIGGER {history}_no_replace BEFORE INSERT ON {history} WHEN {known} {refused}"""


_STUDIES = f"""
CREATE TABLE "study" (
    "id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL, "state" TEXT NOT NULL, "candidate" TEXT NOT NULL,
    "comparator" TEXT NOT NULL, "margin" REAL NOT NULL, "confidence_level" REAL NOT NULL,
    "seed" INTEGER NOT NULL, "level_order" TEXT, "repeat_share" REAL, "votes_per_pair" INTEGER,
    "max_questions" INTEGER, "levels" TEXT NOT NULL, "dataset_sha256" TEXT, "dataset_file" TEXT,
    "created_utc" TEXT, "app_version" TEXT, "language" TEXT, "first_vote_utc" TEXT
) STRICT

CREATE UNIQUE INDEX "idx_study_name" ON "study" ("name")

CREATE TABLE "item" (
    "study_id" INTEGER REFERENCES "study"("id"), "position" INTEGER NOT NULL, "item_id" TEXT,
    "question" TEXT NOT NULL, "reference" TEXT NOT NULL, "language" TEXT NOT NULL,
    PRIMARY KEY ("study_id", "item_id")
) STRICT

CREATE TABLE "output" (
    "study_id" INTEGER REFERENCES "study"("id"), "item_id" TEXT, "level" TEXT, "source" TEXT,
    "text" TEXT NOT NULL, PRIMARY KEY ("study_id", "item_id", "level", "source")
) STRICT

CREATE TABLE "guideline" (
    "study_id" INTEGER REFERENCES "study"("id"), "language" TEXT, "text" TEXT NOT NULL,
    PRIMARY KEY ("study_id", "language")
) STRICT

CREATE TABLE "log" (
    "id" INTEGER PRIMARY KEY, "study_id" INTEGER NOT NULL REFERENCES "study"("id"),
    "at_utc" TEXT NOT NULL, "action" TEXT NOT NULL, "detail" TEXT NOT NULL
) STRICT

CREATE TABLE "rater" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "dry_run" INTEGER NOT NULL,
    "imported" INTEGER NOT NULL, "language" TEXT, "created_utc" TEXT NOT NULL,
    "revoked" INTEGER NOT NULL, "link_number" INTEGER NOT NULL, "token_sha256" TEXT,
    "onboarding" INTEGER NOT NULL, "diff_mode" TEXT, PRIMARY KEY ("study_id", "rater_id")
) STRICT

CREATE UNIQUE INDEX "idx_rater_token_sha256" ON "rater" ("token_sha256")

CREATE TABLE "assignment" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "position" INTEGER,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "left" TEXT NOT NULL, "right" TEXT NOT NULL,
    "repeat" INTEGER NOT NULL, PRIMARY KEY ("study_id", "rater_id", "position")
) STRICT

CREATE UNIQUE INDEX "idx_assignment_study_id_rater_id_item_id_level_repeat" ON "assignment"
    ("study_id", "rater_id", "item_id", "level", "repeat")

CREATE TABLE "answer" ({_ANSWER}, PRIMARY KEY ("study_id", "rater_id", "item_id", "level", "repeat")
) STRICT

CREATE TABLE "answer_history" (
    "id" INTEGER PRIMARY KEY, "saved_utc" TEXT NOT NULL,{_ANSWER}
) STRICT

CREATE TRIGGER answer_history_no_update BEFORE UPDATE ON answer_history {_REFUSED.format("answers")}

CREATE TRIGGER answer_history_no_delete BEFORE DELETE ON answer_history {_REFUSED.format("answers")}

CREATE TABLE "setting" (
    "key" TEXT PRIMARY KEY, "value" TEXT NOT NULL
) STRICT
"""
# A design is frozen at the first vote, so guesses that were not declared then are not added now.
_REAL_RATERS = f"""
ALTER TABLE study ADD COLUMN blinding_pairs INTEGER NOT NULL DEFAULT 10

ALTER TABLE study ADD COLUMN person TEXT NOT NULL DEFAULT 'comparator'

UPDATE study SET blinding_pairs = 0 WHERE first_vote_utc IS NOT NULL

CREATE TABLE "wording" (
    "study_id" INTEGER REFERENCES "study"("id"), "language" TEXT, "key" TEXT, "text" TEXT NOT NULL,
    PRIMARY KEY ("study_id", "language", "key")
) STRICT

ALTER TABLE log ADD COLUMN rater_id TEXT

UPDATE log SET rater_id = detail, detail = ''
    WHERE action IN ('rater added', 'preview added', 'link revoked', 'link issued again')

UPDATE log SET rater_id = r.rater_id, detail = substr(detail, length(r.rater_id) + 3) FROM rater AS r
    WHERE r.study_id = log.study_id AND action = 'votes imported'
    AND substr(detail, 1, length(r.rater_id) + 2) = r.rater_id || ': '
    AND instr(substr(detail, length(r.rater_id) + 3), ': ') = 0

ALTER TABLE rater ADD COLUMN consent_utc TEXT

ALTER TABLE rater ADD COLUMN finished_utc TEXT

ALTER TABLE rater ADD COLUMN excluded TEXT

ALTER TABLE rater ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0

CREATE TABLE "guess" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "item_id" TEXT, "level" TEXT,
    "guess" TEXT NOT NULL, "comment" TEXT NOT NULL, "answered_utc" TEXT NOT NULL, "seconds" REAL,
    "app_version" TEXT, PRIMARY KEY ("study_id", "rater_id", "item_id", "level")
) STRICT

DROP TRIGGER answer_history_no_update
{_append_only("answer_history", "answers", _ANSWER)}

CREATE TABLE "admin_session" (
    "token_sha256" TEXT PRIMARY KEY, "created_utc" TEXT NOT NULL, "expires_utc" TEXT NOT NULL
) STRICT

CREATE TABLE "event" (
    "id" INTEGER PRIMARY KEY, "kind" TEXT NOT NULL, "address" TEXT NOT NULL, "n" INTEGER NOT NULL,
    "first_utc" TEXT NOT NULL, "last_utc" TEXT NOT NULL
) STRICT
"""
_RUNS = """
CREATE TABLE "run" (
    "id" INTEGER PRIMARY KEY, "kind" TEXT NOT NULL, "state" TEXT NOT NULL, "settings" TEXT NOT NULL,
    "running" TEXT NOT NULL, "data_file" TEXT NOT NULL, "data_sha256" TEXT NOT NULL,
    "data" BLOB NOT NULL, "n_items" INTEGER NOT NULL, "limit" INTEGER, "created_utc" TEXT,
    "app_version" TEXT, "started_utc" TEXT, "finished_utc" TEXT, "beat_utc" TEXT, "process" INTEGER,
    "cancel" INTEGER DEFAULT 0, "message" TEXT DEFAULT ''
) STRICT

CREATE TABLE "run_item" (
    "run_id" INTEGER REFERENCES "run"("id"), "position" INTEGER, "item_id" TEXT NOT NULL,
    "state" TEXT NOT NULL, "result" TEXT NOT NULL, "failures" TEXT NOT NULL, "seconds" REAL NOT NULL,
    "finished_utc" TEXT NOT NULL, PRIMARY KEY ("run_id", "position")
) STRICT

CREATE TABLE "run_call" (
    "id" INTEGER PRIMARY KEY, "run_id" INTEGER NOT NULL REFERENCES "run"("id"),
    "position" INTEGER NOT NULL, "key" TEXT NOT NULL, "step" TEXT NOT NULL, "reason" TEXT,
    "cached" INTEGER NOT NULL, "input_tokens" INTEGER, "output_tokens" INTEGER,
    "seconds" REAL NOT NULL, "at_utc" TEXT NOT NULL
) STRICT

CREATE INDEX "idx_run_call_run_id_position_key" ON "run_call" ("run_id", "position", "key")

CREATE TABLE "reply" (
    "key" TEXT PRIMARY KEY, "text" TEXT, "reason" TEXT, "detail" TEXT NOT NULL,
    "input_tokens" INTEGER, "output_tokens" INTEGER, "seconds" REAL NOT NULL,
    "created_utc" TEXT NOT NULL
) STRICT
"""
# One tree ordered by pair: all scores of a text are neighbours, and the key is stored only once.
# Deleting a run that did nothing also deletes its metrics.
_SCORES = """
CREATE TABLE "score_signature" (
    "id" INTEGER PRIMARY KEY, "text" TEXT NOT NULL
) STRICT

CREATE UNIQUE INDEX "idx_score_signature_text" ON "score_signature" ("text")

CREATE TABLE score (pair BLOB NOT NULL, signature INTEGER NOT NULL REFERENCES score_signature(id),
    value REAL, reason TEXT, PRIMARY KEY (pair, signature)) STRICT, WITHOUT ROWID

CREATE TABLE run_metric (run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    position INTEGER NOT NULL, name TEXT NOT NULL, signature TEXT NOT NULL, family TEXT NOT NULL,
    direction TEXT NOT NULL, PRIMARY KEY (run_id, position)) STRICT, WITHOUT ROWID

CREATE TABLE "kept_file" (
    "id" INTEGER PRIMARY KEY, "kind" TEXT NOT NULL, "file_name" TEXT NOT NULL, "sha256" TEXT NOT NULL,
    "data" BLOB NOT NULL, "options" TEXT NOT NULL, "created_utc" TEXT NOT NULL
) STRICT

CREATE UNIQUE INDEX "idx_kept_file_kind_sha256" ON "kept_file" ("kind", "sha256")
"""
_RATINGS = f"""
ALTER TABLE study ADD COLUMN kind TEXT NOT NULL DEFAULT 'pairs'

ALTER TABLE study ADD COLUMN task TEXT

CREATE TABLE "rating_assignment" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "position" INTEGER,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "source" TEXT NOT NULL, "repeat" INTEGER NOT NULL,
    PRIMARY KEY ("study_id", "rater_id", "position")
) STRICT

CREATE UNIQUE INDEX "idx_rating_assignment_study_id_rater_id_item_id_level_source_repeat" ON "rating_assignment"
    ("study_id", "rater_id", "item_id", "level", "source", "repeat")

CREATE TABLE "rating_answer" ({_RATING},
    PRIMARY KEY ("study_id", "rater_id", "item_id", "level", "source", "repeat")
) STRICT

CREATE TABLE "rating_history" (
    "id" INTEGER PRIMARY KEY, "saved_utc" TEXT NOT NULL,{_RATING}
) STRICT
{_append_only("rating_history", "ratings", _RATING)}

CREATE TRIGGER rating_history_no_delete BEFORE DELETE ON rating_history {_REFUSED.format("ratings")}
"""
_ANALYSIS_SET = """
ALTER TABLE study ADD COLUMN main_levels TEXT

ALTER TABLE study ADD COLUMN votes_needed INTEGER

ALTER TABLE study ADD COLUMN score TEXT NOT NULL DEFAULT 'composite'

ALTER TABLE study ADD COLUMN flagged TEXT NOT NULL DEFAULT 'keep'

ALTER TABLE study ADD COLUMN declared INTEGER NOT NULL DEFAULT 0
"""
_RUN_DATA = """
CREATE TABLE run_data (run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
    data BLOB NOT NULL) STRICT
"""
# For an older run only the last start is known. It gives the whole time only if every item finished after it.
_RUN_DATA_MOVED = """
ALTER TABLE run DROP COLUMN data

CREATE INDEX run_item_finished ON run_item (run_id, finished_utc, state)

CREATE INDEX run_item_failures ON run_item (run_id, failures) WHERE failures <> '[]'

ALTER TABLE run ADD COLUMN worked_seconds REAL DEFAULT 0

UPDATE run SET worked_seconds = CASE
    WHEN started_utc <= (SELECT min(finished_utc) FROM run_item WHERE run_id = run.id)
    THEN round((julianday(coalesce(finished_utc, beat_utc)) - julianday(started_utc)) * 86400, 3) END
    WHERE started_utc IS NOT NULL
"""
# Numbered in order of arrival, because the first score of a text is kept.
_TEXT_SCORES = """
CREATE TABLE score_list (id INTEGER PRIMARY KEY, signatures TEXT NOT NULL UNIQUE) STRICT

CREATE TABLE text_score (id INTEGER PRIMARY KEY, pair BLOB NOT NULL,
    list INTEGER NOT NULL REFERENCES score_list(id), scores BLOB NOT NULL, reasons TEXT,
    UNIQUE (pair, list)) STRICT
"""
_TEXT_SCORES_PACKED = """
DROP TABLE score

DROP TABLE score_signature
"""
# asked: compressed, because the prompts of one run are very similar.
# texts: numbers of the item's texts that needed the call, from 0, as a JSON list; [] if the item is one text.
_CALLS = """
CREATE TABLE request (key TEXT PRIMARY KEY, asked BLOB NOT NULL) STRICT

ALTER TABLE run_call ADD COLUMN rejected TEXT

ALTER TABLE run_call ADD COLUMN detail TEXT

ALTER TABLE run_call ADD COLUMN not_sent TEXT

ALTER TABLE run_call ADD COLUMN thinking_tokens INTEGER

ALTER TABLE run_call ADD COLUMN texts TEXT

ALTER TABLE reply ADD COLUMN thinking TEXT

ALTER TABLE reply ADD COLUMN thinking_tokens INTEGER

ALTER TABLE run ADD COLUMN start_seconds REAL
"""
# An entry is never changed: a mean that changes after its question entered makes the bound invalid.
_EARLY_LOOKS = f"""
ALTER TABLE study ADD COLUMN early_looks INTEGER NOT NULL DEFAULT 0

CREATE TABLE entered_question (study_id INTEGER REFERENCES study(id), position INTEGER,
    item_id TEXT NOT NULL, mean REAL, votes INTEGER NOT NULL, entered_utc TEXT NOT NULL,
    PRIMARY KEY (study_id, position), UNIQUE (study_id, item_id)) STRICT

CREATE TRIGGER entered_question_no_update BEFORE UPDATE ON entered_question {_REFUSED.format("entered questions")}

CREATE TRIGGER entered_question_no_delete BEFORE DELETE ON entered_question {_REFUSED.format("entered questions")}

CREATE TRIGGER entered_question_no_replace BEFORE INSERT ON entered_question WHEN EXISTS (SELECT 1
    FROM entered_question WHERE study_id = NEW.study_id AND (position = NEW.position OR item_id = NEW.item_id))
    {_REFUSED.format("entered questions")}
"""
# Apart from the texts, which raters' pages read.
_INCLUSION = """
CREATE TABLE inclusion (study_id INTEGER REFERENCES study(id), item_id TEXT, level TEXT, source TEXT,
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    PRIMARY KEY (study_id, item_id, level, source)) STRICT
"""


def _draw_id(db: Database) -> None:
    db.execute("INSERT INTO setting VALUES ('database_id', ?)", [secrets.token_hex(16)])


def _move_run_data(db: Database) -> None:
    """Move files to their own table: reading or writing columns after a large file walks over all its pages."""
    # One at a time, so that each file reuses the pages of the previous one and the database grows only by the largest.
    for (run_id,) in db.execute("SELECT id FROM run ORDER BY id").fetchall():
        db.execute("INSERT INTO run_data SELECT id, data FROM run WHERE id = ?", [run_id])
        db.execute("UPDATE run SET data = x'' WHERE id = ?", [run_id])


def _pack_scores(db: Database) -> None:
    """Put all scores of a text by one run into one row: sixteen rows took a quarter of a run's time."""
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


STEPS: dict[str, tuple[Part, ...]] = {
    # Studies, their data, raters and answers; the history cannot be changed.
    "m001_studies": (_STUDIES, _draw_id),
    # Consent, locked answers, guesses, exclusion, withdrawal, own wording, the admin's sign-in.
    "m002_real_raters": (_REAL_RATERS,),
    # Runs, their results by item, every call to a model, and cached replies.
    "m003_runs": (_RUNS,),
    # Cached scores, the metrics of a run, and files stored by a page.
    "m004_scores": (_SCORES,),
    # Rating studies: their task, lists, answers and history.
    "m005_ratings": (_RATINGS,),
    # The analysis set. Older studies get the defaults, marked as undeclared.
    "m006_analysis_set": (_ANALYSIS_SET,),
    # Files of runs in their own table, so that polling does not read them, and the working time of each run.
    "m007_run_data": (_RUN_DATA, _move_run_data, _RUN_DATA_MOVED),
    # The cache of scores, with one row per text.
    "m008_scores_of_a_text": (_TEXT_SCORES, _pack_scores, _TEXT_SCORES_PACKED),
    # Requests to models, why an answer was rejected, thinking, and the start time of a run.
    "m009_calls_seen": (_CALLS,),
    # Looks at a running study: whether the design allows them, and the questions that they count.
    "m010_early_looks": (_EARLY_LOOKS,),
    # Probabilities with which texts were drawn for a rating study.
    "m011_inclusion": (_INCLUSION,),
}


def _register(name: str) -> None:
    @migrations(name=name)
    def make(db: Database) -> None:
        for part in STEPS[name]:
            if isinstance(part, str):
                for statement in part.strip().split("\n\n"):
                    db.execute(statement)
            else:
                part(db)


for _name in STEPS:
    _register(_name)


def pending_steps(db: Database) -> list[str]:
    """Steps that `db` still lacks, in the order in which they are made."""
    return [step.name for step in migrations.pending(db)]


def applied_steps(db: Database) -> list[str]:
    """Steps that made `db`, in the order in which they were made."""
    return [step.name for step in migrations.applied(db)]


def unknown_steps(db: Database) -> list[str]:
    """Steps applied to `db` that this code does not know, because a newer Assay wrote it."""
    nothing = Database(memory=True, execute_plugins=False)
    known = {step.name for step in migrations.pending(nothing)}
    nothing.close()
    return [name for name in applied_steps(db) if name not in known]


def is_ours(db: Database) -> bool:
    """Whether Assay created `db`: at least one step of its schema is recorded."""
    return bool(migrations.applied(db))
