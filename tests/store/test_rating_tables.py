"""The tables of rating studies: the history only grows, a failed save leaves nothing."""

import sqlite3
from pathlib import Path

import pytest
from helpers.texts.rating_studies import rate, rating_study

from core.store import Store, answers


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
