"""Blinding indices: published tables, hand calculations, degenerate tables, the delta method, simulated coverage.

Tables are written as the product has them: rows the true side, columns guessed left, right, cannot tell. For the
published trials "left" is the active treatment and "right" the placebo.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.blinding import (
    LEFT,
    RIGHT,
    UNSURE,
    bang_index,
    bang_of_sums,
    blinding_index,
    james_index,
    james_of_sums,
    share_right,
)
from core.stats.resampling import ONE_CLUSTER

# Counts: R package BI 1.2.0 (CRAN, 2022-12-14), examples of its help page BI.Rd.
CRISP = [[82, 25, 170], [27, 29, 83]]  # Bang et al. 2004, Table 7: lovastatin, placebo
INVESTIGATORS = [[48, 4, 330], [22, 30, 319]]  # Houweling et al. 2014, Clinical Trials 11:547, Table 2
COORDINATORS = [[94, 11, 289], [52, 44, 284]]
PATIENTS = [[143, 14, 188], [104, 57, 175]]
NO_SIDE_NAMED = "no guess names a side"


def guesses_of(table):
    """One side and one guess a count."""
    sides = [side for side in (LEFT, RIGHT) for count in table[side] for _ in range(count)]
    guesses = [guess for side in (LEFT, RIGHT) for guess in range(3) for _ in range(table[side][guess])]
    return np.array(sides, dtype=int), np.array(guesses, dtype=int)


def result_of(table, **more):
    sides, guesses = guesses_of(table)
    return blinding_index(sides, guesses, **{"n_resamples": 200, **more})


def test_a_published_output():
    """README and test/runtests.jl of BlindingIndex.jl 0.0.2, three decimals, for the investigators of Houweling et al."""
    found = result_of(INVESTIGATORS)
    for index, estimate, se, low, high in (
        (found.james, 0.896, 0.011, 0.875, 0.918),
        (found.bang_left, 0.115, 0.018, 0.080, 0.150),
        (found.bang_right, 0.022, 0.019, -0.016, 0.060),
    ):
        assert (index.estimate, index.se) == pytest.approx((estimate, se), abs=5e-4)
        assert (index.low, index.high) == pytest.approx((low, high), abs=5e-4)
    assert (found.n, found.bang_left.n, found.bang_right.n) == (753, 382, 371)


@pytest.mark.parametrize(
    ("table", "percent"), [(INVESTIGATORS, 10.4), (COORDINATORS, 17.8), (PATIENTS, 29.4)]
)
def test_right_guesses_of_a_published_trial(table, percent):
    """Abstract of Houweling et al. 2014: shares of right responses among all."""
    found = result_of(table)
    assert 100 * found.share_right.n_right / found.n == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize(
    ("table", "james", "se", "bang_left", "bang_right"),
    [
        # James: outputs of the algorithm of BI 1.2.0 (R/BI.r), run in a transcription to Python, six decimals.
        # Bang: by hand from its formula.
        (CRISP, 0.747928, 0.021737, 57 / 277, 2 / 139),
        (INVESTIGATORS, 0.896414, 0.010918, 44 / 382, 8 / 371),
        (COORDINATORS, 0.823390, 0.013287, 83 / 394, -8 / 380),
        (PATIENTS, 0.705116, 0.015941, 129 / 345, -47 / 336),
    ],
)
def test_the_examples_of_the_r_package(table, james, se, bang_left, bang_right):
    found = result_of(table)
    assert (found.james.estimate, found.james.se) == pytest.approx((james, se), abs=5e-7)
    assert found.bang_left.estimate == pytest.approx(bang_left)
    assert found.bang_right.estimate == pytest.approx(bang_right)
    right = table[0][0] + table[1][1]
    wrong = table[0][1] + table[1][0]
    assert found.bang.estimate == pytest.approx((right - wrong) / sum(map(sum, table)))
    assert found.table == tuple(map(tuple, table))


def test_bangs_variance_by_hand():
    """6 right, 2 wrong, 2 cannot tell: p = .6, q = .2, so (.24 + .16 + .24) / 10 = .064."""
    index = bang_index(6, 2, 2)
    assert index.estimate == pytest.approx(0.4)
    assert index.se == pytest.approx(0.064**0.5)
    assert (index.low, index.high) == pytest.approx(
        (0.4 - 1.959964 * 0.064**0.5, 0.4 + 1.959964 * 0.064**0.5)
    )
    assert index.high - index.estimate > bang_index(6, 2, 2, confidence_level=0.9).high - index.estimate


def test_james_by_hand():
    """Left arm 4, 1, 2; right arm 2, 3, 4: u = 6/16, N = 10 named, 3 wrong.

    Chance: named left 6 x side right 5 + named right 4 x side left 5 = 50; 6/16 + 100 x 3 / (2 x 16 x 50).
    As the paper writes it: Do = .5 x 3/10, De = .5 x 50/100, K = 3/5 - 1, (1 + 6/16 + 10/16 x -2/5) / 2.
    """
    index = james_index([[4, 1, 2], [2, 3, 4]])
    assert index.estimate == pytest.approx(6 / 16 + 300 / 1600)
    assert index.estimate == pytest.approx((1 + 6 / 16 - 10 / 16 * 2 / 5) / 2)


@pytest.mark.parametrize(
    ("table", "bang", "james"),
    [
        ([[5, 0, 0], [0, 5, 0]], 1, 0),  # all right
        ([[0, 5, 0], [5, 0, 0]], -1, 1),  # all wrong: Do = 1/2, De = 1/4, K = 1
        ([[5, 5, 0], [5, 5, 0]], 0, 0.5),  # a coin
        ([[5, 0, 0], [5, 0, 0]], 0, 0.5),  # always left: the sides' indices are 1 and -1
        ([[0, 0, 5], [0, 0, 5]], 0, 1),  # never a side
        ([[0, 0, 5], [0, 0, 0]], 0, 1),  # the same about one side alone
        ([[1, 0, 4], [0, 1, 4]], 0.2, 0.8),  # the two who named one were right: James stays high
    ],
)
def test_rules_of_guessing(table, bang, james):
    found = result_of(table)
    assert found.bang.estimate == pytest.approx(bang)
    assert found.james.estimate == pytest.approx(james)


def test_arms_cancel_for_who_always_says_left():
    found = result_of([[5, 0, 0], [5, 0, 0]])
    assert (found.bang_left.estimate, found.bang_right.estimate, found.bang.estimate) == (1, -1, 0)
    assert (found.share_right.share, found.share_right.p) == (0.5, 1)
    assert result_of([[7, 0, 0], [3, 0, 0]]).bang.estimate == pytest.approx(0.4), "if sides are not balanced"


def test_no_guesses():
    found = blinding_index([], [])
    for part in (found.bang, found.james, found.bang_questions, found.james_questions):
        assert (part.estimate, part.low, part.reason) == (None, None, "no guess was given")
    assert found.bang_left.reason == "no guess about a pair with the human answer on the left"
    assert found.bang_right.reason == "no guess about a pair with the human answer on the right"
    assert found.share_right.reason == NO_SIDE_NAMED
    assert (found.n, found.table) == (0, ((0, 0, 0), (0, 0, 0)))


def test_all_unsure():
    found = result_of([[0, 0, 4], [0, 0, 6]])
    assert (found.bang.estimate, found.bang.se, found.james.estimate, found.james.se) == (0, 0, 1, 0)
    assert (found.james_questions.low, found.james_questions.high) == (1, 1)
    assert (found.share_right.share, found.share_right.reason) == (None, NO_SIDE_NAMED)


@pytest.mark.parametrize("table", [[[3, 2, 5], [0, 0, 0]], [[3, 2, 5], [0, 0, 4]], [[3, 0, 5], [0, 0, 4]]])
def test_james_is_undefined_when_only_one_side_was_named_about(table):
    found = result_of(table)
    assert found.james.estimate is None
    assert (
        found.james.reason
        == "every guess that names a side is about a pair with the human answer on the left"
    )
    assert found.james_questions.reason == found.james.reason
    assert found.james_questions.interval_reason == "the estimate is undefined"
    assert found.bang.estimate is not None
    mirrored = james_index([[0, 0, 1], [3, 2, 5]])
    assert mirrored.reason == found.james.reason.replace("left", "right")


def test_one_arm_empty():
    found = result_of([[3, 1, 0], [0, 0, 0]])
    assert found.bang_left.estimate == found.bang.estimate == 0.5
    assert (found.bang_right.estimate, found.bang_right.n) == (None, 0)


def test_one_guess_has_no_width_and_the_exact_share_says_how_little_it_is():
    found = result_of([[1, 0, 0], [0, 0, 0]])
    assert (found.bang.low, found.bang.high) == (1, 1)
    assert found.bang_questions.interval_reason == ONE_CLUSTER
    assert (found.share_right.low, found.share_right.p) == (pytest.approx(0.025), 1)


def test_share_right_is_exact():
    """14 of 16: P(14 or more) = (120 + 16 + 1) / 65536, twice that both ways."""
    assert share_right(14, 16).p == pytest.approx(2 * 137 / 65536)


@pytest.mark.parametrize(
    ("sides", "guesses"),
    [([0, 1], [0]), ([[0]], [[0]]), ([2], [0]), ([0], [3]), ([0], [-1]), ([0.5], [0])],
)
def test_codes_are_checked(sides, guesses):
    with pytest.raises(ValueError, match="sides"):
        blinding_index(sides, guesses)


def test_counts_are_checked():
    with pytest.raises(ValueError, match="negative"):
        bang_index(1, -1, 0)
    for table in ([[1, 2], [3, 4]], [[1, 2, 3], [4, 5, -1]]):
        with pytest.raises(ValueError, match="2 rows and 3 columns"):
            james_index(table)
    with pytest.raises(ValueError, match="between 0 and n"):
        share_right(3, 2)
    with pytest.raises(ValueError, match="confidence_level"):
        bang_index(1, 1, 1, confidence_level=95)


cells = st.integers(1, 60)


@given(st.tuples(*[cells] * 6))
def test_variances_are_the_delta_method(counts):
    """Multinomial counts: var f(p) = (sum p f'^2 - (sum p f')^2) / n, here with numerical derivatives."""
    n, shares = sum(counts), np.array(counts) / sum(counts)
    for statistic, index in (
        (james_of_sums, james_index(np.reshape(counts, (2, 3)))),
        (bang_of_sums, bang_index(counts[0] + counts[4], counts[1] + counts[3], counts[2] + counts[5])),
    ):
        step = 1e-6 * np.eye(6)
        slope = np.array([(statistic(shares + h) - statistic(shares - h)) / 2e-6 for h in step])
        variance = ((shares * slope**2).sum() - (shares * slope).sum() ** 2) / n
        assert index.se == pytest.approx(variance**0.5, rel=1e-4, abs=1e-7)


@given(st.tuples(*[st.integers(0, 30)] * 6))
def test_ranges_and_mirror(counts):
    """Exchanging left and right everywhere changes no pooled index."""
    table = np.reshape(counts, (2, 3))
    one, other = result_of(table, n_resamples=0), result_of(table[::-1, [1, 0, 2]], n_resamples=0)
    assert one.james.estimate == pytest.approx(other.james.estimate)
    assert one.bang.estimate == pytest.approx(other.bang.estimate)
    assert one.bang_left.estimate == pytest.approx(other.bang_right.estimate)
    if one.james.estimate is not None:
        assert -1e-12 <= one.james.estimate <= 1 + 1e-12
        assert one.james.estimate >= table[:, UNSURE].sum() / table.sum() - 1e-12
    if one.bang.estimate is not None:
        assert -1 <= one.bang.estimate <= 1
        assert one.bang.n == table.sum()


def test_questions_are_resampled_whole():
    """Two questions, one all right and one all wrong: draws give -1, 0 or 1, P(-1) = 1/4."""
    sides = np.zeros(10, dtype=int)
    guesses = np.repeat([LEFT, RIGHT], 5)
    found = blinding_index(sides, guesses, np.repeat(["a", "b"], 5), n_resamples=500)
    assert (found.bang_questions.estimate, found.bang_questions.n_clusters) == (0, 2)
    assert (found.bang_questions.low, found.bang_questions.high) == (-1, 1)
    assert found.bang.high < 0.7, "as if the ten were independent"


def simulated(rng, n_questions, per_question, *, alike):
    """Guesses about questions; when `alike`, half of the questions give themselves away, else all do a little.

    A quarter of the guesses is "cannot tell"; of the others 70 % are right: 90 % and 50 % in the two halves.
    """
    n = n_questions * per_question
    questions = np.repeat(np.arange(n_questions), per_question)
    p_right = np.where(rng.random(n_questions) < 0.5, 0.9, 0.5)[questions] if alike else np.full(n, 0.7)
    sides = rng.integers(0, 2, n)
    guesses = np.where(rng.random(n) < p_right, sides, 1 - sides)
    guesses[rng.random(n) < 0.25] = UNSURE
    return sides, guesses, questions


TRUE_BANG = 0.75 * (0.7 - 0.3)
TRUE_JAMES = 0.25 + 0.75 * 0.3  # even margins: u + N^2 wrong / (2 n chance), chance = N^2 / 2


def coverage(n_questions, per_question, n_studies, *, alike):
    """How often each interval holds the truth: Bang analytic, over questions; James analytic, over questions."""
    rng = np.random.default_rng(n_questions)
    held = np.zeros(4)
    for _ in range(n_studies):
        found = blinding_index(
            *simulated(rng, n_questions, per_question, alike=alike), n_resamples=500, rng=rng
        )
        held += [
            part.low <= truth <= part.high
            for parts, truth in (
                ((found.bang, found.bang_questions), TRUE_BANG),
                ((found.james, found.james_questions), TRUE_JAMES),
            )
            for part in parts
        ]
    return held / n_studies


@pytest.mark.slow
def test_independent_guesses_are_covered():
    """Bands: 95 % +- four Monte Carlo standard errors, and what the percentile interval loses at 200 clusters."""
    held = coverage(200, 1, 600, alike=False)
    assert ((held >= 0.91) & (held <= 0.98)).all(), held


@pytest.mark.slow
def test_guesses_that_hang_together_need_the_interval_over_questions():
    """40 questions with 20 guesses each: the analytic intervals hold the truth far too rarely."""
    bang, bang_questions, james, james_questions = coverage(40, 20, 400, alike=True)
    assert min(bang_questions, james_questions) > 0.90
    assert max(bang, james) < 0.80


def test_ten_guesses_are_rough():
    """One rater: the normal interval is too narrow at n = 10 (0.95 asked for)."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(4000):
        right, wrong, unsure = rng.multinomial(10, [0.75, 0.15, 0.10])
        found = bang_index(right, wrong, unsure)
        held += found.low <= 0.6 <= found.high
    assert 0.84 < held / 4000 < 0.94
