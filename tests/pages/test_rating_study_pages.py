"""The admin's pages on a rating study: what is asked, how far raters are, and nothing of pairs."""

from dataclasses import replace

import pytest
import streamlit as st
from helpers.pages.study_visit import card_of, numbers_of, visit
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind

from core.analyses.study_results.rating_agreement import raters_agreement
from core.errors import NotAllowed
from core.formats.tasks import find_task
from core.schema.scores import ErrorSpan, OutputSet, ScorableOutput
from core.schema.study import Design
from core.store import Store
from core.store.answers import load_record
from core.store.studies import get_study
from core.study.blinding import open_rating_desk
from core.study.lifecycle import change_design, import_rating_study, move
from core.study.raters import add_raters
from pages.widgets.own import Marked, marks_in_browser, revision


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
    at = visit(rated_study(store), "raters")
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
    assert not visit(study_id).table
    for state in ("closed", "unblinded"):
        move(store, get_study(store, study_id), state, "done")  # type: ignore[arg-type]  # states, by name
    at = visit(study_id)
    assert card_of(at)[0].split()[0] == "beta", "no mean of another system is higher"
    assert list(numbers_of(at).values()) == ["80.00", "60.00", "2 of 2", "1"]
    tables = {table.value.columns[2 if "Dimension" in table.value else 1]: table.value for table in at.table}
    pivot = next(table for table in tables.values() if "mqm" in table)
    by_system = next(table for table in tables.values() if "Dimension" in table)
    by_rater = visit(study_id, "raters", part="each-rater").table[0].value
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
    at = visit(study.study_id, "raters")
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


@pytest.mark.usefixtures("cookies")
def test_the_design_of_an_ended_rating_study_cannot_be_saved(store: Store) -> None:
    """Nobody rated in it, so that only its end freezes the design."""
    study = rating_study(store, raters=())
    unblind(study)
    at = visit(study.study_id, "design")
    (save,) = [one for one in at.button if one.label == "Save this design"]
    assert save.disabled
    assert all(one.disabled for one in at.number_input)
    with pytest.raises(NotAllowed):
        change_design(store, study.study, replace(study.study.design, repeat_share=0.25))


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
