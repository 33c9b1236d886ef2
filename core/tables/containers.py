"""From a file's bytes to its text: the one decision on encoding, workbook, compression and decimal commas.

Every reader gets its text from `decode` and its findings from `findings_of`, so that a table is read alike from every
container. Plain UTF-8 passes through unchanged and costs no more than its decoding.
"""

import codecs
import csv
import datetime
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import IO, Any, TypeVar, overload

import regex

from core.budget import Drawing, OverBudget, bytes_as_text, draw_unpacked, open_zip
from core.tables.columns import CsvReader, Table, csv_lines, delimiter_of, open_records
from core.tables.problems import FileFindings, listed
from core.tables.reading import bad_bytes, drawing_for, reject, sha256_of, shown

_HEAD = 4096
"""First bytes that tell UTF-16 without a mark, and other files, from text."""
GZIP = b"\x1f\x8b"
"""First bytes of a gzip file."""
ZIP = b"PK\x03\x04"
"""First bytes of a zip archive, a workbook among them."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_GZIP_PIECE = 2**16
PARQUET = b"PAR1"
"""First bytes of a Parquet file."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; UTF-32 first, whose little-endian mark begins like that of UTF-16."""
_AS_CSV = "export the table as CSV"
_NO_TABLES: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "a PDF", "use the table that it was made from, as CSV or XLSX"),
    (b"\x89PNG", "a picture (PNG)", "use the table that it shows, as CSV or XLSX"),
    (b"\xff\xd8\xff", "a picture (JPEG)", "use the table that it shows, as CSV or XLSX"),
    (b"GIF8", "a picture (GIF)", "use the table that it shows, as CSV or XLSX"),
    (b"{\\rtf", "a document (RTF)", "save its table as CSV"),
    (b"SQLite format 3\x00", "an SQLite database", _AS_CSV),
    (b"\x93NUMPY", "a NumPy array", "write it as CSV with the names of its columns"),
    (b"\x89HDF", "an HDF5 file", _AS_CSV),
    (b"ARROW1", "an Arrow file", "write it as Parquet or CSV"),
    (b"FEA1", "a Feather file", "write it as Parquet or CSV"),
    (b"BZh", "compressed with bzip2", "unpack it, or compress it with gzip"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it, or compress it with gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard", "unpack it, or compress it with gzip"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it and use the table inside"),
    (b"Rar!", "a RAR archive", "unpack it and use the table inside"),
    (GZIP, "compressed twice with gzip", "unpack it once"),
)
"""First bytes of files that hold no text, what they are, and what to use instead."""
_OFFICE = {
    "word/": ("a Word document", "save its table as CSV or XLSX"),
    "ppt/": ("a presentation", "save its table as CSV or XLSX"),
    "xl/workbook.bin": ("a binary workbook (XLSB)", "save it as XLSX or CSV"),
}
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument."

_SEPARATOR_LINE = re.compile(r"\ufeff?\s*\"?sep=(.)\"?[ \t]*(?=\r\n|\r|\n)", re.IGNORECASE)
"""The first line by which Excel is told the separator."""
_OTHER_MARKS = re.compile(r"[;\t|]")
_DECIMAL = r"[-+]?[0-9]+,[0-9]+"
_SOME_DECIMAL = re.compile(rf'(?:^|[;\t|"])[ ]*{_DECIMAL}[ ]*(?:$|[;\t|"\r\n])', re.MULTILINE)
_DECIMAL_COMMA = re.compile(rf"\s*{_DECIMAL}\s*")
_WITHOUT_COMMA = re.compile(r"\s*[-+]?[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9][0-9]{0,2},[0-9]{3}\s*")
_INDEX = "Unnamed: 0"
"""How pandas names the column of row numbers that it once wrote without a name."""
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
"""Where a cell or a row of a sheet says that it stands."""
_TEXT = re.compile(rb"<(?:\w{1,20}:)?si[\s/>]")
"""Where a text of a workbook's list of texts begins."""
_CELL = re.compile(rb"<(?:\w{1,20}:)?c[\s/>]")
_ROW_OR_CELL = re.compile(rb"<(?:\w{1,20}:)?(?:(row)|c)[\s/>]")
_PIECE = 2**20
_LONGEST_TAG = 4096
"""Bytes of the end of a piece that are read again with the next, so that no tag is cut."""
_BEGINS_AS_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")

_WORD = regex.compile(r"\p{L}++", regex.V1)
_FOREIGN = regex.compile(r"[\p{L}--\p{ASCII}]{3}", regex.V1)
_MOST_FOREIGN = 0.1
"""Largest share of the words with accents that may have three in a row, as text of another alphabet has."""
_SHOWN_WORDS = 3
_NUMBERED = 5
"""Lines of sheets whose names a note lists."""

