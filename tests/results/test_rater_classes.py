"""Raters' errors on each dimension of ratings by Dawid and Skene's model, beside the majority."""

import json

import numpy as np
import pytest
from helpers.texts.calibrations import answered
from helpers.texts.score_factories import ratings as rating_set
from helpers.texts.score_factories import table

from core.analyses.calibrate import CalibrateOptions
from core.cli import main
from core.notebook.declared import calibrate as in_a_notebook
from core.results.calibration.cells import evaluators_of
from core.results.calibration.raters import rater_classes
from core.results.calibration.results import Calibration, calibrate
from core.schema.scores import Rating, RatingSet, ScoredRow, ScoreTable
from core.stats.agreement import majority_labels
from core.stats.dawid_skene import dawid_skene

TABLES = ("dawid-skene", "confusion", "dawid-skene-agreement")
RATERS = ("anna", "ben", "carla", "dan")


def votes(n_texts: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Three good raters and one who guesses, on three classes; and the texts' classes."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, n_texts)
    labels = np.where(
        rng.random((n_texts, 4)) < [0.85, 0.8, 0.75, 0.0], truth[:, None], rng.integers(0, 3, (n_texts, 4))
    )
    return labels, truth


def given(labels: np.ndarray, scores: np.ndarray) -> tuple[RatingSet, ScoreTable]:
    people = rating_set(
        *(
            Rating(str(text), float(label), rater=RATERS[number])
            for text, own in enumerate(labels)
            for number, label in enumerate(own)
        )
    )
    judge = table([(ScoredRow(str(text), "mt"), float(score)) for text, score in enumerate(scores)], ("gpt",))
    return people, judge


def calibration(labels: np.ndarray, scores: np.ndarray) -> Calibration:
    people, judge = given(labels, scores)
    (evaluator,) = evaluators_of(judge, people)
    return calibrate(people, judge, evaluator, CalibrateOptions(n_resamples=200))


@pytest.fixture(scope="module")
def good_judge() -> Calibration:
    return calibration(*votes())


def test_estimates_are_those_of_the_model(good_judge: Calibration) -> None:
    (made,) = rater_classes(good_judge).values()
    labels, truth = votes()
    model = dawid_skene(labels, 3)
    assert [one.rater for one in made.confusions.raters] == list(RATERS)
    assert [one.accuracy.estimate for one in made.confusions.raters] == [
        one.estimate for one in model.accuracy
    ]
    assert made.confusions.classes == ("0", "1", "2")
    assert made.confusions.below_others == ("dan",)
    known = model.labels >= 0
    assert made.with_model.estimate == pytest.approx((model.labels == truth)[known].mean())
    majority = majority_labels(labels, 3)
    assert made.with_majority.estimate == pytest.approx((majority == truth)[majority >= 0].mean())
    assert made.n_changed == ((majority != model.labels) & known & (majority >= 0)).sum()


def test_tables_and_json() -> None:
    answer = answered(*given(*votes()), dawid_skene=True)
    assert [len(answer.tables[name].rows) for name in TABLES] == [4, 12, 1]
    assert [one.name for one in answer.tables["confusion"].columns][-3:] == ["0", "1", "2"]
    assert json.dumps(answer.json["dawid_skene"], allow_nan=False)


def test_numbers_have_no_classes() -> None:
    labels, truth = votes()
    found = calibration(labels + 0.5, truth)
    assert rater_classes(found) == {}
    answer = answered(*given(labels + 0.5, truth), dawid_skene=True)
    assert [len(answer.tables[name].rows) for name in TABLES] == [0, 0, 0]


def test_command_and_notebook_give_the_same_and_only_if_asked(tmp_path, monkeypatch) -> None:
    labels, truth = votes()
    lines = ["item_id,rater,score"]
    lines += [
        f"{text},{RATERS[number]},{label}"
        for text, own in enumerate(labels)
        for number, label in enumerate(own)
    ]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join(lines))
    scores = "\n".join(["item_id,gpt", *(f"{text},{score}" for text, score in enumerate(truth))])
    (tmp_path / "judge.csv").write_text(scores)
    words = ["calibrate", "people.csv", "judge.csv", "--resamples", "200", "--out"]
    assert main([*words, "with.json", "--dawid-skene"]) == 0
    assert main([*words, "without.json"]) == 0
    given, without = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("with", "without"))
    assert {key: value for key, value in given.items() if key != "dawid_skene"} == without
    own = in_a_notebook("people.csv", "judge.csv", resamples=200, dawid_skene=True)
    assert json.loads(json.dumps(own.json)) == given
    (dimension,) = given["dawid_skene"].values()
    assert [one["rater"] for one in dimension["raters"]] == list(RATERS)
    assert set(TABLES) <= {one.name for one in own.tables}
