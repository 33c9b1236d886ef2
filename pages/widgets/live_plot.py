"""A figure that stays the same element in the browser while its numbers change, so that a choice and a hover are not lost."""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import plotly
import plotly.graph_objects as go
import plotly.io
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from pages.widgets.own import own_component, sent
from pages.widgets.parts import CHART_CONFIG, themed

_PRESSED, _CLEAR = "pressed", "rgba(0,0,0,0)"


def live_plot(figure: go.Figure, alt: str, key: str, file_name: str, press: Callable[[int], None]) -> None:
    """Show a figure whose dots have the place of a row as `customdata`.

    alt: describes it for people who cannot see it. press: called with the row of a dot that was pressed, before the page is drawn again.
    """
    _serve_library(get_bidi_component_manager())
    themed(figure)
    figure.update_layout(
        autosize=True,
        uirevision="same",
        paper_bgcolor=_CLEAR,
        plot_bgcolor=_CLEAR,
        font_family='"Source Sans", sans-serif',
        modebar={"bgcolor": _CLEAR},
    )
    image = {"toImageButtonOptions": {"filename": file_name, "scale": 2}}
    before = sent(key, _PRESSED)

    def pressed() -> None:
        now = sent(key, _PRESSED)
        if now is not None and isinstance(now.get("row"), int | float):
            press(int(now["row"]))

    own_component("live_plot")(
        key=key,
        data={
            "figure": json.loads(plotly.io.to_json(figure, validate=False)),
            "alt": alt,
            "config": {**CHART_CONFIG, **image, "displaylogo": False, "responsive": True},
            "number": 0 if before is None else before["number"],
        },
        on_pressed_change=pressed,
    )


@lru_cache(maxsize=8)
def _serve_library(manager: BidiComponentManager) -> None:
    """Let the browser load plotly from the installed package, once per server."""
    package = Path(plotly.__file__).parent
    config = ComponentConfig(name="plotly", asset_dir="package_data")
    manager.register_from_manifest(ComponentManifest(name="assay", version="1", components=[config]), package)