Findings = TypeVar("Findings", bound=FileFindings)


class Opened(bytes):
    """A file's content in UTF-8, or as Parquet, after its container was opened."""

    notes: tuple[str, ...]
    """What a user should know of the opening."""
    sha256: str
    """Fingerprint of the file as it was given; empty for a file that Assay changed since."""

    def __new__(cls, content: bytes, notes: Iterable[str] = (), sha256: str = "") -> "Opened":
        """Content with the notes on it."""
        made = super().__new__(cls, content)
        made.notes, made.sha256 = tuple(notes), sha256
        return made


def opened(data: bytes, file_name: str) -> bytes:
    """The file's content as UTF-8 text, as Parquet, or unchanged if it is a zip archive of another program.

    Opens gzip, XLSX and XLS; reads UTF-16, UTF-32 and Windows-1252; reads decimal commas where no comma separates cells.
    Lines keep their numbers. Raises InputError for a file that cannot be opened.
    """
    check_content(data, file_name)
    return data if isinstance(data, Opened) or _plain(data) is not None else _opened(bytes(data), file_name)


def check_content(data: bytes, file_name: str) -> None:
    """Raise OverBudget if a file's text would take too much memory, or has too many lines or JSON values."""
    drawing = drawing_for(file_name)
    if not _is_text(data):
        drawing.draw("bytes", len(data), whole=True)
        return
    drawing.draw("bytes", bytes_as_text(data), whole=True)
    n_lines = data.count(b"\n") + data.count(b"\r") if len(data) > drawing.left("values") else 0
    if n_lines > drawing.left("values"):
        drawing.draw("values", n_lines)
    if len(data) > drawing.left("values") and _BEGINS_AS_JSON.match(data):
        drawing.draw_json(data)


def decode(data: bytes, file_name: str) -> str:
    """The file's text, without a byte order mark. Raises InputError if it is empty or holds no text."""
    if isinstance(data, Opened) or not _is_text(data):
        return decode_utf8(opened(data, file_name), file_name)
    check_content(data, file_name)
    text = _plain(data)
    if text is None:
        return decode_utf8(opened(data, file_name), file_name)
    if not text.strip():
        reject(file_name, ["line 1: the file is empty"])
    return text


def decode_utf8(data: bytes, file_name: str) -> str:
    """The text of a file that must be UTF-8, such as a prompt: nobody would read a note on another encoding.

    Raises InputError for other files.
    """
    check_content(data, file_name)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        reject(file_name, ["file: is in UTF-16; save it as UTF-8"])
    _refuse_others(data, file_name)
    text = _utf8(data, file_name)
    if not text.strip():
        reject(file_name, ["line 1: the file is empty"])
    return text


@overload
def findings_of(data: bytes, file_name: str) -> FileFindings: ...
@overload
def findings_of(data: bytes, file_name: str, kind: type[Findings]) -> Findings: ...
def findings_of(data: bytes, file_name: str, kind: type[FileFindings] = FileFindings) -> FileFindings:
    """New findings for a file, with its fingerprint and the notes on its container."""
    content = opened(data, file_name)
    notes = content.notes if isinstance(content, Opened) else ()
    sha256 = content.sha256 if isinstance(content, Opened) else ""
    findings = kind(file_name, sha256 or sha256_of(data))
    findings.notes += notes
    return findings


def changed(content: bytes, before: bytes) -> bytes:
    """Content that Assay made from an opened file, with the notes on that file."""
    return Opened(content, before.notes) if isinstance(before, Opened) else content


def is_plain(head: bytes) -> bool:
    """Whether the beginning of a file, up to the end of a line, is UTF-8 text that needs no opening."""
    return _plain(head) is not None


def is_workbook(data: bytes) -> bool:
    """Whether the file is an Excel workbook (XLSX) or another zip of an office program."""
    if not data.startswith(ZIP):
        return False
    names = _members(data)
    return "[Content_Types].xml" in names or data[30:].startswith(_OPEN_DOCUMENT)


def _is_text(data: bytes) -> bool:
    """Whether a file may be a text, in any encoding."""
    return not data.startswith((ZIP, GZIP, _OLE, PARQUET))


def _plain(data: bytes) -> str | None:
    """The text of UTF-8 bytes that need no opening; None for others."""
    head = data[:_HEAD]
    if head.startswith((ZIP, GZIP, _OLE, PARQUET)) or b"\0" in head or _no_table(head):
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    first = text.lstrip()[:_HEAD].split("\n", 1)[0]
    if first.startswith(("{", "[")):
        return text
    if _SEPARATOR_LINE.match(text) or _INDEX in first:
        return None
    return None if _OTHER_MARKS.search(first) and _SOME_DECIMAL.search(text) else text


