"""Which columns of a judge that gives one a dimension are compared with people."""

import numpy as np

from core.analyses.acc23 import Acc23Options, accuracies
from core.formats.scores import metric_made_elsewhere
from core.schema.scores import Metric, Rating, RatingSet, ScoredRow, ScoreTable

NAMES = ("quality-LA", "quality-TQ", "quality-LA#2", "quality-TQ#2", "BLEU", "LA")


def table(*names: str) -> ScoreTable:
    metrics: tuple[Metric, ...] = tuple(metric_made_elsewhere(name, "higher") for name in names)
    rows = tuple(ScoredRow(item, system) for item in "12" for system in "AB")
    values = np.arange(4.0)[:, None] + np.arange(len(names))
    values[0, -1] = np.nan
    return ScoreTable(rows, metrics, values, {(0, len(names) - 1): "no score"}, "scores.csv")


def people(*dimensions: str) -> RatingSet:
    rated = [(item, system) for item in "12" for system in "AB"]
    ratings = [
        Rating(item, float(place), system, dimension=dimension)
        for dimension in dimensions
        for place, (item, system) in enumerate(rated)
    ]
    return RatingSet(tuple(ratings), "", "human.csv")


def compared(*dimensions: str, chosen: str | None = None, names: tuple[str, ...] = NAMES) -> list[str]:
    found = accuracies(people(*dimensions), table(*names), Acc23Options(dimension=chosen, n_resamples=0))
    left_out = [note for note in found.notes if "for other dimensions left out" in note]
    assert bool(left_out) == (len(found.metrics) < len(names))
    return [one.metric for one in found.metrics]


def test_what_a_judge_says_of_other_dimensions_has_no_part() -> None:
    assert compared("LA") == ["quality-LA", "quality-LA#2", "BLEU", "LA"]
    assert compared("LA", "TQ", chosen="TQ") == ["quality-TQ", "quality-TQ#2", "BLEU", "LA"]


def test_columns_stay_where_none_says_the_dimension() -> None:
    assert compared("overall") == list(NAMES)
    assert compared("LA", names=("COMET-22", "COMET-kiwi", "LA")) == ["COMET-22", "COMET-kiwi", "LA"]


def test_undefined_scores_keep_their_reason_beside_fewer_columns() -> None:
    found = accuracies(people("LA"), table("j-TQ", "j-LA"), Acc23Options(n_resamples=0))
    (only,) = found.metrics
    assert (only.metric, only.n_texts) == ("j-LA", 3)
    assert only.left_out == {"no score": 1}
