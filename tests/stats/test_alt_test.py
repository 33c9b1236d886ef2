"""The Alt-test against an independent loop, published numbers and hand calculations."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, ttest_1samp, wilcoxon
from scipy.stats import t as student

from core.stats.alt_test import (
    NO_ITEMS,
    TOO_FEW_RATERS,
    Alignment,
    alt_test,
    counts_of,
    epsilon_sweep,
    human_ceiling,
    outcomes,
    p_values,
    power,
    reduced_alt_test,
    winning_rates,
)
from core.stats.multiplicity import corrected

NAN = float("nan")


@dataclass
class Loop:
    """What the paper's procedure gives for one judge."""

    p: dict[int, float]
    rejected: dict[int, bool]
    winning_rate: float
    advantage: float


@lru_cache
def _signed_rank(d: tuple[float, ...], epsilon: float) -> float:
    shifted = np.array(d) - epsilon
    if shifted.size > 13:
        return float(wilcoxon(shifted, alternative="less").pvalue)
    ranks = rankdata(
        np.abs(shifted[shifted != 0])
    )  # scipy sums over all signs up to 13 items, in a slow loop
    signs = np.array(list(product([0, 1], repeat=ranks.size)))
    return float(np.mean(signs @ ranks <= ranks[shifted[shifted != 0] > 0].sum()))


def _alignment(value: float, others: list[float], kind: Alignment) -> float:
    if kind == "accuracy":
        return sum(value == other for other in others) / len(others)
    return -math.sqrt(sum((value - other) ** 2 for other in others) / len(others))


def _loop(
    judge: list[float], ratings: list[list[float]], epsilon: float, kind: Alignment, alpha: float = 0.05
) -> Loop:
    """The procedure as sec. 3 of the paper describes it, item by item."""
    p, advantages = {}, []
    for rater in range(len(ratings[0])):
        wins_judge, wins_rater = [], []
        for score, row in zip(judge, ratings, strict=True):
            others = [value for other, value in enumerate(row) if other != rater and not math.isnan(value)]
            if math.isnan(score) or math.isnan(row[rater]) or not others:
                continue
            of_judge, of_rater = _alignment(score, others, kind), _alignment(row[rater], others, kind)
            same = math.isclose(of_judge, of_rater, abs_tol=1e-9)  # equal but for rounding
            wins_judge.append(int(same or of_judge > of_rater))
            wins_rater.append(int(same or of_rater > of_judge))
        if not wins_judge:
            continue
        d = np.array(wins_rater) - np.array(wins_judge)
        if np.all(d == d[0]):
            p[rater] = 0.0 if d[0] < epsilon else 1.0
        elif d.size >= 30:
            p[rater] = ttest_1samp(d, epsilon, alternative="less").pvalue
        else:
            p[rater] = _signed_rank(tuple(sorted(d.tolist())), epsilon)
        advantages.append(np.mean(wins_judge))
    m = len(p)
    harmonic = sum(1 / k for k in range(1, m + 1))
    order = sorted(p, key=lambda rater: p[rater])
    last = max((k for k, rater in enumerate(order, 1) if p[rater] <= k * alpha / (m * harmonic)), default=0)
    return Loop(
        p,
        {rater: place < last for place, rater in enumerate(order)},
        last / m if m else NAN,
        float(np.mean(advantages)) if m else NAN,
    )


def _table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float, Alignment]:
    n, raters = (
        int(rng.integers(4, 11) if rng.random() < 0.2 else rng.integers(30, 90)),
        int(rng.integers(2, 7)),
    )
    n_classes, missing = int(rng.integers(2, 7)), rng.choice([0.0, 0.1, 0.4])
    truth = rng.integers(0, n_classes, n)
    noise = rng.uniform(0.1, 0.6, raters + 1)
    drawn = rng.integers(0, n_classes, (n, raters + 1))
    given = np.where(rng.random((n, raters + 1)) < noise, drawn, truth[:, None]).astype(float)
    given[rng.random(given.shape) < missing] = NAN
    if rng.random() < 0.3:
        given = np.round(given + rng.normal(0, 0.6, given.shape), 1)
    kind: Alignment = "accuracy" if rng.random() < 0.5 else "rmse"
    return given[:, 0], given[:, 1:], float(rng.choice([0.0, 0.1, 0.15, 0.2])), kind


