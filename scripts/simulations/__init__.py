"""Simulations behind claims about error rates, coverage and power: one module a grid, each with a `GRID`.

    python scripts/simulate.py NAME            run every cell and store the table in docs/simulations/NAME.md
    python scripts/simulate.py NAME --check    run every cell and print the table only

A test reruns a few cells with fewer replicates and compares them with the stored table:

    stored = read(GRID)
    again = cell_measures(GRID, cell, replicates=200)
    assert abs(again["coverage"] - stored[cell]["coverage"]) < 4 * error
"""

import json
import subprocess
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "simulations"
SEED = 0

Cell = tuple[str | int | float, ...]
Measures = Mapping[str, float | None]


@dataclass(frozen=True)
class Grid:
    """Cells of one simulation, and what is measured in each."""

    name: str
    """Argument of the command, and name of the stored table without ending."""
    title: str
    about: str
    """Markdown above the table: what a cell is, what the measures are, what they show."""
    factors: tuple[str, ...]
    """Names of a cell's values, in their order."""
    measures: tuple[str, ...]
    """What `run` returns, in the order of the columns."""
    cells: tuple[Cell, ...]
    run: Callable[[Cell, int, np.random.Generator], Measures]
    """Takes a cell, the number of replicates and a generator. None is an undefined measure."""
    replicates: int
    places: int = 3
    """Decimals in the table."""


def cell_measures(grid: Grid, cell: Cell, replicates: int | None = None) -> dict[str, float | None]:
    """Run one cell. The same replicates give the same numbers, alone and in the grid."""
    seed = [SEED, zlib.crc32(json.dumps(cell).encode())]
    found = grid.run(cell, replicates or grid.replicates, np.random.default_rng(seed))
    return {name: None if found[name] is None else float(found[name]) for name in grid.measures}  # type: ignore[arg-type]


def run(grid: Grid, workers: int = 1, replicates: int | None = None) -> dict[Cell, dict[str, float | None]]:
    """Run every cell, several at a time if there are workers."""
    jobs = ([grid] * len(grid.cells), grid.cells, [replicates] * len(grid.cells))
    if workers == 1:
        return dict(zip(grid.cells, map(cell_measures, *jobs), strict=True))
    with ProcessPoolExecutor(workers) as pool:
        return dict(zip(grid.cells, pool.map(cell_measures, *jobs), strict=True))


def document(grid: Grid, found: Mapping[Cell, Measures], replicates: int | None = None) -> str:
    """Return the document of a grid: what it is, how it was made, and its table."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    made = f"commit {commit}, seed {SEED}, {replicates or grid.replicates:,} replicates a cell"
    lines = [
        f"# {grid.title}",
        "",
        grid.about.strip(),
        "",
        f"`python scripts/simulate.py {grid.name}`, {made}.",
        "",
        _row([*grid.factors, *grid.measures]),
        "|" + "---|" * (len(grid.factors) + len(grid.measures)),
    ]
    for cell, measures in found.items():
        lines.append(
            _row([*map(str, cell), *(_written(measures[name], grid.places) for name in grid.measures)])
        )
    return "\n".join(lines) + "\n"


def read(grid: Grid) -> dict[Cell, dict[str, float | None]]:
    """Read the stored table of a grid: cell -> measures."""
    text = (FOLDER / f"{grid.name}.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    by_text = {tuple(map(str, cell)): cell for cell in grid.cells}
    n_factors = len(grid.factors)
    return {
        by_text[tuple(row[:n_factors])]: {
            name: None if entry == "-" else float(entry)
            for name, entry in zip(grid.measures, row[n_factors:], strict=True)
        }
        for row in rows[1:]
    }


def _row(entries: Sequence[str]) -> str:
    return "| " + " | ".join(entries) + " |"


def _written(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"
