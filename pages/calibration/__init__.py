"""Calibration: evaluators against human ratings, by language, task and dimension, and where not to use them."""

import streamlit as st

from core.store import Store
from pages.calibration import advice, agreement, choice, classes, map_part, repeats
from pages.calibration.choice import How, Judged
from pages.widgets import blind_pair, messages, results_shown, visitor
from pages.widgets.parts import nothing

_TABS = ("Agreement", "Classes", "Bias", "Consistency", "Calibration map", "Where not to use it", "Files")


def render() -> None:
    """Choose ratings and judges, then look at how far they agree."""
    with visitor.admin_store() as store:
        st.title("Calibration")
        blind_pair.style()
        results_shown.style()
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
            agreement.render(one, how)
        case "Classes":
            classes.render(one)
        case "Bias":
            classes.bias(one)
        case "Consistency":
            repeats.render(store, one, everyone)
        case "Calibration map":
            map_part.render(one)
        case "Where not to use it":
            advice.render(one)
        case _:
            advice.files(everyone)
