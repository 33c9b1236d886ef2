"""What a press of a rater costs in the database, and that the one desk of a run knows what changed meanwhile."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from helpers.texts.factories import StudyAtHand, dataset, study_in
from helpers.texts.rating_studies import rate, rating_study, rating_texts
from streamlit.testing.v1 import AppTest

from core.store import Store, close_stores, open_store
from core.store.answers import answers_of, ratings_of
from core.store.raters import update_rater
from core.study.blinding import RaterDesk
from core.study.lifecycle import change_design, move
from core.study.raters import revoke_link
from pages.annotate import around
from pages.widgets.visitor import ANOTHER_RATER, cookie_name

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
    at_hand.desk("R1").wording()  # a process reads once what was copied then
    with counting() as found:
        press(at, "Right")
    assert [answer.choice for answer in answers_of(store, at_hand.study_id)] == ["left", "right"]
    assert any("Pair 3 of" in one.value for one in at.get("html"))
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
    monkeypatch.setattr(around, "DOUBLE_PRESS_SECONDS", 0)


@pytest.mark.parametrize(("pressed", "most_reads"), [(pair_pressed, 23), (text_pressed, 28)])
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
    # Two of them tell the languages of the page, which a browser asks for once and not with a press: here all of it is drawn.
    assert len(long.reads) <= most_reads, "\n".join(long.reads)


def shown(at: AppTest) -> str:
    parts = (*at.title, *at.markdown, *at.error)
    return "\n".join(str(part.value) for part in parts)


def withdrawn(at_hand: StudyAtHand, cookies: dict[str, str]) -> str:
    revoke_link(at_hand.store, at_hand.study, "R1")
    return "This link does not work"


def closed(at_hand: StudyAtHand, cookies: dict[str, str]) -> str:
    move(at_hand.store, at_hand.study, "closed")
    return "This study is closed"


def drawn_again(at_hand: StudyAtHand, cookies: dict[str, str]) -> str:
    change_design(at_hand.store, at_hand.study, replace(at_hand.study.design, seed=100))
    return "Your list of pairs was drawn again"


def another_link(at_hand: StudyAtHand, cookies: dict[str, str]) -> str:
    for name in cookies:
        cookies[name] = at_hand.tokens["R2"]
    return ANOTHER_RATER


@pytest.mark.parametrize("meanwhile", [withdrawn, closed, drawn_again, another_link])
def test_what_changed_while_a_pair_was_on_the_screen_is_seen(
    store: Store, cookies: dict[str, str], meanwhile: Callable[[StudyAtHand, dict[str, str]], str]
) -> None:
    at_hand = study_in(store, dataset(4), raters=("R1", "R2"))
    with store.writing():
        for rater in ("R1", "R2"):
            update_rater(store, at_hand.study_id, rater, onboarding=4)
    at = visited(store, cookies, at_hand.tokens["R1"])
    said = meanwhile(at_hand, cookies)
    press(at, "Left")
    assert said in shown(at)
    assert not answers_of(store, at_hand.study_id)


def test_what_changes_between_the_press_and_the_drawing_is_seen(
    store: Store, cookies: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The desk is open by then: a save that is refused has it opened anew."""
    at_hand = study_in(store, dataset(4))
    update_rater(store, at_hand.study_id, "R1", onboarding=4)
    at = visited(store, cookies, at_hand.tokens["R1"])
    study, plain = at_hand.study, RaterDesk.save_choice

    def too_late(desk: RaterDesk, *given: Any, **named: Any) -> None:
        monkeypatch.setattr(RaterDesk, "save_choice", plain)
        with open_store(store.path) as other:
            revoke_link(other, study, "R1")
        plain(desk, *given, **named)

    monkeypatch.setattr(RaterDesk, "save_choice", too_late)
    press(at, "Left")
    assert "This link does not work" in shown(at)
    assert not [button for button in at.button if str(button.label).startswith("Left")]
    assert not answers_of(store, at_hand.study_id)
