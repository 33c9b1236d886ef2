"""Folders of runs in a backup: by choice, checked, never attached to a run of another database."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from helpers.texts.factories import edited, members_of, waiting_run, zipped

from core.errors import InputError, StorageError
from core.store import Store, backup, connection, open_store
from core.store.backup import restore_backup, tables_of, tables_without, write_backup, write_backup_file
from core.store.beside import (
    files_in,
    left_out,
    left_out_said,
    make_run_folder,
    numbers_of_folders,
    orphans,
    run_folder,
)
from core.store.places import folders_of
from core.store.runs import delete_run, insert_run, list_runs

ROOT = Path(__file__).parents[2]
TABLE = b"PAR1" + bytes(range(256)) * 5_000


def with_table(store: Store, content: bytes = TABLE) -> int:
    """A run with a table, a file in a subfolder, and one that is still written."""
    run = waiting_run(store)
    folder = make_run_folder(store, run.run_id)
    (folder / "texts.parquet").write_bytes(content)
    (folder / "answers").mkdir()
    (folder / "answers" / "round-001.jsonl").write_text("{}\n")
    (folder / "scores.parquet.partial").write_bytes(b"half")
    return run.run_id


def saved(store: Store, folder: Path, *, with_tables: bool = True) -> Path:
    target = folder / "b.zip"
    write_backup_file(store, target, with_tables=with_tables)
    return target


def test_with_tables_everything_comes_back(store: Store, tmp_path: Path) -> None:
    plain = waiting_run(store).run_id
    number = with_table(store)
    assert tables_of(store) == {number: len(TABLE) + 3}
    file = saved(store, tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    path = tmp_path / "else" / "new.db"
    restored = restore_backup(file, path)
    assert (restored.left_out, restored.folders_kept) == ((), None)
    with open_store(path) as other:
        folder = run_folder(other, number)
        assert (folder / "texts.parquet").read_bytes() == TABLE
        assert (folder / "answers" / "round-001.jsonl").read_text() == "{}\n"
        assert sorted(one.name for one in folder.iterdir()) == ["answers", "texts.parquet"]
        assert (folder.stat().st_mode & 0o777, folder.parent.stat().st_mode & 0o777) == (0o700, 0o700)
        assert not run_folder(other, plain).exists()
        assert left_out_said(other, number) is None
    assert sorted(one.name for one in path.parent.iterdir()) == ["new.db", "new.db.d", "new.db.key"]


def test_what_others_put_into_a_folder_spoils_no_backup(store: Store, tmp_path: Path) -> None:
    number, linked = with_table(store), waiting_run(store).run_id
    folder = run_folder(store, number)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.txt").write_text("private")
    (folder / "my answers (1).jsonl").write_text("{}\n")
    (folder / "link.txt").symlink_to(outside / "private.txt")
    (folder / "there").symlink_to(outside)
    run_folder(store, linked).symlink_to(outside)
    assert tables_of(store) == {number: len(TABLE) + 3, linked: 0}
    path = tmp_path / "else" / "new.db"
    assert restore_backup(saved(store, tmp_path), path).left_out == (linked,)
    with open_store(path) as other:
        names = sorted(one.name for one in run_folder(other, number).iterdir())
        assert names == ["answers", "texts.parquet"]
        assert left_out_said(other, linked) is not None


def test_every_file_is_in_the_backup_or_named(store: Store, tmp_path: Path) -> None:
    number, linked, plain = with_table(store), waiting_run(store).run_id, waiting_run(store).run_id
    folder = run_folder(store, number)
    (folder / "texts.parquet").rename(tmp_path / "texts.parquet")
    (folder / "texts.parquet").symlink_to(tmp_path / "texts.parquet")
    (folder / "part.parquet").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe")
    (folder / "my answers.jsonl").write_text("{}\n")
    (folder / "there").symlink_to(tmp_path)
    run_folder(store, linked).symlink_to(tmp_path)
    (make_run_folder(store, plain) / "plain.jsonl").write_text("{}\n")
    lacking = write_backup_file(store, tmp_path / "b.zip", with_tables=True)
    assert lacking == tables_without(store)
    names = ("my answers.jsonl", "part.parquet", "pipe", "texts.parquet", "there")
    assert lacking.keys() == {*(f"run-{number}/{name}" for name in names), f"run-{linked}"}
    manifest = json.loads(members_of((tmp_path / "b.zip").read_bytes())["manifest.json"])
    assert manifest["tables"]["left_out"] == lacking
    assert restore_backup(tmp_path / "b.zip", tmp_path / "else" / "new.db").files_left_out == lacking


def test_a_file_that_disappears_spoils_no_backup(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = with_table(store)
    gone = run_folder(store, number) / "answers" / "round-001.jsonl"

    def files_then_gone(folder: Path) -> list[Path]:
        found = [*files_in(folder), gone]
        gone.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(backup, "files_in", files_then_gone)
    assert restore_backup(saved(store, tmp_path), tmp_path / "else" / "new.db").left_out == ()


def test_unpacked_by_hand_it_works_as_it_is(store: Store, tmp_path: Path) -> None:
    number = with_table(store)
    with zipfile.ZipFile(saved(store, tmp_path)) as archive:
        archive.extractall(tmp_path / "hand")
    with open_store(tmp_path / "hand" / "assay.db") as other:
        assert (run_folder(other, number) / "texts.parquet").read_bytes() == TABLE


@pytest.mark.parametrize("as_bytes", [True, False])
def test_without_tables_the_runs_say_so(store: Store, tmp_path: Path, as_bytes: bool) -> None:
    number = with_table(store)
    data = write_backup(store) if as_bytes else saved(store, tmp_path, with_tables=False)
    content = members_of(data if isinstance(data, bytes) else data.read_bytes())
    manifest = json.loads(content["manifest.json"])
    assert manifest["tables"] == {"included": False, "runs": {str(number): len(TABLE) + 3}, "left_out": {}}
    assert sorted(content) == ["assay.db", "assay.db.key", "manifest.json"]
    path = tmp_path / "else" / "new.db"
    assert restore_backup(data, path).left_out == (number,)
    with open_store(path) as other:
        assert f"run {number} were left out" in (left_out_said(other, number) or "")
        assert restore_backup(write_backup(other), tmp_path / "third" / "new.db").left_out == (number,)
        again = saved(other, tmp_path)
        make_run_folder(other, number)
        assert left_out(other) == set(), "somebody brought them"
    with open_store(tmp_path / "third" / "new.db") as third:
        assert left_out(third) == {number}
    assert restore_backup(again, tmp_path / "fourth" / "new.db").left_out == (number,)


def test_no_run_gets_the_tables_of_another_databases_run(store: Store, tmp_path: Path) -> None:
    ours = with_table(store)
    file = saved(store, tmp_path)
    bare = write_backup(store)
    path = tmp_path / "live" / "assay.db"
    with open_store(path) as live:
        theirs = with_table(live, b"theirs")
        assert theirs == ours
        restored = restore_backup(bare, path, replace=True)
        assert not run_folder(live, ours).exists()
        assert left_out(live) == {ours}
        assert restored.kept is not None
        assert restored.folders_kept == folders_of(restored.kept)
    with open_store(restored.kept) as old:
        assert (run_folder(old, theirs) / "texts.parquet").read_bytes() == b"theirs"
    with open_store(path) as live:
        restored = restore_backup(file, path, replace=True)
        assert restored.folders_kept is None
        assert (run_folder(live, ours) / "texts.parquet").read_bytes() == TABLE
        assert left_out(live) == set()


def test_folders_of_a_database_that_is_gone_move_away_too(store: Store, tmp_path: Path) -> None:
    number = with_table(store)
    path = tmp_path / "else" / "assay.db"
    stray = folders_of(path) / f"run-{number}"
    stray.mkdir(parents=True)
    (stray / "texts.parquet").write_bytes(b"stray")
    restored = restore_backup(write_backup(store), path)
    assert restored.kept is None
    assert restored.folders_kept is not None
    assert (restored.folders_kept / stray.name / "texts.parquet").read_bytes() == b"stray"
    assert not folders_of(path).exists()


def test_a_failed_restore_leaves_the_folders(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = with_table(store)
    file = saved(store, tmp_path)
    for name in ("replace", "link"):
        with monkeypatch.context() as broken:

            def fails(*_: object) -> None:
                raise OSError("disk full")

            broken.setattr(backup.os, name, fails)
            with pytest.raises(StorageError):
                restore_backup(file, store.path, replace=True)
        assert (run_folder(store, number) / "texts.parquet").read_bytes() == TABLE
        assert not list(tmp_path.glob("*.before-*")), name


def test_forged_and_damaged_tables_are_refused_together(store: Store, tmp_path: Path) -> None:
    number = with_table(store)
    data = saved(store, tmp_path).read_bytes()
    members = members_of(data)
    name = f"assay.db.d/run-{number}/texts.parquet"
    path = tmp_path / "else" / "new.db"

    def refused(changed: bytes) -> str:
        with pytest.raises(InputError) as problem:
            restore_backup(changed, path)
        assert not path.exists()
        assert not folders_of(path).exists()
        return str(problem.value)

    assert f"{name} is missing" in refused(zipped({k: v for k, v in members.items() if k != name}))
    assert f"{name} does not match" in refused(zipped(members | {name: b"other"}))
    outside = "assay.db.d/run-1/../../evil"
    assert f"{outside} is not a file of a run" in refused(edited(data, {outside: b"x"}))
    assert "is not in the manifest" in refused(zipped(members | {"assay.db.d/run-9/x": b"x"}))
    odd = json.loads(members["manifest.json"]) | {"tables": {"runs": {"x": 1}}}
    assert "manifest is incomplete" in refused(zipped(members | {"manifest.json": json.dumps(odd).encode()}))
    assert not (tmp_path / "evil").exists()


def test_what_does_not_fit_is_refused_before_anything_is_written(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_table(store)
    usage = backup.shutil.disk_usage(tmp_path)._replace(free=1_000)
    file = saved(store, tmp_path)
    monkeypatch.setattr(backup.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(InputError, match="left"):
        write_backup_file(store, tmp_path / "c.zip", with_tables=True)
    with pytest.raises(InputError, match="its tables need"):
        restore_backup(file, tmp_path / "else" / "new.db")
    assert sorted(one.name for one in tmp_path.glob("*.zip")) == ["b.zip"]


def test_members_are_those_of_the_manifest(store: Store, tmp_path: Path) -> None:
    with_table(store)
    members = members_of(saved(store, tmp_path).read_bytes())
    manifest = json.loads(members.pop("manifest.json"))
    assert manifest["sha256"] == {name: hashlib.sha256(c).hexdigest() for name, c in members.items()}
    with zipfile.ZipFile(BytesIO((tmp_path / "b.zip").read_bytes())) as archive:
        methods = {info.filename.rpartition(".")[2]: info.compress_type for info in archive.infolist()}
    assert methods["parquet"] == zipfile.ZIP_STORED


def test_a_new_run_never_takes_over_a_folder_or_a_number(store: Store) -> None:
    first = with_table(store)
    stray = folders_of(store.path) / f"run-{first + 4}"
    stray.mkdir()
    assert [one.run_id for one in orphans(store)] == [first + 4]
    new = waiting_run(store).run_id
    assert new == first + 5
    delete_run(store, new)
    assert insert_run(store, list_runs(store)[0], b"").run_id == new, "it was refused, so no list showed it"


CHILD = """
import os, sys
from pathlib import Path
from core.store import backup
real, seen = os.rename, []
def rename(old, new):
    seen.append(new)
    if len(seen) == 2 and sys.argv[3] == "before the new folder comes":
        os._exit(9)
    real(old, new)
    if len(seen) == 1 and sys.argv[3] == "before the commit":
        os._exit(9)
