"""Join scores with human ratings or damage levels, and merge score tables."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, Problems
from core.joining.choices import (
    Dimension,
    Key,
    Named,
    add_directions,
    chosen_ratings,
    column_of,
    dimension_of,
    directions,
    group_columns,
    has_column,
    items_of,
    keys_of,
    level_key,
    names_of,
    scores_called,
)
from core.schema.analysis import UseOfRatings
from core.schema.row_columns import ScoredRows
from core.schema.scores import Against, Metric, Rating, RatingSet, ScoredRow, ScoreTable
from core.schema.study import TextKey
from core.stats.degeneracy import group_means
from core.stats.resampling import Floats
from core.tables.columns import ONLY_SYSTEM, level_number
from core.tables.reading import shown


def place_of(row: ScoredRow, rows: Sequence[ScoredRow]) -> int | None:
    """Index of the only one of `rows` about the same text; None if none or several match.

    Rows match if they have the same item and no different level, system, language or shared label. Levels match under
    any of their names (A3, 3). Several matches give None: at least one of them must be another text.
    """
    fitting = [place for place, other in enumerate(rows) if may_be_one(row, other)]
    return fitting[0] if len(fitting) == 1 else None


def places_of(rows: Sequence[ScoredRow], others: Sequence[ScoredRow]) -> list[int | None]:
    """For each row, the index of the only one of `others` about the same text, as `place_of` finds it."""
    of_item: dict[str, list[int]] = {}
    for at, other in enumerate(others):
        of_item.setdefault(other.item_id, []).append(at)
    found: list[int | None] = []
    for row in rows:
        there = of_item.get(row.item_id, [])
        place = place_of(row, [others[at] for at in there])
        found.append(None if place is None else there[place])
    return found


def text_of(row: ScoredRow, named: Sequence[tuple[ScoredRow, str]]) -> str | None:
    """The text of the row, from texts with their rows; None if none matches, or different texts do."""
    fitting = {text for other, text in named if may_be_one(row, other)}
    return fitting.pop() if len(fitting) == 1 else None


def may_be_one(row: ScoredRow, other: ScoredRow) -> bool:
    """Whether two rows can be about the same text; see `place_of`."""
    sides: list[tuple[object, object, object]] = [
        (level_key(row.level), level_key(other.level), None),
        (row.system, other.system, ONLY_SYSTEM),
        (row.language, other.language, "und"),
        *((row.labels[name], other.labels[name], "") for name in row.labels.keys() & other.labels.keys()),
    ]
    return row.item_id == other.item_id and all(
        one == another or blank in (one, another) for one, another, blank in sides
    )


SystemScores = Literal["all", "rated"]
"""Texts over which a metric's score of a system is averaged: all, as in WMT's metrics task, or the rated ones. Human
scores are always averaged over the rated ones."""
SYSTEM_MEANS: Mapping[SystemScores, str] = {
    "all": "metric scores averaged over all texts, human scores over the rated ones, as in WMT's metrics task",
    "rated": "both averaged over rated texts only",
}

NO_RATING, NO_LEVEL, NO_SCORE = "no rating", "no level", "no score"
OTHER_ITEM = "no score for this item"
OTHER_TEXT = "the item has scores only for other systems or levels"
_MOST_LEVELS, _MOST_ALIKE = 3, 3


@dataclass(frozen=True)
class Joined:
    """Rows of a score table joined with their target."""

    table: ScoreTable
    rows: NDArray[np.int64]
    """Indices into the table's rows: one entry a rated text, or one a rating if raters are kept."""
    target: Floats
    """Same shape as `rows`. Higher is better, except for the raw level."""
    missing: dict[int, str]
    """Table row -> why it has no target."""
    against: Against
    notes: tuple[str, ...] = ()
    pair_of: tuple[str, ...] = ()
    """As `RatingSet.pair_of`."""

    @property
    def names(self) -> tuple[str, str]:
        """Plural nouns for the two correlated quantities, used in reasons for undefined coefficients."""
        return "scores", "ratings" if self.against == "human" else "levels"

    def scores(self) -> Floats:
        """Scores of the joined rows, shape (entries, metrics); sign flipped if a metric's lower scores are better."""
        return self.table.values[self.rows] * directions(self.table)


