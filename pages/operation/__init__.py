"""The page Operation: backup, sign-ins and failed attempts, signing out."""

from functools import partial

import pandas as pd
import streamlit as st

from core.installation import COMMAND
from core.store import Store, database_path
from core.store.backup import write_backup
from core.store.raters import count_event, events
from pages.widgets import visitor
from pages.widgets.messages import moment, plain
from pages.widgets.parts import page, table


def render() -> None:
    """Show the backup button, sign-ins and failed attempts, and the sign-out link."""
    with visitor.admin_store() as store:
        page("Operation", "Back up the database, see who signed in, sign out.")
        _backup()
        _door(store)
    st.subheader("Sign out", anchor=False)
    st.markdown(
        f"[Sign out of this browser](sign-out). To choose a new passphrase, run `{COMMAND} admin link`."
    )


def _backup() -> None:
    st.subheader("Backup", anchor=False)
    st.write(
        "One file with all studies, votes and settings. You can make it while raters are working. It also contains the key to all personal "
        "links: store it as safely as the app itself."
    )
    again = visitor.admin_again()

    def make() -> bytes:
        with again() as store:
            count_event(store, "backup made", "")
            return write_backup(store)

    st.download_button("Backup", partial(make), "assay-backup.zip", "application/zip", on_click="ignore")
    st.markdown(
        f":small[To restore it: `{COMMAND} study restore assay-backup.zip --replace` "
        f"(database: {plain(database_path().name)}).]"
    )


def _door(store: Store) -> None:
    st.subheader("Sign-ins and attempts", anchor=False)
    st.write(
        "Sign-ins, failed sign-ins, and unknown links. Repeats from one address within 15 minutes share a line."
    )
    found = events(store)
    if not found:
        st.write("No sign-in or failed attempt yet.")
        return
    rows = [(moment(one.last_utc), one.kind, one.n, one.address or "this machine") for one in found]
    table(pd.DataFrame(rows, columns=["Last (UTC)", "Event", "Times", "From"]))
