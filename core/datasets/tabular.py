"""One row a text: long CSV (comma, semicolon or tab) and JSONL, with the same columns.

Question, reference and language belong to the item: they may stand on every row or on one row of it.
"""

from collections import Counter
from collections.abc import Hashable

from core.datasets.building import DatasetBuilder, ItemFields, place
from core.datasets.misplaced import enumerated, lines_named
from core.datasets.open_tables import ITEM_NAMES, LANGUAGE_NAMES, LEVEL_NAMES, SYSTEM_NAMES
from core.datasets.reading import (
    clean_text,
    decode,
    is_blank,
    name_of,
    name_problem,
    printable_text,
    reject,
    sha256_of,
    shown,
)
from core.datasets.rows import CSV_SUFFIXES, DELIMITERS, JSONL_SUFFIXES, Columns, Row, read_rows
from core.schema import Dataset

__all__ = ["COLUMNS", "CSV_SUFFIXES", "DELIMITERS", "JSONL_SUFFIXES", "collect_tabular", "read_tabular"]

ITEM_COLUMNS = ("question", "reference", "language")
COLUMNS = ("item_id", "question", "reference", "level", "source", "text", "language")
MOST_SHORT = 200
"""Questions without all texts among which the one is searched that lacks a row without a question."""
_USUAL = {
    "item_id": ITEM_NAMES,
    "question": ("prompt", "query", "input", "instruction"),
    "reference": ("ref", "ground_truth", "gold", "gold_answer", "reference_answer", "target"),
    "level": LEVEL_NAMES,
    "source": (*SYSTEM_NAMES, "model", "model_name", "author"),
    "text": ("answer", "output", "response", "hypothesis", "hyp", "translation", "mt", "completion"),
    "language": LANGUAGE_NAMES,
}
_COLUMNS = Columns(COLUMNS, required=tuple(name for name in COLUMNS if name != "language"), usual=_USUAL)


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
    if builder.problems:
        builder.mark_unread()
    if not rows and not builder.problems:
        builder.problems.append("file: there is no row below the header; at least one question is needed")
    if empty := [column for column in COLUMNS[:-1] if len(rows) > 1 and _is_empty(column, rows)]:
        # Without a column no row says anything: what would follow are problems of this one.
        builder.problems += [f"file: column {column} is empty in all {len(rows)} rows" for column in empty]
        reject(builder.file_name, builder.problems)
    ids = [row.cells.get("item_id") for row in rows]
    if 2 < len(rows) == len(set(map(repr, ids))):
        builder.problems.append(
            "file: every row has an item_id of its own; all texts of one question need the same item_id"
        )
        reject(builder.file_name, builder.problems)
    rows_of: dict[str, list[Row]] = {}
    for row in rows:
        item_id = _name(row, "item_id", place(row.line), builder)
        if item_id is not None:
            rows_of.setdefault(item_id, []).append(row)
        elif (at := _cell(row)) is not None:
            builder.mark_unplaced(*at)
    _move_misnamed(rows_of, builder)
    for item_id, item_rows in rows_of.items():
        fields, differing = _item_fields(item_id, item_rows, builder)
        number = builder.add_item(fields)
        # What most rows say comes first, so that it is the others whose texts are given again.
        for row in sorted(item_rows, key=lambda row: row.line in differing):
            _add_output(number, item_id, row, builder, reported=row.line in differing)


def _is_empty(column: str, rows: list[Row]) -> bool:
    return all(_kept_text(row.cells.get(column)) is None and column in row.cells for row in rows)


def _kept_text(value: object) -> object:
    """What a cell says, to be compared with another; None: nothing."""
    if isinstance(value, str):
        return None if is_blank(value) else clean_text(printable_text(value))
    return value if isinstance(value, Hashable) else repr(value)


def _cell(row: Row) -> tuple[str, str] | None:
    """(level, source) of a row that names both."""
    level, source = (name_of(row.cells.get(column)) for column in ("level", "source"))
    return None if level is None or source is None else (level, source)


