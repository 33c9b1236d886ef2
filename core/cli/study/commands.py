"""`study`: import, votes, links, progress, states, results, export."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from core.cli.shared.lately import Later, later
from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_database_option,
    add_reading_verb,
    check_not_the_database,
    existing_database,
    existing_store,
    level_list,
    print_notes,
    print_result,
    read_file,
    read_table,
    write_file,
)
from core.cli.study.conduct import add_conduct
from core.errors import InputError
from core.formats.study_files import one_source_hint, place_beside, read_answers, read_dataset, verbatim_note
from core.schema.study import FLAGGED_PAIRS, SCORES, Dataset, Design, State, Study
from core.store import Store, database_path, open_store
from core.store.backup import restore_backup, write_backup
from core.store.studies import find_study, get_study, items_of, list_studies
from core.study import lifecycle, raters
from core.study.analysis_set import margin_note
from core.study.bundle import is_bundle, read_bundle
from core.study.design import describe_shortage
from core.study.guidelines import levels_note


def add_backup(verbs: Commands) -> None:
    """Register `study backup` and `study restore`."""
    command = verbs.add_parser("backup", help="all studies and the key of their links, as one zip")
    command.add_argument("--out", type=Path, required=True, help="the zip; keep it as safe as the database")
    add_database_option(command)
    command.set_defaults(run=_backup)
    command = verbs.add_parser("restore", help="put a backup back; works while the app runs")
    command.add_argument("file", type=Path, help="a zip that `study backup` wrote")
    command.add_argument(
        "--replace", action="store_true", help="where there is a database: keep a copy of it, and replace it"
    )
    add_database_option(command)
    command.set_defaults(run=_restore)


def _backup(options: argparse.Namespace) -> None:
    path = existing_database(options.db)
    check_not_the_database(options.out, path)
    with open_store(path) as store:
        data = write_backup(store)
    mask = os.umask(0o077)  # it opens every link: for its owner's eyes alone
    try:
        write_file(options.out, data)
    finally:
        os.umask(mask)
    print(f"{options.out}\nIt opens every personal link: keep it as safe as the database.")


def _restore(options: argparse.Namespace) -> None:
    path = database_path(options.db)
    restored = restore_backup(
        read_file(options.file), path, file_name=options.file.name, replace=options.replace
    )
    print(
        f"Restored {path} from the backup of {restored.created_utc} (Assay {restored.app_version}); "
        f"studies: {', '.join(restored.studies) or 'none'}.\n"
        "Everything stands as it stood then, personal links too."
    )
    if restored.kept is not None:
        print(f"What was there before is kept: {restored.kept}")


_CALLED = {
    "confidence_level": "confidence",
    "level_order": "levels_order",
    "repeat_share": "repeats",
    "blinding_pairs": "guess_pairs",
}
"""Field of Design -> its option, where that has another name."""


def add_to(nouns: Commands) -> None:
    """Register `study` and its verbs."""
    noun = nouns.add_parser("study")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB", action=Later)
    _add_import(verbs)
    later(
        verbs,
        {"import-ratings": "make a study in which people score texts and mark errors in them"},
        _of_results,
    )
    _add_votes(verbs)
    _add_states(verbs)
    add_reading_verb(verbs, "list", "all studies", _list)
    add_conduct(verbs)
    later(
        verbs,
        {
            "audit": "do length, diff, punctuation, ... give the sources away?",
            "results": "agreement, composite and non-inferiority, with intervals",
            "export": "answers as CSV or JSONL, the paper's JSON, or a whole bundle",
        },
        _of_results,
    )
    add_backup(verbs)


def _of_results(_verb: str) -> Callable[[Commands], None]:
    from core.cli.study.results import add_to as verbs_of_results  # loads statistics

    return verbs_of_results


def _add_import(verbs: Commands) -> None:
    command = verbs.add_parser("import", help="make a study of a data set, or restore one from a bundle")
    command.add_argument("file", type=Path, help="the paper's JSON, long CSV or JSONL, or a bundle (.zip)")
    command.add_argument(
        "--beside",
        type=Path,
        metavar="FILE",
        help="where each file has one source: the other one's answers to the same questions",
    )
    command.add_argument(
        "--shared-only", action="store_true", help="with --beside: leave out questions that only one file has"
    )
    command.add_argument("--name", help="name of the study (a bundle brings its own)")
    command.add_argument("--candidate", help="source whose non-inferiority is asked")
    command.add_argument("--comparator", help="source it is compared with")
    command.add_argument(
        "--margin",
        type=float,
        help="non-inferiority margin on the scale of the score, -1 to 1 (default 0.1). " + margin_note(0.1),
    )
    command.add_argument(
        "--confidence", type=float, help="of the one-sided lower bound, between 0.5 and 1 (default 0.90)"
    )
    command.add_argument(
        "--main-levels", help="levels of the main analysis, such as A1-A4 or all (default: all but the first)"
    )
    command.add_argument(
        "--votes-needed",
        type=int,
        help="votes a pair needs to count (default: 2, or as many as a pair can get)",
    )
    command.add_argument(
        "--score",
        choices=SCORES,
        help="score of a pair: sign of the sum of its votes (composite, the default), or their mean",
    )
    command.add_argument(
        "--flagged",
        choices=FLAGGED_PAIRS,
        help="votes on pairs that a rater flagged as invalid (default keep)",
    )
    command.add_argument("--seed", type=int, help="of every draw (default: a new one)")
    command.add_argument(
        "--votes-per-pair", type=int, help="raters a question (default: all raters rate all)"
    )
    command.add_argument("--max-questions", type=int, help="most questions one rater gets")
    command.add_argument(
        "--levels-order",
        choices=["fixed", "shuffled"],
        help="levels within a question: best to worst, or shuffled (default fixed)",
    )
    command.add_argument("--repeats", type=float, help="share of hidden repeats, 0 to 0.5 (default 0.05)")
    command.add_argument(
        "--guess-pairs", type=int, help="rated pairs shown again at the end: which did the person write? (10)"
    )
    command.add_argument(
        "--person", choices=["candidate", "comparator"], help="whose answers a person wrote (comparator)"
    )
    add_columns_option(command)
    command.add_argument("--again", action="store_true", help="import a file that is here already once more")
    add_database_option(command)
    command.set_defaults(run=_import)


def _add_votes(verbs: Commands) -> None:
    command = verbs.add_parser("votes", help="add the paper's votes JSON under a rater's name")
    command.add_argument("name")
    command.add_argument("file", type=Path)
    command.add_argument("--rater", required=True, help="pseudonym of the person who voted")
    add_database_option(command)
    command.set_defaults(run=_votes)


def _add_states(verbs: Commands) -> None:
    states: tuple[tuple[str, State, str], ...] = (
        ("open", "open", "let raters answer"),
        ("close", "closed", "take no more answers"),
        ("unblind", "unblinded", "end a closed study for good; its results may be used from then on"),
    )
    for verb, state, text in states:
        command = verbs.add_parser(verb, help=text)
        command.add_argument("name")
        command.add_argument(
            "--reason", default="", help="kept in the study's log", required=verb == "unblind"
        )
        add_database_option(command)
        command.set_defaults(run=_move, state=state)


def _import(options: argparse.Namespace) -> None:
    data = read_table(options.file, options.columns)
    with open_store(database_path(options.db)) as store:
        if is_bundle(data):
            study = _restore_command(store, data, options)
        else:
            from core.study.audit import audit_note, audit_study  # loads statistics

            dataset = _dataset(data, options)
            study = _import_dataset(store, dataset, options)
            notes = [*dataset.notes, verbatim_note(dataset), audit_note(audit_study(store, study))]
            print_notes(filter(None, notes))
        n_items = len(items_of(store, study.study_id))
    levels = f" at levels {', '.join(study.levels)}" if study.levels else ""
    print(
        f"Study {study.name!r}: {n_items} {'questions' if study.kind == 'pairs' else 'items'}{levels}; {study.state}.\n"
        f"{lifecycle.describe_design(study.design, study.levels)}"
    )
    if study.kind == "pairs" and (warning := levels_note(study.levels)):
        print(f"Note: {warning}")


def _dataset(data: bytes, options: argparse.Namespace) -> Dataset:
    """The file's data set, or that of two files with one source each."""
    name = options.file.name
    if options.beside is not None:
        first = read_answers(data, name)
        other = read_answers(read_file(options.beside), options.beside.name, beside=first.source)
        return place_beside(first, other, shared_only=options.shared_only)
    if options.shared_only:
        raise InputError("--shared-only: there is one file; name the other one with --beside.")
    try:
        return read_dataset(data, name)
    except InputError:
        if hint := one_source_hint(data, name):
            raise hint from None
        raise


