"""People among themselves: how far raters agree with each other, before any judge and beside one."""

import streamlit as st

from core.analyses.agreement import ANALYSIS, no_judge
from core.installation import COMMAND
from core.report.card import command_said
from core.schema.analysis import PanelChoice
from core.schema.panel import Panel
from core.schema.settings import fields_of, page_word, worded
from pages.tabs.checked import choice
from pages.widgets import analysis
from pages.widgets.messages import plain

_TITLE = "People among themselves"


def show_alone(source: choice.Given, panel: Panel) -> None:
    """Say that there is no judge and how to add one, then show how far people agree with each other."""
    st.info(plain(worded(no_judge(source.may_be_judges), fields_of(PanelChoice), page_word)))
    analysis.render(ANALYSIS, lambda: [analysis.Data(("people", *source.key), lambda: panel)], _TITLE)
    st.code(
        command_said([ANALYSIS.name, *source.command], COMMAND, names=True), language=None, wrap_lines=True
    )


def offer_people(source: choice.Given, panel: Panel) -> None:
    """Offer the same of the people beside a judge, folded. Votes on pairs have theirs in the tab Raters of their study."""
    if panel.pairs or len(panel.raters) < 2:
        return
    with st.expander(_TITLE, key="check_people", on_change="rerun") as place:
        if place.open:
            answer = choice.once(("people", *source.key), lambda: ANALYSIS.answer(ANALYSIS.Options(), panel))
            analysis.show_answer(answer)
