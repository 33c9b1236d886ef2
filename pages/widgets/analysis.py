"""The part of a page that answers an analysis's question, made from its declaration: options, verdict, tables, figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.plots.drawn import draw
from core.schema.analysis import Analysis, Answer
from core.schema.settings import Settings, fields_of
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_scores, settings_form
from pages.widgets.messages import plain
from pages.widgets.parts import part, waiting
from pages.widgets.result_table import show, together


@dataclass(frozen=True)
class Data:
    """Data that a page has chosen."""

    key: chosen_scores.Key
    """All that says which data it is."""
    open: Callable[[], Any]
    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Option -> the values that these data offer, such as names of metrics."""
    settles: Mapping[str, Any] = field(default_factory=dict)
    """Options that this choice settles, which the form leaves out."""
    grows: chosen_scores.Key | None = None
    """What identifies data that grow while the page is open, whatever their state; None: they stand still."""


def render(found: Analysis[Any, Any], choose: Callable[[], Sequence[Data]], title: str = "") -> Answer | None:
    """Ask for the data and the options, then show the answer, and return it.

    choose: draws what asks for the data, in the order of `takes`; without any it has said why there is nothing to ask. title: above
    it, if not that of the analysis.
    """
    part(title or found.title, found.question, found.section)
    data = choose()
    if len(data) < len(found.takes):
        return None
    options = found.Options.checked(_form(found, data), found.refusal)
    answer = answered(found, options, data)
    show_answer(answer)
    return answer


def answered(found: Analysis[Any, Any], options: Settings, data: Sequence[Data]) -> Answer:
    """The answer about these data, computed once; about data that grow an earlier one will do for a while."""
    asked = (found.name, options.model_dump_json())
    growing = any(one.grows for one in data)
    with waiting(growing):
        # The answer itself holds functions, which no cache keeps.
        result = chosen_scores.now_and_then(
            (found.name, *(one.grows or one.key for one in data)) if growing else None,
            (*asked, *(one.key for one in data)),
            asked,
            lambda: found.answer(options, *(one.open() for one in data)).result,
        )
    return Answer(found, options, result)


def _form(found: Analysis[Any, Any], data: Sequence[Data]) -> dict[str, Any]:
    """Draw the options that the data do not settle, those that are rarely changed in a folded part."""
    prefix = found.function
    fields = fields_of(found.Options)
    settled = {name: value for one in data for name, value in one.settles.items()}
    offered = {name: values for one in data for name, values in one.offered.items()}
    folded = {name for name, one in fields.items() if one.about.folded}
    chosen = settings_form.render(found.Options, prefix, without=folded, beside=settled, offered=offered)
    chosen = {**settled, **chosen}
    if folded:
        with st.expander("More options"):
            chosen |= settings_form.render(
                found.Options, prefix, without=fields.keys() - folded, beside=chosen, offered=offered
            )
    return chosen


def show_answer(answer: Answer, called: str = "") -> None:
    """Show the verdicts, what is said after them, and each table with its figure.

    called: another name for its downloads, of a second answer of the analysis on a page.
    """
    for place, sentence in enumerate(answer.said):
        verdict = place < len(answer.verdicts)
        st.markdown(f"**{plain(sentence)}**" if verdict else plain(sentence))
    there = [one for one in answer.analysis.tables if one.name in answer.tables]
    with together(called or answer.analysis.name):
        for place, declared in enumerate(there):
            table, figure = answer.tables[declared.name], answer.figures.get(declared.name)
            if place:
                part(declared.title, declared.question, answer.analysis.section)
            show(
                table,
                figure=None if figure is None else draw(figure, answer.tables),
                alt="" if figure is None else figure.alt,
                folded=AS_A_TABLE if figure is not None and figure.instead else "",
                titled=declared.heading is not None,
            )
