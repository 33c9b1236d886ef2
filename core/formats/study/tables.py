"""Read a study's texts from a table in any layout."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

import regex

from core.errors import counted
from core.formats.study.pairs import (
    DatasetBuilder,
    PairRow,
    Reading,
    enumerated,
    kept_text,
    lines_named,
)
from core.schema.scores import Turn
from core.schema.study import NO_LEVEL, Dataset
from core.tables.columns import (
    CSV_SUFFIXES,
    DELIMITERS,
    JSONL_SUFFIXES,
    Record,
    Rows,
    is_json,
    is_jsonl,
    known_at,
    note_ignored,
    unknown_columns,
)
from core.tables.containers import decode, findings_of, table_rows
from core.tables.layouts import KNOWN_ROLES, TURNS, Layout, layout_of, turns_in, unknown_role
from core.tables.mapping import check_named
from core.tables.problems import likely_columns, place, question_id, rename, same_wording
from core.tables.reading import is_blank, name_of, name_problem, reject, shown, suffix_of

MOST_NAMED = 20
"""Most left-out items that a note names."""
COLUMNS = tuple(known_at("study"))
_KNOWN = {"system" if name == "source" else name: names for name, names in known_at("study").items()}
_OPTIONAL_IF_PLAIN = ("level", "reference")
"""Columns that a table without levels may lack."""
FORMATS = "a table as CSV, Excel workbook, JSON, JSONL or Parquet, also packed with gzip, or Factual's JSON"
"""Formats of a data set, for messages and labels."""
ITEM_COLUMNS = ("question", "reference", "language")
MOST_SHORT = 200
"""Most incomplete questions that are searched for the home of a row without a question."""


def read_tabular(data: bytes, file_name: str) -> Dataset:
    """Read long CSV or JSONL; the file name or the first character decides which."""
    return collect_tabular(data, file_name).finish()


def collect_tabular(
    data: bytes,
    file_name: str,
    *,
    rows: Rows = table_rows,
    made_alone: bool = False,
    reading: Reading | None = None,
) -> DatasetBuilder:
    """Collect the answers of a table in any layout, before checking that it is a whole data set.

    made_alone: the file may have one system, which its name names if no column does; leave out, with a note, items that have a
    row with a `reason` instead of a text. reading: what the owner decided.
    """
    builder = findings_of(data, file_name, DatasetBuilder)
    reading = reading or Reading()
    builder.reading, builder.of_table = reading, True
    known = _KNOWN | ({"reason": ("reason",)} if made_alone else {})
    text = decode(data, file_name) if rows is table_rows else ""
    where = "file"
    if rows is table_rows and not is_json(text, file_name):
        if suffix_of(file_name) not in (*CSV_SUFFIXES, *JSONL_SUFFIXES, ".xlsx", ".xls") and not (
            text.lstrip().startswith("{")
            or any(mark in text.lstrip().split("\n", 1)[0] for mark in DELIMITERS)
        ):
            reject(file_name, [f"file: unknown format; use {FORMATS}"])
        if not is_jsonl(text, file_name):
            where = (
                f"line {next((n for n, line in enumerate(text.splitlines(), start=1) if line.strip()), 1)}"
            )
    table = rows(data, {}, builder)
    chosen = reading.columns
    check_named(table.keys, file_name, [column for columns in chosen.values() for column in columns])
    layout = layout_of(table, known, chosen)
    alone = (
        PurePath(file_name).stem if made_alone and "system" not in layout.named and not layout.wide else None
    )
    records = [
        record if record.line else replace(record, line=number)
        for number, record in enumerate(table.records, start=1)
    ]
    per_row = [list(layout.rows([record])) for record in records]
    if alone:
        per_row = [
            [replace(one, cells={**one.cells, "system": alone}) for one in answers] for answers in per_row
        ]
    builder.problems += _role_problems(records, layout)
    builder.problems += _list_problems(records, layout)
    flat = [one for answers in per_row for one in answers]
    there = {*layout.named, *(name for one in flat for name in one.cells)}
    there |= {"system", "text"} if layout.wide else set()
    builder.plain = "level" not in layout.named
    ids, item_line = _item_ids(layout, per_row, builder.plain)
    named = []
    for answers, item_id in zip(per_row, ids, strict=True):
        if item_id is None and "item_id" not in layout.named and answers and "question" in there:
            builder.problems.append(f"{place(answers[0].line)}: question is missing")
            continue
        own = {} if item_id is None else {"item_id": item_id}
        named += [replace(one, cells={**one.cells, **own}) for one in answers]
    if builder.plain and not layout.wide and {"question", "text", "system"} <= there:
        builder.plain = _is_plain(named)
    required = {"question", "system", "text", *(() if builder.plain else ("level", "reference"))}
    if table.records or table.keys:
        _refuse_missing(where, required - there, layout, table.keys, builder)
    builder.read_as += layout.said(item_line)
    builder.layout = layout
    note_ignored(builder, layout.others)
    builder.notes += layout.say_parted(flat)
    found = [
        replace(
            one,
            cells={
                "source" if name == "system" else name: cell
                for name, cell in one.cells.items()
                if name in known or name in ("item_id", TURNS)
            },
        )
        for one in named
    ]
    builder.rows = [
        PairRow(
            record,
            item_id or name_of(answers[0].cells.get("item_id")) or "",
            NO_LEVEL if builder.plain else str(name_of(answers[0].cells.get("level")) or ""),
            tuple(str(name_of(one.cells.get("system")) or "") for one in answers),
        )
        for record, answers, item_id in zip(records, per_row, ids, strict=True)
        if answers
    ]
    if layout.wide:
        found = _each_text_once(found, builder)
    _note_lists(found, builder)
    _build(_made(found, builder) if made_alone else found, builder)
    return builder


def layout_in(
    data: bytes,
    file_name: str,
    columns: Mapping[str, Sequence[str]] | None = None,
    *,
    rows: Rows = table_rows,
) -> Layout:
    """What the columns of a table mean for a study, whether or not they suffice for one. Raises InputError for no table."""
    table = rows(data, {}, findings_of(data, file_name))
    return layout_of(table, _KNOWN, columns)


def _role_problems(records: Sequence[Record], layout: Layout) -> Iterator[str]:
    """Conversations with a role that Assay does not know, which therefore are none to it."""
    columns = layout.used if layout.wide or "text" in layout.named else (*layout.used, *layout.others)
    for record in records:
        for column in columns:
            if (role := unknown_role(record.cells.get(column))) is not None:
                yield (
                    f"{place(record.line)}: column {shown(column)} has a message of the role {shown(role)}; "
                    f"known roles: {KNOWN_ROLES}"
                )


def _list_problems(records: Sequence[Record], layout: Layout) -> list[str]:
    """Columns of answers side by side that hold several answers in a cell."""
    lists = [
        one.column
        for one in layout.answers
        if any(
            isinstance(cell := record.cells.get(one.column), list) and turns_in(cell) is None
            for record in records
        )
    ]
    if not lists:
        return []
    return [
        f"file: a cell of {', '.join(map(shown, lists))} holds a list, as in RewardBench 2 and UltraFeedback; write a row for each "
        "answer, with its system"
    ]


def _refuse_missing(
    where: str, missing: Collection[str], layout: Layout, keys: Sequence[str], builder: DatasetBuilder
) -> None:
    """Raise InputError for roles that no column has, with the columns that may be meant."""
    if not missing:
        return
    lacking = [name for name in _KNOWN if name in missing]
    likely = likely_columns(lacking, layout.others, {})
    left = [key for key in layout.others if not any(key in names for names in likely.values())]
    problems = [
        f"{where}: column {name} is missing{rename(likely[name], name) or unknown_columns(left, [name])}"
        for name in lacking
    ]
    reject(builder.file_name, [*builder.problems, *problems])


def _each_text_once(rows: Sequence[Record], builder: DatasetBuilder) -> list[Record]:
    """The rows of a wide table, each text once: they repeat for every vote on a pair. Rows with one system twice are left out."""
    found: dict[object, Record] = {}
    by_line: dict[int, set[str | None]] = {}
    n_answers = len(builder.layout.answers)
    for row in rows:
        by_line.setdefault(row.line, set()).add(name_of(row.cells.get("source")))
    alone = {line for line, systems in by_line.items() if len(systems) < n_answers and n_answers == 2}
    for row in rows:
        if row.line in alone and None not in by_line[row.line]:
            continue
        key = repr([row.cells.get(name) for name in ("item_id", "level", "source", "text")])
        found.setdefault(key, row)
    n_alone = sum(None not in by_line[line] for line in alone)
    if n_alone:
        builder.notes.append(f"{counted(n_alone, 'row')} left out, with both answers by one system")
    if n := (len(rows) - len(found)) // n_answers - n_alone:
        builder.notes.append(f"{counted(n, 'row')} repeat the answers of an earlier row, which count once")
    return list(found.values())


def _note_lists(rows: Sequence[Record], builder: DatasetBuilder) -> None:
    """Note texts that look like lists or objects of a program, which raters would read as they are."""
    odd = [row for row in rows if isinstance(text := row.cells.get("text"), str) and _LISTED.match(text)]
    if odd:
        builder.notes.append(
            f"{counted(len(odd), 'answer')} shown as they are, although they look like lists of a program; the first is on line "
            f"{odd[0].line}: {shown(str(odd[0].cells['text'])[:60])}"
        )


_LISTED = regex.compile(r"\s*(\[\s*[{\"'\[]|\{\s*[\"'])")


def _item_ids(
    layout: Layout, per_row: Sequence[Sequence[Record]], plain: bool
) -> tuple[list[str | None], str]:
    """The item of each row of the table, and the line that says what an item is.

    An id counts if it names questions: in a table with a row for each answer, not one that differs in every row or that
    several whole questions share; in one with answers side by side, not one that comes again with other answers.
    """
    column = layout.named.get("item_id")
    ids = [name_of(row[0].cells.get("item_id")) if row else None for row in per_row]
    asked = [_question_key(row[0]) if row else None for row in per_row]
    if layout.wide and plain:
        keys: list[object] = [_content_key(row) for row in per_row]
    else:
        keys = [*asked]
    if column is not None:
        why = _no_ids(layout, per_row, ids, keys, asked, plain)
        if not why:
            return [None] * len(ids), f"item: column {shown(column)}"
    else:
        why = "no column names the item"
    names: dict[object, str] = {}
    taken = Counter[str]()
    for key, row in zip(keys, per_row, strict=True):
        if key is not None and key not in names:
            name = _named_by_question(row[0])
            taken[name] += 1
            names[key] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    found = [None if key is None else names[key] for key in keys]
    what = "each row" if layout.wide and plain else "the question"
    return found, f"item: {what}, because {why}"


def _no_ids(
    layout: Layout,
    per_row: Sequence[Sequence[Record]],
    ids: Sequence[str | None],
    keys: Sequence[object],
    asked: Sequence[object],
    plain: bool,
) -> str:
    """Why a column of ids does not name items; empty if it does."""
    column = shown(layout.named["item_id"])
    held = [one for one in ids if one is not None]
    of_id: dict[str, list[object]] = {}
    for one, key in zip(ids, keys, strict=True):
        if one is not None and key is not None and key not in of_id.setdefault(one, []):
            of_id[one].append(key)
    several = {one for one, own in of_id.items() if len(own) > 1}
    if layout.wide:
        return f"column {column} repeats with other answers" if several and plain else ""
    if len(held) > 2 and len({*held}) == len(held) and None not in asked and len({*asked}) < len(held):
        return f"column {column} differs in every row"
    cells: dict[tuple[str | None, object], set[object]] = {}
    for one, key, row in zip(ids, keys, per_row, strict=True):
        if one in several:
            cells.setdefault((one, key), set()).add(
                tuple(name_of(row[0].cells.get(name)) for name in ("level", "system"))
            )
    every = {tuple(name_of(row[0].cells.get(name)) for name in ("level", "system")) for row in per_row if row}
    whole = {one for one in several if all(cells[one, key] == every for key in of_id[one])}
    return f"column {column} gives several questions the same id" if whole and whole == several else ""


def _named_by_question(row: Record) -> str:
    turns = row.cells.get(TURNS)
    question = str(row.cells.get("question"))
    return question_id(question, repr(turns)) if turns else question_id(question)


def _question_key(row: Record) -> object:
    """What tells a question apart: its wording and the turns before it; None without a question."""
    question = row.cells.get("question")
    if not isinstance(question, str) or is_blank(question):
        return None
    turns = row.cells.get(TURNS)
    return same_wording(question), repr(turns) if turns else ""


def _content_key(row: Sequence[Record]) -> object:
    """What tells the pair of a row apart: its question and its answers by system."""
    if not row or (asked := _question_key(row[0])) is None:
        return None
    texts = sorted((str(one.cells.get("system")), str(one.cells.get("text"))) for one in row)
    return asked, repr(texts)


def _is_plain(rows: Sequence[Record]) -> bool:
    """Whether rows without a level are plain pairs rather than answers at several levels.

    If most systems have several answers to a question, the level column is missing or has another name.
    """
    # A pair may stand in several rows, one for each vote on it, with the same texts.
    different = {
        (name_of(row.cells.get("item_id")), name_of(row.cells.get("system")), str(row.cells.get("text")))
        for row in rows
    }
    texts = Counter((item, system) for item, system, _ in different)
    return bool(texts) and 2 * sum(n > 1 for n in texts.values()) <= len(texts)


def _made(rows: list[Record], builder: DatasetBuilder) -> list[Record]:
    """The rows of items for which every text was generated."""
    unmade = [r for r in rows if kept_text(r.cells.get("text")) is None and kept_text(r.cells.get("reason"))]
    gone = list(
        dict.fromkeys(name for row in unmade if (name := name_of(row.cells.get("item_id"))) is not None)
    )
    if gone:
        more = "" if len(gone) <= MOST_NAMED else f" and {len(gone) - MOST_NAMED} more"
        listed = ", ".join(map(shown, gone[:MOST_NAMED]))
        builder.notes.insert(
            0, f"{shown(builder.file_name)}: items left out because a level is missing: {listed}{more}"
        )
    return [row for row in rows if name_of(row.cells.get("item_id")) not in gone]


def _build(rows: list[Record], builder: DatasetBuilder) -> None:
    if builder.problems:
        builder.mark_unread()
    if not rows and not builder.problems:
        builder.problems.append("file: there are no rows below the header; at least one question is needed")
    asked = [column for column in COLUMNS[:-1] if not (builder.plain and column in _OPTIONAL_IF_PLAIN)]
    if empty := [column for column in asked if len(rows) > 1 and _is_empty(column, rows)]:
        # Every other problem would only follow from the empty column.
        builder.problems += [f"file: column {column} is empty in all {len(rows)} rows" for column in empty]
        reject(builder.file_name, builder.problems)
    ids = [row.cells.get("item_id") for row in rows]
    systems = {name_of(row.cells.get("source")) for row in rows}
    if 2 < len(rows) == len(set(map(repr, ids))) and len(systems) > 1:
        builder.problems.append(
            "file: every row has a different item_id, but all texts of a question need the same item_id"
        )
        reject(builder.file_name, builder.problems)
    rows_of: dict[str, list[Record]] = {}
    for row in rows:
        item_id = _name(row, "item_id", place(row.line), builder)
        if item_id is not None:
            rows_of.setdefault(item_id, []).append(row)
        elif (at := _cell(row, builder)) is not None:
            builder.mark_unplaced(*at)
    _move_misnamed(rows_of, builder)
    for item_id, item_rows in rows_of.items():
        given, lines, differing = _item_fields(item_id, item_rows, builder)
        texts = (given[column] for column in ITEM_COLUMNS)
        known = builder.problems.n
        turns = _turns_of(item_id, item_rows, builder)
        number = builder.add_item(item_id, *texts, lines=lines, turns=turns)
        # Rows that agree with the majority come first, so that duplicates are reported for the others.
        for row in sorted(item_rows, key=lambda row: row.line in differing):
            _add_output(number, item_id, row, builder, reported=row.line in differing)
        if differing or builder.problems.n > known:
            builder.mark_broken(number)


def _turns_of(item_id: str, rows: Sequence[Record], builder: DatasetBuilder) -> tuple[Turn, ...]:
    """The conversation before an item's answers, which must be the same for all of them."""
    found: dict[str, tuple[Turn, ...]] = {}
    for row in rows:
        turns = row.cells.get(TURNS)
        if isinstance(turns, tuple):
            found.setdefault(repr([(turn.role, same_wording(turn.text)) for turn in turns]), turns)
    if len(found) > 1:
        builder.problems.append(
            f"{place(rows[0].line, item_id)}: the turns before the question differ between the answers, so they do not answer "
            "the same conversation"
        )
    return next(iter(found.values()), ())


