"""Made levels: are they what they claim?"""

from __future__ import annotations

import os
from numbers import Real

from core.joining.choices import interval_problems
from core.notebook.frames import (
    Source,
    check_parameters,
    check_type,
    contents,
    frame_in,
    named_source,
    reading_of,
    type_problems,
)
from core.notebook.result import Result, result_of
from core.results.judges.made_levels import (
    DEFAULT_OPTIONS,
    MadeOptions,
    made_json,
    made_said,
    made_tables,
    option_problems,
    sets_table,
    verdict_of,
)
from core.schema.result_table import ResultTable


def made_levels(
    scores: Source,
    texts: Source | None = None,
    *,
    metric: str = "",
    tolerance: float = DEFAULT_OPTIONS.tolerance,
    alike: float = DEFAULT_OPTIONS.alike,
    longer: float = DEFAULT_OPTIONS.longer,
    resamples: int = 2_000,
    confidence: float = 0.95,
    seed: int = 0,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Check whether the levels of each item are what they claim, as ``report levels`` does.

    Parameters
    ----------
    scores
        A claims judge's run or folder, or any scores of the texts: a file, a frame.
    texts
        The texts, if the scores come without them. A generation run, or its folder, also says which facts it changed.
    metric
        Column of scores. Default: the first.
    tolerance
        Largest rise of the score to a worse level, as a share of the range of all scores.
    alike
        Share of words in the same order from which two levels count as the same text.
    longer
        How much longer than the median of its item's levels a text may be, or shorter: 0.25 is 25 %.
    resamples, confidence, seed
        Of the intervals.
    db
        Database of ``run:`` and ``study:``. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Tables ``made-levels`` (a row for each level to remake), ``levels-made``, ``length-by-system`` (with two or more
        systems) and ``items-made``. ``json["remake_items"]`` lists the items to remake.

    Raises
    ------
    InputError
        If the scores have fewer than two levels, or an option is out of range.

    Notes
    -----
    Misleads: a noisy judge accuses right items, because a right item has several chances to look wrong.

    Examples
    --------
    >>> import assay
    >>> texts = assay.read("data/demo/answers.csv")
    >>> found = assay.made_levels(assay.score(texts, "chrf-6-0"), texts, resamples=0)
    >>> found.json["remake_items"], found.json["counts"]["undecided"]
    (['d07'], 0)
    """
    chosen = MadeOptions(tolerance, alike, longer)
    number = "a number"
    unlike = [
        *type_problems("tolerance", tolerance, Real, number),
        *type_problems("alike", alike, Real, number),
        *type_problems("longer", longer, Real, number),
    ]
    check_type("metric", metric, str, "the name of a column of scores")
    check_parameters([*unlike, *interval_problems(resamples, confidence, seed)])
    check_parameters(option_problems(chosen))
    # Imported lazily: runs load slowly.
    from core.runs.judging.levels import Made, check_levels, made_of_outputs
    from core.sources.judges import made_of
    from core.sources.texts import made_texts_of

    reading = reading_of(db)
    made = Made() if frame_in(scores) is not None else made_of(named_source(scores), reading)
    if texts is not None:
        made = made.beside(
            made_texts_of(named_source(texts), reading)
            if frame_in(texts) is None
            else made_of_outputs(contents(texts, "texts").outputs)
        )
    found = check_levels(
        contents(scores, "scores", reading),
        made,
        metric=metric,
        options=chosen,
        n_resamples=resamples,
        confidence_level=confidence,
        rng=seed,
    )
    said: list[str | ResultTable] = [*made_said(found), *made_tables(found)]
    return result_of(said, made_json(found), [sets_table(found)], verdict_of(found))
