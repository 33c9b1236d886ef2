"""The two sides of a meta-correlation: live scores, correlations from a file, or what a paper printed."""

from dataclasses import dataclass
from typing import Literal

import streamlit as st

from core.errors import InputError
from core.formats.correlations import published_names, published_side
from core.results.meta_correlation import LiveSide, Side
from core.store import Store
from pages.components import metrics_against, metrics_choice, metrics_kept, metrics_scores
from pages.components.metrics_computed import Key

Which = Literal["human", "synthetic"]
_FROM: dict[Which, dict[str, str]] = {
    "human": {
        "published": "Published",
        "file": "Correlations from a file",
        "live": "Scores and human ratings",
    },
    "synthetic": {
        "live": "Scores by level",
        "file": "Correlations from a file",
        "published": "Published",
    },
}


@dataclass(frozen=True)
class OpenSide:
    """A side, and what changes with it."""

    side: Side
    key: Key
    moving: bool = False
    """A run is at work on its scores."""
    published: bool = False
    """Only Spearman correlations are known of it."""


def choose(store: Store, which: Which, shown: metrics_scores.Chosen) -> OpenSide | None:
    """One side; None: a file is still to be given. `shown`: the scores that the page shows."""
    names = dict(_FROM[which])
    if not metrics_scores.named(store):
        names.pop("live")
    known = bool(shown[1]) and metrics_against.has_levels(metrics_scores.open_scores(store, shown).table)
    # Scores of texts whose quality nobody fixed meet ratings, and stand on the other side.
    rated = bool(shown[1]) and not known
    first = "live" if rated == (which == "human") and shown[1] else "published"
    came = st.radio(
        "From",
        list(names),
        index=list(names).index(first),
        format_func=names.__getitem__,
        horizontal=True,
        key=f"metrics_side_{which}_{bool(shown[1])}_{known}",
        persist_state="session",
    )
    if came == "published":
        return _published(which)
    if came == "file":
        return _file(store, which)
    return _live(store, which, shown)


def _published(which: Which) -> OpenSide:
    # published:DATASET is what people said, published:DATASET:GENERATOR:SHOTS what damage said.
    names = [name for name in published_names() if (name.count(":") == 1) == (which == "human")]
    chosen = st.selectbox("Column", names, key=f"metrics_published_side_{which}", persist_state="session")
    return OpenSide(published_side(chosen), (chosen,), published=True)


def _file(store: Store, which: Which) -> OpenSide | None:
    file = metrics_kept.choose(store, "correlations", which, f"Correlations of the {which} side")
    if file is None:
        return None
    found = metrics_kept.correlations_of(store, file, synthetic=which == "synthetic")
    metrics_kept.read_notes(found.notes)
    metrics_kept.forget_button(store, file, f"side_{which}")
    return OpenSide(found, (which, file.sha256))


def _live(store: Store, which: Which, shown: metrics_scores.Chosen) -> OpenSide | None:
    names = metrics_scores.named(store)
    options = list(names)
    # Another key for other scores: what the page shows is what stands here until somebody changes it.
    chosen = st.selectbox(
        "Scores",
        options,
        index=options.index(shown) if shown in options else 0,
        format_func=names.__getitem__,
        key=f"metrics_live_{which}_{shown[0]}_{shown[1]}",
    )
    scores = metrics_choice.choose(metrics_scores.open_scores(store, chosen), f"side_{which}")
    if which == "synthetic":
        if scores.table.rows and not metrics_against.has_levels(scores.table):
            raise InputError(
                "These scores name no levels: choose others, or put them on the human side with ratings."
            )
        side = LiveSide(scores.name, scores.table)
        return OpenSide(side, scores.key, scores.moving)
    target = metrics_against.human(store, "side")
    if target is None:
        return None
    ratings = None if target.ratings is None else metrics_choice.people(scores, target.ratings, target.key)
    side = LiveSide(scores.name, scores.table, ratings, target.options)
    return OpenSide(side, (*scores.key, *target.key, target.options), scores.moving)
