"""Scored texts and ratings in columns: arrays from the file on, with a row object only for whoever reads a row."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from core.schema.scores import ErrorSpan, Rating, ScoredRow

Word = TypeVar("Word")
Row = TypeVar("Row")
Codes = NDArray[np.int32]
Labels = Mapping[str, str]


@dataclass(frozen=True, eq=False, slots=True)
class Coded(Generic[Word]):
    """A column whose cells are stored once each: four bytes a row."""

    codes: Codes
    """Place of each row's cell in `words`."""
    words: tuple[Word, ...]

    def __len__(self) -> int:
        return self.codes.size

    def cells(self) -> Iterator[Word]:
        """Yield the cell of each row."""
        return map(self.words.__getitem__, self.codes.tolist())

    def take(self, rows: Any) -> "Coded[Word]":
        """The column at these rows: indices, a mask or a slice."""
        return Coded(self.codes[rows], self.words)

    def at(self, row: int) -> Word:
        """The cell of one row."""
        return self.words[int(self.codes[row])]

    def distinct(self) -> list[Word]:
        """The cells that rows have, in order of first appearance."""
        codes, first = np.unique(self.codes, return_index=True)
        return [self.words[code] for code in codes[np.argsort(first)].tolist()]

    def is_in(self, cells: Collection[object]) -> NDArray[np.bool_]:
        """Whether each row's cell is one of these."""
        return np.array([word in cells for word in self.words], dtype=bool)[self.codes]


def coded(cells: Iterable[Word], key: Any = None) -> Coded[Word]:
    """A column with these cells. key: function that gives equal keys for equal cells, if cells cannot be hashed."""
    places: dict[Hashable, int] = {}
    words: list[Word] = []
    codes = []
    for cell in cells:
        of_cell: Hashable = cell if key is None else key(cell)
        place = places.setdefault(of_cell, len(words))
        if place == len(words):
            words.append(cell)
        codes.append(place)
    return Coded(np.array(codes, dtype=np.int32), tuple(words))


def same_everywhere(cell: Word, n_rows: int) -> Coded[Word]:
    """A column with one cell in every row."""
    return Coded(np.zeros(n_rows, dtype=np.int32), (cell,))


def combined(columns: Sequence[Coded[Any]]) -> tuple[Codes, NDArray[np.int64]]:
    """Number the combinations of cells in order of first appearance: each row's number, and each number's first row."""
    whole = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        # Renumbered after each column, so that the product of the sizes stays small.
        whole = np.unique(whole * len(column.words) + column.codes, return_inverse=True)[1].astype(np.int64)
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(order.size, dtype=np.int32)
    number[order] = np.arange(order.size, dtype=np.int32)
    return number[inverse], first[order].astype(np.int64)


class _Rows(Sequence[Row]):
    """A sequence of rows made from columns when they are read; equal to a tuple of equal rows."""

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return self.take(place)
        return self._row(range(len(self))[place])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Rows | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(one == its for one, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def take(self, rows: Any) -> Sequence[Row]:
        """The rows at these indices, in this mask or in this slice, as columns."""
        raise NotImplementedError

    def _row(self, at: int) -> Row:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, slots=True)
class ScoredRows(_Rows[ScoredRow]):
    """Rows of a table of scores."""

    item_id: Coded[str]
    system: Coded[str]
    level: Coded[str | None]
    language: Coded[str]
    labels: Coded[Labels]

    @classmethod
    def of(cls, rows: Sequence[ScoredRow]) -> "ScoredRows":
        """The rows in columns."""
        return rows if isinstance(rows, ScoredRows) else cls(*_named_columns(rows))

    def __len__(self) -> int:
        return len(self.item_id)

    def __iter__(self) -> Iterator[ScoredRow]:
        return map(ScoredRow, *(column.cells() for column in self.columns))

    def _row(self, at: int) -> ScoredRow:
        return ScoredRow(*(column.at(at) for column in self.columns))

    def take(self, rows: Any) -> "ScoredRows":
        """The rows at these indices, in this mask or in this slice, as columns."""
        return ScoredRows(*(column.take(rows) for column in self.columns))

    @property
    def columns(self) -> tuple[Coded[Any], ...]:
        """All columns of names, in the order of the row's fields."""
        return self.item_id, self.system, self.level, self.language, self.labels


