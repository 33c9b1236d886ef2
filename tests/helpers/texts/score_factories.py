"""Small makers of score tables and ratings for tests of analyses."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from core.schema.scores import Metric, RatedText, Rating, RatingSet, ScorableOutput, ScoredRow, ScoreTable

Number = float | None


def metric(name: str, **fields: Any) -> Metric:
    return Metric(name, f"{name}|made:by-hand", fields.pop("family", "BLEU"), **fields)


def unrated(text: str, reference: str | None = None, source: str | None = None) -> RatedText:
    """A text as a judge is given it; nobody rated it."""
    return RatedText(ScorableOutput("i", "s", text, reference, source))


def table(
    rows: Iterable[tuple[ScoredRow, Number | Sequence[Number]]],
    metrics: Sequence[Metric | str] = ("m",),
    **fields: Any,
) -> ScoreTable:
    """Rows with one score, or one a metric; None is undefined."""
    rows = list(rows)
    values = [scores if isinstance(scores, Sequence) else [scores] for _, scores in rows]
    return ScoreTable(
        rows=tuple(row for row, _ in rows),
        metrics=tuple(metric(one) if isinstance(one, str) else one for one in metrics),
        values=np.array([[np.nan if v is None else v for v in row] for row in values], dtype=float).reshape(
            len(rows), len(metrics)
        ),
        **{"file_name": "scores.csv", **fields},
    )


def ladder(scores: dict[str, Sequence[Number]], *, system: str = "s", **labels: str) -> list:
    """Item -> its scores at levels 0, 1, 2 ..."""
    return [
        (ScoredRow(item, system, str(level), labels=labels), score)
        for item, column in scores.items()
        for level, score in enumerate(column)
    ]


def ratings(*given: Rating, **fields: Any) -> RatingSet:
    return RatingSet(given, **{"sha256": "0" * 64, "file_name": "ratings.csv", **fields})
