"""The notebooks run, and give what is stored in them. After a change on purpose: `python scripts/notebooks.py`."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from test_documents import anchors, links

from scripts.notebooks import FIGURE, FOLDER, PICTURE, comparable, executed

PATHS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three() -> None:
    assert [path.stem for path in PATHS] == ["judge", "metrics", "study-results"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_it_shows(path: Path, tmp_path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    fresh = executed(stored, tmp_path)
    for number, (kept, made) in enumerate(zip(stored.cells, fresh.cells, strict=True)):
        if kept.cell_type == "code":
            found = [comparable(one) for one in made.outputs]
            assert found == [comparable(one) for one in kept.outputs], f"cell {number}: {kept.source[:80]}"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_stored_notebook_is_ready_to_read(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)], "stored from a fresh run"
    assert any(cell.outputs for cell in code)
    for output in (one for cell in code for one in cell.outputs):
        assert output.output_type != "error"
        assert (FIGURE in output.get("data", {})) == (PICTURE in output.get("data", {})), (
            "a figure has a picture"
        )
    text = path.read_text("utf-8")
    assert str(Path.home()) not in text
    assert not re.search(r"(?<![\w.])/(tmp|home|var|root)/|site-packages|Traceback|Warning", text)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_links_lead_to_a_file_and_a_heading(path: Path) -> None:
    cells: Any = nbformat.read(path, as_version=4).cells
    own = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for target in links(own):
        file, _, anchor = target.partition("#")
        there = path.parent / file if file else path
        assert there.exists(), target
        if anchor:
            text = there.read_text("utf-8") if file else own
            # Jupyter keeps capitals and writes hyphens; GitHub's documents have lower case.
            assert anchor in anchors(text) or anchor.lower() in anchors(text), target
    assert re.match(r"# .+\n", own), "it begins with a title"
