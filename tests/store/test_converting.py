"""scripts/convert_database.py: a database, backup or bundle of before version 1 loses nothing and leaves the old file as it was."""

import csv
import io
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import reduce
from pathlib import Path

import pytest
from before_version_1 import KEY, old_backup, old_bundle, old_database, old_studies, rows_of
from helpers.texts.factories import edited, members_of, study_in, without_links, zipped

from core.access import is_admin, sign_in
from core.errors import InputError
from core.schema.study import StudyRecord
from core.store import Store, open_store
from core.store.answers import load_record
from core.store.backup import restore_backup, write_backup
from core.store.places import folders_of, key_path
from core.store.studies import find_study
from core.study.blinding import open_desk
from core.study.bundle import read_bundle, write_bundle
from core.study.export import answers_csv, ratings_csv
from core.study.raters import links
from core.study.shipped import shipped_texts
from scripts import convert_database as script

STUDIES = ("pairs", "looks", "ratings")
ADDED = {
    table: {"seconds_visible", "translated"}
    for table in ("answer", "answer_history", "rating_answer", "rating_history", "guess")
} | {"item": {"turns"}, "study": {"rendering", "code_language"}, "rater": {"key_scheme"}}
"""Table -> columns that the old code did not have."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    (tmp_path / "old").mkdir()
    return old_database(tmp_path / "old")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return tmp_path / "new.db"


def tables(path: Path) -> dict[str, set[str]]:
    """Table -> columns, of all tables but those of libraries."""
    names = rows_of(path, "select name from sqlite_schema where type = 'table' and name not like '%sqlite%'")
    return {name: {row[1] for row in rows_of(path, f"pragma table_info({name})")} for (name,) in names}


def exported(record: StudyRecord) -> list[dict[str, str]]:
    """Rows of the export, without columns that the old code did not have."""
    export = answers_csv if record.study.kind == "pairs" else ratings_csv
    rows = rows_of_csv(export(record).decode("utf-8-sig"))
    for column in ("seconds_visible", "translated"):
        assert {row.pop(column) for row in rows} == {""}, "no browser said it"
    for column, value in {"rendering": "plain", "code_language": ""}.items():
        assert {row.pop(column) for row in rows} == {value}, "raters read texts as written"
    for row in rows:
        row.pop("seconds_first")
    return rows


def rows_of_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def without_new(members: Mapping[str, str]) -> dict[str, str]:
    """Members of a bundle without fields that the old code did not have, and without the manifest."""
    added = (
        '"seconds_visible": null, ',
        '"translated": null, ',
        ', "turns": []',
        '"key_scheme": "digits", ',
        ',\n    "rendering": "plain",\n    "code_language": ""',
    )
    return {
        name: reduce(lambda text, new: text.replace(new, ""), added, text)
        for name, text in members.items()
        if name != "manifest.json"
    }


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- databases --------------------------------------------------------------------------------------


def test_every_row_of_every_table_is_what_it_was(old: Path, new: Path) -> None:
    before = files(old.parent)
    assert script.main([str(old), str(new)]) == 0
    assert files(old.parent) == before
    assert tables(new).keys() - tables(old).keys() == {"shipped_text"}
    added = {table: tables(new)[table] - columns for table, columns in tables(old).items()}
    assert {table: columns for table, columns in added.items() if columns} == ADDED
    assert len(tables(old)) > 25
    for table, columns in tables(old).items():
        listed = ", ".join(f'"{column}"' for column in sorted(columns))
        before_it, after = (
            rows_of(path, f"select {listed} from {table} order by {listed}") for path in (old, new)
        )
        assert before_it, f"{table} has no row, so it shows nothing"
        assert after == before_it, table


def test_what_the_app_reads_is_what_it_was(old: Path, new: Path) -> None:
    script.convert(old, new)
    with open_store(new) as store:
        for name, then in old_studies().items():
            record = load_record(store, find_study(store, name))
            assert exported(record) == rows_of_csv(then["export"])
            assert (record.study.first_vote_utc is None) == (not record.shipped)
            assert record.shipped in ((), tuple(shipped_texts(record.study)))
            members = {
                member: content.decode() for member, content in members_of(write_bundle(record)).items()
            }
            now = without_new(members)
            assert {name: now[name] for name in then["bundle"] if name in now} == without_new(then["bundle"])
        tokens = {link.rater_id: link.token for link in links(store, find_study(store, "pairs"))}
        assert open_desk(store, tokens["R1"]) is not None, "links made before still open"
        assert is_admin(store, sign_in(store, "four words for tests", "here"))
    assert key_path(new).read_text() == KEY
    assert {path.stat().st_mode & 0o777 for path in (new, key_path(new))} == {0o600}


def test_the_history_of_a_converted_database_only_grows(old: Path, new: Path) -> None:
    script.convert(old, new)
    with closing(sqlite3.connect(new)) as connection:
        for table in ("answer_history", "rating_history", "entered_question"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(f"delete from {table}")


def test_folders_of_runs_come_along(old: Path, new: Path) -> None:
    folder = folders_of(old) / "run-1"
    folder.mkdir(parents=True)
    (folder / "texts.parquet").write_bytes(b"PAR1")
    script.convert(old, new)
    assert files(folders_of(new)) == {"texts.parquet": b"PAR1"} == files(folders_of(old))


def test_what_is_only_in_the_write_ahead_log_comes_along(old: Path, new: Path) -> None:
    with closing(sqlite3.connect(old)) as still_open:
        still_open.execute("insert into setting values ('late', 'kept')")
        still_open.commit()
        script.convert(old, new)
    assert rows_of(new, "select count(*) from setting where value = 'kept'") == [(1,)]


def test_an_earlier_edit_of_version_1_gets_what_it_lacks(
    store: Store, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lacks a column without a default, one with a default, and a table."""
    record = study_in(store, rendering="code", code_language="sql").record
    store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        for change in (
            "alter table study drop column early_looks",
            "alter table run drop column message",
            "drop table inclusion",
        ):
            connection.execute(change)
    with pytest.raises(InputError, match=r"early_looks"):
        script.convert(store.path, new)
    assert not new.exists()
    monkeypatch.setattr(script, "ADDED_COLUMNS", script.ADDED_COLUMNS | {("study", "early_looks"): "0"})
    script.convert(store.path, new)
    with open_store(new) as opened:
        assert load_record(opened, find_study(opened, "study")) == record
        assert opened.rows("select * from inclusion") == []


