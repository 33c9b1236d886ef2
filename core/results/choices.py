"""What a user decides about tables before any analysis: rows to leave out, which ratings count on which scale, which end of a metric is better."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, nearest_names
from core.formats.scores import STATED, direction_is_stated
from core.metrics.registry import all_metrics, canonical_name
from core.schema.scores import CorrelationSet, Direction, Rating, RatingSet, ScoredRow, ScoreTable
from core.stats.correlation.groups import z_normalise as z_normalised
from core.stats.resampling import Floats
from core.tables.columns import ONLY_SYSTEM, level_number
from core.tables.problems import listed
from core.tables.reading import shown


def check_names(what: str, asked: Sequence[str], known: Collection[str]) -> None:
    """Raise InputError for names that are not there, each with the nearest, and with the list of all."""
    problems = []
    for name in asked:
        if name not in known:
            nearest = ", ".join(map(shown, nearest_names(name, known)))
            problems.append(f"{shown(name)!r} is unknown" + (f"; the nearest: {nearest}" if nearest else ""))
    if problems:
        raise InputError(f"There is no such {what}; there is: {listed([*known], asked) or 'none'}.", problems)


Named = ScoredRow | Rating
Key = tuple[object, ...]

_BLANK = (None, "", "und")
NO_VALUE = "(none)"
"""What a group is called whose rows lack the column."""


def column_of(row: Named, name: str) -> str | None:
    """The row's value in a column: item, system, level, language, or a label."""
    if name == "item":
        return row.item_id
    if name in ("system", "level"):
        return row.system if name == "system" else row.level
    return row.language if name == "language" else row.labels.get(name)


def level_key(level: str | None) -> str | float | None:
    """So that A3, 3 and L3 meet."""
    number = level_number(level)
    return level if number is None else number


def has_column(rows: Sequence[Named], name: str) -> bool:
    """Whether any row says something in a column; the only system and an unknown language say nothing."""
    absent = {"language": "und", "system": ONLY_SYSTEM}.get(name, "")
    return any(column_of(row, name) not in (None, "", absent) for row in rows)


def group_columns(table: ScoreTable) -> tuple[str, ...]:
    """The columns by which rows can be grouped."""
    labels = {label: None for row in table.rows for label in row.labels}
    return ("system", "level", "language", *labels)


def items_of(rows: Sequence[Named]) -> NDArray[np.int64]:
    """A number for each row's item: its id, within its data set and language. What is resampled.

    A row that leaves data set or language blank belongs to the item of that id, where there is only one.
    """
    numbers: dict[Key, int] = {}
    columns = (values_of(rows, "dataset"), values_of(rows, "language"))
    keys = ((row.item_id, *own) for row, *own in zip(rows, *columns, strict=True))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def values_of(rows: Sequence[Named], column: str) -> list[str | None]:
    """Each row's value in a column that may be blank: then what the item's other rows say, if they agree."""
    own = [None if (value := column_of(row, column)) in _BLANK else value for row in rows]
    if None not in own:
        return own
    said: dict[str, set[str]] = {}
    for row, value in zip(rows, own, strict=True):
        if value is not None:
            said.setdefault(row.item_id, set()).add(value)
    only = {item: next(iter(values)) for item, values in said.items() if len(values) == 1}
    return [only.get(row.item_id) if value is None else value for row, value in zip(rows, own, strict=True)]


def keys_of(rows: Sequence[Named], columns: Sequence[str]) -> list[Key]:
    """What tells each row's text: item and system as they are, levels under any name, other blanks filled (`values_of`)."""
    values = [
        [level_key(row.level) for row in rows]
        if name == "level"
        else [column_of(row, name) for row in rows]
        if name in ("item", "system")
        else values_of(rows, name)
        for name in columns
    ]
    return list(zip(*values, strict=True)) if rows else []


def names_of(rows: Sequence[Named], column: str) -> NDArray[np.str_]:
    """Each row's value in a column, `NO_VALUE` where it has none."""
    return np.array([column_of(row, column) or NO_VALUE for row in rows], dtype=str)


