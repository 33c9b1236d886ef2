"""How far each level of a run is from the reference, as a look at what was done; no metric of quality."""

from itertools import islice

import pandas as pd
import streamlit as st

from core import plots
from core.results.words_kept import WordsKept, words_kept
from core.runs.generation import scheme_of, trace_of
from core.runs.jobs import RunAtHand
from core.store.runs import item_states, run_items
from pages.components import run_choice
from pages.components.generated_item import with_materials
from pages.components.kept_once import once
from pages.components.messages import mistakes_shown
from pages.components.numbers import number
from pages.components.parts import chart, nothing, part, table

MOST_ITEMS = 1000
"""More would make the page wait, and change the figure little."""
_KEPT = "generated_levels_kept"


def render(run: RunAtHand) -> None:
    """Mean share of the reference's words at each level, with its range over items."""
    part(
        "Words kept",
        "The share of the reference's words that a level still has, in the same order. It says how much was "
        "changed and nothing of how well: this is no metric of quality.",
        "words-kept",
    )
    states = item_states(run.store, run.run.run_id)
    if not states:
        nothing("the run has not finished an item yet")
        return
    with mistakes_shown():
        _show(once(_KEPT, run_choice.key_of(run.store, run.run), lambda: _computed(run)), len(states))


def _computed(run: RunAtHand) -> tuple[WordsKept, ...]:
    materials, scheme = with_materials(run).contents.materials, scheme_of(run.asked)
    references = {one.item.item_id: one.item.reference for one in materials}
    found = (
        (item.item_id, scheme.came(trace_of(run, item)).texts)
        for item in islice(run_items(run.store, run.run.run_id), MOST_ITEMS)
    )
    return words_kept(references, found, run.asked.chosen.level_names)


def _show(levels: tuple[WordsKept, ...], n_items: int) -> None:
    said = ", ".join(f"{one.level} {number(one.mean)}" for one in levels)
    chart(plots.words_kept(levels), f"Mean share of the reference's words kept: {said}", "generated_levels")
    table(
        pd.DataFrame(
            {
                "Level": [one.level for one in levels],
                "Items used": [one.n for one in levels],
                "Mean": [number(one.mean) for one in levels],
                "Fewest kept": [number(one.low) for one in levels],
                "Most kept": [number(one.high) for one in levels],
            }
        )
    )
    more = f" Only the first {MOST_ITEMS:,} of {n_items:,} items are used." if n_items > MOST_ITEMS else ""
    st.markdown(
        f":small[Dots: the mean; lines: from the item that kept fewest to the one that kept most.{more}]"
    )
