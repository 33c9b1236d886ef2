"""Tab Meta-correlation: do metrics that follow known quality follow people too? A point a metric."""

from typing import get_args

import pandas as pd
import streamlit as st

from core import plots
from core.results.meta_correlation import MetaCorrelation, NothingShared, meta_correlate
from core.schema.scores import METHODS, Method
from core.store import Store
from pages.components import (
    metrics_computed,
    metrics_figure,
    metrics_kept,
    metrics_matrix,
    metrics_scores,
    metrics_sides,
    metrics_tables,
    visitor,
)
from pages.components.messages import mistakes_shown, plain
from pages.components.numbers import interval, number
from pages.components.parts import nothing, part, table

_RESAMPLES = 1_000
_LEAST_P = 0.001
"""A smaller p is not written with three decimals, where it would be zero."""
_OVER_ITEMS = (
    "Interval over items: would other texts say the same of these metrics? With few items and metrics that score alike "
    "it lies too low and misleads: simulated with 20 items it held the true value in 17 % to 87 % of cases, not in 95 %."
)
"""Figures: docs/statistics.md, Meta-correlation."""
NOTHING_SHARED = "no metric has scores on both sides; choose scores of the same metrics above"
_MOVING = "metrics_meta_moving"
"""Whether a run was at work on a side when they were last looked at."""


def render(chosen: metrics_scores.Chosen) -> None:
    """Both sides and their scatter; looks again by itself while a run is at work on either side."""
    moving = st.session_state.get(_MOVING, False)
    st.fragment(_look, run_every=metrics_scores.TICK if moving else None)(chosen, moving)


def _look(chosen: metrics_scores.Chosen, moving: bool) -> None:
    with visitor.admin_store() as store:
        part(
            "Meta-correlation",
            "Does data of known quality rank metrics as people do? Each metric has a correlation with human "
            "ratings and one with known quality; the meta-correlation is the correlation of the two over metrics.",
            "meta-correlation",
        )
        human, synthetic = _sides(store, chosen)
        if human is None or synthetic is None:
            return
        if (human.moving or synthetic.moving) != moving:
            st.session_state[_MOVING] = not moving
            st.rerun()  # the clock starts or stops
        with mistakes_shown():
            try:
                _result(human, synthetic)
            except NothingShared:  # such as a judge's run, which is the newest, and the published metrics
                nothing(NOTHING_SHARED)


def _sides(
    store: Store, chosen: metrics_scores.Chosen
) -> tuple[metrics_sides.OpenSide | None, metrics_sides.OpenSide | None]:
    found: list[metrics_sides.OpenSide | None] = [None, None]
    sides: tuple[metrics_sides.Which, ...] = get_args(metrics_sides.Which)
    for place, (column, which) in enumerate(zip(st.columns(2), sides, strict=True)):
        with column, st.container(border=True), mistakes_shown():
            st.markdown("**Human side**" if which == "human" else "**Synthetic side**")
            found[place] = metrics_sides.choose(store, which, chosen)
    return found[0], found[1]


def _result(human: metrics_sides.OpenSide, synthetic: metrics_sides.OpenSide) -> None:
    method: Method = st.segmented_control(
        "Coefficient",
        METHODS,
        default="spearman",
        format_func=str.capitalize,
        required=True,
        key="metrics_meta_method",
        persist_state="session",
        help="At both orders: of scores with quality, and of the two columns of correlations.",
    )
    first: Method = "spearman" if human.published or synthetic.published else method
    if first != method:
        st.markdown(
            f"Only Spearman correlations are published: {method.capitalize()} is taken at the second order."
        )
    with st.spinner("Computing ..."):
        found = metrics_computed.once(
            ("meta", human.key, synthetic.key, method, first),
            lambda: meta_correlate(
                human.side, synthetic.side, method=method, first_order=first, n_resamples=_RESAMPLES
            ),
        )
    _limits(found)
    metrics_figure.show(
        plots.meta_scatter(found), plots.meta_title(found), "meta-correlation", metrics_tables.points(found)
    )
    _standing(found)
    _families(found)
    metrics_matrix.render(human, synthetic, method, first)


def _limits(found: MetaCorrelation) -> None:
    """What limits the comparison, before its number: few metrics, and those left out."""
    if found.caution is not None:
        st.warning(found.caution)
    if found.dropped:
        total = found.n_metrics + len(found.dropped)
        st.markdown(f"Metrics compared: {found.n_metrics} of {total}.")
    by_reason: dict[str, list[str]] = {}
    for name, reason in found.dropped.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        st.markdown(f":small[Dropped, {plain(reason)}: {plain(', '.join(names))}.]")


def _standing(found: MetaCorrelation) -> None:
    whole = found.over_metrics
    counted = "1 metric" if found.n_metrics == 1 else f"{found.n_metrics} metrics"
    families = "1 family" if found.n_families == 1 else f"{found.n_families} families"
    said = f"n = {counted} of {families}, {len(found.dropped)} dropped."
    if found.p_two_sided is not None:
        said += f" p of no association: {_p(found.p_two_sided)} two-sided, {_p(found.p_one_sided)} one-sided."
    st.markdown(said)
    if whole.low is not None:
        st.markdown(
            f":small[Interval over metrics: would other metrics agree as well? Metrics of a family are near copies, so "
            f"it is too narrow, and p too small. {whole.n_resamples:,} resamples.]"
        )
    if found.over_items is not None:
        st.markdown(f":small[{_OVER_ITEMS}]")
    metrics_kept.read_notes(tuple(found.notes))


def _p(value: float | None) -> str:
    return f"below {_LEAST_P:g}" if value is not None and value < _LEAST_P else number(value)


def _families(found: MetaCorrelation) -> None:
    if not found.without_family:
        return
    with st.expander("Without one family at a time"):
        st.markdown("Does the result rest on one family of metrics, whose members are much alike?")
        table(
            pd.DataFrame(
                {
                    "Without": list(found.without_family),
                    "Metrics left": [one.n for one in found.without_family.values()],
                    "Meta-correlation": [number(one.estimate) for one in found.without_family.values()],
                    "Interval over metrics": [
                        interval(one.low, one.high) for one in found.without_family.values()
                    ],
                    "Note": [
                        one.reason or one.interval_reason or "" for one in found.without_family.values()
                    ],
                }
            )
        )
