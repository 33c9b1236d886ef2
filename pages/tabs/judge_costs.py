"""Tab Cost: what judges cost by step, for one item and for one text, side by side."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.plots import judges as plots
from core.results.judges.costs import CostRow, JudgeCost, cost_notes, costs_side_by_side
from core.runs.asked import asked_of
from core.runs.costs import cost_of_run
from core.runs.kinds import kinds_that
from core.runs.path import at_hand
from core.schema.runs import Run
from core.store import Store
from core.store.replies import step_costs
from core.store.runs import item_counts
from pages.widgets import chosen_judge, chosen_scores, menus, results_shown
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, part, percent, table

_UNITS = {"all": "all its items", "item": "one item", "text": "one text"}
_NOT_KNOWN = "not known"
_FREE = {"Share of input": "none", "Money": "none"}
"""Of rules."""


def render(store: Store, run: Run) -> None:
    """The run's account, beside those of other judges."""
    part(
        "Cost",
        "Calls are requests that were sent, those without a usable answer included; answers from the cache cost "
        "nothing. What a run found there was paid for by another run: compare judges by runs that began without.",
        "judge-cost",
    )
    others = {
        number: one
        for number, one in chosen_judge.with_results(store, *kinds_that("judging")).items()
        if number != run.run_id
    }
    left, right = st.columns([3, 1])
    beside = menus.several("Beside", others, "judges_cost_beside", place=left, placeholder="No other judge")
    unit = right.selectbox("For", list(_UNITS), format_func=_UNITS.__getitem__, key="judges_cost_unit")
    if not any(item_counts(store, run.run_id)[0].values()):
        nothing("no item is finished yet")
        return
    used = [run, *beside]
    rows = costs_side_by_side([account(store, one) for one in used])
    free = {chosen_judge.short_name(one) for one in used if asked_of(one).by_rules}
    table(pd.DataFrame([_said(row, unit) | (_FREE if row.judge in free else {}) for row in rows]))
    if any((row.input_tokens or 0) + (row.output_tokens or 0) for row in rows):
        results_shown.show(
            plots.judge_costs(rows),
            "Tokens of one text by judge and step",
            "judge-costs",
            [_csv_row(row) for row in rows],
        )
    else:
        results_shown.downloads("judge-costs", [_csv_row(row) for row in rows])
    for reason in dict.fromkeys(why for row in rows if row.judge not in free for _, why in row.reasons):
        st.markdown(f":small[Not known where {reason}.]")
    if free:
        st.markdown(":small[Rules cost nothing: no model is asked.]")
    for note in cost_notes(rows):
        st.markdown(f":small[{plain(note)}.]")


def account(store: Store, run: Run) -> JudgeCost:
    """What a run bought, under the name that its menu gives it."""
    # The account grows with every call, also where no item is finished yet.
    counted = [(cost.step, cost.calls, cost.cached) for cost in step_costs(store, run.run_id)]
    cost = chosen_scores.once(
        ("cost", *menus.key_of(store, run), *counted), lambda: cost_of_run(at_hand(store, run))
    )
    named = chosen_judge.document_of_run(run)
    steps = tuple(replace(one, step=chosen_judge.of_document(one.step, named)) for one in cost.costs)
    return replace(cost, name=chosen_judge.short_name(run), costs=steps)


def _said(row: CostRow, unit: str) -> dict[str, str]:
    end = "" if unit == "all" else f"_per_{unit}"
    return {
        "Judge": row.judge,
        "Step": row.step,
        "Calls": _number(getattr(row, f"calls{end}"), unit),
        "From the cache": f"{row.cached:,}",
        "Not usable": f"{row.unusable:,}",
        "Tokens in": _number(getattr(row, f"input_tokens{end}"), unit),
        "Tokens out": _number(getattr(row, f"output_tokens{end}"), unit),
        "Share of input": _NOT_KNOWN if row.input_share is None else percent(round(row.input_share, 3)),
        "Money": _money(getattr(row, f"money{end}")),
    }


def _number(value: float | None, unit: str) -> str:
    return _NOT_KNOWN if value is None else f"{value:,.0f}" if unit == "all" else f"{value:,.1f}"


def _money(value: float | None) -> str:
    return _NOT_KNOWN if value is None else f"{value:,.6f}" if value < 0.01 else f"{value:,.4f}"


_COLUMNS = (
    "judge",
    "step",
    "calls",
    "cached",
    "unusable",
    "input_tokens",
    "output_tokens",
    "input_share",
    "money",
)
_EACH = ("calls", "input_tokens", "output_tokens", "money")
_COUNTS = ("seconds", "n_items", "n_texts", "n_wanted", "n_found")


def _csv_row(row: CostRow) -> dict[str, object]:
    per = (f"{name}_per_{unit}" for unit in ("item", "text") for name in _EACH)
    reasons = "; ".join(f"{field}: {why}" for field, why in row.reasons)
    return {name: getattr(row, name) for name in (*_COLUMNS, *per, *_COUNTS)} | {"reasons": reasons}