@pytest.mark.parametrize("seed", range(10))
def test_equal_to_the_procedure_item_by_item(seed: int) -> None:
    """200 random tables in all, with missing ratings, few items and raters without a comparison."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        judge, ratings, epsilon, kind = _table(rng)
        found = alt_test(judge, ratings, epsilon=epsilon, alignment=kind)
        wanted = _loop(judge.tolist(), ratings.tolist(), epsilon, kind)
        p = {at: one.p for at, one in enumerate(found.raters) if one.p is not None}
        assert p == pytest.approx(wanted.p, abs=1e-12)
        assert {at: bool(found.raters[at].rejected) for at in p} == wanted.rejected
        if not p:
            assert (found.winning_rate, found.advantage.estimate) == (None, None)
            continue
        assert found.winning_rate == pytest.approx(wanted.winning_rate)
        assert found.advantage.estimate == pytest.approx(wanted.advantage)


PUBLISHED = [
    (
        # 10k_prompts, gpt-4o: items of each rater on which the judge was closer, equal, less close
        [
            *([90, 153, 85], [148, 361, 154], [157, 327, 159], [291, 378, 229], [139, 115, 71]),
            *([118, 209, 87], [69, 106, 49], [6, 29, 19], [11, 28, 11], [17, 23, 13]),
            *([10, 18, 12], [38, 41, 22], [21, 22, 8]),
        ],
        *(0.15, 0.692, 0.759, True),
    ),
    (
        # 10k_prompts, gemini_flash
        [
            *([85, 147, 96], [157, 281, 225], [172, 236, 235], [272, 345, 281], [132, 95, 98]),
            *([146, 130, 138], [51, 105, 68], [10, 26, 18], [6, 21, 23], [12, 26, 15]),
            *([11, 14, 15], [31, 39, 31], [16, 23, 12]),
        ],
        *(0.15, 0.308, 0.674, False),
    ),
    # summeval, gpt-4o
    ([[826, 2217, 3357], [981, 2122, 3297], [714, 2274, 3412]], 0.2, 0.0, 0.476, False),
]


@pytest.mark.parametrize(("counts", "epsilon", "rate", "advantage", "passed"), PUBLISHED)
def test_published_winning_rates(
    counts: list[list[int]], epsilon: float, rate: float, advantage: float, passed: bool
) -> None:
    """Table 2 of the paper, from the counts that its published data give."""
    found = float(winning_rates(counts, epsilon))
    assert found == pytest.approx(rate, abs=5e-4)
    assert (found >= 0.5) == passed
    shares = [(better + equal) / (better + equal + worse) for better, equal, worse in counts]
    assert np.mean(shares) == pytest.approx(advantage, abs=5e-4)


def test_outcomes_by_hand() -> None:
    """Item 1: the judge's 1 equals b's, a's 3 and c's 2 equal nobody's. Item 2: a and b have one another. Item 3: a is alone."""
    ratings = [[3, 1, 2], [2, 2, NAN], [1, NAN, NAN]]
    assert outcomes([1, 1, 1], ratings, "accuracy").tolist()[0] == [-1, 0, -1]
    assert outcomes([1, 1, 1], ratings, "accuracy")[1, :2].tolist() == [1, 1]
    assert np.isnan(outcomes([1, 1, 1], ratings, "accuracy")[2]).all()
    # Squared distances from b and c: judge 0 + 1, a 4 + 1; from a and c: judge 4 + 1, b 4 + 1; from a and b: judge 4, c 2.
    assert outcomes([1, 1, 1], ratings, "rmse").tolist()[0] == [-1, 0, 1]
    assert np.isnan(outcomes([NAN, 1, 1], ratings, "rmse")[0]).all()