@dataclass(frozen=True, eq=False, slots=True)
class Ratings(_Rows[Rating]):
    """Ratings by people."""

    item_id: Coded[str]
    score: NDArray[np.float64]
    system: Coded[str | None]
    level: Coded[str | None]
    rater: Coded[str | None]
    dimension: Coded[str]
    language: Coded[str]
    labels: Coded[Labels]
    spans: Sequence[tuple[ErrorSpan, ...] | None] | None = None
    """Errors marked in each text; None: in no text of the file."""

    @classmethod
    def of(cls, ratings: Sequence[Rating]) -> "Ratings":
        """The ratings in columns."""
        if isinstance(ratings, Ratings):
            return ratings
        item_id, system, level, language, labels = _named_columns(ratings)
        spans = tuple(one.spans for one in ratings)
        return cls(
            item_id,
            np.array([one.score for one in ratings], dtype=np.float64),
            *(system, level, coded(one.rater for one in ratings), coded(one.dimension for one in ratings)),
            *(language, labels, None if all(one is None for one in spans) else spans),
        )

    def __len__(self) -> int:
        return len(self.item_id)

    def __iter__(self) -> Iterator[Rating]:
        before, after = self.columns[:1], self.columns[1:]
        cells = [column.cells() for column in after] + ([] if self.spans is None else [iter(self.spans)])
        return map(Rating, *(column.cells() for column in before), self.score.tolist(), *cells)

    def _row(self, at: int) -> Rating:
        item_id, system, level, rater, dimension, language, labels = (
            column.at(at) for column in self.columns
        )
        spans = None if self.spans is None else self.spans[at]
        score = float(self.score[at])
        return Rating(item_id, score, system, level, rater, dimension, language, labels, spans)

    def take(self, rows: Any) -> "Ratings":
        """The ratings at these indices, in this mask or in this slice, as columns."""
        item_id, system, level, rater, dimension, language, labels = (
            column.take(rows) for column in self.columns
        )
        places = np.arange(len(self))[rows].tolist() if self.spans is not None else ()
        spans = None if self.spans is None else tuple(self.spans[at] for at in places)
        return Ratings(item_id, self.score[rows], system, level, rater, dimension, language, labels, spans)

    @property
    def columns(self) -> tuple[Coded[Any], ...]:
        """All columns of names, in the order of the row's fields."""
        return (
            *(self.item_id, self.system, self.level, self.rater),
            *(self.dimension, self.language, self.labels),
        )


def _named_columns(rows: Sequence[ScoredRow] | Sequence[Rating]) -> tuple[Coded[Any], ...]:
    """Item, system, level, language and labels of row objects."""
    return (
        *(coded(getattr(row, name) for row in rows) for name in ("item_id", "system", "level", "language")),
        coded((row.labels for row in rows), key=lambda labels: tuple(sorted(labels.items()))),
    )


def named_column(rows: Sequence[ScoredRow | Rating], name: str) -> Coded[str | None]:
    """A column of the rows: item, system, level, language or a label, None where a row lacks it."""
    field = {"item": "item_id"}.get(name, name)
    if not isinstance(rows, ScoredRows | Ratings):
        if field in _FIELDS:
            return coded(getattr(row, field) for row in rows)
        return coded(row.labels.get(name) for row in rows)
    if field in _FIELDS:
        found: Coded[str | None] = getattr(rows, field)
        return found
    return renamed(rows.labels, [labels.get(name) for labels in rows.labels.words])


_FIELDS = frozenset({"item_id", "system", "level", "language"})


def renamed(column: Coded[Any], words: Sequence[Any], key: Any = None) -> Coded[Any]:
    """The column with other words; equal ones get one code."""
    distinct = coded(words, key)
    return Coded(distinct.codes[column.codes], distinct.words)
