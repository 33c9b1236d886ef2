"""Correlations, rankings, levels and redundancy for a person at a terminal."""

from collections import Counter
from collections.abc import Mapping

from core.analysis.correlations import CorrelationReport, MetricCorrelation, Ranking
from core.analysis.dimension_group import DIMENSION
from core.analysis.joining import SYSTEM_MEANS
from core.analysis.levels import ALL_LEVELS, EQUAL, MetricByLevel
from core.analysis.redundancy import Redundancy
from core.analysis.table_choice import left_out_of
from core.cli.aligned import counted, interval_notes, number, of_items, print_aligned, with_interval
from core.cli.options import print_notes
from core.datasets.reading import shown
from core.datasets.score_columns import LOWER_MARK
from core.schema.scores import Direction, RatingSet, ScoreTable
from core.stats.resampling import Estimate

_MOST_REASONS = 12


def print_correlations(
    report: CorrelationReport, table: ScoreTable, ratings: RatingSet | None, *, resampled: str
) -> None:
    """One line a metric and group, what they are against, what was left out, and notes."""
    print(_against(report, ratings))
    for sentence in report.constants:
        print(sentence)
    human = report.against == "human"
    groups = [name for name in report.rows[0].group if name != "metric"] if report.rows else []
    methods = report.options.methods
    header = [*groups, "metric", "n", "left out", *(method.capitalize() for method in methods)]
    header += [f"{method.capitalize()} per item" for method in methods if method == "kendall"]
    header += (
        [*(f"{m.capitalize()} per system" for m in methods if m == "pearson"), "accuracy"] if human else []
    )
    rows = [_cells(row, groups, resampled, human) for row in report.rows]
    print_aligned(header, rows)
    _print_left_out(report, known=left_out_of(table))
    whose = "items" if resampled == "items" else "rows"
    level = f"{report.options.confidence_level:.0%}"
    if report.options.n_resamples:
        print(f"Intervals: {level}, percentile bootstrap over {whose}; per item and per system: over items.")
        fewest, most = report.resamples
        error = report.monte_carlo_error
        if error is not None:
            drawn = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
            print(
                f"Resamples: {drawn}; Monte Carlo error of a bound at most {error:.1%} of its interval's width."
            )
    if human:
        print(f"Per system: {SYSTEM_MEANS[report.options.system_scores]}.")
    per_item = (("Kendall per item", row.per_item.get("kendall")) for row in report.rows)
    print_notes((*interval_notes(per_item), *report.notes))


def _against(report: CorrelationReport, ratings: RatingSet | None) -> str:
    if report.against == "human":
        return f"Against human ratings ({_which(report, ratings)}): positive is good."
    if report.against == "level":
        return "Against the damage level itself: a good metric is negative."
    return "Against minus the damage level: positive is good."


def _which(report: CorrelationReport, ratings: RatingSet | None) -> str:
    """The file, and how its ratings are used."""
    options = report.options
    parts = [shown(ratings.file_name)] if ratings else []
    if options.dimension is not None:
        several = isinstance(options.dimension, tuple)
        named = options.dimension if isinstance(options.dimension, tuple) else (options.dimension,)
        parts.append(f"dimension{'s' if several else ''} {', '.join(map(shown, named))}")
    raters = {one.rater for one in ratings.ratings if one.rater is not None} if ratings else set()
    if raters:
        parts.append(f"{len(raters)} raters, {options.raters}" if len(raters) > 1 else "1 rater")
    if options.z_normalise:
        parts.append("on each rater's own scale")
    return ", ".join(parts)


def _cells(row: MetricCorrelation, groups: list[str], resampled: str, human: bool) -> list[object]:
    name = _named(row.metric.name, row.metric.direction)
    cells: list[object] = [*(row.group[name] for name in groups), name, row.n, row.n_left_out]
    for pooled in row.pooled.values():
        cells.append(with_interval(pooled.over_items if resampled == "items" else pooled.over_rows))
    if "kendall" in row.pooled:
        cells.append(of_items(row.per_item["kendall"]))
    if human:
        cells += [with_interval(row.per_system["pearson"])] if "pearson" in row.pooled else []
        cells.append(with_interval(row.system_accuracy))
    return cells


