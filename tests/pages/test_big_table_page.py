"""The page Metrics with a run over a big table: estimates, intervals by a button, texts page by page."""

from pathlib import Path
from typing import Any

import pytest
from helpers.pages.generate_visit import field, said
from helpers.pages.metrics_visit import visit
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.big_tables import METRICS, big_run, scored_table
from streamlit.testing.v1 import AppTest

import assay
from core.cli import main
from core.results.big_tables.estimates import estimates
from core.runs.path import saved_run
from core.runs.tables.opened import big_table
from core.schema.runs import Run
from core.schema.scores import ScoreTable
from core.store import Store
from pages.metrics import scored_texts
from pages.metrics.big_table import NOT_HERE

pytestmark = pytest.mark.usefixtures("cookies")


@pytest.fixture(scope="module")
def ordinary() -> ScoreTable:
    return scored_table()


@pytest.fixture
def run(store: Store, ordinary: ScoreTable) -> Run:
    return big_run(store, ordinary)


def opened(run: Run, part: str) -> AppTest:
    at = AppTest.from_function(_page, default_timeout=60)
    at.session_state["metrics_scores_chosen"] = ("run", run.run_id)
    at.session_state["metrics_part_table"] = part
    at.run()
    assert not at.exception
    return at


def _page() -> None:
    from pages import metrics

    metrics.render()


def frame(at: AppTest, column: str) -> Any:
    return next(one.value for one in at.dataframe if column in one.value.columns)


def test_a_big_table_is_chosen_like_other_runs(store: Store, run: Run) -> None:
    at = visit()
    assert any(f"Run {run.run_id} (done)" in option for option in field(at, "Scores").options)
    assert [tab.label for tab in at.tabs][:3] == ["Progress", "Estimates", "Texts"]
    assert not at.error


def test_estimates_are_those_of_core(store: Store, run: Run) -> None:
    at = opened(run, "Estimates")
    found = estimates(big_table(saved_run(store, run)))
    shown = frame(at, "Spearman")
    assert shown["metric"].tolist() == list(METRICS)
    expected = [one.by_method["spearman"].estimate for one in found.correlations]
    assert shown["Spearman"].tolist() == pytest.approx(expected)
    assert "rouge-l has the highest Spearman correlation" in said(at)
    groups = next(table.value for table in at.table if "system" in table.value.columns)
    assert len(groups) == 10 * len(METRICS)


def test_costs_name_equal_texts_not_a_cache_that_is_not_used(run: Run) -> None:
    shown = said(opened(run, "Progress"))
    assert "From the cache" not in shown
    assert "Texts from the cache" not in shown


def test_intervals_are_an_option(run: Run) -> None:
    at = opened(run, "Estimates")
    assert not [one for one in at.dataframe if "Pearson, interval" in one.value.columns]
    at.number_input(key="table_n_resamples").set_value(50)
    at.checkbox(key="table_intervals").check().run()
    assert not at.exception
    assert frame(at, "Pearson, interval")["Pearson, interval"].str.startswith("[").all()


def test_the_form_offers_the_columns_and_metrics_of_the_table(run: Run) -> None:
    at = opened(run, "Estimates")
    assert {"level", "system", "domain"} <= set(field(at, "By").options)
    assert field(at, "Metrics").options == list(METRICS)
    field(at, "By").set_value(["level"]).run()
    assert not at.exception
    assert "system" not in {name for table in at.table for name in table.value.columns}


def test_texts_are_paged_filtered_and_sorted(run: Run, ordinary: ScoreTable) -> None:
    at = opened(run, "Texts")
    assert frame(at, "text")["row"].tolist() == list(range(scored_texts.PER_PAGE))
    number = next(one for one in at.number_input if one.label.startswith("Page of 8"))
    number.set_value(8).run()
    assert frame(at, "text")["row"].tolist() == list(range(350, 400))
    field(at, "Level").set_value("A3").run()
    rows = frame(at, "text")
    assert (rows["level"] == "A3").all()
    assert rows["row"].tolist()[0] < 350, "other filters begin at the first page"
    field(at, "Order by").set_value("ter").run()
    assert frame(at, "text")["ter"].dropna().is_monotonic_increasing
    assert "All 80 texts, all metrics (CSV)" in [one.label for one in at.get("download_button")]
    at.text_input(key="big_table_item").set_value("q00007").run()
    assert set(frame(at, "text")["item"]) == {"q00007"}
    at.text_input(key="big_table_item").set_value("nothing").run()
    assert not at.exception
    assert "no text matches" in said(at)


def test_a_pressed_row_shows_its_text_whole(run: Run) -> None:
    at = opened(run, "Texts")
    assert "reference of q00000" not in said(at)
    at.session_state["big_table_text"] = 3
    at.run()
    assert not at.exception
    assert "text 3 of pipeline" in said(at) or any("text 3 of" in one.value for one in at.get("html"))


@pytest.mark.parametrize("part", list(NOT_HERE))
def test_other_tabs_say_what_to_do(run: Run, part: str) -> None:
    assert f"runs write {run.run_id}" in said(opened(run, part))


def test_a_run_that_is_not_complete_says_so(store: Store, ordinary: ScoreTable) -> None:
    half = big_run(store, ordinary, n_finished=2)
    assert "128 of 400 rows are scored" in said(opened(half, "Estimates"))
    none = big_run(store, ordinary, n_finished=0)
    for part in ("Estimates", "Texts"):
        assert "no text has a score yet" in said(opened(none, part))


def test_a_missing_folder_is_one_sentence(store: Store, run: Run) -> None:
    for file in store.path.with_name("assay.db.d").glob("run-*/scores-000002.parquet"):
        file.unlink()
    at = opened(run, "Estimates")
    assert "scores-000002.parquet is missing" in at.error[0].value.replace("\\", "")


def test_page_command_and_function_have_the_same_tables(
    run: Run, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Digit by digit, at the command's defaults, and with the JSON keys that it has had from the start."""
    monkeypatch.setenv("ASSAY_DB", str(store.path))
    taken = tables_taken(monkeypatch)
    opened(run, "Estimates")
    found, out = assay.table(run.run_id), tmp_path / "out.csv"
    for name in ("correlations", "means"):
        assert main(["runs", "table", f"run:{run.run_id}", "--table", name, "--out", str(out)]) == 0
        assert as_csv(taken)[name] == out.read_bytes()
        found[name].write(tmp_path / "own.csv")
        assert (tmp_path / "own.csv").read_bytes() == out.read_bytes()
    assert {*found.json} == {"rows", "by", "correlations", "means", "n_resamples", "notes"}
    of_metric = {"name", "family", "signature", "direction", "n", "n_left_out", "constant"}
    assert {*found.json["correlations"][0]} == of_metric | {"pearson", "spearman", "kendall"}
    of_group = {"metric", "group", "n", "n_left_out", "mean", "sd", "undefined"}
    assert {*found.json["means"][0]} == of_group
    number = {"estimate", "low", "high", "reason", "interval_reason"}
    assert {*found.json["means"][0]["mean"]} == {*found.json["correlations"][0]["kendall"]} == number
