"""One current answer a pair and rater; a history that only grows; many writers, nothing lost."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from helpers.texts.factories import dataset, study_in

from core.errors import StorageError
from core.schema.study import Answer
from core.store import Store, open_store
from core.store.answers import PAIRS, answers_of, history_of

pytestmark = pytest.mark.usefixtures("each_pair_task")

ANSWER = Answer("R1", "q00", "A0", choice="left", comment="first", answered_utc="2026-01-01T00:00:00.000Z")


def test_the_same_thing_twice_is_one_answer_and_one_line(store: Store) -> None:
    number = study_in(store).study_id
    assert PAIRS.save(store, number, ANSWER)
    again = replace(ANSWER, answered_utc="2026-01-01T00:00:09.000Z", seconds=9.0, shown_utc="2026-01-01")
    assert not PAIRS.save(store, number, again)
    assert answers_of(store, number) == (ANSWER,)
    assert [entry.answer for entry in history_of(store, number)] == [ANSWER]


@pytest.mark.parametrize(
    "change",
    [{"choice": "right"}, {"comment": "second"}, {"invalid": True}, {"skipped": True}, {"choice": None}],
    ids=str,
)
def test_what_a_rater_decides_is_a_change(store: Store, change: dict[str, object]) -> None:
    number = study_in(store).study_id
    PAIRS.save(store, number, ANSWER)
    changed = replace(ANSWER, **change)
    assert PAIRS.save(store, number, changed)
    assert answers_of(store, number) == (changed,)
    assert [entry.answer for entry in history_of(store, number)] == [ANSWER, changed]


def test_there_and_back_is_three_lines(store: Store) -> None:
    number = study_in(store).study_id
    for choice in ("left", "right", "left"):
        PAIRS.save(store, number, replace(ANSWER, choice=choice))
    assert [entry.answer.choice for entry in history_of(store, number)] == ["left", "right", "left"]
    saved = [entry.saved_utc for entry in history_of(store, number)]
    assert saved == sorted(saved)
    assert all(time.endswith("Z") for time in saved)


def test_rater_item_level_repeat_and_study_tell_answers_apart(store: Store) -> None:
    one, two = study_in(store), study_in(store, dataset(), name="other")
    like = [
        ANSWER,
        replace(ANSWER, rater_id="R2"),
        replace(ANSWER, item_id="q01"),
        replace(ANSWER, level="A1"),
        replace(ANSWER, repeat=True),
    ]
    for answer in like:
        PAIRS.save(store, one.study_id, answer)
    PAIRS.save(store, two.study_id, replace(ANSWER, choice="both_bad"))
    assert answers_of(store, one.study_id) == tuple(like)
    assert answers_of(store, one.study_id, "R2") == (like[1],)
    assert PAIRS.find(store, one.study_id, Answer("R1", "q00", "A0", repeat=True)) == like[4]
    assert PAIRS.find(store, two.study_id, ANSWER).choice == "both_bad"
    assert PAIRS.find(store, two.study_id, like[2]) is None


@pytest.mark.parametrize(
    "change",
    [
        "update answer_history set choice = 'right'",
        "update answer_history set level = 'A1'",
        "update answer_history set item_id = 'q01'",
        "update answer_history set saved_utc = '2020-01-01T00:00:00.000Z'",
        "update answer_history set answered_utc = null, rater_id = 'x'",
        "update answer_history set repeat = 1 where rater_id = 'R1'",
        "update answer_history set id = 7",
        "update answer_history set rowid = 7",
        "insert or replace into answer_history select * from answer_history",
        "delete from answer_history",
    ],
)
def test_the_history_cannot_be_changed(store: Store, change: str) -> None:
    number = study_in(store).study_id
    PAIRS.save(store, number, ANSWER)
    before = store.rows("select * from answer_history")
    outsider = sqlite3.connect(store.path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        outsider.execute(change)
    outsider.close()
    with pytest.raises(StorageError, match="append-only"), store.writing():
        store.table("answer_history").db.execute(change)
    assert store.rows("select * from answer_history") == before


def test_a_withdrawal_may_free_a_pseudonym_and_delete_what_was_written(store: Store) -> None:
    number = study_in(store).study_id
    PAIRS.save(store, number, ANSWER)
    with store.writing():
        store.change("update answer_history set rater_id = :new, comment = ''", {"new": "withdrawn-1"})
    assert [entry.answer for entry in history_of(store, number)] == [
        replace(ANSWER, rater_id="withdrawn-1", comment="")
    ]


def test_one_current_answer_a_key(store: Store) -> None:
    """The database itself holds the line, whoever writes."""
    number = study_in(store).study_id
    PAIRS.save(store, number, ANSWER)
    PAIRS.save(store, number, replace(ANSWER, level="A1"))
    outsider = sqlite3.connect(store.path)
    for change in (
        "insert into answer select * from answer",
        "update answer set level = 'A0'",
        "insert into answer (study_id, rater_id, item_id, level, repeat, comment, invalid, skipped) "
        f"values ({number}, 'R1', 'q00', 'A0', 0, '', 0, 0)",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            outsider.execute(change)
    for lacking in ("rater_id", "item_id", "level", "repeat"):
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
            outsider.execute(f"update answer set {lacking} = null")
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT"):
        outsider.execute("update answer set repeat = 'yes'")
    outsider.close()


def test_texts_survive_as_written(store: Store) -> None:
    number = study_in(store).study_id
    comment = "a\r\nb\tc \u202emirrored\u202c العربية 日本語 👩‍🔬 'quoted' \"twice\"; drop table answer; --"
    PAIRS.save(store, number, replace(ANSWER, comment=comment))
    assert answers_of(store, number)[0].comment == comment


def test_ten_writers_lose_nothing(store: Store) -> None:
    """Each thread has a connection of its own, as every rerun of the app has."""
    raters = [f"R{number}" for number in range(10)]
    at_hand = study_in(store, dataset(10), raters=raters, repeat_share=0.0)
    start = Barrier(len(raters))

    def work(rater: str) -> int:
        with open_store(store.path) as own:
            start.wait()
            pairs = [(f"q{item:02d}", f"A{level}") for item in range(10) for level in range(5)]
            return sum(PAIRS.save(own, at_hand.study_id, Answer(rater, *p, choice="left")) for p in pairs)

    with ThreadPoolExecutor(len(raters)) as pool:
        assert list(pool.map(work, raters)) == [50] * 10
    assert len(answers_of(store, at_hand.study_id)) == len(history_of(store, at_hand.study_id)) == 500
    assert store.row("pragma integrity_check") == {"integrity_check": "ok"}


def test_two_tabs_with_the_same_press_leave_one_answer(store: Store) -> None:
    at_hand = study_in(store)
    start = Barrier(8)

    def press(_: int) -> bool:
        with open_store(store.path) as own:
            start.wait()
            return PAIRS.save(own, at_hand.study_id, ANSWER)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(press, range(8))) == 1
    assert len(answers_of(store, at_hand.study_id)) == len(history_of(store, at_hand.study_id)) == 1


def test_processes_that_start_together_migrate_once(store: Store) -> None:
    start = Barrier(6)
    path = store.path.with_name("together.db")

    def open_it(_: int) -> int:
        start.wait()
        with open_store(path) as own:
            return int(own.rows("select count(*) as n from study")[0]["n"])

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(open_it, range(6))) == [0] * 6
