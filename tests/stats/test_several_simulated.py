"""A few cells of three stored simulations, run again with fewer replicates."""

import pytest

from scripts.simulations import Cell, Grid, cell_measures, read
from scripts.simulations.choosing import GRID as CHOOSING
from scripts.simulations.several_tests import GRID as SEVERAL
from scripts.simulations.split_raters import GRID as SPLIT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "cell", "measures", "replicates"),
    [
        (SEVERAL, (4, "equal"), ("any_false_raw", "any_false_bh"), 50),
        (SPLIT, (50, 3), ("coverage_all", "coverage_full"), 150),
        (CHOOSING, ("agreement", 4, 40, "equal"), ("any_false", "settled"), 100),
        (CHOOSING, ("spearman", 2, 40, "one better"), ("found_better", "settled"), 40),
    ],
    ids=["several tests", "split raters", "which judge by agreement", "which judge by correlation"],
)
def test_a_cell_again(grid: Grid, cell: Cell, measures: tuple[str, ...], replicates: int) -> None:
    stored, again = read(grid)[cell], cell_measures(grid, cell, replicates)
    for name in measures:
        before, now = stored[name], again[name]
        assert before is not None, name
        assert now is not None, name
        error = (max(before * (1 - before), 0.01) / replicates) ** 0.5
        assert abs(now - before) < 4 * error, name


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
    for cell, found in read(CHOOSING).items():
        assert found["any_false"] <= 0.05, cell  # type: ignore[operator]
        assert found["used_far"] <= 0.05, cell  # type: ignore[operator]
        assert 0.86 <= found["covered"] <= 0.99, cell  # type: ignore[operator]
