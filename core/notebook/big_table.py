"""Estimates of a run over a big table."""

from __future__ import annotations

import os

from core.errors import InputError
from core.notebook.frames import Names, check_type, existing_store, interval_options, names_of
from core.notebook.result import Result, result_of
from core.results.big_tables.estimates import (
    big_said,
    estimates,
    estimates_json,
    followed_said,
    followed_table,
    means_table,
)
from core.schema.big_tables import DEFAULT_BY
from core.schema.result_table import ResultTable
from core.sources.named import RunSource, parse_source


def table(
    run: str | int,
    *,
    by: Names = DEFAULT_BY,
    metrics: Names | None = None,
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Estimate which metric follows quality in a big table, and means by group, as ``runs table`` does.

    Parameters
    ----------
    run
        Run over a big table: ``3`` or ``"run:3"``.
    by
        Columns to group means by: ``"item"``, ``"system"``, ``"level"``, ``"language"`` or a label.
    metrics
        Only these metrics. Default: all.
    resamples
        Resamples of items for intervals. Default: none; 1,000 take about a minute for a million rows.
    confidence, seed
        Level of the intervals, seed.
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``correlations`` (a row for each metric: Pearson, Spearman and Kendall with minus the damage level) and table
        ``means`` (a row for each metric and group: mean, ``sd``, ``n``, and what is undefined by reason).

    Raises
    ------
    InputError
        For a run of another kind, unknown columns or metrics, and if no row is scored yet.

    Notes
    -----
    Nothing is loaded whole: DuckDB reads the run's Parquet files.

    Misleads: while a run is not complete, its rows so far may be about other texts than the rest.

    Examples
    --------
    >>> import assay
    >>> assay.table(3, by="level")["means"].frame  # doctest: +SKIP
    """
    check_type("run", run, (str, int), "a run, such as 3 or 'run:3'")
    source = RunSource(run) if isinstance(run, int) else parse_source(run)
    if not isinstance(source, RunSource):
        raise InputError(f"run: {run!r} is not a run, such as 3 or 'run:3'.")
    drawing = interval_options(resamples, confidence, seed)
    # Imported lazily: runs load slowly.
    from core.runs.path import at_hand
    from core.runs.tables.opened import big_table

    with existing_store(db) as store:
        found = estimates(
            big_table(at_hand(store, source.number)), by=names_of(by), metrics=names_of(metrics), **drawing
        )
    said: list[str | ResultTable] = [*big_said(found), followed_table(found), means_table(found)]
    return result_of(said, estimates_json(found), verdict=followed_said(found))
