"""The part of a page that answers an analysis's question, made from its declaration: options, verdict, tables, figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.plots.drawn import draw
from core.schema.analysis import Analysis, Answer
from core.schema.settings import fields_of
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_scores, settings_form
from pages.widgets.messages import plain
from pages.widgets.parts import part
from pages.widgets.result_table import show, together


@dataclass(frozen=True)
class Data:
    """Data that a page has chosen."""

    key: chosen_scores.Key
    """All that says which data it is."""
    open: Callable[[], Any]


def render(found: Analysis[Any, Any], choose: Callable[[], Sequence[Data] | None], title: str = "") -> None:
    """Ask for the data and the options, then show the answer.

    choose: draws what asks for the data, in the order of `takes`; None: it has said what is missing. title: above it, if not that of the analysis.
    """
    part(title or found.title, found.question, found.section)
    data = choose()
    if data is None:
        return
    options = found.Options.checked(_form(found), found.refusal)
    question = (found.name, *(one.key for one in data), options.model_dump_json())
    with st.spinner("Computing ..."):
        # The answer itself holds functions, which no cache keeps.
        result = chosen_scores.once(
            question, lambda: found.answer(options, *(one.open() for one in data)).result
        )
    show_answer(Answer(found, options, result))


def _form(found: Analysis[Any, Any]) -> dict[str, Any]:
    """Draw the options, those that are rarely changed in a folded part."""
    prefix = found.function
    fields = fields_of(found.Options)
    folded = {name for name, one in fields.items() if one.about.folded}
    chosen = settings_form.render(found.Options, prefix, without=folded)
    if folded:
        with st.expander("More options"):
            chosen |= settings_form.render(
                found.Options, prefix, without=fields.keys() - folded, beside=chosen
            )
    return chosen


def show_answer(answer: Answer) -> None:
    """Show the verdicts, what is said after them, and each table with its figure."""
    for place, sentence in enumerate(answer.said):
        verdict = place < len(answer.verdicts)
        st.markdown(f"**{plain(sentence)}**" if verdict else plain(sentence))
    there = [one for one in answer.analysis.tables if one.name in answer.tables]
    with together(answer.analysis.name):
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
