"""The tables of scores, as the migration that brought them made them."""

from sqlite_utils import Database


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
