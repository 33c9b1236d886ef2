"""Analyses of scores, ratings and correlations, each with the command's tables, sentences and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from numbers import Real
from typing import Literal, get_args

from core.errors import InputError
from core.formats.correlations import read_correlations
from core.joining.choices import check_choice as check_table_choice
from core.joining.tables import CorrelationOptions, SystemScores
from core.notebook.frames import (
    Directions,
    LeaveOut,
    Names,
    Source,
    check_choice,
    check_type,
    choice_of,
    each_of,
    frame_in,
    in_parameters,
    interval_options,
    named_source,
    people_of,
    ratings_used,
    reading_of,
    scores_of,
)
from core.notebook.result import Result, result_of
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
