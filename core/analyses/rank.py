"""Ranking: metrics from best to worst, in clusters that no paired test on the same texts separates."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from core.schema.analysis import Analysis, Table, Tell
from core.schema.correlating import RankOptions
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row

if TYPE_CHECKING:
    from core.joining.quality import Quality
    from core.results.correlations.ranking import Ranking as Numbers

Better = Literal["higher", "lower"]


@row
class RankedRow:
    """One metric in its place."""

    cluster: int | None = column(
        "its cluster, 1 is best; a new one begins with a metric that is worse than all in the cluster before"
    )
    metric: str = column("the metric", names_row=True)
    direction: Better | None = column(
        "the better end of its scores; the sign of `lower` ones is turned", title="better"
    )
    coefficient: float | None = column("its coefficient on the rows compared")
    method: str = column("the coefficient", key="", shown=False)
    n: int = column("rows compared", key="", shown=False)
    left_out: Mapping[str, int] = column("reason -> rows left out by the user", key="", shown=False)
    reason: str = column("why it is not ranked", key="", shown=False)


@row
class TestRow:
    """Two metrics compared on the rows that all ranked metrics scored."""

    first: str = column("a metric", names_row=True)
    second: str = column("a metric that is ranked lower", names_row=True)
    first_cluster: int | None = column("cluster of the first", key="", shown=False)
    second_cluster: int | None = column("cluster of the second", key="", shown=False)
    first_direction: Better | None = column("better end of the first", key="", shown=False)
    second_direction: Better | None = column("better end of the second", key="", shown=False)
    method: str = column("the coefficient", key="", shown=False)
    difference: Interval = column(
        "difference of the coefficients, first minus second; its interval resamples items", ends="beside"
    )
    p: float | None = column("two-sided p of no difference", name="p_two_sided", title="p", p_value=True)
    p_bh: float | None = column(
        "p corrected for all comparisons (Benjamini-Hochberg); clusters rest on it",
        title="Benjamini-Hochberg p",
        p_value=True,
    )
    test: str = column("the test", shown=False)
    n: int = column("rows compared")
    left_out: Mapping[str, int] = column("reason -> rows left out by the user", key="", shown=False)
    reason: str | None = column("why there is no p")


@row
class Ranking:
    """Metrics from best to worst."""

    method: str = entry("the coefficient")
    alpha: float = entry("level of the corrected tests")
    n: int = entry("rows compared: those that all metrics with scores scored")
    n_rows: int = entry("rows with a level or a rating, whether compared or not")
    left_out: Mapping[str, int] = entry("reason -> rows left out by the user")
    order: tuple[RankedRow, ...] = entry("the metrics, the best first", rows=RankedRow)
    comparisons: tuple[TestRow, ...] = entry("every two of them", rows=TestRow)
    dropped: Mapping[str, str] = entry("metric -> why it is not ranked")
    notes: tuple[str, ...] = entry("such as on a metric that leaves few rows to compare, and on the ratings")
    numbers: "Numbers"
    """As they were computed."""
    renamed: tuple[str, ...]

    @property
    def rows(self) -> tuple[RankedRow, ...]:
        """The ranked metrics, then the others."""
        dropped = ((name, None, why) for name, why in self.dropped.items())
        return (*self.order, *(_ranked_row(self.numbers, *one) for one in dropped))


def compute(options: RankOptions, quality: "Quality", *, tell: Tell) -> Ranking:
    """Rank the metrics and test every two of them (`rank_metrics`)."""
    from core.joining.quality import renamed_said
    from core.results.correlations.ranking import rank_metrics

    tell("ranking the metrics")
    of = quality.merged
    numbers = rank_metrics(of.table, of.ratings, options, use=quality.use)
    return ranking_of(numbers, renamed_said(of.table), () if of.ratings is None else of.ratings.notes)


def ranking_of(
    numbers: "Numbers", renamed: tuple[str, ...] = (), notes_of_ratings: tuple[str, ...] = ()
) -> Ranking:
    """The ranking as every door shows it. notes_of_ratings: where no door shows them apart."""
    return Ranking(
        method=numbers.method,
        alpha=numbers.alpha,
        n=numbers.n,
        n_rows=numbers.n_rows,
        left_out=numbers.left_out,
        order=tuple(_ranked_row(numbers, name, numbers.coefficients.get(name)) for name in numbers.order),
        comparisons=tuple(_test_rows(numbers)),
        dropped=numbers.dropped,
        notes=(*numbers.notes, *notes_of_ratings),
        numbers=numbers,
        renamed=renamed,
    )


def _ranked_row(found: "Numbers", name: str, coefficient: float | None, why: str = "") -> RankedRow:
    return RankedRow(
        *(found.cluster.get(name), name, found.directions.get(name), coefficient),
        *(found.method, found.n, found.left_out, why),
    )


def _test_rows(found: "Numbers") -> list[TestRow]:
    from core.results.cells import width_warned

    return [
        TestRow(
            first=one.first,
            second=one.second,
            first_cluster=found.cluster.get(one.first),
            second_cluster=found.cluster.get(one.second),
            first_direction=found.directions.get(one.first),
            second_direction=found.directions.get(one.second),
            method=found.method,
            difference=width_warned(
                Interval(one.difference, one.low, one.high, interval_reason=one.interval_reason or "")
            ),
            p=one.p,
            p_bh=one.p_bh,
            test=one.test,
            n=one.n,
            left_out=found.left_out,
            reason=one.reason,
        )
        for one in found.comparisons
    ]


def _notes(ranking: Ranking) -> tuple[str, ...]:
    from core.tables.reading import shown

    clusters = [
        f"A new cluster begins with a metric that is worse than all in the cluster before ({one.test} test, "
        f"Benjamini-Hochberg p of all {ranking.numbers.n_tests:,} comparisons below {ranking.alpha:g})."
        for one in ranking.comparisons[:1]
    ]
    dropped = (f"Not ranked: {shown(name)}: {why}" for name, why in ranking.dropped.items())
    return (*clusters, *dropped, *ranking.notes)


def _test_notes(ranking: Ranking) -> tuple[str, ...]:
    from core.results.cells import corrected_note

    return corrected_note("benjamini-hochberg", ranking.numbers.n_tests, "every two metrics")


def _hidden_of_tests(ranking: Ranking) -> list[str]:
    unseen = {
        "p_bh": ranking.numbers.n_tests < 2,
        "reason": not any(one.reason for one in ranking.comparisons),
    }
    return [name for name, hidden in unseen.items() if hidden]


ANALYSIS = Analysis(
    name="rank",
    title="Ranking",
    question="Which metric follows quality most closely, and which metrics does no test on the same texts separate?",
    Options=RankOptions,
    Result=Ranking,
    takes=("quality",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=lambda found: found.renamed,
    section="statistics#metric-comparison",
    misleads="Only texts that all metrics scored are compared. Two metrics of one cluster may differ: clusters use p_bh, corrected for "
    "all comparisons.",
    refuses="For williams with Kendall.",
    example="""
>>> import assay
>>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "bleu-4"])
>>> list(assay.rank(scores, "level", method="spearman", resamples=200).frame["metric"])
['chrf-6-0', 'bleu-4']
""",
    tables=(
        Table(
            "ranking",
            RankedRow,
            lambda found: found.rows,
            "Metrics from best to worst",
            heading=lambda found: (
                f"{found.method.capitalize()} on the {found.n:,} of {found.n_rows:,} rows that all these metrics scored"
            ),
            notes=_notes,
            hidden=lambda found: () if "lower" in found.numbers.directions.values() else ("direction",),
            shaped=lambda found: {"coefficient": {"title": found.method.capitalize()}},
        ),
        Table(
            "comparisons",
            TestRow,
            lambda found: found.comparisons,
            "Every two metrics",
            heading=lambda found: f"{found.method.capitalize()}, first minus second; p two-sided",
            notes=_test_notes,
            hidden=_hidden_of_tests,
            most_printed=0,
        ),
    ),
)
