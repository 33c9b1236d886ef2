"""Correlations with several dimensions of the ratings: with each, and with their mean."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.analysis.correlations import CorrelationOptions, CorrelationReport, correlate_scores
from core.analysis.rating_choice import Dimension, mean_name
from core.schema.scores import RatingSet, ScoreTable

DIMENSION = "dimension"
"""What tells the rows of such a report apart, in front of the columns that group them."""


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
    """As `correlate_scores`; with several dimensions the rows of each, then those of their mean.

    The mean is of ratings, not of correlations: one number a text, with intervals, ranking and tests of its own. It
    tends to correlate more strongly than the dimensions do on average, because raters' noise is averaged too.
    """
    if ratings is None or not isinstance(options.dimension, tuple):
        return correlate_scores(table, ratings, group=group, options=options, tell=tell)
    rows, notes = [], dict[str, None]()
    wanted: dict[str, Dimension] = {name: name for name in options.dimension}
    wanted[mean_name(options.dimension)] = options.dimension
    for name, dimension in wanted.items():
        found = correlate_scores(
            table, ratings, group=group, options=replace(options, dimension=dimension), tell=tell
        )
        rows += [replace(row, group={DIMENSION: name, **row.group}) for row in found.rows]
        notes |= dict.fromkeys(found.notes)
    return CorrelationReport(tuple(rows), found.against, options, tuple(notes))
