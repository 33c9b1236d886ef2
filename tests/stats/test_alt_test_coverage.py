"""The simulated coverage and share of passes in docs/simulations/alt-test.md, again for a few cells."""

import pytest

from scripts.simulations import cell_measures, read
from scripts.simulations.alt_test import GRID

CELLS = [(20, 3, 0.3, 0.1, 0.0), (50, 5, 0.3, 0.3, 0.3), (100, 2, 0.3, 0.6, 0.0)]
REPLICATES = 150


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_the_stored_table_can_be_made_again(cell: tuple[float, ...]) -> None:
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, REPLICATES)
    for name in ("coverage", "passed", "passed_at_100"):
        share, found = stored[name], again[name]
        assert share is not None
        assert found is not None
        error = (max(share * (1 - share), 0.01) * (1 / REPLICATES + 1 / GRID.replicates)) ** 0.5
        assert abs(found - share) < 4 * error, name


def test_the_stored_intervals_cover() -> None:
    stored = read(GRID)
    assert len(stored) == len(GRID.cells)
    assert min(measures["coverage"] or 0 for measures in stored.values()) >= 0.94
