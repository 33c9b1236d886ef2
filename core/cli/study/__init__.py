"""`study`: import, states, raters and their votes, texts for raters, the log, backups."""

import argparse
import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from core.budget import Drawing
from core.cli import Later, add_analyses, later
from core.cli.serve import add_url_option, address_of
from core.cli.shared.options import (
    Commands,
    add_database_option,
    add_json_option,
    add_reading_verb,
    check_not_the_database,
    check_out,
    existing_database,
    existing_store,
    level_list,
    print_notes,
    print_result,
)
from core.cli.shared.setting_options import add_settings, settings_given
from core.errors import InputError, counted
from core.formats.study.files import (
    broken_hint,
    note_votes,
    one_source_hint,
    place_beside,
    read_answers,
    read_dataset,
    verbatim_note,
    votes_in,
)
from core.formats.study.pairs import Reading
from core.formats.study.votes import NOT_IMPORTED, Repeated, TableVotes, parse_vote
from core.installation import COMMAND
from core.schema.designs import PairDesign
from core.schema.settings import fields_of
from core.schema.study import Dataset, LogEntry, State, Study, StudyKind
from core.store import Store, database_path, open_store
from core.store.backup import left_out_notes, restore_backup, tables_of, write_backup, write_backup_file
from core.store.studies import find_study, get_study, items_of, list_studies, read_log
from core.store.upkeep import byte_size
from core.study import lifecycle, raters
from core.study.analysis_set import margin_note
from core.study.bundle import is_bundle, read_bundle
from core.study.design import describe_shortage
from core.study.guidelines import levels_note
from core.study.raters import ListProgress, RaterProgress, RatingProgress, list_progress
from core.study.shipped import wording_read
from core.tables.files import json_text, read_file, write_file
from core.tables.mapping import columns_there, parse_answer_columns
from core.tables.reading import same_name, shown


def _add_backup(verbs: Commands) -> None:
    command = verbs.add_parser("backup", help="save all studies and the key of their links as one zip")
    command.add_argument(
        "--out", type=Path, required=True, help="zip file to write; protect it like the database"
    )
    command.add_argument(
        "--with-tables",
        action="store_true",
        help="also the folders of runs beside the database: big tables and batch files, which can take gigabytes",
    )
    add_database_option(command)
    command.set_defaults(run=_backup)
    command = verbs.add_parser("restore", help="restore a backup; works while the app runs")
    command.add_argument("file", type=Path, help="zip file written by `study backup`")
    command.add_argument(
        "--replace", action="store_true", help="replace an existing database and keep a copy of it"
    )
    add_database_option(command)
    command.set_defaults(run=_restore)


def _backup(options: argparse.Namespace) -> None:
    path = existing_database(options.db)
    check_not_the_database(options.out, path)
    lacking: Mapping[str, str] = {}
    with open_store(path) as store:
        tables = tables_of(store)
        if options.with_tables:
            check_out(options.out, path, [])
            lacking = write_backup_file(store, options.out, with_tables=True)
        else:
            data = write_backup(store)
    if not options.with_tables:
        mask = os.umask(0o077)  # the backup opens every link, so only its owner may read it
        try:
            write_file(options.out, data)
        finally:
            os.umask(mask)
    print(f"{options.out}\nThis file opens every personal link. Protect it like the database.")
    if tables:
        said = "are in it" if options.with_tables else "are not in it; --with-tables adds them"
        print(f"Tables of {counted(len(tables), 'run')} ({byte_size(sum(tables.values()))}) {said}.")
    print_notes(left_out_notes(lacking))
    if lacking:
        print_notes(["To back up a file that is left out, put a plain file in its place."])


def _restore(options: argparse.Namespace) -> None:
    path = database_path(options.db)
    if not options.file.is_file():
        read_file(options.file)  # says why
    restored = restore_backup(options.file, path, file_name=options.file.name, replace=options.replace)
    print(
        f"Restored {path} from the backup of {restored.created_utc} (Assay {restored.app_version}); "
        f"studies: {', '.join(restored.studies) or 'none'}.\n"
        "All data and personal links are as they were at that time."
    )
    if restored.left_out:
        numbers = ", ".join(map(str, restored.left_out))
        print(f"Without the tables of runs {numbers}: they were left out of the backup.")
    print_notes(left_out_notes(restored.files_left_out))
    if restored.kept is not None:
        print(f"The previous database was kept as {restored.kept}")
    if restored.folders_kept is not None:
        print(f"The tables of its runs were kept as {restored.folders_kept}")


