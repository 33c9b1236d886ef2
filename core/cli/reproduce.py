"""`reproduce`: the numbers of the five papers, computed again, and analyses that only their authors need."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from core.cli import Later, add_analyses, later
from core.cli.analyses import give_answer
from core.cli.judge.verbs import verb
from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, add_json_option, check_options, print_result
from core.cli.shared.running import telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.cli.shared.sources import add_mark_options, marked_given, reading_of, single, span_options
from core.cli.spans import judge_json
from core.errors import counted
from core.papers import PAPERS, paper
from core.papers.declared import TABLES, Data, ListedRow, ReproduceOptions, listed_tables
from core.report import terminal_lines
from core.results.cells import plain
from core.results.judges.spans import ExampleCurve, curve_table, differences_table, example_curve
from core.schema.rows import json_of, table_of
from core.sources.judges import JUDGE_NAMES as JUDGES
from core.sources.marking import marking_outputs
from core.sources.spans import SPAN_MEANING, SPAN_NAMES
from core.tables.reading import shown

CURVE = "specialist examples-curve"
CURVE_ABOUT = "F1 of marked errors against the number of examples"


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
    later(verbs, {CURVE: CURVE_ABOUT}, lambda _: _add_curve)


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
    check_options([*_no_folders(options.data), *out_problems(options)])
    chosen_paper, data = paper(options.paper), Data(tuple(options.data))
    check_out_file(options, chosen_paper.files_in(data))
    with telling("computing") as tell:
        answer = chosen_paper.analysis.answer(chosen, data, options.number, tell=tell)
    give_answer(options, answer)


def _no_folders(written: list[Path]) -> list[str]:
    return [f"--data: {one} is not a folder" for one in written if not one.is_dir()]


def _add_curve(verbs: Commands) -> None:
    command = verb(
        verbs,
        CURVE,
        CURVE_ABOUT,
        _curve,
        "examples-curve",
        "examples-curve-tests",
    )
    command.add_argument(
        "gold", metavar="GOLD", help=f"errors marked by people: {SPAN_NAMES} ({SPAN_MEANING})"
    )
    command.add_argument(
        "judges", nargs="+", metavar=JUDGES, help="runs of one judge with increasing numbers of examples"
    )
    add_mark_options(command)


def _curve(options: argparse.Namespace) -> None:
    chosen = span_options(options, out_problems(options))
    check_out_file(options, [options.gold, *options.judges])
    with telling("reading the marked errors") as tell:
        (gold,) = marked_given([options.gold], options)
        outputs = marking_outputs(options.judges, reading_of(options))
        tell("comparing the marked errors")
        found = example_curve(
            single(gold), {one.name: one for one in outputs}, texts=gold.texts, options=chosen
        )
    said = (
        f"F1 against {shown(found.gold)}, on {counted(found.n_segments, 'segment')} of "
        f"{counted(found.n_items, 'item')} that all runs marked."
    )
    tests = differences_table(found.tests, "examples-curve-tests")
    give(options, _curve_json(found), [said, curve_table(found), "", tests])


def _curve_json(found: ExampleCurve) -> Any:
    return {
        "points": [
            {
                "name": point.name,
                "examples": point.variant,
                "n_examples": point.n_examples,
                "mean_shown": point.mean_shown,
                **judge_json(point.judge),
            }
            for point in found.points
        ],
        "tests": [
            {"first": one.first, "second": one.second, **plain(one.test), "p_holm": one.p_holm}
            for one in found.tests
        ],
        "n_segments": found.n_segments,
        "n_items": found.n_items,
        "notes": list(found.notes),
    }
