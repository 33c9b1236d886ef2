"""Tabs Meta-correlation and Published: does known quality rank metrics as people do, and what did papers publish?"""

from dataclasses import dataclass
from typing import Literal, cast, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses import analysis
from core.analyses.meta_correlate import DATASET, MetaCorrelateOptions
from core.errors import InputError
from core.formats.correlations import (
    PREFIX,
    published_names,
    published_side,
)
from core.results.meta_correlation import (
    LiveSide,
    NothingShared,
    Side,
    Sides,
)
from core.store import Store
from pages.metrics.correlations import columns_of
from pages.widgets import against, chosen_scores, visitor
from pages.widgets.analysis import Data, answer_of, form, show_said, show_tables
from pages.widgets.chosen_scores import Key
from pages.widgets.messages import mistakes_shown
from pages.widgets.parts import nothing, part

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
    """One side of a meta-correlation, and the key that changes with it."""

    side: Side
    key: Key
    moving: bool = False
    """Whether a run is still producing its scores."""
    published: bool = False
    """Whether it is a published column, of which only Spearman correlations are known."""


def choose(store: Store, which: Which, shown: chosen_scores.Chosen) -> OpenSide | None:
    """Choose one side; None until it is chosen. shown: the scores that the page shows, which are preset on their side.

    The other side has no preset: sides of unlike texts would give a number that nobody asked for.
    """
    names = dict(_FROM[which])
    if not chosen_scores.named(store):
        names.pop("live")
    known = bool(shown[1]) and against.has_levels(chosen_scores.open_scores(store, shown).table)
    # Scores of texts without levels can only be compared with ratings, so they belong to the human side.
    rated = bool(shown[1]) and not known
    preset = "live" if rated == (which == "human") and shown[1] else None
    came = st.radio(
        "From",
        list(names),
        index=None if preset is None else list(names).index(preset),
        format_func=names.__getitem__,
        horizontal=True,
        key=f"metrics_side_{which}_{bool(shown[1])}_{known}",
        persist_state="session",
    )
    if came is None:
        nothing(f"no {which} side is chosen")
        return None
    if came == "published":
        return _published(which)
    if came == "file":
        return _file(store, which)
    return _live(store, which, shown)


def _published(which: Which) -> OpenSide | None:
    # published:DATASET is a human column, published:DATASET:GENERATOR:SHOTS a synthetic one.
    names = [name for name in published_names() if (name.count(":") == 1) == (which == "human")]
    chosen = st.selectbox(
        "Column",
        names,
        index=None,
        placeholder="Choose a column",
        key=f"metrics_published_side_{which}",
        persist_state="session",
    )
    if chosen is None:
        return None
    return OpenSide(published_side(chosen), (chosen,), published=True)


def _file(store: Store, which: Which) -> OpenSide | None:
    file = chosen_scores.choose_kept(store, "correlations", which, f"Correlations of the {which} side")
    if file is None:
        return None
    found = chosen_scores.correlations_of(store, file, synthetic=which == "synthetic")
    chosen_scores.read_notes(found.notes)
    chosen_scores.forget_button(store, file, f"side_{which}")
    return OpenSide(found, (which, file.sha256))


def _live(store: Store, which: Which, shown: chosen_scores.Chosen) -> OpenSide | None:
    names = chosen_scores.named(store)
    options = list(names)
    # The key names the page's scores: they are preselected here until the user chooses others.
    chosen = st.selectbox(
        "Scores",
        options,
        index=options.index(shown) if shown in options else None,
        placeholder="Choose scores",
        format_func=names.__getitem__,
        key=f"metrics_live_{which}_{shown[0]}_{shown[1]}",
    )
    if chosen is None:
        return None
    scores = against.choose_rows(chosen_scores.open_scores(store, chosen), f"side_{which}")
    if which == "synthetic":
        if scores.table.rows and not against.has_levels(scores.table):
            raise InputError(
                "These scores have no levels. Choose others, or use them on the human side with ratings."
            )
        side = LiveSide(scores.name, scores.table)
        return OpenSide(side, scores.key, scores.moving)
    target = against.human(store, "side")
    if target is None:
        return None
    ratings = None if target.ratings is None else against.people(scores, target.ratings, target.key)
    side = LiveSide(scores.name, scores.table, ratings, target.use)
    return OpenSide(side, (*scores.key, *target.key, target.use.model_dump_json()), scores.moving)


NOTHING_SHARED = "the two sides share no metric; choose scores of the same metrics"
_MOVING = "metrics_meta_moving"
"""Where the session stores whether a run was still producing scores of a side at the last refresh."""


def render(choice: chosen_scores.Chosen) -> None:
    """Show both sides and their scatter; refreshes itself while a run works on either side."""
    moving = st.session_state.get(_MOVING, False)
    st.fragment(_look, run_every=chosen_scores.TICK if moving else None)(choice, moving)


def _look(choice: chosen_scores.Chosen, moving: bool) -> None:
    with visitor.admin_store() as store:
        found = analysis("meta-correlate")
        part(found.title, found.question, found.section)
        verdict = st.container()  # above the sides, which take most of a screen
        human, synthetic = _sides(store, choice)
        if human is None or synthetic is None:
            return
        if (human.moving or synthetic.moving) != moving:
            st.session_state[_MOVING] = not moving
            st.rerun()  # the clock starts or stops
        with mistakes_shown():
            try:
                _result(human, synthetic, verdict)
            except NothingShared:  # such as a judge's run, which is the newest, and the published metrics
                nothing(NOTHING_SHARED)


def _sides(store: Store, choice: chosen_scores.Chosen) -> tuple[OpenSide | None, OpenSide | None]:
    found: list[OpenSide | None] = [None, None]
    sides: tuple[Which, ...] = get_args(Which)
    for place, (column, which) in enumerate(zip(st.columns(2), sides, strict=True)):
        with column, st.container(border=True), mistakes_shown():
            st.markdown("**Human side**" if which == "human" else "**Synthetic side**")
            found[place] = choose(store, which, choice)
    return found[0], found[1]


def _result(human: OpenSide, synthetic: OpenSide, verdict: DeltaGenerator) -> None:
    """Ask for the options; show what they give, the sentences above the sides."""
    found, moving = analysis("meta-correlate"), human.moving or synthetic.moving
    columns = columns_of(synthetic.side.table) if isinstance(synthetic.side, LiveSide) else []
    settled = {"n_resamples": 0} if moving else {}
    options = cast("MetaCorrelateOptions", form(found, {"by": columns, "over": columns}, settled))
    humans, key = {"": human.side}, human.key
    if human.published and DATASET in options.columns and isinstance(synthetic.side, LiveSide):
        humans, key = _dataset_sides(human, synthetic.side)
    sides = Sides(humans, synthetic.side)
    grows = (human.side.name, synthetic.side.name) if moving else None
    answer = answer_of(found, options, Data((key, synthetic.key), lambda: sides, grows=grows))
    with verdict:
        show_said(answer)
    show_tables(answer, answer.tables)


def _dataset_sides(human: OpenSide, synthetic: LiveSide) -> tuple[dict[str, Side], Key]:
    """The published human column of each data set, where all have one; else the chosen side for all."""
    names = {row.labels.get(DATASET, "") for row in synthetic.table.rows}
    printed = set(published_names())
    if names and all(PREFIX + name in printed for name in names):
        st.markdown(":small[Each data set is compared with its own published human column.]")
        return {name: published_side(PREFIX + name) for name in sorted(names)}, tuple(sorted(names))
    return {"": human.side}, human.key
