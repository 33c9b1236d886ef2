"""`calibrate`: evaluators against human ratings, by language, task and dimension, and where not to use them."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from core.cli.shared.options import (
    Commands,
    add_json_option,
    existing_store,
    json_text,
    name_list,
    print_notes,
    run_number,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    HUMAN_NAMES,
    JUDGE_NAMES,
    add_human_options,
    add_interval_options,
    human_ratings,
    intervals,
    judges_given,
    metal_scores,
    scores_given,
)
from core.cli.shared.terminal import (
    counted,
    dashed,
    interval_notes,
    intervals_said,
    number,
    plain,
    print_aligned,
    with_interval,
)
from core.errors import InputError
from core.formats.tasks import find_task
from core.judges.kind import JudgeKind
from core.judges.quality import Majority
from core.results.calibration.advice import Advice, advice, called
from core.results.calibration.cells import MIXED, STATISTICS, Cell, evaluators_of
from core.results.calibration.repeats import Sensitivity, sensitivity
from core.results.calibration.results import (
    DEFAULT_OPTIONS,
    MAJORITIES,
    Calibration,
    CalibrationOptions,
    MacroMean,
    Summary,
    Sweep,
    calibrate,
    macro_averaged,
    maps_of,
    temperature_sweep,
)
from core.results.calibration.tables import calibration_json, map_estimates
from core.runs.asked import Asked, asked_from
from core.runs.kinds import KINDS
from core.runs.path import at_hand
from core.runs.records import read_report
from core.schema.judging import JudgeOutput
from core.schema.runs import RUN_FILE
from core.schema.scores import RatingSet, ScoreTable
from core.schema.settings import SettingsError
from core.schema.tasks import RatingTask
from core.stats.calibration import CalibrationMap, Method
from core.stats.resampling import NO_RESAMPLES
from core.tables.reading import printable_text, shown


def judge_asked(given: str, database: str | None) -> Asked | None:
    """What a run or folder was asked for of a judge that people's ratings may stand behind; None: it is of another."""
    number = run_number(given)
    if number is not None:
        with existing_store(database) as store:
            asked = at_hand(store, number).asked
        return asked if asked.kind.reads == "rated texts" else None
    if not (Path(given) / RUN_FILE).is_file():
        return None
    report = read_report(Path(given))
    kind = KINDS.get(report["kind"])
    if kind is None or kind.reads != "rated texts":
        return None
    try:
        return asked_from(kind, report["settings"])
    except SettingsError:  # reading its records says what is wrong
        return None


def said_again(asked: Asked | None, given: str, database: str | None) -> JudgeOutput | None:
    """All that a judge said that is asked for classes or a number; None: the name is of something else."""
    if asked is None or not isinstance(asked.kind, JudgeKind) or asked.kind.marks_errors:
        return None
    (output,) = judges_given([given], database)
    return output


def task_of(asked: Asked | None, given: str) -> RatingTask | None:
    """The task that a judge was given, with its classes; None: there is none. Raises InputError."""
    if asked is None or asked.kind.attachment is None or not asked.attached:
        return None
    task: RatingTask = asked.kind.attachment.read(asked.attached, given)
    return task


