"""`correlate`: which metric follows human ratings, or the damage that was done."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from core.analysis.correlation_report import (
    correlation_rows,
    correlations_csv,
    levels_json,
    ranking_json,
    redundancy_json,
)
from core.analysis.correlations import DEFAULT_OPTIONS, CorrelationOptions, rank_metrics
from core.analysis.dimension_group import correlate_dimensions
from core.analysis.levels import by_level
from core.analysis.metric_ranking import Test
from core.analysis.redundancy import redundancy
from core.analysis.table_choice import check_choice, chosen_people, chosen_table
from core.cli.correlations_printed import print_correlations, print_levels, print_ranking, print_redundancy
from core.cli.options import Commands, add_json_option, check_out, json_text, name_list, write_file
from core.cli.progress_line import telling
from core.cli.score_sources import (
    add_interval_options,
    add_rating_options,
    add_system_scores,
    correlation_options,
    intervals,
    open_ratings,
    open_scores,
    table_choice,
)
from core.schema.scores import METHODS, RatingSet, ScoreTable
from core.store import database_path

LONG_WORK = 100_000_000
"""Scores times resamples that take more than some seconds."""


def add_to(nouns: Commands) -> None:
    """Register `correlate`."""
    command = nouns.add_parser(
        "correlate", help="correlations of metrics with human ratings or damage levels"
    )
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
