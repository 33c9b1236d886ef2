"""Read and write metrics' scores of texts: one row a score (long) or one column a metric (wide); CSV, JSONL and Parquet."""

import io
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import numpy as np
import regex
from numpy.typing import NDArray

from core.errors import InputError
from core.formats import Format
from core.formats.scorable import NO_LABELS, OF_RAGAS, name_items, read_outputs
from core.schema.row_columns import Coded, ScoredRows, combined, renamed, same_everywhere
from core.schema.scores import (
    PROBABILITY,
    STATED,
    Direction,
    Metric,
    OutputSet,
    RowKey,
    ScorableOutput,
    ScoredRow,
    ScoreTable,
    direction_is_stated,
    mask_notes,
    row_key,
)
from core.tables.column_table import (
    ColumnTable,
    csv_columns,
    names_of_columns,
    no_label_in,
    parquet_columns,
)
from core.tables.columns import (
    DATASET_LABELS,
    LABEL_MARK,
    LABEL_PAIR,
    METRIC_MARK,
    ONLY_SYSTEM,
    TEXTS,
    VOCABULARY,
    WRITTEN_AS_LABELS,
    NoLabel,
    Record,
    Rows,
    Table,
    is_json,
    is_jsonl,
    jsonl_bytes,
    known_at,
    labels_among,
    names_in,
    needed_at,
    note_read_as,
    object_records,
    open_records,
    repeated,
    require,
    split_item_levels,
)
from core.tables.containers import decode, findings_of, opened, table_rows
from core.tables.mapping import class_columns, number_classes
from core.tables.parquet import is_parquet, parquet_file, parquet_table, pyarrow_for
from core.tables.problems import MOST_LISTED, FileFindings, listed
from core.tables.reading import (
    JsonObject,
    is_nothing,
    is_undefined,
    label_of,
    looks_like_number,
    name_of,
    name_problem,
    no_number,
    number_in,
    parse_json,
    printable_text,
    reject,
    shown,
    type_name,
)
from core.tables.roles import who_in
from core.tables.writer import csv_bytes, csv_cells, guarded

COLUMNS = known_at("scores")
"""Known columns of a table of scores."""
ABOUT = frozenset(known_at("texts"))
"""Columns of both forms that name the scored text, or contain texts."""
OF_METRIC = ("metric", "score", "reason", "family", "direction", "signature")
"""Columns of the long form only."""
UNUSED = (*TEXTS, *NO_LABELS, *OF_RAGAS)
SAID = ("feedback", "explanation", "rationale", "reasoning", "multi_responses", "rubrics")
"""Columns with judges' reasons: never labels, however few different texts they have; with numbers they are metrics."""
LABELS = frozenset(
    [
        *("dataset", "data_set", "generator", "model", "llm", "shots", "prompt", "domain"),
        *("doc", "document", "doc_id", "document_id", "seed", "run", "epoch", "repeat", "fold", "split"),
        *("year", "type", "task", "rater", "annotator", "variant", "temperature"),
        PROBABILITY,
    ]
)
"""Columns that are labels in the wide form even if they contain numbers."""
_OF_PEOPLE = "people's ratings"
INDEX_COLUMNS = frozenset({"index", "unnamed: 0", "__index_level_0__"})
"""Index columns that pandas writes."""
LOWER_MARK = " (lower is better)"
"""Suffix of a wide column's name: the wide form has no other place for the direction."""
HIGHER_MARK = " (higher is better)"
"""Suffix for the other direction; without a suffix the direction is unknown."""
RESULT = "result"
"""Metric in CEF's published results, whose value may be a judge's whole answer."""

NO_FAMILY = "other"
_FAMILIES = (
    ("bertscore", "BERTScore"),
    ("bleurt", "BLEURT"),
    ("bleu", "BLEU"),
    ("sacrebleu", "BLEU"),
    ("chrf", "chrF"),
    ("rouge", "ROUGE"),
    ("meteor", "METEOR"),
    ("xcomet", "COMET"),
    ("comet", "COMET"),
    ("nli", "NLI"),
    ("cef", "CEF"),
    ("rubric", "Rubric"),
    ("pairwise", "Pairwise"),
    ("claims", "Claims"),
    ("factualcorrectness", "Claims"),
)


def family_of(metric: str) -> str:
    """The family that a metric's name begins with; NO_FAMILY if Assay does not compute it."""
    name = regex.sub(r"[^a-z]", "", metric.lower())
    if name == "ter":  # exact match only: other names begin with "ter" too
        return "TER"
    return next((family for start, family in _FAMILIES if name.startswith(start)), NO_FAMILY)


def label_column(label: str, values: Sequence[str], taken: frozenset[str], *, wide: bool) -> str:
    """The column's name for a label, marked if the name or, in the wide form, a value could be misread.

    taken: names that mean something else, in lower case.
    """
    return _label_column(label, wide and any(map(may_be_misread, values)), taken)


def _label_column(label: str, unclear: bool, taken: frozenset[str]) -> str:
    plain = label.lower()
    unclear = unclear and plain not in LABELS
    marked = unclear or plain in {*taken, RESULT} or plain.startswith((LABEL_MARK, METRIC_MARK))
    return f"{LABEL_MARK}{label}" if marked else label


def may_be_misread(value: str) -> bool:
    """Whether a label's value could be taken for a score in the wide form."""
    return is_undefined(value) or looks_like_number(value)


def metric_column(metric: Metric, clear: bool, taken: frozenset[str]) -> str:
    """The wide column's name for a metric. clear: whether its values show that it is one."""
    name, plain = metric.name, metric.name.lower()
    end = ""
    if metric.direction == "lower":
        end = LOWER_MARK
    elif metric.signature == STATED or name.endswith((LOWER_MARK, HIGHER_MARK)):
        end = HIGHER_MARK
    marked = not clear or plain in taken or plain.startswith((LABEL_MARK, METRIC_MARK))
    return f"{METRIC_MARK if marked or _names_people(name + end) else ''}{name}{end}"