@dataclass(frozen=True)
class SystemRows:
    """Values behind the systems' means, as `correlation_systems` takes them."""

    scores: Floats
    """Shape (rows, metrics)."""
    target: Floats
    """Shape (rows,)."""
    systems: NDArray[np.str_]
    items: NDArray[np.int64]
    paired: bool
    """Whether both means use the same rows; otherwise each row has either scores or a rating."""


def system_rows(joined: Joined, within: NDArray[np.bool_], system_scores: SystemScores) -> SystemRows:
    """Rows of a group from which systems' means are computed. within: mask over the table's rows."""
    rated = joined.rows[within[joined.rows]]
    scores, target = joined.scores()[within[joined.rows]], joined.target[within[joined.rows]]
    used = rated
    if system_scores == "all":
        whole = np.flatnonzero(within)
        all_scores = joined.table.values[whole] * directions(joined.table)
        scores = np.concatenate([all_scores, np.full_like(scores, np.nan)])
        target = np.concatenate([np.full(whole.size, np.nan), target])
        used = np.concatenate([whole, rated])
    rows = ScoredRows.of(joined.table.rows).take(used)
    return SystemRows(scores, target, names_of(rows, "system"), items_of(rows), system_scores == "rated")


def join_levels(table: ScoreTable, *, raw: bool = False) -> Joined:
    """Join each row with minus its damage level, or with the level itself (`raw`).

    Raises InputError if no row has a level.
    """
    levels = [level_number(row.level) for row in table.rows]
    rows = np.array([index for index, level in enumerate(levels) if level is not None], dtype=np.int64)
    target = np.array([level for level in levels if level is not None], dtype=np.float64)
    if not table.rows:
        raise InputError(f"{scores_called(table.file_name)}: no scores yet.")
    if not rows.size:
        raise InputError(
            f"{scores_called(table.file_name)}: no damage levels to correlate with. Add a column `level` (A0-A4 or 0-5), "
            "or a file with human ratings."
        )
    check_spelled_alike(table.rows)
    table, notes = add_directions(table)
    words = list(
        dict.fromkeys(
            row.level for row in table.rows if row.level is not None and level_number(row.level) is None
        )
    )
    more = f" and {len(words) - _MOST_LEVELS} more" if len(words) > _MOST_LEVELS else ""
    no_number = f"level is not a number ({', '.join(map(shown, words[:_MOST_LEVELS]))}{more})"
    missing = {
        index: NO_LEVEL if row.level is None else no_number
        for index, row in enumerate(table.rows)
        if levels[index] is None
    }
    return Joined(table, rows, target if raw else -target, missing, "level" if raw else "-level", notes)


def only_metric(table: ScoreTable, name: str) -> ScoreTable:
    """The table with the scores of one metric, the first of this name alone. Raises ValueError without one."""
    at = [one.name for one in table.metrics].index(name)
    return replace(
        table,
        metrics=(table.metrics[at],),
        values=table.values[:, [at]],
        reasons={(row, 0): why for (row, column), why in table.reasons.items() if column == at},
    )


def check_spelled_alike(rows: Sequence[ScoredRow]) -> None:
    """Raise InputError for a text listed twice at one level under two spellings, such as A0 and 0."""
    spelled: dict[Key, str] = {}
    twice = []
    for row in rows:
        number = level_number(row.level)
        if row.level is None or number is None:
            continue
        key = (row.item_id, row.system, row.language, number, *sorted(row.labels.items()))
        if spelled.setdefault(key, row.level) != row.level:
            twice.append(
                f"item {shown(row.item_id)}, system {shown(row.system)}: levels {shown(spelled[key])} and "
                f"{shown(row.level)} are the same"
            )
    if twice:
        raise InputError("A text is listed twice at the same level. Leave out one of the two rows.", twice)


