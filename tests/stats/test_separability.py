"""Separability against hand calculation, scikit-learn, brute force and simulation."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict

from core.stats.blinding import (
    FEWEST_QUESTIONS,
    PENALTY,
    held_out_margins,
    separability,
    strongest_rule,
    walsh_auc,
)

SIZES = (3, 1, 2, 5, 2, 1, 4, 2)  # pairs a question


def noise(seed=0, sizes=SIZES, k=4, shift=0.0):
    rng = np.random.default_rng(seed)
    questions = np.repeat([f"q{n}" for n in range(len(sizes))], sizes)
    rows = rng.standard_t(4, size=(questions.size, k)) * (1, 10, 0.1, 1e3)[:k]
    rows[:, 0] += shift
    return rows, questions


# --- AUC -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("margins", "auc"),
    [
        ([3, -1, 2], 8 / 9),  # of nine sums only -1-1 is negative
        ([1, -1], 0.5),
        ([0], 0.5),
        ([1, 0], (1 + 1 + 1 + 0.5) / 4),
        ([2, 2, -2], (4 + 4 * 0.5) / 9),
        ([-1, -2], 0.0),
    ],
)
def test_auc_by_hand(margins, auc) -> None:
    assert walsh_auc(np.array(margins, dtype=float)) == pytest.approx(auc)


def test_auc_is_the_share_of_sums_for_every_column() -> None:
    margins = np.random.default_rng(1).integers(-3, 4, size=(25, 6)).astype(float)
    sums = margins[:, None, :] + margins[None, :, :]
    expected = ((sums > 0) + 0.5 * (sums == 0)).mean(axis=(0, 1))
    assert walsh_auc(margins) == pytest.approx(expected)


def test_margins_by_hand() -> None:
    """One column with mean square 1, one pair a question: the weight without pair i is sum of the others / (3 + 3)."""
    assert PENALTY == 3
    margins = held_out_margins([[1], [1], [-1], [1]], [0, 1, 2, 3])[:, 0]
    assert margins == pytest.approx([1 / 6, 1 / 6, -1 / 2, 1 / 6])
    assert walsh_auc(margins) == pytest.approx(9 / 16)


@pytest.mark.parametrize("sizes", [SIZES, (1,) * 12, (5,) * 7])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_margins_and_auc_are_those_of_scikit_learn(sizes, shift) -> None:
    """Both ways round of every pair are in the data; a question is left out with all its pairs, both ways."""
    rows, questions = noise(2, sizes, shift=shift)
    scaled = rows / np.sqrt((rows**2).mean(axis=0))
    both, labels = np.vstack([scaled, -scaled]), np.repeat([1.0, -1.0], len(rows))
    model = Ridge(alpha=2 * PENALTY, fit_intercept=False)
    predicted = cross_val_predict(model, both, labels, groups=np.tile(questions, 2), cv=LeaveOneGroupOut())
    assert held_out_margins(rows, questions)[:, 0] == pytest.approx(predicted[: len(rows)], abs=1e-9)
    found = separability(rows, questions, n_resamples=1)
    assert found.auc == pytest.approx(roc_auc_score(labels, predicted), abs=1e-9)


def test_a_flip_is_the_margin_of_flipped_data() -> None:
    rows, questions = noise(3)
    signs = np.where(np.isin(questions, ["q1", "q3", "q6"]), -1.0, 1.0)
    flipped = held_out_margins(rows * signs[:, None], questions)[:, 0]
    assert held_out_margins(rows, questions, signs[:, None])[:, 0] == pytest.approx(flipped)


# --- p -------------------------------------------------------------------------------------------


def every_flip(rows, questions):
    names = np.unique(questions)
    for signs in product((1, -1), repeat=names.size):
        yield rows * np.array(signs)[np.searchsorted(names, questions)][:, None]


def test_exact_p_counts_all_flips() -> None:
    rows, questions = noise(4, shift=0.7)
    found = separability(rows, questions, n_resamples=256)
    aucs = [
        float(walsh_auc(held_out_margins(flipped, questions).round(10))[0])
        for flipped in every_flip(rows, questions)
    ]
    assert (found.exact, found.n_flips, found.n_questions) == (True, 256, 8)
    assert found.p == pytest.approx(np.mean(np.array(aucs) >= found.auc - 1e-12))


def test_exact_p_of_the_best_rule_counts_all_flips() -> None:
    rows, questions = noise(5, shift=0.7)
    found = strongest_rule(rows, questions, n_resamples=256)
    best = [np.abs(np.sign(flipped).sum(axis=0)).max() for flipped in every_flip(rows, questions)]
    observed = np.abs(np.sign(rows).sum(axis=0)).max()
    assert found.p == pytest.approx(np.mean(np.array(best) >= observed))


def test_drawn_flips_come_near_the_exact_p() -> None:
    rows, questions = noise(4, shift=0.7)
    for test in (separability, strongest_rule):
        exact, drawn = test(rows, questions, n_resamples=256), test(rows, questions, n_resamples=255)
        assert abs(exact.p - drawn.p) < 4 * np.sqrt(exact.p * (1 - exact.p) / 255) + 1 / 256


def test_one_perfect_feature_on_the_fewest_questions() -> None:
    """Two of 64 flips are as good as the data: the data, and its mirror image."""
    rows, questions = np.ones((FEWEST_QUESTIONS, 1)), np.arange(FEWEST_QUESTIONS)
    assert (separability(rows, questions).auc, separability(rows, questions).p) == (1, 2 / 64)
    rule = strongest_rule(rows, questions)
    assert (rule.n_right, rule.n_undecided, rule.n_pairs, rule.larger) == (6, 0, 6, True)
    assert rule.p == 2 / 64


@pytest.mark.slow
def test_many_pairs_are_taken_in_blocks() -> None:
    """2500 pairs and 2000 flips are two blocks; all at once gives the same p."""
    rows, questions = noise(6, (5,) * 500)
    found = separability(rows, questions)
    coins = np.random.default_rng(0).integers(0, 2, size=(500, 2000))
    signs = 1.0 - 2 * coins[np.searchsorted(np.unique(questions), questions)]
    aucs = walsh_auc(held_out_margins(rows, questions, signs).round(10))
    assert found.n_flips == 2000
    assert found.p == (1 + (aucs >= found.auc - 1e-12).sum()) / 2001


@pytest.mark.parametrize("test", [separability, strongest_rule])
def test_p_is_uniform_when_nothing_leaks(test) -> None:
    """Two alike sources, several pairs a question that share their sign: p below a holds in a share of a."""
    rng = np.random.default_rng(7)
    n_sets, p_values = 400, []
    questions = np.repeat(np.arange(10), 2)
    mixing = rng.normal(size=(5, 5))
    for _ in range(n_sets):
        rows = (rng.normal(size=(10, 1, 5)) + 0.5 * rng.normal(size=(10, 2, 5))).reshape(20, 5) @ mixing
        p_values.append(test(rows, questions, n_resamples=199, rng=rng).p)
    for level in (0.05, 0.2, 0.5):
        low, high = binom.ppf([0.0005, 0.9995], n_sets, level)
        reached = sum(p <= level for p in p_values)
        assert reached <= high, level
        assert reached >= low or test is strongest_rule, (
            "counts are discrete: p may be too large, never too small"
        )


def test_flips_go_by_question_and_not_by_pair() -> None:
    """Pairs that are copies of each other are no more evidence than one of them."""
    rows, _ = noise(8, (1,) * 12, shift=0.6)
    once, questions = separability(rows, np.arange(12)), np.repeat(np.arange(12), 5)
    copied = separability(np.repeat(rows, 5, axis=0), questions)
    rule_once, rule_copied = (
        strongest_rule(rows, np.arange(12)),
        strongest_rule(np.repeat(rows, 5, axis=0), questions),
    )
    assert (rule_copied.p, rule_copied.n_right) == (rule_once.p, 5 * rule_once.n_right)
    assert abs(copied.p - once.p) < 0.1


def test_a_planted_leak_is_found() -> None:
    rows, questions = noise(9, (1,) * 20, shift=2.0)
    found, rule = separability(rows, questions), strongest_rule(rows, questions)
    assert found.auc > 0.8
    assert found.p < 0.01
    assert (rule.column, rule.larger) == (0, True)
    assert rule.p < 0.01


def test_a_leak_in_two_features_together_needs_the_regression() -> None:
    """Neither feature says much alone; their difference says nearly all."""
    rng = np.random.default_rng(10)
    shared = rng.normal(size=60) * 5
    rows = np.column_stack([shared + 1, shared]) + rng.normal(size=(60, 2)) * 0.3
    assert separability(rows, np.arange(60)).p < 0.01
    assert strongest_rule(rows, np.arange(60)).p > 0.05


# --- what must not matter ------------------------------------------------------------------------


def test_roles_units_and_order_do_not_matter() -> None:
    rows, questions = noise(11, shift=0.5)
    order = np.random.default_rng(0).permutation(len(rows))
    found, rule = separability(rows, questions), strongest_rule(rows, questions)
    assert separability(-rows, questions) == found
    assert separability(rows * 1024, questions) == found
    shuffled = separability(rows[order], questions[order])
    assert (shuffled.auc, shuffled.p) == (pytest.approx(found.auc), found.p)
    swapped = strongest_rule(-rows, questions)
    assert (swapped.column, swapped.larger, swapped.n_right) == (rule.column, not rule.larger, rule.n_right)
    assert swapped.p == rule.p
    assert strongest_rule(rows[order], questions[order]) == rule


def test_a_question_without_a_difference_is_no_evidence() -> None:
    rows, questions = noise(12, (1,) * 7, shift=1.0)
    more = np.vstack([rows, np.zeros((30, 4))])
    labels = np.concatenate([questions, [f"zero{n}" for n in range(30)]])
    rule, padded = strongest_rule(rows, questions), strongest_rule(more, labels)
    assert (padded.p, padded.n_right, padded.n_undecided) == (rule.p, rule.n_right, 30)
    found = separability(more, labels)
    assert (found.n_questions, found.n_pairs, found.n_flips) == (7, 37, 128)
    assert abs(found.auc - 0.5) < abs(separability(rows, questions).auc - 0.5)


def test_undecided_pairs_are_named() -> None:
    rows = np.array([[0, -1]] * 3 + [[-2, 1]] * 6 + [[4, 1]])
    rule = strongest_rule(rows, np.arange(10))
    assert (rule.column, rule.larger) == (0, False), "right minus wrong: 5 against 4"
    assert (rule.n_right, rule.n_undecided, rule.n_pairs) == (6, 3, 10)


# --- degenerate cases and misuse -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "questions", "n", "reason"),
    [
        (np.zeros((9, 3)), np.arange(9), 0, "no pair differs in any feature"),
        (np.zeros((0, 3)), np.zeros(0, dtype=int), 0, "no pair"),
        (np.ones((5, 3)), np.arange(5), 5, "the answers to 5 questions differ in a feature; 6 are needed"),
        (
            np.ones((25, 3)),
            np.repeat(np.arange(5), 5),
            5,
            "the answers to 5 questions differ in a feature; 6 are needed",
        ),
    ],
)
def test_too_little_is_undefined(rows, questions, n, reason) -> None:
    found, rule = separability(rows, questions), strongest_rule(rows, questions)
    assert (found.auc, found.p, found.n_questions, found.reason) == (None, None, n, reason)
    assert (rule.column, rule.p, rule.n_pairs, rule.reason) == (None, None, len(rows), reason)


@pytest.mark.parametrize("test", [separability, strongest_rule])
def test_misuse_is_named(test) -> None:
    rows, questions = noise()
    with pytest.raises(ValueError, match="shape"):
        test(rows[:, 0], questions)
    with pytest.raises(ValueError, match="shape"):
        test(rows, questions[1:])
    with pytest.raises(ValueError, match="finite"):
        test(np.where(rows == rows[0, 0], np.nan, rows), questions)
    with pytest.raises(ValueError, match="n_resamples"):
        test(rows, questions, n_resamples=0)
