"""Analyses of scores, ratings and correlations, each with the command's tables, sentences and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from core.errors import InputError
from core.formats.correlations import PREFIX, published_side, read_correlations
from core.formats.tasks import find_task
from core.judges.quality import Majority
from core.notebook.frames import (
    PATH,
    STORED,
    Names,
    Source,
    beside_from,
    beside_judge,
    check_choice,
    check_parameters,
    check_type,
    frame_in,
    in_rows,
    judge_from,
    names_of,
    panel_from,
    ratings_of,
    scores_of,
    table_in,
    texts_of,
    type_problems,
)
from core.notebook.result import Result, result_of
from core.report import json_of
from core.results.alt_test import DEFAULT_OPTIONS as ALT_TEST
from core.results.alt_test import (
    AltTestOptions,
    alt_test_json,
    alt_test_said,
    alt_test_tables,
    alt_tests,
    option_problems,
    verdict_of,
)
from core.results.calibration.cells import evaluators_of
from core.results.calibration.raters import dawid_skene_json, dawid_skene_tables, rater_classes
from core.results.calibration.results import (
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
from core.results.check.choosing import (
    stated_facts,
    which_json,
    which_of,
    which_said,
    which_tables,
)
from core.results.check.facts import facts_of_tables
from core.results.check.gaps import gaps_of, texts_of_outputs
from core.results.check.tables import check_json, check_said, check_tables
from core.results.check.verdict import DEFAULT_OPTIONS as CHECK
from core.results.check.verdict import CheckOptions, Use, check_panel
from core.results.check.verdict import option_problems as check_option_problems
from core.results.choices import (
    TableChoice,
    chosen_people,
    chosen_table,
    interval_problems,
)
from core.results.choices import (
    check_choice as check_table_choice,
)
from core.results.corrected import (
    Options as CorrectedOptions,
)
from core.results.corrected import (
    corrected_json,
    corrected_numbers,
    corrected_said,
    corrected_tables,
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
from core.results.correlations.files import (
    BY_MODEL,
    OfFile,
    by_model_json,
    by_model_table,
    correlate_files,
    judges_by_model,
)
from core.results.correlations.levels import by_level, level_table, levels_json, monotonic_table, worst_table
from core.results.correlations.ranking import (
    Test,
    compare_in_groups,
    compared_json,
    compared_said,
    comparison_table,
    rank_metrics,
    ranking_json,
    ranking_table,
    redundancy_json,
    redundancy_table,
)
from core.results.correlations.ranking import (
    redundancy as redundancy_of,
)
from core.results.correlations.table import (
    against_said,
    correlate_dimensions,
    correlation_rows,
    correlation_table,
    dimension_of,
)
from core.results.joining import DEFAULT_OPTIONS, CorrelationOptions, Raters, SystemScores, merge_tables
from core.results.judges.bias import DEFAULT_OPTIONS as BIAS
from core.results.judges.bias import (
    BiasOptions,
    bias_audit,
    bias_json,
    bias_said,
    bias_table,
    changes_table,
)
from core.results.judges.bias import option_problems as bias_option_problems
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
from core.schema.scores import METHODS, Direction, Method, RatingSet, ScoreTable
from core.stats.alt_test import ALIGNMENTS, Alignment
from core.stats.calibration import Method as MapMethod
from core.tables.files import read_file
from core.tables.reading import shown

Target: TypeAlias = "Source | Literal['level']"
LeaveOut = Mapping[str, Names]
"""Column -> values of the texts to leave out."""
Directions = Mapping[str, Direction]
"""Metric -> whether lower or higher scores are better."""
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
    made = _intervals(
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
        else os.fspath(one)
        if os.fspath(one).startswith(STORED)
        else Path(one).name
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
    made = _intervals(resamples, confidence, seed)
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
    made = _intervals(resamples, confidence, seed, _method_problems(methods))
    table, people, options = _sides(
        scores, with_, leave_out, direction, dimension, raters, z_normalise, system_scores, made
    )
    options = replace(options, methods=_in_order(methods))
    found = compare_in_groups(table, people, first, second, group=names_of(group), options=options)
    said = compared_said(found)
    return result_of(said, compared_json(found), verdict="".join(one for one in said if isinstance(one, str)))


def levels(
    scores: Source,
    *,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    resamples: int = DEFAULT_OPTIONS.n_resamples,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Return scores by level, and how often a metric falls with each step of damage, as ``correlate --levels`` does.

    Parameters
    ----------
    scores, leave_out, direction, resamples, confidence, seed
        As in ``correlate``.

    Returns
    -------
    Result
        Tables ``levels`` (mean by metric and level), ``monotonic`` (share of items whose scores fall at every step) and
        ``prefers-damaged`` (the texts on which a metric prefers more damage).

    Raises
    ------
    InputError
        If no text has a level.

    Notes
    -----
    Misleads: an average can fall although single items do not. Read ``monotonic``.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
    >>> assay.levels(scores, resamples=0).names
    ['levels', 'monotonic', 'prefers-damaged']
    """
    made = _intervals(resamples, confidence, seed)
    found = by_level(_table(scores, leave_out, direction), **made)
    return result_of([level_table(found), monotonic_table(found)], levels_json(found), [worst_table(found)])


