"""Read tables row by row: CSV (comma, semicolon, tab or bar), JSONL or a JSON list.

SPECS lists the columns that Assay knows, with their aliases. Other columns may be labels to group by.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, takewhile
from typing import Any, Literal, NamedTuple

import regex

from core.budget import OF_ROW, Drawing
from core.tables.problems import FileFindings, likely_columns, listed, rename
from core.tables.reading import (
    MOST_NAME,
    JsonObject,
    drawing_for,
    duplicate_problems,
    is_language_tag,
    is_nothing,
    label_of,
    labels_of,
    line_place,
    name_of,
    name_problem,
    number_in,
    numbers_as_json,
    parse_json,
    reject,
    shown,
    suffix_of,
    type_name,
    whole_input,
)
from core.tables.writer import guarded, unguarded

ONLY_SYSTEM = "output"
"""The system's name when a file of texts, scores or ratings names none."""
LABEL_PAIR = "language_pair"
DATASET_LABELS = ("dataset", "data_set")
"""Labels that name the data set of a text."""
Door = Literal["study", "questions", "texts", "ratings", "scores", "spans", "panel"]
"""The purpose of reading a table; `panel`: raters and judges side by side, in a table that Assay's names need not fit."""
_ALL: tuple[Door, ...] = ("texts", "ratings", "scores", "spans")
_PANEL: tuple[Door, ...] = ("panel",)
_EVERY: tuple[Door, ...] = ("study", "questions", *_ALL)
_RATED: tuple[Door, ...] = ("ratings", "spans")
_READ: tuple[Door, ...] = (*_ALL, *_PANEL)
_STUDY: tuple[Door, ...] = ("study",)
_TEXTS_ONLY: tuple[Door, ...] = ("study", "questions", "texts")
_SPANS: tuple[Door, ...] = ("spans",)
_SCORES: tuple[Door, ...] = ("scores",)


@dataclass(frozen=True)
class ColumnSpec:
    """A column that Assay reads."""

    name: str
    aliases: tuple[str, ...] = ()
    """Other names that a table may use; if it has several, the first is used."""
    type: Literal["name", "text", "number", "language", "truth", "list", "reason"] = "name"
    """The type of its cells; rows are grouped by a `name`."""
    read_by: tuple[Door, ...] = _READ
    needed_by: tuple[Door, ...] = ()
    """Doors that refuse a table without the column."""
    aliases_at: Mapping[Door, tuple[str, ...]] = field(default_factory=dict)
    """Doors with names that replace `aliases`."""
    wider: tuple[str, ...] = ()
    """Names that other programs use: they count, at every door, only where no column has a name above."""
    wider_at: Mapping[Door, tuple[str, ...]] = field(default_factory=dict)
    """Doors with names that replace `wider`."""

    def names(self, door: Door | None = None) -> tuple[str, ...]:
        """All names that a table may use at a door, or in general; the first that a file has counts."""
        aliases = self.aliases_at.get(door, self.aliases) if door else self.aliases
        wider = self.wider_at.get(door, self.wider) if door else self.wider
        return tuple(dict.fromkeys((self.name, *aliases, *wider)))


