"""`generate`: answers of known quality (A0-A4 or damage levels 0-5), and the check of a published report."""

import argparse
from dataclasses import asdict
from pathlib import Path

from core.cli.shared.options import Commands, add_columns_option, add_json_option, print_result, read_table
from core.cli.shared.run_options import add_run_options, requested_run, run_it
from core.cli.shared.running import finish_in_folder
from core.formats.trutheval import read_report
from core.generation.factual.published import Replay, replay
from core.runs.kinds import kinds_that
from core.schema.runs import Kind
from core.tables.files import read_file


def add_to(nouns: Commands) -> None:
    """Register `generate` and its verbs."""
    noun = nouns.add_parser("generate")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    for kind in kinds_that("generation"):
        _add_scheme(verbs, kind)
    command = verbs.add_parser("replay", help="check whether a published A0-A4 report follows its own steps")
    command.add_argument("report", type=Path, help="report.json of a factual run, from Assay or from Factual")
    add_json_option(command)
    command.set_defaults(run=_replay)


def _add_scheme(verbs: Commands, kind: Kind) -> None:
    command = verbs.add_parser(kind.verb or kind.name, help=kind.summary)
    command.add_argument("file", type=Path, help="questions and references: JSON, CSV or JSONL")
    add_columns_option(command)
    settings = add_run_options(command, kind, usual="rules")
    settings.add_argument(
        "--source", default="", help="name of the system in files and studies (default: the model)"
    )
    command.set_defaults(run=lambda options: _generate(options, kind))


def _generate(options: argparse.Namespace, kind: Kind) -> None:
    data = read_table(options.file, options.columns)
    wanted, running = requested_run(options, kind, name=options.source)
    run_it(options, wanted, running, lambda _: (data, options.file.name), write=finish_in_folder)


def _replay(options: argparse.Namespace) -> None:
    result = replay(read_report(read_file(options.report), options.report.name))
    print_result(options, asdict(result), _print_replay, result)


def _print_replay(result: Replay) -> None:
    rows = (
        ("items", result.items),
        ("brackets of A0 match the spans", result.brackets_match),
        ("filter in the order of Factual's code (keep, then drop)", result.filter_match_code_order),
        ("filter in the order of Factual's paper (drop, then keep)", result.filter_match_paper_order),
        ("group sizes match the brackets removed", result.group_sizes_match),
    )
    for name, value in rows:
        print(f"{value:>4}  {name}")
    print(result.verdict)
