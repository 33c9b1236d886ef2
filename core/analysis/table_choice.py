"""What a user decides about tables before any analysis: rows to leave out, and which end of a metric is better."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.analysis.choosing import check_names
from core.analysis.metric_directions import lower_is_better
from core.analysis.row_columns import Named, column_of, group_columns, level_key, rows_at, rows_by
from core.datasets.reading import shown
from core.datasets.score_columns import STATED, direction_is_stated
from core.errors import InputError
from core.schema.scores import CorrelationSet, Direction, Metric, RatingSet, ScoredRow, ScoreTable

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
    metrics, notes = _declared(table, dict(choice.directions))
    table = replace(table, metrics=metrics, notes=(*table.notes, *notes))
    why = [_why(row, choice) for row in table.rows]
    kept = [index for index, reason in enumerate(why) if reason is None]
    if len(kept) == len(why):
        return table
    if not kept:
        raise InputError(f"{_called(table.file_name)}: every text is left out. Keep at least one.")
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
        raise InputError(f"{_called(ratings.file_name)}: every rating is left out. Keep at least one.")
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


def _declared(
    table: ScoreTable, declared: Mapping[str, Direction]
) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    metrics, notes = [], []
    for metric in table.metrics:
        wanted = declared.get(metric.name)
        if wanted is None:
            metrics.append(metric)
            continue
        stated = metric.signature if direction_is_stated(metric) else STATED
        metrics.append(replace(metric, direction=wanted, signature=stated))
        notes.append(_note(metric.name, wanted))
    return tuple(metrics), tuple(notes)


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


def _called(file_name: str) -> str:
    return shown(file_name) if file_name else "The scores"
