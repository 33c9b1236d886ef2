"""What may happen to a database that people work on: crowds, kill -9, a full or read-only disk, a clock set back."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import toy_step
from before_version_1 import rows_of
from helpers.processes.app_server import ROOT
from helpers.texts.factories import StudyAtHand, dataset, study_in, waiting_run
from killed_process import said_until_killed

from core import access
from core.errors import NotAllowed, StorageError
from core.runs import progress
from core.runs.progress import is_worked_on
from core.store import Store, open_store, upkeep
from core.store import studies as studies_module
from core.store.answers import answers_of, history_of
from core.store.backup import restore_backup, write_backup
from core.store.runs import beat, claim_run, finish_run, get_run, list_runs
from core.study.bundle import read_bundle, write_bundle

PASSPHRASE = "correct horse battery staple"
SCRIPT = Path(__file__).with_name("rater_process.py")


def rater_process(at_hand: StudyAtHand, rater: str, rounds: int) -> "subprocess.Popen[str]":
    command = [sys.executable, str(SCRIPT), str(at_hand.store.path), at_hand.tokens[rater], str(rounds)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def acknowledged(printed: str) -> list[tuple[int, str]]:
    """(number, choice) in the order in which they were acknowledged; a line cut short was not."""
    whole = printed[: printed.rfind("\n") + 1]
    return [(int(number), choice) for number, choice in (line.split() for line in whole.splitlines())]


def saved(at_hand: StudyAtHand, rater: str) -> list[tuple[int, str | None]]:
    """(number, choice) of every line of a rater's history."""
    numbers = {a.key: a.position for a in at_hand.record.assignments if a.rater_id == rater}
    history = [entry.answer for entry in history_of(at_hand.store, at_hand.study_id)]
    return [(numbers[answer.key], answer.choice) for answer in history if answer.rater_id == rater]


def sound(store: Store) -> bool:
    return store.row("pragma integrity_check") == {"integrity_check": "ok"} and not store.rows(
        "pragma foreign_key_check"
    )


# --- crowds and sudden death ------------------------------------------------------------------------


@pytest.mark.usefixtures("each_pair_task")
@pytest.mark.slow
def test_ten_raters_in_ten_processes(store: Store) -> None:
    raters = [f"R{number}" for number in range(10)]
    at_hand = study_in(store, dataset(4), raters=raters, repeat_share=0.1)
    processes = {rater: rater_process(at_hand, rater, 2) for rater in raters}
    total = at_hand.desk("R0").total
    for rater, process in processes.items():
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        said = acknowledged(out)
        assert len(said) == 2 * total
        assert saved(at_hand, rater) == said, "every change of mind is in the history, in its order"
        current = {a.key: a.choice for a in answers_of(store, at_hand.study_id, rater)}
        numbers = {a.key: a.position for a in at_hand.record.assignments if a.rater_id == rater}
        assert {numbers[key]: choice for key, choice in current.items()} == dict(said)
        assert len(current) == total
    assert sound(store)
    assert read_bundle(write_bundle(at_hand.record), "b.zip") == at_hand.record


@pytest.mark.slow
def test_kill_9_loses_nothing_that_was_acknowledged(store: Store) -> None:
    at_hand = study_in(store, dataset(20), raters=("R1", "R2"), repeat_share=0.0)
    current: dict[int, str | None] = {}
    before = 0
    for turn in range(5):
        process = rater_process(at_hand, "R1", 1000)
        expected = []
        for number, choice in acknowledged(said_until_killed(process, 10 + 7 * turn)):
            if current.get(number) != choice:
                expected.append((number, choice))
                current[number] = choice
        history = saved(at_hand, "R1")
        new, before = history[before:], len(history)
        assert new[: len(expected)] == expected
        current |= dict(new[len(expected) :])
        assert len(new) - len(expected) in (0, 1), "one may have been saved and not yet acknowledged"
        numbers = {a.key: a.position for a in at_hand.record.assignments}
        answers = {numbers[a.key]: a.choice for a in answers_of(store, at_hand.study_id)}
        assert answers == current
        with open_store(store.path) as fresh:
            assert sound(fresh)
    at_hand.desk("R2").save_choice(1, "left", seconds=1.0, diff_used="none")
    assert read_bundle(write_bundle(at_hand.record), "b.zip") == at_hand.record


