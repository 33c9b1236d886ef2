"""The pages Metrics and Judges while a run is at work: estimates follow it, intervals come when it stops or a visitor stops."""

import pytest
from helpers.pages.generate_visit import field, said
from helpers.pages.judges_visit import visit as visit_judges
from helpers.pages.metrics_visit import visit
from helpers.texts.growing_run import N_LEVELS, GrowingRun
from streamlit.testing.v1 import AppTest

from core.results.correlations.table import COMPUTING
from core.schema.runs import RunState
from core.store import Store
from core.store.runs import ask_to_stop
from pages.widgets import chosen_scores

pytestmark = pytest.mark.usefixtures("cookies")
ITEMS = 12


@pytest.fixture
def run(store: Store) -> GrowingRun:
    chosen_scores._works.clear()
    chosen_scores._answers.clear()
    growing = GrowingRun(store, ITEMS)
    growing.grow(ITEMS // 2)
    return growing


def at(run: GrowingRun, part: str, look: str = "Table") -> AppTest:
    page = visit(("run", run.run_id), part)
    page.session_state["metrics_look"] = look
    page.run()
    assert not page.exception
    return page


def again(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception
    return page


def counts(page: AppTest) -> set[int]:
    """Texts behind the coefficients in the table."""
    return set(page.dataframe[0].value["n"])


def test_estimates_follow_and_nothing_is_computed_beside_the_page(run: GrowingRun) -> None:
    page = at(run, "Correlations")
    assert counts(page) == {N_LEVELS * ITEMS // 2}
    assert f"{N_LEVELS * ITEMS // 2} texts so far" in said(page)
    assert "Kendall, interval" not in page.dataframe[0].value
    assert COMPUTING not in said(page)
    first = page.dataframe[0].value["Pearson"].iloc[0]
    run.grow(3)
    again(page)
    assert counts(page) == {N_LEVELS * (ITEMS // 2 + 3)}
    assert page.dataframe[0].value["Pearson"].iloc[0] != first
    assert "Resamples" not in [box.label for box in page.number_input]
    assert not chosen_scores._works()


def test_every_view_has_its_estimates_and_fishers_interval_is_there(run: GrowingRun) -> None:
    page = at(run, "Correlations")
    field(page, "Show").set_value("fisher")
    assert again(page).dataframe[0].value["Pearson, interval"].iloc[0].startswith("[")
    field(page, "Show").set_value("per_item")
    assert not again(page).dataframe[0].value["Kendall per item"].isna().any()


def test_a_page_that_does_not_follow_stands_still_with_all_intervals(run: GrowingRun) -> None:
    page = at(run, "Correlations")
    page.toggle[0].set_value(False)
    again(page)
    run.grow(3)
    again(page)
    assert counts(page) == {N_LEVELS * ITEMS // 2}
    assert page.dataframe[0].value["Kendall, interval"].iloc[0].startswith("[")
    assert "Resamples" in [box.label for box in page.number_input]
    page.toggle[0].set_value(True)
    assert counts(again(page)) == {N_LEVELS * (ITEMS // 2 + 3)}


@pytest.mark.parametrize("state", ["done", "cancelled", "stopped"])
def test_a_run_that_has_stopped_has_all_intervals(run: GrowingRun, state: RunState) -> None:
    page = at(run, "Correlations")
    run.grow(2)
    run.finish(state)
    again(page)
    assert not page.toggle
    assert counts(page) == {N_LEVELS * (ITEMS // 2 + 2)}
    assert page.dataframe[0].value["Kendall, interval"].iloc[0].startswith("[")


def test_an_interrupted_run_has_all_intervals(run: GrowingRun, store: Store) -> None:
    page = at(run, "Correlations")
    ask_to_stop(store, run.run_id)
    assert again(page).toggle, "it is still ending"
    with store.writing():
        store.table("run").update(run.run_id, {"process": 2**22 + 1})  # no such process
    again(page)
    assert not page.toggle
    assert page.dataframe[0].value["Kendall, interval"].iloc[0].startswith("[")


def test_a_ranking_orders_at_once_and_tests_when_the_run_has_stopped(run: GrowingRun) -> None:
    page = at(run, "Correlations", "Ranking")
    assert f"n = {N_LEVELS * ITEMS // 2} rows" in said(page)
    assert not [one for one in page.expander if one.label == "All comparisons"]
    run.finish()
    again(page)
    assert [one for one in page.expander if one.label == "All comparisons"]


@pytest.mark.parametrize("part", ["Levels", "Meta-correlation", "Progress"])
def test_other_parts_follow_too(run: GrowingRun, part: str) -> None:
    page = at(run, part)
    run.grow(2)
    again(page)
    run.finish()
    again(page)


def test_a_slow_answer_about_growing_scores_is_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen_scores._answers.clear()
    now, spent = [0.0], [0.0]
    monkeypatch.setattr(chosen_scores, "monotonic", lambda: now[0])
    monkeypatch.setattr(chosen_scores, "thread_time", lambda: spent[0])

    def ask(state: int, grows: tuple[str, ...] | None = ("run",)) -> int:
        def compute() -> int:
            spent[0] += 0.5
            return state

        found: int = chosen_scores.now_and_then(grows, ("slow", state), ("slow",), compute)
        return found

    assert ask(1) == 1
    now[0] = 24.9
    assert ask(2) == 1
    now[0] = 25.0
    assert ask(2) == 2, "fifty times half a second"
    assert ask(3) == 2
    assert ask(3, grows=None) == 3, "scores that stand still"
    assert ask(4, grows=("another run",)) == 4


@pytest.mark.parametrize("part", ["Scores", "Judges"])
def test_a_judges_scores_follow_its_run(store: Store, part: str) -> None:
    chosen_scores._answers.clear()
    run = GrowingRun(store, ITEMS, judged=True)
    run.grow(4)
    page = visit_judges(("run", run.run_id), part)
    assert f"{4 * N_LEVELS} texts so far" in said(page)
    run.grow(2)
    again(page)
    assert f"{6 * N_LEVELS} texts so far" in said(page)
    run.finish()
    assert "so far" not in said(again(page))
