"""WMT23 en-de as a whole: published accuracies, correlations, and people's marks against themselves."""

import numpy as np
import pytest

from core.analyses.acc23 import Acc23Options, accuracies
from core.analyses.spans import GROUPINGS, SpansOptions, span_agreement
from core.formats.mt_metrics_eval import read_folder

pytestmark = [pytest.mark.shared, pytest.mark.slow]
ACC23 = {
    "XCOMET-Ensemble": 0.604,
    "MetricX-23": 0.603,
    "GEMBA-MQM": 0.572,
    "BLEU": 0.520,
    "Random-sysname": 0.409,
}
"""With tie calibration, as published of the shared task."""


@pytest.fixture(scope="module")
def folder(shared_data):
    return read_folder(shared_data / "wmt23")


@pytest.fixture(scope="module")
def found(folder):
    report = accuracies(folder.ratings["mqm"], folder.scores, Acc23Options(n_resamples=0))
    return {one.metric: one for one in report.metrics}


@pytest.mark.parametrize("name", ACC23)
def test_accuracy_with_tie_calibration_is_the_published_one(name, found):
    accuracy = found[name]
    assert accuracy.acc23 == pytest.approx(ACC23[name], abs=0.0005)
    assert (accuracy.n_items, accuracy.n_systems, accuracy.n_pairs) == (460, 12, 460 * 66)


def test_correlations_are_those_of_numpy_on_the_same_scores(found, folder):
    """Segments pooled, and means of systems; 97 of the 557 segments nobody rated."""
    human = {(one.item_id, one.system): one.score for one in folder.ratings["mqm"].ratings}
    column = [metric.name for metric in folder.scores.metrics].index("XCOMET-Ensemble")
    rows = [
        (row.system, folder.scores.values[index, column], human[row.item_id, row.system])
        for index, row in enumerate(folder.scores.rows)
        if (row.item_id, row.system) in human
    ]
    one = found["XCOMET-Ensemble"]
    _, scores, people = zip(*rows, strict=True)
    assert one.segment.value == pytest.approx(np.corrcoef(scores, people)[0, 1])
    scored = np.array([row.system for row in folder.scores.rows])
    means = [
        (
            folder.scores.values[scored == system, column].mean(),
            np.mean([y for own, _, y in rows if own == system]),
        )
        for system in {row[0] for row in rows}
    ]
    assert one.system.value == pytest.approx(np.corrcoef(np.array(means).T)[0, 1])
    assert one.left_out == {"no rating": 12 * (557 - 460)}


def test_rounding_alone_moves_the_third_place(folder):
    """Thirteen pairs of sums of weights differ in their last bit; tied, two metrics leave the published place."""
    report = accuracies(folder.ratings["mqm"], folder.scores, Acc23Options(tie_rounding=True, n_resamples=0))
    tied = {one.metric: one.acc23 for one in report.metrics}
    assert tied["MetricX-23"] == pytest.approx(0.6023, abs=5e-5)
    assert tied["BLEU"] == pytest.approx(0.5193, abs=5e-5)


def test_people_meet_their_own_marks(folder):
    gold = folder.ratings["mqm"]
    agreement = span_agreement(
        gold, gold, texts=folder.outputs, options=SpansOptions(n_resamples=0, by=GROUPINGS[::2])
    )
    assert (agreement.alone.precision.value, agreement.alone.recall.value) == (1.0, 1.0)
    assert (agreement.n_segments, agreement.n_items, len(agreement.by_system)) == (5520, 460, 12)
    assert {one.name: one.f1.value for one in agreement.by_severity} == {
        "major": 1.0,
        "minor": 1.0,
    }