def join_ratings(
    table: ScoreTable, ratings: RatingSet, *, dimension: Dimension, z_normalise: bool, kept: bool
) -> Joined:
    """Join each row with the mean of its ratings, or with each rating (`kept`).

    Rows match by item, system and level, as far as both files have them. A further shared column (language, dataset ...)
    is used if texts of one file differ in nothing else. Raises InputError if nothing matches, or if a rating matches
    several scores.
    """
    chosen = chosen_ratings(ratings, dimension, z_normalise=z_normalise, kept=kept)
    table, assumed = add_directions(table)
    met = rows_met(table, ratings, chosen.ratings)
    rows, values = met[met >= 0], chosen.values[met >= 0]
    unusable = set(rows[np.isnan(values)].tolist())
    rows, values = rows[~np.isnan(values)], values[~np.isnan(values)]
    if kept:
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
    else:
        rows, index = np.unique(rows, return_inverse=True)
        # Where raters agree with their own mean, normalised ratings contain nothing but rounding.
        values = group_means(values, index, rows.size, least_size=1.0 if chosen.standardised else 0.0)
    used = set(rows.tolist())
    missing = {
        index: chosen.unusable_reason if index in unusable else NO_RATING
        for index in range(len(table.rows))
        if index not in used
    }
    alike = [
        said
        for metric, scores in zip(table.metrics, table.values[rows].T, strict=True)
        if (said := equal_values_said(metric.name, scores, "the ratings", values))
    ]
    lost = unmatched(table, chosen.ratings, met)
    unmet = [f"{n} of {len(met)} ratings matched no score: {reason}" for reason, n in lost.items()]
    return Joined(
        *(table, rows, values, missing, "human"),
        (*alike, *ratings.notes, *assumed, *chosen.notes, *unmet),
        ratings.pair_of,
    )


def rows_met(table: ScoreTable, ratings: RatingSet, selected: Sequence[Rating]) -> NDArray[np.int64]:
    """Index of the table row that each chosen rating is about; -1 if there is none.

    Matches rows and raises errors as `join_ratings` does, and for a file that is on both sides.
    """
    check_two_files(ratings, [table])
    labels = {label: None for row in ratings.ratings for label in row.labels}
    columns = identifying_columns((table.rows, ratings.ratings), ("system", "level"), ("language", *labels))
    # Blanks are filled from the item's other rows, on either side.
    keys = keys_of((*table.rows, *selected), columns)
    scored, rated = keys[: len(table.rows)], keys[len(table.rows) :]
    place = _places(table, ratings, scored, set(rated))
    met = np.array([place.get(key, -1) for key in rated], dtype=np.int64)
    if not (met >= 0).any():
        raise _no_match_error(table, ratings, columns)
    return met


def identifying_columns(
    sides: Sequence[Sequence[Named]], always: Sequence[str], further: Iterable[str]
) -> tuple[str, ...]:
    """Item, the given columns that all sides have, and further shared columns needed to identify a side's texts."""
    shared = [name for name in (*always, *further) if all(has_column(side, name) for side in sides)]
    columns = ["item", *(name for name in always if name in shared)]
    # Only a side whose texts are not yet told apart can need a further column.
    n_keys = [_n_keys(side, columns) for side in sides]
    for name in shared:
        unclear = [
            (side, n) for side, n in zip(sides, n_keys, strict=True) if name not in columns and n < len(side)
        ]
        if any(_n_keys(side, [*columns, name]) > n for side, n in unclear):
            columns = [*columns, name]
            n_keys = [_n_keys(side, columns) for side in sides]
    return tuple(columns)


def _n_keys(rows: Sequence[Named], columns: Sequence[str]) -> int:
    return len(
        {
            tuple(level_key(row.level) if name == "level" else column_of(row, name) for name in columns)
            for row in rows
        }
    )