@pytest.mark.slow
@pytest.mark.parametrize("what", ["restore", "migration"])
def test_kill_9_in_the_middle_leaves_the_one_or_the_other(
    tmp_path: Path, what: str, request: pytest.FixtureRequest
) -> None:
    """Killed at ten moments; once it runs through, database and key fit."""
    (tmp_path / "other").mkdir()
    with open_store(tmp_path / "other" / "assay.db") as other:
        there = study_in(other, dataset(40), name="restored")
        (tmp_path / "b.zip").write_bytes(write_backup(other))
        expected = there.tokens
    path = tmp_path / "assay.db"
    with open_store(path) as store:
        study_in(store, name="busy")
    step = (
        "restore_backup(Path('b.zip').read_bytes(), Path('assay.db'), replace=True)"
        if what == "restore"
        else "toy_step.register(); open_store(Path('assay.db'))"
    )
    script = (
        "import toy_step; from pathlib import Path; from core.store import open_store; "
        f"from core.store.backup import restore_backup; print('go', flush=True); {step}"
    )
    old, new = {"busy"}, {"restored"}
    for turn in range(11):
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}"},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"
        if turn < 10:
            time.sleep(0.012 * turn)
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert rows_of(path, "pragma integrity_check") == [("ok",)]
        assert {row[0] for row in rows_of(path, "select name from study")} in (old, new)
        made = [kind for (kind,) in rows_of(path, "select type from sqlite_schema where name = 'toy'")]
        columns = [row[1] for row in rows_of(path, "pragma table_info(setting)") if row[1] == "toy"]
        steps = rows_of(path, f"select 1 from _sqlite_migrations where name = '{toy_step.NAME}'")
        assert len(made) == len(columns) == len(steps), "all of the step, or nothing"
        for copy in tmp_path.glob("assay.db.before-*"):
            if copy.suffix != ".key":
                assert rows_of(copy, "pragma integrity_check") == [("ok",)]
    assert bool(steps) == (what == "migration")
    request.getfixturevalue("toy") if what == "migration" else None
    with open_store(path) as store:
        assert sound(store)
        if what == "restore":
            assert StudyAtHand(store, there.study_id).tokens == expected


# --- a full disk, a read-only disk ------------------------------------------------------------------


def refuses(step: Callable[[], object]) -> str:
    with pytest.raises(StorageError) as problem:
        step()
    return str(problem.value)


