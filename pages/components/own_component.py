"""Parts of a page that need a script of their own in the browser.

The files are served from the app's own address, so that the content security policy stays as strict as without
them: what Streamlit is handed as a string would come from a blob: address, which the policy shuts out.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.components.v2.types import ComponentRenderer

_PACKAGE = "assay"


def own_component(folder: Path) -> ComponentRenderer:
    """The component of a package, whose folder `files` holds a script and a style sheet of the package's name."""
    return _registered(get_bidi_component_manager(), folder)


def sent(key: str, event: str) -> Mapping[str, Any] | None:
    """What the component of that key last sent under a name; None before it did, or where it is no such thing.

    Whatever counts its changes sends its `number`, a whole one, with them.
    """
    state = st.session_state.get(key)
    value = state.get(event) if isinstance(state, Mapping) else None
    if not isinstance(value, Mapping):
        return None
    number = value.get("number")
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return None
    return {**value, "number": int(number)} if number == int(number) else None


@lru_cache(maxsize=8)
def _registered(manager: BidiComponentManager, folder: Path) -> ComponentRenderer:
    """Once on each server, which is told which files belong to it."""
    name = folder.name
    config = ComponentConfig(name=name, asset_dir="files")
    manager.register_from_manifest(ComponentManifest(name=_PACKAGE, version="1", components=[config]), folder)
    return st.components.v2.component(
        f"{_PACKAGE}.{name}", js=f"{name}.js", css=f"{name}.css", isolate_styles=False
    )
