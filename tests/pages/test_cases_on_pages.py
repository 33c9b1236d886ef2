"""Every small input that once failed, on the page that it belongs to: read, or refused in words; never an error of the app."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.store import Store

pytestmark = pytest.mark.usefixtures("cookies")
REFUSED = {"appraise-no-header.csv", "excel-workbook.xlsx", "missing.csv", "outputs-a.json", "outputs-b.json"}
"""Files of pairs that stay as they are: no names, a damaged workbook, a missing row, one system's answers."""


def studies() -> None:
    from pages import studies

    studies.render()


def check() -> None:
    from pages import check

    check.render()


def test_files_of_pairs(store: Store, shared_cases: Path) -> None:
    at = AppTest.from_function(studies, default_timeout=60)
    at.query_params["study"] = "new"
    at.run()
    for path in sorted((shared_cases / "pairs").iterdir()):
        at.file_uploader[0].upload(path.name, path.read_bytes())
        at.run()
        assert not at.exception, path.name
        read = [one.value for one in at.success if "with answers from" in one.value]
        assert bool(read) == (path.name not in REFUSED), path.name


def test_files_of_labels_and_scores(store: Store, shared_cases: Path) -> None:
    at = AppTest.from_function(check, default_timeout=60).run()
    for folder in ("judges", "verdicts", "logs"):
        for path in sorted((shared_cases / folder).iterdir()):
            at.file_uploader[0].upload(path.name, path.read_bytes())
            at.run()
            assert not at.exception, path.name
