"""`runs delete` and `runs disk`: what goes is shown first, refused together, and sizes come as text, CSV and JSON."""

import csv
import json
from pathlib import Path

import pytest
from helpers.pages.judges_visit import RULES, judged, texts
from helpers.texts.factories import waiting_run

from core.cli import main
from core.errors import InputError
from core.runs.working.environments import run_log
from core.store import Store, open_store
from core.store.backup import restore_backup
from core.store.beside import make_run_folder, run_folder
from core.store.places import folders_of
from core.store.runs import finish_run, list_runs


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Store":
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    with open_store(tmp_path / "assay.db") as opened:
        yield opened  # type: ignore[misc]


def left(store: Store) -> list[int]:
    return sorted(run.run_id for run in list_runs(store))


def test_named_runs_go_all_or_none(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    given = texts(store)
    judged(store, given, RULES, limit=1)
    judged(store, given, RULES, limit=1)
    assert main(["runs", "delete", "1", "3", "9"]) != 0
    assert "there is no run 9" in capsys.readouterr().err
    assert main(["runs", "delete", "1", "3"]) != 0
    assert "Run 2 was made from run 1" in capsys.readouterr().err
    assert left(store) == [1, 2, 3]
    assert main(["runs", "delete", "1", "3", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Would delete 1 run: 1 item, ")
    assert "Not deleted: Run 2 was made from run 1" in said
    assert main(["runs", "delete", "1", "3", "--force"]) == 0
    assert capsys.readouterr().out.startswith("Deleted 2 runs: ")
    assert left(store) == [2]


def test_a_rule_deletes_what_it_can_and_says_what_stays(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(store, texts(store), RULES, limit=1)
    stopped = waiting_run(store)
    finish_run(store, stopped.run_id, "stopped", "no server")
    assert main(["runs", "delete", "--not-begun"]) == 0
    assert left(store) == [1, 2]
    assert main(["runs", "delete", "--previews"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Deleted no run."
    assert main(["runs", "delete", "--older-than", "30"]) == 0
    assert left(store) == [1, 2]
    capsys.readouterr()
    assert main(["runs", "delete", "--older-than", "0", "--compact"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Deleted 2 runs: ")
    assert "Compacted assay.db: " in said
    assert left(store) == []


def test_wrong_options_are_listed_together(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "delete"]) != 0
    assert "name runs" in capsys.readouterr().err
    assert main(["runs", "delete", "--older-than", "-1"]) != 0
    assert "--older-than" in capsys.readouterr().err


def test_sizes_as_text_json_and_csv(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small, large = waiting_run(store), waiting_run(store, b"x" * 3_000_000)
    (make_run_folder(store, small.run_id) / "texts.parquet").write_bytes(b"x" * 1_000_000)
    (tmp_path / "assay.db.before-restore-x").write_bytes(b"x" * 500)
    assert main(["runs", "disk", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["folders"], found["copies"]) == (
        1_000_000,
        [{"name": "assay.db.before-restore-x", "bytes": 500}],
    )
    assert [(one["run"], one["database"], one["folder"]) for one in found["runs"]] == [
        (large.run_id, 3_000_000, 0),
        (small.run_id, 5, 1_000_000),
    ]
    assert main(["runs", "disk", "--most", "1", "--out", str(tmp_path / "sizes.csv")]) == 0
    assert "And 1 smaller run." in capsys.readouterr().out
    (row,) = csv.DictReader((tmp_path / "sizes.csv").open())
    assert (row["run"], float(row["total_mb"])) == (str(large.run_id), 3.0)


def test_what_a_killed_deletion_left_is_removed_by_disk(store: Store) -> None:
    run = waiting_run(store)
    folder = make_run_folder(store, run.run_id)
    log = run_log(store.path, run.run_id)
    log.parent.mkdir()
    log.write_text("said")
    stray = folders_of(store.path) / "run-77"
    stray.mkdir()
    from core.store.runs import delete_runs

    delete_runs(store, [run.run_id])
    assert folder.is_dir()
    assert main(["runs", "disk"]) == 0
    assert not folder.exists()
    assert not log.exists()
    assert stray.is_dir(), "nobody knows whose it is"


def test_a_backup_with_and_without_tables(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = judged(store, texts(store), RULES, limit=1)
    (make_run_folder(store, run.run_id) / "texts.parquet").write_bytes(b"x" * 5_000)
    for name, more in (("plain.zip", []), ("whole.zip", ["--with-tables"])):
        assert main(["study", "backup", "--out", str(tmp_path / name), *more]) == 0
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    said = capsys.readouterr().out
    assert "Tables of 1 run (5.0 kB) are not in it; --with-tables adds them." in said
    assert "Tables of 1 run (5.0 kB) are in it." in said
    other = tmp_path / "else" / "new.db"
    assert main(["study", "restore", str(tmp_path / "plain.zip"), "--db", str(other)]) == 0
    assert f"Without the tables of runs {run.run_id}" in capsys.readouterr().out
    assert main(["runs", "show", str(run.run_id), "--db", str(other)]) == 0
    assert f"The tables of run {run.run_id} were left out" in capsys.readouterr().out
    assert main(["study", "restore", str(tmp_path / "whole.zip"), "--db", str(other), "--replace"]) == 0
    with open_store(other) as opened:
        assert (run_folder(opened, run.run_id) / "texts.parquet").is_file()
    with pytest.raises(InputError):
        restore_backup(tmp_path / "whole.zip", other)
