"""Score tables as Parquet: columns of plain types, and what a column cannot say in the schema's metadata."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, get_args

from core.datasets.reading import JsonObject, parse_json, reject, shown
from core.errors import InputError
from core.schema.scores import Direction, Metric

_KEY = b"assay"
_MAGIC = b"PAR1"


@dataclass(frozen=True)
class ParquetNotes:
    """What a file of ours says about its columns; empty for a file of another program."""

    metrics: Mapping[str, Metric] = field(default_factory=dict)
    reasons: Sequence[tuple[int, str, str]] = ()
    """(row, metric, why it has no score)."""


def is_parquet(data: bytes, file_name: str) -> bool:
    """Whether the file is Parquet, as its first bytes or else its name say."""
    return data.startswith(_MAGIC) or PurePath(file_name).suffix.lower() in (".parquet", ".pq")


def read_parquet(data: bytes, file_name: str) -> tuple[list[str], list[dict[str, object]], ParquetNotes]:
    """Columns, rows, and what the metadata says about metrics."""
    arrow, parquet = _pyarrow(file_name)
    try:
        table = parquet.read_table(io.BytesIO(data))
        rows: list[dict[str, object]] = table.to_pylist()
        metadata = dict(table.schema.metadata or {})
    except (arrow.ArrowException, OSError, MemoryError, ValueError, OverflowError, KeyError) as error:
        reject(file_name, [f"file: not readable as Parquet ({shown(str(error))})"])
    keys = [str(name) for name in table.column_names]
    if len(set(keys)) < len(keys):
        reject(file_name, ["file: two columns have the same name"])
    return keys, rows, _notes(metadata.get(_KEY, b""))


def parquet_bytes(columns: Mapping[str, Sequence[Any]], notes: ParquetNotes) -> bytes:
    """The columns as a Parquet file; texts that repeat are stored once."""
    arrow, parquet = _pyarrow("Parquet")
    about = {
        "metrics": [[m.name, m.signature, m.family, m.direction] for m in notes.metrics.values()],
        "reasons": [list(reason) for reason in notes.reasons],
    }
    arrays = {
        name: arrow.array(values, arrow.float64() if _is_numbers(values) else arrow.string())
        for name, values in columns.items()
    }
    table = arrow.table(arrays).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def _is_numbers(values: Sequence[Any]) -> bool:
    return any(isinstance(value, float) for value in values)


def _pyarrow(file_name: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f"{shown(file_name)} needs the package pyarrow, which is not installed: install it, or use CSV or JSONL."
        ) from None
    return pyarrow, pyarrow.parquet


def _notes(written: bytes) -> ParquetNotes:
    """Our metadata; nothing where it is not ours, or was changed."""
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
