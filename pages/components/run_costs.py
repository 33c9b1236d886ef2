"""What a run cost, what all its items will take, and what is missing: as tables."""

import pandas as pd
import streamlit as st

from core.runs.at_hand import RunAtHand
from core.runs.costs import Estimate
from core.runs.progress import Progress, duration, money_of, wall_seconds
from pages.components import judges_names
from pages.components.parts import part, table
from pages.components.run_words import WORDS


def estimate_table(found: Estimate, run: RunAtHand) -> None:
    """For all items of a run that has done its first ones."""
    rows = {"Time": "not known" if found.seconds is None else f"about {duration(max(found.seconds, 1))}"}
    if run.kind.work == "scores":
        rows |= {
            "Texts to score": "not known: no text was scored yet"
            if found.calls is None
            else f"{found.calls:,}"
        }
    elif run.asked.by_rules:
        rows |= {"Calls": "none: rules ask no model"}
    elif found.calls is None:
        rows |= {"Calls": "not known: no step of these items was paid for, or none is finished"}
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


def left_out(run: RunAtHand, progress: Progress) -> None:
    """Failures by step and reason; nothing where there are none."""
    if not progress.failures:
        return
    part(
        "What is missing, by step and reason",
        WORDS[run.kind.work].failing,
    )
    table(
        pd.DataFrame(
            [(_step(step, run), reason, count) for (step, reason), count in progress.failures.items()],
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
    if seconds := wall_seconds(progress.run):
        st.markdown(f"Time worked: {seconds:,.1f} s.")


def _scored(progress: Progress) -> None:
    part(
        "Cost by group of metrics",
        "Different texts of each item. Those from the cache were scored by an earlier run with the same metrics, versions "
        "and models. Processes compute side by side: their seconds together may exceed the time that passed.",
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
        "Calls are requests that were sent; those without an answer are counted too, and named as not complete. Answers "
        "from the cache cost nothing. Requests are open side by side: all their waiting together may exceed the time that "
        "passed.",
    )
    unusable = {"Not complete": [f"{cost.unusable:,}" for cost in progress.costs]}
    table(
        pd.DataFrame(
            {
                "Step": [_step(cost.step, run) for cost in progress.costs],
                "Calls": [f"{cost.calls:,}" for cost in progress.costs],
                "Tokens in": [tokens(cost.input_tokens) for cost in progress.costs],
                "Tokens out": [tokens(cost.output_tokens) for cost in progress.costs],
                "Waiting, s": [f"{cost.seconds:,.1f}" for cost in progress.costs],
                "From the cache": [f"{cost.cached:,}" for cost in progress.costs],
            }
            | (unusable if any(cost.unusable for cost in progress.costs) else {})
        )
    )
    money = money_of(progress)
    if money is not None:
        st.markdown(f"Money so far: {money:,.4f} (tokens times the two prices).")


def _step(step: str, run: RunAtHand) -> str:
    """The step as the run's other parts call it: a judge may read the reference in place of a source."""
    return judges_names.of_document(step, judges_names.document_of_run(run.run))


def tokens(count: int | None) -> str:
    """A number of tokens, which not every server tells."""
    return "not counted" if count is None else f"{count:,}"