_NO_TEXTS: Mapping[Door, tuple[str, ...]] = dict.fromkeys(("ratings", "scores", "spans"), ())
"""Tables of ratings and scores need no texts: there, names of other programs for them are labels."""
_WHO = ("system_id", "system_name")
_REFERENCE, _CONTEXT = ("ref", "ground_truth"), ("passage", "source_text", "source_sentence")
_ITEM = ("item", "id", "question_id", "segment_id", "seg_id", "segment", "seg")
_TEXT = ("output", "hypothesis", "hyp", "mt", "translation", "target", "response", "answer")
_RATER = ("rater_id", "annotator", "annotator_id", "user", "user_id", "evaluator")
# Names of other programs, wherever no column has a name above.
_ANY_ITEM = (
    *(
        "example_id",
        "sample_id",
        "record_id",
        "instance_id",
        "row_id",
        "case_id",
        "test_case_id",
        "prompt_id",
    ),
    *("query_id", "qid", "task_id", "trace_id", "conversation_id", "uid", "uuid", "idx", "example", "sample"),
    *("doc_id", "document_id"),
)
_ANY_SYSTEM = (
    *("model", "model_name", "model_id", "generator", "target_model", "response_model", "output_model"),
    *("candidate_model", "generated_by", "agent", "pipeline", "submission", "author", "modell"),
)
_ANY_QUESTION = (
    "prompt",
    "query",
    "input",
    "instruction",
    "user_input",
    "question_text",
    "user_prompt",
    "frage",
)
_ANY_TEXT = (
    *("completion", "generation", "model_output", "actual_output", "model_response", "model_answer"),
    *("generated_text", "reply", "summary", "antwort"),
)
_ANY_REFERENCE = (
    *("gold_answer", "reference_answer", "expected_output", "reference_text", "expected_answer"),
    *("correct_answer", "golden_answer", "ideal_answer", "best_answer"),
)
_ANY_CONTEXT = ("document", "article")
_ANY_RATER = (
    *("rater_name", "annotator_name", "evaluator_id", "worker", "worker_id", "labeler", "labeler_id"),
    *("labeller", "reviewer", "coder", "assessor"),
)
SPECS: tuple[ColumnSpec, ...] = (
    ColumnSpec("item_id", _ITEM, "name", (*_EVERY, *_PANEL), (*_STUDY, *_ALL), wider=_ANY_ITEM),
    ColumnSpec("question", (), "text", (*_EVERY, *_PANEL), _STUDY, wider=_ANY_QUESTION),
    ColumnSpec(
        "reference",
        _REFERENCE,
        "text",
        (*_EVERY, *_PANEL),
        _STUDY,
        {
            "questions": (
                *_REFERENCE,
                "input_answer",
                "reference_summary",
                "reference_translation",
                "answer",
            )
        },
        _ANY_REFERENCE,
        # Beside scores `gold` may be people's label.
        {**dict.fromkeys(_TEXTS_ONLY, ("gold", *_ANY_REFERENCE)), **_NO_TEXTS},
    ),
    # In a file of questions `source` is the text to translate; in a study's table it is the system.
    ColumnSpec(
        "context",
        _CONTEXT,
        "text",
        ("questions", *_READ),
        aliases_at={"questions": (*_CONTEXT, "source", "src")},
        wider=_ANY_CONTEXT,
        # Passages that were retrieved describe a text, but no metric reads them as its source; a document may be its number.
        wider_at={"panel": ("contexts", "retrieved_contexts", *_ANY_CONTEXT), "texts": (), **_NO_TEXTS},
    ),
    ColumnSpec("paraphrase", (), "text", ("questions",)),
    ColumnSpec("level", ("damage_level",), "name", (*_STUDY, *_READ), _STUDY),
    ColumnSpec(
        "source",
        ("src",),
        "text",
        (*_STUDY, *_READ),
        _STUDY,
        {"study": ("system", *_WHO)},
        wider_at={"study": _ANY_SYSTEM},
    ),
    ColumnSpec("system", _WHO, wider=_ANY_SYSTEM),
    ColumnSpec(
        "text", _TEXT, "text", (*_STUDY, *_READ), ("study", "texts"), wider=_ANY_TEXT, wider_at=_NO_TEXTS
    ),
    ColumnSpec(
        "language",
        ("lang",),
        "language",
        (*_EVERY, *_PANEL),
        wider=("language_code", "locale"),
    ),
    ColumnSpec(LABEL_PAIR, ("lp",), "language"),
    ColumnSpec("reason", type="reason"),
    # Beside labels `user` may be what a user wrote.
    ColumnSpec(
        "rater",
        _RATER,
        "name",
        (*_RATED, *_PANEL),
        aliases_at={"panel": tuple(name for name in _RATER if not name.startswith("user"))},
        wider=_ANY_RATER,
    ),
    # In a wide table of scores a column `rating` is a metric of its own.
    ColumnSpec(
        "score",
        ("rating", "value"),
        "number",
        (*_RATED, *_SCORES, *_PANEL),
        ("ratings",),
        {"scores": ("value",)},
    ),
    ColumnSpec(
        "dimension",
        ("criterion", "aspect"),
        "name",
        (*_RATED, *_PANEL),
        wider=("criteria",),
    ),
    ColumnSpec("spans", (), "list", _RATED),
    ColumnSpec("start", ("start_offset", "begin"), "number", _SPANS, _SPANS),
    ColumnSpec("end", ("end_offset",), "number", _SPANS, _SPANS),
    ColumnSpec("severity", ("error_severity",), "name", _SPANS, _SPANS),
    ColumnSpec("category", ("error_category", "error_type"), "name", _SPANS),
    ColumnSpec("weight", (), "number", _SPANS),
    ColumnSpec("in_source", ("is_source_error",), "truth", _SPANS),
    ColumnSpec("metric", ("metric_name",), "name", _SCORES),
    ColumnSpec("family", (), "name", _SCORES),
    ColumnSpec("direction", (), "name", _SCORES),
    ColumnSpec("signature", (), "name", _SCORES),
)
"""Every column of every table. In a language pair such as en-de, the second language is the text's."""
VOCABULARY: Mapping[str, tuple[str, ...]] = {spec.name: spec.names() for spec in SPECS}
"""Assay's name -> the names that a table may use."""
_KNOWN = frozenset(name for names in VOCABULARY.values() for name in names)
TEXTS = tuple(spec.name for spec in SPECS if spec.type == "text" and "texts" in spec.read_by)
"""Columns with texts: those of an item, and the text to score."""
MOST_REPEATED = 5
"""Repeated rows that are listed one by one; if there are more, the file was probably pasted twice."""
LABEL_MARK = "label:"
"""Prefix of a column's name that makes the column a label, whatever it looks like."""
MOST_OTHER_NAMES = 7
"""Names of a missing column that a message lists; docs/formats.md has all."""
NOT_USED_COLUMNS = "columns not used: "
"""How the note on columns that a reader does not use begins."""
METRIC_MARK = "metric:"
"""Prefix of a wide column's name that makes the column a metric, whatever it looks like."""

_NO_LABELS: Mapping[str, str] = {}
"""Shared by all rows without labels; never changed."""
_BETWEEN = regex.compile(r"[\s.-]+")
"""Separators between the words of a column's name."""
_CAMEL = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
_NEGATIVE = regex.compile(r"[-\u2212][0-9]+(\.[0-9]+)?")
_PAIR = regex.compile(r"(?P<source>[A-Za-z]{2,3}(?:_[A-Za-z]+)?)-(?P<target>[A-Za-z]{2,3}(?:_[A-Za-z]+)?)")


DELIMITERS = (",", ";", "\t", "|")
_FIRST_ROWS, _FIRST_CHARACTERS = 20, 1 << 16
"""How much of CSV text decides which separator it has."""
JSONL_SUFFIXES = (".jsonl", ".ndjson")
CSV_SUFFIXES = (".csv", ".tsv")

