"""Judges that a command looks at: folders that `judge` wrote, or runs in the database."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from core.analysis.judge_costs import JudgeCost
from core.cli.options import existing_database, read_file, run_number
from core.cli.score_sources import open_scores
from core.cli.texts_given import SCORES_FILE
from core.datasets.judge_records import read_answer_folder, read_judge_folder, read_report
from core.datasets.reading import shown
from core.datasets.score_tables import read_scores
from core.errors import AssayError, InputError, Problems
from core.runs.judge_costs import cost_of_folder, cost_of_run
from core.runs.judge_results import answer_set, judge_output
from core.runs.report import IDENTITY, RUN_FILE, identity_of
from core.schema import Run
from core.schema.judges import AnswerSet, JudgeOutput
from core.schema.scores import ScoreTable
from core.store import Store, open_store
from core.store.runs import get_run

NAMES = "DIR|run:N"
"""What may be given, for the help of a command."""
Found = TypeVar("Found")


def judges_given(given: Sequence[str], database: str | None) -> list[JudgeOutput]:
    """What judges said, of folders that `judge rubric|claims|cef` wrote or of their runs. Raises InputError for all."""
    return _each(given, lambda one: _from_either(one, database, read_judge_folder, judge_output))


def answers_given(given: Sequence[str], database: str | None) -> list[AnswerSet]:
    """What models answered, of folders that `judge answers` wrote or of its runs. Raises InputError for all."""
    return _each(given, lambda one: _from_either(one, database, read_answer_folder, answer_set))


def costs_given(given: Sequence[str], database: str | None) -> list[JudgeCost]:
    """What runs cost, in the order given. Raises InputError for all, and where two of them are one run."""
    found = _each(
        given,
        lambda one: _from_either(
            one,
            database,
            lambda folder: (_run_of_folder(folder), cost_of_folder(folder)),
            lambda store, run: (identity_of(run), cost_of_run(store, run)),
        ),
    )
    names: dict[str, list[str]] = {}
    for name, (identity, _) in zip(given, found, strict=True):
        names.setdefault(repr(identity), []).append(shown(name))
    if twice := [same for same in names.values() if len(same) > 1]:
        raise InputError(
            "A run beside itself tells nothing: name each once",
            [f"{' and '.join(same)} are the same run" for same in twice],
        )
    return [cost for _, cost in found]


def _run_of_folder(folder: Path) -> dict[str, object]:
    """Which run wrote it, as identity_of says it; of a folder that does not say so, where it lies."""
    report = read_report(folder)
    identity = {name: report.get(name) for name in IDENTITY}
    return {"folder": folder.resolve()} if None in identity.values() else identity


def scores_given(given: Sequence[str], options: argparse.Namespace) -> list[ScoreTable]:
    """Tables of scores: of folders that judges wrote, of runs, or of files in any form. Raises InputError for all."""
    return _each(given, lambda one: _scores(one, options))


def _scores(given: str, options: argparse.Namespace) -> ScoreTable:
    folder = Path(given)
    if run_number(given) is None and (folder / RUN_FILE).is_file():
        if not (folder / SCORES_FILE).is_file():
            read_judge_folder(folder)  # says of which kind the run is
        table = read_scores(read_file(folder / SCORES_FILE), SCORES_FILE)
        return replace(table, file_name=given)
    table = open_scores(given, options).table
    return replace(table, file_name=given) if run_number(given) is not None else table


def _from_either(
    given: str,
    database: str | None,
    of_folder: Callable[[Path], Found],
    of_run: Callable[[Store, Run], Found],
) -> Found:
    number = run_number(given)
    if number is None:
        return of_folder(Path(given))
    with open_store(existing_database(database)) as store:
        return of_run(store, get_run(store, number))


def _each(given: Sequence[str], read: Callable[[str], Found]) -> list[Found]:
    """All that is given, each read. Raises InputError with the problems of all of them."""
    found: list[Found] = []
    wrong: list[AssayError] = []
    for one in given:
        try:
            found.append(read(one))
        except AssayError as problem:
            wrong.append(problem)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        problems = Problems()
        for error in wrong:
            if isinstance(error, InputError) and error.problems:
                problems += error.under(error.what)
            else:
                problems.append(str(error))
        raise InputError("These cannot be read", problems)
    return found
