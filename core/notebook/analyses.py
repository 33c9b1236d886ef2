"""Analyses of scores, ratings and correlations, each with the command's tables, sentences and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Literal, get_args

from core.errors import InputError
from core.formats.correlations import read_correlations
from core.formats.tasks import find_task
from core.joining.choices import check_choice as check_table_choice
from core.joining.tables import CorrelationOptions, SystemScores
from core.judges.quality import Majority
from core.notebook.frames import (
    PATH,
    Directions,
    LeaveOut,
    Names,
    Source,
    asked_from,
    check_choice,
    check_type,
    choice_of,
    each_of,
    frame_in,
    in_parameters,
    interval_options,
    named_source,
    names_of,
    people_of,
    ratings_and_task_of,
    ratings_used,
    reading_of,
    scale_from,
    scores_of,
)
from core.notebook.result import Result, result_of
from core.results.calibration.cells import evaluators_of
from core.results.calibration.raters import dawid_skene_json, dawid_skene_tables, rater_classes
from core.results.calibration.results import (
    Calibration,
    CalibrationOptions,
    advice,
    maps_of,
)
from core.results.calibration.results import (
    calibrate as calibration_of,
)
from core.results.calibration.split import split_of, split_table
from core.results.calibration.tables import (
    calibration_json,
    calibration_said,
    calibration_tables,
    class_table,
    map_table,
    reliability_table,
    warned_table,
)
from core.results.correlations.acc23 import (
    Acc23Options,
    acc23_json,
    accuracy_table,
    accuracy_test_table,
)
from core.results.correlations.acc23 import (
    acc23 as accuracies_of,
)
from core.results.correlations.paired import People, merged_beside
from core.results.meta_correlation import (
    Alternative,
    LiveSide,
    Side,
    brief_said,
    chosen_side,
    meta_json,
    meta_said,
    meta_title,
)
from core.results.meta_correlation import (
    meta_correlate as meta_of,
)
from core.schema.analysis import RatersUsed
from core.schema.scores import METHODS, Method
from core.sources.scores import Scores
from core.sources.sides import side_of
from core.stats.calibration import Method as MapMethod
from core.tables.reading import shown


def acc23(
    ratings: Source,
    scores: Source | Sequence[Source],
    *,
    dimension: str | None = None,
    references: bool = False,
    epsilon: float | None = None,
    tie_rounding: bool = False,
    test: bool = False,
    swap: Literal["items", "pairs"] = "items",
    system_scores: SystemScores = "all",
    resamples: int = 1_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Return pairwise accuracy with tie calibration, as in WMT23's metrics task and the command ``acc23``.

    Parameters
    ----------
    ratings
        Ratings by people: a data frame or anything that ``read`` reads.
    scores
        Scores of metrics; several sources are merged.
    dimension
        Dimension of the ratings. Default: the only one.
    references
        Include the references refA, refB, synthetic_ref as systems.
    epsilon
        Count differences up to this size as ties. Default: the best value for each metric.
    tie_rounding
        Count human scores that differ only by rounding as ties (WMT23 did not).
    test
        Also test every two metrics, by swapping ``swap``.
    swap
        ``"items"``: all pairs of an item together. ``"pairs"``: as in WMT23's tables, whose p-values are too small.
    system_scores
        As in ``correlate``.
    resamples, confidence, seed
        Resamples, level and seed of intervals and tests.

    Returns
    -------
    Result
        Table ``accuracy``: ``accuracy`` (acc23), ``epsilon``, correlations within items and between systems, soft
        pairwise accuracy. With ``test``: table ``accuracy-tests``.

    Raises
    ------
    InputError
        If scores and ratings share no text.

    Notes
    -----
    Misleads: a calibrated epsilon is fitted to these texts, so the accuracy is slightly too high for others.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> pairs = pd.DataFrame({"item_id": [1, 1, 2, 2], "system": ["a", "b"] * 2})
    >>> people, metric = pairs.assign(score=[1, 2, 3, 1]), pairs.assign(mine=[0.1, 0.2, 0.1, 0.4])
    >>> float(assay.acc23(people, metric, resamples=0).frame["accuracy"][0])
    0.5
    """
    check_type("epsilon", epsilon, Real, "a number of at least 0", optional=True)
    check_type("dimension", dimension, str, "the name of a dimension", optional=True)
    problems = []
    if epsilon is not None and not 0 <= epsilon < float("inf"):
        problems.append(f"epsilon: {epsilon} is not a number of at least 0")
    if test and epsilon is not None:
        problems.append("test: not possible with epsilon, because the test needs calibrated metrics")
    if test and not resamples:
        problems.append("test: needs resamples above 0, the number of swaps")
    check_choice("swap", swap, ("items", "pairs"))
    check_choice("system_scores", system_scores, get_args(SystemScores))
    options = Acc23Options(
        epsilon=epsilon,
        tie_rounding=tie_rounding,
        references=references,
        dimension=dimension,
        test=test,
        swap=swap,
        system_scores=system_scores,
        **interval_options(resamples, confidence, seed, problems),
    )
    table, people = merged_beside([*map(scores_of, each_of(scores))], people_of(ratings))
    found = accuracies_of(people, table, options)
    tests = [accuracy_test_table(found)] if found.tests else []
    head = [f"Metrics against {shown(found.human)}.", *found.constants]
    return result_of([*head, accuracy_table(found), *tests], acc23_json(found))


