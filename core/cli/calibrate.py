"""`calibrate`: evaluators against human ratings, by language, task and dimension, and where not to use them."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from core.analysis.calibration import DEFAULT_OPTIONS, Calibration, CalibrationOptions, calibrate
from core.analysis.calibration_advice import advice
from core.analysis.calibration_joined import evaluators_of
from core.analysis.calibration_maps import maps_of
from core.analysis.calibration_report import calibration_json
from core.analysis.quality_repeats import sensitivity
from core.analysis.temperature_sweep import Sweep, temperature_sweep
from core.cli.as_json import plain
from core.cli.calibrate_printed import print_calibration, print_map, print_sensitivity, print_sweep
from core.cli.calibrated_runs import judge_asked, said_again, task_of
from core.cli.human_ratings import HUMAN_NAMES, add_human_options, human_ratings, metal_scores
from core.cli.judges_given import NAMES, scores_given
from core.cli.options import Commands, add_json_option, json_text, name_list
from core.cli.progress_line import telling
from core.cli.score_sources import add_interval_options, intervals
from core.datasets.reading import shown
from core.datasets.task_files import find_task
from core.errors import InputError
from core.judges.quality.held_out import Majority
from core.schema.judging import JudgeOutput
from core.schema.scores import RatingSet, ScoreTable
from core.stats.calibration_map import CalibrationMap, Method


@dataclass(frozen=True)
class _Compared:
    """One evaluator, and its map where one was asked for."""

    found: Calibration
    maps: Mapping[str, CalibrationMap] | None


def add_to(nouns: Commands) -> None:
    """Register `calibrate`."""
    command = nouns.add_parser(
        "calibrate", help="evaluators against human ratings: agreement, kappas, bias, where not to use them"
    )
    command.add_argument("human", metavar="HUMAN", help=f"ratings: {HUMAN_NAMES}")
    command.add_argument(
        "judges",
        nargs="+",
        metavar="JUDGE",
        help=f"{NAMES}, a table of scores (CSV, JSONL, Parquet), or METAL's JSON",
    )
    add_human_options(command)
    command.add_argument("--dimension", metavar="D", help="of the ratings (default: all)")
    command.add_argument(
        "--columns",
        metavar="COLUMN=D,...",
        help="which column of scores says which dimension (default: by the end of its name, as JUDGE-D)",
    )
    command.add_argument(
        "--task",
        metavar="NAME|FILE",
        help="says which classes were on offer (default: the study's or the judge's own, else the whole numbers given)",
    )
    command.add_argument(
        "--by",
        metavar="COL,...",
        help="columns that make groups (default: language, task, dimension); without dimension, all dimensions are one group",
    )
    averaged = command.add_mutually_exclusive_group()
    averaged.add_argument(
        "--macro",
        dest="averaged",
        action="store_const",
        const="macro",
        help="the whole is the mean over groups, each counting once (the default)",
    )
    averaged.add_argument(
        "--pooled",
        dest="averaged",
        action="store_const",
        const="pooled",
        help="the whole is all texts together, each counting once",
    )
    command.add_argument(
        "--majority",
        choices=get_args(Majority),
        default=DEFAULT_OPTIONS.majority,
        help="where raters are split: drop leaves the text out; median takes the middle vote (none where the two middle "
        "votes differ); middle takes the middle class of the scale where a rater gave it, as the multilingual-evaluator "
        "paper does with three raters and three classes (default %(default)s)",
    )
    command.add_argument(
        "--paper-kappa",
        action="store_true",
        help="an undefined kappa enters means over groups as 0, as the multilingual-evaluator paper has it",
    )
    command.add_argument(
        "--map",
        choices=get_args(Method),
        help="also a map from the evaluator's scores to people's, cross-validated by item",
    )
    command.add_argument(
        "--shuffled",
        metavar=NAMES,
        help="a run of the first JUDGE with shuffled words: how often its scores drop",
    )
    add_interval_options(command, DEFAULT_OPTIONS.n_resamples)
    add_json_option(command)
    command.set_defaults(run=_calibrate, averaged="macro")


def _calibrate(options: argparse.Namespace) -> None:
    made = intervals(options)
    columns = _columns(options.columns)
    task = None if options.task is None else find_task(options.task)
    with telling("reading the ratings") as tell:
        ratings, of_study = human_ratings(options.human, options)
        task = task or of_study
        chosen = CalibrationOptions(majority=options.majority, paper_kappa=options.paper_kappa, **made)
        tables = _tables(options)
        compared: list[list[_Compared]] = []
        outputs = []
        for given, table in zip(options.judges, tables, strict=True):
            tell(f"comparing {shown(table.file_name)}")
            asked = judge_asked(given, options.db)
            own = task or task_of(asked, given)
            classes = replace(chosen, dimensions=own.dimensions if own else ())
            said = None if asked is None else asked.chosen.dimension_scored
            compared.append(_compared(ratings, table, columns, said, classes, options))
            outputs.append(said_again(asked, given, options.db))
        sweep = _sweep(outputs, compared, chosen)
        twins = _twins(options, outputs[0])
    every = [one for own in compared for one in own]
    if options.json:
        print(json_text(_as_json(every, sweep, twins, options)))
        return
    for number, one in enumerate(every):
        if number:
            print()
        print_calibration(one.found, advice(one.found), options.averaged)
        if one.maps is not None:
            print_map(one.maps)
    if sweep is not None:
        print_sweep(sweep)
    if twins is not None:
        print_sensitivity(twins)


def _tables(options: argparse.Namespace) -> list[ScoreTable]:
    """The scores of every judge, in the order given. METAL's JSON may hold evaluators beside its raters."""
    own = {name: found for name in options.judges if (found := metal_scores(name, options)) is not None}
    others = [name for name in options.judges if name not in own]
    given = own | dict(zip(others, scores_given(others, options), strict=True))
    return [given[name] for name in options.judges]


