"""A judge in the place of each rater: against published intervals, another tool's closed form, scikit-learn, and by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import cohen_kappa_score

from core.stats.agreement import ALL_ALIKE
from core.stats.agreement import NO_PAIRS as NO_PAIR_RATED
from core.stats.in_place import (
    FEWEST_OF_A_PAIR,
    NO_PAIRS,
    NO_PLACES,
    NOTHING_VARIES,
    class_errors,
    classes_in_place,
    paired_score,
    paired_score_end,
    quadratic_kappa,
    raters_kappa,
    raters_quadratic_kappa,
)

Z = float(norm.ppf(0.975))


def test_tangos_interval_as_published() -> None:
    """Airway reactivity before and after transplantation (Fagerland, Lydersen and Laake 2014, Statistics in Medicine 33:2850)."""
    ends = [paired_score_end(1, 7, 21, z) for z in (Z, -Z)]
    assert ends == pytest.approx([-0.517, -0.026], abs=5e-4)


@pytest.mark.parametrize(
    ("b", "c", "n"), [(5, 12, 44), (0, 1, 44), (2, 1, 54), (14, 3, 32), (0, 0, 30), (9, 0, 20)]
)
def test_tangos_ends_are_roots_of_the_quartic(b: float, c: float, n: float) -> None:
    """The score equation squared is a polynomial in the difference (Yang, Sun and Hardin 2013, Statistics in Medicine 32:1336)."""
    g = Z**2
    polynomial = [
        n**2 * (n / g + 1) ** 2,
        -n * (b - c) * (n / g + 1) * (4 * n / g + 1),
        2 * n * (b - c) ** 2 * (3 * n / g + 2) / g - n**2 * ((b + c) / g + 1),
        n * (b - c) * (2 * (b + c) / g + 1) - (b - c) ** 3 * (4 * n / g + 1) / g,
        (b - c) ** 2 * ((b - c) ** 2 / g - (b + c)) / g,
    ]
    roots = np.roots(polynomial)
    for end in (paired_score_end(b, c, n, Z), paired_score_end(b, c, n, -Z)):
        assert np.abs(roots - end).min() < 1e-5


def test_at_no_difference_it_is_mcnemars() -> None:
    assert paired_score(12, 5, 44, 0.0) == pytest.approx((12 - 5) / np.sqrt(12 + 5))


def test_places_by_hand() -> None:
    """Three raters. Text 1: all fail. Text 2: two fail, the third's place alone has others who agree. Text 3: all pass."""
    fails = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0]], dtype=float)
    found = class_errors([0.0, 1.0, 0.0], fails, margin=0.1)
    # Text 1 has weight 1, and the judge passes it. Text 2 has weight 1/3; its third rater passed it, the judge did not.
    assert found.judge.estimate == pytest.approx(1 / (4 / 3))
    assert found.people.estimate == pytest.approx((1 / 3) / (4 / 3))
    assert found.difference.estimate == pytest.approx((1 - 1 / 3) / (4 / 3))
    assert (found.difference.n, found.difference.n_left_out) == (2, 1)
    assert found.influence.sum() == pytest.approx(0.0)


def test_silence_is_an_error_on_both_classes() -> None:
    fails = np.repeat(np.array([1.0, 0.0] * 20)[:, None], 3, axis=1)
    silent = np.full(40, np.nan)
    assert class_errors(silent, fails, margin=0.1).judge.estimate == 1.0
    assert class_errors(silent, 1 - fails, margin=0.1).judge.estimate == 1.0


def test_one_rater_has_nobody_beside_them() -> None:
    found = class_errors([1.0, 0.0], [[1.0], [0.0]], margin=0.1)
    assert (found.difference.estimate, found.difference.reason, found.below) == (None, NO_PLACES, None)


def test_rows_of_one_item_count_less() -> None:
    """Each text ten times: nothing is learned from the copies."""
    rng = np.random.default_rng(1)
    fails = (rng.random((60, 3)) < 0.7).astype(float)
    judge = (rng.random(60) < 0.6).astype(float)
    once = class_errors(judge, fails, margin=0.1)
    copied = class_errors(
        np.repeat(judge, 10), np.repeat(fails, 10, axis=0), margin=0.1, clusters=np.repeat(np.arange(60), 10)
    )
    assert copied.n_effective == pytest.approx(once.n_effective)
    assert (copied.difference.low, copied.below) == pytest.approx((once.difference.low, once.below))