_HOW = " (--by language,dimension keeps them apart)"
_OF_RATERS = ("raters_agreement", "raters_kappa", "raters_alpha", "raters_ac1")
_OF_BOTH = ("raters_pairwise", "pairwise", "gap", "spearman", "kendall", "shift")
_OF_EVALUATOR = ("agreement", "f1", "kappa", "alpha", "ac1", "bias", "bias_disagreed")
_OF_NUMBERS = ("raters_alpha", "pearson", "spearman", "kendall", "shift", "error")
_OF_MEANS = (
    "raters_pairwise",
    "pairwise",
    "pearson",
    "spearman",
    "raters_agreement",
    "agreement",
    "f1",
    "raters_kappa",
    "kappa",
    "ac1",
    "bias",
)
_SHORT = {
    "raters_pairwise": "two raters",
    "pairwise": "evaluator and a rater",
    "gap": "difference",
    "raters_agreement": "raters equal",
    "raters_kappa": "raters kappa",
    "raters_alpha": "raters alpha",
    "raters_ac1": "raters AC1",
    "agreement": "equal",
    "f1": "weighted F1",
    "kappa": "kappa",
    "alpha": "alpha",
    "ac1": "AC1",
    "bias": "bias",
    "bias_disagreed": "bias, raters split",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "shift": "shift",
    "error": "error",
}
_MAP = {
    "error_before": "error as given",
    "error_after": "error mapped",
    "error_of_mean": "error of the mean rating",
    "gain": "gain over the mean",
    "calibration_error_before": "calibration error as given",
    "calibration_error_after": "mapped",
}


def print_calibration(found: Calibration, judged: Advice, averaged: str) -> None:
    """What says nothing, where not to use it, cells, the whole, what was left out, and notes."""
    print(
        f"{shown(found.evaluator)} against {shown(found.ratings)}; split raters: {MAJORITIES[found.options.majority]}."
    )
    for sentence in (*judged.constants, *judged.sentences):
        print(printable_text(sentence))
    for warned in judged.warned:
        print(
            f"  {shown(called(warned.group))} (n {warned.n}): {warned.verdict}: {printable_text('; '.join(warned.reasons))}"
        )
    cells = [*found.cells, *([found.pooled] if averaged == "pooled" and len(found.cells) > 1 else [])]
    _print_cells(
        [one for one in cells if one.classes],
        _OF_BOTH,
        "People and evaluator by one measure, the share of equal pairs; the evaluator against the mean rating:",
    )
    _print_cells([one for one in cells if one.classes], _OF_RATERS, "Raters with each other:")
    _print_cells([one for one in cells if one.classes], _OF_EVALUATOR, "Their majority and the evaluator:")
    numbers = [one for one in cells if not one.classes]
    _print_cells([one for one in numbers if one.statistics], _OF_NUMBERS, "Ratings and scores as numbers:")
    for one in numbers:
        print(
            f"{shown(called(one.group))}: no classes: {one.why_numbers}{_HOW if one.why_numbers == MIXED else ''}."
        )
    if averaged == "macro" and len(found.cells) > 1:
        _print_macro(macro_averaged(found), found)
    print()
    _print_undefined(cells)
    _print_left_out(cells)
    for reason, count in found.left_out.items():
        print(f"Left out: {counted(count, 'rating')}: {reason}")
    if found.options.n_resamples:
        print(intervals_said(found.options.confidence_level))
    print_notes(dict.fromkeys([*_without_interval(cells), *found.notes]))


def _print_cells(cells: Sequence[Cell], names: Sequence[str], title: str) -> None:
    if not cells:
        return
    print(f"\n{title}")
    rows = [
        [
            called(cell.group),
            cell.n,
            "-" if (used := cell.n_used(names)) is None else used,
            cell.n_raters,
            *(dashed(cell.get(name)) for name in names),
        ]
        for cell in cells
    ]
    print_aligned(["group", "n", "n used", "raters", *(_SHORT[name] for name in names)], rows)


def _print_left_out(cells: Sequence[Cell]) -> None:
    """Texts that a group does not use, or not in everything."""
    for cell in cells:
        for reason, count in cell.left_out.items():
            print(f"Left out: {shown(called(cell.group))}: {counted(count, 'text')}: {reason}")


def _print_undefined(cells: Sequence[Cell]) -> None:
    """Why, and of how many groups."""
    counts: dict[tuple[str, str], int] = {}
    for cell in cells:
        for name, one in cell.statistics.items():
            if one.estimate is None:
                key = (_SHORT.get(name, STATISTICS[name]), one.reason or "no reason is given")
                counts[key] = counts.get(key, 0) + 1
    for (name, reason), n in counts.items():
        print(f"Undefined in {counted(n, 'group')}: {name}: {reason}.")


