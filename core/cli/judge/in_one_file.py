"""Write a judge to one file, and load it again."""

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from core.cli.judge.running import GIVEN, add_run, run_judge
from core.cli.shared.options import (
    Commands,
    add_database_option,
    check_out,
    existing_store,
    print_notes,
)
from core.cli.shared.running import finish_in_folder
from core.errors import InputError
from core.formats.scores import write_scores_csv
from core.installation import COMMAND
from core.runs.jobs import RunAtHand
from core.runs.judging.in_one_file import (
    JudgeFile,
    judge_file,
    left_out_of_file,
    limits_in,
    load_judge,
    mapped_scores,
    maps_in,
    write_judge,
)
from core.runs.path import saved_run
from core.runs.scoring import score_table
from core.sources.named import RunSource, parse_source
from core.store import database_path
from core.tables.files import read_file, write_file


def add_file(verbs: Commands) -> None:
    """Register the verbs that write a judge to one file and load it again."""
    command = verbs.add_parser("export", help="write the judge of a run to one file, for `judge use`")
    command.add_argument("judge", metavar="run:N", help="a run of a judge")
    command.add_argument("--out", type=Path, required=True, metavar="FILE.yaml", help="file to write")
    command.add_argument(
        "--map",
        type=Path,
        metavar="FILE.json",
        help="add the map to the people's scale from `calibrate --map METHOD --out FILE.json`",
    )
    command.add_argument(
        "--check",
        type=Path,
        metavar="FILE.json",
        help="add the limits that `check --json` found for this judge",
    )
    add_database_option(command)
    command.set_defaults(run=_export)
    command = verbs.add_parser("use", help="run the judge in a file that `judge export` wrote")
    command.add_argument("file", type=Path, metavar="FILE.yaml", help="the judge")
    command.add_argument(
        "rest",
        nargs=argparse.REMAINDER,
        metavar="TEXTS --out DIR [--mapped] ...",
        help="texts and options as for the judge's own verb; options override the file (see `use FILE.yaml --help`)",
    )
    command.set_defaults(run=_use)


def _export(options: argparse.Namespace) -> None:
    source = parse_source(options.judge)
    if not isinstance(source, RunSource):
        raise InputError(
            f"{options.judge} is not run:N: only the database has the full texts of a judge's prompts."
        )
    inputs = [options.map, options.check]
    with existing_store(options.db) as store:
        asked = saved_run(store, source.number).request
    check_out(options.out, database_path(options.db), inputs)
    judge = judge_file(asked, name=options.judge)
    if options.map is not None:
        judge = replace(judge, maps=maps_in(read_file(options.map), options.map.name, asked))
    if options.check is not None:
        data = read_file(options.check)
        written = datetime.fromtimestamp(options.check.stat().st_mtime, UTC).date().isoformat()
        judge = replace(judge, limits=limits_in(data, options.check.name, asked, date=written))
    write_file(options.out, write_judge(judge))
    print_notes(left_out_of_file(judge))
    print(options.out)


def _use(options: argparse.Namespace) -> None:
    judge = load_judge(options.file)
    given = GIVEN[judge.kind.reads]
    command = argparse.ArgumentParser(
        prog=f"{COMMAND} judge use {options.file}", description=judge.kind.summary
    )
    add_run(command, judge.kind, given)
    command.add_argument(
        "--mapped", action="store_true", help="also write the scores on the people's scale, to mapped.csv"
    )
    chosen = command.parse_args(options.rest)
    if chosen.mapped and not judge.maps:
        raise InputError(
            f"--mapped: {options.file} has no map. Export it with --map, or leave the option out."
        )
    if chosen.mapped:
        given = replace(given, write=partial(_finish_mapped, judge=judge))
    print_notes(judge.notes)
    chosen.judge_file = judge
    run_judge(chosen, judge.kind, given)


def _finish_mapped(run: RunAtHand, folder: Path, *, judge: JudgeFile) -> None:
    """Write the run's files, and its mapped scores beside them."""
    finish_in_folder(run, folder)
    table, notes = mapped_scores(judge, score_table(run))
    write_file(folder / MAPPED_FILE, write_scores_csv(table))
    print_notes(notes)
    print(f"Written to {folder}: {MAPPED_FILE}.")


MAPPED_FILE = "mapped.csv"
