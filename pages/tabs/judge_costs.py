"""Tab Cost: what judges cost by step, for one item and for one text, side by side."""

from dataclasses import replace
from typing import Literal

import streamlit as st

from core import plots
from core.results.judges.costs import JudgeCost, Unit, cost_table, costs_side_by_side
from core.runs.asked import asked_of
from core.runs.costs import cost_of_run
from core.runs.kinds import kinds_that
from core.runs.path import at_hand
from core.schema.runs import Run
from core.store import Store
from core.store.replies import step_costs
from core.store.runs import item_counts
from pages.widgets import chosen_judge, chosen_scores, menus, result_table
from pages.widgets.parts import nothing, part

_UNITS: dict[Literal["all"] | Unit, str] = {"all": "all its items", "item": "one item", "text": "one text"}


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
    drawn = any((row.input_tokens or 0) + (row.output_tokens or 0) for row in rows)
    result_table.show(
        cost_table(rows, [unit]),
        figure=plots.judge_costs(rows) if drawn else None,
        alt="Tokens of one text by judge and step",
    )
    if any(asked_of(one).by_rules for one in used):
        st.markdown(":small[Rules cost nothing: no model is asked.]")


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
