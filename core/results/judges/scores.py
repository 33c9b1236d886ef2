"""Summarise scores of many texts: counts, mean, spread, reasons for missing scores, and signs that they measure little."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.judges.kind import JudgeKind
from core.schema.scores import JudgeOutput, ScoreTable
from core.stats.degeneracy import Constant, Degeneracy, constant, duplicates
from core.tables.reading import shown


def degeneracy(kind: JudgeKind, output: JudgeOutput) -> tuple[Degeneracy, ...]:
    """Signs of degeneracy in a judge's output so far: constant columns, repeated words, and signs specific to its kind.

    kind: the output's kind. Empty if there are none. See core.stats.degeneracy for the thresholds.
    """
    signs = []
    for metric in output.metrics:
        values = [text.scores.get(metric.name) for text in output.texts]
        found = constant(np.array([np.nan if value is None else value for value in values]))
        if found is not None:
            signs.append(
                Degeneracy("constant", found.n - found.n_others, found.n, found.said(shown(metric.name)))
            )
    records = [text.record for text in output.texts if text.record is not None]
    said = (
        ((text.text, text.document), kind.words(text.record))
        for text in output.texts
        if text.record is not None
    )
    repeated = duplicates(said, kind.words_called)
    if repeated is not None:
        signs.append(repeated)
    return (*signs, *kind.shortfalls(records, output.settings))


@dataclass(frozen=True)
class ScoreSummary:
    """Summary of one metric over all texts of a table, on its own scale."""

    metric: str
    n: int
    """Texts with a score."""
    mean: float | None
    """None if no text has a score."""
    sd: float | None
    """Sample standard deviation (ddof 1) over texts; None for fewer than two scores."""
    left_out: Mapping[str, int]
    """Reason -> texts without a score, most frequent first."""
    constant: Constant | None = None
    """The score of all or nearly all texts; None: scores vary."""


def score_summary(table: ScoreTable) -> tuple[ScoreSummary, ...]:
    """Compute mean and standard deviation of every metric, in the order of the table.

    Texts without a score are left out and counted, never treated as zero. Misleads if metrics lack different texts: their
    means then cover different texts.
    """
    return tuple(_one(table, at) for at in range(len(table.metrics)))


def _one(table: ScoreTable, at: int) -> ScoreSummary:
    column = table.values[:, at]
    missing = np.isnan(column)
    there = column[~missing]
    why: Counter[str] = Counter()
    if missing.any():
        # Imported lazily: it loads scipy, which takes a second, and most tables are complete.
        from core.joining.tables import NO_SCORE

        why.update(table.reasons.get((row, at), NO_SCORE) for row in np.flatnonzero(missing).tolist())
    return ScoreSummary(
        metric=table.metrics[at].name,
        n=len(there),
        mean=float(there.mean()) if len(there) else None,
        sd=float(there.std(ddof=1)) if len(there) > 1 else None,
        left_out=dict(why.most_common()),
        constant=constant(there),
    )
