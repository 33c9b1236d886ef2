"""The rater's only page: guidelines, practice, then one blind pair after the other, saved before the next."""

import streamlit as st

from core.errors import AssayError
from core.schema import FIRST_LEVEL, Choice
from core.study.blinding import RaterDesk
from core.study.design import estimated_minutes
from core.study.guidelines import practice_pairs
from pages.components import blind_pair, pair_list, rating, visitor


def render() -> None:
    """Show the place on the rater's way that the address names: it survives reload, Back and restarts."""
    try:
        with visitor.rater_desk(st.query_params.get("t", "")) as desk:
            _show(desk)
    except AssayError as problem:
        st.error(visitor.said_to_rater(problem))


def _show(desk: RaterDesk) -> None:
    blind_pair.style()
    if desk.dry_run:
        st.info("Preview: your answers are marked as a dry run and never counted.")
    if desk.closed_reason:
        st.title("Nothing to do here now")
        st.write(desk.closed_reason)
        return
    place = _place(desk)
    if place == "guide":
        _guide(desk)
    elif place.startswith("try-"):
        _practice(desk, int(place.removeprefix("try-")))
    elif place == "list":
        pair_list.overview(desk, _go)
    elif place == "end":
        pair_list.completion(desk, _go)
    else:
        rating.show(desk, int(place), _go)


def _place(desk: RaterDesk) -> str:
    """Where the address says we are, or where this rater left off."""
    asked = st.query_params.get("at", "")
    tries = {f"try-{number}" for number in range(1, len(practice_pairs()) + 1)}
    if asked == "guide" or (desk.onboarding >= 1 and asked in tries):
        return asked
    if desk.onboarding > len(tries):
        if asked in ("list", "end") or (
            asked.isdecimal() and len(asked) < 9 and 1 <= int(asked) <= desk.total
        ):
            return asked
        place = str(desk.next_open() or "end")
    else:
        place = "guide" if desk.onboarding == 0 else f"try-{desk.onboarding}"
    st.query_params["at"] = place
    return place


def _go(place: str | int) -> None:
    st.query_params["at"] = str(place)
    st.rerun()


def _guide(desk: RaterDesk) -> None:
    st.markdown(desk.guidelines())
    st.write(
        f"You have {desk.total} pairs, about {estimated_minutes(desk.total)} minutes in all. "
        "You can stop at any time: the same link brings you back to where you were."
    )
    if st.button("Start with three practice pairs" if desk.onboarding <= 1 else "Continue", type="primary"):
        desk.finish_step(1)
        place = f"try-{desk.onboarding}" if desk.onboarding <= len(practice_pairs()) else ""
        _go(place or desk.next_open() or "end")


def _practice(desk: RaterDesk, number: int) -> None:
    pair = practice_pairs()[number - 1]
    st.caption(f"Practice {number} of {len(practice_pairs())}: does not count")
    blind_pair.heading(pair.question, pair.reference, "en", pair.level)
    mode = blind_pair.diff_control(pair.level, desk.diff_mode)
    at_first = pair.level == FIRST_LEVEL
    bases = (pair.reference, pair.reference) if at_first else (pair.left_a0, pair.right_a0)
    blind_pair.texts(pair.left, pair.right, *bases, "en", mode)
    given: Choice | None = st.session_state.get(f"annotate_try_{number}")
    pressed = blind_pair.choice_buttons(blind_pair.choice_place(), f"p{number}", given)
    if pressed:
        st.session_state[f"annotate_try_{number}"] = pressed
        st.rerun()
    if given:
        agreed = "Most people would agree." if given == pair.expected else "Another choice fits better here."
        st.info(f"{agreed} {pair.hint}")
        last = number == len(practice_pairs())
        if st.button("Start the study" if last else "Next practice pair", type="primary"):
            desk.finish_step(number + 1)
            _go(desk.next_open() or "end" if last else f"try-{number + 1}")
