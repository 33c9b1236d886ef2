"""Means by strata: by hand, against other tools, strata without labels, items, weights, bins, and how labels were chosen."""

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from core.stats.non_inferiority import lower_bound_gaffke
from core.stats.resampling import Estimate
from core.stats.strata import (
    FEWEST_OTHERS,
    Stratified,
    bins_of,
    few_differ,
    mean_difference,
    selection_p,
    stratified_mean,
)

NAN = float("nan")


def _ends(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def _labels(*strata: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Labels and strata: of each stratum passes, fails and texts without a label."""
    labels = np.concatenate([np.repeat([1.0, 0.0, NAN], counts) for counts in strata])
    return labels, np.repeat(np.arange(len(strata)), [sum(counts) for counts in strata])


def test_by_hand() -> None:
    """Shares .8 and .2, 18 of 20 and 3 of 10 pass: .8 x .9 + .2 x .3 = .78; MOVER from Wilson's ends of both."""
    labels, strata = _labels((18, 2, 60), (3, 7, 10))
    found = stratified_mean(labels, strata, bound="wilson")
    assert found.estimate.estimate == pytest.approx(0.78)
    shares, rates = (0.8, 0.2), (0.9, 0.3)
    wilson = [proportion_confint(k, n, method="wilson") for k, n in ((18, 20), (3, 10))]
    between = sum(w * (p - 0.78) ** 2 for w, p in zip(shares, rates, strict=True)) / 100
    z = norm.ppf(0.975)
    for place, sign in ((0, -1), (1, 1)):
        within = sum(w**2 * (p - ends[place]) ** 2 for w, p, ends in zip(shares, rates, wilson, strict=True))
        expected = 0.78 + sign * (within + z**2 * between) ** 0.5
        assert _ends(found.estimate)[place] == pytest.approx(expected)
    assert [(one.n, one.n_labelled, one.share) for one in found.strata] == [(80, 20, 0.8), (20, 10, 0.2)]
    assert found.n_labelled == 30


def test_the_variance_is_that_of_two_phases() -> None:
    """s_k^2 = p (1 - p) n / (n - 1): .09 x 20 / 19 and .21 x 10 / 9; Cochran 1977, 12.2."""
    labels, strata = _labels((18, 2, 60), (3, 7, 10))
    variance = 0.64 * 0.09 / 19 + 0.04 * 0.21 / 9 + (0.8 * 0.12**2 + 0.2 * 0.48**2) / 100
    assert stratified_mean(labels, strata, bound="wilson").variance == pytest.approx(variance)
    within = 0.64 * 0.09 / 19 * 0.75 + 0.04 * 0.21 / 9 * 0.5
    assert stratified_mean(labels, strata, bound="wilson", finite=True).variance == pytest.approx(within)


def test_one_stratum_is_labels_alone() -> None:
    labels, strata = _labels((17, 3, 40))
    for bound, method in (("wilson", "wilson"), ("exact", "beta")):
        found = stratified_mean(labels, strata, bound=bound)  # type: ignore[arg-type]  # one of the kinds
        assert _ends(found.estimate) == pytest.approx(proportion_confint(17, 20, method=method))
    grades = np.array([5.0, 5, 4, 5, 1, 5, 5, 3, NAN, NAN])
    found = stratified_mean(grades, np.zeros(10, dtype=int), bound="bounded", ends=(1, 5))
    known = (grades[:8] - 3) / 2
    low, high = lower_bound_gaffke(known, 0.975), -lower_bound_gaffke(-known, 0.975)
    assert _ends(found.estimate) == pytest.approx((3 + 2 * low, 3 + 2 * high))
    normal = stratified_mean(np.arange(12.0), np.zeros(12, dtype=int), bound="normal", ends=None)
    reach = 2.200985 * np.arange(12.0).std(ddof=1) / 12**0.5  # t of 11 degrees of freedom
    assert _ends(normal.estimate) == pytest.approx((5.5 - reach, 5.5 + reach), rel=1e-5)


@pytest.mark.parametrize("coding", [(0.0, 1.0), (1.0, 5.0), (-1.0, 1.0)])
def test_another_coding_moves_nothing(coding: tuple[float, float]) -> None:
    labels, strata = _labels((18, 2, 60), (3, 7, 10))
    low, high = coding
    plain = stratified_mean(labels, strata, bound="bounded").estimate
    coded = stratified_mean(low + (high - low) * labels, strata, bound="bounded", ends=coding).estimate
    scaled = [(end - low) / (high - low) for end in (coded.estimate or 0.0, *_ends(coded))]
    assert scaled == pytest.approx([plain.estimate, *_ends(plain)])


def test_a_stratum_without_a_label_may_have_any_mean() -> None:
    labels, strata = _labels((18, 2, 76), (0, 0, 4))
    few = stratified_mean(labels, strata, bound="wilson")
    assert few.open_share == pytest.approx(0.04)
    assert few.estimate.estimate == pytest.approx(0.9)
    whole = _ends(stratified_mean(labels[:96], strata[:96], bound="wilson").estimate)
    low, high = _ends(few.estimate)
    assert low < 0.96 * whole[0]
    assert high > 0.96 * whole[1] + 0.04
    labels, strata = _labels((18, 2, 60), (0, 0, 20))
    many = stratified_mean(labels, strata, bound="wilson").estimate
    assert many.estimate is None
    assert many.reason
    low, high = _ends(many)
    assert low < 0.8 * 0.9
    assert high > 0.8 * 0.9 + 0.2
    nothing = stratified_mean([NAN, NAN], [0, 1], bound="wilson").estimate
    assert (nothing.estimate, nothing.low) == (None, None)
    assert nothing.reason


def test_exactly_these_texts_are_known_once_all_have_labels() -> None:
    labels, strata = _labels((18, 2, 0), (3, 7, 0))
    found = stratified_mean(labels, strata, bound="wilson", finite=True).estimate
    assert _ends(found) == pytest.approx((0.7, 0.7))


def test_items_of_several_texts_count_once() -> None:
    labels, strata = _labels((30, 10, 60), (8, 12, 30))
    single = _ends(stratified_mean(labels, strata, bound="wilson").estimate)
    items = np.repeat(np.arange(labels.size), 3)
    threefold = stratified_mean(np.repeat(labels, 3), np.repeat(strata, 3), bound="wilson", clusters=items)
    assert _ends(threefold.estimate) == pytest.approx(single, abs=0.005)  # t in place of z
    as_rows = _ends(stratified_mean(np.repeat(labels, 3), np.repeat(strata, 3), bound="wilson").estimate)
    assert as_rows[1] - as_rows[0] < 0.7 * (single[1] - single[0])


def test_items_that_lie_in_several_strata_widen_the_interval() -> None:
    """Both texts of an item have the same label and lie in two strata: as one text an item, not two."""
    rng = np.random.default_rng(3)
    label = (rng.random(100) < 0.6).astype(float)
    strata = np.tile([0, 1], 100)
    found = stratified_mean(
        np.repeat(label, 2), strata, bound="wilson", clusters=np.repeat(np.arange(100), 2)
    )
    once = stratified_mean(label, np.zeros(100, dtype=int), bound="wilson")
    low, high = _ends(found.estimate)
    alone = _ends(once.estimate)
    assert high - low == pytest.approx(alone[1] - alone[0], rel=0.05)


def test_weights_count_within_a_stratum() -> None:
    labels, strata = np.array([1.0, 0.0, 1.0, NAN, 1.0, 0.0]), np.array([0, 0, 0, 0, 1, 1])
    found = stratified_mean(labels, strata, bound="wilson", weights=[2, 1, 1, 1, 1, 3])
    assert found.estimate.estimate == pytest.approx(4 / 6 * 0.75 + 2 / 6 * 0.25)


def test_the_difference_of_two_shares_is_newcombes() -> None:
    """Newcombe 1998, Statistics in Medicine 17:873, method 10: 56 of 70 and 48 of 80, .2000 [.0524, .3339]."""
    sides = [
        stratified_mean(_labels(counts)[0], np.zeros(sum(counts), dtype=int), bound="wilson", clusters=None)
        for counts in ((56, 14, 0), (48, 32, 0))
    ]
    apart = [
        Stratified(one.estimate, (), 0, 0, 0.0, one.influence, one.clusters + 1000 * at)
        for at, one in enumerate(sides)
    ]
    found = mean_difference(*apart, width=1.0)
    assert found.correlation == 0
    assert found.estimate.estimate == pytest.approx(0.2)
    assert _ends(found.estimate) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert _ends(found.estimate) == pytest.approx(
        confint_proportions_2indep(56, 70, 48, 80, method="newcomb")
    )
    assert found.p_value is not None
    assert found.p_value < 0.05


def test_shared_items_narrow_a_difference() -> None:
    rng = np.random.default_rng(5)
    label = (rng.random(80) < 0.7).astype(float)
    other = np.where(rng.random(80) < 0.1, 1 - label, label)
    a, b = (stratified_mean(one, np.zeros(80, dtype=int), bound="wilson") for one in (label, other))
    found = mean_difference(a, b)
    assert found.correlation > 0.5
    independent = mean_difference(a.estimate, b.estimate)
    assert found.estimate.estimate == independent.estimate.estimate
    widths = [high - low for low, high in map(_ends, (found.estimate, independent.estimate))]
    assert widths[0] < 0.7 * widths[1]
    low, high = _ends(mean_difference(a, a, width=1.0).estimate)
    assert low == -high
    assert 1.96 / 80 < high < 0.04  # no item differs, and one more might


def test_a_difference_without_an_estimate_is_a_range() -> None:
    open_side = stratified_mean(*_labels((18, 2, 60), (0, 0, 20)), bound="wilson")
    other = stratified_mean(*_labels((10, 10, 80)), bound="wilson")
    found = mean_difference(open_side, other)
    assert found.estimate.estimate is None
    assert found.p_value is None
    low, high = _ends(found.estimate)
    assert low < 0.72 - 0.5
    assert high > 0.92 - 0.5


def test_few_labels_off_the_commonest_one() -> None:
    assert few_differ(np.array([5.0] * 28 + [1, 2]))
    assert not few_differ(np.array([5.0] * 90 + [1.0] * FEWEST_OTHERS))
    assert not few_differ(np.array([1.0, 2, 3, 4]))
    scores = np.array([100.0] * 28 + [1, 2])
    found = stratified_mean(scores, np.zeros(30, dtype=int), bound="normal", ends=None).estimate
    assert found.estimate is not None
    assert found.low is None
    assert found.interval_reason


def test_bins_have_enough_labels_whatever_they_say() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(500)
    has = np.arange(500) < 100
    index = bins_of(scores, has)
    assert 3 <= index.max() + 1 <= 6
    assert np.bincount(index, has).min() >= 15
    assert (np.diff(index[np.argsort(scores)]) >= 0).all()
    few = bins_of(scores, np.arange(500) < 12)
    assert few.max() == 0
    atom = bins_of(np.where(rng.random(500) < 0.6, 1.0, scores), has)
    assert np.bincount(atom)[-1] >= 280
    five = bins_of(rng.choice([1.0, 2, 3, 4, 5], 500), has)
    assert five.max() == 4


def test_bins_that_were_labelled_differently_stay_apart() -> None:
    """9 of 100 labels of score 4 and 90 of 100 of score 5: joined, they would speak of score 5 alone."""
    scores = np.repeat([1.0, 2.0, 3.0, 4.0], 100)
    has = np.zeros(400, dtype=bool)
    has[0:20] = has[100:120] = has[200:220] = True
    assert bins_of(scores, has).max() == 3  # a bin without a label
    has[300] = True
    assert bins_of(scores, has).max() == 3  # or with too few
    has[300:309] = True
    assert bins_of(scores, has).max() == 3
    alike = np.zeros(400, dtype=bool)
    alike[0:9] = alike[100:107] = alike[200:212] = alike[300:309] = True
    assert np.bincount(bins_of(scores, alike), alike).min() >= 10
    fine = np.random.default_rng(2).random(1000)
    threshold = np.random.default_rng(3).random(1000) < np.where(fine < 0.5, 0.6, 0.03)
    index = bins_of(fine, threshold)
    ends = [(fine[index == at].min(), fine[index == at].max()) for at in range(index.max() + 1)]
    assert all(high < 0.55 or low > 0.45 for low, high in ends)


def test_the_test_of_a_choice_is_mantel_and_haenszels() -> None:
    rng = np.random.default_rng(8)
    strata = rng.integers(0, 3, 3000)
    system = (rng.random(3000) < 0.4).astype(float)
    has = rng.random(3000) < 0.2 + 0.1 * strata + 0.05 * system
    tables = [
        np.array(
            [[((has == h) & (system == s) & (strata == k)).sum() for s in (1, 0)] for h in (True, False)]
        )
        for k in range(3)
    ]
    expected = StratifiedTable(tables).test_null_odds(correction=False).pvalue
    found = selection_p(has, strata, system)
    assert found is not None
    assert np.log(found) == pytest.approx(np.log(expected), rel=0.1)
    assert selection_p(has, strata, np.ones(3000)) is None
    assert selection_p(np.ones(3000), strata, system) is None


@pytest.mark.parametrize(
    ("labels", "strata", "given"),
    [
        ([[1.0]], [0], {"bound": "wilson"}),
        ([1.0, 0.0], [0], {"bound": "wilson"}),
        ([2.0, 0.0], [0, 0], {"bound": "wilson"}),
        ([2.0, 0.0], [0, 0], {"bound": "bounded", "ends": None}),
    ],
)
def test_bad_input_is_refused(labels: list[float], strata: list[int], given: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        stratified_mean(labels, strata, **given)  # type: ignore[arg-type]  # on purpose
