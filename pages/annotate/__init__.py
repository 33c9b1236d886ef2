"""The rater's only page: consent, guidelines, practice, then one blind pair or text after the other.

Whatever is answered is saved before the next one is drawn.
"""

import streamlit as st

from core.errors import AssayError
from core.study.blinding import RaterDesk
from core.study.guidelines import practice_pairs
from core.study.rated.desk import RatingDesk
from pages.annotate import around, onboarding, pairs, texts
from pages.widgets import blind_pair, own, visitor
from pages.widgets import blind_pair as presses


def render() -> None:
    """Show the place on the rater's way that the address names: it survives reload, Back and restarts."""
    blind_pair.style()  # outside the fragment: sent once, not with every press
    _screen()


@st.fragment
def _screen() -> None:
    """All that a rater sees and presses; a fragment, because none of its presses may be dropped for a newer one."""
    with visitor.one_desk():
        presses.take_turns()
        try:
            with visitor.any_desk() as desk:
                _show(desk)
        except AssayError as problem:
            presses.show_refused(st.container())
            visitor.turn_away(problem)


def _show(desk: RaterDesk | RatingDesk) -> None:
    if desk.dry_run:
        st.info("Preview: your answers are marked as a dry run and never counted.")
    if desk.closed_reason:
        own.screen_top("closed")
        presses.show_refused(st.container())
        around.nothing_to_do(desk, desk.closed_reason)
        return
    if isinstance(desk, RatingDesk):
        texts.show_study(desk, _go)
    else:
        _show_pairs(desk)


def _show_pairs(desk: RaterDesk) -> None:
    place = _place(desk)
    own.screen_top(place)
    if place == "consent":
        onboarding.consent(desk, _go)
    elif place == "guide":
        onboarding.guide(desk, _go)
    elif place.startswith("try-"):
        onboarding.practice(desk, int(place.removeprefix("try-")), _go)
    elif place == "list":
        around.overview(desk, _go)
    elif place == "finish":
        around.finish(desk, _go)
    elif place.startswith("again-"):
        pairs.show_guesses(desk, int(place.removeprefix("again-")))
    elif place == "end":
        around.completion(desk)
    else:
        pairs.show(desk, int(place), _go)


def _place(desk: RaterDesk) -> str:
    """Where the address says we are if this rater may be there, else where they left off."""
    asked = st.query_params.get(visitor.PLACE, "")
    tries = {f"try-{number}" for number in range(1, len(practice_pairs()) + 1)}
    if desk.asks_consent:
        place = "consent"
    elif desk.finished:
        again = desk.guessing().next_open()
        place = f"again-{again}" if again else "end"
    elif asked == "guide" or (desk.onboarding >= 1 and asked in tries):
        place = asked
    elif desk.onboarding <= len(tries):
        place = "guide" if desk.onboarding == 0 else f"try-{desk.onboarding}"
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


def _go(place: str | int) -> None:
    around.move(place)
    st.rerun()
