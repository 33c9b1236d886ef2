import pytest
from statsmodels.stats.proportion import proportion_confint

from core.stats.votes import consistency


@pytest.mark.parametrize(("n_same", "n"), [(0, 5), (8, 10), (10, 10), (55, 80)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_interval_is_that_of_statsmodels(n_same, n, level):
    found = consistency(n_same, n, confidence_level=level)
    expected = proportion_confint(n_same, n, alpha=1 - level, method="wilson")
    assert found.share == n_same / n
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


def test_wilson_by_hand():
    """All 10 of 10 with z = 1.959964: lower end n / (n + z ** 2)."""
    assert consistency(10, 10).low == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)


def test_no_repeats():
    found = consistency(0, 0)
    assert (found.n, found.share, found.low, found.high) == (0, None, None, None)
    assert found.reason == "no pair was answered twice"


@pytest.mark.parametrize(("n_same", "n"), [(3, 2), (-1, 2), (0, -1)])
def test_counts_that_do_not_fit(n_same, n):
    with pytest.raises(ValueError, match="n_same"):
        consistency(n_same, n)
