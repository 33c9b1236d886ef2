"""The only package that knows SQLite: open_store() and functions that take the store they work on."""

from core.store.connection import Store, open_store
from core.store.location import database_path

__all__ = ["Store", "database_path", "open_store"]
