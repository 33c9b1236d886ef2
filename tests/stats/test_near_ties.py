"""What differs by rounding alone is equal, and what differs by more is not."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from core.stats.correlation.coefficients import coefficient, why_undefined
from core.stats.correlation.groups import partial, redundancy, z_normalise
from core.stats.correlation.intervals import TWO_METRICS, correlate, meta_correlation
from core.stats.correlation.systems import system_accuracy, system_correlation
from core.stats.degeneracy import group_means, tied
from core.stats.resampling import draw_counts

SUM = 0.1 + 0.2  # 0.30000000000000004


def test_rounding_is_tied_and_nothing_else():
    assert tied(np.array([SUM, 0.3, 0.3 + 1e-9, np.nan])).tolist()[:3] == [0.3, 0.3, 0.3 + 1e-9]
    assert np.isnan(tied(np.array([SUM, 0.3, np.nan]))[2])
    # Beside a huge value, ordinary ones stay apart; values as small as 1e-155 are themselves.
    apart = np.array([1e300, 1.0, 1.0 + 1e-9, 1e-155, 0.0])
    assert tied(apart).tolist() == apart.tolist()


def test_what_was_added_up_says_how_large_rounding_is():
    mean_of_one_and_minus_one = np.array([1e-17, 0.0])
    assert tied(mean_of_one_and_minus_one, np.ones(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("order", list(permutations([0.1, 0.2, 0.3])))
def test_means_do_not_depend_on_the_order_of_raters(order):
    values = np.array([*order, 0.2, 0.2, 0.2, 0.1, 0.2, 0.3])
    means = group_means(values, np.repeat([0, 1, 2], 3), 3)
    assert len(set(means.tolist())) == 1


def test_means_of_the_largest_doubles_are_no_overflow():
    assert group_means(np.array([1.5e308, 1.7e308]), np.array([0, 0]), 1)[0] == pytest.approx(1.6e308)


def test_a_column_equal_but_for_rounding_is_constant():
    assert why_undefined([SUM, 0.3, 0.3], [1, 2, 3]) == "all scores are equal"
    assert z_normalise([SUM, 0.3, 0.3], ["r", "r", "r"])[1] == {"r": "all scores are equal"}
    assert np.isnan(redundancy(np.array([[SUM, 1], [0.3, 2]]), "pearson").values[0, 0])


def test_ties_of_rounding_are_ties():
    x, y = [1, 2, 3, 4], [SUM, 0.3, 0.3, 0.5]
    assert coefficient(x, y, "spearman") == pytest.approx(0.7745966692414834)
    assert coefficient(x, y, "kendall") == pytest.approx(0.7071067811865476)


@pytest.mark.parametrize("huge", [1e9, 1e30, 1e300])
def test_a_huge_value_leaves_the_other_resamples_what_they_are(huge):
    """All resamples against numpy, one by one: those without the huge value are about the ordinary ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=12)
    y = x + rng.normal(size=12)
    x[0] = huge
    found = correlate(x, y, "pearson", n_resamples=400, rng=5)
    counts = next(draw_counts(12, 400, 400, 5)).astype(int)
    drawn = [np.repeat(np.arange(12), own) for own in counts.T]
    whole = [(x[rows] / np.abs(x[rows]).max(), y[rows]) for rows in drawn]
    values = [np.corrcoef(a, b)[0, 1] for a, b in whole]
    assert found.n_undefined == 0
    ends = np.quantile(values, [0.025, 0.975], method="inverted_cdf")
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=1e-9)


def test_a_huge_score_of_one_system_does_not_tie_the_others():
    scores, people = [1e13, 0.001, 0.002, 0.003], [4, 1, 2, 3]
    systems = ["a", "b", "c", "d"]
    assert system_correlation(scores, people, systems, "kendall").estimate == pytest.approx(1)
    assert system_accuracy(scores, people, systems).estimate == 1


def test_within_groups_far_apart_what_differs_counts():
    y, group = [0, 2, 1, 4, 3] * 2, np.repeat([0, 1], 5)
    x = np.concatenate([np.arange(5) * 1e-7, 1000 + np.arange(5) * 1e-7])
    found = partial(x, y, group, "pearson", n_resamples=20)
    assert (found.estimate, found.reason) == (pytest.approx(0.8, abs=1e-5), None)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_two_metrics_have_no_p_and_it_is_said(method):
    found = meta_correlation([0.1, 0.2], [0.3, 0.4], method, n_resamples=20)
    assert (found.p_one_sided, found.p_two_sided, found.p_reason) == (None, None, TWO_METRICS)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_the_largest_numbers_are_correlated_without_a_warning(method):
    x, y = [1e308, -1e308, 0, 1, 2], [1, 2, 3, 4, 5]
    found = correlate(x, y, method, n_resamples=50)
    functions = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    expected = functions[method](np.array(x) / 1e308, y).statistic if method == "pearson" else None
    if expected is None:
        expected = functions[method](x, y).statistic
    assert found.estimate == pytest.approx(expected, abs=1e-12)
