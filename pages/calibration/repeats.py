"""Tab Consistency: an evaluator over its repeats, over temperatures, and with shuffled words."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.judges.quality import KIND as QUALITY
from core.plots import calibration as figures
from core.results.calibration.advice import called
from core.results.calibration.repeats import sensitivity
from core.results.calibration.results import Sweep, temperature_sweep
from core.results.calibration.tables import sensitivity_rows, sweep_rows
from core.runs.asked import asked_of
from core.runs.kinds import kind_named
from core.schema.runs import Run
from core.store import Store
from pages.calibration.choice import Judged
from pages.tabs import judged
from pages.widgets import chosen_judge, chosen_scores, menus, results_shown
from pages.widgets.chosen_judge import ends, in_percent, value
from pages.widgets.parts import left_out, nothing, part, table


def render(store: Store, one: Judged, everyone: Sequence[Judged]) -> None:
    """Repeats of the evaluator's run, then the two comparisons of runs."""
    run = _run_of(one)
    if run is None:
        part("The judge and itself", "Does it say the same when it is asked again?", "judge-consistency")
        nothing("scores of a table say nothing of repeats; choose a run of the judge quality or direct")
    else:
        judged.render_consistency(store, run)
    _sweep(store, everyone)
    _shuffled(store, run)


def _run_of(one: Judged) -> Run | None:
    run = one.scores.run
    return run if run is not None and "calibration" in kind_named(run.kind).reports else None


def _sweep(store: Store, everyone: Sequence[Judged]) -> None:
    part(
        "Temperature",
        "The same evaluator at several temperatures: its agreement with people, and with itself.",
        "temperature-and-shuffled-words",
    )
    runs = [(run, one) for one in everyone if (run := _run_of(one)) is not None]
    if len(runs) < 2:
        nothing("it takes two runs of one evaluator at different temperatures; choose them above")
        return
    found: Sweep = chosen_scores.once(
        ("temperatures", *(one.key for _, one in runs)),
        lambda: temperature_sweep([(chosen_judge.output_of(store, run), one.found) for run, one in runs]),
    )
    if any(point.agreement is not None for point in found.points):
        results_shown.show(
            figures.temperatures(found.points),
            "Agreement with people by temperature",
            "temperatures",
            sweep_rows(found),
        )
    table(
        pd.DataFrame(
            [
                {
                    "Dimension": point.dimension,
                    "Temperature": f"{point.temperature:g}",
                    "Evaluator": point.evaluator,
                    "Equal to the majority": f"{value(point.agreement)} {ends(point.agreement)}".strip(),
                    "All repeats equal": ""
                    if point.repeats_equal is None
                    else in_percent(point.repeats_equal),
                    "Repeats": point.n_repeats,
                }
                for point in found.points
            ]
        )
    )
    chosen_scores.read_notes(found.notes)


def _shuffled(store: Store, run: Run | None) -> None:
    part(
        "Shuffled words",
        "Some words of each text changed places before the evaluator read it: does its score drop?",
        "temperature-and-shuffled-words",
    )
    if run is None or kind_named(run.kind) is not QUALITY:
        nothing("it takes a run of the judge quality, and another of the same texts with shuffled words")
        return
    others = [
        other
        for other in chosen_judge.with_results(store, QUALITY).values()
        if other.run_id != run.run_id and asked_of(other).chosen.shuffled_words
    ]
    if not others:
        nothing("no run of the judge quality shuffled words; choose so with the settings of a new run")
        return
    twin = menus.one_of(None, "Run with shuffled words", others, menus.name_of, "calibration_twin")
    found = chosen_scores.once(
        ("shuffled", menus.key_of(store, run), menus.key_of(store, twin)),
        lambda: sensitivity(chosen_judge.output_of(store, run), chosen_judge.output_of(store, twin)),
    )
    table(
        pd.DataFrame(
            [
                {
                    "Group": called(each.group),
                    "Texts": each.drops.n,
                    "Drops": in_percent(each.drops),
                    "Stays": in_percent(each.stays),
                    "Rises": in_percent(each.rises),
                    "Left out": left_out(each.left_out),
                }
                for each in found
            ]
        )
    )
    st.markdown(":small[95 % intervals, percentile bootstrap over items.]")
    results_shown.downloads("shuffled-words", sensitivity_rows(found))
