"""Scores by level: does a metric fall as damage increases, and where does it prefer the damaged text?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import Key, check_names, directions, items_of, keys_of
from core.joining.tables import check_spelled_alike
from core.schema.scores import Metric, ScoredRow, ScoreTable, mask_notes
from core.stats.degeneracy import Constant, constant, tied
from core.stats.resampling import Estimate, Floats, Resampling, ratio_estimates
from core.tables.columns import level_number
from core.tables.reading import shown

ALL_LEVELS = "all"
"""Key for the share over all damaged levels."""
MISSING, EQUAL = "a level or its score is missing", "all scores of the item are equal"
ALL_EQUAL = "within every item, all scores are equal"

_MOST_NAMED = 10
_TOGETHER = 8  # metrics that share a matrix of sums, to limit memory; all draw the same resamples


@dataclass(frozen=True)
class Preference:
    """A damaged text that a metric prefers to the undamaged one of the same item."""

    item_id: str
    system: str
    level: str
    """Score of the damaged text."""
    first_score: float
    """Score of the undamaged text."""
    score: float
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels of the texts' row: data set, generator ..."""


@dataclass(frozen=True)
class LevelMeans:
    """The means of one metric at all levels."""

    metric: str
    family: str
    levels: Mapping[str, Estimate]
    """Level, best first -> mean score over items; the interval resamples items."""


@dataclass(frozen=True)
class MetricByLevel(LevelMeans):
    """One metric at all levels."""

    monotonic: Estimate
    """Share of items whose scores never rise from one level to the next worse, among those not in `left_out`."""
    strictly_monotonic: Estimate
    """Share of items whose scores fall at every step, among those with a score at every level."""
    prefers_damaged: Mapping[str, Estimate]
    """Level -> share of items whose damaged text scores higher than the undamaged one; `all`: share of damaged texts
    over all levels. Items whose scores are all equal are left out."""
    worst: tuple[Preference, ...]
    """Texts with the largest lead over the undamaged one, largest first."""
    constant: Constant | None = None
    """The score of all or nearly all texts; None: scores vary."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason (MISSING, EQUAL) -> items that `monotonic` leaves out."""


def compare_levels(
    table: ScoreTable,
    *,
    metrics: Sequence[str] = (),
    most_worst: int = 20,
    **drawing: Unpack[Resampling],
) -> tuple[MetricByLevel, ...]:
    """Compare each metric's scores by level, within each item of each system.

    Labels separate items if an item has several texts at a level (see `_units`).

    The undamaged text is the one at the table's lowest level. Comparisons flip the sign of a metric if lower is better;
    means and scores are on its own scale. Intervals resample items by id: the texts of several systems for one item stay
    together. An item whose scores are all equal is no evidence: it counts neither as monotonic nor as one whose damaged
    text is not preferred (in Meta-Judge's code, which divides by all items, it does count). A metric with many such items
    has shares of few items: read their n and `left_out`. Scores that differ only by rounding are equal. metrics: names;
    empty: all. Raises InputError for a table with fewer than two levels, for unknown names, and for a text listed twice.
    """
    names = [metric.name for metric in table.metrics]
    check_names("metric", metrics, names)
    ladder = ladder_of(table)
    turned = np.moveaxis(tied(np.moveaxis(ladder.scores * directions(table), 1, 2)), 2, 1)
    chosen = [index for index, name in enumerate(names) if not metrics or name in metrics]
    resampling: Resampling = {"n_resamples": 2_000, **drawing}
    found: list[MetricByLevel] = []
    for start in range(0, len(chosen), _TOGETHER):
        part = chosen[start : start + _TOGETHER]
        sums = [_sums(ladder.scores[:, :, m], turned[:, :, m]) for m in part]
        estimates = ratio_estimates(
            np.hstack([above for above, _ in sums]),
            np.hstack([below for _, below in sums]),
            ladder.items,
            **resampling,
        )
        width = sums[0][0].shape[1]
        for k, m in enumerate(part):
            own = estimates[k * width : (k + 1) * width]
            found.append(_metric_by_level(table.metrics[m], ladder, m, turned[:, :, m], own, most_worst))
    return tuple(found)


@dataclass(frozen=True)
class Ladder:
    """Scores of items at all levels."""

    levels: tuple[str, ...]
    """Levels, best first."""
    keys: tuple[ScoredRow, ...]
    """One row of each unit, with the labels that all its levels share."""
    items: NDArray[np.int64]
    """Number of the item of each unit, for resampling."""
    scores: Floats
    """Shape (units, levels, metrics); NaN if a level is missing or not scored."""
    rows: NDArray[np.int64]
    """Shape (units, levels): index of the row in the table; -1 if the unit has no text at this level."""


