"""Metrics: which metric follows quality? Scores, correlations, live meta-correlation, votes, and what papers printed."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.runs.path import at_hand
from core.runs.scoring import reading_notes
from core.store import Store
from pages.components import (
    blind_pair,
    generate_style,
    generated_level_diff,
    messages,
    metrics_computed,
    metrics_correlations,
    metrics_files,
    metrics_form,
    metrics_heat,
    metrics_levels,
    metrics_meta,
    metrics_published,
    metrics_scores,
    metrics_votes,
    run_choice,
    run_panel,
    visitor,
)
from pages.components.metrics_scores import FILE, NEW, PUBLISHED, RUN, UPLOAD, Chosen, Scores
from pages.components.parts import tabs


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
    def of_scores(look: Callable[[Store, Scores], None]) -> Callable[[], None]:
        return partial(metrics_scores.live, store, chosen, look)

    def meta() -> None:
        metrics_meta.render(chosen)

    looks: dict[str, Callable[[], None]] = {
        "Correlations": of_scores(metrics_correlations.render),
        "Levels": of_scores(metrics_levels.render),
        "Meta-correlation": meta,
        "Votes": of_scores(metrics_votes.render),
    }
    bodies: dict[str, dict[str, Callable[[], None]]] = {
        RUN: {
            "Progress": partial(_progress, store, chosen),
            **looks,
            "Published": metrics_published.render,
        },
        FILE: {
            **looks,
            "Scores": of_scores(metrics_files.render),
            "Published": metrics_published.render,
        },
        PUBLISHED: {"Published": metrics_published.render, "Meta-correlation": meta},
    }
    tabs(bodies[chosen[0]], f"metrics_part_{chosen[0]}")


def _progress(store: Store, chosen: Chosen) -> None:
    run = at_hand(store, chosen[1])
    run_panel.render(store, run.run)
    if run.kind.work == "scores":
        metrics_form.again_button(run)
        for note in metrics_computed.once(
            ("reading", run_choice.identity(run.run)),
            lambda: tuple(
                reading_notes(run.asked.chosen.specs(), metrics_scores.outputs(store, run.run).outputs)
            ),
        ):
            st.warning(messages.with_code(note))
    metrics_scores.live(store, chosen, metrics_files.render)
