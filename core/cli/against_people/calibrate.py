"""`calibrate`: compare evaluators with human ratings by language, task and dimension; show where not to use them."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_options, in_options, name_list
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    HUMAN_NAMES,
    add_human_options,
    add_interval_options,
    add_scale_options,
    intervals,
    reading_of,
    scale_given,
    scores_given,
)
from core.errors import InputError
from core.formats.tasks import find_task
from core.judges.quality import Majority
from core.results.calibration.cells import evaluators_of
from core.results.calibration.raters import (
    DAWID_SKENE_TABLES,
    dawid_skene_json,
    dawid_skene_tables,
    rater_classes,
)
from core.results.calibration.repeats import Sensitivity, sensitivity
from core.results.calibration.results import (
    DEFAULT_OPTIONS,
    Calibration,
    CalibrationOptions,
    Sweep,
    advice,
    calibrate,
    maps_of,
    temperature_sweep,
)
from core.results.calibration.split import split_of, split_table
from core.results.calibration.tables import (
    CALIBRATION_TABLES,
    calibration_json,
    calibration_said,
    calibration_tables,
    class_table,
    map_table,
    reliability_table,
    shuffled_table,
    sweep_table,
    warned_table,
)
from core.results.cells import plain
from core.schema.analysis import PanelChoice
from core.schema.scores import JudgeOutput
from core.schema.settings import fields_of
from core.sources.judges import JUDGE_NAMES, asked_of
from core.sources.named import parse_source, parse_sources
from core.sources.people import ratings_and_task
from core.stats.calibration import Method
from core.tables.reading import shown


def add_to(nouns: Commands) -> None:
    """Register `calibrate`."""
    command = nouns.add_parser("calibrate")
    command.add_argument("human", metavar="HUMAN", help=f"ratings: {HUMAN_NAMES}")
    command.add_argument(
        "judges",
        nargs="+",
        metavar="JUDGE",
        help=f"{JUDGE_NAMES}, a table of scores (CSV, JSONL, Parquet), or METAL's JSON",
    )
    add_human_options(command)
    command.add_argument(
        "--dimension", metavar="D", help="which dimension of the ratings to use (default: all)"
    )
    command.add_argument(
        "--columns",
        dest="dimension_columns",  # names columns of scores; in every other command it names columns of files
        metavar="COLUMN=D,...",
        help="which column of scores belongs to which dimension (default: by the end of its name, e.g. JUDGE-D)",
    )
    command.add_argument(
        "--task",
        metavar="NAME|FILE",
        help="task with the classes to choose from (default: that of the study or judge, else guessed from the ratings)",
    )
    add_scale_options(command)
    command.add_argument(
        "--by",
        metavar="COL,...",
        help="columns to group by (default: language, task, dimension); without dimension, all dimensions form one group",
    )
    averaged = command.add_mutually_exclusive_group()
    averaged.add_argument(
        "--macro",
        dest="averaged",
        action="store_const",
        const="macro",
        help="overall result: the mean over groups, each with equal weight (default)",
    )
    averaged.add_argument(
        "--pooled",
        dest="averaged",
        action="store_const",
        const="pooled",
        help="overall result: all texts together, each with equal weight",
    )
    command.add_argument(
        "--majority",
        choices=get_args(Majority),
        default=DEFAULT_OPTIONS.majority,
        help="how to resolve split votes: drop leaves the text out; median takes the middle vote, if the two middle votes "
        "agree; middle takes the middle class of the scale, if a rater chose it, as Multilingual does with three raters "
        "and three classes (default %(default)s)",
    )
    command.add_argument(
        "--dawid-skene",
        action="store_true",
        help="also estimate raters' errors and the texts' classes by Dawid and Skene's model; majorities do not change",
    )
    command.add_argument(
        "--paper-kappa",
        action="store_true",
        help="count an undefined kappa as 0 in means over groups, as Multilingual does",
    )
    command.add_argument(
        "--map",
        choices=get_args(Method),
        help="also fit a map from the evaluator's scores to human scores, cross-validated by item",
    )
    command.add_argument(
        "--shuffled",
        metavar=JUDGE_NAMES,
        help="a run of the first JUDGE on texts with shuffled words; shows how often its scores drop",
    )
    add_interval_options(command, DEFAULT_OPTIONS.n_resamples)
    add_result_options(command, *CALIBRATION_TABLES, *DAWID_SKENE_TABLES)
    command.set_defaults(run=_calibrate, averaged="macro")


def _calibrate(options: argparse.Namespace) -> None:
    made = intervals(options)
    check_options(out_problems(options))
    check_out_file(options, [options.human, *options.judges, options.shuffled])
    columns = _columns(options.dimension_columns)
    try:
        declared = scale_given(options)
    except InputError as problem:
        raise in_options(problem, fields_of(PanelChoice).keys()) from problem
    options.declared = declared if declared.classes or declared.missing else None
    task = None if options.task is None else find_task(options.task)
    with telling("reading the ratings") as tell:
        reading = reading_of(options, several=False)
        ratings, of_study = ratings_and_task(parse_source(options.human), reading)
        task = task or of_study
        chosen = CalibrationOptions(
            majority=options.majority, paper_kappa=options.paper_kappa, scale=declared, **made
        )
        compared: list[list[Calibration]] = []
        outputs = []
        split = []
        judges = parse_sources(options.judges)
        for source, table in zip(judges, scores_given(options.judges, options), strict=True):
            tell(f"comparing {shown(table.file_name)}")
            asked = asked_of(source, reading)
            own = task or asked.task
            classes = replace(chosen, dimensions=own.dimensions if own else ())
            evaluators = evaluators_of(
                table,
                ratings,
                dimension=options.dimension,
                columns=columns,
                said=asked.dimension,
            )
            by = name_list(options.by)
            compared.append(
                [calibrate(ratings, table, one, group_by=by, options=classes) for one in evaluators]
            )
            outputs.append(asked.output)
            split += [split_of(one, table, outputs[-1]) for one in compared[-1]]
        sweep = _sweep(outputs, compared, chosen)
        twins = _twins(options, outputs[0])
        every = [one for own in compared for one in own]
        maps = [None if options.map is None else maps_of(one, method=options.map) for one in every]
    printed = list(calibration_tables(every, options.averaged).values())
    cells = [(one.evaluator, cell) for one in every for cell in one.cells]
    by_split = split_table([(one.evaluator, own) for one, own in zip(every, split, strict=True)])
    further = [class_table(cells), warned_table(every)]
    (printed if by_split.rows else further).append(by_split)
    if named := [(one.evaluator, own) for one, own in zip(every, maps, strict=True) if own is not None]:
        printed.append(map_table(named))
        further.append(reliability_table(named))
    raters = [rater_classes(one) for one in every] if options.dawid_skene else []
    if raters:
        printed += dawid_skene_tables(list(zip(every, raters, strict=True)))
    if sweep is not None:
        printed.append(sweep_table(sweep))
    if twins is not None:
        printed.append(shuffled_table(twins))
    said = [*calibration_said(every), *(one for table in printed for one in ("", table))]
    listed = [
        calibration_json(one, advice(one), own, options.averaged, apart)
        for one, own, apart in zip(every, maps, split, strict=True)
    ]
    for row, errors in zip(listed, raters, strict=False):  # no raters without --dawid-skene
        row["dawid_skene"] = dawid_skene_json(errors)
    more: dict[str, Any] = {}
    if sweep is not None:
        more["temperatures"] = plain(sweep)
    if twins is not None:
        more["shuffled_words"] = plain(twins)
    # One evaluator becomes an object, several a list. Results over several runs are keys beside the list.
    several: Any = {"evaluators": listed, **more} if more else listed
    give(options, {**listed[0], **more} if len(listed) == 1 else several, said, further)


def _columns(given: str | None) -> dict[str, str] | None:
    """Map each column to its dimension. Raises InputError for anything that is not such a pair."""
    names = name_list(given)
    if names is None:
        return None
    wrong = [name for name in names if not all(part.strip() for part in name.partition("=")[::2])]
    if wrong or not names:
        raise InputError(
            f"--columns: {', '.join(map(shown, wrong)) or 'nothing'} is not COLUMN=DIMENSION, e.g. judge-score=LA."
        )
    return {
        column.strip(): dimension.strip() for column, _, dimension in (name.rpartition("=") for name in names)
    }


def _sweep(
    outputs: Sequence[JudgeOutput | None],
    compared: Sequence[Sequence[Calibration]],
    chosen: CalibrationOptions,
) -> Sweep | None:
    """Return agreement by temperature if the runs have different temperatures, else None."""
    runs = [(output, own[0]) for output, own in zip(outputs, compared, strict=True) if output is not None]
    if len({output.settings.get("temperature") for output, _ in runs}) < 2:
        return None
    return temperature_sweep(runs, n_resamples=chosen.n_resamples, confidence_level=chosen.confidence_level)


def _twins(options: argparse.Namespace, first: JudgeOutput | None) -> tuple[Sensitivity, ...] | None:
    """Compare the first judge's scores with those of `--shuffled`; None without it. Raises InputError."""
    if options.shuffled is None:
        return None
    shuffled = asked_of(parse_source(options.shuffled), reading_of(options)).output
    if first is None or shuffled is None:
        sides = (("JUDGE", options.judges[0], first), ("--shuffled", options.shuffled, shuffled))
        raise InputError(
            "--shuffled compares two runs of one judge.",
            [
                f"{side}: {shown(name)} is neither a run (run:N) nor a folder of `judge quality`"
                for side, name, found in sides
                if found is None
            ],
        )
    return sensitivity(first, shuffled, **intervals(options))
