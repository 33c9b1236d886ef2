"""Backup and restore: database and key together, checked before anything is touched, whole or not at all."""

import hashlib
import json
import sqlite3
import threading
import time
import zipfile
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from before_version_1 import old_backup, rows_of
from helpers.texts.factories import always, edited, members_of, study_in, vote, zipped

from core.access import choose_passphrase, is_admin, link_is_open, make_link, sign_in
from core.errors import AssayError, InputError, StorageError
from core.installation import CONVERT
from core.schema.study import Answer
from core.store import Store, backup, open_store
from core.store.answers import PAIRS, answers_of, load_record
from core.store.backup import restore_backup, write_backup
from core.store.migrations import STEPS
from core.store.places import key_path
from core.store.raters import events, link_token
from core.store.studies import find_study, list_studies, write_setting
from core.study.blinding import open_desk
from core.study.bundle import write_bundle
from core.study.raters import links, revoke_link

pytestmark = pytest.mark.usefixtures("each_pair_task")

PASSPHRASE = "four words for tests"


@pytest.fixture
def busy(store: Store) -> Store:
    at_hand = study_in(store)
    vote(store, at_hand.tokens["R1"], always("left"))
    return store


def state(path: Path) -> tuple[object, ...]:
    """Everything about a database that a failed step must leave: rows, schema, key."""
    with open_store(path) as store:
        studies = [load_record(store, study) for study in list_studies(store)]
        return studies, store.rows("select * from sqlite_master order by name"), key_path(path).read_text()


def others(folder: Path) -> list[str]:
    """Files that neither belong to the database nor are SQLite's own."""
    known = ("assay.db", "assay.db.key", "assay.db-wal", "assay.db-shm")
    return sorted(path.name for path in folder.iterdir() if path.name not in known)


def changed_database(data: bytes, *statements: str, folder: Path) -> bytes:
    """The backup with its database changed by SQL and a manifest that fits: what a careful forger makes."""
    path = folder / "forged.db"
    path.write_bytes(members_of(data)["assay.db"])
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    content = path.read_bytes()
    path.unlink()
    return edited(data, {"assay.db": content})


def changed_manifest(data: bytes, **values: object) -> bytes:
    manifest = {**json.loads(members_of(data)["manifest.json"]), **values}
    return zipped({**members_of(data), "manifest.json": json.dumps(manifest).encode()})


# --- out and back -----------------------------------------------------------------------------------


def test_a_backup_is_the_database_the_key_and_a_manifest(busy: Store, tmp_path: Path) -> None:
    members = members_of(write_backup(busy))
    manifest = json.loads(members.pop("manifest.json"))
    assert manifest["format"] == "assay-backup"
    assert (manifest["version"], manifest["migrations"]) == (1, list(STEPS))
    assert manifest["created_utc"].endswith("Z")
    assert manifest["sha256"] == {name: hashlib.sha256(c).hexdigest() for name, c in members.items()}
    assert members["assay.db.key"] == key_path(busy.path).read_bytes()
    (tmp_path / "copy.db").write_bytes(members["assay.db"])
    assert rows_of(tmp_path / "copy.db", "select count(*) from answer") == [(21,)]
    assert rows_of(tmp_path / "copy.db", "pragma journal_mode") == [("delete",)], "one file, no log beside it"
    assert others(tmp_path) == ["copy.db"], "nothing is left lying about"


def test_a_backup_of_a_new_database_has_a_key_already(store: Store, tmp_path: Path) -> None:
    restored = restore_backup(write_backup(store), tmp_path / "else" / "new.db")
    assert restored.studies == ()
    with open_store(tmp_path / "else" / "new.db") as other:
        assert link_token(other, "x") == link_token(store, "x")