def _without_interval(cells: Sequence[Cell]) -> list[str]:
    """Why numbers that are there have no interval: a sentence for each reason, with the groups and the numbers."""
    missing: dict[str, tuple[dict[int, None], dict[str, None]]] = {}
    for which, cell in enumerate(cells):
        for name, one in cell.statistics.items():
            if one.estimate is None or one.low is not None or one.interval_reason in (None, NO_RESAMPLES):
                continue
            groups, names = missing.setdefault(one.interval_reason, ({}, {}))
            groups[which] = names[_SHORT.get(name, STATISTICS[name])] = None
    return [
        f"no interval in {counted(len(groups), 'group')}, {reason} ({', '.join(names)})"
        for reason, (groups, names) in missing.items()
    ]


def _print_macro(summaries: Sequence[Summary], found: Calibration) -> None:
    print("\nMeans over groups, each counting once, with the SD over groups:")
    names = [name for name in _OF_MEANS if name in summaries[0].statistics]
    rows = [
        [
            called(one.group) if one.group else "all groups",
            one.n_cells,
            *(_mean(one.statistics.get(name)) for name in names),
        ]
        for one in summaries
    ]
    print_aligned(["group", "groups", *(_SHORT[name] for name in names)], rows)
    if found.options.paper_kappa:
        print("An undefined kappa is in these means as 0.")
    else:
        print("+n: so many groups where it is undefined are not in the mean.")


def _mean(found: MacroMean | None) -> str:
    if found is None or found.mean is None:
        return "undefined"
    sd = "" if found.sd is None else f" ± {number(found.sd)}"
    left = f" +{found.n_undefined}" if found.n_undefined and not found.as_zero else ""
    return f"{number(found.mean)}{sd}{left}"


def print_map(maps: Mapping[str, CalibrationMap]) -> None:
    """What mapping the scores to people's scale is worth, dimension by dimension."""
    print("\nMap to the mean rating, tested on items it was not fitted to:")
    rows = [
        [dimension, one.method, one.n, *(dashed(estimate) for estimate in map_estimates(one).values())]
        for dimension, one in maps.items()
    ]
    print_aligned(["dimension", "method", "n", *(_MAP[name] for name in _MAP)], rows)
    for dimension, one in maps.items():
        for note in (
            *([one.reason] if one.reason else ()),
            *([one.fallback] if one.fallback else ()),
            *one.notes,
        ):
            print(f"Note: {shown(dimension)}: {note}")


def print_sweep(found: Sweep) -> None:
    """Agreement with people and with itself, by temperature."""
    print("\nBy temperature:")
    rows = [
        [
            one.dimension,
            f"{one.temperature:g}",
            one.evaluator,
            dashed(one.agreement),
            dashed(one.kappa),
            dashed(one.repeats_equal),
        ]
        for one in found.points
    ]
    print_aligned(["dimension", "temperature", "evaluator", "equal", "kappa", "repeats equal"], rows)
    print_notes(found.notes)


def print_sensitivity(found: Sequence[Sensitivity]) -> None:
    """How often a score drops when words change places."""
    print("\nWith shuffled words:")
    rows = [
        [
            called(one.group),
            one.drops.n,
            *(with_interval(share) for share in (one.drops, one.stays, one.rises)),
        ]
        for one in found
    ]
    print_aligned(["group", "n", "drops", "stays", "rises"], rows)
    print_notes(interval_notes((called(one.group), one.drops) for one in found))
    for one in found:
        for reason, count in one.left_out.items():
            print(f"Left out: {shown(called(one.group))}: {counted(count, 'text')}: {reason}")


@dataclass(frozen=True)
class _Compared:
    """One evaluator, and its map where one was asked for."""

    found: Calibration
    maps: Mapping[str, CalibrationMap] | None


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
        metavar=JUDGE_NAMES,
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
    for n, one in enumerate(every):
        if n:
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
