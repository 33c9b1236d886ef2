"""The functions of `import assay` that answer the questions of core/analyses.

`python scripts/analyses_reference.py` writes this file from their declarations. A test fails if they differ.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from core.notebook.answering import answered
from core.notebook.frames import (
    Names,
    Source,
    big_table_from,
    dossier_from,
    each_of,
    earlier_from,
    panel_from,
    rated_from,
    study_from,
    tables_from,
)
from core.notebook.result import Result

__all__ = [
    "agreement",
    "alt_test",
    "calibrate",
    "check",
    "corrected",
    "gaps",
    "next_labels",
    "table",
    "votes",
    "which_judge",
]


def check(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    labels: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: Literal["refuse", "first", "last", "mean"] = "refuse",
    against: str | None = None,
    use: Literal["replace", "rank", "gate", "monitor", "certify"] | None = None,
    margin: float = 0.1,
    kept_share: float = 0.75,
    tolerance: float = 0.05,
    least_responsive: float = 0.75,
    most_responsive: float = 1.25,
    accuracy: float = 0.8,
    target: float = 0.9,
    population: Literal["like-these", "these"] = "like-these",
    epsilon: float = 0.2,
    passes_from: str | None = None,
    critical: Sequence[str] = (),
    most_false_passes: float | None = None,
    most_false_fails: float | None = None,
    missing_judge: Literal["wrong", "leave-out"] = "wrong",
    labels_chosen: Literal["at-random", "by-judge"] | None = None,
    ceiling: float | None = None,
    confidence: float = 0.9,
    resamples: int = 2000,
    seed: int = 0,
    price: Mapping[str, float] | None = None,
    seconds: Mapping[str, float] | None = None,
    currency: str = "",
    gaps: int | None = None,
    texts: bool = False,
    next: int | None = None,
    next_seed: int = 0,
) -> Result:
    """Can this judge be trusted for a use, beside people's labels?

    The same numbers as the command ``check``.

    Parameters
    ----------
    ratings
        Raters and judges: a data frame with a column for each, or with a row for each item, rater and score, or
        anything that ``read`` reads as ratings. Columns that are not named are found by their names and contents.
    scores
        Scores of further judges on the same texts.
    labels
        Further labels by people of the same texts, with their inclusion_probability if they were chosen by a
        check.
    human
        Raters: columns of a wide table, or names in the column rater (default: those named like people; in the
        column rater all that are not judges).
    judge
        Judges: columns of ``ratings``, names in its column rater, or metrics of ``scores`` (default: all metrics
        of ``scores``; without one, what is named like a judge).
    dimension
        Which dimension of the ratings to use (default: the only one).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    system_column
        Column of ``ratings`` that names the system (default: system or a usual name of it).
    item
        What an item is, the unit of intervals: a column of ``ratings`` whose rows belong together if they have
        the same value, or row (default: the id; where ids do not repeat, a question or source that does).
    repeated
        Which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is
        refused.
    against
        JSON of an earlier check: says whether the judge, the systems or the raters changed; changes no exit
        status.
    use
        Replace: stand in for a rater; rank: rank systems; gate: decide about single answers; monitor: follow a
        mean over time; certify: show that a system's answers are good (default: replace with three raters or
        more, else gate).
    margin
        For replace and gate: how much worse than a person the judge may be, in shares of answers and in
        correlations (number above 0 and below 1).
    kept_share
        For replace and gate: smallest share of people's own agreement above chance, or correlation, that the
        judge keeps (number above 0 and at most 1).
    tolerance
        For monitor: largest bias, as a share of the scale (number above 0 and below 1).
    least_responsive
        For monitor: how far the judge must move at least when quality moves by 1 (number above 0 and at most 1).
    most_responsive
        For monitor: how far the judge may move at most when quality moves by 1 (number of at least 1).
    accuracy
        For rank: smallest share of pairs of systems in the right order (number above 0 and at most 1).
    target
        For certify: smallest share of a system's answers that must be good (number above 0 and below 1).
    population
        For certify: like-these: all answers that the system gives to such questions; these: only those in the
        file.
    epsilon
        For replace: price of a rater in the Alt-test (number from 0 to below 1).
    passes_from
        For gate and replace: the lowest rating that passes, a number or a word, so that ordered classes or scores
        are compared as two classes; for certify: the lowest rating of a good answer, or without an order the only
        one (default: the scale as it is).
    critical
        For gate and replace: classes in which the judge must be shown to miss hardly more than people, such as
        harmful (list of texts).
    most_false_passes
        With one rater: largest share of the answers that the rater fails which the judge may pass (number above 0
        and below 1; default: no limit, and no trust).
    most_false_fails
        With one rater: largest share of the answers that the rater passes which the judge may fail (number above
        0 and below 1; default: no limit, and no trust).
    missing_judge
        Labelled texts without a score of the judge: wrong: they count as its errors; leave-out: they do not
        count.
    labels_chosen
        How the labelled texts were chosen: at-random, or by-judge: by the judge's answer, so that each answer is
        weighted by how many texts have it (default: not said).
    ceiling
        Human ceiling to show where no text has two raters; it decides nothing (number above 0 and at most 1).
    confidence
        Confidence level of intervals; the rules have their own (number above 0 and below 1).
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    price
        What 1,000 texts cost with a judge (default: what its run cost).
    seconds
        How long a judge takes for 1,000 texts (default: as in its run).
    currency
        Currency of all prices, such as USD.
    gaps
        Also list the N texts on which people and judge differ most (whole number of at least 1; default: not
        listed).
    texts
        With gaps: also the questions, the texts and the judge's reasons, which may be confidential.
    next
        Choose N unlabelled texts to label next, more often where people and judge may differ, with known
        probabilities (table next-labels) (whole number of at least 1; default: none).
    next_seed
        Seed of next (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``check`` with the columns ``judge``, ``verdict``, ``n_items``, ``false_passes``, ``false_fails``,
        ``kept_share``, ``kappa_quadratic``, ``agreement``, ``constant``, ``kappa``, ``ac1``, ``correlation``,
        ``measure``, ``ceiling``, ``advantage``, ``accuracy``, ``bias``, ``responsiveness``, ``bias_low``,
        ``bias_middle``, ``bias_high``, ``coverage``, ``consistency``, ``cost``, ``labels_needed``. Further
        tables: ``check-rules``; ``check-groups``; ``check-systems``; ``marked-texts``; ``marked-means``;
        ``which-judge``; ``comparisons``; ``check-drift``; ``gaps``; ``next-labels``; ``agreement``;
        ``agreement-pairs``; ``agreement-raters``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice. For anything but the
        JSON of an earlier result. With all problems: without a rater, without a judge beside a single rater or if
        an option needs one, if no text has both, and for the use rank with fewer than two systems.

    Notes
    -----
    Misleads: A verdict holds for texts and raters like these, and the best of several judges is favoured by
    chance.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": range(60), "a": [0, 1] * 30, "b": [0, 1] * 30, "c": [0, 1] * 30, "x": [0, 1] * 30})
    >>> assay.check(frame, human=["a", "b", "c"], judge="x").verdict
    'TRUSTED'
    """
    return answered(
        "check",
        {
            "use": use,
            "margin": margin,
            "kept_share": kept_share,
            "tolerance": tolerance,
            "least_responsive": least_responsive,
            "most_responsive": most_responsive,
            "accuracy": accuracy,
            "target": target,
            "population": population,
            "epsilon": epsilon,
            "passes_from": passes_from,
            "critical": critical,
            "most_false_passes": most_false_passes,
            "most_false_fails": most_false_fails,
            "missing_judge": missing_judge,
            "labels_chosen": labels_chosen,
            "ceiling": ceiling,
            "confidence": confidence,
            "resamples": resamples,
            "seed": seed,
            "price": price,
            "seconds": seconds,
            "currency": currency,
            "gaps": gaps,
            "texts": texts,
            "next": next,
            "next_seed": next_seed,
        },
        lambda: dossier_from(
            ratings,
            list(each_of(scores)),
            list(each_of(labels)),
            human=human,
            judge=judge,
            dimension=dimension,
            scale=scale,
            classes=classes,
            missing=missing,
            system_column=system_column,
            item=item,
            repeated=repeated,
        ),
        lambda: earlier_from(against),
    )


def which_judge(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    labels: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: Literal["refuse", "first", "last", "mean"] = "refuse",
    use: Literal["replace", "rank", "gate", "monitor", "certify"] | None = None,
    margin: float = 0.1,
    kept_share: float = 0.75,
    tolerance: float = 0.05,
    least_responsive: float = 0.75,
    most_responsive: float = 1.25,
    accuracy: float = 0.8,
    target: float = 0.9,
    population: Literal["like-these", "these"] = "like-these",
    epsilon: float = 0.2,
    passes_from: str | None = None,
    critical: Sequence[str] = (),
    most_false_passes: float | None = None,
    most_false_fails: float | None = None,
    missing_judge: Literal["wrong", "leave-out"] = "wrong",
    labels_chosen: Literal["at-random", "by-judge"] | None = None,
    ceiling: float | None = None,
    confidence: float = 0.9,
    resamples: int = 2000,
    seed: int = 0,
    price: Mapping[str, float] | None = None,
    seconds: Mapping[str, float] | None = None,
    currency: str = "",
) -> Result:
    """Which of several judges should be used, by quality, price and time on the same texts?

    The same numbers as the command ``report which-judge``.

    Parameters
    ----------
    ratings
        Raters and judges: a data frame with a column for each, or with a row for each item, rater and score, or
        anything that ``read`` reads as ratings. Columns that are not named are found by their names and contents.
    scores
        Scores of further judges on the same texts.
    labels
        Further labels by people of the same texts, with their inclusion_probability if they were chosen by a
        check.
    human
        Raters: columns of a wide table, or names in the column rater (default: those named like people; in the
        column rater all that are not judges).
    judge
        Judges: columns of ``ratings``, names in its column rater, or metrics of ``scores`` (default: all metrics
        of ``scores``; without one, what is named like a judge).
    dimension
        Which dimension of the ratings to use (default: the only one).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    system_column
        Column of ``ratings`` that names the system (default: system or a usual name of it).
    item
        What an item is, the unit of intervals: a column of ``ratings`` whose rows belong together if they have
        the same value, or row (default: the id; where ids do not repeat, a question or source that does).
    repeated
        Which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is
        refused.
    use
        Replace: stand in for a rater; rank: rank systems; gate: decide about single answers; monitor: follow a
        mean over time; certify: show that a system's answers are good (default: replace with three raters or
        more, else gate).
    margin
        For replace and gate: how much worse than a person the judge may be, in shares of answers and in
        correlations (number above 0 and below 1).
    kept_share
        For replace and gate: smallest share of people's own agreement above chance, or correlation, that the
        judge keeps (number above 0 and at most 1).
    tolerance
        For monitor: largest bias, as a share of the scale (number above 0 and below 1).
    least_responsive
        For monitor: how far the judge must move at least when quality moves by 1 (number above 0 and at most 1).
    most_responsive
        For monitor: how far the judge may move at most when quality moves by 1 (number of at least 1).
    accuracy
        For rank: smallest share of pairs of systems in the right order (number above 0 and at most 1).
    target
        For certify: smallest share of a system's answers that must be good (number above 0 and below 1).
    population
        For certify: like-these: all answers that the system gives to such questions; these: only those in the
        file.
    epsilon
        For replace: price of a rater in the Alt-test (number from 0 to below 1).
    passes_from
        For gate and replace: the lowest rating that passes, a number or a word, so that ordered classes or scores
        are compared as two classes; for certify: the lowest rating of a good answer, or without an order the only
        one (default: the scale as it is).
    critical
        For gate and replace: classes in which the judge must be shown to miss hardly more than people, such as
        harmful (list of texts).
    most_false_passes
        With one rater: largest share of the answers that the rater fails which the judge may pass (number above 0
        and below 1; default: no limit, and no trust).
    most_false_fails
        With one rater: largest share of the answers that the rater passes which the judge may fail (number above
        0 and below 1; default: no limit, and no trust).
    missing_judge
        Labelled texts without a score of the judge: wrong: they count as its errors; leave-out: they do not
        count.
    labels_chosen
        How the labelled texts were chosen: at-random, or by-judge: by the judge's answer, so that each answer is
        weighted by how many texts have it (default: not said).
    ceiling
        Human ceiling to show where no text has two raters; it decides nothing (number above 0 and at most 1).
    confidence
        Confidence level of intervals; the rules have their own (number above 0 and below 1).
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    price
        What 1,000 texts cost with a judge (default: what its run cost).
    seconds
        How long a judge takes for 1,000 texts (default: as in its run).
    currency
        Currency of all prices, such as USD.

    Returns
    -------
    Result
        Table ``which-judge`` with the columns ``judge``, ``model``, ``quality``, ``measure``, ``price_per_1000``,
        ``seconds_per_1000``, ``n``, ``n_scored``, ``use``, ``on_front``, ``dominated_by``, ``unfit``. Further
        tables: ``comparisons``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice. With fewer than two
        judges, and if no text has a rating and a score of every judge.

    Notes
    -----
    Misleads: The best judge was found on the same texts, so its quality is a little too high: check it on new
    texts. Not shown to be better does not mean equal: read the interval.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": range(60), "person": [0, 1] * 30, "big": [0, 1] * 30, "small": [0, 1, 1, 1] * 15})
    >>> found = assay.which_judge(frame, human="person", judge=["big", "small"], price={"big": 2, "small": 0.1})
    >>> found.json["use"]
    'big'
    """
    return answered(
        "which-judge",
        {
            "use": use,
            "margin": margin,
            "kept_share": kept_share,
            "tolerance": tolerance,
            "least_responsive": least_responsive,
            "most_responsive": most_responsive,
            "accuracy": accuracy,
            "target": target,
            "population": population,
            "epsilon": epsilon,
            "passes_from": passes_from,
            "critical": critical,
            "most_false_passes": most_false_passes,
            "most_false_fails": most_false_fails,
            "missing_judge": missing_judge,
            "labels_chosen": labels_chosen,
            "ceiling": ceiling,
            "confidence": confidence,
            "resamples": resamples,
            "seed": seed,
            "price": price,
            "seconds": seconds,
            "currency": currency,
        },
        lambda: dossier_from(
            ratings,
            list(each_of(scores)),
            list(each_of(labels)),
            human=human,
            judge=judge,
            dimension=dimension,
            scale=scale,
            classes=classes,
            missing=missing,
            system_column=system_column,
            item=item,
            repeated=repeated,
        ),
    )


def gaps(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    labels: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: Literal["refuse", "first", "last", "mean"] = "refuse",
    most: int | None = None,
    texts: bool = False,
) -> Result:
    """On which texts do people and judges differ most?

    The same numbers as the command ``report gaps``.

    Parameters
    ----------
    ratings
        Raters and judges: a data frame with a column for each, or with a row for each item, rater and score, or
        anything that ``read`` reads as ratings. Columns that are not named are found by their names and contents.
    scores
        Scores of further judges on the same texts.
    labels
        Further labels by people of the same texts, with their inclusion_probability if they were chosen by a
        check.
    human
        Raters: columns of a wide table, or names in the column rater (default: those named like people; in the
        column rater all that are not judges).
    judge
        Judges: columns of ``ratings``, names in its column rater, or metrics of ``scores`` (default: all metrics
        of ``scores``; without one, what is named like a judge).
    dimension
        Which dimension of the ratings to use (default: the only one).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    system_column
        Column of ``ratings`` that names the system (default: system or a usual name of it).
    item
        What an item is, the unit of intervals: a column of ``ratings`` whose rows belong together if they have
        the same value, or row (default: the id; where ids do not repeat, a question or source that does).
    repeated
        Which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is
        refused.
    most
        Number of texts (default: all) (whole number of at least 1).
    texts
        Also the questions, the texts and the judge's reasons, which may be confidential.

    Returns
    -------
    Result
        Table ``gaps`` with the columns ``item``, ``system``, ``language``, ``level``, ``*``, ``judge``,
        ``score``, ``people``, ``gap``, ``direction``, ``measure``, ``*``, ``*``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice.

    Notes
    -----
    Misleads: A text that one rater rated can lead the list because that rater slipped. Gaps of different measures
    cannot be compared, so a list of several judges is best read one by one.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": ["q1", "q2"], "a": [1, 5], "b": [2, 5], "x": [5, 5]})
    >>> assay.gaps(frame, human=["a", "b"], judge="x").frame[["item", "gap", "direction"]].values.tolist()
    [['q1', 3.5, 'higher'], ['q2', 0.0, '']]
    """
    return answered(
        "gaps",
        {
            "most": most,
            "texts": texts,
        },
        lambda: dossier_from(
            ratings,
            list(each_of(scores)),
            list(each_of(labels)),
            human=human,
            judge=judge,
            dimension=dimension,
            scale=scale,
            classes=classes,
            missing=missing,
            system_column=system_column,
            item=item,
            repeated=repeated,
        ),
    )


def next_labels(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    labels: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: Literal["refuse", "first", "last", "mean"] = "refuse",
    n: int = 20,
    whole_items: bool = False,
    seed: int = 0,
) -> Result:
    """Which texts should people label next, so that a verdict on the judge is settled soonest?

    The same numbers as the command ``report next-labels``.

    Parameters
    ----------
    ratings
        Raters and judges: a data frame with a column for each, or with a row for each item, rater and score, or
        anything that ``read`` reads as ratings. Columns that are not named are found by their names and contents.
    scores
        Scores of further judges on the same texts.
    labels
        Further labels by people of the same texts, with their inclusion_probability if they were chosen by a
        check.
    human
        Raters: columns of a wide table, or names in the column rater (default: those named like people; in the
        column rater all that are not judges).
    judge
        Judges: columns of ``ratings``, names in its column rater, or metrics of ``scores`` (default: all metrics
        of ``scores``; without one, what is named like a judge).
    dimension
        Which dimension of the ratings to use (default: the only one).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    system_column
        Column of ``ratings`` that names the system (default: system or a usual name of it).
    item
        What an item is, the unit of intervals: a column of ``ratings`` whose rows belong together if they have
        the same value, or row (default: the id; where ids do not repeat, a question or source that does).
    repeated
        Which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is
        refused.
    n
        Number of texts to label next (whole number of at least 1).
    whole_items
        Draw items with all their texts, as a comparison of systems needs.
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``next-labels`` with the columns ``item_id``, ``*``, ``language``, ``*``, ``inclusion_probability``,
        ``expected_deviation``, ``why``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice. If every text has a
        label.

    Notes
    -----
    Misleads: Without their probabilities, the new labels describe the chosen texts only.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": ["q1", "q2", "q3", "q4"], "a": [1, 0, None, None], "x": [1, 1, 0, 1]})
    >>> assay.next_labels(frame, human="a", judge="x", n=2).frame["inclusion_probability"].tolist()
    [1.0, 1.0]
    """
    return answered(
        "next-labels",
        {
            "n": n,
            "whole_items": whole_items,
            "seed": seed,
        },
        lambda: dossier_from(
            ratings,
            list(each_of(scores)),
            list(each_of(labels)),
            human=human,
            judge=judge,
            dimension=dimension,
            scale=scale,
            classes=classes,
            missing=missing,
            system_column=system_column,
            item=item,
            repeated=repeated,
        ),
    )


def calibrate(
    ratings: Source,
    scores: Source | Sequence[Source],
    *,
    task: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    shuffled: str | None = None,
    dimension: str | None = None,
    columns: Mapping[str, str] | Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    averaged: Literal["macro", "pooled"] = "macro",
    majority: Literal["drop", "median", "middle"] = "drop",
    map: Literal["isotonic", "ordinal"] | None = None,
    dawid_skene: bool = False,
    paper_kappa: bool = False,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Does an evaluator agree with people, and where should you not use it?

    The same numbers as the command ``calibrate``.

    Parameters
    ----------
    ratings
        Ratings by people: a data frame or anything that ``read`` reads.
    scores
        Scores of one or more evaluators on the same texts: a data frame with a column for each evaluator, for
        instance.
    task
        Task with the classes to choose from (default: that of the study or judge, else guessed from the ratings).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    shuffled
        A run of the first ``scores`` on texts with shuffled words; shows how often its scores drop.
    dimension
        Which dimension of the ratings to use (default: all).
    columns
        Which column of scores belongs to which dimension (default: by the end of its name, e.g. JUDGE-D) (list of
        texts).
    by
        Columns to group by (default: language, task, dimension); without dimension, all dimensions form one group
        (list of texts; default: language, task, dimension).
    averaged
        Overall result: macro is the mean over groups, each with equal weight; pooled takes all texts together.
    majority
        How to resolve split votes: drop leaves the text out; median takes the middle vote, if the two middle
        votes agree; middle takes the middle class of the scale, if a rater chose it, as Multilingual does with
        three raters and three classes.
    map
        Also fit a map from the evaluator's score to human scores, cross-validated by item (default: None).
    dawid_skene
        Also estimate raters' errors and the texts' classes by Dawid and Skene's model; majorities do not change.
    paper_kappa
        Count an undefined kappa as 0 in means over groups, as Multilingual does.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``agreement`` with the columns ``evaluator``, ``*``, ``group``, ``n_texts``, ``n_used``,
        ``n_items``, ``n_raters``, ``verdict``, ``n_off_scale``, ``classes``, ``left_out``, ``raters_pairwise``,
        ``pairwise``, ``gap``, ``raters_agreement``, ``raters_f1``, ``raters_kappa``, ``raters_alpha``,
        ``raters_ac1``, ``agreement``, ``f1``, ``kappa``, ``alpha``, ``ac1``, ``top_majority``, ``top_evaluator``,
        ``bias``, ``bias_agreed``, ``bias_disagreed``, ``pearson``, ``spearman``, ``kendall``, ``shift``,
        ``error``, ``chance_p``, ``chance_p_bh``, ``gap_p``, ``gap_p_bh``, ``bias_p``, ``bias_p_bh``. Further
        tables: ``raters``; ``majority``; ``bias``; ``numbers``; ``pooled-agreement``; ``pooled-raters``;
        ``pooled-majority``; ``pooled-numbers``; ``means-agreement``; ``means-raters``; ``means-majority``;
        ``means-numbers``; ``split-raters``; ``map``; ``dawid-skene``; ``confusion``; ``dawid-skene-agreement``;
        ``temperatures``; ``shuffled-words``; ``classes``; ``where-not-to-use``; ``reliability``. See
        docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For ratings and scores that cannot be read, and for an unknown task. If
        scores and ratings share no text, or a column's dimension is unclear.

    Notes
    -----
    Misleads: If one class is popular, percentage agreement is high for any evaluator, even one that always
    answers the same. Read kappa, the bias and the sentences first.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> people = pd.DataFrame({"item_id": [1, 2, 3, 4] * 2, "rater": ["a"] * 4 + ["b"] * 4, "score": [0, 1, 2, 2] * 2})
    >>> judge = pd.DataFrame({"item_id": [1, 2, 3, 4], "judge": [0, 1, 2, 1]})
    >>> frame = assay.calibrate(people, judge, resamples=0).frame
    >>> float(frame["pairwise"][0])
    0.75
    """
    return answered(
        "calibrate",
        {
            "dimension": dimension,
            "columns": columns,
            "by": by,
            "averaged": averaged,
            "majority": majority,
            "map": map,
            "dawid_skene": dawid_skene,
            "paper_kappa": paper_kappa,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: rated_from(
            ratings, scores, task=task, scale=scale, classes=classes, missing=missing, shuffled=shuffled
        ),
    )


def agreement(
    ratings: Source,
    *,
    human: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: Literal["refuse", "first", "last", "mean"] = "refuse",
    little: float = 0.2,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """How far do raters agree with each other, without any judge, and is one of them harsher?

    The same numbers as the command ``agreement``.

    Parameters
    ----------
    ratings
        Ratings by people: a data frame with a column for each rater, or with a row for each item, rater and
        score, or anything that ``read`` reads as ratings. Columns of judges may stand beside them.
    human
        Raters: columns of a wide table, or names in the column rater (default: those named like people; in the
        column rater all that are not judges).
    dimension
        Which dimension of the ratings to use (default: the only one).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    system_column
        Column of ``ratings`` that names the system (default: system or a usual name of it).
    item
        What an item is, the unit of intervals: a column of ``ratings`` whose rows belong together if they have
        the same value, or row (default: the id; where ids do not repeat, a question or source that does).
    repeated
        Which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is
        refused.
    little
        Agreement above chance, 0 to 1, below which raters agree little; the default is a choice, not a convention
        (number from 0 to below 1).
    resamples
        Draws of items for intervals of Spearman's correlation (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``agreement`` with the columns ``measure``, ``code``, ``value``, ``n_texts``, ``n_items``,
        ``n_left_out``. Further tables: ``agreement-pairs``; ``agreement-raters``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice. With fewer than two
        raters, and if no text has two ratings.

    Notes
    -----
    Misleads: Kappa and alpha fall towards 0 if one class is popular, even if raters agree on almost every text:
    read raw agreement and AC1 beside them. Raters who share an error agree, too: agreement is not truth.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": range(40), "a": [0, 1] * 20, "b": [0, 1] * 20, "c": [0, 1, 1, 1] * 10})
    >>> found = assay.agreement(frame, human=["a", "b", "c"])
    >>> found.json["verdict"], found.frame[["measure", "value"]].round(2).values.tolist()[:2]
    ('agree', [["Cohen's kappa", 0.67], ['Raw agreement', 0.83]])
    """
    return answered(
        "agreement",
        {
            "little": little,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: panel_from(
            ratings,
            human=human,
            dimension=dimension,
            scale=scale,
            classes=classes,
            missing=missing,
            system_column=system_column,
            item=item,
            repeated=repeated,
            people_alone=True,
        ),
    )


def alt_test(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: Literal["refuse", "first", "last", "mean"] = "refuse",
    epsilon: float = 0.2,
    alignment: Literal["accuracy", "rmse"] | None = None,
    items: Sequence[int] = (30, 50, 100, 200),
    advantage: float | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """May a judge stand in for a rater? Each rater in turn is compared with the judge: who is closer to the other
    raters?

    The same numbers as the command ``alt-test``.

    Parameters
    ----------
    ratings
        Raters, and perhaps judges: a data frame with a column for each, or with a row for each item, rater and
        score, or anything that ``read`` reads as ratings.
    scores
        Scores of further judges on the same texts.
    human
        Raters: columns of a wide table, or names in the column rater (default: those named like people; in the
        column rater all that are not judges).
    judge
        Judges: columns of ``ratings``, names in its column rater, or metrics of ``scores`` (default: all metrics
        of ``scores``; without one, what is named like a judge).
    dimension
        Which dimension of the ratings to use (default: the only one).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    system_column
        Column of ``ratings`` that names the system (default: system or a usual name of it).
    item
        What an item is, the unit of intervals: a column of ``ratings`` whose rows belong together if they have
        the same value, or row (default: the id; where ids do not repeat, a question or source that does).
    repeated
        Which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is
        refused.
    epsilon
        Price of a rater: by which share of texts a rater may be ahead of the judge, because the judge is cheaper;
        Calderon et al. (2025) advise 0.2 for experts, 0.15 for skilled raters, 0.1 for crowd workers (number from
        0 to below 1).
    alignment
        Closeness to the other raters: accuracy: share of the other raters who gave the same label; rmse: minus
        the root mean squared distance from the other raters (default: by the scale: rmse where classes are
        ordered or scores, else accuracy).
    items
        Numbers of items for which to give the probability to pass (list of whole numbers from 2 to 10000).
    advantage
        Advantage to suppose for that probability (number above 0 and below 1; default: the observed one).
    resamples
        Draws of items for the probability to pass (whole number of at least 1).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``alt-test`` with the columns ``judge``, ``n_items``, ``n_texts``, ``winning_rate``, ``verdict``,
        ``passed``, ``advantage``, ``passes_from``, ``reduced_advantage``, ``gap``, ``items_needed``, ``check``.
        Further tables: ``alt-test-raters``; ``alt-test-ceiling``; ``alt-test-power``; ``alt-test-epsilons``. See
        docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice. With fewer than two
        raters, and without a judge.

    Notes
    -----
    Misleads: If raters disagree for no reason, any judge near the middle passes. Read the human ceiling beside
    the verdict.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": range(40), "a": [0, 1] * 20, "b": [0, 1] * 20, "c": [0, 1, 1, 1] * 10, "x": [0, 1] * 20})
    >>> found = assay.alt_test(frame, human=["a", "b", "c"], judge="x")
    >>> found.frame[["judge", "winning_rate", "advantage"]].values.tolist()
    [['x', 1.0, 1.0]]
    """
    return answered(
        "alt-test",
        {
            "epsilon": epsilon,
            "alignment": alignment,
            "items": items,
            "advantage": advantage,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: panel_from(
            ratings,
            list(each_of(scores)),
            human=human,
            judge=judge,
            dimension=dimension,
            scale=scale,
            classes=classes,
            missing=missing,
            system_column=system_column,
            item=item,
            repeated=repeated,
        ),
    )


def corrected(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: Literal["refuse", "first", "last", "mean"] = "refuse",
    passes: str | None = None,
    labels_chosen: Literal["at-random", "by-judge", "by-truth"] | None = None,
    method: Literal["by-class", "ppi++", "rogan-gladen", "labels-only"] | None = None,
    population: Literal["like-these", "these"] = "like-these",
    confidence: float = 0.95,
) -> Result:
    """What would people have said of all texts, if their labels of some correct the judge's mean or pass rate?

    The same numbers as the command ``corrected``.

    Parameters
    ----------
    ratings
        Raters, and perhaps judges: a data frame with a column for each, or with a row for each item, rater and
        score, or anything that ``read`` reads as ratings.
    scores
        Scores of further judges on the same texts.
    human
        Raters: columns of a wide table, or names in the column rater (default: those named like people; in the
        column rater all that are not judges).
    judge
        Judges: columns of ``ratings``, names in its column rater, or metrics of ``scores`` (default: all metrics
        of ``scores``; without one, what is named like a judge).
    dimension
        Which dimension of the ratings to use (default: the only one).
    scale
        Scale of the ratings: two, ordered or unordered classes, scores, or a range such as 1-5 (default: guessed
        from the ratings, and shown).
    classes
        All classes that raters could give, from worst to best, such as fail,partial,pass; of an unordered scale
        in any order.
    missing
        Cells that are no rating and no score, such as unsure,#N/A; empty cells always are.
    system_column
        Column of ``ratings`` that names the system (default: system or a usual name of it).
    item
        What an item is, the unit of intervals: a column of ``ratings`` whose rows belong together if they have
        the same value, or row (default: the id; where ids do not repeat, a question or source that does).
    repeated
        Which counts of several ratings of a text by one rater: first, last or mean; refuse: such a file is
        refused.
    passes
        Rating that counts as a pass; all others are fails (default: the better of two words, or 1 of 0 and 1;
        other ratings are averaged).
    labels_chosen
        How the texts with labels were chosen: at-random: every text had the same chance; by-judge: by the judge's
        answer, and at random among texts with the same one; by-truth: by what people would say, such as more of
        the bad answers (default: not said: at random or by the judge's answer).
    method
        Method that decides: by-class, by the judge's answers; ppi++ and labels-only need labels chosen at random;
        rogan-gladen needs labels_chosen='by-truth' (default: by how labels were chosen).
    population
        Whose mean is asked for: like-these: all texts of which those in the file are a sample; these: only those
        in the file.
    confidence
        Confidence level of intervals (number above 0 and below 1).

    Returns
    -------
    Result
        Table ``corrected`` with the columns ``system``, ``corrected``, ``method``, ``why``, ``judge_only``,
        ``labels_only``, ``lambda``, ``n``, ``n_labelled``, ``n_unscored``, ``n_items``, ``n_labelled_items``,
        ``open_share``, ``labels_saved``, ``share_saved``, ``labelled_shift_p``. Further tables:
        ``corrected-answers``; ``corrected-differences``; ``corrected-methods``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice. Unless there is one
        judge, and a rating.

    Notes
    -----
    Misleads: If labelled texts were not chosen as the first note assumes, the correction is that of other texts.
    Raters' own errors stay.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"judge": [3, 4, 2, 5] * 50, "human": [2, 4, 1, 4] * 10 + [None] * 160})
    >>> found = assay.corrected(frame, judge="judge", human="human")
    >>> round(found.json["estimate"], 2), found.json["method"], found.json["n_labelled"]
    (2.75, 'by-class', 40)
    """
    return answered(
        "corrected",
        {
            "passes": passes,
            "labels_chosen": labels_chosen,
            "method": method,
            "population": population,
            "confidence": confidence,
        },
        lambda: panel_from(
            ratings,
            list(each_of(scores)),
            human=human,
            judge=judge,
            dimension=dimension,
            scale=scale,
            classes=classes,
            missing=missing,
            system_column=system_column,
            item=item,
            repeated=repeated,
        ),
    )


def votes(
    study: Source,
    scores: Source | Sequence[Source],
    *,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """For each pair of answers: does the metric prefer the answer that raters chose?

    The same numbers as the command ``votes``.

    Parameters
    ----------
    study
        An unblinded study, as ``"study:NAME"``, or the path of its bundle.
    scores
        Scores of metrics or judges; several sources are merged.
    resamples
        Number of resamples of questions; 0 for no intervals (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``votes`` with the columns ``metric``, ``family``, ``pairs``, ``n_left_out``, ``follows``,
        ``agreement``, ``p``, ``p_bh``, ``tau``, ``with_ties``, ``people``, ``gap``, ``differ``, ``left_out``.
        Further tables: ``votes-levels``; ``votes-families``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For an unknown study, and one that is not unblinded. For scores that cannot
        be read or merged. If no text of the study was scored.

    Notes
    -----
    Misleads: Agreement ignores pairs without a winner. If there are many, it rests on few pairs: read how many.
    The meta-correlation of one study compares few metrics on the same texts: read its interval and its caution.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "rouge-1"])
    >>> found = assay.votes("study:demo", scores, resamples=200)
    >>> found.frame[["metric", "family"]].values.tolist()
    [['chrf-6-0', 'chrF'], ['rouge-1', 'ROUGE']]
    """
    return answered(
        "votes",
        {
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: study_from(study),
        lambda: tables_from(scores),
    )


def table(
    run: str | int,
    db: str | os.PathLike[str] | None = None,
    *,
    by: Sequence[str] = ("level", "system"),
    metrics: Sequence[str] = (),
    intervals: bool = False,
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Which metric falls as damage increases, over a table too big for memory?

    The same numbers as the command ``runs table``.

    Parameters
    ----------
    run
        Run over a big table: ``3`` or ``"run:3"``.
    db
        Database. Default: ``$ASSAY_DB``, else the app's.
    by
        Columns to group means by: item, system, level, language or a label (list of texts).
    metrics
        Only these metrics (default: all) (list of texts).
    intervals
        Also compute intervals by resampling items, which takes about a minute for a million rows.
    resamples
        Number of bootstrap resamples of items (whole number of at least 0; default: 1,000 with intervals, else
        none).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``correlations`` with the columns ``metric``, ``family``, ``direction``, ``n``, ``n_left_out``,
        ``pearson``, ``spearman``, ``kendall``. Further tables: ``means``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a run of another kind. If no row is scored yet.

    Notes
    -----
    Misleads: While a run is not complete, its rows so far may be about other texts than the rest.

    Examples
    --------
    >>> import assay
    >>> assay.table(3, by="level")["means"].frame  # doctest: +SKIP
    """
    return answered(
        "table",
        {
            "by": by,
            "metrics": metrics,
            "intervals": intervals,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: big_table_from(run, db),
    )