_LINE_PLACE = re.compile(r"line (\d+)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SHORT = 16
"""Cells up to this many characters are probably repeated names, and are interned."""


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a table or one object of a file, with Assay's column names."""

    where: str
    """Its place for messages: `line 7`, or a position in a JSON file."""
    cells: Mapping[str, object]
    line: int = 0
    """The line on which it starts, in a table or JSONL; the first is 1."""


@dataclass(frozen=True, slots=True)
class Names:
    """The item, system, level, language and labels that a row names."""

    item_id: str
    system: str | None
    level: str | None
    language: str
    labels: Mapping[str, str]


class Table(NamedTuple):
    """A table in memory."""

    keys: list[str]
    """Its columns, as the file writes them."""
    columns: dict[str, str]
    """Key -> Assay's name, for the columns that the reader knows."""
    records: list[Record]
    """Its rows: known columns under Assay's names, other columns under their own."""
    null: bool = True
    """Whether cells can be null; if not, an empty cell means null."""


Rows = Callable[[bytes, Mapping[str, Sequence[str]], FileFindings], Table]
"""Opens a file as a table for a reader that knows these columns; adds problems to the findings."""


@dataclass(frozen=True)
class JsonLine:
    """One line of a JSONL file."""

    line: int
    """Line number; the first is 1."""
    value: JsonObject | None
    """None if the line is not an object."""
    problems: list[str]
    written: str
    """The line as the file writes it."""


@dataclass(frozen=True)
class Columns:
    """The meaning of a file's columns."""

    named: Mapping[str, str]
    """Column as the file writes it (of a CSV header in lower case) -> Assay's name."""
    required: tuple[str, ...] = ()
    """Assay's names of the columns that the file must have."""
    usual: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Name -> names that other programs use; suggested if the column is missing, but never used."""


TextForm = Literal["json", "jsonl", "table"]
"""One JSON value, an object a line, or lines of cells."""
_FIRST_LINES = re.compile(r"\s*([^\r\n]*)(?:\s*([^\r\n]*))?")
_LIST_OF_JSON = re.compile(r'\[\s*(?:[\[{"\]\d-]|null|true|false|$)')
_OBJECT_OF_JSON = re.compile(r'\{\s*(?:["}]|$)')


_LISTS = frozenset(("questions", "results"))
"""Keys of an object that is a whole file on one line."""


def form_of_text(text: str, file_name: str) -> TextForm:
    """How a text is written, by its first two lines. The ending of its name decides only where they leave a choice."""
    lines, suffix = _FIRST_LINES.match(text), suffix_of(file_name)
    first, second = (lines[1].strip(), (lines[2] or "").strip()) if lines else ("", "")
    usual: TextForm = "json" if suffix == ".json" else "jsonl" if suffix in JSONL_SUFFIXES else "table"
    if first.startswith("[") and (usual != "table" or _LIST_OF_JSON.match(first)):
        return "json" if usual != "jsonl" or not first.endswith("]") or not second else "jsonl"
    if first.startswith("{") and (usual != "table" or _OBJECT_OF_JSON.match(first)):
        return _form_of_objects(first, second, usual)
    # A broken JSON file goes on being called one; a header has several cells.
    return usual if usual == "table" or second.startswith("{") or not _has_cells(first) else "table"


def _form_of_objects(first: str, second: str, usual: TextForm) -> TextForm:
    """The form of a text that begins with an object."""
    if second.startswith("{") and (usual == "jsonl" or first.endswith("}")):
        return "jsonl"
    if usual == "json":
        return usual
    value, problem = parse_json(first)
    if problem is not None:
        return "jsonl" if usual == "jsonl" and (not second or first.endswith("}")) else "json"
    return "json" if isinstance(value, JsonObject) and _LISTS & value.keys() else "jsonl"


def _has_cells(line: str) -> bool:
    return any(mark in line for mark in DELIMITERS)


def is_jsonl(text: str, file_name: str) -> bool:
    """Whether the file has one JSON object a line."""
    return form_of_text(text, file_name) == "jsonl"


def read_rows(
    text: str, columns: Columns, findings: FileFindings, *, without: Collection[str] = ()
) -> Iterator[Record]:
    """Yield the rows of CSV or JSONL text; add problems and unused columns to the findings.

    without: columns of CSV text to leave out.
    """
    if is_jsonl(text, findings.file_name):
        return _jsonl_rows(text, columns, findings)
    drawing = drawing_for(findings.file_name)
    return csv_records(csv_lines(text), delimiter_of(text), columns, findings, without, drawing)


def jsonl_bytes(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows as UTF-8 JSONL, one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def header_of(text: str, file_name: str) -> list[str]:
    """The header of CSV text, in lower case; empty if the text has no line."""
    return [cell.lower() for cell in first_cells(text, delimiter_of(text), file_name)]


def csv_lines(text: str) -> Iterator[str]:
    """Yield lines for `csv.reader` without a second copy of the text; a cell may be as long as the text."""
    allow_cells(len(text) + 1)
    return (found.group() for found in _LINE.finditer(text))


def allow_cells(length: int) -> None:
    """Let `csv.reader` read cells of so many characters."""
    # The whole process shares this limit. It is only raised, so that parallel imports cannot lower it for each other.
    csv.field_size_limit(max(csv.field_size_limit(), length))


class CsvReader(Iterator[list[str]]):
    """The one `csv.reader`: it refuses a row with too many cells before it is made.

    file_name: None for the beginning of a text, which needs no bound. strict: whether a wrong quotation mark is a csv.Error.
    Raises OverBudget that names the file.
    """

    def __init__(
        self, lines: Iterable[str], delimiter: str, file_name: str | None, *, strict: bool = False
    ) -> None:
        self._delimiter, self._n_cells = delimiter, 0
        self._drawing = None if file_name is None else drawing_for(file_name)
        self._most_cells = float("inf") if self._drawing is None else self._drawing.left("columns")
        counted = lines if self._drawing is None else self._counted(lines, self._drawing)
        self._reader = csv.reader(counted, delimiter=delimiter, strict=strict)

    @property
    def line_num(self) -> int:
        """Lines read so far."""
        return self._reader.line_num

    def __next__(self) -> list[str]:
        """The next row; an empty one for an empty line."""
        self._n_cells = 0
        cells = next(self._reader)
        if self._drawing is not None and len(cells) > self._most_cells:
            self._drawing.draw("columns", len(cells), whole=True)
        return cells

    def _counted(self, lines: Iterable[str], drawing: Drawing) -> Iterator[str]:
        most = drawing.left("values")
        for line in lines:
            self._n_cells += line.count(self._delimiter) + 1
            if self._n_cells > most:
                drawing.draw("values", self._n_cells)
            yield line


def csv_cells(lines: Iterable[str], delimiter: str, file_name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with its first line. csv.Error names the line of an invalid row."""
    reader, start = CsvReader(lines, delimiter, file_name, strict=True), 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if any(map(str.strip, cells)):
                yield line, cells
    except csv.Error as error:
        reason = str(error).replace("'\t'", "a tab")
        raise csv.Error(
            f"line {start}: the row that starts on this line is not valid CSV ({reason})"
        ) from error


def csv_records(
    lines: Iterable[str],
    delimiter: str,
    columns: Columns,
    findings: FileFindings,
    without: Collection[str] = (),
    drawing: Drawing | None = None,
) -> Iterator[Record]:
    """Yield the rows of CSV lines below their header; see read_rows. drawing: of a table that is held whole."""
    header: list[str | None] | None = None
    kept: list[tuple[int, str]] = []
    # Drawn at once where too many: a call for each row would cost more than the row.
    most_rows, most_values = (drawing.left("rows"), drawing.left("values")) if drawing else (0, 0)
    n_rows = n_values = freed = 0
    try:
        for line, cells in csv_cells(lines, delimiter, findings.file_name):
            n_rows, n_values = n_rows + 1, n_values + OF_ROW + len(cells if header is None else kept)
            if drawing is not None and (n_rows > most_rows or n_values > most_values):
                drawing.draw("rows", n_rows)
                drawing.draw("values", n_values)
            if header is None:
                written = [cell.strip().lower() for cell in cells]
                _check_header(written, line, columns, findings)
                header = [columns.named.get(name) for name in written]
                kept = [(at, name) for at, name in enumerate(header) if name and name not in without]
            elif len(cells) != len(header):
                findings.problems.append(
                    f"line {line}: {len(cells)} cells, expected {len(header)} as in the header"
                )
            else:
                row: dict[str, object] = {}
                for at, name in kept:
                    cell = cells[at]
                    if cell.startswith("'"):
                        cell = unguarded(cell)
                        freed += cell != cells[at]
                    # Names of items and systems are repeated in many rows: keep one copy of each.
                    row[name] = sys.intern(cell) if len(cell) <= _SHORT else cell
                yield Record(f"line {line}", row, line)
    except csv.Error as error:
        findings.problems.append(str(error))
    if freed:
        # If only one system's texts had the apostrophe, a rater could recognise the system by it.
        count = "1 cell" if freed == 1 else f"{freed} cells"
        findings.notes.append(
            f"{count}: removed the apostrophe that stops spreadsheets from running a formula"
        )


def delimiter_of(text: str) -> str:
    """The separator of CSV text, which every reader of a file asks for here.

    It is the one that gives all of the first rows as many cells as the header, more than one. Next best is one that
    divides the header and most rows, then one that divides nothing: a single column. Between equals, the columns that Assay
    knows decide, then the number of cells. Quotes count: a mark inside quoted cells divides nothing.
    """
    head = text[:_FIRST_CHARACTERS]
    cut = len(head) < len(text)
    return max(DELIMITERS, key=lambda mark: _fit(head, mark, cut=cut))


_ALL_ALIKE, _MOSTLY, _UNDIVIDED, _NO_FIT = 3, 2, 1, 0


def _fit(head: str, mark: str, *, cut: bool) -> tuple[int, int, int, int]:
    """How well a separator divides the first rows; see delimiter_of. cut: whether the last row may be incomplete."""
    rows, broken = [], False
    try:
        for cells in CsvReader(csv_lines(head), mark, None, strict=True):
            if any(map(str.strip, cells)):
                rows.append(cells)
            if len(rows) > _FIRST_ROWS:
                break
    except csv.Error:
        broken = not cut
    if cut and 1 < len(rows) <= _FIRST_ROWS:
        rows.pop()
    if not rows:
        return _NO_FIT, 0, 0, 0
    header, below = rows[0], rows[1:]
    known = sum(cell.strip().lower() in _KNOWN for cell in header)
    alike = sum(len(cells) == len(header) for cells in below)
    if len(header) == 1:
        fits = _UNDIVIDED if alike == len(below) and not broken else _NO_FIT
    elif alike == len(below) and not broken:
        fits = _ALL_ALIKE
    else:
        divided = sum(len(cells) > 1 for cells in below)
        fits = _MOSTLY if known or 2 * divided >= len(below) else _NO_FIT
    return fits, known, alike, len(header)


def filled_rows(text: str, delimiter: str, file_name: str) -> Iterator[list[str]]:
    """Yield the rows of CSV text that are not empty."""
    drawing = drawing_for(file_name)
    for cells in CsvReader(csv_lines(text), delimiter, file_name):
        if any(map(str.strip, cells)):
            drawing.draw_row(len(cells))
            yield cells


def first_cells(text: str, delimiter: str, file_name: str) -> list[str]:
    """The cells of the first line that is not empty; none if all lines are."""
    return [cell.strip() for cell in next(filled_rows(text, delimiter, file_name), [])]


def refuse_data_as_names(text: str, file_name: str) -> None:
    """Raise InputError if the first line of CSV text holds data instead of the names of the columns."""
    rows = filled_rows(text[:_FIRST_CHARACTERS], delimiter_of(text), file_name)
    header = [cell.strip() for cell in next(rows, [])]
    if _is_data(header, list(islice(rows, _FIRST_ROWS))):
        typed = sorted(filter(_typed, dict.fromkeys(header)), key=lambda cell: bool(_WHOLE.fullmatch(cell)))
        some = listed((typed or [cell for cell in header if cell])[:_SHOWN_CELLS])
        reject(
            file_name,
            [f"line 1: the first line looks like data ({some}): add a line with the names of the columns"],
        )


_WHOLE = regex.compile(r"[-+]?[0-9]+")
_SHOWN_CELLS = 3
_MOMENT = regex.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}.*)?")