def _places(
    table: ScoreTable, ratings: RatingSet, scored: Sequence[Key], rated: Collection[Key]
) -> dict[Key, int]:
    """Key -> row of the table. Raises InputError if a rating's key matches several rows."""
    place: dict[Key, int] = {}
    twice: dict[Key, list[int]] = {}
    for index, key in enumerate(scored):
        if place.setdefault(key, index) != index:
            twice.setdefault(key, [place[key]]).append(index)
    unclear = [indices for key, indices in twice.items() if key in rated]
    if unclear:
        raise InputError(
            f"Ratings in {shown(ratings.file_name)} match several scores each.",
            _ambiguous(table, unclear),
        )
    return place


def _ambiguous(table: ScoreTable, unclear: Sequence[Sequence[int]]) -> list[str]:
    """One problem for each cause: the columns in which an item's rows differ."""
    causes: dict[tuple[str, ...], list[Sequence[int]]] = {}
    for indices in unclear:
        rows = [table.rows[index] for index in indices]
        differ = [name for name in group_columns(table) if len({column_of(row, name) for row in rows}) > 1]
        causes.setdefault(tuple(differ), []).append(indices)
    problems = []
    for names, found in causes.items():
        items = [shown(table.rows[indices[0]].item_id) for indices in found]
        listed = ", ".join(items[:_MOST_ALIKE]) + (
            f" and {len(items) - _MOST_ALIKE} more" if len(items) > _MOST_ALIKE else ""
        )
        rows = [table.rows[index] for index in found[0]]
        end = (
            f"add {names[0]} to the ratings"
            if names and has_column(rows, names[0])
            else "leave one of them out"
        )
        several = f"item {listed} has" if len(items) == 1 else f"{len(items)} items ({listed}) have"
        problems.append(
            f"{several} {len(rows) if len(items) == 1 else 'several'} rows of scores that differ in "
            f"{', '.join(names) or 'nothing (the text is listed twice)'}: {end}"
        )
    return problems


def _no_match_error(table: ScoreTable, ratings: RatingSet, columns: Sequence[str]) -> InputError:
    def example(row: Named) -> str:
        return ", ".join(f"{name} {shown(str(column_of(row, name)))}" for name in columns)

    return InputError(
        f"No rating in {shown(ratings.file_name)} matches a score in {scores_called(table.file_name)}: "
        f"{' and '.join(columns)} must be the same in both.",
        [f"first score: {example(table.rows[0])}", f"first rating: {example(ratings.ratings[0])}"]
        if table.rows
        else ["no scores"],
    )


def unmatched(table: ScoreTable, ratings: Sequence[Rating], met: NDArray[np.int64]) -> Counter[str]:
    """Reason -> number of ratings without a row in the table. met: result of `rows_met` for these ratings."""
    items = {row.item_id for row in table.rows}
    return Counter(
        OTHER_TEXT if one.item_id in items else OTHER_ITEM
        for one, index in zip(ratings, met.tolist(), strict=True)
        if index < 0
    )


def left_out(joined: Joined, within: NDArray[np.bool_], *metrics: int) -> dict[str, int]:
    """Reason -> number of a group's rows that a correlation of these metrics cannot use.

    within: mask over the table's rows. The reason is that of the first metric without a score.
    """
    reasons: Counter[str] = Counter()
    for index, reason in joined.missing.items():
        if within[index]:
            reasons[reason] += 1
    rows = joined.rows[within[joined.rows]]
    unscored = np.isnan(joined.table.values[rows][:, list(metrics)])
    for entry in np.flatnonzero(unscored.any(axis=1)).tolist():
        metric = metrics[int(unscored[entry].argmax())]
        reasons[joined.table.reasons.get((int(rows[entry]), metric), NO_SCORE)] += 1
    return dict(reasons)


AS_USUAL = UseOfRatings()
"""One mean rating for each text."""


def joined_with(
    table: ScoreTable, ratings: RatingSet | None, use: UseOfRatings = AS_USUAL, *, raw: bool = False
) -> Joined:
    """Join the scores with the ratings, or with their level if no ratings are given.

    raw: with the level itself, as Factual prints it (a good metric is negative), not with minus the level.
    """
    if ratings is None:
        return join_levels(table, raw=raw)
    return join_ratings(
        table,
        ratings,
        dimension=dimension_of(use.dimension or ()),
        z_normalise=use.z_normalise,
        kept=use.raters == "kept",
    )


