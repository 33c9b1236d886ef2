"""The tab Texts of a rating study: every text with its ratings, and what raters marked in it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from core.errors import counted
from core.report import number as number_in
from core.results.study.results import reasons
from core.results.study.text_list import (
    GAP,
    RatingOnText,
    TextFilter,
    TextList,
    judged_texts,
    text_list,
    text_table,
    texts_shown,
)
from core.schema.result_table import Column
from core.schema.study import Study
from core.store import Store
from core.study.blinding import SPAN_DIMENSION
from core.study.ratings import task_of
from pages.studies.list_filters import (
    Listing,
    clear,
    folded,
    held,
    one_menu,
    pills,
    place_code,
    several_menu,
)
from pages.widgets import address, level_diff, marked_errors, open_study, rendered
from pages.widgets.messages import plain, showable
from pages.widgets.parts import nothing, number, table

_KINDS = ("disagree", "flagged", "unrated")
"""Fields of a TextFilter that a pill sets."""
_NAMES: Mapping[str, str] = {"disagree": "raters disagree", "flagged": "flagged", "unrated": "not rated"}
_SCORE = Column("score", places=2, general=True)
_CONFIG = {
    "item": st.column_config.TextColumn("item", width=70),
    "level": st.column_config.TextColumn("level", width=60),
    "question": st.column_config.TextColumn("question", width="medium"),
    "mean": st.column_config.NumberColumn("mean", format="%.2f", width=70),
    "spread": st.column_config.NumberColumn("spread", format="%.2f", width=70),
    "gap": st.column_config.NumberColumn("gap", format="%.2f", width=70),
    "seconds": st.column_config.NumberColumn("seconds", format="%.0f", width=80),
    "comments": st.column_config.NumberColumn("comments", width=90),
}


def render(store: Store, study: Study) -> None:
    """Show every text of an unblinded study with its ratings."""
    marked_errors.style()
    key, found = _LISTING.of(store, study)
    asked, judges = _choices(found)
    n_shown, n_all = len(_LISTING.places(key, found, asked)), len(found.texts)
    if not n_shown:
        _none(found, asked)
        return
    left_out = f" Ratings that do not count: {plain(reasons(found.left_out))}." if found.left_out else ""
    counted_line = f"{n_shown:,} of {counted(n_all, 'text')}.{left_out}"
    place, beside = _places(found)["open"], partial(_ratings_on, found)
    at = _LISTING.show(key, found, asked, judges, place, n_all, counted_line, beside)
    _text(found, at, asked.dimension)


_LISTING = Listing[TextList, TextFilter](
    "text",
    text_list,
    judged_texts,
    texts_shown,
    lambda found, at, asked, judges: text_table(found, at, asked.dimension, judges),
    _CONFIG,
)


def _places(found: TextList) -> Mapping[str, str]:
    """Where the session stores each filter."""
    names = ("show", "dimension", "system", "level", "rater", "judge", "column", "open")
    return {name: f"study_texts_{name}_{found.record.study.study_id}" for name in names}


def _choices(found: TextList) -> tuple[TextFilter, tuple[str, ...]]:
    """Show the filters; return which texts are asked for, and the judges with a column."""
    study, places = found.record.study, _places(found)
    raters = {rater.rater_id: at for at, rater in enumerate(found.record.raters, start=1)}
    address.several("show", places["show"], _KINDS)
    address.one(
        *("dimension", places["dimension"], found.dimensions, found.dimensions[0]),
        partial(place_code, found.dimensions),
    )
    address.several("system", places["system"], found.systems, (), partial(place_code, found.systems))
    address.several("level", places["level"], study.levels, (), partial(place_code, study.levels))
    address.one("rater", places["rater"], found.raters, None, lambda rater: str(raters[rater]))
    address.one("judge", places["judge"], found.judges, None, open_study.judge_code)
    address.several("column", places["column"], found.judges, (), open_study.judge_code)
    asked = TextFilter(
        systems=tuple(held(places["system"], found.systems)),
        levels=tuple(held(places["level"], study.levels)),
        rater=next(iter(held(places["rater"], found.raters)), ""),
        judge=next(iter(held(places["judge"], found.judges)), ""),
        dimension=next(iter(held(places["dimension"], found.dimensions)), found.dimensions[0]),
    )
    asked = _pill_filters(asked, *held(places["show"], _KINDS))
    with st.container(horizontal=True, vertical_alignment="center"):
        _menus(found, asked, places)
        if asked != TextFilter(dimension=asked.dimension) and texts_shown(found, asked).size:
            _clear(found, places, "filters")
    chosen = held(places["column"], found.judges)
    return asked, tuple(name for name in found.judges if name in chosen or name == asked.judge)


def _pill_filters(wanted: TextFilter, *kinds: str) -> TextFilter:
    """The filters with these of the pills and no other."""
    disagree, flagged, unrated = (kind in kinds for kind in _KINDS)
    return replace(wanted, disagree=disagree, flagged=flagged, unrated=unrated)


def _menus(found: TextList, wanted: TextFilter, places: Mapping[str, str]) -> None:
    """Show the pills, each with the number of texts that it leaves within the other filters, and the menus."""
    numbers = {kind: len(texts_shown(found, _pill_filters(wanted, kind))) for kind in _KINDS}
    offered = [kind for kind, n in numbers.items() if n or getattr(wanted, kind)]
    pills(offered, lambda kind: f"{_NAMES[kind]} {numbers[kind]:,}", places["show"])
    if len(found.dimensions) > 1:
        st.segmented_control(
            "Dimension",
            found.dimensions,
            required=True,
            format_func=plain,
            key=places["dimension"],
            label_visibility="collapsed",
            persist_state="session",
            width="content",
            wrap=True,
        )
    if len(found.systems) > 1:
        several_menu("All systems", "System", found.systems, places["system"])
    if len(found.record.study.named_levels) > 1:
        several_menu("All levels", "Level", found.record.study.levels, places["level"])
    if len(found.raters) > 1:
        one_menu("All raters", "Ratings of a rater", found.raters, places["rater"], showable)
    if found.judges:
        one_menu("Far from a judge", "Texts furthest from a judge", found.judges, places["judge"], showable)
        several_menu("Columns of judges", "Judges with a column", found.judges, places["column"])


def _set(places: Mapping[str, str]) -> None:
    """Ask for every text."""
    for name in ("show", "system", "level"):
        st.session_state[places[name]] = []
    for name in ("rater", "judge"):
        st.session_state[places[name]] = None


def _clear(found: TextList, places: Mapping[str, str], key: str) -> None:
    clear(f"All {len(found.texts):,} texts", f"study_texts_clear_{key}", partial(_set, places))


def _none(found: TextList, wanted: TextFilter) -> None:
    said = [_NAMES[kind] for kind in _KINDS if getattr(wanted, kind)]
    said += [f"system {', '.join(wanted.systems)}"] if wanted.systems else []
    said += [f"level {', '.join(wanted.levels)}"] if wanted.levels else []
    said += [f"a rating by {wanted.rater}"] if wanted.rater else []
    said += [f"a score of {wanted.judge} beside ratings"] if wanted.judge else []
    if not said:
        nothing("the study has no text")
        return
    st.info(f"No text fits these filters: {plain('; '.join(said))}.")
    _clear(found, _places(found), "none")


def _ratings_on(found: TextList, at: int) -> None:
    """Show which text it is and what every rater gave it, in one line."""
    text, ratings = found.texts[at], found.ratings_of(at)
    said = [f"**{plain(text.source)}**", *([plain(text.level)] if text.level else [])]
    said += [f"item {plain(text.item_id)}", *(_rating_said(found, one) for one in ratings)]
    said += [] if ratings else ["nobody has rated it"]
    st.markdown(" · ".join(said), width="content")


def _rating_said(found: TextList, one: RatingOnText) -> str:
    more = [] if one.seconds is None else [f"{number(one.seconds, 0)} s"]
    more += ["flagged"] if one.flagged else []
    more += [f"repeat: {_scores_said(found, one.again)}"] if one.again else []
    more += [f"not counted: {plain(one.left_out)}"] if one.left_out else []
    said = _scores_said(found, one.scores) or "not done"
    return f"{plain(one.rater)}: **{said}**" + (f" ({', '.join(more)})" if more else "")


def _scores_said(found: TextList, scores: Mapping[str, float]) -> str:
    several = len(found.dimensions) > 1
    return ", ".join(
        f"{f'{plain(name)} ' if several else ''}{number_in(scores[name], _SCORE)}"
        for name in found.dimensions
        if name in scores
    )


def _text(found: TextList, at: int, dimension: str) -> None:
    """Show one text: its source, comments, judges, the errors that raters marked, and its reference."""
    text = found.texts[at]
    item, ratings = found.items[text.item_id], found.ratings_of(at)
    for one in ratings:
        for comment in one.comments:
            st.markdown(f"{plain(one.rater)}: “{plain(comment)}”")
    parts: dict[str, Callable[[], None]] = {}
    if found.judges:
        parts[f"Judges: {len(found.judges):,}"] = partial(_judges, found, at, dimension)
    shown = found.record.study.design.shown
    if item.reference:
        parts["Reference"] = partial(level_diff.shown_card, "Reference", item.reference, item.language, shown)
    rendered.set_formulas(shown)
    folded(parts)
    level_diff.item_turns(item, shown, at)
    if item.question:
        level_diff.shown_card("Source", item.question, item.language, shown.question)
    if task_of(found.record).spans is None:
        level_diff.shown_card("Text", text.text, item.language, shown)
        return
    marking = [one for one in ratings if SPAN_DIMENSION in one.scores]
    errors = [
        error
        for one in marking
        for error in marked_errors.marked_by(
            text.text, one.spans, "" if len(marking) == 1 and not one.left_out else _rater_name(one)
        )
    ]
    empty = "No error is marked." if marking else "Nobody marked errors in this text."
    marked_errors.card("Text", text.text, marked_errors.sort_by_place(errors), item.language, empty)
    if errors:
        st.markdown(f":small[{marked_errors.LINES_SAID}]")


def _rater_name(one: RatingOnText) -> str:
    return f"{one.rater} (not counted)" if one.left_out else one.rater


def _judges(found: TextList, at: int, dimension: str) -> None:
    """Show every judge's score of the text, and how far it is from people."""
    assert found.scores is not None, "a judge has scores"
    gaps = [float(found.gaps(judge, dimension)[at]) for judge in found.judges]
    table(
        pd.DataFrame(
            {
                "Judge": found.judges,
                "Score": [_number(float(score)) for score in found.scores[at]],
                "Gap": [_number(gap, GAP) for gap in gaps],
            }
        )
    )


def _number(value: float, column: Column = _SCORE) -> str:
    return "–" if value != value else number_in(value, column)