def test_a_weight_stands_for_texts_that_were_not_drawn() -> None:
    rng = np.random.default_rng(2)
    fails = (rng.random((80, 3)) < 0.5).astype(float)
    judge = (rng.random(80) < 0.5).astype(float)
    weights = np.where(np.arange(80) < 40, 3.0, 1.0)
    weighted = class_errors(judge, fails, margin=0.1, weights=weights)
    copies = np.repeat(np.arange(80), weights.astype(int))
    copied = class_errors(judge[copies], fails[copies], margin=0.1, clusters=copies)
    assert weighted.difference.estimate == pytest.approx(copied.difference.estimate)
    assert weighted.n_effective < copied.difference.n


def test_covariance_by_hand() -> None:
    """The sum over two classes is twice the covariance of one indicator."""
    rng = np.random.default_rng(3)
    votes = (rng.random((100, 3)) < 0.6).astype(float)
    judge = (rng.random(100) < 0.6).astype(float)
    found = classes_in_place(judge, votes, 2, kept_share=0.75)[0]
    pairs = [np.cov(votes[:, i], votes[:, j], bias=True)[0, 1] for i, j in combinations(range(3), 2)]
    own = [np.cov(judge, votes[:, i], bias=True)[0, 1] for i in range(3)]
    assert found.people.estimate == pytest.approx(2 * np.mean(pairs))
    assert found.judge.estimate == pytest.approx(2 * np.mean(own))
    assert found.kept.estimate == pytest.approx(2 * np.mean(own) - 0.75 * 2 * np.mean(pairs))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_kept_share_is_that_of_youdens_indices(share: float) -> None:
    """At any share of the classes: raters right in .92 (J = .84), judge right in .8 of both classes (J = .6)."""
    rng = np.random.default_rng(4)
    truth = rng.random(400_000) < share
    votes = np.where(rng.random((truth.size, 3)) < 0.92, truth[:, None], ~truth[:, None]).astype(float)
    judge = np.where(rng.random(truth.size) < 0.8, truth, ~truth).astype(float)
    assert classes_in_place(judge, votes, 2, kept_share=0.75)[0].share.estimate == pytest.approx(
        0.6 / 0.84, abs=0.02
    )


def test_quadratic_kappa_is_scikit_learns() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    votes = rng.integers(1, 6, (120, 3)).astype(float)
    votes[:, 1] = np.clip(votes[:, 0] + rng.integers(-1, 2, 120), 1, 5)
    found = quadratic_kappa(votes[:, 2], votes[:, :2], kept_share=0.75)
    whole = votes.astype(int)
    wanted = sklearn.cohen_kappa_score(whole[:, 0], whole[:, 1], weights="quadratic")
    assert found.people.estimate == pytest.approx(wanted)


def test_quadratic_kappa_is_a_ratio_of_means_over_pairs() -> None:
    """By hand, from the definition: squared distances of all texts with each other are those expected by chance."""
    rng = np.random.default_rng(6)
    votes, judge = rng.integers(1, 6, (40, 3)).astype(float), rng.integers(1, 6, 40).astype(float)
    pairs = list(combinations(range(3), 2))
    seen = [((votes[:, i] - votes[:, j]) ** 2).mean() for i, j in pairs]
    chance = [((votes[:, i][:, None] - votes[:, j]) ** 2).mean() for i, j in pairs]
    found = quadratic_kappa(judge, votes, kept_share=0.75)
    assert found.people.estimate == pytest.approx(1 - np.mean(seen) / np.mean(chance))
    own = [((judge - votes[:, i]) ** 2).mean() for i in range(3)]
    by_chance = [((judge[:, None] - votes[:, i]) ** 2).mean() for i in range(3)]
    assert found.judge.estimate == pytest.approx(1 - np.mean(own) / np.mean(by_chance))


