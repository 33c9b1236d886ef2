"""The functions of `import assay` that answer the questions of core/analyses.

`python scripts/analyses_reference.py` writes this file from their declarations. A test fails if they differ.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from core.notebook.answering import answered
from core.notebook.frames import (
    Directions,
    LeaveOut,
    Names,
    Source,
    Sources,
    Target,
    aligned_from,
    answer_sets_from,
    big_table_from,
    costs_from,
    dossier_from,
    each_of,
    earlier_from,
    judge_output_from,
    judge_outputs_from,
    judged_from,
    levels_from,
    look_from,
    marking_from,
    marks_from,
    panel_from,
    part_from,
    people_of,
    pilot_from,
    quality_from,
    rated_from,
    sides_from,
    standing_from,
    study_from,
    study_texts_from,
    sure_from,
    table_from,
    tables_from,
    taught_from,
    tried_from,
    two_scores_from,
    voted_from,
)
from core.notebook.result import Result

__all__ = [
    "ablation",
    "acc23",
    "agreement",
    "alt_test",
    "answers",
    "bias",
    "calibrate",
    "caught_errors",
    "check",
    "compare",
    "consistency",
    "copying",
    "corrected",
    "correlate",
    "costs",
    "escalate",
    "examples_curve",
    "gaps",
    "judge_agreement",
    "judge_scores",
    "leakage",
    "levels",
    "look",
    "made_levels",
    "meta_correlate",
    "next_labels",
    "pairs",
    "plan",
    "prompts",
    "rank",
    "raters",
    "reasked",
    "redundancy",
    "reliability",
    "spans",
    "study_results",
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


def ablation(judges: Source | Sequence[Source]) -> Result:
    """How much do the scores of a cross-examination vary over repeats, by the number of its questions?

    The same numbers as the command ``reproduce cef ablation``.

    Parameters
    ----------
    judges
        Judges' runs, as ``"run:3"``, or the folders that they wrote; one or several.

    Returns
    -------
    Result
        Table ``judge-ablation`` with the columns ``judge``, ``n_questions``, ``component``, ``mean``,
        ``variance_of_mean``, ``variance_within``, ``percent_variance_of_mean``, ``percent_variance_within``,
        ``n_repeats``, ``n_texts``, ``n_left_out``, ``reason``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no judge's run. For judges that ask no questions.

    Notes
    -----
    Misleads: Repeats that are not independent requests, at temperature 0 or with a server that ignores seeds,
    have no variance. With 10 repeats, the 95 % interval of a variance extends from half to 3.3 times the
    estimate.

    Examples
    --------
    >>> import assay
    >>> found = assay.ablation(["run:3", "run:4"])  # doctest: +SKIP
    """
    return answered(
        "ablation",
        {},
        lambda: judge_outputs_from(judges),
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


def consistency(
    judge: Source,
    *,
    resamples: int = 10000,
    confidence: float = 0.95,
    seed: int = 0,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Does the judge give the same score when it is asked again, and when it reads the two texts in the other order?

    The same numbers as the command ``report consistency``.

    Parameters
    ----------
    judge
        A judge's run, as ``"run:3"``, or the folder that it wrote.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``judge-repeats`` with the columns ``component``, ``agreeing``, ``sd``, ``n``, ``left_out``. Further
        tables: ``judge-orders``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no judge's run. For a judge with one repeat in one
        order.

    Notes
    -----
    Misleads: At temperature 0, or with a server that ignores seeds, a judge mostly repeats itself, which proves
    little. A judge that always gives one score agrees perfectly, and a consistent judge can still be wrong. A
    mean difference near 0 hides texts that change in both directions.

    Examples
    --------
    >>> import assay
    >>> found = assay.consistency("run:3")  # doctest: +SKIP
    """
    return answered(
        "consistency",
        {
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: judge_output_from(judge, db),
    )


def copying(
    judges: Source | Sequence[Source],
    *,
    rated: str | None = None,
    repeat: int = 1,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Of the errors that a judge quotes, how many did people mark in the same text, and how many are in its examples
    or in other systems' texts of the same source?

    The same numbers as the command ``reproduce specialist copying``.

    Parameters
    ----------
    judges
        Runs of judges that mark errors, as ``"run:3"``, or the folders that they wrote; the first is also
        compared with each other one.
    rated
        The rated texts: rated JSONL, an mt-metrics-eval folder, or an unblinded study (default: those of the
        first run:N).
    repeat
        Which repeat to use (whole number of at least 1).
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``copied-errors`` with the columns ``judge``, ``texts``, ``errors``, ``without_words``,
        ``of_people``, ``of_examples``, ``of_examples_or_parts``, ``of_same_source``. Further tables:
        ``marked-alone``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no judge's run, and for rated texts that are not named.
        For judges that mark no errors, and if no judged text was rated.

    Notes
    -----
    Misleads: Short errors are easily copied: a single common word is an error in many texts. Shares count errors,
    so texts with many weigh more.

    Examples
    --------
    >>> import assay
    >>> found = assay.copying("run:3")  # doctest: +SKIP
    """
    return answered(
        "copying",
        {
            "repeat": repeat,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: marking_from(judges, rated),
    )


def examples_curve(
    gold: Source,
    judges: Sequence[Source],
    *,
    raters: Literal["kept", "merged"] = "kept",
    references: bool = False,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """How does the agreement of a judge with people grow with the number of examples that it is shown?

    The same numbers as the command ``reproduce specialist examples-curve``.

    Parameters
    ----------
    gold
        Errors marked by people: a data frame with a row for each error (``item_id``, ``system``, ``rater``,
        ``start``, ``end``, ``severity``), a file or folder of marked errors, ``run:N`` or ``study:NAME``.
    judges
        Runs of one judge with increasing numbers of examples, as ``"run:3"``, or the folders that they wrote.
    raters
        Compare each rater's marks separately, or merge all raters' marks.
    references
        Include the references refA, refB, synthetic_ref as systems.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``examples-curve`` with the columns ``run``, ``examples``, ``n_examples``, ``mean_shown``, ``f1``,
        ``draws``, ``f1_mean``, ``f1_sd``. Further tables: ``examples-curve-tests``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For marks that cannot be read, and for a source that is no judge's run. For
        fewer than two runs, a judge that marks no errors, and runs that share no text of the gold.

    Notes
    -----
    Misleads: If items have few texts, requesting more examples adds nothing: the mean number shown tells. Runs
    with another seed draw other examples, so that the larger set need not hold the smaller.

    Examples
    --------
    >>> import assay
    >>> found = assay.examples_curve("marks.tsv", ["run:3", "run:4"])  # doctest: +SKIP
    """
    return answered(
        "examples-curve",
        {
            "raters": raters,
            "references": references,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: taught_from(gold, judges),
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


def judge_scores(
    scores: Source | Sequence[Source],
    texts: Source | None = None,
    *,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """How high are a judge's scores, how many texts have none, and does anything speak against them?

    The same numbers as the command ``report scores``.

    Parameters
    ----------
    scores
        Scores of judges or metrics: a data frame, a file, the folder of a run or ``"run:3"``. A judge's run also
        has its records.
    texts
        The scored texts, if ``scores`` come without them.
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``judge-scores`` with the columns ``metric``, ``n``, ``mean``, ``sd``, ``left_out``,
        ``constant_value``, ``constant_share``, ``table``. Further tables: ``marked-texts``; ``marked-means``. See
        docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For scores that cannot be read.

    Notes
    -----
    Misleads: Means of scores that lack different texts cover different texts. A sign alone does not make a score
    wrong: a judge that only ever writes "Correct." repeats itself and may be right.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"item": ["q1", "q2", "q3"], "judge": [4, 5, None]})
    >>> assay.judge_scores(frame).frame[["metric", "n", "mean"]].values.tolist()
    [['judge', 2, 4.5]]
    """
    return answered(
        "judge-scores",
        {},
        lambda: judged_from(scores, texts, db),
    )


def bias(
    scores: Source | Sequence[Source],
    texts: Source | None = None,
    *,
    limit: float = 0.1,
    changes: int = 10,
    alpha: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """What besides quality sways a judge: edits that leave the facts as they are, or the place of a text?

    The same numbers as the command ``report bias``.

    Parameters
    ----------
    scores
        Scores of judges or metrics: a data frame, a file, the folder of a run or ``"run:3"``. A judge's run also
        has its records.
    texts
        The scored texts, if ``scores`` come without them.
    limit
        A probe is underpowered if the smallest change that it can show is larger than this share of the judge's
        scale (number above 0 and at most 1).
    changes
        Number of texts to show, largest change first; 0: none (whole number of at least 0).
    alpha
        Level of the tests, corrected over a judge's probes (number above 0 and below 1).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``bias`` with the columns ``judge``, ``probe``, ``verdict``, ``favours``, ``change``, ``of_gap``,
        ``flips``, ``detectable``, ``scale``, ``n``, ``n_items``, ``p``, ``p_bh``, ``left_out``, ``reason``.
        Further tables: ``bias-changes``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For scores that cannot be read. If the scores have neither edited texts nor
        verdicts in both orders.

    Notes
    -----
    Misleads: Overlap with a reference rightly falls when a text grows, and a longer text is not as good where
    conciseness counts. An edit may have changed a fact after all: read the largest changes.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> cells = [(f"q{at}", level, pair, edit, 4 - 2 * (level == "A3") + (edit == "padding"))
    ...          for at in range(12) for pair in ("none", "padding") for level, edit in (("A0", pair), ("A3", "none"))]
    >>> frame = pd.DataFrame(cells, columns=["item", "level", "pair", "edit", "judge"])
    >>> assay.bias(frame).frame[["probe", "verdict", "favours", "change", "of_gap"]].values.tolist()
    [['padding', 'biased', 'edited', 1.0, 0.5]]
    """
    return answered(
        "bias",
        {
            "limit": limit,
            "changes": changes,
            "alpha": alpha,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: judged_from(scores, texts, db),
    )


def escalate(
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
    confidence: str | None = None,
    cut: float | None = None,
    agreement: float = 0.9,
    delta: float = 0.1,
    against: Literal["rater", "majority"] = "rater",
    start: int | None = None,
    passes: str | None = None,
) -> Result:
    """From which confidence does a judge agree with people as often as promised, so that people decide only about
    the rest?

    The same numbers as the command ``escalate``.

    Parameters
    ----------
    ratings
        Raters, and perhaps judges: a data frame with a column for each, or with a row for each item, rater and
        score, or anything that ``read`` reads as ratings. Texts without a label have no rating. (The command also
        reads repeats of a run and pairs.)
    scores
        Scores of further judges on the same texts.
    labels
        Labels that came back, of texts below the threshold.
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
    confidence
        Column with the judge's confidence, larger is surer; or repeats (share of equal answers of a run), judges
        (share of several judges with the majority's verdict) or margin (distance of the pair's margin from where
        the vote changes) (default: what the inputs have).
    cut
        For numeric scores and two classes: scores from here on are the better class, and the distance from it is
        the confidence. Choose it without looking at labels.
    agreement
        Agreement with people that is promised for the kept texts (number above 0 and below 1).
    delta
        Largest probability that the promise is broken (number above 0 and below 0.5).
    against
        Rater: a rater of the text, whichever is asked; majority: the label that most raters of the text gave.
    start
        Labelled items that the first threshold tested must keep; choose it before you see the result (whole
        number of at least 1; default: the fewest that can pass, 22 for .9 and .1).
    passes
        For the total: rating that counts as a pass, as in `corrected` (default: the better of two words, or 1 of
        0 and 1; other ratings are averaged).

    Returns
    -------
    Result
        Table ``escalate`` with the columns ``judge``, ``confidence``, ``wanted``, ``delta``, ``threshold``,
        ``agreement``, ``lower_bound``, ``n_labelled_kept``, ``among_raters``, ``kept_labelled``,
        ``kept_unlabelled``, ``shift_p``, ``n_sent``, ``n_labelled``, ``n_labelled_items``, ``n_unlabelled``,
        ``n_back``, ``n_audited``, ``against``. Further tables: ``escalate-thresholds``; ``escalate-total``;
        ``escalate-texts``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown names, and if a rater rated a text twice. Without a confidence,
        without a labelled text, and for verdicts that are no classes of the raters.

    Notes
    -----
    Misleads: The promise holds for texts like the labelled ones, and only if those were chosen at random.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> frame = pd.DataFrame({"human": [1, 0] * 20 + [None] * 60, "judge": [1, 0] * 50, "confidence": [0.9] * 100})
    >>> found = assay.escalate(frame, human="human", judge="judge")
    >>> found.json["chosen"]["threshold"], found.json["n_kept_unlabelled"]
    (0.9, 60)
    """
    return answered(
        "escalate",
        {
            "agreement": agreement,
            "delta": delta,
            "against": against,
            "start": start,
            "passes": passes,
        },
        lambda: sure_from(
            ratings,
            list(each_of(scores)),
            list(each_of(labels)),
            confidence=confidence,
            cut=cut,
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


def made_levels(
    scores: Source,
    texts: Source | None = None,
    *,
    metric: str | None = None,
    tolerance: float = 0.05,
    longer: float = 0.25,
    alike: float = 1.0,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Are made levels what they claim: falling scores, a core fact that stands and falls where it must, no
    contradiction inside a text, no equal texts, texts of similar length?

    The same numbers as the command ``report levels``.

    Parameters
    ----------
    scores
        A claims judge's run or folder, or any scores of the texts: a file, a frame.
    texts
        The texts, if the scores come without them. A generation run, or its folder, also says which facts it
        changed.
    metric
        Column of scores (default: the first).
    tolerance
        Largest rise of the score to a worse level, as a share of the range of all scores; a noisy judge needs
        more (number from 0 to below 1).
    longer
        How much longer than the median of its item's levels a text may be, or shorter: 0.25 is 25 % (number above
        0).
    alike
        Share of words in the same order from which two levels count as the same text (number above 0 and at most
        1).
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``made-levels`` with the columns ``item``, ``system``, ``level``, ``claim``, ``why``, ``score``,
        ``check``. Further tables: ``levels-made``; ``length-by-system``; ``items-made``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For scores that cannot be read, and an unknown column of them. If the scores
        have fewer than two levels.

    Notes
    -----
    Misleads: A noisy judge accuses right items, because a right item has several chances to look wrong.

    Examples
    --------
    >>> import assay
    >>> texts = assay.read("data/demo/answers.csv")
    >>> found = assay.made_levels(assay.score(texts, "chrf-6-0"), texts, resamples=0)
    >>> found.json["remake_items"], found.json["counts"]["undecided"]
    (['d07'], 0)
    """
    return answered(
        "made-levels",
        {
            "tolerance": tolerance,
            "longer": longer,
            "alike": alike,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: levels_from(scores, texts, db, metric=metric),
    )


def reasked(judge: Source, *, confidence: float = 0.95, db: str | os.PathLike[str] | None = None) -> Result:
    """Does the judge answer its own questions as expected when it is asked again?

    The same numbers as the command ``reproduce cef reasked``.

    Parameters
    ----------
    judge
        A judge's run, as ``"run:3"``, or the folder that it wrote.
    confidence
        Confidence level of intervals (number above 0 and below 1).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``judge-reasked`` with the columns ``side``, ``expected``, ``*``, ``no_answer``,
        ``no_answer_reasons``, ``unchanged``, ``unchanged_count``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no judge's run. For a judge that asks no questions, and
        a run that asked none again.

    Notes
    -----
    Misleads: At temperature 0 a judge repeats itself, and repeating an answer does not make it right. Wilson's
    intervals assume that the questions of a text are independent, which is not quite true.

    Examples
    --------
    >>> import assay
    >>> found = assay.reasked("run:3")  # doctest: +SKIP
    """
    return answered(
        "reasked",
        {
            "confidence": confidence,
        },
        lambda: judge_output_from(judge, db),
    )


def answers(answers: Sequence[Source]) -> Result:
    """What did a model answer to the judges' questions, each from the text that the question was made from?

    The same numbers as the command ``reproduce cef answers``.

    Parameters
    ----------
    answers
        Runs of ``judge answers``, one for each model, as ``"run:3"``, or the folders that they wrote.

    Returns
    -------
    Result
        Table ``judge-answers`` with the columns ``model``, ``author``, ``*``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no such run.

    Notes
    -----
    Misleads: Counts do not compare models: answers of two models to the same questions show how reliable each is
    (`reliability`).

    Examples
    --------
    >>> import assay
    >>> found = assay.answers(["run:5"])  # doctest: +SKIP
    """
    return answered(
        "answers",
        {},
        lambda: answer_sets_from(answers),
    )


def caught_errors(
    audit: Source, *, confidence: float = 0.95, db: str | os.PathLike[str] | None = None
) -> Result:
    """Which share of the errors that people marked does a mismatching question point to?

    The same numbers as the command ``reproduce cef alignment``.

    Parameters
    ----------
    audit
        A run of ``judge align``, as ``"run:3"``, or the folder that it wrote.
    confidence
        Confidence level of intervals (number above 0 and below 1).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``judge-alignment`` with the columns ``by``, ``name``, ``caught``, ``caught_count``, ``no_verdict``.
        See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no such run.

    Notes
    -----
    Misleads: Many mismatches hit errors by chance: compare the share with the number of mismatches. False alarms
    are not counted, and errors of one text are not independent, so the intervals are too narrow.

    Examples
    --------
    >>> import assay
    >>> found = assay.caught_errors("run:7")  # doctest: +SKIP
    """
    return answered(
        "caught-errors",
        {
            "confidence": confidence,
        },
        lambda: aligned_from(audit, db),
    )


def reliability(
    answers: Sequence[Source], *, resamples: int = 10000, confidence: float = 0.95, seed: int = 0
) -> Result:
    """How often do models confirm each other's questions and answers?

    The same numbers as the command ``reproduce cef reliability``.

    Parameters
    ----------
    answers
        Runs of ``judge answers``, one for each model, as ``"run:3"``, or the folders that they wrote.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``judge-reliability`` with the columns ``model``, ``side``, ``variant``, ``adr``, ``adr_rank``,
        ``adr_questions``, ``adr_left_out``, ``ads``, ``ads_rank``, ``ads_questions``, ``ads_left_out``. See
        docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no such run. With fewer than two models, and for two
        sets of answers by one model.

    Notes
    -----
    Misleads: Models that agree can still be wrong. Rates over different questions cannot be compared.

    Examples
    --------
    >>> import assay
    >>> found = assay.reliability(["run:5", "run:6"])  # doctest: +SKIP
    """
    return answered(
        "reliability",
        {
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: answer_sets_from(answers),
    )


def spans(
    gold: Source,
    predicted: Source | Sequence[Source],
    *,
    raters: Literal["kept", "merged"] = "kept",
    references: bool = False,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    by: Sequence[str] = (),
) -> Result:
    """Which share of the characters that a judge marks as errors did people mark, and which share of theirs does it
    mark?

    The same numbers as the command ``spans``.

    Parameters
    ----------
    gold
        Errors marked by people: a data frame with a row for each error (``item_id``, ``system``, ``rater``,
        ``start``, ``end``, ``severity``), a file or folder of marked errors, ``run:N`` or ``study:NAME``.
    predicted
        Errors marked by a judge, or by each of several, in the same forms.
    raters
        Compare each rater's marks separately, or merge all raters' marks.
    references
        Include the references refA, refB, synthetic_ref as systems.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    by
        Also show results by system, by rater of the gold, or by severity; only for one judge without repeats; may
        be repeated.

    Returns
    -------
    Result
        Table ``span-agreement`` with the columns ``by``, ``name``, ``precision``, ``recall``, ``f1``, ``texts``,
        ``predicted_characters``, ``gold_characters``. Further tables: ``spans-side-by-side``; ``spans-tests``.
        See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For marks that cannot be read, and a study that is not unblinded. If no text
        with marked errors is on both sides.

    Notes
    -----
    Misleads: Long marks weigh more than short ones, and a judge that marks whole sentences gains recall by length
    alone. Raters who differ limit the attainable F1: `report raters` shows how far they agree. A judge that
    failed on hard texts removes them for all.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> texts = pd.DataFrame({"item_id": ["q1", "q2"], "system": "A", "severity": "major"})
    >>> people, judge = texts.assign(start=0, end=[4, 6]), texts.assign(start=[0, 3], end=[4, 6])
    >>> found = assay.spans(people, judge, resamples=0)
    >>> [round(found.json[name], 2) for name in ("precision", "recall", "f1")]
    [1.0, 0.7, 0.82]
    """
    return answered(
        "spans",
        {
            "raters": raters,
            "references": references,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
            "by": by,
        },
        lambda: marks_from(gold, predicted),
    )


def raters(
    gold: Source,
    predicted: Source | Sequence[Source] = (),
    *,
    raters: Literal["kept", "merged"] = "kept",
    references: bool = False,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """How well do the errors that one rater or judge marks predict another rater's?

    The same numbers as the command ``report raters``.

    Parameters
    ----------
    gold
        Errors marked by people who are named: a data frame with a row for each error (``item_id``, ``system``,
        ``rater``, ``start``, ``end``, ``severity``), a file or folder of marked errors, ``run:N`` or
        ``study:NAME``.
    predicted
        Errors marked by judges, in the same forms. Default: the raters predict each other.
    raters
        Compare each rater's marks separately, or merge all raters' marks.
    references
        Include the references refA, refB, synthetic_ref as systems.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``raters`` with the columns ``predicts``, ``gold``, ``texts``, ``precision``, ``recall``, ``f1``,
        ``reason``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For marks that cannot be read, and a study that is not unblinded. If the
        ratings name no raters.

    Notes
    -----
    Misleads: If raters share few texts, cells rest on different texts, so they differ by more than the raters.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> marks = pd.DataFrame({"item_id": "q1", "system": "A", "rater": ["ann", "ben"], "severity": "major"})
    >>> found = assay.raters(marks.assign(start=0, end=[4, 6]), resamples=0)
    >>> found.json["rows"], round(found.json["mean_f1_other_names"], 2)
    (['ann', 'ben'], 0.8)
    """
    return answered(
        "raters",
        {
            "raters": raters,
            "references": references,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: marks_from(gold, predicted, by_rater=True),
    )


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
    system_scores: Literal["all", "rated"] = "all",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Which share of an item's text pairs does a metric order or tie as people do?

    The same numbers as the command ``acc23``.

    Parameters
    ----------
    ratings
        Ratings by people: a data frame, or anything that ``read`` reads as ratings, also an unblinded study of
        pairs.
    scores
        Scores of metrics or judges; several sources are merged.
    dimension
        Which dimension of the ratings to use (default: the only one) (default: the only one).
    references
        Include the references refA, refB, synthetic_ref as systems.
    epsilon
        Count differences up to this size as ties (default: the best value for each metric) (number of at least 0;
        default: the best value for each metric).
    tie_rounding
        Count human scores that differ only by rounding as ties (WMT23 did not).
    test
        Also run a permutation test for each pair of metrics.
    swap
        What the test swaps: all pairs of an item together, or single pairs as in WMT23's tables, whose p-values
        are too small because the pairs of an item share texts.
    system_scores
        Texts over which a metric's system score is the mean; all: as in WMT's metrics task. Human scores are
        always means over rated texts.
    resamples
        Number of bootstrap resamples, and of swaps of tests (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``accuracy`` with the columns ``metric``, ``acc23``, ``accuracy``, ``epsilon``, ``n_items``,
        ``n_systems``, ``n_pairs``, ``texts``, ``segment``, ``per_item``, ``system``, ``system_accuracy``,
        ``soft_pairwise_accuracy``, ``soft_n_pairs``, ``soft_n_swaps``, ``soft_reason``, ``constant_value``,
        ``constant_share``, ``left_out``. Further tables: ``accuracy-tests``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For ratings that cannot be read, and a study that is not unblinded. For
        scores that cannot be read or merged. If scores and ratings share no text.

    Notes
    -----
    Misleads: A calibrated epsilon is fitted to these texts, so the accuracy is slightly too high for others. If
    people hardly ever tie, or nearly always, it says more about them than about the metric.

    Examples
    --------
    >>> import assay, pandas as pd
    >>> pairs = pd.DataFrame({"item_id": [1, 1, 2, 2], "system": ["a", "b"] * 2})
    >>> people, metric = pairs.assign(score=[1, 2, 3, 1]), pairs.assign(mine=[0.1, 0.2, 0.1, 0.4])
    >>> float(assay.acc23(people, metric, resamples=0).frame["accuracy"][0])
    0.5
    """
    return answered(
        "acc23",
        {
            "dimension": dimension,
            "references": references,
            "epsilon": epsilon,
            "tie_rounding": tie_rounding,
            "test": test,
            "swap": swap,
            "system_scores": system_scores,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: people_of(ratings),
        lambda: tables_from(scores),
    )


def meta_correlate(
    human: Result | Source,
    synthetic: Result | Source,
    ratings: Source | None = None,
    *,
    dimension: Names | None = None,
    raters: Literal["averaged", "kept"] = "averaged",
    z_normalise: bool = False,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    method: Literal["pearson", "spearman", "kendall"] = "spearman",
    first_order: Literal["pearson", "spearman", "kendall"] | None = None,
    by: Sequence[str] = (),
    over: str | None = None,
    alternative: Literal["greater", "two-sided"] = "greater",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Does data of known quality rank metrics as people do?

    The same numbers as the command ``meta-correlate``.

    Parameters
    ----------
    human
        ``"published:NAME"``, a result of ``correlate`` with ratings, its JSON file, or scores whose texts
        ``ratings`` rate.
    synthetic
        ``"published:NAME"``, a result of ``correlate`` with the level, its JSON file, or scores with levels.
    ratings
        Ratings of the texts in ``human``, if it holds scores.
    dimension
        Which dimensions of the ratings to use (default: the only one); several are used one by one and as a mean
        for each text.
    raters
        Use one mean rating for each text, or every rating.
    z_normalise
        Standardise each rater's ratings: subtract the rater's mean, divide by the SD.
    leave_out
        Texts to leave out, as ``{"system": ["refA", "Human"]}``.
    direction
        Metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``.
    method
        Coefficient between the two sides.
    first_order
        Coefficient for each metric on a side (default: method) (default: as between the sides).
    by
        One cell for each value of these columns of the synthetic side (list of texts).
    over
        Report mean and SD over the values of this column, e.g. prompt (default: no column).
    alternative
        Alternative hypothesis of the p-value in the sentences (greater: as in Meta-Judge; JSON has both).
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``meta-correlation`` with the columns ``metric``, ``family``, ``human``, ``synthetic``,
        ``dropped_because``. Further tables: ``without-family``; ``meta-matrix``; ``meta-summaries``. See
        docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For sides that cannot be read, and a study that is not unblinded. If the
        sides share no metric, or a published side lacks the coefficient.

    Notes
    -----
    Misleads: The interval over metrics is wide, and variants of one family count as several metrics: read the p
    over families and `without-family`. The naive interval over items counts the noise of items twice: read the
    noise-corrected value.

    Examples
    --------
    >>> import assay
    >>> found = assay.meta_correlate("published:cus-qa-cs", "published:cus-qa-cs:qwen-3-30b:zero")
    >>> found.json["n_metrics"]
    28
    """
    return answered(
        "meta-correlate",
        {
            "method": method,
            "first_order": first_order,
            "by": by,
            "over": over,
            "alternative": alternative,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: sides_from(
            human,
            synthetic,
            ratings,
            dimension=dimension,
            raters=raters,
            z_normalise=z_normalise,
            leave_out=leave_out,
            direction=direction,
        ),
    )


def costs(
    judges: Source | Sequence[Source], *, input_price: float | None = None, output_price: float | None = None
) -> Result:
    """What do judges cost: calls, tokens and money, step by step and for one text?

    The same numbers as the command ``report costs``.

    Parameters
    ----------
    judges
        Judges' runs, as ``"run:3"``, or the folders that they wrote; one or several.
    input_price
        Price of a million input tokens of every judge, in place of that of its run (number from 0 to
        1000000000000; default: that of its run).
    output_price
        Price of a million output tokens of every judge, in place of that of its run (number from 0 to
        1000000000000; default: that of its run).

    Returns
    -------
    Result
        Table ``judge-costs`` with the columns ``judge``, ``step``, ``calls``, ``cached``, ``unusable``,
        ``input_tokens``, ``output_tokens``, ``input_share``, ``money``, ``calls_per_item``,
        ``input_tokens_per_item``, ``output_tokens_per_item``, ``money_per_item``, ``calls_per_text``,
        ``input_tokens_per_text``, ``output_tokens_per_text``, ``money_per_text``, ``seconds``, ``n_items``,
        ``n_texts``, ``n_wanted``, ``n_found``, ``reasons``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no judge's run, and for a run that is named twice.

    Notes
    -----
    Misleads: Answers from the cache cost nothing because another run paid for them: to compare judges, use runs
    without. A text costs less the more texts its item has, because equal requests of an item are sent once.

    Examples
    --------
    >>> import assay
    >>> found = assay.costs(["run:3", "run:4"], input_price=0.15, output_price=0.6)  # doctest: +SKIP
    """
    return answered(
        "costs",
        {
            "input_price": input_price,
            "output_price": output_price,
        },
        lambda: costs_from(judges),
    )


def judge_agreement(
    first: Source,
    second: Source,
    *,
    metrics: Sequence[str] | None = None,
    texts: int = 10,
    resamples: int = 10000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Do two judges order the same texts alike, how far apart are their scores, and on which texts?

    The same numbers as the command ``report compare``.

    Parameters
    ----------
    first
        Scores of a judge or a metric.
    second
        Those of another one on the same texts.
    metrics
        One column of each (default: matching columns, e.g. both coverages, or a single column with all others)
        (list of texts).
    texts
        Number of texts to show, largest difference first (whole number of at least 0).
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``agreement`` with the columns ``first``, ``second``, ``measure``, ``estimate``. Further tables:
        ``two-judges``; ``judge-components``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For scores that cannot be read. If no columns match, and if no text is in
        both.

    Notes
    -----
    Misleads: Judges that agree can share an error: only levels or people show who is right. If texts of all
    levels are pooled, any two judges that see the damage agree: read the tau within items. A mean difference near
    0 hides differences in both directions: read the standard deviation, too.

    Examples
    --------
    >>> import assay
    >>> found = assay.judge_agreement("run:3", "run:4")  # doctest: +SKIP
    """
    return answered(
        "judge-agreement",
        {
            "metrics": metrics,
            "texts": texts,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: two_scores_from(first, second),
    )


def pairs(
    judge: Source,
    study: str | os.PathLike[str] | None = None,
    *,
    epsilon: float = 0.2,
    most: int | None = 10,
    texts: bool = False,
    resamples: int = 10000,
    confidence: float = 0.95,
    seed: int = 0,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Does the order decide what a judge of pairs says, which system does it prefer, and does it vote as raters do?

    The same numbers as the command ``report pairs``.

    Parameters
    ----------
    judge
        A judge's run, as ``"run:3"``, or the folder that it wrote.
    study
        Name of an unblinded study of the same texts, or the path of a bundle (.zip). Default: no votes.
    epsilon
        Beside votes: the price of a rater in the Alt-test (number from 0 to below 1).
    most
        Beside votes: pairs on which judge and people differ most (whole number of at least 1).
    texts
        Beside votes: also the texts of these pairs and the judge's reasons, which may be confidential.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``pairs`` with the columns ``level``, ``pairs``, ``items``, ``same``, ``flips``, ``n_flips_first``,
        ``n_flips_second``, ``first``, ``second``, ``share_first``, ``p``, ``p_holm``. Further tables:
        ``pairs-ties``; ``pairs-systems``; ``judge-repeats``; ``pairs-agreement``; ``pairs-alt-test``; ``gaps``.
        See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a source that is no judge's run. NotFound for an unknown study.
        NotAllowed before it is unblinded. For another kind of judge than `judge pairwise`, and if it judged no
        pair of the study.

    Notes
    -----
    Misleads: In one drawn order nothing shows how far the order decides. Verdicts that contradict each other in
    the two orders count as ties, which agree with raters' ties by chance: read the four answers beside the three.
    Equal verdicts in both orders do not show that a judge is right: one that always answers both good has them.

    Examples
    --------
    >>> import assay
    >>> found = assay.pairs("run:1", "demo", db=demo_database)
    >>> found.names[0], len(found["pairs-agreement"].frame)
    ('pairs', 10)
    """
    return answered(
        "pairs",
        {
            "epsilon": epsilon,
            "most": most,
            "texts": texts,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: judge_output_from(judge, db),
        lambda: voted_from(study, db),
    )


def prompts(
    runs: Sequence[str],
    ratings: Source | None = None,
    *,
    dimension: str | None = None,
    component: str | None = None,
    input_price_of: Mapping[str, float] | None = None,
    output_price_of: Mapping[str, float] | None = None,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Which of several prompts or models of a judge follows people or known levels best, and at what price?

    The same numbers as the command ``report prompts``.

    Parameters
    ----------
    runs
        Runs of one kind of judge, as ``"run:3"``.
    ratings
        Ratings or votes of people on these texts. Default: those in the runs' own file, else known levels alone.
    dimension
        Which dimension of the ratings to use (default: the only one).
    component
        Column to compare where a judge has several, such as f1 or coverage (default: its first).
    input_price_of
        Price of a million input tokens of one model, in place of that of its run; may be repeated.
    output_price_of
        Price of a million output tokens of one model, in place of that of its run; may be repeated.
    resamples
        Number of bootstrap resamples (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``prompts`` with the columns ``prompt``, ``model``, ``run``, ``quality``, ``measure``,
        ``difference``, ``p``, ``p_holm``, ``levels``, ``levels_difference``, ``levels_p``, ``levels_p_holm``,
        ``monotonic``, ``unusable``, ``tokens_per_text``, ``tokens_in_per_text``, ``tokens_out_per_text``,
        ``price_per_1000``, ``seconds_per_1000``, ``n``, ``n_scored``, ``use``, ``constant``, ``price_reason``,
        ``seconds_reason``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For anything but runs of one kind of judge, and for a dimension or a
        component that is not there. For fewer than two runs with scores, and if there are neither ratings of
        people nor two levels.

    Notes
    -----
    Misleads: The best of several prompts was found on these texts, so its quality is a little too high: try it on
    others. Levels reward a prompt that notices damage, not one that agrees with people.

    Examples
    --------
    >>> import assay
    >>> found = assay.prompts(["run:3", "run:4"], "study:pilot")  # doctest: +SKIP
    """
    return answered(
        "prompts",
        {
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: tried_from(
            runs,
            ratings,
            dimension=dimension,
            component=component,
            input_price_of=input_price_of,
            output_price_of=output_price_of,
        ),
    )


def leakage(
    study: str, *, resamples: int = 2000, seed: int = 0, db: str | os.PathLike[str] | None = None
) -> Result:
    """Can anyone tell which system wrote an answer from its length, changes, punctuation, formatting and repeated
    wording alone?

    The same numbers as the command ``study audit``.

    Parameters
    ----------
    study
        Name of a study, in any state: no answer of a rater is read.
    resamples
        Most swaps of the two systems behind each p (whole number of at least 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``leakage`` with the columns ``level``, ``pairs``, ``auc``, ``p``, ``p_holm``, ``strongest_rule``,
        ``p_of_the_rule``, ``p_of_the_rule_holm``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. NotFound for an unknown study. NotAllowed for a study without levels.

    Notes
    -----
    Misleads: With few questions only a strong leak is detectable, and raters notice more than these features.

    Examples
    --------
    >>> import assay
    >>> found = assay.leakage("demo", db=demo_database)
    >>> found.frame["level"].tolist()[-1]
    'all levels'
    """
    return answered(
        "leakage",
        {
            "resamples": resamples,
            "seed": seed,
        },
        lambda: study_texts_from(study, db),
    )


def look(study: str, *, db: str | os.PathLike[str] | None = None) -> Result:
    """Is the always-valid bound of a running study above the margin yet?

    The same numbers as the command ``study look``.

    Parameters
    ----------
    study
        Name of a running study whose design declares early looks. The look is logged.
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``look`` with the columns ``verdict``, ``bound``, ``margin``, ``questions_entered``, ``questions``,
        ``looks``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. NotFound for an unknown study. NotAllowed where the design declares no early
        looks, and unless the study is open or closed.

    Notes
    -----
    Misleads: Once somebody has looked, this bound decides, and the verdict on all votes is for comparison only.
    Every look is logged.

    Examples
    --------
    >>> import assay
    >>> found = assay.look("pilot")  # doctest: +SKIP
    >>> found.json["value"]  # doctest: +SKIP
    'continue'
    """
    return answered(
        "look",
        {},
        lambda: look_from(study, db),
    )


def plan(
    pilot: str | os.PathLike[str] | None = None,
    *,
    decided: float | None = None,
    question_correlation: float | None = None,
    agreement: float | None = None,
    own_view: float | None = None,
    rater_sd: float | None = None,
    margin: float | None = None,
    confidence: float | None = None,
    mean: float = 0.0,
    power: float | None = None,
    half_width: float | None = None,
    questions: int | None = None,
    raters: Sequence[int] | None = None,
    votes: int | None = None,
    levels: int | None = None,
    score: Literal["composite", "net_preference"] | None = None,
    study: str | None = None,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """How many questions, raters and votes does a study need?

    The same numbers as the command ``study plan``.

    Parameters
    ----------
    pilot
        Variance components: ``"study:NAME"`` of an unblinded study, or the path of a CSV file (then give levels,
        too). Default: from assumptions.
    decided
        Share of votes that choose one of the two answers (number from 0 to 1; default: 0.5).
    question_correlation
        Correlation of two raters' votes on two levels of a question: 0 if questions do not matter (number from 0
        to 1; default: 0.3).
    agreement
        Correlation of two raters' votes on one pair (number from 0 to 1; default: 0.4).
    own_view
        Correlation that two votes of one rater on a question have beyond that (number from 0 to 1; default:
        0.05).
    rater_sd
        Standard deviation of raters' mean votes: 0.1 puts two thirds of raters within 0.1 of the mean (number
        from 0 to 1; default: 0.1).
    margin
        Non-inferiority margin; sensible values are 0.05 to 0.3 on the scale from -1 to 1 (number above 0 and
        below 2; default: 0.1, or the study's).
    confidence
        Level of the one-sided lower bound (number above 0.5 and below 1; default: 0.90; for a study without a
        margin 0.95, the two-sided 90 % interval).
    mean
        True mean vote; 0: equally good systems (number from -1 to 1).
    power
        Wanted probability that the lower bound is above the margin (number above 0 and below 1; default: 0.8,
        without a half-width).
    half_width
        Wanted distance of the mean from its lower bound (number above 0 and at most 2; default: none; 0.1 for a
        study without a margin).
    questions
        Show what so many questions reach, instead of power and half_width (whole number of at least 1; default:
        as many as are needed).
    raters
        Numbers of raters to compare (list of whole numbers of at least 1; default: 2,3,5,8,12,20, or the
        study's).
    votes
        Votes a pair (whole number of at least 1; default: all raters, or as the study states).
    levels
        Levels of a question in the main analysis (whole number of at least 1; default: 1, or those of the study
        or the pilot).
    score
        Score of a pair (default: composite, or the study's).
    study
        Name of a study of pairs: plan with its margin, level, score and levels, and show what it has reached.
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``plans`` with the columns ``scope``, ``raters``, ``votes``, ``levels``, ``questions``,
        ``total_votes``, ``hours``, ``minutes_each``, ``power``, ``half_width``, ``reason``. Further tables:
        ``power``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For a file without variance components. NotAllowed before the pilot is
        unblinded. For a study of ratings. NotFound for an unknown study. For assumptions that contradict each
        other, and a pilot without variance components.

    Notes
    -----
    Misleads: Assumptions are not estimates, and components of a small pilot are uncertain.

    Examples
    --------
    >>> import assay
    >>> found = assay.plan(power=0.8, raters=[3, 12], score="net_preference")
    >>> int(found.frame.loc[0, "questions"])
    137
    """
    return answered(
        "plan",
        {
            "decided": decided,
            "question_correlation": question_correlation,
            "agreement": agreement,
            "own_view": own_view,
            "rater_sd": rater_sd,
            "margin": margin,
            "confidence": confidence,
            "mean": mean,
            "power": power,
            "half_width": half_width,
            "questions": questions,
            "raters": raters,
            "votes": votes,
            "levels": levels,
            "score": score,
        },
        lambda: pilot_from(pilot, db),
        lambda: standing_from(study, db),
    )


def study_results(
    study: str | os.PathLike[str],
    *,
    levels: Names | None = None,
    raters: Names | None = None,
    questions: Names | None = None,
    languages: Names | None = None,
    resamples: int = 10000,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Which of the two systems is better, and does the verdict hold?

    The same numbers as the command ``study results``.

    Parameters
    ----------
    study
        Name of an unblinded study, or the path of a bundle (.zip).
    levels
        Levels, e.g. A1-A4, A1,A3 or all (default: those of the main analysis). Any filter makes the result
        exploratory.
    raters
        Raters to include (default: all who have answered).
    questions
        Questions to include (default: all).
    languages
        Languages to include (default: all).
    resamples
        Bootstrap resamples of intervals; verdicts always use 10,000 (whole number of at least 1).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Table ``sensitivity`` with the columns ``counted``, ``pairs``, ``bound``, ``verdict``. Further tables:
        ``answer``; ``robustness``; ``bounds``; ``rater-means``; ``variance-components``; ``choices``;
        ``agreement``; ``pairwise``; ``contingency``; ``composite``; ``ties``; ``plan``; ``power``; ``position``;
        ``repeats``; ``seconds``; ``blinding``; ``blinding-sides``; ``early``; ``pairs``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For filters of a study of ratings. NotFound for an unknown study. NotAllowed
        before it is unblinded. For an unknown level, rater, question or language.

    Notes
    -----
    Misleads: "Not shown" does not mean worse. An answer changed by a filter is exploratory.

    Examples
    --------
    >>> import assay
    >>> found = assay.study_results("demo", db=demo_database)
    >>> found.json["answer"]["value"], found.json["verdict"]["value"]
    ('better', 'non-inferior')
    """
    return answered(
        "study-results",
        {
            "resamples": resamples,
        },
        lambda: part_from(study, db, levels=levels, raters=raters, questions=questions, languages=languages),
    )


def votes(
    study: Source,
    scores: Source | Sequence[Source],
    *,
    dimension: str | None = None,
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
    dimension
        For a study of ratings: which dimension to use (default: the only one) (default: the only one).
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
            "dimension": dimension,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: study_from(study),
        lambda: tables_from(scores),
    )


def correlate(
    scores: Sources,
    with_: Target = "level",
    *,
    dimension: Names | None = None,
    raters: Literal["averaged", "kept"] = "averaged",
    z_normalise: bool = False,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    group: Sequence[str] = (),
    methods: Sequence[str] = ("pearson", "spearman", "kendall"),
    system_scores: Literal["all", "rated"] = "all",
    raw_level: bool = False,
    resample: Literal["rows", "items"] = "rows",
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    sizes: Mapping[str, float] | None = None,
) -> Result:
    """Does each metric follow quality, which people rated or the damage level states?

    The same numbers as the command ``correlate``.

    Parameters
    ----------
    scores
        Scores of metrics or judges: a data frame (long, or a column for each metric) or anything that ``read``
        reads; several, or a dictionary from names to them, are used side by side.
    with_
        ``"level"`` (the negative level, so that a good metric is positive) or ratings by people.
    dimension
        Dimension of the ratings; several are used one by one and as a mean (default: the only one).
    raters
        Use one mean rating for each text, or every rating.
    z_normalise
        Standardise each rater's ratings: subtract the rater's mean, divide by the SD.
    leave_out
        Texts to leave out, as ``{"system": ["refA", "Human"]}``.
    direction
        Metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``.
    group
        One correlation for each value of these columns (default: all texts together) (list of texts).
    methods
        Coefficients to report: pearson, spearman, kendall (default: all) (list of texts).
    system_scores
        Texts over which a metric's system score is the mean: all, as in WMT's metrics task, or the rated ones;
        human scores are always means over rated texts.
    raw_level
        Correlate with the level instead of its negative, as Factual does; a good metric is then negative.
    resample
        What to resample for low and high: rows, as in Factual, or items, which is sounder if an item has several
        texts.
    resamples
        Number of bootstrap resamples (whole number of at least 0; default: until every interval settles, at most
        10,000).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).
    sizes
        With several files: parameters, in billions, of a model (or of the model behind a file) whose name does
        not state them.

    Returns
    -------
    Result
        Table ``correlations`` with the columns ``*``, ``metric``, ``family``, ``signature``, ``direction``,
        ``against``, ``n``, ``n_left_out``, ``left_out``, ``constant_value``, ``constant_share``, ``pearson``,
        ``spearman``, ``kendall``, ``resampled``, ``pearson_rows_low``, ``pearson_rows_high``,
        ``pearson_items_low``, ``pearson_items_high``, ``pearson_fisher_low``, ``pearson_fisher_high``,
        ``spearman_rows_low``, ``spearman_rows_high``, ``spearman_items_low``, ``spearman_items_high``,
        ``spearman_fisher_low``, ``spearman_fisher_high``, ``kendall_rows_low``, ``kendall_rows_high``,
        ``kendall_items_low``, ``kendall_items_high``, ``kendall_fisher_low``, ``kendall_fisher_high``,
        ``pearson_per_item``, ``pearson_per_item_n_items``, ``pearson_per_item_n_items_left_out``,
        ``spearman_per_item``, ``spearman_per_item_n_items``, ``spearman_per_item_n_items_left_out``,
        ``kendall_per_item``, ``kendall_per_item_n_items``, ``kendall_per_item_n_items_left_out``,
        ``pearson_per_system``, ``pearson_per_system_n_systems``, ``spearman_per_system``,
        ``spearman_per_system_n_systems``, ``kendall_per_system``, ``kendall_per_system_n_systems``,
        ``pearson_per_system_corrected``, ``pearson_per_system_corrected_undefined_share``,
        ``pearson_per_system_corrected_noise_of_scores``, ``pearson_per_system_corrected_noise_of_ratings``,
        ``system_accuracy``, ``system_accuracy_n_pairs``, ``system_accuracy_at_least``,
        ``system_accuracy_at_most``, ``system_accuracy_n_settled``, ``system_scores``, ``pearson_given_system``,
        ``spearman_given_system``, ``kendall_given_system``. Further tables: ``judge-table-2``;
        ``judges-by-model``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown columns, dimensions or metrics, and if scores and ratings share
        no text.

    Notes
    -----
    Misleads: Coefficients over all rows mix differences between items with differences within them: read
    kendall_per_item, too. Intervals over rows are too narrow if an item has several texts. Of several files with
    different texts, correlations differ for that reason, too.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
    >>> row = assay.correlate(scores, with_="level", resamples=200).frame.iloc[0]
    >>> bool(row["spearman_low"] < row["spearman"] < row["spearman_high"])
    True
    """
    return answered(
        "correlate",
        {
            "group": group,
            "methods": methods,
            "system_scores": system_scores,
            "raw_level": raw_level,
            "resample": resample,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
            "sizes": sizes,
        },
        lambda: quality_from(scores, with_, dimension, raters, z_normalise, leave_out, direction),
    )


def rank(
    scores: Sources,
    with_: Target = "level",
    method: Literal["pearson", "spearman", "kendall"] = "pearson",
    *,
    dimension: Names | None = None,
    raters: Literal["averaged", "kept"] = "averaged",
    z_normalise: bool = False,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    test: Literal["permutation", "williams"] = "permutation",
    resamples: int = 10000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Which metric follows quality most closely, and which metrics does no test on the same texts separate?

    The same numbers as the command ``correlate --rank``.

    Parameters
    ----------
    scores
        Scores of metrics or judges: a data frame (long, or a column for each metric) or anything that ``read``
        reads; several, or a dictionary from names to them, are used side by side.
    with_
        ``"level"`` (the negative level, so that a good metric is positive) or ratings by people.
    method
        Coefficient to rank by.
    dimension
        Dimension of the ratings; several are used one by one and as a mean (default: the only one).
    raters
        Use one mean rating for each text, or every rating.
    z_normalise
        Standardise each rater's ratings: subtract the rater's mean, divide by the SD.
    leave_out
        Texts to leave out, as ``{"system": ["refA", "Human"]}``.
    direction
        Metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``.
    test
        Test of every two metrics: permutation swaps their scores item by item; williams assumes independent
        texts.
    resamples
        Swaps of a test and resamples of a difference, at most 1,000 of each (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``ranking`` with the columns ``cluster``, ``metric``, ``direction``, ``coefficient``, ``method``,
        ``n``, ``left_out``, ``reason``. Further tables: ``comparisons``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown columns, dimensions or metrics, and if scores and ratings share
        no text. For williams with Kendall.

    Notes
    -----
    Misleads: Only texts that all metrics scored are compared. Two metrics of one cluster may differ: clusters use
    p_bh, corrected for all comparisons.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "bleu-4"])
    >>> list(assay.rank(scores, "level", method="spearman", resamples=200).frame["metric"])
    ['chrf-6-0', 'bleu-4']
    """
    return answered(
        "rank",
        {
            "method": method,
            "test": test,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: quality_from(scores, with_, dimension, raters, z_normalise, leave_out, direction),
    )


def compare(
    scores: Sources,
    first: str,
    second: str,
    with_: Target = "level",
    *,
    dimension: Names | None = None,
    raters: Literal["averaged", "kept"] = "averaged",
    z_normalise: bool = False,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    group: Sequence[str] = (),
    methods: Sequence[str] = ("pearson", "spearman", "kendall"),
    system_scores: Literal["all", "rated"] = "all",
    resamples: int = 10000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Which of two metrics follows quality more closely, on the texts that both scored?

    The same numbers as the command ``correlate --compare``.

    Parameters
    ----------
    scores
        Scores of metrics or judges: a data frame (long, or a column for each metric) or anything that ``read``
        reads; several, or a dictionary from names to them, are used side by side.
    first
        A metric.
    second
        Another metric.
    with_
        ``"level"`` (the negative level, so that a good metric is positive) or ratings by people.
    dimension
        Dimension of the ratings; several are used one by one and as a mean (default: the only one).
    raters
        Use one mean rating for each text, or every rating.
    z_normalise
        Standardise each rater's ratings: subtract the rater's mean, divide by the SD.
    leave_out
        Texts to leave out, as ``{"system": ["refA", "Human"]}``.
    direction
        Metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``.
    group
        One correlation for each value of these columns (default: all texts together) (list of texts).
    methods
        Coefficients to report: pearson, spearman, kendall (default: all) (list of texts).
    system_scores
        Texts over which a metric's system score is the mean: all, as in WMT's metrics task, or the rated ones;
        human scores are always means over rated texts.
    resamples
        Number of resamples of items; 0 for no intervals (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``comparison`` with the columns ``*``, ``first``, ``second``, ``view``, ``method``,
        ``first_coefficient``, ``second_coefficient``, ``difference``, ``p_two_sided``, ``p_holm``, ``n``,
        ``n_left_out``, ``left_out``, ``reason``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown columns, dimensions or metrics, and if scores and ratings share
        no text. Unless both are metrics of the scores.

    Notes
    -----
    Misleads: The views answer different questions, so p_holm is corrected for them and for groups. Coefficients
    are not corrected: choose one before you look at p.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "bleu-4"])
    >>> frame = assay.compare(scores, "chrf-6-0", "bleu-4", methods="spearman", resamples=200).frame
    >>> frame[["view", "n"]].values.tolist()
    [['pooled', 140], ['per item', 130], ['given system', 140]]
    """
    return answered(
        "compare",
        {
            "group": group,
            "methods": methods,
            "system_scores": system_scores,
            "first": first,
            "second": second,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: quality_from(scores, with_, dimension, raters, z_normalise, leave_out, direction),
    )


def levels(
    scores: Source | Sequence[Source],
    *,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
    resamples: int = 10000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """Does a metric fall with each step of damage, and where does it prefer the damaged text?

    The same numbers as the command ``correlate --levels``.

    Parameters
    ----------
    scores
        Scores of metrics or judges: a data frame (long, or a column for each metric) or anything that ``read``
        reads; several are merged.
    leave_out
        Texts to leave out, as ``{"system": ["refA", "Human"]}``.
    direction
        Metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``.
    resamples
        Number of resamples of items; 0 for no intervals (whole number of at least 0).
    confidence
        Confidence level of intervals (number above 0 and below 1).
    seed
        Seed of all resampling (whole number from 0 to 9007199254740991).

    Returns
    -------
    Result
        Table ``levels`` with the columns ``metric``, ``family``, ``level``, ``mean``, ``prefers_damaged``.
        Further tables: ``monotonic``; ``prefers-damaged``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown columns, values or metrics. If fewer than two levels have texts.

    Notes
    -----
    Misleads: An average can fall although single items do not: read monotonic. Items whose scores are all equal
    are left out, so a metric with many of them has shares of few items.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
    >>> assay.levels(scores, resamples=0).names
    ['levels', 'monotonic', 'prefers-damaged']
    """
    return answered(
        "levels",
        {
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
        },
        lambda: table_from(scores, leave_out, direction),
    )


def redundancy(
    scores: Source | Sequence[Source],
    method: Literal["pearson", "spearman", "kendall"] = "spearman",
    *,
    leave_out: LeaveOut | None = None,
    direction: Directions | None = None,
) -> Result:
    """Do two metrics score the same texts alike, so that one of them adds nothing?

    The same numbers as the command ``correlate --redundancy``.

    Parameters
    ----------
    scores
        Scores of metrics or judges: a data frame (long, or a column for each metric) or anything that ``read``
        reads; several are merged.
    method
        Coefficient of every two metrics.
    leave_out
        Texts to leave out, as ``{"system": ["refA", "Human"]}``.
    direction
        Metrics whose direction the scores do not state, as ``{"my-distance": "lower"}``.

    Returns
    -------
    Result
        Table ``redundancy`` with the columns ``first``, ``second``, ``method``, ``correlation``, ``n``,
        ``left_out``. See docs/results.md.

    Raises
    ------
    InputError
        For parameters out of bounds. For unknown columns, values or metrics.

    Notes
    -----
    Misleads: Over texts of all levels, any two metrics that notice damage at all agree.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["rouge-1", "rouge-l"])
    >>> assay.redundancy(scores).frame[["first", "second", "n"]].values.tolist()
    [['rouge-1', 'rouge-l', 140]]
    """
    return answered(
        "redundancy",
        {
            "method": method,
        },
        lambda: table_from(scores, leave_out, direction),
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
