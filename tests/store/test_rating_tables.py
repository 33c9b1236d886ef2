"""The tables of rating studies: an older database gets them, the history only grows, a failed save leaves nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from helpers.texts.factories import dataset, prefers, study_in, vote
from helpers.texts.rating_studies import rate, rate_all, rating_study

from core.store import Store, answers, open_store
from core.store.answers import load_record
from core.store.studies import find_study

STEP = "m005_ratings"


def made_older(path: Path) -> None:
    """Take back the last step: the database as it was before there were rating studies."""
    with closing(sqlite3.connect(path)) as connection:
        for table in ("rating_assignment", "rating_answer", "rating_history"):
            connection.execute(f"drop table {table}")
        for column in ("kind", "task"):
            connection.execute(f"alter table study drop column {column}")
        connection.execute("delete from _sqlite_migrations where name = ?", [STEP])
        connection.commit()


def test_a_database_of_the_step_before_becomes_todays(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    with open_store(path) as store:
        at_hand = study_in(store, dataset())
        vote(store, at_hand.tokens["R1"], prefers(0))
        record = at_hand.record
    made_older(path)
    with open_store(path) as store:
        assert load_record(store, find_study(store, "study")) == record
        rate_all(rating_study(store).desk("R1"))
    assert (tmp_path / f"assay.db.before-{STEP}").is_file()


def test_the_history_only_grows(store: Store) -> None:
    rate(rating_study(store).desk("R1"), 1)
    row = store.rows("select * from rating_history limit 1")[0]
    for change in (
        lambda: store.change("update rating_history set scores = :s", {"s": "{}"}),
        lambda: store.change("delete from rating_history where id = :id", {"id": row["id"]}),
        lambda: store.table("rating_history").insert(row, replace=True),
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            change()
    assert store.rows("select count(*) as n from rating_history")[0]["n"] == 3


def test_a_save_that_breaks_off_leaves_what_was_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    at_hand = rating_study(store)
    desk = at_hand.desk("R1")
    desk.save_scores(1, {"overall": 10})
    before = at_hand.record

    def broken() -> str:
        raise RuntimeError("the power went")

    monkeypatch.setattr(answers, "now_utc", broken)  # after the answer, before its line of history
    with pytest.raises(RuntimeError):
        desk.save_scores(1, {"overall": 90})
    monkeypatch.undo()
    assert at_hand.record == before
    assert desk.text(1).scores == {"overall": 10.0}, "what is on the screen is what is kept"


def test_two_tabs_do_not_undo_each_other(store: Store, tmp_path: Path) -> None:
    """Each saves what it changed: a score from one tab and a mark from the other are both kept."""
    at_hand = rating_study(store)
    one, other = at_hand.desk("R1"), at_hand.desk("R1")
    one.save_scores(1, {"overall": 10})
    other.save_spans(1, [], no_errors=True)
    other.save_scores(1, {"H": 1})
    one.complete(1, seconds=2.0)
    (answer,) = at_hand.record.rating_answers
    assert (answer.scores, answer.no_errors, answer.done) == ({"overall": 10.0, "H": 1.0}, True, True)
