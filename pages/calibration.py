"""Calibration: evaluators against human ratings, by language, task and dimension, and where not to use them."""

import streamlit as st

from core.store import Store
from pages.components import (
    blind_pair,
    calibration_advice_part,
    calibration_agreement,
    calibration_choice,
    calibration_classes,
    calibration_map_part,
    calibration_repeats,
    messages,
    metrics_heat,
    visitor,
)
from pages.components.calibration_choice import How, Judged
from pages.components.parts import nothing

_TABS = ("Agreement", "Classes", "Bias", "Consistency", "Calibration map", "Where not to use it", "Files")


def render() -> None:
    """Choose ratings and judges, then look at how far they agree."""
    with visitor.admin_store() as store:
        st.title("Calibration")
        blind_pair.style()
        metrics_heat.style()
        messages.news()
        with messages.mistakes_shown():
            _calibration(store)


def _calibration(store: Store) -> None:
    given = calibration_choice.ratings(store)
    if given is None:
        return
    scores = calibration_choice.judges(store)
    if not scores:
        nothing("choose at least one judge")
        return
    how = calibration_choice.how(given, scores)
    with st.spinner("Computing ..."):
        everyone = [one for each in scores for one in calibration_choice.judged(given, each, how)]
    one = calibration_choice.one_of(everyone)
    for name, tab in zip(_TABS, st.tabs(_TABS, key="calibration_part", on_change="rerun"), strict=True):
        if tab.open:  # only the open one is computed
            with tab, messages.mistakes_shown():
                _body(name, store, one, everyone, how)


def _body(name: str, store: Store, one: Judged, everyone: list[Judged], how: How) -> None:
    match name:
        case "Agreement":
            calibration_agreement.render(one, how)
        case "Classes":
            calibration_classes.render(one)
        case "Bias":
            calibration_classes.bias(one)
        case "Consistency":
            calibration_repeats.render(store, one, everyone)
        case "Calibration map":
            calibration_map_part.render(one)
        case "Where not to use it":
            calibration_advice_part.render(one)
        case _:
            calibration_advice_part.files(everyone)
