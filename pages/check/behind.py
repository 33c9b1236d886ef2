"""What stands behind the verdict: rules, groups, all numbers, downloads, and the command that gives the same."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.results.check.tables import CHECK_TABLES, check_json, check_tables
from core.results.check.verdict import Check
from core.store import Store
from core.tables.files import json_text
from pages.check import choice, next_study
from pages.widgets import visitor
from pages.widgets.messages import plain
from pages.widgets.parts import part
from pages.widgets.result_table import show


def render(store: Store, given: choice.Given, found: Check) -> None:
    """Show the rules, where the judge fails, all numbers, and the files."""
    next_study.offer_study(store, given, found)
    tables = check_tables(found)
    numbers, rules, groups = (tables[name] for name in CHECK_TABLES)
    part("Rules", "What the use demands of a judge, and what was found.", "rules-of-a-verdict")
    show(rules, titled=False)
    if groups.rows:
        part("By group", "Does the judge fail for some texts?", "by-group")
        fails = [
            f"{one.name} fails in {group.column} {group.value}."
            for one in found.judges
            for group in one.groups
            if group.fails
        ]
        st.markdown(
            "  \n".join(f"**{plain(line)}**" for line in fails) or "No group is shown to be below the limit."
        )
        show(groups, titled=False)
    part("All numbers", "Every judge, with the human ceiling.", "numbers-of-a-check")
    show(numbers, titled=False)
    _files(given, found)


def _files(given: choice.Given, found: Check) -> None:
    part("Files and command", "The same result as files, and by command.")
    checked = visitor.admin_making()
    files: dict[str, tuple[str, str, Callable[[], bytes]]] = {
        "assay-check.json": ("JSON", "application/json", lambda: json_text(check_json(found)).encode()),
    }
    with st.container(horizontal=True):
        for name, (title, kind, make) in files.items():
            st.download_button(
                title,
                partial(checked, make),
                name,
                kind,
                key=f"check_file_{name}",
                on_click="ignore",
                icon=":material/download:",
            )
    st.code(choice.command(given, found), language=None, wrap_lines=True)