def wide_metric(column: str) -> tuple[str, Direction | None]:
    """A wide column's metric and its direction; None if the column does not state it."""
    name = column.removeprefix(METRIC_MARK)
    ends: tuple[tuple[str, Direction], ...] = ((LOWER_MARK, "lower"), (HIGHER_MARK, "higher"))
    for mark, direction in ends:
        if name.endswith(mark):
            return name.removesuffix(mark), direction
    return name, None


def metric_made_elsewhere(name: str, direction: Direction | None, family: str = "") -> Metric:
    """A metric of another program, without a signature. direction: as the file states it, or None."""
    return Metric(name, STATED if direction else "", family or family_of(name), direction or "higher")


_MOST_PLACES = 3
_EMPTY = "no value in it"


@dataclass
class WideColumns:
    """The metrics and other columns of a wide table."""

    metrics: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Possible labels, if their cells allow it."""
    why_no_metric: dict[str, str] = field(default_factory=dict)
    """Column -> why it is not a metric."""

    def checked(self) -> str:
        """The end of the message that there is no metric: the columns, each with the reason."""
        reasons = [f"{shown(key)} ({why})" for key, why in self.why_no_metric.items()]
        more = f" and {len(reasons) - MOST_LISTED:,} more" if len(reasons) > MOST_LISTED else ""
        return "; columns checked: " + (", ".join(reasons[:MOST_LISTED]) or "none") + more


def may_be_metric(key: str) -> bool:
    """Whether a column may be a metric by its name."""
    return key not in ABOUT and not _name_objection(key)


def wide_columns(
    keys: Sequence[str],
    numbers: Collection[str],
    records: Sequence[Record] | Callable[[str], Sequence[Record]],
    findings: FileFindings,
) -> WideColumns:
    """Sort columns into metrics and others: metrics are columns of numbers that are not known columns or labels.

    numbers: columns that contain only numbers. records: the rows, or a function that gives those for a column. More than half of a metric's filled cells must be numbers. A column with
    as many words or more is a problem: read as a label it would split the table, and a metric would be lost.
    """
    found = WideColumns()
    for key in keys:
        if key in ABOUT:
            continue
        why = "" if key in numbers else _name_objection(key)
        if why is None:
            why = _cell_objection(key, records(key) if callable(records) else records, findings)
        if why == "":
            found.metrics.append(key)
            continue
        found.why_no_metric[key] = why
        if why not in (_EMPTY, _OF_PEOPLE):
            found.others.append(key)
    if people := [key for key, why in found.why_no_metric.items() if why == _OF_PEOPLE]:
        findings.notes.append(f"columns not used, because their names are those of people: {listed(people)}")
    return found


def _names_people(key: str) -> bool:
    """Whether a column has people's ratings by its name."""
    return key.lower() not in LABELS and who_in(key, family_of(key) != NO_FAMILY) == "person"


def _name_objection(key: str) -> str | None:
    """Why a column is not a metric by its name; empty if it is one, None if its cells must decide."""
    plain, name = key.lower(), wide_metric(key)[0]
    if name_of(name) != name:
        return f"its name {name_problem(name)}" if name_of(name) is None else "its name has spaces around it"
    if key.startswith(METRIC_MARK) or plain == RESULT:
        return ""
    if key.startswith(LABEL_MARK):
        return "a label"
    if key in UNUSED or plain in INDEX_COLUMNS:
        return "not used"
    if _names_people(key):
        return _OF_PEOPLE
    return (
        f"a label by its name; if it is a metric, rename it {METRIC_MARK}{key}" if plain in LABELS else None
    )


def _cell_objection(key: str, records: Sequence[Record], findings: FileFindings) -> str:
    """Why a column is not a metric by its cells; empty if it is one.

    Cells such as 1,5 count as numbers, so that each becomes a problem later.
    """
    held = [record for record in records if not is_undefined(record.cells.get(key))]
    words = [record for record in held if not looks_like_number(record.cells[key])]
    if not held:
        findings.notes.append(f"column {shown(key)} is not used: {_EMPTY}")
        return _EMPTY
    if 2 * len(words) < len(held):
        return ""
    if key in SAID:
        return "not used"
    if len(words) == len(held):
        if family_of(key) != NO_FAMILY:
            findings.notes.append(f"column {shown(key)} contains no number: read as a label")
        return "no number in it"
    if all(label_of(record.cells[key]) is not None for record in words):
        places = ", ".join(f"{one.where}: {shown(str(one.cells[key]))}" for one in words[:_MOST_PLACES])
        more = f" and {len(words) - _MOST_PLACES} more" if len(words) > _MOST_PLACES else ""
        findings.problems.append(
            f"file: column {shown(key)} has numbers in {len(held) - len(words)} cells and words in {len(words)} "
            f"({places}{more}); rename it {METRIC_MARK}{shown(key)} if it is a metric, {LABEL_MARK}{shown(key)} if not"
        )
    return "more words than numbers in it"


NO_SCORE = "no score in the file"
INFINITE = "infinite in the file"
NO_RESULT = "the result contains no number"

_LAST_RESULT = regex.compile(r".*\[RESULT\]\s*\(?\s*(?P<number>[-+]?\d+(?:\.\d+)?)(?![\d.]*\d)", regex.DOTALL)


@dataclass
class ScoreSheet:
    """A table of scores while it is read."""

    rows: dict[RowKey, ScoredRow] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    cells: dict[tuple[int, int], float] = field(default_factory=dict)
    reasons: dict[tuple[int, int], str] = field(default_factory=dict)
    columns: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    """Metric -> all its scores, for columns read as arrays: NaN where undefined, infinite as in the file."""


