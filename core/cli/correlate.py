"""`correlate`: correlations of metrics with human ratings or with the damage level."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_columns, name_list, named_numbers
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_interval_options,
    add_rating_options,
    add_system_scores,
    correlation_options,
    intervals,
    names_apart,
    open_each,
    open_people_beside,
    table_choice,
)
from core.cli.shared.switches import add_switches, entries_of, printed_of, switches_of, table_problems
from core.joining.choices import TableChoice, check_choice, chosen_table
from core.joining.rated import OfFile, Rated
from core.joining.tables import DEFAULT_OPTIONS, CorrelationOptions
from core.results.correlations.files import (
    BY_MODEL,
    by_model_json,
    by_model_table,
    correlate_files,
    judges_by_model,
)
from core.results.correlations.paired import beside_people
from core.results.correlations.table import (
    against_said,
    correlate_dimensions,
    correlation_rows,
    correlation_table,
)
from core.schema.result_table import ResultTable
from core.schema.scores import METHODS, ScoreTable
from core.schema.settings import Remark, as_option, said
from core.sources.named import parse_sources, short_name

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
    command.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="MODEL=BILLIONS",
        help="with several files: parameters of a model (or of the model behind a FILE) whose name does not state them; may "
        "be repeated",
    )
    add_switches(command, switches_of("correlate"))
    further = (table.name for one in switches_of("correlate") for table in one.analysis.tables)
    add_result_options(command, "correlations", BY_MODEL, *further)
    command.set_defaults(run=_correlate)


def _correlate(options: argparse.Namespace) -> None:
    wrong: list[Remark] = []
    asked = [(one, one.read(options, wrong)) for one in switches_of("correlate") if one.given(options)]
    chosen, choice = _options(options, wrong), table_choice(options)
    sizes = named_numbers("--size", options.size)
    with telling("reading the scores") as tell:
        rated = _rated(options, choice)
        chosen = replace(chosen, dimension=rated.dimension)
        _announce([one.table for one in rated.files], chosen)
        data = {"rated": lambda: rated, "table": lambda: rated.whole}
        # The further questions come first, because their mistakes are found at once.
        answers = [
            one.analysis.answer(own, *(data[kind]() for kind in one.analysis.takes), tell=tell)
            for one, own in asked
        ]
        group = name_list(options.group) or []
        several, ratings = len(rated.files) > 1, rated.files[0].ratings
        if several:
            report = correlate_files(rated.files, group=group, options=chosen, tell=tell)
        else:
            report = correlate_dimensions(
                rated.files[0].table, ratings, group=group, options=chosen, tell=tell
            )
        rows = correlation_rows(report, resampled=options.resample)
        tables: list[str | ResultTable] = [correlation_table(report, resampled=options.resample)]
        further: dict[str, Any] = {}
        if several:
            by_model = judges_by_model(report, rated.files, sizes)
            further[BY_MODEL.replace("-", "_")] = by_model_json(by_model, options.resample)
            tables.append(by_model_table(by_model, report, options.resample))
        for answer in answers:
            further |= entries_of(answer)
        printed, in_files = printed_of(answers)
    give(
        options,
        {"correlations": rows, **further} if further else rows,
        [against_said(report, ratings), *report.constants, *tables, *printed],
        in_files,
    )


def _rated(options: argparse.Namespace, choice: TableChoice) -> Rated:
    """Return the scores of each file beside the ratings, or beside their levels."""
    opened = open_each(options.scores, options)
    check_choice(choice, *(one.table for one in opened))
    names = names_apart(map(short_name, parse_sources(options.scores)), options.scores, "file")
    files = [
        OfFile(name, *beside_people(scores.table, open_people_beside(scores, options), choice))
        if options.target == "human"
        else OfFile(name, chosen_table(scores.table, choice))
        for name, scores in zip(names, opened, strict=True)
    ]
    use = correlation_options(options, files[0].ratings)
    same = options.target == "level" or options.human is not None
    return Rated(tuple(files), use.dimension, use.raters, use.z_normalise, choice, same)


def _announce(tables: Sequence[ScoreTable], chosen: CorrelationOptions) -> None:
    """Print the amount of work if it will take long."""
    n_rows, n_metrics = (sum(one.values.shape[at] for one in tables) for at in (0, 1))
    if sum(one.values.size for one in tables) * chosen.n_resamples >= LONG_WORK:
        metrics = "1 metric" if n_metrics == 1 else f"{n_metrics} metrics"
        at_most = "at most " if chosen.until_settled else ""
        print(f"{n_rows:,} texts, {metrics}, {at_most}{chosen.n_resamples:,} resamples.", file=sys.stderr)


def _options(options: argparse.Namespace, wrong: Sequence[Remark]) -> CorrelationOptions:
    """Return the checked options. Raises InputError with every problem, also those of switches in wrong."""
    problems = [said(one, {}, as_option) for one in wrong]
    if options.target == "level" and options.human is not None:
        problems.append("--human: only with --with human")
    if options.target == "level" and options.lower_is_better:
        problems.append("--lower-is-better: only with --with human")
    if options.target == "human" and options.raw_level:
        problems.append("--raw-level: only with --with level")
    problems += out_problems(options) + table_problems(options, switches_of("correlate"))
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