SAME_NAME = "#"
LISTED_AS = " is listed as "
"""In a note on a renamed metric."""
"""Separator between a metric's name and its table's number, if an earlier table has a metric of that name."""


def merge_tables(tables: Sequence[ScoreTable], of: Collection[TextKey] = ()) -> ScoreTable:
    """Merge tables: the metrics of all tables over the texts of any of them.

    Texts match by item, system, level, language and data set, as far as all tables have these. A further shared label is
    used if the texts of a table differ in nothing else. Levels match under any of their names. Other labels never
    separate texts; those on which tables disagree are left out. A text that a table lacks is undefined there, with the
    reason `not scored in <file>`. A repeated metric name gets its table's number: `bleu-4#2`. Metrics without a stated
    direction get the registry's.

    of: texts that all tables are about, such as a study's; a table that has one of them need not share a text with the others.

    Raises InputError with every problem: a table without scores, a table that shares no text with any other, a table
    that lists one text several times.
    """
    if not tables:
        raise InputError("No table of scores to compare. Give at least one.")
    names = table_names(tables)
    empty = [
        f"{name} contains no {'metric' if table.rows else 'text'}"
        for name, table in zip(names, tables, strict=True)
        if not table.rows or not table.metrics
    ]
    if empty:
        raise InputError("No scores to compare yet", empty)
    if len(tables) == 1:
        return tables[0]
    directed = [add_directions(table) for table in tables]
    labels = {label: None for table in tables for row in table.rows for label in row.labels}
    columns = identifying_columns(
        [table.rows for table in tables], ("system", "level", "language", "dataset"), labels
    )
    # Blanks are filled from the item's other rows, in any table.
    of_all = iter(keys_of([row for table in tables for row in table.rows], columns))
    keys = [list(islice(of_all, len(table.rows))) for table in tables]
    _check_texts(tables, names, columns, keys, of)
    rows = {key: index for index, key in enumerate(dict.fromkeys(key for own in keys for key in own))}
    metrics, renamed = _metrics([table for table, _ in directed], names)
    values = np.full((len(rows), len(metrics)), np.nan)
    reasons: dict[tuple[int, int], str] = {}
    first = 0
    for table, name, own in zip(tables, names, keys, strict=True):
        at = np.array([rows[key] for key in own])
        block = slice(first, first + len(table.metrics))
        values[at, block] = table.values
        reasons |= {(rows[own[row]], first + metric): why for (row, metric), why in table.reasons.items()}
        for row in sorted(set(rows.values()) - set(at.tolist())):
            reasons |= {(row, metric): not_scored_in(name) for metric in range(block.start, block.stop)}
        first = block.stop
    about, left = _rows(tables, keys)
    n_all = len(set.intersection(*map(set, keys)))
    lacking = {name: len(rows) - len(set(own)) for name, own in zip(names, keys, strict=True)}
    short = ", ".join(f"{n} not in {name}" for name, n in lacking.items() if n)
    notes = [
        f"{n_all} of {len(rows)} texts are in all {len(names)} tables" + (f"; {short}" if short else ""),
        *renamed,
        *left,
        *(
            f"{name}: {note}"
            for name, table, (_, assumed) in zip(names, tables, directed, strict=True)
            for note in (*table.notes, *assumed)
        ),
    ]
    return ScoreTable(about, metrics, values, reasons, " + ".join(names), tuple(notes))


def text_key(row: ScoredRow) -> TextKey:
    """(item, level, system) of a row, empty where it has none."""
    return row.item_id, row.level or "", row.system or ""


def not_scored_in(name: str) -> str:
    """Reason for a missing score: the table lacks the text."""
    return f"not scored in {name}"


