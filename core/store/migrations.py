"""The database schema as a list of steps: the only place where it changes.

A step is SQL, with statements separated by blank lines, and functions for what SQL cannot do. Until the first release the only
step is edited in place. A database with another schema is refused, and scripts/convert_database.py converts it.
"""

import secrets
from collections.abc import Callable, Collection
from contextlib import closing

from sqlite_utils import Database, Migrations

Part = str | Callable[[Database], object]
STEPS_TABLE = Migrations.migrations_table
"""Table in which sqlite-utils records the applied steps."""
_SET = "assay"
"""Name under which it records them."""

_ANSWER = """
    study_id INTEGER NOT NULL REFERENCES study(id), rater_id TEXT NOT NULL, item_id TEXT NOT NULL,
    level TEXT NOT NULL, repeat INTEGER NOT NULL, choice TEXT, preference TEXT, shown_utc TEXT,
    answered_utc TEXT, seconds REAL, seconds_visible REAL, translated INTEGER, diff_used TEXT, comment TEXT NOT NULL, invalid INTEGER NOT NULL,
    skipped INTEGER NOT NULL, app_version TEXT"""
_RATING = """
    study_id INTEGER NOT NULL REFERENCES study(id), rater_id TEXT NOT NULL, item_id TEXT NOT NULL,
    level TEXT NOT NULL, source TEXT NOT NULL, repeat INTEGER NOT NULL, scores TEXT NOT NULL,
    spans TEXT NOT NULL, no_errors INTEGER NOT NULL, done INTEGER NOT NULL, shown_utc TEXT,
    answered_utc TEXT, seconds REAL, seconds_visible REAL, translated INTEGER, comment TEXT NOT NULL, invalid INTEGER NOT NULL,
    skipped INTEGER NOT NULL, app_version TEXT"""
_PERSONAL = {"rater_id", "comment"}
"""Columns that may change in a history, because raters may have them deleted."""


def _refused(noun: str) -> str:
    return f"BEGIN SELECT RAISE(ABORT, 'the history of {noun} is append-only'); END"


def _append_only(history: str, noun: str, columns: str) -> str:
    """Triggers that prevent changes to a history, except to its personal columns."""
    names = ("id", "saved_utc", *(column.split()[0] for column in columns.split(",")))
    changed = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in names if name not in _PERSONAL)
    known = f"EXISTS (SELECT 1 FROM {history} WHERE id = NEW.id)"  # INSERT OR REPLACE deletes in silence
    refused = _refused(noun)
    return f"""
CREATE TRIGGER {history}_no_update BEFORE UPDATE ON {history} WHEN {changed} {refused}

CREATE TRIGGER {history}_no_delete BEFORE DELETE ON {history} {refused}

CREATE TRIGGER {history}_no_replace BEFORE INSERT ON {history} WHEN {known} {refused}
"""