def add_to(nouns: Commands) -> None:
    """Register `study` and its verbs."""
    noun = nouns.add_parser("study")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB", action=Later)
    # Registered lazily: its help computes an example with scipy.
    later(
        verbs,
        {"import": "create a study from a data set, or restore one from a bundle"},
        lambda _: _add_import,
    )
    later(
        verbs,
        {"import-ratings": "create a study in which people score texts and mark errors"},
        _exports_verbs,
    )
    _add_votes(verbs)
    _add_states(verbs)
    add_reading_verb(verbs, "list", "list all studies", _list)
    _add_conduct(verbs)
    later(
        verbs,
        {
            "export": "export answers as CSV, JSONL or Factual's JSON, or the whole study as a bundle",
        },
        _exports_verbs,
    )
    add_analyses(verbs, "study")
    _add_backup(verbs)


def _exports_verbs(_verb: str) -> Callable[[Commands], None]:
    from core.cli.study.exports import add_to as verbs_of_exports  # imported lazily: loads statistics

    return verbs_of_exports


def _add_import(verbs: Commands) -> None:
    command = verbs.add_parser("import", epilog=f"Margin. {margin_note(0.1)}")
    command.add_argument(
        "file",
        type=Path,
        help="a table with the answers of two systems in any layout (CSV, XLSX, JSON, JSONL, Parquet), Factual's JSON, or a "
        "bundle (.zip)",
    )
    command.add_argument(
        "--beside",
        type=Path,
        metavar="FILE",
        help="if each file has one system: the other system's answers to the same questions",
    )
    command.add_argument(
        "--shared-only", action="store_true", help="with --beside: skip questions that are in only one file"
    )
    command.add_argument(
        "--name", help="name of the study (default: the file's name, or the name in the bundle)"
    )
    command.add_argument(
        "--systems",
        metavar="A,B",
        help="the two systems to compare without a candidate, if the file has more",
    )
    add_settings(command, PairDesign)
    command.add_argument(
        "--columns",
        metavar="NAME=COLUMN,...",
        help="what the columns mean, where it was understood wrongly: question=Asked,text=Answer A,text=Answer B. Names: "
        "item_id, question, reference, language, level, system, text; several of text are answers side by side",
    )
    command.add_argument(
        "--vote",
        action="append",
        default=[],
        metavar="COLUMN[=first:WORD,...]",
        help="a column of votes beside the answers, which makes a study with results: label=first:0,second:1,tie:2. Also "
        "both_good and both_bad. Words such as model_a, left or tie need no explanation. Once for each column",
    )
    command.add_argument(
        "--repeated-votes",
        choices=get_args(Repeated),
        default="refuse",
        help="which vote counts where a rater voted on a pair several times and differently (default %(default)s)",
    )
    command.add_argument(
        "--no-answer",
        choices=["show", "leave-out"],
        default="show",
        help="empty answers: raters read that there is none, or the pair is left out (default %(default)s)",
    )
    command.add_argument(
        "--skip-broken", action="store_true", help="leave out questions with broken rows, and list the rows"
    )
    command.add_argument("--again", action="store_true", help="import a file again that was imported before")
    add_database_option(command)
    command.set_defaults(run=_import)


def _add(verbs: Commands, verb: str, run: Any, text: str) -> argparse.ArgumentParser:
    command = verbs.add_parser(verb, help=text)
    command.add_argument("name", metavar="NAME", help="name of the study")
    add_database_option(command)
    command.set_defaults(run=run)
    return command


def _add_votes(verbs: Commands) -> None:
    command = _add(verbs, "votes", _votes, "import Factual's votes JSON under a rater's name")
    command.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="votes: JSON, question id -> level -> AI, Expert, Both are good or Both are bad",
    )
    command.add_argument("--rater", required=True, help="pseudonym of the person who voted")


def _add_states(verbs: Commands) -> None:
    states: tuple[tuple[str, State, str], ...] = (
        ("open", "open", "let raters answer"),
        ("close", "closed", "stop accepting answers"),
        ("unblind", "unblinded", "end a closed study for good and release its results"),
    )
    for verb, state, text in states:
        command = _add(verbs, verb, _move, text)
        command.add_argument(
            "--reason", default="", help="saved in the study's log", required=verb == "unblind"
        )
        command.set_defaults(state=state)


