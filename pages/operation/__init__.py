"""Operation: a copy of everything, who came to the door, signing out. For the admin."""

from functools import partial

import pandas as pd
import streamlit as st

from core.store import Store, database_path
from core.store.backup import write_backup
from core.store.raters import count_event, events
from pages.widgets import visitor
from pages.widgets.messages import moment, plain
from pages.widgets.parts import table


def render() -> None:
    """Backup button, sign-ins and failed attempts, sign-out."""
    with visitor.admin_store() as store:
        st.title("Operation")
        _backup()
        _door(store)
    st.subheader("Sign out", anchor=False)
    st.markdown(
        "[Sign out of this browser](sign-out). A new passphrase is chosen with `python -m core admin link`."
    )


def _backup() -> None:
    st.subheader("Backup", anchor=False)
    st.write(
        "Everything in one file, while raters go on: all studies, votes, settings, and the key from which personal links "
        "are made. Whoever has it can open every link: keep it as safe as the app itself."
    )
    again = visitor.admin_again()

    def make() -> bytes:
        with again() as store:
            count_event(store, "backup made", "")
            return write_backup(store)

    st.download_button("Backup", partial(make), "assay-backup.zip", "application/zip", on_click="ignore")
    st.markdown(
        ":small[To go back to it: `python -m core study restore assay-backup.zip --replace` "
        f"(database: {plain(database_path().name)}).]"
    )


def _door(store: Store) -> None:
    st.subheader("Sign-ins and attempts", anchor=False)
    st.write(
        "Sign-ins, links and addresses that opened nothing; the same from one address within 15 minutes is one line."
    )
    found = events(store)
    if not found:
        st.write("Nothing yet.")
        return
    rows = [(moment(one.last_utc), one.kind, one.n, one.address or "this machine") for one in found]
    table(pd.DataFrame(rows, columns=["Last (UTC)", "What", "Times", "From"]))
