"""Opening the database: made where it is missing, and said in one sentence where it cannot be used."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.texts.factories import counts_of, study_in

from core.errors import StorageError
from core.schema.study import Answer
from core.store import Store, database_path, open_store
from core.store.answers import PAIRS, answers_of
from core.store.backup import restore_backup, write_backup
from core.store.places import key_path
from core.store.raters import link_token
from core.store.studies import read_setting, write_log, write_setting


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Every file is for everybody where the program that makes it says nothing else."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_makes_folders_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "some" / "where" / "new.db"
    with open_store(path) as store:
        counts = counts_of(store)
        assert counts.pop("setting") == 1, "the database's id"
        assert set(counts.values()) == {0}
    assert path.is_file()


def test_opening_again_keeps_everything_and_migrates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    with open_store(path) as store:
        study_in(store)
        before = counts_of(store), store.rows("select sql from sqlite_master order by name")
    with open_store(path) as store:
        assert (counts_of(store), store.rows("select sql from sqlite_master order by name")) == before


def test_migrates_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with open_store(tmp_path / "empty.db") as store:
        assert study_in(store).study.state == "open"


def test_write_ahead_log_and_foreign_keys(store: Store) -> None:
    assert store.row("pragma journal_mode") == {"journal_mode": "wal"}
    assert store.row("pragma synchronous") == {"synchronous": 1}
    assert store.row("pragma foreign_keys") == {"foreign_keys": 1}
    with pytest.raises(StorageError, match="FOREIGN KEY"):
        write_log(store, 99, "imported", "a study that is not there")


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"The database .* could not be used .*saved nothing"):
        open_store(tmp_path)


def test_a_file_in_the_way_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"The database assay\.db could not be used"):
        open_store(tmp_path / "file" / "assay.db")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(b"These are notes, and they are long enough to be read as a header. " * 20)
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"notes\.db could not be used \(file is not a database\)"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_database_that_may_not_be_written(store: Store) -> None:
    """query_only stands for a read-only file, which root (in a container) could write all the same."""
    at_hand = study_in(store)
    before = counts_of(store)
    store.table("setting").db.execute("pragma query_only = on")
    answer = Answer("R1", "q00", "A0", choice="left")
    with pytest.raises(StorageError, match=r"readonly.*saved nothing.*Check free disk space"):
        PAIRS.save(store, at_hand.study_id, answer)
    with pytest.raises(StorageError):
        write_setting(store, "key", "value")
    store.table("setting").db.execute("pragma query_only = off")
    assert counts_of(store) == before
    assert PAIRS.save(store, at_hand.study_id, answer), "and it goes on when the cause is gone"


def test_a_block_that_raises_leaves_nothing(store: Store) -> None:
    at_hand = study_in(store)
    before = counts_of(store)

    def halfway() -> None:
        with store.writing():
            PAIRS.save(store, at_hand.study_id, Answer("R1", "q00", "A0", choice="left"))
            write_log(store, at_hand.study_id, "something", "done")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        halfway()
    assert counts_of(store) == before
    write_setting(store, "after", "works")
    assert read_setting(store, "after") == "works"


def test_another_connection_sees_a_transaction_whole_or_not(store: Store) -> None:
    at_hand = study_in(store)
    with open_store(store.path) as other:
        with store.writing():
            PAIRS.save(store, at_hand.study_id, Answer("R1", "q00", "A0", choice="left"))
            assert answers_of(other, at_hand.study_id) == ()
        assert len(answers_of(other, at_hand.study_id)) == 1


def test_where_the_database_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ASSAY_DB", raising=False)
    assert database_path().parts[-2:] == ("var", "assay.db")
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "a.db"))
    assert database_path() == tmp_path / "a.db"
    assert database_path(tmp_path / "b.db") == tmp_path / "b.db"


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_the_owner_may_read_the_files_of_a_database(tmp_path: Path, open_umask: None) -> None:
    folder = tmp_path / "data" / "assay"
    with open_store(folder / "assay.db") as store:
        link_token(store, "key")
        found = modes(folder)
        assert found.keys() == {"assay.db", "assay.db-wal", "assay.db-shm", "assay.db.key"}
        assert set(found.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_files_that_others_could_read_are_closed_when_the_database_is_opened(
    store: Store, tmp_path: Path, open_umask: None, request: pytest.FixtureRequest
) -> None:
    """A folder that was there is its owner's affair, and so are other files in it. A copy before an update is private, too."""
    tmp_path.chmod(0o755)
    link_token(store, "key")
    store.close()
    old = store.path
    for path in (old, key_path(old)):
        path.chmod(0o644)
    toy = request.getfixturevalue("toy")
    others = [tmp_path / "assay.db2", tmp_path / "assay.dbx"]
    for path in (tmp_path / "assay.db.before-m001_version_1", *others):
        path.write_text("x")
    reader = sqlite3.connect(old)
    reader.execute("select * from study").fetchall()  # holds the write-ahead log open
    assert modes(tmp_path)["assay.db-wal"] == 0o644
    with open_store(old):
        found = modes(tmp_path)
    reader.close()
    assert {found.pop(path.name) for path in others} == {0o666}
    assert f"assay.db.before-{toy}" in found
    assert set(found.values()) == {0o600}
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_restored_database_is_its_owners_too(tmp_path: Path, open_umask: None) -> None:
    with open_store(tmp_path / "assay.db") as store:
        data = write_backup(store)
    (tmp_path / "assay.db").chmod(0o644)
    for path in (tmp_path / "assay.db", tmp_path / "new" / "assay.db"):
        restore_backup(data, path, replace=True)
        assert set(modes(path.parent).values()) <= {0o600, 0o700}
    assert any("before-restore" in name for name in modes(tmp_path))
