"""`reproduce`: the numbers of the five papers, computed again, and analyses that only their authors need."""

import argparse
from functools import partial
from pathlib import Path

from core.cli import Later, add_analyses, later
from core.cli.analyses import give_answer
from core.cli.shared.giving import add_result_options, check_out_file, output_problems
from core.cli.shared.options import Commands, add_json_option, check_options, print_result
from core.cli.shared.running import telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.papers import PAPERS, paper
from core.papers.declared import TABLES, Data, ListedRow, ReproduceOptions, listed_tables
from core.report import terminal_lines
from core.schema.rows import json_of, table_of


def add_to(nouns: Commands) -> None:
    """Register `reproduce`, its papers, and the questions that are verbs of a paper."""
    noun = nouns.add_parser("reproduce")
    noun.add_argument(
        "--list", action="store_true", help="list the papers and their tables, as without PAPER"
    )
    add_json_option(noun, "docs/reproduce.md")
    noun.set_defaults(run=_listed, paper=None)
    verbs = noun.add_subparsers(dest="verb", required=False, metavar="PAPER", action=Later)
    later(verbs, PAPERS, lambda name: partial(_add_paper, name=name))
    add_analyses(verbs, "reproduce")


def _add_paper(papers: Commands, name: str) -> None:
    command = papers.add_parser(name, description=f"Numbers of {paper(name).title}, computed again.")
    command.add_argument(
        "number",
        nargs="?",
        metavar="TABLE",
        help="a table such as 1, or a section (default: all; see --list)",
    )
    command.add_argument(
        "--list", action="store_true", help="list the tables and what they are computed from"
    )
    command.add_argument(
        "--data",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="folder with public data, at any depth; may be repeated (default: only what Assay ships)",
    )
    add_settings(command, ReproduceOptions)
    add_result_options(command, *(one.name for one in TABLES), document="docs/reproduce.md")
    command.set_defaults(run=_reproduced, paper=name)


def _listed(options: argparse.Namespace) -> None:
    rows = [one for name in PAPERS if options.paper in (None, name) for one in listed_tables(paper(name))]
    table = table_of("papers", ListedRow, rows)
    print_result(
        options, [json_of(one) for one in rows], lambda _: print("\n".join(terminal_lines(table))), rows
    )


def _reproduced(options: argparse.Namespace) -> None:
    if options.list:
        _listed(options)
        return
    chosen = ReproduceOptions.checked(settings_given(options, ReproduceOptions))
    check_options([*_no_folders(options.data), *output_problems(options)])
    chosen_paper, data = paper(options.paper), Data(tuple(options.data))
    check_out_file(options, chosen_paper.files_in(data))
    with telling("computing") as tell:
        answer = chosen_paper.analysis.answer(chosen, data, options.number, tell=tell)
    give_answer(options, answer)


def _no_folders(written: list[Path]) -> list[str]:
    return [f"--data: {one} is not a folder" for one in written if not one.is_dir()]
