"""The buttons that start a run: five items first, or all; several forms share them."""

from collections.abc import Callable, Collection

import streamlit as st

from core.runs.asked import Asked, fields_named
from core.runs.path import create
from core.schema.kinds import Kind
from core.schema.settings import Remark, Settings, on_page, said
from core.store import Store
from pages.components import messages, run_panel
from pages.components.run_words import PREVIEW, PREVIEW_WORD


def start(
    store: Store,
    prefix: str,
    wanted: Callable[[], tuple[Asked, Settings]],
    data: bytes,
    name: str,
    n_items: int,
    *,
    disabled: bool,
    does: str = "Judge",
    told: Collection[str] = (),
    free: bool | None = None,
) -> int | None:
    """Make the run and start it, once a button is pressed; its number. Raises InputError in the words of the form.

    prefix: of the buttons' keys. wanted: what is asked for, checked as a button is pressed. data, name: its file. n_items:
    that it would work on. does: first word of the buttons. told: notes that the form has shown; others are shown with the
    run. free: whether all items cost nothing; False: they do, and a preview has to come first.
    """
    limit = None if n_items <= PREVIEW else PREVIEW
    everything = f"{does} all {n_items:,} items" if n_items != 1 else f"{does} the one item"
    with st.container(horizontal=True):
        first = st.button(
            f"Preview {PREVIEW_WORD} items" if limit else everything,
            type="primary",
            disabled=disabled,
            key=f"{prefix}_preview",
        )
        at_once = (
            limit is not None
            and free is not False
            and st.button(
                everything,
                disabled=disabled,
                key=f"{prefix}_all",
                help="Rules cost nothing." if free else "Without a preview the cost is unknown.",
            )
        )
    if not first and not at_once:
        return None
    asked, running = wanted()
    run, notes = create(store, data, name, asked, running, None if at_once else limit)
    if new := [text for note in notes if (text := worded(asked.kind, note)) not in told]:
        messages.keep(" ".join(f"{text.rstrip('.')}." for text in new))
    run_panel.start(run.run)
    return run.run.run_id


def worded(kind: Kind, note: Remark | str) -> str:
    """A note on a run in the words of the form."""
    return note if isinstance(note, str) else said(note, fields_named(kind), on_page)
