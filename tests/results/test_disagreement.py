"""Texts on which a metric and its target disagree, and the scores and ratings of one text, by hand."""

import numpy as np
import pytest

from core.results.correlations.disagreement import (
    disagreement,
    most_disagreed,
    ratings_of_texts,
    scores_of_text,
)
from core.results.correlations.points import points
from core.schema.scores import Metric, Rating, RatingSet, ScoredRow, ScoreTable


def table(values: list[list[float]], *metrics: Metric, levels: bool = False) -> ScoreTable:
    rows = tuple(ScoredRow(str(n), "s", str(n) if levels else None) for n in range(len(values)))
    return ScoreTable(rows, metrics, np.array(values))


def rated(*scores: float) -> RatingSet:
    return RatingSet(tuple(Rating(str(n), score) for n, score in enumerate(scores)), "sha", "r.csv")


HIGH, LOW = Metric("high", "", "a"), Metric("low", "LOW|x", "b", "lower")


def test_disagreement_is_the_distance_of_the_ranks_over_the_number_of_dots() -> None:
    """Ranks of the scores 10, 20, 30, 40: 1, 2, 3, 4; of the ratings 4, 2, 2, 1: 4, 2.5, 2.5, 1."""
    found = points(table([[10], [20], [30], [40]], HIGH), rated(4, 2, 2, 1), metric="high")
    assert disagreement(found) == pytest.approx([3 / 4, 0.5 / 4, 0.5 / 4, 3 / 4])
    assert most_disagreed(found).tolist() == [0, 3, 1, 2]


def test_a_metric_whose_lower_scores_are_better_is_turned() -> None:
    found = points(table([[3.0], [2.0], [1.0]], LOW), rated(1, 2, 3), metric="low")
    assert disagreement(found) == pytest.approx([0, 0, 0])


@pytest.mark.parametrize("raw", [False, True])
def test_the_worst_level_is_the_last_of_the_levels_either_way(raw: bool) -> None:
    """Scores 3, 1, 2 at levels 0, 1, 2: the second text ranks last by score and second by level."""
    found = points(
        table([[3], [1], [2]], HIGH, levels=True),
        None,
        metric="high",
        raw=raw,
    )
    assert disagreement(found) == pytest.approx([0, 1 / 3, 1 / 3])


def test_scores_of_a_text_with_the_share_of_other_texts_that_it_beats() -> None:
    """high: 2 beats 1, ties 2, loses to 3, and one is undefined: 1.5 of 3. low: 5 is the lowest of four: 3 of 3."""
    nan = float("nan")
    values = [[2, 5], [1, 6], [2, 7], [3, 8], [nan, nan]]
    found = scores_of_text(table(values, HIGH, LOW), 0)
    assert [row[:3] for row in found.rows] == [("high", 2.0, 0.5), ("low", 5.0, 1.0)]
    assert [row[1:3] for row in scores_of_text(table(values, HIGH, LOW), 4).rows] == [
        (None, None),
        (None, None),
    ]


def test_ratings_are_found_for_each_text_on_every_dimension() -> None:
    ratings = RatingSet(
        (Rating("0", 1, dimension="a"), Rating("0", 2, dimension="b"), Rating("9", 3, dimension="a")),
        "sha",
        "r.csv",
    )
    found = ratings_of_texts(table([[1], [2]], HIGH), ratings)
    assert {row: [one.score for one in own] for row, own in found.items()} == {0: [1, 2]}
