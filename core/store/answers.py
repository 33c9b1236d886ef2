"""Answers and guesses: one current answer a pair and rater, and a history that only grows; one guess a pair, given once."""

from collections.abc import Iterable
from dataclasses import asdict, replace

from core.schema.study import Answer, Guess, HistoryEntry
from core.store.connection import Row, Store, insert_sql, upsert_sql
from core.store.studies import now_utc

_KEY = ("study_id", "rater_id", "item_id", "level", "repeat")
_ANSWER_FIELDS = tuple(Answer.__dataclass_fields__)
_SET_CURRENT = upsert_sql("answer", ("study_id", *_ANSWER_FIELDS), _KEY)
_ADD_TO_HISTORY = insert_sql("answer_history", ("saved_utc", "study_id", *_ANSWER_FIELDS))


def save_answer(store: Store, study_id: int, answer: Answer) -> bool:
    """Make `answer` the current one and add it to the history; returns whether anything changed.

    Saving the same thing twice (a double press, a second tab) leaves one answer and one line of history.
    """
    with store.writing():
        before = find_answer(store, study_id, answer)
        if before is not None and _same(before, answer):
            return False
        row = {"study_id": study_id, **asdict(answer)}
        store.change(_SET_CURRENT, row)
        store.change(_ADD_TO_HISTORY, {"saved_utc": now_utc(), **row})
    return True


def insert_answers(store: Store, study_id: int, answers: Iterable[Answer]) -> None:
    """Add answers that came from a file; each starts its history."""
    with store.writing():
        for answer in answers:
            save_answer(store, study_id, answer)


def restore_answers(
    store: Store, study_id: int, answers: Iterable[Answer], history: Iterable[HistoryEntry]
) -> None:
    """Write answers and history as a bundle holds them."""
    with store.writing():
        store.table("answer").insert_all({"study_id": study_id, **asdict(answer)} for answer in answers)
        store.table("answer_history").insert_all(
            {"study_id": study_id, "saved_utc": entry.saved_utc, **asdict(entry.answer)} for entry in history
        )


def find_answer(store: Store, study_id: int, like: Answer) -> Answer | None:
    """The current answer with the rater, item, level and repeat of `like`."""
    row = store.row(
        "select * from answer where study_id = :id and rater_id = :rater and item_id = :item "
        "and level = :level and repeat = :repeat",
        {
            "id": study_id,
            "rater": like.rater_id,
            "item": like.item_id,
            "level": like.level,
            "repeat": int(like.repeat),
        },
    )
    return None if row is None else _answer(row)


def answers_of(store: Store, study_id: int, rater_id: str | None = None) -> tuple[Answer, ...]:
    """Current answers of a study, or of one rater."""
    only = "" if rater_id is None else " and rater_id = :rater"
    rows = store.rows(
        f"select * from answer where study_id = :id{only} order by rowid", {"id": study_id, "rater": rater_id}
    )
    return tuple(_answer(row) for row in rows)


def history_of(store: Store, study_id: int) -> tuple[HistoryEntry, ...]:
    """Every save, oldest first."""
    rows = store.rows("select * from answer_history where study_id = :id order by id", {"id": study_id})
    return tuple(HistoryEntry(row["saved_utc"], _answer(row)) for row in rows)


def _answer(row: Row) -> Answer:
    values = {name: row[name] for name in _ANSWER_FIELDS}
    for flag in ("repeat", "invalid", "skipped"):
        values[flag] = bool(values[flag])
    return Answer(**values)


def _same(before: Answer, after: Answer) -> bool:
    """Whether nothing a rater decides differs; the time of a repeated press is no change."""
    return _decided(before) == _decided(after)


def _decided(answer: Answer) -> Answer:
    return replace(answer, shown_utc=None, answered_utc=None, seconds=None, diff_used=None, app_version=None)


_GUESS_FIELDS = tuple(Guess.__dataclass_fields__)


def insert_guess(store: Store, study_id: int, guess: Guess) -> bool:
    """Keep a guess; returns whether it is new: the first one about a pair stands."""
    with store.writing():
        if guess.key in {given.key for given in guesses_of(store, study_id, guess.rater_id)}:
            return False
        store.table("guess").insert({"study_id": study_id, **asdict(guess)})
    return True


def restore_guesses(store: Store, study_id: int, guesses: Iterable[Guess]) -> None:
    """Write guesses as a bundle holds them."""
    with store.writing():
        store.table("guess").insert_all({"study_id": study_id, **asdict(guess)} for guess in guesses)


def guesses_of(store: Store, study_id: int, rater_id: str | None = None) -> tuple[Guess, ...]:
    """Guesses of a study, or of one rater, in the order in which they were given."""
    only = "" if rater_id is None else " and rater_id = :rater"
    rows = store.rows(
        f"select * from guess where study_id = :id{only} order by rowid", {"id": study_id, "rater": rater_id}
    )
    return tuple(Guess(**{name: row[name] for name in _GUESS_FIELDS}) for row in rows)
