"""Errors marked by MQM raters, in the format of Google's wmt-mqm-human-evaluation and its viewer Marot; and MQM weights."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import regex

from core.errors import InputError, Problems
from core.formats import Format
from core.schema.scores import ErrorSpan, RatedText, Rating, RatingSet, score_of
from core.tables.columns import LABEL_PAIR, CsvReader, allow_cells, named_columns, require, target_language
from core.tables.containers import decode, findings_of
from core.tables.problems import FileFindings
from core.tables.reading import drawing_for, name_of, name_problem, reject, shown

WEIGHTS = {"critical": 25.0, "major": 5.0, "minor": 1.0, "neutral": 0.0}
MINOR_PUNCTUATION = 0.1
NON_TRANSLATION_WEIGHT = 25.0

_NON_TRANSLATION = "non-translation"
_PUNCTUATION = regex.compile(r"(fluency/)?punctuation")
_WEIGHTLESS = regex.compile(r"source issue|(accuracy/)?creative reinterpretation")
_NO_ERROR = regex.compile(r"no[ -]?error")


def is_no_error(category: str, severity: str) -> bool:
    """Whether a row states that the text has no error."""
    return any(_NO_ERROR.fullmatch(word.lower()) for word in (category, severity))


def is_non_translation(category: str) -> bool:
    """Whether the error is that the text is not a translation at all."""
    return category.lower().startswith(_NON_TRANSLATION)


def weight_of(category: str, severity: str) -> float | None:
    """The weight of an error; None if its severity has no weight."""
    category, severity = category.lower(), severity.lower()
    if severity not in WEIGHTS:
        return None
    if is_non_translation(category):
        return NON_TRANSLATION_WEIGHT
    if _WEIGHTLESS.fullmatch(category):
        return 0.0
    if severity == "minor" and _PUNCTUATION.fullmatch(category):
        return MINOR_PUNCTUATION
    return WEIGHTS[severity]


COLUMNS = {
    "system": ("system", "system_id"),
    "doc": ("doc", "document_id"),
    "segment": ("docsegid", "doc_id", "doc_seg_id", "doc_segment_id"),
    "global": ("globalsegid", "seg_id", "segment_id"),
    "rater": ("rater", "rater_id"),
    "source": ("source",),
    "target": ("target", "candidate"),
    "category": ("category",),
    "severity": ("severity",),
}
"""Assay's name -> the names in the different releases, in lower case."""
NEEDED = ("system", "doc", "rater", "source", "target", "category", "severity")
MERGED = "merged"
"""Rater of ratings merged from several people's, because the format requires one."""
NO_RATER = "row of metadata, without a rater"
MOST_NAMED = 20
"""Lines that a note names."""
TEST = "test of the rater's attention"
_TEST_SEVERITY = "hotw-test"
_MARK = regex.compile(r"</?v>")
_PAIR = regex.compile(r":(?P<pair>[A-Za-z]{2,3}-[A-Za-z]{2,3})$")


@dataclass(frozen=True)
class TabRow:
    """A row of a tab-separated file."""

    line: int
    cells: dict[str, str]

    @property
    def key(self) -> tuple[str, str, str]:
        """The segment's key: document, number in the document, and number in the whole test set."""
        return self.cells["doc"], self.cells.get("segment", ""), self.cells.get("global", "")


def tab_rows(
    lines: Iterable[tuple[int, Sequence[str]]], at: Mapping[str, int], findings: FileFindings
) -> list[TabRow]:
    """The rows of numbered lines. at: Assay's name -> the position of its cell; a row may have further cells."""
    least, rows = max(at.values()) + 1, []
    for number, cells in lines:
        if len(cells) < least:
            findings.problems.append(f"line {number}: {len(cells)} cells, expected at least {least}")
        else:
            rows.append(TabRow(number, {name: cells[place] for name, place in at.items()}))
    return rows


@dataclass
class _Marks:
    """Irregular marks in a file."""

    unmarked: int = 0
    unclear: list[int] = field(default_factory=list)
    differ: list[int] = field(default_factory=list)


def holds_mqm(data: bytes) -> bool:
    """Whether a file has the header of MQM's format."""
    first = data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    header = [cell.strip() for cell in first.split("\t")]
    return set(NEEDED) <= set(named_columns(header, COLUMNS).values())


