"""Raters and judges side by side: who gave which text which label or score."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, Problems
from core.formats.ratings import UNUSED, read_ratings
from core.formats.registry import format_of
from core.formats.registry import read_evaluators as evaluators_in
from core.formats.registry import read_ratings as ratings_in
from core.formats.scores import INDEX_COLUMNS, METRIC_MARK, SAID, metric_column, read_scores
from core.results.calibration.cells import dimension_said
from core.results.choices import Dimension, check_names, chosen_ratings, items_of, keys_of
from core.results.joining import identifying_columns, merge_tables, rows_met, unmatched
from core.schema.scores import Metric, Rating, RatingSet, ScoredRow, ScoreTable
from core.stats.resampling import Floats
from core.tables.columns import (
    LABEL_MARK,
    ONLY_SYSTEM,
    VOCABULARY,
    Record,
    Table,
    known_at,
    named_columns,
    source_as_system,
)
from core.tables.mapping import classes_of, with_columns
from core.tables.problems import FileFindings, listed
from core.tables.reading import (
    is_nothing,
    is_undefined,
    label_of,
    looks_like_number,
    reject,
    sha256_of,
    shown,
)

OTHER_RATERS = "rating by a rater who was not chosen"
NO_VALUE = "rating undefined"
MOST_CLASSES = 100
"""Most different words that count as labels; more are texts."""
_LISTED = 5
_ROW = "row"
"""Label that numbers the rows of a wide table in which nothing else tells texts of one item apart."""


@dataclass(frozen=True)
class Panel:
    """The ratings of each text by each rater and its scores by each judge. Arrays have one row for each text."""

    rows: tuple[ScoredRow, ...]
    """The texts: item, system, level, language and labels. Every text has a rating or a row of scores."""
    items: NDArray[np.int64]
    """Shape (n,): number of the text's item, the cluster to resample."""
    systems: NDArray[np.str_]
    """Shape (n,): the text's system; ONLY_SYSTEM if the file names none."""
    raters: tuple[str, ...]
    ratings: Floats
    """Shape (n, raters); NaN where the rater gave none."""
    judges: tuple[str, ...] = ()
    scores: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """Shape (n, judges); NaN where the judge gave none. Not turned: on the scale of the file."""
    classes: Mapping[float, str] = field(default_factory=dict)
    """Value -> word, if the file has words; empty for numbers."""
    ordered: bool = True
    """Whether larger values are better or more; False for words without a known order, whose numbers are mere codes."""
    name: str = ""
    """The input, for messages."""
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of ratings that belong to no text here."""
    sources: tuple[tuple[str, str], ...] = ()
    """For each judge the name of its table and its metric's signature; both empty for a rater who counts as a judge."""