def _move_misnamed(rows_of: dict[str, list[Row]], builder: DatasetBuilder) -> None:
    """Put rows under a wrong item_id to the question that lacks them, and report the id.

    A row's own question tells where it belongs; where it names none, it belongs where its text alone is missing.
    """
    cells = {item: {_cell(row) for row in rows} for item, rows in rows_of.items()}
    every = len(set().union(*cells.values()))
    short = [item for item in rows_of if len(cells[item]) < every]
    asked = {item: _most_common([_asked(row) for row in rows]) for item, rows in rows_of.items()}
    items_of: dict[object, list[str]] = {}
    for item, question in asked.items():
        items_of.setdefault(question, []).append(item)
    for item in list(rows_of):
        by_question: dict[object, list[Row]] = {}
        for row in rows_of[item]:
            by_question.setdefault(_asked(row), []).append(row)
        for question, rows in by_question.items():
            if question == asked[item] and (len(by_question) > 1 or len(cells[item]) == every):
                continue
            if question is None and len(by_question) > 1:
                continue
            own = {_cell(row) for row in rows}
            near = short if question is None else items_of.get(question, [])
            homes = [
                other
                for other in near[:MOST_SHORT]
                if not own & cells[other] and len(cells[other]) > len(own)
            ]
            if len(homes) != 1 or len(near) > MOST_SHORT or None in own:
                continue
            (home,) = homes
            why = "which lacks" if question is None else "whose question it has and which lacks"
            texts = "this text" if len(rows) == 1 else "these texts"
            builder.problems.append(
                f"{lines_named([row.line for row in rows])}, column item_id: {shown(item)}; "
                f"is {shown(home)} meant, {why} {texts}?"
            )
            lines = {row.line for row in rows}
            rows_of[home] = sorted([*rows_of[home], *rows], key=lambda row: row.line)
            rows_of[item] = [row for row in rows_of[item] if row.line not in lines]
            cells[home] |= own
            cells[item] = {_cell(row) for row in rows_of[item]}
        if not rows_of[item]:
            del rows_of[item]


def _asked(row: Row) -> object:
    return _kept_text(row.cells.get("question"))


def _most_common(values: list[object]) -> object:
    """The value that most rows have, of equally many the first; None where no row says anything."""
    counts = Counter(value for value in values if value is not None)
    return counts.most_common(1)[0][0] if counts else None


def _name(row: Row, column: str, where: str, builder: DatasetBuilder) -> str | None:
    """A required name in the row; None after reporting why there is none."""
    if column not in row.cells:
        builder.problems.append(f"{where}: {column} is missing")
        return None
    name = name_of(row.cells[column])
    if name is None:
        builder.problems.append(f"{where}: {column} {name_problem(row.cells[column])}")
    return name


def _item_fields(item_id: str, rows: list[Row], builder: DatasetBuilder) -> tuple[ItemFields, set[int]]:
    """What most rows of an item say of it, and the lines that say something else, which are reported."""
    given: dict[str, object] = {"question": "", "reference": "", "language": "und"}
    line_of = dict.fromkeys(given, rows[0].line)
    differing: dict[int, list[str]] = {}
    for column in ITEM_COLUMNS:
        said = [(row, value) for row in rows if (value := _kept_text(row.cells.get(column))) is not None]
        if not said:
            continue
        meant = _most_common([value for _, value in said])
        first = next(row for row, value in said if value == meant)
        given[column], line_of[column] = first.cells[column], first.line
        for row, value in said:
            if value != meant:
                differing.setdefault(row.line, []).append(column)
    same: dict[tuple[str, ...], list[int]] = {}
    for line, columns in differing.items():
        same.setdefault(tuple(columns), []).append(line)
    for named, apart in same.items():
        others = enumerated([str(n) for n in dict.fromkeys(line_of[column] for column in named)])
        differ = "differs from the one" if len(named) == 1 else "differ from those"
        builder.problems.append(
            f"{lines_named(apart)}, {place(question=item_id)}: {enumerated(named)} {differ} in line {others}"
        )
    fields = ItemFields(
        item_id,
        given["question"],
        given["reference"],
        given["language"],
        question_line=line_of["question"],
        reference_line=line_of["reference"],
        language_line=line_of["language"],
    )
    # A row without a question goes on with that of the row above it.
    told, lines = False, set(differing)
    for row in rows:
        if row.line in differing or _asked(row) is not None:
            told = "question" in differing.get(row.line, ())
        if told:
            lines.add(row.line)
    return fields, lines


def _add_output(number: int, item_id: str, row: Row, builder: DatasetBuilder, *, reported: bool) -> None:
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
        builder.add_output(number, level, source, row.cells["text"], row.line, reported=reported)