# The probabilities of inclusion are apart from the texts, which raters' pages read.
_STUDIES = """
CREATE TABLE study (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
    candidate TEXT NOT NULL, comparator TEXT NOT NULL, person TEXT NOT NULL, margin REAL,
    confidence_level REAL NOT NULL, seed INTEGER NOT NULL, level_order TEXT, repeat_share REAL,
    votes_per_pair INTEGER, max_questions INTEGER, blinding_pairs INTEGER NOT NULL, main_levels TEXT,
    votes_needed INTEGER, score TEXT NOT NULL, flagged TEXT NOT NULL, declared INTEGER NOT NULL,
    early_looks INTEGER NOT NULL, rendering TEXT NOT NULL, code_language TEXT NOT NULL, task TEXT, levels TEXT NOT NULL, language TEXT, dataset_sha256 TEXT,
    dataset_file TEXT, created_utc TEXT, first_vote_utc TEXT, app_version TEXT
) STRICT

CREATE UNIQUE INDEX study_name ON study (name)

CREATE TABLE item (
    study_id INTEGER REFERENCES study(id), position INTEGER NOT NULL, item_id TEXT,
    question TEXT NOT NULL, reference TEXT NOT NULL, language TEXT NOT NULL,
    turns TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (study_id, item_id)
) STRICT

CREATE TABLE output (
    study_id INTEGER REFERENCES study(id), item_id TEXT, level TEXT, source TEXT, text TEXT NOT NULL,
    PRIMARY KEY (study_id, item_id, level, source)
) STRICT

CREATE TABLE inclusion (
    study_id INTEGER REFERENCES study(id), item_id TEXT, level TEXT, source TEXT,
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    PRIMARY KEY (study_id, item_id, level, source)
) STRICT

CREATE TABLE guideline (
    study_id INTEGER REFERENCES study(id), language TEXT, text TEXT NOT NULL,
    PRIMARY KEY (study_id, language)
) STRICT

CREATE TABLE wording (
    study_id INTEGER REFERENCES study(id), language TEXT, key TEXT, text TEXT NOT NULL,
    PRIMARY KEY (study_id, language, key)
) STRICT

CREATE TABLE shipped_text (
    study_id INTEGER REFERENCES study(id), part TEXT, language TEXT, text TEXT NOT NULL,
    PRIMARY KEY (study_id, part, language)
) STRICT

CREATE TABLE log (
    id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL REFERENCES study(id), at_utc TEXT NOT NULL,
    action TEXT NOT NULL, detail TEXT NOT NULL, rater_id TEXT
) STRICT

CREATE TABLE rater (
    study_id INTEGER REFERENCES study(id), rater_id TEXT, dry_run INTEGER NOT NULL,
    imported INTEGER NOT NULL, language TEXT, created_utc TEXT NOT NULL, revoked INTEGER NOT NULL,
    link_number INTEGER NOT NULL, token_sha256 TEXT, onboarding INTEGER NOT NULL, diff_mode TEXT,
    key_scheme TEXT NOT NULL DEFAULT 'digits',
    consent_utc TEXT, finished_utc TEXT, excluded TEXT, withdrawn INTEGER NOT NULL,
    PRIMARY KEY (study_id, rater_id)
) STRICT

CREATE UNIQUE INDEX rater_token ON rater (token_sha256)
"""
# An entered question is never changed: a mean that changes after its question entered makes the bound invalid.
_VOTES = f"""
CREATE TABLE assignment (
    study_id INTEGER REFERENCES study(id), rater_id TEXT, position INTEGER, item_id TEXT NOT NULL,
    level TEXT NOT NULL, "left" TEXT NOT NULL, "right" TEXT NOT NULL, repeat INTEGER NOT NULL,
    PRIMARY KEY (study_id, rater_id, position)
) STRICT

CREATE UNIQUE INDEX assignment_pair ON assignment (study_id, rater_id, item_id, level, repeat)

CREATE TABLE answer ({_ANSWER},
    PRIMARY KEY (study_id, rater_id, item_id, level, repeat)
) STRICT

CREATE TABLE answer_history (id INTEGER PRIMARY KEY, saved_utc TEXT NOT NULL,{_ANSWER}
) STRICT
{_append_only("answer_history", "answers", _ANSWER)}
CREATE TABLE guess (
    study_id INTEGER REFERENCES study(id), rater_id TEXT, item_id TEXT, level TEXT, guess TEXT NOT NULL,
    comment TEXT NOT NULL, answered_utc TEXT NOT NULL, seconds REAL, seconds_visible REAL,
    translated INTEGER, app_version TEXT,
    PRIMARY KEY (study_id, rater_id, item_id, level)
) STRICT

CREATE TABLE entered_question (
    study_id INTEGER REFERENCES study(id), position INTEGER, item_id TEXT NOT NULL, mean REAL,
    votes INTEGER NOT NULL, entered_utc TEXT NOT NULL, PRIMARY KEY (study_id, position),
    UNIQUE (study_id, item_id)
) STRICT

CREATE TRIGGER entered_question_no_update BEFORE UPDATE ON entered_question {_refused("entered questions")}

CREATE TRIGGER entered_question_no_delete BEFORE DELETE ON entered_question {_refused("entered questions")}

CREATE TRIGGER entered_question_no_replace BEFORE INSERT ON entered_question WHEN EXISTS (SELECT 1
    FROM entered_question WHERE study_id = NEW.study_id AND (position = NEW.position OR item_id = NEW.item_id))
    {_refused("entered questions")}
"""
_RATINGS = f"""
CREATE TABLE rating_assignment (
    study_id INTEGER REFERENCES study(id), rater_id TEXT, position INTEGER, item_id TEXT NOT NULL,
    level TEXT NOT NULL, source TEXT NOT NULL, repeat INTEGER NOT NULL,
    PRIMARY KEY (study_id, rater_id, position)
) STRICT

CREATE UNIQUE INDEX rating_assignment_text ON rating_assignment
    (study_id, rater_id, item_id, level, source, repeat)

CREATE TABLE rating_answer ({_RATING},
    PRIMARY KEY (study_id, rater_id, item_id, level, source, repeat)
) STRICT

CREATE TABLE rating_history (id INTEGER PRIMARY KEY, saved_utc TEXT NOT NULL,{_RATING}
) STRICT
{_append_only("rating_history", "ratings", _RATING)}"""
# run_data: apart from the run, because reading or writing columns after a large file walks over all its pages.
# request.asked: compressed, because the prompts of one run are very similar.
# run_call.texts: numbers of the item's texts that needed the call, from 0, as a JSON list; [] if the item is one text.
_RUNS = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, settings TEXT NOT NULL,
    running TEXT NOT NULL, data_file TEXT NOT NULL, data_sha256 TEXT NOT NULL, n_items INTEGER NOT NULL,
    "limit" INTEGER, created_utc TEXT, app_version TEXT, started_utc TEXT, finished_utc TEXT,
    beat_utc TEXT, process INTEGER, cancel INTEGER DEFAULT 0, message TEXT DEFAULT '',
    worked_seconds REAL NOT NULL DEFAULT 0, start_seconds REAL
) STRICT

