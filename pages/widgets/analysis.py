"""The part of a page that answers an analysis's question, made from its declaration: options, verdict, tables, figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.plots.drawn import draw
from core.schema.analysis import Analysis, Answer
from core.schema.figures import AnyFigure, Heat
from core.schema.result_table import ResultTable
from core.schema.settings import fields_of
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_scores, settings_form
from pages.widgets.messages import plain
from pages.widgets.parts import part
from pages.widgets.result_table import show, together, width_for


@dataclass(frozen=True)
class Data:
    """Data that a page has chosen."""

    key: chosen_scores.Key
    """All that says which data it is."""
    open: Callable[[], Any]
    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Option -> its possible values for these data, if not all; none: it is not asked for."""
    grows: chosen_scores.Key | None = None
    """What identifies data that grow while the page is open, whatever their state; None: they stand still."""


_ALL: Mapping[str, Sequence[str]] = {}


def render(found: Analysis[Any, Any], choose: Callable[[], Sequence[Data] | None], title: str = "") -> None:
    """Ask for the data and the options, then show the answer.

    choose: draws what asks for the data, in the order of `takes`; None: it has said what is missing. title: above it, if not that of the analysis.
    """
    part(title or found.title, found.question, found.section)
    data = choose()
    if data is None:
        return
    offered = {name: values for one in data for name, values in one.offered.items()}
    options = found.Options.checked(form(found, offered), found.refusal)
    asked = (found.name, options.model_dump_json())
    growing = [one.grows for one in data if one.grows is not None]
    with st.spinner("Computing ..."):
        # The answer itself holds functions, which no cache keeps.
        result = chosen_scores.now_and_then(
            (found.name, *growing) if growing else None,
            (*asked, *(one.key for one in data)),
            asked,
            lambda: found.answer(options, *(one.open() for one in data)).result,
        )
    show_answer(Answer(found, options, result))


def form(found: Analysis[Any, Any], offered: Mapping[str, Sequence[str]] = _ALL) -> dict[str, Any]:
    """Draw the options, those that are rarely changed in a folded part; return what was chosen, for `checked`.

    offered: as in `Data`.
    """
    prefix = found.function
    fields = fields_of(found.Options)
    folded = {name for name, one in fields.items() if one.about.folded}
    chosen = settings_form.render(found.Options, prefix, without=folded, offered=offered)
    if folded:
        with st.expander("More options"):
            chosen |= settings_form.render(
                found.Options, prefix, without=fields.keys() - folded, beside=chosen, offered=offered
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
                least_width=_least_width(figure, table),
                folded=AS_A_TABLE if figure is not None and figure.instead else "",
                titled=declared.heading is not None,
            )


def _least_width(figure: AnyFigure | None, table: ResultTable) -> int:
    """Pixels below which a figure scrolls: a matrix needs room for each of its columns."""
    if not isinstance(figure, Heat):
        return 0
    names = [one.name for one in table.columns]
    return width_for(len({row[names.index(figure.column)] for row in table.rows}))