def read_mqm(data: bytes, file_name: str) -> RatingSet:
    """Read one rating for each segment, system and rater: minus the weights of the errors, with the errors as spans.

    Weights come from WEIGHTS. Spans count the characters of the text without marks. Items are the segments' numbers in
    the whole test set, else DOCUMENT:NUMBER.
    """
    findings = findings_of(data, file_name)
    rows = _rows(decode(data, file_name), findings)
    left_out: Counter[str] = Counter()
    kept = [row for row in rows if _counts(row, left_out, findings)]
    item_of = _items(kept, findings)
    ratings = _ratings(kept, item_of, findings)
    if not ratings and not findings.problems:
        findings.problems.append("file: contains no rating; at least one is needed")
    return RatingSet(tuple(ratings), *findings.settled(), dict(left_out))


FORMAT = Format(
    "mqm",
    "marked errors (MQM), whose weights are already deductions",
    lambda data, file_name: holds_mqm(data),
    {"ratings": read_mqm},
    marks="marks in its texts (MQM)",
)


def _rows(text: str, findings: FileFindings) -> list[TabRow]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    cells = [(number, line.split("\t")) for number, line in enumerate(lines, start=1) if line.strip()]
    if taken_for_quoted(cells):
        cells = _unquoted(text, findings)
    header = [cell.strip() for cell in cells[0][1]] if cells else []
    columns = named_columns(header, COLUMNS)
    require(
        columns.values(),
        {name: COLUMNS[name] for name in NEEDED},
        header or ["(no header)"],
        findings.file_name,
    )
    if not {"segment", "global"} & set(columns.values()):
        reject(
            findings.file_name,
            ["line 1: no column with the segment's number; expected seg_id, globalSegId or docSegId"],
        )
    at = {name: header.index(written) for written, name in columns.items()}
    # The viewer's own files have a remark as an extra cell of the header.
    return tab_rows(cells[1:], at, findings)


