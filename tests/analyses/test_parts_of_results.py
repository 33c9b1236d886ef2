"""Columns that data name, keys that some results lack, tables of a part of a result, and those that a user asks for."""

from dataclasses import dataclass, replace

import pytest

from core.report import terminal_lines
from core.schema.analysis import Analysis, Answer, Table, Verdict
from core.schema.result_table import Column
from core.schema.rows import column, columns, columns_of, entry, json_of, row, table_of
from core.schema.settings import Settings, fields_of, setting


@row
class TextRow:
    item: str = column("the item", names_row=True)
    ratings: dict[str, float | None] = columns("a rater's label", general=True, flat=True)
    texts: dict[str, str] = columns("the text, if it is shown", key="", long=True)


@row
class Whole:
    n: int = entry("rows")
    rows: tuple[TextRow, ...] | None = entry("each text", rows=TextRow, optional=True)


ROWS = (TextRow("q1", {"anna b": 1.0, "ben": None}, {}), TextRow("q2", {"anna b": 2.0, "ben": 3.0}, {}))
TABLE = Table("texts", TextRow, lambda found: found.rows, "Texts", notes=lambda found: (f"n {found.n}",))


def test_a_column_for_each_name_in_the_data() -> None:
    table = table_of("texts", TextRow, ROWS, hidden=("ben",), shaped={"item": {"title": "Item"}})
    assert table.columns == (
        Column("item", "Item", names_row=True),
        Column("anna b", "anna b", general=True),
        Column("ben", "ben", general=True, shown=False),
    )
    assert table.rows[1] == ("q2", 2.0, 3.0)
    assert columns_of(TextRow) == (Column("item", names_row=True),)
    assert json_of(ROWS[0]) == {"item": "q1", "anna b": 1.0, "ben": None}


def test_a_key_that_a_result_lacks() -> None:
    assert json_of(Whole(2, None)) == {"n": 2}
    assert len(json_of(Whole(2, ROWS))["rows"]) == 2


def test_long_texts_are_lines_of_a_terminal() -> None:
    rows = [TextRow("q1", {"anna": 1.0}, {"text": "A mill.\nIn Delft."})]
    assert terminal_lines(table_of("texts", TextRow, rows)) == [
        "1. item q1, anna 1",
        "   text: A mill.",
        "   In Delft.",
    ]


@dataclass(frozen=True)
class _Outer:
    whole: Whole | None
    main: str = "texts"


class _Options(Settings):
    most: int | None = setting(None, "Most", "rows", at_least=1, bare=20)
    quoted: bool = setting(False, "Quoted", "whether they are quoted", needs="most")


def _answer(found: _Outer, *tables: Table, **more: object) -> Answer:
    analysis = Analysis(
        *("toy", "Toy", "?", _Options, _Outer, (), lambda options, *, tell: found),
        lambda found: (Verdict("yes", "Yes, it is.", word="YES"),),
        tables,
        *("", "", ""),
        **more,  # type: ignore[arg-type]
    )
    return Answer(analysis, _Options(), found)


def test_a_table_of_a_part_is_there_with_its_part() -> None:
    inner = TABLE.within(lambda found: found.whole)
    with_it = _answer(_Outer(Whole(2, ROWS)), inner).tables["texts"]
    assert (len(with_it.rows), with_it.notes) == (2, ("n 2",))
    assert not _answer(_Outer(None), inner).tables


def test_a_table_on_request_is_nowhere_else() -> None:
    found = _answer(
        _Outer(None), replace(TABLE, rows=lambda _: ROWS, notes=lambda _: (), on_request=lambda _: True)
    )
    assert not found.tables
    table = found.requested("texts")
    assert table is not None
    assert len(table.rows) == 2
    assert found.requested("other") is None


@pytest.mark.parametrize("main", ["texts", "other"])
def test_the_main_table_may_depend_on_the_result(main: str) -> None:
    tables = [
        replace(TABLE, name=name, rows=lambda _: ROWS, notes=lambda _: (), most_printed=0)
        for name in ("texts", "other")
    ]
    found = _answer(_Outer(None, main), *tables, main=lambda found: found.main)
    assert next(iter(found.tables)) == main
    assert [one.name for one in found.printed] == [main]
    assert found.verdict == "YES"


def test_an_option_that_needs_another() -> None:
    assert [one.name for one in _Options(quoted=True).unmet()] == ["quoted"]
    assert not _Options(quoted=True).unmet({"most"})
    assert not _Options(quoted=True, most=3).unmet()
    assert fields_of(_Options)["most"].about.bare == 20