def test_restored_elsewhere_everything_is_there_and_links_open(busy: Store, tmp_path: Path) -> None:
    study = find_study(busy, "study")
    record, before = load_record(busy, study), links(busy, study)
    path = tmp_path / "far" / "away.db"
    restored = restore_backup(write_backup(busy), path)
    assert (restored.studies, restored.kept) == (("study",), None)
    with open_store(path) as other:
        assert load_record(other, study) == record
        assert links(other, study) == before
        desk = open_desk(other, before[0].token)
        assert desk is not None
        desk.save_choice(1, "right", seconds=1.0, diff_used="none")
        assert other.row("pragma journal_mode") == {"journal_mode": "wal"}
    assert sorted(p.name for p in path.parent.iterdir()) == ["away.db", "away.db.key"]
    assert key_path(path).stat().st_mode & 0o777 == 0o600


def test_an_existing_database_is_not_touched_unless_said(busy: Store, tmp_path: Path) -> None:
    data, before = write_backup(busy), state(busy.path)
    with pytest.raises(InputError, match=r"The database assay\.db already exists.*--replace"):
        restore_backup(data, busy.path)
    assert state(busy.path) == before
    assert others(tmp_path) == []


def test_replace_keeps_what_was_there_with_its_key(busy: Store, tmp_path: Path) -> None:
    data, study = write_backup(busy), find_study(busy, "study")
    then = load_record(busy, study)
    token = {link.rater_id: link.token for link in links(busy, study)}["R2"]
    vote(busy, token, always("right"))
    revoke_link(busy, study, "R2")
    now = load_record(busy, study)
    kept = restore_backup(data, busy.path, replace=True).kept
    assert kept is not None
    assert load_record(busy, study) == then, "a connection that was open all the time sees it"
    assert open_desk(busy, token) is not None, "as it stood then, the link too"
    with open_store(kept) as old:
        assert load_record(old, study) == now
        assert links(old, study)[0] == links(busy, study)[0], "the copy has its key"
    again = restore_backup(data, busy.path, replace=True).kept
    assert again not in (None, kept)
    assert kept.exists()


def test_a_key_of_another_database_is_exchanged_with_it(busy: Store, tmp_path: Path) -> None:
    data, ours = write_backup(busy), links(busy, find_study(busy, "study"))
    path = tmp_path / "other" / "assay.db"
    with open_store(path) as other:
        theirs = links(other, study_in(other, name="theirs").study)
    kept = restore_backup(data, path, replace=True).kept
    for where, name, expected in ((path, "study", ours), (kept, "theirs", theirs)):
        with open_store(where) as opened:
            assert links(opened, find_study(opened, name)) == expected
            assert open_desk(opened, expected[0].token) is not None, "key and database fit"


def test_nobody_is_signed_in_again_and_no_one_time_link_works_twice(busy: Store) -> None:
    choose_passphrase(busy, make_link(busy), PASSPHRASE, PASSPHRASE)
    link = make_link(busy)
    session = sign_in(busy, PASSPHRASE, "here")
    data = write_backup(busy)
    choose_passphrase(busy, link, f"another {PASSPHRASE}", f"another {PASSPHRASE}")
    restore_backup(data, busy.path, replace=True)
    assert not is_admin(busy, session)
    assert not link_is_open(busy, link)
    assert is_admin(busy, sign_in(busy, PASSPHRASE, "here")), "the passphrase is the backup's"
    assert "backup restored" in [event.kind for event in events(busy)]


