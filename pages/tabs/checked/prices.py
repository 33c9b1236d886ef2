"""What the visitor states about judges whose price or time neither a run nor a column tells."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.check import ANALYSIS as CHECK
from core.results.check.facts import PER_TEXTS, UNKNOWN
from core.results.check.verdict import JudgeFacts
from core.schema.panel import Panel
from core.schema.settings import fields_of
from core.schema.uses import Priced
from pages.tabs.checked import choice
from pages.widgets import analysis


def stated(source: choice.Given, panel: Panel, place: DeltaGenerator) -> Mapping[str, Any]:
    """State prices and times of several judges, where they are unknown, and return these options. place: of the controls."""
    if len(panel.judges) < 2 or source.alone is not None:  # they serve to choose among several
        return {}
    known: Mapping[str, JudgeFacts] = choice.once(("facts", *source.key), lambda: source.facts(panel))
    lacking = {
        "price": [name for name in panel.judges if known.get(name, UNKNOWN).cost is None],
        "seconds": [name for name in panel.judges if known.get(name, UNKNOWN).seconds is None],
    }
    if not any(lacking.values()):
        return {}
    with place, st.expander(f"Price and time of {PER_TEXTS:,} texts"):
        chosen = analysis.form(CHECK, lacking, choice.defaults_without(Priced), folds=False)
    return {name: getattr(chosen, name) for name in fields_of(Priced)}