@lru_cache(maxsize=2)
def _opened(data: bytes, file_name: str) -> bytes:
    """See `opened`. One file is asked for several times while it is read."""
    notes: list[str] = []
    content = _unpacked(data, file_name) if data.startswith(GZIP) else data
    if content.startswith(PARQUET) or (content.startswith(ZIP) and not is_workbook(content)):
        return data if content is data else Opened(content, (), sha256_of(data))
    if content.startswith((ZIP, _OLE)):
        text = _sheet_text(content, file_name, notes)
    else:
        _refuse_others(content, file_name)
        check_content(content, file_name)
        text = _usual_separator(_text(content, file_name, notes), file_name)
    text = _drop_index(_put_decimal_points(text, file_name, notes), file_name, notes)
    return Opened(text.encode("utf-8", "surrogatepass"), notes, sha256_of(data))


def _unpacked(data: bytes, file_name: str) -> bytes:
    """The content of a gzip file with one or several members."""
    parts, drawing = list[bytes](), drawing_for(file_name)
    unpacker = None
    try:
        # In pieces: what follows a member is copied, and a file may have many members.
        for at in range(0, len(data), _GZIP_PIECE):
            rest = data[at : at + _GZIP_PIECE]
            while rest and (unpacker is not None or (rest := rest.lstrip(b"\0"))):
                if unpacker is None:
                    drawing.draw("members")
                    unpacker = zlib.decompressobj(wbits=31)
                parts.append(unpacker.decompress(rest, drawing.left("bytes") + 1))
                drawing.draw("bytes", len(parts[-1]))
                rest = b""
                if unpacker.eof:
                    rest, unpacker = unpacker.unused_data, None
    except zlib.error as problem:
        reject(file_name, [f"file: not readable as gzip ({problem})"])
    if unpacker is not None:
        reject(file_name, ["file: the gzip file ends too early; copy it again"])
    return b"".join(parts)


def table_rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """The table in a file's bytes; see open_records."""
    return open_records(decode(data, findings.file_name), aliases, findings)


# Encodings


def _text(content: bytes, file_name: str, notes: list[str]) -> str:
    """The text of bytes in whatever encoding they have."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), _silent_utf16(content))
    if encoding:
        try:
            return content.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as problem:
            reject(
                file_name, [f"file: not readable as {encoding.upper()[:6]} ({problem.reason}); copy it again"]
            )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _windows_text(content, file_name, notes)


def _silent_utf16(content: bytes) -> str:
    """The encoding of UTF-16 without a byte order mark: its ASCII characters have a zero in every other byte."""
    head = content[: _HEAD // 2 * 2]
    zeros = [head[0::2].count(0), head[1::2].count(0)]
    if len(content) % 2 or sum(zeros) < len(head) / 20 or min(zeros) > sum(zeros) / 20:
        return ""
    return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"


def _windows_text(content: bytes, file_name: str, notes: list[str]) -> str:
    """The text of bytes in Windows-1252, with a note; refused if it may well be in another encoding."""
    lines = content.split(b"\n")
    if content.startswith(codecs.BOM_UTF8):
        reject(file_name, [bad_bytes(lines)])
    first = 0
    for number, line in enumerate(lines, start=1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            first = first or number
        else:
            reject(
                file_name, [f"{bad_bytes(lines)}. Line {number} is UTF-8, so the file mixes two encodings"]
            )
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        reject(file_name, [bad_bytes(lines)])
    words = list(dict.fromkeys(one[0] for one in _WORD.finditer(text) if not one[0].isascii()))
    if sum(map(bool, map(_FOREIGN.search, words))) > _MOST_FOREIGN * len(words):
        reject(file_name, [bad_bytes(lines)])
    check = f": check {', '.join(map(shown, words[:_SHOWN_WORDS]))}" if words else ""
    notes.append(f"read as Windows-1252, because line {first} is not UTF-8{check}")
    return text


def _utf8(content: bytes, file_name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        reject(file_name, [bad_bytes(content.split(b"\n"))])


# Separators and decimal commas


def _usual_separator(text: str, file_name: str) -> str:
    """CSV text without Excel's line `sep=;`, separated by a mark that `delimiter_of` finds. The line stays, empty."""
    found = _SEPARATOR_LINE.match(text)
    if found is None:
        return text
    rest, mark = text[found.end() :], found[1]
    return rest if delimiter_of(rest) == mark else _rewritten(rest, mark, file_name)