def rows_by(rows: Sequence[Named], columns: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Combinations of the columns' values, in the order met, with the rows that have them; no column: all rows."""
    values = [names_of(rows, column).tolist() for column in columns]
    members: dict[tuple[str, ...], list[int]] = {}
    for index in range(len(rows)):
        members.setdefault(tuple(column[index] for column in values), []).append(index)
    return members


def columns_at(table: ScoreTable, places: Sequence[int]) -> ScoreTable:
    """Some metrics of a table, in the order given, with their reasons."""
    new = {place: number for number, place in enumerate(places)}
    return replace(
        table,
        metrics=tuple(table.metrics[place] for place in places),
        values=table.values[:, list(places)],
        reasons={(r, new[m]): reason for (r, m), reason in table.reasons.items() if m in new},
    )


def rows_at(table: ScoreTable, indices: Sequence[int]) -> ScoreTable:
    """Some rows of a table, in the order given, with their reasons."""
    place = {index: new for new, index in enumerate(indices)}
    return replace(
        table,
        rows=tuple(table.rows[index] for index in indices),
        values=table.values[list(indices)],
        reasons={(place[r], m): reason for (r, m), reason in table.reasons.items() if r in place},
        notes=(),
        left_out=(),
    )


LOWER = "↓"
"""Behind a metric's name where space is short: its lower end is better, and its scores are turned."""


def marked(metric: str, direction: Direction | None) -> str:
    """A metric's name, with a sign where its lower end is better."""
    return f"{metric} {LOWER}" if direction == "lower" else metric


def directions(table: ScoreTable) -> Floats:
    """+1 for each metric whose higher end is better, else -1; a metric that is not said about is as the registry has it."""
    found = with_directions(table)[0]
    return np.array([-1.0 if metric.direction == "lower" else 1.0 for metric in found.metrics])


def with_directions(table: ScoreTable) -> tuple[ScoreTable, tuple[str, ...]]:
    """The table with the registry's directions where its file states none, and what was assumed.

    Scores of an error rate that are below 0 were turned already: they stay as they are.
    """
    metrics, notes = [], []
    for metric, scores in zip(table.metrics, table.values.T, strict=True):
        if direction_is_stated(metric) or metric.direction == "lower" or not lower_is_better(metric.name):
            metrics.append(metric)
        elif np.nanmin(scores, initial=0.0) < 0:
            metrics.append(metric)
            notes.append(
                f"{shown(metric.name)} counts errors and its file does not say which end is better; some scores are "
                "below 0, so they are taken as turned already"
            )
        else:
            metrics.append(replace(metric, direction="lower"))
            notes.append(
                f"{shown(metric.name)} is taken as lower is better, as it counts errors and its file does not say so"
            )
    return (replace(table, metrics=tuple(metrics)) if notes else table), tuple(notes)


def lower_is_better(written: str) -> bool:
    """Whether the registry knows a metric by this name whose lower end is better."""
    name = canonical_name(written)
    return any(spec.metric.name == name and spec.metric.direction == "lower" for spec in all_metrics())


Dimension = str | tuple[str, ...] | None
"""A dimension, several whose mean counts, or the only one there is."""
NOT_NORMALISED = "rating not normalised: its rater is unknown, rated once, or gave one score to all"
NOT_ALL_RATED = "not rated on every dimension"
WIDEST = 2.0
"""Dimensions share a scale where the range of scores in none is more than this many times that in another."""


@dataclass(frozen=True)
class ChosenRatings:
    """Ratings of one dimension, or means over several."""

    ratings: tuple[Rating, ...]
    values: Floats
    """One a rating; NaN where it could not be normalised, or lacks a dimension."""
    unusable_reason: str = ""
    """Why a value is NaN."""
    notes: tuple[str, ...] = ()
    standardised: bool = False
    """Values are differences from a mean: their rounding is that of larger numbers."""


def dimensions_of(ratings: RatingSet) -> tuple[str, ...]:
    """What was rated, in the order of the file."""
    return tuple(dict.fromkeys(rating.dimension for rating in ratings.ratings))


def mean_name(dimensions: Sequence[str]) -> str:
    """What the mean of several dimensions is called."""
    return f"mean of {len(dimensions)} dimensions"


def chosen_ratings(
    ratings: RatingSet, dimension: Dimension, *, z_normalise: bool, kept: bool = False
) -> ChosenRatings:
    """The ratings of one dimension, or the mean of several; minus the rater's mean over the rater's standard deviation if asked for.

    The mean is taken of a text: over the ratings of each dimension, then over dimensions; where raters are `kept`, of
    each rater's scores of a text. Dimensions on different scales (`WIDEST`) are standardised first, which a note says.
    Raises InputError for an unknown dimension, for none chosen of several, where no rating names its rater but they
    are to be normalised, and where kept raters of several dimensions cannot be told apart.
    """
    there = dimensions_of(ratings)
    if not there:
        raise InputError(f"{shown(ratings.file_name)} holds no ratings.")
    if dimension is None and len(there) > 1:
        raise InputError(
            f"{shown(ratings.file_name)} rates several dimensions ({', '.join(map(shown, there))}): "
            "choose one dimension."
        )
    wanted = there if dimension is None else (dimension,) if isinstance(dimension, str) else dimension
    wanted = tuple(dict.fromkeys(wanted))
    check_names("dimension", wanted, there)
    parts = [_of_one(ratings, name, z_normalise) for name in wanted]
    return parts[0] if len(parts) == 1 else _mean(ratings, wanted, parts, z_normalise, kept)


def _of_one(ratings: RatingSet, dimension: str, z_normalise: bool) -> ChosenRatings:
    chosen = tuple(one for one in ratings.ratings if one.dimension == dimension)
    values = np.array([one.score for one in chosen], dtype=np.float64)
    if not z_normalise:
        return ChosenRatings(chosen, values)
    named = np.array([one.rater is not None for one in chosen])
    if not named.any():
        raise InputError(
            f"{shown(ratings.file_name)} does not say who rated what, so ratings cannot be normalised per rater."
        )
    raters = np.array([one.rater or "" for one in chosen], dtype=str)
    normal = np.full(values.shape, np.nan)
    normal[named], reasons = z_normalised(values[named], raters[named])
    lost = [f"rater {shown(rater)} not normalised: {why}" for rater, why in reasons.items()]
    if not named.all():
        lost.append(f"{int((~named).sum())} ratings not normalised: they name no rater")
    return ChosenRatings(chosen, normal, NOT_NORMALISED, tuple(lost), standardised=True)


def _mean(
    ratings: RatingSet,
    dimensions: Sequence[str],
    parts: Sequence[ChosenRatings],
    z_normalise: bool,
    kept: bool,
) -> ChosenRatings:
    """The mean of several dimensions: one value a text, or a text and rater where raters are kept."""
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    values = [part.values for part in parts]
    if unlike := None if z_normalise else _unlike(dimensions, values):
        values = [(one - one.mean()) / one.std() if np.ptp(one) else one - one.mean() for one in values]
        notes.append(
            f"dimensions differ in scale ({unlike}): each is standardised (minus its mean, over its standard deviation) "
            "before the mean"
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
            f"{shown(ratings.file_name)} does not tell which scores on the dimensions are one rater's: name raters, or "
            "average the raters."
        )
    name = mean_name(dimensions)
    found = tuple(replace(first[text], dimension=name, spans=None, rater=rater) for text, rater in scores)
    means = np.array([_mean_of(by_dimension) for by_dimension in scores.values()], dtype=np.float64)
    reason = f"{NOT_ALL_RATED}, or {NOT_NORMALISED}" if z_normalise else NOT_ALL_RATED
    return ChosenRatings(found, means, reason, tuple(notes), standardised=z_normalise or unlike is not None)


def _mean_of(by_dimension: Sequence[Sequence[float]]) -> float:
    """Over dimensions; NaN where one of them has no usable score."""
    usable = [[value for value in own if not np.isnan(value)] for own in by_dimension]
    return float(np.mean([np.mean(own) for own in usable])) if all(usable) else np.nan


def _unlike(dimensions: Sequence[str], values: Sequence[Floats]) -> str | None:
    """The dimensions with their ranges where these are of different scales; None: they share one."""
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
    """Labels with the same values in every dimension; others, such as the time of a rating, are of no text."""
    said: list[Mapping[str, set[str | None]]] = []
    for ratings in parts:
        names = dict.fromkeys(name for one in ratings for name in one.labels)
        said.append({name: {one.labels.get(name) for one in ratings} for name in names})
    return [name for name in said[0] if all(one.get(name) == said[0][name] for one in said)]


ITEM = "item"
ON_REQUEST = "on request: "
"""What begins the reason of rows that the user left out."""
_TURNED = "the sign is turned"


@dataclass(frozen=True)
class TableChoice:
    """The user's decisions; hashable, so that results can be kept by them."""

    leave_out: tuple[tuple[str, str], ...] = ()
    """(column, value) of rows that take no part; columns are those of `columns_to_leave_out`."""
    directions: tuple[tuple[str, Direction], ...] = ()
    """(metric, which end is better), whatever the scores' file or the registry says."""


AS_GIVEN = TableChoice()


def columns_to_leave_out(table: ScoreTable) -> tuple[str, ...]:
    """The columns by whose values rows can be left out."""
    return (ITEM, *group_columns(table))


def values_to_leave_out(table: ScoreTable, column: str) -> tuple[str, ...]:
    """The values of a column, in the order of the table; blanks are none."""
    return tuple(dict.fromkeys(value for row in table.rows if (value := column_of(row, column))))


def check_choice(choice: TableChoice, *sides: ScoreTable | CorrelationSet) -> None:
    """Raise InputError for columns, values and metrics that no side has, with the nearest of those there are."""
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
    """The table without the rows to leave out, its metrics with the declared directions; notes state both.

    What the table lacks is passed over: see `check_choice`. Raises InputError where no row remains.
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
        raise InputError(f"{scores_called(table.file_name)}: every text is left out. Keep at least one.")
    gone = [(reason, row) for reason, row in zip(why, table.rows, strict=True) if reason is not None]
    found = replace(rows_at(table, kept), left_out=(*table.left_out, *gone))
    listed = ", ".join(
        reason.removeprefix(ON_REQUEST) + f": {n:,}" for reason, n in left_out_of(found).items()
    )
    note = f"{len(gone):,} of {len(why):,} texts are left out on request ({listed})"
    return replace(found, notes=(*table.notes, note))


def chosen_people(ratings: RatingSet, choice: TableChoice, table: ScoreTable) -> RatingSet:
    """The ratings without those of rows left out: by their own columns, else by the text whose scores are.

    table: after the choice. Raises InputError where no rating remains.
    """
    gone = _texts(row for _, row in table.left_out) - _texts(table.rows)
    kept = tuple(
        one
        for one in ratings.ratings
        if _why(one, choice) is None and (one.item_id, one.system, level_key(one.level)) not in gone
    )
    if ratings.ratings and not kept:
        raise InputError(f"{scores_called(ratings.file_name)}: every rating is left out. Keep at least one.")
    return replace(ratings, ratings=kept)


def chosen_correlations(side: CorrelationSet, choice: TableChoice) -> CorrelationSet:
    """Correlations made elsewhere, of scores as they were: turned by the declared directions, else the registry's."""
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
    """Reason -> rows that the user left out."""
    return dict(Counter(reason for reason, _ in table.left_out))


def left_out_by(table: ScoreTable, columns: Sequence[str]) -> dict[tuple[str, ...], dict[str, int]]:
    """The same for each combination of the columns' values, as `rows_by` names them."""
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
    """The first choice that leaves a row out; None: it stays."""
    for column, value in choice.leave_out:
        own = column_of(row, column)
        if own is not None and _key(column, own) == _key(column, value):
            return f"{ON_REQUEST}{column} {shown(value)}"
    return None


def _key(column: str, value: str) -> object:
    """So that A3, 3 and L3 are one level."""
    return level_key(value) if column == "level" else value


def _texts(rows: Iterable[ScoredRow]) -> set[tuple[str, str | None, object]]:
    """What a rating may call the texts: it may leave out system and level."""
    return {
        (row.item_id, system, level)
        for row in rows
        for system in (row.system, None)
        for level in (level_key(row.level), None)
    }


def _several(names: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(name for one in names for name in one))


def scores_called(file_name: str) -> str:
    """A table of scores in a message: its file, if it has one."""
    return shown(file_name) if file_name else "The scores"
