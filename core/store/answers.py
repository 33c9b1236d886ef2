"""Raters' lists and answers: current answers and an append-only history; also reading and writing complete studies."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Generic, TypeVar

from core.schema.scores import ErrorSpan
from core.schema.study import (
    Answer,
    Assignment,
    Guess,
    HistoryEntry,
    RatingAnswer,
    RatingAssignment,
    RatingHistoryEntry,
    Study,
    StudyKind,
    StudyRecord,
)
from core.store.connection import Row, Store, insert_sql, upsert_sql
from core.store.raters import insert_rater, raters_of
from core.store.studies import (
    enter_questions,
    entered_of,
    inclusion_of,
    insert_study,
    items_of,
    now_utc,
    outputs_of,
    read_guidelines,
    read_log,
    read_shipped,
    read_wording,
    write_guideline,
    write_inclusion,
    write_log,
    write_shipped,
    write_wording,
)

Entry = TypeVar("Entry", bound=Assignment | RatingAssignment)
Given = TypeVar("Given", bound=Answer | RatingAnswer)
Saved = TypeVar("Saved", bound=HistoryEntry | RatingHistoryEntry)

_FLAGS = {"repeat", "invalid", "skipped", "no_errors", "done", "translated"}
_JSON = {"scores", "spans"}
_NOT_DECIDED = {
    "shown_utc",
    "answered_utc",
    "seconds",
    "seconds_visible",
    "translated",
    "diff_used",
    "app_version",
}
"""Fields that a rater does not decide: another click at another time is not a change."""


@dataclass(frozen=True)
class ListProgress:
    """Progress of a rater."""

    total: int
    done: int
    next_open: int | None
    """Next open entry: after a given number, else from the start, else among skipped ones."""


class Lists(Generic[Entry, Given, Saved]):
    """Database access to lists, answers and history of one kind of study."""

    def __init__(
        self,
        types: tuple[type[Entry], type[Given], Callable[[str, Given], Saved]],
        tables: tuple[str, str, str],
        key: tuple[str, ...],
        answered: str,
    ) -> None:
        """tables: for lists, answers and history. key: columns shared by an entry and its answer. answered: SQL condition."""
        self._entry, self._given, self._saved = types
        self._listed, self._said, self._history = tables
        self._key = key
        self._answered = answered
        columns = ("study_id", *(one.name for one in fields(self._given)))
        self._set_current = upsert_sql(self._said, columns, ("study_id", *key))
        self._add_to_history = insert_sql(self._history, ("saved_utc", *columns))

    def replace_list(self, store: Store, study_id: int, rater_id: str, entries: Iterable[Entry]) -> None:
        """Replace a rater's list."""
        with store.writing():
            store.table(self._listed).delete_where("study_id = ? and rater_id = ?", [study_id, rater_id])
            store.table(self._listed).insert_all({"study_id": study_id, **asdict(one)} for one in entries)

    def lists_of(self, store: Store, study_id: int, rater_id: str | None = None) -> tuple[Entry, ...]:
        """The entries of a study or of one rater, in the order shown."""
        rows = _rows(store, self._listed, study_id, rater_id, "rater_id, position")
        return tuple(_read_row(self._entry, row) for row in rows)

    def entry_at(self, store: Store, study_id: int, rater_id: str, position: int) -> Entry | None:
        """The entry now at a position of a rater's list, or None."""
        row = store.row(
            f"select * from {self._listed} where study_id = :id and rater_id = :rater and position = :position",
            {"id": study_id, "rater": rater_id, "position": position},
        )
        return None if row is None else _read_row(self._entry, row)

    def blank(self, entry: Entry) -> Given:
        """An empty answer to an entry."""
        return self._given(**{name: getattr(entry, name) for name in self._key})

    def save(self, store: Store, study_id: int, answer: Given) -> bool:
        """Make `answer` the current one and add it to the history; return whether anything changed.

        Saving the same answer twice (a double click, a second tab) leaves one answer and one line of history.
        """
        with store.writing():
            before = self.find(store, study_id, answer)
            if before is not None and _decided(before) == _decided(answer):
                return False
            row = {"study_id": study_id, **_stored_row(answer)}
            store.change(self._set_current, row)
            store.change(self._add_to_history, {"saved_utc": now_utc(), **row})
        return True

    def restore(
        self, store: Store, study_id: int, answers: Iterable[Given], history: Iterable[Saved]
    ) -> None:
        """Write the answers and history of a bundle."""
        whose = {"study_id": study_id}
        with store.writing():
            store.table(self._said).insert_all(whose | _stored_row(answer) for answer in answers)
            store.table(self._history).insert_all(
                whose | {"saved_utc": entry.saved_utc, **_stored_row(entry.answer)} for entry in history
            )

    def find(self, store: Store, study_id: int, like: Given) -> Given | None:
        """The current answer with the same key as `like`, or None."""
        same = " and ".join(f"{name} = :{name}" for name in self._key)
        key = {name: getattr(like, name) for name in self._key}
        row = store.row(
            f"select * from {self._said} where study_id = :id and {same}", {"id": study_id, **key}
        )
        return None if row is None else _read_row(self._given, row)

    def answers_of(self, store: Store, study_id: int, rater_id: str | None = None) -> tuple[Given, ...]:
        """Current answers of a study or of one rater."""
        rows = _rows(store, self._said, study_id, rater_id, "rowid")
        return tuple(_read_row(self._given, row) for row in rows)

    def history_of(self, store: Store, study_id: int) -> tuple[Saved, ...]:
        """Every save, oldest first."""
        rows = _rows(store, self._history, study_id, None, "id")
        return tuple(self._saved(row["saved_utc"], _read_row(self._given, row)) for row in rows)

    def progress(self, store: Store, study_id: int, rater_id: str, after: int = 0) -> ListProgress:
        """Number of entries and answers of a rater, and the next open entry after `after`."""
        still = ("not answered and not skipped", "not answered and skipped")
        nearest = [
            f"min(iif({one} and position > :after, position, null)), min(iif({one}, position, null))"
            for one in still
        ]
        (row,) = store.rows(
            f"select count(*) as total, coalesce(sum(answered), 0) as done, coalesce({', '.join(nearest)}) as next_open "
            f"from ({self._statuses()})",
            {"id": study_id, "rater": rater_id, "after": after},
        )
        return ListProgress(**row)

    def statuses(self, store: Store, study_id: int, rater_id: str, first: int, last: int) -> list[Row]:
        """Rows with position, answered, skipped and invalid of a rater's list, from position `first` to `last`."""
        return store.rows(
            f"{self._statuses()} and listed.position between :first and :last order by listed.position",
            {"id": study_id, "rater": rater_id, "first": first, "last": last},
        )

    def _statuses(self) -> str:
        same = " and ".join(f"said.{name} = listed.{name}" for name in ("study_id", *self._key))
        return (
            f"select listed.position, coalesce({self._answered}, 0) as answered, coalesce(said.skipped, 0) as skipped, "
            f"coalesce(said.invalid, 0) as invalid from {self._listed} as listed left join {self._said} as said on {same} "
            "where listed.study_id = :id and listed.rater_id = :rater"
        )


