"""`runs texts`: the texts of a run over a big table with their scores."""

import argparse

from core.cli.runs.verbs import run_verb
from core.cli.shared.giving import add_result_options, check_out_file, give, output_problems
from core.cli.shared.options import Commands, check_options, existing_store, name_list
from core.runs.path import saved_run
from core.tables.reading import shown

MOST_TEXTS = 20_000
"""Most texts of one command."""


def add_to(verbs: Commands) -> None:
    """Register `texts`."""
    command = run_verb(verbs, "texts", "texts of a run over a big table with their scores, page by page")
    command.add_argument(
        "--where",
        metavar="COL=VALUE",
        action="append",
        default=[],
        help="only texts with this value: item, system, level, language or a label; may be repeated",
    )
    command.add_argument("--metrics", metavar="NAME,...", help="metrics to show (default: all)")
    command.add_argument(
        "--sort", metavar="METRIC", help="lowest scores of this metric first (default: order of the file)"
    )
    command.add_argument("--descending", action="store_true", help="with --sort: highest scores first")
    command.add_argument(
        "--from",
        dest="first",
        type=int,
        default=1,
        metavar="N",
        help="first text to show (default %(default)s)",
    )
    command.add_argument(
        "--limit",
        type=int,
        default=20,
        metavar="N",
        help=f"number of texts, at most {MOST_TEXTS:,} (default %(default)s)",
    )
    add_result_options(command)
    command.set_defaults(run=_texts)


def _texts(options: argparse.Namespace) -> None:
    from core.results.big_tables.scored import TextQuery, texts_json, texts_page, texts_table
    from core.runs.tables.opened import big_table

    where = dict(one.split("=", 1) for one in options.where if "=" in one)
    problems = [
        f"--where: {shown(one)} is not COLUMN=VALUE, e.g. level=A3" for one in options.where if "=" not in one
    ]
    if options.descending and options.sort is None:
        problems.append("--descending: needs --sort")
    if options.first < 1:
        problems.append(f"--from: {options.first} is below 1")
    if not 1 <= options.limit <= MOST_TEXTS:
        problems.append(f"--limit: {options.limit} is not between 1 and {MOST_TEXTS:,}")
    check_options([*problems, *output_problems(options)])
    check_out_file(options, [])
    query = TextQuery(where, options.sort, options.descending, options.first - 1, options.limit)
    with existing_store(options.db) as store:
        table = big_table(saved_run(store, options.number))
        metrics = table.metric_named(name_list(options.metrics) or [])
        found, total = texts_page(table, query)
    give(options, texts_json(found, total, query), [*table.notes, texts_table(found, metrics, total, query)])
