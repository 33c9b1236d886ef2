"""Choices a user makes before any analysis: rows to leave out, ratings and their scale, the better end of a metric."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, nearest_names
from core.metrics.registry import all_metrics, canonical_name
from core.schema.row_columns import Ratings, ScoredRows, coded, combined, named_column
from core.schema.scores import (
    MASKED,
    STATED,
    CorrelationSet,
    Direction,
    Rating,
    RatingSet,
    ScoredRow,
    ScoreTable,
    direction_is_stated,
    mask_code,
)
from core.stats.correlation.groups import z_normalise as z_normalised
from core.stats.resampling import Floats
from core.tables.columns import ONLY_SYSTEM, level_number
from core.tables.problems import listed
from core.tables.reading import shown


def check_names(what: str, names: Sequence[str], known_names: Collection[str]) -> None:
    """Raise InputError for unknown names, with the nearest matches of each and the list of all known names."""
    problems = []
    for name in names:
        if name not in known_names:
            nearest = " or ".join(map(shown, nearest_names(name, known_names)))
            problems.append(f"{shown(name)!r} is unknown" + (f"; did you mean {nearest}?" if nearest else ""))
    if problems:
        raise InputError(f"Unknown {what}. Available: {listed([*known_names], names) or 'none'}.", problems)


Named = ScoredRow | Rating
Key = tuple[object, ...]

_BLANK = (None, "", "und")
NO_VALUE = "(none)"
"""Name of the group of rows that have no value in the column."""


def column_of(row: Named, name: str) -> str | None:
    """The row's value in a column: item, system, level, language or a label."""
    if name == "item":
        return row.item_id
    if name in ("system", "level"):
        return row.system if name == "system" else row.level
    return row.language if name == "language" else row.labels.get(name)


def level_key(level: str | None) -> str | float | None:
    """The level as a number, so that A3, 3 and L3 match."""
    number = level_number(level)
    return level if number is None else number


def has_column(rows: Sequence[Named], name: str) -> bool:
    """Whether any row has a value in the column. A default system or an unknown language is no value."""
    absent = {"language": "und", "system": ONLY_SYSTEM}.get(name, "")
    return not {None, "", absent}.issuperset(named_column(rows, name).distinct())


def group_columns(table: ScoreTable) -> tuple[str, ...]:
    """Columns that rows can be grouped by."""
    labels = {label: None for own in ScoredRows.of(table.rows).labels.distinct() for label in own}
    return ("system", "level", "language", *labels)


def items_of(rows: Sequence[Named]) -> NDArray[np.int64]:
    """Number the item of each row: its id within its data set and language. Resampling draws these items.

    A row with a blank data set or language belongs to the item of that id if only one item has it.
    """
    filled = (coded(values_of(rows, name)) for name in ("dataset", "language"))
    return combined([named_column(rows, "item"), *filled])[0].astype(np.int64)


def values_of(rows: Sequence[Named], column: str) -> list[str | None]:
    """Each row's value in a column. A blank takes the value of the item's other rows if they agree."""
    found = named_column(rows, column)
    words = [None if word in _BLANK else word for word in found.words]
    own = [words[code] for code in found.codes.tolist()]
    if None not in own or not any(words):
        return own
    said: dict[str, set[str]] = {}
    for row, value in zip(rows, own, strict=True):
        if value is not None:
            said.setdefault(row.item_id, set()).add(value)
    only = {item: next(iter(values)) for item, values in said.items() if len(values) == 1}
    return [only.get(row.item_id) if value is None else value for row, value in zip(rows, own, strict=True)]


def keys_of(rows: Sequence[Named], columns: Sequence[str]) -> list[Key]:
    """Key of each row's text: item and system as written, the level as a number, other blanks filled (`values_of`).

    A rating without a system and a score without one have the same: none.
    """
    values = [
        [level_key(row.level) for row in rows]
        if name == "level"
        else [row.item_id for row in rows]
        if name == "item"
        else [row.system or ONLY_SYSTEM for row in rows]
        if name == "system"
        else values_of(rows, name)
        for name in columns
    ]
    return list(zip(*values, strict=True)) if rows else []


def names_of(rows: Sequence[Named], column: str) -> NDArray[np.str_]:
    """Each row's value in a column, `NO_VALUE` where it has none; all masked systems are one, `MASKED`."""
    found = named_column(rows, column)
    words = [word or NO_VALUE for word in found.words]
    if column == "system":
        words = [MASKED if mask_code(word) else word for word in words]
    return np.array(words, dtype=str)[found.codes]


