"""The tables of runs, as the migration that brought them made them."""

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