def test_a_backup_from_before_version_1_is_refused_with_the_script_that_converts_it(
    busy: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With folders of runs its own version was 2, without them 1."""
    for tables in ({}, {"run-1/texts.parquet": b"PAR1"}):
        folder = tmp_path_factory.mktemp("old")
        told = refused(old_backup(folder, tables), busy)
        assert CONVERT in told
        assert "unknown" not in told, "its schema is not compared, line by line, with today's"


def test_an_older_backup_is_brought_to_todays_schema(
    busy: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = write_backup(busy)
    toy = request.getfixturevalue("toy")
    restore_backup(data, tmp_path / "else" / "new.db")
    assert rows_of(tmp_path / "else" / "new.db", "select count(*) from setting where toy <> value") == [(0,)]
    assert [path.name for path in (tmp_path / "else").iterdir() if toy in path.name] == []


def test_a_rewritten_trigger_in_an_older_backup(
    busy: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = changed_database(
        write_backup(busy),
        "drop trigger answer_history_no_delete",
        "create trigger answer_history_no_delete before delete on answer_history "
        "begin update answer set choice = 'left'; end",
        folder=tmp_path,
    )
    request.getfixturevalue("toy")
    with pytest.raises(InputError, match="another trigger answer_history_no_delete"):
        restore_backup(data, tmp_path / "else" / "new.db")


def test_another_page_size(busy: Store, tmp_path: Path) -> None:
    data = changed_database(write_backup(busy), "pragma page_size = 1024", "vacuum", folder=tmp_path)
    restore_backup(data, busy.path, replace=True)
    assert busy.row("pragma page_size") == {"page_size": 4096}
    assert len(answers_of(busy, 1)) == 21


def test_a_smaller_database_over_a_larger_one(busy: Store, tmp_path: Path) -> None:
    data = write_backup(busy)
    write_setting(busy, "large", "x" * 1_000_000)
    restore_backup(data, busy.path, replace=True)
    assert busy.row("pragma integrity_check") == {"integrity_check": "ok"}
    assert busy.row("select count(*) as n from setting where key = 'large'") == {"n": 0}
    busy.close()
    assert b"x" * 1000 not in busy.path.read_bytes()


# --- while others work ------------------------------------------------------------------------------


def test_readers_and_writers_see_one_database_or_the_other(busy: Store, tmp_path: Path) -> None:
    """Nothing that was acknowledged is lost: it is in the database, or in a copy that was kept."""
    data = write_backup(busy)
    stop, acknowledged, torn = threading.Event(), [], []

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with open_store(busy.path) as own:
                write_setting(own, f"n{number}", str(number))
                acknowledged.append(f"n{number}")

    def read() -> None:
        with open_store(busy.path) as own:
            while not stop.is_set():
                counts = [
                    own.row(f"select count(*) as n from {t}")["n"] for t in ("answer", "answer_history")
                ]
                if counts != [21, 21]:
                    torn.append(counts)

    threads = [threading.Thread(target=work) for work in (write, read, read)]
    for thread in threads:
        thread.start()
    kept = []
    for _ in range(5):
        time.sleep(0.2)
        write_backup(busy)
        kept.append(restore_backup(data, busy.path, replace=True).kept)
    stop.set()
    for thread in threads:
        thread.join()
    assert torn == []
    found = set()
    for path in [*kept, busy.path]:
        assert rows_of(path, "pragma integrity_check") == [("ok",)]
        found |= {row[0] for row in rows_of(path, "select key from setting where key like 'n%'")}
    assert acknowledged
    assert set(acknowledged) - found == set()


def test_a_writer_that_takes_long_is_waited_for(busy: Store) -> None:
    data = write_backup(busy)

    def write() -> None:
        with open_store(busy.path) as own, own.writing():
            write_setting(own, "slow", "kept")
            started.set()
            time.sleep(0.7)

    started = threading.Event()
    writer = threading.Thread(target=write)
    writer.start()
    started.wait()
    kept = restore_backup(data, busy.path, replace=True).kept
    writer.join()
    assert rows_of(kept, "select value from setting where key = 'slow'") == [("kept",)]


def test_a_writer_that_never_ends(busy: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.store.backup.BUSY_TIMEOUT_SECONDS", 0.2)
    data, before = write_backup(busy), state(busy.path)
    locked = pytest.raises(StorageError, match=r"database is locked")
    with open_store(busy.path) as other, other.writing(), locked:
        restore_backup(data, busy.path, replace=True)
    assert state(busy.path) == before
    assert others(tmp_path) == []


# --- backups that cannot be used ----------------------------------------------------------------------


def refused(data: bytes, store: Store) -> str:
    before = state(store.path)
    with pytest.raises(AssayError) as problem:
        restore_backup(data, store.path, file_name="b.zip", replace=True)
    assert state(store.path) == before
    assert others(store.path.parent) == []
    return str(problem.value)


def test_not_a_backup(busy: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_backup(busy)
    bundle = write_bundle(load_record(busy, find_study(busy, "study")))
    assert "Use `python -m core study import FILE`" in refused(bundle, busy)
    for content in (b"", b"notes", data[: len(data) // 2], data.replace(b"PK\x03\x04", b"PK\x03\x05")):
        assert "b.zip is damaged or not a backup" in refused(content, busy)
    assert "no manifest.json" in refused(zipped({"a.txt": b"a"}), busy)
    assert "not an Assay backup" in refused(zipped({"manifest.json": b"[]"}), busy)
    for version in (2, "1", None):
        assert f"backup version {version!r}, not 1" in refused(changed_manifest(data, version=version), busy)
    for lack in ({"sha256": None}, {"migrations": 1}, {"created_utc": 5}, {"tables": None}, {"tables": {}}):
        assert "its manifest is incomplete" in refused(changed_manifest(data, **lack), busy)
    with zipfile.ZipFile(other := BytesIO(), "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("manifest.json", "{}")
    assert "uses a zip compression that Assay does not use" in refused(other.getvalue(), busy)
    monkeypatch.setattr(backup, "LARGEST_BYTES", 1000)
    assert "unpacks to more than 0 MiB" in refused(data, busy)


def test_all_problems_of_a_damaged_backup_at_once(busy: Store) -> None:
    data = write_backup(busy)
    members = members_of(data)
    half = members["assay.db"][: len(members["assay.db"]) // 2]
    said = refused(zipped({**members, "assay.db": half, "assay.db.key": b"no key"}), busy)
    for part in (
        "assay.db does not match the manifest",
        "assay.db.key does not match the manifest",
        "assay.db cannot be read (database disk image is malformed)",
        "assay.db.key is not a valid key",
    ):
        assert part in said
    del members["assay.db.key"]
    assert "assay.db.key is missing" in refused(zipped(members), busy)
    assert "has 2 bytes instead of 32" in refused(edited(data, {"assay.db.key": b"abcd"}), busy)


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["insert into _sqlite_migrations values (99, 'assay', 'm999', '')"], r"a newer Assay \(step m999\)"),
        (["update _sqlite_migrations set migration_set = 'x'"], "not an Assay database"),
        (
            ["update _sqlite_migrations set name = 'm000'"],
            "a different schema from the manifest",
        ),
        (
            ["insert into log values (99, 77, '', '', '', null)"],
            "1 rows refer to missing rows, the first in table log",
        ),
        (["drop trigger answer_history_no_delete"], "lacks the trigger answer_history_no_delete"),
        (["drop index rater_token"], "lacks the index rater_token"),
        (
            [
                "create trigger spy after insert on answer begin delete from log; end",
                "create view v as select 1",
            ],
            "has an unknown trigger spy",
        ),
        (
            [
                "drop trigger answer_history_no_delete",
                "create trigger answer_history_no_delete before delete on answer_history "
                "begin update answer set choice = 'left'; end",
            ],
            "has another trigger answer_history_no_delete than Assay creates",
        ),
        (
            [
                "drop index study_name",
                "create unique index study_name on study (name) where id > 9",
            ],
            "has another index study_name than",
        ),
        (
            ["alter table answer add column spy text"],
            "has another table answer than",
        ),
        (["create table spy (id integer)"], "has an unknown table spy"),
        (
            [
                "pragma writable_schema = on",
                "insert into sqlite_schema values ('trigger', 'sqlite_spy', 'answer', 0, "
                "'create trigger sqlite_spy after insert on answer begin delete from log; end')",
            ],
            "has an unknown trigger sqlite_spy",
        ),
    ],
    ids=lambda value: value[0][:30] if isinstance(value, list) else "",
)
def test_a_forged_database(
    busy: Store, tmp_path_factory: pytest.TempPathFactory, statements: list[str], said: str
) -> None:
    data = changed_database(write_backup(busy), *statements, folder=tmp_path_factory.mktemp("forged"))
    with pytest.raises(InputError, match=said):
        restore_backup(data, busy.path, replace=True)
    refused(data, busy)


def test_statistics_of_sqlite_are_no_change(busy: Store, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = changed_database(write_backup(busy), "analyze", folder=tmp_path_factory.mktemp("analysed"))
    restore_backup(data, busy.path, replace=True)
    assert busy.row("select count(*) as n from sqlite_stat1") != {"n": 0}


def test_a_member_that_is_no_database(busy: Store) -> None:
    said = refused(edited(write_backup(busy), {"assay.db": b"notes " * 500}), busy)
    assert "assay.db cannot be read (file is not a database)" in said


# --- never half-done ----------------------------------------------------------------------------------


@pytest.mark.parametrize("point", ["copy", "key", "pages", "last page"])
def test_a_failure_half_way_leaves_the_old_database_and_its_key(
    busy: Store, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """The copy cannot be kept; the key cannot be placed; no room for some page, or for the last one."""
    with open_store(tmp_path_factory.mktemp("other") / "assay.db") as other:
        study_in(other, name="other")
        write_setting(other, "large", "x" * 3_000_000)
        data = write_backup(other)
    before = state(busy.path)

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        if point == "copy":
            patch.setattr("core.store.backup.copy_database", no_room)
        elif point == "key":
            patch.setattr("core.store.backup.os.replace", no_room)
        else:
            connect = sqlite3.connect
            whole = len(members_of(data)["assay.db"]) // 4096

            def small(path: object, **options: object) -> sqlite3.Connection:
                connection = connect(path, **options)
                if path == busy.path:
                    most = 60 if point == "pages" else whole - 1
                    connection.execute(f"pragma max_page_count = {most}").fetchall()
                return connection

            patch.setattr("core.store.backup.sqlite3.connect", small)
        with pytest.raises(StorageError, match=r"assay\.db could not be used .*(No space|full)"):
            restore_backup(data, busy.path, replace=True)
    assert state(busy.path) == before
    assert others(busy.path.parent) == []
    assert PAIRS.save(busy, 1, Answer("R1", "q00", "A0", choice="both_bad")), "and the study goes on"


def test_somebody_elses_file_is_never_replaced(busy: Store, tmp_path: Path) -> None:
    data = write_backup(busy)
    path = tmp_path / "recipes.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table recipe (name)")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="a database of another program"):
        restore_backup(data, path, replace=True)
    assert path.read_bytes() == before
    (tmp_path / "notes.db").write_bytes(b"notes " * 500)
    with pytest.raises(StorageError, match="It is not an SQLite database"):
        restore_backup(data, tmp_path / "notes.db", replace=True)
    assert (tmp_path / "notes.db").read_bytes() == b"notes " * 500


def test_a_log_left_by_a_deleted_database_is_not_mixed_in(busy: Store, tmp_path: Path) -> None:
    data = write_backup(busy)
    path = tmp_path / "new.db"
    write_setting(busy, "late", "in the log alone")
    path.with_name("new.db-wal").write_bytes(busy.path.with_name("assay.db-wal").read_bytes())
    restore_backup(data, path)
    assert rows_of(path, "select count(*) from setting where key = 'late'") == [(0,)]
    assert rows_of(path, "pragma integrity_check") == [("ok",)]


def test_the_zip_can_be_unpacked_by_hand(busy: Store, tmp_path: Path) -> None:
    """Names inside are such that the two files work where they are unpacked."""
    with zipfile.ZipFile(BytesIO(write_backup(busy))) as archive:
        archive.extractall(tmp_path / "by hand")
    with open_store(tmp_path / "by hand" / "assay.db") as opened:
        study = find_study(opened, "study")
        assert links(opened, study) == links(busy, study)
