"""Analyses of scores, ratings and correlations, each with the command's tables, sentences and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from core.errors import InputError
from core.formats.correlations import read_correlations
from core.formats.tasks import find_task
from core.joining.choices import check_choice as check_table_choice
from core.joining.choices import chosen_table
from core.joining.rated import OfFile
from core.joining.tables import DEFAULT_OPTIONS, CorrelationOptions, Raters, SystemScores
from core.judges.quality import Majority
from core.notebook.frames import (
    PATH,
    Directions,
    LeaveOut,
    Names,
    Source,
    asked_from,
    check_choice,
    check_parameters,
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
from core.results.correlations.files import (
    BY_MODEL,
    by_model_json,
    by_model_table,
    correlate_files,
    judges_by_model,
)
from core.results.correlations.paired import People, beside_people
from core.results.correlations.ranking import (
    Test,
    compare_in_groups,
    compared_json,
    compared_said,
    comparison_table,
    rank_metrics,
    ranking_json,
    ranking_table,
)
from core.results.correlations.table import (
    against_said,
    correlate_dimensions,
    correlation_rows,
    correlation_table,
    dimension_of,
)
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
from core.schema.result_table import ResultTable
from core.schema.scores import METHODS, Method, RatingSet, ScoreTable
from core.sources.named import FileSource, parse_source, short_name
from core.sources.scores import Scores
from core.sources.sides import side_of
from core.stats.calibration import Method as MapMethod
from core.tables.reading import shown

Target: TypeAlias = "Source | Literal['level']"
_LEVEL = "level"


def correlate(
    scores: Source | Sequence[Source] | Mapping[str, Source],
    with_: Target = _LEVEL,
    *,
    group: Names = (),
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    dimension: Names | None = None,
    raters: Raters = "averaged",
    z_normalise: bool = False,
    raw_level: bool = False,
    system_scores: SystemScores = "all",
    methods: Names = METHODS,
    resample: Literal["rows", "items"] = "rows",
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    sizes: Mapping[str, float] | None = None,
) -> Result:
    """Correlate each metric with the damage level or with human ratings, as the command ``correlate`` does.

    Parameters
    ----------
    scores
        Scores of metrics or judges: a data frame (long, or a column for each metric) or anything that ``read`` reads. A
        list of several, or a dictionary from names to them: each is correlated for itself.
    with_
        ``"level"`` (the negative level, so that a good metric is positive) or ratings by people.
    group
        One correlation for each value of these columns, e.g. ``"language"``.
    leave_out
        Texts to leave out, as ``{"system": ["refA", "Human"]}``.
    direction
        Metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``.
    dimension
        Dimension of the ratings; several are used one by one and as a mean.
    raters
        ``"averaged"``: one mean rating for each text. ``"kept"``: every rating.
    z_normalise
        Standardise each rater's ratings.
    raw_level
        Correlate with the level itself. A good metric is then negative.
    system_scores
        Texts over which a metric's system score is the mean: ``"all"``, as in WMT, or ``"rated"``.
    methods
        Coefficients: ``"pearson"``, ``"spearman"``, ``"kendall"``.
    resample
        What to resample for ``pearson_low`` ... ``"items"`` is sounder if an item has several texts.
    resamples
        Number of resamples; 0 for no intervals. Default: until every interval settles, at most 10,000.
    confidence, seed
        Confidence level of intervals, and seed of all resampling.
    sizes
        For several: billions of parameters by model or name, where a model's name does not state them.

    Returns
    -------
    Result
        Table ``correlations``: a row for each metric and group. ``pearson``, ``spearman``, ``kendall`` pool all texts;
        ``kendall_per_item`` is the mean within items, ``pearson_per_system`` is between systems (naive), and
        ``pearson_per_system_corrected`` the same over infinitely many items. Each has ``_low``, ``_high``, ``_n`` and
        ``_reason``. Of several: a column ``file``, and table ``judges-by-model`` with ``technique``, ``model``, ``size``,
        ``pearson`` and ``kendall_per_item``, as in Table 2 of Factual. ``plot(found["judges-by-model"], "kendall_per_item",
        against="size")`` draws its Figure 3b.

    Raises
    ------
    InputError
        For unknown columns, dimensions or metrics, and if scores and ratings share no text.

    Notes
    -----
    Misleads: pooled coefficients mix differences between items with differences within them; read ``kendall_per_item``
    too. Bounds from rows are too narrow if an item has several texts.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
    >>> row = assay.correlate(scores, with_="level", resamples=200).frame.iloc[0]
    >>> bool(row["spearman_low"] < row["spearman"] < row["spearman_high"])
    True
    """
    problems = _method_problems(methods)
    if raw_level and not _is_level(with_):
        problems.append("raw_level: only with the level")
    check_choice("resample", resample, ("rows", "items"))
    made = interval_options(
        DEFAULT_OPTIONS.n_resamples if resamples is None else resamples, confidence, seed, problems
    )
    several = _several_sources(scores)
    if sizes is not None and len(several) == 1 and not isinstance(scores, Mapping):
        check_parameters(["sizes: only for several scores"])
    sides = [
        _sides(one, with_, leave_out, direction, dimension, raters, z_normalise, system_scores, made)
        for one in several.values()
    ]
    table, people, options = sides[0]
    options = replace(
        options,
        until_settled=resamples is None,
        raw_level=raw_level,
        methods=_in_order(methods),
    )
    if len(several) == 1:
        report = correlate_dimensions(table, people, group=names_of(group), options=options)
        said: list[str | ResultTable] = [
            against_said(report, people),
            *report.constants,
            correlation_table(report, resampled=resample),
        ]
        return result_of(said, correlation_rows(report, resampled=resample))
    files = [OfFile(name, one, own) for name, (one, own, _) in zip(several, sides, strict=True)]
    report = correlate_files(files, group=names_of(group), options=options)
    by_model = judges_by_model(report, files, sizes)
    return result_of(
        [
            against_said(report, people),
            *report.constants,
            correlation_table(report, resampled=resample),
            by_model_table(by_model, report, resample),
        ],
        {
            "correlations": correlation_rows(report, resampled=resample),
            BY_MODEL.replace("-", "_"): by_model_json(by_model, resample),
        },
    )


def _several_sources(scores: Source | Sequence[Source] | Mapping[str, Source]) -> dict[str, Source]:
    """Return the sources by name; a file is named by its name, a frame by its number. What is no list is one source."""
    if isinstance(scores, Mapping):
        return {str(name): one for name, one in scores.items()}
    if not isinstance(scores, list | tuple) or any(
        not isinstance(one, str | os.PathLike) and not hasattr(one, "attrs") for one in scores
    ):
        return {"": scores}  # type: ignore[dict-item]  # what is neither is refused where it is read
    called = [
        str(getattr(one, "attrs", {}).get("name") or f"scores {number}")
        if not isinstance(one, str | os.PathLike)
        else short_name(named_source(one))
        for number, one in enumerate(scores, start=1)
    ]
    apart = [
        name if called.count(name) == 1 else f"{name} ({number})"
        for number, name in enumerate(called, start=1)
    ]
    return dict(zip(apart, scores, strict=True))


def rank(
    scores: Source,
    with_: Target = _LEVEL,
    *,
    method: Method = "pearson",
    test: Test = "permutation",
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    dimension: Names | None = None,
    raters: Raters = "averaged",
    z_normalise: bool = False,
    resamples: int = DEFAULT_OPTIONS.n_resamples,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Rank metrics and test every two of them on the same texts, as ``correlate --rank`` does.

    Parameters
    ----------
    scores, with_
        As in ``correlate``.
    method
        Coefficient to rank by.
    test
        ``"permutation"`` swaps the two metrics' scores item by item. ``"williams"`` assumes independent texts.
    leave_out, direction, dimension, raters, z_normalise
        As in ``correlate``.
    resamples
        Most swaps of a test and resamples of a difference, at most 1,000.
    confidence, seed
        Confidence level of the differences' intervals, and seed.

    Returns
    -------
    Result
        Table ``ranking``: ``cluster`` (1 is best), ``metric``, ``coefficient``. A new cluster begins with a metric that
        is significantly worse than all metrics of the cluster before. Two metrics of one cluster may differ. Table
        ``comparisons``: every two metrics with ``difference``, its interval, ``p_two_sided`` and ``p_bh``.

    Raises
    ------
    InputError
        As ``correlate``, and for ``"williams"`` with Kendall.

    Notes
    -----
    Misleads: only texts that all metrics scored are compared. Clusters use ``p_bh``, corrected for all comparisons.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "bleu-4"])
    >>> list(assay.rank(scores, "level", method="spearman", resamples=200).frame["metric"])
    ['chrf-6-0', 'bleu-4']
    """
    check_choice("method", method, METHODS)
    check_choice("test", test, get_args(Test))
    made = interval_options(resamples, confidence, seed)
    table, people, options = _sides(
        scores, with_, leave_out, direction, dimension, raters, z_normalise, "all", made
    )
    found = rank_metrics(table, people, method=method, test=test, options=options)
    return result_of([ranking_table(found)], ranking_json(found), [comparison_table(found)])