def label_columns(
    records: Sequence[Record] | NoLabel, others: Sequence[str], findings: FileFindings
) -> list[str]:
    """The columns among `others` to group by; add a note on columns that are not used."""
    unused = {key for key in others if key in (*UNUSED, *SAID) or key.lower() in INDEX_COLUMNS}
    # Texts have a reader of their own (`read_scored_texts`).
    candidates = [key for key in others if key not in TEXTS and (key in unused or key not in ABOUT)]
    return labels_among(candidates, unused, records, findings)


def scored_row(record: Record, labels: Sequence[str], findings: FileFindings) -> ScoredRow | None:
    """The scored text of a row; None if it has problems, which are added to the findings."""
    names = names_in(record, labels, findings)
    if names is None:
        return None
    return ScoredRow(names.item_id, names.system or ONLY_SYSTEM, names.level, names.language, names.labels)


def put_score(
    sheet: ScoreSheet, at: tuple[int, int], record: Record, column: str, findings: FileFindings
) -> None:
    """Store one score in the table: a number, or undefined with a reason; or add a problem."""
    value = record.cells.get(column)
    if type(value) is float and math.isfinite(value) and column != "score":
        sheet.cells[at] = value
        return
    number = number_in(value)
    reason = record.cells.get("reason") if column == "score" else None
    if (
        number is None
        and column.lower() == RESULT
        and isinstance(value, str)
        and regex.search(r"\p{L}", value)
    ):
        # A judge's whole answer: the number after its last [RESULT] is the score.
        verdict = _LAST_RESULT.match(value)
        number, reason = (float(verdict["number"]), None) if verdict else (math.nan, NO_RESULT)
    if number is None and not is_undefined(value):
        findings.problems.append(f"{record.where}: {shown(column)} {no_number(value)}")
        return
    if number is None or math.isnan(number):
        sheet.cells[at], sheet.reasons[at] = math.nan, _stated_reason(reason)
    elif math.isinf(number):
        sheet.cells[at], sheet.reasons[at] = math.nan, INFINITE
    else:
        sheet.cells[at] = number


def _stated_reason(reason: object) -> str:
    """Why a score is undefined, as its row states it."""
    return printable_text(reason.strip()) if isinstance(reason, str) and reason.strip() else NO_SCORE


UNKNOWN_LANGUAGE = "und"
_MOST_ITEMS = 3


@dataclass(frozen=True)
class _Part:
    """A part of a row that may be blank and filled in from other rows: the data set or the language."""

    name: str
    value: Callable[[ScoredRow], str | None]
    """The row's value, or None if it is blank."""
    item: Callable[[ScoredRow], Hashable]
    """A key of the rows that may fill each other's blanks."""
    with_value: Callable[[ScoredRow, str], ScoredRow]


_LANGUAGE = _Part(
    "language",
    lambda row: None if row.language == UNKNOWN_LANGUAGE else row.language,
    lambda row: (row.item_id, tuple(sorted(row.labels.items()))),
    lambda row, value: replace(row, language=value),
)


def fill_blanks(
    rows: Sequence[ScoredRow | None], metrics: Sequence[Hashable], findings: FileFindings
) -> list[ScoredRow | None]:
    """The rows, with blank data sets and languages filled in if the item's other rows name exactly one.

    metrics: the metric of each row, in the long form. An item whose rows contradict each other, or would become
    duplicates, stays unchanged and gets a note.
    """
    found = list(rows)
    labels = dict.fromkeys(name for row in rows if row is not None for name in row.labels)
    for part in (*(_label(name) for name in labels if name.lower() in DATASET_LABELS), _LANGUAGE):
        _fill(found, metrics, part, findings)
    return found


def _label(name: str) -> _Part:
    return _Part(
        name,
        lambda row: row.labels.get(name) or None,
        lambda row: row.item_id,
        lambda row, value: replace(row, labels={**row.labels, name: value}),
    )


def _fill(
    rows: list[ScoredRow | None], metrics: Sequence[Hashable], part: _Part, findings: FileFindings
) -> None:
    named = _named(rows, part)
    blank = [
        (at, row)
        for at, row in enumerate(rows)
        if named and row is not None and part.value(row) is None and part.item(row) in named
    ]
    if not blank:
        return
    taken = {(row_key(row), metrics[at]) for at, row in enumerate(rows) if row is not None}
    filled = [(at, row, part.with_value(row, min(named[part.item(row)]))) for at, row in blank]
    several = {part.item(row): row.item_id for _, row in blank if len(named[part.item(row)]) > 1}
    twice = {part.item(row): row.item_id for at, row, new in filled if (row_key(new), metrics[at]) in taken}
    kept = {**twice, **several}
    put = [(at, new) for at, row, new in filled if part.item(row) not in kept]
    for at, new in put:
        rows[at] = new
    if put:
        count = "1 row names" if len(put) == 1 else f"{len(put)} rows name"
        findings.notes.append(f"{count} no {part.name}: filled in from the item's other rows")
    _note_left(several.values(), part.name, "and the item's other rows name several", findings)
    _note_left(
        (twice[item] for item in twice.keys() - several.keys()),
        part.name,
        "and would be duplicates with it",
        findings,
    )


def _named(rows: Sequence[ScoredRow | None], part: _Part) -> dict[Hashable, set[str]]:
    """Item -> the values that its rows name; empty if no row is blank, as in most files."""
    there = [row for row in rows if row is not None]
    found: dict[Hashable, set[str]] = {}
    if all(part.value(row) is not None for row in there):
        return found
    for row in there:
        if (value := part.value(row)) is not None:
            found.setdefault(part.item(row), set()).add(value)
    return found


def _note_left(items: Iterable[str], name: str, why: str, findings: FileFindings) -> None:
    """Add a note on items whose blank rows cannot be filled in."""
    listed = sorted(set(items))
    if listed:
        more = f" and {len(listed) - _MOST_ITEMS} more" if len(listed) > _MOST_ITEMS else ""
        findings.notes.append(
            f"rows of item {', '.join(map(shown, listed[:_MOST_ITEMS]))}{more} name no {name} {why}: "
            "they count as separate items"
        )


