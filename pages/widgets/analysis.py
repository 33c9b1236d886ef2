"""The part of a page that answers an analysis's question, made from its declaration: options, verdict, tables, figures."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.plots.drawn import draw
from core.schema.analysis import CHOICES, Analysis, Answer, Caution, Chosen, Table, Taken
from core.schema.figures import AnyFigure, Heat
from core.schema.result_table import ResultTable
from core.schema.settings import Settings, fields_of
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_scores, result_table, settings_form
from pages.widgets.messages import plain
from pages.widgets.parts import Press, part, waiting
from pages.widgets.result_table import Selection, together, width_for

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
    """How a page draws a table."""

    figure: go.Figure | None = None
    """In place of the declared one, if there is one."""
    alt: str = ""
    instead: bool = False
    """Whether the figure says all that the table says, so that the table is folded."""
    caption: str = ""
    """What the figure draws, right below it."""
    folded: str = ""
    """Title of a folded part for a table that few read."""
    press: Press | None = None
    """What a press on a point of it does."""
    hint: str = ""
    """What a press leads to, behind the table's question."""
    least_width: int = 0
    """Pixels below which the figure scrolls."""
    rows: Selection | None = None
    """What a press on a cell of the table does."""
    beneath: Callable[[], None] | None = None
    """Draws what follows the table or the figure at once, such as what a press opened."""
    seen: ResultTable | None = None
    """What the page shows of the table, such as the rows that filters leave; the downloads have all of it."""


def render(
    analysis: Analysis[Any, Any],
    choose: Callable[[], Sequence[Data]],
    title: str = "",
    show: Callable[[Answer], None] | None = None,
) -> Answer | None:
    """Ask for the data and the options, then show the answer, and return it. Raises InputError.

    choose: draws what asks for the data, in the order of `takes`; without any it has said why there is nothing to ask. title: above
    it, if not that of the analysis. show: draws the answer, where a page has a way of its own.
    """
    part(title or analysis.title, analysis.question, analysis.section)
    data = choose()
    if len(data) < len(analysis.takes):
        return None
    answer = answer_of(analysis, form_of(analysis, *data), *data)
    (show or show_answer)(answer)
    return answer


def form_of(analysis: Analysis[Chosen, Any], *data: Data) -> Chosen:
    """Draw the options that the data do not settle. Raises SettingsError."""
    offered = {name: values for one in data for name, values in one.offered.items()}
    settled = {name: value for one in data for name, value in one.settles.items()}
    used: Mapping[str, object] = _NONE
    if analysis.in_use is not None:
        used = analysis.in_use(
            settings_form.typed(analysis.Options, analysis.function), *(one.open() for one in data)
        )
    return form(analysis, offered, settled, used=used)


def form(
    analysis: Analysis[Chosen, Any],
    offered: Mapping[str, Sequence[str]] = _NONE,
    settled: Mapping[str, Any] = _NONE,
    *,
    folds: bool = True,
    used: Mapping[str, object] = _NONE,
    columns: int = 2,
    begins: Mapping[str, Any] = _NONE,
    in_address: bool = False,
    links: Mapping[str, settings_form.Link] = _NONE,
    at: Mapping[str, DeltaGenerator] = _NONE,
) -> Chosen:
    """Draw the options. Raises SettingsError.

    offered, settled: as `Data.offered` and `Data.settles`. folds: whether those that are rarely changed are in a part that folds;
    False in one. columns: side by side. The others: as in `settings_form.render`.
    """
    prefix = analysis.function
    fields = fields_of(analysis.Options)
    folded = {name for name, one in fields.items() if one.about.folded and folds and name not in settled}
    draw_fields = partial(
        settings_form.render,
        analysis.Options,
        prefix,
        columns=columns,
        offered=offered,
        used=used,
        begins=begins,
        in_address=in_address,
        links=links,
        at=at,
    )
    chosen = draw_fields(without=folded, beside=settled)
    label = "More options" if chosen else "Options"
    chosen = {**settled, **chosen}
    if folded:
        with st.expander(label):
            chosen |= draw_fields(without=fields.keys() - folded, beside=chosen)
    options: Chosen = analysis.Options.checked(chosen, analysis.refusal)
    return options


def choice_form(
    analysis: Analysis[Any, Any], kind: Taken, key_prefix: str, offered: Mapping[str, Sequence[str]] = _NONE
) -> Settings:
    """Draw how data of a kind are taken, as `CHOICES` declares it. offered: as `Data.offered`. Raises SettingsError."""
    values = settings_form.render(CHOICES[kind], key_prefix, offered=offered)
    chosen: Settings = CHOICES[kind].checked(values, analysis.refusal)
    return chosen


def offer(analysis: Analysis[Any, Any], label: str, **options: object) -> None:
    """Draw a button that chooses options of the analysis's form, where a part of its answer needs them."""
    keys = {f"{analysis.function}_{name}": value for name, value in options.items()}
    st.button(label, key=f"offer_{'_'.join(keys)}", on_click=partial(st.session_state.update, keys))


