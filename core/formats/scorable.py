"""Read texts to score: generation's files, the papers' JSON, and tables with any columns."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.formats.generation import same_value
from core.schema.scores import OutputSet, ScorableOutput
from core.tables.columns import (
    LABEL_MARK,
    ONLY_SYSTEM,
    TEXTS,
    WRITTEN_AS_LABELS,
    Names,
    NoLabel,
    Record,
    Rows,
    jsonl_bytes,
    known_at,
    labels_among,
    names_in,
    needed_at,
    note_read_as,
    repeated,
    require,
    split_item_levels,
)
from core.tables.containers import findings_of, table_rows
from core.tables.layouts import TURNS, split_answers, turns_in, turns_of
from core.tables.problems import FileFindings, question_id, same_wording
from core.tables.reading import is_blank, is_nothing, printable_text, shown

COLUMNS = known_at("texts")
"""Known columns; all others are labels."""
NO_LABELS = ("id", "origin")
"""Columns that name a row, or how a level was made: as labels they would separate the levels of an item."""
OF_GENERATION = ("origin",)
"""Columns in NO_LABELS that generation writes with `reason`: its own files need no note that they are not used."""
NO_TEXT = "no text"

OF_ITEM = tuple(name for name in TEXTS if name != "text")
"""Columns with texts of the item: any of its rows may have them."""
READ_AS_SOURCE = ("context", "source", "question")
"""Columns among them that a metric may read as the source: the first that the item has."""
SAME_TEXT = "the same item, system, level and labels"


@dataclass(frozen=True)
class TextRow:
    """A checked row."""

    record: Record
    where: str
    names: Names
    text: str | None
    """None if the row has no text; it may still have texts of its item."""
    of_item: Mapping[str, str]
    """The item's texts in this row, such as question and reference."""

    @cached_property
    def item(self) -> tuple[object, ...]:
        """A key of the item: the same id in two data sets or languages means two items."""
        return self.names.item_id, self.names.language, tuple(sorted(self.names.labels.items()))

    @property
    def key(self) -> tuple[object, ...]:
        """The key that each text must have alone."""
        return self.names.system, self.names.level, *self.item


def read_outputs(data: bytes, file_name: str, *, rows: Rows = table_rows) -> OutputSet:
    """Read the texts of a table, of JSONL or of the papers' JSON. InputError lists every problem.

    A metric's source is the context if there is one, else the text to translate, else the question;
    `core.tables.columns.source_as_system` decides what a column `source` means.
    """
    findings = findings_of(data, file_name)
    left_out: Counter[str] = Counter()
    outputs = tuple(one for one, _ in outputs_in(data, left_out, findings, rows))
    return OutputSet(outputs, *findings.settled(), dict(left_out))


def outputs_in(
    data: bytes,
    left_out: Counter[str],
    findings: FileFindings,
    rows: Rows,
    *,
    beside: Collection[str] = (),
    as_written: bool = False,
) -> list[tuple[ScorableOutput, Record]]:
    """Read the texts of a file with their rows; add problems to the findings, and count rows without a text.

    beside: further columns, which the caller reads. as_written: keep spaces and line breaks, so that offsets into the
    texts stay right; control characters are replaced by U+FFFD in either case.
    """
    known = {**COLUMNS, **{name: (name,) for name in (TURNS, *beside)}}
    written = rows(data, known, findings)
    table = split_answers(written, known, findings)
    if table is written:
        note_read_as(table.columns, findings)
    columns, records = name_items(table.columns, table.records, findings) or (table.columns, table.records)
    require(columns.values(), needed_at("texts"), table.keys, findings.file_name)
    reader = TextReader(not table.null, as_written, frozenset((TURNS, *beside)), left_out, findings)
    records = split_item_levels(records)
    labels = reader.labels(dict.fromkeys(key for record in records for key in record.cells), records)
    read = _fill_languages(reader.rows(records, labels))
    repeated(((row.key, row.where) for row in read if row.text is not None), SAME_TEXT, findings)
    outputs = _outputs(read, findings)
    note_lacks(findings, has_text=bool(outputs), has_system=any(row.names.system for row in read))
    return outputs


def note_lacks(findings: FileFindings, *, has_text: bool, has_system: bool) -> None:
    """Add the problem of a file without a text, and the note on a file that names no system."""
    if not has_text and not findings.problems:
        findings.problems.append("file: contains no row with text; at least one is needed")
    if not findings.problems and not has_system:
        findings.notes.append(f"the file names no system: its texts get the system {ONLY_SYSTEM}")


def write_outputs(outputs: Sequence[ScorableOutput]) -> bytes:
    """The texts as JSONL for read_outputs; each label is a column."""
    return jsonl_bytes(map(output_row, outputs))


def output_row(output: ScorableOutput, beside: Collection[str] = ()) -> dict[str, object]:
    """A text as one row of a file; labels with the name of another column, or of one in `beside`, are marked."""
    taken = {*COLUMNS, *NO_LABELS, *beside, *(name for names in COLUMNS.values() for name in names)}
    taken -= WRITTEN_AS_LABELS if output.level is not None else WRITTEN_AS_LABELS - {"prompt"}
    return {
        "item_id": output.item_id,
        "system": output.system,
        "level": output.level,
        "language": output.language,
        **{f"{LABEL_MARK}{key}" if key in taken else key: value for key, value in output.labels.items()},
        "text": output.text,
        "reference": output.reference,
        "source": output.source,
        **turns_of(output.turns),
    }


