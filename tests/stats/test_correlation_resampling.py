"""Coefficients of weighted rows against scipy on the rows repeated: the same counts, resample by resample."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.stats.correlation import coefficients
from core.stats.correlation.coefficients import (
    FEWEST,
    STEP,
    concordance,
    pair_sums,
    prepare,
    resample_columns,
    resampled,
)
from core.stats.resampling import draw_counts, drawn_of

METHODS = ("pearson", "spearman", "kendall")
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def by_hand(x, y, rows, method):
    if len(rows) < 2 or np.ptp(x[rows]) == 0 or np.ptp(y[rows]) == 0:
        return np.nan
    return SCIPY[method](x[rows], y[rows]).statistic


def columns(rng, y):
    """Continuous, few values, mostly one value, a few ties, and a copy of the target."""
    n = y.size
    return np.column_stack(
        [
            rng.normal(size=n) + y,
            np.round(rng.normal(size=n)),
            np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
            rng.integers(0, 2 * n, n).astype(float),
            y,
        ]
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("levels", [True, False])
@pytest.mark.parametrize(("n", "n_clusters"), [(2, 2), (3, 3), (30, 30), (60, 10), (300, 300), (300, 25)])
def test_every_resample_equals_scipy_on_the_same_counts(method, levels, n, n_clusters):
    rng = np.random.default_rng(n + levels)
    y = rng.integers(0, 6, n).astype(float) if levels else rng.normal(size=n)
    scores = columns(rng, y)
    clusters = rng.permutation(np.arange(n) % n_clusters)
    prepared = prepare(scores, y, clusters, n_clusters, METHODS)
    for counts in draw_counts(n_clusters, 6, 4, 1):
        found = resampled(prepared, counts)[method]
        for number, drawn in enumerate(counts.T):
            rows = np.repeat(np.arange(n), drawn[clusters].astype(int))
            expected = [by_hand(x, y, rows, method) for x in scores.T]
            np.testing.assert_allclose(found[:, number], expected, rtol=0, atol=1e-12)


def test_one_method_alone_gives_what_it_gives_among_others():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 50).astype(float)
    scores, rows = columns(rng, y), np.arange(50)
    options = {"n_resamples": 40, "seed": 3}
    together = resample_columns(scores, y, rows, 50, METHODS, **options)
    for method in METHODS:
        alone = resample_columns(scores, y, rows, 50, (method,), **options)
        np.testing.assert_array_equal(alone[method], together[method])


def test_blocks_and_passes_do_not_change_a_number(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.normal(size=80)
    scores, clusters = columns(rng, y), np.arange(80) // 4
    options = {"n_resamples": 70, "seed": 5}
    whole = resample_columns(scores, y, clusters, 20, METHODS, **options)
    for name, value in (
        ("_BLOCK_CELLS", 100),
        ("_FEWEST_TOGETHER", 3),
        ("_SIGN_CELLS", 1),
    ):
        monkeypatch.setattr(coefficients, name, value)
    monkeypatch.setattr(coefficients, "_SLAB_CELLS", 9)
    in_parts = resample_columns(scores, y, clusters, 20, METHODS, **options)
    for method in METHODS:
        np.testing.assert_allclose(in_parts[method], whole[method], rtol=0, atol=1e-13)


def test_counts_are_draws_with_replacement():
    """Each count is binomial with n = 12, p = 1/12: mean 1, variance 11/12; counts of a resample add up to n."""
    counts = np.hstack(list(draw_counts(12, 20_000, 999, 0)))
    assert counts.shape == (12, 20_000)
    assert (counts.sum(axis=0) == 12).all()
    assert counts.mean(axis=1) == pytest.approx(1, abs=0.04)
    assert counts.var() == pytest.approx(11 / 12, abs=0.01)
    np.testing.assert_array_equal(counts, np.hstack(list(draw_counts(12, 20_000, 37, 0))))


@pytest.mark.parametrize("n", [1, 2, 17, 400])
def test_concordance_of_unit_weights_is_that_of_all_pairs(n):
    rng = np.random.default_rng(n)
    for x, y in (
        (rng.normal(size=n), rng.normal(size=n)),
        (rng.integers(0, 3, n), rng.normal(size=n)),
        (rng.normal(size=n), rng.integers(0, 6, n)),
        (np.zeros(n), rng.normal(size=n)),
        (np.where(rng.random(n) < 0.7, 0, rng.normal(size=n)), rng.integers(0, 2, n)),
    ):
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
        found = concordance(pair_sums(x, y, np.arange(n), n), drawn_of(np.ones((n, 1)), np.ones(n)))
        assert found[0] == signs.sum() / 2


def test_large_weights_stay_exact():
    """Whole numbers: 1,000 copies of each row against the million copies of each pair."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=100), rng.normal(size=100)
    pairs = pair_sums(x, y, np.arange(100), 100)
    counts = np.column_stack([np.ones(100), np.full(100, 1000.0)])
    once, many = concordance(pairs, drawn_of(counts, np.ones(100)))
    assert many == once * 1_000_000


