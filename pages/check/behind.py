"""What stands behind the verdict: which judge, rules, groups, gaps, all numbers, files, and the command that gives the same."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.plots.judges import quality_against
from core.results.check.choosing import which_of, which_said, which_tables
from core.results.check.tables import CHECK_TABLES, check_json, check_tables
from core.results.check.verdict import Check
from core.store import Store
from core.tables.files import json_text
from pages.check import choice, gaps, next_study
from pages.widgets import visitor
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import part
from pages.widgets.result_table import show


def render(store: Store, given: choice.Given, found: Check) -> None:
    """Show what would settle an open verdict, which judge to use, the rules, where the judge fails, and all numbers."""
    if len(found.judges) > 1:
        with mistakes_shown():
            _which(given, found)
    next_study.offer_study(store, given, found)
    tables = check_tables(found)
    numbers, rules, groups = (tables[name] for name in CHECK_TABLES)
    part("Rules", "What the use demands of a judge, and what was found.", "four-uses")
    show(rules, titled=False)
    if groups.rows:
        part("By group", "Does the judge fail for some texts?", "four-uses")
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
    part("All numbers", "Every judge, with the human ceiling.", "four-uses")
    show(numbers, titled=False)
    gaps.show_gaps(found.panel, given.beside)
    _files(given, found)


def _which(given: choice.Given, found: Check) -> None:
    """Show which of several judges to use: the sentence, quality against price or time, and both tables."""
    part("Which judge?", "Quality against price and time, on the same texts.", "which-judge")
    chosen = choice.once(("which", *given.key, found.options), lambda: which_of(found))
    first, *others = map(plain, which_said(chosen))
    st.markdown("  \n".join([f"**{first}**", *others]))
    judges, pairs = which_tables(chosen).values()
    figure = quality_against(chosen, "price") or quality_against(chosen, "time")
    show(
        judges,
        figure=figure,
        alt="Quality of each judge with its interval, against what 1,000 texts cost",
        titled=False,
        table_first=True,
    )
    show(pairs)


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