def _is_empty(column: str, rows: list[Record]) -> bool:
    return all(kept_text(row.cells.get(column)) is None and column in row.cells for row in rows)


def _cell(row: Record, builder: DatasetBuilder) -> tuple[str, str] | None:
    """(level, system) of a row, or None if one is missing."""
    level, source = (name_of(row.cells.get(column)) for column in ("level", "source"))
    level = NO_LEVEL if builder.plain else level
    return None if level is None or source is None else (level, source)


def _move_misnamed(rows_of: dict[str, list[Record]], builder: DatasetBuilder) -> None:
    """Move rows with a wrong item_id to the question that lacks them, and report the id.

    A row's own question shows where it belongs. A row without a question belongs where only its text is missing.
    """
    cells = {item: {_cell(row, builder) for row in rows} for item, rows in rows_of.items()}
    every = len(set().union(*cells.values()))
    short = [item for item in rows_of if len(cells[item]) < every]
    asked = {item: _most_common([_asked(row) for row in rows]) for item, rows in rows_of.items()}
    items_of: dict[object, list[str]] = {}
    for item, question in asked.items():
        items_of.setdefault(question, []).append(item)
    for item in list(rows_of):
        by_question: dict[object, list[Record]] = {}
        for row in rows_of[item]:
            by_question.setdefault(_asked(row), []).append(row)
        for question, rows in by_question.items():
            if question == asked[item] and (len(by_question) > 1 or len(cells[item]) == every):
                continue
            if question is None and len(by_question) > 1:
                continue
            own = {_cell(row, builder) for row in rows}
            near = short if question is None else items_of.get(question, [])
            homes = [
                other
                for other in near[:MOST_SHORT]
                if not own & cells[other] and len(cells[other]) > len(own)
            ]
            if len(homes) != 1 or len(near) > MOST_SHORT or None in own:
                continue
            (home,) = homes
            why = "which lacks" if question is None else "which has the same question and lacks"
            texts = "this text" if len(rows) == 1 else "these texts"
            builder.problems.append(
                f"{lines_named([row.line for row in rows])}, column item_id: {shown(item)}; "
                f"did you mean {shown(home)}, {why} {texts}?"
            )
            lines = {row.line for row in rows}
            rows_of[home] = sorted([*rows_of[home], *rows], key=lambda row: row.line)
            rows_of[item] = [row for row in rows_of[item] if row.line not in lines]
            cells[home] |= own
            cells[item] = {_cell(row, builder) for row in rows_of[item]}
        if not rows_of[item]:
            del rows_of[item]


