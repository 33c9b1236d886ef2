"""Score tables out: long (one row a score) or wide (one column a metric), as CSV, JSONL and Parquet.

The long form holds everything. The wide form of CSV and JSONL has no place for signatures, families and reasons.
"""

import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from core.datasets.open_tables import LABEL_PAIR
from core.datasets.rows import jsonl_bytes
from core.datasets.score_columns import (
    COLUMNS,
    INDEX_COLUMNS,
    LABELS,
    SAID,
    UNUSED,
    direction_is_stated,
    label_column,
    metric_column,
)
from core.datasets.score_parquet import ParquetNotes, parquet_bytes
from core.datasets.spreadsheet import csv_bytes, csv_cells, guarded
from core.schema.scores import Metric, ScoredRow, ScoreTable

Shape = Literal["long", "wide"]
ABOUT = ("item", "system", "level", "language")
OF_SCORE = ("metric", "score", "reason", "family", "direction", "signature")

_TAKEN = frozenset(
    {*(name for names in COLUMNS.values() for name in names), *COLUMNS, *UNUSED, *INDEX_COLUMNS}
)
_OF_LABELS = (_TAKEN | {*SAID}) - {LABEL_PAIR}


def write_scores_csv(table: ScoreTable, shape: Shape = "long") -> bytes:
    """UTF-8 CSV; every number as its shortest exact form, an undefined score is an empty cell."""
    if shape == "long":
        return b"".join(_long_csv(table))
    columns, rows = _shaped(table, shape)
    # A name out of a file may look like a formula, and so do signatures that begin with a sign.
    titles = {name: str(guarded(name)) for name in columns}
    return csv_bytes(
        list(titles.values()), ({titles[key]: cell for key, cell in row.items()} for row in rows)
    )


def write_scores_jsonl(table: ScoreTable, shape: Shape = "long") -> bytes:
    """One object a line; an undefined score is null."""
    _, rows = _shaped(table, shape)
    return jsonl_bytes(rows)


def write_scores_parquet(table: ScoreTable, shape: Shape = "long") -> bytes:
    """A Parquet file; signatures, families, directions and reasons are in its metadata in either shape."""
    names, written = _shaped(table, shape)
    rows = list(written)
    reasons = [(row, table.metrics[metric].name, reason) for (row, metric), reason in table.reasons.items()]
    notes = ParquetNotes(
        {metric.name: metric for metric in table.metrics}, reasons if shape == "wide" else ()
    )
    return parquet_bytes({name: [row[name] for row in rows] for name in names}, notes)


def _shaped(table: ScoreTable, shape: Shape) -> tuple[list[str], Iterator[dict[str, Any]]]:
    labels = _label_names(table, shape)
    if shape == "long":
        return [*ABOUT, *labels.values(), *OF_SCORE], _long_rows(table, labels)
    metrics = [
        metric_column(metric, _is_clear(table, number), _TAKEN | LABELS)
        for number, metric in enumerate(table.metrics)
    ]
    return [*ABOUT, *labels.values(), *metrics], _wide_rows(table, labels, metrics)


def _long_csv(table: ScoreTable) -> Iterator[bytes]:
    """The long form, text by text. What is said of a text and of a metric is written once, not for every score."""
    labels = _label_names(table, "long")
    yield csv_cells(*ABOUT, *labels.values(), *OF_SCORE).encode() + b"\r\n"
    described = [(csv_cells(m.name), csv_cells(m.family, _stated(m), m.signature)) for m in table.metrics]
    for number, (row, values) in enumerate(zip(table.rows, table.values.tolist(), strict=True)):
        about = csv_cells(*_about(row, labels).values())
        lines = []
        for at, ((name, rest), value) in enumerate(zip(described, values, strict=True)):
            score = "" if math.isnan(value) else repr(value)
            reason = table.reasons.get((number, at))
            lines.append(f"{about},{name},{score},{'' if reason is None else csv_cells(reason)},{rest}\r\n")
        yield "".join(lines).encode()


def _label_names(table: ScoreTable, shape: Shape) -> dict[str, str]:
    """Label -> its column."""
    values: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for label, value in row.labels.items():
            values.setdefault(label, {})[value] = None
    return {
        label: label_column(label, list(held), _OF_LABELS, wide=shape == "wide")
        for label, held in values.items()
    }


def _about(row: ScoredRow, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "item": row.item_id,
        "system": row.system,
        "level": row.level,
        "language": row.language,
        **{column: row.labels.get(label) for label, column in labels.items()},
    }


def _long_rows(table: ScoreTable, labels: dict[str, str]) -> Iterator[dict[str, Any]]:
    described = [
        {"metric": m.name, "family": m.family, "direction": _stated(m), "signature": m.signature}
        for m in table.metrics
    ]
    for number, (row, values) in enumerate(zip(table.rows, table.values.tolist(), strict=True)):
        about = _about(row, labels)
        for at, (metric, value) in enumerate(zip(described, values, strict=True)):
            yield {**about, **metric, "score": _known(value), "reason": table.reasons.get((number, at))}


def _wide_rows(table: ScoreTable, labels: dict[str, str], metrics: list[str]) -> Iterator[dict[str, Any]]:
    for row, values in zip(table.rows, table.values.tolist(), strict=True):
        yield _about(row, labels) | {name: _known(value) for name, value in zip(metrics, values, strict=True)}


def _stated(metric: Metric) -> str | None:
    """The direction, unless it is but assumed: written down it would come back as a statement."""
    return metric.direction if direction_is_stated(metric) or metric.direction == "lower" else None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _is_clear(table: ScoreTable, metric: int) -> bool:
    return bool((~np.isnan(table.values[:, metric])).any())
