"""What the clean-up of leftovers must not touch: files of users, of other users, of living processes, of a database that moved."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.texts.factories import dataset, study_in

from core.scratch import PENDING, delete_leftovers, scratch_folder
from core.store import open_store
from core.store.backup import restore_backup, write_backup, write_backup_file
from core.store.connection import database_path
from core.store.leftovers import PendingRestore, clear_leftovers

LEFT = ".assay-0123456789ab"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, which other users may write to."""
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o777)
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def leftover(place: Path, name: str = LEFT, mode: int = 0o700) -> Path:
    folder = place / name
    folder.mkdir()
    folder.chmod(mode)
    (folder / "half.db").write_bytes(b"half")
    return folder


def test_a_leftover_goes_and_a_folder_with_a_name_of_its_own_stays(temporary: Path, tmp_path: Path) -> None:
    left, others = leftover(tmp_path), [leftover(tmp_path, name) for name in (".assay-old", ".assay-backups")]
    archive = leftover(tmp_path, ".assay-archive")
    (temporary / archive.name).symlink_to(archive)
    delete_leftovers([tmp_path])
    assert not left.exists()
    assert all(one.exists() for one in (*others, archive))


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707])
def test_what_others_may_enter_is_no_scratch_folder(temporary: Path, mode: int) -> None:
    folder = leftover(temporary, mode=mode)
    delete_leftovers([])
    assert folder.exists()


def test_a_folder_of_another_user_is_not_believed(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = leftover(temporary)
    (temporary / "victims.db").write_bytes(b"all votes")
    note = {"database": "nothere", "unpacked": "u", "kept": "victims.db", "new_key": 0, "old": 0}
    (folder / PENDING).write_text(json.dumps(note))
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    clear_leftovers(temporary / "mine.db")
    assert (temporary / "victims.db").exists()
    assert folder.exists()


@pytest.mark.parametrize("name", ["../x", "", "a/b", "/etc/x", "..", 7, None])
@pytest.mark.parametrize("field", ["database", "unpacked", "kept"])
def test_no_note_stops_an_opening_or_leads_elsewhere(
    temporary: Path, tmp_path: Path, field: str, name: object
) -> None:
    folder = leftover(temporary)
    (tmp_path / "x").write_bytes(b"somebody's")
    note = {"database": "d", "unpacked": "u", "kept": "k", "new_key": 0, "old": 0, field: name}
    (folder / PENDING).write_text(json.dumps(note))
    open_store(tmp_path / "assay.db").close()
    assert folder.exists()
    assert (tmp_path / "x").exists()


def test_the_copy_of_a_database_stays_if_the_restored_one_was_moved(temporary: Path, tmp_path: Path) -> None:
    """Killed after its commit, then renamed by its owner: the copy is all that is left of the old database."""
    with open_store(tmp_path / "assay.db") as store:
        study_in(store, dataset(4))
    live, kept = tmp_path / "assay.db", tmp_path / "assay.db.before-restore-x"
    kept.write_bytes(live.read_bytes())
    folder = leftover(tmp_path)
    PendingRestore(live.name, "half.db", kept.name, 0, live.stat().st_ino).note(folder)
    live.rename(tmp_path / "restored.db")
    open_store(tmp_path / "other.db").close()
    assert kept.exists()
    open_store(live).close()
    assert kept.exists(), "a new database of that name is another"


def test_backups_and_restores_work_in_the_folder_for_temporary_files_however_it_is_written(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(temporary)
    monkeypatch.chdir(temporary)
    for place in (Path(), Path("../temporary"), tmp_path / "link", temporary):
        with open_store(place / "new.db") as store:
            write_backup_file(store, place / "b.zip", with_tables=True)
        restore_backup(place / "b.zip", place / "new.db", replace=True)
        with scratch_folder(place) as folder:
            assert folder.is_dir()
    assert not [one for one in temporary.iterdir() if one.name.startswith(".assay-")]


def test_a_sign_stays_while_the_disk_of_its_folder_is_away(temporary: Path, tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    folder = leftover(place)
    (temporary / LEFT).symlink_to(folder)
    place.rename(tmp_path / "away")
    delete_leftovers([])
    (tmp_path / "away").rename(place)
    delete_leftovers([])
    assert not folder.exists()
    assert not (temporary / LEFT).is_symlink()


def test_a_database_behind_a_link_has_the_key_and_the_runs_of_the_file_itself(tmp_path: Path) -> None:
    real = tmp_path / "data" / "real.db"
    real.parent.mkdir()
    with open_store(real) as store:
        data = write_backup(store)
    (tmp_path / "link.db").symlink_to(real)
    assert database_path(tmp_path / "link.db") == real
    restore_backup(data, database_path(tmp_path / "link.db"), replace=True)
    assert not (tmp_path / "link.db.key").exists()
    assert database_path(tmp_path / "plain.db") == tmp_path / "plain.db"