def meta_correlate(
    human: Result | Source,
    synthetic: Result | Source,
    *,
    method: Method = "spearman",
    first_order: Method | None = None,
    alternative: Alternative = "greater",
    ratings: Source | None = None,
    dimension: Names | None = None,
    raters: RatersUsed = "averaged",
    z_normalise: bool = False,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    resamples: int = 1_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Compare how two data sets rank metrics, as the command ``meta-correlate`` does.

    Parameters
    ----------
    human
        ``"published:NAME"``, a result of ``correlate`` with ratings, its JSON file, or scores whose texts ``ratings`` rate.
    synthetic
        ``"published:NAME"``, a result of ``correlate`` with the level, its JSON file, or scores with levels.
    method
        Coefficient between the two sides.
    first_order
        Coefficient of each metric on a side. Default: ``method``.
    alternative
        Of the p-value in the sentences: ``"greater"``, as in Meta-Judge, or ``"two-sided"``. ``json`` has both.
    ratings, dimension, raters, z_normalise
        Ratings of the texts in ``human``, if it holds scores, and their use as in ``correlate``.
    leave_out, direction
        As in ``correlate``, for sides that hold scores.
    resamples, confidence, seed
        Resamples, level and seed of intervals.

    Returns
    -------
    Result
        Table ``meta-correlation``: a row for each metric with ``human`` and ``synthetic``. Table ``without-family``: the
        coefficient with its interval, ``p_families_one_sided`` and ``over_items_corrected``, then without each family.

    Raises
    ------
    InputError
        If the sides share no metric, or a published side lacks the coefficient.

    Notes
    -----
    Misleads: the interval over metrics is wide, and variants of one family count as several metrics. Read the p over
    families and ``without-family``.

    Examples
    --------
    >>> import assay
    >>> found = assay.meta_correlate("published:cus-qa-cs", "published:cus-qa-cs:qwen-3-30b:zero")
    >>> found.json["n_metrics"]
    28
    """
    check_choice("method", method, METHODS)
    check_choice("first_order", first_order, (*METHODS, None))
    check_choice("alternative", alternative, get_args(Alternative))
    made = interval_options(resamples, confidence, seed)
    people = None if ratings is None else people_of(ratings)
    options = CorrelationOptions(**ratings_used(people, dimension, raters, z_normalise))
    choice = choice_of(leave_out, direction)
    sides = [_side(human, people, options, human=True), _side(synthetic, None, options, human=False)]
    check_table_choice(choice, *(side.table if isinstance(side, LiveSide) else side for side in sides))
    first, second = (chosen_side(side, choice) for side in sides)
    found = meta_of(first, second, method=method, first_order=first_order, **made)
    said = meta_said(found, alternative)
    return result_of(
        said,
        meta_json(found),
        verdict=" ".join(
            [*found.sides_said, "; ".join([*meta_title(found).splitlines(), *brief_said(found)])]
        ),
    )


def calibrate(
    ratings: Source,
    scores: Source | Sequence[Source],
    *,
    dimension: str | None = None,
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    by: Names | None = None,
    averaged: Literal["macro", "pooled"] = "macro",
    majority: Majority = "drop",
    dawid_skene: bool = False,
    paper_kappa: bool = False,
    map: MapMethod | None = None,  # the command's name
    resamples: int = CalibrationOptions.n_resamples,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Compare evaluators with people: agreement, kappas, bias, and where not to use them, as ``calibrate`` does.

    Parameters
    ----------
    ratings
        Ratings by people: a data frame or anything that ``read`` reads.
    scores
        Scores of one or more evaluators on the same texts: a data frame with a column for each evaluator, for instance.
    dimension
        Dimension of the ratings. Default: all.
    columns
        Which column of scores belongs to which dimension, as ``{"judge": "accuracy"}``. Default: by the end of its name.
    task
        Task whose classes raters chose from: a name or a YAML file. Default: that of the study or of the judge's run,
        else guessed from the ratings.
    scale, classes, missing
        The raters' scale, as in ``alt_test``; it decides before the task.
    by
        Columns that make the groups. Default: ``language``, ``task`` and ``dimension``, as far as they exist.
    averaged
        Overall result: ``"macro"`` (each group counts once) or ``"pooled"`` (each text counts once).
    majority
        Split votes: ``"drop"`` leaves the text out; ``"median"`` and ``"middle"`` choose a class.
    dawid_skene
        Also estimate raters' errors and the texts' classes by Dawid and Skene's model. Majorities do not change.
    paper_kappa
        Count an undefined kappa as 0 in means over groups, as Multilingual does.
    map
        Also fit ``"isotonic"`` or ``"ordinal"`` maps from scores to ratings, cross-validated by item.
    resamples, confidence, seed
        Resamples, level and seed of intervals.

    Returns
    -------
    Result
        Tables ``agreement``, ``raters``, ``majority``, ``bias`` and ``split-raters`` for classes, ``numbers`` for other
        ratings, ``classes``, ``where-not-to-use``; with ``dawid_skene`` also ``dawid-skene``, ``confusion`` and
        ``dawid-skene-agreement``. A judge's repeats count for ``split-raters`` if its run is given; else a score is one
        answer. ``json`` is an object for one evaluator, a list for several.

    Raises
    ------
    InputError
        If scores and ratings share no text, or a column's dimension is unclear.

    Notes
    -----
    Misleads: if one class is popular, percentage agreement is high for any evaluator, even one that always answers the
    same. Read kappa, the bias and the sentences first.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> people = pd.DataFrame({"item_id": [1, 2, 3, 4] * 2, "rater": ["a"] * 4 + ["b"] * 4, "score": [0, 1, 2, 2] * 2})
    >>> judge = pd.DataFrame({"item_id": [1, 2, 3, 4], "judge": [0, 1, 2, 1]})
    >>> frame = assay.calibrate(people, judge, resamples=0).frame
    >>> float(frame["pairwise"][0])
    0.75
    """
    check_choice("averaged", averaged, ("macro", "pooled"))
    check_type("dimension", dimension, str, "the name of a dimension", optional=True)
    wanted = 'a dictionary from columns of scores to dimensions, such as {"judge": "accuracy"}'
    check_type("columns", columns, Mapping, wanted, optional=True)
    check_type("task", task, PATH, "the name of a task or the path of a YAML file", optional=True)
    check_choice("majority", majority, get_args(Majority))
    check_choice("map", map, (*get_args(MapMethod), None))
    made = interval_options(resamples, confidence, seed)
    declared = scale_from(scale, classes, missing)
    people, task_of_study = ratings_and_task_of(ratings, declared)
    raters_task = task_of_study if task is None else find_task(os.fspath(task))
    options = CalibrationOptions(majority=majority, paper_kappa=paper_kappa, scale=declared, **made)
    group_by = None if by is None else names_of(by)
    every: list[Calibration] = []
    split = []
    for source in each_of(scores):
        table, asked = scores_of(source, declared), asked_from(source)
        own_task = raters_task or asked.task
        of_task = replace(options, dimensions=own_task.dimensions if own_task else ())
        of_source = [
            calibration_of(people, table, one, group_by=group_by, options=of_task)
            for one in evaluators_of(
                table, people, dimension=dimension, columns=columns, said=asked.dimension
            )
        ]
        every += of_source
        split += [split_of(one, table, asked.output) for one in of_source]
    maps = [None if map is None else maps_of(one, method=map) for one in every]
    cells = [(one.evaluator, cell) for one in every for cell in one.cells]
    tables = list(calibration_tables(every, averaged).values())
    by_split = split_table([(one.evaluator, own) for one, own in zip(every, split, strict=True)])
    further = [class_table(cells), warned_table(every)]
    (tables if by_split.rows else further).append(by_split)
    if named := [(one.evaluator, own) for one, own in zip(every, maps, strict=True) if own is not None]:
        tables.append(map_table(named))
        further.append(reliability_table(named))
    as_json = [
        calibration_json(one, advice(one), own, averaged, apart)
        for one, own, apart in zip(every, maps, split, strict=True)
    ]
    if dawid_skene:
        raters = [rater_classes(one) for one in every]
        tables += dawid_skene_tables(list(zip(every, raters, strict=True)))
        for one, errors in zip(as_json, raters, strict=True):
            one["dawid_skene"] = dawid_skene_json(errors)
    verdict = " ".join(advice(one).sentence for one in every)
    return result_of(
        [*calibration_said(every), *tables], as_json[0] if len(as_json) == 1 else as_json, further, verdict
    )


_map = map
"""The built-in, which a parameter of `calibrate` hides."""


def _side(given: Result | Source, people: People | None, options: CorrelationOptions, *, human: bool) -> Side:
    """Return a side of a meta-correlation; see `meta_correlate`."""
    if isinstance(given, Result):
        if given.tables[0].name != "correlations":
            raise InputError(
                f"A side is a result of correlate. This one has the table {given.tables[0].name}."
            )
        return read_correlations(json.dumps(given.json).encode(), "correlations", synthetic=not human)

    def rated(scores: Scores) -> tuple[People, CorrelationOptions]:
        if people is None:
            name = shown(scores.table.file_name or "scores")
            raise InputError(
                f"The human side {name} is a table of scores. Give the ratings of its texts with ratings=."
            )
        return people, options

    if frame_in(given) is None:
        with in_parameters():
            return side_of(
                named_source(given), reading_of(), human=human, rated=people is not None, ratings=rated
            )
    table = scores_of(given)
    name = table.file_name or "scores"
    return LiveSide(name, table, *rated(Scores(table))) if human else LiveSide(name, table)