_KEY = b"assay"


@dataclass(frozen=True)
class ParquetNotes:
    """Assay's notes on the columns of a Parquet file; empty for other programs' files."""

    metrics: Mapping[str, Metric] = field(default_factory=dict)
    reasons: Sequence[tuple[int, str, str]] = ()
    """(row, metric, why the score is undefined)."""


def parquet_rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """The table in a Parquet file, row by row. Raises InputError."""
    file_name = findings.file_name
    table = parquet_table(opened(data, file_name), file_name)
    rows: list[dict[str, object]] = table.to_pylist()
    keys = [str(name) for name in table.column_names]
    if len(set(keys)) < len(keys):
        reject(file_name, ["file: two columns have the same name"])
    return object_records(
        ((f"row {at}", row) for at, row in enumerate(rows, start=1)), aliases, findings, keys
    )


PARQUET = Format("parquet", "a Parquet table", is_parquet, rows=parquet_rows)


def parquet_notes(data: bytes) -> ParquetNotes:
    """The notes on metrics in the metadata of a readable file."""
    with parquet_file(data, "Parquet") as file:
        return _notes((file.schema_arrow.metadata or {}).get(_KEY, b""))


def parquet_bytes(columns: Mapping[str, Sequence[Any]], notes: ParquetNotes) -> bytes:
    """The columns as a Parquet file; repeated texts are stored once."""
    arrow, parquet = pyarrow_for("Parquet")
    schema = parquet_schema([(name, _is_numbers(values)) for name, values in columns.items()], notes)
    table = arrow.table(dict(columns), schema=schema)
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def parquet_schema(columns: Iterable[tuple[str, bool]], notes: ParquetNotes) -> Any:
    """The pyarrow.Schema of a Parquet file. columns: name, and whether it has numbers; others have strings."""
    arrow, _ = pyarrow_for("Parquet")
    about = {
        "metrics": [[m.name, m.signature, m.family, m.direction] for m in notes.metrics.values()],
        "reasons": [list(reason) for reason in notes.reasons],
    }
    fields = [(name, arrow.float64() if numbers else arrow.string()) for name, numbers in columns]
    return arrow.schema(fields, metadata={_KEY: json.dumps(about).encode()})


def _is_numbers(values: Sequence[Any]) -> bool:
    return any(isinstance(value, float) for value in values)


def _notes(written: bytes) -> ParquetNotes:
    """Notes from Assay's metadata; empty if it is missing, or was changed."""
    value, problem = parse_json(written.decode("utf-8", "replace")) if written else (None, "none")
    if problem or not isinstance(value, JsonObject):
        return ParquetNotes()
    metrics, reasons = value.get("metrics"), value.get("reasons")
    found = {
        one[0]: Metric(*one)
        for one in (metrics if isinstance(metrics, list) else [])
        if isinstance(one, list)
        and len(one) == 4
        and all(isinstance(cell, str) for cell in one)
        and one[3] in get_args(Direction)
    }
    kept = [
        (one[0], one[1], one[2])
        for one in (reasons if isinstance(reasons, list) else [])
        if isinstance(one, list) and [type(cell) for cell in one] == [int, str, str]
    ]
    return ParquetNotes(found, kept)


Shape = Literal["long", "wide"]


@dataclass(frozen=True)
class ScoreColumns:
    """Columns of a written table that depend on all its rows, for a table that is written in pieces."""

    labels: Mapping[str, str]
    """Label -> its column."""
    metrics: tuple[str, ...]
    """Columns of the metrics in the wide form."""


ABOUT_FILES = ("item", "system", "level", "language")
OF_SCORE = ("metric", "score", "reason", "family", "direction", "signature")

_TAKEN = frozenset(
    {*(name for names in COLUMNS.values() for name in names), *COLUMNS, *UNUSED, *INDEX_COLUMNS}
    - WRITTEN_AS_LABELS
)
_OF_LABELS = (_TAKEN | {*SAID}) - {LABEL_PAIR}


def score_columns(
    shape: Shape, labels: Mapping[str, bool], metrics: Sequence[Metric], clear: Sequence[bool]
) -> ScoreColumns:
    """The columns of a table that is written in pieces.

    labels: label -> whether a value of it may be misread as a score; clear: whether a metric has any score.
    """
    return ScoreColumns(
        {
            label: _label_column(label, shape == "wide" and unclear, _OF_LABELS)
            for label, unclear in labels.items()
        },
        tuple(
            metric_column(metric, has_score, _TAKEN | LABELS)
            for metric, has_score in zip(metrics, clear, strict=True)
        ),
    )


def _columns_of(table: ScoreTable, shape: Shape) -> ScoreColumns:
    values: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for label, value in row.labels.items():
            values.setdefault(label, {})[value] = None
    unclear = {label: shape == "wide" and any(map(may_be_misread, held)) for label, held in values.items()}
    clear = [_is_clear(table, number) for number in range(len(table.metrics))]
    return score_columns(shape, unclear, table.metrics, clear)


def write_scores_csv(
    table: ScoreTable, shape: Shape = "long", *, columns: ScoreColumns | None = None, header: bool = True
) -> bytes:
    """The scores as UTF-8 CSV. Numbers are in their shortest exact form, undefined scores are empty cells.

    columns: those of the whole table, if this is a piece of it; header: whether to write them.
    """
    own = columns or _columns_of(table, shape)
    if shape == "long":
        return b"".join(_long_csv(table, own, header))
    names, rows = _shaped(table, shape, own)
    # A name from a file may look like a formula, and so may a signature that begins with a sign.
    titles = {name: str(guarded(name)) for name in names}
    return csv_bytes(
        list(titles.values()),
        ({titles[key]: cell for key, cell in row.items()} for row in rows),
        header=header,
    )