def panel_of(
    ratings: RatingSet,
    tables: Sequence[ScoreTable] = (),
    *,
    raters: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    dimension: Dimension = None,
    classes: Mapping[float, str] | None = None,
    ordered: bool = True,
) -> Panel:
    """Put ratings and scores of the same texts side by side.

    raters: names; None for all that are not judges. judges: names of metrics in the tables, of judges whose metric is
    `JUDGE-DIMENSION`, or of raters that are to count as judges; None for all metrics of the tables that score the
    dimension. dimension: None for the only one. Texts match as in `core.results.joining`; every text of the tables stays,
    rated or not. Unnamed ratings of a text are numbered. Scores are never turned: a judge must use the raters' scale.

    Raises InputError for unknown names, if several dimensions are rated and none is chosen, if no rating matches a score,
    and if a rater rated a text several times.
    """
    chosen = chosen_ratings(ratings, dimension, z_normalise=False, kept=True)
    given = _numbered(chosen.ratings)
    known = dict.fromkeys(one.rater or "" for one in given)
    columns = _metrics_of(tables, judges, chosen.ratings[0].dimension)
    own = [name for name in judges or () if name not in columns and name in known]
    if judges is not None:
        check_names(
            "judge",
            judges,
            [*dict.fromkeys([*(m.name for t in tables for m in t.metrics), *columns, *known])],
        )
    people = [name for name in known if name not in own]
    if raters is not None:
        check_names("rater", raters, list(known))
        people = list(dict.fromkeys(raters))
    if both := [name for name in people if name in own]:
        raise InputError(f"{listed(both)}: named both as rater and as judge. Name each once.")
    used = [at for at, one in enumerate(given) if one.rater in {*people, *own}]
    table = merge_tables(tables) if tables else _table_of(ratings.file_name, [given[at] for at in used])
    met = rows_met(table, ratings, [given[at] for at in used])
    values = _matrix(
        ratings.file_name,
        table,
        [*people, *own],
        [(int(row), given[at].rater or "", chosen.values[at]) for row, at in zip(met, used, strict=True)],
    )
    places = {metric.name: at for at, metric in enumerate(table.metrics)}
    named = list(dict.fromkeys(judges)) if judges is not None else list(columns)
    scores = [
        values[:, len(people) + own.index(name)] if name in own else table.values[:, places[columns[name]]]
        for name in named
    ]
    origins = [(one.file_name, metric.signature) for one in tables for metric in one.metrics]
    left_out = Counter(unmatched(table, [given[at] for at in used], met))
    left_out[OTHER_RATERS] += len(given) - len(used)
    left_out[NO_VALUE] += int(np.isnan(chosen.values[used]).sum())
    found = Panel(
        table.rows,
        items_of(table.rows),
        np.array([row.system for row in table.rows], dtype=str),
        tuple(people),
        values[:, : len(people)],
        tuple(named),
        np.column_stack(scores) if scores else np.empty((len(table.rows), 0)),
        classes or {},
        ordered,
        ratings.file_name,
        tuple(dict.fromkeys((*ratings.notes, *chosen.notes, *(table.notes if tables else ())))),
        {why: n for why, n in (Counter(ratings.left_out) + left_out).items() if n},
        tuple(("", "") if name in own else origins[places[columns[name]]] for name in named),
    )
    return replace(found, notes=(*found.notes, *_scale_notes(found)))


def _numbered(ratings: Sequence[Rating]) -> list[Rating]:
    """The ratings with a name for every rater: unnamed ratings of a text are numbered in their order."""
    if all(one.rater is not None for one in ratings):
        return list(ratings)
    seen: Counter[object] = Counter()
    named = []
    for one in ratings:
        if one.rater is None:
            text = (one.item_id, one.system, one.level, one.language, *sorted(one.labels.items()))
            seen[text] += 1
            one = replace(one, rater=f"rating {seen[text]}")
        named.append(one)
    return named


def _metrics_of(tables: Sequence[ScoreTable], judges: Sequence[str] | None, dimension: str) -> dict[str, str]:
    """Judge -> its metric. By default every metric, or those whose names end with the dimension if any does."""
    names = dict.fromkeys(metric.name for metric in merge_tables(tables).metrics) if tables else {}
    of_dimension = {name: said[0] or name for name in names if (said := dimension_said(name, (dimension,)))}
    if judges is None:
        return {judge: name for name, judge in of_dimension.items()} or {name: name for name in names}
    by_judge = {judge: name for name, judge in of_dimension.items()} | {name: name for name in names}
    return {judge: by_judge[judge] for judge in judges if judge in by_judge}


def _table_of(name: str, ratings: Sequence[Rating]) -> ScoreTable:
    """The rated texts as a table without metrics. Labels in which raters of a text differ do not describe it."""
    by_rater: dict[str | None, list[Rating]] = {}
    for one in ratings:
        by_rater.setdefault(one.rater, []).append(one)
    labels = {label: None for one in ratings for label in one.labels}
    columns = identifying_columns(list(by_rater.values()), ("system", "level"), ("language", *labels))
    texts: dict[object, list[Rating]] = {}
    for one, key in zip(ratings, keys_of(ratings, columns), strict=True):
        texts.setdefault(key, []).append(one)
    rows = []
    for same in texts.values():
        first = same[0]
        agreed = {
            label: value
            for label, value in first.labels.items()
            if all(one.labels.get(label) == value for one in same)
        }
        rows.append(
            ScoredRow(first.item_id, first.system or ONLY_SYSTEM, first.level, first.language, agreed)
        )
    return ScoreTable(tuple(rows), (), np.empty((len(rows), 0)), file_name=name)


