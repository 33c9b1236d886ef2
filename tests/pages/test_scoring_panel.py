"""The panel of a scoring run: wording, cost, and the remaining items after a preview, scored by a real process."""

import time

import pytest
from helpers.pages.generate_visit import said
from helpers.texts.judge_runs import run_to_the_end
from streamlit.testing.v1 import AppTest

from core.metrics.kind import KIND
from core.runs.asked import ask
from core.runs.jobs import RunAtHand
from core.runs.progress import progress_of
from core.runs.scoring import score_table
from core.runs.working import environments
from core.store import Store
from pages.widgets.menus import name_of

TEXTS = "".join(
    f'{{"item_id": "q{item}", "system": "one", "text": "mill {item} {level}", "reference": "mill {item}", '
    f'"level": "{level}"}}\n'
    for item in range(5)
    for level in range(3)
).encode()

pytestmark = pytest.mark.usefixtures("cookies")


def _panel(run_id: int) -> None:
    from core.store import database_path, open_store
    from core.store.runs import get_run
    from pages.widgets import run_panel

    with open_store(database_path()) as store:
        run_panel.render(store, get_run(store, run_id))


def scored(store: Store, limit: int | None = None) -> RunAtHand:
    asked, running = ask(KIND, {"metrics": ("bleu-1", "chrf-6-2")}, {}, {})
    return run_to_the_end(store, asked, TEXTS, limit, name="texts.jsonl", running=running)


def visit(run: RunAtHand) -> AppTest:
    at = AppTest.from_function(_panel, args=(run.run.run_id,), default_timeout=30).run()
    assert not at.exception
    return at


def test_a_finished_run_reports_scores(store: Store) -> None:
    run = scored(store)
    at = visit(run)
    assert {metric.label: metric.value for metric in at.metric} == {"Complete": "5", "Incomplete": "0"}
    found = said(at)
    for part in (
        "is done",
        "every text has its scores",
        "Cost by group of metrics",
        "bleu-1, chrf-6-2",
        "lexical",
    ):
        assert part in found, part
    for part in ("paid", "level exists", "Tokens", "Name of the answers"):
        assert part not in found, part
    assert not at.button
    assert name_of(run.run).endswith("2 metrics, texts.jsonl")
    assert run.request.environment == "base"


@pytest.mark.slow
def test_after_a_preview_a_process_scores_the_rest(store: Store) -> None:
    run = scored(store, limit=2)
    at = visit(run)
    assert "Texts to score" in said(at)
    (button,) = [one for one in at.button if one.key == "run_all"]
    button.click().run()
    deadline = time.monotonic() + 60
    while (progress := progress_of(store, run.run.run_id)).n_done < 5 or progress.state != "done":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert len(score_table(run).rows) == 15
    environments.forget_children()