def _typed(cell: str) -> bool:
    """Whether a cell is a number, true or false, a moment or JSON, as few names are."""
    if cell[:1] in ("[", "{"):
        return parse_json(cell)[1] is None
    return cell.lower() in ("true", "false") or number_in(cell) is not None or bool(_MOMENT.fullmatch(cell))


def _is_data(header: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a first row of cells can hardly be names of columns.

    Whole numbers alone may be names, such as those of raters, unless they recur in their columns.
    """
    filled = [at for at, cell in enumerate(header) if cell]
    names = [header[at] for at in filled]
    if not filled or any(_BETWEEN.sub("_", name.lower()) in _KNOWN for name in names):
        return False
    if names in ([str(first + at) for at in range(len(names))] for first in (0, 1)):
        return False
    others = [row for row in below if [cell.strip() for cell in row] != list(header)]
    recurs = {at for at in filled if any(at < len(row) and row[at].strip() == header[at] for row in others)}
    typed = {at for at in filled if _typed(header[at])}
    if any(not _WHOLE.fullmatch(header[at]) for at in typed):
        return 2 * len(typed | recurs) >= len(filled)
    return len(recurs) == len(filled)


def _check_header(header: list[str], line: int, columns: Columns, findings: FileFindings) -> None:
    written: dict[str, list[str]] = {}
    unknown = []
    for cell in header:
        name = columns.named.get(cell)
        if name is None:
            unknown.append(cell)
        else:
            written.setdefault(name, []).append(cell)
    problems = _missing(f"line {line}", columns, written, unknown)
    for column, same in written.items():
        if len(same) > 1:
            also = "" if set(same) == {column} else f" ({listed(same)})"
            problems.append(f"line {line}: column {shown(column)} appears more than once{also}")
    if problems:
        # Without the columns no row can be read: every further problem would follow from these.
        reject(findings.file_name, problems)
    note_ignored(findings, unknown)


def unknown_columns(unknown: Sequence[str], missing: Sequence[str]) -> str:
    """The end of a message on missing columns: the header's unknown columns, one of which may be meant."""
    return f"; unknown columns: {listed(unknown, missing)}" if unknown else ""


_WORDS = {"source": "system"}
"""What a message calls a required column: only a study's table requires `source`, and there it names the system."""


def _missing(where: str, columns: Columns, names: Collection[str], unknown: list[str]) -> list[str]:
    """A problem for each missing column, with the file's columns that may be meant."""
    missing = [column for column in columns.required if column not in names]
    likely = likely_columns(missing, unknown, columns.usual)
    suggested = {name for names in likely.values() for name in names}
    left = [name for name in unknown if name not in suggested]
    instead = unknown_columns(left, missing)
    return [
        f"{where}: column {word} is missing{rename(likely[column], word) or instead}"
        for column in missing
        for word in [_WORDS.get(column, column)]
    ]


def _jsonl_rows(text: str, columns: Columns, findings: FileFindings) -> Iterator[Record]:
    ignored: dict[str, None] = {}
    there: set[str] = set()
    for one in jsonl_objects(text, findings.file_name):
        findings.problems += one.problems
        if one.value is not None:
            where = line_place(one.line)
            row = Record(where, known_fields(one.value, columns, where, findings, ignored), one.line)
            there.update(row.cells)
            yield row
    if there and (problems := _missing("file", columns, there, list(ignored))):
        # As with a table's header: every row would lack the same columns.
        reject(findings.file_name, [*findings.problems, *problems])
    note_ignored(findings, list(ignored))


def jsonl_objects(text: str | Iterable[str], file_name: str) -> Iterator[JsonLine]:
    """Yield the lines that are not empty, each with its own problems for the caller to report.

    text: whole, or its lines, of which one is held at a time. Raises OverBudget if there are too many to hold.
    """
    drawing = drawing_for(file_name) if isinstance(text, str) else None
    for line, written in enumerate(io.StringIO(text) if isinstance(text, str) else text, start=1):
        if not written.strip():
            continue
        if drawing is not None:
            drawing.draw("rows")
        value, problem = parse_json(written.rstrip("\n"), line)
        if problem:
            yield JsonLine(line, None, [problem], written)
        elif not isinstance(value, JsonObject):
            problem = f"{line_place(line)}: is {type_name(value)}, expected an object"
            yield JsonLine(line, None, [problem], written)
        else:
            yield JsonLine(line, value, duplicate_problems(line_place(line), value), written)


def known_fields(
    value: Mapping[str, object],
    columns: Columns,
    where: str,
    findings: FileFindings,
    ignored: dict[str, None],
) -> dict[str, object]:
    """An object's fields under Assay's names. Two names of one column are a problem; other keys go to `ignored`."""
    cells: dict[str, object] = {}
    for key, cell in value.items():
        name = columns.named.get(key)
        if name is None:
            ignored[key] = None
        elif name in cells:
            findings.problems.append(f"{where}: {name} appears more than once, here as {shown(key)}")
        else:
            cells[name] = cell
    return cells


def note_ignored(findings: FileFindings, names: Sequence[str]) -> None:
    """Add a note on the columns or keys that the reader does not use."""
    if names:
        findings.notes.append(f"{NOT_USED_COLUMNS}{listed(names)}")


def known_at(door: Door) -> dict[str, tuple[str, ...]]:
    """The columns that a door reads, each with the names that a table may use."""
    return {spec.name: spec.names(door) for spec in SPECS if door in spec.read_by}


def needed_at(door: Door) -> dict[str, tuple[str, ...]]:
    """The columns that a door requires, each with the names that a table may use."""
    return {spec.name: spec.names(door) for spec in SPECS if door in spec.needed_by}


def is_json(text: str, file_name: str) -> bool:
    """Whether the file is one JSON value: a list, or an object over all lines."""
    return form_of_text(text, file_name) == "json"


def named_columns(keys: Sequence[str], aliases: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Key -> Assay's name, for the first of each column's names that the file has, in any case and with any separator.

    `userInput` is separated too, unless its letters make a name as they are.
    """
    written: dict[str, list[str]] = {}
    for key in keys:
        written.setdefault(_BETWEEN.sub("_", key.strip().lower()), []).append(key)
    for key in keys:
        if (apart := _CAMEL.sub("_", key.strip())) != key.strip():
            written.setdefault(_BETWEEN.sub("_", apart.lower()), []).append(key)
    found: dict[str, str] = {}
    for column, names in aliases.items():
        at_hand = (key for name in names for key in written.get(name, ()) if key not in found)
        if first := next(at_hand, ""):
            found[first] = column
    return found


def note_read_as(columns: Mapping[str, str], findings: FileFindings) -> None:
    """Add a note on the columns that are read by a name of other programs: `columns read: model as system`."""
    if read := [f"{shown(key)} as {name}" for key, name in columns.items() if is_wider(key, name)]:
        findings.notes.append(f"columns read: {', '.join(read)}")


def source_as_system(columns: dict[str, str]) -> dict[str, str]:
    """The columns, with `source` read as the system if the table seems to mean that.

    It does if it names no system but has a question, a context or a level, as a data set's long table has. In other
    tables `source` is the text to translate.
    """
    read_as = set(columns.values())
    if "system" in read_as or not read_as & {"question", "context", "level"}:
        return columns
    return {key: "system" if (key, name) == ("source", "source") else name for key, name in columns.items()}


def open_records(
    text: str, aliases: Mapping[str, Sequence[str]], findings: FileFindings, *, without: Collection[str] = ()
) -> Table:
    """The table in CSV or JSONL text, or in a JSON list of objects.

    without: columns of CSV text to leave out.
    """
    name = findings.file_name
    if is_json(text, name):
        value, problem = parse_json(numbers_as_json(text))
        if problem:
            reject(name, [problem])
        return object_records(json_objects(value, "", findings), aliases, findings)
    if is_jsonl(text, name):
        lines = list(jsonl_objects(numbers_as_json(text), name))
        keys = _filled_keys(one.value for one in lines if one.value is not None)
        return object_records(reported(lines, findings), aliases, findings, keys)
    keys, columns, house = _house(text, aliases, name)
    rows = read_rows(text, house, findings, without=without)
    return Table(keys, columns, list(rows), null=False)


def _filled_keys(objects: Iterable[Mapping[str, object]]) -> list[str]:
    """The keys of all objects in their order, without empty ones."""
    return [key for key in dict.fromkeys(key for one in objects for key in one) if key.strip()]


def reported(lines: Iterable[JsonLine], findings: FileFindings) -> Iterator[tuple[str, JsonObject]]:
    """Yield the lines that are objects; report each line's problems when it is reached."""
    for one in lines:
        findings.problems += one.problems
        if one.value is not None:
            yield line_place(one.line), one.value


def object_records(
    objects: Iterable[tuple[str, Mapping[str, object]]],
    aliases: Mapping[str, Sequence[str]],
    findings: FileFindings,
    keys: Sequence[str] | None = None,
) -> Table:
    """The table of (place, object) pairs. keys: the keys of all objects; None to collect them here."""
    if keys is None:
        objects = list(objects)
        keys = _filled_keys(one for _, one in objects)
    drawing = drawing_for(findings.file_name)
    drawing.draw("columns", len(keys), whole=True)
    columns = columns_of_keys(keys, aliases)
    drawn = _drawn(objects, OF_ROW + len(keys), drawing)
    return Table(list(keys), columns, list(records_of_objects(drawn, keys, columns, findings)))


def _drawn(
    objects: Iterable[tuple[str, Mapping[str, object]]], n_values: int, drawing: Drawing
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The objects, each with its values drawn. Readers look at every column of every row, also where the object lacks it."""
    for one in objects:
        drawing.draw_row(n_values)
        yield one


def records_of_objects(
    objects: Iterable[tuple[str, Mapping[str, object]]],
    keys: Sequence[str],
    columns: Mapping[str, str],
    findings: FileFindings,
) -> Iterator[Record]:
    """Yield (place, object) pairs as rows. keys: all keys; columns: key -> Assay's name, as columns_of_keys gives it."""
    house, ignored = Columns({key: columns.get(key, key) for key in keys}), dict[str, None]()
    for where, one in objects:
        yield Record(where, known_fields(one, house, where, findings, ignored), _line_in(where))
    note_ignored(findings, list(ignored))


def _line_in(where: str) -> int:
    """The line that a place names, 0 if it names none."""
    found = _LINE_PLACE.fullmatch(where)
    return int(found[1]) if found else 0


def columns_of_keys(keys: Sequence[str], aliases: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Key -> Assay's name, for the keys of a table's rows that a reader of `aliases` uses."""
    columns = named_columns(keys, aliases)
    if "level" in columns.values():
        columns = {key: name for key, name in columns.items() if not _says_how_made(key, name)}
    if "item_id" in columns.values() and ("metric" in aliases or "dimension" in aliases):
        # Tables of scores and ratings need a question only as the key of their items.
        columns = {
            key: name for key, name in columns.items() if name != "question" or not is_wider(key, name)
        }
    return source_as_system(columns) if "system" in aliases else columns


_HOW_MADE = {"system": frozenset(_ANY_SYSTEM), "question": frozenset({"prompt"})}
_WIDER = {
    spec.name: frozenset({*spec.wider, *(name for names in spec.wider_at.values() for name in names)})
    for spec in SPECS
}
WRITTEN_AS_LABELS = frozenset(
    {*_ANY_SYSTEM, *_ANY_ITEM, *_ANY_RATER, *_ANY_CONTEXT, *_ANY_REFERENCE, *_ANY_TEXT, "prompt"}
    - {name for spec in SPECS for name in (spec.name, *spec.aliases)}
)
"""Names of other programs that may name a label in the tables that Assay writes: the roles that they could have are filled there."""


def _plain(key: str) -> str:
    """A column's name in lower case, its words joined as in Assay's names."""
    return str(_BETWEEN.sub("_", _CAMEL.sub("_", key.strip()).lower()))


def _says_how_made(key: str, name: str) -> bool:
    """Whether a column beside levels is a label of how they were made, such as `generator`, `model` or `prompt`."""
    return _plain(key) in _HOW_MADE.get(name, ())


def is_wider(key: str, name: str) -> bool:
    """Whether a column has one of the names of other programs for what Assay calls `name`."""
    return _plain(key) in _WIDER.get(name, ())


def csv_opened(
    text: str, aliases: Mapping[str, Sequence[str]], file_name: str
) -> tuple[list[str], dict[str, str], Columns, str]:
    """Keys of CSV text, key -> Assay's name, the columns to read, and the separator. text: at least the header."""
    keys, columns, house = _house(text, aliases, file_name)
    return keys, columns, house, delimiter_of(text)


def _house(
    text: str, aliases: Mapping[str, Sequence[str]], file_name: str
) -> tuple[list[str], dict[str, str], Columns]:
    """Keys of CSV text, key -> Assay's name, and the columns to read. Raises InputError for a first line of data."""
    refuse_data_as_names(text, file_name)
    # As written, not in lower case: columns such as BLEU and chrF keep their case.
    keys = [key for cell in first_cells(text, delimiter_of(text), file_name) if (key := unguarded(cell))]
    columns = columns_of_keys(keys, aliases)
    names = {key: columns.get(key, key) for key in keys}
    # read_rows compares the header's cells as they are written, in lower case.
    plain = {guarded(key).lower(): name for key, name in names.items()} | {
        key.lower(): name for key, name in names.items()
    }
    return keys, columns, Columns(plain)


def file_columns(
    text: str,
    file_name: str,
    aliases: Mapping[str, Sequence[str]],
    required: Sequence[str],
    usual: Mapping[str, Collection[str]] | None = None,
) -> Columns:
    """The columns of CSV or JSONL text, each by the first of its names that the file has.

    usual: names that other programs use; suggested if a column is missing, but never used.
    """
    if is_jsonl(text, file_name):
        keys = _filled_keys(one.value for one in jsonl_objects(text, file_name) if one.value is not None)
    else:
        refuse_data_as_names(text, file_name)
        keys = header_of(text, file_name)
    return columns_among(keys, aliases, required, usual)


def columns_among(
    keys: Sequence[str],
    aliases: Mapping[str, Sequence[str]],
    required: Sequence[str] = (),
    usual: Mapping[str, Collection[str]] | None = None,
) -> Columns:
    """The columns among a file's keys; see file_columns."""
    return Columns(named_columns(keys, aliases), tuple(required), usual or {})


def require(
    columns: Iterable[str], needed: Mapping[str, Sequence[str]], keys: Sequence[str], file_name: str
) -> None:
    """Raise InputError if the file lacks a column, with the column's possible names and the file's columns.

    Accepts a file without any key: its reader reports why it cannot be read.
    """
    found = set(columns)
    missing = [name for name in needed if name not in found] if keys else []
    taken = {name for names in needed.values() for name in names}
    likely = likely_columns(missing, [key for key in keys if key.strip().lower() not in taken], needed)
    problems = [
        f"file: column {word} is missing{_other_names(word, needed[name])}; "
        f"the {whole_input()} has: {listed(keys, needed[name])}{rename(likely[name], word)}"
        for name in missing
        for word in [_WORDS.get(name, name)]
    ]
    if problems:
        reject(file_name, problems)


def _other_names(column: str, names: Sequence[str]) -> str:
    others = [name for name in names if name != column][:MOST_OTHER_NAMES]
    return f" (or: {', '.join(others)})" if others else ""


def json_objects(value: object, where: str, findings: FileFindings) -> list[tuple[str, JsonObject]]:
    """The objects of a JSON list with their places; other values become problems."""
    if not isinstance(value, list):
        findings.problems.append(f"{where or 'file'}: is {type_name(value)}, expected a list of objects")
        return []
    found = []
    for index, one in enumerate(value):
        place = f"{where}[{index}]"
        if isinstance(one, JsonObject):
            findings.problems += duplicate_problems(place, one)
            found.append((place, one))
        else:
            findings.problems.append(f"{place}: is {type_name(one)}, expected an object")
    return found


def objects_in(text: str, file_name: str) -> Iterator[JsonObject]:
    """Yield the objects of a JSON or JSONL file that can be read; none of another file."""
    rows: Iterable[object] = ()
    if is_json(text, file_name):
        value, _ = parse_json(text)
        rows = value if isinstance(value, list) else [value]
    elif is_jsonl(text, file_name):
        rows = (line.value for line in jsonl_objects(text, file_name))
    return (one for one in rows if isinstance(one, JsonObject))


NoLabel = Callable[[str], str]
"""Column -> its first cell that cannot be a label, and why; empty if all can."""


def labels_among(
    keys: Sequence[str],
    unused: Collection[str],
    records: Sequence[Record] | NoLabel,
    findings: FileFindings,
) -> list[str]:
    """The columns among `keys` to group by; add a note on those in `unused`, which the reader does not use."""
    if there := [key for key in keys if key in unused]:
        findings.notes.append(f"columns not used: {listed(there)}")
    return usable_labels([key for key in keys if key not in unused], records, findings)


def usable_labels(
    columns: Iterable[str], records: Sequence[Record] | NoLabel, findings: FileFindings
) -> list[str]:
    """The columns whose name and cells can all be labels; add a note on each of the others."""
    usable: dict[str, str] = {}
    for column in columns:
        name = column.removeprefix(LABEL_MARK)
        if name_of(name) != name:
            reason = f"its name {name_problem(name) if name_of(name) is None else 'has spaces around it'}"
        elif name.lower() in usable:
            # Other programs and the CSV reader above ignore case in a header.
            reason = f"{shown(usable[name.lower()])} has the same name"
        else:
            reason = records(column) if callable(records) else _no_label(column, records)
        if reason:
            findings.notes.append(f"column {shown(column)} is not used: {reason}")
        else:
            usable[name.lower()] = column
    return list(usable.values())


def _no_label(column: str, records: Sequence[Record]) -> str:
    """The first cell of a column that cannot be a label, and why; empty if all can."""
    if None not in labels_of(
        cell for record in records if (cell := record.cells.get(column)) not in (None, "")
    ):
        return ""
    return next(filter(None, (no_label(record.where, record.cells.get(column)) for record in records)), "")


def no_label(where: str, value: object) -> str:
    """Why a cell cannot be a label, as a column's reason; empty if it can, or is empty."""
    if is_nothing(value) or label_of(value) is not None:
        return ""
    return f"its cells cannot be labels to group by ({where}: {name_problem(value)})"


def names_in(record: Record, labels: Sequence[str], findings: FileFindings) -> Names | None:
    """The item, system, level, language and labels of a row; None, with problems added, if they cannot be read."""
    if (clean := _clean_names(record.cells, labels)) is not None:
        return clean
    known = findings.problems.n
    item_id = _name(record, "item_id", findings)
    if item_id is None and findings.problems.n == known:
        findings.problems.append(f"{record.where}: item_id is missing")
    system, level = _name(record, "system", findings), _name(record, "level", findings)
    if level is not None and _NEGATIVE.fullmatch(level):
        findings.problems.append(
            f"{record.where}: level is {level}, below 0; levels start at 0 (0-5 or A0-A4), and a higher level means more damage"
        )
    language, pair = "und", record.cells.get(LABEL_PAIR)
    found = {
        column.removeprefix(LABEL_MARK): label_of(record.cells[column]) or ""
        for column in labels
        if not is_nothing(record.cells.get(column))
    }
    if not is_nothing(pair):
        language, name = _pair_languages(record, pair, findings)
        found[LABEL_PAIR] = name
    if not is_nothing(record.cells.get("language")):
        language = findings.language(record.where, record.cells["language"])
    if item_id is None or findings.problems.n > known:
        return None
    return Names(item_id, system, level, language, found or _NO_LABELS)


def _clean_names(cells: Mapping[str, object], labels: Sequence[str]) -> Names | None:
    """The names of a row in which all are plain texts, as in most rows; None if a cell needs a closer look.

    One look at each cell: a file has several names in each row.
    """
    found: dict[str, str] = {}
    for column in ("item_id", "system", "level", "language", *labels):
        cell = cells.get(column)
        if cell is None or cell == "":
            continue
        if (
            not isinstance(cell, str)
            or len(cell) > MOST_NAME
            or not cell.isprintable()
            or " " in (cell[0], cell[-1])
        ):
            return None
        found[column] = cell
    level, language = found.get("level"), found.get("language", "und")
    if "item_id" not in found or (level is not None and _NEGATIVE.fullmatch(level)) or not _is_tag(language):
        return None
    if cells.get(LABEL_PAIR) is not None:
        return None
    own = {column.removeprefix(LABEL_MARK): found[column] for column in labels if column in found}
    return Names(found["item_id"], found.get("system"), level, language, own or _NO_LABELS)


@lru_cache(maxsize=256)
def _is_tag(language: str) -> bool:
    return is_language_tag(language)


def _name(record: Record, column: str, findings: FileFindings) -> str | None:
    value = record.cells.get(column)
    if is_nothing(value):
        return None
    found = label_of(value) if isinstance(value, float) else name_of(value)
    if found is None:
        findings.problems.append(f"{record.where}: {column} {name_problem(value)}")
    return found


def _pair_languages(record: Record, pair: object, findings: FileFindings) -> tuple[str, str]:
    name = name_of(pair)
    if name is None:
        findings.problems.append(f"{record.where}: language pair {name_problem(pair)}")
        return "und", ""
    return target_language(name), name


def target_language(pair: str) -> str:
    """The target language of a pair such as en-de; `und` if the text is not such a pair."""
    found = _PAIR.fullmatch(pair)
    return found["target"].replace("_", "-") if found else "und"


def repeated(
    keyed: Iterable[tuple[Hashable, str]],
    what: str,
    findings: FileFindings,
    named: Callable[[Any], str] = lambda key: "",
) -> None:
    """Add a problem for each (key, place) that repeats an earlier key; a single problem if there are many.

    named: what follows `what` in the problem, such as the names in a key.
    """
    first: dict[Hashable, str] = {}
    found = []
    for key, where in keyed:
        before = first.setdefault(key, where)
        if before != where:
            found.append(f"{where}: {what}{named(key)} as in {before}")
    findings.problems += repeats_said(found, len(found))


def repeats_said(first: Sequence[str], n: int) -> Sequence[str]:
    """The problems of n rows that repeat earlier ones, of which `first` has the first few; one problem if there are many."""
    if n <= MOST_REPEATED:
        return first
    return [f"{first[0]}; {n - 1} more rows repeat an earlier one"]


# A hyphen joins only after a letter or word; alone it is a minus sign.
_LEVEL = regex.compile(r"(?:(?:A|L|level)[ _-]?)?(?P<number>\d+(?:\.\d+)?)", regex.IGNORECASE)
_DAMAGED = regex.compile(r"(?P<item>.+)_level(?P<level>\d+)", regex.DOTALL)


@lru_cache(maxsize=256)
def level_number(level: str | None) -> float | None:
    """The amount of damage: 0 for A0, L0 or 0, 3 for A3 or 3; higher is worse. None if the name has no number."""
    found = (
        _LEVEL.fullmatch(level.strip()) if level is not None and len(level) < 20 and level.isascii() else None
    )
    return float(found["number"]) if found else None


def split_item_levels(records: list[Record]) -> list[Record]:
    """Split ids such as ITEM_levelL, as Meta-Judge's files have them, into item ITEM and level L.

    Returns the records unchanged if an id names no level, or if a column gives another level.
    """
    split = list(takewhile(lambda one: one is not None, map(split_item, records)))
    return [one for one in split if one is not None] if len(split) == len(records) else records


def split_item(record: Record) -> Record | None:
    """The record with its id split into item and level; None if it names no level, or another than the column."""
    found = level_in(record.cells.get("item_id"))
    if found is None or contradicts(record.cells.get("level"), found[1]):
        return None
    level = record.cells.get("level")
    own = found[1] if is_nothing(level) else level
    return replace(record, cells={**record.cells, "item_id": found[0], "level": own})


def level_in(item_id: object) -> tuple[str, str] | None:
    """Item and level of an id such as ITEM_levelL; None for others."""
    match = _DAMAGED.fullmatch(label_of(item_id) or "")
    return None if match is None else (match["item"], match["level"])


def levels_in(ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Id -> item and level, for the ids such as ITEM_levelL."""
    found = ((name, _DAMAGED.fullmatch(name)) for name in ids)
    return {name: (match["item"], match["level"]) for name, match in found if match is not None}


def contradicts(level: object, of_id: str) -> bool:
    """Whether a cell gives another level than the id."""
    return not is_nothing(level) and level_number(label_of(level)) != float(of_id)