def test_the_document_s_example() -> None:
    """docs/inference.md: four texts with the labels good (1) and bad (0)."""
    ratings = [[1, 1, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1]]
    found = alt_test([1, 1, 0, 0], ratings, epsilon=0.2).raters[0]
    assert (found.n_better, found.n_equal, found.n_worse) == (1, 2, 1)
    assert (found.advantage, found.p, found.test) == (0.75, 5 / 16, "signed-rank")


def test_distances_equal_but_for_rounding_are_equal() -> None:
    """0.1 and 0.3 are equally far from 0.2, but not in binary."""
    assert outcomes([0.1], [[0.3, 0.2]], "rmse")[0, 0] == 0
    assert outcomes([1000.1], [[1000.3, 1000.2]], "rmse")[0, 0] == 0


def test_a_huge_score_makes_no_other_text_a_tie() -> None:
    """A code such as 99999 for a missing score would otherwise hand every other text to the judge."""
    judge, ratings = [3.0, 3.0, 1.0, 5.0], [[1.0, 1, 2], [3, 2, 3], [1, 1, 1], [5, 4, 4]]
    alone = outcomes(judge, ratings, "rmse")
    beside = outcomes([*judge, 5.0], [*ratings, [99999.0, 4, 5]], "rmse")
    np.testing.assert_array_equal(beside[:4], alone)
    assert (alone == 1).any()


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.2, 0.5])
def test_p_values_are_those_of_scipy(epsilon: float) -> None:
    for counts in (
        [1, 0, 2],
        [0, 1, 1],
        [2, 1, 2],
        [10, 3, 1],
        [3, 20, 6],
        [12, 9, 9],
        [40, 30, 30],
    ):
        d = np.repeat([-1.0, 0.0, 1.0], counts)
        test = (
            ttest_1samp(d, epsilon, alternative="less")
            if d.size >= 30
            else wilcoxon(d - epsilon, alternative="less")
        )
        assert float(p_values(counts, epsilon)) == pytest.approx(test.pvalue, abs=1e-12)


def test_without_variance_the_sign_decides() -> None:
    assert p_values([[0, 40, 0], [0, 0, 40], [40, 0, 0], [0, 5, 0]], 0.2).tolist() == [0, 1, 0, 0]
    assert p_values([0, 40, 0], 0.0) == 1
    assert np.isnan(p_values([0, 0, 0], 0.2))


@pytest.mark.parametrize(("n", "unseen"), [(1, True), (4, True), (5, False), (40, False)])
def test_a_pass_on_too_few_items_of_one_outcome_is_named(n: int, unseen: bool) -> None:
    """By the published rule p is 0 without variance, even for one item; signed ranks would give 2^-n."""
    found = alt_test(np.ones(n), np.ones((n, 3)))
    assert found.passed
    assert [one.p for one in found.raters] == [0.0] * 3
    assert (found.passed_unseen, found.raters[0].won_unseen) == (unseen, unseen)


def test_many_panels_at_once_use_the_same_correction() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 40, (50, 6, 3))
    counts[:10, 2] = 0
    for own, rate in zip(counts, winning_rates(counts, 0.2), strict=True):
        p = [None if np.isnan(one) else float(one) for one in p_values(own, 0.2)]
        adjusted = [one for one in corrected(p, "benjamini-yekutieli") if one is not None]
        assert rate == pytest.approx(np.mean([one <= 0.05 for one in adjusted]))


