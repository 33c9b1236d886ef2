"""Accuracy of metrics within items, on small tables whose pairs can be counted by hand."""

import numpy as np
import pytest

from core.analyses.acc23 import Acc23Options, accuracies
from core.errors import InputError
from core.formats.scores import metric_made_elsewhere
from core.schema.scores import Rating, RatingSet, ScoredRow, ScoreTable

QUICK = Acc23Options(n_resamples=0)
HUMAN = [1.0, 2.0, 2.0, 3.0, 4.0]
METRIC = [2.0, 1.0, 1.5, 5.0, 3.0]
"""Accuracy .6 without ties, .4 where differences up to 2 are ties."""


def table(columns, item="q1", systems="ABCDE", levels=None):
    rows = tuple(
        ScoredRow(item, system, None if levels is None else levels[k]) for k, system in enumerate(systems)
    )
    metrics = tuple(metric_made_elsewhere(name, "higher") for name in columns)
    return ScoreTable(rows, metrics, np.array(list(columns.values()), dtype=float).T, file_name="scores")


def human(scores=HUMAN, systems="ABCDE", levels=None):
    return RatingSet(
        tuple(
            Rating("q1", score, system, None if levels is None else levels[k])
            for k, (system, score) in enumerate(zip(systems, scores, strict=True))
        ),
        "",
        "human",
    )


def test_the_example_of_five_texts():
    (found,) = accuracies(human(), table({"m": METRIC}), Acc23Options(epsilon=0.0, n_resamples=0)).metrics
    assert found.acc23 == pytest.approx(0.6)
    assert (found.n_items, found.n_systems, found.n_pairs) == (1, 5, 10)
    (wide,) = accuracies(human(), table({"m": METRIC}), Acc23Options(epsilon=2.0, n_resamples=0)).metrics
    assert wide.acc23 == pytest.approx(0.4)
    assert wide.accuracy.value == pytest.approx(0.4)


def test_calibration_finds_the_difference_that_is_a_tie():
    """With .5 as a tie, the pair that people tie is tied too, and nothing else: 6 right of 10 become 7."""
    (found,) = accuracies(human(), table({"m": METRIC}), QUICK).metrics
    assert (found.acc23, found.epsilon) == (pytest.approx(0.7), 0.5)
    assert found.segment.value == pytest.approx(np.corrcoef(HUMAN, METRIC)[0, 1])


def test_references_are_left_out_unless_asked_for():
    ratings = human([*HUMAN, 9.0], ["A", "B", "C", "D", "E", "refA"])
    scores = table({"m": [*METRIC, 0.0]}, systems=["A", "B", "C", "D", "E", "refA"])
    found = accuracies(ratings, scores, QUICK)
    assert found.metrics[0].n_systems == 5
    assert any("refA" in note for note in found.notes)
    kept = accuracies(ratings, scores, Acc23Options(references=True, n_resamples=0))
    assert kept.metrics[0].n_systems == 6
    only = table({"m": [1.0, 2.0]}, systems=["refA", "synthetic_ref"])
    with pytest.raises(InputError, match="references"):
        accuracies(ratings, only, QUICK)


def test_rounding_ties_people_only_when_asked_to():
    """-25.2 and -25.200000000000003: in WMT23's numbers no tie."""
    ratings = human([-25.2, -25.200000000000003, 0.0], "ABC")
    scores = table({"m": [1.0, 1.0, 2.0]}, systems="ABC")
    given = accuracies(ratings, scores, Acc23Options(epsilon=0.0, n_resamples=0))
    assert given.metrics[0].acc23 == pytest.approx(2 / 3)
    assert any("rounding" in note for note in given.notes)
    tied = accuracies(ratings, scores, Acc23Options(epsilon=0.0, tie_rounding=True, n_resamples=0))
    assert tied.metrics[0].acc23 == pytest.approx(1.0)


