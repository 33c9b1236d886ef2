"""Analyses of scores, ratings and correlations, each with the command's tables, sentences and JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from core.joining.choices import check_choice as check_table_choice
from core.joining.choices import chosen_table
from core.joining.rated import OfFile
from core.joining.tables import DEFAULT_OPTIONS, CorrelationOptions, Raters, SystemScores
from core.notebook.frames import (
    Directions,
    LeaveOut,
    Names,
    Source,
    check_choice,
    check_parameters,
    check_type,
    choice_of,
    interval_options,
    named_source,
    names_of,
    people_of,
    ratings_used,
    scores_of,
)
from core.notebook.result import Result, result_of
from core.results.correlations.files import (
    BY_MODEL,
    by_model_json,
    by_model_table,
    correlate_files,
    judges_by_model,
)
from core.results.correlations.paired import beside_people
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
)
from core.schema.result_table import ResultTable
from core.schema.scores import METHODS, Method, RatingSet, ScoreTable
from core.sources.named import FileSource, parse_source, short_name

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
    options = replace(
        ratings_used(people, dimension, raters, z_normalise), system_scores=system_scores, **made
    )
    if people is None:
        return chosen_table(table, choice), None, options
    return *beside_people(table, people, choice), options
