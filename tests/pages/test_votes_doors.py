"""The votes of a study as a target at the page Metrics: the numbers of the commands, digit by digit, and pairs as rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.pages.metrics_visit import METRICS, scored, visit
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.factories import LEVELS, dataset, study_in, unblind, vote
from helpers.texts.rating_studies import OVERALL, rating_study
from helpers.texts.rating_studies import unblind as unblind_ratings
from streamlit.testing.v1 import AppTest

import assay
from core.cli import main
from core.schema.scores import OutputSet, ScorableOutput
from core.schema.study import Choice, RatingTask
from core.sources.texts import texts_of_study
from core.store import Store
from core.store.studies import find_study
from core.study.blinding import BlindPair
from core.tables.reading import sha256_of

pytestmark = pytest.mark.usefixtures("cookies")
N_QUESTIONS = 7


def text(item: int, level: int, which: int) -> str:
    """Answers whose words, and so scores, differ from question to question."""
    kept = 14 - 2 * level - (item * 5 + level * 3 + which * 4) % 5
    words = [f"word{(item + place) % 17}" for place in range(kept)]
    return " ".join([("Alpha", "Beta", "Gamma")[which], *words])


@pytest.fixture
def voted(store: Store, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An unblinded study of pairs with levels, and a run that scored its answers."""
    plain = dataset(N_QUESTIONS)
    places = {item.item_id: at for at, item in enumerate(plain.items)}
    data = replace(
        plain,
        items=tuple(replace(one, reference=text(at, 0, 0)) for at, one in enumerate(plain.items)),
        outputs=tuple(
            replace(
                one, text=text(places[one.item_id], LEVELS.index(one.level), plain.sources.index(one.source))
            )
            for one in plain.outputs
        ),
    )
    study = study_in(store, data, raters=("ann", "bob"), name="voted")
    for at, token in enumerate(study.tokens.values()):
        vote(store, token, lambda pair, at=at: by_length(pair, at))
    unblind(study)
    monkeypatch.setenv("ASSAY_DB", str(store.path))
    return scored(store, *texts_of_study(store, study.study))


def by_length(pair: BlindPair, rater: int) -> Choice:
    place = (sum(map(ord, pair.left)) + rater) % 5
    if place == 4:
        return "both_good"
    return "left" if pair.left.startswith("Alpha") is (place < 3) else "right"


def test_command_and_function_have_the_same_votes(
    voted: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = f"run:{voted.run_id}", tmp_path / "out.csv"
    found = assay.votes("study:voted", run)
    assert {*found["votes"].frame["metric"]} == {*METRICS}
    for table in found.names:
        assert main(["votes", "study:voted", run, "--table", table, "--out", str(out)]) == 0
        found[table].write(tmp_path / "own.csv")
        assert (tmp_path / "own.csv").read_bytes() == out.read_bytes()
    capsys.readouterr()
    assert main(["votes", "study:voted", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.json))


def test_votes_are_a_target_of_the_page_correlations(
    voted: Any, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each row is a pair."""
    taken = tables_taken(monkeypatch)
    at = against_study(voted, store, "voted")
    at.multiselect(key="correlate_group").set_value(["level"]).run()
    run, out = f"run:{voted.run_id}", tmp_path / "out.csv"
    words = ("correlate", run, "--with", "human", "--human", "study:voted")
    assert main([*words, "--group", "level", "--out", str(out)]) == 0
    assert as_csv(taken)["correlations"] == out.read_bytes()
    at.session_state["metrics_explored_metric"] = "chrf-6-2"
    at.run()
    assert not at.exception
    assert len(at.get("plotly_chart")) == 1, "the dots of a metric, each a pair"
    at.session_state["metrics_look"] = "Ranking"
    at.run()
    assert not at.exception
    assert main([*words, "--rank", "pearson", "--table", "ranking", "--out", str(out)]) == 0
    assert as_csv(taken)["ranking"] == out.read_bytes()


def against_study(run: Any, store: Store, name: str) -> AppTest:
    """The page Correlations against the people of a study."""
    at = visit(("run", run.run_id), "Correlations")
    if any(one.key == "metrics_against_main" for one in at.segmented_control):
        at.segmented_control(key="metrics_against_main").set_value("human").run()
    at.selectbox(key="metrics_people_main").set_value(find_study(store, name).study_id).run()
    assert not at.exception
    return at


def test_ratings_of_a_study_are_a_target_of_the_page_correlations(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outputs = tuple(
        ScorableOutput(f"q{item}", system, text(item, which, which), reference=text(item, 0, 0))
        for item in range(5)
        for which, system in enumerate(("north", "south", "west"))
    )
    texts = OutputSet(outputs, sha256_of(b"rated"), "rated.jsonl")
    task = RatingTask("one", "One", "002", "2", "none", (OVERALL,), None)
    study = rating_study(store, texts, task, name="rated", repeat_share=0)
    for at, rater in enumerate(study.tokens):
        desk = study.desk(rater)
        while (number := desk.next_open()) is not None:
            desk.save_scores(number, {"overall": float(len(desk.text(number).text) * (7 + at) % 90)})
            desk.complete(number, seconds=20.0)
    unblind_ratings(study)
    monkeypatch.setenv("ASSAY_DB", str(store.path))
    run = scored(store, *texts_of_study(store, study.study), metrics=("chrf-6-2", "rouge-1"))
    taken = tables_taken(monkeypatch)
    against_study(run, store, "rated")
    out = tmp_path / "out.csv"
    words = ("correlate", f"run:{run.run_id}", "--with", "human", "--human", "study:rated")
    assert main([*words, "--out", str(out)]) == 0
    assert as_csv(taken)["correlations"] == out.read_bytes()


def test_votes_are_the_human_side_of_a_meta_correlation(
    voted: Any, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at = visit(("run", voted.run_id), "Meta-correlation")
    for side in at.radio:
        if side.label == "From":
            side.set_value("live")
    at.run()
    taken = tables_taken(monkeypatch)
    at.selectbox(key="metrics_people_side").set_value(find_study(store, "voted").study_id).run()
    assert not at.exception
    run, out = f"run:{voted.run_id}", tmp_path / "out.csv"
    words = ("meta-correlate", run, run, "--human", "study:voted", "--table", "meta-correlation")
    assert main([*words, "--out", str(out)]) == 0
    assert as_csv(taken)["meta-correlation"] == out.read_bytes()


def test_a_study_of_other_texts_is_refused_on_the_page(voted: Any, store: Store) -> None:
    other = study_in(store, dataset(2, ("X", "Y")), name="other")
    for token in other.tokens.values():
        vote(store, token, lambda pair: "left")
    unblind(other)
    at = against_study(voted, store, "other")
    assert len(at.error) == 1
