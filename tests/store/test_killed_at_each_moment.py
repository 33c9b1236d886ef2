"""Steps that change files and databases together, killed at each of their moments: the one or the other, and nothing left behind."""

import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import toy_step
from before_version_1 import old_database, rows_of
from helpers.processes.dying import each_death, run_until
from helpers.texts.factories import StudyAtHand, always, dataset, study_in, vote, waiting_run

from core.runs.overview import deleting
from core.runs.working.answers import store_answers
from core.scratch import PREFIX
from core.store import Store, connection, open_store
from core.store.backup import restore_backup, write_backup_file
from core.store.beside import keep_folder, make_run_folder, new_folder
from core.store.places import folders_of, key_path
from core.store.runs import half_deleted, insert_run, list_runs
from core.store.studies import list_studies, read_log
from core.study import lifecycle
from core.study.bundle import write_bundle
from core.tables.files import write_file
from scripts import convert_database

pytestmark = pytest.mark.slow

NAME = "Zyxwoldstein"
"""A rater who withdraws."""


@dataclass
class Place:
    """A folder in which a step works, put back as it was before each death."""

    made: Path
    here: Path

    @property
    def database(self) -> Path:
        return self.here / "assay.db"

    def renew(self) -> None:
        shutil.rmtree(self.here, ignore_errors=True)
        shutil.copytree(self.made, self.here)

    def opened(self) -> Store:
        """The database as the next process opens it."""
        connection._good.clear()
        return open_store(self.database)

    def files(self) -> set[str]:
        """Names beside the database, without those that SQLite keeps while it is open."""
        return {path.name for path in self.here.iterdir() if not path.name.endswith(("-wal", "-shm"))}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A study with votes and a run with a table; the folder for temporary files is one of the test's own."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "made").mkdir()
    with open_store(tmp_path / "made" / "assay.db") as store:
        make_study(store, "old")
    found = Place(tmp_path / "made", tmp_path / "here")
    found.renew()
    return found


def make_study(store: Store, name: str) -> StudyAtHand:
    at_hand = study_in(store, dataset(4), name=name, raters=(NAME, "R2"), repeat_share=0)
    vote(store, at_hand.tokens[NAME], always("left"))
    folder = make_run_folder(store, waiting_run(store).run_id)
    (folder / "texts.parquet").write_text(name)
    return at_hand


def nothing_left(place: Place) -> None:
    temporary = Path(tempfile.gettempdir())
    assert not list(temporary.iterdir())
    assert not [path for path in place.here.parent.rglob(f"{PREFIX}*") if place.made not in path.parents]


def test_a_restore_is_ended_or_undone(place: Place, tmp_path: Path) -> None:
    """Database, key and tables are all of the old database or all of the new one, at each moment."""
    (tmp_path / "other").mkdir()
    with open_store(tmp_path / "other" / "assay.db") as store:
        make_study(store, "new")
        write_backup_file(store, tmp_path / "b.zip", with_tables=True)
    keys = {
        name: key_path(tmp_path / folder / "assay.db").read_text()
        for name, folder in (("old", "made"), ("new", "other"))
    }
    deaths, states = 0, set()
    step = partial(restore_backup, tmp_path / "b.zip", place.database, replace=True)
    for _ in each_death(place.renew, step, at_most=100):
        deaths += 1
        with place.opened() as store:
            (study,) = list_studies(store)
            states.add(study.name)
            assert store.rows("pragma integrity_check") == [{"integrity_check": "ok"}]
            assert key_path(place.database).read_text() == keys[study.name]
            assert (folders_of(place.database) / "run-1" / "texts.parquet").read_text() == study.name
        copies = {name for name in place.files() if ".before-restore-" in name}
        assert place.files() - copies == {"assay.db", "assay.db.key", "assay.db.d"}
        assert len(copies) == (3 if study.name == "new" else 0), (
            "of a restore that did not happen, no copy stays"
        )
        nothing_left(place)
    assert (deaths >= 30, states) == (True, {"old", "new"})


@pytest.mark.parametrize("what", ["update", "conversion"])
def test_a_new_schema_is_there_as_a_whole_or_not_at_all(
    place: Place, what: str, request: pytest.FixtureRequest
) -> None:
    """The two together: 65 deaths."""
    deaths = 0
    if what == "update":
        request.getfixturevalue("toy")
        for _ in each_death(place.renew, lambda: open_store(place.database).close(), at_most=64):
            deaths += 1
            assert len(rows_of(place.database, "select 1 from sqlite_schema where name = 'toy'")) == len(
                rows_of(place.database, f"select 1 from _sqlite_migrations where name = '{toy_step.NAME}'")
            )
            with place.opened() as store:
                assert [study.name for study in list_studies(store)] == ["old"]
                assert store.rows("pragma integrity_check") == [{"integrity_check": "ok"}]
            nothing_left(place)
        assert deaths >= 10
        return
    shutil.rmtree(place.made)
    place.made.mkdir()
    old = old_database(place.made, "old.db")
    (folders_of(old) / "run-1").mkdir(parents=True)
    (folders_of(old) / "run-1" / "texts.parquet").write_text("old")
    before = rows_of(old, "select * from answer")
    source, target = place.here / "old.db", place.here / "assay.db"
    for _ in each_death(place.renew, partial(convert_database.convert, source, target), at_most=64):
        deaths += 1
        assert rows_of(source, "select * from answer") == before
        if not target.exists():
            connection._good.clear()
            convert_database.convert(source, target)  # nothing of the killed conversion is in its way
        with place.opened() as store:
            assert len(store.rows("select * from answer")) == len(before)
        assert key_path(target).read_text() == key_path(source).read_text()
        assert (folders_of(target) / "run-1" / "texts.parquet").read_text() == "old"
        nothing_left(place)
    assert deaths >= 40


