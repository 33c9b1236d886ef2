"""All access to SQLite: open_store(), borrowed_store(), and functions that take a store."""

import sys

if "pandas" not in sys.modules:
    # sqlite-utils loads pandas for its types, which are never stored here. That costs every command a third of a second.
    # It tries only once, so pandas is hidden before the first import.
    sys.modules["pandas"] = None  # type: ignore[assignment]  # import then treats the module as missing
    import sqlite_utils.db  # noqa: F401

    del sys.modules["pandas"]

from core.store.connection import Store, borrowed_store, close_stores, database_path, open_store

__all__ = ["Store", "borrowed_store", "close_stores", "database_path", "open_store"]