def _matrix(
    name: str, table: ScoreTable, raters: Sequence[str], given: Sequence[tuple[int, str, float]]
) -> Floats:
    """Ratings by text and rater. Raises InputError that names every rater with two ratings of one text."""
    column = {rater: at for at, rater in enumerate(raters)}
    values = np.full((len(table.rows), len(raters)), np.nan)
    seen: set[tuple[int, str]] = set()
    problems = Problems()
    for row, rater, value in given:
        if row < 0:
            continue
        if (row, rater) in seen:
            text = table.rows[row]
            level = "" if text.level is None else f", level {shown(text.level)}"
            system = "" if text.system == ONLY_SYSTEM else f", system {shown(text.system)}"
            problems.append(
                f"rater {shown(rater)} rated item {shown(text.item_id)}{system}{level} more than once"
            )
        seen.add((row, rater))
        values[row, column[rater]] = value
    if problems:
        raise InputError(
            f"{shown(name)}: a rater may rate a text only once. Leave out the repeated ratings, or add the column that tells "
            "the texts apart.",
            problems,
        )
    return values


def _scale_notes(panel: Panel) -> list[str]:
    """Notes on judges whose scores lie mostly outside the raters' range."""
    given = panel.ratings[~np.isnan(panel.ratings)]
    notes = []
    for name, scores in zip(panel.judges, panel.scores.T, strict=True):
        known = scores[~np.isnan(scores)]
        if not given.size or not known.size:
            continue
        outside = int(((known < given.min()) | (known > given.max())).sum())
        if 2 * outside > known.size:
            notes.append(
                f"{shown(name)}: {outside:,} of {known.size:,} scores lie outside the raters' range of {given.min():g} to "
                f"{given.max():g}. Compare only judges that use the raters' scale"
            )
    return notes


def read_panel(
    data: bytes,
    file_name: str,
    tables: Sequence[ScoreTable] = (),
    *,
    human: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    dimension: Dimension = None,
    system_column: str | None = None,
    clusters: str | None = None,
    flip: Collection[str] = (),
) -> Panel:
    """Read raters and judges from one file, wide or long, with further judges in tables of scores.

    Wide: `human` and `judges` name columns, and each row is a text; without a column of items each row is an item. Long: a
    row for each item, rater and score; `human` names raters (None: all that are not judges), and `judges` raters or
    columns. Cells are numbers or words; words of a known scale (`core.tables.mapping.SCALES`) are ordered classes, others
    are labels. An empty cell is a missing rating. Other formats of ratings are read as everywhere.
    system_column: column with the system. clusters: column with the item, where several rows may have the same one.

    Raises InputError with all problems of the file and their places, and as `panel_of`.
    """
    own = {name: column for name, column in (("system", system_column), ("item_id", clusters)) if column}
    data = with_columns(data, file_name, own)
    format_found = format_of("ratings", data, file_name)
    if format_found.rows is None:
        ratings = ratings_in(data, file_name, flip=flip)
        raters = {one.rater for one in ratings.ratings}
        metrics = {metric.name for table in tables for metric in table.metrics}
        if not {*(judges or ())} <= {*raters, *metrics} and (
            own_scores := evaluators_in(data, file_name, flip=flip)
        ):
            tables = [own_scores, *tables]
        return panel_of(ratings, tables, raters=human, judges=judges, dimension=dimension)
    findings = FileFindings(file_name, sha256_of(data))
    table = format_found.rows(data, known_at("ratings"), findings)
    elsewhere = set(_metrics_of(tables, judges, "")) | {
        metric.name for one in tables for metric in one.metrics
    }
    if not table.records and not findings.problems:
        findings.problems.append("file: contains no row below its header")
    findings.refuse()
    sheet = _sheet_of(data, table, human or (), judges or (), elsewhere)
    read = _read_wide if sheet.human else _read_long
    words = _words_of(sheet, findings)
    ratings, scores = read(sheet, words, findings, by_row=clusters is not None)
    if human is None and dimension is None and not {"rater", "dimension"} & set(table.columns.values()):
        columns = {one.dimension for one in ratings.ratings if one.rater is None}
        if len(columns) > 1:
            raise InputError(
                f"{shown(file_name)} has no column rater",
                [f"human: name the columns with ratings by people; the file has {listed(sheet.others)}"],
            )
    found = panel_of(
        ratings,
        [*([scores] if scores else []), *tables],
        raters=human,
        judges=judges,
        dimension=dimension,
        classes=words.classes if words else None,
        ordered=words is None or words.ordered,
    )
    if not sheet.human:
        return found
    # Every row of a wide table is a text: an empty cell is a missing rating, and no row is left out.
    return replace(
        found, left_out={why: n for why, n in found.left_out.items() if why not in ratings.left_out}
    )


