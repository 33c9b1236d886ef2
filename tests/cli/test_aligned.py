"""Tables for a terminal that is narrower than they are."""

import io
import sys
from dataclasses import replace

import pytest

from core.cli.shared.giving import number, print_said
from core.schema.result_table import Column, ResultTable

TABLE = ResultTable(
    "some",
    (
        Column("language", names_row=True),
        Column("metric", names_row=True),
        Column("n"),
        Column("pearson", "Pearson"),
        Column("spearman", "Spearman"),
    ),
    (
        ("en", "bleu-4", 12, "0.512 [0.401, 0.611]", "0.5"),
        ("de", "chrf", 7, "0.1", "0.498 [0.4, 0.6]"),
    ),
)


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_a_table_that_is_too_wide_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    print_said([TABLE])
    assert terminal.getvalue().splitlines() == [
        "language  metric  n   Pearson",
        "en        bleu-4  12  0.512 [0.401, 0.611]",
        "de        chrf    7   0.1",
        "",
        "language  metric  Spearman",
        "en        bleu-4  0.5",
        "de        chrf    0.498 [0.4, 0.6]",
    ]


@pytest.mark.parametrize("columns", ["20", "1"])
def test_no_column_is_lost_however_narrow_it_is(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    print_said([TABLE])
    parts = terminal.getvalue().split("\n\n")
    assert [part.splitlines()[0].split()[-1] for part in parts] == ["n", "Pearson", "Spearman"]


def test_a_sentence_breaks_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    print_said(
        [
            "A judge wins against 2 of 3 raters.",
            "",
            replace(TABLE, rows=(), notes=("as they are, not as drawn",)),
        ]
    )
    assert terminal.getvalue().splitlines() == [
        "A judge wins against 2",
        "of 3 raters.",
        "",
        "Note: as they are, not",
        "as drawn",
    ]


def test_a_file_gets_the_whole_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    print_said([TABLE])
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_zero_has_no_minus_before_it() -> None:
    assert [number(-0.0001), number(-0.0), number(-0.0006), number(-0.004, 2)] == [
        "0.000",
        "0.000",
        "-0.001",
        "0.00",
    ]
