"""The tables of runs, as the migrations that brought them made them."""

from sqlite_utils import Database


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
