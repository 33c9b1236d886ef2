"""Studies: their list and every answer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from core.notebook.frames import (
    PATH,
    check_type,
    existing_store,
    reading_of,
)
from core.schema.study import StudyRecord
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
        ``comparator``, ``task`` (of a rating study), ``margin``, ``rendering``, ``created_utc``.

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
    columns = (
        "name",
        "kind",
        "asks",
        "state",
        "candidate",
        "comparator",
        "task",
        "margin",
        "rendering",
        "created_utc",
    )
    rows = [
        (
            *(one.name, one.kind, one.asks, one.state),
            *((one.design.candidate, one.design.comparator) if one.kind == "pairs" else (None, None)),
            None if one.task is None else one.task.name,
            one.design.margin if one.kind == "pairs" else None,
            one.design.rendering,
            one.created_utc,
        )
        for one in found
    ]
    return pd.DataFrame(rows, columns=columns)


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
