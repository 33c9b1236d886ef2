"""An analysis of its options alone, without data and verdict, is at every door."""

import json
from pathlib import Path
from types import ModuleType

import pytest
from helpers.toys.sum_of_options import LONELY
from streamlit.testing.v1 import AppTest

from core.analyses import ANALYSES, Registered
from core.cli import main

NAME = "sum-of-options"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANALYSES, NAME, Registered("helpers.toys.sum_of_options", "what is the sum?"))


def total(capsys: pytest.CaptureFixture[str], *options: str) -> int:
    assert main([NAME, "--json", *options]) == 0
    found: int = json.loads(capsys.readouterr().out)["rows"][0]["total"]
    return found


def test_the_command_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert total(capsys) == 1
    assert total(capsys, "--method", "both", "--with", "5") == 7


def test_the_function_has_no_reserved_word_as_a_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    import analyses_reference

    module = ModuleType("declared")
    exec(analyses_reference.functions(), module.__dict__)
    assert module.sum_of_options(with_=4).json["rows"] == [{"method": "one", "total": 4}]
    assert "Verdicts:" not in analyses_reference.results().partition("\n## Sum\n")[2]


def page() -> None:
    from core.analyses import analysis
    from pages.widgets.analysis import render

    render(analysis("sum-of-options"), list)


@pytest.mark.usefixtures("store", "cookies")
def test_a_folded_option_is_idle_by_one_that_is_not_folded() -> None:
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    assert [one.label for one in at.number_input] == ["First", "Third"]
    at.selectbox(key="sum_of_options_method").set_value("both").run()
    assert [one.label for one in at.number_input] == ["First", "Second", "Third"]


@pytest.mark.usefixtures("store", "cookies")
def test_a_caution_is_a_warning_on_a_page_and_a_sentence_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    at = AppTest.from_function(page, default_timeout=60).run()
    assert [one.value for one in at.warning] == [LONELY]
    at.selectbox(key="sum_of_options_method").set_value("both").run()
    assert not at.warning
    assert main([NAME]) == 0
    assert LONELY in capsys.readouterr().out.splitlines()


def page_with_an_empty_table() -> None:
    from dataclasses import replace

    from core.analyses import analysis
    from pages.widgets.analysis import show_answer

    found = analysis("sum-of-options")
    (table,) = found.tables
    empty = replace(table, name="empty", title="Without rows", rows=lambda _: ())
    show_answer(replace(found, tables=(table, empty)).answer(found.Options()))


@pytest.mark.usefixtures("store", "cookies")
def test_a_table_without_rows_is_not_shown_beside_one_with_rows() -> None:
    at = AppTest.from_function(page_with_an_empty_table).run()
    assert not at.exception
    assert len(at.table) == 1
    assert "Without rows" not in [one.value for one in at.header]
