"""Correlations of tables as a user chose them: with each of several dimensions and their mean, without rows left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from core.analysis.correlations import CorrelationOptions, CorrelationReport, correlate_scores
from core.analysis.rating_choice import Dimension, mean_name
from core.analysis.table_choice import left_out_by
from core.schema.scores import RatingSet, ScoreTable

DIMENSION = "dimension"
"""What tells the rows of several dimensions apart, in front of the columns that group them."""


def dimension_of(names: Sequence[str]) -> Dimension:
    """The dimension that these names choose: none, one, or several as a group."""
    return tuple(names) if len(names) > 1 else next(iter(names), None)


def correlate_dimensions(
    table: ScoreTable,
    ratings: RatingSet | None,
    *,
    group: Sequence[str] = (),
    options: CorrelationOptions,
    tell: Callable[[str], None] | None = None,
) -> CorrelationReport:
    """As `correlate_scores`, and rows that the user left out of the table are counted.

    With several dimensions: the rows of each, then those of their mean. The mean is of ratings, not of correlations:
    one number a text, with intervals, ranking and tests of its own. It tends to correlate more strongly than the
    dimensions do on average, because raters' noise is averaged too.
    """
    found = {
        name: correlate_scores(table, ratings, group=group, options=one, tell=tell)
        for name, one in by_dimension(options, ratings).items()
    }
    return combined(found, table, group=group, options=options)


def by_dimension(options: CorrelationOptions, ratings: RatingSet | None) -> Mapping[str, CorrelationOptions]:
    """What the rows of each report are called -> the options that make it; the mean of several dimensions is the last."""
    if ratings is None or not isinstance(options.dimension, tuple):
        return {"": options}
    single = {name: replace(options, dimension=name) for name in options.dimension}
    return {**single, mean_name(options.dimension): options}


def combined(
    found: Mapping[str, CorrelationReport],
    table: ScoreTable,
    *,
    group: Sequence[str],
    options: CorrelationOptions,
) -> CorrelationReport:
    """The reports of `by_dimension` as one, and rows that the user left out of the table are counted."""
    columns = [name for name in dict.fromkeys(group) if name != "metric"]
    gone = left_out_by(table, columns)
    rows = [
        replace(
            row,
            group={DIMENSION: name, **row.group} if len(found) > 1 else row.group,
            left_out={**row.left_out, **gone.get(tuple(row.group[column] for column in columns), {})},
        )
        for name, report in found.items()
        for row in report.rows
    ]
    last = [*found.values()][-1]
    notes = dict.fromkeys(note for report in found.values() for note in report.notes)
    return replace(last, rows=tuple(rows), options=options, notes=tuple(notes))
