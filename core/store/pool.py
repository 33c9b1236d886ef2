"""Connections that stay open between the presses of raters: opening one costs more than all that a press reads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from core.store.connection import Store, open_store

MOST_AT_REST = 8
"""Connections that are kept while nobody uses them."""

_File: TypeAlias = tuple[int, int]
"""Device and number of a file."""
_lock = threading.Lock()
_at_rest: list[tuple[_File, Store]] = []
"""Connections with the file that each has open, the one used last at the end."""


@contextmanager
def borrowed_store(path: Path) -> Iterator[Store]:
    """The database at `path` on a connection that nobody else uses until the block ends; opened when none is at rest.

    A connection to a file that was replaced meanwhile, or whose schema changed, is closed and another one opened.
    """
    file: _File | None
    file, store = _taken(path) or _opened(path)
    try:
        yield store
    finally:
        _give_back(file, store)


def close_stores() -> None:
    """Close every connection at rest; when the app stops."""
    with _lock:
        stores = [store for _, store in _at_rest]
        _at_rest.clear()
    for store in stores:
        store.close()


def _taken(path: Path) -> tuple[_File, Store] | None:
    while True:
        with _lock:
            found = next((one for one in reversed(_at_rest) if one[1].path == path), None)
            if found is None:
                return None
            _at_rest.remove(found)
        # The file cannot get the number of one that is still open, so the same number means the same file.
        if _file_at(path) == found[0] and found[1].is_current():
            return found
        found[1].close()


def _opened(path: Path) -> tuple[_File | None, Store]:
    before = _file_at(path)
    store = open_store(path, any_thread=True)
    return (before if before == _file_at(path) else None), store


def _give_back(file: _File | None, store: Store) -> None:
    if file is None or not store.at_rest:
        store.close()
        return
    with _lock:
        _at_rest.append((file, store))
        too_many = [_at_rest.pop(0)] if len(_at_rest) > MOST_AT_REST else []
    for _, oldest in too_many:
        oldest.close()


def _file_at(path: Path) -> _File | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