def test_a_full_disk_is_said_and_the_answer_saved_once_there_is_room(store: Store) -> None:
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    connection = store.table("answer").db.conn
    connection.execute("pragma max_page_count = 1").fetchall()  # as small as it is now, no page more
    notes = []

    def write_until_full() -> None:
        for number in range(2, 30):
            desk.save_note(2, comment=f"{number} " + "x" * 3000)
            notes.append((2, None))

    said = refuses(write_until_full)
    assert "disk is full" in said
    assert f"This step saved nothing. Make room on the disk of {store.path.parent}," in said
    assert saved(at_hand, "R1") == [(1, "left"), *notes]
    assert desk.next_open() == 2, "the pair stays"
    refuses(lambda: desk.save_note(3, comment="x" * 9000))
    connection.execute("pragma max_page_count = 1073741823").fetchall()
    desk.save_note(3, comment="x" * 9000)
    desk.save_choice(2, "right", seconds=1.0, diff_used="none")
    assert saved(at_hand, "R1") == [(1, "left"), *notes, (3, None), (2, "right")]
    assert sound(store)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that somebody else may enter (pytest's own are closed)."""
    folder = Path(tempfile.mkdtemp(prefix="assay-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_somebody_else(step: Callable[[], object]) -> str:
    """What a step says when it is done by a user without rights to the file; root has all rights."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def work() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        try:
            step()
            theirs.send("done")
        except StorageError as problem:
            theirs.send(str(problem))
        except BaseException as problem:
            theirs.send(f"another error: {problem!r}")

    process = context.Process(target=work)
    process.start()
    assert ours.poll(60)
    found: str = ours.recv()
    process.join(60)
    return found


def test_a_database_that_may_not_be_written(open_folder: Path) -> None:
    path = open_folder / "assay.db"
    with open_store(path) as store:
        at_hand = study_in(store)
        token = at_hand.tokens["R1"]
        data = write_backup(store)
    path.chmod(0o444)
    open_folder.chmod(0o555)

    def save() -> None:
        from core.study.blinding import open_desk

        with open_store(path) as own:
            desk = open_desk(own, token)
            assert desk is not None
            desk.save_choice(1, "left", seconds=1.0, diff_used="none")

    before = path.read_bytes()
    for step in (save, lambda: restore_backup(data, path, replace=True)):
        said = as_somebody_else(step)
        assert said.startswith("The database assay.db could not be used ("), said
        assert said.endswith("permissions, then try again.")
    assert path.read_bytes() == before
    path.chmod(0o644)
    open_folder.chmod(0o755)
    save()
    with open_store(path) as store:
        assert saved(StudyAtHand(store, at_hand.study_id), "R1") == [(1, "left")]


def test_an_old_database_in_a_folder_that_may_not_be_written(
    open_folder: Path, request: pytest.FixtureRequest
) -> None:
    path = open_folder / "assay.db"
    open_store(path).close()
    request.getfixturevalue("toy")
    before = path.read_bytes()
    path.chmod(0o666)
    open_folder.chmod(0o555)
    said = as_somebody_else(lambda: open_store(path))
    assert said.startswith(
        "The database assay.db could not be used (attempt to write a readonly database)"
    ), said
    open_folder.chmod(0o755)
    assert path.read_bytes() == before
    assert sorted(p.name for p in open_folder.iterdir()) == ["assay.db"]


# --- a clock that is set back -----------------------------------------------------------------------


def test_a_clock_set_back_by_a_day(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order comes from the numbers of the lines, never from their times."""
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    desk.save_choice(2, "left", seconds=1.0, diff_used="none")

    class Yesterday(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) - timedelta(days=1)

    monkeypatch.setattr(studies_module, "datetime", Yesterday)
    desk.save_choice(1, "right", seconds=1.0, diff_used="none")
    desk.save_choice(3, "both_good", seconds=1.0, diff_used="none")
    assert saved(at_hand, "R1") == [(1, "left"), (2, "left"), (1, "right"), (3, "both_good")]
    times = [entry.saved_utc for entry in history_of(store, at_hand.study_id)]
    assert times[2] < times[0], "the clock was set back"
    again = at_hand.desk("R1")
    assert [again.pair(number).choice for number in (1, 2, 3)] == ["right", "left", "both_good"]
    assert again.next_open() == 4
    assert read_bundle(write_bundle(at_hand.record), "b.zip") == at_hand.record
    restored = restore_backup(write_backup(store), tmp_path / "else.db")
    assert restored.studies == ("study",)
    kept = [restore_backup(write_backup(store), store.path, replace=True).kept for _ in range(2)]
    assert len(set(kept)) == 2


def test_a_clock_set_back_by_an_hour_locks_nobody_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passphrases, sessions, runs and compacting, with times of the hour that the clock will see again."""
    at_hand = study_in(store)
    at_hand.desk("R1").save_choice(1, "left", seconds=1.0, diff_used="none")
    access.choose_passphrase(store, access.make_link(store), PASSPHRASE, PASSPHRASE)
    session = access.sign_in(store, PASSPHRASE, "127.0.0.1")
    for _ in range(access.MOST_FAILURES):
        with pytest.raises(NotAllowed, match="Wrong"):
            access.sign_in(store, "wrong", "127.0.0.1")
    with pytest.raises(NotAllowed, match="Too many"):
        access.sign_in(store, PASSPHRASE, "127.0.0.1")
    run, dead = (waiting_run(store).run_id for _ in range(2))
    owner = claim_run(store, run, os.getpid())
    claim_run(store, dead, 2**22 + 1)
    assert upkeep.why_not_compact(store) is not None

    class AnHourAgo(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) - timedelta(hours=1)

    monkeypatch.setattr(studies_module, "datetime", AnHourAgo)
    monkeypatch.setattr(progress, "datetime", AnHourAgo)
    assert access.is_admin(store, session)
    assert access.is_admin(store, access.sign_in(store, PASSPHRASE, "127.0.0.1"))
    assert is_worked_on(get_run(store, run)), "its process lives"
    assert not is_worked_on(get_run(store, dead)), "its process does not"
    beat(store, run, owner)
    assert not is_worked_on(get_run(store, dead))
    again = claim_run(store, dead, os.getpid())
    finish_run(store, dead, "done", owner=again)
    finish_run(store, run, "done", owner=owner)
    assert get_run(store, run).worked_seconds >= 0
    assert [one.run_id for one in list_runs(store)] == [dead, run]
    assert upkeep.why_not_compact(store) is None, "the last vote is an hour in the future, so nobody votes"
