"""`correlate`: correlations of metrics with human ratings or with the damage level."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_columns, name_list, named_numbers
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_interval_options,
    add_rating_options,
    add_system_scores,
    correlation_options,
    intervals,
    open_each,
    open_people_beside,
    table_choice,
)
from core.cli.shared.switches import add_switches, entries_of, printed_of, switches_of, table_problems
from core.errors import InputError
from core.joining.choices import TableChoice, check_choice, chosen_people, chosen_table
from core.joining.rated import OfFile
from core.joining.tables import DEFAULT_OPTIONS, LISTED_AS, CorrelationOptions, merge_tables
from core.results.correlations.files import (
    BY_MODEL,
    by_model_json,
    by_model_table,
    correlate_files,
    judges_by_model,
)
from core.results.correlations.paired import beside_people
from core.results.correlations.ranking import (
    Test,
    check_two,
    compare_in_groups,
    compared_json,
    compared_said,
    comparison_table,
    rank_metrics,
    ranking_json,
    ranking_table,
)
from core.results.correlations.table import (
    against_said,
    correlate_dimensions,
    correlation_rows,
    correlation_table,
)
from core.schema.result_table import ResultTable
from core.schema.scores import METHODS, RatingSet, ScoreTable
from core.schema.settings import Remark
from core.sources.named import names_apart, parse_sources, short_name
from core.tables.reading import shown

_TABLES = {
    "correlations": "",
    BY_MODEL: "",
    "ranking": "rank",
    "comparisons": "rank",
    "comparison": "compare",
}
"""Table -> the option that adds it; empty: always there, or with several files."""


LONG_WORK = 100_000_000
"""Scores times resamples above which the command takes more than a few seconds."""


def add_to(nouns: Commands) -> None:
    """Register `correlate`."""
    command = nouns.add_parser("correlate")
    command.add_argument(
        "scores",
        nargs="+",
        metavar="FILE",
        help="table of scores (CSV, JSONL, Parquet), JSONL with id, level and result, run:N, or a folder; several are "
        "correlated one by one, and listed by technique, model and size",
    )
    command.add_argument(
        "--with",
        dest="target",
        choices=["level", "human"],
        required=True,
        help="correlate with the negative damage level, or with human ratings",
    )
    add_rating_options(command)
    add_system_scores(command)
    command.add_argument(
        "--group",
        metavar="COL,...",
        help="one correlation for each value of these columns (default: all texts together)",
    )
    command.add_argument(
        "--raw-level",
        action="store_true",
        help="correlate with the level instead of its negative, as Factual does; a good metric is then negative",
    )
    command.add_argument(
        "--resample",
        choices=["rows", "items"],
        default="rows",
        help="what to resample for low and high (default %(default)s, as in Factual; items is sounder)",
    )
    add_interval_options(command, DEFAULT_OPTIONS.n_resamples, until_settled=True)
    command.add_argument(
        "--methods", metavar="M,...", help=f"coefficients to report: {', '.join(METHODS)} (default: all)"
    )
    _add_further(command)
    further = (table.name for one in switches_of("correlate") for table in one.analysis.tables)
    add_result_options(command, *_TABLES, *further)
    command.set_defaults(run=_correlate)


def _add_further(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rank", choices=METHODS, help="also rank the metrics, in clusters that do not differ significantly"
    )
    command.add_argument(
        "--test", choices=get_args(Test), default="permutation", help="test for --rank (default %(default)s)"
    )
    command.add_argument(
        "--compare",
        metavar="A,B",
        help="also compare two metrics: their coefficients on the texts that both scored, the difference and its interval, and p",
    )
    add_switches(command, switches_of("correlate"))
    command.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="MODEL=BILLIONS",
        help="with several files: parameters of a model (or of the model behind a FILE) whose name does not state them; may "
        "be repeated",
    )


def _correlate(options: argparse.Namespace) -> None:
    wrong: list[Remark] = []
    asked = [(one, one.read(options, wrong)) for one in switches_of("correlate") if one.given(options)]
    chosen, choice = _options(options), table_choice(options)
    sizes = named_numbers("--size", options.size)
    with telling("reading the scores") as tell:
        opened = open_each(options.scores, options)
        check_choice(choice, *(one.table for one in opened))
        files = []
        for name, scores in zip(
            names_apart(map(short_name, parse_sources(options.scores)), options.scores, "file"),
            opened,
            strict=True,
        ):
            if options.target == "human":
                table, beside = beside_people(scores.table, open_people_beside(scores, options), choice)
                chosen = replace(chosen, dimension=correlation_options(options, beside).dimension)
                files.append(OfFile(name, table, beside))
            else:
                files.append(OfFile(name, chosen_table(scores.table, choice)))
        several = len(files) > 1
        ratings = files[0].ratings
        two = name_list(options.compare)
        merged, people = _merged(files, options, choice)
        renamed = [f"{note}." for note in merged.notes if LISTED_AS in note] if several else []
        if two:
            check_two(merged, *two)
        _announce([one.table for one in files], chosen)
        group = name_list(options.group) or []
        if several:
            report = correlate_files(files, group=group, options=chosen, tell=tell)
        else:
            report = correlate_dimensions(merged, ratings, group=group, options=chosen, tell=tell)
        rows = correlation_rows(report, resampled=options.resample)
        tables: list[str | ResultTable] = [correlation_table(report, resampled=options.resample)]
        in_files: list[ResultTable] = []
        further: dict[str, Any] = {}
        if several:
            by_model = judges_by_model(report, files, sizes)
            further[BY_MODEL.replace("-", "_")] = by_model_json(by_model, options.resample)
            tables.append(by_model_table(by_model, report, options.resample))
        if options.rank is not None:
            tell("ranking the metrics")
            ranking = rank_metrics(merged, people, method=options.rank, test=options.test, options=chosen)
            further["ranking"] = ranking_json(ranking)
            tables.append(ranking_table(ranking))
            in_files.append(comparison_table(ranking))
        if two:
            compared = compare_in_groups(merged, people, *two, group=group, options=chosen, tell=tell)
            further["comparison"] = compared_json(compared)
            tables += compared_said(compared)
        answers = [one.analysis.answer(own, merged, tell=tell) for one, own in asked]
        for answer in answers:
            further |= entries_of(answer)
        printed, others = printed_of(answers)
        tables += [one for one in printed if one not in renamed]
        in_files += others
    give(
        options,
        {"correlations": rows, **further} if further else rows,
        [against_said(report, ratings), *report.constants, *renamed, *tables],
        in_files,
    )


def _merged(
    files: Sequence[OfFile], options: argparse.Namespace, choice: TableChoice
) -> tuple[ScoreTable, RatingSet | None]:
    """Return the metrics of all files on the same texts and their ratings, for what compares metrics.

    Of several files, only the first if nothing compares them.
    """
    first = files[0]
    compares = (
        options.rank,
        options.compare,
        *(one.given(options) or None for one in switches_of("correlate")),
    )
    if len(files) == 1 or all(one is None for one in compares):
        return first.table, first.ratings
    if options.target == "human" and options.human is None and (options.rank or options.compare):
        raise InputError("--rank and --compare need one set of ratings for all files: name it with --human.")
    merged = merge_tables([one.table for one in files])
    return merged, first.ratings and chosen_people(first.ratings, choice, merged)


def _announce(tables: Sequence[ScoreTable], chosen: CorrelationOptions) -> None:
    """Print the amount of work if it will take long."""
    n_rows, n_metrics = (sum(one.values.shape[at] for one in tables) for at in (0, 1))
    if sum(one.values.size for one in tables) * chosen.n_resamples >= LONG_WORK:
        metrics = "1 metric" if n_metrics == 1 else f"{n_metrics} metrics"
        at_most = "at most " if chosen.until_settled else ""
        print(f"{n_rows:,} texts, {metrics}, {at_most}{chosen.n_resamples:,} resamples.", file=sys.stderr)


def _options(options: argparse.Namespace) -> CorrelationOptions:
    """Return the checked options. Raises InputError with every problem."""
    problems = []
    if options.target == "level" and options.human is not None:
        problems.append("--human: only with --with human")
    if options.target == "level" and options.lower_is_better:
        problems.append("--lower-is-better: only with --with human")
    if options.target == "human" and options.raw_level:
        problems.append("--raw-level: only with --with level")
    problems += out_problems(options) + table_problems(options, switches_of("correlate"))
    if (
        options.table is not None
        and (needed := _TABLES.get(options.table, ""))
        and not getattr(options, needed)
    ):
        problems.append(f"--table: {options.table} needs --{needed}")
    if options.compare is not None and len(name_list(options.compare) or []) != 2:
        problems.append(f"--compare: {shown(options.compare)} does not name two metrics; write --compare A,B")
    named = METHODS if options.methods is None else name_list(options.methods) or []
    if not named or (unknown := [name for name in named if name not in METHODS]):
        problems.append(
            f"--methods: {', '.join(unknown) if named else 'none'} is not one of {', '.join(METHODS)}"
        )
    made = intervals(options, problems)
    check_out_file(options, [*options.scores, options.human])
    check_columns(options, [*options.scores, options.human])
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
