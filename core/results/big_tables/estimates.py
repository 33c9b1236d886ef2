"""Estimates of a big table: means by group, and how closely each metric follows the damage level."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError
from core.results.big_tables.scored import (
    NO_REASON,
    BigTable,
    check_columns,
    check_scored,
    connected,
    group_of,
    level_place,
    quoted,
    value_of,
)
from core.results.correlations.levels import LevelMeans
from core.schema.big_tables import DEFAULT_BY
from core.schema.scores import METHODS, Method, Metric
from core.stats.correlation.intervals import correlate_columns
from core.stats.degeneracy import Constant, constant, constants_said
from core.stats.resampling import NO_RESAMPLES, Estimate, Floats, Indices, Resampling, ratios_of_sums
from core.tables.columns import level_number

if TYPE_CHECKING:
    import duckdb

RANKS = "not computed for a big table: every resample would rank all rows again; Pearson has an interval"
"""Why Spearman and Kendall have no interval."""
NO_LEVELS = "No text has a level with a number, so nothing is correlated with damage."
NO_SCORE = "no text of this group has a score"
_MOST_GROUPS = 10_000
_MOST_CELLS = 4_000_000
"""Most sums of items in a dense matrix: 32 MB."""


@dataclass(frozen=True)
class GroupMean:
    """One metric in one group of texts."""

    group: Mapping[str, str]
    """Column -> value."""
    metric: Metric
    mean: Estimate
    """Mean score on the metric's own scale; the interval resamples items."""
    sd: float | None
    """Standard deviation of the scores (n - 1); None for fewer than two."""
    undefined: Mapping[str, int]
    """Reason -> texts without a score."""


@dataclass(frozen=True)
class LevelCorrelation:
    """One metric against minus the damage level, over all texts with both."""

    metric: Metric
    by_method: Mapping[Method, Estimate]
    constant: Constant | None
    """The score of all or nearly all texts; None: scores vary."""


@dataclass(frozen=True)
class BigEstimates:
    """The estimates of a big table."""

    table: BigTable
    by: tuple[str, ...]
    means: tuple[GroupMean, ...]
    """By metric, then by group."""
    correlations: tuple[LevelCorrelation, ...]
    """By metric; empty if no text has a level with a number."""
    n_resamples: int
    confidence_level: float
    notes: tuple[str, ...] = field(default=())

    @property
    def constants(self) -> tuple[str, ...]:
        """A sentence for each metric that is (nearly) constant."""
        return constants_said((one.metric.name, one.constant) for one in self.correlations)


def estimates(
    table: BigTable,
    *,
    by: Sequence[str] = DEFAULT_BY,
    metrics: Sequence[str] = (),
    correlated: bool = True,
    n_resamples: int = 0,
    confidence_level: float = 0.95,
    rng: int = 0,
    tell: Callable[[str], object] | None = None,
) -> BigEstimates:
    """Estimate means by group, and each metric's correlation with minus the damage level.

    by: columns to group means by (item, system, level, language or a label). metrics: names; empty: all. correlated:
    whether correlations are computed, which takes nearly all of the time. n_resamples: 0 gives no intervals; 1,000 resamples of
    items take about a minute for a million rows. tell: called with progress messages.

    Every number is that of an ordinary run on the same texts. Means are computed by the database engine in one pass; for
    correlations one metric at a time is in memory (about 100 bytes a row). Items are resampled from their sums by group; an item
    is an id within its language and data set. Spearman and Kendall have no interval (`RANKS`). The sign of a metric is flipped
    for correlations if lower is better.

    Misleads while a run is not complete: its first chunks may have other texts than the rest. Raises InputError for unknown
    columns or metrics, for too many groups, and if no row is scored.
    """
    told = tell or (lambda _: None)
    check_scored(table)
    columns = tuple(dict.fromkeys(by))
    check_columns(table, columns)
    chosen = table.metric_named(metrics)
    drawing: Resampling = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    with connected(table) as database:
        told("means by group")
        groups, found = _means(database, columns, chosen, confidence_level)
        numbered = {level: _number(level) for level in _levels(database)}
        correlated = correlated and not all(np.isnan(number) for number in numbered.values())
        correlations: list[LevelCorrelation] = []
        if correlated or n_resamples:
            coded = _codes(database, [*numbered], columns, groups, with_items=n_resamples > 0)
            target = -np.array([*numbered.values()])[coded.level]
            for place, metric in enumerate(chosen):
                told(f"metric {place + 1} of {len(chosen)}: {metric.name}")
                scores = _column(database, metric)
                if correlated:
                    correlations.append(_correlation(metric, scores, target, coded.item, drawing))
                if n_resamples:
                    ranges = _mean_intervals(scores, coded, len(groups), drawing)
                    found[place] = [_add_interval(*both) for both in zip(found[place], ranges, strict=True)]
    return BigEstimates(
        table=table,
        by=columns,
        means=tuple(one for of_metric in found for one in of_metric),
        correlations=tuple(correlations),
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        notes=(*table.notes, *(() if correlations else (NO_LEVELS,))),
    )


