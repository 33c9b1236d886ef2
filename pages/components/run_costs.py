"""What a run cost, what all its items will take, and what is missing: as tables."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.runs.costs import Estimate
from core.runs.jobs import RunAtHand
from core.runs.progress import Progress, money_of, not_sent_said, worked_said
from core.schema.runs import StepCost
from core.store.replies import parts_not_sent
from pages.components import judges_names
from pages.components.parts import part, table
from pages.components.run_words import WORDS


def estimate_table(found: Estimate, run: RunAtHand) -> None:
    """For all items of a run that has done its first ones."""
    rows = {"Time": found.time or "not known"}
    if run.kind.work == "scores":
        rows |= {
            "Texts to score": "not known: no text was scored yet"
            if found.calls is None
            else f"{found.calls:,}"
        }
    elif run.asked.by_rules:
        rows |= {"Calls": "none: rules ask no model"}
    elif found.calls is None:
        rows |= {"Calls": "not known: these items came from the cache, or none is finished"}
    else:
        rows |= {
            "Calls": f"{found.calls:,}",
            "Tokens in": tokens(found.input_tokens),
            "Tokens out": tokens(found.output_tokens),
            "Money": "not known: give both prices, and a server that counts tokens"
            if found.money is None
            else f"{found.money:,.4f}",
        }
    table(pd.DataFrame({"All items": list(rows), "About": list(rows.values())}))
    said = ["Time is worked time by the clock, the start of the model included."]
    if found.calls and (found.spread or 0) >= 0.01:
        said.append(
            f"Calls, tokens and money may differ by {found.spread:.0%}, judging by how the items above differ."
        )
    if found.n_seen == 1:
        said.append("One item says little: preview more items to narrow this down.")
    st.markdown(f":small[{' '.join(said)}]")


def left_out(run: RunAtHand, progress: Progress) -> None:
    """Failures by step and reason; nothing where there are none."""
    if not progress.failures:
        return
    part("What is missing, by step and reason", WORDS[run.kind.work].failing)
    named = judges_names.document_of_run(run.run)
    table(
        pd.DataFrame(
            [
                (judges_names.of_document(step, named), reason, count)
                for (step, reason), count in progress.failures.items()
            ],
            columns=["Step", "Reason", "Times"],
        )
    )


def costs(run: RunAtHand, progress: Progress) -> None:
    """Calls, time and money by step; nothing before the first one."""
    if not progress.costs:
        return
    if run.kind.work == "scores":
        _scored(progress)
    else:
        _calls(run, progress)
    if worked := worked_said(progress.run):
        st.markdown(worked)


def _scored(progress: Progress) -> None:
    part(
        "Cost by group of metrics",
        "Equal texts of an item are scored once. Texts from the cache were scored by an earlier run with the same "
        "metrics, versions and models. Processes run in parallel: their seconds together may exceed the time that passed.",
    )
    table(
        pd.DataFrame(
            {
                "Metrics": [cost.step for cost in progress.costs],
                "Texts scored": [f"{cost.calls:,}" for cost in progress.costs],
                "Computing, s": [f"{cost.seconds:,.1f}" for cost in progress.costs],
                "From the cache": [f"{cost.cached:,}" for cost in progress.costs],
            }
        )
    )


def _calls(run: RunAtHand, progress: Progress) -> None:
    part(
        "Cost by step",
        "Calls are requests that were sent, those without a usable answer included; answers from the cache cost "
        "nothing. The seconds of requests are summed: requests overlap, so the sum can exceed the time worked.",
    )
    step_table(progress.costs, judges_names.document_of_run(run.run))
    if missing := parts_not_sent(run.store, run.run.run_id):
        st.markdown(f"{not_sent_said({f'`{name}`': n for name, n in missing.items()})}.")
    money = money_of(progress)
    if money is not None:
        st.markdown(f"Money so far: {money:,.4f} (tokens times the two prices).")


def step_table(costs: Sequence[StepCost], named: str) -> None:
    """A row a step. named: what a judge compares with, `reference` or `source`."""
    unusable = {"Not usable": [f"{cost.unusable:,}" for cost in costs]}
    table(
        pd.DataFrame(
            {
                "Step": [judges_names.of_document(cost.step, named) for cost in costs],
                "Calls": [f"{cost.calls:,}" for cost in costs],
                "Tokens in": [tokens(cost.input_tokens) for cost in costs],
                "Tokens out": [tokens(cost.output_tokens) for cost in costs],
                "Requests open, s": [f"{cost.seconds:,.1f}" for cost in costs],
                "From the cache": [f"{cost.cached:,}" for cost in costs],
            }
            | (unusable if any(cost.unusable for cost in costs) else {})
        )
    )


def tokens(count: int | None) -> str:
    """A number of tokens, which not every server tells."""
    return "not counted" if count is None else f"{count:,}"
