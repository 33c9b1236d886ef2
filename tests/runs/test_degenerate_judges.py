"""Whole runs of judges whose model writes junk: no junk is a measurement, and the run says what its scores are worth."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Body
from helpers.texts.judge_runs import RUNNING, judging_server, run_to_the_end, settings, texts
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import specialist

from core.cli.shared.running import summary
from core.runs.jobs import RunAtHand
from core.runs.judging import degeneracy_of
from core.runs.path import create, run_report
from core.runs.progress import progress_of
from core.runs.scoring import score_table
from core.store import Store

Junk = Callable[[Body, dict[str, Any]], str | None]


def run_with(store: Store, junk: Junk, kind: str, data: bytes, **given: Any) -> RunAtHand:
    """The run of a judge whose model writes what `junk` gives, and behaves well where that is None."""

    def script(body: Body, n: int) -> str:
        names = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
        return junk(body, names) or answer(body, n)

    with judging_server(script) as server:
        make = settings if kind in ("rubric", "claims", "cef") else specialist
        return run_to_the_end(store, make(kind, server.url, **given), data)


def signs(run: RunAtHand) -> dict[str, tuple[int, int]]:
    return {one.sign: (one.count, one.of) for one in degeneracy_of(run)}


def said_of(run: RunAtHand) -> list[str]:
    """What stands in the summary of the run beside the numbers; the report has the same signs."""
    progress = progress_of(run.store, run.run.run_id)
    reported = run_report(run, progress)["degeneracy"]
    found = degeneracy_of(run)
    assert isinstance(reported, list)
    assert [one["sign"] for one in reported] == [one.sign for one in found]
    lines = summary(run, progress)
    assert all(one.sentence in lines for one in found)
    return [one.sentence for one in found]


def test_a_judge_that_gives_one_score_with_one_feedback_is_constant_and_repeats_itself(store: Store) -> None:
    run = run_with(
        store, lambda *_: json.dumps({"feedback": "All facts are there.", "verdict": 1}), "rubric", texts(2)
    )
    assert signs(run) == {"constant": (10, 10), "duplicates": (10, 10)}
    assert len(said_of(run)) == 2


@pytest.mark.parametrize(
    "listed", [[","], [",", "was", "]}[", "text:"], [], ["Is it said that 1500 was the year?"] * 10]
)
def test_junk_for_questions_scores_nothing(store: Store, listed: list[str]) -> None:
    run = run_with(
        store,
        lambda _, names: json.dumps({"questions": listed}) if "questions" in names else None,
        "cef",
        texts(1),
    )
    values = score_table(run).values
    conciseness = 4
    assert np.isnan(np.delete(values, conciseness, axis=1)).all()
    failures = progress_of(store, run.run.run_id).failures
    assert failures == {
        ("questions from source", "too few questions"): 5,
        ("questions from text", "too few questions"): 5,
    }
    assert "duplicates" not in signs(run)


def test_few_questions_of_many_requested_are_scored_and_said(store: Store) -> None:
    run = run_with(store, lambda *_: None, "cef", texts(1), n_questions=10)
    assert not np.isnan(score_table(run).values).any()
    assert signs(run)["too few"] == (5, 10), (
        "four facts from the text; five sentences from the source are half of ten"
    )
    enough = run_with(store, lambda *_: None, "cef", texts(1), n_questions=4)
    assert "too few" not in signs(enough)
    assert said_of(run)


def test_no_claims_of_texts_with_sentences_score_nothing(store: Store) -> None:
    run = run_with(
        store, lambda _, names: json.dumps({"claims": []}) if "claims" in names else None, "claims", texts(1)
    )
    assert np.isnan(score_table(run).values).all()
    assert signs(run) == {"too few": (10, 10)}
    assert said_of(run)


@pytest.mark.parametrize(
    ("errors", "value", "expected"),
    [
        ([("nowhere to be found", "style/awkward")] * 3, None, {"not found"}),
        (
            [("nowhere to be found", "style/awkward"), ("The", "style/awkward")],
            -5.0,
            {"not found", "constant"},
        ),
        ([("The", "error_category_" * 5)], -5.0, {"invented", "constant"}),
    ],
)
def test_quotes_that_are_not_there_and_invented_categories_are_said(
    store: Store, errors: list[tuple[str, str]], value: float | None, expected: set[str]
) -> None:
    reply = {"errors": [{"span": span, "severity": "major", "category": one} for span, one in errors]}
    run = run_with(store, lambda *_: json.dumps(reply), "automqm", rated_texts(2), examples="none")
    values = set(score_table(run).values.ravel().tolist())
    assert values == {value} if value is not None else np.isnan(list(values)).all()
    assert set(signs(run)) == expected
    assert said_of(run)


def test_a_judge_that_behaves_shows_no_sign(store: Store) -> None:
    run = run_with(store, lambda *_: None, "claims", texts(2))
    assert signs(run) == {}
    assert run_report(run, progress_of(store, run.run.run_id))["degeneracy"] == []


def test_a_run_that_scored_nothing_yet_shows_no_sign(store: Store) -> None:
    with judging_server() as server:
        run, _ = create(store, texts(1), "mills.jsonl", settings("rubric", server.url), RUNNING)
    assert signs(run) == {}