def _import_dataset(store: Store, dataset: Dataset, options: argparse.Namespace) -> Study:
    candidate, comparator = lifecycle.roles(dataset, options.candidate, options.comparator)
    given = _design_options(options)
    if options.main_levels is not None:
        given["main_levels"] = tuple(level_list(dataset.levels, options.main_levels, "--main-levels") or ())
    design = Design(
        **{"seed": lifecycle.new_seed(), **given, "candidate": candidate, "comparator": comparator}
    )
    name = options.name if options.name is not None else options.file.stem
    return lifecycle.import_study(store, name, dataset, design, again=options.again)


def _design_options(options: argparse.Namespace) -> dict[str, Any]:
    """Field of Design -> what the command line says, where it says something."""
    given = {one.name: getattr(options, _CALLED.get(one.name, one.name), None) for one in fields(Design)}
    return {name: value for name, value in given.items() if value is not None}


def _restore_command(store: Store, data: bytes, options: argparse.Namespace) -> Study:
    if _design_options(options):
        raise InputError(
            f"{options.file.name} is a bundle and brings its own design: leave design options out."
        )
    if options.beside is not None or options.shared_only:
        raise InputError(f"{options.file.name} is a bundle and holds a whole study: leave --beside out.")
    record = read_bundle(data, options.file.name)
    return lifecycle.restore_study(store, record, name=options.name)


def _votes(options: argparse.Namespace) -> None:
    data = read_file(options.file)
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        count = raters.import_votes_file(store, study, options.rater, data, options.file.name)
        ended = study.state != "unblinded" and get_study(store, study.study_id).state == "unblinded"
    print(f"{count} votes of {options.rater!r} added to {study.name!r}, side and time unknown.")
    if ended:
        print(
            "Every vote of this study was imported: it is unblinded now, and nobody can rate in it by link."
        )


def _move(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = lifecycle.move(store, find_study(store, options.name), options.state, options.reason)
        shortage = describe_shortage(raters.study_workload(store, study))
    print(f"Study {study.name!r} is {study.state}.")
    if study.state == "open" and shortage:
        print(f"Note: {shortage}")


def _list(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        studies = list_studies(store)
    print_result(options, [asdict(study) for study in studies], _print_list, studies)


def _print_list(studies: Sequence[Study]) -> None:
    if not studies:
        print("No studies yet: `python -m core study import FILE` makes one.")
    for study in studies:
        print(f"{study.name}\t{study.state}\t{_what_is_asked(study)}")


def _what_is_asked(study: Study) -> str:
    if study.task is not None:
        return f"ratings: {study.task.title}"
    return f"{study.design.candidate} against {study.design.comparator}"
