"""Before the first pair: consent, guidelines, three practice pairs."""

import streamlit as st

from core.schema.study import FIRST_LEVEL, Choice
from core.study.blinding import RaterDesk
from core.study.design import estimated_minutes
from core.study.guidelines import CONSENT, practice_pairs
from core.study.rated.desk import RatingDesk
from pages.annotate.around import Go
from pages.widgets import blind_pair

_TRIED = "onboarding_try_{}"


def consent(desk: RaterDesk | RatingDesk, go: Go) -> None:
    """The study's consent text; nothing of the study is shown before the rater agrees."""
    st.title("Before you start")
    st.markdown(desk.wording()[CONSENT])
    if st.button("I agree", type="primary", key="agree"):
        desk.agree()
        go("start")
    st.markdown(":small[If you do not agree, close this window: nothing is kept.]")


def guide(desk: RaterDesk, go: Go) -> None:
    """The guidelines, and how long it will take."""
    st.markdown(desk.guidelines())
    st.write(
        f"You have {desk.total} pairs, about {estimated_minutes(desk.total)} minutes in all. "
        "You can stop at any time: the same link brings you back to where you were."
    )
    if st.button("Start with three practice pairs" if desk.onboarding <= 1 else "Continue", type="primary"):
        desk.finish_step(1)
        go(f"try-{desk.onboarding}" if desk.onboarding <= len(practice_pairs()) else "start")


def practice(desk: RaterDesk, number: int, go: Go) -> None:
    """A pair to try the buttons on, with what most people would say."""
    pair = practice_pairs()[number - 1]
    st.markdown(f":small[Practice {number} of {len(practice_pairs())}: does not count]")
    blind_pair.heading(pair.question, pair.reference, "en", pair.level)
    at_first = pair.level == FIRST_LEVEL
    mode = blind_pair.diff_control("reference" if at_first else blind_pair.OWN_BASE, desk.diff_mode)
    bases = (pair.reference, pair.reference) if at_first else (pair.left_a0, pair.right_a0)
    words = desk.wording()
    blind_pair.texts(blind_pair.box_names(words), pair.left, pair.right, *bases, "en", mode)
    given: Choice | None = st.session_state.get(_TRIED.format(number))
    # What follows a press is beside the buttons: below a long page nobody would see it.
    place = blind_pair.choice_place()
    labels = blind_pair.choice_labels(words)
    pressed = blind_pair.choice_buttons(place, f"p{number}", labels, given)
    if pressed:
        st.session_state[_TRIED.format(number)] = pressed
        st.rerun()
    if given:
        agreed = "Most people would agree." if given == pair.expected else "Another choice fits better here."
        place.info(f"{agreed} {pair.hint}")
        last = number == len(practice_pairs())
        if place.button("Start the study" if last else "Next practice pair", type="primary"):
            desk.finish_step(number + 1)
            go("start" if last else f"try-{number + 1}")