def ladder_of(table: ScoreTable) -> Ladder:
    """Order the scores of a table by unit and level.

    A unit is an item of one system; labels separate further units if one has several texts at a level. Raises InputError
    for a table with fewer than two levels, and for a text listed twice.
    """
    if mask_notes(row.system for row in table.rows):
        raise InputError(
            "Scores by level compare the levels of each system, and masked texts hide which system wrote which level. "
            "Wait until the study is unblinded, and judge its texts then."
        )
    numbers = {row.level: level_number(row.level) for row in table.rows if row.level is not None}
    known = {level: number for level, number in numbers.items() if number is not None}
    by_number: dict[float, str] = {}
    for level, number in known.items():
        by_number.setdefault(number, level)
    order = sorted(by_number)
    if len(order) < 2:
        there = shown(by_number[order[0]]) if order else "none"
        raise InputError(
            f"Scores by level need at least two levels in the column `level`, such as A0-A4 or 0-5. Found: {there}."
        )
    check_spelled_alike(table.rows)
    indices = [index for index, row in enumerate(table.rows) if row.level in known]
    rows = [table.rows[index] for index in indices]
    steps = [order.index(known[row.level]) for row in rows if row.level is not None]
    units, keys = _units(rows, steps)
    scores = np.full((len(keys), len(order), len(table.metrics)), np.nan)
    scores[units, steps] = table.values[indices]
    places = np.full(scores.shape[:2], -1, dtype=np.int64)
    places[units, steps] = indices
    return Ladder(tuple(by_number[number] for number in order), keys, items_of(keys), scores, places)


def _units(rows: Sequence[ScoredRow], levels: Sequence[int]) -> tuple[list[int], tuple[ScoredRow, ...]]:
    """The unit of each row, and each unit's first row with what all its rows share. levels: number of each row's level.

    A unit is an item of one system, in its data set and language. If a unit has a level twice, it is split by labels whose
    values each occur at several levels (generator, shots, prompt), never by labels that differ in every row, such as
    remarks. Raises InputError if a level still occurs twice.
    """
    keys = keys_of(rows, ("item", "system", "dataset", "language"))
    if _twice(keys, levels):
        labels = dict.fromkeys(label for row in rows for label in row.labels)
        columns = [[row.labels.get(label) for row in rows] for label in labels]
        apart = [column for column in columns if _has_levels(keys, column, levels)]
        keys = [(*key, *own) for key, *own in zip(keys, *apart, strict=True)]
    if twice := _twice(keys, levels):
        raise InputError("Scores by level need each text only once.", _problems(rows, twice))
    numbers: dict[Key, int] = {}
    units = [numbers.setdefault(key, len(numbers)) for key in keys]
    shared: dict[int, ScoredRow] = {}
    for row, unit in zip(rows, units, strict=True):
        before = shared.setdefault(unit, row)
        labels_of_all = {
            name: value for name, value in before.labels.items() if row.labels.get(name) == value
        }
        shared[unit] = replace(before, labels=labels_of_all)
    return units, tuple(shared.values())


def _twice(keys: Sequence[Key], levels: Sequence[int]) -> list[int]:
    """Rows that repeat a level of their unit."""
    seen: set[tuple[Key, int]] = set()
    found = []
    for index, at in enumerate(zip(keys, levels, strict=True)):
        if at in seen:
            found.append(index)
        seen.add(at)
    return found


def _has_levels(keys: Sequence[Key], values: Sequence[str | None], levels: Sequence[int]) -> bool:
    """Whether most texts with one value of a label have further levels with that value."""
    held: dict[tuple[Key, str | None], set[int]] = {}
    for key, value, level in zip(keys, values, levels, strict=True):
        held.setdefault((key, value), set()).add(level)
    return 2 * sum(len(own) > 1 for own in held.values()) > len(held)


def _problems(rows: Sequence[ScoredRow], twice: Sequence[int]) -> list[str]:
    listed = [
        f"item {shown(rows[index].item_id)}, system {shown(rows[index].system)}, level {shown(rows[index].level or '')} "
        "is listed more than once"
        for index in twice[:_MOST_NAMED]
    ]
    more = [f"and {len(twice) - _MOST_NAMED} more"] if len(twice) > _MOST_NAMED else []
    return [*listed, *more]


