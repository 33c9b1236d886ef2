"""The rater's only page: consent, guidelines, practice, then one blind pair or text after the other.

Whatever is answered is saved before the next one is drawn.
"""

from contextlib import suppress

import streamlit as st

from core.errors import AssayError
from core.study.blinding import RaterDesk, RatingDesk
from pages.annotate import around, keys, pairs, texts
from pages.widgets import blind_pair, own, rendered, visitor
from pages.widgets import blind_pair as presses
from pages.widgets.gone import forget_gone_widgets


def render() -> None:
    """Show the place on the rater's way that the address names: it survives reload, Back and restarts."""
    # Outside the fragment: sent once, not with every press.
    blind_pair.style()
    own.page_keys()
    with visitor.one_desk():
        with suppress(AssayError), visitor.any_desk() as desk:  # what is wrong is said below
            around.page_language(desk)
            around.whose(desk)
            rendered.set_formulas(desk.shown)
        with st.container():  # what follows keeps its place, however much the fragment draws
            _screen()
        with suppress(AssayError), visitor.any_desk() as desk:
            keys.setting(desk)


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
    forget_gone_widgets()


def _show(desk: RaterDesk | RatingDesk) -> None:
    around.keep_handle(desk)
    if desk.dry_run:
        st.info("Preview: your answers are marked as a dry run and never counted.")
    if desk.closed_reason:
        own.screen_top("closed")
        presses.show_refused(st.container())
        around.nothing_to_do(desk, desk.closed_reason)
    elif isinstance(desk, RatingDesk):
        texts.show_study(desk, _go)
    else:
        pairs.show_study(desk, _go)


def _go(place: str | int) -> None:
    around.move(place)
    st.rerun()
