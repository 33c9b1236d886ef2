"""Scores meet what they are correlated with: ratings of the same texts, or the damage that was done to them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.analysis.rating_choice import chosen_ratings
from core.datasets.open_tables import ONLY_SYSTEM
from core.datasets.reading import shown
from core.datasets.score_tables import level_number
from core.errors import InputError
from core.schema.scores import Against, Rating, RatingSet, ScoredRow, ScoreTable
from core.stats.resampling import Floats

Named = ScoredRow | Rating
Key = tuple[object, ...]

NO_RATING, NO_LEVEL, NO_SCORE = "no rating", "no level", "no score"
OTHER_ITEM = "their item has no score"
OTHER_TEXT = "their item has scores, but of other systems or levels"
NO_VALUE = "(none)"
"""What a group is called whose rows lack the column."""


@dataclass(frozen=True)
class Joined:
    """Rows of a score table beside their target."""

    table: ScoreTable
    rows: NDArray[np.int64]
    """Indices into the table's rows: one entry a rated text, or one a rating where raters are kept."""
    target: Floats
    """Shape of `rows`; higher is better, unless it is the raw level."""
    missing: dict[int, str]
    """Table row -> why it has no target."""
    against: Against
    notes: tuple[str, ...] = ()

    def scores(self, turned: bool = True) -> Floats:
        """Scores of the joined rows, shape (entries, metrics); turned where a metric's lower end is better."""
        values = self.table.values[self.rows]
        return values * directions(self.table) if turned else values


def directions(table: ScoreTable) -> Floats:
    """+1 for each metric whose higher end is better, else -1."""
    return np.array([-1.0 if metric.direction == "lower" else 1.0 for metric in table.metrics])


def column_of(row: Named, name: str) -> str | None:
    """The row's value in a column: item, system, level, language, or a label."""
    if name == "item":
        return row.item_id
    if name in ("system", "level"):
        return row.system if name == "system" else row.level
    return row.language if name == "language" else row.labels.get(name)


def group_columns(table: ScoreTable) -> tuple[str, ...]:
    """The columns by which rows can be grouped."""
    labels = {label: None for row in table.rows for label in row.labels}
    return ("system", "level", "language", *labels)


def items_of(rows: Sequence[Named]) -> NDArray[np.int64]:
    """A number for each row's item: its id, within its data set and language. What is resampled."""
    numbers: dict[Key, int] = {}
    keys = ((row.labels.get("dataset"), row.language, row.item_id) for row in rows)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def names_of(rows: Sequence[Named], column: str) -> NDArray[np.str_]:
    """Each row's value in a column, `NO_VALUE` where it has none."""
    return np.array([column_of(row, column) or NO_VALUE for row in rows], dtype=str)


def rows_at(table: ScoreTable, indices: Sequence[int]) -> ScoreTable:
    """Some rows of a table, in the order given, with their reasons."""
    place = {index: new for new, index in enumerate(indices)}
    return replace(
        table,
        rows=tuple(table.rows[index] for index in indices),
        values=table.values[list(indices)],
        reasons={(place[r], m): reason for (r, m), reason in table.reasons.items() if r in place},
        notes=(),
    )


def join_levels(table: ScoreTable, *, raw: bool = False) -> Joined:
    """Each row beside minus its damage level, or beside the level itself (`raw`).

    Raises InputError where no row has a level.
    """
    levels = [level_number(row.level) for row in table.rows]
    rows = np.array([index for index, level in enumerate(levels) if level is not None], dtype=np.int64)
    target = np.array([level for level in levels if level is not None], dtype=np.float64)
    if not table.rows:
        raise InputError(f"{_called(table)}: there are no scores yet.")
    if not rows.size:
        raise InputError(
            f"{_called(table)} has no damage levels to correlate with: a column `level` holds A0-A4 or 0-5. "
            "Scores of texts of unknown quality are correlated with human ratings (--with human --human FILE)."
        )
    missing = {
        index: NO_LEVEL if row.level is None else f"level {shown(row.level)} is no number"
        for index, row in enumerate(table.rows)
        if levels[index] is None
    }
    return Joined(table, rows, target if raw else -target, missing, "level" if raw else "-level")


def join_ratings(
    table: ScoreTable, ratings: RatingSet, *, dimension: str | None, z_normalise: bool, kept: bool
) -> Joined:
    """Each row beside the mean of its ratings, or once for each rating (`kept`).

    Joined by item, system and level, as far as both files have them; a further column that both have (language,
    dataset ...) takes part where texts of one file differ in nothing else. Raises InputError where nothing meets, or
    where a rating meets several scores.
    """
    chosen = chosen_ratings(ratings, dimension, z_normalise=z_normalise)
    columns = _shared_columns(table.rows, ratings.ratings)
    place = _places(table, ratings, columns)
    met = np.array([place.get(_key(one, columns), -1) for one in chosen.ratings], dtype=np.int64)
    if not (met >= 0).any():
        raise _nothing_met(table, ratings, columns)
    rows, values = met[met >= 0], chosen.values[met >= 0]
    unusable = set(rows[np.isnan(values)].tolist())
    rows, values = rows[~np.isnan(values)], values[~np.isnan(values)]
    if kept:
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
    else:
        rows, index, n = np.unique(rows, return_inverse=True, return_counts=True)
        values = np.bincount(index, weights=values, minlength=rows.size) / n
    used = set(rows.tolist())
    missing = {
        index: chosen.unusable_reason if index in unusable else NO_RATING
        for index in range(len(table.rows))
        if index not in used
    }
    notes = (*ratings.notes, *chosen.notes, *_unmatched_notes(table, chosen.ratings, met))
    return Joined(table, rows, values, missing, "human", notes)


