"""An old database becomes today's, with a copy kept; a newer one, and what is not ours, stay as they are."""

import json
import multiprocessing
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from reference_v1 import REFERENCE, database_v1, results_v1, rows_of
from sqlite_utils import Database, Migrations

from core.cli import main
from core.errors import StorageError
from core.results.study.counted import TOO_FEW
from core.store import connection as connection_module
from core.store import migrations as migrations_module
from core.store import open_store
from core.store.answers import answers_of, load_record
from core.store.migrations import applied_steps, pending_steps
from core.store.studies import find_study, write_design
from core.study.blinding import open_desk
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import move
from core.study.raters import links

OLD_REASON = "not answered by every rater"
"""What is now TOO_FEW."""
COPY = "assay.db.before-m002_real_raters"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return database_v1(tmp_path)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm")))


def columns(table: str) -> list[str]:
    """Columns that the old code knew."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((REFERENCE / "assay-v1.sql").read_text("utf-8"))
        return [f'"{row[1]}"' for row in connection.execute(f"pragma table_info({table})")]


# --- what was there is there ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    ["study", "item", "output", "rater", "assignment", "answer", "answer_history", "guideline", "setting"],
)
def test_every_row_is_what_it_was(old: Path, table: str) -> None:
    sql = f"select {', '.join(columns(table))} from {table} order by rowid"
    before = rows_of(old, sql)
    assert before
    open_store(old).close()
    assert rows_of(old, sql) == before


def test_the_log_names_raters_in_a_column_of_their_own(old: Path) -> None:
    before = rows_of(old, "select id, study_id, at_utc, action, detail from log order by id")
    open_store(old).close()
    after = rows_of(old, "select id, study_id, at_utc, action, detail, rater_id from log order by id")
    found = {}
    for then, now in zip(before, after, strict=True):
        assert now[:4] == then[:4]
        if now[5] is None:
            assert now[4] == then[4]
        else:
            found.setdefault(now[3], []).append((now[5], now[4]))
            assert then[4] in (now[5], f"{now[5]}: {now[4]}"), "nothing of the line is lost"
    added = found.pop("rater added")
    assert {name for name, detail in added if detail == ""} == {"ann", "ben: the second", "late", "ben"}
    assert found == {
        "preview added": [("preview-1", "")],
        "votes imported": [
            ("old", "1 preferences, side and time unknown"),
            ("old: votes", "3 preferences, side and time unknown"),
        ],
        "link revoked": [("late", "")],
        "link issued again": [("ben: the second", "")],
    }


@pytest.mark.parametrize("name", ["busy", "over"])
def test_results_are_what_they_were(old: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(old) as store:
        study = find_study(store, name)
        if study.state == "open":  # results stay shut until then
            move(store, move(store, study, "closed"), "unblinded", "to compare")
        then = results_v1()[name]
        # What counted then: all levels, pairs that every rater answered, none that was flagged.
        rules = {"main_levels": tuple(study.levels), "flagged": "leave_out"}
        needed = study.design.votes_per_pair or len(then["raters"])
        write_design(store, study.study_id, replace(study.design, **rules, votes_needed=needed))
    assert main(["study", "results", name, "--json", "--resamples", "200", "--db", str(old)]) == 0
    now = json.loads(capsys.readouterr().out)
    # An interval without width has had a reason since then, and what has too few votes is called otherwise.
    reworded = (TOO_FEW, OLD_REASON, "/interval_reason: None -> ")
    differing = {line for line in lacking(then, now) if not any(text in line for text in reworded)}
    assert differing <= {"/state: open -> unblinded"}
    assert now["analysis_set"]["declared"] is False


def lacking(then: object, now: object, place: str = "") -> list[str]:
    """Where `now` differs from `then`; keys that are new do not count."""
    if isinstance(then, dict) and isinstance(now, dict):
        gone = [f"{place}/{key} is gone" for key in then if key not in now]
        return gone + [
            p for key in then if key in now for p in lacking(then[key], now[key], f"{place}/{key}")
        ]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = enumerate(zip(then, now, strict=True))
        return [p for n, (old, new) in pairs for p in lacking(old, new, f"{place}/{n}")]
    return [] if then == now or place.endswith("version") else [f"{place}: {then} -> {now}"]


def test_a_study_works_on(old: Path) -> None:
    with open_store(old) as store:
        study = find_study(store, "busy")
        tokens = {link.rater_id: link.token for link in links(store, study)}
        assert set(tokens) == {"ann", "ben: the second", "preview-1"}
        desk = open_desk(store, tokens["ben: the second"])
        assert desk is not None, "links made before still open"
        assert desk.next_open() == 5, "4 was put off"
        done = len([a for a in answers_of(store, study.study_id) if a.answered])
        for _ in range(2):
            desk.save_choice(desk.next_open(), "left", seconds=1.0, diff_used="none")
        assert desk.next_open() is None
        assert len([a for a in answers_of(store, study.study_id) if a.answered]) == done + 2
        record = load_record(store, study)
    assert read_bundle(write_bundle(record), "b.zip") == record


def test_an_old_database_ends_in_the_schema_of_a_new_one(old: Path, tmp_path: Path) -> None:
    """But for white space: sqlite-utils wrote the first tables, one column a line."""
    new = tmp_path / "new.db"
    texts = "select type, name, sql from sqlite_master where sql is not null order by type, name"
    found = []
    for path in (old, new):
        open_store(path).close()
        found.append([(kind, name, " ".join(sql.split())) for kind, name, sql in rows_of(path, texts)])
    assert found[0] == found[1]
    assert len(found[1]) > 40


# --- the copy -------------------------------------------------------------------------------------


def test_a_copy_of_the_old_database_is_kept(old: Path, tmp_path: Path) -> None:
    dump = "select type, name, sql from sqlite_master order by name"
    before = [rows_of(old, dump), *(rows_of(old, f"select * from {t}") for t in ("study", "answer", "log"))]
    old.chmod(0o640)
    open_store(old).close()
    open_store(old).close()
    assert names(tmp_path) == ["assay.db", COPY, "assay.db.key"]
    copy = tmp_path / COPY
    after = [rows_of(copy, dump), *(rows_of(copy, f"select * from {t}") for t in ("study", "answer", "log"))]
    assert after == before
    assert rows_of(copy, "pragma integrity_check") == [("ok",)]
    assert copy.stat().st_mode & 0o777 == 0o600, "whoever could read the database may not read the copy"


def test_a_fresh_or_empty_database_needs_no_copy(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for name in ("new.db", "empty.db"):
        open_store(tmp_path / name).close()
    assert names(tmp_path) == ["empty.db", "new.db"]


def test_what_is_only_in_the_write_ahead_log_is_copied(old: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(old)) as still_open:
        still_open.execute("insert into setting values ('late', 'kept')")
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
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    before = rows_of(old, "select * from sqlite_master"), rows_of(old, "select * from log")

    def fails(_: object) -> None:
        raise problem

    with monkeypatch.context() as patch:
        step = migrations_module.STEPS["m002_real_raters"]
        patch.setitem(migrations_module.STEPS, "m002_real_raters", (*step, fails))
        for _ in range(2):
            with pytest.raises(StorageError, match=r"database assay\.db.*schema.*It is unchanged"):
                open_store(old)
    assert (rows_of(old, "select * from sqlite_master"), rows_of(old, "select * from log")) == before
    assert names(tmp_path) == ["assay.db", "assay.db.key"], "tries that fail do not fill the disk with copies"
    open_store(old).close()


def _open(path: str, start: object, found: object) -> None:
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
def test_processes_that_open_together_migrate_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "assay.db"
    if kind != "new":
        database_v1(tmp_path)
    if kind == "not yet in WAL":
        assert rows_of(path, "pragma journal_mode = delete") == [("delete",)]
    context = multiprocessing.get_context("spawn")
    start, found = context.Barrier(4), context.Queue()
    processes = [context.Process(target=_open, args=(str(path), start, found)) for _ in range(4)]
    for process in processes:
        process.start()
    assert [found.get(timeout=60) for _ in processes] == [0 if kind == "new" else 4] * 4
    for process in processes:
        process.join(60)
    copies = [name for name in names(tmp_path) if "before" in name]
    assert copies == ([] if kind == "new" else [COPY])
    assert rows_of(path, "select name, count(*) from _sqlite_migrations group by name") == [
        (name, 1) for name in all_steps()
    ]


def all_steps() -> list[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        return pending_steps(Database(connection))


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


def test_a_later_step_makes_a_copy_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the next version will do to a database of this one."""
    path = tmp_path / "assay.db"
    open_store(path).close()
    later = Migrations("assay")
    for step in migrations_module.migrations._migrations:
        later(name=step.name)(step.fn)
    later(name="m998_later")(lambda db: db.execute("create table later (id integer)"))
    for module in (migrations_module, connection_module):
        monkeypatch.setattr(module, "migrations", later)
    monkeypatch.setattr(connection_module, "_good", set())  # the next version is another process
    with open_store(path) as store:
        assert applied_steps(store.table("later").db)[-1] == "m998_later"
        assert store.rows("select * from later") == []
    assert names(tmp_path) == ["assay.db", "assay.db.before-m998_later"]
    shutil.copy(tmp_path / "assay.db.before-m998_later", tmp_path / "again.db")
    monkeypatch.undo()
    open_store(tmp_path / "again.db").close()
