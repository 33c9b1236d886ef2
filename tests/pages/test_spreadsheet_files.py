"""CSV from a page opens in Excel, and Assay reads it like the file of a command."""

import codecs
import re
from pathlib import Path

import pytest

from core.formats.registry import read_scores
from core.tables.writer import csv_bytes, excel_csv
from pages.widgets.downloads import spreadsheet_file

PAGES = Path(__file__).parents[2] / "pages"


def test_only_csv_gets_the_mark() -> None:
    data = csv_bytes(["item_id", "bleu"], [{"item_id": "Größe", "bleu": 1.5}])
    made = spreadsheet_file("scores.csv", lambda: data)()
    assert made == codecs.BOM_UTF8 + data == excel_csv(made)
    assert spreadsheet_file("scores.jsonl", lambda: data)() == data
    assert read_scores(made, "scores.csv").rows == read_scores(data, "scores.csv").rows


BUTTON = re.compile(r"download_button\((?:[^()]|\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\))*\)")


@pytest.mark.parametrize(
    "path", sorted(path for path in PAGES.rglob("*.py") if "text/csv" in path.read_text("utf-8")), ids=str
)
def test_every_page_with_csv_gives_the_mark(path: Path) -> None:
    text = path.read_text("utf-8")
    buttons = [found.group() for found in BUTTON.finditer(text)]
    assert buttons
    for button in buttons:
        if "text/csv" in button or "kind," in button or "_TYPES" in button:
            assert "spreadsheet_file(" in button or "excel_csv(" in button
