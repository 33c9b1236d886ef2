"""Ratings and scores from the rows of a panel's table, wide or long."""

from collections.abc import Sequence
from dataclasses import replace

from core.errors import InputError, Problems, counted
from core.formats.panel.items import Ids
from core.formats.panel.repeats import one_rating_each
from core.formats.panel.sheet import Sheet, number_of
from core.formats.ratings import UNUSED, read_ratings
from core.formats.scores import INDEX_COLUMNS, SAID, metric_column, read_scores
from core.schema.analysis import REFUSE, RepeatedRatings
from core.schema.panel import ROW_LABEL
from core.schema.scores import Metric, RatingSet, ScoreTable
from core.tables.columns import (
    LABEL_MARK,
    METRIC_MARK,
    VOCABULARY,
    Record,
    Table,
    known_at,
)
from core.tables.problems import FileFindings, listed
from core.tables.reading import is_nothing, label_of, reject, shown
from core.tables.scales import Words


def read_wide(
    sheet: Sheet,
    words: Words | None,
    findings: FileFindings,
    ids: Ids,
    *,
    by_row: bool,
    repeated: RepeatedRatings = REFUSE,
) -> tuple[RatingSet, ScoreTable | None]:
    """Ratings and scores of a wide table, each by the reader of its kind."""
    about = known_at("texts")
    taken = {name for own in VOCABULARY.values() for name in own}
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
    texts: list[Record] = []
    for at, record in enumerate(sheet.table.records):
        cells = {named[key]: cell for key, cell in record.cells.items() if key in named}
        if ids.column is None:
            cells["item_id"] = ids.names[at] or ""
        texts.append(replace(record, cells=cells))
    rows = sheet.table.records
    if (sheet.roles is not None or repeated != REFUSE) and not by_row:
        people, columns_rated = listed([*sheet.human]), [*sheet.human.values(), *sheet.judges.values()]
        texts, rows = one_rating_each(
            texts, rows, columns_rated, lambda _: people, repeated, findings, by_text=True
        )
        by_row = True
    texts = _told_apart(texts, list(sheet.human), findings, by_row=by_row)
    columns = {
        name: name for name in dict.fromkeys(key for text in texts for key in text.cells) if name in about
    }
    rated = [
        Record(
            f"{text.where}, column {shown(column)}",
            {**text.cells, "rater": rater, "score": number_of(record.cells.get(column), words)},
        )
        for text, record in zip(texts, rows, strict=True)
        for rater, column in sheet.human.items()
    ]
    marks = {
        column: metric_column(Metric(judge, "", ""), False, frozenset())
        for judge, column in sheet.judges.items()
    }
    scored = [
        replace(
            text,
            cells={
                **text.cells,
                **{mark: number_of(record.cells.get(column), words) for column, mark in marks.items()},
            },
        )
        for text, record in zip(texts, rows, strict=True)
    ]
    keys = list(dict.fromkeys(key for text in texts for key in text.cells))
    of_raters = Table([*keys, "rater", "score"], {**columns, "rater": "rater", "score": "score"}, rated)
    found, own = _read_both(
        sheet.data, of_raters, Table([*keys, *marks.values()], columns, scored) if marks else None, findings
    )
    numbers = 0 if ids.column is not None else len(texts)
    return replace(found, row_numbers=numbers), own and replace(own, row_numbers=numbers)


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


def _with_systems(sheet: Sheet, findings: FileFindings) -> Sheet:
    """The long table with the system of an item's other rows in each row that names none.

    Adds a problem for the rows of items whose other rows name several systems.
    """
    of = {name: key for key, name in sheet.table.columns.items()}
    item, system, records = of.get("item_id"), of.get("system"), sheet.table.records
    blank = [at for at, one in enumerate(records) if system and is_nothing(one.cells.get(system))]
    if item is None or system is None or not 0 < len(blank) < len(records):
        return sheet
    ids = [label_of(one.cells.get(item)) for one in records]
    named: dict[str | None, dict[object, None]] = {}
    for name, record in zip(ids, records, strict=True):
        if not is_nothing(cell := record.cells.get(system)):
            named.setdefault(name, {})[cell] = None
    unclear = [at for at in blank if len(named.get(ids[at], ())) > 1]
    if unclear:
        at = unclear[0]
        findings.problems.append(
            f"column {shown(system)}: {counted(len(unclear), 'row')} {'names' if len(unclear) == 1 else 'name'} no system, "
            f"first {records[at].where}, although item {shown(ids[at] or '')} has several; name it there"
        )
    filled = {at: next(iter(named[ids[at]])) for at in blank if len(named.get(ids[at], ())) == 1}
    kept = [
        replace(one, cells={**one.cells, system: filled[at]}) if at in filled else one
        for at, one in enumerate(records)
    ]
    return replace(sheet, table=sheet.table._replace(records=kept))


def read_long(
    sheet: Sheet,
    words: Words | None,
    findings: FileFindings,
    *,
    by_row: bool,
    repeated: RepeatedRatings = REFUSE,
) -> tuple[RatingSet, ScoreTable | None]:
    """Ratings of a long table, and scores from columns beside them."""
    sheet = _with_systems(sheet, findings)
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
            lambda record: f"rater {shown(str(record.cells.get('rater')))}",
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
    named = {key: name for key, name in read_as.items() if name in about} | marks
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
    return replace(found, notes=(*findings.notes, *found.notes)), scored