def taken_for_quoted(rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Whether cells are quoted as in spreadsheets: then every cell with a quotation mark is quoted."""
    marked = [cell for _, row in rows for cell in row if '"' in cell]
    return bool(marked) and all(regex.fullmatch(r'"(?:[^"]|"")*+"', cell) for cell in marked)


def _unquoted(text: str, findings: FileFindings) -> list[tuple[int, list[str]]]:
    allow_cells(len(text) + 1)
    reader = CsvReader(io.StringIO(text, newline=""), "\t", findings.file_name, strict=True)
    rows, drawing = list[tuple[int, list[str]]](), drawing_for(findings.file_name)
    try:
        for row in filter(None, reader):
            drawing.draw("rows")
            drawing.draw("values", len(row))
            rows.append((reader.line_num, row))
    except csv.Error as error:
        findings.problems.append(f"line {reader.line_num}: not a valid table ({error})")
    return rows


def _counts(row: TabRow, left_out: Counter[str], findings: FileFindings) -> bool:
    """Whether the row is a rater's rating; adds problems with its names to the findings."""
    if not row.cells["rater"].strip():
        left_out[NO_RATER] += 1
        return False
    if row.cells["severity"].strip().lower() == _TEST_SEVERITY:
        left_out[TEST] += 1
        return False
    names = [name for name in ("system", "doc", "rater", "segment", "global") if name in row.cells]
    bad = [
        f"line {row.line}: {name} {name_problem(row.cells[name])}"
        for name in names
        if name_of(row.cells[name]) is None
    ]
    findings.problems += bad
    return not bad


def _items(rows: Sequence[TabRow], findings: FileFindings) -> dict[tuple[str, str, str], str]:
    """(document, number in it, number in the test set) -> item id."""
    keys = dict.fromkeys(row.key for row in rows)
    of_number: dict[str, set[tuple[str, str]]] = {}
    of_segment: dict[tuple[str, str], set[str]] = {}
    for doc, segment, number in keys:
        of_number.setdefault(number, set()).add((doc, segment))
        of_segment.setdefault((doc, segment), set()).add(number)
    named = all(number.strip() for number in of_number)
    # If segments have no numbers in their document, only those in the test set exist.
    alone = all(not segment for _, segment in of_segment)
    if named and (
        alone
        or (
            all(len(own) == 1 for own in of_number.values())
            and all(len(own) == 1 for own in of_segment.values())
        )
    ):
        return {key: key[2].strip() for key in keys}
    findings.notes.append(
        "items are DOCUMENT:NUMBER, because segments have no unique number in the whole test set"
    )
    return {key: f"{key[0].strip()}:{key[1].strip()}" for key in keys}


def _ratings(
    rows: Sequence[TabRow], item_of: dict[tuple[str, str, str], str], findings: FileFindings
) -> list[Rating]:
    grouped: dict[tuple[str, str, str], list[TabRow]] = {}
    for row in rows:
        item = item_of[row.key]
        grouped.setdefault((item, row.cells["system"].strip(), row.cells["rater"].strip()), []).append(row)
    ratings, marks = [], _Marks()
    for (item, system, rater), own in grouped.items():
        if _differs(own):
            marks.differ.append(own[0].line)
        spans = [span for row in own for span in _spans(row, marks, findings)]
        doc = own[0].cells["doc"].strip()
        pair = found["pair"] if (found := _PAIR.search(doc)) else ""
        ratings.append(
            Rating(
                item,
                score_of(spans),
                system,
                rater=rater,
                language=target_language(pair),
                labels={"document": doc} | ({LABEL_PAIR: pair} if pair else {}),
                spans=tuple(spans),
            )
        )
    _note_marks(marks, findings)
    return ratings


def _note_marks(marks: _Marks, findings: FileFindings) -> None:
    if marks.unmarked:
        findings.notes.append(
            f"{marks.unmarked} errors mark no text: they count in the scores, but their spans are empty"
        )
    if marks.unclear:
        findings.notes.append(
            f"{len(marks.unclear)} marks do not pair ({_lines(marks.unclear)}): an open mark ends at the end of the "
            "text, other unpaired marks are ignored"
        )
    if marks.differ:
        findings.notes.append(
            f"{len(marks.differ)} ratings have rows with different texts ({_lines(marks.differ)}): spans count the "
            "characters of their own row's text"
        )


def _lines(lines: Sequence[int]) -> str:
    more = "" if len(lines) <= MOST_NAMED else f" and {len(lines) - MOST_NAMED} more"
    return f"lines {', '.join(map(str, lines[:MOST_NAMED]))}{more}"


def _differs(rows: Sequence[TabRow]) -> bool:
    """Whether the rows of one rating have different texts, apart from marks."""
    return len({_MARK.sub("", row.cells["target"]) for row in rows}) > 1


def _spans(row: TabRow, found: _Marks, findings: FileFindings) -> list[ErrorSpan]:
    """The error of a row as spans, one for each mark; the first has the weight."""
    category, severity = row.cells["category"].strip(), row.cells["severity"].strip()
    if is_no_error(category, severity):
        return []
    weight = weight_of(category, severity)
    if weight is None or name_of(category) is None:
        what = f'severity "{shown(severity)}" with category "{shown(category)}"'
        findings.problems.append(
            f"line {row.line}: {what} has no weight; expected severity major, minor, neutral or critical"
        )
        return []
    marks = [
        (start, end, side == "source")
        for side in ("target", "source")
        for start, end in _marked(row.cells[side], row.line, found.unclear)
    ]
    if not marks:
        whole = len(row.cells["target"]) if is_non_translation(category) else 0
        found.unmarked += whole == 0
        marks = [(0, whole, False)]
    return [
        ErrorSpan(start, end, severity.lower(), category, weight if first == 0 else 0.0, in_source)
        for first, (start, end, in_source) in enumerate(marks)
    ]


def _marked(text: str, line: int, unclear: list[int]) -> list[tuple[int, int]]:
    """Start and end of every mark, in characters of the text without marks.

    Published files have a few marks that do not pair: an open one ends at the end of the text, others are ignored.
    Their lines are added to `unclear`.
    """
    spans: list[tuple[int, int]] = []
    start: int | None = None
    removed = 0
    for mark in _MARK.finditer(text):
        at = mark.start() - removed
        removed += len(mark.group())
        if (mark.group() == "<v>") != (start is None):
            unclear.append(line)
        elif start is None:
            start = at
        else:
            spans.append((start, at))
            start = None
    if start is not None:
        unclear.append(line)
        spans.append((start, len(text) - removed))
    return spans


HEADER = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NO_ERROR = ("No-error", "no-error")
NO_DOCUMENT = "document"
_BROKEN = regex.compile(r"[\t\r\n]|</?v>")


@dataclass
class _Rows:
    """The rows of a file while it is written."""

    rows: list[tuple[str, ...]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    numbers: dict[str, dict[str, int]] = field(default_factory=dict)
    """Document -> item -> its number in the document."""


def write_mqm(texts: Iterable[RatedText]) -> bytes:
    """Write one row for each error, and one for a text without errors; ratings without marked errors are left out.

    InputError names item and system if the format cannot store a rating: texts with tabs, line breaks or <v>, texts at
    several levels, errors in an unknown source, weights other than MQM's.
    """
    out = _Rows()
    texts = [text for text in texts if any(one.spans is not None for one in text.ratings)]
    out.problems += several_texts(texts, "MQM's TSV")
    for text in texts:
        for rating in text.ratings:
            if rating.spans is not None:
                _add(text, rating, rating.spans, out)
    if not out.rows and not out.problems:
        out.problems.append("no rating has marked errors")
    if out.problems:
        raise InputError("The ratings cannot be written in the format of MQM", out.problems)
    table = [HEADER, *out.rows]
    if taken_for_quoted([(0, row) for row in table]):
        table = [tuple(_quoted(cell) for cell in row) for row in table]
    return "".join("\t".join(row) + "\n" for row in table).encode()


def several_texts(texts: Sequence[RatedText], form: str) -> list[str]:
    """A problem if an item and system has several marked texts, in a list: the format cannot distinguish them.

    texts: the texts to write. form: the format's name, for the message.
    """
    counts = Counter((one.output.item_id, one.output.system) for one in texts)
    several = [key for key, count in counts.items() if count > 1]
    if not several:
        return []
    item, system = several[0]
    more = f" (and {len(several) - 1:,} more)" if len(several) > 1 else ""
    return [
        f"item {shown(item)}, system {shown(system)}{more}: has several texts, which differ in level, language or labels; "
        f"{form} cannot store these: write the format `rated` instead"
    ]


def _add(text: RatedText, rating: Rating, spans: Sequence[ErrorSpan], out: _Rows) -> None:
    output = text.output
    where = f"item {shown(output.item_id)}, system {shown(output.system)}"
    source = output.source or ""
    cells = {"text": output.text, "source": source, "system": output.system, "item": output.item_id}
    cells |= {"rater": rating.rater or MERGED}
    if bad := [name for name, cell in cells.items() if _BROKEN.search(cell)]:
        out.problems.append(
            f"{where}: {', '.join(bad)} contains a tab, a line break or <v>, which MQM's format reserves"
        )
        return
    document, pair = output.labels.get("document", NO_DOCUMENT), output.labels.get(LABEL_PAIR, "")
    document += f":{pair}" if pair and not document.endswith(f":{pair}") else ""
    numbers = out.numbers.setdefault(document, {})
    number = numbers.setdefault(output.item_id, len(numbers) + 1)
    about = (output.system, document, str(number), output.item_id, rating.rater or MERGED)
    if not spans:
        out.rows.append((*about, source, output.text, *NO_ERROR))
    for error in _errors(spans):
        problem = _problem(error, text)
        if problem:
            out.problems.append(f"{where}: {problem}")
            continue
        marked_source = _mark_spans(source, [span for span in error if span.in_source])
        marked_text = _mark_spans(output.text, [span for span in error if not span.in_source])
        out.rows.append((*about, marked_source, marked_text, error[0].category, error[0].severity))


def _errors(spans: Sequence[ErrorSpan]) -> list[list[ErrorSpan]]:
    """Spans grouped by error: a span with weight 0 where its severity has a weight continues the previous error."""
    errors: list[list[ErrorSpan]] = []
    for span in spans:
        like = errors[-1][0] if errors else None
        goes_on = (
            like is not None
            and span.weight == 0
            and (weight_of(span.category, span.severity) or 0) > 0
            and (span.severity, span.category) == (like.severity, like.category)
        )
        if goes_on:
            errors[-1].append(span)
        else:
            errors.append([span])
    return errors


def _problem(error: Sequence[ErrorSpan], text: RatedText) -> str:
    """Why an error cannot be written; empty if it can."""
    first = error[0]
    weight = weight_of(first.category, first.severity)
    if weight is None:
        return f'severity "{shown(first.severity)}" has no weight in MQM'
    if first.weight is not None and first.weight != weight:
        return f"an error has weight {first.weight:g}, in MQM {weight:g}; the format cannot store weights"
    if _BROKEN.search(first.category) or _BROKEN.search(first.severity):
        return f"category {shown(first.category)} contains a tab, a line break or <v>"
    if first.severity != first.severity.lower() or first.category != first.category.strip():
        return f"severity {shown(first.severity)} or category {shown(first.category)} would change when read back"
    for span in error:
        marked = text.output.source if span.in_source else text.output.text
        if marked is None:
            return "an error is marked in the source, but the source is unknown"
        if not 0 <= span.start <= span.end <= len(marked):
            return f"an error from {span.start} to {span.end} is outside its text"
    for side in (False, True):
        own = [span for span in error if span.in_source == side]
        if any(after.start < before.end for before, after in pairwise(own)):
            return "the parts of an error overlap"
    return ""


def _mark_spans(text: str, spans: Sequence[ErrorSpan]) -> str:
    """The text with marks around the spans, which are in order and do not overlap."""
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], "<v>", text[span.start : span.end], "</v>"]
        at = span.end
    return "".join([*parts, text[at:]])


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell
