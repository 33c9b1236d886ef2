"""What killed processes left beside a database: scratch folders are deleted, and a restore is ended or undone."""

import json
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from core.scratch import PENDING, delete_leftovers, is_pending
from core.store.places import folders_of, key_path

RESTORED_BY = "restored_by"
"""Setting of a database that a restore wrote: the name of the restore's scratch folder. So the commit itself tells which
database is there."""
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class PendingRestore:
    """What a restore has to undo until its transaction is committed, and to end afterwards."""

    database: str
    """Name of the database; in the scratch folder, the new folders of runs have the name `unpacked` with its ending."""
    unpacked: str
    kept: str
    """Name of the copy of the old database. Its key and folder of runs are named after it."""
    new_key: int
    """Number (inode) of the file of the new key."""
    old: int
    """Number (inode) of the file of the old database, which stays that of the new content; 0: there was none."""

    @property
    def is_sound(self) -> bool:
        """Whether every name is one of a file beside the folder. Any other note is not Assay's."""
        names = (self.database, self.unpacked, self.kept)
        plain = all(isinstance(name, str) and name == Path(name).name != "" for name in names)
        return (
            plain
            and ".." not in names
            and all(isinstance(number, int) for number in (self.new_key, self.old))
        )

    def note(self, folder: Path) -> None:
        """Write it into the scratch folder, on disk when this returns."""
        with (folder / PENDING).open("w", encoding="utf-8") as file:
            json.dump(asdict(self), file)
            file.flush()
            os.fsync(file.fileno())

    def undo(self, folder: Path) -> None:
        """Bring the old key and folders of runs back, and delete the copy. May be repeated."""
        path, kept = folder.with_name(self.database), folder.with_name(self.kept)
        key, old_key = key_path(path), key_path(kept)
        _move_runs(folders_of(kept), folders_of(path))
        if old_key.exists() and key.exists() and old_key.samefile(key):
            old_key.unlink()
        elif old_key.exists():
            os.replace(old_key, key)  # renaming works even on a full disk
        elif key.exists() and key.stat().st_ino == self.new_key:
            key.unlink()
        kept.unlink(missing_ok=True)
        (folder / PENDING).unlink()

    def end(self, folder: Path) -> None:
        """Put the new folders of runs in place. May be repeated."""
        _move_runs(folders_of(folder / self.unpacked), folders_of(folder.with_name(self.database)))
        (folder / PENDING).unlink()


def _move_runs(source: Path, target: Path) -> None:
    """Move the folders of runs to another place, where a process may have made one meanwhile. May be repeated."""
    if not source.is_dir():
        return
    target.mkdir(mode=0o700, exist_ok=True)
    for one in source.iterdir():
        if not (target / one.name).exists():
            one.rename(target / one.name)
    with suppress(OSError):  # the folder of a run stays there
        source.rmdir()


def clear_leftovers(database: Path) -> None:
    """Delete what killed processes left beside a database, in the folders of its runs, and in the folder for temporary files.

    A restore that was killed is ended if its database is in place, and undone otherwise. What cannot be changed stays, such as
    on a disk that is read-only or full.
    """
    runs = folders_of(database)
    with suppress(OSError):
        delete_leftovers([database.parent, runs, *runs.glob("run-*")], _settled)


def _settled(folder: Path) -> bool:
    """End or undo what the folder's process began; returns whether the folder can be deleted."""
    if not is_pending(folder):
        return True
    try:
        pending = PendingRestore(**json.loads((folder / PENDING).read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # killed while it was written: nothing had been changed
        return True
    if not pending.is_sound:
        return False
    database = folder.with_name(pending.database)
    try:
        if pending.old and not (database.exists() and database.stat().st_ino == pending.old):
            return False  # moved away by its owner, and the copy may be all that is left of the old one
        if not database.exists():
            pending.undo(folder)
        elif database.samefile(folder / pending.unpacked):  # a converted database that took its place
            pending.end(folder)
        else:
            with closing(sqlite3.connect(database, timeout=_PATIENCE_SECONDS, isolation_level=None)) as live:
                live.execute("BEGIN IMMEDIATE")  # no other restore moves the same files
                if _restored_by(live) == folder.name:
                    pending.end(folder)
                else:
                    pending.undo(folder)
                live.execute("ROLLBACK")
    except (OSError, sqlite3.Error):
        return False
    return True


def _restored_by(live: sqlite3.Connection) -> str | None:
    try:
        row = live.execute("SELECT value FROM setting WHERE key = ?", [RESTORED_BY]).fetchone()
    except sqlite3.OperationalError:  # a new database without tables
        return None
    return str(row[0]) if row else None