def test_a_study_is_unblinded_with_its_log_or_not_at_all(place: Place) -> None:
    with open_store(place.made / "assay.db") as store:
        lifecycle.move(store, list_studies(store)[0], "closed")

    def unblind() -> None:
        with open_store(place.database) as store:
            lifecycle.move(store, list_studies(store)[0], "unblinded", "all votes are in")

    deaths, states = 0, set()
    for _ in each_death(place.renew, unblind, at_most=64):
        deaths += 1
        with place.opened() as store:
            (study,) = list_studies(store)
            states.add(study.state)
            logged = [
                entry for entry in read_log(store, study.study_id) if "all votes are in" in entry.detail
            ]
            assert bool(logged) == (study.state == "unblinded")
    assert deaths >= 5
    assert states == {"closed", "unblinded"}


def test_a_deleted_run_is_there_or_gone(place: Place) -> None:
    with open_store(place.made / "assay.db") as store:
        for _ in range(3):
            number = waiting_run(store).run_id
            (make_run_folder(store, number) / "texts.parquet").write_text("other")

    def delete() -> None:
        with open_store(place.database) as store:
            deleting._groups = lambda _, numbers: ([one] for one in numbers)  # as with runs of many items
            deleting.delete(store, [1, 2, 3, 4])

    deaths, numbers = 0, set()
    for _ in each_death(place.renew, delete, at_most=64):
        deaths += 1
        with place.opened() as store:
            left = {run.run_id for run in list_runs(store)}
            numbers.add(len(left))
            assert {row["run_id"] for row in store.rows("select run_id from run_data")} == left
            folders = {int(path.name.removeprefix("run-")) for path in folders_of(place.database).iterdir()}
            assert folders >= left
            assert set(half_deleted(store)) >= folders - left
            deleting.sweep(store)
            assert {path.name for path in folders_of(place.database).iterdir()} == {
                f"run-{one}" for one in left
            }
    assert deaths >= 15
    assert numbers == {0, 1, 2, 3, 4}


def test_after_30_kills_and_a_withdrawal_no_file_has_the_name(place: Place, tmp_path: Path) -> None:
    """Killed in restores, backups, exports, new runs and answers to batches, all in one place that nobody opens in between."""
    out = tmp_path / "exports"
    out.mkdir()
    backup = tmp_path / "b.zip"
    with open_store(place.made / "assay.db") as store:
        write_backup_file(store, backup, with_tables=True)
    place.renew()

    def with_store(step: Callable[[Store], object]) -> Callable[[], None]:
        def run() -> None:
            with connection._opened(place.database)[1] as store:
                step(store)

        return run

    def export(store: Store) -> None:
        data = write_bundle(StudyAtHand(store, list_studies(store)[0].study_id).record)
        write_file(out / "study.zip", data + NAME.encode())

    def make_run(store: Store) -> None:
        with new_folder(store) as folder:
            (folder / "texts.parquet").write_text("texts")
            with store.writing():
                keep_folder(store, folder, insert_run(store, list_runs(store)[0], b"").run_id)

    def answer(store: Store) -> None:
        store_answers(store, folders_of(place.database) / "run-1", [], iter(()))

    steps: list[Callable[[], object]] = [
        partial(restore_backup, backup, place.database, replace=True),
        with_store(lambda store: write_backup_file(store, out / "b.zip", with_tables=True)),
        *map(with_store, (export, make_run, answer)),
    ]
    draw = random.Random(164)
    n_moments = []
    for step in steps:
        place.renew()
        n_moments.append(run_until(step))
    place.renew()
    n_left = 0
    for turn in range(30):
        at = turn % len(steps)
        run_until(steps[at], draw.randrange(1, n_moments[at] - 2))
        n_left += bool([*place.here.rglob(f"{PREFIX}*"), *out.glob(f"{PREFIX}*")])
    assert n_left >= 15, "most kills left something, so the search shows something"
    with place.opened() as store:
        (study,) = list_studies(store)
        lifecycle.withdraw_rater(store, study, NAME, keep_votes=True)
        searched = [path for top in (place.here, out, Path(tempfile.gettempdir())) for path in top.rglob("*")]
        copies = {path for path in searched if ".before-restore-" in path.as_posix() or path.parent == out}
        assert not [
            path for path in set(searched) - copies if path.is_file() and NAME.encode() in path.read_bytes()
        ]
        assert {path for path in copies if path.name.startswith(".")} == set(), "copies that their owner sees"
    nothing_left(place)