def write_scores_jsonl(
    table: ScoreTable,
    shape: Shape = "long",
    *,
    texts: Sequence[ScorableOutput] | None = None,
    columns: ScoreColumns | None = None,
) -> bytes:
    """The scores as JSONL, one object a line; undefined scores are null.

    columns: those of the whole table, if this is a piece of it. texts: the text of each row of the table, written beside its first score, where `read_scored_texts` finds it.
    """
    _, rows = _shaped(table, shape, columns or _columns_of(table, shape))
    return jsonl_bytes(rows if texts is None else _add_texts(table, rows, shape, texts))


def _add_texts(
    table: ScoreTable, rows: Iterable[dict[str, Any]], shape: Shape, texts: Sequence[ScorableOutput]
) -> Iterator[dict[str, Any]]:
    of_text = len(table.metrics) if shape == "long" else 1
    if len(texts) != len(table.rows):
        raise ValueError(f"there must be one text for each of {len(table.rows)} rows, got {len(texts)}")
    for number, row in enumerate(rows):
        text, at = divmod(number, of_text)
        one = texts[text]
        yield row if at else {**row, "source": one.source, "reference": one.reference, "text": one.text}


def write_scores_parquet(table: ScoreTable, shape: Shape = "long") -> bytes:
    """The scores as a Parquet file; its metadata has signatures, families, directions and reasons in either shape."""
    names, written = _shaped(table, shape, _columns_of(table, shape))
    rows = list(written)
    reasons = [(row, table.metrics[metric].name, reason) for (row, metric), reason in table.reasons.items()]
    notes = ParquetNotes(
        {metric.name: metric for metric in table.metrics}, reasons if shape == "wide" else ()
    )
    return parquet_bytes({name: [row[name] for row in rows] for name in names}, notes)


def _shaped(
    table: ScoreTable, shape: Shape, columns: ScoreColumns
) -> tuple[list[str], Iterator[dict[str, Any]]]:
    names, labels = names_of(columns, shape), columns.labels
    return names, (
        _long_rows(table, labels) if shape == "long" else _wide_rows(table, labels, columns.metrics)
    )


def names_of(columns: ScoreColumns, shape: Shape) -> list[str]:
    """All columns of a written table, in their order."""
    return [*ABOUT_FILES, *columns.labels.values(), *(OF_SCORE if shape == "long" else columns.metrics)]


def _long_csv(table: ScoreTable, columns: ScoreColumns, header: bool) -> Iterator[bytes]:
    """Yield the long form, text by text. Cells on a text and on a metric are formatted once, not for every score."""
    if header:
        yield csv_cells(*names_of(columns, "long")).encode() + b"\r\n"
    described = [(csv_cells(m.name), csv_cells(*described_by(m).values())) for m in table.metrics]
    for number, (row, values) in enumerate(zip(table.rows, table.values.tolist(), strict=True)):
        about = csv_cells(*_row_columns(row, columns.labels).values())
        lines = []
        for at, ((name, rest), value) in enumerate(zip(described, values, strict=True)):
            score = "" if math.isnan(value) else repr(value)
            reason = table.reasons.get((number, at))
            lines.append(f"{about},{name},{score},{'' if reason is None else csv_cells(reason)},{rest}\r\n")
        yield "".join(lines).encode()


def described_by(metric: Metric) -> dict[str, str | None]:
    """The columns of the long form that describe a metric, after its name, score and reason."""
    return {"family": metric.family, "direction": _stated(metric), "signature": metric.signature}


def _row_columns(row: ScoredRow, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "item": row.item_id,
        "system": row.system,
        "level": row.level,
        "language": row.language,
        **{column: row.labels.get(label) for label, column in labels.items()},
    }


