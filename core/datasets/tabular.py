"""One row a text: long CSV (comma, semicolon or tab) and JSONL, with the same columns.

Question, reference and language belong to the item: they may stand on every row or on one row of it.
"""

from core.datasets.building import DatasetBuilder, ItemFields, place
from core.datasets.reading import (
    clean_text,
    decode,
    is_blank,
    name_of,
    name_problem,
    printable_text,
    sha256_of,
)
from core.datasets.rows import CSV_SUFFIXES, DELIMITERS, JSONL_SUFFIXES, Columns, Row, read_rows
from core.schema import Dataset

__all__ = ["COLUMNS", "CSV_SUFFIXES", "DELIMITERS", "JSONL_SUFFIXES", "collect_tabular", "read_tabular"]

ITEM_COLUMNS = ("question", "reference", "language")
COLUMNS = ("item_id", "question", "reference", "level", "source", "text", "language")
_COLUMNS = Columns(COLUMNS, required=tuple(name for name in COLUMNS if name != "language"))


def read_tabular(data: bytes, file_name: str) -> Dataset:
    """Read long CSV or JSONL, whichever the file name or else the first character says."""
    return collect_tabular(data, file_name).finish()


def collect_tabular(data: bytes, file_name: str) -> DatasetBuilder:
    """What a long CSV or JSONL file holds, before it is asked whether that is a whole data set."""
    text = decode(data, file_name)
    builder = DatasetBuilder(file_name, sha256_of(data))
    _build(list(read_rows(text, _COLUMNS, builder)), builder)
    return builder


def _build(rows: list[Row], builder: DatasetBuilder) -> None:
    rows_of: dict[str, list[Row]] = {}
    for row in rows:
        item_id = _name(row, "item_id", place(row.line), builder)
        if item_id is not None:
            rows_of.setdefault(item_id, []).append(row)
    if not rows and not builder.problems:
        builder.problems.append("file: there is no row below the header; at least one question is needed")
    for item_id, item_rows in rows_of.items():
        number = builder.add_item(_item_fields(item_id, item_rows, builder))
        for row in item_rows:
            _add_output(number, item_id, row, builder)


def _name(row: Row, column: str, where: str, builder: DatasetBuilder) -> str | None:
    """A required name in the row; None after reporting why there is none."""
    if column not in row.cells:
        builder.problems.append(f"{where}: {column} is missing")
        return None
    name = name_of(row.cells[column])
    if name is None:
        builder.problems.append(f"{where}: {column} {name_problem(row.cells[column])}")
    return name


def _item_fields(item_id: str, rows: list[Row], builder: DatasetBuilder) -> ItemFields:
    found: dict[str, tuple[object, int]] = {}
    for row in rows:
        for column in ITEM_COLUMNS:
            value = row.cells.get(column)
            if value is None or (isinstance(value, str) and is_blank(value)):
                continue
            first, line = found.setdefault(column, (value, row.line))
            if _as_kept(value) != _as_kept(first):
                where = place(row.line, item_id)
                builder.problems.append(f"{where}: {column} differs from the one in line {line}")
    question, question_line = found.get("question", ("", rows[0].line))
    reference, reference_line = found.get("reference", ("", rows[0].line))
    language, language_line = found.get("language", ("und", rows[0].line))
    return ItemFields(
        item_id,
        question,
        reference,
        language,
        question_line=question_line,
        reference_line=reference_line,
        language_line=language_line,
    )


def _as_kept(value: object) -> object:
    return clean_text(printable_text(value)) if isinstance(value, str) else value


def _add_output(number: int, item_id: str, row: Row, builder: DatasetBuilder) -> None:
    where = place(row.line, item_id)
    level = _name(row, "level", where, builder)
    source = _name(row, "source", place(row.line, item_id, level), builder)
    if level is None:
        # Which of the item's texts this is cannot be known, so none of them is called missing.
        builder.mark_unusable(number)
    elif source is None:
        builder.mark_unusable(number, level)
    elif "text" not in row.cells:
        builder.problems.append(f"{place(row.line, item_id, level, source)}: text is missing")
        builder.mark_unusable(number, level)
    else:
        builder.add_output(number, level, source, row.cells["text"], row.line)
