"""The test of a meta-correlation that permutes families of metrics."""

from itertools import permutations

import numpy as np
import pytest

from core.stats.correlation.coefficients import coefficient
from core.stats.correlation.families import FEWEST_FAMILIES, family_permutation_test
from scripts.simulations import cell_measures, read
from scripts.simulations.families import GRID

HUMAN = [0.1, 0.2, 0.3, 0.4, 0.5]


def test_the_example_by_hand():
    """Five families of one metric in the same order on both sides: 1 of 120 orders, and its reverse."""
    found = family_permutation_test(HUMAN, [0.2, 0.3, 0.35, 0.5, 0.6], list("abcde"), "spearman")
    assert (found.p_one_sided, found.p_two_sided) == (pytest.approx(1 / 120), pytest.approx(2 / 120))
    assert (found.n_families, found.n_permutations, found.is_exact) == (5, 120, True)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_a_plain_loop_over_orders_of_the_families_means(method):
    rng = np.random.default_rng(1)
    families = np.array(list("aabccddde"))
    x, y = rng.normal(size=(2, 9))
    names = sorted(set(families))
    means = {name: y[families == name].mean() for name in names}
    own = y - np.array([means[name] for name in families])
    values = []
    for order in permutations(names):
        given = dict(zip(names, order, strict=True))
        values.append(coefficient(x, own + np.array([means[given[name]] for name in families]), method))
    observed = coefficient(x, y, method)
    found = family_permutation_test(x, y, families.tolist(), method)
    assert found.p_one_sided == pytest.approx(np.mean(np.array(values) >= observed - 1e-9))
    assert found.p_two_sided == pytest.approx(np.mean(np.abs(values) >= abs(observed) - 1e-9))


def test_random_orders_where_there_are_too_many():
    rng = np.random.default_rng(2)
    x, families = rng.normal(size=24), [f"f{number % 12}" for number in range(24)]
    found = family_permutation_test(x, x + 0.01 * rng.normal(size=24), families, "pearson", n_resamples=499)
    assert (found.is_exact, found.n_permutations) == (False, 499)
    assert found.p_one_sided == pytest.approx(1 / 500)
    again = family_permutation_test(x, x[::-1], families, "pearson", n_resamples=499)
    assert again == family_permutation_test(x, x[::-1], families, "pearson", n_resamples=499)


def test_metrics_without_a_value_are_left_out_and_families_with_them():
    nan = np.nan
    found = family_permutation_test([*HUMAN, nan], [*HUMAN, 0.9], list("abcdef"), "pearson")
    assert found.n_families == 5
    few = family_permutation_test([*HUMAN[:4], nan], HUMAN, list("abcde"), "pearson")
    assert (few.p_one_sided, few.n_families) == (None, FEWEST_FAMILIES - 1)
    assert "4 families" in str(few.reason)


def test_why_there_is_no_p():
    assert "all" in str(family_permutation_test([1] * 5, HUMAN, list("abcde"), "pearson").reason)
    assert family_permutation_test(HUMAN, HUMAN, list("abcde"), "pearson", n_resamples=0).p_two_sided is None
    with pytest.raises(ValueError, match="families must name"):
        family_permutation_test(HUMAN, HUMAN, list("abcd"), "pearson")


def test_the_stored_table_keeps_the_promise():
    stored = read(GRID)
    assert set(stored) == set(GRID.cells)
    for (_, within, _), one in stored.items():
        assert 0.02 <= (one["over families"] or 0) <= 0.08
        assert 0.02 <= (one["one-sided"] or 0) <= 0.08
        assert within == 0 or (one["as independent"] or 0) > 0.075


@pytest.mark.slow
@pytest.mark.parametrize("cell", [("7 of 4", 0.9, "spearman"), ("1,1,2,3,8,9", 0.5, "pearson")])
def test_a_few_cells_again(cell):
    replicates = 400
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, replicates)
    for name in ("over families", "one-sided", "as independent"):
        error = np.sqrt(stored[name] * (1 - stored[name]) / replicates)
        assert abs(again[name] - stored[name]) < 4 * error, name
