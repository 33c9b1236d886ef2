"""What the visitor states about judges whose price or time neither a run nor a column tells."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.results.check.facts import PER_TEXTS, UNKNOWN, stated_facts
from core.results.check.verdict import JudgeFacts
from core.schema.panel import Panel
from pages.tabs.checked import choice
from pages.widgets.messages import plain
from pages.widgets.parts import places


def stated(given: choice.Given, panel: Panel, place: DeltaGenerator) -> choice.Given:
    """State prices and times of several judges, where they are unknown. place: of the controls."""
    if len(panel.judges) < 2 or given.alone is not None:  # they serve to choose among several
        return given
    known: Mapping[str, JudgeFacts] = choice.once(("facts", *given.key), lambda: given.facts(panel))
    lacking = {
        "price": [name for name in panel.judges if known.get(name, UNKNOWN).cost is None],
        "seconds": [name for name in panel.judges if known.get(name, UNKNOWN).seconds is None],
    }
    if not any(lacking.values()):
        return given
    said: dict[str, dict[str, float]] = {"price": {}, "seconds": {}}
    with place, st.expander(f"Price and time of {PER_TEXTS:,} texts"):
        currency = st.text_input("Currency", key="check_currency", placeholder="such as USD")
        columns = places(2)
        for at, name in enumerate(panel.judges):
            for what, label in (("price", "Price"), ("seconds", "Seconds")):
                if name in lacking[what]:
                    value = next(columns).number_input(
                        f"{label}, {plain(name)}", 0.0, value=None, key=f"check_{what}_{at}"
                    )
                    if value is not None:
                        said[what][name] = value
    if not any(said.values()):
        return given
    return replace(
        given,
        key=(*given.key, "stated", tuple((what, *own.items()) for what, own in said.items()), currency),
        facts=lambda _: stated_facts(known, panel, said["price"], said["seconds"], currency),
        command=(
            *given.command,
            *(
                word
                for what, own in said.items()
                for name, value in own.items()
                for word in (f"--{what}", f"{name}={value:g}")
            ),
            *(("--currency", currency) if currency and said["price"] else ()),
        ),
    )