def _named(metric: str, direction: Direction | None) -> str:
    """A metric's name, with its direction where the sign of its scores is turned."""
    return f"{metric}{LOWER_MARK}" if direction == "lower" else metric


def _print_left_out(report: CorrelationReport, known: Mapping[str, int]) -> None:
    """Reasons over all groups, of the metric and dimension that has most of each. known: those that a note states."""
    most: Counter[str] = Counter()
    by_metric: dict[tuple[str, str | None], Counter[str]] = {}
    for row in report.rows:
        mine = by_metric.setdefault((row.metric.name, row.group.get(DIMENSION)), Counter())
        mine.update({reason: n for reason, n in row.left_out.items() if reason not in known})
    for counts in by_metric.values():
        most |= counts
    for reason, n in most.most_common(_MOST_REASONS):
        print(f"Left out: {reason}: {n} rows" if n != 1 else f"Left out: {reason}: 1 row")


def print_ranking(ranking: Ranking) -> None:
    """Metrics in order with their coefficient and cluster, the rows compared, and what a cluster means."""
    test = ranking.comparisons[0].test if ranking.comparisons else "no"
    print(
        f"\nBy {ranking.method.capitalize()} on the {ranking.n} of {ranking.n_rows} rows that all these metrics scored, "
        f"{test} test, alpha {ranking.alpha:g}. A new cluster begins where a metric is worse than all of the one before:"
    )
    if ranking.order:
        print_aligned(
            ["cluster", "metric", ranking.method.capitalize()],
            [
                [
                    ranking.cluster[name],
                    _named(name, ranking.directions.get(name)),
                    number(ranking.coefficients.get(name)),
                ]
                for name in ranking.order
            ],
        )
    for name, why in ranking.dropped.items():
        print(f"Not ranked: {shown(name)}: {why}")
    print_notes(ranking.notes)


def print_levels(levels: tuple[MetricByLevel, ...]) -> None:
    """Mean score by level, the share of items that fall, and the share of damaged texts that are preferred."""
    print("\nMean score by level:")
    names = [level.level for level in levels[0].levels] if levels else []
    header = ["metric", *names, "never rises", "always falls", "prefers damaged"]
    rows = [
        [
            one.metric,
            *(number(level.mean.estimate) for level in one.levels),
            _of_all(one.monotonic, "items"),
            with_interval(one.strictly_monotonic),
            _of_all(one.prefers_damaged[ALL_LEVELS], "texts"),
        ]
        for one in levels
    ]
    print_aligned(header, rows)
    equal = max((one.left_out.get(EQUAL, 0) for one in levels), default=0)
    if equal:
        print(
            f"Left out of never rises and prefers damaged: {EQUAL}: {counted(equal, 'item')}, of the metric with most."
        )


def _of_all(share: Estimate, what: str) -> str:
    """The share, with how many it rests on where some are left out: `1.000 (1 of 6 items)`."""
    of = f" ({share.n} of {share.n + share.n_left_out} {what})"
    return with_interval(share) + (of if share.n and share.n_left_out else "")


def print_redundancy(found: Redundancy) -> None:
    """The matrix, metrics numbered in its header."""
    print(f"\n{found.method.capitalize()} between metrics:")
    header = ["", "metric", *(str(k) for k in range(1, len(found.metrics) + 1))]
    rows = [
        [k, _named(name, direction), *("-" if value is None else number(value, 2) for value in values)]
        for k, (name, direction, values) in enumerate(
            zip(found.metrics, found.directions, found.values, strict=True), start=1
        )
    ]
    print_aligned(header, rows)