@dataclass(frozen=True)
class _Words:
    """Words that count as labels."""

    numbers: Mapping[str, float]
    """Word, as `_plain` writes it, -> number."""
    classes: Mapping[float, str]
    ordered: bool


@dataclass(frozen=True)
class _Sheet:
    """A table with its columns of ratings and scores."""

    table: Table
    """Its records have the file's own column names."""
    human: Mapping[str, str]
    """Rater -> column; empty if the table is long."""
    judges: Mapping[str, str]
    """Judge -> column."""
    data: bytes
    """The file, for readers that also read what stands beside its rows."""

    @property
    def others(self) -> list[str]:
        """The columns that hold neither ratings nor scores."""
        used = {*self.human.values(), *self.judges.values()}
        return [key for key in self.table.keys if key not in used]


def _sheet_of(
    data: bytes, table: Table, human: Sequence[str], judges: Sequence[str], elsewhere: Collection[str]
) -> _Sheet:
    """Find the columns that the names mean. elsewhere: judges with scores in other files.

    Raises InputError for names that are neither a column nor, in a long table, possibly a rater.
    """
    names = {name: key for key, name in table.columns.items()}
    records = [
        replace(record, cells={names.get(key, key): cell for key, cell in record.cells.items()})
        for record in table.records
    ]
    plain = {key.strip().casefold(): key for key in table.keys}
    columns = {
        name: name if name in table.keys else plain[name.strip().casefold()]
        for name in (*human, *judges)
        if name in table.keys or name.strip().casefold() in plain
    }
    long = "rater" in table.columns.values()
    wide = any(name in columns for name in human) and not (
        long and any(name not in columns for name in human)
    )
    unknown = [
        *(name for name in human if name not in columns and (wide or not long)),
        *(name for name in judges if name not in columns and name not in elsewhere and (wide or not long)),
    ]
    check_names("column", list(dict.fromkeys(unknown)), table.keys)
    named = [*dict.fromkeys((*human, *judges))]
    twice = [name for name in named if [*human, *judges].count(name) > 1]
    twice += [
        name for name in named if [columns.get(one) for one in named].count(columns.get(name, name)) > 1
    ]
    if twice:
        raise InputError(f"{listed(twice)}: named more than once. Name each rater and each judge once.")
    return _Sheet(
        table._replace(records=records),
        {name: columns[name] for name in human} if wide else {},
        {name: columns[name] for name in judges if name in columns},
        data,
    )


def _plain(word: object) -> str:
    return " ".join((label_of(word) or "").casefold().split())


def _words_of(sheet: _Sheet, findings: FileFindings) -> _Words | None:
    """The labels, if every filled cell of a rating or score is a word; None for numbers and for what is neither."""
    score = next((key for key, name in sheet.table.columns.items() if name == "score"), None)
    columns = [*(sheet.human.values() or ([score] if score else [])), *sheet.judges.values()]
    cells = [record.cells.get(key) for record in sheet.table.records for key in columns]
    held = [cell for cell in cells if not is_undefined(cell)]
    if (
        not held
        or not all(isinstance(cell, str | bool) for cell in held)
        or any(map(looks_like_number, held))
    ):
        return None
    written = {_plain(cell): label_of(cell) or "" for cell in reversed(held)}
    if len(written) > MOST_CLASSES:
        return None  # the reader of numbers names the first cells
    scale = classes_of(held)
    ordered = scale is not None
    numbers = (
        {_plain(word): float(number) for word, number in scale.items()}
        if scale is not None
        else {word: float(number) for number, word in enumerate(sorted(written))}
    )
    classes = {number: written[word] for word, number in sorted(numbers.items(), key=lambda one: one[1])}
    said = ", ".join(f"{shown(word)} = {number:g}" for number, word in list(classes.items())[:_LISTED])
    more = f" and {len(classes) - _LISTED} more" if len(classes) > _LISTED else ""
    findings.notes.append(
        f"read words as {'classes' if ordered else 'labels without an order'}, {said}{more}"
    )
    return _Words(numbers, classes, ordered)


