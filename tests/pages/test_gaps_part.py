"""The part of the page Check with the texts on which people and judge differ most."""

import pytest
from helpers.pages.generate_visit import field, said
from helpers.pages.tables_taken import tables_taken
from streamlit.testing.v1 import AppTest

FILE = b"""id,system,question,answer,anna,ben,x,y,x_reason
q1,s,What?,A <b>mill</b>.,1,2,5,1,It *is* a mill.
q2,s,Where?,In Delft.,4,5,4,5,The right city.
q3,t,When?,In 1700.,5,5,2,5,Off by a century.
q4,t,Who?,Jan.,,,2,5,
"""


def part(text: bool = True, judges: tuple[str, ...] = ("x", "y")) -> None:
    from core.formats.panel import read_panel
    from core.formats.panel.beside import texts_in
    from pages.tabs.checked.gaps import show_gaps
    from tests.pages.test_gaps_part import FILE

    panel = read_panel(FILE, "file.csv", human=["anna", "ben"], judges=list(judges))
    show_gaps(panel, lambda: texts_in(FILE, "file.csv") if text else ())


def visit(**given: object) -> AppTest:
    at = AppTest.from_function(part, default_timeout=30, kwargs=given)
    at.run()
    assert not at.exception
    return at


def menu(at: AppTest, label: str) -> list[str]:
    return field(at, label).options  # type: ignore[attr-defined, no-any-return]


def test_the_list_is_sorted_and_filtered() -> None:
    at = visit()
    assert menu(at, "Judge") == ["x", "y"]
    assert [one.split(":")[0] for one in menu(at, "Text, largest gap first")] == ["q1, s", "q3, t", "q2, s"]
    field(at, "Direction").set_value("lower")  # type: ignore[attr-defined]
    at.run()
    assert [one.split(":")[0] for one in menu(at, "Text, largest gap first")] == ["q3, t", "q2, s"]
    field(at, "Texts").set_value("system: s")  # type: ignore[attr-defined]
    at.run()
    assert [one.split(":")[0] for one in menu(at, "Text, largest gap first")] == ["q2, s"]
    field(at, "Judge").set_value("y")  # type: ignore[attr-defined]
    at.run()
    assert not at.exception


def test_a_chosen_text_shows_labels_text_and_reasons_as_they_are() -> None:
    at = visit()
    shown = said(at)
    assert "anna: **1**" in shown
    assert "&lt;b&gt;mill" in shown
    assert "It *is* a mill." in shown


def test_without_texts_labels_alone_are_shown() -> None:
    at = visit(text=False, judges=("x",))
    assert "ben: **2**" in said(at)
    assert "mill" not in said(at)


def many() -> None:
    from core.formats.panel import read_panel
    from pages.tabs.checked.gaps import show_gaps

    lines = [f"q{at},{at % 5},{at % 3}" for at in range(30)]
    show_gaps(read_panel("\n".join(["id,anna,x", *lines]).encode(), "f.csv", human=["anna"], judges=["x"]))


def test_a_page_shows_the_largest_and_the_files_have_all(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tables_taken(monkeypatch)
    at = AppTest.from_function(many, default_timeout=30)
    at.run()
    assert not at.exception
    (shown,) = at.table
    assert len(shown.value) == 20
    assert len(taken["gaps"].rows) == 30
    assert "The first 20 of 30 rows." in said(at)
