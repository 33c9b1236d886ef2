"""The page Operation: what runs, what it cost, disk and memory, backup, sign-ins and failed attempts, signing out."""

from functools import partial

import pandas as pd
import streamlit as st

from core.errors import counted
from core.installation import COMMAND
from core.store import Store, database_path
from core.store.backup import left_out_notes, tables_of, tables_without, write_backup
from core.store.raters import count_event, events
from core.store.upkeep import byte_size
from pages.operation import disk, spending, working
from pages.widgets import messages, visitor
from pages.widgets.messages import mistakes_shown, moment, plain
from pages.widgets.parts import page, table

_TABS = ("What runs", "Cost and failures", "Disk and memory", "Backup", "Sign-ins")


def render() -> None:
    """Show the tabs. Only the open one of the first three is drawn: they read much. The others are always there."""
    with visitor.admin_store() as store:
        page(
            "Operation",
            "What runs, what it costs, what failed, and what takes space. Back up, and see who signed in.",
        )
        messages.news()
        runs, costs, space, backup, door = st.tabs(_TABS, key="operation_tab", on_change="rerun")
        for tab, render_tab in ((runs, working.render), (costs, spending.render), (space, disk.render)):
            if tab.open:
                with tab, mistakes_shown():
                    render_tab(store)
        with backup:
            _backup(store)
        with door:
            _door(store)
            st.header("Sign out", anchor=False)
            st.markdown(
                f"[Sign out of this browser](sign-out). To choose a new passphrase, run `{COMMAND} admin link`."
            )


def _backup(store: Store) -> None:
    st.header("Backup", anchor=False)
    st.write(
        "One file with all studies, votes and settings. You can make it while raters are working. It also contains the key to all personal "
        "links: store it as safely as the app itself."
    )
    again = visitor.admin_again()

    def make(with_tables: bool) -> bytes:
        with again() as store:
            count_event(store, "backup made", "")
            return write_backup(store, with_tables=with_tables)

    with_tables = _asks_for_tables(store)
    st.download_button(
        "Backup", partial(make, with_tables), "assay-backup.zip", "application/zip", on_click="ignore"
    )
    st.markdown(
        f":small[To restore it: `{COMMAND} study restore assay-backup.zip --replace` "
        f"(database: {plain(database_path().name)}).]"
    )


_MOST_BYTES = 500 * 10**6
"""Largest tables in a backup by the page, which a browser receives from the app's memory."""


def _asks_for_tables(store: Store) -> bool:
    """Ask whether the tables of runs are wanted too, if there are any."""
    tables = tables_of(store)
    if not tables:
        return False
    size = sum(tables.values())
    if size > _MOST_BYTES:
        st.info(
            f"The tables of {counted(len(tables), 'run')} ({byte_size(size)}) are too large for a download and are left out. "
            f"Run `{COMMAND} study backup --with-tables --out FILE` to back them up."
        )
        return False
    if notes := left_out_notes(tables_without(store)):
        st.warning("\n\n".join(map(plain, notes)))
    return st.checkbox(
        f"With the tables of {counted(len(tables), 'run')} ({byte_size(size)})",
        key="operation_with_tables",
        help="Big tables and batch files beside the database. Without them, these runs have no results after a restore.",
    )


def _door(store: Store) -> None:
    st.header("Sign-ins and attempts", anchor=False)
    st.write(
        "Sign-ins, failed sign-ins, and unknown links. Repeats from one address within 15 minutes share a line."
    )
    found = events(store)
    if not found:
        st.write("No sign-in or failed attempt yet.")
        return
    rows = [(moment(one.last_utc), one.kind, one.n, one.address or "this machine") for one in found]
    table(pd.DataFrame(rows, columns=["Last (UTC)", "Event", "Times", "From"]))
