"""Studies: their list, their results and every answer."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import TYPE_CHECKING

from core.joining.choices import interval_problems
from core.notebook.frames import (
    PATH,
    check_parameters,
    check_type,
    existing_store,
    named_source,
    reading_of,
)
from core.notebook.result import Result, result_of
from core.results.judges.pairwise import EPSILON, pairs_json, pairs_report, pairs_said, pairs_tables
from core.schema.study import StudyRecord
from core.sources.judges import judge_of
from core.sources.studies import study_or_bundle
from core.store.studies import list_studies, write_log
from core.study.export import annotation_rows

if TYPE_CHECKING:
    import pandas as pd


def studies(db: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """List the studies of a database, as ``study list`` does.

    Parameters
    ----------
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    DataFrame
        ``name``, ``kind`` (pairs or ratings), ``asks`` (levels, preference or ratings), ``state``, ``candidate``,
        ``comparator``, ``task`` (of a rating study), ``margin``, ``created_utc``.

    Raises
    ------
    InputError
        If there is no such database.

    Examples
    --------
    >>> import assay
    >>> list(assay.studies(demo_database)["state"])
    ['unblinded']
    """
    import pandas as pd  # loads slowly

    with existing_store(db) as store:
        found = list_studies(store)
    columns = ("name", "kind", "asks", "state", "candidate", "comparator", "task", "margin", "created_utc")
    rows = [
        (
            *(one.name, one.kind, one.asks, one.state),
            *((one.design.candidate, one.design.comparator) if one.kind == "pairs" else (None, None)),
            None if one.task is None else one.task.name,
            one.design.margin if one.kind == "pairs" else None,
            one.created_utc,
        )
        for one in found
    ]
    return pd.DataFrame(rows, columns=columns)


def pairs(
    judge: str | os.PathLike[str],
    study: str | os.PathLike[str] | None = None,
    *,
    epsilon: float = EPSILON,
    texts: bool = False,
    most: int | None = 10,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    db: str | os.PathLike[str] | None = None,
) -> Result:
    """Report on a judge of pairs, and on its agreement with the votes of a study, as ``report pairs`` does.

    Parameters
    ----------
    judge
        ``"run:3"``, or the folder that ``judge pairwise`` wrote.
    study
        Name of an unblinded study of the same pairs, or the path of a bundle (.zip). Default: no votes.
    epsilon
        Price of a rater in the Alt-test.
    texts
        Include both texts and the judge's reasons in the table of gaps.
    most
        Most pairs in the table of gaps; None for all.
    resamples, confidence, seed
        Resamples of the intervals of agreement, level of all intervals, seed.
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    Result
        Tables ``pairs`` (both orders, by level), ``pairs-ties``, ``pairs-systems`` (win rates) and, of a judge with repeats,
        ``judge-repeats``. With a study also ``pairs-agreement``, ``pairs-alt-test`` and ``gaps``.

    Raises
    ------
    InputError
        For another kind of judge, and if it judged no pair of the study.
    NotFound
        For an unknown run or study.
    NotAllowed
        Before the study is unblinded.

    Notes
    -----
    Misleads: verdicts that contradict each other in the two orders count as ties, which agree with raters' ties by chance.
    Read the four answers beside the three.

    Examples
    --------
    >>> import assay
    >>> found = assay.pairs("run:1", "demo", db=demo_database)
    >>> found.names[0], len(found["pairs-agreement"].frame)
    ('pairs', 10)
    """
    check_type("judge", judge, PATH, "run:3, or the folder that judge pairwise wrote")
    check_type("most", most, Integral, "a whole number", optional=True)
    check_type("epsilon", epsilon, Real, "a number from 0 to below 1")
    wrong = [] if 0 <= epsilon < 1 else [f"epsilon: {epsilon:g} is not a number from 0 to below 1"]
    wrong += [f"most: {most} is below 1"] if most is not None and most < 1 else []
    check_parameters([*wrong, *interval_problems(resamples, confidence, seed)])
    record = None if study is None else _record(study, db, seen=True)[0]
    output = judge_of(named_source(judge), reading_of(db))
    found = pairs_report(
        output, record, epsilon=epsilon, n_resamples=resamples, confidence_level=confidence, rng=seed
    )
    return result_of(
        [*pairs_said(found), *pairs_tables(found, texts=texts, most=most).values()], pairs_json(found)
    )


def study_annotations(
    study: str | os.PathLike[str], *, db: str | os.PathLike[str] | None = None
) -> pd.DataFrame:
    """Return every answer of an unblinded study, as ``study export --format csv`` writes them.

    Parameters
    ----------
    study
        Name of a study, or the path of a bundle (.zip).
    db
        Database. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    DataFrame
        One row for each answer to a pair, or for each text and rater. docs/formats.md describes the columns. The main
        analysis leaves out rows with ``dry_run``, ``repeat``, ``excluded``, and levels with ``main_analysis`` false.

    Raises
    ------
    NotFound
        For an unknown study.
    NotAllowed
        Before the study is unblinded.

    Notes
    -----
    Misleads: all answers are here, also previews and hidden repeats. Filter before you count.

    Examples
    --------
    >>> import assay
    >>> answers = assay.study_annotations("demo", db=demo_database)
    >>> sorted(answers["choice_decoded"].unique())
    ['both_bad', 'both_good', 'candidate', 'comparator']
    """
    import pandas as pd  # loads slowly

    record, stored = _record(study, db, seen=True)
    columns, rows = annotation_rows(record)
    if stored:
        with existing_store(db) as store:
            write_log(store, record.study.study_id, "exported", "data frame")
    return pd.DataFrame(rows, columns=columns)


def _record(
    study: str | os.PathLike[str], db: str | os.PathLike[str] | None, *, seen: bool = False
) -> tuple[StudyRecord, bool]:
    """Return a study's record, and whether it comes from the database. seen: as in released_record."""
    check_type("study", study, PATH, "the name of a study or the path of a bundle; studies() lists the names")
    return study_or_bundle(os.fspath(study), reading_of(db), seen=seen)
