"""Corrected means, pass rates and differences: by hand, against two published packages, and against formulas."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from core.stats.prediction_powered import (
    CHANCE,
    FEWEST_LABELS,
    Scored,
    corrected_difference,
    corrected_mean,
)
from core.stats.resampling import Estimate

NAN = float("nan")


def _ends(found: Estimate | None) -> tuple[float, float]:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def _value(found: Estimate | None) -> float:
    assert found is not None
    assert found.estimate is not None
    return found.estimate


def _random(seed: int = 20, n: int = 60, others: int = 500) -> tuple[Any, Any]:
    """Scores, and labels of the first n rows."""
    rng = np.random.default_rng(seed)
    human = np.round(3 + rng.normal(size=n + others), 1)
    judge = np.round(0.6 * human + 1.9 + 0.7 * rng.normal(size=n + others), 1)
    return judge, np.where(np.arange(n + others) < n, human, NAN)


def test_by_hand() -> None:
    """Labels 1 2 3 6 beside scores 2 2 4 4, four other rows with scores 1 3 3 5.

    Means 3, 3, 3: so the estimate is 3 whatever lambda is. Cov(Y, f) is the sum of
    (-2, -1, 0, 3) x (-1, -1, 1, 1), 6, over 3: 2. Var(f, F) = (1 + 1 + 1 + 1 + 4 + 0 + 0 + 4) / 7 = 12/7. lambda =
    2 / (2 x 12/7) = 7/12. Y - lambda f has the deviations -17/12, -5/12, -7/12, 29/12: sum of squares 1204/144, variance
    over n (1204/144) / 12; lambda^2 Var(F) / N = 49/144 x (8/3) / 4.
    """
    judge = [2, 2, 4, 4, 1, 3, 3, 5]
    found = corrected_mean(Scored(judge, [1, 2, 3, 6, NAN, NAN, NAN, NAN]), method="ppi++")
    variance = 1204 / 144 / 12 + 49 / 144 * (8 / 3) / 4
    assert found.weight == pytest.approx(7 / 12)
    assert found.decided.estimate == pytest.approx(3)
    reach = stats.t.ppf(0.975, 3) * variance**0.5
    assert _ends(found.decided) == pytest.approx((3 - reach, 3 + reach))
    labels_variance = (14 / 3) / 4
    assert found.labels_saved == pytest.approx(4 * (labels_variance / variance - 1))
    assert found.share_saved == pytest.approx(labels_variance / variance - 1)
    assert (found.decided.n, found.n_labelled) == (8, 4)


def test_equals_glide() -> None:
    """glide-py 0.11.0 (numpy 2.5.5), PPIMeanEstimator and ClusteredPPIMeanEstimator, power_tuning=True, confidence .95.

    They report z intervals (normal), so estimate and standard error are compared. Clusters: rows in fours.
    """
    judge, human = _random()
    for clusters, estimate, error in (
        (None, 2.8079586915380665, 0.1125970028386511),
        (np.arange(560) // 4, 2.786049052759104, 0.09994156641589884),
    ):
        found = corrected_mean(Scored(judge, human, clusters))
        low, high = _ends(found.decided)
        assert found.method == "ppi++"
        assert found.decided.estimate == pytest.approx(estimate, abs=1e-12)
        t = stats.t.ppf(0.975, found.n_labelled_clusters - 1)
        assert (high - low) / 2 / t == pytest.approx(error, abs=1e-12)


def test_equals_ppi_python_with_its_divisor() -> None:
    """ppi-python 0.2.3, ppi_mean_pointestimate and ppi_mean_ci, lam=None, alpha=.05.

    It divides covariances and the interval's variances by n, not n - 1.
    """
    judge, human = _random()
    found = corrected_mean(Scored(judge, human))
    n, others = 60, 500
    assert found.weight is not None
    weight = found.weight * (n - 1) / n
    y, f, rest = human[:n], judge[:n], judge[n:]
    estimate = y.mean() - weight * (f.mean() - rest.mean())
    assert estimate == pytest.approx(2.80743716, abs=1e-8)
    error = ((y - weight * f).var() / n + weight**2 * rest.var() / others) ** 0.5
    reach = stats.norm.ppf(0.975) * error
    assert (estimate - reach, estimate + reach) == pytest.approx((2.5881888, 3.02668552), abs=1e-7)


def test_lambda_is_clipped() -> None:
    judge, human = _random()
    opposite = corrected_mean(Scored(-judge, human))
    assert opposite.method == "labels-only"
    assert opposite.weight == 0
    assert opposite.labels_saved == 0
    assert _ends(opposite.decided) == _ends(opposite.labels_only)
    small = corrected_mean(Scored(judge / 100, human))
    assert small.weight == 1
    constant = corrected_mean(Scored(np.ones(560), human))
    assert constant.method == "labels-only"


def test_a_cluster_may_be_labelled_in_part() -> None:
    """Rows of one cluster with and without a label add up before they are squared."""
    rng = np.random.default_rng(1)
    human, judge = rng.normal(size=400), rng.normal(size=400)
    judge += human
    clusters = np.arange(400) // 4
    labelled = np.arange(400) % 4 == 0
    found = corrected_mean(Scored(judge, np.where(labelled, human, NAN), clusters))
    assert found.weight is not None
    y, f, others = human[labelled], judge[labelled], judge[~labelled]
    one = (y - y.mean() - found.weight * (f - f.mean())) / 100
    rest = found.weight * (others - others.mean()).reshape(100, 3).sum(axis=1) / 300
    low, high = _ends(found.decided)
    variance = 100 / 99 * ((one + rest) ** 2).sum()
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 99) * variance**0.5)
    assert found.n_labelled_clusters == 100


def _passes(
    true_pass: int, false_fail: int, false_pass: int, true_fail: int, passed: int, failed: int
) -> Scored:
    """Labelled rows by their four cells, then unlabelled rows that the judge passed and failed."""
    counts = (true_pass, false_fail, false_pass, true_fail, passed, failed)
    judge = np.repeat([1, 0, 1, 0, 1, 0], counts)
    human = np.repeat([1, 1, 0, 0, NAN, NAN], counts)
    return Scored(judge, human)


def test_rogan_gladen_and_its_interval() -> None:
    """90 passes, of which 72 are found (se .8); 30 fails, of which 21 are found (sp .7); 660 of 1,080 rows pass."""
    found = corrected_mean(_passes(72, 18, 9, 21, 579, 381), pass_rate=True, method="rogan-gladen")
    q, n = 660 / 1080, 1080
    assert found.method == "rogan-gladen"
    assert found.weight is None
    assert found.decided.estimate == pytest.approx((q + 0.7 - 1) / (0.8 + 0.7 - 1))
    z = stats.norm.ppf(0.975)
    n_, q_ = n + z**2, (660 + z**2 / 2) / (n + z**2)
    se, sp = 73 / 92, 22 / 32
    p = (q_ + sp - 1) / (se + sp - 1)
    moved = 2 * z**2 * (p * se * (1 - se) / 92 - (1 - p) * sp * (1 - sp) / 32)
    inner = q_ * (1 - q_) / n_ + p**2 * se * (1 - se) / 92 + (1 - p) ** 2 * sp * (1 - sp) / 32
    reach = z * inner**0.5 / (se + sp - 1)
    assert _ends(found.decided) == pytest.approx((p + moved - reach, p + moved + reach))
    assert _value(found.sensitivity) == pytest.approx(0.8)
    assert _value(found.specificity) == pytest.approx(0.7)


def test_rogan_gladen_counts_items() -> None:
    """Each text three times, as an item: the interval of one text each, but for t in place of z."""
    single = _passes(72, 18, 9, 21, 579, 381)
    judge, human = np.repeat(single.judge, 3), np.repeat(single.human, 3)
    items = np.repeat(np.arange(len(np.asarray(single.judge))), 3)
    alone, together = (
        corrected_mean(rows, pass_rate=True, method="rogan-gladen").decided
        for rows in (single, Scored(judge, human, items))
    )
    assert _value(together) == pytest.approx(_value(alone))
    assert _ends(together) == pytest.approx(_ends(alone), abs=0.01)


def test_pass_rates_by_rule() -> None:
    good = _passes(72, 18, 9, 21, 579, 381)
    found = corrected_mean(good, pass_rate=True)
    assert found.method == "ppi++"
    low, high = _ends(found.decided)
    assert 0 < low < _value(found.decided) < high < 1
    few = corrected_mean(_passes(60, 9, 9, 21, 579, 381), pass_rate=True)
    assert few.n_labelled == FEWEST_LABELS - 1
    assert few.method == "exact"
    rare = corrected_mean(_passes(120, 6, 1, 3, 579, 381), pass_rate=True)
    assert rare.method == "exact"
    assert _ends(rare.decided) == pytest.approx(proportion_confint(126, 130, method="beta"))
    assert rare.labels_saved == 0
    chance = corrected_mean(_passes(45, 45, 20, 10, 579, 381), pass_rate=True)
    assert chance.method == "exact"
    assert chance.why == CHANCE
    assert chance.rogan_gladen is not None
    assert chance.rogan_gladen.estimate is None
    selected = corrected_mean(_passes(72, 18, 9, 21, 900, 60), pass_rate=True)
    assert selected.method == "ppi++"  # no test of the labels decides
    assert selected.labelled_shift_p is not None
    assert selected.labelled_shift_p < 0.01


def test_ppi_for_passes_combines_rogan_gladen_and_labels() -> None:
    """Asymptotically it is the mean of both with weights by the inverse of their variances."""
    scale = 400
    found = corrected_mean(
        _passes(72 * scale, 18 * scale, 9 * scale, 21 * scale, 600 * scale, 360 * scale), pass_rate=True
    )
    n = 120 * scale
    q, se, sp, labels = 600 / 960, 0.8, 0.7, 0.75
    alone = (q + sp - 1) / (se + sp - 1)
    of_alone = (
        q * (1 - q) / (960 * scale)
        + alone**2 * se * (1 - se) / (90 * scale)
        + (1 - alone) ** 2 * sp * (1 - sp) / (30 * scale)
    ) / (se + sp - 1) ** 2
    of_labels = labels * (1 - labels) / n
    combined = (alone / of_alone + labels / of_labels) / (1 / of_alone + 1 / of_labels)
    assert _value(found.ppi) == pytest.approx(combined, abs=0.005)
    low, high = _ends(found.ppi)
    error = (1 / (1 / of_alone + 1 / of_labels)) ** 0.5
    assert (high - low) / 2 / stats.norm.ppf(0.975) == pytest.approx(error, rel=0.05)


def test_exact_interval_of_clustered_labels() -> None:
    """Korn and Graubard: 40 items of 3 equal labels count as 40 labels, less the degrees of freedom."""
    human = np.repeat(np.arange(40) % 5 > 0, 3).astype(float)
    found = corrected_mean(Scored(human, human, np.arange(120) // 3), pass_rate=True)
    assert found.method == "exact"
    variance = 40 / 39 * 40 * 0.8 * 0.2 * 9 / 120**2
    n = 0.8 * 0.2 / variance * (stats.t.ppf(0.975, 119) / stats.t.ppf(0.975, 39)) ** 2
    low = stats.beta.ppf(0.025, 0.8 * n, 0.2 * n + 1)
    high = stats.beta.ppf(0.975, 0.8 * n + 1, 0.2 * n)
    assert _ends(found.decided) == pytest.approx((low, high))


def test_differences_are_paired_where_items_are_shared() -> None:
    judge, human = _random()
    other_judge, other = judge - 0.5, human - 0.5
    other_judge[::2] += 0.2
    other[::3] += 0.1
    keys = np.arange(560)
    found = corrected_difference(Scored(judge, human, keys=keys), Scored(other_judge, other, keys=keys))
    alone = corrected_mean(Scored(judge - other_judge, human - other))
    assert found.paired
    assert found.decided == alone.decided
    assert found.p_value == alone.p_value
    assert found.decided.estimate is not None
    assert found.p_value is not None
    low, high = _ends(found.decided)
    reach = (high - low) / 2 / stats.t.ppf(0.975, 59)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.decided.estimate) / reach, 59))
    some = corrected_difference(
        Scored(judge, human, keys=keys), Scored(other_judge[:400], other[:400], keys=keys[:400])
    )
    assert some.paired
    assert some.n_left_out == 160


def test_differences_of_other_items_are_independent() -> None:
    judge, human = _random(1)
    other_judge, other = _random(2, 40, 300)
    found = corrected_difference(Scored(judge, human), Scored(other_judge, other))
    first, second = corrected_mean(Scored(judge, human)), corrected_mean(Scored(other_judge, other))
    assert found.paired is False
    assert found.decided.estimate == pytest.approx(_value(first.decided) - _value(second.decided))
    errors = [
        (_ends(one.decided)[1] - _ends(one.decided)[0]) / 2 / stats.t.ppf(0.975, one.n_labelled - 1)
        for one in (first, second)
    ]
    variances = np.square(errors)
    df = variances.sum() ** 2 / (variances**2 / [59, 39]).sum()
    low, high = _ends(found.decided)
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, df) * variances.sum() ** 0.5)


def test_few_labels_of_two_pass_rates_add_counts() -> None:
    """Agresti and Min (pairs) and Agresti and Caffo (independent rows), by hand."""
    a, b = np.repeat([1, 1, 0, 0], (30, 6, 2, 12)), np.repeat([1, 0, 1, 0], (30, 6, 2, 12))
    judge, keys = np.zeros(50), np.arange(50)
    z = stats.norm.ppf(0.975)
    pairs = corrected_difference(Scored(judge, a, keys=keys), Scored(judge, b, keys=keys), pass_rate=True)
    assert pairs.method == "labels-only"
    assert pairs.decided.estimate == pytest.approx(4 / 50)
    reach = z * ((6.5 + 2.5) - 4**2 / 52) ** 0.5 / 52
    assert _ends(pairs.decided) == pytest.approx((4 / 52 - reach, 4 / 52 + reach))
    items = np.arange(50) // 2  # pairs by item: the variance is that of item sums over that of pairs
    clustered = corrected_difference(
        Scored(judge, a, items, keys), Scored(judge, b, items, keys), pass_rate=True
    )
    moved = (a - b - 0.08).astype(float)
    effect = (25 / 24 * (moved.reshape(25, 2).sum(axis=1) ** 2).sum()) / (50 / 49 * (moved**2).sum())
    assert effect > 1
    wider = reach / z * stats.t.ppf(0.975, 24) * effect**0.5
    assert _ends(clustered.decided) == pytest.approx((4 / 52 - wider, 4 / 52 + wider))
    rows = corrected_difference(Scored(judge, a), Scored(judge, b), pass_rate=True)
    first, second = 37 / 52, 33 / 52
    reach = z * ((first * (1 - first) + second * (1 - second)) / 52) ** 0.5
    assert _ends(rows.decided) == pytest.approx((first - second - reach, first - second + reach))
    assert rows.decided.estimate == pytest.approx(4 / 50)
    equal = corrected_difference(Scored(judge, a, keys=keys), Scored(judge, a, keys=keys), pass_rate=True)
    low, high = _ends(equal.decided)
    assert low < 0 < high


def test_differences_of_pass_rates_stay_on_their_scale() -> None:
    """Two labels of each system, all of one kind: added counts and t would reach beyond 1."""
    first = Scored(np.ones(4), [1.0, 1, NAN, NAN])
    second = Scored(np.zeros(4), [0.0, 0, NAN, NAN])
    found = corrected_difference(first, second, pass_rate=True)
    assert found.decided.estimate == found.decided.high == 1
    assert found.decided.low is not None
    assert -1 < found.decided.low < 1
    assert corrected_difference(second, first, pass_rate=True).decided.low == -1


@pytest.mark.parametrize("paired", [True, False])
def test_differences_of_pass_rates_with_few_fails_rest_on_labels(paired: bool) -> None:
    """PPI++ would have no width, or too little, where labels hardly ever differ; 5 of a kind are needed."""

    def decided(fails: int) -> str:
        rows = np.arange(300)
        first = np.where(
            rows < (0 if paired else 5), 0.0, 1.0
        )  # without pairs, each system needs its own fails
        second = np.where(rows < fails, 0.0, 1.0)
        keys = rows if paired else None
        sides = [Scored(one, np.where(rows < 150, one, NAN), keys=keys) for one in (first, second)]
        found = corrected_difference(*sides, pass_rate=True)
        assert found.decided.low is not None
        assert found.decided.high is not None
        assert found.decided.low < found.decided.high
        return found.method

    assert [decided(fails) for fails in (0, 4, 5)] == ["labels-only", "labels-only", "ppi++"]


def test_an_estimate_beyond_its_scale_keeps_its_interval_in_order() -> None:
    """The judge's scale is another one, so that PPI++ ends above 1: estimate and interval are cut to it."""
    labels = np.array([1.0] * 95 + [0.0] * 5)
    judge = np.concatenate([labels, np.full(400, 1.5)])
    found = corrected_mean(
        Scored(judge, np.concatenate([labels, np.full(400, NAN)])), pass_rate=True, method="ppi++"
    ).decided
    assert (found.estimate, found.high) == (1, 1)
    assert found.low is not None
    assert 0 < found.low <= 1


