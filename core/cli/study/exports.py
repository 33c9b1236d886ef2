"""`study import-ratings` and `export`."""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_database_option,
    add_excel_option,
    add_pair_option,
    check_not_the_database,
    check_options,
    existing_database,
    make_folder,
    print_notes,
)
from core.cli.shared.setting_options import add_settings, settings_given
from core.cli.shared.sources import check_database, texts_given
from core.errors import InputError
from core.formats.registry import read_texts
from core.formats.tasks import find_task
from core.schema.designs import RatingDesign
from core.schema.study import Asks, Study, StudyRecord
from core.sources.named import NAMES
from core.store import database_path, open_store
from core.store.studies import find_study, items_of, outputs_of, write_log
from core.study import lifecycle
from core.study.analysis_set import released_record
from core.study.bundle import write_bundle
from core.study.export import (
    answers_csv,
    answers_jsonl,
    guesses_csv,
    mqm_tsv,
    paper_files,
    rated_jsonl,
    ratings_csv,
    ratings_jsonl,
    spans_csv,
)
from core.study.lifecycle import import_rating_study
from core.tables.files import write_file
from core.tables.writer import excel_csv

RATING_WRITERS: Mapping[str, Callable[[StudyRecord], bytes]] = {
    "csv": ratings_csv,
    "jsonl": ratings_jsonl,
    "spans": spans_csv,
    "rated": rated_jsonl,
    "mqm": mqm_tsv,
}
"""Format -> function that writes a rating study."""


def add_to(verbs: Commands) -> None:
    """Register `import-ratings` and `export`."""
    _add_import_ratings(verbs)
    _add_export(verbs)


def _add_import_ratings(verbs: Commands) -> None:
    """Register `study import-ratings`."""
    command = verbs.add_parser("import-ratings")
    command.add_argument("texts", metavar=NAMES, help="file with texts of any number of systems")
    command.add_argument(
        "--task",
        required=True,
        metavar="NAME|FILE",
        help="task for every text: mqm, direct, ... or a YAML file",
    )
    command.add_argument("--name", help="name of the study (default: the file's name)")
    add_settings(command, RatingDesign)
    add_pair_option(command)
    add_columns_option(command)
    command.add_argument("--again", action="store_true", help="import texts again that were imported before")
    add_database_option(command)
    command.set_defaults(run=_import)


def _import(options: argparse.Namespace) -> None:
    task = find_task(options.task)
    asked = RatingDesign.checked(settings_given(options, RatingDesign), "Invalid design")
    check_database(options.texts, options.db)
    with open_store(database_path(options.db)) as store:
        data, file_name = texts_given(store, options.texts, options)
        outputs = read_texts(data, file_name)
        design = lifecycle.new_rating_design(asked, outputs, task)
        name = options.name if options.name is not None else Path(file_name).stem
        study, notes = import_rating_study(store, name, outputs, task, design, again=options.again)
        n_items, n_texts = len(items_of(store, study.study_id)), len(outputs_of(store, study.study_id))
    print_notes(notes)
    print(
        f"Study {study.name!r}: {n_texts} texts of {n_items} items, task {task.name} ({task.title}); {study.state}.\n"
        f"{lifecycle.describe_design(study.design)}"
    )
    print_notes(filter(None, [lifecycle.say_shown(study.design, (one.text for one in outputs.outputs))]))


_PAIR_WRITERS = {"csv": answers_csv, "jsonl": answers_jsonl, "guesses": guesses_csv}
_FORMATS: dict[Asks, Mapping[str, Callable[[StudyRecord], bytes]]] = {
    "levels": {**_PAIR_WRITERS, "bundle": write_bundle},
    "preference": {**_PAIR_WRITERS, "bundle": write_bundle},
    "ratings": {**RATING_WRITERS, "bundle": write_bundle},
}
_PAPER = "paper"
"""Format of pairs that gives one file per rater."""


def _add_export(verbs: Commands) -> None:
    """Register `study export`."""
    command = verbs.add_parser("export")
    command.add_argument("name", metavar="NAME", help="name of the study")
    formats = dict.fromkeys((*_FORMATS["levels"], _PAPER, *_FORMATS["ratings"]))
    command.add_argument(
        "--format",
        choices=list(formats),
        required=True,
        help="guesses and paper (Factual's votes JSON) are for pairs; spans, rated and mqm for ratings",
    )
    command.add_argument(
        "--out",
        type=Path,
        required=True,
        help="file to write; a folder for --format paper with several raters",
    )
    command.add_argument(
        "--texts",
        action="store_true",
        help="for pairs, in csv and jsonl: also the two answers, as candidate_text and comparator_text",
    )
    add_excel_option(command)
    add_database_option(command)
    command.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    path = existing_database(options.db)
    check_not_the_database(options.out, path)
    with open_store(path) as store:
        study = find_study(store, options.name)
        _check_format(study, options.format)
        check_options(_export_problems(options, study))
        record = released_record(store, study)
        if options.format == _PAPER:
            written = _export_paper(record, options.out)
        else:
            data = _content(record, options)
            write_file(options.out, excel_csv(data) if options.excel else data)
            written = [options.out]
        write_log(
            store, study.study_id, "exported", options.format
        )  # after writing, so that a refused export is not logged
    for path in written:
        print(path)


_WITH_TEXTS: Mapping[str, Callable[[StudyRecord], bytes]] = {
    "csv": partial(answers_csv, texts=True),
    "jsonl": partial(answers_jsonl, texts=True),
}


def _content(record: StudyRecord, options: argparse.Namespace) -> bytes:
    """The file to write, in the format that was chosen."""
    formats = _WITH_TEXTS if options.texts else _FORMATS[record.study.asks]
    return formats[options.format](record)


_NO_CSV = ("jsonl", "bundle", "rated", "mqm", _PAPER)
"""Formats that are no CSV."""


def _export_problems(options: argparse.Namespace, study: Study) -> list[str]:
    """Return the problems of the options that only some formats have."""
    problems = []
    if options.texts and (study.asks == "ratings" or options.format not in _WITH_TEXTS):
        problems.append("--texts: only for the formats csv and jsonl of a study of pairs; leave it out")
    if options.excel and options.format in _NO_CSV:
        problems.append(f"--excel: the format {options.format} is no CSV; leave it out")
    return problems


def _check_format(study: Study, wanted: str) -> None:
    offered = [*_FORMATS[study.asks], *([_PAPER] if study.asks == "levels" else [])]
    if wanted not in offered:
        raise InputError(
            f"--format {wanted}: not available for study {study.name!r}. Possible formats: "
            f"{', '.join(offered)}."
        )


def _export_paper(record: StudyRecord, out: Path) -> list[Path]:
    """Write one file for one rater, or a folder with one file per rater."""
    files = paper_files(record)
    if not files:
        raise InputError(f"Study {record.study.name!r} has no answers to export.")
    if len(files) == 1 and not out.is_dir():
        write_file(out, next(iter(files.values())))
        return [out]
    if out.is_file():
        raise InputError(f"{len(files)} raters need {len(files)} files: name a folder, not the file {out}.")
    make_folder(out)
    for name, content in files.items():
        write_file(out / name, content)
    return [out / name for name in files]
