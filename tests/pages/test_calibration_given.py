"""Files uploaded to the page Calibration: chosen once, and METAL's JSON reversed where 1 is bad."""

import json

import pytest
from helpers.pages.generate_visit import press
from streamlit.testing.v1 import AppTest

from core.errors import InputError
from core.store import Store
from core.store.kept import kept_files
from pages.widgets import chosen_scores

PEOPLE = {"rater-1": {"LA": 2, "H": 1}, "rater-2": {"LA": 2, "H": 1}}
RECORDS = [
    {"id": n, "text": f"Text {n}.", "annotations": PEOPLE, "evaluators": {"gpt": {"LA": 2, "H": 0}}}
    for n in range(6)
]
METAL = json.dumps(RECORDS).encode()


def page() -> None:
    from pages import calibration

    calibration.render()


@pytest.mark.usefixtures("cookies")
def test_metal_json_becomes_ratings_and_a_chosen_judge(store: Store) -> None:
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["calibrate_n_resamples"] = 200
    at.run()
    at.multiselect(key="metrics_flip_calibration").set_value(["H"])
    at.file_uploader[0].upload("metal.json", METAL)
    at.run()
    press(at, "Keep this file")
    (people,) = kept_files(store, "ratings")
    turned = {one.score for one in chosen_scores.ratings_of(store, people).ratings if one.dimension == "H"}
    assert turned == {0}, "two people say that there is a hallucination, which is bad"
    at.checkbox(key="metrics_evaluators_calibration").check()
    at.run()
    at.multiselect(key="metrics_flip_calibration").set_value(["H"])
    at.file_uploader[0].upload("metal.json", METAL)
    at.run()
    press(at, "Keep this file")
    at.run()
    assert not at.exception
    assert not at.error
    (judge,) = kept_files(store, "scores")
    scores = chosen_scores.scores_of(store, judge)
    assert {metric.name: set(scores.values[:, n]) for n, metric in enumerate(scores.metrics)} == {
        "gpt-LA": {2},
        "gpt-H": {1},
    }
    assert at.multiselect(key="calibration_judges").value == [("file", judge.file_id)]
    assert len(at.tabs) > 3
    at.multiselect(key="calibration_judges").set_value([])
    at.run()
    assert at.multiselect(key="calibration_judges").value == [], "taken out, it stays out"


def test_only_metal_json_can_be_reversed() -> None:
    with pytest.raises(InputError, match="is not METAL JSON: choose no"):
        chosen_scores.read_people(b"item,score\n1,2\n", "x.csv", ("H",), lower_is_better=False)
    with pytest.raises(InputError, match="is not METAL JSON"):
        chosen_scores.read_judge(b"item,m\n1,2\n", "x.csv", (), evaluators=True)
    alone = json.dumps([RECORDS[0] | {"evaluators": {}}]).encode()
    with pytest.raises(InputError, match="contains no scores of an evaluator"):
        chosen_scores.read_judge(alone, "x.json", (), evaluators=True)
