"""`study`: import, states, raters and their votes, texts raters read, the log, backups."""

import argparse
import json
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from core.cli import Later, later
from core.cli.serve import add_url_option, address_of
from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_database_option,
    add_json_option,
    add_reading_verb,
    check_not_the_database,
    existing_database,
    existing_store,
    json_text,
    level_list,
    print_notes,
    print_result,
    read_file,
    read_table,
    write_file,
)
from core.errors import InputError
from core.formats.study_files import one_source_hint, place_beside, read_answers, read_dataset, verbatim_note
from core.schema.study import FLAGGED_PAIRS, SCORES, Dataset, Design, LogEntry, State, Study, StudyKind
from core.store import Store, database_path, open_store
from core.store.backup import restore_backup, write_backup
from core.store.studies import find_study, get_study, items_of, list_studies, read_log, read_wording
from core.study import lifecycle, raters
from core.study.analysis_set import margin_note
from core.study.bundle import is_bundle, read_bundle
from core.study.design import describe_shortage
from core.study.guidelines import levels_note, wording
from core.study.raters import ListProgress, RaterProgress, RatingProgress, list_progress


def _add_backup(verbs: Commands) -> None:
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
    # Its help computes an example, with scipy.
    later(
        verbs, {"import": "make a study of a data set, or restore one from a bundle"}, lambda _: _add_import
    )
    later(
        verbs,
        {"import-ratings": "make a study in which people score texts and mark errors in them"},
        _of_results,
    )
    _add_votes(verbs)
    _add_states(verbs)
    add_reading_verb(verbs, "list", "all studies", _list)
    _add_conduct(verbs)
    later(
        verbs,
        {
            "audit": "do length, diff, punctuation, ... give the sources away?",
            "results": "agreement, composite and non-inferiority, with intervals",
            "export": "answers as CSV or JSONL, the paper's JSON, or a whole bundle",
        },
        _of_results,
    )
    _add_backup(verbs)


def _of_results(_verb: str) -> Callable[[Commands], None]:
    from core.cli.study.results import add_to as verbs_of_results  # loads statistics

    return verbs_of_results


def _add_import(verbs: Commands) -> None:
    command = verbs.add_parser("import")
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


def _add(verbs: Commands, verb: str, run: Any, text: str) -> argparse.ArgumentParser:
    command = verbs.add_parser(verb, help=text)
    command.add_argument("name")
    add_database_option(command)
    command.set_defaults(run=run)
    return command


def _add_votes(verbs: Commands) -> None:
    command = _add(verbs, "votes", _votes, "add the paper's votes JSON under a rater's name")
    command.add_argument("file", type=Path)
    command.add_argument("--rater", required=True, help="pseudonym of the person who voted")


def _add_states(verbs: Commands) -> None:
    states: tuple[tuple[str, State, str], ...] = (
        ("open", "open", "let raters answer"),
        ("close", "closed", "take no more answers"),
        ("unblind", "unblinded", "end a closed study for good; its results may be used from then on"),
    )
    for verb, state, text in states:
        command = _add(verbs, verb, _move, text)
        command.add_argument(
            "--reason", default="", help="kept in the study's log", required=verb == "unblind"
        )
        command.set_defaults(state=state)


def _import(options: argparse.Namespace) -> None:
    data = read_table(options.file, options.columns)
    with open_store(database_path(options.db)) as store:
        if is_bundle(data):
            study = _restore_command(store, data, options)
        else:
            from core.study.audit import audit_note, audit_study  # loads statistics

            dataset = _dataset(data, options)
            study = _import_dataset(store, dataset, options)
            audited = None if dataset.plain else audit_note(audit_study(store, study))
            notes = [*dataset.notes, verbatim_note(dataset), audited]
            print_notes(filter(None, notes))
        n_items = len(items_of(store, study.study_id))
    levels = f" at levels {', '.join(study.named_levels)}" if study.named_levels else ""
    plain = ", plain pairs without levels" if study.asks == "preference" else ""
    print(
        f"Study {study.name!r}: {n_items} {'questions' if study.kind == 'pairs' else 'items'}{levels}{plain}; {study.state}.\n"
        f"{lifecycle.describe_design(study.design, study.levels)}"
    )
    if warning := levels_note(study):
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
        two = (options.candidate, options.comparator)
        return read_dataset(data, name, two if all(two) else ())
    except InputError:
        if hint := one_source_hint(data, name):
            raise hint from None
        raise


def _import_dataset(store: Store, dataset: Dataset, options: argparse.Namespace) -> Study:
    candidate, comparator = lifecycle.roles(dataset, options.candidate, options.comparator)
    given = _design_options(options)
    if options.main_levels is not None:
        given["main_levels"] = tuple(level_list(dataset.levels, options.main_levels, "--main-levels") or ())
    usual = lifecycle.usual_design(dataset, candidate, comparator)
    design = replace(usual, **{**given, "candidate": candidate, "comparator": comparator})
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