def answer_of(analysis: Analysis[Any, Any], options: Settings, *data: Data) -> Answer:
    """The answer about these data, computed once; about data that grow an earlier one will do for a while. Raises InputError.

    data: in the order of `takes`.
    """
    asked = (analysis.name, options.model_dump_json())
    growing = any(one.grows for one in data)
    with waiting(growing):
        # The answer itself holds functions, which no cache keeps.
        result = chosen_scores.now_and_then(
            (analysis.name, *(one.grows or one.key for one in data)) if growing else None,
            (*asked, *(one.key for one in data)),
            asked,
            lambda: analysis.answer(options, *(one.open() for one in data)).result,
        )
    return Answer(analysis, options, result)


def show_answer(answer: Answer, called: str = "") -> None:
    """Show the verdicts, what is said after them, and each table with its figure. called: as in `show_tables`."""
    show_said(answer)
    show_tables(answer, answer.tables, called=called)


def show_said(answer: Answer) -> None:
    """Show the verdicts, and what is said after them; cautions as warnings."""
    verdicts = {one.sentence for one in answer.verdicts}
    for sentence in answer.all_sentences:
        shown = f"**{plain(sentence)}**" if sentence in verdicts else plain(sentence)
        (st.warning if isinstance(sentence, Caution) else st.markdown)(shown)


def show_tables(
    answer: Answer,
    names: Collection[str],
    drawn: Mapping[str, Drawn] = _NONE,
    *,
    called: str = "",
    headed: bool = False,
    only: Mapping[str, Collection[str]] = _NONE,
) -> None:
    """Show some tables with their figures.

    names: also of tables that are there on request; those that the answer lacks are left out, and those without rows beside others that
    have some. drawn: tables that the page draws in its own way. called: another name for the downloads, of a second answer of the
    analysis on a page. headed: whether the first table has its heading, too, because nothing above says what it is. only: column -> the
    words of the rows that are shown; files have all.
    """
    tables = {name: table for name in names if (table := answer.requested(name)) is not None}
    there = [one for one in answer.analysis.tables if one.name in tables]
    if not there:
        return
    whole = len(there) == len(answer.tables)
    usual = answer.analysis.name if whole else f"{answer.analysis.name}-{there[0].name}"
    with together(called or usual):
        for declared in [one for one in there if tables[one.name].rows] or there[:1]:
            full, figure = tables[declared.name], answer.figures.get(declared.name)
            table = _beginning(_only(full, only), declared.most_on_page)
            own = _drawn(answer, figure, drawn.get(declared.name, Drawn()))
            if declared is not there[0] or (headed and declared.question):
                heading(answer.analysis, declared, own.hint)
            result_table.show(
                own.seen or table,
                figure=own.figure,
                alt=own.alt,
                caption=own.caption,
                least_width=own.least_width or _least_width(figure, table),
                whole=full,
                folded=own.folded or (AS_A_TABLE if own.instead else ""),
                titled=declared.heading is not None
                or (headed and declared is there[0] and not declared.question),
                press=own.press,
                rows=own.rows,
                beneath=own.beneath,
            )


def heading(analysis: Analysis[Any, Any], table: Table[Any], hint: str = "") -> None:
    """Show what a table is, what it answers, and where it is explained. hint: what follows its question."""
    section = (table.section or analysis.section) if table.question else None
    part(table.title, " ".join(filter(None, (table.question, hint))), section)


def _only(table: ResultTable, only: Mapping[str, Collection[str]]) -> ResultTable:
    """The rows with one of these words. A column whose word is the same in all is left out."""
    names = [one.name for one in table.columns]
    wanted = {names.index(name): words for name, words in only.items() if name in names}
    same = {at for at, words in wanted.items() if len(words) == 1}
    columns = tuple(replace(one, shown=one.shown and at not in same) for at, one in enumerate(table.columns))
    rows = tuple(row for row in table.rows if all(row[at] in words for at, words in wanted.items()))
    return replace(table, columns=columns, rows=rows)


def _beginning(table: ResultTable, most: int | None) -> ResultTable:
    """The first rows of a table, with a note that there are more."""
    if most is None or len(table.rows) <= most:
        return table
    note = f"The first {most:,} of {len(table.rows):,} rows. The downloads have all."
    return replace(table, rows=table.rows[:most], notes=(*table.notes, note))


def _choose_number(figure: Heat, table: ResultTable) -> Heat:
    """Choose which of several numbers a matrix shows."""
    alts = {figure.value: figure.alt, **figure.also}
    headings = {one.name: one.heading for one in table.columns}
    chosen = st.segmented_control(
        "Number in the figure",
        list(alts),
        default=figure.value,
        format_func=headings.__getitem__,
        required=True,
        key=f"number_of_{table.name}",
    )
    return replace(figure, value=chosen, alt=alts[chosen])


def _least_width(figure: AnyFigure | None, table: ResultTable) -> int:
    """Pixels below which a figure scrolls: a matrix needs room for each of its columns."""
    if not isinstance(figure, Heat):
        return 0
    names = [one.name for one in table.columns]
    return width_for(len({tuple(row[names.index(one)] for one in figure.columns) for row in table.rows}))


def _drawn(answer: Answer, figure: AnyFigure | None, own: Drawn) -> Drawn:
    if figure is None or own.figure is not None:
        return own
    if isinstance(figure, Heat) and figure.also:
        figure = _choose_number(figure, answer.tables[figure.table])
    return replace(own, figure=draw(figure, answer.tables), alt=figure.alt, instead=figure.instead)
