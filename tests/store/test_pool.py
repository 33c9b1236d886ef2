"""Connections that stay open between presses: one thread at a time, and never to a database that is gone."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.texts.factories import dataset, study_in

from core.errors import StorageError
from core.store import Store, borrowed_store, close_stores, open_store
from core.store.backup import restore_backup, write_backup
from core.store.connection import MOST_AT_REST
from core.store.studies import list_studies, read_setting, write_setting


@pytest.fixture(autouse=True)
def nothing_at_rest() -> Iterator[None]:
    close_stores()
    yield
    close_stores()


def names(path: Path) -> list[str]:
    with borrowed_store(path) as borrowed:
        return [study.name for study in list_studies(borrowed)]


def connection_of(path: Path) -> Store:
    with borrowed_store(path) as borrowed:
        return borrowed


def is_open(store: Store) -> bool:
    try:
        store.row("select 1 as one")
    except StorageError:
        return False
    return True


def test_a_connection_is_used_again_also_by_another_thread(store: Store) -> None:
    first = connection_of(store.path)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(connection_of(store.path)))
    thread.start()
    thread.join()
    assert seen == [first]


def test_no_two_share_one(store: Store) -> None:
    """Twelve threads inside at once have twelve connections; eight of them stay open."""
    together = threading.Barrier(12)
    seen: list[Store] = []

    def work() -> None:
        with borrowed_store(store.path) as borrowed:
            seen.append(borrowed)
            together.wait(20)
            write_setting(borrowed, f"key {threading.get_ident()}", "kept")
            together.wait(20)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one) for one in seen}) == 12
    assert sum(is_open(one) for one in seen) == MOST_AT_REST
    written = store.row("select count(*) as n from setting where key like 'key %'")
    assert written == {"n": 12}
    close_stores()
    assert not any(is_open(one) for one in seen)


def test_a_file_that_was_replaced_is_noticed(store: Store, tmp_path: Path) -> None:
    study_in(store, name="before")
    assert names(store.path) == ["before"]
    (tmp_path / "other").mkdir()
    with open_store(tmp_path / "other" / "assay.db") as other:
        study_in(other, name="after")
    for tail in ("-wal", "-shm"):
        (tmp_path / f"assay.db{tail}").unlink(missing_ok=True)
    os.replace(tmp_path / "other" / "assay.db", store.path)
    assert names(store.path) == ["after"]


def test_a_file_that_is_gone_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    for _ in range(2):  # a file that was just made is opened once more
        connection_of(path)
    with borrowed_store(path) as borrowed:
        write_setting(borrowed, "kept", "yes")
    for one in tmp_path.glob("assay.db*"):
        one.unlink()
    with borrowed_store(path) as borrowed:
        assert read_setting(borrowed, "kept") is None


def test_a_restore_over_a_database_in_use_is_seen(store: Store) -> None:
    study_in(store, name="before")
    data = write_backup(store)
    study_in(store, dataset(2), name="later")
    assert names(store.path) == ["later", "before"]
    restore_backup(data, store.path, replace=True)
    assert names(store.path) == ["before"]


def test_a_schema_that_changed_is_checked_again(store: Store) -> None:
    before = connection_of(store.path)
    with store.writing():
        store.change("drop index study_name", {})
        store.change("create unique index study_name ON study (name)", {})  # made again as it was
    assert connection_of(store.path) is not before
    assert not is_open(before)


def test_a_transaction_that_was_left_open_goes_with_its_connection(store: Store) -> None:
    with borrowed_store(store.path) as borrowed:
        borrowed.change("insert into setting (key, value) values ('half', 'done')", {})
    assert not is_open(borrowed)
    assert read_setting(store, "half") is None


def test_what_was_deleted_leaves_the_log_while_connections_rest(store: Store) -> None:
    connection_of(store.path)
    with borrowed_store(store.path) as borrowed:
        write_setting(borrowed, "secret", "zq-secret")
        with borrowed.writing():
            borrowed.table("setting").delete_where("key = 'secret'")
        borrowed.forget()
    assert not any(b"zq-secret" in one.read_bytes() for one in store.path.parent.glob("assay.db*"))
