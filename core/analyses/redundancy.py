"""Redundancy: which two metrics score the same texts alike, so that one of them adds nothing?"""

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from core.schema.analysis import COEFFICIENT_WORDS, Analysis, Coefficient, Table, Tell
from core.schema.rows import column, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.schema.scores import ScoreTable


class RedundancyOptions(Settings):
    """How two metrics are compared."""

    method: Coefficient = setting(
        "spearman",
        "Coefficient",
        "coefficient of every two metrics",
        leading=True,
        words=COEFFICIENT_WORDS,
    )


@row
class PairRow:
    """Two metrics."""

    first: str = column("a metric", names_row=True)
    second: str = column("another metric", names_row=True)
    method: str = column("the coefficient", shown=False)
    correlation: float | None = column("the coefficient of their scores; 1 is perfect agreement")
    n: int = column("texts that both scored")
    left_out: Mapping[str, int] = column("reason -> texts left out by the user", shown=False)


@row
class Redundancy:
    """How similarly metrics score the same texts."""

    method: str = entry("the coefficient")
    metrics: tuple[str, ...] = entry("the metrics")
    directions: tuple[Literal["higher", "lower"], ...] = entry(
        "the better end of each metric; the sign of `lower` ones is turned"
    )
    left_out: Mapping[str, int] = entry("reason -> texts left out by the user")
    values: tuple[tuple[float | None, ...], ...] = entry("coefficients, a square symmetric table")
    n: tuple[tuple[int, ...], ...] = entry("texts that both metrics scored, a table like `values`")
    renamed: tuple[str, ...]

    @property
    def pairs(self) -> tuple[PairRow, ...]:
        """Every two metrics."""
        return tuple(
            PairRow(first, second, self.method, self.values[i][j], self.n[i][j], self.left_out)
            for (i, first), (j, second) in combinations(enumerate(self.metrics), 2)
        )


def compute(options: RedundancyOptions, table: "ScoreTable", *, tell: Tell) -> Redundancy:
    """Correlate every two metrics over the texts that both scored, with signs turned so that higher is better."""
    import numpy as np

    from core.joining.choices import add_directions, directions, left_out_of
    from core.joining.quality import renamed_said
    from core.stats.correlation.groups import redundancy

    tell("correlating metrics with each other")
    found = redundancy(table.values * directions(table), options.method)
    return Redundancy(
        method=options.method,
        metrics=tuple(metric.name for metric in table.metrics),
        directions=tuple(metric.direction for metric in add_directions(table)[0].metrics),
        left_out=left_out_of(table),
        values=tuple(tuple(None if np.isnan(one) else float(one) for one in line) for line in found.values),
        n=tuple(tuple(map(int, line)) for line in found.n),
        renamed=renamed_said(table),
    )


ANALYSIS = Analysis(
    name="redundancy",
    title="Redundancy",
    question="Do two metrics score the same texts alike, so that one of them adds nothing?",
    Options=RedundancyOptions,
    Result=Redundancy,
    takes=("table",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=lambda found: found.renamed,
    section="statistics#redundancy",
    misleads="Over texts of all levels, any two metrics that notice damage at all agree.",
    example="""
>>> import assay
>>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["rouge-1", "rouge-l"])
>>> assay.redundancy(scores).frame[["first", "second", "n"]].values.tolist()
[['rouge-1', 'rouge-l', 140]]
""",
    tables=(
        Table(
            "redundancy",
            PairRow,
            lambda found: found.pairs,
            "Correlations between metrics",
            heading=lambda found: (
                f"{found.method.capitalize()} between metrics, over the texts that both scored"
            ),
            shaped=lambda found: {"correlation": {"title": found.method.capitalize()}},
        ),
    ),
)