def redundancy(
    scores: Source,
    method: Method = "spearman",
    *,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
) -> Result:
    """Correlate metrics with each other, as ``correlate --redundancy`` does.

    Parameters
    ----------
    scores
        As in ``correlate``.
    method
        Coefficient.
    leave_out, direction
        As in ``correlate``.

    Returns
    -------
    Result
        Table ``redundancy``: ``first``, ``second``, ``correlation``, ``n``.

    Raises
    ------
    InputError
        For an unknown method, column or metric.

    Notes
    -----
    Misleads: over texts of all levels, any two metrics that notice damage agree.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["rouge-1", "rouge-l"])
    >>> assay.redundancy(scores).frame[["first", "second", "n"]].values.tolist()
    [['rouge-1', 'rouge-l', 140]]
    """
    check_choice("method", method, METHODS)
    found = redundancy_of(_table(scores, leave_out, direction), method=method)
    return result_of([redundancy_table(found)], redundancy_json(found))


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
        **_intervals(resamples, confidence, seed, problems),
    )
    found = accuracies_of(ratings_of(ratings), merge_tables([*map(scores_of, _each(scores))]), options)
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
    made = _intervals(resamples, confidence, seed)
    people = None if ratings is None else ratings_of(ratings)
    options = _use_of(people, dimension, raters, z_normalise)
    choice = _choice(leave_out, direction)
    sides = [_side(human, people, options, human=True), _side(synthetic, None, options, human=False)]
    check_table_choice(choice, *(side.table if isinstance(side, LiveSide) else side for side in sides))
    first, second = (chosen_side(side, choice) for side in sides)
    found = meta_of(first, second, method=method, first_order=first_order, **made)
    said = meta_said(found, alternative)
    return result_of(
        said,
        meta_json(found),
        verdict="; ".join([*meta_title(found).splitlines(), *brief_said(found)]),
    )


