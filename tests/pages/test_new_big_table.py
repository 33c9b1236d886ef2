"""A new scoring run over a big table: a file on the machine that runs Assay, or an upload with very many rows."""

import json
from pathlib import Path

import pytest
from helpers.pages.generate_visit import field, press, said
from helpers.pages.metrics_visit import visit
from streamlit.testing.v1 import AppTest

from core.schema import big_tables
from core.schema.big_tables import TEXTS_FILE
from core.store import Store
from core.store.beside import run_folder
from core.store.runs import list_runs, run_data
from pages.widgets import run_panel

pytestmark = pytest.mark.usefixtures("cookies")
N_TEXTS = 150


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(big_tables, "BIG_ROWS", 100)
    monkeypatch.setattr(big_tables, "CHUNK_ROWS", 40)
    monkeypatch.setattr(run_panel, "start", lambda run: None)


def texts(n_texts: int = N_TEXTS) -> bytes:
    rows = ({"item_id": f"q{n}", "text": f"text {n}", "reference": "a text"} for n in range(n_texts))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def chosen(way: str) -> AppTest:
    at = visit()
    field(at, "From").set_value(way)  # type: ignore[attr-defined]
    at.run()
    assert not at.exception
    return at


def test_a_file_on_the_machine_becomes_a_big_table(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_bytes(texts())
    at = chosen("path")
    field(at, "File").set_value(str(file))  # type: ignore[attr-defined]
    at.run()
    assert "a big table of more than 100 texts" in said(at)
    press(at, "Score with 16 metrics")
    (run,) = list_runs(store)
    assert (run.kind, run.n_items, run.data_file) == ("table", 4, "texts.jsonl")
    assert (run_folder(store, run.run_id) / TEXTS_FILE).is_file()


def test_a_small_one_an_ordinary_run_and_a_missing_one_is_named(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    at = chosen("path")
    field(at, "File").set_value(str(file))  # type: ignore[attr-defined]
    at.run()
    assert "has no such file" in said(at)
    file.write_bytes(texts(90))
    at.run()
    press(at, "Score with 16 metrics")
    (run,) = list_runs(store)
    assert (run.kind, run_data(store, run.run_id)) == ("scores", texts(90))


def test_an_upload_with_many_rows_becomes_a_big_table(store: Store) -> None:
    at = visit()
    at.session_state["metrics_texts_file"] = (texts(), "texts.jsonl")
    field(at, "From").set_value("file")  # type: ignore[attr-defined]
    at.run()
    assert "a big table of more than 100 texts" in said(at)
    press(at, "Score with 16 metrics")
    (run,) = list_runs(store)
    assert (run.kind, run.n_items) == ("table", 4)


def test_what_is_wrong_with_a_big_table_is_said_when_the_run_starts(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_bytes(texts() + texts(1))
    at = chosen("path")
    field(at, "File").set_value(str(file))  # type: ignore[attr-defined]
    at.run()
    press(at, "Score with 16 metrics")
    assert "the same item, system, level and labels as in line 1" in said(at)
    assert list_runs(store) == []