backup.os.rename = rename
backup.restore_backup(Path(sys.argv[1]), Path(sys.argv[2]), replace=True)
"""


@pytest.mark.parametrize("moment", ["before the commit", "before the new folder comes"])
def test_a_killed_restore_never_mixes_tables_and_may_be_repeated(
    store: Store, tmp_path: Path, moment: str
) -> None:
    number = with_table(store)
    file = saved(store, tmp_path)
    path = tmp_path / "live" / "assay.db"
    with open_store(path) as live:
        waiting_run(live)
        theirs = with_table(live, b"theirs")
    assert theirs != number
    child = subprocess.run([sys.executable, "-c", CHILD, str(file), str(path), moment], cwd=ROOT, check=False)
    assert child.returncode == 9
    connection._good.clear()  # another process opens it
    with open_store(path) as live:
        assert live.rows("pragma integrity_check") == [{"integrity_check": "ok"}]
        undone = moment == "before the commit"
        assert numbers_of_folders(path) == [theirs if undone else number]
        assert len(list_runs(live)) == (2 if undone else 1)
        assert left_out(live) == set()
    places = [folders_of(path)] if undone else list(path.parent.glob("assay.db.before-restore-*Z.d"))
    assert [(one / f"run-{theirs}" / "texts.parquet").read_bytes() for one in places] == [b"theirs"]
    restore_backup(file, path, replace=True)
    with open_store(path) as live:
        assert (run_folder(live, number) / "texts.parquet").read_bytes() == TABLE
        assert [run.run_id for run in list_runs(live)] == [number]
        assert left_out(live) == set()
