"""What the lists of pairs and of texts share: reading once, rows that filters leave, and filters that the address holds."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from core.errors import InputError
from core.schema.result_table import ResultTable
from core.schema.scores import ScoreTable
from core.schema.study import Study, StudyRecord
from core.store import Store
from core.study.analysis_set import released_record
from pages.studies.analysed import holds_people, identity
from pages.tabs import study_scores
from pages.widgets import result_table, row_list
from pages.widgets.messages import plain, showable

_MENU, _WIDE_MENU = 158, 200
"""Widths of a menu, in pixels."""
Option = TypeVar("Option")


class _OfStudy(Protocol):
    @property
    def record(self) -> StudyRecord: ...


Rows = TypeVar("Rows", bound=_OfStudy)
Filter = TypeVar("Filter")


@dataclass(frozen=True)
class Listing(Generic[Rows, Filter]):
    """How a list is made and filtered."""

    row: str
    """What a row is, as the address names it: `pair`."""
    read: Callable[[StudyRecord], Rows]
    judged: Callable[[Rows, Sequence[ScoreTable]], Rows]
    """Adds the judges that scored the texts. Raises InputError."""
    shown: Callable[[Rows, Filter], NDArray[np.intp]]
    """Places of the rows that filters leave."""
    table: Callable[[Rows, Sequence[int], Filter, Sequence[str]], ResultTable]
    """The rows at these places as a table, with a column for each of the judges."""
    config: Mapping[str, Any]
    """Of the page's columns, by heading."""

    def of(self, store: Store, study: Study) -> tuple[Hashable, Rows]:
        """Return the list with a key that changes with it; nothing is read again that was read before."""
        key: Hashable = (self.row, identity(store, study))
        found: Rows = _once((key, "read"), lambda: self.read(released_record(store, study)))
        tables = study_scores.tables(store, study, found.record)
        if not tables:
            return key, found
        key = (key, *map(_identity_of, tables))
        try:
            judged: Rows = _once((key, "judged"), lambda: self.judged(found, tables))
        except InputError as why:
            st.warning(plain(f"Judges are not shown. {why.what}"))
            return key, found
        return key, judged

    def places(self, key: Hashable, rows: Rows, filters: Filter) -> tuple[int, ...]:
        """Return the places of the rows that filters leave."""
        places: tuple[int, ...] = _once((key, filters), lambda: tuple(self.shown(rows, filters).tolist()))
        return places

    def show(
        self,
        key: Hashable,
        rows: Rows,
        filters: Filter,
        judges: tuple[str, ...],
        place: str,
        n_all: int,
        counted: str,
        beside: Callable[[int], None],
    ) -> int:
        """Show the rows that filters leave, at least one, and return the place of the one that is open.

        place: where the session stores the open row. n_all: rows without filters. counted: the line above. beside: says what the
        open row is.
        """
        shown = self.places(key, rows, filters)
        at = row_list.opened(place, self.row, shown, n_all)

        def made() -> tuple[ResultTable, pd.DataFrame]:
            table = self.table(rows, shown, filters, judges)
            return table, row_list.frame_of(table)

        table, frame = _once((key, filters, judges), made)
        _count_line(counted, table)
        row_list.show(frame, place, shown, self.config)
        row_list.moves(place, shown, lambda: beside(at))
        return at


# As a resource: cached data would be copied at every press. Nobody changes it.
@holds_people
@st.cache_resource(show_spinner=False, max_entries=48)
def _once(key: Hashable, _make: Callable[[], Any]) -> Any:
    return _make()


def _identity_of(scores: ScoreTable) -> Hashable:
    """Identify a table of scores as it is now."""
    return scores.file_name, scores.sha256, scores.metrics, len(scores.rows), hash(scores.values.tobytes())


def place_code(options: Sequence[str], option: str) -> str:
    """Return the number that stands for an option in an address, which must hold no name of a study."""
    return str(options.index(option) + 1)


def held(place: str, options: Sequence[Option]) -> list[Option]:
    """Return what the session stores there, as far as it is one of the options."""
    value = st.session_state.get(place)
    values = value if isinstance(value, list) else [value]
    return [option for option in options if option in values]


def pills(offered: Sequence[str], name_of: Callable[[str], str], place: str) -> None:
    """Show kinds of rows, any of which can be asked for."""
    if offered:
        st.pills(
            "Show",
            offered,
            selection_mode="multi",
            format_func=name_of,
            key=place,
            label_visibility="collapsed",
            persist_state="session",
            width="content",
            wrap=True,
        )


def clear(label: str, key: str, ask_for_all: Callable[[], None]) -> None:
    """Show a button that takes every filter back."""
    st.button(label, key=key, icon=":material/close:", type="tertiary", on_click=ask_for_all)


def several_menu(placeholder: str, label: str, options: Sequence[str], place: str) -> None:
    """Show a menu of which several can be chosen. place: where the session stores them."""
    st.multiselect(
        label,
        options,
        format_func=showable,
        key=place,
        placeholder=placeholder,
        label_visibility="collapsed",
        persist_state="session",
        width=_MENU,
    )


def one_menu(
    placeholder: str, label: str, options: Sequence[str], place: str, name_of: Callable[[str], str]
) -> None:
    """Show a menu of which one can be chosen, or none."""
    st.selectbox(
        label,
        options,
        index=None,
        format_func=name_of,
        key=place,
        placeholder=placeholder,
        label_visibility="collapsed",
        persist_state="session",
        width=_WIDE_MENU,
    )


def _count_line(said: str, table: ResultTable) -> None:
    """Show how many rows the filters leave, and beside it the downloads of these rows."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f":small[{said}]", width="content")
        result_table.downloads(table)


def folded(parts: Mapping[str, Callable[[], None]]) -> None:
    """Show parts that can be unfolded, beside each other. parts: title -> what draws it."""
    if parts:
        for column, (title, draw) in zip(st.columns(len(parts)), parts.items(), strict=True):
            with column, st.expander(title):
                draw()
