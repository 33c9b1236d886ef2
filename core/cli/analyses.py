"""The command of every analysis, made from its declaration."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.analyses import analysis
from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, add_database_option, add_pair_option, check_columns, in_options
from core.cli.shared.running import telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.cli.shared.sources import (
    add_answers_input,
    add_big_table_input,
    add_costs_input,
    add_judge_input,
    add_look_input,
    add_marking_input,
    add_marks_by_rater_input,
    add_marks_input,
    add_panel_options,
    add_part_input,
    add_people_options,
    add_pilot_option,
    add_rated_input,
    add_ratings_input,
    add_scores_input,
    add_sides_input,
    add_standing_option,
    add_study_input,
    add_table_options,
    add_taught_input,
    add_tried_input,
    add_two_scores_input,
    files_of_sides,
    open_answers,
    open_big_table,
    open_costs,
    open_judge,
    open_judges,
    open_look,
    open_marking,
    open_marks,
    open_marks_by_rater,
    open_panel,
    open_part,
    open_people,
    open_pilot,
    open_rated,
    open_ratings,
    open_sides,
    open_standing,
    open_study,
    open_tables,
    open_taught,
    open_tried,
    open_two_scores,
)
from core.errors import InputError
from core.schema.analysis import CHOICES, Analysis, Answer, Taken
from core.schema.settings import Remark, fields_of, refuse


@dataclass(frozen=True)
class _Opened:
    """How commands open a kind of data."""

    add: Callable[[argparse.ArgumentParser], None]
    """Registers the inputs and their options."""
    open: Callable[[argparse.Namespace], Any]
    files: Callable[[argparse.Namespace], list[str | Path | None]]
    """The inputs, which no output may replace."""
    reading: str
    """What is said to people who wait."""
    further: tuple[Callable[[argparse.ArgumentParser], None], ...] = ()
    """Register options that kinds of data share, each once for a command."""


_DATA: Mapping[Taken, _Opened] = {
    "panel": _Opened(
        add_panel_options, open_panel, lambda options: [options.file, *options.scores], "reading the ratings"
    ),
    "people": _Opened(add_people_options, open_people, lambda options: [options.file], "reading the ratings"),
    "study": _Opened(
        add_study_input,
        open_study,
        lambda options: [options.study],
        "reading the study",
        (add_database_option,),
    ),
    "scores": _Opened(
        add_scores_input,
        open_tables,
        lambda options: [*options.scores],
        "reading the scores",
        (add_table_options, add_pair_option, add_database_option),
    ),
    "judges": _Opened(
        add_costs_input,
        open_judges,
        lambda options: [*options.judges],
        "reading the answers of the judges",
        (add_database_option,),
    ),
    "answers": _Opened(
        add_answers_input,
        open_answers,
        lambda options: [*options.answers],
        "reading the answers",
        (add_database_option,),
    ),
    "marking": _Opened(
        add_marking_input,
        open_marking,
        lambda options: [*options.judges, options.rated],
        "reading the marked errors",
        (add_pair_option, add_database_option),
    ),
    "taught": _Opened(
        add_taught_input,
        open_taught,
        lambda options: [options.gold, *options.judges],
        "reading the marked errors",
        (add_table_options, add_pair_option, add_database_option),
    ),
    "ratings": _Opened(
        add_ratings_input,
        open_ratings,
        lambda options: [options.human],
        "reading the ratings",
        (add_table_options, add_pair_option, add_database_option),
    ),
    "marks": _Opened(
        add_marks_input,
        open_marks,
        lambda options: [options.gold, *options.predicted],
        "reading the marked errors",
        (add_table_options, add_pair_option, add_database_option),
    ),
    "marks_by_rater": _Opened(
        add_marks_by_rater_input,
        open_marks_by_rater,
        lambda options: [options.gold, *options.predicted],
        "reading the marked errors",
        (add_table_options, add_pair_option, add_database_option),
    ),
    "sides": _Opened(add_sides_input, open_sides, files_of_sides, "reading the sides"),
    "look": _Opened(add_look_input, open_look, lambda _: [], "looking at the study", (add_database_option,)),
    "part": _Opened(
        add_part_input,
        open_part,
        lambda options: [options.study],
        "reading the study",
        (add_database_option,),
    ),
    "pilot": _Opened(
        add_pilot_option,
        open_pilot,
        lambda options: [options.pilot],
        "reading the pilot",
        (add_database_option,),
    ),
    "standing": _Opened(
        add_standing_option,
        open_standing,
        lambda _: [],
        "reading the study",
        (add_database_option,),
    ),
    "rated": _Opened(
        add_rated_input,
        open_rated,
        lambda options: [options.human, *options.judges, options.shuffled],
        "reading the ratings",
    ),
    "judge": _Opened(
        add_judge_input,
        open_judge,
        lambda options: [options.judge],
        "reading the answers of the judge",
        (add_database_option,),
    ),
    "costs": _Opened(
        add_costs_input,
        open_costs,
        lambda options: [*options.judges],
        "reading the costs",
        (add_database_option,),
    ),
    "tried": _Opened(
        add_tried_input,
        open_tried,
        lambda options: [options.human],
        "reading the scores",
        (add_pair_option, add_database_option),
    ),
    "two_scores": _Opened(
        add_two_scores_input,
        open_two_scores,
        lambda options: [options.first, options.second],
        "reading the scores",
        (add_pair_option, add_database_option),
    ),
    "table_on_disk": _Opened(
        add_big_table_input, open_big_table, lambda options: [], "reading the table", (add_database_option,)
    ),
}


def add_analysis(commands: Commands, command: str, name: str) -> None:
    """Register the command of an analysis."""
    found = analysis(name)
    command_line = commands.add_parser(command, description=found.question)
    for kind in found.takes:
        _DATA[kind].add(command_line)
    for add in dict.fromkeys(add for kind in found.takes for add in _DATA[kind].further):
        add(command_line)
    add_settings(command_line, found.Options)
    names = dict.fromkeys(table.name for one in (found, *found.others) for table in one.tables)
    add_result_options(command_line, *names, document="docs/results.md")
    command_line.set_defaults(run=partial(_answer, found))


def _opened(kind: Taken, options: argparse.Namespace) -> Any:
    """Open the data of the command. Raises InputError, which names options."""
    try:
        return _DATA[kind].open(options)
    except InputError as problem:
        raise in_options(problem, fields_of(CHOICES[kind]).keys()) from problem


def _answer(found: Analysis[Any, Any], options: argparse.Namespace) -> None:
    problems: list[Remark] = []
    chosen = found.Options.read(settings_given(options, found.Options), problems)
    problems += [Remark("", one) for one in out_problems(options)]
    refuse(problems, found.Options, what="Invalid options")
    data = [_DATA[kind] for kind in found.takes]
    files = [path for one in data for path in one.files(options)]
    check_out_file(options, files)
    if any(add_table_options in one.further for one in data):
        check_columns(options, files)
    reading = " and ".join(one.reading for one in data) or "computing"
    with telling(reading) as tell:
        answer = found.answer(chosen, *(_opened(kind, options) for kind in found.takes), tell=tell)
    give_answer(options, answer)


def give_answer(options: argparse.Namespace, answer: Answer) -> None:
    """Print an answer, or write it to `--out`, and set the exit status."""
    options.status = answer.status
    printed = answer.printed
    further = [table for table in answer.tables.values() if table not in printed]
    give(options, answer.json, [*answer.said, *(one for table in printed for one in ("", table))], further)
