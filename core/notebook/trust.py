"""Whether a judge can be trusted: verdict, choice, gaps, next labels, bias, and what it may keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Literal

from core.analyses.agreement import ANALYSIS as PEOPLE_ALONE
from core.analyses.agreement import no_judge, without_judge_json
from core.notebook.frames import (
    Names,
    Source,
    beside_from,
    check_parameters,
    check_type,
    each_of,
    facts_from,
    interval_options,
    names_of,
    panel_from,
)
from core.notebook.result import Result, result_of
from core.report import json_of
from core.results.check.choosing import (
    stated_facts,
    which_json,
    which_of,
    which_said,
    which_tables,
)
from core.results.check.gaps import gaps_of
from core.results.check.options import DEFAULT_OPTIONS as CHECK
from core.results.check.options import CheckOptions, Use
from core.results.check.tables import check_json, check_said, check_tables
from core.results.check.verdict import check_needs_judge, check_panel
from core.results.injection import listed_lines, with_marks
from core.schema.analysis import REFUSE, PanelChoice, RepeatedRatings
from core.schema.panel import Panel
from core.schema.settings import Remark, as_parameter, fields_of, said, worded
from core.tables.roles import Undecided


def check(
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
    repeated: RepeatedRatings = REFUSE,
    use: Use | None = None,
    margin: float = CHECK.margin,
    tolerance: float = CHECK.tolerance,
    accuracy: float = CHECK.accuracy,
    least_responsive: float = CHECK.least_responsive,
    most_responsive: float = CHECK.most_responsive,
    target: float = CHECK.target,
    population: Literal["like-these", "these"] = CHECK.population,
    ceiling: float | None = CHECK.ceiling,
    epsilon: float = CHECK.epsilon,
    kept_share: float = CHECK.kept_share,
    passes_from: str | float | None = None,
    critical: Names | None = None,
    most_false_passes: float | None = None,
    most_false_fails: float | None = None,
    missing_judge: Literal["wrong", "leave-out"] = CHECK.missing_judge,
    labels_chosen: Literal["at-random", "by-judge"] | None = None,
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
    ratings, scores, human, judge, dimension, scale, classes, missing
        As in ``alt_test``; columns that are not named are found by their names and contents.
    system_column
        Column with the system. Default: found by its name.
    item
        What an item is, the unit of intervals: a column, or ``"row"``. Default: the id, or a question that repeats.
    repeated
        Which counts of several ratings of a text by one rater: ``"first"``, ``"last"`` or ``"mean"``. Default: refused.
    use
        ``"replace"`` a rater, ``"rank"`` systems, ``"gate"`` single answers, ``"monitor"`` a mean or ``"certify"`` that a system's
        answers are good. Default: replace with three raters or more, else gate.
    margin, tolerance, accuracy, least_responsive, most_responsive, target, population
        Limits of the uses, as the options of the command.
    ceiling, epsilon, kept_share, passes_from, critical, most_false_passes, most_false_fails
        Further limits.
    missing_judge, labels_chosen
        What a labelled text without a score counts as, and how the labelled texts were chosen, as the options of the command.
    prices, seconds, currency
        Price and time of 1,000 texts by judge, and the currency of the prices.
    resamples, confidence, seed
        Resamples of items for the order of systems, level of all intervals, seed.

    Returns
    -------
    Result
        ``verdict`` is ``"TRUSTED"``, ``"NOT TRUSTED"`` or ``"INCONCLUSIVE"``, and empty for several judges; ``sentence`` says
        why. Table ``check`` (a row for each judge), ``check-rules``, ``check-groups`` and ``check-systems``. If no judge is found
        and none is named, ``verdict`` is empty, and the tables are those of ``agreement``: how far people agree with each other.

    Raises
    ------
    InputError
        With all problems of the options, for unknown names, without a rater, without a judge beside a single rater, if no text
        has both, and for ``use="rank"`` with fewer than two systems.

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
    chosen = _check_options(
        {
            "use": use,
            "margin": margin,
            "tolerance": tolerance,
            "accuracy": accuracy,
            "least_responsive": least_responsive,
            "most_responsive": most_responsive,
            "target": target,
            "population": population,
            "ceiling": ceiling,
            "epsilon": epsilon,
            "kept_share": kept_share,
            "passes_from": None if passes_from is None else f"{passes_from}",
            "critical": names_of(critical),
            "most_false_passes": most_false_passes,
            "most_false_fails": most_false_fails,
            "missing_judge": missing_judge,
            "labels_chosen": labels_chosen,
        },
        resamples,
        confidence,
        seed,
    )
    further = list(each_of(scores))
    read_as: dict[str, Any] = {
        "human": human,
        "dimension": dimension,
        "scale": scale,
        "classes": classes,
        "missing": missing,
        "system_column": system_column,
        "item": item,
        "repeated": repeated,
    }
    may_be_judges: Sequence[str] = ()
    try:
        panel = panel_from(ratings, further, judge=judge, find=True, **read_as)
    except Undecided as problem:
        if judge is not None or further or not problem.roles.lacks_judge_alone:
            raise
        may_be_judges, panel = problem.roles.candidates, None
    if panel is None or not (panel.judges or judge is not None or further or len(panel.raters) < 2):
        check_needs_judge(use)
        return _people_alone(panel_from(ratings, people_alone=True, **read_as), may_be_judges)
    facts = stated_facts(
        facts_from([ratings, *each_of(scores)], panel, dimension),
        panel,
        prices or {},
        seconds or {},
        currency,
    )
    found = check_panel(panel, chosen, facts=facts, texts=beside_from(ratings, further, panel))
    main, *others = check_tables(found).values()
    lines = [*check_said(found), *listed_lines(found.injections)]
    return result_of([*lines, main], check_json(found), others, found.verdict or "")


def _people_alone(panel: Panel, may_be_judges: Sequence[str]) -> Result:
    """Return the agreement of people with each other, where no judge was found."""
    answer = PEOPLE_ALONE.answer(PEOPLE_ALONE.Options(), panel)
    sentence = worded(no_judge(may_be_judges), fields_of(PanelChoice), as_parameter)
    main, *others = answer.tables.values()
    return result_of([sentence, *answer.said, main], without_judge_json(sentence, answer), others, "")


def _check_options(given: Mapping[str, object], resamples: int, confidence: float, seed: int) -> CheckOptions:
    """Return the options of a check. Raises InputError with all problems, by the names of the parameters."""
    problems: list[Remark] = []
    chosen = CheckOptions.read(given, problems)
    fields = fields_of(CheckOptions)
    made = interval_options(
        resamples, confidence, seed, [said(problem, fields, as_parameter) for problem in problems]
    )
    assert chosen is not None
    return chosen.but(**made)


def which_judge(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    item: str | None = None,
    repeated: RepeatedRatings = REFUSE,
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
    ratings, scores, human, judge, dimension, scale, classes, missing, item, repeated
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
    chosen = _check_options({"use": use, "margin": margin}, resamples, confidence, seed)
    panel = panel_from(
        ratings,
        list(each_of(scores)),
        human=human,
        judge=judge,
        dimension=dimension,
        scale=scale,
        classes=classes,
        missing=missing,
        item=item,
        repeated=repeated,
        find=True,
    )
    facts = stated_facts(
        facts_from([ratings, *each_of(scores)], panel, dimension),
        panel,
        prices or {},
        seconds or {},
        currency,
    )
    found = which_of(check_panel(panel, chosen, facts=facts))
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
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    most: int | None = None,
    texts: bool = False,
) -> Result:
    """List the texts on which people and judges differ most, as ``check --gaps`` does.

    Parameters
    ----------
    ratings, scores, human, judge, dimension, scale, classes, missing
        As in ``alt_test``.
    most
        Number of texts. Default: all.
    texts
        Whether the list has the questions, the texts and the judges' reasons. They may be confidential.

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
    panel = panel_from(
        ratings,
        list(each_of(scores)),
        human=human,
        judge=judge,
        dimension=dimension,
        scale=scale,
        classes=classes,
        missing=missing,
        find=True,
    )
    beside = beside_from(ratings, each_of(scores), panel)
    panel, _ = with_marks(panel, beside)
    table = gaps_of(panel, beside if texts else (), most=most)
    return result_of([table], json_of(table))


def next_labels(
    ratings: Source,
    scores: Source | Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    item: str | None = None,
    repeated: RepeatedRatings = REFUSE,
    n: int,
    whole_items: bool = False,
    rng: int = 0,
) -> Result:
    """Choose the texts to label next, with known probabilities, as ``check --next`` does.

    Parameters
    ----------
    ratings, scores, human, judge, dimension, scale, classes, missing, item, repeated
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
    panel = panel_from(
        ratings,
        list(each_of(scores)),
        human=human,
        judge=judge,
        dimension=dimension,
        scale=scale,
        classes=classes,
        missing=missing,
        item=item,
        repeated=repeated,
    )
    found = labels_next(panel, n, whole_items=whole_items, rng=rng)
    return result_of([*next_labels_said(found), next_labels_table(found)], next_labels_json(found))
