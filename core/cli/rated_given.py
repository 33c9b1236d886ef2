"""Texts that a command is given together with what people said of them: in one place, or ratings apart."""

import argparse
from pathlib import Path

from core.cli.options import read_file, run_number
from core.cli.texts_given import (
    STUDY,
    TEXTS_FILE,
    check_given,
    check_no_run,
    find_given_study,
    read_given,
)
from core.datasets.task_files import find_task
from core.errors import InputError
from core.runs.rated_plan import USUAL_TASKS, suits
from core.runs.rated_sources import (
    rated_of_folder,
    rated_of_study,
    rated_of_texts,
    ratings_of_folder,
    read_apart,
)
from core.runs.score_sources import Texts
from core.schema import RatedKind
from core.schema.scores import OutputSet, RatingSet
from core.schema.tasks import RatingTask
from core.store import Store, database_path, open_store


def add_ratings(command: argparse.ArgumentParser, *, of_errors: bool = False) -> None:
    """`--ratings`, and `--flip` where scores are read. of_errors: errors are, which have their direction."""
    command.set_defaults(flip="")
    command.add_argument(
        "--ratings",
        action="append",
        default=[],
        metavar="PATH|NAME",
        help="ratings of the texts, where they stand apart: a file of errors or scores, or the name of a folder's (mqm); may "
        "be repeated",
    )
    if not of_errors:
        command.add_argument(
            "--flip",
            default="",
            metavar="D,D",
            help="dimensions in which 1 is bad, of ratings in METAL's JSON, such as H,PC",
        )


def task_given(options: argparse.Namespace, kind: RatedKind) -> RatingTask:
    """The task that is named, else what the raters of a study were asked where this judge can be, else the usual one.

    Raises InputError, and NotFound for a study that is not there.
    """
    if options.task is not None:
        return find_task(options.task)
    check_given(options.texts, options.db)
    if options.texts.startswith(STUDY):
        with open_store(database_path(options.db)) as store:
            study = find_given_study(store, options.texts)
        own = None if study is None else study.task
        if own is not None and suits(kind, own, options.dimension if kind == "direct" else ""):
            return own
    return find_task(USUAL_TASKS[kind])


def rated_given(store: Store, options: argparse.Namespace, kind: RatedKind) -> Texts:
    """The texts with their ratings as a file with its name; what is to be known of them is printed. Raises InputError."""
    given, pair = options.texts, options.language_pair
    flip = tuple(name.strip() for name in options.flip.split(",") if name.strip())
    paths = [Path(name) for name in options.ratings if Path(name).exists()]
    if flip and not paths:
        raise InputError("--flip: turns dimensions of a file that --ratings names; leave it out.")

    def apart(texts: OutputSet) -> list[RatingSet]:
        return [
            ratings_of_folder(path, pair)
            if path.is_dir()
            else read_apart(kind, read_file(path), path.name, texts, flip)
            for path in paths
        ]

    if run_number(given) is None and Path(given).is_dir():
        check_no_run(Path(given), TEXTS_FILE)
        names = [name for name in options.ratings if not Path(name).exists()]
        return _noted(*rated_of_folder(Path(given), pair, names, apart if paths else None))
    for name in options.ratings:
        if not Path(name).exists():
            read_file(Path(name))  # says why it cannot be read
    study = find_given_study(store, given)
    texts = read_given(store, given, pair) if study is None else rated_of_study(store, study)
    return _noted(*rated_of_texts(*texts, apart)) if paths else texts


def _noted(texts: Texts, notes: tuple[str, ...]) -> Texts:
    for note in notes:
        print(f"Note: {note}")
    return texts
