"""Disk and memory: what the database, the files beside it and each run take; compacting, and deleting old runs."""

import streamlit as st

from core.runs.overview.deleting import sweep
from core.runs.overview.listing import run_sizes, size_table
from core.runs.overview.space import House, house_of, memory_table, space_table
from core.store import Store
from core.store.runs import list_runs
from core.store.upkeep import byte_size, compact, why_not_compact
from pages.operation import deleting
from pages.operation.rows import some_rows
from pages.widgets import menus, messages, result_table
from pages.widgets.messages import code_markdown, mistakes_shown
from pages.widgets.parts import nothing, part


def render(store: Store) -> None:
    """Show sizes, memory, and the parts that free space."""
    sweep(store)
    house = house_of(store)
    for sentence in house.warnings:
        st.warning(code_markdown(sentence))
    part("On the disk", "The database and the files beside it. 1 MB is 1,000,000 bytes.")
    result_table.show(space_table(house, warned=False), titled=False)
    _compact(store, house)
    part("In memory", "Processes that use the database, and what this machine has left.")
    result_table.show(memory_table(house), titled=False)
    part("By run", "The largest first.")
    runs = list_runs(store)
    if not runs:
        nothing("there is no run yet")
        return
    key = (str(store.path), tuple((run.run_id, run.state, run.beat_utc, run.finished_utc) for run in runs))
    sizes = menus.once("operation_sizes", key, lambda: run_sizes(store), "Measuring ...")
    shown = some_rows(sizes, "operation_size_rows")
    result_table.show(size_table(shown), titled=False, whole=size_table(sizes))
    part(
        "Delete runs",
        "A run goes with its results, calls, input file, folder and log, and with cached replies that no other run uses.",
    )
    with mistakes_shown():
        deleting.render(store)


def _compact(store: Store, house: House) -> None:
    """Offer to give free pages back, where there are some."""
    if house.space.unused < 10**6:
        return
    why = why_not_compact(store)
    with mistakes_shown():
        if st.button(
            f"Compact the database: {byte_size(house.space.unused)}",
            key="operation_compact",
            disabled=bool(why),
            help=why
            or "Gives free pages back to the disk. Nobody can save a vote meanwhile, a few seconds for each gigabyte.",
        ):
            with st.spinner("Compacting ..."):
                freed = compact(store)
            messages.tell(f"Compacted: {byte_size(freed)} given back to the disk.")
