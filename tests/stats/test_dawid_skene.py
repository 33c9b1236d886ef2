"""Dawid and Skene's model: the published estimates, crowd-kit, one step by hand, and where nothing is estimated."""

import math

import numpy as np
import pytest

from core.stats.dawid_skene import LEAST_SHARED, _em, dawid_skene
from scripts.simulations import cell_measures, read
from scripts.simulations.dawid_skene import GRID

# Dawid and Skene 1979, Table 1: five anaesthetists on 45 patients; the first judged every patient three times.
FIRST = (
    "111 333 112 222 222 222 122 333 222 232 444 222 111 222 121 111 111 111 222 222 222 222 222 221 111 111 232 "
    "111 111 112 111 333 111 222 222 433 221 232 333 111 111 121 232 121 222"
)
OTHERS = (
    "142333232243131211212232112111131234233112212",
    "131123142243121111232222112111121223224111212",
    "132222132244111111222222112112131234333111212",
    "142122133343121111122122112111131223232111212",
)
# Table 2: class shares, and a matrix for each observer; rows are true classes.
PUBLISHED_SHARES = (0.40, 0.42, 0.11, 0.07)
PUBLISHED = (
    ((0.89, 0.11, 0, 0), (0.07, 0.88, 0.05, 0), (0, 0.34, 0.66, 0), (0, 0, 0.56, 0.44)),
    ((0.83, 0.17, 0, 0), (0.05, 0.63, 0.31, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
    ((1, 0, 0, 0), (0.11, 0.79, 0.11, 0), (0, 0.40, 0.20, 0.40), (0, 0, 0.67, 0.33)),
    ((0.94, 0.06, 0, 0), (0.05, 0.84, 0.10, 0), (0, 0, 0.80, 0.20), (0, 0, 0.33, 0.67)),
    ((1, 0, 0, 0), (0.16, 0.73, 0.11, 0), (0, 0.21, 0.79, 0), (0, 0, 0.33, 0.67)),
)


def anaesthetists():
    labels = np.full((45, 5, 3), -1)
    for patient, given in enumerate(FIRST.split()):
        labels[patient, 0] = [int(label) - 1 for label in given]
    for rater, given in enumerate(OTHERS, start=1):
        labels[:, rater, 0] = [int(label) - 1 for label in given]
    return labels


def simulated(n_units=60, accuracy=(0.85, 0.7, 0.75, 0.5), n_classes=3, missing=0.2, seed=5):
    rng = np.random.default_rng(seed)
    shape = (n_units, len(accuracy))
    classes = rng.integers(0, n_classes, n_units)
    labels = np.where(rng.random(shape) < accuracy, classes[:, None], rng.integers(0, n_classes, shape))
    labels[rng.random(shape) < missing] = -1
    return labels, classes


def test_the_published_estimates():
    found = dawid_skene(anaesthetists(), 4, smoothing=0)
    assert found.class_shares == pytest.approx(PUBLISHED_SHARES, abs=0.005)
    assert found.confusion == pytest.approx(np.array(PUBLISHED), abs=0.0051)
    assert (found.n_units, found.n_labels, found.n_shared, found.converged) == (45, 315, 45, True)
    # The published probabilities of patients 2, 3 and 12: classes 4, 2 and 3.
    assert found.labels[[1, 2, 11]].tolist() == [3, 1, 2]


def test_crowd_kit_on_the_published_data():
    """crowd-kit 1.4.2, DawidSkene(n_iter=300, tol=-1): the tolerance keeps it from stopping early."""
    found = dawid_skene(anaesthetists(), 4, smoothing=0)
    assert found.class_shares == pytest.approx([0.39955, 0.42198, 0.1118, 0.06667], abs=6e-5)
    assert found.confusion[0].ravel() == pytest.approx(
        [0.8895, 0.1105, 0, 0, 0.0706, 0.8764, 0.053, 0, 0, 0.3388, 0.6612, 0, 0, 0, 0.5556, 0.4444], abs=6e-5
    )
    assert found.confusion[2, 2] == pytest.approx([0, 0.4037, 0.1988, 0.3976], abs=6e-5)


def test_crowd_kit_on_simulated_data_with_missing_labels():
    """crowd-kit 1.4.2, settings as above, on the same labels (numpy's default_rng(5))."""
    labels, _ = simulated()
    found = dawid_skene(labels, 3, smoothing=0)
    assert found.class_shares == pytest.approx([0.36503, 0.33333, 0.30163], abs=2e-5)
    assert found.confusion[0].ravel() == pytest.approx(
        [0.94364, 0, 0.05636, 0, 1, 0, 0.06876, 0, 0.93124], abs=2e-5
    )
    assert found.confusion[3].ravel() == pytest.approx(
        [0.76531, 0.23469, 0, 0.2, 0.5, 0.3, 0.23163, 0.07819, 0.69018], abs=2e-5
    )
    assert found.posterior[2] == pytest.approx([0.98033, 0, 0.01967], abs=2e-5)
    assert found.log_likelihood == pytest.approx(-131.83535, abs=1e-4)


BY_HAND = np.array([[0, 0, 0]] * 4 + [[1, 1, 1]] * 4 + [[0, 0, 1]] * 2)
"""The example of docs/inference.md: three raters, two classes, ten units."""


def test_one_step_by_hand():
    patterns = np.eye(2)[np.unique(BY_HAND, axis=0)]  # 000, 001, 111
    start = patterns.sum(axis=1) / 3
    found = _em(patterns, np.array([[4.0], [2.0], [4.0]]), start[:, None], 0.0, 0.0, 1)
    assert found.class_shares[0] == pytest.approx([16 / 30, 14 / 30])
    assert found.confusion[0, :, 0] == pytest.approx(np.array([[1, 1 / 7], [0, 6 / 7]]))  # label, class
    assert found.confusion[2, :, 0] == pytest.approx(np.array([[3 / 4, 0], [1 / 4, 1]]))
    assert found.posterior[1, 0] == pytest.approx([14 / 15, 1 / 15])


def test_the_example_at_its_end():
    found = dawid_skene(BY_HAND, 2, smoothing=0)
    assert [one.estimate for one in found.accuracy] == pytest.approx([1, 1, 0.8], abs=1e-6)
    assert [one.estimate for one in found.difference] == pytest.approx([0.1, 0.1, -0.2], abs=1e-6)
    assert found.class_shares == pytest.approx([0.6, 0.4], abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_the_solution_satisfies_the_equations(smoothing):
    """Equations 2.3 to 2.5 in plain loops, with labels missing."""
    labels, _ = simulated(n_units=40)
    found = dawid_skene(labels, 3, smoothing=smoothing)
    posterior = found.posterior
    shares = (posterior.sum(axis=0) + smoothing / 3) / (40 + smoothing)
    likelihood = 0.0
    for unit in range(40):
        joint = [
            found.class_shares[k]
            * math.prod(found.confusion[r, k, labels[unit, r]] for r in range(4) if labels[unit, r] >= 0)
            for k in range(3)
        ]
        likelihood += math.log(sum(joint))
        assert posterior[unit] == pytest.approx(np.array(joint) / sum(joint), abs=1e-5)
    assert found.class_shares == pytest.approx(shares, abs=1e-5)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-3)
    for rater in range(4):
        for k in range(3):
            given = [posterior[labels[:, rater] == label, k].sum() for label in range(3)]
            row = (np.array(given) + smoothing / 3) / (sum(given) + smoothing)
            assert found.confusion[rater, k] == pytest.approx(row, abs=1e-5)
            assert found.expected[rater, k] == pytest.approx(sum(given), abs=1e-5)
        own = labels[:, rater] >= 0
        right = posterior[own, labels[own, rater]].mean()
        assert found.accuracy[rater].estimate == pytest.approx(right)
        assert found.accuracy[rater].n == own.sum()


def test_recovery():
    accuracy = (0.9, 0.8, 0.7, 0.6, 0.8)
    labels, classes = simulated(n_units=5_000, accuracy=accuracy, n_classes=4, missing=0.3)
    found = dawid_skene(labels, 4)
    true = np.array(accuracy) + (1 - np.array(accuracy)) / 4
    assert [one.estimate for one in found.accuracy] == pytest.approx(true, abs=0.02)
    assert found.class_shares == pytest.approx([0.25] * 4, abs=0.02)
    named = found.labels >= 0
    assert (found.labels[named] == classes[named]).mean() > 0.85


def test_a_good_rater_outweighs_two_who_guess():
    """The most frequent label and the most probable class differ."""
    labels, classes = simulated(n_units=3_000, accuracy=(0.98, 0.95, 0.1, 0.1), n_classes=2, missing=0)
    found = dawid_skene(labels, 2)
    votes = labels.mean(axis=1)
    split = votes == 0.5
    assert split.sum() > 500
    assert (found.labels[split] == classes[split]).mean() > 0.9
    assert found.below_others == (False, False, True, True)


def test_names_of_classes_and_raters_do_not_matter():
    labels, _ = simulated()
    found = dawid_skene(labels, 3)
    turned = dawid_skene(np.where(labels < 0, -1, 2 - labels)[:, ::-1], 3)
    assert turned.class_shares == pytest.approx(found.class_shares[::-1], abs=1e-5)
    assert turned.confusion == pytest.approx(found.confusion[::-1, ::-1, ::-1], abs=1e-5)
    assert [one.estimate for one in turned.accuracy] == pytest.approx(
        [one.estimate for one in found.accuracy[::-1]], abs=1e-5
    )


def test_missing_labels_as_nan():
    labels, _ = simulated()
    as_floats = np.where(labels < 0, np.nan, labels)
    assert dawid_skene(as_floats, 3).accuracy == dawid_skene(labels, 3).accuracy


def test_the_interval_leaves_out_every_item():
    """Against fits of the smaller tables, with few enough items that each is a group of its own."""
    labels, _ = simulated(n_units=60, missing=0)
    items = np.repeat(np.arange(12), 5)
    found = dawid_skene(labels, 3, clusters=items)
    left = np.array(
        [[one.estimate for one in dawid_skene(labels[items != i], 3).accuracy] for i in range(12)]
    )
    error = np.sqrt(11 / 12 * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    for one, width in zip(found.accuracy, 2.200985 * error, strict=True):  # t(11) at 0.975
        assert one.low == pytest.approx(one.estimate - width, abs=2e-3)
        assert one.high == pytest.approx(min(1, one.estimate + width), abs=2e-3)
        assert (one.n_clusters, one.n_resamples) == (12, 12)


def test_groups_bound_the_cost():
    labels, _ = simulated(n_units=60)
    assert dawid_skene(labels, 3).accuracy[0].n_resamples == 25
    without = dawid_skene(labels, 3, n_groups=0).accuracy[0]
    assert (without.low, without.interval_reason) == (None, "no resamples requested")


def test_the_same_seed_gives_the_same_intervals():
    labels, _ = simulated()
    assert dawid_skene(labels, 3).accuracy == dawid_skene(labels, 3).accuracy
    assert dawid_skene(labels, 3, rng=1).accuracy != dawid_skene(labels, 3).accuracy


def test_a_class_that_nobody_uses():
    labels, _ = simulated()
    found = dawid_skene(labels, 4)
    three = dawid_skene(labels, 3)
    assert found.class_shares[3] == 0
    assert np.isnan(found.confusion[:, 3]).all()
    assert found.confusion[:, :3, :3] == pytest.approx(three.confusion)
    assert found.accuracy == three.accuracy


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (np.zeros((30, 2), dtype=int), "needs 3 raters"),
        (np.array([[0, 1, -1]] * 30), "needs 3 raters"),
        (np.array([[0, 1, -1, -1]] * 30 + [[0, 1, 1, 0]] * 9), "only 9 units"),
        (np.zeros((30, 3), dtype=int), "all labels are equal"),
        (np.empty((0, 3), dtype=int), "needs 3 raters"),
    ],
)
def test_nothing_is_estimated(labels, reason):
    found = dawid_skene(labels, 2)
    assert reason in found.reason
    assert np.isnan(found.class_shares).all()
    assert all(one.estimate is None and one.reason == found.reason for one in found.accuracy)
    assert (found.labels == -1).all()
    assert not any(found.below_others)


def test_a_rater_with_hardly_any_overlap():
    labels, _ = simulated(n_units=40, missing=0)
    labels[LEAST_SHARED - 1 :, 3] = -1
    found = dawid_skene(labels, 3)
    assert found.accuracy[3].estimate is None
    assert "only 9 units" in found.accuracy[3].reason
    assert found.accuracy[0].estimate is not None
    first, second, third = (found.accuracy[r].estimate for r in range(3))
    assert found.difference[0].estimate == pytest.approx(first - (second + third) / 2)


def test_a_unit_without_labels():
    labels, _ = simulated()
    more = np.vstack([labels, [[-1] * 4]])
    found = dawid_skene(more, 3, clusters=np.arange(61))
    assert (found.n_units, found.n_left_out) == (60, 1)
    assert np.isnan(found.posterior[60]).all()
    assert found.labels[60] == -1


def test_another_start_that_fits_better_is_reported():
    """On the published data a start with other weights of raters ends 0.2 higher."""
    found = dawid_skene(anaesthetists(), 4, smoothing=0)
    assert 0.1 < found.better_by < 0.5
    assert dawid_skene(anaesthetists(), 4, smoothing=0, n_starts=0).better_by == 0


@pytest.mark.parametrize(
    ("labels", "options", "said"),
    [
        ([0, 1, 1], {}, "shape"),
        ([[0.5, 1, 1]], {}, "whole numbers"),
        ([[0, 1, 2]], {}, "vote of unit 0 by rater 2 is 2"),
        ([[0, 1, 1]], {"smoothing": -1}, "smoothing"),
        ([[0, 1, 1]], {"clusters": [1, 2]}, "clusters"),
        ([[0, 1, 1]], {"confidence_level": 1}, "confidence_level"),
    ],
)
def test_bad_input(labels, options, said):
    with pytest.raises(ValueError, match=said):
        dawid_skene(np.array(labels), 2, **options)


def test_stored_simulation():
    """With independent errors and five raters or more, intervals cover; on hard units they do not."""
    stored = read(GRID)
    for (_, raters, panel), found in stored.items():
        if panel == "equal":
            assert 0.92 <= found["strong_coverage"] <= 0.97
            assert found["any_flagged"] <= 0.05
        if panel == "guesser" and raters >= 5:
            assert all(0.9 <= found[f"{who}_coverage"] <= 0.98 for who in ("strong", "weak", "guesser"))
            assert abs(found["strong_bias"]) < 0.02
    assert stored[200, 3, "guesser"]["strong_bias"] < -0.05
    assert stored[200, 10, "hard units"]["strong_coverage"] < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("cell", [(50, 5, "guesser"), (200, 10, "hard units")])
def test_simulation_again(cell):
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, replicates=100)
    for name in ("strong_coverage", "weak_coverage", "guesser_coverage", "right_model"):
        error = math.sqrt(stored[name] * (1 - stored[name]) / 100)
        assert abs(again[name] - stored[name]) < 4 * error + 0.005
