"""The command of every analysis, made from its declaration."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from core.analyses import analysis
from core.cli.outputs import Output
from core.cli.shared.dossier import add_dossier_options, add_earlier_option, open_dossier, open_earlier
from core.cli.shared.giving import add_result_options, check_out_file, give, output_problems
from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_database_option,
    add_pair_option,
    check_columns,
    check_out,
    option_error,
)
from core.cli.shared.running import telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.cli.shared.sources import (
    add_aligned_input,
    add_answers_input,
    add_big_table_input,
    add_costs_input,
    add_judge_input,
    add_judged_input,
    add_levels_input,
    add_look_input,
    add_marking_input,
    add_marks_by_rater_input,
    add_marks_input,
    add_panel_options,
    add_part_input,
    add_people_options,
    add_pilot_option,
    add_quality_input,
    add_rated_input,
    add_ratings_input,
    add_scores_input,
    add_sides_input,
    add_standing_option,
    add_study_input,
    add_study_texts_input,
    add_table_options,
    add_taught_input,
    add_tried_input,
    add_two_scores_input,
    add_voted_option,
    files_of_sides,
    open_aligned,
    open_answers,
    open_big_table,
    open_costs,
    open_judge,
    open_judged,
    open_judges,
    open_levels,
    open_look,
    open_marking,
    open_marks,
    open_marks_by_rater,
    open_panel,
    open_part,
    open_people,
    open_pilot,
    open_quality,
    open_rated,
    open_ratings,
    open_sides,
    open_standing,
    open_study,
    open_study_texts,
    open_tables,
    open_taught,
    open_tried,
    open_two_scores,
    open_voted,
    quality_problems,
)
from core.cli.shared.sure import add_sure_options, open_sure
from core.cli.shared.switches import (
    Switch,
    add_switches,
    entries_of,
    printed_of,
    switches_of,
    table_problems,
)
from core.errors import InputError
from core.schema.analysis import CHOICES, Analysis, Answer, Taken
from core.schema.result_table import ResultTable
from core.schema.settings import Remark, Settings, SettingsError, fields_of, refuse
from core.store import database_path


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
    problems: Callable[[argparse.Namespace], Sequence[str]] = lambda _: ()
    """What is wrong with how the data are named, before they are opened."""
    known: Callable[[argparse.Namespace], Mapping[str, object]] = lambda _: {}
    """What `Analysis.unfit` takes."""


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
    "quality": _Opened(
        add_quality_input,
        open_quality,
        lambda options: [*options.scores, options.human],
        "reading the scores",
        problems=quality_problems,
        known=lambda options: {"with_": options.target, "several": len(options.scores) > 1},
    ),
    "scores": _Opened(
        add_scores_input,
        open_tables,
        lambda options: [*options.scores],
        "reading the scores",
        (add_table_options, add_pair_option, add_database_option),
    ),
    "judged": _Opened(
        add_judged_input,
        open_judged,
        lambda options: [*options.scores, options.texts],
        "reading the scores",
        (add_table_options, add_pair_option, add_database_option),
    ),
    "levels": _Opened(
        add_levels_input,
        open_levels,
        lambda options: [options.scores, options.texts],
        "reading the scores",
        (add_columns_option, add_pair_option, add_database_option),
    ),
    "sure": _Opened(
        add_sure_options,
        open_sure,
        lambda options: [options.file, *options.scores],
        "reading the ratings",
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
    "aligned": _Opened(
        add_aligned_input,
        open_aligned,
        lambda options: [options.audit],
        "reading the marked errors",
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
    "study_texts": _Opened(
        add_study_texts_input, open_study_texts, lambda _: [], "reading the texts", (add_database_option,)
    ),
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
    "voted": _Opened(
        add_voted_option, open_voted, lambda options: [options.study], "", (add_database_option,)
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
    "dossier": _Opened(
        add_dossier_options,
        open_dossier,
        lambda options: [options.file, *options.scores, *options.labels],
        "reading the ratings",
    ),
    "earlier": _Opened(add_earlier_option, open_earlier, lambda options: [options.against], ""),
}
_OUTPUTS: Mapping[str, Sequence[str]] = {
    "made-levels": ("core.cli.outputs.remake",),
    "escalate": ("core.cli.outputs.sent",),
    "check": ("core.cli.outputs.card", "core.cli.outputs.next_study"),
}
"""Analysis -> modules with the OUTPUT that its command can write beside the result."""


def _outputs(name: str) -> list[Output]:
    return [import_module(module).OUTPUT for module in _OUTPUTS.get(name, ())]


def add_analysis(commands: Commands, command: str, name: str) -> None:
    """Register the command of an analysis."""
    found = analysis(name)
    verdicts = "; ".join(f"{code}: {about}" for code, about in found.all_codes.items())
    told = " ".join(filter(None, (found.question, verdicts and f"{verdicts}.")))
    command_line = commands.add_parser(command, description=told.replace("%", "%%"))
    for kind in found.takes:
        _DATA[kind].add(command_line)
    for add in dict.fromkeys(add for kind in found.takes for add in _DATA[kind].further):
        add(command_line)
    add_settings(command_line, found.Options)
    for output in _outputs(name):
        output.add(command_line)
    switches = switches_of(command)
    add_switches(command_line, switches)
    asked = (found, *found.others, *(each.analysis for each in switches))
    names = dict.fromkeys(table.name for one in asked for table in one.tables)
    add_result_options(command_line, *names, document="docs/results.md")
    command_line.set_defaults(run=partial(_answer, found, switches))


_PARTS: Mapping[tuple[Taken, Taken], Callable[[Any], Any]] = {
    ("quality", "table"): lambda quality: quality.whole
}
"""Kind of data, and another that a switch asks about -> the other, as a part of the first."""


def _parts_of(kind: Taken, data: Any, wanted: Taken) -> Any:
    """The data of a switch, from those of its command."""
    return data if kind == wanted else _PARTS[kind, wanted](data)


def _opened(kind: Taken, options: argparse.Namespace) -> Any:
    """Open the data of the command. Raises InputError, which names options."""
    try:
        return _DATA[kind].open(options)
    except InputError as problem:
        raise option_error(problem, fields_of(CHOICES[kind]).keys()) from problem


def _answer(found: Analysis[Any, Any], switches: Sequence[Switch], options: argparse.Namespace) -> None:
    problems: list[Remark] = []
    given = settings_given(options, found.Options)
    chosen = found.Options.read(given, problems)
    asked = [(one, one.read(options, problems)) for one in switches if one.given(options)]
    data = [_DATA[kind] for kind in found.takes]
    known = {name: value for one in data for name, value in one.known(options).items()}
    # As they were typed, if some are wrong: all problems are told at once.
    written = found.Options.model_construct(**given) if chosen is None else chosen
    problems += (*_table_needs(found, written, options.table), *found.unfit(written, known))
    outputs = _outputs(found.name)
    own_problems = [one for output in outputs for one in output.problems(options)]
    own_problems += [one for kind in data for one in kind.problems(options)]
    told = (*output_problems(options), *table_problems(options, switches), *own_problems)
    problems += [Remark("", one) for one in told]
    # An option of a switch that is the command's, too, has a problem once.
    once = [one for at, one in enumerate(problems) if one not in problems[:at]]
    refuse(once, *found.problem_fields(), *(one.analysis.Options for one, _ in asked), what="Invalid options")
    inputs = [path for one in data for path in one.files(options)]
    check_out_file(options, inputs)
    for named_file in filter(None, (output.file(options) for output in outputs)):
        option, path = named_file
        check_out(path, database_path(options.db), [*inputs, options.out], option)
    if any(add_table_options in one.further for one in data):
        check_columns(options, inputs)
    reading = " and ".join(filter(None, (one.reading for one in data))) or "computing"
    with telling(reading) as tell:
        opened = [_opened(kind, options) for kind in found.takes]
        if said := found.workload(chosen, *opened):
            print(said, file=sys.stderr)
        # Switches are answered first: their mistakes are found at once.
        further = [
            one.analysis.answer(
                own,
                *(_parts_of(found.takes[0], opened[0], kind) for kind in one.analysis.takes),
                tell=tell,
            )
            for one, own in asked
        ]
        with _naming_options(found):
            answer = found.answer(chosen, *opened, tell=tell)
        below = [line for output in outputs for line in output.write(options, answer, opened)]
    if not switches:
        give_answer(options, answer, below)
        return
    options.status = answer.status
    as_json = answer.json
    if further:
        as_json = {key: one for each in (answer, *further) for key, one in entries_of(each).items()}
    printed, in_files = printed_of([answer, *further])
    give(options, as_json, printed, in_files + _requested([answer, *further], options.table))


def give_answer(options: argparse.Namespace, answer: Answer, below: Sequence[str] = ()) -> None:
    """Print an answer, or write it to `--out`, and set the exit status. below: lines after its tables."""
    options.status = answer.status
    tables = (one for table in answer.printed for one in ("", table))
    in_files = [*answer.in_files, *_requested([answer], options.table)]
    give(options, answer.json, [*answer.all_sentences, *tables, *below], in_files)


def _requested(answers: Sequence[Answer], name: str | None) -> list[ResultTable]:
    """The table of this name, if it is there on request alone. Raises InputError with the reason why there is none."""
    if name is None or any(one.name == name for each in answers for one in (*each.printed, *each.in_files)):
        return []
    found = [table for one in answers if (table := one.requested(name)) is not None]
    if not found and (why := "; ".join(filter(None, (one.lacking(name) for one in answers)))):
        raise InputError(f"--table {name}: {why}")
    return found


def _table_needs(found: Analysis[Any, Any], chosen: Settings, name: str | None) -> list[Remark]:
    """What is wrong with naming a table that an option asks for."""
    named = [table for table in found.tables if table.name == name and table.asked_by]
    return [
        *chosen.unmet({table.asked_by for table in named}),
        *(
            Remark("", f"--table {one.name}: needs {{{one.asked_by}}}")
            for one in named
            if one.waits and getattr(chosen, one.asked_by) in (None, False)
        ),
    ]


@contextmanager
def _naming_options(found: Analysis[Any, Any]) -> Iterator[None]:
    """While this is open, problems with data name options, as those with settings do."""
    try:
        yield
    except SettingsError:
        raise
    except InputError as problem:
        named = {name for model in found.problem_fields() for name in fields_of(model)}
        raise option_error(problem, named) from problem
