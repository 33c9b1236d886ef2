"""Texts that a command is given: a file, a folder, what a run made, an unblinded study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.options import existing_database, print_notes, read_file, run_number
from core.errors import InputError
from core.schema import RUN_FILE, Study
from core.store import Store
from core.store.studies import find_study

if TYPE_CHECKING:
    from core.runs.texts import Texts

NAMES = "FILE|FOLDER|run:N|study:NAME"
"""What may be given, for the help of a command."""
MEANING = "texts: CSV, JSONL or JSON, an mt-metrics-eval folder, what run N generated, an unblinded study"
TEXTS_FILE, SCORES_FILE = "outputs.csv", "scores.csv"
"""In the folder of a run that made texts, and of one in which a judge scored them."""
STUDY = "study:"


def check_no_run(folder: Path, wanted: str) -> None:
    """Raise InputError where the folder is what a run wrote: of its files, the one to be read is named.

    wanted: name of that file.
    """
    if not (folder / RUN_FILE).is_file():
        return
    if (folder / wanted).is_file():
        raise InputError(f"{folder} is the folder of a run: name its {wanted}, {folder / wanted}.")
    raise InputError(
        f"{folder} is the folder of a run that wrote no {wanted}: name a run's that did, or a file."
    )


def check_given(given: str, database: str | None) -> None:
    """Raise InputError where a run or a study is asked for and there is no database that could hold it."""
    if run_number(given) is not None or given.startswith(STUDY):
        existing_database(database)


def read_given(store: Store, given: str, language_pair: str | None = None) -> Texts:
    """The texts as a file with its name; what a folder's reader notes is printed. Raises InputError.

    language_pair: of a folder that has several; anything else has none to choose.
    """
    path = Path(given)
    if run_number(given) is None and not given.startswith(STUDY) and not path.is_dir():
        if language_pair is not None:
            raise InputError(f"--language-pair: {given} is no folder; leave it out.")
        return read_file(path), path.name
    # Imported late: all that a study is made of, and scipy with it, takes a second to load.
    from core.runs.generation import texts_of_run
    from core.runs.path import at_hand
    from core.runs.texts import texts_of_folder, texts_of_study

    if (number := run_number(given)) is not None:
        return texts_of_run(at_hand(store, number))
    if (study := find_given_study(store, given)) is not None:
        return texts_of_study(store, study)
    check_no_run(path, TEXTS_FILE)
    texts, notes = texts_of_folder(path, language_pair)
    print_notes(notes)
    return texts


def find_given_study(store: Store, given: str) -> Study | None:
    """The study that is named; None where none is. Raises NotFound for one that is not there."""
    return find_study(store, given.removeprefix(STUDY)) if given.startswith(STUDY) else None
