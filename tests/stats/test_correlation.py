import warnings
from functools import partial

import numpy as np
import pytest
from helpers.processes.traced_memory import traced_memory
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.stats.correlation import coefficients, intervals
from core.stats.correlation.coefficients import coefficient, why_undefined
from core.stats.correlation.intervals import correlate, correlate_columns, fisher_interval
from core.stats.degeneracy import tied
from core.stats.resampling import NO_RESAMPLES, ONE_CLUSTER
from scripts.simulations import ROOT

METHODS = ("pearson", "spearman", "kendall")
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
nan = np.nan


def test_pearson_of_anscombes_quartet():
    """Anscombe (1973, The American Statistician 27:17): 0.816 for the first of the four sets."""
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    assert coefficient(x, y, "pearson") == pytest.approx(0.81642051634484)


def test_spearman_by_its_formula_without_ties():
    """1 - 6 * sum d**2 / (n (n**2 - 1)) with sum d**2 = 194 and n = 10: -29/165."""
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert coefficient(iq, hours, "spearman") == pytest.approx(-29 / 165, abs=1e-15)


def test_kendall_with_a_tie_by_hand():
    """10 pairs, one tied in y, 6 concordant and 3 discordant: 3 / sqrt(10 * 9)."""
    found = coefficient([2, 1, 1.5, 5, 3], [1, 2, 2, 3, 4], "kendall")
    assert found == pytest.approx(0.316227766, abs=1e-9)
    assert found == pytest.approx(3 / np.sqrt(90), abs=1e-15)


@pytest.mark.parametrize("n_levels", [3, 5, 6])
def test_ties_by_level_keep_tau_b_below_1(n_levels):
    """As docs/statistics.md says: about one pair in L ties, so a metric without ties reaches sqrt(1 - 1/L)."""
    levels = np.repeat(np.arange(n_levels), 200)
    tied = (levels[:, None] == levels)[np.triu_indices(levels.size, 1)].mean()
    assert tied == pytest.approx(1 / n_levels, abs=0.002)
    assert coefficient(np.arange(levels.size), levels, "kendall") == pytest.approx(np.sqrt(1 - tied))
    said = " ".join((ROOT / "docs" / "statistics.md").read_text("utf-8").split())
    assert "about one pair in L if there are L levels" in said
    assert "reaches at most about sqrt(1 - 1/L)" in said


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3, 40])
def test_coefficients_equal_scipys_with_ties(method, n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        x, y = rng.integers(0, 4, n), rng.integers(0, 3, n)
        if np.ptp(x) and np.ptp(y):
            assert coefficient(x, y, method) == pytest.approx(SCIPY[method](x, y).statistic, abs=1e-14)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1, 1, 1], [1, 2, 3], "all scores are equal"),
        ([1, 2, 3], [2, 2, 2], "all levels are equal"),
        ([0.1 + 0.2, 0.1 + 0.2], [1, 2], "all scores are equal"),
        ([1], [1], "fewer than two rows"),
        ([], [], "fewer than two rows"),
        ([1, nan, 2], [nan, 1, 2], "fewer than two rows"),
        ([1, 1, 9], [1, 2, nan], "all scores are equal"),
        ([1, 2], [1, 2], None),
    ],
)
def test_undefined_coefficients_say_why(x, y, reason):
    assert why_undefined(x, y) == reason
    found = correlate(x, y, "spearman", n_resamples=20)
    assert (found.estimate is None) == (reason is not None)
    assert found.reason == reason
    for method in METHODS:
        assert np.isnan(coefficient(x, y, method)) == (reason is not None)


def test_names_of_columns_stand_in_the_reason():
    assert why_undefined([1, 1], [1, 2], ("metric scores", "ratings")) == "all metric scores are equal"


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=30))
def test_rank_coefficients_see_the_order_alone_and_turn_their_sign(rows):
    x, y = np.array(rows, dtype=float).T
    for method in ("spearman", "kendall"):
        found = coefficient(x, y, method)
        np.testing.assert_allclose(coefficient(x**3 + x, np.exp(y / 50), method), found, atol=1e-14)
        np.testing.assert_allclose(coefficient(-x, y, method), -found, atol=1e-14)
    np.testing.assert_allclose(coefficient(3 * x + 7, y, "pearson"), coefficient(x, y, "pearson"), atol=1e-12)


def test_rows_without_a_value_are_left_out_in_pairs_and_counted():
    x, y = np.array([1, 2, nan, 4, 5.5, 3]), np.array([1, 3, 2, nan, 5, 2])
    found = correlate(x, y, "pearson", n_resamples=50)
    assert found.estimate == pytest.approx(stats.pearsonr([1, 2, 5.5, 3], [1, 3, 5, 2]).statistic)
    assert (found.n, found.n_left_out, found.n_clusters) == (4, 2, 4)