def test_a_judge_with_a_constant_label_and_few_items() -> None:
    ratings = np.array(
        [[1, 1], [0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [1, 1], [0, 0], [1, 1], [0, 0], [1, 0], [0, 1.0]]
    )
    found = alt_test(np.ones(12), ratings, epsilon=0.2)
    assert found.passed is False
    assert [one.test for one in found.raters] == ["signed-rank", "signed-rank"]
    assert found.advantage.estimate == pytest.approx(0.5 * (9 / 12 + 9 / 12), abs=0.2)
    assert found.advantage.low is not None


def test_two_raters_have_no_ceiling_and_one_rater_no_test() -> None:
    ratings = np.array([[1.0, 1], [2, 1], [1, 2]])
    ceiling = human_ceiling(ratings)
    assert (ceiling.winning_rate, ceiling.reason) == (None, TOO_FEW_RATERS)
    assert ceiling.advantage.estimate is None
    reduced = reduced_alt_test([1, 2, 1], ratings)
    assert (reduced.ceiling.reason, reduced.gap.estimate, reduced.gap.reason) == (
        TOO_FEW_RATERS,
        None,
        TOO_FEW_RATERS,
    )
    with pytest.raises(ValueError, match="two raters"):
        alt_test([1, 2, 1], ratings[:, :1])


def test_nothing_in_common_is_undefined_with_a_reason() -> None:
    found = alt_test([NAN, NAN], [[1, 2], [2, 1]])
    assert (found.winning_rate, found.passed, found.reason) == (None, None, NO_ITEMS)
    assert found.advantage.estimate is None
    part = alt_test([1, 2], [[1, 2, NAN], [2, 2, NAN]])
    assert (part.raters[2].p, part.raters[2].reason, part.raters[2].n) == (None, NO_ITEMS, 0)
    assert part.winning_rate is not None


def test_a_perfect_judge_has_an_interval_all_the_same() -> None:
    """Wilson's for 40 of 40 with the quantile of t with 39 degrees of freedom: n / (n + t^2)."""
    ratings = np.tile([[1.0, 1, 1], [2, 2, 2]], (20, 1))
    found = alt_test(ratings[:, 0], ratings)
    assert (found.winning_rate, found.advantage.estimate, found.advantage.high) == (1, 1, 1)
    assert found.advantage.low == pytest.approx(40 / (40 + float(student.ppf(0.975, 39)) ** 2))


def test_the_interval_by_hand() -> None:
    """Two raters, so both comparisons of an item are alike: 45 of 60 items, an effective number of items below 60."""
    ratings = np.column_stack([np.repeat([0.0, 1], [45, 15]), np.zeros(60)])
    found = alt_test(np.zeros(60), ratings).advantage
    assert found.estimate == pytest.approx((60 + 60) / 120)
    judge = np.where(np.arange(60) < 45, 0.0, 1.0)
    found = alt_test(judge, np.zeros((60, 2))).advantage
    error = np.sqrt(0.75 * 0.25 / 59)  # the jackknife's of a mean
    squared = float(student.ppf(0.975, 59)) ** 2 * error**2 / (0.75 * 0.25)
    middle, reach = (
        (0.75 + squared / 2) / (1 + squared),
        np.sqrt(squared * (0.1875 + squared / 4)) / (1 + squared),
    )
    assert (found.low, found.high) == pytest.approx((middle - reach, middle + reach))


def test_the_interval_counts_items() -> None:
    """Five copies of each text in one item say no more than one."""
    rng = np.random.default_rng(0)
    ratings, judge = rng.integers(0, 3, (40, 3)).astype(float), rng.integers(0, 3, 40).astype(float)
    one = alt_test(judge, ratings).advantage
    five = alt_test(
        np.repeat(judge, 5), np.repeat(ratings, 5, axis=0), clusters=np.repeat(np.arange(40), 5)
    ).advantage
    assert one.estimate == pytest.approx(five.estimate)
    assert one.low is not None
    assert five.low is not None
    assert abs(one.low - five.low) < 0.02
    assert five.n_clusters == 40


def test_the_ceiling_is_each_rater_in_the_place_of_the_judge() -> None:
    rng = np.random.default_rng(2)
    ratings = rng.integers(0, 3, (50, 4)).astype(float)
    ratings[rng.random(ratings.shape) < 0.2] = NAN
    ceiling = human_ceiling(ratings, epsilon=0.1)
    singles = [alt_test(ratings[:, out], np.delete(ratings, out, axis=1), epsilon=0.1) for out in range(4)]
    assert [one.winning_rate for one in ceiling.raters] == [one.winning_rate for one in singles]
    assert ceiling.winning_rate == pytest.approx(np.mean([one.winning_rate for one in singles]))
    assert ceiling.advantage.estimate == pytest.approx(np.mean([one.advantage.estimate for one in singles]))
    assert [one.n for one in ceiling.raters] == [one.advantage.n for one in singles]


def test_a_judge_that_copies_a_rater_meets_the_ceiling() -> None:
    """On reduced panels, a judge that gives each left-out rater's labels cannot exist; one that equals all does."""
    labels = np.random.default_rng(3).integers(0, 3, 60).astype(float)
    ratings = np.column_stack([labels, labels, labels])
    reduced = reduced_alt_test(labels, ratings)
    assert reduced.gap.estimate == 0
    assert reduced.ceiling.advantage.estimate == human_ceiling(ratings).advantage.estimate


def test_epsilon_from_which_a_judge_passes() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 80)
    given = np.where(rng.random((80, 4)) < 0.3, rng.integers(0, 3, (80, 4)), truth[:, None]).astype(float)
    sweep = epsilon_sweep(given[:, 0], given[:, 1:])
    assert sweep.passes_from is not None
    before, at = round(sweep.passes_from - 0.01, 2), sweep.passes_from
    assert alt_test(given[:, 0], given[:, 1:], epsilon=at).passed
    assert not alt_test(given[:, 0], given[:, 1:], epsilon=before).passed
    worst = epsilon_sweep(np.full(80, 9.0), given[:, 1:])
    assert worst.passes_from is None


