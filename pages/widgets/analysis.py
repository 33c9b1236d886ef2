"""The part of a page that answers an analysis's question, made from its declaration: options, verdict, tables, figures."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.plots.drawn import draw
from core.schema.analysis import Analysis, Answer
from core.schema.figures import AnyFigure, Heat
from core.schema.result_table import ResultTable
from core.schema.settings import Settings, fields_of
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_scores, settings_form
from pages.widgets.messages import plain
from pages.widgets.parts import Press, part, waiting
from pages.widgets.result_table import Selection, show, together, width_for

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Data:
    """Data that a page has chosen."""

    key: chosen_scores.Key
    """All that says which data it is."""
    open: Callable[[], Any]
    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Option -> its possible values for these data, such as names of metrics; without any the form leaves it out."""
    settles: Mapping[str, Any] = field(default_factory=dict)
    """Options that this choice settles, which the form leaves out."""
    grows: chosen_scores.Key | None = None
    """What identifies data that grow while the page is open, whatever their state; None: they stand still."""


@dataclass(frozen=True)
class Drawn:
    """How a page shows a table, beyond what its declaration says."""

    figure: go.Figure | None = None
    """In place of the declared one, if there is one."""
    alt: str = ""
    instead: bool = False
    """Whether it says all that the table says, so that the table is folded."""
    least_width: int = 0
    """Pixels below which the figure scrolls."""
    press: Press | None = None
    """What a press on a point of the figure does."""
    rows: Selection | None = None
    """What a press on a cell of the table does."""
    beneath: Callable[[], None] | None = None
    """Draws what follows the table or the figure at once, such as what a press opened."""
    seen: ResultTable | None = None
    """What the page shows of the table, such as the rows that filters leave; the downloads have all of it."""


def render(found: Analysis[Any, Any], choose: Callable[[], Sequence[Data]], title: str = "") -> Answer | None:
    """Ask for the data and the options, then show the answer, and return it. Raises InputError.

    choose: draws what asks for the data, in the order of `takes`; without any it has said why there is nothing to ask. title: above
    it, if not that of the analysis.
    """
    part(title or found.title, found.question, found.section)
    data = choose()
    if len(data) < len(found.takes):
        return None
    answer = answer_of(found, form_of(found, *data), *data)
    show_answer(answer)
    return answer


def form_of(found: Analysis[Any, Any], *data: Data) -> Settings:
    """Draw the options that the data do not settle. Raises SettingsError."""
    offered = {name: values for one in data for name, values in one.offered.items()}
    settled = {name: value for one in data for name, value in one.settles.items()}
    return form(found, offered, settled)


def form(
    found: Analysis[Any, Any],
    offered: Mapping[str, Sequence[str]] = _NONE,
    settled: Mapping[str, Any] = _NONE,
    *,
    folds: bool = True,
    at: Mapping[str, DeltaGenerator] = _NONE,
    links: Mapping[str, settings_form.Link] = _NONE,
) -> Settings:
    """Draw the options. Raises SettingsError.

    offered, settled: as `Data.offered` and `Data.settles`. folds: whether those that are rarely changed are in a part that folds;
    False in one. at: option -> where it is drawn, if not here. links: option -> how the address holds it.
    """
    prefix = found.function
    fields = fields_of(found.Options)
    folded = {name for name, one in fields.items() if one.about.folded and folds and name not in settled}
    chosen = settings_form.render(
        found.Options, prefix, without=folded, beside=settled, offered=offered, at=at, links=links
    )
    label = "More options" if chosen else "Options"
    chosen = {**settled, **chosen}
    if folded:
        with st.expander(label):
            chosen |= settings_form.render(
                found.Options,
                prefix,
                without=fields.keys() - folded,
                beside=chosen,
                offered=offered,
                links=links,
            )
    options: Settings = found.Options.checked(chosen, found.refusal)
    return options


def answer_of(found: Analysis[Any, Any], options: Settings, *data: Data) -> Answer:
    """The answer about these data, computed once; about data that grow an earlier one will do for a while. Raises InputError.

    data: in the order of `takes`.
    """
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


def show_answer(answer: Answer, called: str = "") -> None:
    """Show the verdicts, what is said after them, and each table with its figure. called: as in `show_tables`."""
    show_said(answer)
    show_tables(answer, answer.tables, called=called)


def show_said(answer: Answer) -> None:
    """Show the verdicts, and what is said after them."""
    verdicts = {one.sentence for one in answer.verdicts}
    for sentence in answer.said:
        st.markdown(f"**{plain(sentence)}**" if sentence in verdicts else plain(sentence))


def show_tables(
    answer: Answer,
    names: Collection[str],
    drawn: Mapping[str, Drawn] = _NONE,
    *,
    called: str = "",
) -> None:
    """Show some tables with their figures.

    names: those that the answer lacks are left out, and those without rows beside others that have some. drawn: table -> how the
    page shows it. called: another name for the downloads, of a second answer of the analysis on a page.
    """
    there = [one for one in answer.analysis.tables if one.name in answer.tables and one.name in names]
    if not there:
        return
    whole = len(there) == len(answer.tables)
    usual = answer.analysis.name if whole else f"{answer.analysis.name}-{there[0].name}"
    with together(called or usual):
        for declared in [one for one in there if answer.tables[one.name].rows] or there[:1]:
            table, figure = answer.tables[declared.name], answer.figures.get(declared.name)
            own = _drawn(answer, figure, drawn.get(declared.name, Drawn()))
            if declared is not there[0]:
                part(
                    declared.title, declared.question, answer.analysis.section if declared.question else None
                )
            show(
                table if own.seen is None else own.seen,
                figure=own.figure,
                alt=own.alt,
                least_width=own.least_width or _least_width(figure, table),
                folded=AS_A_TABLE if own.instead else "",
                whole=table,
                titled=declared.heading is not None,
                rows=own.rows,
                beneath=own.beneath,
                press=own.press,
            )


def _least_width(figure: AnyFigure | None, table: ResultTable) -> int:
    """Pixels below which a figure scrolls: a matrix needs room for each of its columns."""
    if not isinstance(figure, Heat):
        return 0
    names = [one.name for one in table.columns]
    return width_for(len({tuple(row[names.index(one)] for one in figure.columns) for row in table.rows}))


def _drawn(answer: Answer, figure: AnyFigure | None, own: Drawn) -> Drawn:
    if figure is None or own.figure is not None:
        return own
    return replace(own, figure=draw(figure, answer.tables), alt=figure.alt, instead=figure.instead)
