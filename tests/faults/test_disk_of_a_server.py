"""Real disks of a few megabytes that fill up or become read-only while people work on them. Needs the right to mount."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.processes.app_server import ROOT, running
from helpers.processes.disks import mounted
from helpers.processes.raw_rater import RawRater
from helpers.texts.factories import StudyAtHand, dataset, plain_pairs, study_in

from core.errors import AssayError
from core.store import open_store
from core.store.answers import answers_of
from core.store.backup import restore_backup, write_backup, write_backup_file
from core.store.beside import append_lines, make_run_folder
from core.study.raters import links
from core.tables.files import write_file


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Not a byte is free within the block."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def read_only(disk: Path) -> Iterator[None]:
    assert mounted("-o", "remount,ro", str(disk))
    try:
        yield
    finally:
        assert mounted("-o", "remount,rw", str(disk))


def refusal(step: Callable[[], object]) -> str:
    with pytest.raises(AssayError) as problem:
        step()
    return str(problem.value)


def test_each_step_that_writes_calls_a_full_disk_full(disk: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "elsewhere.db") as elsewhere, open_store(disk / "assay.db") as store:
        at_hand = study_in(store, dataset(4))
        desk = at_hand.desk("R1")
        folder = make_run_folder(store, 1)
        data = write_backup(store)

        def many_votes() -> None:
            for number in range(1, 500):
                desk.save_note(1 + number % 8, comment=f"{number} " + "x" * 3000)

        steps: list[Callable[[], object]] = [
            many_votes,
            lambda: write_backup(store),
            lambda: write_backup_file(store, disk / "b.zip", with_tables=True),
            lambda: write_backup_file(elsewhere, disk / "b.zip", with_tables=True),
            lambda: restore_backup(data, store.path, replace=True),
            lambda: append_lines(folder / "answers.jsonl", [b"x" * 9000]),
            lambda: write_file(disk / "votes.csv", b"x" * 9000),
            lambda: open_store(disk / "new.db"),
        ]
        before = {path.name for path in disk.iterdir()}
        with full(disk):
            said = [refusal(step) for step in steps]
        assert [(str(disk) in one and "is full" in one) for one in said] == [True] * len(steps), said
        assert {path.name for path in disk.iterdir()} - before <= {"new.db", "new.db-wal", "new.db-shm"}
        desk.save_choice(1, "left", seconds=1.0, diff_used="none")
        assert store.rows("pragma integrity_check") == [{"integrity_check": "ok"}]


@pytest.mark.parametrize("killed", [False, True])
def test_on_a_read_only_disk_what_is_there_is_read(disk: Path, tmp_path: Path, killed: bool) -> None:
    """Also where the process was killed that had the database open, so that newest votes are in its log."""
    with open_store(disk / "assay.db") as store:
        token = study_in(store, dataset(4)).tokens["R1"]
    vote = (
        "import os, sys; from pathlib import Path; from core.store import open_store; from core.study.blinding import open_desk\n"
        "store = open_store(Path(sys.argv[1]))\n"
        "open_desk(store, sys.argv[2]).save_choice(1, 'left', seconds=1.0, diff_used='none')\n"
        "os._exit(0) if sys.argv[3] == 'True' else store.close()"
    )
    subprocess.run(
        [sys.executable, "-c", vote, str(disk / "assay.db"), token, str(killed)], cwd=ROOT, check=True
    )
    assert (disk / "assay.db-wal").exists() == killed
    with read_only(disk):
        with open_store(disk / "assay.db") as store:
            at_hand = StudyAtHand(store, 1)
            assert [answer.choice for answer in answers_of(store, 1)] == ["left"]
            said = refusal(lambda: at_hand.desk("R1").save_choice(2, "left", seconds=1.0, diff_used="none"))
            assert "read-only" in said
            write_backup_file(store, tmp_path / "b.zip", with_tables=True)
        assert "read-only" in refusal(lambda: open_store(disk / "new.db"))
        assert "read-only" in refusal(lambda: write_file(disk / "votes.csv", b"x"))
    restored = restore_backup(tmp_path / "b.zip", tmp_path / "else" / "assay.db")
    assert restored.studies == ("study",)
    with open_store(tmp_path / "else" / "assay.db") as store:
        assert len(answers_of(store, 1)) == 1


@pytest.mark.slow
def test_a_raters_pair_stays_until_the_disk_takes_it(disk: Path) -> None:
    with open_store(disk / "assay.db") as store, plain_pairs():
        at_hand = study_in(store, dataset(4), raters=("R1",), repeat_share=0)
        (link,) = links(store, at_hand.study)
    with running(disk / "assay.db") as app, RawRater.of_link(link.url(app.url)).through_onboarding() as rater:
        assert rater.choose(0)
        number = rater.number()
        refused = ""
        with full(disk):
            for _ in range(40):  # the log has room for some votes
                number = rater.number()
                if not rater.choose(1):
                    refused = rater.on_screen()
                    break
        assert f"Pair {number} was not saved" in refused, "a rater is not told of disks"
        rater.go()
        assert rater.number() == number
        assert rater.choose(2)
        with open_store(disk / "assay.db") as store:
            answers = answers_of(store, at_hand.study_id)
    assert len(answers) == number
    assert os.listdir(disk)
