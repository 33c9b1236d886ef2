"""What generation made, as files, and read again."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.generation import (
    LONG_COLUMNS,
    META_JUDGE_KEYS,
    RUN_LABELS,
    GeneratedText,
    long_csv,
    long_jsonl,
    meta_judge_jsonl,
    output_id,
)
from core.formats.study.files import read_dataset
from core.schema.study import Item, Material
from core.tables.writer import csv_bytes

FORMATS = Path(__file__).parents[2] / "docs" / "formats.md"
MATERIALS = [
    Material(Item("q1", 'Why, "q1"?', "So; it is.\nYes.", "en"), None, "A passage."),
    Material(Item("q2", "Чому?", "Бо так.", "uk")),
]
HARMFUL = ["=1+1", "+1", "-179 °C", "@x", '=HYPERLINK("http://outside.invalid")', "＝1+1", "\u200b=1"]


def texts(source: str = "tiny") -> list[GeneratedText]:
    return [
        GeneratedText(
            m.item.item_id, str(level), source, f"{source} of {m.item.item_id}, level {level}", "llm"
        )
        for m in MATERIALS
        for level in (0, 3)
    ]


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_a_row_holds_everything_about_a_level() -> None:
    made = [
        GeneratedText("q1", "0", "tiny", "Yes.", "verbatim"),
        GeneratedText("q2", "3", "tiny", None, "", "script: It is."),
    ]
    first, second = rows_of(long_csv(MATERIALS, made))
    assert tuple(first) == LONG_COLUMNS
    assert first == {
        "item_id": "q1",
        "question": 'Why, "q1"?',
        "reference": "So; it is.\nYes.",
        "language": "en",
        "level": "0",
        "source": "tiny",
        "text": "Yes.",
        "context": "A passage.",
        "origin": "verbatim",
        "reason": "",
    }
    assert (second["text"], second["context"], second["reason"]) == ("", "", "script: It is.")
    line = json.loads(long_jsonl(MATERIALS, made).splitlines()[1])
    assert tuple(line) == LONG_COLUMNS
    assert (line["text"], line["context"], line["origin"], line["reason"]) == (
        None,
        None,
        None,
        "script: It is.",
    )


@pytest.mark.parametrize("write", [long_csv, long_jsonl])
def test_with_two_sources_it_is_a_data_set(write: object) -> None:
    made = [*texts("tiny"), *texts("rules")]
    data = write(MATERIALS, made)  # type: ignore[operator]
    found = read_dataset(data, "upload")
    assert (found.sources, found.levels) == (("tiny", "rules"), ("0", "3"))
    assert found.items == tuple(material.item for material in MATERIALS)
    assert {(o.item_id, o.level, o.source, o.text) for o in found.outputs} == {
        (one.item_id, one.level, one.source, one.text) for one in made
    }
    assert found.notes == ("columns not used: context, origin, reason",)


@pytest.mark.parametrize("text", HARMFUL)
def test_no_cell_is_a_formula_and_no_line_is_changed(text: str) -> None:
    harmful = [Material(Item("q", text, text), None, text)]
    made = [GeneratedText("q", "0", "tiny", text)]
    (row,) = rows_of(long_csv(harmful, made))
    assert {row[name] for name in ("question", "reference", "text", "context")} == {"'" + text}
    line = json.loads(long_jsonl(harmful, made))
    assert {line[name] for name in ("question", "reference", "text", "context")} == {text}


def test_meta_judges_lines_are_one_a_damaged_text() -> None:
    made = [*texts(), GeneratedText("q1", "5", "tiny", None, "", "cut off")]
    lines = [json.loads(line) for line in meta_judge_jsonl(MATERIALS, made).splitlines()]
    assert [line["id"] for line in lines] == ["q1_level0", "q1_level3", "q2_level0", "q2_level3"]
    assert tuple(lines[0]) == META_JUDGE_KEYS
    assert lines[1] == {
        "id": output_id("q1", "3"),
        "item_id": "q1",
        "question": 'Why, "q1"?',
        "context": "A passage.",
        "reference": "So; it is.\nYes.",
        "damage_level": 3,
        "text": "tiny of q1, level 3",
        "language": "en",
        "source": "tiny",
    }


def test_a_level_that_is_no_damage_is_refused() -> None:
    with pytest.raises(InputError, match="Level A1 is not a damage level"):
        meta_judge_jsonl(MATERIALS, [GeneratedText("q1", "A1", "tiny", "x")])


def test_a_text_without_its_question_is_refused() -> None:
    with pytest.raises(InputError, match="Question q9"):
        long_csv(MATERIALS, [GeneratedText("q9", "0", "tiny", "x")])


def first_cells(heading: str) -> tuple[str, ...]:
    section = FORMATS.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
    return tuple(re.findall(r"`([^`]+)`", "\n".join(cells)))


def test_columns_are_documented_in_their_order() -> None:
    assert first_cells("Generated answers out: CSV and JSONL") == (*LONG_COLUMNS, *RUN_LABELS)
    assert first_cells("Damaged texts out: Meta-Judge's JSONL") == META_JUDGE_KEYS


@pytest.mark.parametrize(
    "text", ["-179 °C", "=1+1", "'=1+1", "''-x", "'quoted' word", "+ and -", "@you", "plain"]
)
def test_a_text_goes_through_csv_unchanged_although_no_spreadsheet_would_run_it(text: str) -> None:
    columns = ("item_id", "question", "reference", "level", "source", "text")
    rows = [
        dict(zip(columns, ("q", "Why?", "So.", "A0", source, text), strict=True)) for source in ("a", "b")
    ]
    data = csv_bytes(columns, rows)
    assert b"," + text.encode() not in data or not text.lstrip("'").startswith(("-", "=", "+", "@"))
    assert {output.text for output in read_dataset(data, "out.csv").outputs} == {text}
