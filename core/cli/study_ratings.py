"""`study import-ratings`, and what progress, results and export print of studies in which texts are rated one by one."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from core.analysis.verdict_words import reasons
from core.cli.aligned import with_interval
from core.cli.options import Commands, add_database_option, add_pair_option, print_notes, print_result
from core.cli.texts_given import NAMES, check_given, read_given
from core.datasets.scorable import read_outputs
from core.datasets.task_files import find_task
from core.errors import InputError
from core.schema import Design, StudyRecord
from core.store import database_path, open_store
from core.store.studies import items_of, outputs_of
from core.study import lifecycle
from core.study.rating_export import mqm_tsv, rated_jsonl, ratings_csv, ratings_jsonl, spans_csv
from core.study.rating_import import import_rating_study
from core.study.rating_results import Counted, counted, task_of
from core.study.rating_totals import Consistency, SystemTotal, consistency, system_totals

RATING_WRITERS: Mapping[str, Callable[[StudyRecord], bytes]] = {
    "csv": ratings_csv,
    "jsonl": ratings_jsonl,
    "spans": spans_csv,
    "rated": rated_jsonl,
    "mqm": mqm_tsv,
}
"""Format -> what a rating study is written by."""


def add_import_ratings(verbs: Commands) -> None:
    """Register `study import-ratings`."""
    command = verbs.add_parser(
        "import-ratings", help="make a study in which people score texts and mark errors in them"
    )
    command.add_argument("texts", metavar=NAMES, help="texts of any number of systems")
    command.add_argument(
        "--task",
        required=True,
        metavar="NAME|FILE",
        help="what is asked of every text: mqm, direct, ... or YAML",
    )
    command.add_argument("--name", help="name of the study (default: the file's)")
    command.add_argument(
        "--raters-per-item",
        type=int,
        metavar="N",
        help="raters of each item and all its texts (default: all raters rate all)",
    )
    command.add_argument("--max-items", type=int, metavar="N", help="most items one rater gets")
    command.add_argument("--seed", type=int, help="of every draw (default: a new one)")
    command.add_argument("--repeats", type=float, help="share of hidden repeats, 0 to 0.5 (default 0.05)")
    add_pair_option(command)
    command.add_argument("--again", action="store_true", help="import texts that are here already once more")
    add_database_option(command)
    command.set_defaults(run=_import)


def _import(options: argparse.Namespace) -> None:
    task = find_task(options.task)
    given = {
        "seed": options.seed,
        "repeat_share": options.repeats,
        "votes_per_pair": options.raters_per_item,
        "max_questions": options.max_items,
    }
    kept = {name: value for name, value in given.items() if value is not None}
    design = Design(
        **{"seed": lifecycle.new_seed(), **kept, "candidate": "", "comparator": "", "blinding_pairs": 0}
    )
    check_given(options.texts, options.db)
    with open_store(database_path(options.db)) as store:
        data, file_name = read_given(store, options.texts, options.language_pair)
        outputs = read_outputs(data, file_name)
        name = options.name if options.name is not None else Path(file_name).stem
        study, notes = import_rating_study(store, name, outputs, task, design, again=options.again)
        n_items, n_texts = len(items_of(store, study.study_id)), len(outputs_of(store, study.study_id))
    print_notes(notes)
    print(
        f"Study {study.name!r}: {n_texts} texts of {n_items} items, task {task.name} ({task.title}); {study.state}.\n"
        f"{lifecycle.describe_design(study.design)}"
    )


def check_no_filters(options: argparse.Namespace) -> None:
    """Raise InputError for the filters that only studies of pairs have."""
    filters = ("levels", "raters", "questions", "languages")
    if given := [f"--{name}" for name in filters if getattr(options, name) is not None]:
        raise InputError(
            f"{', '.join(given)}: of a study of ratings all is shown; leave {'it' if len(given) == 1 else 'them'} out. "
            "To look at a part, export the ratings."
        )


def print_rating_results(record: StudyRecord, options: argparse.Namespace) -> None:
    """Totals by system, level and dimension; raters against themselves; what is left out."""
    found = counted(record)
    totals, repeats = system_totals(record, n_resamples=options.resamples), consistency(record)
    as_json = {
        "study": record.study.name,
        "state": record.study.state,
        "task": task_of(record).name,
        "dataset_sha256": record.study.dataset_sha256,
        "n_answers": len(found.answers),
        "left_out": dict(found.left_out),
        "totals": [asdict(total) for total in totals],
        "consistency": [asdict(line) for line in repeats],
    }
    print_result(options, as_json, _print_results, record, found, totals, repeats)


def _print_results(
    record: StudyRecord, found: Counted, totals: Sequence[SystemTotal], repeats: Sequence[Consistency]
) -> None:
    print(f"Study {record.study.name!r} ({record.study.state}): {task_of(record).title}")
    raters = sorted({answer.rater_id for answer in found.answers})
    print(
        f"Raters: {', '.join(raters) or 'none'}; texts done: {len(found.answers)}; left out: {reasons(found.left_out)}\n"
    )
    print("system\tlevel\tdimension\tmean over texts\ttexts\tunrated\tratings\terrors a rating")
    for total in totals:
        errors = "-" if total.errors_per_rating is None else f"{total.errors_per_rating:.2f}"
        mean, counts = with_interval(total.mean, 4), (total.n_texts, total.n_unrated, total.n_ratings)
        print(total.system, total.level or "-", total.dimension, mean, *counts, errors, sep="\t")
    for line in repeats:
        if line.mean_difference is not None:
            print(
                f"Repeats of {line.rater}, {line.dimension}: {line.n_same} of {line.n} the same, "
                f"mean difference {line.mean_difference:.4g}"
            )
