"""Texts on which a metric and its target disagree most, and all scores and ratings of one text."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.joining.choices import directions
from core.joining.tables import rows_met
from core.results.correlations.points import Points
from core.schema.result_table import Column, ResultTable
from core.schema.scores import Rating, RatingSet, ScoreTable
from core.stats.resampling import Floats


def disagreement(points: Points) -> Floats:
    """Return how far apart score and target rank each dot, shape (dots,): from 0 (same rank) to below 1.

    Ranks are means of tied ranks, divided by the number of dots, with the better end first on both sides. The value is the
    score's rank minus the target's without its sign. Misleads where one side has few values: most dots of a value that is
    shared by half of all texts then seem to disagree.
    """
    if not points.n:
        return np.zeros(0)
    turned = -points.x if points.metric.direction == "lower" else points.x
    quality = -points.y if points.against == "level" else points.y
    return np.abs(rank_gaps(turned, quality))


def rank_gaps(scores: Floats, target: Floats) -> Floats:
    """Return for each text the score's mid-rank minus the target's, as a share of the texts, shape (n,), within (-1, 1)."""
    from scipy.stats import rankdata  # imported lazily: loads slowly

    return np.asarray((rankdata(scores) - rankdata(target)) / max(scores.size, 1), dtype=np.float64)


def most_disagreed(points: Points) -> NDArray[np.int64]:
    """Return the rows of the dots' texts, largest disagreement first; ties in the order of the table; each row once."""
    order = np.argsort(-disagreement(points), kind="stable")
    rows = points.rows[order]
    _, first = np.unique(rows, return_index=True)
    return np.asarray(rows[np.sort(first)])


def scores_of_text(table: ScoreTable, row: int) -> ResultTable:
    """Return every metric's score of one text, and the share of the table's other scored texts that it beats.

    A tie counts half. Scores of metrics whose lower scores are better are turned first.
    """
    turned = table.values * directions(table)
    own = turned[row]
    others = np.delete(turned, row, axis=0)
    known = (~np.isnan(others)).sum(axis=0)
    beaten = (others < own).sum(axis=0) + (others == own).sum(axis=0) / 2
    defined = ~np.isnan(own) & (known > 0)
    shares = np.divide(beaten, known, out=np.full(known.shape, np.nan), where=defined)
    reasons = [table.reasons.get((row, index), "") for index in range(len(table.metrics))]
    return ResultTable(
        "text-scores",
        (
            Column("metric", names_row=True),
            Column("score", general=True),
            Column("better_than", "better than", percent=True, places=0),
            Column("reason", "Note", shown=any(reasons)),
        ),
        tuple(
            (
                metric.name,
                None if np.isnan(table.values[row, index]) else float(table.values[row, index]),
                None if np.isnan(shares[index]) else float(shares[index]),
                reasons[index],
            )
            for index, metric in enumerate(table.metrics)
        ),
        notes=("Better than: share of the other scored texts with a worse score; a tie counts half.",),
    )


def ratings_of_texts(table: ScoreTable, ratings: RatingSet) -> dict[int, tuple[Rating, ...]]:
    """Return row of the table -> its ratings on every dimension. Raises InputError if nothing matches."""
    found: dict[int, list[Rating]] = {}
    met = rows_met(table, ratings, ratings.ratings)
    for rating, row in zip(ratings.ratings, met.tolist(), strict=True):
        if row >= 0:
            found.setdefault(row, []).append(rating)
    return {row: tuple(own) for row, own in found.items()}


def rating_table(ratings: Sequence[Rating]) -> ResultTable:
    """Return one row for each rating of a text."""
    return ResultTable(
        "text-ratings",
        (
            Column("dimension", names_row=True),
            Column("rater", shown=any(one.rater is not None for one in ratings)),
            Column("rating", general=True),
        ),
        tuple((one.dimension, one.rater, one.score) for one in ratings),
    )
