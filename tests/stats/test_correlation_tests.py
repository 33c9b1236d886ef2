from itertools import product

import numpy as np
import pytest
from scipy import stats

from core.stats.correlation.coefficients import coefficient
from core.stats.correlation.intervals import permutation_test, significance_clusters, williams
from core.stats.resampling import NO_RESAMPLES

METHODS = ("pearson", "spearman", "kendall")
nan = np.nan


def test_williams_of_the_r_package_psych():
    """r.test(n = 103, r12 = .4, r13 = .5, r23 = .1), an example of its help page: t = -0.89, p < 0.37."""
    t, p = williams(0.4, 0.5, 0.1, 103)
    assert round(t, 2) == -0.89
    assert round(p, 2) == 0.37


def test_williams_by_hand():
    """|R| = 1 - .25 - .09 - .16 + .12 = .62, mean r .4: t = .2 sqrt(19 * 1.4 / (2 * .62 * 19 / 17 + .16 * .6**3))."""
    t, p = williams(0.5, 0.3, 0.4, 20)
    assert t == pytest.approx(0.2 * np.sqrt(26.6 / (1.24 * 19 / 17 + 0.03456)), abs=1e-12)
    assert p == pytest.approx(2 * stats.t.sf(t, 17), abs=1e-12)
    assert williams(0.5, 0.3, 0.4, 20, "greater")[1] == pytest.approx(p / 2)
    assert williams(0.5, 0.3, 0.4, 20, "less")[1] == pytest.approx(1 - p / 2)
    assert williams(0.3, 0.5, 0.4, 20)[0] == pytest.approx(-t)


@pytest.mark.parametrize("arguments", [(0.5, 0.3, 0.4, 3), (nan, 0.3, 0.4, 20), (0.5, 0.5, 1.0, 20)])
def test_williams_is_undefined_where_it_does_not_apply(arguments):
    assert np.isnan(williams(*arguments)).all()


def metrics(seed, n=60, second=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, n).astype(float)
    return y + rng.normal(size=n), 10 + 5 * (y + second * rng.normal(size=n)), y


def standard(x):
    return (x - x.mean()) / x.std()


@pytest.mark.parametrize("method", METHODS)
def test_p_agrees_with_counting_all_swaps(method):
    """Seven items: 128 equally likely swaps, each coefficient from the swapped rows themselves."""
    x1, x2, y = metrics(0, n=21, second=2.0)
    items = np.repeat(np.arange(7), 3)
    a, b = standard(x1), standard(x2)
    observed = coefficient(x1, y, method) - coefficient(x2, y, method)
    differences = []
    for swap in product([False, True], repeat=7):
        chosen = np.array(swap)[items]
        one, other = np.where(chosen, b, a), np.where(chosen, a, b)
        differences.append(coefficient(one, y, method) - coefficient(other, y, method))
    for alternative, exact in (
        ("two-sided", np.mean(np.abs(differences) >= abs(observed) - 1e-12)),
        ("greater", np.mean(np.array(differences) >= observed - 1e-12)),
        ("less", np.mean(np.array(differences) <= observed + 1e-12)),
    ):
        found = permutation_test(x1, x2, y, method, items=items, alternative=alternative)
        assert found.p == pytest.approx(exact, abs=0.02)
        assert found.difference == pytest.approx(observed)
    assert (found.n, found.n_units, found.n_resamples) == (21, 7, 10_000)


def test_a_much_better_metric_is_told_from_a_worse_one_and_p_is_never_zero():
    x1, x2, y = metrics(1, n=200, second=6.0)
    found = permutation_test(x1, x2, y, "spearman", n_resamples=999)
    assert found.difference > 0.4
    assert found.p == 1 / 1000
    assert permutation_test(x1, x2, y, "spearman", n_resamples=999, alternative="less").p == 1.0


def test_a_metric_against_itself_on_another_scale():
    x1, _, y = metrics(2)
    found = permutation_test(x1, 3 * x1 + 1, y, "pearson", n_resamples=200)
    assert found.difference == pytest.approx(0, abs=1e-14)
    assert found.p == 1.0


def test_no_swaps_give_the_difference_without_p():
    x1, x2, y = metrics(4)
    found = permutation_test(x1, x2, y, "pearson", n_resamples=0)
    assert found.difference == coefficient(x1, y, "pearson") - coefficient(x2, y, "pearson")
    assert (found.p, found.reason, found.n_units) == (None, NO_RESAMPLES, 60)


@pytest.mark.parametrize("size", [1e-170, 1e170])
def test_p_does_not_change_with_the_scale_of_a_score(size):
    x1, x2, y = metrics(5, second=1.4)
    usual, scaled = (permutation_test(k * x1, x2, y, "pearson", n_resamples=200) for k in (1, size))
    assert scaled.p == usual.p < 1


def test_rows_without_a_value_are_left_out_and_constants_are_named():
    x1, x2, y = metrics(3, n=30)
    x1[0], x2[1], y[2] = nan, nan, nan
    found = permutation_test(x1, x2, y, "kendall", n_resamples=50)
    assert (found.n, found.n_left_out) == (27, 3)
    assert found.difference == pytest.approx(
        coefficient(x1[3:], y[3:], "kendall") - coefficient(x2[3:], y[3:], "kendall")
    )
    constant = permutation_test(np.ones(30), x2, y, "kendall")
    assert (constant.difference, constant.p, constant.reason) == (None, None, "all scores are equal")
    assert permutation_test([1], [2], [3], "kendall").reason == "fewer than two rows"
    with pytest.raises(ValueError, match="one shape"):
        permutation_test([1, 2], [1, 2], [1, 2], "pearson", items=[1])


def test_clusters_begin_where_a_metric_is_worse_than_all_of_the_one_before():
    p = np.full((5, 5), nan)
    p[0, 1], p[0, 2], p[1, 2] = 0.5, 0.01, 0.2  # c is worse than a but not than b: still cluster 1
    p[0, 3] = p[1, 3] = p[2, 3] = 0.001
    p[3, 4] = 0.04
    assert significance_clusters("abcde", p) == {"a": 1, "b": 1, "c": 1, "d": 2, "e": 3}
    assert significance_clusters("abcde", p, alpha=0.02)["e"] == 2
    assert significance_clusters("a", [[nan]]) == {"a": 1}
    with pytest.raises(ValueError, match="shape"):
        significance_clusters("ab", [[1.0]])