def _sums(scores: Floats, turned: Floats) -> tuple[Floats, Floats]:
    """A metric's numerators and denominators, one row for each unit, in the order that `_metric_by_level` reads.

    The order: score by level; never rising; always falling; damaged text ahead by level; the same over all levels.
    """
    steps = np.diff(turned, axis=1)
    whole, equal = _whole_and_equal(turned)
    flags = [(steps <= 0).all(axis=1, keepdims=True) & ~equal, (steps < 0).all(axis=1, keepdims=True)]
    compared = ~np.isnan(turned[:, 1:]) & ~np.isnan(turned[:, :1]) & ~equal
    ahead = compared & (turned[:, 1:] > turned[:, :1])
    above = [
        np.nan_to_num(scores),
        *(flag & whole for flag in flags),
        ahead,
        ahead.sum(axis=1, keepdims=True),
    ]
    below = [~np.isnan(scores), whole & ~equal, whole, compared, compared.sum(axis=1, keepdims=True)]
    return np.hstack(above).astype(np.float64), np.hstack(below).astype(np.float64)


def _whole_and_equal(turned: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each unit has a score at every level, and whether it has several scores, all equal.

    Both have shape (units, 1).
    """
    known = ~np.isnan(turned)
    largest, smallest = np.fmax.reduce(turned, axis=1), np.fmin.reduce(turned, axis=1)
    equal = (known.sum(axis=1) > 1) & (largest == smallest)
    return np.asarray(known.all(axis=1, keepdims=True)), np.asarray(equal[:, None])


def _metric_by_level(
    metric: Metric,
    ladder: Ladder,
    index: int,
    turned: Floats,
    estimates: Sequence[Estimate],
    most_worst: int,
) -> MetricByLevel:
    """One metric's result. index: its place in the ladder's scores; turned: these, higher is better; estimates: of `_sums`."""
    units, n_levels = len(ladder.keys), len(ladder.levels)
    whole, equal = _whole_and_equal(turned)
    counts = {MISSING: int((~whole).sum()), EQUAL: int((whole & equal).sum())}
    why = _reasons(turned, n_levels)
    *single, overall = (
        one if one.estimate is not None else replace(one, reason=reason)
        for one, reason in zip(estimates, why, strict=True)
    )
    counted = [replace(one, n_left_out=units - one.n) for one in single]
    damaged = [*ladder.levels[1:], ALL_LEVELS]
    ahead = [*counted[n_levels + 2 :], replace(overall, n_left_out=units * (n_levels - 1) - overall.n)]
    return MetricByLevel(
        metric=metric.name,
        family=metric.family,
        levels=dict(zip(ladder.levels, counted, strict=False)),
        monotonic=counted[n_levels],
        strictly_monotonic=counted[n_levels + 1],
        prefers_damaged=dict(zip(damaged, ahead, strict=True)),
        worst=_worst(ladder, index, turned, most_worst),
        constant=constant(ladder.scores[:, :, index]),
        left_out={reason: n for reason, n in counts.items() if n},
    )


def _reasons(turned: Floats, n_levels: int) -> list[str]:
    """The reason why each estimate of `_sums` would be undefined, in its order."""
    whole, equal = _whole_and_equal(turned)
    monotonic = ALL_EQUAL if whole.any() else "no item has a score at every level"
    pairs = ~np.isnan(turned[:, 1:]) & ~np.isnan(turned[:, :1])
    ahead = [
        ALL_EQUAL if (known & equal[:, 0]).any() else "no item has scores both undamaged and damaged"
        for known in [*pairs.T, pairs.any(axis=1)]
    ]
    return ["no text at this level has a score"] * n_levels + [monotonic] * 2 + ahead


def _worst(ladder: Ladder, metric: int, turned: Floats, most: int) -> tuple[Preference, ...]:
    """Damaged texts that score above the undamaged one, largest lead first; equal leads in the order of the table."""
    lead = turned[:, 1:] - turned[:, :1]
    unit, step = np.nonzero(lead > 0)
    first = np.argsort(-lead[unit, step], kind="stable")[:most]
    scores = ladder.scores[:, :, metric]
    return tuple(
        Preference(
            item_id=ladder.keys[u].item_id,
            system=ladder.keys[u].system,
            level=ladder.levels[s + 1],
            first_score=float(scores[u, 0]),
            score=float(scores[u, s + 1]),
            labels=ladder.keys[u].labels,
        )
        for u, s in zip(unit[first].tolist(), step[first].tolist(), strict=True)
    )
