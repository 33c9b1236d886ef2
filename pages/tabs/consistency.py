"""How far a judge agrees with itself: over repeats, and between the two orders of its texts."""

import pandas as pd
import streamlit as st

from core.judges.cross_examination import CEF_COMPONENTS
from core.results.judges.consistency import Consistency, OrderConsistency, consistency
from core.runs.kinds import KINDS
from core.schema.runs import Run
from core.stats.resampling import Estimate
from core.store import Store
from pages.widgets import chosen_judge, chosen_scores, menus, results_shown
from pages.widgets.chosen_judge import in_percent, with_ends
from pages.widgets.parts import constants, left_out, nothing, part, table


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
    _repeats(found)
    if found.order is not None:
        _orders(found, found.order)


def _repeats(found: Consistency) -> None:
    if found.n_repeats < 2:
        nothing("every text was judged once; choose repeats with the settings of a new run")
        return
    table(
        pd.DataFrame(
            {
                "Score": [one.component for one in found.repeats],
                "All repeats equal": [in_percent(one.agreeing) for one in found.repeats],
                "SD over repeats": [_spread(one.spread, one.component) for one in found.repeats],
                "Texts": [f"{one.agreeing.n:,}" for one in found.repeats],
                "Left out": [left_out(one.left_out) for one in found.repeats],
            }
        )
    )
    st.markdown(
        f":small[{found.n_repeats} repeats; 95 % intervals over items. The SD of a text's repeats, averaged over texts.]"
    )
    chosen_scores.read_notes(found.notes)
    results_shown.downloads(
        "judge-repeats",
        [
            {
                "component": one.component,
                **results_shown.estimate("agreeing", one.agreeing),
                **results_shown.estimate("sd", one.spread),
                "left_out": left_out(one.left_out),
            }
            for one in found.repeats
        ],
    )


def _orders(found: Consistency, order: OrderConsistency) -> None:
    if len(found.orders) < 2:
        nothing("the two texts were read in one order; choose both with the settings of a new run")
        return
    rows = {
        "Texts with the same mean verdict in both orders": in_percent(order.equal),
        "Response first minus reference first": with_ends(order.difference),
        "Mean absolute difference": with_ends(order.distance),
    }
    table(pd.DataFrame({"Order": list(rows), "Value": list(rows.values())}))
    st.markdown(
        f":small[n = {order.equal.n:,} texts; left out: {left_out(order.left_out)}. A difference above 0: milder where "
        "the response is read first.]"
    )
    results_shown.downloads(
        "judge-orders",
        [
            {
                **results_shown.estimate("equal", order.equal),
                **results_shown.estimate("difference", order.difference),
                **results_shown.estimate("distance", order.distance),
            }
        ],
    )


def _spread(found: Estimate, component: str) -> str:
    """Of verdicts and classes in points of the scale, of shares in percent."""
    if component not in CEF_COMPONENTS or found.estimate is None:
        return with_ends(found)
    return in_percent(found)
