"""Delete runs in three steps: choose, see what would go, delete."""

import streamlit as st

from core.errors import counted
from core.runs.overview.deleting import (
    KEEPS_TEXTS,
    NOT_BEGUN,
    PREVIEWS,
    chosen,
    delete,
    deletion_of,
)
from core.store import Store
from core.store.runs import list_runs
from core.store.upkeep import byte_size
from pages.widgets import menus, messages
from pages.widgets.messages import code_markdown, plain
from pages.widgets.parts import nothing, places

_ONLY = {
    "All runs": None,
    "Previews of the prompt editor": PREVIEWS,
    "Stopped before the first item": NOT_BEGUN,
}
_LOOKED_AT = "operation_going"
"""Where a session stores the runs whose deletion it has shown."""


def render(store: Store) -> None:
    """Show the choice; once runs are chosen, what would go; then the button that deletes them."""
    numbers, force = _choice(store)
    if not numbers:
        return
    asked = (tuple(numbers), force)
    if st.button("Show what would go", key="operation_look"):
        st.session_state[_LOOKED_AT] = asked
    if st.session_state.get(_LOOKED_AT) != asked:
        return
    with st.spinner("Adding up ..."):
        going = deletion_of(store, numbers, force=force)
    for line in going.refused:
        st.markdown(f"- Not deleted: {code_markdown(line)}")
    if going.needed:
        st.markdown(f":small[{plain(KEEPS_TEXTS)}]")
    if not going.runs:
        nothing("none of these runs can be deleted")
        return
    st.markdown(f"This would delete {plain(going.said)}")
    label = f"Delete {counted(len(going.runs), 'run')} for good ({byte_size(going.n_bytes)})"
    if st.button(label, type="primary", key="operation_delete"):
        with st.spinner("Deleting ..."):
            gone = delete(store, [run.run_id for run in going.runs], force=force)
        st.session_state.pop(_LOOKED_AT, None)
        left = f" {counted(len(gone.begun), 'run')} had begun to work and stayed." if gone.begun else ""
        messages.tell(f"Deleted {counted(len(gone.run_ids), 'run')}, {byte_size(going.n_bytes)}.{left}")


def _choice(store: Store) -> tuple[list[int], bool]:
    """The chosen runs, and whether those from which something was made go too."""
    runs = list_runs(store)
    place = places(4)
    only = _ONLY[next(place).selectbox("Which", list(_ONLY), key="operation_only")]
    kinds = next(place).multiselect(
        "Kinds", sorted({run.kind for run in runs}), key="operation_delete_kinds", placeholder="all"
    )
    states = next(place).multiselect(
        "States", sorted({run.state for run in runs}), key="operation_delete_states", placeholder="all"
    )
    days = next(place).number_input(
        "Older than, days", min_value=0, max_value=36_500, value=0, step=1, key="operation_days"
    )
    found = {
        run.run_id: run
        for run in chosen(store, older_than_days=days or None, kinds=kinds, states=states, only=only)
    }
    if not found:
        nothing("no run is like that")
        return [], False
    every = st.checkbox(f"All {counted(len(found), 'run')} of this choice", key="operation_every")
    numbers = list(found)
    if not every:
        numbers = [run.run_id for run in menus.several("Runs to delete", found, "operation_numbers")]
    force = st.checkbox(
        "Also runs from which a study or another run was made", key="operation_force", help=KEEPS_TEXTS
    )
    return numbers, force
