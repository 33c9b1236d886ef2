"""How far a judge agrees with itself: over repeats, and between the two orders of its texts."""

import streamlit as st

from core.results.judges.consistency import Consistency, consistency, orders_table, repeats_table
from core.runs.kinds import KINDS
from core.schema.runs import Run
from core.store import Store
from pages.widgets import chosen_judge, chosen_scores, menus, result_table
from pages.widgets.parts import constants, nothing, part


def render(store: Store, run: Run) -> None:
    """Repeats, then orders."""
    part(
        "The judge and itself",
        "Does it say the same when it is asked again? At temperature 0, or on a server that ignores seeds, a judge mostly "
        "repeats itself: that is no evidence. Agreement does not make it right.",
        "judge-consistency",
    )
    if "consistency" not in KINDS[run.kind].reports:
        nothing("this judge asks each thing once; start two runs with different seeds and compare them")
        return
    with st.spinner("Computing ..."):
        found: Consistency = chosen_scores.once(
            ("consistency", menus.key_of(store, run)),
            lambda: consistency(chosen_judge.output_of(store, run)),
        )
    constants(found.constants)
    if found.n_repeats < 2:
        nothing("every text was judged once; choose repeats with the settings of a new run")
    else:
        result_table.show(repeats_table(found))
    if found.order is not None:
        if len(found.orders) < 2:
            nothing("the two texts were read in one order; choose both with the settings of a new run")
        else:
            result_table.show(orders_table(found.order))
