"""Ratings and scores from the rows of a panel's table, wide or long."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import InputError, Problems
from core.formats.panel.items import Ids
from core.formats.panel.repeats import one_rating_each
from core.formats.panel.sheet import Sheet, number_of, numbers_of
from core.formats.ratings import UNUSED, read_ratings
from core.formats.scores import INDEX_COLUMNS, INFINITE, LABELS, SAID, metric_column, read_scores
from core.joining.choices import columns_at
from core.schema.analysis import REFUSE, RepeatedRatings
from core.schema.panel import ROW_LABEL
from core.schema.scores import Metric, Rating, RatingSet, ScoreTable
from core.tables.columns import (
    LABEL_MARK,
    METRIC_MARK,
    ONLY_SYSTEM,
    VOCABULARY,
    WRITTEN_AS_LABELS,
    Record,
    Table,
    known_at,
)
from core.tables.problems import FileFindings, listed
from core.tables.reading import is_nothing, reject, shown
from core.tables.scales import Words


@dataclass(frozen=True)
class WideScores:
    """A wide table that was read: a row for each text, and a column for each rater and judge."""

    table: ScoreTable
    """All sides as metrics: the raters first, then the judges. Its notes are those of the file."""
    n_raters: int

    @property
    def names(self) -> tuple[str, ...]:
        """Raters, then judges."""
        return tuple(metric.name for metric in self.table.metrics)

    @property
    def scores(self) -> ScoreTable | None:
        """The judges' scores of all texts; None without judges."""
        if self.n_raters == len(self.table.metrics):
            return None
        # Without notes and the file's hash: both stand with the ratings, which come from the same file.
        table = replace(self.table, notes=(), sha256="")
        return columns_at(table, range(self.n_raters, len(self.table.metrics)))

    @property
    def ratings(self) -> RatingSet:
        """The raters' filled cells, to join them with tables of further judges."""
        values = self.table.values[:, : self.n_raters]
        given = tuple(
            Rating(
                row.item_id,
                float(values[at, rater]),
                None if row.system == ONLY_SYSTEM else row.system,
                row.level,
                self.names[rater],
                language=row.language,
                labels=row.labels,
            )
            for at, row in enumerate(self.table.rows)
            for rater in range(self.n_raters)
            if not np.isnan(values[at, rater])
        )
        table = self.table
        return RatingSet(given, table.sha256, table.file_name, table.notes, row_numbers=table.row_numbers)


def read_wide(
    sheet: Sheet,
    words: Words | None,
    findings: FileFindings,
    ids: Ids,
    *,
    by_row: bool,
    repeated: RepeatedRatings = REFUSE,
) -> WideScores:
    """The ratings and scores of a wide table, read at once: each row is a text. Raises InputError with all problems."""
    about = known_at("texts")
    taken = {name for own in VOCABULARY.values() for name in own} - WRITTEN_AS_LABELS
    read_as = sheet.named(about)
    labels = {
        key: key if key.startswith(LABEL_MARK) else f"{LABEL_MARK}{key}"
        for key in sheet.others
        if key not in read_as
        and key.strip().lower() not in taken
        and key not in (*UNUSED, *SAID)
        and key.lower() not in INDEX_COLUMNS
    }
    named = {**read_as, **labels}
    rows = sheet.table.records
    texts = [
        replace(record, cells={named[key]: cell for key, cell in record.cells.items() if key in named})
        for record in rows
    ]
    if ids.column is None:
        texts = [
            replace(text, cells={**text.cells, "item_id": name or ""})
            for text, name in zip(texts, ids.names, strict=True)
        ]
    sides = {**sheet.human, **sheet.judges}
    if (sheet.roles is not None or repeated != REFUSE) and not by_row:
        people = listed([*sheet.human])
        texts, rows = one_rating_each(
            texts, rows, [*sides.values()], [people] * len(texts), repeated, findings, by_text=True
        )
        by_row = True
    texts = _told_apart(texts, list(sheet.human), findings, by_row=by_row)
    keys = [name for name in dict.fromkeys(key for text in texts for key in text.cells) if name not in UNUSED]
    marks = [metric_column(Metric(name, "", ""), False, frozenset()) for name in sides]
    cells = zip(
        *(numbers_of([row.cells.get(key) for row in rows], words) for key in sides.values()), strict=True
    )
    records = [
        replace(
            text, cells={**{key: text.cells.get(key) for key in keys}, **dict(zip(marks, own, strict=True))}
        )
        for text, own in zip(texts, cells, strict=True)
    ]
    columns = {key: key for key in keys if key in about}
    found = _read_sides(sheet.data, Table([*keys, *marks], columns, records), len(sheet.human), findings)
    n = 0 if ids.column is not None or ids.numbered is not None else len(texts)
    return WideScores(replace(found, row_numbers=n), len(sheet.human))


