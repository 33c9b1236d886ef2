"""The page Check: can this judge be trusted for a use? The verdict first, then what stands behind it."""

import streamlit as st

from core.store import Store
from pages.check import behind, choice, first, next_study, people, prices
from pages.widgets import address, messages, result_table, visitor
from pages.widgets.parts import page


def render() -> None:
    """Choose labels and judges, then show the verdict and everything behind it."""
    with visitor.admin_store() as store:
        page("Can this judge be trusted?", "A verdict for one use of it.", "check#five-uses")
        result_table.style()
        first.style()
        messages.news()
        with address.kept("check"), messages.mistakes_shown():
            _check(store)


def _check(store: Store) -> None:
    given = choice.given(store)
    if given is None:
        return
    panel = choice.panel(given)
    if not panel.judges:
        people.without_judge(given, panel)
        return
    given = next_study.with_labels_back(store, given)
    use, verdict, stated, below = (st.container() for _ in range(4))
    panel = choice.panel(given)
    given = prices.stated(given, panel, stated)
    options = choice.options(given, panel, use)
    with verdict, messages.mistakes_shown():
        found = choice.checked(given, panel, options)
        first.render(found)
        with below:
            behind.render(store, given, found)
