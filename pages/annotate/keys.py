"""The rater's setting of keys: other ones, with Alt, or none."""

from functools import partial

import streamlit as st

from core.errors import AssayError
from core.schema.study import CHOICES, KeyScheme
from core.study.blinding import RaterDesk, RatingDesk
from pages.widgets import answer_keys, blind_pair, rating_scales, visitor

_CHOSEN = "keyset"


def setting(desk: RaterDesk | RatingDesk) -> None:
    """Draw the setting where the study has keys; a change is saved before anything is drawn."""
    n, mode = _keys_of(desk)
    if not n or desk.closed_reason:
        return
    saved = desk.key_scheme
    with st.expander(f"Keys: {answer_keys.describe_keys(saved, n, mode=mode)}", key="keysets"):
        st.radio(
            "Keys that answer" + (" and switch the marked differences" if mode else ""),
            list(answer_keys.NAMES),
            index=list(answer_keys.NAMES).index(saved),
            format_func=partial(_described, n, mode),
            key=_CHOSEN,
            on_change=_save,
            args=(desk.token,),
        )
        st.markdown(
            ":small[Screen readers and voice control may need single keys for themselves. Then choose keys with Alt, or "
            "none. Tab and Enter always work. While you write, keys do not answer.]"
        )


def hint(desk: RaterDesk | RatingDesk) -> str:
    """What to say beside a box to those who write in it; empty in a study or for a rater without keys."""
    n, _ = _keys_of(desk)
    with_alt = desk.key_scheme == "alt"
    if not n or desk.key_scheme == "off":
        return ""
    return f"While you write here, {'Alt with a digit does' if with_alt else 'single keys do'} not answer. Tab leaves the box."


def _keys_of(desk: RaterDesk | RatingDesk) -> tuple[int, bool]:
    """The number of answers with a key, and whether marked differences have one."""
    if isinstance(desk, RaterDesk):
        return len(CHOICES), True
    return rating_scales.number_keyed(desk.task), False


def _described(n: int, mode: bool, scheme: KeyScheme) -> str:
    name = answer_keys.NAMES[scheme]
    return name if scheme == "off" else f"{name}: {answer_keys.describe_keys(scheme, n, mode=mode)}"


def _save(token: str) -> None:
    scheme: KeyScheme = st.session_state[_CHOSEN]
    try:
        with visitor.any_desk(token) as desk:
            desk.remember_keys(scheme)
    except AssayError as problem:
        blind_pair.refuse(f"Your keys were not saved. {visitor.said_to_rater(problem)}")
