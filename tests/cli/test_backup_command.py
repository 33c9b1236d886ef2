"""`study backup` and `study restore`: sentences, status 2 for mistakes, never a traceback."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from helpers.texts.factories import dataset, members_of, paper_json, zipped

from core.cli import main
from core.store import open_store

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command beside a study `pilot` with two raters; returns status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", "assay.db")
    Path("answers.json").write_bytes(paper_json(dataset(2)))

    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["study", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert (status == 0) == (err == "")
        return status, out, err

    assert command("import", "answers.json", "--name", "pilot")[0] == 0
    assert command("links", "pilot", "--add", "ann,ben")[0] == 0
    return command


def test_out_and_back(run: Run) -> None:
    links = run("links", "pilot")[1]
    status, out, _ = run("backup", "--out", "b.zip")
    assert (status, out) == (0, "b.zip\nThis file opens every personal link. Protect it like the database.\n")
    assert Path("b.zip").stat().st_mode & 0o777 == 0o600
    for path in ("assay.db", "assay.db.key"):
        Path(path).unlink()
    status, out, _ = run("restore", "b.zip")
    assert status == 0
    assert out.startswith("Restored assay.db from the backup of 20")
    assert "studies: pilot.\nAll data and personal links are as they were at that time.\n" in out
    assert run("links", "pilot")[1] == links


def test_to_another_place(run: Run) -> None:
    run("backup", "--out", "b.zip", "--db", "assay.db")
    assert run("restore", "b.zip", "--db", "far/away.db")[0] == 0
    assert run("list", "--db", "far/away.db")[1].startswith("pilot\t")
    run("import", "answers.json", "--name", "second", "--again")
    status, _, err = run("restore", "b.zip")
    assert status == 2
    assert err == (
        "The database assay.db already exists, so nothing was restored. Restore to another path (ASSAY_DB), or "
        "replace it (`python -m core study restore FILE --replace`). A copy is kept next to it.\n"
    )
    assert "second" in run("list")[1]


def test_replace_says_where_the_old_one_is(run: Run) -> None:
    run("backup", "--out", "b.zip")
    run("import", "answers.json", "--name", "second", "--again")
    with open_store(Path("assay.db")):  # the app runs
        out = run("restore", "b.zip", "--replace")[1]
    kept = out.split("The previous database was kept as ")[1].strip()
    assert "second" not in run("list")[1]
    assert "second" in run("list", "--db", kept)[1]
    assert "ann\t" in run("links", "pilot", "--db", kept)[1]


def test_mistakes(run: Run) -> None:
    run("backup", "--out", "b.zip")
    Path("notes.zip").write_text("notes")
    Path("damaged.zip").write_bytes(zipped({**members_of(Path("b.zip").read_bytes()), "assay.db": b"no"}))
    said = {
        ("restore", "nowhere.zip"): "nowhere.zip cannot be read: No such file or directory.",
        ("restore", "."): "cannot be read: Is a directory.",
        ("restore", "notes.zip"): "notes.zip is damaged or not a backup",
        (
            "restore",
            "damaged.zip",
        ): "damaged.zip cannot be restored:\n  - assay.db does not match the manifest",
        ("restore", "b.zip", "--db", "answers.json"): "It is not an SQLite database",
        ("restore", "b.zip", "--db", "answers.json/a.db"): "The database a.db could not be used",
        ("backup", "--out", "c.zip", "--db", "nowhere.db"): "There is no database nowhere.db.",
        ("backup", "--out", "no/folder.zip"): "no/folder.zip cannot be written: No such file or directory.",
        ("backup", "--out", "assay.db"): "assay.db belongs to the database",
        ("backup", "--out", "./assay.db.key"): "assay.db.key belongs to the database",
    }
    before = {path: path.read_bytes() for path in Path().iterdir()}
    for arguments, sentence in said.items():
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert sentence in err
        assert {path: path.read_bytes() for path in Path().iterdir()} == before, arguments


def test_a_bundle_is_no_backup(run: Run) -> None:
    run("close", "pilot")
    with closing(sqlite3.connect("assay.db")) as connection:  # a bundle may wait for the end of the study
        connection.execute("update study set state = 'unblinded'")
        connection.commit()
    assert run("export", "pilot", "--format", "bundle", "--out", "bundle.zip")[0] == 0
    status, _, err = run("restore", "bundle.zip", "--db", "new.db")
    assert status == 2
    assert err == (
        "bundle.zip is a study bundle, not a backup of a database. Use `python -m core study import FILE`.\n"
    )
    assert not Path("new.db").exists() or os.path.getsize("new.db") == 0


def test_an_unsafe_umask_does_not_open_the_backup(run: Run) -> None:
    mask = os.umask(0)
    try:
        run("backup", "--out", "b.zip")
        assert os.umask(0) == 0, "and is what it was before"
    finally:
        os.umask(mask)
    assert Path("b.zip").stat().st_mode & 0o777 == 0o600