def _asked(row: Record) -> object:
    return kept_text(row.cells.get("question"))


def _most_common(values: list[object]) -> object:
    """The most common value, or the first of equally common ones; None if all are None."""
    counts = Counter(value for value in values if value is not None)
    return counts.most_common(1)[0][0] if counts else None


def _name(row: Record, column: str, where: str, builder: DatasetBuilder) -> str | None:
    """A required name in the row; None after reporting a problem."""
    if column not in row.cells:
        builder.problems.append(f"{where}: {column} is missing")
        return None
    name = name_of(row.cells[column])
    if name is None:
        builder.problems.append(f"{where}: {column} {name_problem(row.cells[column])}")
    return name


def _item_fields(
    item_id: str, rows: list[Record], builder: DatasetBuilder
) -> tuple[dict[str, object], dict[str, int], set[int]]:
    """(most common values of an item, their lines, lines that differ); reports the lines that differ."""
    given: dict[str, object] = {"question": "", "reference": "", "language": "und"}
    line_of = dict.fromkeys(given, rows[0].line)
    differing: dict[int, list[str]] = {}
    for column in ITEM_COLUMNS:
        said = [(row, value) for row in rows if (value := kept_text(row.cells.get(column))) is not None]
        if not said:
            continue
        meant = _most_common([_wording(value) for _, value in said])
        first = next(row for row, value in said if _wording(value) == meant)
        given[column], line_of[column] = first.cells[column], first.line
        for row, value in said:
            if _wording(value) != meant:
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
    # A row without a question continues the row above it.
    told, lines = False, set(differing)
    for row in rows:
        if row.line in differing or _asked(row) is not None:
            told = "question" in differing.get(row.line, ())
        if told:
            lines.add(row.line)
    return given, line_of, lines


def _wording(value: object) -> object:
    return same_wording(value) if isinstance(value, str) else value


def _add_output(number: int, item_id: str, row: Record, builder: DatasetBuilder, *, reported: bool) -> None:
    where = place(row.line, item_id)
    level = NO_LEVEL if builder.plain else _name(row, "level", where, builder)
    source = _name(row, "source", place(row.line, item_id, level or None), builder)
    if level is None:
        # The level is unknown, so none of the item's texts is reported as missing.
        builder.mark_unusable(number)
    elif source is None:
        builder.mark_unusable(number, level)
    elif "text" not in row.cells:
        builder.problems.append(f"{place(row.line, item_id, level or None, source)}: text is missing")
        builder.mark_unusable(number, level)
    else:
        builder.add_output(number, level, source, row.cells["text"], row.line, reported=reported)