@pytest.mark.parametrize("method", METHODS)
def test_interval_over_rows_agrees_with_scipys_percentile_bootstrap(method):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 6, 120).astype(float)
    x = y + rng.normal(size=120) * 2
    found = correlate(x, y, method)
    other = stats.bootstrap(
        (x, y),
        lambda a, b: SCIPY[method](a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=3000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.012)


def test_interval_over_items_is_wider_where_rows_of_an_item_are_alike():
    rng = np.random.default_rng(3)
    x, y = np.repeat(rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 60), 4, axis=0).T
    items = np.repeat(np.arange(60), 4)
    for method in METHODS:
        rows = correlate(x, y, method, n_resamples=4000)
        whole = correlate(x, y, method, clusters=items, n_resamples=4000)
        assert whole.estimate == rows.estimate
        assert whole.high - whole.low == pytest.approx(2 * (rows.high - rows.low), rel=0.12)
        assert (rows.n_clusters, whole.n_clusters) == (240, 60)


def test_columns_together_give_what_they_give_alone():
    rng = np.random.default_rng(4)
    y, items = rng.integers(0, 6, 90).astype(float), np.repeat(np.arange(15), 6)
    scores = y[:, None] + rng.normal(size=(90, 5))
    scores[::7, 1] = nan
    scores[3:8, 2] = nan
    scores[3:8, 4] = nan
    scores[:, 3] = 1.0
    together = correlate_columns(scores, y, METHODS, clusters=items, n_resamples=300)
    for number in range(5):
        for method in METHODS:
            alone = correlate(scores[:, number], y, method, clusters=items, n_resamples=300)
            assert together[number][method] == alone
    assert together[3]["kendall"].reason == "all scores are equal"
    assert [together[number]["pearson"].n_left_out for number in range(5)] == [0, 13, 5, 0, 5]


def test_resamples_in_which_a_column_is_constant_are_dropped_and_counted():
    """One 1 among five: it is missed with probability (4/5)**5 = .328, and the only value drawn with 1/3125."""
    for method in METHODS:
        found = correlate([0, 0, 0, 0, 1], [1, 2, 3, 4, 5], method, n_resamples=20_000)
        assert found.n_resamples == 20_000
        assert found.n_undefined / 20_000 == pytest.approx(0.8**5 + 0.2**5, abs=0.015)
        assert found.low is not None


def test_a_seed_gives_one_result_and_labels_may_come_in_any_order():
    rng = np.random.default_rng(5)
    x, y, items = rng.normal(size=60), rng.normal(size=60), np.repeat([f"q{n}" for n in range(20)], 3)
    order = rng.permutation(60)
    found = correlate(x, y, "kendall", clusters=items, n_resamples=500, rng=7)
    assert correlate(x[order], y[order], "kendall", clusters=items[order], n_resamples=500, rng=7) == found
    assert correlate(x, y, "kendall", clusters=items, n_resamples=500, rng=8) != found
    generator = np.random.default_rng(7)
    first, second = (correlate(x, y, "kendall", n_resamples=500, rng=generator) for _ in range(2))
    assert first.low != second.low


def test_no_interval_says_why():
    assert correlate([1, 2, 3], [1, 3, 2], "pearson", n_resamples=0).interval_reason == NO_RESAMPLES
    one_item = correlate([1, 2, 3], [1, 3, 2], "pearson", clusters=["a"] * 3)
    assert one_item.interval_reason == ONE_CLUSTER
    assert (one_item.estimate, one_item.low) == (pytest.approx(0.5), None)
    assert correlate([1, 1], [1, 2], "pearson").interval_reason == "the estimate is undefined"


@pytest.mark.parametrize("method", METHODS)
def test_two_and_three_rows(method):
    """Of two rows every resample that is defined is the data again."""
    found = correlate([1, 2], [5, 3], method, n_resamples=400)
    assert (found.estimate, found.low, found.high) == (-1, -1, -1)
    assert found.n_undefined == pytest.approx(200, abs=45)
    assert correlate([1, 2, 3], [1, 2, 2.5], method, n_resamples=100).estimate == pytest.approx(
        SCIPY[method]([1, 2, 3], [1, 2, 2.5]).statistic
    )


def test_fisher_interval_equals_scipys_for_pearson():
    rng = np.random.default_rng(6)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    test = stats.pearsonr(x, y)
    for level in (0.9, 0.95):
        found = fisher_interval(test.statistic, 30, level)
        other = test.confidence_interval(level)
        assert found == pytest.approx((other.low, other.high), abs=1e-12)


