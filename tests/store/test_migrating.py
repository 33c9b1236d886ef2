"""An old database becomes today's, with a copy kept; one of another version, and what is not ours, stay as they are."""

import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import toy_step
from before_version_1 import old_database, rows_of
from helpers.texts.factories import prefers, study_in, vote
from helpers.texts.rating_studies import rate_all, rating_study
from sqlite_utils import Database, Migrations
from toy_step import COPY

from core.cli import main
from core.errors import StorageError
from core.installation import CONVERT
from core.store import connection as connection_module
from core.store import open_store
from core.store.migrations import STEPS, differences

TABLES = ("study", "item", "answer", "answer_history", "rating_answer", "rating_history", "log", "setting")


@pytest.fixture
def old(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A database without the step of the toy, which is registered when it is made."""
    path = tmp_path / "assay.db"
    with open_store(path) as store:
        at_hand = study_in(store, name="busy")
        vote(store, at_hand.tokens["R1"], prefers(0))
        rate_all(rating_study(store).desk("R1"))
    request.getfixturevalue("toy")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm")))


def rows_in(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Rows of tables, without the column of the toy."""
    found = {}
    for table in TABLES:
        known = [f'"{row[1]}"' for row in rows_of(path, f"pragma table_info({table})") if row[1] != "toy"]
        found[table] = rows_of(path, f"select {', '.join(known)} from {table}")
    return found


# --- what was there is there ----------------------------------------------------------------------


def test_every_row_is_what_it_was_and_the_schema_is_that_of_a_new_one(old: Path, tmp_path: Path) -> None:
    before = rows_in(old)
    assert all(before.values())
    open_store(old).close()
    assert rows_in(old) == before
    assert rows_of(old, "select count(*) from setting where toy = value") == [(len(before["setting"]),)]
    assert rows_of(old, "select name from _sqlite_migrations") == [(name,) for name in STEPS]
    with closing(sqlite3.connect(old)) as connection:
        assert differences(Database(connection)) == []


# --- the copy -------------------------------------------------------------------------------------


def test_a_copy_of_the_old_database_is_kept(old: Path, tmp_path: Path) -> None:
    dump = "select type, name, sql from sqlite_master order by name"
    before = rows_of(old, dump), rows_in(old)
    old.chmod(0o640)
    open_store(old).close()
    open_store(old).close()
    assert names(tmp_path) == ["assay.db", COPY, "assay.db.key"]
    copy = tmp_path / COPY
    assert (rows_of(copy, dump), rows_in(copy)) == before
    assert rows_of(copy, "pragma integrity_check") == [("ok",)]
    assert copy.stat().st_mode & 0o777 == 0o600, "whoever could read the database may not read the copy"


def test_a_fresh_or_empty_database_needs_no_copy(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for name in ("new.db", "empty.db"):
        open_store(tmp_path / name).close()
    assert names(tmp_path) == ["empty.db", "new.db"]


def test_what_is_only_in_the_write_ahead_log_is_copied(old: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(old)) as still_open:
        still_open.execute("insert into setting (key, value) values ('late', 'kept')")
        still_open.commit()
        assert old.with_name("assay.db-wal").stat().st_size > 0
        open_store(old).close()
    assert rows_of(tmp_path / COPY, "select value from setting where key = 'late'") == [("kept",)]


def test_an_earlier_copy_is_never_overwritten(old: Path, tmp_path: Path) -> None:
    (tmp_path / COPY).write_text("mine")
    open_store(old).close()
    assert names(tmp_path) == ["assay.db", COPY, f"{COPY}-2", "assay.db.key"]
    assert (tmp_path / COPY).read_text() == "mine"


def test_no_copy_no_migration(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows_of(old, "select * from sqlite_master")

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("core.store.connection._put_at_free_name", no_room)
        with pytest.raises(StorageError, match=r"could not be copied .*nothing was changed"):
            open_store(old)
    assert rows_of(old, "select * from sqlite_master") == before
    assert names(tmp_path) == ["assay.db", "assay.db.key"], "and no half of a copy"
    open_store(old).close()
    assert (tmp_path / COPY).exists()


@pytest.mark.parametrize("problem", [sqlite3.OperationalError("disk I/O error"), KeyError("rater")], ids=repr)
def test_a_migration_that_fails_leaves_everything(
    old: Path, tmp_path: Path, toy: str, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    before = rows_of(old, "select * from sqlite_master"), rows_of(old, "select * from log")

    def fails(_: object) -> None:
        raise problem

    with monkeypatch.context() as patch:
        patch.setitem(STEPS, toy, (*STEPS[toy], fails))
        for _ in range(2):
            with pytest.raises(StorageError, match=r"database assay\.db.*schema.*It is unchanged"):
                open_store(old)
    assert (rows_of(old, "select * from sqlite_master"), rows_of(old, "select * from log")) == before
    assert names(tmp_path) == ["assay.db", "assay.db.key"], "tries that fail do not fill the disk with copies"
    open_store(old).close()


def _open(path: str, start: object, found: object) -> None:
    toy_step.register()
    start.wait()  # type: ignore[attr-defined]
    try:
        with open_store(Path(path)) as store:
            found.put(len(store.rows("select id from study")))  # type: ignore[attr-defined]
    except StorageError as problem:
        found.put(str(problem))  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "old",
        pytest.param("new", marks=pytest.mark.slow),
        pytest.param("not yet in WAL", marks=pytest.mark.slow),
    ],
)
def test_processes_that_open_together_migrate_once(old: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "new.db" if kind == "new" else old
    if kind == "not yet in WAL":
        assert rows_of(path, "pragma journal_mode = delete") == [("delete",)]
    context = multiprocessing.get_context("spawn")
    start, found = context.Barrier(4), context.Queue()
    processes = [context.Process(target=_open, args=(str(path), start, found)) for _ in range(4)]
    for process in processes:
        process.start()
    assert [found.get(timeout=60) for _ in processes] == [0 if kind == "new" else 2] * 4
    for process in processes:
        process.join(60)
    copies = [name for name in names(tmp_path) if "before" in name]
    assert copies == ([] if kind == "new" else [COPY])
    assert rows_of(path, "select name, count(*) from _sqlite_migrations group by name") == [
        (name, 1) for name in STEPS
    ]


# --- what is not ours to open -----------------------------------------------------------------------


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_newer_database_is_refused_and_not_touched(
    tmp_path: Path, journal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "assay.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into _sqlite_migrations values (99, 'assay', 'm999_more', 'later')")
        connection.execute("create table more (id integer)")
        connection.commit()
        connection.execute(f"pragma journal_mode = {journal}")
    before = path.read_bytes()
    with pytest.raises(StorageError) as refused:
        open_store(path)
    assert str(refused.value) == (
        "The database assay.db was written by a newer Assay: this one does not know its step m999_more. "
        "Nothing was changed. Update Assay, or open another database (ASSAY_DB)."
    )
    assert path.read_bytes() == before
    assert main(["study", "list", "--db", str(path)]) == 2
    assert capsys.readouterr().err == f"{refused.value}\n"
    assert names(tmp_path) == ["assay.db"]


def test_a_newer_database_that_lacks_an_older_step_is_refused_too(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("insert into _sqlite_migrations values (99, 'assay', 'm999_more', 'later')")
        connection.commit()
    with pytest.raises(StorageError, match="a newer Assay"):
        open_store(old)
    assert names(old.parent) == ["assay.db", "assay.db.key"]


UNRELEASED = {
    "the old steps": lambda path: (path.unlink(), old_database(path.parent)),
    "a column less": lambda path: rows_of(path, "alter table study drop column early_looks"),
    "a table more": lambda path: rows_of(path, "create table more (id integer)"),
    "another trigger": lambda path: rows_of(path, "drop trigger answer_history_no_delete"),
}


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("kind", UNRELEASED)
@pytest.mark.parametrize("later", [False, True], ids=["this version", "a later one"])
def test_another_version_from_before_the_first_release_is_refused_and_not_touched(
    tmp_path: Path,
    kind: str,
    journal: str,
    later: bool,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "assay.db"
    open_store(path).close()
    UNRELEASED[kind](path)
    rows_of(path, f"pragma journal_mode = {journal}")
    if later:
        request.getfixturevalue("toy")
    before, there = path.read_bytes(), names(tmp_path)
    with pytest.raises(StorageError) as refused:
        open_store(path)
    assert str(refused.value) == (
        "The database assay.db has the schema of another version from before the first release, so nothing was changed: "
        f"convert it with {CONVERT}."
    )
    assert path.read_bytes() == before
    assert main(["study", "list", "--db", str(path)]) == 2
    assert capsys.readouterr().err == f"{refused.value}\n"
    assert names(tmp_path) == there


def test_an_owner_may_add_views_indexes_and_triggers(old: Path) -> None:
    rows_of(old, "create view done as select * from answer")
    rows_of(old, "create index my_index on answer (rater_id)")
    rows_of(old, "create trigger seen after insert on answer begin select 1; end")
    open_store(old).close()


def test_a_schema_is_checked_once_a_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(old).close()
    monkeypatch.setattr(connection_module, "differences", lambda *_, **__: pytest.fail("checked again"))
    for _ in range(3):
        open_store(old).close()


@pytest.mark.parametrize("with_steps", [False, True], ids=["plain", "with migrations of its own"])
def test_a_database_of_another_program(tmp_path: Path, with_steps: bool) -> None:
    path = tmp_path / "recipes.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table recipe (name)")
        connection.commit()
        if with_steps:
            others = Migrations("recipes")
            others(name="m001")(lambda db: db.execute("create table cook (name)"))
            others.apply(Database(connection))
    before = path.read_bytes()
    with pytest.raises(
        StorageError, match=r"recipes\.db is a database of another program \(tables: .*recipe"
    ):
        open_store(path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["recipes.db"]


def test_a_damaged_database_says_restore(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    open_store(path).close()
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * 4000 + content[4100:])
    with pytest.raises(StorageError, match=r"It is damaged\. .*restore your backup"):
        open_store(path)
