"""Read Parquet within the budget: its footer is asked before its rows, and repeats of a long text are counted before they are made.

Parquet stores a text that many rows repeat once. So columns of texts are read as codes, and a batch of rows becomes texts only
when the bytes that these take have been drawn.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.budget import IN_ARRAYS, OF_ROW, Drawing, current_budget
from core.errors import InputError
from core.tables.containers import PARQUET
from core.tables.reading import drawing_for, reject, shown

_AT_ONCE = 1_000
"""Rows that are turned into objects together."""
_AT_ONCE_NESTED = 50
"""The same, if a cell may hold any number of values."""
_BATCH_BYTES = 32 * 2**20
"""Bytes of texts above which fewer rows are turned into objects together."""
_BUFFER_BYTES = 1 << 20
_LARGEST_FOOTER = 32 * 2**20
_TEXTS = "BYTE_ARRAY"
"""Physical type of texts."""


def is_parquet(data: bytes, _file_name: str = "") -> bool:
    """Whether the file is Parquet, whatever its name is."""
    return data.startswith(PARQUET)


def pyarrow_for(file_name: str) -> tuple[Any, Any]:
    """The package pyarrow and its module pyarrow.parquet. InputError names the file if it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f"{shown(file_name)} needs the package pyarrow, which is not installed: install it, or use CSV or JSONL."
        ) from None
    return pyarrow, pyarrow.parquet


@contextmanager
def parquet_file(source: bytes | Path, file_name: str) -> Iterator[Any]:
    """The open pyarrow.parquet.ParquetFile, with texts as codes; columns are counted. A large row group is not held whole.

    Raises InputError for a file that is not readable, also where the block reads it.
    """
    arrow, parquet = pyarrow_for(file_name)
    drawing = drawing_for(file_name)
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as opened:
            if (length := _footer_length(opened)) > _LARGEST_FOOTER:
                raise ValueError(f"its footer has {length:,} bytes, more than {_LARGEST_FOOTER:,}")
            about = parquet.read_metadata(opened)
            drawing.draw("columns", about.num_columns, whole=True)
            leaves = [about.schema.column(at) for at in range(about.num_columns)]
            texts = [leaf.path for leaf in leaves if leaf.physical_type == _TEXTS]
            opened.seek(0)
            # In this thread alone: a thread of pyarrow's that still holds the bytes when Python ends aborts the process.
            with parquet.ParquetFile(
                opened, buffer_size=_BUFFER_BYTES, pre_buffer=False, read_dictionary=texts
            ) as file:
                yield file
    except (arrow.ArrowException, OSError, MemoryError, ValueError, OverflowError, KeyError) as error:
        reject(file_name, [f"file: not readable as Parquet ({shown(str(error))})"])


