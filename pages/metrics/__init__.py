"""The page Metrics: which metric follows quality? Scores, correlations, meta-correlation and published tables."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import streamlit as st

from core.runs.jobs import RunAtHand
from core.runs.path import saved_run
from core.store import Store
from pages.metrics import big_table, correlations, form, meta_correlation, published, scored_texts
from pages.tabs import downloads, levels, moved
from pages.widgets import (
    address,
    blind_pair,
    chosen_scores,
    level_diff,
    messages,
    parts,
    result_table,
    run_panel,
    visitor,
)
from pages.widgets.address import slug
from pages.widgets.chosen_scores import FILE, NEW, PUBLISHED, RUN, UPLOAD_SCORES, Chosen, Scores
from pages.widgets.parts import tabs


def render() -> None:
    """Show the chosen scores, or the form of a new run."""
    with visitor.admin_store() as store, _view(store):
        parts.page("Metrics", "Which metric follows quality?", "metrics")
        blind_pair.style()
        parts.style()
        level_diff.style()
        result_table.style()
        messages.news()
        chosen = chosen_scores.choose(store)
        if chosen[0] == NEW:
            started = form.form(store)
            if started is not None:
                chosen_scores.remember((RUN, started))
                st.rerun()
        elif chosen[0] == UPLOAD_SCORES:
            chosen_scores.upload(store)
        elif (run := big_table.run_of(store, chosen)) is not None:
            _tabs_of_big_table(store, run)
        else:
            _tabs(store, chosen)


@contextmanager
def _view(store: Store) -> Iterator[None]:
    """Keep the choices in the address, or leave an old one."""
    moved.follow("metrics", store)
    with address.kept("page"):
        yield


def _tabs(store: Store, choice: Chosen) -> None:
    def of_scores(look: Callable[[Store, Scores], None]) -> Callable[[], None]:
        return partial(chosen_scores.live, store, choice, partial(_kept, look))

    def meta() -> None:
        meta_correlation.render(choice)

    looks: dict[str, Callable[[], None]] = {
        "Correlations": of_scores(correlations.render),
        "Levels": of_scores(levels.render),
        "Meta-correlation": meta,
    }
    bodies: dict[str, dict[str, Callable[[], None]]] = {
        RUN: {
            "Progress": partial(_progress, store, choice),
            **looks,
            "Published": published.render,
        },
        FILE: {
            **looks,
            "Scores": of_scores(downloads.scores_to_take),
            "Published": published.render,
        },
        PUBLISHED: {"Published": published.render, "Meta-correlation": meta},
    }
    own, key = bodies[choice[0]], f"metrics_part_{choice[0]}"
    tabs(own, address.one("part", key, list(own), next(iter(own)), slug))


def _tabs_of_big_table(store: Store, run: RunAtHand) -> None:
    bodies: dict[str, Callable[[], None]] = {
        "Progress": partial(run_panel.render, store, run.run),
        "Estimates": partial(big_table.estimates_of, run),
        "Texts": partial(scored_texts.render, run),
        **{name: partial(big_table.not_here, run, name) for name in big_table.NOT_HERE},
        "Published": published.render,
    }
    tabs(bodies, address.one("part", "metrics_part_table", list(bodies), next(iter(bodies)), slug))


def _kept(look: Callable[[Store, Scores], None], store: Store, scores: Scores) -> None:
    with address.kept("look"):
        look(store, scores)


def _progress(store: Store, choice: Chosen) -> None:
    run = saved_run(store, choice[1])
    run_panel.render(store, run.run)
    if run.kind.work == "scores":
        form.again_button(run)
        parts.constants(chosen_scores.unread(store, run.run))
    chosen_scores.live(store, choice, downloads.scores_to_take, may_hold=False)
