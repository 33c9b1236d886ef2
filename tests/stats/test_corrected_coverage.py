"""Coverage of corrected numbers: the stored grid keeps what it promises, and a few cells run again give it."""

import pytest

from scripts.simulations import cell_measures, read
from scripts.simulations.corrected import GRID

REPLICATES = 250
LEAST, MOST = 0.93, 0.97
NEARLY_ALL = 0.9
"""Share of data sets from which PPI++ is what a cell is about; else intervals from labels alone mix in."""


def test_the_stored_grid_keeps_its_promise() -> None:
    stored = read(GRID)
    assert set(stored) == set(GRID.cells)
    for cell, found in stored.items():
        if cell[4] == "by class":
            continue
        coverage, by_ppi = found["coverage"], found["PPI++"]
        assert coverage is not None
        assert by_ppi is not None
        assert coverage >= LEAST, cell
        assert by_ppi < NEARLY_ALL or coverage <= MOST, cell


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        ("mean", "strong", 30, 300, "rows"),
        ("mean", "biased", 100, 300, "items"),
        ("difference", "strong", 30, 300, "rows"),
        (0.9, "biased", 100, 300, "rows"),
        (0.95, "strong", 300, 300, "items"),
        (0.8, "strong", 300, 2000, "by class"),
    ],
)
def test_a_cell_run_again_agrees(cell: tuple[str | float, ...]) -> None:
    stored = read(GRID)[cell]["coverage"]
    again = cell_measures(GRID, cell, REPLICATES)["coverage"]
    assert stored is not None
    assert again is not None
    error = (stored * (1 - stored) / REPLICATES) ** 0.5
    assert abs(again - stored) < 4 * error