def _levels(database: "duckdb.DuckDBPyConnection") -> tuple[str | None, ...]:
    found = database.execute("SELECT DISTINCT level FROM scores ORDER BY 1 NULLS LAST").fetchall()
    return tuple(row[0] for row in found)


def _number(level: str | None) -> float:
    number = level_number(level)
    return np.nan if number is None else number


_Group = tuple[str, ...]


def _means(
    database: "duckdb.DuckDBPyConnection",
    columns: Sequence[str],
    metrics: Sequence[Metric],
    confidence_level: float,
) -> tuple[list[_Group], list[list[GroupMean]]]:
    """All groups in order, and the means of each metric by group."""
    keys = [group_of(column) for column in columns]
    names = [quoted(metric.name) for metric in metrics]
    # `favg` and not `avg`: it sums with a correction for rounding, as exactly as numpy does.
    measured = "".join(f", count({name}), favg({name}), stddev_samp({name})" for name in names)
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    rows = database.execute(
        f"SELECT {''.join(f'{key}, ' for key in keys)}min(row), count(*){measured} FROM scores{grouped} LIMIT {_MOST_GROUPS + 1}"
    ).fetchall()
    if len(rows) > _MOST_GROUPS:
        raise InputError(
            f"There are more than {_MOST_GROUPS:,} groups by {', '.join(columns)}. Group by fewer columns."
        )
    width = len(columns)
    rows.sort(key=_order_of(columns, rows))
    groups = [tuple(row[:width]) for row in rows]
    undefined = _undefined(database, keys)
    found = []
    for place, metric in enumerate(metrics):
        of_metric = []
        for group, row in zip(groups, rows, strict=True):
            n, mean, sd = row[width + 2 + 3 * place : width + 5 + 3 * place]
            left_out = row[width + 1] - n
            reasons = dict(sorted(undefined.get((*group, metric.name), {}).items()))
            if (without := left_out - sum(reasons.values())) > 0:
                reasons[NO_REASON] = without
            estimate = Estimate(
                *(mean, None, None, n, NO_SCORE if mean is None else None, 0, 0, confidence_level),
                interval_reason=NO_RESAMPLES,
                n_left_out=left_out,
            )
            of_metric.append(GroupMean(dict(zip(columns, group, strict=True)), metric, estimate, sd, reasons))
        found.append(of_metric)
    return groups, found


