"""The only package that knows SQLite: open_store(), borrowed_store() and functions that take the store they work on."""

import sys

if "pandas" not in sys.modules:
    # sqlite-utils loads pandas to know its types, which nothing here stores: a third of a second of every command. It
    # looks once, so this stands before anything here imports it.
    sys.modules["pandas"] = None  # type: ignore[assignment]  # what import takes for a module that is not there
    import sqlite_utils.db  # noqa: F401

    del sys.modules["pandas"]

from core.store.connection import Store, borrowed_store, close_stores, database_path, open_store

__all__ = ["Store", "borrowed_store", "close_stores", "database_path", "open_store"]