def _power_table(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.integers(0, 3, n)
    given = np.where(rng.random((n, 4)) < 0.25, rng.integers(0, 3, (n, 4)), truth[:, None]).astype(float)
    return given[:, 0], given[:, 1:]


def test_power_is_the_share_of_studies_that_pass() -> None:
    """Projected from 2,000 items of a known mechanism, against fresh studies of 60 items."""
    judge, ratings = _power_table(np.random.default_rng(5), 2_000)
    projected = power(judge, ratings, items=(60, 200), epsilon=0.2)
    fresh = [
        alt_test(*_power_table(np.random.default_rng([6, at]), 60), epsilon=0.2).passed for at in range(200)
    ]
    assert projected.power[0] == pytest.approx(np.mean(fresh), abs=0.12)
    assert projected.power[1] is not None
    assert projected.power[0] is not None
    assert projected.power[1] > projected.power[0]
    assert projected.items_needed is not None
    needed = power(judge, ratings, items=(projected.items_needed,), epsilon=0.2, rng=1).power[0]
    assert needed == pytest.approx(0.8, abs=0.07)


def test_power_at_a_stated_advantage() -> None:
    judge, ratings = _power_table(np.random.default_rng(7), 300)
    low, high = (power(judge, ratings, items=(50,), advantage=one, epsilon=0.2) for one in (0.7, 0.95))
    assert low.power[0] is not None
    assert high.power[0] is not None
    assert low.power[0] < 0.1 < 0.9 < high.power[0]
    assert (low.items_needed, high.advantage) == (None, 0.95)
    outside = power(np.ones(5), np.ones((5, 3)), advantage=0.5)
    assert outside.power == (None,) * 4
    assert outside.reason


def test_counts() -> None:
    assert counts_of(np.array([[-1, 0], [1, NAN], [-1, 0]])).tolist() == [[2, 0, 1], [0, 2, 0]]


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="epsilon"):
        alt_test([1, 2], [[1, 2], [1, 2]], epsilon=1)
    with pytest.raises(ValueError, match="shape"):
        outcomes([1, 2, 3], [[1, 2]], "accuracy")
    with pytest.raises(ValueError, match="alignment"):
        outcomes([1], [[1, 2]], "kappa")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite"):
        outcomes([np.inf], [[1, 2]], "rmse")