def test_pairs_with_few_texts_are_pooled() -> None:
    """Each text has two of forty raters: no pair has many texts, together they tell as much as two raters."""
    rng = np.random.default_rng(7)
    truth = rng.normal(size=400)
    given = np.clip(np.round(3 + truth[:, None] + 0.5 * rng.normal(size=(400, 2))), 1, 5)
    crowd = np.full((400, 40), np.nan)
    for row, who in enumerate(rng.permuted(np.tile(np.arange(40), (400, 1)), axis=1)[:, :2]):
        crowd[row, who] = given[row]
    judge = np.clip(np.round(3 + truth), 1, 5)
    found, two = (quadratic_kappa(judge, one, kept_share=0.75) for one in (crowd, given))
    assert found.people.n == 400
    assert (~np.isnan(crowd[:, :1]) & ~np.isnan(crowd[:, 1:])).sum(axis=0).max() < FEWEST_OF_A_PAIR
    assert found.people.estimate == pytest.approx(two.people.estimate, abs=0.01)
    assert found.gap.estimate == pytest.approx(two.gap.estimate, abs=0.01)


def test_no_number_from_nothing() -> None:
    one_rater = classes_in_place([0.0, 1.0], [[0.0], [1.0]], 2, kept_share=0.75)[0]
    assert (one_rater.judge.estimate, one_rater.judge.reason) == (None, NO_PAIRS)
    same = classes_in_place([0.0, 1.0, 1.0], np.ones((3, 2)), 2, kept_share=0.75)[0]
    assert (same.share.estimate, same.share.reason) == (None, NOTHING_VARIES)
    assert same.kept.low is None
    still = quadratic_kappa([3.0, 3.0, 3.0], np.full((3, 2), 3.0), kept_share=0.75)
    assert still.judge.estimate is None


BY_HAND = [[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
"""Two raters of four texts. They differ in one; by chance they agree on 5/16, and the squared distance is 5/4."""


def test_kappas_without_a_judge_by_hand() -> None:
    assert raters_kappa(np.array(BY_HAND) - 1, 3).estimate == pytest.approx(7 / 11)
    found = raters_quadratic_kappa(BY_HAND)
    assert found.estimate == pytest.approx(1 - 0.25 / 1.25)
    assert (found.n, found.n_clusters) == (4, 4)


@pytest.mark.parametrize("seed", range(5))
def test_of_two_raters_they_are_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 5, 80)
    both = np.column_stack([first, np.clip(first + rng.integers(-2, 3, 80), 0, 4)])
    for n in (80, FEWEST_OF_A_PAIR - 10):  # a single pair is never pooled
        given = both[:n].astype(float)
        for found, weights in (
            (raters_kappa(given, 5), None),
            (raters_quadratic_kappa(given + 1), "quadratic"),
        ):
            assert found.estimate == pytest.approx(cohen_kappa_score(*both[:n].T, weights=weights))
            assert found.low is not None
            assert found.high is not None
            assert -1 <= found.low < found.estimate < found.high <= 1


def test_kappas_without_a_judge_are_those_of_people_beside_one() -> None:
    votes = np.random.default_rng(3).integers(0, 3, (60, 4)).astype(float)
    votes[::7, 0] = np.nan
    judge = np.arange(60.0) % 3
    level = {"confidence_level": 0.9, "kept_share": 0.5}
    _, beside = classes_in_place(judge, votes, 3, **level)
    alone = raters_kappa(votes, 3, confidence_level=0.9)
    assert (alone.estimate, alone.low, alone.high) == (
        beside.people.estimate,
        beside.people.low,
        beside.people.high,
    )
    by_distance = raters_quadratic_kappa(votes, confidence_level=0.9)
    assert by_distance.estimate == pytest.approx(quadratic_kappa(judge, votes, **level).people.estimate)


def test_of_two_classes_quadratic_kappa_is_kappa() -> None:
    votes = np.random.default_rng(1).integers(0, 2, (60, 2)).astype(float)
    assert raters_quadratic_kappa(votes).estimate == pytest.approx(raters_kappa(votes, 2).estimate)


def test_kappas_without_a_judge_missing_and_undefined() -> None:
    found = raters_quadratic_kappa([[1, 2], [2, 2], [np.nan, 3], [4, 4]])
    assert (found.n, found.n_left_out) == (3, 1)
    assert raters_quadratic_kappa([[0.1, 0.1]] * 3).reason == ALL_ALIKE
    assert raters_kappa([[0, 0]] * 3, 2).reason == ALL_ALIKE
    assert (
        raters_quadratic_kappa([[2, np.nan]]).reason == raters_kappa([[0, np.nan]], 2).reason == NO_PAIR_RATED
    )
    assert raters_quadratic_kappa([[2, 3], [2, 3]]).estimate == pytest.approx(0)
