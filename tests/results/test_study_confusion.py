"""Raters' errors in a study of pairs by Dawid and Skene's model, and the verdict that its classes would give."""

import json

import numpy as np
import pytest
from helpers.texts.factories import record_of
from helpers.texts.rater_panel import panel

from core.results.study.confusion import CONFUSION_TABLES, NOT_DECLARED
from core.results.study.counted import Filters, count
from core.results.study.results import StudyResults, headline, study_results
from core.results.study.tables import shown_tables, study_tables
from core.schema.study import PREFERENCES, StudyRecord
from core.stats.dawid_skene import dawid_skene


def results_of(record: StudyRecord, filters: Filters | None = None) -> StudyResults:
    return study_results(record, filters, n_resamples=100)


@pytest.fixture(scope="module")
def guesser() -> StudyResults:
    return results_of(panel((0.9, 0.8, 0.85, 0.25)))


def test_the_estimates_are_those_of_the_model(guesser: StudyResults) -> None:
    found = guesser.confusion.found
    assert [one.rater for one in found.raters] == list(guesser.raters)
    assert found.classes == PREFERENCES
    estimates = [one.accuracy.estimate for one in found.raters]
    assert estimates == pytest.approx([0.9, 0.8, 0.85, 0.25], abs=0.1)
    assert found.below_others == ("r3",)
    assert found.raters[0].accuracy.n_clusters == 20  # questions
    assert "r3" in guesser.confusion.reading


def test_the_declared_verdict_is_untouched(guesser: StudyResults) -> None:
    votes, model = guesser.confusion.lines
    assert model.name == NOT_DECLARED
    assert votes.mean == pytest.approx(guesser.overall.composite.mean)
    assert (votes.bound, votes.value) == (guesser.verdict.bound, guesser.verdict.value)
    assert model.n_pairs + model.n_left_out == votes.n_pairs == guesser.overall.n_pairs
    assert 0 < guesser.confusion.n_changed < votes.n_pairs
    assert NOT_DECLARED not in [line.name for line in guesser.sensitivity]
    assert not any("Dawid" in line for line in headline(guesser))


def test_scores_are_the_classes_of_the_model(guesser: StudyResults) -> None:
    counted = count(panel((0.9, 0.8, 0.85, 0.25)), Filters())
    labels = dawid_skene(counted.codes, 4).labels
    scores = np.array([1, 0, 0, -1])[labels[labels >= 0]]
    assert guesser.confusion.lines[1].mean == pytest.approx(scores.mean())


def test_tables(guesser: StudyResults) -> None:
    tables = study_tables(guesser)
    accuracy, confusion, verdicts = (tables[name] for name in CONFUSION_TABLES)
    assert [row[0] for row in accuracy.rows] == list(guesser.raters)
    assert [row[6] for row in accuracy.rows] == ["no", "no", "no", "yes"]
    assert len(confusion.rows) == 16
    for row in confusion.rows:
        assert sum(cell.value for cell in row[3:]) == pytest.approx(1)
    assert [one.heading for one in confusion.columns[3:]] == [
        f"{guesser.candidate} better",
        "both good",
        "both bad",
        f"{guesser.comparator} better",
    ]
    assert [row[0] for row in verdicts.rows] == ["composite of the votes", NOT_DECLARED]


def test_existing_warnings_stand_beside(guesser: StudyResults) -> None:
    (r3,) = [one for one in guesser.confusion.found.raters if one.rater == "r3"]
    assert r3.warnings == guesser.rater_warnings.get("r3", ())


def test_json(guesser: StudyResults) -> None:
    found = guesser.to_json()["dawid_skene"]
    assert found["declared"] is False
    assert [one["rater"] for one in found["raters"]] == ["r0", "r1", "r2", "r3"]
    assert found["raters"][3]["below_others"] is True
    assert len(found["raters"][0]["matrix"]) == 4
    assert [one["name"] for one in found["verdicts"]] == ["composite of the votes", NOT_DECLARED]
    assert json.loads(json.dumps(found, allow_nan=False)) is not None


def test_two_raters_are_too_few() -> None:
    found = results_of(panel((0.9, 0.8)))
    assert "needs 3 raters" in (found.confusion.found.reason or "")
    assert found.confusion.lines == ()
    shown = {table.name: table for table in shown_tables(found)}
    assert shown["dawid-skene"].rows == ()
    assert "needs 3 raters" in shown["dawid-skene"].notes[0]
    assert not {"confusion", "dawid-skene-verdict"} & set(shown)


def test_no_vote() -> None:
    found = results_of(record_of({}))
    assert found.confusion.found.raters == ()
    assert found.confusion.found.reason


def test_a_filter_recomputes_it() -> None:
    record = panel((0.9, 0.8, 0.85, 0.25))
    some = results_of(record, Filters(raters=("r0", "r1", "r2")))
    assert [one.rater for one in some.confusion.found.raters] == ["r0", "r1", "r2"]
    assert some.confusion.found.below_others == ()