def table_names(tables: Sequence[ScoreTable]) -> tuple[str, ...]:
    """Name of each table: its file, or its number if it has no file; both if two tables share a file name."""
    files = [shown(table.file_name) if table.file_name else "" for table in tables]
    return tuple(
        f"table {number}" if not file else file if files.count(file) == 1 else f"{file} (table {number})"
        for number, file in enumerate(files, start=1)
    )


def _check_texts(
    tables: Sequence[ScoreTable],
    names: Sequence[str],
    columns: Sequence[str],
    keys: Sequence[Sequence[Key]],
    of: Collection[TextKey],
) -> None:
    problems = Problems()
    for number, (table, name, own) in enumerate(zip(tables, names, keys, strict=True)):
        problems += _listed_twice(table, name, own)
        others = {key for k, theirs in enumerate(keys) if k != number for key in theirs}
        if others.isdisjoint(own) and not any(text_key(row) in of for row in table.rows):
            example = ", ".join(
                f"{column} {shown(str(column_of(table.rows[0], column)))}" for column in columns
            )
            problems.append(f"{name} shares no text with the others. Its first text: {example}")
    if problems:
        raise InputError(
            f"Scores can be compared only on the same texts, so {_listed(columns)} must be the same in all tables",
            problems,
        )


def _listed_twice(table: ScoreTable, name: str, keys: Sequence[Key]) -> list[str]:
    """Problems for rows about the same text, naming the columns that separate them but that other tables lack."""
    counts = Counter(keys)
    twice = [key for key, n in counts.items() if n > 1]
    if not twice:
        return []
    rows = [row for row, key in zip(table.rows, keys, strict=True) if key == twice[0]]
    own = ("system", "level", "language", *{label: None for row in rows for label in row.labels})
    differ = [column for column in own if len({column_of(row, column) for row in rows}) > 1]
    items = list(dict.fromkeys(shown(str(key[0])) for key in twice))
    more = f" and {len(items) - _MOST_ALIKE} more" if len(items) > _MOST_ALIKE else ""
    end = (
        f"which differ in {_listed(differ)}. Add {differ[0]} to the other tables, or leave out all but one row"
        if differ
        else "which are identical. Leave out all but one"
    )
    return [f"{name}: item {', '.join(items[:_MOST_ALIKE])}{more} has several rows for one text, {end}"]


def _metrics(tables: Sequence[ScoreTable], names: Sequence[str]) -> tuple[tuple[Metric, ...], list[str]]:
    """All metrics under unique names, and notes on those renamed."""
    metrics: list[Metric] = []
    notes = []
    taken = {metric.name for table in tables for metric in table.metrics}
    met: set[str] = set()
    for number, (table, name) in enumerate(zip(tables, names, strict=True), start=1):
        for metric in table.metrics:
            called, suffix = metric.name, f"{SAME_NAME}{number}"
            while called in met or (called != metric.name and called in taken):
                called += suffix
            if called != metric.name:
                notes.append(f"{shown(metric.name)} of {name}{LISTED_AS}{shown(called)}")
            metrics.append(replace(metric, name=called))
            met.add(called)
    return tuple(metrics), notes


def _rows(
    tables: Sequence[ScoreTable], keys: Sequence[Sequence[Key]]
) -> tuple[tuple[ScoredRow, ...], list[str]]:
    """The merged rows, each described by the first table that has its text, and notes on labels left out."""
    members: dict[Key, list[ScoredRow]] = {}
    spelled: dict[str | float | None, str | None] = {None: None}
    for table, own in zip(tables, keys, strict=True):
        for row, key in zip(table.rows, own, strict=True):
            members.setdefault(key, []).append(row)
            spelled.setdefault(level_key(row.level), row.level)
    torn = {
        label: None
        for rows in members.values()
        for label in {label: None for row in rows for label in row.labels}
        if len({row.labels[label] for row in rows if row.labels.get(label)}) > 1
    }
    found = tuple(
        ScoredRow(
            item_id=rows[0].item_id,
            system=next((row.system for row in rows if row.system != ONLY_SYSTEM), ONLY_SYSTEM),
            level=next((spelled[level_key(row.level)] for row in rows if row.level is not None), None),
            language=next((row.language for row in rows if row.language != "und"), "und"),
            labels={
                label: value
                for row in rows
                for label, value in row.labels.items()
                if label not in torn and value
            },
        )
        for rows in members.values()
    )
    return found, [
        f"label {shown(label)} was left out: its values differ between the tables" for label in torn
    ]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


