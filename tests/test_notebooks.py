"""The notebooks run, and are stored without outputs. After working on one: `python scripts/notebooks.py`."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from test_documents import anchors, links

from scripts.notebooks import FIGURE, FOLDER, executed, stripped

PATHS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three() -> None:
    assert [path.stem for path in PATHS] == ["judge", "metrics", "study-results"]


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_results(path: Path, tmp_path: Path) -> None:
    """Every cell, without a warning; most show something, and one a figure."""
    code = [
        cell
        for cell in executed(nbformat.read(path, as_version=4), tmp_path).cells
        if cell.cell_type == "code"
    ]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    outputs = [output for cell in code for output in cell.outputs]
    assert all(
        output.output_type in ("execute_result", "display_data") or output.name == "stdout"
        for output in outputs
    )
    assert len([cell for cell in code if cell.outputs]) >= len(code) - 2
    assert any(FIGURE in output.get("data", {}) for output in outputs)
    told = "".join(
        output.get("text", "") + "".join(output.get("data", {}).get("text/html", "")) for output in outputs
    )
    assert not re.search(r"site-packages|Traceback|Warning", told)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    """As `python scripts/notebooks.py` writes it."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert {(len(cell.outputs), cell.execution_count) for cell in code} == {(0, None)}
    assert stripped(notebook) == notebook
    assert str(Path.home()) not in path.read_text("utf-8")


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
