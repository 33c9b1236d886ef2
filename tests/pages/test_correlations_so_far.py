"""Correlations on the page Metrics as they become known: estimates first, intervals while the page stays usable."""

from collections.abc import Iterator
from threading import Event

import pytest
from helpers.pages.generate_visit import field, said
from helpers.pages.metrics_visit import visit
from helpers.texts.score_factories import ladder, table

from core.results.correlations.table import COMPUTING, correlate_scores, correlate_step_by_step
from core.schema.correlating import CorrelateOptions
from core.store import Store
from core.store.kept import keep_file
from pages.widgets import chosen_scores

FAST = CorrelateOptions(n_resamples=50)
SCORES = table(ladder({"a": [5, 4, 3, 2, 1], "b": [5, 3, 4, 2, 1], "c": [1, 2, 3, 4, 5]}))
CSV = "item,system,level,m\n" + "".join(
    f"q{item},s,{level},{5 - level + item % 3}\n" for item in range(6) for level in range(4)
)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Lets the work continue from estimates to intervals; every number of scores counts as many."""
    opened = Event()
    chosen_scores._works.clear()

    def slowly(*given, tell, **options):
        steps = correlate_step_by_step(*given, tell=tell, **options)
        yield next(steps)
        while not opened.wait(0.05):
            tell("metric 1 of 1")
        yield from steps

    monkeypatch.setattr(chosen_scores, "correlate_step_by_step", slowly)
    monkeypatch.setattr(chosen_scores, "_FEW", 0)
    yield opened
    opened.set()
    chosen_scores._works.clear()


def test_estimates_come_before_intervals(gate: Event) -> None:
    question = (("file",), SCORES, None, FAST)
    report, _ = chosen_scores.correlated_so_far(*question)
    assert not report.is_complete
    assert report.rows[0].pooled["kendall"].over_items.estimate is not None
    gate.set()
    whole = correlate_scores(SCORES, options=FAST)
    assert chosen_scores.correlated(*question) == whole
    assert chosen_scores.correlated_so_far(*question)[0] == whole


def test_abandoned_work_ends_and_is_resumed(gate: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    question = (("file",), SCORES, None, FAST)
    monkeypatch.setattr(chosen_scores, "_PATIENCE", 0.2)
    chosen_scores.correlated_so_far(*question)
    (work,) = chosen_scores._works().values()
    assert work.complete.wait(20)
    assert isinstance(work.error, chosen_scores._Unwanted)
    monkeypatch.setattr(chosen_scores, "_PATIENCE", 60.0)
    gate.set()
    assert chosen_scores.correlated(*question) == correlate_scores(SCORES, options=FAST)


def test_an_error_reaches_every_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen_scores._works.clear()
    for _ in range(2):
        with pytest.raises(Exception, match="column to group by"):
            chosen_scores.correlated(("file",), SCORES, None, FAST.but(group=("colour",)))


@pytest.mark.usefixtures("cookies")
def test_the_page_shows_the_table_while_intervals_are_computed(store: Store, gate: Event) -> None:
    file = keep_file(store, "scores", "scores.csv", CSV.encode(), {})
    at = visit(("file", file.file_id), "Correlations")
    frame = at.dataframe[0].value
    assert "Kendall, interval" not in frame
    assert f"no interval: {COMPUTING}" in said(at)
    estimate = frame["Kendall"].iloc[0]
    assert "Computing intervals" in said(at)
    gate.set()
    (work,) = chosen_scores._works().values()
    assert work.complete.wait(20)
    at.run()
    assert not at.exception
    frame = at.dataframe[0].value
    assert frame["Kendall"].iloc[0] == estimate
    assert frame["Kendall, interval"].iloc[0].startswith("[")
    assert "Computing intervals" not in said(at)
    assert field(at, "Resamples").value is None


def test_intervals_of_many_scores_give_the_page_a_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(chosen_scores, "sleep", waits.append)
    for few, expected in ((SCORES.values.size, []), (0, [chosen_scores._HEAD_START])):
        chosen_scores._works.clear()
        monkeypatch.setattr(chosen_scores, "_FEW", few)
        chosen_scores.correlated(("file",), SCORES, None, FAST)
        assert waits == expected
    chosen_scores._works.clear()
