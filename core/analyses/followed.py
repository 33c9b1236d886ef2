"""Metrics and judges of a study's texts without votes on pairs: which follows the level, and which the ratings?"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.analyses.votes import meta_row, meta_said
from core.errors import counted
from core.joining.tables import merge_tables
from core.results.correlations.following import (
    follow_levels,
    follow_ratings,
    following_table,
    meta_of_study,
    names_of_texts,
)
from core.schema.figures import AnyFigure, Dots, Intervals, steady_axis
from core.schema.result_table import Interval, ResultTable
from core.schema.scores import ScoreTable
from core.schema.study import Output, StudyRecord
from core.study.ratings import rating_set_of

_FOLLOWS, _PEOPLE = "follows", "people"
_TITLES = {_FOLLOWS: "follows the level", _PEOPLE: "follows the ratings"}
"""Column of the table -> what its number says."""


@dataclass(frozen=True)
class Followed:
    """What each metric follows."""

    table: ResultTable
    """A row for each metric, the best first (`following_table`)."""
    by: str
    """The column that says which is best."""
    figure: AnyFigure | None
    """The table's numbers; None where none is defined."""
    caution: str | None = None
    """Why the meta-correlation in the figure is weak evidence."""

    @property
    def values(self) -> dict[str, float | None]:
        """Metric -> the number that says which is best."""
        cells = _cells(self.table, self.by)
        return {str(row[0]): cell.value for row, cell in zip(self.table.rows, cells, strict=True)}


def followed_levels(outputs: Sequence[Output], tables: Sequence[ScoreTable], *, n_resamples: int) -> Followed:
    """Which metrics follow the level, which needs no people. outputs: of the study. n_resamples: 0 for no intervals."""
    table = _merged(outputs, tables)
    found = following_table(table, follow_levels(outputs, table, n_resamples=n_resamples))
    return Followed(found, _FOLLOWS, _forest(found, _FOLLOWS))


def followed_ratings(
    record: StudyRecord, tables: Sequence[ScoreTable], dimension: str | None, *, n_resamples: int
) -> Followed:
    """Which metrics follow the level and the ratings of an unblinded rating study, and their meta-correlation.

    n_resamples: 0 for no intervals. Raises InputError if no text of the study was scored.
    """
    table, people = _merged(record.outputs, tables), rating_set_of(record)
    levels = follow_levels(record.outputs, table, n_resamples=n_resamples)
    rated = follow_ratings(people, table, dimension, n_resamples=n_resamples)
    meta = meta_row(meta_of_study(record.study.name, table, rated, levels, n_resamples=n_resamples))
    found = following_table(table, levels, rated)
    return Followed(found, _PEOPLE, _dots(found, meta_said(meta)) or _forest(found, _PEOPLE), meta.caution)


def _merged(outputs: Sequence[Output], tables: Sequence[ScoreTable]) -> ScoreTable:
    return merge_tables(tables, of=names_of_texts(outputs, (row for one in tables for row in one.rows)))


def _dots(found: ResultTable, title: str) -> AnyFigure | None:
    """How closely each metric follows the level, against how closely it follows the ratings; None without levels."""
    across, up = _cells(found, _FOLLOWS), _cells(found, _PEOPLE)
    both = [at for at, one in enumerate(across) if one.value is not None and up[at].value is not None]
    if not both:
        return None
    x_axis, y_axis = (
        steady_axis(f"{_TITLES[name]} (Spearman)", [cells[at] for at in both], -1.0)
        for name, cells in ((_FOLLOWS, across), (_PEOPLE, up))
    )
    return Dots(
        table=found.name,
        alt=f"{len(both)} metrics: how closely each follows the level, against the ratings. {title}",
        title=title,
        x=_FOLLOWS,
        y=_PEOPLE,
        names=("metric",),
        by="family",
        x_axis=x_axis,
        y_axis=y_axis,
        across=0.0,
        down=0.0,
    )


def _forest(found: ResultTable, side: str) -> AnyFigure | None:
    """One number of each metric with its interval; None where none is defined."""
    cells = [one for one in _cells(found, side) if one.value is not None]
    if not cells:
        return None
    return Intervals(
        table=found.name,
        alt=f"How closely each of {counted(len(cells), 'metric')} {_TITLES[side]}",
        sides=(side,),
        names=("metric",),
        axis=steady_axis(f"{_TITLES[side]} (Spearman)", cells, -1.0),
        across=0.0,
    )


def _cells(found: ResultTable, name: str) -> list[Interval]:
    """The numbers of a column with intervals."""
    at = next(place for place, column in enumerate(found.columns) if column.name == name)
    return [cell for row in found.rows if isinstance(cell := row[at], Interval)]
