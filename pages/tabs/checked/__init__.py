"""Can a judge be trusted for a use? The verdict first, then what stands behind it, wherever the labels come from."""

import streamlit as st

from core.store import Store
from pages.tabs.checked import behind, choice, first, next_study, people, prices
from pages.widgets import messages


def style() -> None:
    """Add the style sheet of the verdict."""
    first.style()


def render(store: Store, source: choice.Given) -> None:
    """Choose the use, then show the verdict and everything behind it; without a judge, people among themselves."""
    panel = choice.panel(source)
    if not panel.judges:
        people.show_alone(source, panel)
        return
    source = next_study.choose_returned_labels(store, source)
    use, verdict, stated, below = (st.container() for _ in range(4))
    panel = choice.panel(source)
    options = choice.options(source, panel, prices.stated(source, panel, stated), use)
    with verdict, messages.mistakes_shown():
        found = choice.checked(source, panel, options)
        first.render(choice.alone(source, found)[1], n_checked=len(found.judges))
        with below:
            behind.render(store, source, found)
