"""Estimates of a run over a table too big for memory: which metric follows quality, and means by group."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.schema.analysis import (
    Analysis,
    Caution,
    Table,
    Tell,
    Verdict,
    confidence_setting,
    rng_setting,
)
from core.schema.big_tables import DEFAULT_BY, DEFAULT_RESAMPLES
from core.schema.result_table import Interval
from core.schema.rows import column, columns, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.big_tables.estimates import BigEstimates, GroupMean, LevelCorrelation
    from core.results.big_tables.scored import BigTable


class BigTableOptions(Settings):
    """Options of the estimates of a big table."""

    by: tuple[str, ...] = setting(
        DEFAULT_BY,
        "By",
        "columns to group means by: item, system, level, language or a label",
        listed=True,
        metavar="COL,...",
    )
    metrics: tuple[str, ...] = setting(
        (), "Metrics", "only these metrics (default: all)", listed=True, metavar="NAME,..."
    )
    intervals: bool = setting(
        False,
        "Intervals",
        "also compute intervals by resampling items, which takes about a minute for a million rows",
    )
    n_resamples: int | None = setting(
        None,
        "Resamples",
        "number of bootstrap resamples of items",
        at_least=0,
        option="resamples",
        words={"": f"{DEFAULT_RESAMPLES:,} with intervals, else none"},
        folded=True,
    )
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()

    @property
    def resamples(self) -> int:
        """Resamples to draw; 0 for no intervals."""
        if self.n_resamples is not None:
            return self.n_resamples
        return DEFAULT_RESAMPLES if self.intervals else 0


@row
class ScoredRows:
    """How far a run has come."""

    scored: int = entry("rows with scores, or with reasons why they have none")
    of: int = entry("rows of the table")
    complete: bool = entry("whether every row is scored")


@row
class Unchanging:
    """The score of all or nearly all texts."""

    value: float = entry("that score")
    share: float = entry("share of texts that have it")


@row
class FollowingRow:
    """One metric against minus the damage level, over all texts with both."""

    metric: str = column("the metric", names_row=True, key="name")
    family: str = column("its family", shown=False)
    signature: str = entry("its settings and version")
    direction: str = column("whether higher or lower scores are better", title="better")
    n: int = column("texts with a level and a score")
    n_left_out: int = column("other texts", title="left out")
    constant: Unchanging | None = entry(
        "the score that nearly all texts have; null if scores vary", rows=Unchanging
    )
    pearson: Interval = column(
        "Pearson's correlation, +1 is best", title="Pearson", heat="coefficient", ends="object"
    )
    spearman: Interval = column(
        "Spearman's correlation, +1 is best", title="Spearman", heat="coefficient", ends="object"
    )
    kendall: Interval = column(
        "Kendall's tau-b, +1 is best", title="Kendall", heat="coefficient", ends="object"
    )


@row
class MeanRow:
    """One metric in one group of texts."""

    metric: str = column("the metric", names_row=True)
    group: Mapping[str, str] = entry("column -> its value in this group")
    marked: Mapping[str, str] = columns(
        "value of the group; a label named like another column is marked, as in files of scores",
        key="",
        names_row=True,
    )
    family: str = column("its family", shown=False, key="")
    mean: Interval = column("mean score, on the metric's own scale", title="mean score", ends="object")
    sd: float | None = column("standard deviation of the scores (n - 1); empty below two", title="SD")
    n: int = column("texts with a score")
    n_left_out: int = entry("texts without a score")
    undefined: Mapping[str, int] = column("reason -> texts without a score")


@row
class BigTableResult:
    """Estimates of a big table."""

    rows: ScoredRows = entry("how many rows the numbers are about", rows=ScoredRows)
    by: tuple[str, ...] = entry("columns of the groups")
    correlations: tuple[FollowingRow, ...] = entry(
        "each metric; empty if no text has a level with a number", rows=FollowingRow
    )
    means: tuple[MeanRow, ...] = entry("each metric and group", rows=MeanRow)
    n_resamples: int = entry("resamples of the intervals; 0: none were asked for")
    notes: tuple[str, ...] = entry("what limits the numbers, such as rows that are not scored yet")
    constants: tuple[str, ...] = entry("a sentence for each metric that is nearly constant", key="")
    confidence_level: float = entry("of the intervals", key="")


def compute(options: BigTableOptions, table: "BigTable", *, tell: Tell) -> BigTableResult:
    """Estimate means by group, and each metric's correlation with minus the damage level.

    Raises InputError for unknown columns or metrics, for too many groups, and if no row is scored.
    """
    from core.results.big_tables.estimates import estimates

    return result_of(
        estimates(
            table,
            by=options.by,
            metrics=options.metrics,
            n_resamples=options.resamples,
            confidence_level=options.confidence_level,
            rng=options.rng,
            tell=tell,
        )
    )


def result_of(estimates: "BigEstimates") -> BigTableResult:
    """The rows of estimates."""
    table = estimates.table
    return BigTableResult(
        rows=ScoredRows(table.n_scored, table.n_rows, table.is_complete),
        by=estimates.by,
        correlations=tuple(map(_following, estimates.correlations)),
        means=tuple(map(_mean, estimates.means)),
        n_resamples=estimates.n_resamples,
        notes=estimates.notes,
        constants=estimates.constants,
        confidence_level=estimates.confidence_level,
    )


def _following(found: "LevelCorrelation") -> FollowingRow:
    from core.results.cells import interval

    metric, of = found.metric, found.by_method
    constant = None if found.constant is None else Unchanging(found.constant.value, found.constant.share)
    return FollowingRow(
        *(metric.name, metric.family, metric.signature, metric.direction),
        *(of["pearson"].n, of["pearson"].n_left_out, constant),
        *(interval(of["pearson"]), interval(of["spearman"]), interval(of["kendall"])),
    )


_OF_MEANS = frozenset(
    {"metric", "family", "mean", "sd", "n", "undefined"}
    | {f"mean_{name}" for name in ("low", "high", "n", "n_left_out", "reason")}
)
"""Columns of the means in files, besides groups."""


def _mean(found: "GroupMean") -> MeanRow:
    from core.results.big_tables.scored import label_column
    from core.results.cells import interval

    marked = {label_column(name, _OF_MEANS): value for name, value in found.group.items()}
    return MeanRow(
        found.metric.name,
        found.group,
        marked,
        found.metric.family,
        interval(found.mean),
        found.sd,
        found.mean.n,
        found.mean.n_left_out,
        found.undefined,
    )


def _verdicts(found: BigTableResult) -> tuple[Verdict, ...]:
    """The metric with the highest correlation; nothing for fewer than two metrics."""
    from core.results.cells import decimal

    ranked = {one.metric: rho for one in found.correlations if (rho := one.spearman.value) is not None}
    if len(ranked) < 2:
        return ()
    best = max(ranked, key=ranked.__getitem__)
    return (
        Verdict(
            "highest",
            f"{best} has the highest Spearman correlation with minus the damage level: {decimal(ranked[best])}. Whether it "
            "differs from the others is not tested.",
        ),
    )


def _following_notes(found: BigTableResult) -> tuple[str, ...]:
    notes = tuple(f"{one} Resamples: {found.n_resamples:,}." for one in _resampled(found))
    turned = any(one.direction == "lower" for one in found.correlations)
    return (*notes, *(["If lower scores are better, their sign is flipped."] if turned else []))


def _resampled(found: BigTableResult) -> tuple[str, ...]:
    from core.results.cells import resampled

    return (resampled(found.confidence_level),) if found.n_resamples else ()


def _direction_column(found: BigTableResult) -> tuple[str, ...]:
    """The column that says which scores are better is for readers where metrics differ from the usual."""
    return () if any(one.direction == "lower" for one in found.correlations) else ("direction",)


ANALYSIS = Analysis(
    name="table",
    title="Estimates of a big table",
    question="Which metric falls as damage increases, over a table too big for memory?",
    Options=BigTableOptions,
    Result=BigTableResult,
    takes=("table_on_disk",),
    compute=compute,
    verdicts=_verdicts,
    tables=(
        Table(
            "correlations",
            FollowingRow,
            lambda found: found.correlations,
            title="Correlation with minus the damage level",
            question="1 is perfect, 0 is no relation. Below 0 the metric prefers damaged texts.",
            notes=_following_notes,
            hidden=_direction_column,
        ),
        Table(
            "means",
            MeanRow,
            lambda found: found.means,
            title="Mean scores by group",
            question="Undefined scores are not in the mean; the table counts them by reason.",
            heading=lambda found: f"Mean score by {' and '.join(found.by)}" if found.by else "Mean score",
            notes=_resampled,
        ),
    ),
    sentences=lambda found: (*found.notes, *map(Caution, found.constants)),
    section="scale#estimates-of-a-big-table",
    misleads="While a run is not complete, its rows so far may be about other texts than the rest.",
    refuses="If no row is scored yet.",
    example="""
>>> import assay
>>> assay.table(3, by="level")["means"].frame  # doctest: +SKIP
""",
)