PAIRS = Lists(
    (Assignment, Answer, HistoryEntry),
    ("assignment", "answer", "answer_history"),
    ("rater_id", "item_id", "level", "repeat"),
    "choice is not null or preference is not null",
)
RATINGS = Lists(
    (RatingAssignment, RatingAnswer, RatingHistoryEntry),
    ("rating_assignment", "rating_answer", "rating_history"),
    ("rater_id", "item_id", "level", "source", "repeat"),
    "done",
)
LISTS: Mapping[StudyKind, Lists[Any, Any, Any]] = {"pairs": PAIRS, "ratings": RATINGS}
assignments_of, answers_of, history_of = PAIRS.lists_of, PAIRS.answers_of, PAIRS.history_of
rating_assignments_of, ratings_of = RATINGS.lists_of, RATINGS.answers_of


def positions_together(store: Store, study_id: int, like: RatingAssignment) -> tuple[int, ...]:
    """Positions of the texts of the same item on a rater's list, including this one, in the order shown."""
    rows = store.rows(
        "select position from rating_assignment where study_id = :id and rater_id = :rater and item_id = :item "
        "and repeat = :repeat order by position",
        {"id": study_id, "rater": like.rater_id, "item": like.item_id, "repeat": like.repeat},
    )
    return tuple(row["position"] for row in rows)


def insert_guess(store: Store, study_id: int, guess: Guess) -> bool:
    """Save a guess unless the pair has one; return whether it was saved."""
    with store.writing():
        if guess.key in {given.key for given in guesses_of(store, study_id, guess.rater_id)}:
            return False
        restore_guesses(store, study_id, [guess])
    return True