def test_fisher_interval_for_spearman_by_hand():
    """Bonett and Wright: z = atanh(.5) = .5493, variance 1.125 / 25, so .5493 -+ 1.96 * .2121."""
    assert fisher_interval(0.5, 28, 0.95, "spearman") == pytest.approx((0.1327, 0.7465), abs=2e-4)


@pytest.mark.parametrize(
    ("r", "n", "method"),
    [
        (0.5, 3, "pearson"),
        (1.0, 30, "pearson"),
        (-1.0, 30, "spearman"),
        (nan, 30, "pearson"),
        (0.5, 30, "kendall"),
    ],
)
def test_fisher_interval_is_none_where_it_does_not_apply(r, n, method):
    assert fisher_interval(r, n, 0.95, method) is None


def test_misuse_is_refused():
    with pytest.raises(ValueError, match="one shape"):
        coefficient([1, 2], [1, 2, 3], "pearson")
    with pytest.raises(ValueError, match="finite"):
        coefficient([1, np.inf], [1, 2], "pearson")
    with pytest.raises(ValueError, match="clusters"):
        correlate([1, 2], [1, 2], "pearson", clusters=["a"])
    with pytest.raises(ValueError, match="confidence_level"):
        correlate([1, 2], [1, 2], "pearson", confidence_level=95)
    with pytest.raises(ValueError, match="n_resamples"):
        correlate([1, 2], [1, 2], "pearson", n_resamples=-1)


def test_large_and_small_values_neither_overflow_nor_vanish():
    x, y = np.array([1, 2, 4, 3.0]), np.array([1, 2, 3, 5.0])
    expected = stats.pearsonr(x, y).statistic
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-200, 1e200):
            assert correlate(x * scale, y, "pearson", n_resamples=50).estimate == pytest.approx(expected)


def test_resampling_that_stops_by_itself_keeps_what_it_promises():
    """Over 40 seeds each bound's standard deviation is below 1/20 of the interval's width."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    scores = np.column_stack([y + rng.normal(size=80), np.round(rng.normal(size=80) + y / 4)])
    found = [
        correlate_columns(scores, y, METHODS, n_resamples=10_000, rng=seed, until_settled=True)
        for seed in range(40)
    ]
    for number in range(2):
        for method in METHODS:
            own = [one[number][method] for one in found]
            width = np.mean([one.high - one.low for one in own])
            assert all(one.monte_carlo_error < (one.high - one.low) / 20 for one in own)
            assert max(one.n_resamples for one in own) < 10_000
            for end in ("low", "high"):
                assert np.std([getattr(one, end) for one in own]) < width / 20


def test_resampling_is_exact_in_number_unless_it_may_stop():
    rng = np.random.default_rng(0)
    y = rng.normal(size=30)
    scores = (y + rng.normal(size=30))[:, None]
    (exact,) = correlate_columns(scores, y, METHODS, n_resamples=1_700)
    (stopped,) = correlate_columns(scores, y, METHODS, n_resamples=1_700, until_settled=True)
    assert {one.n_resamples for one in exact.values()} == {1_700}
    drawn = {one.n_resamples for one in stopped.values()}
    assert drawn <= {512, 1_024, 1_536, 1_700}
    (same,) = correlate_columns(scores, y, METHODS, n_resamples=drawn.pop())
    for method in METHODS:
        assert (same[method].low, same[method].high) == pytest.approx(
            (stopped[method].low, stopped[method].high), abs=1e-12
        )


def test_resamples_without_a_value_are_counted_until_it_stops():
    """One of 30 rows differs: a third of all resamples leave it out."""
    x = np.zeros(30)
    x[0] = 1.0
    (found,) = correlate_columns(x[:, None], np.arange(30.0), METHODS, n_resamples=10_000, until_settled=True)
    for one in found.values():
        assert 0.33 < one.n_undefined / one.n_resamples < 0.4


def test_estimates_of_many_columns_sort_each_once_and_hold_few_copies(monkeypatch):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(20_000, 16)), rng.normal(size=20_000)
    n_sorted = []
    for module in (intervals, coefficients):
        monkeypatch.setattr(
            module, "tied", lambda values: n_sorted.append(values.size // 20_000) or tied(values)
        )
    estimate = partial(correlate_columns, scores, y, METHODS, n_resamples=0)
    estimate()
    assert sum(n_sorted) == 16 + 1
    _, peak = traced_memory(estimate, partial(correlate_columns, scores[:9], y[:9], METHODS, n_resamples=0))
    assert peak < 6 * scores.nbytes
