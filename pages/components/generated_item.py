"""One item of a run: choose it, failing ones first, and follow every step that was taken."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from core.generation.records import DamageTrace, FactualTrace
from core.runs.calls import became
from core.runs.generation import scheme_of, trace_of
from core.runs.jobs import RunAtHand
from core.schema.runs import RunItem
from core.schema.study import Item, Material
from core.store.replies import item_costs
from core.store.runs import item_states, run_item
from pages.components import (
    asked_calls,
    generated_damage,
    generated_factual,
    generated_level_diff,
    run_choice,
)
from pages.components.kept_once import once
from pages.components.messages import mistakes_shown, one_line, plain
from pages.components.parts import nothing, table

_STATES = {"failed": "incomplete", "again": "no answer yet", "done": "complete"}
"""In the order of the list: what needs a look comes first."""
_MATERIALS, _CHOSEN = "generated_item_materials", "generated_item_chosen"
_RENDERED: Mapping[type, Callable[[Any, Item], None]] = {
    FactualTrace: generated_factual.render,
    DamageTrace: generated_damage.render,
}


def of_run(run: RunAtHand) -> None:
    """Choose an item of the run and show it."""
    states = item_states(run.store, run.run.run_id)
    if not states:
        nothing("the run has not finished an item yet")
        return
    with mistakes_shown():
        materials = with_materials(run).contents.materials
        position = _choose(run.run.run_id, states, materials)
        item = None if position is None else run_item(run.store, run.run.run_id, position)
        if item is None or position is None:
            nothing("no item is in this state")
            return
        trace = trace_of(run, item)
        _standing(run, item, trace)
        material = materials[position]
        heading(material.item, material.context)
        _RENDERED[type(trace)](trace, material.item)
        if not run.asked.by_rules:
            asked_calls.of_item(run.store, run.run.run_id, position)
        with st.expander("Calls and prompts of this item"):
            prompts(trace.prompts)
            _calls(run, position)


def with_materials(run: RunAtHand) -> RunAtHand:
    """The run with its questions, which are read once a session and run."""
    run.contents = once(_MATERIALS, run_choice.identity(run.run), lambda: run.contents)
    return run


def heading(item: Item, context: str | None = None) -> None:
    """Question, reference, and the passage or source that the task gives besides."""
    generated_level_diff.style()
    tag = generated_level_diff.language_of(item.language)
    st.html(
        f'<div class="assay-question assay-text assay-tall" {tag}>{escape(item.question)}</div>'
        '<div class="assay-quiet" style="margin-top:.5rem">Reference</div>'
        f'<div class="assay-reference assay-text" {tag}>{escape(item.reference)}</div>'
    )
    if context and context != item.question:
        with st.expander("Context"):
            generated_level_diff.plain_card("Passage, source text or sentence", context, item.language)


def prompts(hashes: dict[str, str] | None) -> None:
    """Which prompts were sent, by step."""
    if not hashes:
        st.markdown("No prompt was sent: no model was asked.")
        return
    table(pd.DataFrame({"Step": list(hashes), "Prompt (sha256)": [sha[:16] for sha in hashes.values()]}))


def _choose(run_id: int, states: dict[int, str], materials: tuple[Material, ...]) -> int | None:
    counts = {state: sum(one == state for one in states.values()) for state in _STATES}
    labels = {"all": f"all ({len(states)})"} | {s: f"{said} ({counts[s]})" for s, said in _STATES.items()}
    wanted = st.segmented_control(
        "Items",
        list(labels),
        default="all",
        format_func=labels.__getitem__,
        required=True,
        key="generated_state",
    )
    order = list(_STATES)
    found = sorted(
        (at for at, state in states.items() if wanted in ("all", state) and at < len(materials)),
        key=lambda at: (order.index(states[at]), at),
    )
    if not found:
        return None
    before = st.session_state.setdefault(_CHOSEN, {}).get(run_id)
    chosen: int = st.selectbox(
        "Item",
        found,
        found.index(before) if before in found else 0,
        format_func=lambda at: _label(materials[at].item, states[at]),
        help="Those that need a look come first.",
    )
    st.session_state[_CHOSEN][run_id] = chosen
    return chosen


def _label(item: Item, state: str) -> str:
    return f"{item.item_id} ({_STATES[state]}): {one_line(item.question)}"


def _standing(run: RunAtHand, item: RunItem, trace: Any) -> None:
    if item.state == "done":
        return
    end = "Resume the run to ask again."
    if item.state == "failed":
        there = bool(scheme_of(run.asked).came(trace).texts)
        end = (
            "A level is missing; partial results are below and in outputs.csv."
            if there
            else "No level was made."
        )
    if isinstance(trace, FactualTrace):
        why = generated_factual.why_it_ended(trace)
    else:
        why = "; ".join(f"{step}: {reason}" for step, reason in item.failures) + "."
    st.warning(f"This item is {_STATES[item.state]}. {plain(why)} {end}")


def _calls(run: RunAtHand, position: int) -> None:
    calls = item_costs(run.store, run.run.run_id, position)
    if not calls:
        st.markdown("No call was made.")
        return
    st.markdown("After a reply that is not usable, the model is asked again: the same step follows.")
    table(
        pd.DataFrame(
            {
                "Step": [call["step"] for call in calls],
                "Reply": [became(call) for call in calls],
                "From the cache": ["yes" if call["cached"] else "no" for call in calls],
                "Tokens in": [_number(call["input_tokens"]) for call in calls],
                "Tokens out": [_number(call["output_tokens"]) for call in calls],
                "Seconds": [f"{call['seconds']:.2f}" for call in calls],
            }
        )
    )


def _number(value: object) -> str:
    return "not counted" if value is None else str(value)