def _compared(
    ratings: RatingSet,
    table: ScoreTable,
    columns: Mapping[str, str] | None,
    said: str | None,
    chosen: CalibrationOptions,
    options: argparse.Namespace,
) -> list[_Compared]:
    by = name_list(options.by)
    evaluators = evaluators_of(table, ratings, dimension=options.dimension, columns=columns, said=said)
    found = [calibrate(ratings, table, evaluator, group_by=by, options=chosen) for evaluator in evaluators]
    return [
        _Compared(one, None if options.map is None else maps_of(one, method=options.map)) for one in found
    ]


def _columns(given: str | None) -> dict[str, str] | None:
    """Column -> dimension. Raises InputError for what is no such pair."""
    names = name_list(given)
    if names is None:
        return None
    wrong = [name for name in names if not all(part.strip() for part in name.partition("=")[::2])]
    if wrong or not names:
        raise InputError(
            f"--columns: {', '.join(map(shown, wrong)) or 'nothing'} is not COLUMN=DIMENSION, such as judge-score=LA."
        )
    return {
        column.strip(): dimension.strip() for column, _, dimension in (name.rpartition("=") for name in names)
    }


def _sweep(
    outputs: Sequence[JudgeOutput | None], compared: Sequence[Sequence[_Compared]], chosen: CalibrationOptions
) -> Sweep | None:
    """Agreement against temperature, where several runs were given that have one each."""
    runs = [
        (output, own[0].found) for output, own in zip(outputs, compared, strict=True) if output is not None
    ]
    if len({output.settings.get("temperature") for output, _ in runs}) < 2:
        return None
    return temperature_sweep(runs, n_resamples=chosen.n_resamples, confidence_level=chosen.confidence_level)


def _twins(options: argparse.Namespace, first: JudgeOutput | None) -> Any:
    """What shuffled words do to the first judge's scores, where a run with them is named. Raises InputError."""
    if options.shuffled is None:
        return None
    asked = judge_asked(options.shuffled, options.db)
    shuffled = said_again(asked, options.shuffled, options.db)
    if first is None or shuffled is None:
        sides = (("JUDGE", options.judges[0], first), ("--shuffled", options.shuffled, shuffled))
        raise InputError(
            "Shuffled words are looked at in two runs of a judge.",
            [
                f"{side}: {shown(name)} is no run (run:N) and no folder of `judge quality`"
                for side, name, found in sides
                if found is None
            ],
        )
    return sensitivity(first, shuffled, **intervals(options))


def _as_json(every: Sequence[_Compared], sweep: Sweep | None, twins: Any, options: argparse.Namespace) -> Any:
    """One evaluator is an object, several are a list; what is told of several runs stands beside the list."""
    listed = [calibration_json(one.found, advice(one.found), one.maps, options.averaged) for one in every]
    further: dict[str, Any] = {}
    if sweep is not None:
        further["temperatures"] = plain(sweep)
    if twins is not None:
        further["shuffled_words"] = plain(twins)
    if len(listed) == 1:
        return {**listed[0], **further}
    return {"evaluators": listed, **further} if further else listed
