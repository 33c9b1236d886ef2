"""Calibration: evaluators against human ratings, by language, task and dimension, and where not to use them."""

import streamlit as st

from core.store import Store
from pages.calibration import choice, parts
from pages.calibration.choice import How, Judged
from pages.widgets import blind_pair, messages, result_table, visitor
from pages.widgets.parts import nothing

_TABS = ("Agreement", "Classes", "Bias", "Consistency", "Calibration map", "Where not to use it", "Files")


def render() -> None:
    """Choose ratings and judges, then look at how far they agree."""
    with visitor.admin_store() as store:
        st.title("Calibration")
        blind_pair.style()
        result_table.style()
        messages.news()
        with messages.mistakes_shown():
            _calibration(store)


def _calibration(store: Store) -> None:
    given = choice.ratings(store)
    if given is None:
        return
    scores = choice.judges(store)
    if not scores:
        nothing("choose at least one judge")
        return
    how = choice.how(given, scores)
    with st.spinner("Computing ..."):
        everyone = [one for each in scores for one in choice.judged(given, each, how)]
    one = choice.one_of(everyone)
    for name, tab in zip(_TABS, st.tabs(_TABS, key="calibration_part", on_change="rerun"), strict=True):
        if tab.open:  # only the open one is computed
            with tab, messages.mistakes_shown():
                _body(name, store, one, everyone, how)


def _body(name: str, store: Store, one: Judged, everyone: list[Judged], how: How) -> None:
    match name:
        case "Agreement":
            parts.agreement(one, how)
        case "Classes":
            parts.classes(one)
        case "Bias":
            parts.bias(one)
        case "Consistency":
            parts.repeats(store, one, everyone)
        case "Calibration map":
            parts.calibration_map(one)
        case "Where not to use it":
            parts.where_not_to_use(one)
        case _:
            parts.files(everyone)