CREATE TABLE run_data (
    run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE, data BLOB NOT NULL
) STRICT

CREATE TABLE run_item (
    run_id INTEGER REFERENCES run(id), position INTEGER, item_id TEXT NOT NULL, state TEXT NOT NULL,
    result TEXT NOT NULL, failures TEXT NOT NULL, seconds REAL NOT NULL, finished_utc TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT

CREATE INDEX run_item_finished ON run_item (run_id, finished_utc, state)

CREATE INDEX run_item_failures ON run_item (run_id, failures) WHERE failures <> '[]'

CREATE TABLE run_call (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES run(id), position INTEGER NOT NULL,
    key TEXT NOT NULL, step TEXT NOT NULL, texts TEXT, reason TEXT, rejected TEXT, detail TEXT,
    not_sent TEXT, cached INTEGER NOT NULL, input_tokens INTEGER, output_tokens INTEGER,
    thinking_tokens INTEGER, seconds REAL NOT NULL, at_utc TEXT NOT NULL
) STRICT

CREATE INDEX run_call_item ON run_call (run_id, position, key)

CREATE TABLE request (key TEXT PRIMARY KEY, asked BLOB NOT NULL) STRICT

CREATE TABLE reply (
    key TEXT PRIMARY KEY, text TEXT, thinking TEXT, reason TEXT, detail TEXT NOT NULL,
    input_tokens INTEGER, output_tokens INTEGER, thinking_tokens INTEGER, seconds REAL NOT NULL,
    created_utc TEXT NOT NULL
) STRICT
"""
# All scores of a text by one run are one row: sixteen rows took a quarter of a run's time. They are numbered in order of
# arrival, because the first score of a text is kept. Deleting a run that did nothing also deletes its metrics.
_SCORES = """
CREATE TABLE score_list (id INTEGER PRIMARY KEY, signatures TEXT NOT NULL UNIQUE) STRICT

CREATE TABLE text_score (
    id INTEGER PRIMARY KEY, pair BLOB NOT NULL, list INTEGER NOT NULL REFERENCES score_list(id),
    scores BLOB NOT NULL, reasons TEXT, UNIQUE (pair, list)
) STRICT

CREATE TABLE run_metric (
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, position INTEGER NOT NULL,
    name TEXT NOT NULL, signature TEXT NOT NULL, family TEXT NOT NULL, direction TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID
"""
_INSTALLATION = """
CREATE TABLE kept_file (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, file_name TEXT NOT NULL, sha256 TEXT NOT NULL,
    data BLOB NOT NULL, options TEXT NOT NULL, created_utc TEXT NOT NULL
) STRICT

CREATE UNIQUE INDEX kept_file_content ON kept_file (kind, sha256)

CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT

CREATE TABLE admin_session (
    token_sha256 TEXT PRIMARY KEY, created_utc TEXT NOT NULL, expires_utc TEXT NOT NULL
) STRICT

CREATE TABLE event (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, address TEXT NOT NULL, n INTEGER NOT NULL,
    first_utc TEXT NOT NULL, last_utc TEXT NOT NULL
) STRICT
"""


def _draw_id(db: Database) -> None:
    db.execute("INSERT INTO setting VALUES ('database_id', ?)", [secrets.token_hex(16)])


STEPS: dict[str, tuple[Part, ...]] = {
    "m001_version_1": (_STUDIES, _VOTES, _RATINGS, _RUNS, _SCORES, _INSTALLATION, _draw_id),
}
"""Name -> parts, in the order in which they are made."""


def _migrations() -> Migrations:
    """The steps as sqlite-utils applies them."""
    found = Migrations(_SET)
    for name, parts in STEPS.items():

        def make(db: Database, parts: tuple[Part, ...] = parts) -> None:
            for part in parts:
                if isinstance(part, str):
                    for statement in part.strip().split("\n\n"):
                        db.execute(statement)
                else:
                    part(db)

        found(name=name)(make)
    return found


def apply_steps(db: Database) -> None:
    """Make the steps that `db` still lacks."""
    _migrations().apply(db)


def pending_steps(db: Database) -> list[str]:
    """Steps that `db` still lacks, in the order in which they are made."""
    return [step.name for step in _migrations().pending(db)]


def applied_steps(db: Database) -> list[str]:
    """Steps that made `db`, in the order in which they were made."""
    return [step.name for step in Migrations(_SET).applied(db)]


def is_ours(db: Database) -> bool:
    """Whether Assay created `db`: at least one step of its schema is recorded."""
    return bool(applied_steps(db))


def newer_step(db: Database) -> str | None:
    """The first step that a newer Assay added to `db` after those that this code knows; None: there is none."""
    applied, first = applied_steps(db), next(iter(STEPS))
    return next((name for name in applied if name not in STEPS), None) if first in applied else None


_OF_LIBRARIES = {
    *(("table", f"sqlite_{name}") for name in ("sequence", "stat1", "stat4")),
    *(("table", STEPS_TABLE), ("index", f"idx_{STEPS_TABLE}_migration_set_name")),
}
"""Internal tables of SQLite, such as those of ANALYZE, and of sqlite-utils, whose versions may define theirs differently."""


def _schema(db: Database) -> dict[str, str]:
    """Kind and name of every table, index, trigger and view -> its definition, without line breaks and indents."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {
        f"{kind} {name}": " ".join(sql.split())
        for kind, name, sql in rows
        if (kind, name) not in _OF_LIBRARIES
    }


def differences(db: Database, *, users: Collection[str] = ()) -> list[str]:
    """How the schema of `db` differs from the one that its recorded steps make; empty: a database of this version.

    users: kinds of objects that its owner may have added, such as `view`; they make no difference.
    """
    applied = set(applied_steps(db))
    with closing(Database(memory=True, execute_plugins=False)) as new:
        pending = [name for name in STEPS if name not in applied]
        _migrations().apply(new, stop_before=pending)
        wanted, there = _schema(new), _schema(db)
    return [
        *(f"lacks the {name}" for name in sorted(wanted.keys() - there.keys())),
        *(
            f"has an unknown {name}"
            for name in sorted(there.keys() - wanted.keys())
            if name.partition(" ")[0] not in users
        ),
        *(
            f"has another {name} than Assay creates"
            for name in sorted(wanted.keys() & there.keys())
            if wanted[name] != there[name]
        ),
    ]
