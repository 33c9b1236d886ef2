"""What sways a judge, and what it may keep."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Literal

from core.errors import InputError
from core.formats.panel.beside import texts_of_outputs
from core.notebook.frames import (
    Names,
    Source,
    check_parameters,
    check_type,
    contents,
    each_of,
    in_rows,
    judge_from,
    panel_from,
    reading_of,
    table_in,
    type_problems,
)
from core.notebook.result import Result, result_of
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
from core.schema.analysis import REFUSE, RepeatedRatings
from core.sources.panel import texts_of_output
from core.tables.reading import shown


def bias(
    scores: Source | Sequence[Source],
    *,
    limit: float = BIAS.limit,
    alpha: float = BIAS.alpha,
    changes: int = 10,
    texts: Source | None = None,
    confidence: float = BIAS.confidence_level,
    seed: int = BIAS.rng,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Measure what besides quality sways judges and metrics, as ``report bias`` does.

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
    db
        Database of ``run:``. Default: ``$ASSAY_DB``, else the app's.

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
    audits, beside = (
        [],
        list(texts_of_outputs(contents(texts, "texts", reading_of(db)).outputs)) if texts is not None else [],
    )
    for one in each_of(scores):
        output = judge_from(one, db)
        audits.append(bias_audit(contents(one, "scores", reading_of(db)), output, chosen))
        beside += [] if output is None else texts_of_output(output)
    listed = changes_table(audits, beside, most=changes) if changes else None
    said = bias_said(audits)
    tables = [] if listed is None else [listed]
    return result_of([*said, bias_table(audits)], bias_json(audits, listed), tables, " ".join(said))


def escalate(
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
    ratings, scores, human, judge, dimension, scale, classes, missing, item, repeated
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
    from core.formats.panel.beside import columns_in, numbers_beside, texts_beside
    from core.results.check.escalation import (
        EscalationOptions,
        escalation_json,
        escalation_said,
        escalation_tables,
        first_labels,
    )
    from core.results.check.escalation import escalate as escalated
    from core.results.check.escalation import option_problems as escalation_problems
    from core.results.check.next_labels import check_same_texts, with_labels
    from core.results.check.sureness import COLUMN, JUDGES, Way, confidence_column, sureness, ways_had

    check_type("confidence", confidence, str, "the name of a column", optional=True)
    wanted = f"{passes:g}" if isinstance(passes, int | float) else passes
    options = EscalationOptions(agreement, delta, against, start, passes=wanted)
    check_parameters(escalation_problems(options))
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
    before, returned = panel, list(each_of(labels))
    for one in returned:
        given = panel_from(one, scale=scale, classes=classes, missing=missing)
        own, back = table_in(ratings), table_in(one)
        if own is not None and back is not None:
            here, there = texts_beside(panel, panel, *own), texts_beside(panel, given, *back)
            check_same_texts(panel, given, here, there)
        panel = with_labels(panel, given)
    panel, new = first_labels(before, panel)
    has: dict[Way, Callable[[], bool]] = {JUDGES: lambda: len(panel.judges) > 1, COLUMN: lambda: True}
    way = confidence or next(ways_had(has))
    if cut is not None or way == JUDGES:
        sure = sureness(panel, way, cut=cut)
    else:
        columns = [
            (name, one, table)
            for one in (ratings, *each_of(scores))
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
            table = at[1]
            sure = sureness(panel, named, numbers=lambda column: numbers_beside(*table, panel, column))
    found = escalated(panel, sure, options, returned=new if returned else None)
    main, thresholds, total, texts = escalation_tables(found).values()
    said = escalation_said(found)
    return result_of([*said, main, thresholds, total], escalation_json(found), [texts], said[0])