Where = Callable[[str], Sequence[str]]
"""Item -> the places of its rows in a file, such as `line 7`; none if they are unknown."""
_TEXT = ("system", "level", "language")
_MOST_NAMED = 3


def _nowhere(item: str) -> Sequence[str]:
    return ()


def check_two_files(ratings: RatingSet, tables: Sequence[ScoreTable]) -> None:
    """Raise InputError if a table of scores is the file of the ratings: nobody is judged by his own ratings."""
    same = [scores_called(one.file_name) for one in tables if one.sha256 and one.sha256 == ratings.sha256]
    if same:
        raise InputError(
            f"{_listed(same)} and {shown(ratings.file_name)} have the same content, so the ratings would be compared with "
            "themselves. Name a file with the judge's scores; a file with both is named once, by the command check"
        )


ALIKE_FROM = 10
"""Texts from which equal values are no chance."""


def equal_values_said(name: str, scores: Floats, other: str, values: Floats) -> str:
    """A sentence if two sides gave equal values to all texts that both rated; empty if not, or if too few or constant."""
    both = ~np.isnan(scores) & ~np.isnan(values)
    n = int(both.sum())
    if n < ALIKE_FROM or np.unique(values[both]).size < 2 or not np.array_equal(scores[both], values[both]):
        return ""
    return (
        f"{shown(name)} and {shown(other)} have equal values on all {n:,} texts: make sure that they are not the same "
        "ratings under two names"
    )


def row_number_notes(ratings: RatingSet, tables: Sequence[ScoreTable]) -> list[str]:
    """Notes on files without ids that are joined by the numbers of their rows; none where files have ids.

    Raises InputError if such files have different numbers of rows, or if only some of the files have ids: then nothing
    tells which rows belong together.
    """
    sides = [
        (shown(ratings.file_name), ratings.row_numbers, len({_text_parts(one) for one in ratings.ratings})),
        *((scores_called(one.file_name), one.row_numbers, len(one.rows)) for one in tables),
    ]
    numbers = {n for _, n, _ in sides}
    if numbers == {0} or not tables:
        return []
    names = _listed([name for name, _, _ in sides])
    if len(numbers) > 1:
        raise InputError(
            f"{names} cannot be joined: without ids in each file, nothing tells which rows belong together",
            [
                *(
                    f"{name}: {n:,} rows without ids" if n else f"{name}: {n_texts:,} texts with ids"
                    for name, n, n_texts in sides
                ),
                "columns: give each file the same ids, in a column id or in one that item_id=COLUMN names",
            ],
        )
    return [
        f"joined by row number, because {names} have no ids: {max(numbers):,} rows each, the first with the first"
    ]


def check_join(
    ratings: RatingSet, table: ScoreTable, rated_at: Where = _nowhere, scored_at: Where = _nowhere
) -> None:
    """Refuse to join ratings with scores where it is unclear which text a row is about.

    It is unclear if only one of the files has ids (`row_number_notes`), if one has several systems, levels or languages of
    an item and the other names none, and if ids or systems are the same only without case, spaces, leading zeros and a
    decimal `.0`. Raises InputError with the first items, their places and what to do.
    """
    row_number_notes(ratings, [table])
    sides = (ratings.ratings, table.rows)
    names = (shown(ratings.file_name), scores_called(table.file_name))
    shared = [name for name in _TEXT if all(has_column(side, name) for side in sides)]
    texts = [{_text_parts(row): None for row in side} for side in sides]
    keys = [{_shared_part(text, shared) for text in own} for own in texts]
    problems = Problems()
    for own, other, where in ((0, 1, rated_at), (1, 0, scored_at)):
        alike: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        for text in texts[own]:
            alike.setdefault(_shared_part(text, shared), []).append(text)
        unclear = [same for key, same in alike.items() if len(same) > 1 and key in keys[other]]
        problems += _unclear_items(unclear, names[own], names[other], where)
    for at, what in ((0, "item"), (1, "system")):
        if what == "item" or what in shared:
            problems += _nearly_the_same(what, [{str(text[at]) for text in own} for own in texts], names)
    if problems:
        raise InputError(
            f"{names[0]} and {names[1]} cannot be joined without a guess: it is unclear which scores belong to which ratings",
            problems,
        )