def _key(row: Named, columns: Sequence[str]) -> Key:
    return tuple(_level_key(row.level) if name == "level" else column_of(row, name) for name in columns)


def _level_key(level: str | None) -> str | float | None:
    """So that A3, 3 and L3 meet."""
    number = level_number(level)
    return level if number is None else number


def _shared_columns(scored: Sequence[ScoredRow], rated: Sequence[Rating]) -> tuple[str, ...]:
    """Item, system and level as far as both sides have them, and what else is needed to tell texts apart."""
    sides: tuple[Sequence[Named], Sequence[Named]] = (scored, rated)
    columns = ["item", *(name for name in ("system", "level") if all(_has(side, name) for side in sides))]
    labels = {label: None for row in rated for label in row.labels}
    for name in ("language", *labels):
        if all(_has(side, name) for side in sides):
            with_it = [*columns, name]
            if any(_n_keys(side, with_it) > _n_keys(side, columns) for side in sides):
                columns = with_it
    return tuple(columns)


def _has(rows: Sequence[Named], name: str) -> bool:
    absent = {"language": "und", "system": ONLY_SYSTEM}.get(name, "")
    return any(column_of(row, name) not in (None, "", absent) for row in rows)


def _n_keys(rows: Sequence[Named], columns: Sequence[str]) -> int:
    return len({_key(row, columns) for row in rows})


def _places(table: ScoreTable, ratings: RatingSet, columns: Sequence[str]) -> dict[Key, int]:
    """Key -> row of the table. Raises InputError where a key names several rows."""
    place: dict[Key, int] = {}
    twice: dict[Key, list[int]] = {}
    for index, row in enumerate(table.rows):
        key = _key(row, columns)
        if place.setdefault(key, index) != index:
            twice.setdefault(key, [place[key]]).append(index)
    rated = {_key(one, columns) for one in ratings.ratings} if twice else set()
    problems = [_ambiguous(table, ratings, indices) for key, indices in twice.items() if key in rated]
    if problems:
        raise InputError(
            f"Ratings of {shown(ratings.file_name)} do not tell which score they are about.", problems
        )
    return place


def _ambiguous(table: ScoreTable, ratings: RatingSet, indices: Sequence[int]) -> str:
    rows = [table.rows[index] for index in indices]
    differ = [name for name in group_columns(table) if len({column_of(row, name) for row in rows}) > 1] or [
        "nothing: the texts are listed twice"
    ]
    end = f"add {differ[0]} to the ratings" if _has(rows, differ[0]) else "leave one of them out"
    return f"item {shown(rows[0].item_id)} has {len(rows)} rows of scores, which differ in {', '.join(differ)}: {end}"


def _nothing_met(table: ScoreTable, ratings: RatingSet, columns: Sequence[str]) -> InputError:
    def example(row: Named) -> str:
        return ", ".join(f"{name} {shown(str(column_of(row, name)))}" for name in columns)

    return InputError(
        f"No rating of {shown(ratings.file_name)} meets a score of {_called(table)}: "
        f"{' and '.join(columns)} must be written alike in both.",
        [f"scores name, for example, {example(table.rows[0])}", f"ratings name {example(ratings.ratings[0])}"]
        if table.rows
        else ["there are no scores"],
    )


def _unmatched_notes(table: ScoreTable, ratings: Sequence[Rating], met: NDArray[np.int64]) -> list[str]:
    items = {row.item_id for row in table.rows}
    lost = Counter(
        OTHER_TEXT if one.item_id in items else OTHER_ITEM
        for one, index in zip(ratings, met.tolist(), strict=True)
        if index < 0
    )
    return [f"{n} of {len(ratings)} ratings met no score: {reason}" for reason, n in lost.items()]


def _called(table: ScoreTable) -> str:
    return shown(table.file_name) if table.file_name else "The scores"


def left_out(joined: Joined, within: NDArray[np.bool_], metric: int) -> dict[str, int]:
    """Reason -> table rows of a group (`within`, over the table's rows) that a metric's correlation cannot use."""
    reasons: Counter[str] = Counter()
    for index, reason in joined.missing.items():
        if within[index]:
            reasons[reason] += 1
    for index in joined.rows[
        within[joined.rows] & np.isnan(joined.table.values[joined.rows, metric])
    ].tolist():
        reasons[joined.table.reasons.get((index, metric), NO_SCORE)] += 1
    return dict(reasons)
