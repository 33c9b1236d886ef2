"""What scores are correlated with: the damage level, or human ratings from a file."""

from dataclasses import dataclass, replace
from typing import get_args

import streamlit as st

from core.results.correlations.table import dimension_of
from core.results.joining import DEFAULT_OPTIONS, CorrelationOptions, Raters, SystemScores
from core.schema.scores import RatingSet, ScoreTable
from core.store import Store
from pages.components import metrics_kept
from pages.components.metrics_computed import Key
from pages.components.parts import nothing

_RATERS: dict[Raters, str] = {"averaged": "averaged: one mean a text", "kept": "kept: one row a rating"}
UNTIL_SETTLED = 0
RESAMPLES = (UNTIL_SETTLED, 200, 1_000, 10_000)


@dataclass(frozen=True)
class Target:
    """What to correlate with, and how."""

    ratings: RatingSet | None
    """None: the level."""
    key: Key
    options: CorrelationOptions


def has_levels(table: ScoreTable) -> bool:
    """Whether any text's quality is known by construction."""
    return any(row.level is not None for row in table.rows)


def choose(store: Store, table: ScoreTable, slot: str, *, moving: bool) -> Target | None:
    """The target; None: a file of ratings is still to be given."""
    names = {"level": "the damage level", "human": "human ratings"}
    levels = has_levels(table)
    left, right = st.columns([2, 1])
    against = left.segmented_control(
        "Against",
        list(names),
        default="level" if levels else "human",
        format_func=names.__getitem__,
        required=True,
        key=f"metrics_against_{slot}",
        persist_state="session",
    )
    chosen: int = right.selectbox(
        "Resamples for intervals",
        RESAMPLES,
        index=int(moving),
        format_func=lambda n: f"{n:,}" if n else "until settled",
        key=f"metrics_resamples_{slot}_{moving}",
        help=f"Until settled: at most {DEFAULT_OPTIONS.n_resamples:,}, fewer once each bound's Monte Carlo error is below "
        "1/20 of its interval. With many scores 10,000 take minutes. Results are kept.",
    )
    n_resamples, until_settled = chosen or DEFAULT_OPTIONS.n_resamples, chosen == UNTIL_SETTLED
    options = CorrelationOptions(n_resamples=n_resamples, until_settled=until_settled)
    if against == "level":
        raw = st.checkbox(
            "Against the level itself: a good metric is then negative",
            key=f"metrics_raw_{slot}",
            persist_state="session",
        )
        return Target(None, ("level",), replace(options, raw_level=raw))
    given = human(store, slot)
    if given is None:
        return None
    rated = st.checkbox(
        "Systems' means over rated texts only",
        key=f"metrics_system_scores_{slot}",
        persist_state="session",
        help="Otherwise a metric's score of a system is its mean over all texts, as in WMT's metrics task. People's is "
        "always over the rated ones.",
    )
    of_systems: SystemScores = "rated" if rated else "all"
    options = replace(
        given.options, n_resamples=n_resamples, until_settled=until_settled, system_scores=of_systems
    )
    return replace(given, options=options)


def human(store: Store, slot: str) -> Target | None:
    """Kept ratings and how they count; None: none is given yet."""
    file = metrics_kept.choose(store, "ratings", slot, "Human ratings")
    if file is None:
        return None
    found = metrics_kept.ratings_of(store, file)
    dimensions = list(dict.fromkeys(rating.dimension for rating in found.ratings))
    named: list[str] = []
    if len(dimensions) > 1:
        named = st.multiselect(
            "Dimensions",
            dimensions,
            default=dimensions[:1],
            key=f"metrics_dimension_{slot}_{file.file_id}",
            help="Of several, the table has each, and the mean of a text's ratings over them. All else uses the mean.",
        )
        if not named:
            nothing("choose a dimension of the ratings")
            return None
    left, right = st.columns(2, vertical_alignment="bottom")
    raters: Raters = left.selectbox(
        "Several ratings of a text are",
        get_args(Raters),
        format_func=_RATERS.__getitem__,
        key=f"metrics_raters_{slot}",
        persist_state="session",
    )
    normalise = right.checkbox(
        "Normalise each rater (z)",
        key=f"metrics_z_{slot}",
        persist_state="session",
        help="Ratings minus the rater's mean, over the rater's standard deviation: takes out who is strict.",
    )
    metrics_kept.read_notes(found.notes, found.left_out)
    metrics_kept.forget_button(store, file, slot)
    options = CorrelationOptions(raters=raters, z_normalise=normalise, dimension=dimension_of(named))
    return Target(found, (file.sha256, bool(file.options.get("lower_is_better"))), options)