def restore_guesses(store: Store, study_id: int, guesses: Iterable[Guess]) -> None:
    """Write the guesses of a bundle."""
    with store.writing():
        store.table("guess").insert_all({"study_id": study_id, **asdict(guess)} for guess in guesses)


def guesses_of(store: Store, study_id: int, rater_id: str | None = None) -> tuple[Guess, ...]:
    """Guesses of a study or of one rater, in the order given."""
    rows = _rows(store, "guess", study_id, rater_id, "rowid")
    return tuple(_read_row(Guess, row) for row in rows)


def _rows(store: Store, table: str, study_id: int, rater_id: str | None, order: str) -> list[Row]:
    only = "" if rater_id is None else " and rater_id = :rater"
    return store.rows(
        f"select * from {table} where study_id = :id{only} order by {order}",
        {"id": study_id, "rater": rater_id},
    )


def _stored_row(answer: Answer | RatingAnswer) -> Row:
    """The fields as stored in the database."""
    return {
        name: json.dumps(value, ensure_ascii=False) if name in _JSON else value
        for name, value in asdict(answer).items()
    }


_Kept = TypeVar("_Kept", bound=Assignment | Answer | RatingAssignment | RatingAnswer | Guess)


def _read_row(kind: type[_Kept], row: Row) -> _Kept:
    """Read a row written by `_stored_row`."""
    values = {name: row[name] for name in kind.__dataclass_fields__}
    for flag in _FLAGS:
        if values.get(flag) is not None:
            values[flag] = bool(values[flag])
    if "spans" in values:
        values |= {name: json.loads(values[name]) for name in _JSON}
        values["spans"] = tuple(ErrorSpan(**span) for span in values["spans"])
    return kind(**values)


def _decided(answer: Answer | RatingAnswer) -> Answer | RatingAnswer:
    blanks: dict[str, Any] = {one.name: None for one in fields(answer) if one.name in _NOT_DECIDED}
    return replace(answer, **blanks)


def load_record(store: Store, study: Study) -> StudyRecord:
    """Load the complete record of `study`."""
    number = study.study_id
    return StudyRecord(
        study=study,
        items=items_of(store, number),
        outputs=outputs_of(store, number),
        raters=raters_of(store, number),
        assignments=PAIRS.lists_of(store, number),
        answers=PAIRS.answers_of(store, number),
        history=PAIRS.history_of(store, number),
        guidelines=read_guidelines(store, number),
        log=read_log(store, number),
        guesses=guesses_of(store, number),
        wording=read_wording(store, number),
        rating_assignments=RATINGS.lists_of(store, number),
        rating_answers=RATINGS.answers_of(store, number),
        rating_history=RATINGS.history_of(store, number),
        entered=entered_of(store, number),
        inclusion=inclusion_of(store, number),
        shipped=read_shipped(store, number),
    )


def insert_record(store: Store, record: StudyRecord) -> Study:
    """Write a complete study from a bundle, all or nothing. Raters need new links, because bundles have no tokens."""
    with store.writing():
        study = insert_study(store, record.study, record.items, record.outputs)
        for rater in record.raters:
            insert_rater(store, study.study_id, replace(rater, link_number=0))
            own = [a for a in record.assignments if a.rater_id == rater.rater_id]
            PAIRS.replace_list(store, study.study_id, rater.rater_id, own)
            rated = [a for a in record.rating_assignments if a.rater_id == rater.rater_id]
            RATINGS.replace_list(store, study.study_id, rater.rater_id, rated)
        PAIRS.restore(store, study.study_id, record.answers, record.history)
        RATINGS.restore(store, study.study_id, record.rating_answers, record.rating_history)
        restore_guesses(store, study.study_id, record.guesses)
        enter_questions(store, study.study_id, record.entered)
        write_inclusion(store, study.study_id, record.inclusion)
        write_shipped(store, study.study_id, record.shipped)
        for language, text in record.guidelines.items():
            write_guideline(store, study.study_id, language, text)
        for language, texts in record.wording.items():
            write_wording(store, study.study_id, language, texts)
        for entry in record.log:
            write_log(
                store,
                study.study_id,
                entry.action,
                entry.detail,
                rater_id=entry.rater_id,
                at_utc=entry.at_utc,
            )
    return study
