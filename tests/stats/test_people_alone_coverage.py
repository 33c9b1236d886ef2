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


def test_little_is_claimed_wrongly() -> None:
    """The bounds that docs/inference.md states."""
    stored = read(GRID)
    assert len(stored) == len(GRID.cells)
    assert max(one["claimed"] or 0 for one in stored.values()) <= 0.05
    assert max(one["apart"] or 0 for one in stored.values()) <= 0.075
    assert max(one["little"] or 0 for one in stored.values()) <= 0.06
    assert min(one["coverage"] or 0 for cell, one in stored.items() if cell[0] != "two, one rare") >= 0.905
