"""The tables of scores, as the migrations that brought them made them."""

import json
import math
import struct
from collections.abc import Iterator
from itertools import groupby

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
