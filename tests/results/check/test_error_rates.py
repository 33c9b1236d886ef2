"""Error rates of the rules: the stored table keeps what it promises, and a few cells run again give it."""

import pytest

from scripts.simulations import Cell, cell_measures, read
from scripts.simulations.check import GRID, USELESS

PROMISED = 0.05
REPLICATES = 40


def _most(share: float, n: int) -> float:
    """The promised share and three standard errors of so many replicates."""
    return share + 3 * (share * (1 - share) / n) ** 0.5


def test_the_stored_table_keeps_the_promise() -> None:
    stored = read(GRID)
    assert stored
    for cell, found in stored.items():
        for name in (*USELESS, "copy_not"):
            share = found[name]
            assert share is not None
            assert share <= _most(PROMISED, GRID.replicates), (cell, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        ("monitor", 3, "scores", 100),
        ("rank", 3, "4 systems 0.6", 30),
    ],
)
def test_a_cell_keeps_the_promise_again(cell: Cell) -> None:
    found = cell_measures(GRID, cell, REPLICATES)
    for name in (*USELESS, "copy_not"):
        share = found[name]
        assert share is not None
        assert share <= _most(PROMISED, REPLICATES), name