def _rewritten(text: str, mark: str, file_name: str) -> str:
    """The rows with commas between quoted cells, on the same lines."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for cells in CsvReader(csv_lines(text), mark, file_name):
        writer.writerow(cells)
    return buffer.getvalue()


def _rows_of(text: str, mark: str, file_name: str) -> list[list[str]] | None:
    """All rows of CSV text, blank ones too; None if it cannot be read, which its reader reports."""
    rows, drawing = list[list[str]](), drawing_for(file_name)
    try:
        for cells in CsvReader(csv_lines(text), mark, file_name, strict=True):
            drawing.draw("values", len(cells) + 1)
            rows.append(cells)
    except csv.Error:
        return None
    return rows


def _written(rows: Iterable[Sequence[str]], mark: str) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=mark, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _put_decimal_points(text: str, file_name: str, notes: list[str]) -> str:
    """The text with decimal points in the columns of numbers that have decimal commas; never if commas separate cells."""
    start = text.lstrip()
    if start.startswith(("{", "[")) or not _SOME_DECIMAL.search(text):
        return text
    mark = delimiter_of(text)
    rows = None if mark == "," else _rows_of(text, mark, file_name)
    if rows is None:
        return text
    filled = [cells for cells in rows if any(map(str.strip, cells))]
    header, below = filled[0], filled[1:]
    places = [at for at in range(len(header)) if _has_decimal_commas([c[at] for c in below if at < len(c)])]
    if not places:
        return text
    for cells in below:
        for at in places:
            if at < len(cells):
                cells[at] = cells[at].replace(",", ".")
    notes.append(
        f"read decimal commas as points, such as 3,5 as 3.5: {listed([header[at] for at in places])}"
    )
    return _written(rows, mark)


def _has_decimal_commas(cells: Sequence[str]) -> bool:
    """Whether all cells are numbers or empty, some with a decimal comma that cannot separate thousands."""
    with_comma = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    if not with_comma or all(map(_THOUSANDS.fullmatch, with_comma)):
        return False
    return all(_DECIMAL_COMMA.fullmatch(cell) or _WITHOUT_COMMA.fullmatch(cell) for cell in cells)


def _drop_index(text: str, file_name: str, notes: list[str]) -> str:
    """CSV text in which a first column that only numbers the rows, as pandas writes it, has no name."""
    if _INDEX not in text[:_HEAD] or text.lstrip().startswith(("{", "[")):
        return text
    mark = delimiter_of(text)
    rows = _rows_of(text, mark, file_name)
    filled = [cells for cells in rows or () if any(map(str.strip, cells))]
    if rows is None or not filled or filled[0][0].strip() != _INDEX:
        return text
    if [cells[0].strip() for cells in filled[1:]] != [str(number) for number in range(len(filled) - 1)]:
        return text
    notes.append(f"column {_INDEX} is not used: it only numbers the rows")
    filled[0][0] = ""
    return _written(rows, mark)


# Workbooks


def _members(data: bytes) -> frozenset[str]:
    """The names of a zip's members; none if it is damaged or has too many."""
    try:
        with open_zip(data, Drawing("")) as archive:
            return frozenset(archive.namelist())
    except (OverBudget, zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return frozenset()


def _sheet_text(data: bytes, file_name: str, notes: list[str]) -> str:
    """The first sheet with rows as CSV text: the row of the sheet is the line of the text."""
    try:
        import python_calamine as calamine
    except ImportError:
        reject(file_name, ["file: is a workbook, which this environment cannot read; save the sheet as CSV"])
    if data.startswith(ZIP):
        _check_workbook(data, file_name)
    try:
        book = calamine.load_workbook(io.BytesIO(data))
        sheets = [
            (about.name, book.get_sheet_by_name(about.name))
            for about in book.sheets_metadata
            if about.visible is calamine.SheetVisibleEnum.Visible
            and about.typ is calamine.SheetTypeEnum.WorkSheet
        ]
        filled = [(name, sheet) for name, sheet in sheets if sheet.end is not None]
        rows = [[_cell(value) for value in row] for row in _rows_below(filled[0][1])] if filled else []
    except calamine.PasswordError:
        reject(
            file_name, ["file: the workbook has a password; save it without one, or save the sheet as CSV"]
        )
    except (calamine.CalamineError, ValueError, OSError, OverflowError) as problem:
        what = "a workbook" if data.startswith(ZIP) else "an old Office file"
        reject(
            file_name,
            [f"file: is {what} that cannot be read ({shown(str(problem))}); save the sheet as CSV or XLSX"],
        )
    if not any(map(any, rows)):
        reject(file_name, ["file: the workbook has no sheet with rows"])
    if len(filled) > 1:
        others = listed([name for name, _ in filled[1:]])
        notes.append(f"read the sheet {shown(filled[0][0])}; the workbook also has rows in {others}")
    if any("\n" in cell for row in rows for cell in row):
        notes.append("lines in messages count the line breaks inside the cells of the sheet")
    used = [at for at in range(len(rows[0])) if any(row[at] for row in rows)]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        writer.writerow([row[at] for at in used] if any(row) else [])
    return buffer.getvalue()


def _rows_below(sheet: Any) -> Iterator[Sequence[Any]]:
    """The rows of a sheet from its first, so that a row keeps its number."""
    yield from sheet.to_python(skip_empty_area=False)


def _cell(value: Any) -> str:
    """A cell of a workbook as CSV has it."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _check_workbook(data: bytes, file_name: str) -> None:
    """Raise InputError for a zip of another office program, and for a workbook that unpacks to too much."""
    names = _members(data)
    if data[30:].startswith(_OPEN_DOCUMENT):
        reject(file_name, ["file: is an OpenDocument file; save the table as XLSX or CSV"])
    for start, (what, instead) in _OFFICE.items():
        if any(name.startswith(start) for name in names):
            reject(file_name, [f"file: is {what}; {instead}"])
    drawing = drawing_for(file_name)
    try:
        with open_zip(data, drawing) as archive:
            draw_unpacked(archive.infolist(), drawing)
            # Unpacks every member within its stated size: a workbook may lie about it.
            damaged = archive.testzip()
            # Any member may be a sheet, whatever its name is.
            for info in archive.infolist():
                with archive.open(info) as content:
                    n_texts, n_cells = _n_cells(content)
                # The library holds every text once, and the rectangle of each sheet, empty cells too.
                drawing.draw("values", n_texts + n_cells)
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, RuntimeError) as problem:
        reject(file_name, [f"file: is a workbook that cannot be read ({shown(str(problem))})"])
    if damaged is not None:
        reject(file_name, [f"file: is a damaged workbook ({shown(damaged)}); save it again"])


def _n_cells(sheet: IO[bytes]) -> tuple[int, int]:
    """The texts of a workbook's member, and the cells in the rectangle that its cells span from the first."""
    n_texts, n_rows, in_row = 0, 0, 0
    widest, lowest, run, rest = b"A", 1, 0, b""
    while (piece := sheet.read(_PIECE)) or rest:
        last, piece = not piece, rest + piece
        # A tag that may go on in the next piece is left to it.
        end = len(piece) if last else max(piece.rfind(b"<"), len(piece) - _LONGEST_TAG, 0)
        piece, rest = piece[:end], piece[end:]
        places = _PLACE.findall(piece)
        widest = max({column for column, _ in places} | {widest}, key=lambda name: (len(name), name))
        lowest = max({int(row) for _, row in places} | {lowest})
        n_texts += len(_TEXT.findall(piece))
        if sum(bool(column) for column, _ in places) < len(_CELL.findall(piece)):
            for found in _ROW_OR_CELL.finditer(piece):  # a cell without a place follows the one before
                n_rows, in_row = (n_rows + 1, 0) if found[1] else (n_rows, in_row + 1)
                run = max(run, in_row)
        if last:
            break
    at = 0
    for letter in widest:
        at = at * 26 + letter - 64
    return n_texts, (at + run) * (lowest + n_rows)


# Files that hold no table


def _no_table(head: bytes) -> str:
    """What a file is that holds no text, and what to use instead; empty if it may be a text."""
    for start, what, instead in _NO_TABLES:
        if head.startswith(start) and not head.startswith(GZIP):
            return f"is {what}; {instead}"
    if head[257:262] == b"ustar":
        return "is a tar archive; unpack it and use the table inside"
    start = head[:200].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "is a web page; download the table itself, as CSV or XLSX"
    return "is XML; export the table as CSV" if start.startswith(b"<?xml") else ""


def _refuse_others(content: bytes, file_name: str) -> None:
    """Raise InputError for content that is no text, with what it is and what to use."""
    if content.startswith(ZIP):
        reject(file_name, ["file: is a zip archive; unpack it and use the table inside"])
    if content.startswith(GZIP):
        reject(file_name, ["file: is compressed twice with gzip; unpack it once"])
    if content.startswith(PARQUET):
        reject(file_name, ["file: is a Parquet table, which is not read here; use CSV or JSONL"])
    if problem := _no_table(content[:_HEAD]):
        reject(file_name, [f"file: {problem}"])
