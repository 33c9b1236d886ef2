"""`correlate`: which metric follows human ratings, or the damage that was done."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from core.cli.shared.options import (
    Commands,
    add_json_option,
    check_out,
    json_text,
    name_list,
    print_notes,
    write_file,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_interval_options,
    add_rating_options,
    add_system_scores,
    correlation_options,
    intervals,
    open_ratings,
    open_scores,
    table_choice,
)
from core.cli.shared.terminal import counted, interval_notes, number, of_items, print_aligned, with_interval
from core.formats.scores import LOWER_MARK
from core.results.choices import check_choice, chosen_people, chosen_table, left_out_of
from core.results.correlations.levels import ALL_LEVELS, EQUAL, MetricByLevel, by_level
from core.results.correlations.ranking import Ranking, Redundancy, Test, rank_metrics, redundancy
from core.results.correlations.report import (
    correlation_rows,
    correlations_csv,
    levels_json,
    ranking_json,
    redundancy_json,
)
from core.results.correlations.table import (
    DIMENSION,
    CorrelationReport,
    MetricCorrelation,
    correlate_dimensions,
)
from core.results.joining import DEFAULT_OPTIONS, SYSTEM_MEANS, CorrelationOptions
from core.schema.scores import METHODS, Direction, RatingSet, ScoreTable
from core.stats.resampling import Estimate
from core.store import database_path
from core.tables.reading import shown

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


LONG_WORK = 100_000_000
"""Scores times resamples that take more than some seconds."""


def add_to(nouns: Commands) -> None:
    """Register `correlate`."""
    command = nouns.add_parser("correlate")
    command.add_argument(
        "scores",
        metavar="FILE",
        help="table of scores (CSV, JSONL, Parquet), JSONL with id, level and result, run:N, or a folder",
    )
    command.add_argument(
        "--with",
        dest="target",
        choices=["level", "human"],
        required=True,
        help="minus the damage level, or ratings",
    )
    add_rating_options(command)
    add_system_scores(command)
    command.add_argument(
        "--group",
        metavar="COL,...",
        help="a correlation for each value of these columns (default: all texts together)",
    )
    command.add_argument(
        "--raw-level",
        action="store_true",
        help="against the level itself: a good metric is negative, as the factual-perturbation paper has it",
    )
    command.add_argument(
        "--resample",
        choices=["rows", "items"],
        default="rows",
        help="whose interval is low and high (default %(default)s, as the factual-perturbation paper; items is the sounder one)",
    )
    add_interval_options(command, DEFAULT_OPTIONS.n_resamples, until_settled=True)
    command.add_argument("--methods", metavar="M,...", help=f"of {', '.join(METHODS)} (default: all)")
    _add_further(command)
    command.add_argument("--out", type=Path, metavar="FILE", help="write a .csv or .json file")
    add_json_option(command)
    command.set_defaults(run=_correlate)


def _add_further(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rank", choices=METHODS, help="also put metrics in order, in clusters of significance"
    )
    command.add_argument(
        "--test", choices=get_args(Test), default="permutation", help="of --rank (default %(default)s)"
    )
    command.add_argument("--levels", action="store_true", help="also scores by level")
    command.add_argument("--redundancy", choices=METHODS, help="also correlations between metrics")


def _correlate(options: argparse.Namespace) -> None:
    chosen, choice = _options(options), table_choice(options)
    with telling("reading the scores") as tell:
        scores = open_scores(options.scores, options)
        ratings = open_ratings(scores, options) if options.target == "human" else None
        check_choice(choice, scores.table)
        table = chosen_table(scores.table, choice)
        if ratings is not None:
            ratings = chosen_people(ratings, choice, table)
            chosen = replace(chosen, dimension=correlation_options(options, ratings).dimension)
        _announce(table, chosen)
        report = correlate_dimensions(
            table, ratings, group=name_list(options.group) or [], options=chosen, tell=tell
        )
        rows = correlation_rows(report, resampled=options.resample)
        further = _further(table, ratings, options, chosen, tell)
    whole: Any = (
        {"correlations": rows, **{name: made for name, (made, _) in further.items()}} if further else rows
    )
    written = json_text(whole)
    if options.out is not None:
        as_csv = options.out.suffix.lower() == ".csv"
        data = correlations_csv(report, resampled=options.resample) if as_csv else (written + "\n").encode()
        write_file(options.out, data)
    if options.json:
        print(written)
        return
    print_correlations(report, table, ratings, resampled=options.resample)
    for _, show in further.values():
        show()
    if options.out is not None:
        print(options.out)


def _announce(table: ScoreTable, chosen: CorrelationOptions) -> None:
    """Say at once what is ahead where it takes long."""
    n_rows, n_metrics = table.values.shape
    if n_rows * n_metrics * chosen.n_resamples >= LONG_WORK:
        metrics = "1 metric" if n_metrics == 1 else f"{n_metrics} metrics"
        at_most = "at most " if chosen.until_settled else ""
        print(f"{n_rows:,} texts, {metrics}, {at_most}{chosen.n_resamples:,} resamples.", file=sys.stderr)


def _options(options: argparse.Namespace) -> CorrelationOptions:
    """Raises InputError with every problem."""
    problems = []
    if options.target == "level" and options.human is not None:
        problems.append("--human: ratings are used with --with human only")
    if options.target == "level" and options.lower_is_better:
        problems.append("--lower-is-better: of ratings, which are used with --with human only")
    if options.target == "human" and options.raw_level:
        problems.append("--raw-level: the level is used with --with level only")
    if options.out is not None and options.out.suffix.lower() not in (".csv", ".json"):
        problems.append(f"--out: {options.out} is neither a .csv nor a .json file")
    asked = [name for name in ("rank", "levels", "redundancy") if getattr(options, name)]
    if options.out is not None and options.out.suffix.lower() == ".csv" and asked:
        problems.append(
            f"--out: a .csv file holds correlations only, not what --{' and --'.join(asked)} adds; name a .json file"
        )
    named = METHODS if options.methods is None else name_list(options.methods) or []
    if not named or (unknown := [name for name in named if name not in METHODS]):
        problems.append(
            f"--methods: {', '.join(unknown) if named else 'none'} is not of {', '.join(METHODS)}"
        )
    made = intervals(options, problems)
    if options.out is not None:
        check_out(options.out, database_path(options.db), [options.scores, options.human])
    if until_settled := options.resamples is None:
        made["n_resamples"] = DEFAULT_OPTIONS.n_resamples
    return replace(
        correlation_options(options, None),
        **made,
        until_settled=until_settled,
        raw_level=options.raw_level,
        methods=tuple(name for name in METHODS if name in named),
        system_scores=options.system_scores,
    )


def _further(
    table: ScoreTable,
    ratings: RatingSet | None,
    options: argparse.Namespace,
    chosen: CorrelationOptions,
    tell: Callable[[str], None],
) -> dict[str, tuple[Any, Callable[[], None]]]:
    """What else was asked for: name -> its JSON, and how it is printed."""
    found: dict[str, tuple[Any, Callable[[], None]]] = {}
    if options.rank is not None:
        tell("putting metrics in order")
        ranking = rank_metrics(table, ratings, method=options.rank, test=options.test, options=chosen)
        found["ranking"] = ranking_json(ranking), partial(print_ranking, ranking)
    if options.levels:
        tell("scores by level")
        levels = by_level(
            table, n_resamples=chosen.n_resamples, confidence_level=chosen.confidence_level, rng=chosen.rng
        )
        found["levels"] = levels_json(levels), partial(print_levels, levels)
    if options.redundancy is not None:
        tell("correlations between metrics")
        alike = redundancy(table, method=options.redundancy)
        found["redundancy"] = redundancy_json(alike), partial(print_redundancy, alike)
    return found
