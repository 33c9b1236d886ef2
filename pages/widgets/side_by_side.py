"""A table beside its figure: a row of the table and a dot of the figure choose the same one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from core.plots.drawn import draw
from core.schema.analysis import Answer
from core.schema.figures import AnyFigure, Dots
from core.schema.result_table import ResultTable
from pages.widgets import result_table
from pages.widgets.live_plot import live_plot
from pages.widgets.messages import plain
from pages.widgets.parts import chart
from pages.widgets.result_table import Selection


@dataclass(frozen=True)
class Choice:
    """The name that a row and a dot choose."""

    name: str | None
    choose: Callable[[str], None]
    """Called with the name, before the page is drawn again."""


def show(
    answer: Answer,
    name: str,
    key: str,
    choice: Choice,
    *,
    figure: AnyFigure | None,
    columns: Sequence[str] = (),
    files: bool = True,
    beneath: Callable[[], None] | None = None,
) -> None:
    """Show a table of an answer beside a figure; below both, folded, what the columns mean.

    name: of the table, whose first column has the names that can be chosen. key: of the figure's widget. figure: of the table, as it is
    drawn here; None: there is none. columns: those that are shown, in this order; none: all. The files have all. files: whether the
    table can be downloaded. beneath: draws what follows the figure.
    """
    whole = answer.tables[name]
    names = [str(row[0]) for row in whole.rows]
    at = names.index(choice.name) if choice.name in names else None

    def choose(row: int) -> None:
        choice.choose(names[row])

    left, right = st.columns([6, 5])
    with right:
        if isinstance(figure, Dots):
            drawn = draw(replace(figure, marked=at), {name: whole})
            live_plot(drawn, figure.alt, f"{key}_dots", f"assay-{name}", choose)
        elif figure is not None:
            chart(draw(figure, {name: whole}), figure.alt, f"{key}_forest", f"assay-{name}")
        if beneath is not None:
            beneath()
    with left:
        result_table.show(
            replace(_view(whole, columns), notes=()),
            whole=whole,
            titled=False,
            rows=Selection(choose, at),
            files=files,
            narrow=True,
        )
    with st.expander("What the columns mean"):
        st.markdown("  \n".join(f":small[{plain(note)}]" for note in whole.notes))


def _view(whole: ResultTable, names: Sequence[str]) -> ResultTable:
    """The table with these columns only, in this order."""
    at = {column.name: place for place, column in enumerate(whole.columns)}
    places = [at[name] for name in names or at]
    return replace(
        whole,
        columns=tuple(whole.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in whole.rows),
    )