def _order_of(
    columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """The order of groups: levels by their number, other values by their first row."""
    width = len(columns)
    first: list[dict[str, int]] = [{} for _ in columns]
    for row in rows:
        for seen, value in zip(first, row[:width], strict=True):
            seen[value] = min(row[width], seen.get(value, row[width]))

    def key(row: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            level_place(value) if column == "level" else (first[place][value], value)
            for place, (column, value) in enumerate(zip(columns, row[:width], strict=True))
        )

    return key


def _undefined(
    database: "duckdb.DuckDBPyConnection", keys: Sequence[str]
) -> dict[tuple[str, ...], dict[str, int]]:
    """Group and metric -> reason -> texts."""
    chosen = "".join(f"{key}, " for key in keys)
    rows = database.execute(
        f"SELECT {chosen}each.key, each.value ->> '$', count(*) FROM scores, json_each(reasons) AS each"
        " WHERE reasons IS NOT NULL GROUP BY ALL"
    ).fetchall()
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for *place, reason, n in rows:
        found.setdefault(tuple(place), {})[reason or NO_REASON] = n
    return found


@dataclass(frozen=True)
class _Coded:
    """Numbers for the texts' levels, groups and items, in the order of the rows."""

    level: Indices
    group: Indices | None
    item: Indices | None
    n_items: int


def _codes(
    database: "duckdb.DuckDBPyConnection",
    levels: Sequence[str | None],
    columns: Sequence[str],
    groups: Sequence[_Group],
    *,
    with_items: bool,
) -> _Coded:
    """Number levels and, for intervals, groups and items: small integers instead of a million names."""
    own = {"own_level": "level"}
    numbers, joins = ["levels.number AS level"], [_numbered(database, "levels", {"own_level": levels})]
    n_items = 0
    if with_items:
        items = {
            "own_item": "item_id",
            "own_language": "coalesce(language, '')",
            "own_dataset": f"coalesce({value_of('dataset')}, '')",
        }
        listed = ", ".join(f"{what} AS {name}" for name, what in items.items())
        database.execute(
            f"CREATE TEMP TABLE items AS SELECT row_number() OVER (ORDER BY {', '.join(items)}) - 1 AS number, *"
            f" FROM (SELECT DISTINCT {listed} FROM scores)"
        )
        n_items = database.execute("SELECT count(*) FROM items").fetchall()[0][0]
        own |= items
        numbers.append("items.number AS item")
        joins.append(_joined("items", items))
        if columns:
            keys = {f"group_{place}": group_of(column) for place, column in enumerate(columns)}
            own |= keys
            numbers.append("groups.number AS grouped")
            joins.append(
                _numbered(database, "groups", dict(zip(keys, zip(*groups, strict=True), strict=True)))
            )
    listed = ", ".join(f"{what} AS {name}" for name, what in own.items())
    coded = database.execute(
        f"SELECT {', '.join(numbers)} FROM (SELECT row, {listed} FROM scores) AS named {' '.join(joins)} ORDER BY named.row"
    ).fetchnumpy()
    level = np.asarray(coded["level"], dtype=np.intp)
    if not with_items:
        return _Coded(level, None, None, 0)
    grouped = np.asarray(coded["grouped"], dtype=np.intp) if columns else np.zeros_like(level)
    return _Coded(level, grouped, np.asarray(coded["item"], dtype=np.intp), n_items)


def _numbered(
    database: "duckdb.DuckDBPyConnection", name: str, columns: Mapping[str, Sequence[str | None]]
) -> str:
    """Store rows with their numbers as a table, and return the join with it."""
    size = len(next(iter(columns.values())))
    listed = "".join(f", unnest(?) AS {column}" for column in columns)
    database.execute(
        f"CREATE TEMP TABLE {name} AS SELECT unnest(range({size})) AS number{listed}",
        [list(values) for values in columns.values()],
    )
    return _joined(name, columns)


def _joined(name: str, columns: Collection[str]) -> str:
    same = " AND ".join(f"named.{column} IS NOT DISTINCT FROM {name}.{column}" for column in columns)
    return f"JOIN {name} ON {same}"


def _column(database: "duckdb.DuckDBPyConnection", metric: Metric) -> Floats:
    """All scores of a metric in the order of the rows, NaN where undefined."""
    found = database.execute(f"SELECT {quoted(metric.name)} AS score FROM scores ORDER BY row").fetchnumpy()
    return np.ma.filled(np.ma.asarray(found["score"], dtype=np.float64), np.nan)


def _correlation(
    metric: Metric, scores: Floats, target: Floats, items: Indices | None, drawing: Resampling
) -> LevelCorrelation:
    turned = (-scores if metric.direction == "lower" else scores)[:, None]
    without: Resampling = {**drawing, "n_resamples": 0}
    found = correlate_columns(turned, target, METHODS, **without)[0]
    if items is not None:
        pearson = correlate_columns(turned, target, ("pearson",), clusters=items, **drawing)[0]
        ranks = {
            method: replace(one, interval_reason=RANKS) if one.estimate is not None else one
            for method, one in found.items()
        }
        found = ranks | pearson
    return LevelCorrelation(metric, found, constant(scores))


def _mean_intervals(scores: Floats, coded: _Coded, n_groups: int, drawing: Resampling) -> list[Estimate]:
    """The mean of one metric in each group with its interval over items, from sums of items by group."""
    assert coded.group is not None
    assert coded.item is not None
    known = ~np.isnan(scores)
    item, group = coded.item[known], coded.group[known]
    rows, columns = np.concatenate([item, item]), np.concatenate([group, group + n_groups])
    values = np.concatenate([scores[known], np.ones(item.size)])
    from scipy.sparse import coo_array  # imported lazily: loads slowly

    sums = coo_array((values, (rows, columns)), shape=(coded.n_items, 2 * n_groups)).tocsr()
    # A dense product is several times as fast, where there is memory for it.
    dense = coded.n_items * 2 * n_groups <= _MOST_CELLS
    return ratios_of_sums(sums.toarray() if dense else sums, **drawing)


def _add_interval(found: GroupMean, resampled_mean: Estimate) -> GroupMean:
    """The mean with its interval; its value stays that of the estimate without one, to the last digit."""
    kept = {name: getattr(found.mean, name) for name in ("estimate", "n", "n_left_out", "reason")}
    return replace(found, mean=replace(resampled_mean, **kept))


def level_means(level_estimates: BigEstimates) -> tuple[LevelMeans, ...]:
    """The means by level, for a figure. level_estimates: estimates by the level alone."""
    of_metric: dict[str, list[GroupMean]] = {}
    for one in level_estimates.means:
        of_metric.setdefault(one.metric.name, []).append(one)
    return tuple(
        LevelMeans(name, own[0].metric.family, {one.group["level"]: one.mean for one in own})
        for name, own in of_metric.items()
    )