def rows_by(rows: Sequence[Named], columns: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Rows of each combination of the columns' values, in order of first appearance; no column: all rows."""
    values = [names_of(rows, column).tolist() for column in columns]
    members: dict[tuple[str, ...], list[int]] = {}
    for index in range(len(rows)):
        members.setdefault(tuple(column[index] for column in values), []).append(index)
    return members


def columns_at(table: ScoreTable, places: Sequence[int]) -> ScoreTable:
    """The table with the metrics at these places only, in the order given."""
    new = {place: number for number, place in enumerate(places)}
    return replace(
        table,
        metrics=tuple(table.metrics[place] for place in places),
        values=table.values[:, list(places)],
        reasons={(r, new[m]): reason for (r, m), reason in table.reasons.items() if m in new},
    )


def rows_at(table: ScoreTable, indices: Sequence[int]) -> ScoreTable:
    """The table with these rows only, in the order given."""
    place = {index: new for new, index in enumerate(indices)}
    return replace(
        table,
        rows=ScoredRows.of(table.rows).take(list(indices)),
        values=table.values[list(indices)],
        reasons={(place[r], m): reason for (r, m), reason in table.reasons.items() if r in place},
        notes=(),
        left_out=(),
    )


LOWER = "↓"
"""Mark after the name of a metric whose lower scores are better; analyses flip its sign."""


def marked(metric: str, direction: Direction | None) -> str:
    """The metric's name, with a mark if lower scores are better."""
    return f"{metric} {LOWER}" if direction == "lower" else metric


def directions(table: ScoreTable) -> Floats:
    """+1 for each metric whose higher scores are better, else -1; undeclared metrics take the registry's direction."""
    found = add_directions(table)[0]
    return np.array([-1.0 if metric.direction == "lower" else 1.0 for metric in found.metrics])


def add_directions(table: ScoreTable) -> tuple[ScoreTable, tuple[str, ...]]:
    """Add the registry's directions where the file states none; return the table and notes on what was assumed.

    An error rate with scores below 0 has had its sign flipped already and stays as it is.
    """
    metrics, notes = [], []
    for metric, scores in zip(table.metrics, table.values.T, strict=True):
        if direction_is_stated(metric) or metric.direction == "lower" or not lower_is_better(metric.name):
            metrics.append(metric)
        elif np.nanmin(scores, initial=0.0) < 0:
            metrics.append(metric)
            notes.append(
                f"{shown(metric.name)} counts errors, but some of its scores are below 0. "
                "Assumed: their sign was flipped already, so higher is better"
            )
        else:
            metrics.append(replace(metric, direction="lower"))
            notes.append(
                f"{shown(metric.name)} counts errors and its file states no direction. Assumed: lower is better"
            )
    return (replace(table, metrics=tuple(metrics)) if notes else table), tuple(notes)


def lower_is_better(written: str) -> bool:
    """Whether the registry has a metric of this name whose lower scores are better."""
    name = canonical_name(written)
    return any(spec.metric.name == name and spec.metric.direction == "lower" for spec in all_metrics())


Dimension = str | tuple[str, ...] | None
"""One dimension; several (their mean is used); None: the only one."""
NOT_NORMALISED = (
    "rating not normalised: its rater is unknown, rated only once or gave every text the same score"
)
NOT_ALL_RATED = "not rated on every dimension"
WIDEST = 2.0
"""Dimensions share a scale unless one's range of scores is more than this many times another's."""


@dataclass(frozen=True)
class ChosenRatings:
    """Ratings on one dimension, or means over several."""

    ratings: Sequence[Rating]
    values: Floats
    """One value a rating; NaN if it could not be normalised or lacks a dimension."""
    unusable_reason: str = ""
    """Why a value is NaN."""
    notes: tuple[str, ...] = ()
    standardised: bool = False
    """Whether values are differences from a mean, so that they carry the rounding of larger numbers."""


def dimensions_of(ratings: RatingSet) -> tuple[str, ...]:
    """The rated dimensions, in the order of the file."""
    return tuple(Ratings.of(ratings.ratings).dimension.distinct())


SIGNS = "-_.: "
"""Separators between a judge's name and a dimension in a column's name."""
_BEFORE_IT = f"(?:(.*)[{re.escape(SIGNS)}])?"


def dimension_said(column: str, dimensions: Sequence[str]) -> tuple[str, str] | None:
    """Split a column's name into the judge's name and the longest dimension at its end."""
    for dimension in sorted(dimensions, key=len, reverse=True):
        if fits := re.fullmatch(_BEFORE_IT + re.escape(dimension), column, re.IGNORECASE | re.DOTALL):
            return fits[1] or "", dimension
    return None


def dimension_of(names: Sequence[str]) -> Dimension:
    """The choice of dimensions by name: none, one or several."""
    return tuple(names) if len(names) > 1 else next(iter(names), None)


def mean_name(dimensions: Sequence[str]) -> str:
    """Name of the mean over several dimensions."""
    return f"mean of {len(dimensions)} dimensions"


def chosen_ratings(
    ratings: RatingSet, dimension: Dimension, *, z_normalise: bool, kept: bool = False
) -> ChosenRatings:
    """Ratings on one dimension or the mean over several, on request z-normalised for each rater.

    The mean is computed for each text: over the ratings on each dimension, then over dimensions. If raters are `kept`,
    it is computed for each rater and text. Dimensions on different scales (`WIDEST`) are standardised first, with a note.
    z-normalised: minus the rater's mean, divided by the rater's standard deviation.
    Raises InputError for an unknown dimension, for no choice among several, for normalisation without named raters, and
    for kept raters of several dimensions that cannot be identified.
    """
    there = dimensions_of(ratings)
    if not there:
        raise InputError(f"{shown(ratings.file_name)} contains no ratings.")
    if dimension is None and len(there) > 1:
        raise InputError(
            f"{shown(ratings.file_name)} rates several dimensions ({', '.join(map(shown, there))}): "
            "choose one dimension."
        )
    wanted = there if dimension is None else (dimension,) if isinstance(dimension, str) else dimension
    wanted = tuple(dict.fromkeys(wanted))
    check_names("dimension", wanted, there)
    parts = [_one_dimension(ratings, name, z_normalise) for name in wanted]
    return parts[0] if len(parts) == 1 else _mean(ratings, wanted, parts, z_normalise, kept)


def _one_dimension(ratings: RatingSet, dimension: str, z_normalise: bool) -> ChosenRatings:
    every = Ratings.of(ratings.ratings)
    chosen = every.take(every.dimension.is_in({dimension}))
    values = chosen.score
    if not z_normalise:
        return ChosenRatings(chosen, values)
    named = ~chosen.rater.is_in({None})
    if not named.any():
        raise InputError(
            f"{shown(ratings.file_name)} names no raters, so ratings cannot be normalised per rater."
        )
    raters = np.array([name or "" for name in chosen.rater.words], dtype=str)[chosen.rater.codes]
    normal = np.full(values.shape, np.nan)
    normal[named], reasons = z_normalised(values[named], raters[named])
    lost = [f"rater {shown(rater)} not normalised: {why}" for rater, why in reasons.items()]
    if not named.all():
        lost.append(f"{int((~named).sum())} ratings not normalised: no rater is named")
    return ChosenRatings(chosen, normal, NOT_NORMALISED, tuple(lost), standardised=True)


def _mean(
    ratings: RatingSet,
    dimensions: Sequence[str],
    parts: Sequence[ChosenRatings],
    z_normalise: bool,
    kept: bool,
) -> ChosenRatings:
    """The mean over several dimensions: one value for each text, or for each text and rater if raters are kept."""
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    values = [part.values for part in parts]
    if unlike := None if z_normalise else _unlike(dimensions, values):
        values = [(one - one.mean()) / one.std() if np.ptp(one) else one - one.mean() for one in values]
        notes.append(
            f"dimensions have different scales ({unlike}), so each was standardised before averaging "
            "(minus its mean, divided by its standard deviation)"
        )
    labels = _labels_of_texts(part.ratings for part in parts)
    scores: dict[tuple[Key, str | None], list[list[float]]] = {}
    first: dict[Key, Rating] = {}
    for place, (part, own) in enumerate(zip(parts, values, strict=True)):
        for rating, value in zip(part.ratings, own.tolist(), strict=True):
            text = _text(rating, labels)
            first.setdefault(text, rating)
            key = (text, rating.rater if kept else None)
            scores.setdefault(key, [[] for _ in parts])[place].append(value)
    if kept and any(len(own) > 1 for by_dimension in scores.values() for own in by_dimension):
        raise InputError(
            f"{shown(ratings.file_name)} does not show which scores belong to the same rater. Name the raters, or "
            "average over raters."
        )
    name = mean_name(dimensions)
    found = tuple(replace(first[text], dimension=name, spans=None, rater=rater) for text, rater in scores)
    means = np.array([_mean_of(by_dimension) for by_dimension in scores.values()], dtype=np.float64)
    reason = f"{NOT_ALL_RATED}, or {NOT_NORMALISED}" if z_normalise else NOT_ALL_RATED
    return ChosenRatings(found, means, reason, tuple(notes), standardised=z_normalise or unlike is not None)


def _mean_of(by_dimension: Sequence[Sequence[float]]) -> float:
    """Mean over dimensions; NaN if one of them has no usable score."""
    usable = [[value for value in own if not np.isnan(value)] for own in by_dimension]
    return float(np.mean([np.mean(own) for own in usable])) if all(usable) else np.nan


def _unlike(dimensions: Sequence[str], values: Sequence[Floats]) -> str | None:
    """The dimensions with their ranges if their scales differ; None if they share one."""
    widths = [float(np.ptp(own)) for own in values]
    some = [width for width in widths if width > 0]
    if not some or max(some) <= WIDEST * min(some):
        return None
    return ", ".join(
        f"{shown(name)} {own.min():g} to {own.max():g}" for name, own in zip(dimensions, values, strict=True)
    )


def _text(rating: Rating, labels: Sequence[str]) -> Key:
    own = (rating.labels.get(name) for name in labels)
    return rating.item_id, rating.system, level_key(rating.level), rating.language, *own


def _labels_of_texts(parts: Iterable[Sequence[Rating]]) -> list[str]:
    """Labels with the same values on every dimension. Others, such as the time of a rating, do not describe a text."""
    said: list[Mapping[str, set[str | None]]] = []
    for ratings in parts:
        names = dict.fromkeys(name for one in ratings for name in one.labels)
        said.append({name: {one.labels.get(name) for one in ratings} for name in names})
    return [name for name in said[0] if all(one.get(name) == said[0][name] for one in said)]


ITEM = "item"
ON_REQUEST = "on request: "
"""Prefix of the reason for rows that the user left out."""
_TURNED = "its sign is flipped"


@dataclass(frozen=True)
class TableChoice:
    """The user's choices; hashable, so that results can be cached by them."""

    leave_out: tuple[tuple[str, str], ...] = ()
    """(column, value) of rows to leave out; columns: see `columns_to_leave_out`."""
    directions: tuple[tuple[str, Direction], ...] = ()
    """(metric, better end): overrides the scores' file and the registry."""


AS_GIVEN = TableChoice()


def columns_to_leave_out(table: ScoreTable) -> tuple[str, ...]:
    """Columns whose values can be chosen to leave rows out."""
    return (ITEM, *group_columns(table))


def values_to_leave_out(table: ScoreTable, column: str) -> tuple[str, ...]:
    """The distinct values of a column, in the order of the table, without blanks."""
    return tuple(dict.fromkeys(value for row in table.rows if (value := column_of(row, column))))


def check_choice(choice: TableChoice, *sides: ScoreTable | CorrelationSet) -> None:
    """Raise InputError for columns, values and metrics that no side has, with the nearest known names."""
    tables = [side for side in sides if isinstance(side, ScoreTable)]
    columns = _several(columns_to_leave_out(table) for table in tables)
    check_names("column to leave rows out by", [column for column, _ in choice.leave_out], columns)
    for column in dict.fromkeys(column for column, _ in choice.leave_out):
        there = _several(values_to_leave_out(table, column) for table in tables)
        meant = {level_key(value) for value in there} if column == "level" else set[object](there)
        asked = [value for name, value in choice.leave_out if name == column]
        check_names(column, [value for value in asked if _key(column, value) not in meant], there)
    metrics = _several(
        [metric.name for metric in side.metrics] if isinstance(side, ScoreTable) else side.values
        for side in sides
    )
    check_names("metric", [name for name, _ in choice.directions], metrics)


def chosen_table(table: ScoreTable, choice: TableChoice) -> ScoreTable:
    """The table without the rows to leave out and with the declared directions; its notes state both.

    Choices that do not apply to the table are ignored; `check_choice` reports them. Raises InputError if no row remains.
    """
    declared = dict(choice.directions)
    metrics = tuple(
        replace(
            metric,
            direction=declared[metric.name],
            signature=metric.signature if direction_is_stated(metric) else STATED,
        )
        if metric.name in declared
        else metric
        for metric in table.metrics
    )
    notes = [_note(metric.name, metric.direction) for metric in metrics if metric.name in declared]
    table = replace(table, metrics=metrics, notes=(*table.notes, *notes))
    why = [_why(row, choice) for row in table.rows]
    kept = [index for index, reason in enumerate(why) if reason is None]
    if len(kept) == len(why):
        return table
    if not kept:
        raise InputError(
            f"{scores_called(table.file_name)}: the choice leaves out every text. Keep at least one."
        )
    gone = [(reason, row) for reason, row in zip(why, table.rows, strict=True) if reason is not None]
    found = replace(rows_at(table, kept), left_out=(*table.left_out, *gone))
    listed = ", ".join(
        reason.removeprefix(ON_REQUEST) + f": {n:,}" for reason, n in left_out_of(found).items()
    )
    note = f"{len(gone):,} of {len(why):,} texts were left out on request ({listed})"
    return replace(found, notes=(*table.notes, note))


def chosen_people(ratings: RatingSet, choice: TableChoice, table: ScoreTable) -> RatingSet:
    """The ratings without those left out, by their own columns or because their text's scores are left out.

    table: the scores after the choice. Raises InputError if no rating remains.
    """
    gone = _texts(row for _, row in table.left_out) - _texts(table.rows)
    kept = tuple(
        one
        for one in ratings.ratings
        if _why(one, choice) is None and (one.item_id, one.system, level_key(one.level)) not in gone
    )
    if ratings.ratings and not kept:
        raise InputError(
            f"{scores_called(ratings.file_name)}: the choice leaves out every rating. Keep at least one."
        )
    return replace(ratings, ratings=kept)


def chosen_correlations(side: CorrelationSet, choice: TableChoice) -> CorrelationSet:
    """Imported correlations of raw scores, with signs flipped by the declared directions, else by the registry's."""
    declared = {name: direction for name, direction in choice.directions if name in side.values}
    if side.scores_turned or not declared:
        return side
    lower = {name for name in side.values if declared.get(name) == "lower"}
    lower |= {name for name in side.values if name not in declared and lower_is_better(name)}
    values = {
        name: {
            method: 0.0 - value if name in lower and value is not None else value
            for method, value in given.items()
        }
        for name, given in side.values.items()
    }
    notes = [_note(name, direction) for name, direction in declared.items()]
    if known := [shown(name) for name in side.values if name in lower and name not in declared]:
        notes.append(f"{', '.join(known)}: lower is better; {_TURNED}")
    return replace(side, values=values, notes=(*side.notes, *notes), scores_turned=True)


def left_out_of(table: ScoreTable) -> dict[str, int]:
    """Reason -> number of rows that the user left out."""
    return dict(Counter(reason for reason, _ in table.left_out))


def left_out_by(table: ScoreTable, columns: Sequence[str]) -> dict[tuple[str, ...], dict[str, int]]:
    """`left_out_of` for each combination of the columns' values (`rows_by`)."""
    members = rows_by([row for _, row in table.left_out], columns)
    return {
        values: dict(Counter(table.left_out[index][0] for index in indices))
        for values, indices in members.items()
    }


def _note(metric: str, direction: Direction) -> str:
    return f"{shown(metric)}: {direction} is better, as declared" + (
        f"; {_TURNED}" if direction == "lower" else ""
    )


def _why(row: Named, choice: TableChoice) -> str | None:
    """The first choice that leaves the row out; None if it stays."""
    for column, value in choice.leave_out:
        own = column_of(row, column)
        if own is not None and _key(column, own) == _key(column, value):
            return f"{ON_REQUEST}{column} {shown(value)}"
    return None


def _key(column: str, value: str) -> object:
    """The value to compare: A3, 3 and L3 are one level."""
    return level_key(value) if column == "level" else value


def _texts(rows: Iterable[ScoredRow]) -> set[tuple[str, str | None, object]]:
    """All names a rating may use for the texts: it may leave out system and level."""
    return {
        (row.item_id, system, level)
        for row in rows
        for system in (row.system, None)
        for level in (level_key(row.level), None)
    }


def _several(names: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(name for one in names for name in one))


def scores_called(file_name: str) -> str:
    """How messages name a table of scores: by its file if it has one."""
    return shown(file_name) if file_name else "The scores"
