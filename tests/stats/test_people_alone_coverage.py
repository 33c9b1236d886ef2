"""The simulated claims and coverage in docs/simulations/agreement.md, again for a few cells."""

import pytest

from scripts.simulations import cell_measures, read
from scripts.simulations.agreement import GRID

CELLS = [("two classes", 20, 4), ("five classes", 10, 2), ("scores", 50, 2)]
REPLICATES = 100


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_the_stored_table_can_be_made_again(cell: tuple[str | int, ...]) -> None:
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, REPLICATES)
    for name in GRID.measures:
        share, found = stored[name], again[name]
        assert share is not None
        assert found is not None
        error = (max(share * (1 - share), 0.01) * (1 / REPLICATES + 1 / GRID.replicates)) ** 0.5
        assert abs(found - share) < 4 * error, name
