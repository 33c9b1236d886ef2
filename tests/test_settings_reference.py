"""docs/settings.md is written from the fields of settings."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest
from helpers.toys.settings import ToyAnalysis, ToySettings

from core.schema.settings import Settings, fields_of, setting

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("settings_reference")


def cells(line: str) -> list[str]:
    return [one.strip() for one in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_the_reference_says_what_the_fields_say(script: ModuleType) -> None:
    """`python scripts/settings_reference.py` would write the very file that is there."""
    assert script.OUT == ROOT / "docs" / "settings.md"
    assert script.OUT.read_text("utf-8") == script.reference(), "run python scripts/settings_reference.py"


def test_every_kind_has_a_section_with_all_its_fields(script: ModuleType) -> None:
    text = script.reference()
    for kind in script.KINDS.values():
        if kind.work == "tables":
            assert kind.Settings is script.KINDS["scores"].Settings
            continue
        section = text.partition(f"\n## {kind.title}\n")[2].partition("\n## ")[0]
        for one in fields_of(kind.Settings).values():
            assert f"| `{one.option}` | `{one.name}` |" in section


def test_a_table_has_a_row_a_field(script: ModuleType) -> None:
    head, line, *rows = script.table(ToySettings).splitlines()
    assert len(cells(head)) == len(cells(line)) == len(script._HEAD)
    found = {row[2].strip("`"): row for row in map(cells, rows)}
    assert list(found) == list(fields_of(ToySettings))
    assert found["tone"] == [
        "Tone",
        "`--tone`",
        "`tone`",
        "kind",
        "`kind` (kindly); `strict` (without mercy)",
        "yes",
        "How it speaks",
    ]
    assert found["rounds"][:6] == [
        "Rounds",
        "`--times`",
        "`rounds`",
        "2 rounds",
        "whole number from 1 to 100 (rounds)",
        "yes",
    ]
    values = {name: (row[3], row[4], row[5]) for name, row in found.items()}
    assert values["weight"] == ("1", "number from 0.001 to 1000", "yes")
    assert values["loud"] == ("off", "on or off", "no")
    assert values["polite"] == ("on", "on or off", "yes")
    assert values["language"] == ("their own tags", "text", "yes")
    assert values["only"] == ("all", "any number of texts", "yes")
    assert values["limit"] == ("none", "whole number from 1 to 50, or none", "yes")
    assert values["free"] == ("0.5", "number", "yes")
    assert values["device"] == ("none", "`cpu`; `cuda`, or none", "yes")
    assert found["checker"][3] == "depends"
    assert found["loud"][6] == "Also with --tone strict"


def test_a_table_states_open_bounds_and_lists(script: ModuleType) -> None:
    _, _, *rows = script.table(ToyAnalysis).splitlines()
    assert {row[2].strip("`"): (row[3], row[4]) for row in map(cells, rows)} == {
        "margin": ("0.1", "number above 0 and at most 1"),
        "epsilon": ("0.2", "number from 0 to below 1"),
        "advantage": ("the observed one", "number above 0 and below 1, or none"),
        "resamples": ("1000", "whole number of at least 1"),
        "items": ("30,50,100,200", "list of whole numbers from 2 to 1000000, separated by commas"),
        "weights": ("none", "list of numbers above 0, separated by commas"),
        "order": ("alphabetical", "list of texts, separated by commas, or none"),
    }


def test_no_text_breaks_its_cell(script: ModuleType) -> None:
    class Hostile(Settings):
        name: str = setting("a|b", "A | *B*", "lexical|neural\nor `code` and <tag>")

    _, _, row = script.table(Hostile).splitlines()
    assert len(cells(row)) == len(script._HEAD)
    assert cells(row)[0] == r"A \| \*B\*"
    assert cells(row)[3] == r"a\|b"
    assert cells(row)[6] == r"Lexical\|neural or \`code\` and \<tag\>"
