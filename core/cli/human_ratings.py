"""Ratings by people that a command names: a file in any form, or a rating study of the app."""

import argparse
from pathlib import Path

from core.cli.options import add_database_option, add_pair_option, existing_store, name_list, read_file
from core.cli.texts_given import STUDY
from core.datasets.any_ratings import holds_metal, read_any_ratings
from core.datasets.folder_ratings import ratings_among
from core.datasets.metal import read_metal
from core.datasets.mt_metrics_eval import read_folder
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import RatingSet, ScoreTable
from core.schema.tasks import RatingTask
from core.store.studies import find_study
from core.study.rating_results import rating_set_of, task_of
from core.study.release import released_record

HUMAN_NAMES = "CSV, JSONL, MQM TSV, rated texts (JSONL), METAL's JSON, a folder, or study:NAME"


def add_human_options(command: argparse.ArgumentParser) -> None:
    """How the file is read."""
    command.add_argument("--lower-is-better", action="store_true", help="ratings count what is wrong")
    command.add_argument(
        "--flip", metavar="D,...", help="of METAL's JSON: dimensions in which 1 is bad there"
    )
    add_pair_option(command)
    add_database_option(command)


def human_ratings(given: str, options: argparse.Namespace) -> tuple[RatingSet, RatingTask | None]:
    """The ratings, and of a study what it asked. Raises InputError, and NotAllowed for one that is not unblinded yet."""
    if given.startswith(STUDY):
        with existing_store(options.db) as store:
            record = released_record(store, find_study(store, given.removeprefix(STUDY)))
        return rating_set_of(record), task_of(record)
    path = Path(given)
    if path.is_dir():
        return _of_folder(path, options), None
    found = read_any_ratings(
        read_file(path),
        path.name,
        lower_is_better=options.lower_is_better,
        flip=name_list(options.flip) or (),
    )
    return found, None


def _of_folder(path: Path, options: argparse.Namespace) -> RatingSet:
    """The usual ratings of a folder in the form of mt-metrics-eval. Raises InputError where it holds none."""
    if options.lower_is_better:
        raise InputError("--lower-is-better: the ratings of a folder have their direction; leave it out.")
    return ratings_among(read_folder(path, language_pair=options.language_pair).ratings, None, None)


def metal_scores(given: str, options: argparse.Namespace) -> ScoreTable | None:
    """What evaluators said in METAL's JSON; None: the name is something else. Raises InputError where none did."""
    path = Path(given)
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    data = read_file(path)
    if not holds_metal(data, path.name):
        return None
    found = read_metal(data, path.name, flip=name_list(options.flip) or ()).evaluators
    if found is None:
        raise InputError(
            f"{shown(path.name)} holds no scores of an evaluator: name a table of scores or a run."
        )
    return found
