"""Cost and failures over all runs, by kind, state and age: sums by model, failures by reason, a table of runs."""

from datetime import UTC, datetime, timedelta

from core.runs.overview.listing import RunLine, cost_table, failure_table, model_table, run_lines
from core.store import Store
from core.store.runs import list_runs
from pages.operation.rows import some_rows
from pages.widgets import menus, result_table
from pages.widgets.parts import nothing, part, places

_AGES = {
    "at any time": None,
    "in the last day": 1,
    "in the last week": 7,
    "in the last 30 days": 30,
    "in the last year": 365,
}


def render(store: Store) -> None:
    """Show the choice, and the tables for the chosen runs."""
    runs = list_runs(store)
    if not runs:
        nothing("there is no run yet")
        return
    key = tuple((run.run_id, run.state, run.beat_utc, run.finished_utc) for run in runs)
    lines = menus.once(
        "operation_lines", (str(store.path), key), lambda: run_lines(store, runs), "Adding up ..."
    )
    lines = _chosen(lines)
    if not lines:
        nothing("no run is like that")
        return
    part(
        "By model",
        "Calls are requests that were sent, or texts that were scored. Money is tokens times the run's two prices.",
    )
    result_table.show(model_table(lines), titled=False)
    part("Failures by reason", "Each missing answer or score counts once. Runs: how many of them had it.")
    failures = failure_table(lines)
    if failures.rows:
        result_table.show(failures, titled=False)
    else:
        nothing("nothing failed in these runs")
    part("By run", "Newest first. The downloads contain all chosen runs with further columns.")
    shown = some_rows(lines, "operation_cost_rows")
    result_table.show(cost_table(shown), titled=False, whole=cost_table(lines))


def _chosen(lines: list[RunLine]) -> list[RunLine]:
    place = places(3)
    kinds = next(place).multiselect(
        "Kinds", sorted({one.run.kind for one in lines}), key="operation_kinds", placeholder="all"
    )
    states = next(place).multiselect(
        "States", sorted({one.state for one in lines}), key="operation_states", placeholder="all"
    )
    age = _AGES[next(place).selectbox("Made", list(_AGES), key="operation_age")]
    since = "" if age is None else (datetime.now(UTC) - timedelta(days=age)).isoformat()
    return [
        one
        for one in lines
        if (not kinds or one.run.kind in kinds)
        and (not states or one.state in states)
        and one.run.created_utc >= since
    ]