def test_undefined_has_a_reason() -> None:
    nothing = corrected_mean(Scored([1.0, 2.0], [NAN, NAN]))
    assert nothing.decided.estimate is None
    assert nothing.decided.reason
    assert nothing.labels_saved is None
    single = corrected_mean(Scored([1.0, 2.0], [3.0, NAN]))
    assert single.decided.estimate == 3
    assert single.decided.low is None
    assert single.decided.interval_reason
    equal = corrected_mean(Scored([1.0, 2.0, 3.0], [3.0, 3.0, NAN]))
    assert equal.decided.low is None
    empty = corrected_mean(Scored([], []))
    assert empty.judge_only.reason


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        corrected_mean(Scored([1.0], [1.0, 2.0]))
    with pytest.raises(ValueError, match="finite"):
        corrected_mean(Scored([NAN], [1.0]))
    with pytest.raises(ValueError, match="pass rate"):
        corrected_mean(Scored([1.0], [2.0]), pass_rate=True)
    with pytest.raises(ValueError, match="unique"):
        corrected_difference(Scored([1, 1], [1, 1], keys=[1, 1]), Scored([1, 1], [1, 1], keys=[1, 2]))


@pytest.mark.parametrize("pass_rate", [True, False])
def test_a_judge_has_nothing_to_add_where_every_row_has_a_label(pass_rate: bool) -> None:
    judge = np.array([0.0, 1.0, 1.0, 0.0])
    found = corrected_mean(Scored(judge, judge[::-1].copy()), pass_rate=pass_rate)
    assert (found.method, found.labels_saved) == ("exact" if pass_rate else "labels-only", 0.0)
    assert found.why == "every row with a judge's score has a label"
