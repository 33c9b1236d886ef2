"""Metrics: which metric follows quality? Scores, correlations, live meta-correlation, votes, and what papers printed."""

from collections.abc import Callable

import streamlit as st

from core.runs.path import at_hand
from core.store import Store
from pages.components import (
    blind_pair,
    generate_style,
    generated_level_diff,
    messages,
    metrics_correlations,
    metrics_files,
    metrics_form,
    metrics_heat,
    metrics_levels,
    metrics_meta,
    metrics_published,
    metrics_reading,
    metrics_scores,
    metrics_votes,
    run_panel,
    visitor,
)
from pages.components.metrics_scores import FILE, NEW, PUBLISHED, RUN, UPLOAD, Chosen

_PROGRESS, _FILES, _CORRELATIONS, _LEVELS, _META, _VOTES, _PUBLISHED = (
    "Progress",
    "Scores",
    "Correlations",
    "Levels",
    "Meta-correlation",
    "Votes",
    "Published",
)
_TABS = {
    RUN: (_PROGRESS, _CORRELATIONS, _LEVELS, _META, _VOTES, _PUBLISHED),
    FILE: (_CORRELATIONS, _LEVELS, _META, _VOTES, _FILES, _PUBLISHED),
    PUBLISHED: (_PUBLISHED, _META),
}


def render() -> None:
    """Choose scores or make some, then look at them."""
    with visitor.admin_store() as store:
        st.title("Metrics")
        blind_pair.style()
        generate_style.style()
        generated_level_diff.style()
        metrics_heat.style()
        messages.news()
        chosen = metrics_scores.choose(store)
        if chosen[0] == NEW:
            started = metrics_form.form(store)
            if started is not None:
                metrics_scores.remember((RUN, started))
                st.rerun()
        elif chosen[0] == UPLOAD:
            metrics_scores.upload(store)
        else:
            _tabs(store, chosen)


def _tabs(store: Store, chosen: Chosen) -> None:
    names = _TABS[chosen[0]]
    # Only the open one is computed.
    for name, tab in zip(
        names, st.tabs(names, key=f"metrics_part_{chosen[0]}", on_change="rerun"), strict=True
    ):
        if tab.open:
            with tab, messages.mistakes_shown():
                _part(store, chosen, name)


def _part(store: Store, chosen: Chosen, name: str) -> None:
    if name == _PROGRESS:
        run = at_hand(store, chosen[1])
        run_panel.render(store, run.run)
        if run.kind.work == "scores":
            metrics_form.again_button(run)
            metrics_reading.render(run)
        metrics_scores.live(store, chosen, metrics_files.render)
    elif name == _META:
        metrics_meta.render(chosen)
    elif name == _PUBLISHED:
        metrics_published.render()
    else:
        metrics_scores.live(store, chosen, _BODIES[name])


_BODIES: dict[str, Callable[[Store, metrics_scores.Scores], None]] = {
    _FILES: metrics_files.render,
    _CORRELATIONS: metrics_correlations.render,
    _LEVELS: metrics_levels.render,
    _VOTES: metrics_votes.render,
}
