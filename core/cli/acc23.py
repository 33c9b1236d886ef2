"""`acc23`: whether metrics rank and tie the texts of an item as people do."""

import argparse

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_database_option,
    add_pair_option,
    check_columns,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_interval_options,
    add_system_scores,
    intervals,
    reading_of,
    scores_given,
)
from core.results.correlations.acc23 import (
    Acc23Options,
    acc23,
    acc23_json,
    accuracy_table,
    accuracy_test_table,
)
from core.results.correlations.paired import merged_beside
from core.sources.named import parse_source
from core.sources.people import people_of
from core.tables.reading import shown

_N_RESAMPLES = 1_000
_SCORES = "METRIC.seg.score, a table of scores (CSV, JSONL, Parquet), run:N or an mt-metrics-eval folder"


def add_to(nouns: Commands) -> None:
    """Register `acc23`."""
    command = nouns.add_parser("acc23")
    command.add_argument(
        "human",
        metavar="HUMAN",
        help="HUMAN.seg.score, a file of ratings, an mt-metrics-eval folder, run:N, or study:NAME (unblinded; of a study of pairs, the "
        "pairs of a question at its levels are compared by their votes)",
    )
    command.add_argument("metrics", metavar="METRIC", nargs="+", help=_SCORES)
    command.add_argument(
        "--dimension", metavar="D", help="which dimension of the ratings to use (default: the only one)"
    )
    command.add_argument(
        "--ratings",
        dest="named",
        metavar="NAME",
        help="which rating set to read when the folder has several, e.g. mqm",
    )
    add_pair_option(command)
    add_columns_option(command, several=True)
    command.add_argument(
        "--references",
        action="store_true",
        help="include the references refA, refB, synthetic_ref as systems",
    )
    command.add_argument(
        "--epsilon",
        type=float,
        help="count differences up to this size as ties (default: the best value for each metric)",
    )
    command.add_argument(
        "--tie-rounding",
        action="store_true",
        help="count human scores that differ only by rounding as ties (WMT23 did not)",
    )
    command.add_argument(
        "--test", action="store_true", help="also run a permutation test for each pair of metrics"
    )
    command.add_argument(
        "--swap",
        choices=("items", "pairs"),
        help="what the test swaps: all pairs of an item together (default), or single pairs as in WMT23's tables, whose "
        "p-values are too small",
    )
    add_system_scores(command)
    add_interval_options(command, _N_RESAMPLES)
    add_result_options(command, "accuracy", "accuracy-tests")
    add_database_option(command)
    command.set_defaults(run=_acc23, lower_is_better=False)


def _acc23(options: argparse.Namespace) -> None:
    chosen = _chosen(options)
    check_out_file(options, [options.human, *options.metrics])
    check_columns(options, [options.human, *options.metrics])
    with telling("reading the scores") as tell:
        people = people_of(
            parse_source(options.human),
            reading_of(options, ratings=options.named, ratings_called="--ratings"),
        )
        table, human = merged_beside(scores_given(options.metrics, options), people)
        tell("calibrating ties")
        found = acc23(human, table, chosen)
    tests = [accuracy_test_table(found)] if found.tests else []
    head = [f"Metrics against {shown(found.human)}.", *found.constants]
    give(options, acc23_json(found), [*head, accuracy_table(found), *tests])


def _chosen(options: argparse.Namespace) -> Acc23Options:
    """Return the checked options. Raises InputError with every problem."""
    problems = out_problems(options)
    if options.table == "accuracy-tests" and not options.test:
        problems.append("--table: accuracy-tests needs --test")
    if options.epsilon is not None and not 0 <= options.epsilon < float("inf"):
        problems.append(f"--epsilon: {options.epsilon} is not a number of at least 0")
    if options.test and options.epsilon is not None:
        problems.append("--test: not possible with --epsilon, because the test needs calibrated metrics")
    if options.test and not options.resamples:
        problems.append("--test: needs --resamples above 0, the number of swaps")
    if options.swap and not options.test:
        problems.append("--swap: needs --test")
    if len(set(options.metrics)) < len(options.metrics):
        problems.append("METRIC: the same one is given twice")
    return Acc23Options(
        epsilon=options.epsilon,
        tie_rounding=options.tie_rounding,
        references=options.references,
        dimension=options.dimension,
        test=options.test,
        swap=options.swap or "items",
        system_scores=options.system_scores,
        **intervals(options, problems),
    )
