"""Metrics and judges over the texts of a study: how closely does each follow the texts' levels?"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import items_of, rows_at
from core.joining.tables import Joined, join_levels, join_ratings, text_key
from core.results.correlations.votes import compares_pairs
from core.results.meta_correlation import meta_correlate
from core.schema.scores import CorrelationSet, RatingSet, ScoredRow, ScoreTable, mask_code
from core.schema.study import Output, TextKey
from core.stats.correlation.intervals import correlate_columns
from core.stats.resampling import Estimate, Resampling
from core.study.masking import masks_of
from core.tables.columns import level_number

NO_LEVELS = "the study's texts have no levels"
NO_TEXT = "no text of the study has a score"
COMPARES = "it compares the two answers of a pair, and has no score of a single text"
FOLLOWS, AGREES = "following the level", "agreeing with the raters"
FEWEST_METRICS = 3
"""Below it there is no meta-correlation: two points always lie on a line."""
FEW_METRICS = f"fewer than {FEWEST_METRICS} metrics have both numbers"


@dataclass(frozen=True)
class MetaOfStudy:
    """Do the metrics that follow the level more closely agree better with the raters of the same study?"""

    over_metrics: Estimate
    """Spearman over metrics; the interval resamples metrics."""
    n_metrics: int
    n_families: int = 0
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Metric -> why it has not both numbers."""
    caution: str | None = None
    """Why the number is weak evidence; None: nothing speaks against it."""
    without_family: Mapping[str, Estimate] = field(default_factory=dict)
    """Family -> the number without its metrics."""


def names_of_texts(outputs: Collection[Output], rows: Iterable[ScoredRow]) -> set[TextKey]:
    """The texts of a study under the systems' names, and under their masks if a row has one. outputs: the study's texts."""
    texts = {(one.item_id, one.level, one.source) for one in outputs}
    if any(mask_code(system) for system in {row.system for row in rows}):
        texts |= {(item, level, mask) for (item, level, _), mask in masks_of(outputs).items()}
    return texts


def rows_of_texts(outputs: Collection[Output], rows: Sequence[ScoredRow]) -> list[int]:
    """Places of the rows that are texts of a study, under the systems' names or under their masks. outputs: the study's texts."""
    texts = names_of_texts(outputs, rows)
    return [place for place, row in enumerate(rows) if text_key(row) in texts]


def follow_levels(
    outputs: Collection[Output], table: ScoreTable, **drawing: Unpack[Resampling]
) -> tuple[Estimate, ...]:
    """Correlate (Spearman) every metric with minus the level, over the study's texts and no others.

    The same number as a metric's pooled Spearman in `correlate_scores` on these rows, with its interval over items. -1 to 1; above 0
    for a metric that falls as the level gets worse, whichever of its ends is better. No votes are read, and masked texts do as well:
    a correlation over all texts says nothing of a system. A judge that compares pairs has no score of a single text.
    Undefined, with the reason: no levels, no scored text, a constant metric.
    """
    rows = rows_of_texts(outputs, table.rows)
    if not rows:
        return (undefined(NO_TEXT),) * len(table.metrics)
    if all(level_number(table.rows[place].level) is None for place in rows):
        return (undefined(NO_LEVELS),) * len(table.metrics)
    joined = join_levels(table if len(rows) == len(table.rows) else rows_at(table, rows))
    resampling: Resampling = {"n_resamples": 2_000, **drawing}
    items = _items(joined) if resampling["n_resamples"] else None
    found = correlate_columns(
        joined.scores(), joined.target, ("spearman",), clusters=items, names=joined.names, **resampling
    )
    return tuple(
        undefined(COMPARES) if compares_pairs(metric) else one["spearman"]
        for metric, one in zip(table.metrics, found, strict=True)
    )


def _items(joined: Joined) -> NDArray[np.int64]:
    """The item of each joined row, for resampling."""
    return items_of([joined.table.rows[place] for place in joined.rows.tolist()])


def follow_ratings(
    ratings: RatingSet, table: ScoreTable, dimension: str | None, **drawing: Unpack[Resampling]
) -> tuple[Estimate, ...]:
    """Correlate (Spearman) every metric with the mean ratings of the same texts, with an interval over items.

    The same number as a metric's pooled Spearman in `correlate_scores` with these ratings. Raises InputError for an unknown
    dimension, and if no rating is of a scored text.
    """
    joined = join_ratings(table, ratings, dimension=dimension, z_normalise=False, kept=False)
    resampling: Resampling = {"n_resamples": 2_000, **drawing}
    items = _items(joined) if resampling["n_resamples"] else None
    found = correlate_columns(
        joined.scores(), joined.target, ("spearman",), clusters=items, names=joined.names, **resampling
    )
    return tuple(one["spearman"] for one in found)


def meta_of_study(
    study: str,
    table: ScoreTable,
    people: Sequence[Estimate],
    levels: Sequence[Estimate],
    **drawing: Unpack[Resampling],
) -> MetaOfStudy:
    """Correlate (Spearman, over metrics) how closely metrics follow the level and how well they agree with the raters of a study.

    people, levels: for each metric of the table. Undefined, with the reason, without levels and below FEWEST_METRICS metrics.
    Both columns come from the same texts, so they share the noise of these texts: an item that suits a metric raises both. Misleads
    with few metrics, and with near-copies of one: read `caution`.
    """
    names = [metric.name for metric in table.metrics]
    both = sum(
        one.estimate is not None and own.estimate is not None for one, own in zip(people, levels, strict=True)
    )
    if both < FEWEST_METRICS:
        reasons = [one.reason for one in levels if one.reason]
        alone = reasons[0] if reasons and len(reasons) == len(names) else FEW_METRICS
        return MetaOfStudy(undefined(alone), both)
    families = {metric.name: metric.family for metric in table.metrics}
    try:
        found = meta_correlate(
            _side(f"{AGREES} of {study}", names, people, families),
            _side(f"{FOLLOWS} of {study}", names, levels, families),
            **drawing,
        )
    except InputError as problem:  # such as one metric under two names
        return MetaOfStudy(undefined("; ".join(problem.problems) or problem.what), both)
    return MetaOfStudy(
        found.over_metrics,
        found.n_metrics,
        found.n_families,
        found.dropped,
        found.caution,
        found.without_family,
    )


def _side(
    name: str, metrics: Sequence[str], found: Sequence[Estimate], families: Mapping[str, str]
) -> CorrelationSet:
    """A column as a side of a meta-correlation."""
    own = dict(zip(metrics, found, strict=True))
    return CorrelationSet(
        name,
        {metric: {"spearman": one.estimate} for metric, one in own.items()},
        families,
        {metric: one.reason for metric, one in own.items() if one.reason},
    )


def undefined(reason: str) -> Estimate:
    """An estimate that is undefined for this reason."""
    return Estimate(None, None, None, 0, reason, 0, 0, 0.95, interval_reason=reason)