def _long_rows(table: ScoreTable, labels: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    described = [{"metric": metric.name, **described_by(metric)} for metric in table.metrics]
    for number, (row, values) in enumerate(zip(table.rows, table.values.tolist(), strict=True)):
        about = _row_columns(row, labels)
        for at, (metric, value) in enumerate(zip(described, values, strict=True)):
            yield {**about, **metric, "score": _known(value), "reason": table.reasons.get((number, at))}


def _wide_rows(
    table: ScoreTable, labels: Mapping[str, str], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for row, values in zip(table.rows, table.values.tolist(), strict=True):
        yield _row_columns(row, labels) | {
            name: _known(value) for name, value in zip(metrics, values, strict=True)
        }


def _stated(metric: Metric) -> str | None:
    """The direction, unless it is only assumed: once written, it would be read back as stated."""
    return metric.direction if direction_is_stated(metric) or metric.direction == "lower" else None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _is_clear(table: ScoreTable, metric: int) -> bool:
    return bool((~np.isnan(table.values[:, metric])).any())


NO_SYSTEM = f"the file names no system: its scores get the system {ONLY_SYSTEM}"
IDS_WITH_LEVEL = "ids end in _levelN: the part before it is the item, N is the level"
NO_METRIC = "file: contains no score; expected the columns metric and score (long), or a column of numbers for each metric (wide)"
_LONG = frozenset({"metric", "score"})
_NAMES_TEXT = regex.compile(rf'"\s*(?:{"|".join(COLUMNS["text"])})\s*"\s*:', regex.IGNORECASE)
"""A column of texts in a line of JSONL."""
_ABOUT_METRIC = ("metric", "family", "direction", "signature")


def read_scores(data: bytes, file_name: str, *, rows: Rows = table_rows) -> ScoreTable:
    """Read the scores of a file in either form. InputError lists every problem.

    A file with columns `metric` and `score` is long. Else every column of numbers that is not a known column or label is
    a metric. An empty cell, null and NaN are undefined, with a reason; other cells without a number are problems.
    """
    findings = findings_of(data, file_name)
    notes, numbers = ParquetNotes(), dict[str, NDArray[np.float64]]()
    if rows is table_rows:
        text = decode(data, file_name)
        del data  # frees memory: the text is a second copy
        opened = csv_columns(text, COLUMNS, file_name, _columns_of_numbers, UNUSED)
        if opened is not None and (found := _column_scores(opened, notes, findings)) is not None:
            return found
        if opened is not None and not _is_long(opened.columns):
            numbers = dict(opened.numbers)
        table = open_records(text, COLUMNS, findings, without=numbers)
        del text, opened
    else:
        if rows is parquet_rows:
            opened = parquet_columns(data, COLUMNS, file_name, _columns_of_numbers, UNUSED)
            if (
                opened is not None
                and (found := _column_scores(opened, parquet_notes(data), findings)) is not None
            ):
                return found
        table = rows(data, COLUMNS, findings)
        notes = parquet_notes(data) if is_parquet(data, file_name) else notes
    keys, columns, records, _ = table
    note_read_as(columns, findings)
    if (asked := name_items(columns, records, findings)) is not None:
        columns, records = asked
    long = _is_long(columns)
    if not long:
        back = {name: key for key, name in columns.items() if name in OF_METRIC and name != "reason"}
        records = [_renamed(record, back) for record in records] if back else records
    _refuse_correlations(columns.values(), keys, file_name)
    require(columns.values(), needed_at("scores"), keys, file_name)
    split = split_item_levels(records)
    if split is not records:
        findings.notes.append(IDS_WITH_LEVEL)
        records = split
    own = ["score"] if long else [] if numbers else _candidates(keys, columns)
    cells = (record.cells.get(key) for record in records for key in own)
    if not any(looks_like_number(value) for value in cells) and (words := class_columns(records, own)):
        records = number_classes(records, words, findings)
    sheet = _long(records, findings) if long else _wide(keys, records, numbers, findings)
    if not (sheet.cells or numbers) and not findings.problems:
        findings.problems.append(NO_METRIC)
    findings.refuse()
    if not any("system" in record.cells for record in records):
        findings.notes.append(NO_SYSTEM)
    values, reasons = _cells_of(sheet)
    return _table(
        ScoredRows.of(tuple(sheet.rows.values())), sheet.metrics.values(), values, reasons, notes, findings
    )


def _is_long(columns: Mapping[str, str]) -> bool:
    """Whether a table has one row a score. columns: key -> Assay's name."""
    return set(columns.values()) >= _LONG


def _columns_of_numbers(keys: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """The columns of a table that may be numbers."""
    return ["score"] if _is_long(columns) else _candidates(keys, columns)


def read_scored_texts(data: bytes, file_name: str, *, rows: Rows = table_rows) -> OutputSet | None:
    """Read the texts in a file of scores, which `read_scores` ignores; None if it has no column of texts.

    In the long form, a text may stand in any of its rows, and several times. Columns of metrics are no labels. Raises
    InputError if texts contradict each other.
    """
    findings = findings_of(data, file_name)
    if rows is table_rows:
        text = decode(data, file_name)
        if is_jsonl(text, file_name) and not is_json(text, file_name):
            # Most rows of the long form have no text. Emptied lines keep the numbers of the others.
            text = "\n".join(line if _NAMES_TEXT.search(line) else "" for line in text.split("\n"))
        if not text.strip():
            return None
        keys, columns, records, null = open_records(text, COLUMNS, findings)
    else:
        keys, columns, records, null = rows(data, COLUMNS, findings)
    findings.refuse()
    if "text" not in columns.values():
        return None
    if (asked := name_items(columns, records, FileFindings(file_name, ""))) is not None:
        columns, records = asked
    ignored = FileFindings(file_name, "")  # `read_scores` reports them
    there = dict.fromkeys(key for record in records for key in record.cells)
    if _is_long(columns):
        labels = [key for key in there if key not in OF_METRIC]
    else:
        labels = wide_columns([*there], (), records, ignored).others
    used = {*ABOUT, *label_columns(records, labels, ignored)} - {"reason"}
    texts = {
        repr(cells): replace(record, cells=cells)
        for record in records
        if not is_nothing(record.cells.get("text"))
        and (cells := {key: cell for key, cell in record.cells.items() if key in used})
    }
    table = Table(keys, columns, [*texts.values()], null)
    return read_outputs(data, file_name, rows=lambda *_: table)


def check_no_ratings(table: ScoreTable) -> None:
    """Raise InputError if a table read as scores looks like human ratings: raters and one score."""
    raters = any(label.lower() in VOCABULARY["rater"] for row in table.rows for label in row.labels)
    if raters and [metric.name.lower() in VOCABULARY["score"] for metric in table.metrics] == [True]:
        raise InputError(
            f"{shown(table.file_name)} looks like human ratings (raters and one score), not like scores of metrics. Give it "
            "as the human side."
        )


def _candidates(keys: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """The columns of a wide table that may be metrics, except RESULT, where `nan` may be a word in a judge's answer."""
    if _is_long(columns):
        return []
    known = {*columns, *OF_METRIC}
    return [key for key in keys if key not in known and key.lower() != RESULT and may_be_metric(key)]


def _refuse_correlations(columns: Iterable[str], keys: Sequence[str], file_name: str) -> None:
    """Raise InputError for a table of correlations."""
    if "item_id" not in columns and {"metric", "against", "n_left_out"} <= set(keys):
        reject(
            file_name,
            [
                "file: contains correlations from correlate, expected scores; to compare correlations, use a .json file"
            ],
        )


def _renamed(record: Record, names: dict[str, str]) -> Record:
    return Record(record.where, {names.get(key, key): cell for key, cell in record.cells.items()})


# --- one row a score ------------------------------------------------------------------------------


def _long(records: Sequence[Record], findings: FileFindings) -> ScoreSheet:
    keys = dict.fromkeys(key for record in records for key in record.cells if key not in OF_METRIC)
    labels = label_columns(records, list(keys), findings)
    about = [name for name in keys if name not in UNUSED]
    sheet, numbers, places = ScoreSheet(), dict[RowKey, int](), dict[tuple[int, int], str]()
    metric_numbers: dict[str, int] = {}
    # Each text recurs with every metric, and each metric with every text: check each only once.
    texts: dict[str, ScoredRow | None] = {}
    known: dict[str, int | None] = {}
    rows: list[ScoredRow | None] = []
    metrics: list[int | None] = []
    for record in records:
        mine = repr([record.cells.get(name) for name in about])
        if mine not in texts:
            texts[mine] = scored_row(record, labels, findings)
        its = repr([record.cells.get(name) for name in _ABOUT_METRIC])
        if its not in known:
            name = _metric(record, sheet, findings)
            known[its] = None if name is None else metric_numbers.setdefault(name, len(metric_numbers))
        rows.append(texts[mine])
        metrics.append(known[its])
    by_row: dict[int, int] = {}
    for record, found, metric in zip(records, fill_blanks(rows, metrics, findings), metrics, strict=True):
        if found is None or metric is None:
            continue
        if id(found) not in by_row:
            key = row_key(found)
            by_row[id(found)] = numbers.setdefault(key, len(numbers))
            sheet.rows.setdefault(key, found)
        row = by_row[id(found)]
        before = places.setdefault((row, metric), record.where)
        if before != record.where:
            name = shown(label_of(record.cells.get("metric")) or "")
            findings.problems.append(f"{record.where}: the same text and metric {name} as in {before}")
        else:
            put_score(sheet, (row, metric), record, "score", findings)
    return sheet


def _metric(record: Record, sheet: ScoreSheet, findings: FileFindings) -> str | None:
    """The name of the row's metric; None if it has a problem, which is added to the findings."""
    value = record.cells.get("metric")
    name = label_of(value) if not is_nothing(value) else None
    if name is None:
        reason = "is missing" if is_nothing(value) else name_problem(value)
        findings.problems.append(f"{record.where}: metric {reason}")
        return None
    family, direction, signature = (_stated_metric(record, key, findings) for key in _ABOUT_METRIC[1:])
    if direction and direction not in get_args(Direction):
        findings.problems.append(
            f'{record.where}: direction is "{shown(direction)}", expected higher or lower'
        )
        return None
    stated = cast(Direction, direction) if direction else None
    metric = metric_made_elsewhere(name, stated, family)
    metric = replace(metric, signature=signature) if signature else metric
    known = sheet.metrics.setdefault(name, metric)
    if known != metric:
        findings.problems.append(
            f"{record.where}: family, direction or signature of metric {shown(name)} differs from earlier rows"
        )
    return name


def _stated_metric(record: Record, key: str, findings: FileFindings) -> str:
    value = record.cells.get(key)
    if is_nothing(value):
        return ""
    if not isinstance(value, str):
        findings.problems.append(f"{record.where}: {key} is {type_name(value)}, expected text")
        return ""
    return printable_text(value.strip())


# --- one column a metric --------------------------------------------------------------------------


def _wide(
    keys: Sequence[str],
    records: Sequence[Record],
    numbers: Mapping[str, NDArray[np.float64]],
    findings: FileFindings,
) -> ScoreSheet:
    there = list(dict.fromkeys(key for record in records for key in record.cells))
    if numbers:
        there = _header_order([*there, *numbers], keys)
    wide = wide_columns(there, numbers, records, findings)
    columns = wide.metrics
    labels = label_columns(records, [*(key for key in there if key in ABOUT), *wide.others], findings)
    sheet = ScoreSheet(metrics=_wide_metrics(columns, findings))
    if not columns and not findings.problems:
        findings.problems.append(NO_METRIC + wide.checked())
    rows = [scored_row(record, labels, findings) for record in records]
    places: list[tuple[RowKey, str]] = []
    rest = [(number, column) for number, column in enumerate(columns) if column not in numbers]
    sheet.columns = {number: numbers[column] for number, column in enumerate(columns) if column in numbers}
    for record, found in zip(records, fill_blanks(rows, [None] * len(rows), findings), strict=True):
        if found is None:
            continue
        key = row_key(found)
        places.append((key, record.where))
        if key not in sheet.rows:
            sheet.rows[key] = found
            for number, column in rest:
                put_score(sheet, (len(sheet.rows) - 1, number), record, column, findings)
    repeated(places, "the same item, system, level and labels", findings)
    return sheet


def _header_order(columns: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Columns in the order of the header; those under Assay's names first."""
    place = {key: at for at, key in enumerate(keys)}
    return sorted(columns, key=lambda key: place.get(key, -1))


def _wide_metrics(columns: Sequence[str], findings: FileFindings) -> dict[str, Metric]:
    """Name -> metric of the columns of scores."""
    known: dict[str, str] = {}
    found = {}
    for column in columns:
        name, direction = wide_metric(column)
        before = known.setdefault(name.lower(), column)
        if before != column:
            findings.problems.append(
                f"file: columns {shown(before)} and {shown(column)} name the same metric"
            )
        found[name] = metric_made_elsewhere(name, direction)
    return found


# --- both forms, column by column -------------------------------------------------------------------


def _column_scores(table: ColumnTable, notes: ParquetNotes, findings: FileFindings) -> ScoreTable | None:
    """The scores of a table in columns; None if it has anything that only the reader of rows can report."""
    names, long = table.names, _is_long(table.columns)
    if names is None or not table.numbers or not table.n_rows or "item_id" not in names:
        return None
    if not long and {*OF_METRIC[:2], *OF_METRIC[3:]} & {*table.header}:
        return None  # read under the file's own names
    trial = FileFindings(findings.file_name, findings.sha256)
    read = _long_columns(table, names, trial) if long else _wide_columns(table, names, trial)
    if read is None or trial.problems:
        return None
    note_read_as(table.columns, findings)
    findings.notes += trial.notes
    if "system" not in names:
        findings.notes.append(NO_SYSTEM)
    return _table(*read, notes, findings)


_Scores = tuple[ScoredRows, Collection[Metric], NDArray[np.float64], dict[tuple[int, int], str]]
"""Rows, metrics, values, and reasons for undefined values."""


def _wide_columns(
    table: ColumnTable, names: Mapping[str, Coded[Any]], findings: FileFindings
) -> _Scores | None:
    there = _header_order(table.header, table.keys)

    def distinct(column: str) -> list[Record]:
        return [Record("", {column: cell}) for cell in names[column].words]

    by_cells = (key for key in there if key in names and key not in ABOUT and _name_objection(key) is None)
    if any(
        not is_undefined(cell) and looks_like_number(cell) for key in by_cells for cell in names[key].words
    ):
        return None  # how many numbers and words a column has, and where, only its rows tell
    wide = wide_columns(there, table.numbers, distinct, findings)
    if any(column not in table.numbers for column in wide.metrics):
        return None
    rows = _rows_of_columns(names, [*(key for key in there if key in ABOUT), *wide.others], findings)
    if rows is None or combined(rows.columns)[1].size < len(rows):
        return None
    metrics = _wide_metrics(wide.metrics, findings)
    columns = {number: table.numbers[column] for number, column in enumerate(wide.metrics)}
    if len(metrics) < len(columns):
        return None
    values, reasons = _cells_of(ScoreSheet(metrics=metrics, columns=columns), len(rows))
    return rows, metrics.values(), values, reasons


def _long_columns(
    table: ColumnTable, names: Mapping[str, Coded[Any]], findings: FileFindings
) -> _Scores | None:
    if "metric" not in names or "score" not in table.numbers:
        return None
    about = [key for key in table.header if key not in OF_METRIC]
    rows = _rows_of_columns(names, about, findings)
    if rows is None:
        return None
    described = [key for key in _ABOUT_METRIC if key in names]
    of_metric, first = combined([names[key] for key in described])
    sheet, numbers = ScoreSheet(), dict[str, int]()
    for row in first.tolist():
        cells = {key: names[key].words[names[key].codes[row]] for key in described}
        name = _metric(Record("", cells), sheet, findings)
        if name is None:
            return None
        numbers.setdefault(name, len(numbers))
    if len(numbers) < len(first):
        return None
    of_text, texts = combined(rows.columns)
    places = of_text.astype(np.int64) * len(numbers) + of_metric
    if np.unique(places).size < places.size:
        return None
    scores, reason = table.numbers["score"], names.get("reason", same_everywhere(None, len(rows)))
    undefined = np.flatnonzero(~np.isfinite(scores))
    reasons = {
        (int(of_text[at]), int(of_metric[at])): INFINITE
        if np.isinf(scores[at])
        else _stated_reason(reason.words[reason.codes[at]])
        for at in undefined.tolist()
    }
    values = np.full(len(texts) * len(numbers), np.nan)
    values[places] = np.where(np.isfinite(scores), scores, np.nan)
    return rows.take(texts), sheet.metrics.values(), values.reshape(len(texts), -1), reasons


def _rows_of_columns(
    names: Mapping[str, Coded[Any]], others: Sequence[str], findings: FileFindings
) -> ScoredRows | None:
    """The scored text of each row; None if only the reader of rows can tell, as where blanks are filled in."""
    odd = list[str]()
    labels = label_columns(no_label_in(names, odd), others, findings)
    found = None if odd else names_of_columns(names, labels, findings)
    if found is None:
        return None
    parts: list[list[str | None]] = [
        [None if language == UNKNOWN_LANGUAGE else language for language in found.language.words],
        *(
            [own.get(label) or None for own in found.labels.words]
            for label in dict.fromkeys(label for own in found.labels.words for label in own)
            if label.lower() in DATASET_LABELS
        ),
    ]
    if any(None in part and any(part) for part in parts):
        return None
    systems = renamed(found.system, [system or ONLY_SYSTEM for system in found.system.words])
    return ScoredRows(found.item_id, systems, found.level, found.language, found.labels)


# --- the table ------------------------------------------------------------------------------------


def _cells_of(
    sheet: ScoreSheet, n_rows: int | None = None
) -> tuple[NDArray[np.float64], dict[tuple[int, int], str]]:
    """The values of a sheet, and the reasons that it states."""
    values = np.full((len(sheet.rows) if n_rows is None else n_rows, len(sheet.metrics)), np.nan)
    reasons = dict(sheet.reasons)
    for at, value in sheet.cells.items():
        values[at] = value
    for number, column in sheet.columns.items():
        values[:, number] = np.where(np.isinf(column), np.nan, column)
        reasons |= {(int(row), number): INFINITE for row in np.flatnonzero(np.isinf(column))}
    if sheet.columns:
        for row, number in zip(*np.nonzero(np.isnan(values)), strict=True):
            reasons.setdefault((int(row), int(number)), NO_SCORE)
        reasons = dict(sorted(reasons.items()))
    return values, reasons


def _table(
    rows: ScoredRows,
    described: Collection[Metric],
    values: NDArray[np.float64],
    reasons: dict[tuple[int, int], str],
    notes: ParquetNotes,
    findings: FileFindings,
) -> ScoreTable:
    metrics = tuple(notes.metrics.get(metric.name, metric) for metric in described)
    numbers = {metric.name: number for number, metric in enumerate(metrics)}
    for row, name, reason in notes.reasons:
        if (row, numbers.get(name, -1)) in reasons:
            reasons[row, numbers[name]] = reason
    for row, number in zip(*np.nonzero(np.isnan(values)), strict=True):
        reasons.setdefault((int(row), int(number)), NO_SCORE)
    if undefined := Counter(reasons.values()):
        listed = ", ".join(f"{count} ({shown(reason)})" for reason, count in undefined.most_common(5))
        findings.notes.append(f"undefined scores: {listed}")
    findings.note_replaced()
    findings.notes += mask_notes(rows.system.words)
    return ScoreTable(
        rows,
        metrics,
        values,
        reasons,
        printable_text(findings.file_name),
        tuple(findings.notes),
        sha256=findings.sha256,
    )
