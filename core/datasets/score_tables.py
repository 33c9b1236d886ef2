"""Scores of texts by metrics, in: one row a score (long), or one column a metric (wide).

Both forms as CSV, JSONL, JSON and Parquet; 003's published results are the wide form with the metric `result`, RAGAS'
rows the wide form without ids. Answers of 001's server are read as the long form.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from core.datasets.cef_responses import cef_records
from core.datasets.cells import is_nothing, label_of
from core.datasets.findings import FileFindings
from core.datasets.level_names import level_number, with_item_level
from core.datasets.metric_columns import may_be_metric, wide_columns
from core.datasets.open_tables import (
    ONLY_SYSTEM,
    Record,
    object_records,
    open_numbers,
    open_records,
    repeated,
    require,
)
from core.datasets.ragas_rows import with_items
from core.datasets.reading import (
    decode,
    name_problem,
    printable_text,
    reject,
    sha256_of,
    shown,
    type_name,
)
from core.datasets.score_columns import (
    ABOUT,
    COLUMNS,
    OF_METRIC,
    RESULT,
    UNUSED,
    family_of,
    metric_made_elsewhere,
    wide_metric,
)
from core.datasets.score_files import write_scores_csv, write_scores_jsonl, write_scores_parquet
from core.datasets.score_items import fill_blanks
from core.datasets.score_parquet import ParquetNotes, is_parquet, read_parquet
from core.datasets.score_sheet import (
    INFINITE,
    NO_SCORE,
    RowKey,
    ScoreSheet,
    label_columns,
    put_score,
    row_key,
    scored_row,
)
from core.schema.scores import Direction, ScoredRow, ScoreTable

__all__ = [
    "family_of",
    "level_number",
    "read_scores",
    "write_scores_csv",
    "write_scores_jsonl",
    "write_scores_parquet",
]

IDS_WITH_LEVEL = "ids end in _levelN: what stands before it is the item, N its level"
NO_METRIC = "file: it holds no score; a long table has the columns metric and score, a wide one a column of numbers a metric"
_LONG = frozenset({"metric", "score"})
_ABOUT_METRIC = ("metric", "family", "direction", "signature")


def read_scores(data: bytes, file_name: str) -> ScoreTable:
    """The scores of a file in either form; InputError holds every problem.

    Long where there are columns `metric` and `score`. Else every column of numbers that is no known name or label is
    a metric. An empty cell, null and NaN are undefined, with a reason; anything else that is no number is a problem.
    """
    findings = FileFindings(file_name, sha256_of(data))
    notes, numbers = ParquetNotes(), dict[str, NDArray[np.float64]]()
    if is_parquet(data, file_name):
        keys, objects, notes = read_parquet(data, file_name)
        rows = ((f"row {number}", row) for number, row in enumerate(objects, start=1))
        keys, columns, records = object_records(keys, rows, COLUMNS, findings)
    else:
        text = decode(data, file_name)
        del data  # else it stands beside its text until all is read
        if (answers := cef_records(text, COLUMNS, findings)) is None:
            numbers = open_numbers(text, COLUMNS, file_name, _candidates)
            answers = open_records(text, COLUMNS, findings, without=numbers)
        keys, columns, records = answers
        del text
    if (asked := with_items(columns, keys, records, findings)) is not None:
        columns, records = asked
    long = set(columns.values()) >= _LONG
    if not long:
        back = {name: key for key, name in columns.items() if name in OF_METRIC and name != "reason"}
        records = [_renamed(record, back) for record in records] if back else records
    _refuse_correlations(columns.values(), keys, file_name)
    require(columns.values(), {"item_id": COLUMNS["item_id"]}, keys, file_name)
    split = with_item_level(records)
    if split is not records:
        findings.notes.append(IDS_WITH_LEVEL)
        records = split
    sheet = _long(records, findings) if long else _wide(keys, records, numbers, findings)
    if not (sheet.cells or numbers) and not findings.problems:
        findings.problems.append(NO_METRIC)
    if findings.problems:
        reject(file_name, findings.problems)
    if not any("system" in record.cells for record in records):
        findings.notes.append(f"the file names no system: its scores stand under the system {ONLY_SYSTEM}")
    return _table(sheet, notes, findings)


def _candidates(keys: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """The columns of a wide table that may be metrics; not RESULT, in which `nan` is a word of a judge's."""
    if set(columns.values()) >= _LONG:
        return []
    known = {*columns, *OF_METRIC}
    return [key for key in keys if key not in known and key.lower() != RESULT and may_be_metric(key)]