def test_levels_are_texts_of_their_own():
    levels = ["A0", "A1", "A2"]
    found = accuracies(
        human([3.0, 2.0, 1.0], "AAA", levels),
        table({"m": [3.0, 2.0, 1.0]}, systems="AAA", levels=levels),
        QUICK,
    )
    assert (found.metrics[0].n_pairs, found.metrics[0].acc23) == (3, 1.0)


def test_metrics_are_tested_on_the_texts_that_both_scored():
    options = Acc23Options(test=True, n_resamples=50)
    found = accuracies(human(), table({"m": METRIC, "n": [1.0, 2.0, 2.0, 3.0, np.nan]}), options)
    (test,) = found.tests
    assert (test.first, test.second) == ("m", "n")
    # On A to D people tie B and C; m is wrong on A-B and A-C alone, n has all six pairs.
    assert test.difference == pytest.approx(4 / 6 - 1)
    assert 0 < test.p <= 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": 1.0, "test": True}, "test"),
        ({"test": True, "n_resamples": 0}, "test"),
        ({"swap": "pairs"}, "swap"),
    ],
)
def test_options_that_cannot_be_met_are_told_before_any_file_is_read(given, field):
    problems = []
    assert Acc23Options.read(given, problems) is None
    assert [one.name for one in problems] == [field]


def three_metrics(n_items=12):
    """Twelve items of four systems: l follows people everywhere, m and n by an amount of their own in each item."""
    rng = np.random.default_rng(3)
    people = rng.integers(0, 4, (n_items, 4)).astype(float)
    scores = [people * rng.normal(1, w, (n_items, 1)) + rng.normal(size=people.shape) for w in (0, 1, 1)]
    places = [(f"q{i}", system) for i in range(n_items) for system in "ABCD"]
    ratings = [
        Rating(item, score, system) for (item, system), score in zip(places, people.ravel(), strict=True)
    ]
    metrics = tuple(metric_made_elsewhere(name, "higher") for name in "lmn")
    rows = tuple(ScoredRow(*place) for place in places)
    values = np.stack([one.ravel() for one in scores], axis=1)
    return RatingSet(tuple(ratings), "", "human"), ScoreTable(rows, metrics, values, file_name="scores")


def test_items_change_places_unless_single_pairs_are_asked_for():
    asked = {"test": True, "n_resamples": 200}
    found = accuracies(*three_metrics(), Acc23Options(**asked))
    assert [one.n_units for one in found.tests] == [12, 12, 12]
    assert {one.swap for one in found.tests} == {"items"}
    pairs = accuracies(*three_metrics(), Acc23Options(**asked, swap="pairs"))
    assert {one.swap for one in pairs.tests} == {"pairs"}
    # As they were when single pairs were the only swap.
    assert [one.p for one in pairs.tests] == pytest.approx([23 / 201, 12 / 201, 1])
    assert [one.p_holm for one in pairs.tests] == pytest.approx([46 / 201, 36 / 201, 1])
    assert [one.n_units for one in pairs.tests] == [72, 72, 72]


def test_tests_that_cannot_find_anything_say_so():
    """Four items have 16 swaps, two of which are as large as the observed one whatever it is."""
    few = accuracies(*three_metrics(4), Acc23Options(test=True, n_resamples=999))
    assert [note for note in few.notes if "Holm p" in note]
    assert all(one.p_holm >= 3 / 8 - 0.1 for one in few.tests)
    swaps = accuracies(*three_metrics(), Acc23Options(test=True, n_resamples=50))
    assert [note for note in swaps.notes if "3 / 51" in note]
    enough = accuracies(*three_metrics(), Acc23Options(test=True, n_resamples=200))
    assert not [note for note in enough.notes if "Holm p" in note]


def test_what_cannot_be_compared():
    twice = table({"m": [1.0, 2.0]}, systems="AA")
    with pytest.raises(InputError):
        accuracies(human(), twice, QUICK)
    with pytest.raises(InputError, match="no metric"):
        accuracies(human(), table({}), QUICK)
