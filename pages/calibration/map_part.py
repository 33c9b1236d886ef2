"""Tab Calibration map: how an evaluator's scores read on people's scale, tested on items the map has not seen."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.plots import calibration as figures
from core.results.calibration.results import N_FOLDS, maps_of
from core.results.calibration.tables import bin_rows, map_estimates, map_rows
from core.stats.calibration import CalibrationMap, Method
from pages.calibration.choice import Judged
from pages.widgets import chosen_scores, menus, results_shown
from pages.widgets.chosen_judge import ends, value
from pages.widgets.parts import nothing, part, table

_METHODS: dict[Method, str] = {
    "isotonic": "isotonic: rises with the score, otherwise free",
    "ordinal": "ordinal: a proportional-odds model",
}
_NAMES = {
    "error_before": "Mean absolute error, scores as given",
    "error_after": "Mean absolute error, mapped",
    "error_of_mean": "Mean absolute error of the mean rating for every text",
    "gain": "Gain over that",
    "calibration_error_before": "Calibration error, scores as given",
    "calibration_error_after": "Calibration error, mapped",
}


def render(one: Judged) -> None:
    """The map and the reliability diagram of one dimension."""
    part(
        "Calibration map",
        f"What mean rating does a score stand for? Items are dealt into {N_FOLDS} folds, and each is predicted from the "
        "others.",
        "calibration-map",
    )
    method: Method = st.selectbox(
        "Map", list(_METHODS), format_func=_METHODS.__getitem__, key="calibration_method"
    )
    with st.spinner("Computing ..."):
        maps = of(one, method)
    dimension = menus.one_of(None, "Dimension", list(maps), str, "calibration_map_dimension")
    found = maps[dimension]
    if found.reason is not None:
        nothing(found.reason)
        return
    results_shown.show(
        figures.reliability(found),
        f"Reliability diagram of {one.evaluator.name} on {dimension}: mean rating by score, before and after the map",
        "reliability",
        bin_rows({dimension: found}, one.evaluator.name),
    )
    table(
        pd.DataFrame(
            {
                "On unseen items": [_NAMES[name] for name in map_estimates(found)],
                "Value": [value(each) for each in map_estimates(found).values()],
                "95 % interval": [ends(each) for each in map_estimates(found).values()],
            }
        )
    )
    st.markdown(
        f":small[n = {found.n:,} texts of {found.n_clusters:,} items; {found.n_left_out:,} without a score left out. A gain "
        "above 0: the evaluator knows something of the single text.]"
    )
    chosen_scores.read_notes(found.notes)
    results_shown.downloads("calibration-map", map_rows(maps, one.evaluator.name))


def of(one: Judged, method: Method) -> Mapping[str, CalibrationMap]:
    """The maps of all dimensions, computed once."""
    return chosen_scores.once(("maps", one.key, method), lambda: maps_of(one.found, method=method))
