"""The study that is open, and its tab: an address names both by number and word, so that it holds no name and no text.

The address is the source of truth for the study: without one in it, the page Studies shows the list.
"""

import zlib
from collections.abc import Sequence
from typing import NoReturn

import streamlit as st

from core.results.study.pair_list import PairFilter
from core.schema.study import Study
from pages.widgets import address
from pages.widgets.parts import studies

NEW_STUDY = 0
"""Stands for a new study."""
RESULT, PAIRS, TEXTS, RATERS, JUDGES, DESIGN, EXPORT = (
    "Result",
    "Pairs",
    "Texts",
    "Raters",
    "Judges",
    "Design",
    "Export",
)
"""The tabs of a study. Pairs are Texts in a rating study."""
JUDGES_PART = "judges"
"""Parameter of the part of the tab Judges that is open."""
LIVE, TRUST, ORDERS = "all", "trust", "orders"
"""What an address says for the parts."""
_OPEN = "study_open"
_STUDY, _NEW = "study", "new"
_NO_TAB = "This link leads to a tab that this study does not have. Choose one of its tabs."
_GONE = "This link leads to a study that was deleted, or that is in another installation. Choose another."


def chosen(offered: Sequence[Study]) -> int | None:
    """Return the number of the study that the address names, NEW_STUDY, or None for the list."""
    numbers = [NEW_STUDY, *(study.study_id for study in offered)]
    asked = st.query_params.get(_STUDY)
    again, before = _OPEN in st.session_state, st.session_state.get(_OPEN)
    st.session_state[_OPEN] = next((number for number in numbers if _code(number) == asked), None)
    address.one(_STUDY, _OPEN, numbers, None, _code, gone=_GONE)
    number: int | None = st.session_state.get(_OPEN)
    if again and number != before:
        address.leave_rest()
    return number


def tab(study_id: int, names: Sequence[str]) -> str:
    """Return the key of the study's tabs, the open one of which the address holds."""
    return address.one("tab", _tab_key(study_id), names, names[0], address.slug, gone=_NO_TAB)


def show_tab(study_id: int, name: str) -> None:
    """Open a tab of the open study; called before the page is drawn, such as by a press on a figure."""
    st.session_state[_tab_key(study_id)] = name


def show_pairs(study_id: int, filters: PairFilter) -> None:
    """Open the tab with the pairs, those that are asked for; called before the page is drawn, such as by a press on a figure."""
    st.session_state[pairs_key(study_id)] = filters
    show_tab(study_id, PAIRS)


def pairs_key(study_id: int) -> str:
    """Return where the session stores which pairs another place of the page asks for, until the tab has taken it."""
    return f"study_pairs_asked_{study_id}"


def open_study(study_id: int, tab: str = "") -> NoReturn:
    """Go to a study from any page. tab: its slug; empty: the first."""
    address.go(studies(), link(study_id, tab))


def button(study_id: int, tab: str = "", label: str = "Open the study") -> None:
    """Show a button that goes to a study."""
    if st.button(label, key=f"to_study_{study_id}_{tab}", icon=":material/arrow_forward:"):
        open_study(study_id, tab)


def link(study_id: int, tab: str = "", part: str = "") -> dict[str, str]:
    """Return the parameters of a study's address. part: of the tab Judges."""
    return {_STUDY: _code(study_id), **({"tab": tab} if tab else {}), **({JUDGES_PART: part} if part else {})}


def show_judges(study_id: int, part: str) -> None:
    """Open a part of the tab Judges; called before the page is drawn, such as by a press on a figure."""
    st.session_state[part_key(study_id)] = part
    show_tab(study_id, JUDGES)


def part_key(study_id: int) -> str:
    """Return where the session stores which part of the tab Judges is open."""
    return f"study_judges_{study_id}"


def judge_code(judge: str) -> str:
    """Return the number that stands for a judge in an address, whatever other judges there are."""
    return str(zlib.crc32(judge.encode("utf-8", "surrogatepass")))


def _code(study_id: int) -> str:
    return str(study_id) if study_id else _NEW


def _tab_key(study_id: int) -> str:
    return f"study_tab_{study_id}"