def test_nearly_constant_columns_are_told_from_constant_ones():
    """A column whose resample lacks the one different value is constant, whatever rounding says."""
    x = np.full(40, 0.1)
    x[0] = 0.7
    y = np.arange(40.0)
    prepared = prepare(x[:, None], y, np.arange(40), 40, METHODS)
    counts = np.ones((40, 2))
    counts[:2, 0] = 0, 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = resampled(prepared, counts)
    for method in METHODS:
        assert np.isnan(found[method][0, 0])
        assert found[method][0, 1] == pytest.approx(SCIPY[method](x, y).statistic, abs=1e-13)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    x_values=st.sampled_from([2, 5, 100, 400, 1_000_000]),
    y_values=st.sampled_from([2, 6, 1_000_000]),
    together=st.sampled_from([1, 3, 64]),
)
@settings(max_examples=60, deadline=None)
def test_resamples_of_any_ties_equal_a_loop_over_scipy(seed, n, x_values, y_values, together):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, x_values, n).astype(float), rng.integers(0, y_values, n).astype(float)
    clusters = np.unique(rng.integers(0, n, n), return_inverse=True)[1]
    n_clusters = int(clusters.max()) + 1
    prepared = replace(prepare(x[:, None], y, clusters, n_clusters, METHODS), together=together)
    counts = next(draw_counts(n_clusters, 4, 4, seed))
    found = resampled(prepared, counts)
    for number, drawn in enumerate(counts.T):
        rows = np.repeat(np.arange(n), drawn[clusters].astype(int))
        for method in METHODS:
            expected = by_hand(x, y, rows, method)
            np.testing.assert_allclose(found[method][0, number], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("small", [True, False])
def test_more_rows_than_a_block_holds_equal_scipy(monkeypatch, small):
    """With and without ties, in several groups of blocks; and where single precision and four bytes do not do."""
    if not small:
        monkeypatch.setattr(coefficients, "_EXACT", 2)
        monkeypatch.setattr(coefficients, "_FOUR_BYTES", 2)
    rng = np.random.default_rng(7)
    n = 1_500
    for y in (rng.normal(size=n), rng.integers(0, 6, n).astype(float)):
        scores = columns(rng, y)
        prepared = prepare(scores, y, np.arange(n), n, METHODS)
        counts = next(draw_counts(n, 3, 3, 0))
        found = resampled(prepared, counts)
        for number, drawn in enumerate(counts.T):
            rows = np.repeat(np.arange(n), drawn.astype(int))
            for method in METHODS:
                expected = [by_hand(x, y, rows, method) for x in scores.T]
                np.testing.assert_allclose(found[method][:, number], expected, rtol=0, atol=1e-12)


def test_a_column_stops_by_itself_at_the_first_resamples_of_all():
    """Each column asks for itself; what it has until then is what it has of all resamples."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=40)
    scores = columns(rng, y)
    options = {"n_resamples": 3_000, "seed": 2}
    whole = resample_columns(scores, y, np.arange(40), 40, METHODS, **options)
    asked = []

    def enough(values):
        asked.append(values[0].size)
        return abs(values[0][0] - whole["pearson"][1][0]) < 1e-12 or values[0].size >= FEWEST + 2 * STEP

    stopped = resample_columns(scores, y, np.arange(40), 40, METHODS, **options, enough=enough)
    sizes = [values.size for values in stopped["kendall"]]
    last = FEWEST + 2 * STEP
    assert sizes == [last, FEWEST, last, last, last]
    assert asked == [FEWEST] * 5 + [FEWEST + STEP] * 4 + [last] * 4
    for method in METHODS:
        for found, all_of_them in zip(stopped[method], whole[method], strict=True):
            # Products of fewer columns may be added up in another order.
            np.testing.assert_allclose(found, all_of_them[: found.size], rtol=0, atol=1e-14)


def test_the_work_does_not_grow_with_the_square_of_the_rows():
    """Numbers held for a column, which bound the products: of four times the rows, some six times as many."""
    rng = np.random.default_rng(0)
    few, many = (
        sum(
            part.signs.size
            for part in pair_sums(rng.normal(size=n), rng.normal(size=n), np.arange(n), n).within
        )
        for n in (4_000, 16_000)
    )
    assert many < 9 * few