def _number(cell: object, words: _Words | None) -> object:
    return words.numbers.get(_plain(cell), cell) if words and not is_undefined(cell) else cell


def _read_wide(
    sheet: _Sheet, words: _Words | None, findings: FileFindings, *, by_row: bool
) -> tuple[RatingSet, ScoreTable | None]:
    """Ratings and scores of a wide table, each by the reader of its kind."""
    about = known_at("texts")
    taken = {name for own in VOCABULARY.values() for name in own}
    read_as = source_as_system(named_columns(sheet.others, about))
    labels = {
        key: key if key.startswith(LABEL_MARK) else f"{LABEL_MARK}{key}"
        for key in sheet.others
        if key not in read_as
        and key.strip().lower() not in taken
        and key not in (*UNUSED, *SAID)
        and key.lower() not in INDEX_COLUMNS
    }
    if "item_id" not in read_as.values():
        findings.notes.append("no column names the item: each row is an item, numbered from 1")
    named = {**read_as, **labels}
    texts: list[Record] = []
    for number, record in enumerate(sheet.table.records, start=1):
        cells = {named[key]: cell for key, cell in record.cells.items() if key in named}
        if "item_id" not in read_as.values():
            cells["item_id"] = str(number)
        texts.append(replace(record, cells=cells))
    texts = _told_apart(texts, list(sheet.human), findings, by_row=by_row)
    columns = {
        name: name for name in dict.fromkeys(key for text in texts for key in text.cells) if name in about
    }
    rated = [
        Record(
            f"{text.where}, column {shown(column)}",
            {**text.cells, "rater": rater, "score": _number(record.cells.get(column), words)},
        )
        for text, record in zip(texts, sheet.table.records, strict=True)
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
                **{mark: _number(record.cells.get(column), words) for column, mark in marks.items()},
            },
        )
        for text, record in zip(texts, sheet.table.records, strict=True)
    ]
    keys = list(dict.fromkeys(key for text in texts for key in text.cells))
    of_raters = Table([*keys, "rater", "score"], {**columns, "rater": "rater", "score": "score"}, rated)
    return _read_both(
        sheet.data, of_raters, Table([*keys, *marks.values()], columns, scored) if marks else None, findings
    )


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
        replace(text, cells={**text.cells, f"{LABEL_MARK}{_ROW}": str(number)})
        for number, text in enumerate(texts, start=1)
    ]


def _read_long(
    sheet: _Sheet, words: _Words | None, findings: FileFindings, *, by_row: bool
) -> tuple[RatingSet, ScoreTable | None]:
    """Ratings of a long table, and scores from columns beside them."""
    others = sheet.others
    read_as = {key: name for key, name in sheet.table.columns.items() if key in others}
    rated = [
        replace(
            record,
            cells={
                read_as.get(key, key): _number(cell, words) if read_as.get(key) == "score" else cell
                for key, cell in record.cells.items()
                if key in others
            },
        )
        for record in sheet.table.records
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
            named[key]: _number(cell, words) if key in marks else cell
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
            scored = replace(read_scores(data, name, rows=lambda *_: scores), notes=())
        except InputError as error:
            problems += (error.found or Problems([error.what])).each(
                lambda one: one.replace(METRIC_MARK, "column ")
            )
    if problems or found is None:
        reject(name, problems)
    return replace(found, notes=(*findings.notes, *found.notes)), scored
