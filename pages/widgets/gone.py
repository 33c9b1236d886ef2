"""Forget widgets that have left the screen: Streamlit keeps what it knows of every widget of a session until the session ends."""

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import SessionState

MOST_GONE, SCREENS = 150, 10
"""Widgets of a session that are off the screen and still answer, the last ones: so many, or ten times those on the screen. A pair
leaves seven, a text with many scales more than forty."""


def forget_gone_widgets() -> None:
    """Forget all but the last widgets that are not on the screen any more; call it when everything is drawn.

    Buttons of a pair have names of their own, so that a press counts for the pair that was shown. A press may be on its way while the
    screen changes, so what left the screen last still answers. A press on a forgotten button does nothing, like one on
    a button that never was. Streamlit has dropped the values of all of them before: this drops callbacks, their arguments and names.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    context.yield_check()  # a run that a newer one replaces does not know what is on the screen
    with context.session_state._lock:
        state: SessionState = context.session_state._state
        drawn, running = context.shared.widget_ids_this_run.snapshot(), context.fragment_ids_this_run
        known = state._new_widget_state.widget_metadata
        for widget in drawn & known.keys():
            known[widget] = known.pop(widget)  # the newest last
        # A fragment that does not run now keeps its widgets, and a widget whose value outlives it is remembered for that.
        gone = [
            widget
            for widget, one in known.items()
            if widget not in drawn
            and (not running or one.fragment_id in running)
            and one.persist_state is None
        ]
        for widget in gone[: -max(MOST_GONE, SCREENS * len(drawn))]:
            del known[widget]
            _forget_name(state, widget)


def _forget_name(state: SessionState, widget: str) -> None:
    names = state._key_id_mapper
    name = names._id_key_mapping.pop(widget, None)
    if name is not None and names._key_id_mapping.get(name) == widget:
        del names._key_id_mapping[name]
