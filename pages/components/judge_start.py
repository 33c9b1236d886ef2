"""The buttons that start a judge on texts: five items first, or all; the pages Judges and Specialist share them."""

import streamlit as st
from core.runs.judge_plan import create_judging
from core.runs.model_settings import RunningSettings

from core.errors import InputError
from core.judges.kind import JudgeSettings
from core.runs.texts import Texts
from core.store import Store
from pages.components import run_panel
from pages.components.generate_mistakes import as_on_page
from pages.components.run_words import PREVIEW, PREVIEW_WORD


def start(
    store: Store,
    prefix: str,
    texts: Texts,
    n_items: int,
    settings: JudgeSettings,
    running: RunningSettings,
    *,
    disabled: bool,
) -> int | None:
    """Make the run and start it, once a button is pressed; its number. Raises InputError in the words of the form.

    prefix: of the buttons' keys. n_items: that would be judged.
    """
    limit = None if n_items <= PREVIEW else PREVIEW
    everything = f"Judge all {n_items:,} items" if n_items != 1 else "Judge the one item"
    with st.container(horizontal=True):
        first = st.button(
            f"Preview {PREVIEW_WORD} items" if limit else everything,
            type="primary",
            disabled=disabled,
            key=f"{prefix}_preview",
        )
        at_once = limit is not None and st.button(
            everything,
            disabled=disabled,
            key=f"{prefix}_all",
            help="Without a preview nobody knows what it will cost.",
        )
    if not first and not at_once:
        return None
    try:
        run, _ = create_judging(store, *texts, settings, running, None if at_once else limit)
    except InputError as problem:
        raise as_on_page(problem) from None
    run_panel.start(run)
    return run.run_id