def compare(
    scores: Source,
    first: str,
    second: str,
    with_: Target = _LEVEL,
    *,
    group: Names = (),
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    dimension: Names | None = None,
    raters: Raters = "averaged",
    z_normalise: bool = False,
    system_scores: SystemScores = "all",
    methods: Names = METHODS,
    resamples: int = DEFAULT_OPTIONS.n_resamples,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Compare two metrics on the texts that both scored, as ``correlate --compare`` does.

    Parameters
    ----------
    scores
        As in ``correlate``.
    first, second
        Names of two metrics.
    with_, group, leave_out, direction, dimension, raters, z_normalise, system_scores, methods
        As in ``correlate``.
    resamples, confidence, seed
        Resamples of the difference, level of its interval, and seed.

    Returns
    -------
    Result
        Table ``comparison``: a row for each group, ``view`` (pooled, per item, per system, given system) and ``method``,
        with ``first_coefficient``, ``second_coefficient``, ``difference``, ``p_two_sided`` and ``p_holm``.

    Raises
    ------
    InputError
        As ``correlate``, and unless both are metrics of the scores.

    Notes
    -----
    Misleads: the views answer different questions, so ``p_holm`` is corrected for them and for groups. Coefficients are not
    corrected: choose one before you look at the p-values.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "bleu-4"])
    >>> frame = assay.compare(scores, "chrf-6-0", "bleu-4", methods="spearman", resamples=200).frame
    >>> frame[["view", "n"]].values.tolist()
    [['pooled', 140], ['per item', 130], ['given system', 140]]
    """
    for name, metric in (("first", first), ("second", second)):
        check_type(name, metric, str, "the name of a metric")
    made = interval_options(resamples, confidence, seed, _method_problems(methods))
    table, people, options = _sides(
        scores, with_, leave_out, direction, dimension, raters, z_normalise, system_scores, made
    )
    options = replace(options, methods=_in_order(methods))
    found = compare_in_groups(table, people, first, second, group=names_of(group), options=options)
    said = compared_said(found)
    return result_of(said, compared_json(found), verdict="".join(one for one in said if isinstance(one, str)))


def meta_correlate(
    human: Result | Source,
    synthetic: Result | Source,
    *,
    method: Method = "spearman",
    first_order: Method | None = None,
    alternative: Alternative = "greater",
    ratings: Source | None = None,
    dimension: Names | None = None,
    raters: Raters = "averaged",
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
    options = _use_of(people, dimension, raters, z_normalise)
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


def _method_problems(methods: Names) -> list[str]:
    unknown = [name for name in names_of(methods) if name not in METHODS]
    if not unknown and names_of(methods):
        return []
    return [f"methods: {', '.join(unknown) or 'none'} is not one of {', '.join(METHODS)}"]


def _in_order(methods: Names) -> tuple[Method, ...]:
    return tuple(name for name in METHODS if name in names_of(methods))


def _is_there(given: str | None) -> bool:
    """Return whether a text may be a source: one of the database or of a paper, or a path that exists."""
    if given is None:
        return False
    source = parse_source(given)
    return not isinstance(source, FileSource) or source.path.exists()


def _is_level(with_: Target) -> bool:
    return isinstance(with_, str) and with_ == _LEVEL


def _use_of(
    people: People | None, dimension: Names | None, raters: Raters, z_normalise: bool
) -> CorrelationOptions:
    check_choice("raters", raters, get_args(Raters))
    if people is None and (dimension is not None or raters != "averaged" or z_normalise):
        check_parameters(["dimension, raters, z_normalise: only with human ratings"])
    chosen = dimension_of(names_of(dimension))
    return CorrelationOptions(raters=raters, z_normalise=z_normalise, dimension=chosen)


def _sides(
    scores: Source,
    with_: Target,
    leave_out: LeaveOut | None,
    direction: Directions | None,
    dimension: Names | None,
    raters: Raters,
    z_normalise: bool,
    system_scores: SystemScores,
    made: Mapping[str, Any],
) -> tuple[ScoreTable, RatingSet | None, CorrelationOptions]:
    """Return the chosen scores, the chosen ratings (None: levels), and how to use them."""
    check_choice("system_scores", system_scores, get_args(SystemScores))
    if isinstance(with_, str | None) and not _is_level(with_) and not _is_there(with_):
        check_parameters(
            [
                f'with_: {with_!r} is neither "{_LEVEL}" nor a file. For ratings by people, pass a data frame, the path '
                'of a file or folder, or "study:NAME"'
            ]
        )
    table, choice = scores_of(scores), choice_of(leave_out, direction)
    check_table_choice(choice, table)
    people = None if _is_level(with_) else people_of(with_)
    options = replace(_use_of(people, dimension, raters, z_normalise), system_scores=system_scores, **made)
    if people is None:
        return chosen_table(table, choice), None, options
    return *beside_people(table, people, choice), options


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
