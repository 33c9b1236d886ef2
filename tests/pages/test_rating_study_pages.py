"""The admin's pages on a rating study: what is asked, how far raters are, and nothing of pairs."""

from dataclasses import replace

import pytest
import streamlit as st
from helpers.pages import study_visit
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind
from streamlit.testing.v1 import AppTest

from core.analyses.rating_study import raters_agreement
from core.formats.tasks import find_task
from core.schema.scores import ErrorSpan, OutputSet, ScorableOutput
from core.schema.study import Design
from core.store import Store
from core.store.answers import load_record
from core.store.studies import get_study
from core.study.blinding import open_rating_desk
from core.study.lifecycle import import_rating_study, move
from core.study.raters import add_raters
from pages.widgets.own import Marked, marks_in_browser, revision


def page_of(name: str) -> AppTest:
    def run(name: str) -> None:
        import importlib

        importlib.import_module(f"pages.{name}").render()

    at = AppTest.from_function(run, kwargs={"name": name}, default_timeout=30).run()
    assert not at.exception
    return at


def rated_study(store: Store) -> int:
    """Two texts of one source; ann marks one error and gives 60 and 80."""
    outputs = OutputSet(
        tuple(
            ScorableOutput("q1", system, f"{system} says so", None, "Why?") for system in ("alpha", "beta")
        ),
        "3" * 64,
        "texts.jsonl",
    )
    design = Design(candidate="", comparator="", seed=5, repeat_share=0)
    study, _ = import_rating_study(store, "errors and scores", outputs, find_task("mqm-and-direct"), design)
    (link,) = add_raters(store, study, ["ann"])
    move(store, study, "open")
    desk = open_rating_desk(store, link.token)
    assert desk is not None
    (dimension,) = desk.task.dimensions
    for number in (1, 2):
        is_alpha = desk.text(number).text.startswith("alpha")
        desk.save_scores(number, {dimension.name: 60 if is_alpha else 80})
        marked = (ErrorSpan(0, 5, "major", "fluency/grammar"),) if is_alpha else ()
        desk.save_spans(number, marked, not marked)
        desk.complete(number, seconds=20.0)
    return study.study_id


@pytest.mark.usefixtures("cookies")
def test_the_studies_page_shows_a_rating_study_without_the_parts_of_pairs(store: Store) -> None:
    rated_study(store)
    at = study_visit.visit(1, "raters")
    assert [tab.label for tab in at.tabs] == ["Result", "Texts", "Raters", "Judges", "Design", "Export"]
    progress = next(frame.value for frame in at.dataframe if "Texts with errors" in frame.value)
    assert progress.iloc[0].to_dict() | {"Last answer (UTC)": ""} == {
        "Rater": "ann",
        "Progress": 1.0,
        "Done": "2 of 2",
        "Locked": "",
        "Kind": "rater",
        "Skipped": 0,
        "Flagged": 0,
        "Median seconds": "20",
        "Median visible": "–",
        "Texts with errors": "1",
        "Errors": "1",
        "Repeats the same": "–",
        "Last answer (UTC)": "",
    }
    assert not any("alpha" in str(frame.value) for frame in at.dataframe)


@pytest.mark.usefixtures("cookies")
def test_results_stay_shut_and_then_say_what_was_rated(store: Store) -> None:
    study_id = rated_study(store)
    assert not study_visit.visit().table
    for state in ("closed", "unblinded"):
        move(store, get_study(store, study_id), state, "done")  # type: ignore[arg-type]  # states, by name
    by_system, pivot, by_rater = (table.value for table in study_visit.visit().table[:3])
    said = {(row["System"], row["Dimension"]): row["Mean"] for _, row in by_system.iterrows()}
    assert said["alpha", "mqm"] == "-5.00"  # one major error weighs 5
    assert said["beta", "mqm"] == "0.00"
    assert dict(zip(pivot["System"], pivot["mqm"], strict=True)) == {"alpha": "-5.00", "beta": "0.00"}
    assert by_rater.iloc[0]["Errors marked"] == "1"
    assert by_rater.iloc[0]["Texts"] == "2"
    assert [
        value for name, value in by_rater.iloc[0].items() if name.startswith("Mean") and "mqm" not in name
    ] == ["70.00"]


@pytest.mark.usefixtures("cookies")
def test_results_show_how_far_the_raters_agree(store: Store) -> None:
    study = rating_study(store, rating_texts(12), raters=("R1", "R2", "R3"))
    for rater in ("R1", "R2", "R3"):
        rate_all(study.desk(rater))
    unblind(study)
    at = study_visit.visit()
    (chosen,) = [one for one in at.selectbox if one.key == "results_dimension"]
    found = raters_agreement(load_record(store, get_study(store, study.study_id)))
    shown = " ".join(one.value.replace("\\", "") for one in at.markdown)
    assert found.answers[chosen.value].verdicts[0].sentence in shown
    assert {*found.answers} == {*chosen.options}
    chosen.set_value("H").run()
    assert not at.exception
    shown = " ".join(one.value.replace("\\", "") for one in at.markdown)
    assert found.answers["H"].verdicts[0].sentence in shown
    assert found.answers["H"].verdicts[0].code == "undefined"


def test_a_revision_tells_lists_of_errors_apart() -> None:
    one = ErrorSpan(0, 5, "major", "other")
    lists = [(), (one,), (replace(one, end=4),), (replace(one, in_source=True),), (one, one)]
    assert len({revision(spans, False) for spans in lists} | {revision((), True)}) == 6
    assert revision((one,), False) == revision((replace(one, weight=5.0),), False)


GOOD = {"start": 0, "end": 5.0, "severity": "major", "category": "other", "in_source": False}


def sent(**changes: object) -> dict[str, object]:
    return {"mark": "m", "number": 1, "base": "b", "none": False, "spans": [GOOD], **changes}


def test_what_a_marker_sends_is_read_only_where_it_is_what_a_marker_sends() -> None:
    """A browser can send anything: nothing of it may raise, and what is no list of errors is nothing."""
    marked = _read_as_sent(sent())
    assert marked is not None
    assert marked.spans == (ErrorSpan(0, 5, "major", "other"),)
    hostile: list[object] = [
        5,
        "x",
        [],
        {},
        sent(spans=None),
        sent(spans=["x"]),
        sent(spans=[{**GOOD, "start": "0"}]),
        sent(spans=[{**GOOD, "end": 1e400}]),
        sent(spans=[{**GOOD, "end": float("nan")}]),
        sent(spans=[{**GOOD, "end": 4.5}]),
        sent(spans=[GOOD] * 1_001),
        sent(number=True),
    ]
    assert [_read_as_sent(value) for value in hostile] == [None] * len(hostile)


def _read_as_sent(value: object) -> Marked | None:
    st.session_state["marker"] = {"marked": value}
    return marks_in_browser("marker")