def _add_conduct(verbs: Commands) -> None:
    _add_links(verbs)
    command = _add(verbs, "progress", _progress, "how far each rater is; nothing about sources")
    add_json_option(command)
    command = _add(verbs, "remind", _remind, "a message for each rater with open pairs, ready to send")
    add_url_option(command)
    command = _add(verbs, "exclude", _exclude, "leave a rater out of the analysis; their answers are kept")
    command.add_argument("rater")
    command.add_argument("--reason", required=True, help="kept in the log and the exports")
    command = _add(verbs, "include", _include, "count an excluded rater's answers again")
    command.add_argument("rater")
    command = _add(verbs, "withdraw", _withdraw, "delete a rater's comments and pseudonym, for good")
    command.add_argument("rater")
    command.add_argument("--votes", choices=["keep", "drop"], required=True, help="drop: out of the analysis")
    command = _add(verbs, "wording", _wording, "consent text and button labels in one language: print or set")
    command.add_argument("--language", default="en", help="BCP 47 (default %(default)s)")
    command.add_argument("--file", type=Path, help="JSON object of texts; {} goes back to what Assay says")
    command = _add(verbs, "log", _log, "everything an owner did to the study")
    add_json_option(command)


def _add_links(verbs: Commands) -> None:
    command = _add(verbs, "links", _links, "print, add, revoke or re-issue raters' personal links")
    command.add_argument("--add", metavar="R1,R2", help="add raters and print their links")
    command.add_argument("--language", help="of the guidelines for the raters added")
    command.add_argument("--revoke", metavar="R", help="make a rater's link worthless; answers are kept")
    command.add_argument("--reissue", metavar="R", help="give a rater a new link; the old one stops working")
    add_url_option(command)


def _links(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        with store.writing():  # one command, one step
            if options.revoke:
                raters.revoke_link(store, study, options.revoke)
            if options.reissue:
                raters.reissue_link(store, study, options.reissue)
            if options.add is not None:
                ids = [part.strip() for part in options.add.split(",")]
                raters.add_raters(store, study, ids, language=options.language)
        if options.revoke:
            print(f"The link of {options.revoke!r} no longer works.")
        for link in raters.links(store, study):
            print(f"{link.rater_id}\t{link.url(address_of(store, options.url))}")
        if study.state == "draft":
            print(
                f"The study is a draft: `python -m core study open {shlex.quote(study.name)}` lets raters answer."
            )


def _progress(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        lines = list_progress(store, study)
    print_result(options, [asdict(line) for line in lines], _print_progress, lines, study.kind)


def _print_progress(lines: Sequence[ListProgress], kind: StudyKind) -> None:
    """A line a rater; nothing about sources or systems."""
    own = ("left", "both good") if kind == "pairs" else ("with errors", "errors")
    print(
        *("rater", "kind", "done", "skipped", "flagged", "median s", *own, "repeats same", "last answer"),
        "to look at",
        sep="\t",
    )
    for line in lines:
        notes = [*line.flags, *([f"excluded: {line.excluded}"] if line.excluded else [])]
        print(
            line.rater_id,
            line.kind,
            f"{line.done}/{line.total}{' locked' if line.finished else ''}",
            line.skipped,
            line.flagged,
            "-" if line.median_seconds is None else f"{line.median_seconds:.1f}",
            *_own_cells(line),
            f"{line.repeats_same}/{line.repeats}" if line.repeats else "-",
            line.last_utc or "-",
            "; ".join(notes) or "-",
            sep="\t",
        )


def _own_cells(line: ListProgress) -> list[str]:
    if isinstance(line, RaterProgress):
        return ["-" if rate is None else f"{rate:.0%}" for rate in (line.left_rate, line.both_good_rate)]
    assert isinstance(line, RatingProgress)
    return ["-" if n is None else str(n) for n in (line.with_errors, line.errors)]


def _remind(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        found = lifecycle.reminders(store, find_study(store, options.name), address_of(store, options.url))
    for reminder in found:
        print(f"{reminder.rater_id}\t{reminder.text}")
    if not found:
        print("Nobody has anything left to do.")


def _exclude(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        lifecycle.exclude_rater(store, find_study(store, options.name), options.rater, options.reason)
    print(f"The answers of {options.rater!r} are kept and no longer counted.")


def _include(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        lifecycle.include_rater(store, find_study(store, options.name), options.rater)
    print(f"The answers of {options.rater!r} are counted again.")


def _withdraw(options: argparse.Namespace) -> None:
    keep = options.votes == "keep"
    with existing_store(options.db) as store:
        new = lifecycle.withdraw_rater(store, find_study(store, options.name), options.rater, keep_votes=keep)
    said = "are counted under" if keep else "stay, uncounted, under"
    print(f"Comments and pseudonym of {options.rater!r} are deleted; the votes {said} {new!r}.")
    print("Backups, copies and exports made before still hold them.")


def _wording(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        if options.file is not None:
            lifecycle.set_wording(store, study, options.language, _texts(options.file))
        own = read_wording(store, study.study_id)
    print(json_text(wording(own, options.language)))


def _texts(path: Path) -> dict[str, str]:
    try:
        texts = json.loads(read_file(path))
    except ValueError as problem:
        raise InputError(f"{path} is not valid JSON ({problem}).") from problem
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InputError(f'{path}: one JSON object of texts is expected, such as {{"left": "Links"}}.')
    return texts


def _log(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        entries = read_log(store, find_study(store, options.name).study_id)
    print_result(options, [asdict(entry) for entry in entries], _print_log, entries)


def _print_log(entries: Sequence[LogEntry]) -> None:
    for entry in entries:
        print("\t".join((entry.at_utc, entry.action, entry.rater_id or "-", entry.detail or "-")))
