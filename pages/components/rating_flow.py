"""A rater's way through a rating study: consent, guidelines with what is asked, text after text, grid, end."""

import streamlit as st

from core.study.rated.desk import RatingDesk
from pages.components import onboarding, pair_list, rating_scales, rating_text, screen_top, visitor
from pages.components.pair_list import Go

_UNIT = "text"


def show(desk: RatingDesk, go: Go) -> None:
    """The place that the address names, if this rater may be there, else where they left off."""
    place = _place(desk)
    screen_top.screen_top(place)
    if not place.isdecimal():
        rating_text.leave()
    if place == "consent":
        onboarding.consent(desk, go)
    elif place == "guide":
        _guide(desk, go)
    elif place == "list":
        pair_list.overview(desk, go, _UNIT)
    elif place == "finish":
        pair_list.finish(desk, go, _UNIT)
    elif place == "end":
        pair_list.completion(desk)
    else:
        rating_text.show(desk, int(place), go)


def _place(desk: RatingDesk) -> str:
    asked = st.query_params.get(visitor.PLACE, "")
    if desk.asks_consent:
        place = "consent"
    elif desk.finished:
        place = "end"
    elif asked == "guide" or desk.onboarding == 0:
        place = "guide"
    elif (
        asked == "list"
        or (asked == "finish" and desk.next_open() is None)
        or (asked.isdecimal() and len(asked) < 9 and 1 <= int(asked) <= desk.total)
    ):
        place = asked
    else:
        place = str(desk.next_open() or "finish")
    if place != asked:
        st.query_params[visitor.PLACE] = place
    return place


def _guide(desk: RatingDesk, go: Go) -> None:
    """The guidelines, and what this study asks of every text."""
    st.markdown(desk.guidelines())
    rating_scales.explained(desk.task)
    st.write(
        f"You have {desk.total} {_UNIT}{'' if desk.total == 1 else 's'}. You can stop at any time: the same link brings you back to where you were."
    )
    if st.button("Start" if desk.onboarding == 0 else "Continue", type="primary", key="start"):
        desk.finish_step(1)
        go("start")
