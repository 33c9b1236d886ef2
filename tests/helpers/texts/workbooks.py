"""XLSX workbooks made by hand, as small as a reader accepts, so that a test can write any cell."""

import datetime
from collections.abc import Collection, Mapping, Sequence
from xml.sax.saxutils import escape

from helpers.texts.factories import zipped

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
_FIRST_DAY = datetime.date(1899, 12, 30)
_DATE_STYLE = 1
"""Place of the style of dates among the styles."""
Cell = str | bool | int | float | datetime.date | None


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]], hidden: Collection[str] = ()) -> bytes:
    """A workbook with these sheets; None is a cell that is not there."""
    of_book = {"rId0": ("styles", "styles.xml")} | {
        f"rId{at}": ("worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)
    }
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="{at}" r:id="rId{at}"{" state=" + chr(34) + "hidden" + chr(34) if name in hidden else ""}/>'
        for at, name in enumerate(sheets, start=1)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}"/></Types>',
        "_rels/.rels": _relations({"rId1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(of_book),
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    } | {
        f"xl/worksheets/sheet{at}.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{_rows(rows)}</sheetData></worksheet>'
        for at, rows in enumerate(sheets.values(), start=1)
    }
    return zipped(
        {name: f'<?xml version="1.0" encoding="UTF-8"?>{part}'.encode() for name, part in parts.items()}
    )


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    inside = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'


def _rows(rows: Sequence[Sequence[Cell]]) -> str:
    return "".join(
        f'<row r="{number}">{"".join(_cell(f"{chr(65 + at)}{number}", cell) for at, cell in enumerate(cells))}</row>'
        for number, cells in enumerate(rows, start=1)
    )


def _cell(place: str, cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{place}"><v>{cell}</v></c>'
    if isinstance(cell, datetime.date):
        return f'<c r="{place}" s="{_DATE_STYLE}"><v>{(cell - _FIRST_DAY).days}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
