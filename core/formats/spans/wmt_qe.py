"""Error spans in the format of WMT's shared tasks on quality estimation (WMT23, task 2): one row a text."""

from collections import Counter
from collections.abc import Iterable, Sequence

import regex

from core.errors import InputError, Problems
from core.formats import Format
from core.formats.spans.cells import weighted_span
from core.formats.spans.mqm import WEIGHTS, TabRow, several_texts, tab_rows
from core.formats.spans.rows import NO_CATEGORY, ReadRating
from core.schema.scores import ErrorSpan, RatedText, Rating, score_of
from core.tables.columns import LABEL_PAIR, named_columns, target_language
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import name_of, name_problem, reject, shown

COLUMNS = {
    "pair": ("lp", "language_pair"),
    "rater": ("annotator_id", "rater", "gold", "method", "annotator"),
    "segment": ("seg_id", "sid", "segment_id", "segment"),
    "document": ("doc_id", "doc"),
    "system": ("mt_system", "system_id", "system", "mt_model"),
    "source": ("source", "source_segment"),
    "target": ("target", "mt", "hypothesis_segment"),
    "starts": ("start_ids", "start_id", "start_indices"),
    "ends": ("end_ids", "end_id", "end_indices"),
    "errors": ("errors", "error", "error_types", "severity"),
}
"""Assay's name -> the names in the different releases, in lower case."""
NEEDED = ("segment", "starts", "ends", "errors")
UNNAMED = ("pair", "rater", "segment", "target", "starts", "ends", "errors")
"""The cells of a submission, which has no header."""
NO_ERROR = ("no-error", "no error", "none", "")
MISSING = "missing"
"""In later years, in place of a start: the error is that something is missing."""
HEADER = (
    "mt_system",
    "doc_id",
    "seg_id",
    "annotator_id",
    "source",
    "target",
    "start_ids",
    "end_ids",
    "errors",
)
_COUNT = regex.compile(r"\s*-?[0-9.]+\s*")
_OFFSETS = regex.compile(r"\s*(-1|missing|[0-9]+)(\s+(-1|missing|[0-9]+))*\s*")


def _sniff(data: bytes, file_name: str) -> bool:
    """Whether a file has the format, by its header or by the cells of its first row."""
    lines = [line for line in data.decode("utf-8-sig", "replace").split("\n") if line.strip()]
    if not lines:
        return False
    header = [cell.strip() for cell in lines[0].split("\t")]
    if set(NEEDED) <= set(named_columns(header, COLUMNS).values()):
        return True
    rows = [line.split("\t") for line in lines[:4] if not _COUNT.fullmatch(line)]
    return bool(rows) and _is_unnamed(rows[0])


def _read_wmt_qe(data: bytes, findings: FileFindings, left_out: Counter[str]) -> list[ReadRating]:
    """Read one rating from each row; add problems to the findings. The score is minus the severities' MQM weights.

    In submissions the method is the rater. Items are segment numbers, or DOCUMENT:NUMBER if numbers alone are ambiguous.
    """
    rows = _rows(decode(data, findings.file_name), findings)
    named = [(row, name_of(row.cells["segment"])) for row in rows]
    findings.problems += [
        f"line {row.line}: segment {name_problem(row.cells['segment'])}"
        for row, name in named
        if name is None
    ]
    keys = [tuple(row.cells.get(name, "") for name in ("segment", "system", "rater", "pair")) for row in rows]
    by_document = len(set(keys)) < len(keys) and all(row.cells.get("document") for row in rows)
    if by_document:
        findings.notes.append("items are DOCUMENT:NUMBER, because several texts have the same number")
    found, seen = [], dict[tuple[object, ...], int]()
    for row, name in named:
        if name is None:
            continue
        item = f"{row.cells['document'].strip()}:{name}" if by_document else name
        read = _read(row, item, findings)
        if read is None:
            continue
        key = (item, read.rating.system, read.rating.rater, read.rating.labels.get(LABEL_PAIR))
        first = seen.setdefault(key, row.line)
        if first != row.line:
            findings.problems.append(f"line {row.line}: the same text and rater as in line {first}")
        found.append(read)
    return found


FORMAT = Format(
    "wmt_qe",
    "marked errors (WMT-QE), whose weights are already deductions",
    _sniff,
    {"spans": _read_wmt_qe},
)