def _read_sides(data: bytes, sides: Table, n_raters: int, findings: FileFindings) -> ScoreTable:
    """Read a table with a column for each rater and judge. Raises InputError with all problems."""
    name, problems = findings.file_name, Problems()
    problems += findings.problems
    try:
        found = read_scores(data, name, rows=lambda *_: sides)
    except InputError as error:
        problems += (error.found or Problems([error.what])).each(
            lambda one: one.replace(METRIC_MARK, "column ")
        )
        reject(name, problems)
    problems += [
        f"item {shown(found.rows[row].item_id)}: column {shown(found.metrics[side].name)} is infinite, expected a number"
        for (row, side), why in found.reasons.items()
        if why == INFINITE and side < n_raters
    ]
    if not (~np.isnan(found.values[:, :n_raters])).any() and not problems:
        problems.append("file: contains no rating; at least one is needed")
    if problems:
        reject(name, problems)
    notes = [note for note in found.notes if note.startswith("column ")]
    return replace(found, notes=(*findings.notes, *notes))


def _told_apart(
    texts: Sequence[Record], raters: Sequence[str], findings: FileFindings, *, by_row: bool
) -> list[Record]:
    """The rows with a number as a label where only their text, or nothing at all, tells them apart.

    Adds a problem for a row that repeats an earlier one, unless rows are texts by request (`by_row`).
    """
    parts = [
        name for name in dict.fromkeys(key for text in texts for key in text.cells) if name not in UNUSED
    ]
    keys = [repr([text.cells.get(name) for name in parts]) for text in texts]
    if len(set(keys)) == len(keys):
        return list(texts)
    first: dict[str, str] = {}
    for text in texts if not by_row else ():
        whole = repr(text.cells)
        before = first.setdefault(whole, text.where)
        if before != text.where:
            findings.problems.append(
                f"{text.where}: item {shown(str(text.cells.get('item_id')))}: the same text as in {before}, so "
                f"{listed(raters)} would have rated it twice; delete one of them"
            )
    return [
        replace(text, cells={**text.cells, f"{LABEL_MARK}{ROW_LABEL}": str(number)})
        for number, text in enumerate(texts, start=1)
    ]


def read_long(
    sheet: Sheet,
    words: Words | None,
    findings: FileFindings,
    *,
    by_row: bool,
    repeated: RepeatedRatings = REFUSE,
) -> tuple[RatingSet, ScoreTable | None]:
    """Ratings of a long table, and scores from columns beside them."""
    others = sheet.others
    read_as = {key: name for key, name in sheet.table.columns.items() if key in others}
    rated = [
        replace(
            record,
            cells={read_as.get(key, key): cell for key, cell in record.cells.items() if key in others},
        )
        for record in sheet.table.records
    ]
    if (sheet.roles is not None or repeated != REFUSE) and not by_row:
        _, rated = one_rating_each(
            rated,
            rated,
            ["score"],
            [f"rater {shown(str(record.cells.get('rater')))}" for record in rated],
            repeated,
            findings,
            by_text=False,
        )
    if words is not None:
        rated = [
            replace(one, cells={**one.cells, "score": number_of(one.cells.get("score"), words)})
            for one in rated
        ]
    if not sheet.judges:
        return _read_both(sheet.data, sheet.table._replace(records=rated), None, findings)
    about = known_at("texts")
    marks = {
        column: metric_column(Metric(judge, "", ""), False, frozenset())
        for judge, column in sheet.judges.items()
    }
    labels = {key: key for key in others if key not in read_as and key.strip().lower() in LABELS}
    named = labels | {key: name for key, name in read_as.items() if name in about} | marks
    scored: dict[str, Record] = {}
    for record in sheet.table.records:  # the score of a text stands beside each of its ratings
        cells = {
            named[key]: number_of(cell, words) if key in marks else cell
            for key, cell in record.cells.items()
            if key in named
        }
        if any(not is_nothing(cells.get(mark)) for mark in marks.values()):
            scored.setdefault(repr(cells), replace(record, cells=cells))
    columns = {name: name for name in named.values() if name in about}
    scores = Table([*named.values()], columns, list(scored.values()))
    return _read_both(sheet.data, Table(others, read_as, rated), scores, findings)


def _read_both(
    data: bytes, ratings: Table, scores: Table | None, findings: FileFindings
) -> tuple[RatingSet, ScoreTable | None]:
    """Read both tables with the readers of ratings and of scores. Raises InputError with the problems of both."""
    name, problems = findings.file_name, Problems()
    problems += findings.problems
    found: RatingSet | None = None
    scored: ScoreTable | None = None
    try:
        found = read_ratings(data, name, rows=lambda *_: ratings)
    except InputError as error:
        problems += error.found or [error.what]
    if scores is not None:
        try:
            # Its notes repeat those on the ratings, which stand in the same file.
            scored = replace(read_scores(data, name, rows=lambda *_: scores), notes=(), sha256="")
        except InputError as error:
            problems += (error.found or Problems([error.what])).each(
                lambda one: one.replace(METRIC_MARK, "column ")
            )
    if problems or found is None:
        reject(name, problems)
    notes = [note for note in found.notes if not _is_of_texts(note)]
    return replace(found, notes=(*findings.notes, *notes)), scored


def _is_of_texts(note: str) -> bool:
    """Whether a note says that columns of texts are not used, by Assay's names: the panel's own has the file's names."""
    names = note.removeprefix("columns not used: ").split(", ")
    return len(note) > len(names[0]) and {*names} <= {*UNUSED}