def _import(options: argparse.Namespace) -> None:
    data = read_file(options.file)
    if not is_bundle(data):
        asked = PairDesign.checked(settings_given(options, PairDesign), "Invalid design")
    with open_store(database_path(options.db)) as store:
        if is_bundle(data):
            study = _restore_command(store, data, options)
        else:
            from core.study.audit import audit_note, audit_study  # imported lazily: loads statistics

            dataset, votes = _dataset(data, options, asked)
            _print_read_as(dataset.read_as)
            study = _import_dataset(store, dataset, votes, options, asked)
            audited = None if dataset.plain else audit_note(audit_study(store, study))
            seen = lifecycle.say_shown(study.design, (one.text for one in dataset.outputs))
            notes = [*dataset.notes, verbatim_note(dataset), audited, seen]
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
    if study.state == "unblinded":
        print(f"Next: `{COMMAND} study results {shlex.quote(study.name)}`")


def _print_read_as(lines: Sequence[str]) -> None:
    """What was understood of a table, before anything is done with it."""
    if lines:
        print("Read as (change it with --columns):")
    for line in lines:
        print(f"  {line}{' (import them with --vote)' if line.endswith(NOT_IMPORTED) else ''}", flush=True)


def _reading(options: argparse.Namespace, columns: Mapping[str, tuple[str, ...]]) -> Reading:
    return Reading(columns, "show" if options.no_answer == "show" else "leave_out", options.skip_broken)


def _dataset(
    data: bytes, options: argparse.Namespace, pair_design: PairDesign
) -> tuple[Dataset, TableVotes | None]:
    """The file's data set, or that of two files with one system each, and the votes in the file."""
    name = options.file.name
    columns = parse_answer_columns(options.columns)
    reading = _reading(options, columns)
    named = _two_systems(options, pair_design)
    if options.beside is not None:
        if options.vote:
            raise InputError("--vote is for a file with both systems' answers. Leave it out with --beside.")
        beside = read_file(options.beside)
        there = {
            ours: theirs
            for ours, theirs in columns.items()
            if columns_there(beside, options.beside.name, {ours: theirs[0]})
        }
        first = read_answers(data, name, reading=reading)
        other = read_answers(
            beside, options.beside.name, beside=first.source, reading=_reading(options, there)
        )
        return place_beside(first, other, shared_only=options.shared_only), None
    if options.shared_only:
        raise InputError("--shared-only needs a second file: name it with --beside.")
    two = tuple(filter(None, dict.fromkeys((pair_design.candidate, pair_design.comparator))))
    systems = two if len(two) == 2 else named
    try:
        dataset = read_dataset(data, name, systems, reading)
    except InputError as refused:
        if hint := one_source_hint(data, name, reading):
            raise hint from None
        if left := broken_hint(data, name, systems, reading):
            more = f"Mend the file, or leave out the questions with broken rows by --skip-broken: {left} would remain."
            raise InputError(f"{refused.what}. {more}", refused.found) from None
        raise
    if not options.vote:
        return dataset, None
    votes = votes_in(
        data, name, dataset, reading, [parse_vote(one) for one in options.vote], options.repeated_votes
    )
    return note_votes(dataset, votes), votes


def _two_systems(options: argparse.Namespace, pair_design: PairDesign) -> tuple[str, ...]:
    """The systems that --systems names; none without it. Raises InputError where a candidate or comparator is another one."""
    if options.systems is None:
        return ()
    systems = tuple(filter(None, map(str.strip, options.systems.split(","))))
    if len(set(systems)) != 2:
        raise InputError(
            f"--systems: {shown(options.systems)} does not name two systems. Write --systems A,B."
        )
    others = [one for one in ("candidate", "comparator") if getattr(pair_design, one) not in (None, *systems)]
    if others:
        raise InputError(
            "Contradicting systems",
            [
                f"--{one}: {shown(getattr(pair_design, one))} is not among --systems {options.systems}"
                for one in others
            ],
        )
    return systems


