"""A table with its columns of ratings and scores, and what each rater and judge wrote there."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.errors import InputError
from core.formats.panel.columns import plain_names
from core.formats.ratings import UNUSED
from core.formats.scores import LABELS
from core.joining.choices import check_names
from core.joining.panel import NAMED_MISSING, NO_NAME
from core.schema.roles import Roles
from core.tables.columns import Record, Table, known_at, named_columns, source_as_system
from core.tables.mapping import plain_word
from core.tables.problems import FileFindings, listed
from core.tables.reading import filled, is_nothing, label_of, labels_of, numbers_in, shown
from core.tables.roles import empty_said, is_choice, is_price_or_time
from core.tables.scales import Side, Words


def fill_systems(
    records: Sequence[Record], columns: Mapping[str, str], findings: FileFindings | None = None
) -> list[Record]:
    """The rows with NO_NAME where they name no system and others name theirs: no row takes the system of another.

    columns: column -> Assay's name. findings: get a note.
    """
    column = next((key for key, name in columns.items() if name == "system"), None)
    blank = [column is not None and is_nothing(record.cells.get(column)) for record in records]
    if column is None or not any(blank) or all(blank):
        return list(records)
    if findings is not None:
        findings.notes.append(
            f"{sum(blank):,} of {len(records):,} rows name no system: they are one system here, called {NO_NAME}"
        )
    return [
        replace(record, cells={**record.cells, column: NO_NAME}) if empty else record
        for record, empty in zip(records, blank, strict=True)
    ]


@dataclass(frozen=True)
class Sheet:
    """A table with its columns of ratings and scores, or of scores alone."""

    table: Table
    """Its records have the file's own column names."""
    human: Mapping[str, str]
    """Rater -> column; empty if the table is long."""
    judges: Mapping[str, str]
    """Judge -> column."""
    data: bytes
    """The file, for readers that also read what stands beside its rows."""
    roles: Roles | None = None
    """The meaning of all columns; None to read them by the names of texts and ratings."""

    @property
    def others(self) -> list[str]:
        """The columns that hold neither ratings nor scores; of a table with roles, only those that are read."""
        used = {*self.human.values(), *self.judges.values()}
        if self.roles is not None:
            read = {*self.roles.read_as, *self.roles.groups}
            read |= {key for key in self.roles.others if key.lower() in LABELS or is_price_or_time(key)}
            return [key for key in self.table.keys if key in read and key not in used]
        return [key for key in self.table.keys if key not in used]

    def named(self, about: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Column -> Assay's name, for the columns that describe texts."""
        if self.roles is not None:
            return {key: name for key, name in self.roles.read_as.items() if name in about}
        return source_as_system(named_columns(self.others, about))

    @property
    def rater(self) -> str | None:
        """The column of a long table that names who rated."""
        return self._long("rater") if self.roles is None else self.roles.rater

    @property
    def score(self) -> str | None:
        """The column of a long table with the ratings."""
        return self._long("score") if self.roles is None else self.roles.score

    def _long(self, wanted: str) -> str | None:
        return next((key for key, name in self.table.columns.items() if name == wanted), None)

    @property
    def of_choices(self) -> bool:
        """Whether the ratings' columns are named like a choice, so that whole numbers there are codes without an order."""
        columns = [*self.human.values()] or [self.score or ""]
        return all(map(is_choice, columns))


def sheet_of(
    data: bytes,
    table: Table,
    human: Sequence[str],
    judges: Sequence[str],
    elsewhere: Collection[str],
    roles: Roles | None = None,
) -> Sheet:
    """Find the columns that the names mean. table: under the file's own names. elsewhere: judges with scores in other files.

    Raises InputError for names that are neither a column nor, in a long table, possibly a rater.
    """
    plain = plain_names(table)
    columns = {
        name: name if name in table.keys else plain[name.strip().casefold()]
        for name in (*human, *judges)
        if name in table.keys or name.strip().casefold() in plain
    }
    long = "rater" in table.columns.values() if roles is None else roles.long
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
    return Sheet(
        table,
        {name: columns[name] for name in human} if wide else {},
        {name: columns[name] for name in judges if name in columns},
        data,
        roles,
    )


def check_labelled(sheet: Sheet, file_name: str) -> None:
    """Raise InputError if no cell of the raters' columns is filled, with their names."""
    columns = [*sheet.human.values()] or ([sheet.score] if sheet.score else [])
    records = sheet.table.records
    if columns and records and not any(filled([one.cells.get(key) for one in records]) for key in columns):
        raise InputError(
            f"{shown(file_name)} has no labels by people", [f"human: {empty_said(columns, len(records))}"]
        )


def people_who_rated(sheet: Sheet, human: Sequence[str], findings: FileFindings) -> list[str]:
    """The raters of a long table with a filled rating; a note names those without any. Raises InputError if none has one."""
    if sheet.human or sheet.rater is None or sheet.score is None:
        return [*human]
    rated = {side.name for side in sides_of(sheet) if side.column == sheet.score}
    silent = [name for name in human if name not in rated]
    if silent and len(silent) == len(human):
        raise InputError(
            f"{shown(findings.file_name)} has no labels by people",
            [f"human: every cell of column {shown(sheet.score)} is empty for {listed(silent)}"],
        )
    if silent:
        findings.notes.append(f"{listed(silent)}: not used, because their ratings are all empty")
    return [name for name in human if name in rated]


@dataclass
class Missing:
    """Cells that are no rating and no score, by the user's word; `left_out` counts those found."""

    names: tuple[str, ...]
    left_out: Counter[str] = field(default_factory=Counter)

    def out_of(self, sheet: Sheet) -> Sheet:
        """The sheet with empty cells in their place."""
        columns = {*sheet.human.values(), *sheet.judges.values()}
        if not sheet.human and sheet.score:
            columns.add(sheet.score)
        plain = {plain_word(name) or name: name for name in self.names}  # of `-` nothing is left
        if not plain:
            return sheet
        records = []
        for record in sheet.table.records:
            held = {
                key: plain[word]
                for key in columns
                if (word := plain_word(cell := label_of(record.cells.get(key)) or "") or cell) in plain
            }
            self.left_out.update(map(NAMED_MISSING.format, held.values()))
            records.append(
                replace(record, cells={**record.cells, **dict.fromkeys(held, None)}) if held else record
            )
        return replace(sheet, table=sheet.table._replace(records=records))


def sides_of(sheet: Sheet) -> list[Side]:
    """What each rater and each judge of a sheet wrote."""
    records, rater, score = sheet.table.records, sheet.rater, sheet.score
    columns = {**sheet.human, **sheet.judges}
    cells = {name: filled([one.cells.get(column) for one in records]) for name, column in columns.items()}
    if score and not sheet.human:
        names = labels_of([one.cells.get(rater) for one in records]) if rater else [None] * len(records)
        by_name: dict[str, list[object]] = {}
        for name, record in zip(names, records, strict=True):
            by_name.setdefault(name or "", []).append(record.cells.get(score))
        for name, own in by_name.items():
            columns.setdefault(name, score)
            cells[name] = [*cells.get(name, ()), *filled(own)]
    return [Side(name, Counter(map(_hashable, own)), columns[name]) for name, own in cells.items() if own]


def _hashable(cell: object) -> object:
    return cell if isinstance(cell, str | bool | int | float) else str(cell)


def number_of(cell: object, words: Words | None) -> object:
    """The number of a word that is a class, else the cell."""
    return words.numbers.get(plain_word(cell), cell) if words and isinstance(cell, str | bool) else cell


def texts_unused(sheet: Sheet) -> list[str]:
    """The columns with texts and what else a panel does not use, as the file names them."""
    return [key for key, name in sheet.named(known_at("ratings")).items() if name in UNUSED]


def numbers_of(cells: Sequence[object], words: Words | None) -> list[object]:
    """The cells of a column, with the numbers of words that are classes; each different word is looked up once."""
    if words is None:
        texts = [cell for cell in cells if isinstance(cell, str)]
        numbers = numbers_in(texts) if len(texts) == len(cells) else None
        return [*cells] if numbers is None else [*numbers]
    known = {
        cell: words.numbers.get(plain_word(cell), cell)
        for cell in {cell for cell in cells if isinstance(cell, str | bool)}
    }
    return [known[cell] if isinstance(cell, str | bool) else cell for cell in cells]


def places_in(table: Table | None, roles: Roles | None) -> Callable[[str], list[str]]:
    """Item -> places of its rows in a table."""

    def places(item: str) -> list[str]:
        if table is None or roles is None or roles.item is None:
            return []
        key = roles.item
        return [record.where for record in table.records if label_of(record.cells.get(key)) == item]

    return places