@dataclass(frozen=True)
class TextReader:
    """Settings and findings while rows are read."""

    table: bool
    """Whether an empty cell means no text, as in CSV, which has no null."""
    as_written: bool
    beside: frozenset[str]
    left_out: Counter[str]
    findings: FileFindings

    def labels(self, columns: Collection[str], records: Sequence[Record] | NoLabel) -> list[str]:
        """The columns to group by, of all columns that rows have."""
        own = OF_GENERATION if {*OF_GENERATION, "reason"}.issubset(columns) else ()
        keys = [key for key in columns if key not in COLUMNS and key not in (*own, *self.beside)]
        return labels_among(keys, NO_LABELS, records, self.findings)

    def rows(self, records: Iterable[Record], labels: Sequence[str]) -> list[TextRow]:
        """The checked rows; those without a text are counted too."""
        rows = []
        for record in records:
            names = names_in(record, labels, self.findings)
            if names is None:
                continue
            where = f"{record.where}, item {shown(names.item_id)}"
            of_item = {
                name: self._written(where, name, record.cells[name])
                for name in OF_ITEM
                if not is_nothing(record.cells.get(name))
            }
            rows.append(TextRow(record, where, names, self._text(record, where), of_item))
        return rows

    def _text(self, record: Record, where: str) -> str | None:
        written = record.cells.get("text")
        empty = isinstance(written, str) and is_blank(written)
        if written is None or (empty and (self.table or not is_nothing(record.cells.get("reason")))):
            self.left_out[_reason(record)] += 1
            return None
        if empty:
            return printable_text(str(written)) if self.as_written else ""
        return self._written(where, "text", written)

    def _written(self, where: str, name: str, value: object) -> str:
        clean = self.findings.text(where, name, value)
        return printable_text(value) if self.as_written and isinstance(value, str) else clean


def _reason(record: Record) -> str:
    reason = record.cells.get("reason")
    return shown(reason.strip()) if isinstance(reason, str) and not is_blank(reason) else NO_TEXT


def _fill_languages(rows: Sequence[TextRow]) -> list[TextRow]:
    """The rows, with missing languages filled in if the item's other rows name exactly one."""
    known: dict[tuple[object, ...], set[str]] = {}
    for row in rows:
        known.setdefault((row.item[0], row.item[2]), set()).add(row.names.language)
    filled = []
    for row in rows:
        others = known[row.item[0], row.item[2]] - {"und"}
        unsaid = row.names.language == "und" and len(others) == 1
        filled.append(replace(row, names=replace(row.names, language=min(others))) if unsaid else row)
    return filled


def _outputs(rows: Sequence[TextRow], findings: FileFindings) -> list[tuple[ScorableOutput, Record]]:
    """The texts with the texts of their item, from whichever row has them; contradicting rows are a problem."""
    texts: dict[tuple[object, str], list[tuple[str, str]]] = {}
    for row in rows:
        for name, value in row.of_item.items():
            texts.setdefault((row.item, name), []).append((value, row.where))
    # The commonest value is right: a slip in the first row must not become a problem of all the others.
    known = {key: _commonest(values) for key, values in texts.items()}
    for key, values in texts.items():
        findings.problems += [
            f"{where}: {key[1]} differs from {known[key][1]}"
            for value, where in values
            if value is not known[key][0] and not same_value(known[key][0], value)
        ]

    def of(row: TextRow, name: str) -> str | None:
        return row.of_item.get(name) or known.get((row.item, name), ("", ""))[0] or None

    return [
        (
            ScorableOutput(
                row.names.item_id,
                row.names.system or ONLY_SYSTEM,
                row.text,
                reference=of(row, "reference"),
                source=next(filter(None, (of(row, name) for name in READ_AS_SOURCE)), None),
                level=row.names.level,
                language=row.names.language,
                labels=row.names.labels,
                turns=turns_in(row.record.cells.get(TURNS)) or (),
            ),
            row.record,
        )
        for row in rows
        if row.text is not None
    ]


def _commonest(values: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The first (text, place) with the commonest wording."""
    if len(values) == 1:
        return values[0]
    counts = Counter(same_wording(value) for value, _ in values)
    meant = counts.most_common(1)[0][0]
    return next(one for one in values if same_wording(one[0]) == meant)


OF_RAGAS = ("user_input", "response", "retrieved_contexts", "reference_contexts", "contexts", "ground_truths")
"""Columns with the texts of a RAGAS evaluation."""
BY_QUESTION = "no column names the item: rows with the same question ({column}) are one item, which it names"


def name_items(
    columns: Mapping[str, str], records: Sequence[Record], findings: FileFindings
) -> tuple[dict[str, str], list[Record]] | None:
    """The columns and rows with items named by their question; None if the table names its items, or no question."""
    column = next((key for key, name in columns.items() if name == "question"), None)
    if "item_id" in columns.values() or column is None:
        return None
    findings.notes.append(BY_QUESTION.format(column=shown(column)))
    rows = []
    for record in records:
        question = record.cells.get("question")
        if not isinstance(question, str) or is_blank(question):
            findings.problems.append(f"{record.where}: the question is missing; it identifies the item")
            continue
        turns = record.cells.get(TURNS)
        item = question_id(question, repr(turns)) if turns else question_id(question)
        rows.append(replace(record, cells={**record.cells, "item_id": item}))
    return {**columns, "item_id": "item_id"}, rows