# --- backups and bundles ----------------------------------------------------------------------------


def test_a_backup_is_restored_with_its_links_and_tables(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    old, new = tmp_path / "old.zip", tmp_path / "new.zip"
    old.write_bytes(old_backup(tmp_path / "made", {"run-1/texts.parquet": b"PAR1"}))
    before = old.read_bytes()
    assert script.main([str(old), str(new)]) == 0
    assert old.read_bytes() == before
    path = tmp_path / "restored" / "assay.db"
    restored = restore_backup(new, path)
    assert (set(restored.studies), restored.left_out) == (set(STUDIES), (2,))
    assert (restored.created_utc, restored.app_version) == ("2026-11-29T01:00:00.000Z", "0.1.0")
    assert files(folders_of(path)) == {"texts.parquet": b"PAR1"}
    with open_store(path) as store:
        for name, then in old_studies().items():
            assert exported(load_record(store, find_study(store, name))) == rows_of_csv(then["export"])
        assert open_desk(store, links(store, find_study(store, "pairs"))[0].token) is not None


@pytest.mark.parametrize("name", STUDIES)
def test_a_bundle_is_imported_with_the_same_votes(name: str, tmp_path: Path) -> None:
    old, new = tmp_path / "old.zip", tmp_path / "new.zip"
    old.write_bytes(old_bundle(name))
    before = old.read_bytes()
    assert script.main([str(old), str(new)]) == 0
    assert old.read_bytes() == before
    record = read_bundle(new.read_bytes(), "new.zip")
    assert exported(record) == rows_of_csv(old_studies()[name]["export"])
    script.convert(old_database(tmp_path), tmp_path / "new.db")
    with open_store(tmp_path / "new.db") as store:
        assert without_links(load_record(store, find_study(store, name))) == without_links(record)


# --- refused ----------------------------------------------------------------------------------------


def refused(old: Path, new: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence of a refusal, which neither changes nor leaves a file."""
    before = files(old.parent)
    assert script.main([str(old), str(new)]) == 2
    assert files(old.parent) == before
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_other_files_are_refused(tmp_path: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = write_bundle(study_in(store).record)
    store.forget()
    manifest = json.loads(members_of(bundle)["manifest.json"])
    damaged = members_of(old_bundle("pairs")) | {"answers.jsonl": b""}
    (tmp_path / "made").mkdir()
    backup = old_backup(tmp_path / "made")
    other = members_of(backup) | {"assay.db": b"SQLite format 3\0"}
    for name, content in {
        "notes.txt": b"notes",
        "empty.db": b"",
        "cut.zip": bundle[:200],
        "other.zip": zipped({"a.txt": b"a"}),
        "newer.zip": zipped({"manifest.json": json.dumps(manifest | {"version": 8}).encode()}),
        "this.zip": bundle,
        "these.zip": write_backup(store),
        "damaged.zip": zipped(damaged),
        "forged.zip": zipped(other),
        "cut-backup.zip": zipped({name: content for name, content in other.items() if name != "assay.db"}),
        "no-key.zip": edited(backup, {"assay.db.key": b""}),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert name in refused_briefly(tmp_path / name, tmp_path / "new", capsys)
    assert store.path.name in refused(store.path, tmp_path / "new", capsys)
    assert not (tmp_path / "new").exists()


def refused_briefly(old: Path, new: Path, capsys: pytest.CaptureFixture[str]) -> str:
    before = old.read_bytes()
    assert script.main([str(old), str(new)]) == 2
    assert old.read_bytes() == before
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("delete from _sqlite_migrations where name > 'm005'", "m004_scores"),
        ("update _sqlite_migrations set name = 'm012_more' where id = 11", "m012_more"),
        ("update _sqlite_migrations set migration_set = 'x'", "another program"),
        ("alter table answer add column more text", "answer.more"),
        ("create table more (id integer)", "more.id"),
    ],
)
def test_other_databases_are_refused(
    old: Path, new: Path, statement: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(statement)
        connection.commit()
    assert named in refused(old, new, capsys)
    assert not new.exists()


@pytest.mark.parametrize("ending", ["", ".key", ".d"])
def test_no_file_is_written_over(
    old: Path, new: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    there = new.with_name(new.name + ending)
    there.write_text("mine")
    assert there.name in refused(old, new, capsys)
    assert there.read_text() == "mine"


def test_a_file_that_is_not_there(tmp_path: Path, new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.db" in refused(tmp_path / "none.db", new, capsys)