def _refuse_correlations(columns: Iterable[str], keys: Sequence[str], file_name: str) -> None:
    """A table of correlations, one a metric, is no table of scores."""
    if "item_id" not in columns and {"metric", "against", "n_left_out"} <= set(keys):
        reject(
            file_name,
            [
                "file: it holds correlations, as correlate writes them to .csv; as a side they are read from .json"
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
    # Each text comes once a metric and each metric once a text: what is known is not checked again.
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
    """The name of the row's metric; None after its problem was reported."""
    value = record.cells.get("metric")
    name = label_of(value) if not is_nothing(value) else None
    if name is None:
        reason = "is missing" if is_nothing(value) else name_problem(value)
        findings.problems.append(f"{record.where}: metric {reason}")
        return None
    family, direction, signature = (_stated(record, key, findings) for key in _ABOUT_METRIC[1:])
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
            f"{record.where}: family, direction or signature of metric {shown(name)} differ from those in earlier rows"
        )
    return name


def _stated(record: Record, key: str, findings: FileFindings) -> str:
    value = record.cells.get(key)
    if is_nothing(value):
        return ""
    if not isinstance(value, str):
        findings.problems.append(f"{record.where}: {key} is {type_name(value)}, expected a text")
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
    if numbers:  # in the order of the header, as they would stand in each row
        place = {key: at for at, key in enumerate(keys)}
        there = sorted([*there, *numbers], key=lambda key: place.get(key, -1))
    wide = wide_columns(there, numbers, records, findings)
    columns = wide.metrics
    labels = label_columns(records, [*(key for key in there if key in ABOUT), *wide.others], findings)
    sheet = ScoreSheet()
    known: dict[str, str] = {}
    for column in columns:
        name, direction = wide_metric(column)
        before = known.setdefault(name.lower(), column)
        if before != column:
            findings.problems.append(f"file: columns {shown(before)} and {shown(column)} are one metric")
        sheet.metrics[name] = metric_made_elsewhere(name, direction)
    if not columns and not findings.problems:
        findings.problems.append(NO_METRIC + wide.looked_at())
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


def _table(sheet: ScoreSheet, notes: ParquetNotes, findings: FileFindings) -> ScoreTable:
    values = np.full((len(sheet.rows), len(sheet.metrics)), np.nan)
    reasons = dict(sheet.reasons)
    for at, value in sheet.cells.items():
        values[at] = value
    for number, column in sheet.columns.items():
        values[:, number] = np.where(np.isinf(column), np.nan, column)
        reasons |= {(int(row), number): INFINITE for row in np.flatnonzero(np.isinf(column))}
    metrics = tuple(notes.metrics.get(metric.name, metric) for metric in sheet.metrics.values())
    numbers = {metric.name: number for number, metric in enumerate(metrics)}
    for row, name, reason in notes.reasons:
        if (row, numbers.get(name, -1)) in reasons:
            reasons[row, numbers[name]] = reason
    for row, number in zip(*np.nonzero(np.isnan(values)), strict=True):
        reasons.setdefault((int(row), int(number)), NO_SCORE)
    if sheet.columns:
        reasons = dict(sorted(reasons.items()))
    if undefined := Counter(reasons.values()):
        listed = ", ".join(f"{count} ({shown(reason)})" for reason, count in undefined.most_common(5))
        findings.notes.append(f"scores that are undefined: {listed}")
    findings.note_replaced()
    return ScoreTable(
        tuple(sheet.rows.values()),
        metrics,
        values,
        reasons,
        printable_text(findings.file_name),
        tuple(findings.notes),
    )
