"""Simulated coverage of the interval of how far two judges are apart: it is too narrow, as its documentation says."""

import numpy as np
import pytest

from core.results.judges.agreement import agreement
from core.schema.scores import Metric, ScoredRow, ScoreTable


def coverage(n_items: int, n_studies: int) -> float:
    """Of a 95 % interval, where the second judge is the first plus normal noise; scores keep within 0 and 1."""
    rng = np.random.default_rng(n_items)
    rows = tuple(ScoredRow(f"q{item}", "sys") for item in range(n_items))
    metrics = (Metric("a", "", "a"), Metric("b", "", "b"))
    true, held = 0.02, 0
    for study in range(n_studies):
        first = rng.uniform(0.3, 0.7, n_items)
        values = np.column_stack([first, first + rng.normal(0, true, n_items)])
        table = ScoreTable(rows, metrics, values)
        found = agreement(table, "a", table, "b", n_resamples=500, rng=study).sd_difference
        assert found.low is not None
        assert found.high is not None
        held += found.low <= true <= found.high
    return held / n_studies


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "lowest", "highest"), [(20, 0.78, 0.91), (100, 0.87, 0.97)])
def test_the_standard_deviations_interval_is_too_narrow_with_few_items(
    n_items: int, lowest: float, highest: float
) -> None:
    """Bands are about three Monte Carlo standard errors around .86 (20 items) and .92 (100)."""
    assert lowest < coverage(n_items, 200) < highest