def _text_parts(row: Named) -> tuple[object, ...]:
    """Item, system, level, language and number of the row in its item, as far as known."""
    system = None if row.system in (None, ONLY_SYSTEM) else row.system
    language = None if row.language == "und" else row.language
    return row.item_id, system, level_key(row.level), language, row.labels.get("row")


def _shared_part(text: tuple[object, ...], shared: Sequence[str]) -> tuple[object, ...]:
    return text[0], *(text[1 + _TEXT.index(name)] for name in shared)


def _unclear_items(
    unclear: Sequence[Sequence[tuple[object, ...]]], own: str, other: str, where: Where
) -> list[str]:
    """One problem for each set of columns in which an item's texts differ: the first items and what to do."""
    causes: dict[tuple[str, ...], list[Sequence[tuple[object, ...]]]] = {}
    for same in unclear:
        columns = (name for at, name in enumerate(_TEXT, start=1) if len({text[at] for text in same}) > 1)
        causes.setdefault(tuple(columns), []).append(same)
    problems = []
    for differ, found in causes.items():
        named = []
        for same in found[:_MOST_NAMED]:
            item = str(same[0][0])
            places = list(where(item))
            at = f" ({_places_said(places)})" if places else ""
            named.append(f"item {shown(item)} has {len(same)} texts{at}")
        more = f" and {len(found) - _MOST_NAMED:,} more items" if len(found) > _MOST_NAMED else ""
        end = (
            f"that differ in {_listed(differ)}; {other} does not say which. Add the column {differ[0]} to {other}, or leave "
            "out all but one text of each item"
            if differ
            else f"of one name; {other} does not say which. Give each text its own id in both files"
        )
        problems.append(f"{own}: {', '.join(named)}{more}, {end}")
    return problems


def _places_said(places: Sequence[str]) -> str:
    """The first places: `lines 2, 3, 4 ...`."""
    first, more = places[:_MOST_NAMED], " ..." if len(places) > _MOST_NAMED else ""
    if all(place.startswith("line ") for place in first):
        return f"line{'' if len(first) == 1 else 's'} {', '.join(place[5:] for place in first)}{more}"
    return f"{', '.join(first)}{more}"


def _nearly_the_same(what: str, values: Sequence[Collection[str]], names: Sequence[str]) -> list[str]:
    """A problem if names that only one side has are the same without case, spaces and leading zeros."""
    lost = [sorted(set(values[0]) - set(values[1])), sorted(set(values[1]) - set(values[0]))]
    plain: dict[str, str] = {}
    for value in lost[1]:
        plain.setdefault(_normal(value), value)
    pairs = [(value, plain[_normal(value)]) for value in lost[0] if _normal(value) in plain]
    if not pairs:
        return []
    first = ", ".join(f"{shown(one)!r} and {shown(other)!r}" for one, other in pairs[:_MOST_NAMED])
    more = f" and {len(pairs) - _MOST_NAMED:,} more" if len(pairs) > _MOST_NAMED else ""
    return [
        f"{what} names differ only in case, spaces or zeros: {first}{more} ({names[0]}, {names[1]}). Write them alike in both "
        "files"
    ]


def _normal(value: str) -> str:
    """A name without case, separators, leading zeros and a decimal `.0`."""
    plain = "".join(value.casefold().split()).replace("_", "-")
    return plain.removesuffix(".0").lstrip("0") or plain
