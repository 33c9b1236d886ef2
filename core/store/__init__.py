"""The only package that knows SQLite: open_store(), borrowed_store() and functions that take the store they work on."""

from core.store.connection import Store, borrowed_store, close_stores, database_path, open_store

__all__ = ["Store", "borrowed_store", "close_stores", "database_path", "open_store"]
