"""Which texts take no part, and which end of a metric is better: asked once for all looks at the scores."""

from dataclasses import replace

import streamlit as st

from core.results.choices import (
    AS_GIVEN,
    ITEM,
    TableChoice,
    chosen_people,
    chosen_table,
    columns_to_leave_out,
    values_to_leave_out,
    with_directions,
)
from core.schema.scores import Direction, RatingSet, ScoreTable
from pages.components import metrics_kept
from pages.components.messages import plain
from pages.components.metrics_computed import Key
from pages.components.metrics_scores import Scores
from pages.components.parts import places

_MOST_OFFERED = 5_000
"""Values of a column that a menu can hold."""
_PLURALS = {"system": "systems", ITEM: "items", "language": "languages", "level": "levels"}


def choose(scores: Scores, slot: str) -> Scores:
    """The scores without the texts to leave out, with the declared directions; what was chosen is said below."""
    table = scores.table
    place = f"{slot}_{scores.chosen[0]}_{scores.chosen[1]}"
    with st.expander("Leave out texts, or say which end of a metric is better"):
        leave_out = _leave_out(table, place)
        directions = _directions(table, place)
    choice = TableChoice(leave_out, directions)
    if choice == AS_GIVEN:
        return scores
    key = (*scores.key, choice)
    found = _chosen(key, table, choice)
    said = tuple(note for note in found.notes if note not in table.notes)
    metrics_kept.read_notes(said)
    return replace(scores, key=key, table=found, choice=choice, said=said)


def people(scores: Scores, ratings: RatingSet, key: Key) -> RatingSet:
    """The ratings without those of texts left out. key: names the ratings."""
    return ratings if not scores.choice.leave_out else _people((*scores.key, *key), ratings, scores)


def _leave_out(table: ScoreTable, place: str) -> tuple[tuple[str, str], ...]:
    chosen: list[tuple[str, str]] = []
    # Systems first: that is what most people leave out.
    columns = sorted(columns_to_leave_out(table), key=lambda name: name != "system")
    offered = {name: values for name in columns if len(values := values_to_leave_out(table, name)) > 1}
    for (name, values), where in zip(offered.items(), places(), strict=False):
        if len(values) > _MOST_OFFERED:
            where.markdown(
                f"{len(values):,} {_PLURALS.get(name, plain(name))}: too many for a menu. `correlate --leave-out` takes any."
            )
            continue
        gone = where.multiselect(
            f"Leave out {_PLURALS.get(name, plain(name))}",
            values,
            key=f"metrics_leave_out_{name}_{place}",
            placeholder="None",
            persist_state="session",
        )
        chosen += [(name, value) for value in gone]
    return tuple(chosen)


def _directions(table: ScoreTable, place: str) -> tuple[tuple[str, Direction], ...]:
    """The metrics whose direction the user changed."""
    before: dict[str, Direction] = {one.name: one.direction for one in with_directions(table)[0].metrics}
    lower = st.multiselect(
        "Lower is better for",
        list(before),
        default=[name for name, direction in before.items() if direction == "lower"],
        key=f"metrics_lower_is_better_{place}_{len(before)}",
        placeholder="No metric",
        persist_state="session",
        help="Such as distances and error rates. Their signs are turned in every result.",
    )
    after: dict[str, Direction] = {name: "lower" if name in lower else "higher" for name in before}
    return tuple((name, direction) for name, direction in after.items() if direction != before[name])


# Resources, not data: large tables would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=6)
def _chosen(key: Key, _table: ScoreTable, choice: TableChoice) -> ScoreTable:
    return chosen_table(_table, choice)


@st.cache_resource(show_spinner=False, max_entries=6)
def _people(key: Key, _ratings: RatingSet, _scores: Scores) -> RatingSet:
    return chosen_people(_ratings, _scores.choice, _scores.table)
