"""Where people and judge differ most: the list with its filters, and the text that is chosen in it."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.analyses.gaps import ANALYSIS, GapsOptions
from core.report import number, written
from core.results.check.gaps import (
    GAP,
    Gap,
    find_gaps,
    find_text,
    gap_list,
    groups_of,
    reason_of,
    texts_by_item,
)
from core.results.correlations.points import text_key
from core.schema.analysis import Answer
from core.schema.panel import Panel, TextBeside
from core.schema.result_table import Column
from pages.widgets import address, analysis, level_diff
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, part, places, told_apart

_MOST = 200
"""Texts in the menu; the filters lead to any other."""
_ALL = "all"
_DIRECTIONS = {_ALL: "Both", "higher": "Judge too high", "lower": "Judge too low"}


def show_gaps(
    panel: Panel, texts: Callable[[], Sequence[TextBeside]] = tuple, *, key: str = "check_gaps"
) -> None:
    """Show the list, largest gap first, and the chosen text with everybody's label and the judge's reasons.

    texts: returns what is known about the panel's texts beside labels (`texts_in`, `texts_beside`), if anything. key: prefix of the widgets' keys. The address holds the filters and the text.
    """
    part(
        ANALYSIS.title,
        "The largest gaps come first. Read some of them: is the judge wrong, or a person?",
        ANALYSIS.section,
    )
    found = find_gaps(panel)
    if not found:
        nothing("no text has both a rating and a score")
        return
    kept = _filtered(panel, found, key)
    if not kept:
        nothing("no text is left with these filters")
        return
    level_diff.style()
    _text(panel, _chosen(panel, kept[:_MOST], key), texts())
    answer = Answer(ANALYSIS, GapsOptions(), gap_list(panel, kept))
    analysis.show_tables(answer, answer.tables)


def _filtered(panel: Panel, gaps: Sequence[Gap], key: str) -> Sequence[Gap]:
    """Choose the judge, the direction and a group; return the gaps that are left."""
    place = places(3)
    judges = list(dict.fromkeys(name for name in panel.judges if any(one.judge == name for one in gaps)))
    if len(judges) > 1:
        judge = next(place).selectbox(
            "Judge",
            judges,
            key=address.one("gaps-judge", f"{key}_judge", judges, judges[0], address.place_among(judges)),
        )
        gaps = [one for one in gaps if one.judge == judge]
    if any(one.direction for one in gaps):
        ways = list(_DIRECTIONS)
        way = next(place).selectbox(
            "Direction",
            ways,
            format_func=_DIRECTIONS.__getitem__,
            key=address.one("gaps-direction", f"{key}_direction", ways, _ALL),
        )
        gaps = [one for one in gaps if way in (_ALL, one.direction)]
    groups = {
        f"{column}: {value}": rows
        for column, values in groups_of(panel, gaps).items()
        for value, rows in values.items()
    }
    if groups:
        names = [_ALL, *groups]
        group = next(place).selectbox(
            "Texts",
            names,
            format_func=lambda name: "All" if name == _ALL else name,
            key=address.one("gaps-group", f"{key}_group", names, _ALL, address.place_among(names)),
        )
        if group in groups:
            gaps = [one for one in gaps if one.row in groups[group]]
    return gaps


def _chosen(panel: Panel, gaps: Sequence[Gap], key: str) -> Gap:
    """Choose a text; at first the one with the largest gap."""
    by_key = {text_key(panel.rows[one.row]): one for one in gaps}
    said = told_apart(_name_of(panel, one) for one in by_key.values())
    names = dict(zip(by_key, said, strict=True))
    place = f"{key}_text"
    if st.session_state.get(place) not in by_key:
        st.session_state.pop(place, None)  # hidden by a filter
    chosen = st.selectbox(
        "Text, largest gap first",
        list(names),
        format_func=lambda one: names.get(one, one),
        key=address.one("gaps-text", place, list(by_key), next(iter(by_key))),
    )
    return by_key[chosen]


def _name_of(panel: Panel, one: Gap) -> str:
    row = panel.rows[one.row]
    systems = {text.system for text in panel.rows}
    named = [
        row.item_id,
        *([row.system] if len(systems) > 1 else []),
        *([f"level {row.level}"] if row.level else []),
    ]
    return f"{', '.join(named)}: gap {number(one.gap, GAP)}"


def _text(panel: Panel, one: Gap, texts: Sequence[TextBeside]) -> None:
    """Show everybody's label, the question, the text and the judge's reasons."""
    row = panel.rows[one.row]
    label = Column("label", general=True)

    def word(value: float) -> str:
        return "none" if value != value else written(panel.scale.words.get(value, value), label)

    labels = [
        f"{plain(name)}: **{plain(word(float(value)))}**"
        for name, value in zip(panel.raters, panel.ratings[one.row], strict=True)
    ]
    st.markdown("People: " + ", ".join(labels) + f". Judge {plain(one.judge)}: **{plain(word(one.score))}**.")
    beside = find_text(row, texts_by_item(texts).get(row.item_id, ()))
    said = reason_of(beside, one.judge)
    shown = [
        (title, words)
        for title, words in (
            ("Question or source", beside.question if beside else ""),
            ("Text", beside.text if beside else ""),
            ("The judge's reasons", said),
        )
        if words
    ]
    if not shown:
        nothing("neither the file nor the run has this text")
    for place, (title, words) in zip(places(len(shown) or 1, "top"), shown, strict=False):
        with place:
            level_diff.plain_card(title, words, row.language)
