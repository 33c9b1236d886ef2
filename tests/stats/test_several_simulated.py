"""A few cells of two stored simulations, run again with fewer replicates."""

import pytest

from scripts.simulations import Cell, Grid, cell_measures, read
from scripts.simulations.several_tests import GRID as SEVERAL
from scripts.simulations.split_raters import GRID as SPLIT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "cell", "measure", "replicates"),
    [
        (SEVERAL, (4, "equal"), "any_false_bh", 150),
        (SEVERAL, (4, "equal"), "any_false_raw", 150),
        (SPLIT, (50, 3), "coverage_full", 150),
        (SPLIT, (50, 3), "coverage_all", 150),
    ],
    ids=lambda one: one.name if isinstance(one, Grid) else str(one),
)
def test_a_cell_again(grid: Grid, cell: Cell, measure: str, replicates: int) -> None:
    stored = read(grid)[cell][measure]
    again = cell_measures(grid, cell, replicates)[measure]
    assert stored is not None
    assert again is not None
    error = (max(stored * (1 - stored), 0.01) / replicates) ** 0.5
    assert abs(again - stored) < 4 * error


def test_the_stored_simulations_keep_what_the_documents_promise() -> None:
    """Holm and Benjamini-Hochberg: a false difference among equal metrics in at most one study of twenty, within error."""
    several = read(SEVERAL)
    for cell, found in several.items():
        for name in ("holm", "bh"):
            if cell[1] == "equal":
                assert found[f"any_false_{name}"] <= 0.075, (cell, name)  # type: ignore[operator]  # a number
            assert found[f"share_false_{name}"] <= 0.075, (cell, name)  # type: ignore[operator]
    split = read(SPLIT)
    for (items, raters), found in split.items():
        for kind in ("all", "full", "partial", "none"):
            coverage = found[f"coverage_{kind}"]
            if coverage is not None and int(items) >= 50:
                assert 0.89 <= coverage <= 0.97, (items, raters, kind)