def _import_dataset(
    store: Store,
    dataset: Dataset,
    votes: TableVotes | None,
    options: argparse.Namespace,
    pair_design: PairDesign,
) -> Study:
    for system in _two_systems(options, pair_design):
        if not any(same_name(system) == same_name(one) for one in dataset.sources):
            has = " and ".join(dataset.sources)
            raise InputError(f"--systems: the data set has no system {shown(system)}; it has {has}.")
    if dataset.plain and pair_design.level_order == "shuffled":
        raise InputError("--levels-order: these pairs have no levels. Leave it out.")
    if pair_design.main_levels is not None:
        named = fields_of(PairDesign)["main_levels"].typed(pair_design.main_levels)
        pair_design = pair_design.but(main_levels=level_list(dataset.levels, named, "--main-levels"))
    design = lifecycle.new_design(dataset, pair_design)
    name = options.name if options.name is not None else options.file.stem
    if votes is not None:
        return lifecycle.import_voted_study(store, name, dataset, design, votes, again=options.again)
    return lifecycle.import_study(store, name, dataset, design, again=options.again)


def _restore_command(store: Store, data: bytes, options: argparse.Namespace) -> Study:
    if settings_given(options, PairDesign):
        raise InputError(
            f"{options.file.name} is a bundle with its own design. Leave out all design options."
        )
    if (
        options.beside is not None
        or options.shared_only
        or options.columns
        or options.vote
        or options.systems
    ):
        raise InputError(
            f"{options.file.name} is a bundle with a whole study. Leave out --beside, --shared-only, --columns, --vote and "
            "--systems."
        )
    record = read_bundle(data, options.file.name)
    return lifecycle.restore_study(store, record, name=options.name)


def _votes(options: argparse.Namespace) -> None:
    data = read_file(options.file)
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        count = raters.import_votes_file(store, study, options.rater, data, options.file.name)
        ended = study.state != "unblinded" and get_study(store, study.study_id).state == "unblinded"
    print(f"Imported {count} votes of {options.rater!r} into {study.name!r}, with side and time unknown.")
    if ended:
        print(
            "Every vote of this study was imported, so it is now unblinded and nobody can rate in it by link."
        )


