"""The values behind one cell of a table of correlations: one dot for each text, rating or system."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import check_names, names_of
from core.joining.tables import AS_USUAL, SystemScores
from core.results.correlations.table import NO_SYSTEM_MEANS, JoinedGroup, View, joined_group
from core.schema.analysis import UseOfRatings
from core.schema.scores import Against, Metric, RatingSet, ScoredRow, ScoreTable, row_key
from core.stats.correlation.groups import item_coefficients
from core.stats.correlation.systems import system_means
from core.stats.resampling import Floats, numbered

NOTHING_TO_ORDER = "its item has no coefficient: only one text, or all scores or targets are equal"
NO_MEAN = "system without a score or without a rating"


@dataclass(frozen=True)
class Points:
    """The dots of one cell, each with the place of its text in the table.

    All arrays have shape (dots,). The coefficient of x and y is the cell's, with the opposite sign if lower is better:
    pooled over all dots; per item within each of `items`, then averaged; given the system within each of `system`.
    """

    metric: Metric
    """With the direction that the analysis uses."""
    group: Mapping[str, str]
    view: View
    against: Against
    x: Floats
    """The metric's scores on its own scale; per system their means."""
    y: Floats
    """Ratings, or levels as correlated (`against`); per system mean ratings."""
    rows: NDArray[np.int64]
    """Index of the text's row in the table; per system the first text of the system. Ratings of one text share it."""
    item: NDArray[np.str_]
    """Id of the item; empty per system."""
    items: NDArray[np.int64]
    """Number of the item: one id in two data sets or languages is two items. Per system the number of the dot."""
    system: NDArray[np.str_]
    n_scored: NDArray[np.intp]
    """Texts behind x."""
    n_rated: NDArray[np.intp]
    """Texts, or ratings if raters are kept, behind y."""
    left_out: Mapping[str, int]
    """Reason -> number of texts left out; per system, of systems."""
    labels: tuple[str, str]
    """Titles of the axes."""
    texts: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Per system: system -> rows of its scored texts in the group."""

    @property
    def n(self) -> int:
        """Number of dots."""
        return self.x.size

    def best_of(self, row: int) -> int | None:
        """Row of the best other text of the item by y: the least damaged or the best rated; None if none is better.

        row: of a dot. Among several, the first in the table.
        """
        own = np.flatnonzero(self.rows == row)
        if self.view == "per_system" or not own.size:
            return None
        quality = -self.y if self.against == "level" else self.y
        better = (self.items == self.items[own[0]]) & (quality > quality[own].max())
        if not better.any():
            return None
        best = better & (quality == quality[better].max())
        return int(self.rows[best].min())


def points(
    table: ScoreTable,
    ratings: RatingSet | None,
    *,
    metric: str,
    group: Mapping[str, str] | None = None,
    view: View = "pooled",
    use: UseOfRatings = AS_USUAL,
    raw: bool = False,
    system_scores: SystemScores = "all",
) -> Points:
    """Return the values behind one cell of `correlate_dimensions`.

    metric, group: the cell's `metric.name` and `group`. view: `pooled` has one dot for each text with score and target
    (for each rating if raters are kept); `per_item` those of items with a coefficient; `per_system` one dot for each
    system; `given_system` those of `pooled`. raw, system_scores: see `joined_group`. Raises InputError for an unknown metric, column or value, and for
    `per_system` without ratings.
    """
    named = dict(group or {})
    check_names("metric", [metric], [one.name for one in table.metrics])
    part = joined_group(table, ratings, named, use, raw=raw, system_scores=system_scores)
    index = [one.name for one in table.metrics].index(metric)
    if view == "per_system":
        return _system_points(part, index, named)
    known = np.flatnonzero(~np.isnan(part.scores[:, index]))
    lost = part.left_out(index)
    if view == "per_item":
        number = numbered(part.items)
        defined = ~np.isnan(item_coefficients(part.scores[:, index], part.target, part.items, "pearson")[0])
        of_known = defined[number[known]]
        if not of_known.all():
            lost[NOTHING_TO_ORDER] = int((~of_known).sum())
        known = known[of_known]
    rows = part.entries[known]
    ones = np.ones(rows.size, dtype=np.intp)
    return Points(
        metric=part.joined.table.metrics[index],
        group=named,
        view=view,
        against=part.joined.against,
        x=part.joined.table.values[rows, index],
        y=part.target[known],
        rows=rows,
        item=np.array([table.rows[row].item_id for row in rows.tolist()], dtype=str),
        items=part.items[known],
        system=part.systems[known],
        n_scored=ones,
        n_rated=ones,
        left_out=lost,
        labels=_labels(part, index, view),
    )


def _system_points(part: JoinedGroup, index: int, named: Mapping[str, str]) -> Points:
    joined = part.joined
    if joined.against != "human":
        raise InputError(NO_SYSTEM_MEANS)
    between, metric = part.between, joined.table.metrics[index]
    sign = -1.0 if metric.direction == "lower" else 1.0
    found = system_means(
        between.scores[:, index] * sign, between.target, between.systems, paired=between.paired
    )
    scored = part.within & ~np.isnan(joined.table.values[:, index])
    if between.paired:
        scored &= np.isin(np.arange(scored.size), part.entries)
    texts: dict[str, list[int]] = {str(name): [] for name in found.systems}
    for row, system in zip(
        np.flatnonzero(scored).tolist(), names_of(joined.table.rows, "system")[scored], strict=True
    ):
        if system in texts:
            texts[system].append(row)
    names = found.systems.astype(str)
    return Points(
        metric=metric,
        group=named,
        view="per_system",
        against=joined.against,
        x=found.x,
        y=found.y,
        rows=np.array([texts[name][0] for name in names.tolist()], dtype=np.int64),
        item=np.full(names.size, "", dtype=str),
        items=np.arange(names.size),
        system=names,
        n_scored=found.n_x,
        n_rated=found.n_y,
        left_out={NO_MEAN: found.n_left_out} if found.n_left_out else {},
        labels=_labels(part, index, "per_system"),
        texts={name: np.array(rows, dtype=np.int64) for name, rows in texts.items()},
    )


def _labels(part: JoinedGroup, index: int, view: View) -> tuple[str, str]:
    """Titles of the axes: what was measured, and which end is better where it is not the upper one."""
    metric, use = part.joined.table.metrics[index], part.use
    x = f"{metric.name}, lower is better" if metric.direction == "lower" else metric.name
    if part.joined.against != "human":
        return x, "damage level" if part.joined.against == "level" else "minus the damage level"
    one = "rating" if use.raters == "kept" else "mean rating"
    if use.dimension is not None:
        several = len(use.dimension) > 1
        one = f"{one} over {len(use.dimension)} dimensions" if several else f"{one}, {use.dimension[0]}"
    if use.z_normalise:
        one = f"{one}, on each rater's own scale"
    if view == "per_system":
        return f"mean of {x}", f"{one}, over the system's texts"
    return x, one


_KEY_LETTERS = 16


def text_key(row: ScoredRow) -> str:
    """A short name of a text that stays the same while rows are added to its table, for links: hexadecimal digits."""
    return sha256(repr(row_key(row)).encode()).hexdigest()[:_KEY_LETTERS]