def calibrate(
    ratings: Source,
    scores: Source | Sequence[Source],
    *,
    dimension: str | None = None,
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
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
        Task whose classes raters chose from: a name or a YAML file. Default: the whole numbers found. The command looks
        up the task of a study or a judge's run; here, name it.
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
        ``dawid-skene-agreement``. The command also reads a judge's repeats from its run, for ``split-raters``; here a
        score is one answer. ``json`` is an object for one evaluator, a list for several.

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
    made = _intervals(resamples, confidence, seed)
    people = ratings_of(ratings)
    classes = find_task(os.fspath(task)).dimensions if task is not None else ()
    options = CalibrationOptions(majority=majority, paper_kappa=paper_kappa, dimensions=classes, **made)
    group_by = None if by is None else names_of(by)
    every = [
        calibration_of(people, table, one, group_by=group_by, options=options)
        for table in [*_map(scores_of, _each(scores))]
        for one in evaluators_of(table, people, dimension=dimension, columns=columns)
    ]
    maps = [None if map is None else maps_of(one, method=map) for one in every]
    split = [split_of(one) for one in every]
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


def alt_test(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    epsilon: float = ALT_TEST.epsilon,
    alignment: Alignment = "accuracy",
    items: Sequence[int] = ALT_TEST.items,
    advantage: float | None = None,
    resamples: int = ALT_TEST.n_resamples,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Test whether judges may stand in for a rater, as ``alt-test`` does.

    Parameters
    ----------
    ratings
        Raters, and perhaps judges: a data frame with a column for each, or with a row for each item, rater and score, or
        anything that ``read`` reads as ratings.
    scores
        Scores of further judges on the same texts.
    human
        Raters: columns, or names in the column ``rater``. Default in a long table: all that are not judges.
    judge
        Judges: columns, names in the column ``rater``, or metrics of ``scores``. Default: all metrics of ``scores``.
    dimension
        Dimension of the ratings. Default: the only one.
    epsilon
        Price of a rater: by which share of texts a rater may be ahead of the judge, because the judge is cheaper.
    alignment
        Closeness to the other raters: ``"accuracy"`` (equal labels) or ``"rmse"`` (distances).
    items, advantage
        Numbers of items for which to give the probability to pass, and the advantage to suppose for it. Default: the
        observed one.
    resamples, confidence, seed
        Draws of items for that probability, confidence level of intervals, seed.

    Returns
    -------
    Result
        Table ``alt-test`` (a row for each judge: ``winning_rate``, ``verdict``, ``advantage`` ...), ``alt-test-raters``,
        ``alt-test-ceiling``, ``alt-test-power``, ``alt-test-epsilons``.

    Raises
    ------
    InputError
        With fewer than two raters, without a judge, for unknown names, and if a rater rated a text twice.

    Notes
    -----
    Misleads: if raters disagree for no reason, any judge near the middle passes. Read the human ceiling beside the verdict.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": range(40), "a": [0, 1] * 20, "b": [0, 1] * 20, "c": [0, 1, 1, 1] * 10, "x": [0, 1] * 20})
    >>> found = assay.alt_test(frame, human=["a", "b", "c"], judge="x")
    >>> found.frame[["judge", "winning_rate", "advantage"]].values.tolist()
    [['x', 1.0, 1.0]]
    """
    check_choice("alignment", alignment, tuple(ALIGNMENTS))
    chosen = AltTestOptions(epsilon=epsilon, alignment=alignment, items=tuple(items), advantage=advantage)
    made = _intervals(resamples, confidence, seed, option_problems(chosen))
    panel = panel_from(ratings, list(_each(scores)), human=human, judge=judge, dimension=dimension)
    found = alt_tests(panel, replace(chosen, **made))
    main, *others = alt_test_tables(found).values()
    verdict = " ".join(map(verdict_of, found.judges))
    return result_of([*alt_test_said(found), main], alt_test_json(found), others, verdict)


def check(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    system_column: str | None = None,
    use: Use | None = None,
    margin: float = CHECK.margin,
    tolerance: float = CHECK.tolerance,
    accuracy: float = CHECK.accuracy,
    ceiling: float | None = CHECK.ceiling,
    epsilon: float = CHECK.epsilon,
    prices: Mapping[str, float] | None = None,
    seconds: Mapping[str, float] | None = None,
    currency: str = "USD",
    resamples: int = CHECK.n_resamples,
    confidence: float = CHECK.confidence_level,
    seed: int = CHECK.rng,
) -> Result:
    """Decide whether a judge can be trusted for a use, as the command ``check`` does.

    Parameters
    ----------
    ratings, scores, human, judge, dimension
        As in ``alt_test``; columns that are not named are found by their names and contents.
    system_column
        Column with the system. Default: found by its name.
    use
        ``"replace"`` a rater, ``"rank"`` systems, ``"gate"`` single answers or ``"monitor"`` a mean. Default: replace with
        three raters or more, else gate.
    margin, tolerance, accuracy, ceiling, epsilon
        Limits of the uses, as the options of the command.
    prices, seconds, currency
        Price and time of 1,000 texts by judge, and the currency of the prices.
    resamples, confidence, seed
        Resamples of items for the order of systems, level of all intervals, seed.

    Returns
    -------
    Result
        ``verdict`` is ``"TRUSTED"``, ``"NOT TRUSTED"`` or ``"INCONCLUSIVE"``, and empty for several judges; ``sentence`` says
        why. Table ``check`` (a row for each judge), ``check-rules`` and ``check-groups``.

    Raises
    ------
    InputError
        With all problems of the options, for unknown names, without a judge or a rater, if no text has both, and for
        ``use="rank"`` with fewer than two systems.

    Notes
    -----
    Misleads: a verdict holds for texts and raters like these, and the best of several judges is favoured by chance.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": range(60), "a": [0, 1] * 30, "b": [0, 1] * 30, "c": [0, 1] * 30, "x": [0, 1] * 30})
    >>> assay.check(frame, human=["a", "b", "c"], judge="x").verdict
    'TRUSTED'
    """
    check_type("currency", currency, str, "a text such as USD")
    chosen = CheckOptions(use, margin, tolerance, accuracy, ceiling, epsilon)
    made = _intervals(resamples, confidence, seed, check_option_problems(chosen))
    panel = panel_from(
        ratings,
        list(_each(scores)),
        human=human,
        judge=judge,
        dimension=dimension,
        system_column=system_column,
        find=True,
    )
    facts = stated_facts(facts_of_tables(panel, {}), panel, prices or {}, seconds or {}, currency)
    found = check_panel(panel, replace(chosen, **made), facts=facts)
    main, *others = check_tables(found).values()
    return result_of([*check_said(found), main], check_json(found), others, found.verdict or "")


def which_judge(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    prices: Mapping[str, float] | None = None,
    seconds: Mapping[str, float] | None = None,
    currency: str = "",
    use: Use | None = None,
    margin: float = CHECK.margin,
    resamples: int = CHECK.n_resamples,
    confidence: float = CHECK.confidence_level,
    seed: int = CHECK.rng,
) -> Result:
    """Choose between several judges: quality on the same texts against price and time, as ``check`` does with several.

    Parameters
    ----------
    ratings, scores, human, judge, dimension
        As in ``alt_test``, with two judges or more.
    prices, seconds
        Price and time of 1,000 texts by judge. With both unknown for a judge there is no front.
    currency
        Currency of the prices, for the sentence. Default: none is written.
    use
        Use for which a judge that is NOT TRUSTED is not recommended: ``"replace"``, ``"rank"``, ``"gate"``, ``"monitor"``.
        Default: as in ``check``.
    margin
        How much worse than the best judge a cheaper one may be shown to be and still be used.
    resamples, confidence, seed
        Resamples of differences of correlations, level of intervals, seed.

    Returns
    -------
    Result
        Table ``which-judge`` (a row for each judge, best first: ``quality``, ``price_per_1000``, ``seconds_per_1000``,
        ``use``, ``on_front``, ``dominated_by``) and table ``comparisons`` (every two: ``difference``, ``p``, ``p_holm``,
        ``better``). ``plot(found, "quality", against="price_per_1000")`` draws quality against price.

    Raises
    ------
    InputError
        With fewer than two judges, for unknown names, and if no text has a rating and a score of every judge.

    Notes
    -----
    Misleads: the best judge was found on the same texts, so its quality is a little too high. Check it on new texts. "Not
    shown to be better" does not mean equal: read the interval.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": range(60), "person": [0, 1] * 30, "big": [0, 1] * 30, "small": [0, 1, 1, 1] * 15})
    >>> found = assay.which_judge(frame, human="person", judge=["big", "small"], prices={"big": 2, "small": 0.1})
    >>> found.json["use"]
    'big'
    """
    check_type("currency", currency, str, "a text such as USD")
    chosen = CheckOptions(use=use, margin=margin)
    made = _intervals(resamples, confidence, seed, check_option_problems(chosen))
    panel = panel_from(ratings, list(_each(scores)), human=human, judge=judge, dimension=dimension, find=True)
    facts = stated_facts(facts_of_tables(panel, {}), panel, prices or {}, seconds or {}, currency)
    found = which_of(check_panel(panel, replace(chosen, **made), facts=facts))
    main, *others = which_tables(found).values()
    said = which_said(found)
    return result_of([*said, main], which_json(found), others, " ".join(said))


def gaps(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    most: int | None = None,
    texts: bool = False,
) -> Result:
    """List the texts on which people and judges differ most, as ``check --gaps`` does.

    Parameters
    ----------
    ratings, scores, human, judge, dimension
        As in ``alt_test``.
    most
        Number of texts. Default: all.
    texts
        Whether the list has the questions, the texts and the judges' reasons of ``ratings``. They may be confidential.

    Returns
    -------
    Result
        Table ``gaps``, largest gap first: ``item``, a column for each rater, ``judge``, ``score``, ``gap``, ``direction``,
        ``measure`` ...

    Raises
    ------
    InputError
        For unknown names, and if a rater rated a text twice.

    Notes
    -----
    Misleads: a text that one rater rated can lead the list because that rater slipped.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": ["q1", "q2"], "a": [1, 5], "b": [2, 5], "x": [5, 5]})
    >>> assay.gaps(frame, human=["a", "b"], judge="x").frame[["item", "gap", "direction"]].values.tolist()
    [['q1', 3.5, 'higher'], ['q2', 0.0, '']]
    """
    check_type("most", most, Integral, "a whole number", optional=True)
    check_parameters([f"most: {most} is below 1"] if most is not None and most < 1 else [])
    panel = panel_from(ratings, list(_each(scores)), human=human, judge=judge, dimension=dimension, find=True)
    table = gaps_of(panel, beside_from(ratings, panel) if texts else (), most=most)
    return result_of([table], json_of(table))


def next_labels(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    n: int,
    whole_items: bool = False,
    rng: int = 0,
) -> Result:
    """Choose the texts to label next, with known probabilities, as ``check --next`` does.

    Parameters
    ----------
    ratings, scores, human, judge, dimension
        As in ``alt_test``. Texts without a label have no rating, but a score of every judge.
    n
        Number of texts.
    whole_items
        Draw items with all their texts, as ``--use rank`` does.
    rng
        Seed of the draw.

    Returns
    -------
    Result
        Table ``next-labels``: ``item_id``, ``system``, ``level``, ``language``, ``inclusion_probability``,
        ``expected_deviation``, ``why``.

    Raises
    ------
    InputError
        For unknown names, and if every text has a label.

    Notes
    -----
    Misleads: without their probabilities, the new labels describe the chosen texts only.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": ["q1", "q2", "q3", "q4"], "a": [1, 0, None, None], "x": [1, 1, 0, 1]})
    >>> assay.next_labels(frame, human="a", judge="x", n=2).frame["inclusion_probability"].tolist()
    [1.0, 1.0]
    """
    # Imported lazily: loads studies and the planner.
    from core.results.check.next_labels import next_labels as labels_next
    from core.results.check.next_labels import next_labels_json, next_labels_said, next_labels_table

    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        check_parameters([f"n: {n!r} is not a whole number from 1"])
    panel = panel_from(ratings, list(_each(scores)), human=human, judge=judge, dimension=dimension)
    found = labels_next(panel, n, whole_items=whole_items, rng=rng)
    return result_of([*next_labels_said(found), next_labels_table(found)], next_labels_json(found))


def bias(
    scores: Source | Sequence[Source],
    *,
    limit: float = BIAS.limit,
    alpha: float = BIAS.alpha,
    changes: int = 10,
    texts: Source | None = None,
    confidence: float = BIAS.confidence_level,
    seed: int = BIAS.rng,
) -> Result:
    """Measure what besides quality sways judges and metrics, as ``judge bias`` does.

    Parameters
    ----------
    scores
        Scores of a file of edited twins, as ``judge twins`` makes it: a data frame, a file, the folder of a judge's run or
        ``"run:3"``. A run or its folder also tells the bias for a place, if a pairwise or rubric judge read both orders.
    limit
        A probe is ``underpowered`` if the smallest change that it can show is larger than this share of the judge's scale.
    alpha
        Level of the tests, corrected over a judge's probes.
    changes
        Number of texts in the table ``bias-changes``, largest change first.
    texts
        The file of twins, for the texts behind a table of scores.
    confidence, seed
        Confidence level of intervals, and seed of the drawn sign flips.

    Returns
    -------
    Result
        Table ``bias``, a row for each judge and probe: ``verdict`` (``biased``, ``no bias found``, ``underpowered``,
        ``undefined``), ``favours``, ``change``, ``of_gap``, ``flips``, ``detectable``, ``p_bh``. And ``bias-changes``.

    Raises
    ------
    InputError
        If the scores have neither edited texts nor verdicts in both orders.

    Notes
    -----
    Misleads: overlap with a reference rightly falls when a text grows, and a longer text is not as good where conciseness
    counts.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> cells = [(f"q{at}", level, pair, edit, 4 - 2 * (level == "A3") + (edit == "padding"))
    ...          for at in range(12) for pair in ("none", "padding") for level, edit in (("A0", pair), ("A3", "none"))]
    >>> frame = pd.DataFrame(cells, columns=["item", "level", "pair", "edit", "judge"])
    >>> assay.bias(frame).frame[["probe", "verdict", "favours", "change", "of_gap"]].values.tolist()
    [['padding', 'biased', 'edited', 1.0, 0.5]]
    """
    unlike = [
        *type_problems("limit", limit, Real, "a number above 0 and at most 1"),
        *type_problems("alpha", alpha, Real, "a number between 0 and 1"),
        *type_problems("confidence", confidence, Real, "a number between 0 and 1"),
        *type_problems("changes", changes, Integral, "a whole number"),
        *type_problems("seed", seed, Integral, "a whole number of at least 0"),
    ]
    check_parameters(unlike)
    chosen = BiasOptions(limit, alpha, confidence, seed)
    check_parameters(
        [*bias_option_problems(chosen), *([f"changes: {changes} is negative"] if changes < 0 else [])]
    )
    audits, beside = [], list(texts_of_outputs(texts_of(texts).outputs)) if texts is not None else []
    for one in _each(scores):
        output = judge_from(one)
        audits.append(bias_audit(scores_of(one), output, chosen))
        beside += [] if output is None else beside_judge(output)
    listed = changes_table(audits, beside, most=changes) if changes else None
    said = bias_said(audits)
    tables = [] if listed is None else [listed]
    return result_of([*said, bias_table(audits)], bias_json(audits, listed), tables, " ".join(said))


def corrected(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    judge: str | None = None,
    human: Names | None = None,
    dimension: str | None = None,
    system_column: str | None = None,
    clusters: str | None = None,
    passes: str | float | None = None,
    method: Literal["ppi++", "rogan-gladen", "labels-only"] | None = None,
    confidence: float = 0.95,
) -> Result:
    """Correct a judge's mean or pass rate by labels from people on some of the texts, as ``corrected`` does.

    Parameters
    ----------
    ratings
        Ratings by people, perhaps with the judge's scores: a data frame or anything that
        ``read`` reads as ratings.
    scores
        Scores of the judge, if ``ratings`` has none.
    judge
        The judge: a column, a name in the column ``rater``, or a metric of ``scores``. Default: the only one of ``scores``.
    human
        Raters: columns of a wide table, or names in the column ``rater``. Default there: all that are not the judge.
    dimension
        Dimension of the ratings. Default: the only one.
    system_column, clusters
        Columns that name the system and the item.
    passes
        Rating that counts as a pass (``--pass``). Default: the better of two words, 1 of 0 and 1, else none: a mean.
    method
        Method that decides; choose it before you see the results. Default: by the rule in docs/inference.md.
    confidence
        Confidence level of intervals.

    Returns
    -------
    Result
        Table ``corrected``: a row for all texts and one for each system, with the corrected number, the judge's, that of
        the labels, ``lambda`` and the labels saved. Tables ``corrected-differences`` and ``corrected-methods``.

    Raises
    ------
    InputError
        Unless there is one judge, and a label beside one of its scores.

    Notes
    -----
    Misleads: if the labelled texts are no random choice, the correction is that of other texts.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"judge": [3, 4, 2, 5] * 50, "human": [2, 4, 1, 4] * 10 + [None] * 160})
    >>> found = assay.corrected(frame, judge="judge", human="human")
    >>> round(found.json["estimate"], 2), found.json["method"], found.json["n_labelled"]
    (2.75, 'ppi++', 40)
    """
    check_type("judge", judge, str, "the name of one judge", optional=True)
    for name, value in (("system_column", system_column), ("clusters", clusters)):
        check_type(name, value, str, "the name of a column", optional=True)
    check_choice("method", method, ("ppi++", "rogan-gladen", "labels-only", None))
    made = _intervals(0, confidence, 0)
    panel = panel_from(
        ratings,
        list(_each(scores)),
        human=human,
        judge=judge,
        dimension=dimension,
        system_column=system_column,
        clusters=clusters,
    )
    wanted = f"{passes:g}" if isinstance(passes, int | float) else passes
    found = corrected_numbers(panel, CorrectedOptions(wanted, method, made["confidence_level"]))
    said = corrected_said(found)
    printed, further = corrected_tables(found)
    return result_of([*said, *printed], corrected_json(found), further, said[0])


_map = map
"""The built-in, which a parameter of `calibrate` hides."""


def _each(scores: Source | Sequence[Source]) -> Iterable[Source]:
    return scores if isinstance(scores, list | tuple) else [scores]  # type: ignore[list-item]  # a path is a text here, not a sequence


def _method_problems(methods: Names) -> list[str]:
    unknown = [name for name in names_of(methods) if name not in METHODS]
    if not unknown and names_of(methods):
        return []
    return [f"methods: {', '.join(unknown) or 'none'} is not one of {', '.join(METHODS)}"]


def _in_order(methods: Names) -> tuple[Method, ...]:
    return tuple(name for name in METHODS if name in names_of(methods))


def _is_there(given: str | None) -> bool:
    """Return whether a text may be a source: a stored one or a path that exists."""
    return given is not None and (given.startswith(STORED) or os.path.exists(given))


def _is_level(with_: Target) -> bool:
    return isinstance(with_, str) and with_ == _LEVEL


def _intervals(
    resamples: int, confidence: float, seed: int, also_wrong: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the options of intervals as keywords of an analysis. Raises InputError with all problems."""
    unlike = [
        *type_problems("resamples", resamples, Integral, "a whole number of at least 0"),
        *type_problems("confidence", confidence, Real, "a number between 0 and 1"),
        *type_problems("seed", seed, Integral, "a whole number of at least 0"),
    ]
    if unlike:
        check_parameters([*unlike, *also_wrong])
    check_parameters([*interval_problems(resamples, confidence, seed), *also_wrong])
    return {"n_resamples": resamples, "confidence_level": confidence, "rng": seed}