def write_wmt_qe(texts: Iterable[RatedText]) -> bytes:
    """Write one row for each text and rater with marked errors; `registry.read_spans` reads the spans back.

    The format cannot store categories, levels, scores, labels or errors in the source: these are left out. Raises
    InputError if a text or name contains a tab or line break, a severity contains a space, or an item and system has
    several marked texts.
    """
    texts = [text for text in texts if any(one.spans is not None for one in text.ratings)]
    lines, problems = ["\t".join(HEADER)], Problems(several_texts(texts, "WMT-QE"))
    for text in texts:
        for rating in text.ratings:
            if rating.spans is None:
                continue
            spans = [span for span in rating.spans if not span.in_source]
            cells = [
                text.output.system,
                text.output.labels.get("document", ""),
                text.output.item_id,
                rating.rater or "",
                text.output.source or "",
                text.output.text,
                " ".join(str(span.start) for span in spans) or "-1",
                " ".join(str(span.end) for span in spans) or "-1",
                " ".join(span.severity for span in spans) or "no-error",
            ]
            where = f"item {shown(text.output.item_id)}, system {shown(text.output.system)}"
            problems += [
                f"{where}: {name} contains a tab or a line break"
                for name, cell in zip(HEADER, cells, strict=True)
                if regex.search(r"[\t\n\r]", cell)
            ]
            problems += [
                f'{where}: severity "{shown(span.severity)}" contains a space'
                for span in spans
                if regex.search(r"\s", span.severity)
            ]
            lines.append("\t".join(cells))
    if problems:
        raise InputError("The texts cannot be written in the format of WMT-QE", problems)
    return "".join(f"{line}\n" for line in lines).encode()


def _is_unnamed(cells: Sequence[str]) -> bool:
    return (
        len(cells) >= len(UNNAMED)
        and _OFFSETS.fullmatch(cells[4]) is not None
        and _OFFSETS.fullmatch(cells[5]) is not None
    )


def _rows(text: str, findings: FileFindings) -> list[TabRow]:
    lines = [
        (number, line.removesuffix("\r").split("\t"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    columns = named_columns([cell.strip() for cell in lines[0][1]], COLUMNS) if lines else {}
    if set(NEEDED) <= set(columns.values()):
        header = [cell.strip() for cell in lines[0][1]]
        at = {name: header.index(written) for written, name in columns.items()}
        lines = lines[1:]
    else:
        at = {name: place for place, name in enumerate(UNNAMED)}
        heading = 0
        while heading < min(3, len(lines)) and _COUNT.fullmatch("\t".join(lines[heading][1])):
            heading += 1
        lines = lines[heading:]
    rows = tab_rows(lines, at, findings)
    if not rows and not findings.problems:
        reject(findings.file_name, ["file: contains no rated text; at least one is needed"])
    return rows


def _read(row: TabRow, item: str, findings: FileFindings) -> ReadRating | None:
    known = findings.problems.n
    where = f"line {row.line}"
    names = {name: row.cells.get(name, "").strip() for name in ("system", "rater", "pair", "document")}
    findings.problems += [
        f"{where}: {name} {name_problem(value)}"
        for name, value in names.items()
        if value and name_of(value) is None
    ]
    spans = _spans(row, findings)
    if findings.problems.n > known:
        return None
    labels = {"document": names["document"], LABEL_PAIR: names["pair"]}
    rating = Rating(
        item,
        score_of(spans),
        names["system"] or None,
        rater=names["rater"] or None,
        language=target_language(names["pair"]),
        labels={name: value for name, value in labels.items() if value},
        spans=tuple(spans),
    )
    target, source = row.cells.get("target"), row.cells.get("source")
    starts = row.cells["starts"].split()[: len(spans)]
    missing = frozenset(number for number, start in enumerate(starts) if start == MISSING)
    return ReadRating(rating, where, (), _unquoted(target), _unquoted(source), missing)


def _spans(row: TabRow, findings: FileFindings) -> list[ErrorSpan]:
    starts, ends = row.cells["starts"].split(), row.cells["ends"].split()
    errors = row.cells["errors"].split()
    if row.cells["errors"].strip().lower() in NO_ERROR and set(starts) | set(ends) <= {"-1"}:
        return []
    where = f"line {row.line}"
    if not len(starts) == len(ends) == len(errors):
        findings.problems.append(
            f"{where}: {len(starts)} starts, {len(ends)} ends and {len(errors)} errors; expected the same number"
        )
        return []
    spans = []
    for number, (start, end, severity) in enumerate(zip(starts, ends, errors, strict=True), start=1):
        span = _span(start, end, severity.lower())
        if isinstance(span, str):
            findings.problems.append(f"{where}, span {number}: {span}")
        else:
            spans.append(weighted_span(span))
    return spans


def _span(start: str, end: str, severity: str) -> ErrorSpan | str:
    """The span, or the problem with it."""
    if severity not in WEIGHTS:
        return f'severity "{shown(severity)}" is unknown; expected {", ".join(WEIGHTS)}'
    if start == MISSING:
        return ErrorSpan(0, 0, severity, NO_CATEGORY)
    offsets = [int(one) if one.isascii() and one.isdigit() and len(one) < 10 else -1 for one in (start, end)]
    if min(offsets) < 0 or offsets[1] < offsets[0]:
        return f"starts at {shown(start)} and ends at {shown(end)}; expected two whole numbers in order"
    return ErrorSpan(offsets[0], offsets[1], severity, NO_CATEGORY)


def _unquoted(cell: str | None) -> str | None:
    """A cell's text without a spreadsheet's quotation marks around it: spans do not count them."""
    if cell is not None and regex.fullmatch(r'"(?:[^"]|"")*+"', cell) and '""' in cell:
        return cell[1:-1].replace('""', '"')
    return cell
