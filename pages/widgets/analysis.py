"""The part of a page that answers an analysis's question, made from its declaration: options, verdict, tables, figures."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.plots.drawn import draw
from core.schema.analysis import Analysis, Answer
from core.schema.figures import AnyFigure, Heat
from core.schema.result_table import ResultTable
from core.schema.settings import Settings, fields_of
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_scores, settings_form
from pages.widgets.messages import plain
from pages.widgets.parts import part, waiting
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


@dataclass(frozen=True)
class Drawn:
    """A figure of a table."""

    figure: go.Figure | None
    alt: str = ""
    instead: bool = False
    """Whether it says all that the table says, so that the table is folded."""


def render(found: Analysis[Any, Any], choose: Callable[[], Sequence[Data] | None], title: str = "") -> None:
    """Ask for the data and the options, then show the answer.

    choose: draws what asks for the data, in the order of `takes`; None: it has said what is missing. title: above it, if not that of the analysis.
    """
    part(title or found.title, found.question, found.section)
    data = choose()
    if data is None:
        return
    offered = {name: values for one in data for name, values in one.offered.items()}
    show_answer(answer_of(found, form(found, offered), *data))


def answer_of(found: Analysis[Any, Any], options: Settings, *data: Data, moving: bool = False) -> Answer:
    """The answer, computed once. Raises InputError.

    data: in the order of `takes`. moving: whether the page refreshes itself while a run works on them.
    """
    asked = (found.name, options.model_dump_json())
    growing = [one.grows for one in data if one.grows is not None]
    with waiting(moving or bool(growing)):
        # The answer itself holds functions, which no cache keeps.
        result = chosen_scores.now_and_then(
            (found.name, *growing) if growing else None,
            (*asked, *(one.key for one in data)),
            asked,
            lambda: found.answer(options, *(one.open() for one in data)).result,
        )
    return Answer(found, options, result)


def form(
    found: Analysis[Any, Any],
    offered: Mapping[str, Sequence[str]] = MappingProxyType({}),
    *,
    folds: bool = True,
) -> Settings:
    """Draw the options. Raises SettingsError.

    offered: field -> values from a file. folds: whether those that are rarely changed are in a part that folds; False in one.
    """
    prefix = found.function
    fields = fields_of(found.Options)
    folded = {name for name, one in fields.items() if one.about.folded and folds}
    chosen = settings_form.render(found.Options, prefix, without=folded, offered=offered)
    if folded:
        with st.expander("More options"):
            chosen |= settings_form.render(
                found.Options, prefix, without=fields.keys() - folded, beside=chosen, offered=offered
            )
    options: Settings = found.Options.checked(chosen, found.refusal)
    return options


def show_answer(answer: Answer) -> None:
    """Show the verdicts, what is said after them, and each table with its figure."""
    show_sentences(answer)
    show_tables(answer, answer.tables)


def show_sentences(answer: Answer) -> None:
    """Show the verdicts, and what is said beside them."""
    verdicts = {one.sentence for one in answer.verdicts}
    for sentence in answer.said:
        st.markdown(f"**{plain(sentence)}**" if sentence in verdicts else plain(sentence))


def show_tables(
    answer: Answer, names: Collection[str], drawn: Mapping[str, Drawn] = MappingProxyType({})
) -> None:
    """Show some tables with their figures. names: those that the answer lacks are left out; drawn: figures of the page's own."""
    there = [one for one in answer.analysis.tables if one.name in answer.tables and one.name in names]
    if not there:
        return
    whole = len(there) == len(answer.tables)
    with together(answer.analysis.name if whole else f"{answer.analysis.name}-{there[0].name}"):
        for place, declared in enumerate(there):
            table, figure = answer.tables[declared.name], answer.figures.get(declared.name)
            own = drawn.get(declared.name) or _drawn(answer, figure)
            if place:
                part(declared.title, declared.question, answer.analysis.section)
            show(
                table,
                figure=own.figure,
                alt=own.alt,
                folded=AS_A_TABLE if own.instead else "",
                least_width=_least_width(figure, table),
                titled=declared.heading is not None,
            )


def _least_width(figure: AnyFigure | None, table: ResultTable) -> int:
    """Pixels below which a figure scrolls: a matrix needs room for each of its columns."""
    if not isinstance(figure, Heat):
        return 0
    names = [one.name for one in table.columns]
    return width_for(len({tuple(row[names.index(one)] for one in figure.columns) for row in table.rows}))


def _drawn(answer: Answer, figure: AnyFigure | None) -> Drawn:
    return Drawn(None) if figure is None else Drawn(draw(figure, answer.tables), figure.alt, figure.instead)