def _footer_length(file: Any) -> int:
    """The length of the footer, as the end of the file states it."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 8, 0))
    length = int.from_bytes(file.read(4), "little")
    file.seek(0)
    return length


def parquet_table(data: bytes, file_name: str, *, in_objects: bool = True) -> Any:
    """The pyarrow.Table in the bytes of a Parquet file.

    in_objects: whether its cells become Python's objects; numbers in arrays cost less. Raises InputError for a file that is
    not readable, OverBudget before it is read if its footer says that it has too much, and else while it is read.
    """
    arrow, _ = pyarrow_for(file_name)
    drawing = drawing_for(file_name)
    with parquet_file(data, file_name) as file:
        _draw_footer(file, drawing, in_objects=in_objects)
        schema = _plain_schema(file.schema_arrow, arrow)
        read = drawing_for(file_name)
        batches = []
        for batch in _batches(file, None):
            read.draw("rows", batch.num_rows)
            read.draw("values", sum(map(_n_values, batch.columns)) // (1 if in_objects else IN_ARRAYS))
            read.draw("bytes", sum(map(_n_bytes, batch.columns)))
            batches.append(_decoded(batch, schema, arrow))
        return arrow.Table.from_batches(batches, schema)


def parquet_rows(source: bytes | Path, file_name: str) -> Iterator[dict[str, object]]:
    """Yield the rows, a few at a time; only these are held. Raises InputError for a file that is not readable."""
    with parquet_file(source, file_name) as file:
        for batch in _batches(file, file_name):
            yield from batch.to_pylist()


def n_parquet_rows(path: Path, file_name: str) -> int:
    """The number of rows, as the footer states it."""
    with parquet_file(path, file_name) as file:
        return int(file.metadata.num_rows)


def _draw_footer(file: Any, drawing: Drawing, *, in_objects: bool) -> None:
    """Use what the footer says that the whole table has. It may say less than is true."""
    about = file.metadata
    drawing.draw("rows", about.num_rows, whole=True)
    leaves = [about.schema.column(at) for at in range(about.num_columns)]
    n_values = about.num_rows * len(leaves)
    drawing.draw(
        "values",
        n_values + OF_ROW * about.num_rows if in_objects else n_values // IN_ARRAYS,
        whole=in_objects,
    )
    # Sizes of row groups, but nothing of their columns: pyarrow ends the process where a damaged footer describes those.
    sizes = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
    fixed = sum(max(leaf.length, 0) for leaf in leaves) * about.num_rows
    drawing.draw("bytes", max(fixed, sizes, 0), whole=True)


def _batches(file: Any, file_name: str | None) -> Iterator[Any]:
    """Batches of rows with texts as codes. file_name: of a file of which one batch is held at a time; None for a whole one."""
    arrow, _ = pyarrow_for("Parquet")
    nested = any(arrow.types.is_nested(one.type) for one in file.schema_arrow)
    for batch in file.iter_batches(batch_size=_AT_ONCE_NESTED if nested else _AT_ONCE, use_threads=False):
        yield from [batch] if file_name is None else _small(batch, file_name)


def _small(batch: Any, file_name: str) -> Iterator[Any]:
    """A batch in parts, none of which makes many bytes of texts unless a single row does."""
    n = sum(map(_n_bytes, batch.columns))
    if batch.num_rows > 1 and n > min(_BATCH_BYTES, current_budget().bytes):
        half = batch.num_rows // 2
        yield from _small(batch.slice(0, half), file_name)
        yield from _small(batch.slice(half), file_name)
        return
    drawing = drawing_for(file_name)
    drawing.draw("bytes", n)
    drawing.draw("values", sum(map(_n_values, batch.columns)))
    yield batch


def _n_bytes(column: Any) -> int:
    """The bytes that a column takes when its codes are texts."""
    arrow, _ = pyarrow_for("Parquet")
    if arrow.types.is_dictionary(column.type):
        lengths = arrow.compute.binary_length(column.dictionary).cast(arrow.int64())
        return int(arrow.compute.sum(lengths.take(column.indices)).as_py() or 0) + 4 * len(column)
    if arrow.types.is_struct(column.type):
        return sum(map(_n_bytes, column.flatten()))
    if arrow.types.is_map(column.type):
        return sum(map(_n_bytes, _entries_of(column)))
    if arrow.types.is_nested(column.type):
        return _n_bytes(column.flatten()) + 4 * len(column)
    return int(column.nbytes)


def _n_values(column: Any) -> int:
    """The values in a column; a cell may hold a list of them."""
    arrow, _ = pyarrow_for("Parquet")
    if arrow.types.is_struct(column.type):
        return len(column) + sum(map(_n_values, column.flatten()))
    if arrow.types.is_map(column.type):
        return len(column) + sum(map(_n_values, _entries_of(column)))
    if arrow.types.is_nested(column.type):
        return len(column) + _n_values(column.flatten())
    return len(column)


def _entries_of(column: Any) -> tuple[Any, Any]:
    """The keys and items of the maps in a column, also of a slice."""
    start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
    return column.keys.slice(start, end - start), column.items.slice(start, end - start)


def _plain_schema(schema: Any, arrow: Any) -> Any:
    """The schema with texts in place of codes."""
    plain = [one.with_type(_plain_type(one.type, arrow)) for one in schema]
    return arrow.schema(plain, schema.metadata)


def _plain_type(kind: Any, arrow: Any) -> Any:
    if arrow.types.is_dictionary(kind):
        return kind.value_type
    if arrow.types.is_struct(kind):
        return arrow.struct([one.with_type(_plain_type(one.type, arrow)) for one in kind])
    if arrow.types.is_map(kind):
        return arrow.map_(_plain_type(kind.key_type, arrow), _plain_type(kind.item_type, arrow))
    if arrow.types.is_large_list(kind):
        return arrow.large_list(kind.value_field.with_type(_plain_type(kind.value_type, arrow)))
    if arrow.types.is_list(kind):
        return arrow.list_(kind.value_field.with_type(_plain_type(kind.value_type, arrow)))
    return kind


def _decoded(batch: Any, schema: Any, arrow: Any) -> Any:
    """The batch with texts in place of codes."""
    columns = []
    for column, kind in zip(batch.columns, schema.types, strict=True):
        if column.type == kind:
            columns.append(column)
        elif arrow.types.is_dictionary(column.type):
            columns.append(column.cast(kind))
        else:
            columns.append(arrow.array(column.to_pylist(), kind))
    return arrow.RecordBatch.from_arrays(columns, schema=schema)