def _move(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = lifecycle.move(store, find_study(store, options.name), options.state, options.reason)
        shortage = describe_shortage(raters.study_workload(store, study), study)
        voted = any(line.done for line in list_progress(store, study))
    print(f"Study {study.name!r} is {study.state}.")
    if shortage:
        print(f"Note: {shortage}")
    if study.has_ended and not voted:
        print("Note: no rater has answered in this study.")
    if study.state == "unblinded":
        print(f"Next: `{COMMAND} study results {shlex.quote(study.name)}`")


def _list(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        studies = list_studies(store)
    print_result(options, [asdict(study) for study in studies], _print_list, studies)


def _print_list(studies: Sequence[Study]) -> None:
    if not studies:
        print(f"No studies yet. Create one with `{COMMAND} study import FILE`.")
    for study in studies:
        print(f"{study.name}\t{study.state}\t{_what_is_asked(study)}")


def _what_is_asked(study: Study) -> str:
    if study.task is not None:
        return f"ratings: {study.task.title}"
    return f"{study.design.candidate} against {study.design.comparator}"


def _add_conduct(verbs: Commands) -> None:
    _add_links(verbs)
    command = _add(verbs, "progress", _progress, "show each rater's progress, without revealing systems")
    add_json_option(command)
    command = _add(
        verbs, "remind", _remind, "print a message, ready to send, for each rater with something left to do"
    )
    add_url_option(command)
    command = _add(verbs, "exclude", _exclude, "exclude a rater from the analysis; the answers are kept")
    command.add_argument("rater", metavar="RATER", help="pseudonym of the rater")
    command.add_argument("--reason", required=True, help="saved in the log and the exports")
    command = _add(verbs, "include", _include, "count an excluded rater's answers again")
    command.add_argument("rater", metavar="RATER", help="pseudonym of the rater")
    command = _add(verbs, "withdraw", _withdraw, "permanently delete a rater's comments and pseudonym")
    command.add_argument("rater", metavar="RATER", help="pseudonym of the rater")
    command.add_argument(
        "--votes",
        choices=["keep", "drop"],
        required=True,
        help="keep: votes still count; drop: exclude them from the analysis",
    )
    command = _add(verbs, "wording", _wording, "print or set consent text and button labels in one language")
    command.add_argument("--language", default="en", help="BCP 47 language tag (default %(default)s)")
    command.add_argument(
        "--file", type=Path, help="JSON object of texts to set; {} restores the shipped texts"
    )
    command = _add(verbs, "log", _log, "print everything that owners did to the study")
    add_json_option(command)


def _add_links(verbs: Commands) -> None:
    command = _add(verbs, "links", _links, "print, add, revoke or re-issue raters' personal links")
    command.add_argument("--add", metavar="R1,R2", help="add raters and print their links")
    command.add_argument("--language", help="language of the guidelines for the added raters")
    command.add_argument("--revoke", metavar="R", help="revoke a rater's link; the answers are kept")
    command.add_argument("--reissue", metavar="R", help="give a rater a new link; the old one stops working")
    add_url_option(command)


def _links(options: argparse.Namespace) -> None:
    note = None
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        with store.writing():  # all changes in one transaction
            if options.revoke:
                raters.revoke_link(store, study, options.revoke)
            if options.reissue:
                raters.reissue_link(store, study, options.reissue)
            if options.add is not None:
                ids = [part.strip() for part in options.add.split(",")]
                raters.add_raters(store, study, ids, language=options.language)
                note = raters.telling_ids(store, study, ids)
        if options.revoke:
            print(f"The link of {options.revoke!r} no longer works.")
        for link in raters.links(store, study):
            print(f"{link.rater_id}\t{link.url(address_of(store, options.url))}")
        if study.state == "draft":
            print(
                f"Draft: open the study to let raters in (`{COMMAND} study open {shlex.quote(study.name)}`)."
            )
        if note is not None:
            print(f"Note: {note}")


def _progress(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        lines = list_progress(store, study)
        reached = [] if options.json else _reached(store, study)
    print_result(options, [asdict(line) for line in lines], _print_progress, lines, study.kind, reached)


def _reached(store: Store, study: Study) -> Sequence[str]:
    """What a study of pairs has reached, from counts alone; nothing before it is open or once results are released."""
    if study.kind != "pairs" or study.state not in ("open", "closed"):
        return []
    from core.analyses.plan import reached_by, reached_said
    from core.sources.studies import standing_of  # imported lazily: loads statistics

    return reached_said(reached_by(standing_of(store, study)))


def _print_progress(lines: Sequence[ListProgress], kind: StudyKind, reached: Sequence[str]) -> None:
    """Print one line per rater and what the study has reached, without revealing systems."""
    own = ("left", "both good") if kind == "pairs" else ("with errors", "errors")
    print(
        *("rater", "kind", "done", "skipped", "flagged", "first s", "visible s"),
        *(*own, "repeats same", "last answer"),
        "check",
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
            *(
                "-" if seconds is None else f"{seconds:.1f}"
                for seconds in (line.median_seconds_first, line.median_seconds_visible)
            ),
            *_own_cells(line),
            f"{line.repeats_same}/{line.repeats}" if line.repeats else "-",
            line.last_utc or "-",
            "; ".join(notes) or "-",
            sep="\t",
        )
    print(*([""] if reached else []), *reached, sep="\n", end="\n" if reached else "")


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
        print("No rater has open work.")


def _exclude(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        lifecycle.exclude_rater(store, find_study(store, options.name), options.rater, options.reason)
    print(f"The answers of {options.rater!r} no longer count. They are kept.")


def _include(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        lifecycle.include_rater(store, find_study(store, options.name), options.rater)
    print(f"The answers of {options.rater!r} count again.")


def _withdraw(options: argparse.Namespace) -> None:
    keep = options.votes == "keep"
    with existing_store(options.db) as store:
        new = lifecycle.withdraw_rater(store, find_study(store, options.name), options.rater, keep_votes=keep)
    votes = "count" if keep else "do not count"
    print(f"Deleted comments and pseudonym of {options.rater!r}. The votes are kept as {new!r} and {votes}.")
    print("Earlier backups, copies and exports still contain the deleted data.")


def _wording(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        if options.file is not None:
            lifecycle.set_wording(store, study, options.language, _texts(options.file))
        texts = wording_read(store, study, options.language)
    print(json_text(texts))


def _texts(path: Path) -> dict[str, str]:
    try:
        content = read_file(path)
        Drawing(str(path)).draw_json(content)
        texts = json.loads(content)
    except ValueError as problem:
        raise InputError(f"{path} is not valid JSON ({problem}).") from problem
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InputError(f'{path}: expected a JSON object of texts, e.g. {{"left": "Links"}}.')
    return texts


def _log(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        entries = read_log(store, find_study(store, options.name).study_id)
    print_result(options, [asdict(entry) for entry in entries], _print_log, entries)


def _print_log(entries: Sequence[LogEntry]) -> None:
    for entry in entries:
        print("\t".join((entry.at_utc, entry.action, entry.rater_id or "-", entry.detail or "-")))
