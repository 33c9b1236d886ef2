"""Judges that a command looks at: folders that `judge` wrote, or runs in the database."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from core.analysis.judge_costs import JudgeCost
from core.cli.options import existing_store, read_file, run_number
from core.cli.score_sources import open_scores
from core.cli.texts_given import SCORES_FILE
from core.datasets.reading import shown
from core.datasets.score_tables import read_scores
from core.errors import AssayError, InputError, Problems
from core.judges.answers import KIND as ANSWERS
from core.judges.answers import AnswerSet
from core.runs.at_hand import RunAtHand
from core.runs.audits import answered
from core.runs.costs import cost_of_folder, cost_of_run
from core.runs.judging import judge_output
from core.runs.path import IDENTITY, at_hand, identity_of
from core.runs.records import read_audit_folder, read_judge_folder, read_report
from core.schema import RUN_FILE
from core.schema.judging import JudgeOutput
from core.schema.scores import ScoreTable

NAMES = "DIR|run:N"
"""What may be given, for the help of a command."""
Found = TypeVar("Found")


def judges_given(given: Sequence[str], database: str | None) -> list[JudgeOutput]:
    """What judges said, of folders that `judge rubric|claims|cef` wrote or of their runs. Raises InputError for all."""
    return _each(given, lambda one: _from_either(one, database, read_judge_folder, judge_output))


def answers_given(given: Sequence[str], database: str | None) -> list[AnswerSet]:
    """What models answered, of folders that `judge answers` wrote or of its runs. Raises InputError for all."""
    return _each(given, lambda one: _from_either(one, database, _answers_of_folder, _answers_of_run))


def _answers_of_folder(folder: Path) -> AnswerSet:
    return AnswerSet(*read_audit_folder(folder, ANSWERS))


def _answers_of_run(run: RunAtHand) -> AnswerSet:
    return AnswerSet(*answered(run, ANSWERS))


def costs_given(given: Sequence[str], database: str | None) -> list[JudgeCost]:
    """What runs cost, in the order given. Raises InputError for all, and where two of them are one run."""
    found = _each(
        given,
        lambda one: _from_either(
            one,
            database,
            lambda folder: (_run_of_folder(folder), cost_of_folder(folder)),
            lambda run: (identity_of(run.run), cost_of_run(run)),
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
    given: str, database: str | None, of_folder: Callable[[Path], Found], of_run: Callable[[RunAtHand], Found]
) -> Found:
    number = run_number(given)
    if number is None:
        return of_folder(Path(given))
    with existing_store(database) as store:
        return of_run(at_hand(store, number))


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