def _choice(leave_out: LeaveOut | None, direction: Directions | None) -> TableChoice:
    wanted = 'a dictionary from columns to values, such as {"system": ["refA"]}'
    check_type("leave_out", leave_out, Mapping, wanted, optional=True)
    wanted = 'a dictionary from metrics to "higher" or "lower", such as {"my-distance": "lower"}'
    check_type("direction", direction, Mapping, wanted, optional=True)
    for metric, better in (direction or {}).items():
        check_choice(f"direction of {metric}", better, get_args(Direction))
    gone = [(column, value) for column, values in (leave_out or {}).items() for value in names_of(values)]
    return TableChoice(tuple(dict.fromkeys(gone)), tuple((direction or {}).items()))


def _table(scores: Source, leave_out: LeaveOut | None, direction: Directions | None) -> ScoreTable:
    table, choice = scores_of(scores), _choice(leave_out, direction)
    check_table_choice(choice, table)
    return chosen_table(table, choice)


def _use_of(
    people: RatingSet | None, dimension: Names | None, raters: Raters, z_normalise: bool
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
    table = _table(scores, leave_out, direction)
    people = None if _is_level(with_) else ratings_of(with_)
    options = replace(_use_of(people, dimension, raters, z_normalise), system_scores=system_scores, **made)
    if people is not None:
        people = chosen_people(people, _choice(leave_out, direction), table)
    return table, people, options


def _side(
    given: Result | Source, people: RatingSet | None, options: CorrelationOptions, *, human: bool
) -> Side:
    """Return a side of a meta-correlation; see `meta_correlate`."""
    if isinstance(given, Result):
        if given.tables[0].name != "correlations":
            raise InputError(
                f"A side is a result of correlate. This one has the table {given.tables[0].name}."
            )
        return read_correlations(json.dumps(given.json).encode(), "correlations", synthetic=not human)
    if frame_in(given) is None:
        name = os.fspath(given)  # type: ignore[arg-type]  # it is no frame
        if name.startswith(PREFIX):
            return published_side(name)
        path = Path(name)
        if path.suffix.lower() == ".json" and not path.is_dir() and people is None:
            return read_correlations(read_file(path), path.name, synthetic=not human)
    table = scores_of(given)
    name = table.file_name or "scores"
    if not human:
        return LiveSide(name, table)
    if people is None:
        raise InputError(
            f"The human side {shown(name)} is a table of scores. Give the ratings of its texts with ratings=."
        )
    return LiveSide(name, table, people, options)


def escalate(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    confidence: str | None = None,
    cut: float | None = None,
    agreement: float = 0.9,
    delta: float = 0.1,
    against: Literal["rater", "majority"] = "rater",
    start: int | None = None,
    passes: str | float | None = None,
    labels: Source | Sequence[Source] = (),
) -> Result:
    """Choose the confidence from which a judge agrees with people as often as promised, as ``escalate`` does.

    Parameters
    ----------
    ratings, scores, human, judge, dimension
        As in ``alt_test``. Texts without a label have no rating.
    confidence
        Column of ``ratings`` or ``scores`` with the judge's confidence, or ``"judges"``: the share of several judges with the
        majority's verdict. Default: several judges, else the only column whose name ends like a confidence. (The command also reads
        repeats of a run and pairs.)
    cut
        For scores beside two classes: the better class from this score on, as sure as the distance from it.
    agreement, delta
        Agreement with people that is promised for the kept texts, and the largest probability that the promise is broken.
    against
        Whether a text agrees with a rater, whichever is asked, or with the label that most of its raters gave.
    start
        Labelled items that the first threshold tested must keep. Choose it before you see the result.
    passes
        For the total: rating that counts as a pass, as in ``corrected``.
    labels
        Labels that came back, of texts below the threshold.

    Returns
    -------
    Result
        Table ``escalate``: ``threshold``, ``agreement``, ``lower_bound``, ``kept_labelled``, ``kept_unlabelled``, ``n_sent``. Tables
        ``escalate-thresholds``, ``escalate-total`` and, with a row for each text, ``escalate-texts``.

    Raises
    ------
    InputError
        Without a confidence, without a labelled text, and for verdicts that are no classes of the raters.

    Notes
    -----
    Misleads: the promise holds for texts like the labelled ones, and only if those were chosen at random.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"human": [1, 0] * 20 + [None] * 60, "judge": [1, 0] * 50, "confidence": [0.9] * 100})
    >>> found = assay.escalate(frame, human="human", judge="judge")
    >>> found.json["chosen"]["threshold"], found.json["n_kept_unlabelled"]
    (0.9, 60)
    """
    # Imported lazily: loads studies and the planner.
    from core.results.check.escalation import (
        COLUMN,
        JUDGES,
        EscalationOptions,
        Way,
        columns_in,
        confidence_column,
        escalation_json,
        escalation_said,
        escalation_tables,
        first_labels,
        numbers_beside,
        sure_by_cut,
        sure_by_numbers,
        sure_of_judges,
        ways_had,
    )
    from core.results.check.escalation import escalate as escalated
    from core.results.check.escalation import option_problems as escalation_problems
    from core.results.check.next_labels import check_same_texts, texts_beside, with_labels

    check_type("confidence", confidence, str, "the name of a column", optional=True)
    wanted = f"{passes:g}" if isinstance(passes, int | float) else passes
    options = EscalationOptions(agreement, delta, against, start, passes=wanted)
    check_parameters(escalation_problems(options))
    panel = panel_from(ratings, list(_each(scores)), human=human, judge=judge, dimension=dimension, find=True)
    before, returned = panel, list(_each(labels))
    for one in returned:
        given = panel_from(one)
        own, back = table_in(ratings), table_in(one)
        if own is not None and back is not None:
            here, there = texts_beside(panel, panel, *own), texts_beside(panel, given, *back)
            check_same_texts(panel, given, here, there)
        panel = with_labels(panel, given)
    panel, new = first_labels(before, panel)
    has: dict[Way, Callable[[], bool]] = {JUDGES: lambda: len(panel.judges) > 1, COLUMN: lambda: True}
    if cut is not None:
        sure = sure_by_cut(panel, cut)
    elif (confidence or next(ways_had(has))) == JUDGES:
        sure = sure_of_judges(panel)
    else:
        columns = [
            (name, one, table)
            for one in (ratings, *_each(scores))
            if (table := table_in(one)) is not None
            for name in columns_in(*table)
        ]
        named = confidence or confidence_column([name for name, _, _ in columns]) or ""
        at = next(
            (
                (one, table)
                for name, one, table in columns
                if name.strip().casefold() == named.strip().casefold()
            ),
            None,
        )
        if at is None:
            what = (
                f"no column {shown(named)}"
                if named
                else "none was found; name a column, several judges, or a cut"
            )
            raise InputError("No confidence", [f"confidence: {what}"])
        with in_rows(at[0]):
            sure = sure_by_numbers(panel, numbers_beside(*at[1], panel, named), named)
    found = escalated(panel, sure, options, returned=new if returned else None)
    main, thresholds, total, texts = escalation_tables(found).values()
    said = escalation_said(found)
    return result_of([*said, main, thresholds, total], escalation_json(found), [texts], said[0])
