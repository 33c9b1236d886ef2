"""Means and standard deviations over the cells of a calibration, as 004's tables have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev

from core.analysis.calibration import Calibration
from core.analysis.calibration_cells import KAPPAS, STATISTICS, Cell
from core.stats.resampling import Estimate

ALL_CELLS: Mapping[str, str] = {}


@dataclass(frozen=True)
class MacroMean:
    """One statistic over cells, each cell counting once however many texts it holds."""

    mean: float | None
    """None: it is undefined in all of them."""
    sd: float | None
    """Over cells, n - 1 below; None with fewer than two."""
    n_cells: int
    """In the mean."""
    n_undefined: int
    """Cells where it applies and is undefined: left out of the mean, or in it as 0."""
    as_zero: bool = False
    """Undefined ones entered as 0, by 004's convention."""


@dataclass(frozen=True)
class Summary:
    """The cells with one value in one column, or all of them."""

    group: Mapping[str, str]
    """Column -> value; empty: all cells."""
    n_cells: int
    n: int
    """Texts."""
    statistics: Mapping[str, MacroMean]


def macro_averaged(found: Calibration) -> tuple[Summary, ...]:
    """Over all cells, then over those of each language, task, dimension ... (004, Tables 2 and 3).

    The SD tells how much cells differ, not how sure the mean is. An undefined kappa is left out of the mean and counted;
    with `paper_kappa` it enters as 0, which draws the mean towards 0 by as many cells as had one class only.
    """
    groups: list[tuple[Mapping[str, str], list[Cell]]] = [(ALL_CELLS, list(found.cells))]
    for column in found.group_by:
        values = dict.fromkeys(cell.group[column] for cell in found.cells)
        if len(values) > 1 or len(found.group_by) == 1:
            groups += [
                ({column: value}, [cell for cell in found.cells if cell.group[column] == value])
                for value in values
            ]
    return tuple(
        Summary(
            group,
            len(cells),
            sum(cell.n for cell in cells),
            {
                name: _mean_of(own, found.options.paper_kappa and name in KAPPAS)
                for name in STATISTICS
                if (own := [one for cell in cells if (one := cell.get(name)) is not None])
            },
        )
        for group, cells in groups
    )


def _mean_of(estimates: list[Estimate], as_zero: bool) -> MacroMean:
    values = [one.estimate for one in estimates if one.estimate is not None]
    n_undefined = len(estimates) - len(values)
    if as_zero:
        values += [0.0] * n_undefined
    return MacroMean(
        mean(values) if values else None,
        stdev(values) if len(values) > 1 else None,
        len(values),
        n_undefined,
        as_zero and n_undefined > 0,
    )
