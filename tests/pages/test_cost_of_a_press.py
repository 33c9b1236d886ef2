"""What a press of a rater costs in the database, however long the list is."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from factories import dataset, study_in
from rating_studies import rate, rating_study, rating_texts
from streamlit.testing.v1 import AppTest

from core.store import Store, close_stores
from core.store.answers import answers_of
from core.store.raters import update_rater
from core.store.ratings import ratings_of
from pages.components import rating, rating_text
from pages.door.cookies import cookie_name

SHORT, LONG = 4, 100
"""Questions; with five levels 20 and 500 pairs."""


class Counted:
    """What was asked of SQLite while the block ran."""

    def __init__(self) -> None:
        self.opened = 0
        self.statements: list[str] = []
        self.rows = 0

    @property
    def reads(self) -> list[str]:
        return [sql for sql in self.statements if sql.lstrip().lower().startswith(("select", "with"))]


class _Cursor(sqlite3.Cursor):
    counted: Counted | None = None

    def __next__(self) -> Any:
        row = super().__next__()
        self._note(1)
        return row

    def fetchone(self) -> Any:
        row = super().fetchone()
        self._note(row is not None)
        return row

    def fetchall(self) -> Any:
        rows = super().fetchall()
        self._note(len(rows))
        return rows

    def _note(self, rows: int) -> None:
        if _Cursor.counted is not None:
            _Cursor.counted.rows += rows


class _Connection(sqlite3.Connection):
    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        if _Cursor.counted is not None:
            _Cursor.counted.statements.append(sql)
        return super().cursor(_Cursor).execute(sql, *given)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """A block within which everything that reaches SQLite is counted."""
    plain = sqlite3.connect

    def connect(*given: Any, **named: Any) -> sqlite3.Connection:
        if _Cursor.counted is not None:
            _Cursor.counted.opened += 1
        return plain(*given, **{"factory": _Connection, **named})

    monkeypatch.setattr(sqlite3, "connect", connect)
    close_stores()

    @contextmanager
    def block() -> Iterator[Counted]:
        _Cursor.counted = found = Counted()
        try:
            yield found
        finally:
            _Cursor.counted = None

    return block


def page() -> None:
    from pages import annotate

    annotate.render()


def visited(store: Store, cookies: dict[str, str], token: str) -> AppTest:
    cookies.clear()
    cookies[cookie_name(store, "rater")] = token
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    return at


def press(at: AppTest, start: str) -> AppTest:
    next(button for button in at.button if str(button.label).startswith(start)).click()
    at.run()
    assert not at.exception
    return at


def pair_pressed(store: Store, cookies: dict[str, str], counting: Callable[[], Any], n_items: int) -> Counted:
    at_hand = study_in(store, dataset(n_items), name=f"{n_items} questions")
    with store.writing():
        update_rater(store, at_hand.study_id, "R1", onboarding=4)
    at = visited(store, cookies, at_hand.tokens["R1"])
    press(at, "Left")  # the first vote fixes the design
    with counting() as found:
        press(at, "Right")
    assert [answer.choice for answer in answers_of(store, at_hand.study_id)] == ["left", "right"]
    assert "Pair 3 of" in at.markdown[0].value
    counted: Counted = found
    return counted


def text_pressed(store: Store, cookies: dict[str, str], counting: Callable[[], Any], n_items: int) -> Counted:
    at_hand = rating_study(store, rating_texts(n_items), name=f"{n_items} texts")
    desk = at_hand.desk("R1")
    desk.finish_step(1)
    rate(desk, 1)
    rate(desk, 2)
    desk.save_note(2, comment="again")
    desk.save_scores(2, {"H": None})
    desk.save_scores(2, {"H": 1})
    at = visited(store, cookies, at_hand.tokens["R1"])
    with counting() as found:
        press(at, "Save and go on")
    assert [one.done for one in ratings_of(store, at_hand.study_id)] == [True, True]
    counted: Counted = found
    return counted


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating, "DOUBLE_PRESS_SECONDS", 0)
    monkeypatch.setattr(rating_text, "DOUBLE_PRESS_SECONDS", 0)


@pytest.mark.parametrize(("pressed", "most_reads"), [(pair_pressed, 20), (text_pressed, 25)])
def test_a_press_reads_the_same_from_a_long_list_as_from_a_short_one(
    store: Store,
    cookies: dict[str, str],
    counting: Callable[[], Any],
    pressed: Callable[..., Counted],
    most_reads: int,
) -> None:
    short, long = (pressed(store, cookies, counting, n_items) for n_items in (SHORT, LONG))
    assert long.rows == short.rows
    assert long.statements == short.statements
    assert long.opened == 0, "the connection of the page before is still there"
    assert len(long.reads) <= most_reads, "\n".join(long.reads)
